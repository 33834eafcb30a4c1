//! Functions of small projects, and what is left out of them.

use super::*;
use crate::yabloco::clangd_index::tests::{MadeReference, made_index};

fn file(path: &str, text: &str) -> SourceFile {
    SourceFile { path: path.into(), language: Language::from_path(path).expect("code"), text: text.into() }
}

const MAIN: &str = "#include <string.h>
/* Copy the whole name into a buffer. */
void copy_name(char *to, const char *from) {
size_t n = strlen(from);
memcpy(to, from, n);
}

/* Double the number and add one more. */
int near_double(int a) {
int b = half_up(a);
return b + a;
}

/* Cut the amount into two equal shares. */
static long half_up(long amount) {
long odd = amount % 2;
return (amount + odd) / 2;
}

/* Write the report about all days. */
void write_report(struct report *r) {
print_days(r);
r->done = 1;
}

/* Open every door that the house has. */
void open_doors(struct house *h) {
for_each_door(h);
h->open = 1;
}

/* one */
int tiny(void) {
return 1;
}
";

fn build(
    files: &[SourceFile],
    last_commits: &LastCommits,
    compile_commands: Option<&CompileCommands>,
) -> BuiltYabloco {
    build_with(files, YablocoBuildConfig { compile_commands, ..config(last_commits) })
}

fn config(last_commits: &LastCommits) -> YablocoBuildConfig<'_> {
    YablocoBuildConfig {
        repository: "demo",
        functions: 14,
        last_commits,
        compile_commands: None,
        clangd_index: None,
    }
}

fn build_with(files: &[SourceFile], config: YablocoBuildConfig<'_>) -> BuiltYabloco {
    build_functions(files, config)
}

/// Returns the values of the rows in a column.
fn column<'b>(built: &'b BuiltYabloco, name: &str) -> Vec<&'b str> {
    built.table.rows.iter().filter_map(|row| built.table.value(row, name)).collect()
}

#[test]
fn static_functions_of_other_files_are_not_called() {
    let caller = "/* Write the whole report of today. */\nvoid report(int a) {\n    show(a);\n    a++;\n}\n";
    let shown = "static void show(int a) {\n    a++;\n}\n";
    let hidden = [file("src/a.c", caller), file("src/b.c", shown)];
    assert_eq!(column(&build(&hidden, &LastCommits::new(), None), "same_package"), ["0"]);
    let public = [file("src/a.c", caller), file("src/b.c", shown.strip_prefix("static ").unwrap())];
    assert_eq!(column(&build(&public, &LastCommits::new(), None), "same_package"), ["1"]);
    let own = [file("src/a.c", &[shown, caller].concat()), file("src/b.c", shown)];
    assert_eq!(column(&build(&own, &LastCommits::new(), None), "same_file"), ["1"]);
    let header = [file("src/a.c", caller), file("src/b.h", shown)];
    assert_eq!(column(&build(&header, &LastCommits::new(), None), "same_package"), ["1"]);
}

#[test]
fn the_compilation_database_decides_which_files_and_headers_count() {
    let caller = "#include \"lib/show.h\"\n/* Write the whole report of today. */\nvoid report(int a) {\n    show(a);\n    a++;\n}\n";
    let inline = "static inline void show(int a) {\n    a++;\n}\n";
    let files = [
        file("src/a.c", caller),
        file("include/lib/show.h", inline),
        file("src/show.h", inline),
        file("old/b.c", "/* Was compiled a long time ago. */\nvoid old(int a) {\n    a++;\n    a--;\n}\n"),
    ];
    let database = r#"[{"directory": "/r", "file": "src/a.c", "arguments": ["cc", "-Iinclude"]}]"#;
    let commands = CompileCommands::read(database.as_bytes(), "/r").expect("a database");
    let built = build(&files, &LastCommits::new(), Some(&commands));
    assert_eq!(column(&built, "fname"), ["report"]);
    assert_eq!((column(&built, "project"), column(&built, "same_package")), (vec!["1"], vec!["0"]));
    assert_eq!(built.left_out.0["the file is not compiled"], 1);
    let without = build(&files, &LastCommits::new(), None);
    assert_eq!(without.table.rows.len(), 2);
}

#[test]
fn the_index_of_clangd_decides_what_is_called() {
    let caller = "/* Write the whole report of today. */\nvoid report(int a) {\n    /* é */ show(a);\n    strlen(a);\n}\n";
    let show = "void show(int a) {\n    a++;\n}\n";
    let files =
        [file("src/a.c", caller), file("src/show.c", show), file("lib/show.c", &["\n", show].concat())];
    let commits = LastCommits::new();
    let uris = ["file:///r/src/a.c", "file:///r/lib/show.c", "file:///usr/include/string.h"];
    let built = |references: &[MadeReference]| {
        let mut index = ClangdIndex::default();
        index.add(&made_index(17, &uris, references), "/r").expect("an index");
        let built = build_with(&files, YablocoBuildConfig { clangd_index: Some(&index), ..config(&commits) });
        let counts = ["same_package", "project", "stdlib"].map(|name| column(&built, name)[0].to_owned());
        (counts.join(" "), built.indexed_calls)
    };
    // Both files have a function of the name: without an index the nearest counts.
    assert_eq!(built(&[]), ("1 0 1".to_owned(), 0));
    let call = (7, 4, 0, 2, 12);
    assert_eq!(built(&[call, (7, 2, 1, 1, 5)]), ("0 1 1".to_owned(), 1));
    assert_eq!(built(&[call, (7, 2, 2, 1, 5)]), ("0 0 1".to_owned(), 1), "it is defined elsewhere");
    assert_eq!(built(&[(7, 4, 0, 2, 13), (7, 2, 1, 1, 5)]), ("1 0 1".to_owned(), 0), "another column");
    assert_eq!(built(&[call, (7, 2, 1, 3, 5)]), ("0 0 1".to_owned(), 1), "no function begins there");
    assert_eq!(built(&[(8, 4, 0, 3, 4)]), ("1 0 1".to_owned(), 1), "the standard library stays");
}

#[test]
fn the_newest_functions_come_first() {
    let function = |name: &str, word: &str| {
        format!(
            "/* {word} {word}s every {word} there {word}. */\nvoid {name}(int {word}) {{\n    {word}++;\n    {word}--;\n}}\n"
        )
    };
    let files = [
        file("a.c", &function("a", "apple")),
        file("b.c", &function("b", "berry")),
        file("c.c", &function("c", "cat")),
    ];
    let commits = LastCommits::from([("a.c".to_owned(), 0), ("b.c".to_owned(), 1_537_747_200)]);
    let built = build(&files, &commits, None);
    assert_eq!(column(&built, "fname"), ["b", "a", "c"]);
    assert_eq!(column(&built, "last_commit"), ["24.09.2018", "01.01.1970", ""]);
    assert_eq!(
        [951_782_400, 951_868_800, -86_400, 4_107_542_400].map(date),
        ["29.02.2000", "01.03.2000", "31.12.1969", "01.03.2100"]
    );
}

#[test]
fn functions_are_chosen_by_the_widest_call() {
    let files = [
        file("src/main.c", MAIN),
        file("src/days.c", "void print_days(struct report *r) {\n    r->days++;\n}\n"),
        file("lib/door.c", "void for_each_door(struct house *h) {\n    h->n++;\n}\n"),
        file(
            "tests/test_a.c",
            "/* Check that the sum is right. */\nint test_sum(void) {\n  int a = 1;\n  return a;\n}\n",
        ),
    ];
    let built = build(&files, &LastCommits::new(), None);
    let mut found: Vec<(String, &str)> = built
        .table
        .rows
        .iter()
        .map(|row| (built.table.value(row, "fname").expect("a name").to_owned(), built.table.category(row)))
        .collect();
    found.sort();
    let expected = [
        ("copy_name", "stdlib"),
        ("half_up", "none"),
        ("near_double", "same_file"),
        ("open_doors", "project"),
        ("write_report", "same_package"),
    ];
    assert_eq!(found, expected.map(|(name, category)| (name.to_owned(), category)));
    let mera = built.mera.iter().find(|function| function.signature.contains("near_double")).expect("a row");
    assert!(mera.context[0].starts_with("static long half_up(long amount) {"), "{:?}", mera.context);
    assert_eq!((mera.signature.as_str(), mera.doc.lines().count()), ("int near_double(int a)", 1));
    assert_eq!(built.left_out.0["a test or without a name"], 1);
    assert_eq!(built.left_out.0["the documentation has fewer than 4 words"], 1);
    let mut csv = Vec::new();
    built.table.write(&mut csv).expect("written");
    let table = YablocoTable::read(csv.as_slice()).expect("a table");
    assert_eq!((table.rows.len(), table.broken.len()), (5, 0));
    assert!(built.functions.codes(&table).all(|(_, code)| code.is_some()));
}

#[test]
fn near_duplicates_have_a_high_score() {
    let [one, other] = ["a b c d e", "a b c d x"].map(words);
    assert_eq!(bleu_2(&one, &one), 1.0);
    assert!(bleu_2(&one, &other) > 0.7 && bleu_2(&one, &words("v w")) == 0.0);
}
