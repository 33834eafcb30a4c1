//! Invariants of every text, complete or broken.

use std::ops::Range;

use proptest::prelude::*;
use syntax::{Block, Language, Tree};

/// Calls every query on `text` and checks that all ranges are in bounds, on characters, in order and nested.
#[track_caller]
pub(crate) fn assert_invariants(language: Language, text: &str) {
    let tree = syntax::parse(language, text);
    let blocks = tree.blocks(text);
    for (index, block) in blocks.iter().enumerate() {
        assert_block(block, text);
        if let Some(parent) = block.parent {
            assert!(
                parent < index && contains(&blocks[parent].range, &block.range),
                "{block:?} outside of its parent"
            );
        }
    }
    for pair in blocks.windows(2) {
        let [a, b] = [&pair[0].range, &pair[1].range];
        assert!(
            (a.start, b.end) < (b.start, a.end) || a.end <= b.start,
            "{a:?} and {b:?} overlap or are out of order"
        );
    }
    let functions = tree.functions(text);
    let with_body = functions.iter().filter(|function| function.body.is_some());
    let ranges: Vec<Range<usize>> = with_body.map(|function| function.range.clone()).collect();
    assert_eq!(tree.functions_with_body(text), ranges);
    for function in functions {
        assert_in_text(&function.range, text);
        assert!(
            contains(&function.range, &function.signature)
                && function.signature.start == function.range.start
        );
        for part in function.docstring.iter().chain(&function.body) {
            assert_in_text(part, text);
        }
    }
    for ranges in [tree.identifiers(), tree.comments(text), tree.strings()] {
        ranges.iter().for_each(|range| assert_in_text(range, text));
        assert!(ranges.is_sorted_by(|a, b| a.end <= b.start), "tokens overlap");
    }
    for offset in [0, text.len() / 2, text.len(), usize::MAX] {
        let end = tree.statement_end(offset);
        assert!(end.is_none_or(|end| end > offset && end <= text.len()));
    }
    tree.has_error();
    assert_names(&tree, text);
}

/// Calls every query about the names in `text`.
#[track_caller]
fn assert_names(tree: &Tree, text: &str) {
    let outline = tree.outline(text);
    for (position, definition) in outline.definitions.iter().enumerate() {
        assert_in_text(&(definition.range.start as usize..definition.range.end as usize), text);
        assert!(definition.container.is_none_or(|container| (container as usize) < position));
        assert!((definition.namespace as usize) < outline.namespaces.len());
    }
    let uses = tree.uses(text);
    assert!(uses.iter().all(|one| !one.name.is_empty()));
    assert!(uses.is_sorted_by(|a, b| a.name.start < b.name.start));
    uses.iter().for_each(|one| assert_in_text(&one.name, text));
    for offset in [0, text.len() / 2, text.len()] {
        let bindings = tree.bindings(text, &outline, offset);
        assert!(bindings.is_sorted_by_key(|binding| binding.start));
    }
    let prefix = &text[..text.floor_char_boundary(text.len() / 2)];
    let scope = syntax::scope(tree.language(), prefix);
    let definitions = scope.outline.definitions.len();
    assert!(scope.enclosing.iter().all(|&position| (position as usize) < definitions));
}

#[track_caller]
fn assert_block(block: &Block, text: &str) {
    assert_in_text(&block.range, text);
    assert_in_text(&block.header, text);
    assert!(contains(&block.range, &block.header) && block.header.start == block.range.start, "{block:?}");
    let written = &text[block.range.clone()];
    assert_eq!(written, written.trim(), "blanks around a block");
    let Some(body) = &block.body else {
        assert!(block.kind.is_simple(), "{block:?}");
        assert_eq!(block.header, block.range);
        return;
    };
    assert_eq!(block.header.end, body.inner.start);
    assert!(contains(&block.range, &body.inner), "{block:?}");
    for statement in &body.statements {
        assert_in_text(statement, text);
        assert!(contains(&body.inner, statement), "{block:?}");
    }
    assert!(body.statements.is_sorted_by(|a, b| a.end <= b.start), "{block:?}");
}

#[track_caller]
fn assert_in_text(range: &Range<usize>, text: &str) {
    assert!(text.get(range.clone()).is_some(), "{range:?} cuts a character or leaves the text");
}

fn contains(outer: &Range<usize>, inner: &Range<usize>) -> bool {
    outer.start <= inner.start && inner.end <= outer.end
}

#[test]
fn broken_construct_after_whitespace_keeps_invariants() {
    for language in Language::ALL {
        assert_invariants(language, ")iffn \n/** x */=<returnfn ");
    }
}

#[test]
fn comment_recovered_inside_a_comment_keeps_invariants() {
    for language in Language::ALL {
        assert_invariants(language, "//////\0");
    }
}

/// A recursion over the tree would need more stack than a test has.
const DEPTH: usize = 10_000;

#[test]
fn deep_nesting_keeps_invariants() {
    let pairs =
        [("(", ")"), ("[", "]"), ("{", "}"), ("if (a) {", "}"), ("f(", ")"), ("!", "a"), ("if a:\n ", "")];
    for language in Language::ALL {
        for (opener, closer) in pairs {
            let text = opener.repeat(DEPTH) + &closer.repeat(DEPTH);
            assert_invariants(language, &text);
        }
    }
}

#[test]
fn deeply_nested_namespace_names_are_truncated() {
    for (language, opener) in [(Language::CSharp, "namespace a1 {"), (Language::Cpp, "namespace a1 {")] {
        let text = opener.repeat(DEPTH) + "class A {};" + &"}".repeat(DEPTH);
        let outline = syntax::parse(language, &text).outline(&text);
        let innermost = outline.definitions.iter().find(|definition| *definition.name == *"A").unwrap();
        let name = &outline.namespaces[innermost.namespace as usize];
        assert!(name.starts_with("a1.a1.") && name.len() < DEPTH);
    }
}

/// Length of a line in a file of ordinary size.
const CHAIN: usize = 100_000;

#[test]
fn long_member_chains_keep_invariants() {
    let rules = [
        Language::Python,
        Language::TypeScript,
        Language::Java,
        Language::CSharp,
        Language::Rust,
        Language::Go,
        Language::Cpp,
    ];
    for language in rules {
        let text = format!("x = {}a", "a.".repeat(CHAIN));
        assert_names(&syntax::parse(language, &text), &text);
    }
    let patterns = ["match x:\n case ", &"a.".repeat(CHAIN), "a() as b:\n  b\n"].concat();
    assert_names(&syntax::parse(Language::Python, &patterns), &patterns);
}

/// The return value of a function depends on its variables, each of which depends on the previous one.
#[test]
fn long_chains_of_values_are_dropped() {
    let assignments: String = (1..100).map(|n| format!("  a{n} = a{}{}\n", n - 1, ".b".repeat(20))).collect();
    let text = format!("def f(a0):\n{assignments}  return a99\ndef g():\n  a1 = b.c\n  return a1.d\n");
    let outline = syntax::parse(Language::Python, &text).outline(&text);
    let values: Vec<bool> = outline.definitions.iter().map(|definition| definition.value.is_some()).collect();
    assert_eq!(values, [false, true]);
}

/// Fragments of code from all languages, so that random texts match parts of the grammars.
const PIECES: &[&str] = &[
    "if",
    "else",
    "for",
    "while",
    "(",
    ")",
    "{",
    "}",
    "[",
    "]",
    ";",
    ":",
    ",",
    "=>",
    "=",
    "fn ",
    "def ",
    "func ",
    "function ",
    "class ",
    "return",
    "match ",
    "switch ",
    "case ",
    "try",
    "catch ",
    "except",
    "finally",
    "do",
    "loop",
    "a",
    "b",
    "\"",
    "'",
    "`",
    "\n",
    "\r\n",
    "\r",
    "    ",
    "\t",
    "//",
    "/*",
    "*/",
    "#",
    "///",
    "/** x */",
    "😀",
    "é",
    "\0",
    "\\",
    "<",
    ">",
    "@a ",
    "#[a]",
    "async ",
    "export ",
    "let ",
    "int ",
    "template <typename T> ",
    "u8",
    "\"\"\"",
];

proptest! {
    #![proptest_config(ProptestConfig::with_cases(32))]

    #[test]
    fn random_text_keeps_invariants(pieces in proptest::collection::vec(proptest::sample::select(PIECES), 0..40)) {
        let text = pieces.concat();
        for language in Language::ALL {
            assert_invariants(language, &text);
        }
    }
}
