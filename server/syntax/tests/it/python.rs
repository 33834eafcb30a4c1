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
        expect![[]],
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
        expect![[]],
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
        expect![[]],
    );
}

#[test]
fn only_a_docstring() {
    check(
        Python,
        r#"
def f():
    """Nothing
    else."""
"#,
        expect![[]],
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
        expect![[]],
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
        expect![[]],
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
        expect![[]],
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
        expect![[]],
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
        expect![[]],
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
        expect![[]],
    );
}

#[test]
fn with_is_no_kind() {
    check(
        Python,
        r#"
with open(p) as f, lock:
    f.re$0ad()
"#,
        expect![[]],
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
        expect![[]],
    );
}

#[test]
fn several_statements_on_a_line() {
    check(
        Python,
        r#"
a = 1; b =$0 2; c = 3
"#,
        expect![[]],
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
        expect![[]],
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
        expect![[]],
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
        expect![[]],
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
        expect![[]],
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
        expect![[]],
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
        expect![[]],
    );
}

#[test]
fn no_statement_between_statements() {
    check(
        Python,
        r#"
a = 1
$0
b = 2
"#,
        expect![[]],
    );
}

#[test]
fn module_docstring_is_no_statement() {
    check(
        Python,
        r#"
"""Module."""
x = 1
"#,
        expect![[]],
    );
}

#[test]
fn comprehension_is_no_loop() {
    check(
        Python,
        r#"
xs = [f(x) for x in ys if x]
"#,
        expect![[]],
    );
}

#[test]
fn header_without_body() {
    check(
        Python,
        r#"
def f(a):
"#,
        expect![[]],
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
        expect![[]],
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
        expect![[]],
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
        expect![[]],
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
        expect![[]],
    );
}

#[test]
fn crlf() {
    check(Python, "def f():\r\n    if a:\r\n        b()\r\n    # c\r\n    return $01\r\n", expect![[]]);
}

#[test]
fn tabs() {
    check(Python, "class A:\n\tdef f(self):\n\t\tif a:\n\t\t\tb($0)\n\t\treturn 1\n", expect![[]]);
}

#[test]
fn non_bmp() {
    check(Python, "def f():\n    s = '😀'$0\n    return s  # 😀\n\n\ndef 𝒙(): return '😀'\n", expect![[]]);
}

#[test]
fn empty_text() {
    check(Python, "", expect![[]]);
}

#[test]
fn no_final_line_end() {
    check(Python, "def f():\n    return 1", expect![[]]);
}
