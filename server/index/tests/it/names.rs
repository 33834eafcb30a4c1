//! What names stand for across files, in every language: each fixture's uses with the places where they are defined.

use expect_test::{Expect, expect};
use index::Index;
use syntax::Projects;

use crate::fixture::{files, manifests};

/// The uses of the first file that other files define.
#[track_caller]
fn check(fixture: &str, expected: Expect) {
    let files = files(fixture);
    let projects = Projects::new(&manifests(fixture));
    let file = &files[0];
    let uses = Index::build(&files).hide(&[]).cross_file_uses(
        &projects,
        file,
        &syntax::parse(file.language, &file.text),
    );
    let lines = uses.iter().map(|one| {
        let places: Vec<String> = one
            .definitions
            .iter()
            .map(|defined| format!("{} {}:{}", defined.name, defined.path, defined.line + 1))
            .collect();
        let how = if one.is_resolved { "" } else { " by name" };
        format!("{} = {}{how}\n", &file.text[one.name.clone()], places.join(", "))
    });
    expected.assert_eq(&lines.collect::<String>());
}

#[test]
fn python_packages_and_relative_imports() {
    check(
        "\
//- /src/shop/cart.py
from . import prices
from .items import Item as Thing
from shop.store import open_store
import shop.deep.tools

class Cart(Thing):
    def __init__(self, store: 'Store'):
        self.store = open_store()

    def total(self, item: Thing):
        self.weigh()
        self.store.load(item.weight)
        return prices.price_of(item) + shop.deep.tools.round_up(1)
//- /src/shop/prices.py
def price_of(item): return 1
//- /src/shop/items.py
class Item:
    weight: int
    def weigh(self): pass
//- /src/shop/store.py
from .backend import Store
def open_store() -> Store: return Store()
//- /src/shop/backend.py
class Store:
    def __init__(self): pass
    def load(self, key): pass
//- /src/shop/deep/__init__.py
//- /src/shop/deep/tools.py
def round_up(x): return x
",
        expect![[r#"
            Thing = Item src/shop/items.py:1
            open_store = open_store src/shop/store.py:2
            Thing = Item src/shop/items.py:1
            weigh = Item.weigh src/shop/items.py:3
            load = Store.load src/shop/backend.py:3
            weight = Item.weight src/shop/items.py:2
            price_of = price_of src/shop/prices.py:1
            round_up = round_up src/shop/deep/tools.py:1
        "#]],
    );
}

#[test]
fn python_names_resolve_through_package_reexports() {
    check(
        "\
//- /main.py
import lib
from lib import helper, inner
value = helper(lib.thing)
other = inner.run().finish_all()
//- /lib/__init__.py
from ._impl import helper
from .values import *
from . import inner
//- /lib/_impl.py
def helper(x): return x
//- /lib/values.py
thing = 1
//- /lib/inner.py
class Job:
    def finish_all(self): pass
def run(): return Job()
",
        expect![[r#"
            helper = helper lib/_impl.py:1
            thing = thing lib/values.py:1
            run = run lib/inner.py:3
            finish_all = Job.finish_all lib/inner.py:2
        "#]],
    );
}

#[test]
fn typescript_aliases_and_reexports() {
    check(
        "\
//- /src/app/main.ts
import { Store, make as build } from '@/store';
import * as util from '../util.js';
import Panel from './panel';
const store: Store = build(1);
store.load('a').then(x => x);
util.format(store);
const panel = new Panel(store);
panel.show();
//- /src/store/index.ts
export * from './types';
export { create as make } from './create';
//- /src/store/types.ts
export interface Store { load(key: string): Promise<string>; }
//- /src/store/create.ts
import { Store } from './types';
export function create(n: number): Store { return null!; }
//- /src/util.ts
export const format = (x: unknown) => String(x);
//- /src/app/panel.ts
export default class Panel {
  constructor(private store: unknown) {}
  show(): void {}
}
//- /tsconfig.json
{ \"compilerOptions\": { \"baseUrl\": \".\", \"paths\": { \"@/*\": [\"src/*\"] } } }
",
        expect![[r#"
            Store = Store src/store/types.ts:1
            build = create src/store/create.ts:2
            load = Store.load src/store/types.ts:1
            format = format src/util.ts:1
            Panel = Panel src/app/panel.ts:1, Panel.constructor src/app/panel.ts:2
            show = Panel.show src/app/panel.ts:3
        "#]],
    );
}

#[test]
fn java_packages_nested_types_and_builders() {
    check(
        "\
//- /src/com/shop/Main.java
package com.shop;
import com.shop.model.Order;
import static com.shop.Util.checkThat;
class Main extends Base {
    void run(Order order) {
        checkThat(order.total() > 0);
        Order.Builder builder = new Order.Builder();
        builder.named(\"x\").priced(2);
        log(order.customer.name);
        Helper.help();
    }
}
//- /src/com/shop/Base.java
package com.shop;
class Base { void log(String text) {} }
//- /src/com/shop/Helper.java
package com.shop;
class Helper { static void help() {} }
//- /src/com/shop/Util.java
package com.shop;
class Util { static void checkThat(boolean b) {} }
//- /src/com/shop/model/Order.java
package com.shop.model;
public class Order {
    public Customer customer;
    public int total() { return 1; }
    public static class Builder {
        public Builder named(String name) { return this; }
        public Builder priced(int price) { return this; }
    }
}
//- /src/com/shop/model/Customer.java
package com.shop.model;
public class Customer { public String name; }
",
        expect![[r#"
            Base = Base src/com/shop/Base.java:2
            Order = Order src/com/shop/model/Order.java:2
            checkThat = Util.checkThat src/com/shop/Util.java:2
            total = Order.total src/com/shop/model/Order.java:4
            Order = Order src/com/shop/model/Order.java:2
            Builder = Order.Builder src/com/shop/model/Order.java:5
            Order = Order src/com/shop/model/Order.java:2
            named = Builder.named src/com/shop/model/Order.java:6
            priced = Builder.priced src/com/shop/model/Order.java:7
            log = Base.log src/com/shop/Base.java:2
            customer = Order.customer src/com/shop/model/Order.java:3
            name = Customer.name src/com/shop/model/Customer.java:2
            Helper = Helper src/com/shop/Helper.java:2
            help = Helper.help src/com/shop/Helper.java:2
        "#]],
    );
}

#[test]
fn csharp_namespaces_and_extension_methods() {
    check(
        "\
//- /App/Program.cs
using Shop.Model;
namespace Shop.App {
    class Program : Root {
        void Run(Order order) {
            var total = order.Total().Rounded();
            order.Customer.Rename(\"x\");
            Start(new Invoice { Number = total });
        }
    }
}
//- /App/Root.cs
namespace Shop { public class Root { protected void Start(object o) {} } }
//- /Model/Order.cs
namespace Shop.Model {
    public partial class Order { public Money Total() { return null; } }
    public class Money {}
    public class Invoice { public Money Number { get; set; } }
}
//- /Model/Order.Customer.cs
namespace Shop.Model {
    public partial class Order { public Customer Customer { get; set; } }
    public class Customer { public void Rename(string name) {} }
}
//- /Model/Extensions.cs
namespace Shop.Model { public static class Extensions { public static Money Rounded(this Money money) { return money; } } }
",
        expect![[r#"
            Root = Root App/Root.cs:1
            Order = Order Model/Order.Customer.cs:2, Order Model/Order.cs:2
            Total = Order.Total Model/Order.cs:2
            Rounded = Extensions.Rounded Model/Extensions.cs:1
            Customer = Order.Customer Model/Order.Customer.cs:2
            Rename = Customer.Rename Model/Order.Customer.cs:3
            Start = Root.Start App/Root.cs:1
            Invoice = Invoice Model/Order.cs:4
            Number = Invoice.Number Model/Order.cs:4
        "#]],
    );
}

#[test]
fn rust_modules_impls_and_traits() {
    check(
        "\
//- /src/main.rs
mod store;
use crate::store::{Store, open_store};
use store::model::*;
fn main() {
    let mut store: Store = open_store(1);
    store.load_item(2).price();
    let item = Item { weight: 3 };
    crate::store::model::check(&item);
    item.describe();
}
//- /src/store/mod.rs
pub mod model;
use self::model::Item;
pub struct Store { items: Vec<Item> }
pub fn open_store(n: u32) -> Store { Store { items: vec![] } }
impl Store {
    pub fn load_item(&mut self, key: u32) -> Item { Item { weight: key } }
}
//- /src/store/model.rs
pub struct Item { pub weight: u32 }
impl Item { pub fn price(&self) -> u32 { 1 } }
pub trait Describe { fn describe(&self) {} }
impl Describe for Item {}
pub fn check(item: &Item) {}
",
        expect![[r#"
            Store = Store src/store/mod.rs:3
            open_store = open_store src/store/mod.rs:4
            load_item = Store.load_item src/store/mod.rs:6
            price = Item.price src/store/model.rs:2
            Item = Item src/store/model.rs:1
            weight = Item.weight src/store/model.rs:1
            describe = Describe.describe src/store/model.rs:3
        "#]],
    );
}

#[test]
fn go_packages() {
    check(
        "\
//- /cmd/app/main.go
package main

import \"example.com/shop/store\"

func main() {
\ts := store.Open(1)
\titem := s.Load(\"a\")
\tprintln(item.Weight, helper())
\tx := store.Item{Weight: 2}
\tx.Rename(\"b\")
}
//- /cmd/app/help.go
package main

func helper() int { return 1 }
//- /store/store.go
package store

type Store struct { items []Item }

func Open(n int) *Store { return &Store{} }
func (s *Store) Load(key string) *Item { return nil }
//- /store/item.go
package store

type Item struct { Weight int }

func (i *Item) Rename(name string) {}
//- /go.mod
module example.com/shop
",
        expect![[r#"
            Open = Open store/store.go:5
            Load = Store.Load store/store.go:6
            Weight = Item.Weight store/item.go:3
            helper = helper cmd/app/help.go:3
            Item = Item store/item.go:3
            Weight = Item.Weight store/item.go:3
            Rename = Item.Rename store/item.go:5
        "#]],
    );
}

#[test]
fn c_and_cpp_includes() {
    check(
        "\
//- /src/main.c
#include \"store.h\"
int main(void) {
    struct store *s = store_open(1);
    s->count = STORE_LIMIT;
    return store_load(s, 2);
}
//- /src/store.h
#include \"limits_of_store.h\"
struct store { int count; };
struct store *store_open(int n);
int store_load(struct store *s, int key);
//- /src/limits_of_store.h
#define STORE_LIMIT 10
",
        expect![[r#"
            store_open = store_open src/store.h:3
            count = store.count src/store.h:2
            STORE_LIMIT = STORE_LIMIT src/limits_of_store.h:1
            store_load = store_load src/store.h:4
        "#]],
    );
    check(
        "\
//- /src/main.cpp
#include \"shop/store.hpp\"
int main() {
    shop::Store store(1);
    auto item = store.load(2);
    return item.weight();
}
//- /src/shop/store.hpp
namespace shop {
class Item { public: int weight() const; };
class Store { public: Store(int n); Item load(int key); };
}
",
        expect![[r#"
            Store = Store src/shop/store.hpp:3, Store.Store src/shop/store.hpp:3
            load = Store.load src/shop/store.hpp:3
            weight = Item.weight src/shop/store.hpp:2
        "#]],
    );
}

#[test]
fn member_of_unknown_type_resolves_by_distinctive_name() {
    check(
        "\
//- /a.py
def run(thing):
    thing.load_all_orders()
    thing.load()
//- /b.py
class Store:
    def load_all_orders(self): pass
    def load(self): pass
",
        expect![[r#"
            load_all_orders = Store.load_all_orders b.py:2 by name
        "#]],
    );
}

#[test]
fn names_defined_in_the_same_file_are_not_cross_file_uses() {
    check(
        "\
//- /a.py
from b import helper
class Local:
    def helper(self): return self.other()
    def other(self): return Local()
def shadow(helper): return helper()
//- /b.py
def helper(): pass
",
        expect![[""]],
    );
}

#[test]
fn names_resolve_through_module_reexports() {
    check(
        "\
//- /app.py
import shop
from . import shop as m
shop.open_store()
m.Item()
//- /shop/__init__.py
from .store import *
from .items import Item
//- /shop/store.py
def open_store(): pass
//- /shop/items.py
class Item: pass
",
        expect![[r#"
            open_store = open_store shop/store.py:1
            Item = Item shop/items.py:1
        "#]],
    );
    check(
        "\
//- /app.ts
import * as shop from './shop';
shop.openStore();
new shop.items.Item();
//- /shop/index.ts
export * from './store';
export * as items from './items';
//- /shop/store.ts
export function openStore(): void {}
//- /shop/items.ts
export class Item {}
",
        expect![[r#"
            openStore = openStore shop/store.ts:1
            Item = Item shop/items.ts:1
        "#]],
    );
    check(
        "\
//- /src/main.rs
mod store;
use crate::store;
fn main() {
    store::open_store();
    let item = store::Item::made();
    store::Weight::from_kind(store::Small);
}
//- /src/store/mod.rs
mod files;
mod model;
pub use files::*;
pub use self::model::*;
pub use self::model::Kind::*;
//- /src/store/files.rs
pub fn open_store() {}
//- /src/store/model.rs
pub struct Item;
impl Item { pub fn made() -> Item { Item } }
pub enum Kind { Small, Large }
pub struct Weight;
impl Weight { pub fn from_kind(kind: Kind) {} }
",
        expect![[r#"
            open_store = open_store src/store/files.rs:1
            Item = Item src/store/model.rs:1
            made = Item.made src/store/model.rs:2
            Weight = Weight src/store/model.rs:4
            from_kind = Weight.from_kind src/store/model.rs:5
            Small = Kind.Small src/store/model.rs:3
        "#]],
    );
}

#[test]
fn go_tests_and_unexported_names_do_not_resolve() {
    check(
        "\
//- /app/main.go
package main

import \"example.com/shop/store\"

func run() {
\tstore.OpenForTest()
\tstore.openFile()
\tstore.Open().Close()
\trunTwice()
}
//- /app/main_test.go
package main

func runTwice() {}
//- /store/store.go
package store

type file struct {}

func (f *file) Close() {}
func Open() *file { return nil }
func openFile() *file { return nil }
//- /store/store_test.go
package store

func OpenForTest() *file { return nil }
//- /go.mod
module example.com/shop
",
        expect![[r#"
            Open = Open store/store.go:6
            Close = file.Close store/store.go:5
        "#]],
    );
}
