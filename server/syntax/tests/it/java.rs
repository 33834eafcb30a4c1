//! Java: annotations, constructors, both kinds of `switch`, resources.

use expect_test::expect;
use syntax::Language::Java;

use crate::check::check;

#[test]
fn annotated_generic_method() {
    check(
        Java,
        r#"
class A {
  /** The area. */
  @Override
  @Deprecated(since = "1")
  public <T extends Shape> int area(T shape) throws E {
    int w = shape.wi$0dth;
    // in between
    return w * shape.height;
  }
}
"#,
        expect![[r#"
            function "@Override\n  @Deprecated(since …> int area(T shape) throws E {" "\n    int w = shape.width;\n    …   return w * shape.height;\n  " "}" ["int w = shape.width;", "return w *…pe.height;"]
              statement "int w = shape.width;"
              statement "return w * shape.height;"
            name: area docstring "/** The area. */"
            end: "dth;"
        "#]],
    );
}

#[test]
fn constructors() {
    check(
        Java,
        r#"
class A {
  A() { this(1); }
  A(int x) { super(); this.x = x$0; }
  record R(int a) { R { check(); } }
}
"#,
        expect![[r#"
            function "A() {" " this(1); " "}" ["this(1);"]
              statement "this(1);"
            function "A(int x) {" " super(); this.x = x; " "}" ["super();", "this.x = x;"]
              statement "super();"
              statement "this.x = x;"
            function "R {" " check(); " "}" ["check();"]
              statement "check();"
            name: A
            name: A
            name: R
            end: ";"
        "#]],
    );
}

#[test]
fn methods_without_a_body() {
    check(
        Java,
        r#"
interface I {
  int a();
  default void b() { c($0); }
}
abstract class A { protected abstract void d(); native void e(); }
@interface N { int v() default 1; }
"#,
        expect![[r#"
            function "default void b() {" " c(); " "}" ["c();"]
              statement "c();"
            name: a signature "int a();"
            name: b
            name: d signature "protected abstract void d();"
            name: e signature "native void e();"
            end: ");"
        "#]],
    );
}

#[test]
fn fields_and_initialisers() {
    check(
        Java,
        r#"
package a.b;
import c.d;
class A {
  private final int x = f$0(1);
  static { init(); }
  { inst(); }
  enum E { B, C { void g() {} } }
}
"#,
        expect![[r#"
            import "import c.d;"
            statement "init();"
            statement "inst();"
            function "void g() {" "" "}" []
            name: g
            end: "(1);"
        "#]],
    );
}

#[test]
fn if_else_if_else() {
    check(
        Java,
        r#"
class A { void f() {
  if (a$0 && b) {
    x();
  } else if (c) y();
  else { z(); }
} }
"#,
        expect![[r#"
            function "void f() {" "\n  if (a && b) {\n    x();\n  } …e if (c) y();\n  else { z(); }\n" "}" ["if (a && b…e { z(); }"]
              if "if (a && b) {" "\n    x();\n  " "} else if (c) y();\n  else { z(); }" ["x();"]
                statement "x();"
                if "if (c)" " y();" "\n  else { z(); }" ["y();"]
                  statement "y();"
                  statement "z();"
            name: f
            end: " && b) {"
        "#]],
    );
}

#[test]
fn loops() {
    check(
        Java,
        r#"
class A { void f() {
  for (int i = 0; i < n; i++) { a(); }
  for (String s : xs) b();
  while (c) { d(); }
  do { e()$0; } while (g);
  outer: for (;;) { break outer; }
} }
"#,
        expect![[r#"
            function "void f() {" "\n  for (int i = 0; i < n; i++)…er: for (;;) { break outer; }\n" "}" ["for (int i…) { a(); }", "for (Strin…: xs) b();", "while (c) { d(); }", "do { e(); …while (g);", "outer: for…k outer; }"]
              for "for (int i = 0; i < n; i++) {" " a(); " "}" ["a();"]
                statement "a();"
              for "for (String s : xs)" " b();" "" ["b();"]
                statement "b();"
              while "while (c) {" " d(); " "}" ["d();"]
                statement "d();"
              while "do {" " e(); " "} while (g);" ["e();"]
                statement "e();"
              for "for (;;) {" " break outer; " "}" ["break outer;"]
                statement "break outer;"
            name: f
            end: ";"
        "#]],
    );
}

#[test]
fn switch_statement_and_expression() {
    check(
        Java,
        r#"
class A { int f() {
  switch (x) {
    case 1: a(); break;
    default: b();
  }
  int y = switch (x) { case 1 -> 2; default -> { c(); yield 3$0; } };
  return y;
} }
"#,
        expect![[r#"
            function "int f() {" "\n  switch (x) {\n    case 1: a(…(); yield 3; } };\n  return y;\n" "}" ["switch (x)…: b();\n  }", "int y = sw…ld 3; } };", "return y;"]
              if "switch (x) {" "\n    case 1: a(); break;\n    default: b();\n  " "}" ["case 1: a(); break;", "default: b();"]
                statement "a();"
                statement "break;"
                statement "b();"
              statement "int y = switch (x) { case 1 ->…efault -> { c(); yield 3; } };"
                if "switch (x) {" " case 1 -> 2; default -> { c(); yield 3; } " "}" ["case 1 -> 2;", "default ->…yield 3; }"]
                  statement "2;"
                  statement "c();"
                  statement "yield 3;"
              statement "return y;"
            name: f
            end: ";"
        "#]],
    );
}

#[test]
fn try_with_resources() {
    check(
        Java,
        r#"
class A { void f() {
  try (var r = open()) {
    a();
  } catch (B | C e) {
    b($0);
  } finally {
    c();
  }
  try { d(); } catch (E e) { }
} }
"#,
        expect![[r#"
            function "void f() {" "\n  try (var r = open()) {\n    … try { d(); } catch (E e) { }\n" "}" ["try (var r…  c();\n  }", "try { d();… (E e) { }"]
              try "try (var r = open()) {" "\n    a();\n  " "} catch (B | C e) {\n    b();\n  } finally {\n    c();\n  }" ["a();"]
                statement "a();"
                catch "catch (B | C e) {" "\n    b();\n  " "}" ["b();"]
                  statement "b();"
                try "finally {" "\n    c();\n  " "}" ["c();"]
                  statement "c();"
              try "try {" " d(); " "} catch (E e) { }" ["d();"]
                statement "d();"
                catch "catch (E e) {" " " "}" []
            name: f
            end: ");"
        "#]],
    );
}

#[test]
fn lambdas_are_expressions() {
    check(
        Java,
        r#"
class A { void f() {
  Runnable r = () -> { a()$0; };
  xs.stream().map(x -> x + 1).forEach(x -> { b(x); });
} }
"#,
        expect![[r#"
            function "void f() {" "\n  Runnable r = () -> { a(); }…+ 1).forEach(x -> { b(x); });\n" "}" ["Runnable r… { a(); };", "xs.stream(… b(x); });"]
              statement "Runnable r = () -> { a(); };"
                statement "a();"
              statement "xs.stream().map(x -> x + 1).forEach(x -> { b(x); });"
                statement "b(x);"
            name: f
            end: ";"
        "#]],
    );
}

#[test]
fn anonymous_class() {
    check(
        Java,
        r#"
class A { void f() {
  run(new Runnable() {
    @Override public void run() { a($0); }
  });
} }
"#,
        expect![[r#"
            function "void f() {" "\n  run(new Runnable() {\n    @O…lic void run() { a(); }\n  });\n" "}" ["run(new Ru…); }\n  });"]
              statement "run(new Runnable() {\n    @Over…blic void run() { a(); }\n  });"
                function "@Override public void run() {" " a(); " "}" ["a();"]
                  statement "a();"
            name: f
            name: run
            end: ");"
        "#]],
    );
}

#[test]
fn synchronized_is_not_a_block() {
    check(
        Java,
        r#"
class A { void f() { synchronized (this) { a($0); } } }
"#,
        expect![[r#"
            function "void f() {" " synchronized (this) { a(); } " "}" ["synchroniz…) { a(); }"]
              statement "a();"
            name: f
            end: ");"
        "#]],
    );
}

#[test]
fn one_line_bodies() {
    check(
        Java,
        r#"
class A { void f() { if (a) return; while (b) c(); } }
"#,
        expect![[r#"
            function "void f() {" " if (a) return; while (b) c(); " "}" ["if (a) return;", "while (b) c();"]
              if "if (a)" " return;" "" ["return;"]
                statement "return;"
              while "while (b)" " c();" "" ["c();"]
                statement "c();"
            name: f
        "#]],
    );
}

#[test]
fn every_simple_statement() {
    check(
        Java,
        r#"
class A { void f() {
  assert a : b;
  throw e;
  final var c = d;
  i++;
  continue;
  ;
  class Local { void g() { h(); } }
} }
"#,
        expect![[r#"
            function "void f() {" "\n  assert a : b;\n  throw e;\n  …s Local { void g() { h(); } }\n" "}" ["assert a : b;", "throw e;", "final var c = d;", "i++;", "continue;", "class Loca…{ h(); } }"]
              statement "assert a : b;"
              statement "throw e;"
              statement "final var c = d;"
              statement "i++;"
              statement "continue;"
              function "void g() {" " h(); " "}" ["h();"]
                statement "h();"
            name: f
            name: g
        "#]],
    );
}

#[test]
fn text_block() {
    check(
        Java,
        r#"
class A { String s = """
  x$0
  """; }
"#,
        expect![[r#"
            end: "\n  \"\"\";"
        "#]],
    );
}

#[test]
fn unclosed_method() {
    check(
        Java,
        r#"
class A {
  void f() {
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
        Java,
        r#"
class A { void f() {
  int a = 1
  b();
} }
"#,
        expect![[r#"
            function "void f() {" "\n  int a = 1\n  b();\n" "}" ["int a = 1\n  b();"] !
              statement "int a = 1\n  b();" !
            name: f
        "#]],
    );
}

#[test]
fn crlf() {
    check(
        Java,
        "class A {\r\n  /** Doc. */\r\n  void f() {\r\n    a($0);\r\n  }\r\n}\r\n",
        expect![[r#"
        function "void f() {" "\r\n    a();\r\n  " "}" ["a();"]
          statement "a();"
        name: f docstring "/** Doc. */"
        end: ");"
    "#]],
    );
}

#[test]
fn tabs() {
    check(
        Java,
        "class A {\n\tvoid f() {\n\t\tif (a) {\n\t\t\tb()$0;\n\t\t}\n\t}\n}\n",
        expect![[r#"
        function "void f() {" "\n\t\tif (a) {\n\t\t\tb();\n\t\t}\n\t" "}" ["if (a) {\n\t\t\tb();\n\t\t}"]
          if "if (a) {" "\n\t\t\tb();\n\t\t" "}" ["b();"]
            statement "b();"
        name: f
        end: ";"
    "#]],
    );
}

#[test]
fn non_bmp() {
    check(
        Java,
        "class A { void f() { String s = \"😀\"$0; /* 😀 */ g('x'); } }\n",
        expect![[r#"
        function "void f() {" " String s = \"😀\"; /* 😀 */ g('x'); " "}" ["String s = \"😀\";", "g('x');"]
          statement "String s = \"😀\";"
          statement "g('x');"
        name: f
        end: ";"
    "#]],
    );
}

#[test]
fn statement_end_in_an_annotation() {
    check(
        Java,
        r#"
class A {
  @Named(va$0lue = "a")
  void f() {}
}
"#,
        expect![[r#"
            function "@Named(value = \"a\")\n  void f() {" "" "}" []
            name: f
            end: "lue = \"a\")"
        "#]],
    );
}
