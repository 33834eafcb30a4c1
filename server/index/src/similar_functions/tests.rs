//! Searches in small repositories, given as `//- /path` sections; `$0..$0` marks the part that is removed from the query's
//! file.

use expect_test::{Expect, expect};
use syntax::{Language, SourceFile};

use super::FunctionQuery;
use crate::{Hit, Index};

fn files(fixture: &str) -> Vec<SourceFile> {
    test_fixture::files(fixture)
        .into_iter()
        .map(|(path, text)| SourceFile {
            path: path.into(),
            language: Language::from_path(path).unwrap(),
            text: text.into(),
        })
        .collect()
}

const REPOSITORY: &str = "\
//- /a/loader.py
def load_user(path):
    with open(path) as file:
        user = parse_user(file.read())
    return user

//- /b/copy.py
class Copy:
    def load_user(self, path):
        with open(path) as file:
            user = parse_user(file.read())
        return user
//- /b/groups.py
import json

@cached
def load_group(path):
    with open(path) as file:
        group = parse_group(file.read())
    check_group(group)
    return group

def save_group(path, group):
    with open(path, 'w') as file:
        file.write(json.dumps(group))
//- /c/maths.py
def area(width, height):
    return width * height

def parse_user_number(text):
    return int(text)
";

/// The query: `load_user` with everything after its first line removed.
const QUERY: FunctionQuery<'static> = FunctionQuery {
    path: "a/loader.py",
    language: Language::Python,
    text: "def load_user(path):\n    with open(path) as file:\n",
    original: "def load_user(path):
    with open(path) as file:
        user = parse_user(file.read())
    return user
",
};

fn describe(hits: &[Hit]) -> String {
    let line = |hit: &Hit| {
        format!(
            "{}:{}..{} {:.2} {}\n{}\n",
            hit.path, hit.start_line, hit.end_line, hit.score, hit.reason, hit.text
        )
    };
    hits.iter().map(line).collect()
}

#[track_caller]
fn check(query: &FunctionQuery<'_>, hidden: &[&str], limit: usize, expected: Expect) {
    let searcher = Index::build(&files(REPOSITORY)).searcher(&|path| hidden.contains(&path));
    expected.assert_eq(&describe(&searcher.functions(query, limit)));
}

#[test]
fn most_similar_functions_rank_first_without_copies() {
    check(
        &QUERY,
        &[],
        3,
        expect![[r#"
        b/groups.py:2..8 4.03 shares path, load, file
        @cached
        def load_group(path):
            with open(path) as file:
                group = parse_group(file.read())
            check_group(group)
            return group
        b/groups.py:9..12 3.82 shares path, file, as
        def save_group(path, group):
            with open(path, 'w') as file:
                file.write(json.dumps(group))
        c/maths.py:3..5 1.15 shares user, def
        def parse_user_number(text):
            return int(text)
    "#]],
    );
}

#[test]
fn copies_are_kept_without_an_original_text() {
    check(
        &FunctionQuery { original: QUERY.text, ..QUERY },
        &["b/groups.py"],
        1,
        expect![[r#"
        b/copy.py:1..5 8.16 shares path, file, as
            def load_user(self, path):
                with open(path) as file:
                    user = parse_user(file.read())
                return user
    "#]],
    );
}

#[test]
fn hidden_files_do_not_affect_results() {
    let is_hidden = |path: &str| path.starts_with("b/");
    let rest: Vec<SourceFile> = files(REPOSITORY).into_iter().filter(|file| !is_hidden(&file.path)).collect();
    let hidden = Index::build(&files(REPOSITORY)).searcher(&is_hidden);
    let absent = Index::build(&rest).searcher(&|_| false);
    let found = hidden.functions(&QUERY, 9);
    assert!(!found.is_empty());
    assert_eq!(found, absent.functions(&QUERY, 9));
}

#[test]
fn own_file_does_not_affect_results() {
    let rest: Vec<SourceFile> =
        files(REPOSITORY).into_iter().filter(|file| *file.path != *QUERY.path).collect();
    let found = |files: &[SourceFile]| Index::build(files).searcher(&|_| false).functions(&QUERY, 9);
    assert_eq!(found(&files(REPOSITORY)), found(&rest));
}

#[test]
fn functions_nested_in_better_hits_are_left_out() {
    let fixture = "\
//- /a.py
def outer_reader(stream):
    def inner_reader(stream):
        return stream.read()
    return inner_reader(stream)
";
    let text = "def other_reader(stream):\n    return stream.readline()\n";
    let query = FunctionQuery { path: "b.py", language: Language::Python, text, original: text };
    let hits = Index::build(&files(fixture)).searcher(&|_| false).functions(&query, 3);
    assert_eq!(hits.len(), 1);
}

#[test]
fn equal_scores_are_ordered_by_path_and_line() {
    let function = |name: &str| format!("def {name}(item):\n    return item.{name}_value\n");
    let fixture = format!("//- /a.py\n{}{}//- /b.py\n{}", function("one"), function("two"), function("six"));
    let text = "def read(item):\n    return item\n";
    let query = FunctionQuery { path: "c.py", language: Language::Python, text, original: text };
    let hits = Index::build(&files(&fixture)).searcher(&|_| false).functions(&query, 9);
    let places: Vec<(&str, u32)> = hits.iter().map(|hit| (&*hit.path, hit.start_line)).collect();
    assert_eq!(places, [("a.py", 0), ("a.py", 2), ("b.py", 0)]);
}

#[test]
fn results_do_not_depend_on_thread_count() {
    // More files than one batch contains.
    let fixture: String = (0..600)
        .map(|number| {
            format!("//- /{number}.py\ndef load_{}(path):\n    return read_{number}(path)\n", number % 7)
        })
        .collect();
    let files = files(&fixture);
    let on = |threads| {
        let pool = rayon::ThreadPoolBuilder::new().num_threads(threads).build().unwrap();
        pool.install(|| Index::build(&files)).searcher(&|_| false).functions(&QUERY, 600)
    };
    let hits = on(1);
    assert_eq!(hits.len(), 600);
    assert!(hits.iter().all(|hit| hit.text.contains(&format!("read_{}(", hit.path.trim_end_matches(".py")))));
    assert_eq!(hits, on(2));
    assert_eq!(hits, on(5));
}

#[test]
fn empty_index_or_query_has_no_hits() {
    assert_eq!(Index::build(&[]).searcher(&|_| false).functions(&QUERY, 3), []);
    let nothing = FunctionQuery { text: "", original: "", ..QUERY };
    assert_eq!(Index::build(&files(REPOSITORY)).searcher(&|_| false).functions(&nothing, 3), []);
}

#[test]
fn hits_are_whole_lines_with_lf_or_crlf() {
    let fixture =
        "//- /a.rs\nmod a {\r\n    pub fn read(&self) -> u8 {\r\n        self.value\r\n    } // end\r\n}\r\n";
    let text = "fn read(&self) -> u16 {";
    let query = FunctionQuery { path: "b.rs", language: Language::Rust, text, original: text };
    let hits = Index::build(&files(fixture)).searcher(&|_| false).functions(&query, 1);
    let hit = &hits[0];
    assert_eq!((hit.start_line, hit.end_line), (1, 4));
    assert_eq!(hit.text, "    pub fn read(&self) -> u8 {\r\n        self.value\r\n    } // end");
}
