//! JavaScript: functions bound to names, statements without `;`, bodies without braces.

use expect_test::expect;
use syntax::Language::JavaScript;

use crate::check::check;

#[test]
fn function_with_doc_comment() {
    check(
        JavaScript,
        r#"
/**
 * The area.
 */
export function area(shape) {
  const w = shape.wi$0dth;
  // in between
  return w * shape.height;
}
"#,
        expect![[r#"
            function "export function area(shape) {" "\n  const w = shape.width;\n  //…en\n  return w * shape.height;\n" "}" ["const w = …ape.width;", "return w *…pe.height;"]
              statement "const w = shape.width;"
              statement "return w * shape.height;"
            name: area docstring "/**\n * The area.\n */"
            end: "dth;"
        "#]],
    );
}

#[test]
fn async_and_generator_functions() {
    check(
        JavaScript,
        r#"
async function f() { await g(); }
function* h() { yield 1; }
export default async function () { a(); }
"#,
        expect![[r#"
            function "async function f() {" " await g(); " "}" ["await g();"]
              statement "await g();"
            function "function* h() {" " yield 1; " "}" ["yield 1;"]
              statement "yield 1;"
            function "export default async function () {" " a(); " "}" ["a();"]
              statement "a();"
            name: f
            name: h
            name: 
        "#]],
    );
}

#[test]
fn class_members() {
    check(
        JavaScript,
        r#"
class A extends B {
  x = 1;
  #y = () => { a(); };
  static { init(); }
  @log()
  async m(a) { return a$0; }
  get z() { return 1; }
  constructor() { super(); }
}
"#,
        expect![[r##"
            function "#y = () => {" " a(); " "}" ["a();"]
              statement "a();"
            statement "init();"
            function "@log()\n  async m(a) {" " return a; " "}" ["return a;"]
              statement "return a;"
            function "get z() {" " return 1; " "}" ["return 1;"]
              statement "return 1;"
            function "constructor() {" " super(); " "}" ["super();"]
              statement "super();"
            name: #y
            name: m
            name: z
            name: constructor
            end: ";"
        "##]],
    );
}

#[test]
fn arrows_bound_to_names() {
    check(
        JavaScript,
        r#"
export const f = async (x) => {
  return x$0;
};
const a = 1, g = function () { b(); };
exports.h = () => { c(); };
const o = { p: () => { d(); }, q() { e(); } };
const r = (x) => x + 1;
"#,
        expect![[r#"
            function "export const f = async (x) => {" "\n  return x;\n" "};" ["return x;"]
              statement "return x;"
            statement "const a = 1, g = function () { b(); };"
              function "g = function () {" " b(); " "}" ["b();"]
                statement "b();"
            function "exports.h = () => {" " c(); " "};" ["c();"]
              statement "c();"
            statement "const o = { p: () => { d(); }, q() { e(); } };"
              function "p: () => {" " d(); " "}" ["d();"]
                statement "d();"
              function "q() {" " e(); " "}" ["e();"]
                statement "e();"
            statement "const r = (x) => x + 1;"
            name: f
            name: g
            name: h
            name: p
            name: q
            end: ";"
        "#]],
    );
}

#[test]
fn callbacks_are_expressions() {
    check(
        JavaScript,
        r#"
describe("a", () => {
  it("b", async () => {
    expect(c)$0.toBe(d);
  });
});
"#,
        expect![[r#"
            statement "describe(\"a\", () => {\n  it(\"b\"…  expect(c).toBe(d);\n  });\n});"
              statement "it(\"b\", async () => {\n    expect(c).toBe(d);\n  });"
                statement "expect(c).toBe(d);"
            end: ".toBe(d);"
        "#]],
    );
}

#[test]
fn nested_function() {
    check(
        JavaScript,
        r#"
function outer() {
  function inner() { return 1; }
  return inner();
}
"#,
        expect![[r#"
            function "function outer() {" "\n  function inner() { return 1; }\n  return inner();\n" "}" ["function i…eturn 1; }", "return inner();"]
              function "function inner() {" " return 1; " "}" ["return 1;"]
                statement "return 1;"
              statement "return inner();"
            name: outer
            name: inner
        "#]],
    );
}

#[test]
fn if_else_if_else() {
    check(
        JavaScript,
        r#"
if (a$0 && b) {
  x();
} else if (c) y();
else {
  z();
}
"#,
        expect![[r#"
            if "if (a && b) {" "\n  x();\n" "} else if (c) y();\nelse {\n  z();\n}" ["x();"]
              statement "x();"
              if "if (c)" " y();" "\nelse {\n  z();\n}" ["y();"]
                statement "y();"
                statement "z();"
            end: " && b) {"
        "#]],
    );
}

#[test]
fn loops() {
    check(
        JavaScript,
        r#"
for (let i = 0; i < n; i++) { a(); }
for (const x of xs) b();
for (const k in o) { c(); }
while (d) e();
do { f()$0; } while (g);
outer: for (;;) { break outer; }
"#,
        expect![[r#"
            for "for (let i = 0; i < n; i++) {" " a(); " "}" ["a();"]
              statement "a();"
            for "for (const x of xs)" " b();" "" ["b();"]
              statement "b();"
            for "for (const k in o) {" " c(); " "}" ["c();"]
              statement "c();"
            while "while (d)" " e();" "" ["e();"]
              statement "e();"
            while "do {" " f(); " "} while (g);" ["f();"]
              statement "f();"
            for "for (;;) {" " break outer; " "}" ["break outer;"]
              statement "break outer;"
            end: ";"
        "#]],
    );
}

#[test]
fn switch_with_cases() {
    check(
        JavaScript,
        r#"
switch (x) {
  case 1:
    a();
    break;
  // none
  default:
    b($0);
}
"#,
        expect![[r#"
            if "switch (x) {" "\n  case 1:\n    a();\n    break;…  // none\n  default:\n    b();\n" "}" ["case 1:\n  …    break;", "default:\n    b();"]
              statement "a();"
              statement "break;"
              statement "b();"
            end: ");"
        "#]],
    );
}

#[test]
fn try_catch_finally() {
    check(
        JavaScript,
        r#"
try {
  a();
} catch (e) {
  b($0);
} finally {
  c();
}
"#,
        expect![[r#"
            try "try {" "\n  a();\n" "} catch (e) {\n  b();\n} finally {\n  c();\n}" ["a();"]
              statement "a();"
              catch "catch (e) {" "\n  b();\n" "}" ["b();"]
                statement "b();"
              try "finally {" "\n  c();\n" "}" ["c();"]
                statement "c();"
            end: ");"
        "#]],
    );
}

#[test]
fn one_line_bodies() {
    check(
        JavaScript,
        r#"
function f() { if (a) return; for (;;) b(); }
"#,
        expect![[r#"
            function "function f() {" " if (a) return; for (;;) b(); " "}" ["if (a) return;", "for (;;) b();"]
              if "if (a)" " return;" "" ["return;"]
                statement "return;"
              for "for (;;)" " b();" "" ["b();"]
                statement "b();"
            name: f
        "#]],
    );
}

#[test]
fn imports_and_exports() {
    check(
        JavaScript,
        r#"
import a from "b";
import "c";
export { a };
export * from "d";
export const e = 1;
export default a;
export class F {}
"#,
        expect![[r#"
            import "import a from \"b\";"
            import "import \"c\";"
            statement "export { a };"
            import "export * from \"d\";"
            statement "export const e = 1;"
            statement "export default a;"
        "#]],
    );
}

#[test]
fn every_simple_statement() {
    check(
        JavaScript,
        r#"
var a = 1;
let b, c;
d;
throw e;
debugger;
;
{ f(); }
with (g) { h(); }
"#,
        expect![[r#"
            statement "var a = 1;"
            statement "let b, c;"
            statement "d;"
            statement "throw e;"
            statement "debugger;"
            statement "f();"
            statement "h();"
        "#]],
    );
}

#[test]
fn no_semicolons() {
    check(
        JavaScript,
        r#"
const a = b
c()$0
return d
"#,
        expect![[r#"
            statement "const a = b"
            statement "c()"
            statement "return d"
            end: none
        "#]],
    );
}

#[test]
fn template_literal() {
    check(
        JavaScript,
        r#"
const a = `x ${b.map(c => { return d$0; })} y`;
"#,
        expect![[r#"
            statement "const a = `x ${b.map(c => { return d; })} y`;"
              statement "return d;"
            end: ";"
        "#]],
    );
}

#[test]
fn jsx() {
    check(
        JavaScript,
        r#"
const A = () => {
  return <div onClick={() => { go$0(); }}>{a ? <b/> : "c"}</div>;
};
"#,
        expect![[r#"
            function "const A = () => {" "\n  return <div onClick={() => …); }}>{a ? <b/> : \"c\"}</div>;\n" "};" ["return <di…c\"}</div>;"]
              statement "return <div onClick={() => { g…(); }}>{a ? <b/> : \"c\"}</div>;"
                statement "go();"
            name: A
            end: "();"
        "#]],
    );
}

#[test]
fn statement_end_in_a_field() {
    check(
        JavaScript,
        r#"
class A {
  x = f$0(1);
}
"#,
        expect![[r#"
            end: "(1)"
        "#]],
    );
}

#[test]
fn statement_end_in_a_for_header() {
    check(
        JavaScript,
        r#"
for (let i = 0;$0 i < n; i++) { a(); }
"#,
        expect![[r#"
            for "for (let i = 0; i < n; i++) {" " a(); " "}" ["a();"]
              statement "a();"
            end: " i < n; i++) {"
        "#]],
    );
}

#[test]
fn unclosed_function() {
    check(
        JavaScript,
        r#"
function f() {
  if (a) {
    b();
"#,
        expect![[r#"
            statement "function f() {\n  if (a) {\n    b();" !
              if "if (a) {" "\n    b();" "" ["b();"] !
                statement "b();"
        "#]],
    );
}

#[test]
fn missing_condition() {
    check(
        JavaScript,
        r#"
if () { a(); }
while (b { c(); }
"#,
        expect![[r#"
            if "if () {" " a(); " "}" ["a();"] !
              statement "a();"
            while "while (b {" " c(); " "}" ["c();"] !
              statement "c();"
        "#]],
    );
}

#[test]
fn crlf() {
    check(
        JavaScript,
        "/** Doc. */\r\nfunction f() {\r\n  a($0);\r\n}\r\n",
        expect![[r#"
        function "function f() {" "\r\n  a();\r\n" "}" ["a();"]
          statement "a();"
        name: f docstring "/** Doc. */"
        end: ");"
    "#]],
    );
}

#[test]
fn tabs() {
    check(
        JavaScript,
        "function f() {\n\tif (a) {\n\t\tb()$0;\n\t}\n}\n",
        expect![[r#"
        function "function f() {" "\n\tif (a) {\n\t\tb();\n\t}\n" "}" ["if (a) {\n\t\tb();\n\t}"]
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
        JavaScript,
        "function f() {\n  const s = '😀'$0;\n  return `😀${s}`; // 😀\n}\n",
        expect![[r#"
        function "function f() {" "\n  const s = '😀';\n  return `😀${s}`; // 😀\n" "}" ["const s = '😀';", "return `😀${s}`;"]
          statement "const s = '😀';"
          statement "return `😀${s}`;"
        name: f
        end: ";"
    "#]],
    );
}
