//! Python: bodies by indentation, docstrings inside, `elif` and `else` as clauses.

use expect_test::expect;
use syntax::Language::Python;

use crate::check::check;

#[test]
fn function_with_docstring() {
    check(
        Python,
        r#"
def area(shape):
    """The area."""
    w = shape.w$0idth
    # in between
    return w * shape.height
    # trailing
"#,
        expect![[r#"
            function "def area(shape):" "\n    \"\"\"The area.\"\"\"\n    w = s…en\n    return w * shape.height" "\n    # trailing" ["w = shape.width", "return w *…ape.height"]
              statement "w = shape.width"
              statement "return w * shape.height"
            name: area docstring "\"\"\"The area.\"\"\""
            end: "idth"
        "#]],
    );
}

#[test]
fn decorated_async_method() {
    check(
        Python,
        r#"
class Shape:
    """Docs of a class."""
    sides: int = 4

    @property
    @cached(size=1)
    async def area(self) -> int:
        return await self.measu$0re()
"#,
        expect![[r#"
            function "@property\n    @cached(size=1)\n…  async def area(self) -> int:" "\n        return await self.measure()" "" ["return awa….measure()"]
              statement "return await self.measure()"
            name: area
            end: "re()"
        "#]],
    );
}

#[test]
fn nested_function() {
    check(
        Python,
        r#"
def outer():
    def inner():
        return 1
    return inn$0er
"#,
        expect![[r#"
            function "def outer():" "\n    def inner():\n        return 1\n    return inner" "" ["def inner(…  return 1", "return inner"]
              function "def inner():" "\n        return 1" "" ["return 1"]
                statement "return 1"
              statement "return inner"
            name: outer
            name: inner
            end: "er"
        "#]],
    );
}

#[test]
fn function_with_only_a_docstring() {
    check(
        Python,
        r#"
def f():
    """Nothing
    else."""
"#,
        expect![[r#"
            function "def f():" "\n    \"\"\"Nothing\n    else.\"\"\"" "" []
            name: f docstring "\"\"\"Nothing\n    else.\"\"\""
        "#]],
    );
}

#[test]
fn concatenated_docstring() {
    check(
        Python,
        r#"
def f():
    # comment first
    "a" "b"
    return 1
"#,
        expect![[r#"
            function "def f():" "\n    # comment first\n    \"a\" \"b\"\n    return 1" "" ["return 1"]
              statement "return 1"
            name: f docstring "\"a\" \"b\""
        "#]],
    );
}

#[test]
fn if_elif_else() {
    check(
        Python,
        r#"
if a$0 > 1:  # why
    x()
elif b:
    y()
else:
    z()
"#,
        expect![[r#"
            if "if a > 1:" "  # why\n    x()" "\nelif b:\n    y()\nelse:\n    z()" ["x()"]
              statement "x()"
              if "elif b:" "\n    y()" "" ["y()"]
                statement "y()"
              statement "z()"
            end: " > 1:"
        "#]],
    );
}

#[test]
fn for_and_while_with_else() {
    check(
        Python,
        r#"
async def f():
    async for x in xs:
        use(x)
    else:
        done()
    while True:
        break
"#,
        expect![[r#"
            function "async def f():" "\n    async for x in xs:\n      …\n    while True:\n        break" "" ["async for …    done()", "while True…     break"]
              for "async for x in xs:" "\n        use(x)" "\n    else:\n        done()" ["use(x)"]
                statement "use(x)"
                statement "done()"
              while "while True:" "\n        break" "" ["break"]
                statement "break"
            name: f
        "#]],
    );
}

#[test]
fn try_except_finally() {
    check(
        Python,
        r#"
try:
    risky()
except (A, B) as e:
    h$0andle(e)
except:
    raise
else:
    fine()
finally:
    close()
"#,
        expect![[r#"
            try "try:" "\n    risky()" "\nexcept (A, B) as e:\n    handl…   fine()\nfinally:\n    close()" ["risky()"]
              statement "risky()"
              catch "except (A, B) as e:" "\n    handle(e)" "" ["handle(e)"]
                statement "handle(e)"
              catch "except:" "\n    raise" "" ["raise"]
                statement "raise"
              statement "fine()"
              try "finally:" "\n    close()" "" ["close()"]
                statement "close()"
            end: "andle(e)"
        "#]],
    );
}

#[test]
fn except_group() {
    check(
        Python,
        r#"
try:
    a()
except* OSError:
    b()
"#,
        expect![[r#"
            try "try:" "\n    a()" "\nexcept* OSError:\n    b()" ["a()"]
              statement "a()"
              catch "except* OSError:" "\n    b()" "" ["b()"]
                statement "b()"
        "#]],
    );
}

#[test]
fn match_with_cases() {
    check(
        Python,
        r#"
match command:
    case ["go", way] if way:
        g$0o(way)
    case _:
        pass
"#,
        expect![[r#"
            if "match command:" "\n    case [\"go\", way] if way:\n…(way)\n    case _:\n        pass" "" ["case [\"go\"…   go(way)", "case _:\n        pass"]
              statement "go(way)"
              statement "pass"
            end: "o(way)"
        "#]],
    );
}

#[test]
fn with_statement_is_not_a_block() {
    check(
        Python,
        r#"
with open(p) as f, lock:
    f.re$0ad()
"#,
        expect![[r#"
            statement "f.read()"
            end: "ad()"
        "#]],
    );
}

#[test]
fn one_line_bodies() {
    check(
        Python,
        r#"
def f(): return 1
if a: b; c
while a: pass
"#,
        expect![[r#"
            function "def f():" " return 1" "" ["return 1"]
              statement "return 1"
            if "if a:" " b; c" "" ["b", "c"]
              statement "b"
              statement "c"
            while "while a:" " pass" "" ["pass"]
              statement "pass"
            name: f
        "#]],
    );
}

#[test]
fn several_statements_on_a_line() {
    check(
        Python,
        r#"
a = 1; b =$0 2; c = 3
"#,
        expect![[r#"
            statement "a = 1"
            statement "b = 2"
            statement "c = 3"
            end: " 2"
        "#]],
    );
}

#[test]
fn every_simple_statement() {
    check(
        Python,
        r#"
import os
from a import b
def f():
    global g
    nonlocal n
    assert a, "b"
    del a
    raise E from e
    yield x
    await y
    x: int = 1
    x += 1
    type T = int
    continue
"#,
        expect![[r#"
            import "import os"
            import "from a import b"
            function "def f():" "\n    global g\n    nonlocal n\n …\n    type T = int\n    continue" "" ["global g", "nonlocal n", "assert a, \"b\"", "del a", "raise E from e", "yield x", "await y", "x: int = 1", "x += 1", "type T = int", "continue"]
              statement "global g"
              statement "nonlocal n"
              statement "assert a, \"b\""
              statement "del a"
              statement "raise E from e"
              statement "yield x"
              statement "await y"
              statement "x: int = 1"
              statement "x += 1"
              statement "type T = int"
              statement "continue"
            name: f
        "#]],
    );
}

#[test]
fn multi_line_statement() {
    check(
        Python,
        r#"
x = call(
    1,$0
    2,
)
y = """
string
"""
"#,
        expect![[r#"
            statement "x = call(\n    1,\n    2,\n)"
            statement "y = \"\"\"\nstring\n\"\"\""
            end: "\n    2,\n)"
        "#]],
    );
}

#[test]
fn lambdas_are_expressions() {
    check(
        Python,
        r#"
f = lambda x: x + 1
g = sorted(xs, key=lambda x: (x.a, x.b))
"#,
        expect![[r#"
            statement "f = lambda x: x + 1"
            statement "g = sorted(xs, key=lambda x: (x.a, x.b))"
        "#]],
    );
}

#[test]
fn generic_function() {
    check(
        Python,
        r#"
def first[T](xs: list[T], *, n: int = 0) -> T:
    return xs[n]
"#,
        expect![[r#"
            function "def first[T](xs: list[T], *, n: int = 0) -> T:" "\n    return xs[n]" "" ["return xs[n]"]
              statement "return xs[n]"
            name: first
        "#]],
    );
}

#[test]
fn statement_end_in_a_header() {
    check(
        Python,
        r#"
def f(a,$0 b):
    pass
"#,
        expect![[r#"
            function "def f(a, b):" "\n    pass" "" ["pass"]
              statement "pass"
            name: f
            end: " b):"
        "#]],
    );
}

#[test]
fn statement_end_in_a_class_attribute() {
    check(
        Python,
        r#"
class A:
    x = fiel$0d(1)
"#,
        expect![[r#"
            end: "d(1)"
        "#]],
    );
}

#[test]
fn blank_line_is_in_no_statement() {
    check(
        Python,
        r#"
a = 1
$0
b = 2
"#,
        expect![[r#"
            statement "a = 1"
            statement "b = 2"
            end: none
        "#]],
    );
}

#[test]
fn module_docstring_is_not_a_statement() {
    check(
        Python,
        r#"
"""Module."""
x = 1
"#,
        expect![[r#"
            statement "x = 1"
        "#]],
    );
}

#[test]
fn comprehension_is_not_a_loop() {
    check(
        Python,
        r#"
xs = [f(x) for x in ys if x]
"#,
        expect![[r#"
            statement "xs = [f(x) for x in ys if x]"
        "#]],
    );
}

#[test]
fn header_without_body() {
    check(
        Python,
        r#"
def f(a):
"#,
        expect![[r#"
            function "def f(a):" "" "" []
            name: f
        "#]],
    );
}

#[test]
fn header_without_body_in_class() {
    check(
        Python,
        r#"
class A:
    def f(self):

    def g(self):
        return 1
"#,
        expect![[r#"
            function "def f(self):" "" "" []
            function "def g(self):" "\n        return 1" "" ["return 1"]
              statement "return 1"
            name: f
            name: g
        "#]],
    );
}

#[test]
fn unfinished_statement() {
    check(
        Python,
        r#"
def f():
    x = foo(
    y = 1
"#,
        expect![[r#"
            function "def f():" "" "\n    x = foo(\n    y = 1" [] !
            name: f
        "#]],
    );
}

#[test]
fn unfinished_header() {
    check(
        Python,
        r#"
if a and
    b()
"#,
        expect![[""]],
    );
}

#[test]
fn stray_else() {
    check(
        Python,
        r#"
def f():
    else:
        a()
    b()
"#,
        expect![[r#"
            function "def f():" "\n    else:\n        a()" "" ["a()"] !
              statement "a()"
            statement "b()"
            name: f
        "#]],
    );
}

#[test]
fn crlf() {
    check(
        Python,
        "def f():\r\n    if a:\r\n        b()\r\n    # c\r\n    return $01\r\n",
        expect![[r#"
        function "def f():" "\r\n    if a:\r\n        b()\r\n    # c\r\n    return 1" "" ["if a:\r\n        b()", "return 1"]
          if "if a:" "\r\n        b()" "" ["b()"]
            statement "b()"
          statement "return 1"
        name: f
        end: "1"
    "#]],
    );
}

#[test]
fn tabs() {
    check(
        Python,
        "class A:\n\tdef f(self):\n\t\tif a:\n\t\t\tb($0)\n\t\treturn 1\n",
        expect![[r#"
        function "def f(self):" "\n\t\tif a:\n\t\t\tb()\n\t\treturn 1" "" ["if a:\n\t\t\tb()", "return 1"]
          if "if a:" "\n\t\t\tb()" "" ["b()"]
            statement "b()"
          statement "return 1"
        name: f
        end: ")"
    "#]],
    );
}

#[test]
fn non_bmp() {
    check(
        Python,
        "def f():\n    s = '😀'$0\n    return s  # 😀\n\n\ndef 𝒙(): return '😀'\n",
        expect![[r#"
        function "def f():" "\n    s = '😀'\n    return s" "  # 😀" ["s = '😀'", "return s"]
          statement "s = '😀'"
          statement "return s"
        function "def 𝒙():" " return '😀'" "" ["return '😀'"]
          statement "return '😀'"
        name: f
        name: 𝒙
        end: none
    "#]],
    );
}

#[test]
fn empty_text() {
    check(Python, "", expect![[""]]);
}

#[test]
fn no_final_line_end() {
    check(
        Python,
        "def f():\n    return 1",
        expect![[r#"
        function "def f():" "\n    return 1" "" ["return 1"]
          statement "return 1"
        name: f
    "#]],
    );
}

#[test]
fn statement_end_in_a_decorator() {
    check(
        Python,
        r#"
@app.rou$0te('/')
def f():
    pass
"#,
        expect![[r#"
            function "@app.route('/')\ndef f():" "\n    pass" "" ["pass"]
              statement "pass"
            name: f
            end: "te('/')"
        "#]],
    );
}
