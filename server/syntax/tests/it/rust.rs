//! Rust: constructs are expressions, and a body's tail is a statement without a `;`.

use expect_test::expect;
use syntax::Language::Rust;

use crate::check::check;

#[test]
fn function_with_attributes_and_doc_comment() {
    check(
        Rust,
        r#"
/// The area.
///
/// In pixels.
#[inline]
#[must_use]
pub fn area(shape: &Shape) -> u32 {
    let w = shape.wi$0dth;
    // in between
    w * shape.height
}
"#,
        expect![[]],
    );
}

#[test]
fn doc_comment_with_a_gap() {
    check(
        Rust,
        r#"
/// Not directly above.

fn f() {}
// No doc comment.
fn g() {}
/** Block
 * doc. */
fn h() {}
"#,
        expect![[]],
    );
}

#[test]
fn async_generic_method() {
    check(
        Rust,
        r#"
impl<T> Shape<T> {
    const SIDES: u32 = 4;

    pub async fn area<U: Into<T>>(&self, u: U) -> Result<T>
    where
        T: Clone,
    {
        self.measure(u)?.awa$0it
    }
}
"#,
        expect![[]],
    );
}

#[test]
fn trait_methods() {
    check(
        Rust,
        r#"
trait Shape {
    /// Declared.
    fn area(&self) -> u32;
    #[inline]
    fn name(&self) -> String { String::new() }
}
"#,
        expect![[]],
    );
}

#[test]
fn nested_function() {
    check(
        Rust,
        r#"
fn outer() {
    #[cold]
    fn inner() -> u32 { 1 }
    inner()
}
"#,
        expect![[]],
    );
}

#[test]
fn if_else_if_else() {
    check(
        Rust,
        r#"
fn f() -> u32 {
    if a && $0b {
        return 1;
    } else if let Some(x) = c {
        x
    } else {
        2
    }
}
"#,
        expect![[]],
    );
}

#[test]
fn if_as_a_value() {
    check(
        Rust,
        r#"
fn f() {
    let x = if a { 1 } else { 2$0 };
}
"#,
        expect![[]],
    );
}

#[test]
fn if_with_a_semicolon() {
    check(
        Rust,
        r#"
fn f() {
    if a { b(); };
    c
}
"#,
        expect![[]],
    );
}

#[test]
fn match_with_arms() {
    check(
        Rust,
        r#"
fn f() {
    match x {
        A => one(),
        B if c => { t$0wo(); }
        // none
        _ => (),
    }
}
"#,
        expect![[]],
    );
}

#[test]
fn loops() {
    check(
        Rust,
        r#"
fn f() {
    'outer: for x in xs { use_it(x); }
    while let Some(x) = it.next() { continue 'outer; }
    loop { break$0; }
}
"#,
        expect![[]],
    );
}

#[test]
fn unsafe_and_async_blocks_are_no_kind() {
    check(
        Rust,
        r#"
fn f() {
    unsafe { a()$0; }
    async move { b() };
    { c(); }
}
"#,
        expect![[]],
    );
}

#[test]
fn closures_are_expressions() {
    check(
        Rust,
        r#"
fn f() {
    xs.map(|x| {
        let y$0 = x;
        y + 1
    });
    let g = |x| x + 1;
}
"#,
        expect![[]],
    );
}

#[test]
fn let_else() {
    check(
        Rust,
        r#"
fn f() {
    let Some(x) = y else { return$0; };
}
"#,
        expect![[]],
    );
}

#[test]
fn macros() {
    check(
        Rust,
        r#"
macro_rules! m { ($x:expr) => { if $x { 1 } } }
fn f() {
    println!("{}", if a { 1 } else { 2 });
    vec![1, 2]
}
thread_local! { static X: u32 = 1; }
"#,
        expect![[]],
    );
}

#[test]
fn items_at_module_level() {
    check(
        Rust,
        r#"
use std::fmt;
const A: u32 = 1;
static B: u32 = 2;
type C = u32;
struct D { x: u32 }
enum E { F }
mod g { use h::i; }
"#,
        expect![[]],
    );
}

#[test]
fn statements_with_attributes() {
    check(
        Rust,
        r#"
fn f() {
    #[cfg(a)]
    let x = 1;
    #[expect(b)]
    if x { y(); }
}
"#,
        expect![[]],
    );
}

#[test]
fn statement_end_in_a_field() {
    check(
        Rust,
        r#"
struct A {
    x: Ve$0c<u8>,
}
"#,
        expect![[]],
    );
}

#[test]
fn statement_end_in_a_signature() {
    check(
        Rust,
        r#"
fn f(a:$0 u8) -> u8 { a }
"#,
        expect![[]],
    );
}

#[test]
fn one_line_bodies() {
    check(
        Rust,
        r#"
fn f() { if a { b() } else { c() } }
fn g() {}
"#,
        expect![[]],
    );
}

#[test]
fn comments_in_empty_body() {
    check(
        Rust,
        r#"
fn f() {
    // nothing
}
"#,
        expect![[]],
    );
}

#[test]
fn labelled_block() {
    check(
        Rust,
        r#"
fn f() {
    'a: { b(); break 'a; }
}
"#,
        expect![[]],
    );
}

#[test]
fn unclosed_function() {
    check(
        Rust,
        r#"
fn f() {
    if a {
        b();
"#,
        expect![[]],
    );
}

#[test]
fn missing_semicolon() {
    check(
        Rust,
        r#"
fn f() {
    let x = 1
    let y = 2;
}
"#,
        expect![[]],
    );
}

#[test]
fn stray_closer() {
    check(
        Rust,
        r#"
fn f() { a(); } }
fn g() { b(); }
"#,
        expect![[]],
    );
}

#[test]
fn crlf() {
    check(Rust, "/// Doc.\r\n/// More.\r\nfn f() {\r\n    a($0);\r\n    // c\r\n}\r\n", expect![[]]);
}

#[test]
fn tabs() {
    check(Rust, "fn f() {\n\tif a {\n\t\tb()$0;\n\t}\n}\n", expect![[]]);
}

#[test]
fn non_bmp() {
    check(Rust, "fn f() {\n    let s = \"😀\"$0;\n    '😀' // 😀\n}\n", expect![[]]);
}
