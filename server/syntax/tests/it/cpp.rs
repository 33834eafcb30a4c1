//! C++: templates, qualified names, members, and the statements that C does not have.

use expect_test::expect;
use syntax::Language::Cpp;

use crate::check::check;

#[test]
fn template_function() {
    check(
        Cpp,
        r#"
/// The area.
template <typename T>
[[nodiscard]] constexpr auto area(const T& shape) noexcept -> int {
  auto w = shape.wi$0dth();
  // in between
  return w * shape.height();
}
template <> template <typename U> void A<int>::b(U u) { c(); }
"#,
        expect![[r#"
            function "template <typename T>\n[[nodisc…st T& shape) noexcept -> int {" "\n  auto w = shape.width();\n  /…\n  return w * shape.height();\n" "}" ["auto w = s…e.width();", "return w *….height();"]
              statement "auto w = shape.width();"
              statement "return w * shape.height();"
            function "template <> template <typename U> void A<int>::b(U u) {" " c(); " "}" ["c();"]
              statement "c();"
            name: area docstring "/// The area."
            name: A<int>::b
            end: "dth();"
        "#]],
    );
}

#[test]
fn qualified_names() {
    check(
        Cpp,
        r#"
int Shape::area() const { return w_$0 * h_; }
std::string& Shape::name() { return name_; }
const char* n::Shape::id() { return id_; }
Shape::Shape(int w) : w_(w), h_{0} { init(); }
Shape::~Shape() { free(); }
bool Shape::operator==(const Shape& o) const { return true; }
Shape::operator bool() const { return true; }
"#,
        expect![[r#"
            function "int Shape::area() const {" " return w_ * h_; " "}" ["return w_ * h_;"]
              statement "return w_ * h_;"
            function "std::string& Shape::name() {" " return name_; " "}" ["return name_;"]
              statement "return name_;"
            function "const char* n::Shape::id() {" " return id_; " "}" ["return id_;"]
              statement "return id_;"
            function "Shape::Shape(int w) : w_(w), h_{0} {" " init(); " "}" ["init();"]
              statement "init();"
            function "Shape::~Shape() {" " free(); " "}" ["free();"]
              statement "free();"
            function "bool Shape::operator==(const Shape& o) const {" " return true; " "}" ["return true;"]
              statement "return true;"
            function "Shape::operator bool() const {" " return true; " "}" ["return true;"]
              statement "return true;"
            name: Shape::area
            name: Shape::name
            name: n::Shape::id
            name: Shape::Shape
            name: Shape::~Shape
            name: Shape::operator==
            name: Shape::operator bool() const
            end: " * h_;"
        "#]],
    );
}

// The grammar takes the class for a function and its members are broken, so this does not check them.
#[test]
fn class_with_an_export_macro() {
    check(
        Cpp,
        r#"
class EXPORT A {
 public:
  int f() { return 1$0; }
};
"#,
        expect![[r#"
            statement "int f() { return 1; }" !
            end: "; }"
        "#]],
    );
}

#[test]
fn class_members() {
    check(
        Cpp,
        r#"
class A : public B {
 public:
  A() : x(1) { init($0); }
  explicit A(int x);
  ~A() = default;
  A(const A&) = delete;
  virtual int m() const override { return x; }
  virtual void v() = 0;
  A& operator=(const A& o) { return *this; }
  template <typename T> void t(T a) { b(a); }
  static int s();
 private:
  int x = 1;
  using T = int;
};
"#,
        expect![[r#"
            function "A() : x(1) {" " init(); " "}" ["init();"]
              statement "init();"
            function "virtual int m() const override {" " return x; " "}" ["return x;"]
              statement "return x;"
            function "A& operator=(const A& o) {" " return *this; " "}" ["return *this;"]
              statement "return *this;"
            function "template <typename T> void t(T a) {" " b(a); " "}" ["b(a);"]
              statement "b(a);"
            name: A
            name: A signature "explicit A(int x);"
            name: ~A signature "~A() = default;"
            name: A signature "A(const A&) = delete;"
            name: m
            name: v signature "virtual void v() = 0;"
            name: operator=
            name: t
            name: s signature "static int s();"
            end: ");"
        "#]],
    );
}

#[test]
fn if_else_if_else() {
    check(
        Cpp,
        r#"
void f() {
  if (int q = g(); q$0) {
    x();
  } else if constexpr (c) y();
  else { z(); }
}
"#,
        expect![[r#"
            function "void f() {" "\n  if (int q = g(); q) {\n    x…expr (c) y();\n  else { z(); }\n" "}" ["if (int q …e { z(); }"]
              if "if (int q = g(); q) {" "\n    x();\n  " "} else if constexpr (c) y();\n  else { z(); }" ["x();"]
                statement "x();"
                if "if constexpr (c)" " y();" "\n  else { z(); }" ["y();"]
                  statement "y();"
                  statement "z();"
            name: f
            end: ") {"
        "#]],
    );
}

#[test]
fn loops() {
    check(
        Cpp,
        r#"
void f() {
  for (int i = 0; i < n; ++i) { a(); }
  for (const auto& [k, v] : m) b();
  while (auto p = next()) { c(); }
  do { d()$0; } while (e);
}
"#,
        expect![[r#"
            function "void f() {" "\n  for (int i = 0; i < n; ++i)…); }\n  do { d(); } while (e);\n" "}" ["for (int i…) { a(); }", "for (const… : m) b();", "while (aut…) { c(); }", "do { d(); …while (e);"]
              for "for (int i = 0; i < n; ++i) {" " a(); " "}" ["a();"]
                statement "a();"
              for "for (const auto& [k, v] : m)" " b();" "" ["b();"]
                statement "b();"
              while "while (auto p = next()) {" " c(); " "}" ["c();"]
                statement "c();"
              while "do {" " d(); " "} while (e);" ["d();"]
                statement "d();"
            name: f
            end: ";"
        "#]],
    );
}

#[test]
fn switch_with_cases() {
    check(
        Cpp,
        r#"
void f() {
  switch (x) {
    case A::B:
      a();
      [[fallthrough]];
    default:
      b($0);
  }
}
"#,
        expect![[r#"
            function "void f() {" "\n  switch (x) {\n    case A::B:…;\n    default:\n      b();\n  }\n" "}" ["switch (x)…  b();\n  }"]
              if "switch (x) {" "\n    case A::B:\n      a();\n   …]];\n    default:\n      b();\n  " "}" ["case A::B:…through]];", "default:\n      b();"]
                statement "a();"
                statement "b();"
            name: f
            end: ");"
        "#]],
    );
}

#[test]
fn try_catch() {
    check(
        Cpp,
        r#"
void f() {
  try {
    a();
  } catch (const E& e) {
    b($0);
  } catch (...) {
    throw;
  }
}
"#,
        expect![[r#"
            function "void f() {" "\n  try {\n    a();\n  } catch (c… catch (...) {\n    throw;\n  }\n" "}" ["try {\n    …throw;\n  }"]
              try "try {" "\n    a();\n  " "} catch (const E& e) {\n    b()…} catch (...) {\n    throw;\n  }" ["a();"]
                statement "a();"
                catch "catch (const E& e) {" "\n    b();\n  " "}" ["b();"]
                  statement "b();"
                catch "catch (...) {" "\n    throw;\n  " "}" ["throw;"]
                  statement "throw;"
            name: f
            end: ");"
        "#]],
    );
}

#[test]
fn function_try_block() {
    check(
        Cpp,
        r#"
A::A(int a) try : x(a) { b(); } catch (...) { c($0); }
"#,
        expect![[r#"
            function "A::A(int a) try : x(a) {" " b(); " "} catch (...) { c(); }" ["b();"]
              try "try : x(a) {" " b(); " "} catch (...) { c(); }" ["b();"]
                statement "b();"
                catch "catch (...) {" " c(); " "}" ["c();"]
                  statement "c();"
            name: A::A
            end: ");"
        "#]],
    );
}

#[test]
fn lambdas_are_expressions() {
    check(
        Cpp,
        r#"
void f() {
  auto g = [&](int x) { return x$0; };
  std::sort(a, b, [](auto l, auto r) { return l < r; });
}
"#,
        expect![[r#"
            function "void f() {" "\n  auto g = [&](int x) { retur…, auto r) { return l < r; });\n" "}" ["auto g = […turn x; };", "std::sort(…l < r; });"]
              statement "auto g = [&](int x) { return x; };"
                statement "return x;"
              statement "std::sort(a, b, [](auto l, auto r) { return l < r; });"
                statement "return l < r;"
            name: f
            end: ";"
        "#]],
    );
}

#[test]
fn coroutines() {
    check(
        Cpp,
        r#"
task f() {
  co_await a();
  co_yield b;
  co_return c$0;
}
"#,
        expect![[r#"
            function "task f() {" "\n  co_await a();\n  co_yield b;\n  co_return c;\n" "}" ["co_await a();", "co_yield b;", "co_return c;"]
              statement "co_await a();"
              statement "co_yield b;"
              statement "co_return c;"
            name: f
            end: ";"
        "#]],
    );
}

#[test]
fn namespaces_and_linkage_are_not_blocks() {
    check(
        Cpp,
        r#"
namespace a::b {
int x = 1;
void f() { c($0); }
}
extern "C" void g() { d(); }
extern "C" { void h(int); }
"#,
        expect![[r#"
            statement "int x = 1;"
            function "void f() {" " c(); " "}" ["c();"]
              statement "c();"
            function "extern \"C\" void g() {" " d(); " "}" ["d();"]
              statement "d();"
            name: f
            name: g
            name: h signature "void h(int);"
            end: ");"
        "#]],
    );
}

#[test]
fn test_macros() {
    check(
        Cpp,
        r#"
TEST(Suite, Case) {
  ASSERT_EQ(a, b$0);
}
"#,
        expect![[r#"
            function "TEST(Suite, Case) {" "\n  ASSERT_EQ(a, b);\n" "}" ["ASSERT_EQ(a, b);"]
              statement "ASSERT_EQ(a, b);"
            name: TEST
            end: ");"
        "#]],
    );
}

#[test]
fn variable_declarations_that_look_like_prototypes() {
    check(
        Cpp,
        r#"
void f() {
  std::string s(name);
  Guard guard(mu$0tex);
}
void g(int);
"#,
        expect![[r#"
            function "void f() {" "\n  std::string s(name);\n  Guard guard(mutex);\n" "}" ["std::string s(name);", "Guard guard(mutex);"]
              statement "std::string s(name);"
              statement "Guard guard(mutex);"
            name: f
            name: g signature "void g(int);"
            end: "tex);"
        "#]],
    );
}

#[test]
fn using_and_aliases() {
    check(
        Cpp,
        r#"
using namespace std;
using std::string;
using T = int;
static_assert(true);
struct S { T t; };
"#,
        expect![[r#"
            statement "using namespace std;"
            statement "using std::string;"
            statement "static_assert(true);"
        "#]],
    );
}

#[test]
fn raw_string() {
    check(
        Cpp,
        r#"
auto s = R"(a " b)"$0;
"#,
        expect![[r#"
            statement "auto s = R\"(a \" b)\";"
            end: ";"
        "#]],
    );
}

#[test]
fn one_line_bodies() {
    check(
        Cpp,
        r#"
void f() { if (a) return; while (b) c(); }
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
fn unclosed_function() {
    check(
        Cpp,
        r#"
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
        Cpp,
        r#"
void f() {
  int a = 1
  b();
}
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
        Cpp,
        "// Doc.\r\nint A::f()\r\n{\r\n  return $01;\r\n}\r\n",
        expect![[r#"
        function "int A::f()\r\n{" "\r\n  return 1;\r\n" "}" ["return 1;"]
          statement "return 1;"
        name: A::f docstring "// Doc."
        end: "1;"
    "#]],
    );
}

#[test]
fn tabs() {
    check(
        Cpp,
        "void f() {\n\tif (a) {\n\t\tb()$0;\n\t}\n}\n",
        expect![[r#"
        function "void f() {" "\n\tif (a) {\n\t\tb();\n\t}\n" "}" ["if (a) {\n\t\tb();\n\t}"]
          if "if (a) {" "\n\t\tb();\n\t" "}" ["b();"]
            statement "b();"
        name: f
        end: ";"
    "#]],
    );
}

#[test]
fn non_bmp() {
    check(
        Cpp,
        "void f() { auto s = u8\"😀\"$0; /* 😀 */ g(U'😀'); }\n",
        expect![[r#"
        function "void f() {" " auto s = u8\"😀\"; /* 😀 */ g(U'😀'); " "}" ["auto s = u8\"😀\";", "g(U'😀');"]
          statement "auto s = u8\"😀\";"
          statement "g(U'😀');"
        name: f
        end: ";"
    "#]],
    );
}
