//! What the strategies send for a cursor, marked by `$0` in the first file.

use expect_test::{Expect, expect};
use index::{FileIndex, Hit, Index, RecentLocation, RetrievalQuery, Strategy, TokenBudget};
use syntax::{Language, Projects, SourceFile, SyntaxCache};

use crate::fixture::{files, manifests};

/// A repository whose first file has a cursor.
struct CursorFixture {
    files: Vec<SourceFile>,
    projects: Projects,
    prefix: String,
    suffix: String,
}

impl CursorFixture {
    #[track_caller]
    fn new(fixture: &str) -> CursorFixture {
        let files = files(fixture);
        let (prefix, suffix) = test_fixture::split_at_cursor(&files[0].text);
        let (prefix, suffix) = (prefix.to_owned(), suffix.to_owned());
        CursorFixture { files, projects: Projects::new(&manifests(fixture)), prefix, suffix }
    }

    fn hits(&self, strategy: Strategy, tokens: usize, recent: &[RecentLocation]) -> Vec<Hit> {
        self.hits_in(&Index::build(&self.files), strategy, tokens, recent)
    }

    fn hits_in(
        &self,
        index: &Index,
        strategy: Strategy,
        tokens: usize,
        recent: &[RecentLocation],
    ) -> Vec<Hit> {
        let query = RetrievalQuery {
            path: &self.files[0].path,
            language: self.files[0].language,
            prefix: &self.prefix,
            suffix: &self.suffix,
            recent,
        };
        index.hide(&[]).retrieve(strategy, &self.projects, &query, TokenBudget { tokens })
    }
}

fn describe(hits: &[Hit]) -> String {
    hits.iter()
        .map(|hit| {
            let lines: Vec<String> = hit.lines.iter().map(|line| (line + 1).to_string()).collect();
            format!("{} {} ({})\n{}\n", hit.path, lines.join(" "), hit.reason, hit.text)
        })
        .collect()
}

#[track_caller]
fn check(strategy: Strategy, tokens: usize, fixture: &str, expected: Expect) {
    expected.assert_eq(&describe(&CursorFixture::new(fixture).hits(strategy, tokens, &[])));
}

const SHOP: &str = "\
//- /shop/cart.py
from shop.items import Item
from shop.store import Store

def checkout(store: Store, item: Item):
    price = store.load(item.name)
    receipt = store.$0
    return receipt
//- /shop/items.py
class Item:
    \"\"\"Something to sell. It has a name.\"\"\"
    name: str
    weight: int
    def __init__(self, name):
        self.name = name
    def _hidden(self): pass
//- /shop/store.py
class Base:
    def close(self): pass

class Store(Base):
    def load(self, name: str) -> int:
        return 1
    def print_receipt(self, price: int) -> 'Receipt':
        return Receipt(price)

class Receipt:
    total: int
//- /shop/unrelated.py
def paint(colour):
    return colour
//- /tests/test_store.py
from shop.store import Store

def test_receipt():
    store = Store()
    price = store.load('a')
    receipt = store.print_receipt(price)
    assert receipt.total == 1
";

#[test]
fn symbols_list_members_of_the_receiver_first() {
    check(
        Strategy::Symbols,
        80,
        SHOP,
        expect![[r#"
            shop/store.py 4 5 7 1 2 (defines print_receipt, load, close)
            class Store(Base)
              load(name: str) -> int
              print_receipt(price: int) -> 'Receipt'
            class Base
              close()
            shop/items.py 1 3 4 5 7 (defines Item, weight, name)
            class Item  — Something to sell
              name: str
              weight: int
              __init__(name)
              _hidden()
        "#]],
    );
}

#[test]
fn hybrid_shows_definitions_usages_and_similar_windows() {
    check(
        Strategy::Hybrid,
        200,
        SHOP,
        expect![[r#"
            shop/store.py 4 5 7 1 2 (defines print_receipt, load, close)
            class Store(Base)
              load(name: str) -> int
              print_receipt(price: int) -> 'Receipt'
            class Base
              close()
            shop/items.py 1 3 4 5 7 (defines Item, weight, name)
            class Item
              name: str
              weight: int
              __init__(name)
              _hidden()
            tests/test_store.py 5 6 7 (uses print_receipt)
                price = store.load('a')
                receipt = store.print_receipt(price)
                assert receipt.total == 1
            tests/test_store.py 3 4 (uses Store)
            def test_receipt():
                store = Store()
            shop/store.py 6 8 10 11 (is about the same names)
                    return 1
                    return Receipt(price)
            class Receipt:
                total: int
        "#]],
    );
}

#[test]
fn functions_similar_to_the_enclosing_function_are_shown() {
    check(
        Strategy::Functions,
        100,
        SHOP,
        expect![[r#"
        tests/test_store.py  (shares store, receipt, price)
        def test_receipt():
            store = Store()
            price = store.load('a')
            receipt = store.print_receipt(price)
            assert receipt.total == 1
        shop/store.py  (shares receipt, price, return)
            def print_receipt(self, price: int) -> 'Receipt':
                return Receipt(price)
        shop/store.py  (shares load, name, return)
            def load(self, name: str) -> int:
                return 1
    "#]],
    );
}

#[test]
fn bm25_chunks_are_cut_as_in_crosscodeeval() {
    check(
        Strategy::Bm25Chunks,
        60,
        SHOP,
        expect![[r#"
        tests/test_store.py  (shares store, from, import)
        from shop.store import Store
        def test_receipt():
            store = Store()
            price = store.load('a')
            receipt = store.print_receipt(price)
            assert receipt.total == 1
    "#]],
    );
}

#[test]
fn typed_prefix_ranks_matching_members_first() {
    check(
        Strategy::Symbols,
        20,
        "\
//- /a.py
import b

x = b.pri$0
//- /b.py
def alpha_price(): pass
def print_all(): pass
def beta_price(): pass
",
        expect![[r#"
            b.py 1 2 3 (defines print_all, alpha_price, beta_price)
            def alpha_price()
            def print_all()
            def beta_price()
        "#]],
    );
}

#[test]
fn members_are_shown_before_the_dot_is_typed() {
    check(
        Strategy::Symbols,
        40,
        "\
//- /a.py
from b import make

job = make()
job$0
//- /b.py
class Job:
    def start(self): pass
def make() -> Job: return Job()
",
        expect![[r#"
            b.py 1 2 3 (defines start, Job, make)
            class Job
              start()
            def make() -> Job
        "#]],
    );
}

#[test]
fn recently_visited_lines_are_shown() {
    let asked = CursorFixture::new(SHOP);
    let visit = |path: &str, line| RecentLocation { path: path.to_owned(), line };
    let recent = [
        visit("shop/items.py", 3),
        visit("gone.py", 1),
        visit("shop/unrelated.py", 0),
        visit("shop/items.py", 4),
    ];
    expect![[r#"
        shop/items.py 1 2 3 4 5 6 7 (was edited or looked at lately)
        class Item:
            """Something to sell. It has a name."""
            name: str
            weight: int
            def __init__(self, name):
                self.name = name
            def _hidden(self): pass
        shop/unrelated.py 1 2 (was edited or looked at lately)
        def paint(colour):
            return colour
    "#]]
    .assert_eq(&describe(&asked.hits(Strategy::Recent, 100, &recent)));
}

#[test]
fn strategy_none_or_zero_budget_has_no_hits() {
    assert_eq!(CursorFixture::new(SHOP).hits(Strategy::None, 1000, &[]), []);
    for strategy in Strategy::ALL {
        assert_eq!(CursorFixture::new(SHOP).hits(strategy, 0, &[]), [], "{strategy}");
    }
}

#[test]
fn context_stays_within_the_token_budget() {
    let asked = CursorFixture::new(SHOP);
    let visits = asked.files[1..].iter().map(|file| RecentLocation { path: file.path.to_string(), line: 1 });
    let recent: Vec<RecentLocation> = visits.collect();
    for strategy in Strategy::ALL {
        for tokens in [10, 20, 50, 100, 500] {
            let hits = asked.hits(strategy, tokens, &recent);
            let bytes = bytes_sent(strategy, &hits);
            assert!(bytes <= tokens * 4, "{strategy} sends {bytes} bytes for {tokens} tokens");
            assert_eq!(hits.iter().map(|hit| hit.bytes).sum::<usize>(), bytes, "{strategy}");
            assert_eq!(index::budget_tokens(&hits).iter().sum::<usize>(), bytes.div_ceil(4), "{strategy}");
        }
        let is_empty = asked.hits(strategy, 500, &recent).is_empty();
        assert_eq!(is_empty, strategy == Strategy::None, "{strategy}");
    }
}

/// Lines as comments under their path, which definitions, uses and windows of one file share.
fn bytes_sent(strategy: Strategy, hits: &[Hit]) -> usize {
    let shares_paths = matches!(strategy, Strategy::Symbols | Strategy::Hybrid);
    let mut above = None;
    let mut bytes = 0;
    for hit in hits {
        if !(shares_paths && above == Some(&hit.path)) {
            bytes += "# :\n".len() + hit.path.len();
        }
        above = Some(&hit.path);
        bytes += hit.text.lines().map(|line| "# \n".len() + line.len()).sum::<usize>();
    }
    bytes
}

#[test]
fn overloaded_name_is_listed_once_in_the_reason() {
    let hits = CursorFixture::new(
        "//- /b.py
from a import area

$0
//- /a.py
def area(size):
    pass

def area(size, unit):
    pass
",
    )
    .hits(Strategy::Symbols, 500, &[]);
    assert_eq!(hits.iter().map(|hit| hit.reason.as_str()).collect::<Vec<_>>(), ["defines area"]);
}

#[test]
fn saved_version_of_own_file_is_never_context() {
    let canary = "canary_after_the_cursor";
    let mut asked = CursorFixture::new(SHOP);
    // The saved file contains the text that is missing around the cursor.
    asked.files[0].text = format!("{}print_receipt({canary})\n{}", asked.prefix, asked.suffix).into();
    let recent = [RecentLocation { path: "shop/cart.py".to_owned(), line: 5 }];
    for strategy in Strategy::ALL {
        let hits = asked.hits(strategy, 1000, &recent);
        assert!(
            hits.iter().all(|hit| *hit.path != *"shop/cart.py" && !hit.text.contains(canary)),
            "{strategy}"
        );
        // Apart from that the results are the same as without the saved file.
        let without = Index::build(&asked.files[1..]);
        assert_eq!(hits, asked.hits_in(&without, strategy, 1000, &recent), "{strategy}");
    }
}

#[test]
fn context_does_not_depend_on_file_order() {
    let asked = CursorFixture::new(SHOP);
    let whole = Index::build(&asked.files);
    let grown = asked.files.iter().rev().fold(Index::build(&[]), |index, file| {
        index.apply(vec![std::sync::Arc::new(index::FileIndex::new(file.clone()))], &[])
    });
    for strategy in Strategy::ALL {
        assert_eq!(
            asked.hits_in(&whole, strategy, 300, &[]),
            asked.hits_in(&grown, strategy, 300, &[]),
            "{strategy}"
        );
    }
}

/// Following the types of an expression must terminate, and must not need a stack as deep as the code.
#[test]
fn very_long_member_chains_do_not_overflow_the_stack() {
    let chain = "a.".repeat(30_000);
    let chains = [
        ("py", "case "),
        ("ts", "const x = "),
        ("java", "var x = "),
        ("cs", "var x = "),
        ("rs", "let x = "),
        ("go", "x := "),
        ("cpp", "auto x = "),
    ];
    for (ending, start) in chains {
        let fixture = format!("//- /a.{ending}\n{start}{chain}b;\nx.$0\n//- /b.{ending}\n{start}{chain}b;\n");
        let asked = CursorFixture::new(&fixture);
        for strategy in Strategy::ALL {
            asked.hits(strategy, 100, &[]);
        }
        let built = FileIndex::new(asked.files[1].clone());
        assert_eq!(FileIndex::decode(asked.files[1].clone(), &built.encode()).as_ref(), Ok(&built));
    }
}

#[test]
fn broken_code_and_odd_cursors_do_not_panic() {
    for text in [
        "$0",
        "\u{feff}$0",
        "def f(:\n  x = ((([$0",
        "from . import ($0",
        "é.ü.$0 = ",
        "class A(B.$0",
        "\r\n\r\nx.$0\r\n",
    ] {
        let fixture =
            SHOP.replacen(&SHOP[SHOP.find("from").unwrap()..SHOP.find("//- /shop/items").unwrap()], text, 1);
        let asked = CursorFixture::new(&format!("{fixture}\n"));
        for strategy in Strategy::ALL {
            asked.hits(strategy, 100, &[]);
        }
    }
}

/// [`SHOP`] with further files.
fn shop_with(files: &str) -> CursorFixture {
    CursorFixture::new(&format!("{SHOP}{files}"))
}

#[test]
fn copies_of_the_own_file_are_not_context() {
    let more: String = (0..12).map(|number| format!("    step{number}()\n")).collect();
    let shop = SHOP.replacen("    return receipt\n", &format!("{more}    return receipt\n"), 1);
    let own = &shop[shop.find("from").unwrap()..shop.find("//- /shop/items").unwrap()];
    let copy = |path| format!("//- /{path}\n{}", own.replace("$0", "print_receipt(price)"));
    let with_copies = [&*shop, &copy("shop/cart_old.py"), &copy("backup/cart.py")].concat();
    let visits = ["shop/cart_old.py", "shop/unrelated.py"]
        .map(|path| RecentLocation { path: path.to_owned(), line: 2 });
    for strategy in [Strategy::Symbols, Strategy::Hybrid, Strategy::Recent] {
        let [alone, beside] = [&shop, &with_copies].map(|fixture| {
            let hits = CursorFixture::new(fixture).hits(strategy, 200, &visits);
            hits.into_iter().map(|hit| (hit.path, hit.text)).collect::<Vec<_>>()
        });
        assert_eq!(beside, alone, "{strategy}");
        assert!(!alone.is_empty(), "{strategy}");
    }
}

/// The windows are searched for with what the last scope says: its function and its imports may differ.
#[test]
fn earlier_requests_change_no_hits() {
    let text = "\
from store import Store

def load(store: Store) -> Item:
    key = 1
    return store.load(key)

def save(store: Store) -> Receipt:
    from items import Item
    item = Item(2)
    return store.save(item)

print(load(Store()))
";
    let others = "\
//- /store.py
from items import Item, Receipt
class Store:
    def load(self, key) -> Item: pass
    def save(self, item) -> Receipt: pass
//- /items.py
class Item: pass
class Receipt: pass
//- /load.py
def load_receipt(store):
    key = 1
    return Receipt(store.load(key))
//- /save.py
def save_item(store):
    item = Item(2)
    return store.save(item)
";
    let fixture = CursorFixture::new(&format!("//- /main.py\n$0{text}{others}"));
    let index = Index::build(&fixture.files);
    let hits = |syntax: &SyntaxCache, cursor: usize| {
        let (prefix, suffix) = text.split_at(cursor);
        let query =
            RetrievalQuery { path: "main.py", language: Language::Python, prefix, suffix, recent: &[] };
        let searcher = index.hide(&["main.py"]).with_syntax(syntax.clone());
        describe(&searcher.retrieve(Strategy::Hybrid, &fixture.projects, &query, TokenBudget { tokens: 300 }))
    };
    let cursors: Vec<usize> = text.match_indices('\n').map(|(end, _)| end).collect();
    let alone: Vec<String> = cursors.iter().map(|&cursor| hits(&SyntaxCache::default(), cursor)).collect();
    assert!(alone.iter().any(|hits| *hits != alone[0]), "they differ by place");
    for &before in &cursors {
        let syntax = SyntaxCache::default();
        for (&cursor, expected) in cursors.iter().zip(&alone) {
            hits(&syntax, before);
            assert_eq!(hits(&syntax, cursor), *expected, "at byte {cursor} after {before}");
        }
    }
}

#[test]
fn duplicates_of_surrounding_code_do_not_displace_usages() {
    let body: String = (0..6)
        .map(|number| format!("    store.load({number})\n    a{number}()\n    b{number}()\n"))
        .collect();
    let unlike: String = (0..40).map(|number| format!("unlike_{number} = {number}\n")).collect();
    let asked = CursorFixture::new(&format!(
        "//- /a.py\nfrom store import Store\n\ndef run(store: Store):\n{body}    store.$0\n\
         //- /part.py\ndef other(store):\n{body}\n{unlike}\n\
         //- /store.py\nclass Store:\n    def load(self, key): pass\n\
         //- /tests/test_store.py\ndef test_load(it):\n    assert it.load('key') == 1\n"
    ));
    let hits = asked.hits(Strategy::Hybrid, 400, &[]);
    assert!(
        hits.iter().any(|hit| hit.reason == "uses load" && *hit.path == *"tests/test_store.py"),
        "{}",
        describe(&hits)
    );
}

#[test]
fn mentions_in_strings_and_comments_are_not_usages() {
    let asked = shop_with(
        "\
//- /docs/about.py
TEXT = '''
print_receipt(price) is called by checkout
'''
def describe(store):
    \"\"\"Calls print_receipt(price).

    Then print_receipt is done.
    \"\"\"
    load = store.size
    say('print_receipt')  # print_receipt
    return load
//- /docs/used.py
def use(store):
    return store.print_receipt(1)
",
    );
    let hits = asked.hits(Strategy::Hybrid, 1000, &[]);
    let examples: Vec<&Hit> = hits.iter().filter(|hit| hit.reason.starts_with("uses")).collect();
    assert!(examples.iter().any(|hit| *hit.path == *"docs/used.py"), "{}", describe(&hits));
    assert!(examples.iter().all(|hit| *hit.path != *"docs/about.py"), "{}", describe(&hits));
}

#[test]
fn type_in_a_signature_is_a_usage_outside_its_defining_file() {
    let asked = CursorFixture::new(
        "\
//- /a.py
from ledger import Ledger, Entry

def post(ledger: Ledger):
    ledger.$0
//- /ledger.py
class Entry:
    pass
class Ledger:
    def close(self): pass
    def twice(self):
        self.close()
        return Ledger()
//- /audit.py
def audit(books: Ledger) -> int:
    return 1
",
    );
    let hits = asked.hits(Strategy::Hybrid, 1000, &[]);
    let examples: Vec<&Hit> = hits.iter().filter(|hit| hit.reason.starts_with("uses")).collect();
    assert!(
        examples.iter().any(|hit| *hit.path == *"audit.py" && hit.reason == "uses Ledger"),
        "{}",
        describe(&hits)
    );
    assert!(examples.iter().all(|hit| *hit.path != *"ledger.py"), "{}", describe(&hits));
}

#[test]
fn partial_class_is_shown_once_with_its_members() {
    check(
        Strategy::Symbols,
        200,
        "\
//- /App/Program.cs
namespace Shop {
    class Program {
        void Run(Order order) {
            order.$0
        }
    }
}
//- /Model/Order.cs
namespace Shop { public partial class Order { public int Total() { return 1; } } }
//- /Model/Order.Empty.cs
namespace Shop { public partial class Order { } }
//- /Model/Order.More.cs
namespace Shop { public partial class Order { } }
",
        expect![[r#"
            Model/Order.cs 1 1 (defines Total, Order)
            class Order
              int Total()
        "#]],
    );
}

#[test]
fn platform_specific_definitions_are_shown_once() {
    check(
        Strategy::Symbols,
        200,
        "\
//- /clock/now.go
package clock

func Print() {
\tt := $0
}
//- /clock/read_linux.go
package clock

func readClock(zone string) int { return 1 }
//- /clock/read_windows.go
package clock

func readClock(zone string) int { return 2 }
",
        expect![[r#"
            clock/read_linux.go 3 (defines readClock)
            func readClock(zone string) int
        "#]],
    );
}

#[test]
fn go_tests_and_unexported_names_are_not_context() {
    check(
        Strategy::Symbols,
        200,
        "\
//- /app/main.go
package main

import \"example.com/shop/store\"

func run() {
\tstore.$0
}
//- /app/main_test.go
package main

func runTwice() {}
//- /store/store.go
package store

type Store struct { Items int; items int }

func Open() *Store { return nil }
func openFile() *Store { return nil }
//- /store/store_test.go
package store

func OpenForTest() *Store { return nil }
//- /go.mod
module example.com/shop
",
        expect![[r#"
            store/store.go 3 5 (defines Store, Open)
            type Store struct
            func Open() *Store
        "#]],
    );
}

#[test]
fn reexported_definitions_are_shown() {
    check(
        Strategy::Symbols,
        200,
        "\
//- /app.py
import shop

shop.$0
//- /shop/__init__.py
from .store import *
from .items import Item
//- /shop/store.py
def open_store(): pass
//- /shop/items.py
class Item: pass
",
        expect![[r#"
            shop/items.py 1 (defines Item)
            class Item
            shop/store.py 1 (defines open_store)
            def open_store()
        "#]],
    );
    check(
        Strategy::Symbols,
        200,
        "\
//- /app.ts
import * as shop from './shop';

shop.$0
//- /shop/index.ts
export * from './store';
export * as items from './items';
//- /shop/store.ts
export function openStore(): void {}
//- /shop/items.ts
export class Item {}
",
        expect![[r#"
            shop/store.ts 1 (defines openStore)
            function openStore(): void
        "#]],
    );
}

#[test]
fn usage_truncated_before_its_name_is_left_out() {
    let far = "x".repeat(220);
    let asked = shop_with(&format!(
        "//- /docs/used.py\ndef use(store):\n    return call('{far}', store.print_receipt(1))\n"
    ));
    let hits = asked.hits(Strategy::Hybrid, 1000, &[]);
    for hit in hits.iter().filter(|hit| hit.reason.starts_with("uses ")) {
        assert!(hit.text.contains(&hit.reason["uses ".len()..]), "{}", describe(&hits));
    }
}

#[test]
fn reason_lists_only_displayed_names_at_any_budget() {
    let nested: String = (0..9)
        .map(|number| {
            format!(
                "        static class Inner{number} {{ static int size{number}(int of) {{ return 1; }} }}\n"
            )
        })
        .collect();
    let asked = CursorFixture::new(&format!(
        "\
//- /src/shop/Main.java
package shop;
import shop.model.Outer;
class Main {{
    void run(Outer outer) {{
        Outer.Middle.$0
    }}
}}
//- /src/shop/model/Outer.java
package shop.model;
public class Outer {{
    public static class Middle {{
{nested}    }}
}}
//- /src/shop/model/Use.java
package shop.model;
class Use {{
    int all() {{
        return Outer.Middle.Inner1.size1(2);
    }}
}}
"
    ));
    for tokens in 10..200 {
        for strategy in [Strategy::Symbols, Strategy::Hybrid] {
            let hits = asked.hits(strategy, tokens, &[]);
            for hit in &hits {
                let Some((_, names)) = hit.reason.split_once("s ").filter(|(does, _)| *does != "i") else {
                    continue;
                };
                for name in names.split(", ") {
                    assert!(hit.text.contains(name), "{tokens} {strategy}: {name}\n{}", describe(&hits));
                }
            }
        }
    }
}

#[test]
fn license_comments_are_not_context() {
    let licence = "/*\n * Permission to print a receipt is granted\n   to every store and every item\n   whose price is loaded\n */\n// store item price receipt\n";
    let asked = shop_with(&format!("//- /other/tool.js\n{licence}function tool() {{}}\n"));
    let hits = asked.hits(Strategy::Hybrid, 2000, &[]);
    assert!(hits.iter().all(|hit| !hit.text.contains("Permission")), "{}", describe(&hits));
}

#[test]
fn signature_is_abbreviated_only_in_a_small_budget() {
    let parameters: Vec<String> = (0..9).map(|number| format!("parameter_{number}: int")).collect();
    let asked = CursorFixture::new(&format!(
        "//- /a.py\nfrom b import area\n\nx = area$0\n//- /b.py\ndef area({}): pass\n",
        parameters.join(", ")
    ));
    let shown = |tokens| describe(&asked.hits(Strategy::Symbols, tokens, &[]));
    assert!(shown(30).contains('…') && !shown(200).contains('…'), "{}{}", shown(30), shown(200));
}

#[test]
fn similar_functions_come_from_the_same_language_family() {
    let asked = CursorFixture::new(
        "\
//- /app.ts
export function loadUser(path: string) {
    const user = parse(path);
    $0
}
//- /tool.py
def load_user(path):
    user = parse(path)
    return user
//- /old.js
function loadGroup(path) {
    const group = parse(path);
    return group;
}
",
    );
    let hits = asked.hits(Strategy::Functions, 500, &[]);
    let paths: Vec<&str> = hits.iter().map(|hit| &*hit.path).collect();
    assert_eq!(paths, ["old.js"]);
}

#[test]
fn brackets_at_the_start_of_a_similar_window_do_not_count_as_shown() {
    let nested = "  f(\n".repeat(6) + &"  )\n".repeat(6);
    let asked = CursorFixture::new(&format!(
        "//- /app.js\nconst total = sumOfInvoices(first, second);\nconst rest = $0\n//- /old.js\n{nested}sumOfInvoices(first, second);\n"
    ));
    let hits = asked.hits(Strategy::Hybrid, 500, &[]);
    let windows: Vec<&str> = hits.iter().map(|hit| &*hit.text).collect();
    assert_eq!(windows, ["sumOfInvoices(first, second);"]);
}

#[test]
fn byte_order_mark_is_stripped_from_context() {
    let asked = shop_with("//- /first.py\n\u{feff}receipt = store.print_receipt(price)\n");
    let visits = [RecentLocation { path: "first.py".to_owned(), line: 0 }];
    for strategy in [Strategy::Hybrid, Strategy::Recent] {
        let hits = asked.hits(strategy, 1000, &visits);
        assert!(hits.iter().any(|hit| *hit.path == *"first.py"), "{strategy}");
        assert!(hits.iter().all(|hit| !hit.text.contains('\u{feff}')), "{strategy}");
    }
}
