//! C#: attributes, accessors, expression bodies, both kinds of `switch`.

use expect_test::expect;
use syntax::Language::CSharp;

use crate::check::check;

#[test]
fn method_with_attributes() {
    check(
        CSharp,
        r#"
class A {
    /// <summary>
    /// The area.
    /// </summary>
    [Fact]
    [Theory(1)]
    public async Task<int> Area<T>(T shape) where T : Shape
    {
        var w = await shape.Wi$0dth();
        // in between
        return w * shape.Height;
    }
}
"#,
        expect![[r#"
            function "[Fact]\n    [Theory(1)]\n    pub…T shape) where T : Shape\n    {" "\n        var w = await shape.W… return w * shape.Height;\n    " "}" ["var w = aw…e.Width();", "return w *…pe.Height;"]
              statement "var w = await shape.Width();"
              statement "return w * shape.Height;"
            name: Area docstring "/// <summary>\n    /// The area.\n    /// </summary>"
            end: "dth();"
        "#]],
    );
}

#[test]
fn constructors_and_operators() {
    check(
        CSharp,
        r#"
class A {
    public A(int x) : base(x) { this.x = x$0; }
    ~A() { Free(); }
    public static A operator +(A a, A b) { return a; }
    public static implicit operator int(A a) => 1;
}
"#,
        expect![[r#"
            function "public A(int x) : base(x) {" " this.x = x; " "}" ["this.x = x;"]
              statement "this.x = x;"
            function "~A() {" " Free(); " "}" ["Free();"]
              statement "Free();"
            function "public static A operator +(A a, A b) {" " return a; " "}" ["return a;"]
              statement "return a;"
            function "public static implicit operator int(A a) =>" " 1" ";" ["1"]
              statement "1"
            name: A
            name: A
            name: +
            name: 
            end: ";"
        "#]],
    );
}

#[test]
fn expression_bodies() {
    check(
        CSharp,
        r#"
class A {
    int F() => x$0 + 1;
    int P => x;
    int Q { get => x; set { x = value; } }
    int R { get; set; } = 3;
    int this[int i] { get { return i; } }
    event H E { add { a(); } remove { b(); } }
}
"#,
        expect![[r#"
            function "int F() =>" " x + 1" ";" ["x + 1"]
              statement "x + 1"
            function "int P =>" " x" ";" ["x"]
              statement "x"
            function "get =>" " x" ";" ["x"]
              statement "x"
            function "set {" " x = value; " "}" ["x = value;"]
              statement "x = value;"
            function "get {" " return i; " "}" ["return i;"]
              statement "return i;"
            function "add {" " a(); " "}" ["a();"]
              statement "a();"
            function "remove {" " b(); " "}" ["b();"]
              statement "b();"
            name: F
            name: P
            name: Q
            name: Q
            name: this
            name: E
            name: E
            end: " + 1"
        "#]],
    );
}

#[test]
fn methods_without_a_body() {
    check(
        CSharp,
        r#"
interface I { int F(); }
abstract class A { public abstract void G(); }
"#,
        expect![[r#"
            name: F signature "int F();"
            name: G signature "public abstract void G();"
        "#]],
    );
}

#[test]
fn fields_and_usings() {
    check(
        CSharp,
        r#"
using System;
using static System.Math;
namespace N;
class A {
    private int x = F$0(1);
    const int Y = 2;
    enum E { B, C }
    delegate void D();
}
"#,
        expect![[r#"
            import "using System;"
            import "using static System.Math;"
            end: "(1);"
        "#]],
    );
}

#[test]
fn top_level_statements() {
    check(
        CSharp,
        r#"
var a = 1;
Console.WriteLine(a$0);
if (a > 0) { b(); }
"#,
        expect![[r#"
            statement "var a = 1;"
            statement "Console.WriteLine(a);"
            if "if (a > 0) {" " b(); " "}" ["b();"]
              statement "b();"
            end: ");"
        "#]],
    );
}

#[test]
fn local_function() {
    check(
        CSharp,
        r#"
class A { void F() {
    int G(int x) { return x$0; }
    H();
} }
"#,
        expect![[r#"
            function "void F() {" "\n    int G(int x) { return x; }\n    H();\n" "}" ["int G(int …eturn x; }", "H();"]
              function "int G(int x) {" " return x; " "}" ["return x;"]
                statement "return x;"
              statement "H();"
            name: F
            name: G
            end: ";"
        "#]],
    );
}

#[test]
fn if_else_if_else() {
    check(
        CSharp,
        r#"
class A { void F() {
    if (a$0 && b)
    {
        x();
    }
    else if (c) y();
    else { z(); }
} }
"#,
        expect![[r#"
            function "void F() {" "\n    if (a && b)\n    {\n       …if (c) y();\n    else { z(); }\n" "}" ["if (a && b…e { z(); }"]
              if "if (a && b)\n    {" "\n        x();\n    " "}\n    else if (c) y();\n    else { z(); }" ["x();"]
                statement "x();"
                if "if (c)" " y();" "\n    else { z(); }" ["y();"]
                  statement "y();"
                  statement "z();"
            name: F
            end: " && b)\n    {"
        "#]],
    );
}

#[test]
fn loops() {
    check(
        CSharp,
        r#"
class A { void F() {
    for (int i = 0; i < n; i++) { a(); }
    foreach (var (k, v) in xs) b();
    await foreach (var x in ys) { c(); }
    while (d) { e(); }
    do { f()$0; } while (g);
} }
"#,
        expect![[r#"
            function "void F() {" "\n    for (int i = 0; i < n; i+… }\n    do { f(); } while (g);\n" "}" ["for (int i…) { a(); }", "foreach (v…n xs) b();", "await fore…) { c(); }", "while (d) { e(); }", "do { f(); …while (g);"]
              for "for (int i = 0; i < n; i++) {" " a(); " "}" ["a();"]
                statement "a();"
              for "foreach (var (k, v) in xs)" " b();" "" ["b();"]
                statement "b();"
              for "await foreach (var x in ys) {" " c(); " "}" ["c();"]
                statement "c();"
              while "while (d) {" " e(); " "}" ["e();"]
                statement "e();"
              while "do {" " f(); " "} while (g);" ["f();"]
                statement "f();"
            name: F
            end: ";"
        "#]],
    );
}

#[test]
fn switch_statement_and_expression() {
    check(
        CSharp,
        r#"
class A { int F() {
    switch (x)
    {
        case 1: a(); break;
        default: b(); break;
    }
    return x switch { 1 => c(), _ => d$0() };
} }
"#,
        expect![[r#"
            function "int F() {" "\n    switch (x)\n    {\n        …witch { 1 => c(), _ => d() };\n" "}" ["switch (x)…eak;\n    }", "return x s… => d() };"]
              if "switch (x)\n    {" "\n        case 1: a(); break;\n …     default: b(); break;\n    " "}" ["case 1: a(); break;", "default: b(); break;"]
                statement "a();"
                statement "break;"
                statement "b();"
                statement "break;"
              statement "return x switch { 1 => c(), _ => d() };"
                if "x switch {" " 1 => c(), _ => d() " "}" ["1 => c()", "_ => d()"]
            name: F
            end: "() };"
        "#]],
    );
}

#[test]
fn try_catch_finally() {
    check(
        CSharp,
        r#"
class A { void F() {
    try { a(); }
    catch (B e) when (e.C) { b($0); }
    catch { throw; }
    finally { c(); }
} }
"#,
        expect![[r#"
            function "void F() {" "\n    try { a(); }\n    catch (B…throw; }\n    finally { c(); }\n" "}" ["try { a();…y { c(); }"]
              try "try {" " a(); " "}\n    catch (B e) when (e.C) {… throw; }\n    finally { c(); }" ["a();"]
                statement "a();"
                catch "catch (B e) when (e.C) {" " b(); " "}" ["b();"]
                  statement "b();"
                catch "catch {" " throw; " "}" ["throw;"]
                  statement "throw;"
                try "finally {" " c(); " "}" ["c();"]
                  statement "c();"
            name: F
            end: ");"
        "#]],
    );
}

#[test]
fn using_lock_and_unsafe_are_not_blocks() {
    check(
        CSharp,
        r#"
class A { void F() {
    using (var f = g) { h($0); }
    using var q = r();
    lock (this) { i(); }
    unsafe { j(); }
    checked { k(); }
    fixed (int* p = s) { t(); }
} }
"#,
        expect![[r#"
            function "void F() {" "\n    using (var f = g) { h(); …  fixed (int* p = s) { t(); }\n" "}" ["using (var…) { h(); }", "using var q = r();", "lock (this) { i(); }", "unsafe { j(); }", "checked { k(); }", "fixed (int…) { t(); }"]
              statement "h();"
              statement "using var q = r();"
              statement "i();"
              statement "j();"
              statement "k();"
              statement "t();"
            name: F
            end: ");"
        "#]],
    );
}

#[test]
fn lambdas_are_expressions() {
    check(
        CSharp,
        r#"
class A { void F() {
    Func<int, int> f = x => { return x$0; };
    xs.Select(x => x + 1).ForEach(delegate (int x) { b(); });
} }
"#,
        expect![[r#"
            function "void F() {" "\n    Func<int, int> f = x => {…h(delegate (int x) { b(); });\n" "}" ["Func<int, …turn x; };", "xs.Select(…{ b(); });"]
              statement "Func<int, int> f = x => { return x; };"
                statement "return x;"
              statement "xs.Select(x => x + 1).ForEach(delegate (int x) { b(); });"
                statement "b();"
            name: F
            end: ";"
        "#]],
    );
}

#[test]
fn one_line_bodies() {
    check(
        CSharp,
        r#"
class A { void F() { if (a) return; while (b) c(); foreach (var x in y) d(); } }
"#,
        expect![[r#"
            function "void F() {" " if (a) return; while (b) c(); foreach (var x in y) d(); " "}" ["if (a) return;", "while (b) c();", "foreach (v…in y) d();"]
              if "if (a)" " return;" "" ["return;"]
                statement "return;"
              while "while (b)" " c();" "" ["c();"]
                statement "c();"
              for "foreach (var x in y)" " d();" "" ["d();"]
                statement "d();"
            name: F
        "#]],
    );
}

#[test]
fn every_simple_statement() {
    check(
        CSharp,
        r#"
class A { IEnumerable<int> F() {
    yield return 1;
    yield break;
    throw e;
    goto end;
    i++;
    ;
    end: a();
} }
"#,
        expect![[r#"
            function "IEnumerable<int> F() {" "\n    yield return 1;\n    yield…\n    i++;\n    ;\n    end: a();\n" "}" ["yield return 1;", "yield break;", "throw e;", "goto end;", "i++;", "end: a();"]
              statement "yield return 1;"
              statement "yield break;"
              statement "throw e;"
              statement "goto end;"
              statement "i++;"
              statement "a();"
            name: F
        "#]],
    );
}

#[test]
fn preprocessor() {
    check(
        CSharp,
        r#"
class A {
#if DEBUG
    void F() { a($0); }
#endif
#region R
    void G() { b(); }
#endregion
}
"#,
        expect![[r#"
            function "void F() {" " a(); " "}" ["a();"]
              statement "a();"
            function "void G() {" " b(); " "}" ["b();"]
              statement "b();"
            name: F
            name: G
            end: ");"
        "#]],
    );
}

#[test]
fn strings() {
    check(
        CSharp,
        r#"
class A { string s = $"{a + "b"} c"$0 + @"d" + """e"""; }
"#,
        expect![[r#"
            end: " + @\"d\" + \"\"\"e\"\"\";"
        "#]],
    );
}

#[test]
fn unclosed_method() {
    check(
        CSharp,
        r#"
class A {
    void F() {
        if (a) {
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
        CSharp,
        r#"
class A { void F() {
    int a = 1
    b();
} }
"#,
        expect![[r#"
            function "void F() {" "\n    int a = 1\n    b();\n" "}" ["int a = 1\n    b();"] !
              statement "int a = 1\n    b();" !
            name: F
        "#]],
    );
}

#[test]
fn crlf() {
    check(
        CSharp,
        "class A {\r\n    /// Doc.\r\n    void F()\r\n    {\r\n        a($0);\r\n    }\r\n}\r\n",
        expect![[r#"
        function "void F()\r\n    {" "\r\n        a();\r\n    " "}" ["a();"]
          statement "a();"
        name: F docstring "/// Doc."
        end: ");"
    "#]],
    );
}

#[test]
fn tabs() {
    check(
        CSharp,
        "class A {\n\tvoid F() {\n\t\tif (a) {\n\t\t\tb()$0;\n\t\t}\n\t}\n}\n",
        expect![[r#"
        function "void F() {" "\n\t\tif (a) {\n\t\t\tb();\n\t\t}\n\t" "}" ["if (a) {\n\t\t\tb();\n\t\t}"]
          if "if (a) {" "\n\t\t\tb();\n\t\t" "}" ["b();"]
            statement "b();"
        name: F
        end: ";"
    "#]],
    );
}

#[test]
fn non_bmp() {
    check(
        CSharp,
        "class A { void F() { var s = \"😀\"$0; /* 😀 */ G('x'); } }\n",
        expect![[r#"
        function "void F() {" " var s = \"😀\"; /* 😀 */ G('x'); " "}" ["var s = \"😀\";", "G('x');"]
          statement "var s = \"😀\";"
          statement "G('x');"
        name: F
        end: ";"
    "#]],
    );
}

#[test]
fn statement_end_in_an_attribute() {
    check(
        CSharp,
        r#"
class A {
    [Theory(va$0lue)]
    void F() {}
}
"#,
        expect![[r#"
            function "[Theory(value)]\n    void F() {" "" "}" []
            name: F
            end: "lue)]"
        "#]],
    );
}
