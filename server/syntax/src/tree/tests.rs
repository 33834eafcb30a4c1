//! An incrementally updated tree is equal to the tree of a fresh parse.

use std::ops::Range;

use proptest::prelude::*;
use proptest::sample::{Index, select};
use text::Edit;
use tree_sitter::Point;

use super::{Tree, parse};
use crate::Language;
use crate::walk::walk;

const SOURCES: [(Language, &str); 6] = [
    (
        Language::Python,
        "import a\n\n\nclass A:\n    \"\"\"Doc é.\"\"\"\n\n    def f(self, x):\n        for y in x:\n            if y:\n                return '😀'\n        while True: break\n\n\nprint(A().f([1]))\n",
    ),
    (
        Language::Rust,
        "use a::b;\n\n/// Doc.\n#[test]\nfn f(x: u8) -> u8 {\n    let s = \"é😀\";\n    if x > 1 {\r\n        g(s)\r\n    } else {\n        match x { 0 => 1, _ => 2 }\n    }\n}\n\nimpl A { fn h(&self) {} }\n",
    ),
    (
        Language::TypeScript,
        "import { a } from 'b';\n\nexport class A {\n  @d() async f<T>(x: T): Promise<void> {\n    try { await g(`é${x}`); } catch (e) { throw e; }\n  }\n}\n\nconst h = (y: number) => {\n  for (const z of y) { console.log('😀'); }\n};\n",
    ),
    (
        Language::Java,
        "package a;\r\n\r\n/** Doc é. */\r\nclass A<T> {\r\n  @D int f(int x) throws E {\r\n    for (int y : g(x)) { if (y > 1) return y; }\r\n    return \"😀\".length();\r\n  }\r\n}\r\n",
    ),
    (
        Language::Go,
        "package a\n\nimport \"b\"\n\n// Doc é.\nfunc (t *T) F(x int) (int, error) {\n\tfor _, y := range g(x) {\n\t\tswitch y {\n\t\tcase '😀':\n\t\t\treturn 1, nil\n\t\t}\n\t}\n\treturn 0, nil\n}\n",
    ),
    (
        Language::Cpp,
        "#include <a>\n\nnamespace n {\n/* Doc é. */\ntemplate <typename T> int A<T>::f(int x) const {\n  while (x --> 0) { try { g(\"😀\"); } catch (...) {} }\n  return x;\n}\n}\n",
    ),
];

/// A node's kind, range, start position, and whether it is missing and has an error.
type Facts = (u16, Range<usize>, Point, bool, bool);

/// Returns all properties of all nodes of a tree.
fn nodes(tree: &Tree) -> Vec<Facts> {
    walk(tree.root(), |_| true)
        .map(|node| {
            (node.kind_id(), node.byte_range(), node.start_position(), node.is_missing(), node.has_error())
        })
        .collect()
}

/// A text with its tree, updated together.
struct File {
    text: String,
    tree: Tree,
}

impl File {
    fn new(language: Language, text: &str) -> File {
        File { text: text.to_owned(), tree: parse(language, text) }
    }

    fn change(&mut self, new: String) {
        self.tree = self.tree.update(&self.text, &new);
        self.text = new;
    }

    fn apply(&mut self, edit: &Edit) {
        let mut new = self.text.clone();
        new.replace_range(edit.range.clone(), &edit.text);
        self.change(new);
    }

    #[track_caller]
    fn check(&self) {
        let fresh = parse(self.tree.language(), &self.text);
        assert_eq!(self.tree.root().to_sexp(), fresh.root().to_sexp(), "{}", self.text);
        assert_eq!(nodes(&self.tree), nodes(&fresh), "{}", self.text);
    }
}

/// Returns an arbitrary edit of `text`.
fn any_edit(text: &str, place: Index, removed: usize, inserted: String) -> Edit {
    let start = text.floor_char_boundary(place.index(text.len() + 1));
    let end = text.ceil_char_boundary((start + removed).min(text.len()));
    Edit { range: start..end, text: inserted }
}

/// Returns lines that keep complete code complete, for each language.
fn lines(language: Language) -> &'static [&'static str] {
    match language {
        Language::Python => &["# é😀\n", "x = 1\n", "if x:\n    y()\n", "def g():\n    return 1\n", "\n"],
        Language::Rust => {
            &["// é😀\n", "const X: u8 = 1;\n", "fn k() { if x { y(); } }\n", "\r\n", "#[a]\nmod m;\n"]
        }
        Language::TypeScript => {
            &["// é😀\n", "x = 1;\n", "if (x) { y(); }\n", "function k() { return 1; }\n", "\r\n"]
        }
        Language::Java => &["// é😀\n", "class K { int k() { return 1; } }\n", "interface I {}\r\n", "\r\n"],
        Language::Go => &["// é😀\n", "var x = 1\n", "func k() { if x { y() } }\n", "\r\n"],
        _ => &["// é😀\n", "int x = 1;\n", "int k() { if (x) { y(); } }\n", "\r\n"],
    }
}

/// Returns the starts of the lines that begin a top-level item, except the first one.
fn top_level_lines(text: &str) -> Vec<usize> {
    text.match_indices('\n')
        .map(|(newline, _)| newline + 1)
        .filter(|&start| {
            text[start..].starts_with(|first: char| first.is_alphabetic() || "#/@".contains(first))
        })
        .collect()
}

/// Returns an edit that keeps complete code complete: a line inserted between top-level items, or an identifier made longer.
fn valid_edit(file: &File, place: Index, choice: Index) -> Edit {
    let lines = lines(file.tree.language());
    let (at, text) = match choice.index(lines.len() + 1) {
        0 => (place.get(&file.tree.identifiers()).end, "_é"),
        line => (*place.get(&top_level_lines(&file.text)), lines[line - 1]),
    };
    Edit { range: at..at, text: text.to_owned() }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(128))]

    #[test]
    fn update_of_valid_code_equals_a_fresh_parse(
        (language, source) in select(SOURCES.to_vec()),
        edits in proptest::collection::vec((any::<Index>(), any::<Index>()), 1..6),
    ) {
        let mut file = File::new(language, source);
        for (place, choice) in edits {
            file.apply(&valid_edit(&file, place, choice));
            prop_assert!(!file.tree.has_error(), "{}", file.text);
            file.check();
        }
    }

    #[test]
    fn update_of_broken_code_equals_a_fresh_parse(
        (language, source) in select(SOURCES.to_vec()),
        edits in proptest::collection::vec((any::<Index>(), 0..12_usize, "[a-z(){}:;\"\n é😀]{0,6}"), 1..8),
    ) {
        let mut file = File::new(language, source);
        for (place, removed, inserted) in edits {
            let edit = any_edit(&file.text, place, removed, inserted);
            file.apply(&edit);
            file.check();
        }
        file.change(source.to_owned());
        file.check();
    }
}

#[test]
fn changed_line_endings_update_the_tree() {
    let mut file = File::new(Language::Python, "def f():\r\n    return 1\r\n");
    for text in ["def f():\n    return 1\r\n", "def f():\n    return 1\n", "", "def f():\r    return 1", "x"]
    {
        file.change(text.to_owned());
        file.check();
    }
}
