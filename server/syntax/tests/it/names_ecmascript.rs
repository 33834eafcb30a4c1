//! Names in TypeScript and JavaScript: definitions and imports of files, scope at a cursor, uses, locations of modules.

use expect_test::{Expect, expect};
use syntax::Language::{JavaScript, Tsx, TypeScript};
use syntax::{Manifest, ModuleLocation, Projects};

use crate::names;

/// A recursion over the tree would need more stack than a test has.
const DEPTH: usize = 5_000;

/// Checks the possible locations of `module` for a file, one per line, without those that differ only in their extension.
#[track_caller]
fn targets(projects: &Projects, from: &str, module: &str, expect: Expect) {
    let mut lines: Vec<String> = Vec::new();
    for target in TypeScript.import_targets(from, module, projects) {
        let ModuleLocation::File(path) = target.place else { panic!("{target:?} is no file") };
        if !lines.last().is_some_and(|line| {
            line.split_once(".").map(|(stem, _)| stem) == path.split_once('.').map(|(stem, _)| stem)
        }) {
            lines.push(format!("{path}\n"));
        }
    }
    expect.assert_eq(&lines.concat());
}

fn projects(files: &[(&str, &str)]) -> Projects {
    let manifests: Vec<Manifest> =
        files.iter().map(|&(path, text)| Manifest { path: path.into(), text: text.into() }).collect();
    Projects::new(&manifests)
}

const TYPES: &str = r#"
import base, { Kind as K, type Shape } from "./base";
import * as utils from '../utils.js';
import type { Late } from "./late";
import fs = require("fs");
export { a as b, default } from "./ab";
export * from "./all";
export * as inner from "./inner";

/** A store of items. And more. */
@Injectable()
export abstract class Store<T> extends Base<T> implements utils.Closeable, Iterable<T> {
  static readonly LIMIT: number = 10;
  #hidden = new Hidden();
  protected items: Map<string, Item>;
  onChange = (event: ChangeEvent): void => {};
  callback: (item: Item) => Result;

  constructor(private readonly app: App, public name = "x", plain?: Plain) {
    super();
    this.plain = plain;
    this.made = app.make();
  }

  get size(): number { return this.items.size; }
  set limit(value: Limit) {}
  abstract close(): Promise<void>;
  async load(key: string, { retry }: Options = {}, ...rest: string[]): Promise<Item> { return null!; }
  private find(key) { const item = this.items.get(key); return item; }
  static create() { return new Store(); }
}

/* What an item is. */
export interface Item extends Shape, K.Other {
  key: string;
  readonly value?: Value;
  use(by: User): this;
  onUse: () => Used;
}

export enum Color { Red, Green = "green" }

export type Both = Item & { extra: Extra } | Late;
type Id = string | Item["key"];

export function parse(text: string): Item;
export function parse(text: string, options?: Options): Item { return {} as Item; }
export const make = (kind: K) => new Item(kind);
export const helpers = { trim(text: string): string { return text; }, join: (a, b) => a, VERSION: 1 } as const;
const LIMIT = 10, other = make(LIMIT);
export const [first, { second }] = pair();
let current: Store<Item>;
export let Lazy = class extends Store {};

namespace Inner.Deep {
  export function run() {}
  const hidden = 1;
}

declare module "outside" {
  export function far(): void;
}

export { LIMIT as MAX, K, Shape as Form, current };
export default Store;
"#;

#[test]
fn definitions_and_imports() {
    names::check_outline(
        TypeScript,
        TYPES,
        expect![[r#"
            type Store < Base, utils.Closeable, Iterable<T> | abstract class Store<T> extends Base<T> implements utils.Closeable, Iterable<T> | A store of items
            field Store.LIMIT: number [static] | static readonly LIMIT: number = 10
            field Store.#hidden = Hidden() [private] | #hidden = new Hidden()
            field Store.items: Map<string, Item> | protected items: Map<string, Item>
            method Store.onChange(event: ChangeEvent): void | onChange = (event: ChangeEvent): void
            method Store.callback(item: Item): Result | callback: (item: Item) => Result
            constructor Store.constructor(app: App, name, plain: Plain) | constructor(private readonly app: App, public name = "x", plain?: Plain)
            field Store.app: App [private] | private readonly app: App
            field Store.name | public name = "x"
            field Store.plain: Plain | this.plain = plain
            field Store.made = :App.make() | this.made = app.make()
            field Store.size: number | get size(): number
            field Store.limit(value: Limit): Limit | set limit(value: Limit)
            method Store.close(): Promise<void> | abstract close(): Promise<void>
            method Store.load(key: string, { retry }: Options, rest: string[]): Promise<Item> | async load(key: string, { retry }: Options = {}, ...rest: string[]): Promise<Item>
            method Store.find(key) = (this.items.get() | this.items[]) [private] | private find(key)
            method Store.create() = Store() [static] | static create()
            type Item < Shape, K.Other | interface Item extends Shape, K.Other | What an item is
            field Item.key: string | key: string
            field Item.value: Value | readonly value?: Value
            method Item.use(by: User): this | use(by: User): this
            method Item.onUse(): Used | onUse: () => Used
            type Color | enum Color
            field Color.Red: Color [static] | Red
            field Color.Green: Color [static] | Green = "green"
            type Both: Item & { extra: Extra } | Late < Item, Late | type Both
            field Both.extra: Extra | extra: Extra
            type Id: string | Item["key"] [private] | type Id = string | Item["key"]
            function parse(text: string): Item | function parse(text: string): Item
            function parse(text: string, options: Options): Item | function parse(text: string, options?: Options): Item
            function make(kind: K) = Item() | make = (kind: K)
            module helpers | helpers
            function helpers.trim(text: string): string | trim(text: string): string
            function helpers.join(a, b) | join: (a, b)
            constant helpers.VERSION | VERSION: 1
            constant LIMIT | LIMIT = 10
            constant other = make() [private] | other = make(LIMIT)
            constant first = pair()[] | [first, { second }]
            constant second = pair()[].second | [first, { second }]
            constant current: Store<Item> | current: Store<Item>
            type Lazy < Store | Lazy = class extends Store
            module Inner.Deep [private] | namespace Inner.Deep
            function Inner.Deep.run() | function run()
            constant Inner.Deep.hidden [private] | hidden = 1
            function far(): void | function far(): void
            import default of ./base as base
            import Kind of ./base as K [reexport]
            import Shape of ./base as Shape
            import ../utils.js as utils
            import Late of ./late as Late
            import default of fs as fs
            import fs as fs
            import a of ./ab as b [reexport]
            import default of ./ab as default [reexport]
            import all of ./all as * [reexport]
            import ./inner as inner [reexport]
            import LIMIT of this file as MAX [reexport]
            import Shape of ./base as Form [reexport]
            import Store of this file as default [reexport]
        "#]],
    );
}

const COMMON: &str = r#"
'use strict'
const { a, b: c } = require('./ab')
const whole = require("./whole")
const part = require('./parts').part
var Base = require('./base')

function Store(name) { this.name = name }

class Cache extends Base {
  size = 0
  constructor(app, options) {
    super()
    const late = require('./late')
    this.app = app
    this.store = new Store(options)
    this.late = late.make()
    this.size = 1
  }
  get first() { return this.store }
  load(key, fallback = new Item()) {
    const found = this.store.find(key)
    if (found) { return found.value }
    return fallback
  }
}

exports.helper = function helper(x) { return x }
exports.other = a
module.exports = { Cache, Store, make: () => new Cache(), run() {}, limit: 10, renamed: c }
"#;

#[test]
fn commonjs_modules() {
    names::check_outline(
        JavaScript,
        COMMON,
        expect![[r#"
            function Store(name) | function Store(name)
            type Cache < Base | class Cache extends Base
            field Cache.size | size = 0
            constructor Cache.constructor(app, options) | constructor(app, options)
            field Cache.app | this.app = app
            field Cache.store = Store() | this.store = new Store(options)
            field Cache.late = late.make() | this.late = late.make()
            field Cache.first = this.store | get first()
            method Cache.load(key, fallback) = ((this.store.find() | this.store[]).value | Item()) | load(key, fallback = new Item())
            function helper(x) | exports.helper = function helper(x)
            function make() = Cache() | make: ()
            function run() | run()
            constant limit | limit: 10
            import a of ./ab as a
            import b of ./ab as c
            import default of ./whole as whole
            import ./whole as whole
            import part of ./parts as part
            import default of ./base as Base
            import ./base as Base
            import default of ./late as late
            import ./late as late
            import a of ./ab as other [reexport]
            import b of ./ab as renamed [reexport]
        "#]],
    );
    names::check_outline(
        JavaScript,
        "module.exports = class Foo { run() {} }\n",
        expect![[r#"
            type Foo | module.exports = class Foo
            method Foo.run() | run()
            import Foo of this file as default [reexport]
        "#]],
    );
    names::check_outline(
        JavaScript,
        "class Foo {}\nmodule.exports = Foo\n",
        expect![[r#"
        type Foo | class Foo
        import Foo of this file as default [reexport]
    "#]],
    );
    names::check_outline(
        JavaScript,
        "if (x) { module.exports = require('./a') } else { module.exports = require('./b') }",
        expect![[r#"
        import all of ./a as * [reexport]
        import all of ./b as * [reexport]
    "#]],
    );
}

#[test]
fn default_exports() {
    names::check_outline(
        TypeScript,
        "export default class {}\n",
        expect![[r#"
            type default | export default class
        "#]],
    );
    names::check_outline(
        TypeScript,
        "export default function run(): Result {}\n",
        expect![[r#"
        function run(): Result | function run(): Result
        import run of this file as default [reexport]
    "#]],
    );
    names::check_outline(
        TypeScript,
        "export default { run() {} }\n",
        expect![[r#"
        module default | export default
        function default.run() | run()
    "#]],
    );
    names::check_outline(
        TypeScript,
        "export default () => new Item();\n",
        expect![[r#"
            function default() = Item() | export default ()
        "#]],
    );
    names::check_outline(
        TypeScript,
        "import x from './x';\nexport default x;\n",
        expect![[r#"
        import default of ./x as x
        import default of ./x as default [reexport]
    "#]],
    );
    names::check_outline(
        TypeScript,
        "class A {}\nexport = A;\n",
        expect![[r#"
        type A | class A
        import A of this file as default [reexport]
    "#]],
    );
}

#[test]
fn variables_in_scope() {
    names::check_scope(
        TypeScript,
        r#"
function before(a: number) { const hidden = 1; }
export class Store {
  other() { const unseen = 1; }
  async load(app: App, { retry, limit: max = 3 }: Options, untyped, again = new Retry()) {
    const item = await app.items[0]!.get(retry) as Item;
    let typed: Map<string, Item> = make();
    const [state, setState] = useState<State>();
    const { data, ...others } = this.load(app);
    for (const one of app.items) { one; }
    for (let i = 0; i < 3; i++) {}
    try {} catch (error) {}
    const chosen = retry ? item : typed || app?.current;
    if (untyped instanceof Thing) {}
    const cast = <Item>untyped;
    app.items.map(each => each.value).forEach((value, index) => { value; });
    app.load().then(function (loaded) {});
    this.wh$0
"#,
        expect![[r#"
            enclosing load < Store
            app = :App
            retry = :Options.retry
            max = :Options.limit
            untyped = ()
            again = Retry()
            item = :Item
            typed = :Map<string, Item>
            state = useState()[]
            setState = useState()[]
            data = this.load().data
            others = ()
            one = app.items[]
            i = ()
            error = ()
            chosen = (item | (typed | app.current))
            untyped = Thing()
            cast = :Item
            each = app.items[]
            value = app.items.map()[]
            index = ()
            loaded = app.load()
            receiver this
        "#]],
    );
}

#[test]
fn receivers() {
    let cases = [
        ("x.$0", "enclosing \nreceiver x\n"),
        ("x?.na$0", "enclosing \nreceiver x\n"),
        ("x$0", "enclosing \ntrailing x\n"),
        ("new Foo(a, b).$0", "enclosing \nreceiver Foo()\n"),
        ("class A { f() { if (this.items.$0", "enclosing f < A\nreceiver this.items\n"),
        ("class A { f() { return a.b().$0", "enclosing f < A\nreceiver a.b()\n"),
        ("foo(a, [b.c[0].$0", "enclosing \nreceiver b.c[]\n"),
        ("f(x as Item).$0", "enclosing \nreceiver f()\n"),
        ("(x as Item).$0", "enclosing \nreceiver :Item\n"),
        ("switch (a) { case Kind.$0", "enclosing \nreceiver Kind\n"),
        ("a ? b.$0", "enclosing \nreceiver b\n"),
        ("class A extends ns.$0", "enclosing \nreceiver ns\n"),
        ("a(`x${b.$0", "enclosing \nreceiver b\n"),
        ("z.object({ a: z.$0", "enclosing \nreceiver z\n"),
        ("z.string()\n  .min(1)\n  .$0", "enclosing \nreceiver z.string().min()\n"),
        ("class A { async f() { await this.#x.$0", "enclosing f < A\nreceiver this.#x\n"),
        ("foo($0", "enclosing \n"),
    ];
    for (fixture, expected) in cases {
        assert_eq!(names::scope(TypeScript, fixture), expected, "{fixture:?}");
    }
}

#[test]
fn uses() {
    let text = r#"
import { A } from "./a";
@Decorate({ a: 1 })
export class B<T> extends A implements ns.C {
  field: Kind = Kind.One;
  f(app: App, { retry = again }: Options): Result<Item> {
    app.b.c({ key: value, short, ...rest });
    const made = new Made(x => x.y), far = new ns.Far();
    for (const one of many) one();
    label: while (made) {}
    type Local = typeof constant;
    return "text".length as unknown as Cast;
  }
}
export { B as D };
"#;
    expect![[r#"
        Decorate
        A
        ns
        ns.C
        Kind
        Kind
        Kind.One
        App
        again
        Options
        Result
        Item
        app
        app.b
        app.b.c
        value
        short
        rest
        new Made
        x
        x.y
        ns
        ns.Far
        many
        one
        made
        constant
        Cast
    "#]]
    .assert_eq(&names::uses(TypeScript, text));
    let elements =
        "const a = <Layout.Row title={title} {...rest}><Item /><div onClick={run}>x</div></Layout.Row>;";
    expect![[r#"
        Layout
        Layout.Row
        title
        rest
        Item
        run
    "#]]
    .assert_eq(&names::uses(Tsx, elements));
}

#[test]
fn relative_import_targets() {
    let none = Projects::default();
    targets(
        &none,
        "src/a/b.ts",
        "./c.js",
        expect![[r#"
            src/a/c.ts
        "#]],
    );
    targets(
        &none,
        "src/a/b.ts",
        "..",
        expect![[r#"
            src.ts
            src/index.ts
        "#]],
    );
    targets(&none, "a.ts", "../x", expect![[""]]);
    targets(&none, "a.ts", "react", expect![[""]]);
}

#[test]
fn mapped_import_targets() {
    let projects = projects(&[
        (
            "app/tsconfig.json",
            "{ // what others use\n \"extends\": \"../tsconfig.base\", /* x */ \"compilerOptions\": { \"strict\": true, },\n}",
        ),
        (
            "tsconfig.base.json",
            r#"{"compilerOptions": {"baseUrl": "./src", "paths": {"@/*": ["*"], "@/lib/*": ["lib/*/main"], "exact": ["e.ts"]}}}"#,
        ),
        (
            "packages/core/package.json",
            r##"{
                "name": "@org/core",
                "main": "dist/main.js",
                "exports": {".": "./dist/main.js", "./sub/*": {"import": "./dist/esm/sub/*.js"}},
                "imports": {"#own/*": "./src/own/*.js"}
            }"##,
        ),
    ]);
    targets(
        &projects,
        "app/x.ts",
        "@/lib/a",
        expect![[r#"
            src/lib/a/main.ts
            src/lib/a/main/index.ts
            src/lib/a.ts
            src/lib/a/index.ts
            src/@/lib/a.ts
            src/@/lib/a/index.ts
        "#]],
    );
    targets(
        &projects,
        "app/x.ts",
        "exact",
        expect![[r#"
            src/e.ts
            src/exact.ts
            src/exact/index.ts
        "#]],
    );
    targets(
        &projects,
        "app/x.ts",
        "@org/core",
        expect![[r#"
            src/@org/core.ts
            src/@org/core/index.ts
            packages/core/src/main.ts
            packages/core/dist/main.ts
            packages/core/src.ts
            packages/core/src/index.ts
            packages/core.ts
            packages/core/index.ts
            packages/core/lib.ts
            packages/core/lib/index.ts
        "#]],
    );
    targets(
        &projects,
        "app/x.ts",
        "@org/core/sub/deep",
        expect![[r#"
            src/@org/core/sub/deep.ts
            src/@org/core/sub/deep/index.ts
            packages/core/src/sub/deep.ts
            packages/core/src/esm/sub/deep.ts
            packages/core/dist/esm/sub/deep.ts
            packages/core/src/sub/deep.ts
            packages/core/src/sub/deep/index.ts
            packages/core/sub/deep.ts
            packages/core/sub/deep/index.ts
            packages/core/lib/sub/deep.ts
            packages/core/lib/sub/deep/index.ts
        "#]],
    );
    targets(
        &projects,
        "packages/core/src/x.ts",
        "#own/y",
        expect![[r#"
            packages/core/src/own/y.ts
            src/#own/y.ts
            src/#own/y/index.ts
        "#]],
    );
    targets(
        &projects,
        "app/x.ts",
        "#own/y",
        expect![[r#"
            src/#own/y.ts
            src/#own/y/index.ts
        "#]],
    );
}

#[test]
fn queries_accept_truncated_text() {
    names::assert_names_of_cuts(TypeScript, TYPES);
    names::assert_names_of_cuts(JavaScript, COMMON);
}

#[test]
fn deep_nesting_does_not_overflow_the_stack() {
    let kinds = [("(", ")"), ("a.b(", ")"), ("a.", "b"), ("a[", "]"), ("x = ", "y"), ("a.filter().", "b")];
    for language in [TypeScript, Tsx, JavaScript] {
        for (opener, closer) in kinds {
            let text = opener.repeat(DEPTH) + &closer.repeat(DEPTH);
            assert_eq!(syntax::parse(language, &text).outline(&text).imports, []);
            assert_eq!(syntax::scope(language, &text).bindings, []);
        }
    }
}
