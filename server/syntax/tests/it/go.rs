//! Go: statements in lists of their own, headers with initialisers, `switch` without a body node.

use expect_test::expect;
use syntax::Language::Go;

use crate::check::check;

#[test]
fn function_with_doc_comment() {
    check(
        Go,
        r#"
// Area computes
// the area.
func Area[T Shape](shape T) (w int, err error) {
	w = shape.Wi$0dth()
	// in between
	return w * shape.Height(), nil
}
"#,
        expect![[r#"
            function "func Area[T Shape](shape T) (w int, err error) {" "\n\tw = shape.Width()\n\t// in bet…eturn w * shape.Height(), nil\n" "}" ["w = shape.Width()", "return w *…ght(), nil"]
              statement "w = shape.Width()"
              statement "return w * shape.Height(), nil"
            name: Area docstring "// Area computes\n// the area."
            end: "dth()"
        "#]],
    );
}

#[test]
fn methods() {
    check(
        Go,
        r#"
func (s *Shape) Area() int { return s.w$0 * s.h }
func (Shape) Name() string { return "" }
func external(a int) int
type I interface {
	Area() int
	fmt.Stringer
}
"#,
        expect![[r#"
            function "func (s *Shape) Area() int {" " return s.w * s.h " "}" ["return s.w * s.h"]
              statement "return s.w * s.h"
            function "func (Shape) Name() string {" " return \"\" " "}" ["return \"\""]
              statement "return \"\""
            name: Area
            name: Name
            name: external signature "func external(a int) int"
            name: Area signature "Area() int"
            end: " * s.h"
        "#]],
    );
}

#[test]
fn if_with_initialiser() {
    check(
        Go,
        r#"
func f() {
	if x := g(); x > $00 {
		a()
	} else if b {
		c()
	} else {
		d()
	}
}
"#,
        expect![[r#"
            function "func f() {" "\n\tif x := g(); x > 0 {\n\t\ta()\n\t… b {\n\t\tc()\n\t} else {\n\t\td()\n\t}\n" "}" ["if x := g(…{\n\t\td()\n\t}"]
              if "if x := g(); x > 0 {" "\n\t\ta()\n\t" "} else if b {\n\t\tc()\n\t} else {\n\t\td()\n\t}" ["a()"]
                statement "a()"
                if "if b {" "\n\t\tc()\n\t" "} else {\n\t\td()\n\t}" ["c()"]
                  statement "c()"
                  statement "d()"
            name: f
            end: "0 {"
        "#]],
    );
}

#[test]
fn loops() {
    check(
        Go,
        r#"
func f() {
	for i := 0; i < n; i++ {
		a()
	}
	for _, x := range xs { b() }
	for range ys { c() }
	for { d() }
	for e { break$0 }
outer:
	for { continue outer }
}
"#,
        expect![[r#"
            function "func f() {" "\n\tfor i := 0; i < n; i++ {\n\t\ta…uter:\n\tfor { continue outer }\n" "}" ["for i := 0…{\n\t\ta()\n\t}", "for _, x :…xs { b() }", "for range ys { c() }", "for { d() }", "for e { break }", "outer:\n\tfo…ue outer }"]
              for "for i := 0; i < n; i++ {" "\n\t\ta()\n\t" "}" ["a()"]
                statement "a()"
              for "for _, x := range xs {" " b() " "}" ["b()"]
                statement "b()"
              for "for range ys {" " c() " "}" ["c()"]
                statement "c()"
              for "for {" " d() " "}" ["d()"]
                statement "d()"
              for "for e {" " break " "}" ["break"]
                statement "break"
              for "for {" " continue outer " "}" ["continue outer"]
                statement "continue outer"
            name: f
            end: none
        "#]],
    );
}

#[test]
fn switches() {
    check(
        Go,
        r#"
func f() {
	switch x := g(); x {
	case 1, 2:
		a()
		fallthrough
	// none
	default:
		b($0)
	}
	switch y := x.(type) {
	case int:
		c()
	}
	switch {
	}
}
"#,
        expect![[r#"
            function "func f() {" "\n\tswitch x := g(); x {\n\tcase 1…se int:\n\t\tc()\n\t}\n\tswitch {\n\t}\n" "}" ["switch x :…:\n\t\tb()\n\t}", "switch y :…:\n\t\tc()\n\t}", "switch {\n\t}"]
              if "switch x := g(); x {" "\n\tcase 1, 2:\n\t\ta()\n\t\tfallthrough\n\t// none\n\tdefault:\n\t\tb()\n\t" "}" ["case 1, 2:…allthrough", "default:\n\t\tb()"]
                statement "a()"
                statement "fallthrough"
                statement "b()"
              if "switch y := x.(type) {" "\n\tcase int:\n\t\tc()\n\t" "}" ["case int:\n\t\tc()"]
                statement "c()"
              if "switch {" "\n\t" "}" []
            name: f
            end: ")"
        "#]],
    );
}

#[test]
fn select_over_channels() {
    check(
        Go,
        r#"
func f() {
	select {
	case m := <-ch:
		a(m$0)
	case ch <- 1:
		b()
	default:
	}
}
"#,
        expect![[r#"
            function "func f() {" "\n\tselect {\n\tcase m := <-ch:\n\t\t…e ch <- 1:\n\t\tb()\n\tdefault:\n\t}\n" "}" ["select {\n\t…efault:\n\t}"]
              if "select {" "\n\tcase m := <-ch:\n\t\ta(m)\n\tcase ch <- 1:\n\t\tb()\n\tdefault:\n\t" "}" ["case m := …ch:\n\t\ta(m)", "case ch <- 1:\n\t\tb()", "default:"]
                statement "a(m)"
                statement "b()"
            name: f
            end: ")"
        "#]],
    );
}

#[test]
fn function_literals_are_expressions() {
    check(
        Go,
        r#"
func f() {
	g := func(a int) int { return a$0 }
	go func() { b() }()
	defer func() {
		c()
	}()
}
"#,
        expect![[r#"
            function "func f() {" "\n\tg := func(a int) int { retur…()\n\tdefer func() {\n\t\tc()\n\t}()\n" "}" ["g := func(…return a }", "go func() { b() }()", "defer func…\t\tc()\n\t}()"]
              statement "g := func(a int) int { return a }"
                statement "return a"
              statement "go func() { b() }()"
                statement "b()"
              statement "defer func() {\n\t\tc()\n\t}()"
                statement "c()"
            name: f
            end: " }"
        "#]],
    );
}

#[test]
fn package_level_declarations() {
    check(
        Go,
        r#"
package a
import (
	"b"
	c "d"
)
import "e"
var x, y = 1, 2
const (
	A = iota
	B
)
type S struct { f int$0 }
"#,
        expect![[r#"
            import "import (\n\t\"b\"\n\tc \"d\"\n)"
              import "\"b\""
              import "c \"d\""
            import "import \"e\""
            statement "var x, y = 1, 2"
            statement "const (\n\tA = iota\n\tB\n)"
              statement "A = iota"
              statement "B"
            end: none
        "#]],
    );
}

#[test]
fn every_simple_statement() {
    check(
        Go,
        r#"
func f() {
	a := 1; b = 2
	c++
	d--
	ch <- 1
	goto end
	var e int
	const g = 1
end:
	return
}
"#,
        expect![[r#"
            function "func f() {" "\n\ta := 1; b = 2\n\tc++\n\td--\n\tch …int\n\tconst g = 1\nend:\n\treturn\n" "}" ["a := 1", "b = 2", "c++", "d--", "ch <- 1", "goto end", "var e int", "const g = 1", "end:\n\treturn"]
              statement "a := 1"
              statement "b = 2"
              statement "c++"
              statement "d--"
              statement "ch <- 1"
              statement "goto end"
              statement "var e int"
              statement "const g = 1"
              statement "return"
            name: f
        "#]],
    );
}

#[test]
fn composite_literal() {
    check(
        Go,
        r#"
var x = T{
	A: 1,$0
	B: func() { c() },
}
"#,
        expect![[r#"
            statement "var x = T{\n\tA: 1,\n\tB: func() { c() },\n}"
              statement "c()"
            end: "\n\tB: func() { c() },\n}"
        "#]],
    );
}

#[test]
fn one_line_bodies() {
    check(
        Go,
        r#"
func f() { if a { b() } }
func g() {}
"#,
        expect![[r#"
            function "func f() {" " if a { b() } " "}" ["if a { b() }"]
              if "if a {" " b() " "}" ["b()"]
                statement "b()"
            function "func g() {" "" "}" []
            name: f
            name: g
        "#]],
    );
}

#[test]
fn comment_before_a_blank_line_is_not_a_docstring() {
    check(
        Go,
        r#"
// Far.

func f() {}
/* Near. */
func g() {}
"#,
        expect![[r#"
            function "func f() {" "" "}" []
            function "func g() {" "" "}" []
            name: f
            name: g docstring "/* Near. */"
        "#]],
    );
}

#[test]
fn unclosed_function() {
    check(
        Go,
        r#"
func f() {
	if a {
		b()
"#,
        expect![[r#"
            statement "b()"
            name: f signature "func f()"
        "#]],
    );
}

#[test]
fn broken_header() {
    check(
        Go,
        r#"
func f( { a() }
func g() { b() }
"#,
        expect![[r#"
            function "func f( {" " a() " "}" ["a()"] !
              statement "a()"
            function "func g() {" " b() " "}" ["b()"]
              statement "b()"
            name: f
            name: g
        "#]],
    );
}

#[test]
fn crlf() {
    check(
        Go,
        "// Doc.\r\nfunc f() {\r\n\ta($0)\r\n\tb()\r\n}\r\n",
        expect![[r#"
        function "func f() {" "\r\n\ta()\r\n\tb()\r\n" "}" ["a()", "b()"]
          statement "a()"
          statement "b()"
        name: f docstring "// Doc."
        end: ")"
    "#]],
    );
}

#[test]
fn indentation_by_spaces() {
    check(
        Go,
        "func f() {\n  if a {\n    b()$0\n  }\n}\n",
        expect![[r#"
        function "func f() {" "\n  if a {\n    b()\n  }\n" "}" ["if a {\n    b()\n  }"]
          if "if a {" "\n    b()\n  " "}" ["b()"]
            statement "b()"
        name: f
        end: none
    "#]],
    );
}

#[test]
fn non_bmp() {
    check(
        Go,
        "func f() {\n\ts := \"😀\"$0\n\tg('😀') // 😀\n}\n",
        expect![[r#"
        function "func f() {" "\n\ts := \"😀\"\n\tg('😀') // 😀\n" "}" ["s := \"😀\"", "g('😀')"]
          statement "s := \"😀\""
          statement "g('😀')"
        name: f
        end: none
    "#]],
    );
}
