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
        expect![[r##"
            function "#[inline]\n#[must_use]\npub fn area(shape: &Shape) -> u32 {" "\n    let w = shape.width;\n    … between\n    w * shape.height\n" "}" ["let w = shape.width;", "w * shape.height"]
              statement "let w = shape.width;"
              statement "w * shape.height"
            name: area docstring "/// The area.\n///\n/// In pixels."
            end: "dth;"
        "##]],
    );
}

#[test]
fn comment_before_a_blank_line_is_not_a_docstring() {
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
        expect![[r#"
            function "fn f() {" "" "}" []
            function "fn g() {" "" "}" []
            function "fn h() {" "" "}" []
            name: f
            name: g
            name: h docstring "/** Block\n * doc. */"
        "#]],
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
        expect![[r#"
            function "pub async fn area<U: Into<T>>(… where\n        T: Clone,\n    {" "\n        self.measure(u)?.await\n    " "}" ["self.measu…(u)?.await"]
              statement "self.measure(u)?.await"
            name: area
            end: "it"
        "#]],
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
        expect![[r##"
            function "#[inline]\n    fn name(&self) -> String {" " String::new() " "}" ["String::new()"]
              statement "String::new()"
            name: area docstring "/// Declared." signature "fn area(&self) -> u32;"
            name: name
        "##]],
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
        expect![[r##"
            function "fn outer() {" "\n    #[cold]\n    fn inner() -> u32 { 1 }\n    inner()\n" "}" ["#[cold]\n  … u32 { 1 }", "inner()"]
              function "#[cold]\n    fn inner() -> u32 {" " 1 " "}" ["1"]
                statement "1"
              statement "inner()"
            name: outer
            name: inner
        "##]],
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
        expect![[r#"
            function "fn f() -> u32 {" "\n    if a && b {\n        retur…\n    } else {\n        2\n    }\n" "}" ["if a && b …   2\n    }"]
              if "if a && b {" "\n        return 1;\n    " "} else if let Some(x) = c {\n  …x\n    } else {\n        2\n    }" ["return 1;"]
                statement "return 1;"
                if "if let Some(x) = c {" "\n        x\n    " "} else {\n        2\n    }" ["x"]
                  statement "x"
                  statement "2"
            name: f
            end: "b {"
        "#]],
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
        expect![[r#"
            function "fn f() {" "\n    let x = if a { 1 } else { 2 };\n" "}" ["let x = if…lse { 2 };"]
              statement "let x = if a { 1 } else { 2 };"
                if "if a {" " 1 " "} else { 2 }" ["1"]
                  statement "1"
                  statement "2"
            name: f
            end: " };"
        "#]],
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
        expect![[r#"
            function "fn f() {" "\n    if a { b(); };\n    c\n" "}" ["if a { b(); }", "c"]
              if "if a {" " b(); " "}" ["b();"]
                statement "b();"
              statement "c"
            name: f
        "#]],
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
        expect![[r#"
            function "fn f() {" "\n    match x {\n        A => on…/ none\n        _ => (),\n    }\n" "}" ["match x {\n… (),\n    }"]
              if "match x {" "\n        A => one(),\n        B… // none\n        _ => (),\n    " "}" ["A => one(),", "B if c => { two(); }", "_ => (),"]
                statement "two();"
            name: f
            end: "wo();"
        "#]],
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
        expect![[r#"
            function "fn f() {" "\n    'outer: for x in xs { use…'outer; }\n    loop { break; }\n" "}" ["'outer: fo…e_it(x); }", "while let … 'outer; }", "loop { break; }"]
              for "'outer: for x in xs {" " use_it(x); " "}" ["use_it(x);"]
                statement "use_it(x);"
              while "while let Some(x) = it.next() {" " continue 'outer; " "}" ["continue 'outer;"]
                statement "continue 'outer;"
              while "loop {" " break; " "}" ["break;"]
                statement "break;"
            name: f
            end: ";"
        "#]],
    );
}

#[test]
fn unsafe_and_async_are_not_blocks() {
    check(
        Rust,
        r#"
fn f() {
    unsafe { a()$0; }
    async move { b() };
    { c(); }
}
"#,
        expect![[r#"
            function "fn f() {" "\n    unsafe { a(); }\n    async move { b() };\n    { c(); }\n" "}" ["unsafe { a(); }", "async move { b() }", "{ c(); }"]
              statement "a();"
              statement "b()"
              statement "c();"
            name: f
            end: ";"
        "#]],
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
        expect![[r#"
            function "fn f() {" "\n    xs.map(|x| {\n        let …   });\n    let g = |x| x + 1;\n" "}" ["xs.map(|x|… 1\n    });", "let g = |x| x + 1;"]
              statement "xs.map(|x| {\n        let y = x;\n        y + 1\n    });"
                statement "let y = x;"
                statement "y + 1"
              statement "let g = |x| x + 1;"
            name: f
            end: " = x;"
        "#]],
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
        expect![[r#"
            function "fn f() {" "\n    let Some(x) = y else { return; };\n" "}" ["let Some(x…return; };"]
              statement "let Some(x) = y else { return; };"
                statement "return;"
            name: f
            end: ";"
        "#]],
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
        expect![[r#"
            function "fn f() {" "\n    println!(\"{}\", if a { 1 } else { 2 });\n    vec![1, 2]\n" "}" ["println!(\"…se { 2 });", "vec![1, 2]"]
              statement "println!(\"{}\", if a { 1 } else { 2 });"
              statement "vec![1, 2]"
            statement "thread_local! { static X: u32 = 1; }"
            name: f
        "#]],
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
        expect![[r#"
            import "use std::fmt;"
            statement "const A: u32 = 1;"
            statement "static B: u32 = 2;"
            import "use h::i;"
        "#]],
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
        expect![[r##"
            function "fn f() {" "\n    #[cfg(a)]\n    let x = 1;\n…[expect(b)]\n    if x { y(); }\n" "}" ["#[cfg(a)]\n…let x = 1;", "#[expect(b…x { y(); }"]
              statement "let x = 1;"
              if "if x {" " y(); " "}" ["y();"]
                statement "y();"
            name: f
        "##]],
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
        expect![[r#"
            end: "c<u8>"
        "#]],
    );
}

#[test]
fn statement_end_in_a_signature() {
    check(
        Rust,
        r#"
fn f(a:$0 u8) -> u8 { a }
"#,
        expect![[r#"
            function "fn f(a: u8) -> u8 {" " a " "}" ["a"]
              statement "a"
            name: f
            end: " u8) -> u8 {"
        "#]],
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
        expect![[r#"
            function "fn f() {" " if a { b() } else { c() } " "}" ["if a { b()…se { c() }"]
              if "if a {" " b() " "} else { c() }" ["b()"]
                statement "b()"
                statement "c()"
            function "fn g() {" "" "}" []
            name: f
            name: g
        "#]],
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
        expect![[r#"
            function "fn f() {" "\n    // nothing\n" "}" []
            name: f
        "#]],
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
        expect![[r#"
            function "fn f() {" "\n    'a: { b(); break 'a; }\n" "}" ["'a: { b();…reak 'a; }"]
              statement "b();"
              statement "break 'a;"
            name: f
        "#]],
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
        expect![[r#"
            statement "b();"
        "#]],
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
        expect![[r#"
            function "fn f() {" "\n    let x = 1\n    let y = 2;\n" "}" ["let x = 1", "let y = 2;"] !
              statement "let x = 1" !
              statement "let y = 2;"
            name: f
        "#]],
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
        expect![[r#"
            function "fn f() {" " a(); " "}" ["a();"]
              statement "a();"
            function "fn g() {" " b(); " "}" ["b();"]
              statement "b();"
            name: f
            name: g
        "#]],
    );
}

#[test]
fn crlf() {
    check(
        Rust,
        "/// Doc.\r\n/// More.\r\nfn f() {\r\n    a($0);\r\n    // c\r\n}\r\n",
        expect![[r#"
        function "fn f() {" "\r\n    a();\r\n    // c\r\n" "}" ["a();"]
          statement "a();"
        name: f docstring "/// Doc.\r\n/// More."
        end: ");"
    "#]],
    );
}

#[test]
fn tabs() {
    check(
        Rust,
        "fn f() {\n\tif a {\n\t\tb()$0;\n\t}\n}\n",
        expect![[r#"
        function "fn f() {" "\n\tif a {\n\t\tb();\n\t}\n" "}" ["if a {\n\t\tb();\n\t}"]
          if "if a {" "\n\t\tb();\n\t" "}" ["b();"]
            statement "b();"
        name: f
        end: ";"
    "#]],
    );
}

#[test]
fn non_bmp() {
    check(
        Rust,
        "fn f() {\n    let s = \"😀\"$0;\n    '😀' // 😀\n}\n",
        expect![[r#"
        function "fn f() {" "\n    let s = \"😀\";\n    '😀' // 😀\n" "}" ["let s = \"😀\";", "'😀'"]
          statement "let s = \"😀\";"
          statement "'😀'"
        name: f
        end: ";"
    "#]],
    );
}

#[test]
fn statement_end_in_an_attribute() {
    check(
        Rust,
        r#"
#[cfg(fea$0ture = "a")]
fn f() {}
"#,
        expect![[r##"
            function "#[cfg(feature = \"a\")]\nfn f() {" "" "}" []
            name: f
            end: "ture = \"a\")]"
        "##]],
    );
}

#[test]
fn statement_end_in_an_arm() {
    check(
        Rust,
        r#"
fn f() {
    match x {
        A => on$0e(),
        B => { two() }
    }
}
"#,
        expect![[r#"
            function "fn f() {" "\n    match x {\n        A => on…\n        B => { two() }\n    }\n" "}" ["match x {\n…() }\n    }"]
              if "match x {" "\n        A => one(),\n        B => { two() }\n    " "}" ["A => one(),", "B => { two() }"]
                statement "two()"
            name: f
            end: "e()"
        "#]],
    );
}
