//! C: declarators around names, bodies without braces, the preprocessor.

use expect_test::expect;
use syntax::Language::C;

use crate::check::check;

#[test]
fn function_with_comment() {
    check(
        C,
        r#"
/* The area. */
static int area(const struct shape *shape)
{
	int w = shape->wi$0dth;
	/* in between */
	return w * shape->height;
}
"#,
        expect![[r#"
            function "static int area(const struct shape *shape)\n{" "\n\tint w = shape->width;\n\t/* in…*/\n\treturn w * shape->height;\n" "}" ["int w = sh…pe->width;", "return w *…e->height;"]
              statement "int w = shape->width;"
              statement "return w * shape->height;"
            name: area docstring "/* The area. */"
            end: "dth;"
        "#]],
    );
}

#[test]
fn declarators_around_the_name() {
    check(
        C,
        r#"
char *f(void) { return 0; }
char **g(void) { return 0; }
int (*h(int a))(void) { return 0; }
__attribute__((noreturn)) void i(void) { abort(); }
int old(a) int a; { return a$0; }
"#,
        expect![[r#"
            function "char *f(void) {" " return 0; " "}" ["return 0;"]
              statement "return 0;"
            function "char **g(void) {" " return 0; " "}" ["return 0;"]
              statement "return 0;"
            function "int (*h(int a))(void) {" " return 0; " "}" ["return 0;"]
              statement "return 0;"
            function "__attribute__((noreturn)) void i(void) {" " abort(); " "}" ["abort();"]
              statement "abort();"
            function "int old(a) int a; {" " return a; " "}" ["return a;"]
              statement "return a;"
            name: f
            name: g
            name: h
            name: i
            name: old
            end: ";"
        "#]],
    );
}

#[test]
fn prototypes() {
    check(
        C,
        r#"
int f(int a);
extern char *g(void);
#ifndef H
#define H
void h(void);
int x = 1$0;
#endif
"#,
        expect![[r#"
            statement "int x = 1;"
            name: f signature "int f(int a);"
            name: g signature "extern char *g(void);"
            name: h signature "void h(void);"
            end: ";"
        "#]],
    );
}

#[test]
fn if_else_if_else() {
    check(
        C,
        r#"
void f(void) {
	if (a$0 && b) {
		x();
	} else if (c)
		y();
	else {
		z();
	}
}
"#,
        expect![[r#"
            function "void f(void) {" "\n\tif (a && b) {\n\t\tx();\n\t} else… (c)\n\t\ty();\n\telse {\n\t\tz();\n\t}\n" "}" ["if (a && b…\n\t\tz();\n\t}"]
              if "if (a && b) {" "\n\t\tx();\n\t" "} else if (c)\n\t\ty();\n\telse {\n\t\tz();\n\t}" ["x();"]
                statement "x();"
                if "if (c)" "\n\t\ty();" "\n\telse {\n\t\tz();\n\t}" ["y();"]
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
        C,
        r#"
void f(void) {
	for (int i = 0; i < n; i++) { a(); }
	for (;;)
		b();
	while (c) { d(); }
	do e()$0; while (g);
}
"#,
        expect![[r#"
            function "void f(void) {" "\n\tfor (int i = 0; i < n; i++) … { d(); }\n\tdo e(); while (g);\n" "}" ["for (int i…) { a(); }", "for (;;)\n\t\tb();", "while (c) { d(); }", "do e(); while (g);"]
              for "for (int i = 0; i < n; i++) {" " a(); " "}" ["a();"]
                statement "a();"
              for "for (;;)" "\n\t\tb();" "" ["b();"]
                statement "b();"
              while "while (c) {" " d(); " "}" ["d();"]
                statement "d();"
              while "do" " e();" " while (g);" ["e();"]
                statement "e();"
            name: f
            end: ";"
        "#]],
    );
}

#[test]
fn switch_with_cases() {
    check(
        C,
        r#"
void f(void) {
	switch (x) {
	case 1:
		a();
		break;
	case 2: {
		b($0);
	}
	/* none */
	default:
		c();
	}
}
"#,
        expect![[r#"
            function "void f(void) {" "\n\tswitch (x) {\n\tcase 1:\n\t\ta();…* none */\n\tdefault:\n\t\tc();\n\t}\n" "}" ["switch (x)…\n\t\tc();\n\t}"]
              if "switch (x) {" "\n\tcase 1:\n\t\ta();\n\t\tbreak;\n\tcas…\t/* none */\n\tdefault:\n\t\tc();\n\t" "}" ["case 1:\n\t\t…;\n\t\tbreak;", "case 2: {\n\t\tb();\n\t}", "default:\n\t\tc();"]
                statement "a();"
                statement "break;"
                statement "b();"
                statement "c();"
            name: f
            end: ");"
        "#]],
    );
}

#[test]
fn nested_bodies_without_braces() {
    check(
        C,
        r#"
void f(void) {
	for (i = 0; i < n; i++)
		if (a)
			return$0;
}
"#,
        expect![[r#"
            function "void f(void) {" "\n\tfor (i = 0; i < n; i++)\n\t\tif (a)\n\t\t\treturn;\n" "}" ["for (i = 0…\t\t\treturn;"]
              for "for (i = 0; i < n; i++)" "\n\t\tif (a)\n\t\t\treturn;" "" ["if (a)\n\t\t\treturn;"]
                if "if (a)" "\n\t\t\treturn;" "" ["return;"]
                  statement "return;"
            name: f
            end: ";"
        "#]],
    );
}

#[test]
fn labels_and_gotos() {
    check(
        C,
        r#"
int f(void) {
	goto out;
out:
	free(p$0);
	return 0;
}
"#,
        expect![[r#"
            function "int f(void) {" "\n\tgoto out;\nout:\n\tfree(p);\n\treturn 0;\n" "}" ["goto out;", "out:\n\tfree(p);", "return 0;"]
              statement "goto out;"
              statement "free(p);"
              statement "return 0;"
            name: f
            end: ");"
        "#]],
    );
}

#[test]
fn macros() {
    check(
        C,
        r#"
#define SWAP(a, b) \
	do { t = a; a = b; } while (0)
void f(void) {
	SWAP(x, y);
	list_for_each(p, q) {
		a($0);
	}
}
"#,
        expect![[r#"
            function "void f(void) {" "\n\tSWAP(x, y);\n\tlist_for_each(p, q) {\n\t\ta();\n\t}\n" "}" ["SWAP(x, y);", "list_for_each(p, q)", "{\n\t\ta();\n\t}"] !
              statement "SWAP(x, y);"
              statement "list_for_each(p, q)" !
              statement "a();"
            name: f
            end: ");"
        "#]],
    );
}

#[test]
fn preprocessor_in_a_body() {
    check(
        C,
        r#"
void f(void) {
#ifdef A
	a();
#else
	b($0);
#endif
}
"#,
        expect![[r##"
            function "void f(void) {" "\n#ifdef A\n\ta();\n#else\n\tb();\n#endif\n" "}" ["#ifdef A\n\t…();\n#endif"]
              statement "a();"
              statement "b();"
            name: f
            end: ");"
        "##]],
    );
}

#[test]
fn type_definitions_are_not_statements() {
    check(
        C,
        r#"
typedef int T;
struct S {
	int a$0;
	void (*cb)(int);
};
enum E { A };
union U { int b; };
struct S s = { 1 };
"#,
        expect![[r#"
            statement "struct S s = { 1 };"
            end: ";"
        "#]],
    );
}

#[test]
fn one_line_bodies() {
    check(
        C,
        r#"
void f(void) { if (a) return; while (b) c(); for (;;); }
void g(void) {}
"#,
        expect![[r#"
            function "void f(void) {" " if (a) return; while (b) c(); for (;;); " "}" ["if (a) return;", "while (b) c();", "for (;;);"]
              if "if (a)" " return;" "" ["return;"]
                statement "return;"
              while "while (b)" " c();" "" ["c();"]
                statement "c();"
              for "for (;;)" "" ";" []
            function "void g(void) {" "" "}" []
            name: f
            name: g
        "#]],
    );
}

#[test]
fn multi_line_statement() {
    check(
        C,
        r#"
int x = f(1,$0
	2);
"#,
        expect![[r#"
            statement "int x = f(1,\n\t2);"
            end: "\n\t2);"
        "#]],
    );
}

#[test]
fn line_comments_above() {
    check(
        C,
        r#"
// One.
// Two.
int f(void) { return 0; }
"#,
        expect![[r#"
            function "int f(void) {" " return 0; " "}" ["return 0;"]
              statement "return 0;"
            name: f docstring "// One.\n// Two."
        "#]],
    );
}

#[test]
fn unclosed_function() {
    check(
        C,
        r#"
void f(void) {
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
        C,
        r#"
void f(void) {
	int a = 1
	b();
}
"#,
        expect![[r#"
            function "void f(void) {" "\n\tint a = 1\n\tb();\n" "}" ["int a = 1\n\tb();"] !
              statement "int a = 1\n\tb();" !
            name: f
        "#]],
    );
}

#[test]
fn crlf() {
    check(
        C,
        "/* Doc. */\r\nint f(void)\r\n{\r\n\treturn $01;\r\n}\r\n",
        expect![[r#"
        function "int f(void)\r\n{" "\r\n\treturn 1;\r\n" "}" ["return 1;"]
          statement "return 1;"
        name: f docstring "/* Doc. */"
        end: "1;"
    "#]],
    );
}

#[test]
fn non_bmp() {
    check(
        C,
        "int f(void) { char *s = \"😀\"$0; /* 😀 */ return '\\n'; }\n",
        expect![[r#"
        function "int f(void) {" " char *s = \"😀\"; /* 😀 */ return '\\n'; " "}" ["char *s = \"😀\";", "return '\\n';"]
          statement "char *s = \"😀\";"
          statement "return '\\n';"
        name: f
        end: ";"
    "#]],
    );
}
