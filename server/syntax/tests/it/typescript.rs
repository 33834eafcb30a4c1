//! TypeScript: what it adds to JavaScript, such as decorators, overloads and namespaces.

use expect_test::expect;
use syntax::Language::TypeScript;

use crate::check::check;

#[test]
fn decorated_method() {
    check(
        TypeScript,
        r#"
@Component({})
export class A {
  private x: number = 1;
  @Input()
  @Output()
  async area<T extends Shape>(shape: T): Promise<number> {
    return shape.are$0a;
  }
  constructor(private readonly a: string) { super(); }
}
"#,
        expect![[r#"
            function "@Input()\n  @Output()\n  async a…>(shape: T): Promise<number> {" "\n    return shape.area;\n  " "}" ["return shape.area;"]
              statement "return shape.area;"
            function "constructor(private readonly a: string) {" " super(); " "}" ["super();"]
              statement "super();"
            name: area
            name: constructor
            end: "a;"
        "#]],
    );
}

#[test]
fn overloads_and_declarations() {
    check(
        TypeScript,
        r#"
export function f(a: string): void;
export function f(a: number): void;
export function f(a: any) { b(a); }
declare function g(): void;
abstract class A { abstract h(): void; }
interface I { m(): void; p: str$0ing }
"#,
        expect![[r#"
            function "export function f(a: any) {" " b(a); " "}" ["b(a);"]
              statement "b(a);"
            name: f signature "export function f(a: string): void;"
            name: f signature "export function f(a: number): void;"
            name: f
            name: g signature "declare function g(): void;"
            name: h signature "abstract h(): void"
            name: m signature "m(): void"
            end: "ing"
        "#]],
    );
}

#[test]
fn fields_and_arrows() {
    check(
        TypeScript,
        r#"
class A {
  private f = async (a: number): Promise<void> => { await b(a)$0; };
  static readonly g = function () { c(); };
}
export const h = <T,>(x: T): T => { return x; };
"#,
        expect![[r#"
            function "private f = async (a: number): Promise<void> => {" " await b(a); " "}" ["await b(a);"]
              statement "await b(a);"
            function "static readonly g = function () {" " c(); " "}" ["c();"]
              statement "c();"
            function "export const h = <T,>(x: T): T => {" " return x; " "};" ["return x;"]
              statement "return x;"
            name: f
            name: g
            name: h
            end: ";"
        "#]],
    );
}

#[test]
fn namespaces_are_not_blocks() {
    check(
        TypeScript,
        r#"
namespace N {
  export const a = 1;
  function f() { b($0); }
}
declare module "m" { function g(): void; }
"#,
        expect![[r#"
            statement "export const a = 1;"
            function "function f() {" " b(); " "}" ["b();"]
              statement "b();"
            name: f
            name: g signature "function g(): void;"
            end: ");"
        "#]],
    );
}

#[test]
fn type_definitions_are_not_statements() {
    check(
        TypeScript,
        r#"
type A = string;
interface B { c: D }
enum E { F }
let g: A = h$0 as A;
"#,
        expect![[r#"
            statement "let g: A = h as A;"
            end: " as A;"
        "#]],
    );
}

#[test]
fn control_flow() {
    check(
        TypeScript,
        r#"
function f(): void {
  if (a) { b(); } else if (c) { d(); }
  for (const x of xs as Y[]) { e(); }
  switch (g) { case G.H: return; }
  try { i(); } catch (e: unknown) { j(); }
}
"#,
        expect![[r#"
            function "function f(): void {" "\n  if (a) { b(); } else if (c)…} catch (e: unknown) { j(); }\n" "}" ["if (a) { b…) { d(); }", "for (const…) { e(); }", "switch (g)… return; }", "try { i();…) { j(); }"]
              if "if (a) {" " b(); " "} else if (c) { d(); }" ["b();"]
                statement "b();"
                if "if (c) {" " d(); " "}" ["d();"]
                  statement "d();"
              for "for (const x of xs as Y[]) {" " e(); " "}" ["e();"]
                statement "e();"
              if "switch (g) {" " case G.H: return; " "}" ["case G.H: return;"]
                statement "return;"
              try "try {" " i(); " "} catch (e: unknown) { j(); }" ["i();"]
                statement "i();"
                catch "catch (e: unknown) {" " j(); " "}" ["j();"]
                  statement "j();"
            name: f
        "#]],
    );
}

#[test]
fn doc_comment_above_an_export() {
    check(
        TypeScript,
        r#"
/** Doc. */
// Not doc.
/** Near. */
export async function f() {}
/** Far. */

export function g() {}
"#,
        expect![[r#"
            function "export async function f() {" "" "}" []
            function "export function g() {" "" "}" []
            name: f docstring "/** Near. */"
            name: g
        "#]],
    );
}

#[test]
fn unfinished_type_annotation() {
    check(
        TypeScript,
        r#"
function f(a: ) { b(); }
"#,
        expect![[r#"
            function "function f(a: ) {" " b(); " "}" ["b();"] !
              statement "b();"
            name: f
        "#]],
    );
}

#[test]
fn crlf() {
    check(
        TypeScript,
        "class A {\r\n  @Log()\r\n  m(): void {\r\n    a($0);\r\n  }\r\n}\r\n",
        expect![[r#"
        function "@Log()\r\n  m(): void {" "\r\n    a();\r\n  " "}" ["a();"]
          statement "a();"
        name: m
        end: ");"
    "#]],
    );
}

#[test]
fn non_bmp() {
    check(
        TypeScript,
        "function f(a: '😀'): void {\n  b($0'😀');\n}\n",
        expect![[r#"
        function "function f(a: '😀'): void {" "\n  b('😀');\n" "}" ["b('😀');"]
          statement "b('😀');"
        name: f
        end: "'😀');"
    "#]],
    );
}

#[test]
fn statement_end_in_a_decorator() {
    check(
        TypeScript,
        r#"
class A {
  @Input(na$0me)
  f() {}
}
"#,
        expect![[r#"
            function "@Input(name)\n  f() {" "" "}" []
            name: f
            end: "me)"
        "#]],
    );
}
