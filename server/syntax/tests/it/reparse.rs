//! Parsing after edits gives what parsing anew gives.

use proptest::prelude::*;
use syntax::{Block, Language, Tree};
use text::Edit;

const RUST: &str = "use a::b;\n\n/// Doc.\n#[test]\nfn f(x: u8) -> u8 {\n    let s = \"é😀\";\n    if x > 1 {\r\n        g(s)\r\n    } else {\n        match x { 0 => 1, _ => 2 }\n    }\n}\n\nimpl A { fn h(&self) {} }\n";
const PYTHON: &str = "import a\n\n\nclass A:\n    \"\"\"Doc é.\"\"\"\n\n    def f(self, x):\n        for y in x:\n            if y:\n                return '😀'\n        while True: break\n\n\nprint(A().f([1]))\n";
const TYPESCRIPT: &str = "import { a } from 'b';\n\nexport class A {\n  @d() async f<T>(x: T): Promise<void> {\n    try { await g(`é${x}`); } catch (e) { throw e; }\n  }\n}\n\nconst h = (y: number) => {\n  for (const z of y) { console.log('😀'); }\n};\n";

/// Everything that is found in a text.
fn found(tree: &Tree, text: &str) -> (Vec<Block>, Vec<syntax::Function>, Vec<std::ops::Range<usize>>, bool) {
    (tree.blocks(text), tree.functions(text), tree.identifiers(), tree.has_error())
}

fn apply(tree: &Tree, text: &mut String, edit: &Edit) -> Tree {
    let mut edited = tree.clone();
    edited.edit(text, edit);
    text.replace_range(edit.range.clone(), &edit.text);
    edited.reparse(text)
}

/// Lines that leave whole code whole, for each language.
fn lines(language: Language) -> &'static [&'static str] {
    match language {
        Language::Python => &["# é😀\n", "x = 1\n", "if x:\n    y()\n", "def g():\n    return 1\n", "\n"],
        Language::Rust => {
            &["// é😀\n", "const X: u8 = 1;\n", "fn k() { if x { y(); } }\n", "\r\n", "#[a]\nmod m;\n"]
        }
        _ => &["// é😀\n", "x = 1;\n", "if (x) { y(); }\n", "function k() { return 1; }\n", "\r\n"],
    }
}

fn sources() -> impl Strategy<Value = (Language, &'static str)> {
    proptest::sample::select(vec![
        (Language::Python, PYTHON),
        (Language::Rust, RUST),
        (Language::TypeScript, TYPESCRIPT),
    ])
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(128))]

    /// Whole lines come and go between the top-level items, and identifiers change.
    #[test]
    fn whole_code_after_edits_is_as_parsed_anew(
        (language, source) in sources(),
        edits in proptest::collection::vec((any::<proptest::sample::Index>(), any::<proptest::sample::Index>()), 1..6),
    ) {
        let mut text = source.to_owned();
        let mut tree = syntax::parse(language, &text);
        for (place, choice) in edits {
            let edit = whole_edit(language, &tree, &text, place, choice);
            tree = apply(&tree, &mut text, &edit);
        }
        let fresh = syntax::parse(language, &text);
        prop_assert!(!fresh.has_error(), "{text}");
        prop_assert_eq!(found(&tree, &text), found(&fresh, &text));
    }

    /// Any edits at all: the tree fits the text, however broken that is.
    #[test]
    fn broken_code_after_edits_fits_its_text(
        (language, source) in sources(),
        edits in proptest::collection::vec((any::<proptest::sample::Index>(), 0..12_usize, "[a-z(){}:;\"\n é😀]{0,6}"), 1..8),
    ) {
        let mut text = source.to_owned();
        let mut tree = syntax::parse(language, &text);
        for (place, removed, inserted) in edits {
            let start = text.floor_char_boundary(place.index(text.len() + 1));
            let end = text.floor_char_boundary((start + removed).min(text.len()));
            tree = apply(&tree, &mut text, &Edit { range: start..end.max(start), text: inserted });
        }
        for block in tree.blocks(&text) {
            prop_assert!(text.get(block.range.clone()).is_some());
        }
        prop_assert!(tree.identifiers().iter().all(|range| text.get(range.clone()).is_some()));
    }
}

/// Starts of the lines that begin a top-level item.
fn top_level_lines(text: &str) -> impl Iterator<Item = usize> {
    let starts = std::iter::once(0).chain(text.match_indices('\n').map(|(newline, _)| newline + 1));
    starts.filter(|&start| {
        text[start..].starts_with(|first: char| first.is_alphabetic() || "#/".contains(first))
    })
}

/// An edit after which whole code is still whole: a line put in between top-level items, or an identifier made longer.
fn whole_edit(
    language: Language,
    tree: &Tree,
    text: &str,
    place: proptest::sample::Index,
    choice: proptest::sample::Index,
) -> Edit {
    let identifiers = tree.identifiers();
    let lines = lines(language);
    match choice.index(lines.len() + 1) {
        0 => {
            let at = identifiers[place.index(identifiers.len())].end;
            Edit { range: at..at, text: "_é".to_owned() }
        }
        line => {
            let starts: Vec<usize> = top_level_lines(text).collect();
            let at = starts[place.index(starts.len())];
            Edit { range: at..at, text: lines[line - 1].to_owned() }
        }
    }
}

#[test]
fn an_edit_outside_of_the_text_changes_nothing() {
    let text = "x = 1\n";
    let mut tree = syntax::parse(Language::Python, text);
    tree.edit(text, &Edit { range: 5..99, text: "y".to_owned() });
    assert_eq!(found(&tree.reparse(text), text), found(&syntax::parse(Language::Python, text), text));
}
