//! Names in Python: definitions and imports of files, scope at a cursor, uses, locations of modules.

use expect_test::{Expect, expect};
use syntax::Language::Python;
use syntax::Projects;

use crate::names;

/// A recursion over the tree would need more stack than a test has.
const DEPTH: usize = 5_000;

#[track_caller]
fn targets(from: &str, module: &str, expect: Expect) {
    expect.assert_eq(&names::targets(Python, from, module, &Projects::default()));
}

const STORE: &str = r#"
"""A store."""
from __future__ import annotations

import os.path
import json as j
from . import helpers, errors as err
from ..pkg.base import Base, Mixin as M
from .stars import *

if t.TYPE_CHECKING:
    from .app import App

LIMIT = 10
_cache: dict[str, Item] = {}
current = Store()
first, second = 1, 2
Key = t.Union[str, "Item"]
Alias: t.TypeAlias = "Store"
type Pair[T] = tuple[T, T]


class Store(Base[Item], M, metaclass=Meta):
    """Keeps items.

    And more.
    """

    limit: int = 3
    factory = Item
    __slots__ = ("a",)

    def __init__(self, app: App, path, *, items: "list[Item]", **options: Any) -> None:
        from .late import Late

        self.app = app
        self.path = path
        self.items = items
        self.late = Late(path)
        self.late = None
        self._open: bool = False
        current = app.current()
        self.name = current.name

    @property
    def size(self) -> int:
        return len(self.items)

    @functools.cached_property
    def root(self): return self.app.root

    @classmethod
    def create(cls, app): return cls(app)

    @staticmethod
    def parse(text: str): ...

    async def load(self, key, default=None):
        """Loads one"""
        def inner():
            return Wrong()
        item = self.items[key]
        if item:
            return item.value
        return Item(key) or default

    def __enter__(self):
        return self

    def _hidden(self):  # Nobody calls this.
        self.path = Path(self.app)

    class Inner:
        x = 1


class Color(enum.Enum):
    RED = 1


try:
    import fast
except ImportError:
    def fallback(a: int, /, b=1, *args: str): return LIMIT
"#;

#[test]
fn definitions_and_imports() {
    names::check_outline(
        Python,
        STORE,
        expect![[r#"
            constant LIMIT | LIMIT = 10
            constant _cache: dict[str, Item] [private] | _cache: dict[str, Item] = {}
            constant current = Store() | current = Store()
            constant first | first, second = 1, 2
            constant second | first, second = 1, 2
            type Key: t.Union[str, "Item"] | Key = t.Union[str, "Item"]
            type Alias: "Store" | Alias: t.TypeAlias = "Store"
            type Pair: tuple[T, T] | type Pair[T] = tuple[T, T]
            type Store < Base[Item], M | class Store(Base[Item], M, metaclass=Meta) | Keeps items
            field Store.limit: int | limit: int = 3
            field Store.factory = Item | factory = Item
            field Store.__slots__ | __slots__ = ("a",)
            constructor Store.__init__(app: App, path, items: "list[Item]", options: Any): None | def __init__(self, app: App, path, *, items: "list[Item]", **options: Any) -> None
            field Store.app: App | self.app: App
            field Store.path = Path() | self.path = Path(self.app)
            field Store.items: list[Item] | self.items: list[Item]
            field Store.late = Late() | self.late = Late(path)
            field Store._open: bool [private] | self._open: bool
            field Store.name = :App.current().name | self.name = current.name
            field Store.size: int | def size(self) -> int
            field Store.root = this.app.root | def root(self)
            method Store.create(app) = this [static] | def create(cls, app)
            method Store.parse(text: str) [static] | def parse(text: str)
            method Store.load(key, default) = (this.items[].value | Item()) | async def load(self, key, default=None) | Loads one
            method Store.__enter__() = this | def __enter__(self)
            method Store._hidden() [private] | def _hidden(self)
            type Store.Inner | class Inner
            field Store.Inner.x | x = 1
            type Color < enum.Enum | class Color(enum.Enum)
            field Color.RED: Color [static] | RED = 1
            function fallback(a: int, b, args: str) = LIMIT | def fallback(a: int, /, b=1, *args: str)
            import os.path as os.path [reexport]
            import json as j [reexport]
            import helpers of . as helpers [reexport]
            import errors of . as err [reexport]
            import Base of ..pkg.base as Base [reexport]
            import Mixin of ..pkg.base as M [reexport]
            import all of .stars as * [reexport]
            import App of .app as App [reexport]
            import Late of .late as Late
            import fast as fast [reexport]
        "#]],
    );
}

#[test]
fn broken_code_keeps_complete_definitions() {
    names::check_outline(
        Python,
        "class A:\n    def f(self):\n        return (\n\ndef g(x: int) -> B:\n    pass\n",
        expect![[r#"
            type A | class A
            method A.f() | def f(self)
            function g(x: int): B | def g(x: int) -> B
        "#]],
    );
}

#[test]
fn variables_in_scope() {
    names::check_scope(
        Python,
        r#"
def other(a: int):
    hidden = 1

@decorated
class Store:
    kind = Kind()

    @property
    def before(self):
        unseen = 1
        return unseen

    def load(self, app: "App", *names: str, retry=Retry(), untyped):
        item = app.items[0].get(retry).value
        typed: Item = make()
        a, (b, c) = first(), second()
        x, y = pair()
        for position, one in enumerate(names): pass
        for key, value in app.mapping.items(): pass
        for left, right in zip(app.left, app.right): pass
        with open(item) as file, app.lock() as lock: pass
        try: pass
        except (KeyError, err.Missing) as error: pass
        if (found := app.find(item)): pass
        if isinstance(untyped, Thing): pass
        chosen = a if typed else b
        other = await super().load(app)
        other.name = 1
        last = self.wh$0
"#,
        expect![[r#"
            enclosing load < Store
            app = :App
            names = :str
            retry = Retry()
            untyped = ()
            item = app.items[].get().value
            typed = :Item
            a = first()
            x = pair()[]
            y = pair()[]
            position = ()
            one = names[]
            key = ()
            value = app.mapping[]
            left = app.left[]
            right = app.right[]
            file = open()
            lock = app.lock()
            error = (KeyError() | err.Missing())
            found = app.find()
            untyped = Thing()
            chosen = (a | b)
            other = super.load()
            last = this.wh
            receiver this
        "#]],
    );
}

#[test]
fn receivers() {
    let cases = [
        ("x.$0", "enclosing \nreceiver x\n"),
        ("x.na$0", "enclosing \nreceiver x\n"),
        ("x$0", "enclosing \ntrailing x\n"),
        ("if a.b().$0", "enclosing \nreceiver a.b()\n"),
        ("class A:\n  def f(self):\n    for x in self.items.$0", "enclosing f < A\nreceiver this.items\n"),
        ("class A:\n  def f(self):\n    while self.items.$0", "enclosing f < A\nreceiver this.items\n"),
        (
            "class A:\n  def f(self):\n    if a:\n      pass\n    elif self.$0",
            "enclosing f < A\nreceiver this\n",
        ),
        ("foo(a, [b.c[0].$0", "enclosing \nreceiver b.c[]\n"),
        ("def f() -> mod.$0", "enclosing \nreceiver mod\n"),
        ("class A(mod.$0", "enclosing \nreceiver mod\n"),
        ("@mod.$0", "enclosing \nreceiver mod\n"),
        ("with x.$0", "enclosing \nreceiver x\n"),
        ("def f():\n  return await x.$0", "enclosing f\nreceiver x\n"),
        ("raise errors.$0", "enclosing \nreceiver errors\n"),
        ("f'{x.$0", "enclosing \nreceiver x\n"),
        ("super().$0", "enclosing \nreceiver super\n"),
        ("cast('Item', y).$0", "enclosing \nreceiver :Item\n"),
        ("try:\n  pass\nexcept err.$0", "enclosing \nreceiver err\n"),
        ("1 if a.$0", "enclosing \nreceiver a\n"),
        ("foo($0", "enclosing \n"),
    ];
    for (fixture, expected) in cases {
        assert_eq!(names::scope(Python, fixture), expected, "{fixture:?}");
    }
}

#[test]
fn uses() {
    names::check_uses(
        Python,
        r#"
import os
from a import b as c

@app.route("/")
@cached
class A(Base, mod.Other, metaclass=Meta):
    x: Kind = Kind.ONE

    def f(self, a: App = default, *rest) -> Result[Item]:
        global counter
        a.b.c(key=value, *rest)
        raise Missing from error
        self.x = y = [z for z in items if z]
        for i in a: i.x()
        with opened(a) as f: pass
        match a:
            case Point(x=0) | mod.Line(): pass
            case other: pass
        try: pass
        except Failure as e: pass
        "text".join(super().parts)
"#,
        expect![[r#"
            app
            app.route
            cached
            Base
            mod
            mod.Other
            Meta
            Kind
            Kind
            Kind.ONE
            App
            default
            Result
            Item
            a
            a.b
            a.b.c
            value
            rest
            Missing
            error
            this.x
            z
            items
            z
            a
            i
            i.x
            opened
            a
            a
            Point
            mod
            mod.Line
            Failure
            super.parts
        "#]],
    );
}

#[test]
fn import_targets() {
    targets(
        "src/pkg/sub/mod.py",
        ".",
        expect![[r#"
            file src/pkg/sub.py
            file src/pkg/sub/__init__.py
            file src/pkg/sub.pyi
            file src/pkg/sub/__init__.pyi
            folder src/pkg/sub
        "#]],
    );
    targets(
        "src/pkg/sub/mod.py",
        "..base",
        expect![[r#"
            file src/pkg/base.py
            file src/pkg/base/__init__.py
            file src/pkg/base.pyi
            file src/pkg/base/__init__.pyi
            folder src/pkg/base
        "#]],
    );
    targets(
        "src/pkg/mod.py",
        "pkg.base",
        expect![[r#"
            file src/pkg/pkg/base.py
            file src/pkg/pkg/base/__init__.py
            file src/pkg/pkg/base.pyi
            file src/pkg/pkg/base/__init__.pyi
            file src/pkg/base.py
            file src/pkg/base/__init__.py
            file src/pkg/base.pyi
            file src/pkg/base/__init__.pyi
            file pkg/base.py
            file pkg/base/__init__.py
            file pkg/base.pyi
            file pkg/base/__init__.pyi
            file */pkg/base.py
            file */pkg/base/__init__.py
            file */pkg/base.pyi
            file */pkg/base/__init__.pyi
            folder */pkg/base
        "#]],
    );
    targets("a.py", "..base", expect![[""]]);
    targets("src/flask/app.py", "json.decoder", expect![[""]]);
}

#[test]
fn queries_accept_truncated_text() {
    names::assert_names_of_cuts(Python, STORE);
}

#[test]
fn deep_nesting_does_not_overflow_the_stack() {
    let kinds =
        [("(", ")"), ("a.b(", ")"), ("a.", "b"), ("a[", "]"), ("x = ", "y"), ("a or ", "b"), ("[a, ", "]")];
    for (opener, closer) in kinds {
        let text = opener.repeat(DEPTH) + &closer.repeat(DEPTH);
        assert_eq!(syntax::parse(Python, &text).outline(&text).imports, []);
        assert_eq!(syntax::scope(Python, &text).receiver, None);
    }
}
