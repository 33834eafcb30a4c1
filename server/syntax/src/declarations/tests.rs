//! The insides of functions and values are left out, and the definitions are those of the whole tree.

use proptest::prelude::*;

use super::*;
use crate::parse;

/// Checks which of the text is left out, marked by `«…»`.
#[track_caller]
fn check(marked: &str) {
    let text = marked.replace(['«', '»'], "");
    let mut found = String::new();
    let mut at = 0;
    for hole in LeftOut::of(&text).holes {
        found += &format!("{}«{}»", &text[at..hole.start], &text[hole.clone()]);
        at = hole.end;
    }
    found += &text[at..];
    assert_eq!(found, marked);
}

#[test]
fn insides_of_functions_are_left_out() {
    check(
        "int f(int a)\n{«\n    if (a) { return 1; }\n    return 2;\n»}\nint g(void) {« return f(1) + f(2); »}\n",
    );
    check("SYSCALL_DEFINE1(close, unsigned int, fd)\r\n{«\r\n\treturn close_fd(fd);\r\n»}\r\n");
}

#[test]
fn insides_of_values_are_left_out() {
    check("static const struct ops ops = {« .open = open_file, .close = close_file »};\n");
    check("struct point at[] =\r\n{«\r\n\t[3] = { .x = 1, .y = 2 }, { 3, 4 },\r\n»}, *end = &at[4];\n");
    check("int *first = (int []) {« 10, 20, 30, 40, 50 »};\n");
    check("struct ops ops = {\n#endif\n\t.at = {« 10, 20, 30, 40, 50 »},\n};\n");
}

#[test]
fn short_insides_and_types_are_parsed() {
    check("int f(void) { return 1; }\nint values[] = { 1, 2, 3, 4 };\n");
    check("struct point { int x; int y; int z; };\nenum color { RED, GREEN, BLUE };\n");
    check("extern \"C\" {\nint f(void) {« return g() + h() + i(); »}\n}\n");
}

#[test]
fn braces_in_literals_and_comments_do_not_count() {
    check("void f(void) {« put('}'); put('\\''); put(\"}\\\"}\"); /* } */ // } \\\n }\n»}\nint x; }\n");
    check(
        "char *s = \"f() {\";\nchar c = '{'; // f() {\n/* f() { */\nvoid f(void) {« call(1); call(2); »}\n",
    );
    check(
        "#define F() { \\\n  call_something(); \\\n}\n#error don't /*\n*/ do\nvoid f(void) {« call(1); call(2); »}\n",
    );
    // A line end closes a literal, unless it is continued.
    check("it's\nvoid f(void) {« g(\"a\\\r\n}\"); g(\"b\\\n}\"); »}\n");
}

#[test]
fn directives_are_left_out_if_each_arm_closes_its_braces() {
    check("void f(void) {«\n#ifdef A\n  call(1);\n#endif\n  if (b) { call(2); call(3); }\n»}\n");
    check(
        "void f(void)\n{«\n# define B 1\n#if A\n\tif (b) {\n\t}\n#elif B\n\tcall(1);\n#else\n#endif // A\n»}\n",
    );
    check(
        "#ifndef H\nvoid f(void) {« call(1); call(2); »}\n#else\nvoid f(void) {« call(3); call(4); »}\n#endif\n",
    );
    check("struct ops ops = {«\n#ifdef A\n\t.open = open_file,\n#endif\n»};\n");
    check("void f(void) {«\n  #\n  if (a) { call(1); }\n  #pragma omp\n»}\n");
    check("void f(void) {\n#ifdef A\n  if (a) {« call(1); call(2); »}\n");
}

#[test]
fn bodies_with_uneven_arms_are_parsed_but_for_inner_blocks() {
    // One arm opens a brace that the other closes.
    check(
        "void f(void) {\n#if A\n  if (a) {\n#else\n  {\n#endif\n  call(1); }\n}\nvoid g(void) {« call(4); call(5); »}\n",
    );
    // Both arms close the same one.
    check(
        "void f(void) {\n  call(1);\n#if A\n  call(2); }\n#else\n  if (a) {« call(3); call(4); »}\n}\n#endif\nvoid g(void) {« call(5); call(6); »}\n",
    );
    // An arm closes a brace, and opens another one.
    check(
        "int f(a)\n  int a;\n{\n  if (a) {\n    call(1);\n#if A\n  } else if (b) {\n#endif\n    call(2); }\n}\nvoid g(void) {« call(3); call(4); »}\n",
    );
    check("void f(void) {\n  call(1);\n#endif\n}\nvoid g(void) {\n  call(1);\n#elif\n}\n");
    check(
        "void f(void) {\n  call(1);\n#if A\n}\nvoid g(void) { call(2); call(3); }\n#endif\nvoid h(void) {« call(4); call(5); »}\n",
    );
}

#[test]
fn macros_on_one_line_are_left_out() {
    check("«#define A\n#define B 1\r\n\n# define\tC_2 \"a\" 'b'\n»int x;\n  «#define D (1 << 2)\n»");
    check("void f(void) {« call(1); call(2); »}\n«#define A 1\n»void g(void) {« call(3); call(4); »}\n");
    // With parameters, comments or more lines, in a type, without a line end, and other directives.
    check(
        "#define F(a) a\n#define A 1 // one\n#define B 2 /* two\n */\n#define C \\\n 3\n#define\n#define 4\n#define é 5\n",
    );
    check("enum e {\n#define A 1\n  X = A,\n};\n#defined A\n#if A\n#endif\nint a; #define B 1\n#define C 1");
    check("#if A\n«#define B 1\n»#else\n«#define B 2\n»#endif\n");
}

#[test]
fn many_holes_are_parsed() {
    let text = "int x;\n#define A 1\nint f(int a) { return a + a + a; }\n".repeat(MAX_HOLES);
    let left_out = LeftOut::of(&text);
    assert_eq!((left_out.holes.len(), left_out.macros.len()), (MAX_HOLES, MAX_HOLES / 2));
    let (whole, declared) = (parse(Language::C, &text), parse_declarations(Language::C, &text));
    assert_eq!(declared.outline(&text), whole.outline(&text));
}

#[test]
fn unclosed_code_is_parsed() {
    check("}}\nvoid f(void) {« call(1); call(2); »}\nvoid g(void) {\n call(3); call(4);");
    check("void f(void) { call(1); call(2); /* }");
    check("void f(void) { call(1); call(\"");
    check("void f(void) { call(1); call(2); // \\");
    check("#if \\");
}

#[test]
fn definitions_are_those_of_the_whole_tree() {
    let text = "#define FLAG\n#include \"b.h\"\n  #  define LIMIT\t ( 2  + 3 ) \r\n/* How many. */\n#define MANY {\n/* One\n * more. */\n#define MAX(a, b) ((a) > (b) ? (a) : (b))\nstruct point {\n\tint x; /* left */\n\tint y;\n};\n\
        struct __attribute__((packed)) packed { int first; int second; };\n\
        /* The area. */\nstatic struct point *area(struct point *p, int (*f)(int))\n{\n\tstruct local { int z; } l;\n\tint k = f(p->x);\n\
        \treturn p;\n}\n#ifdef A\nint g(void);\nint h(void)\n{\n\tint inner(int i);\n\treturn inner(1) + inner(2);\n}\n#endif\n\
        int old(a, b)\n\tint a;\n\tint b;\n{\n\treturn a + b + a + b;\n}\nstruct odd __attribute__((packed)) { int third; int fourth; };\nint values[] = { 1, 2, 3, 4, 5, 6, 7, 8 };\n";
    let (whole, declared) = (parse(Language::C, text), parse_declarations(Language::C, text));
    assert!(!whole.has_error() && !declared.tree.has_error());
    assert_eq!(LeftOut::of(text).holes.len(), 7);
    assert_eq!(declared.outline(text), whole.outline(text));
    assert_eq!(declared.functions_with_body(text), whole.functions_with_body(text));
    assert_eq!(whole.declarations(text).outline(text), whole.outline(text));
}

#[test]
fn comment_below_a_macro_is_not_its_description() {
    let text = "#define A 1\n/* About b. */\n#define B 2\n#define C(c) c\n// About d.\n#define D 4\n";
    for outline in
        [parse(Language::C, text).outline(text), parse_declarations(Language::C, text).outline(text)]
    {
        let docs: Vec<&str> = outline.definitions.iter().map(|definition| &*definition.doc).collect();
        assert_eq!(docs, ["", "About b", "", "About d"]);
    }
}

#[test]
fn error_in_a_function_spoils_no_definition() {
    let text = "int f(int a)\n{\n\tif (a {{ (( return 1;\n}}}\n\treturn a;\n}\nint g(int b)\n{\n\treturn b + 1;\n}\n";
    let declared = parse_declarations(Language::C, text);
    let names: Vec<String> =
        declared.outline(text).definitions.iter().map(|definition| definition.name.to_string()).collect();
    assert!(names.contains(&"g".to_owned()), "{names:?}");
}

#[test]
fn other_languages_are_parsed_as_a_whole() {
    let text = "struct S { auto f() { struct T { int x; }; return T{1}.x; } };\n";
    let (whole, declared) = (parse(Language::Cpp, text), parse_declarations(Language::Cpp, text));
    assert_eq!(declared.tree.inner.root_node().to_sexp(), whole.inner.root_node().to_sexp());
    assert!(matches!(whole.declarations(text).tree, Cow::Borrowed(_)));
}

proptest! {
    #[test]
    fn lines_with_macros_have_the_definitions_of_the_whole_tree(
        lines in prop::collection::vec(prop::sample::select(vec![
            "#define A 1\n", "  #\tdefine B_2\t(2 << 1) \r\n", "#define C\n", "#define D(d) d\n", "#define E \\\n 5\n", "#define F \"f\" 'f'\n",
            "#define G 7 /* seven */\n", "#define H 8 // eight\n", "#define I {\n", "#define 9\n", "/* One.\n * Two. */\n", "// Three.\n", "\n", "\t\n",
            "int x;\n", "struct s {\n\tint m;\n};\n", "enum e {\n\tX,\n", "};\n", "#if A\n", "#else\n", "#endif\n", "#include \"a.h\"\n",
            "int f(int a)\n{\n\treturn a + a + a;\n}\n", "int g(void)\n{\n#define J 10\n\treturn J;\n}\n", "int k =\n", "2;\n",
        ]), 0..12),
    ) {
        let text = lines.concat();
        let (whole, declared) = (parse(Language::C, &text), parse_declarations(Language::C, &text));
        if !whole.root().has_error() {
            prop_assert_eq!(declared.outline(&text), whole.outline(&text));
            prop_assert_eq!(declared.functions_with_body(&text), whole.functions_with_body(&text));
        }
    }

    #[test]
    fn bodies_are_between_braces_and_in_order(
        text in "(\\{|\\}|\\) \\{|= \\{|\"|'|/\\*|\\*/|//|\n#if x|\n#else|\n# endif|\\\\|\n|\r\n|f\\(|;|äöü12345678901234567){0,40}",
    ) {
        let mut end = 0;
        let LeftOut { holes, macros } = LeftOut::of(&text);
        prop_assert!(macros.is_empty());
        for body in holes {
            prop_assert!(end < body.start);
            end = body.end;
            let (before, behind) = (&text[..body.start], &text[body.end..]);
            let opener = before.strip_suffix('{').map(str::trim_ascii_end);
            prop_assert!(opener.is_some_and(|before| before.ends_with([')', '='])));
            prop_assert_eq!(behind.chars().next(), Some('}'));
        }
        let declared = parse_declarations(Language::C, &text);
        prop_assert!(declared.tree.root().end_byte() <= text.len());
    }
}
