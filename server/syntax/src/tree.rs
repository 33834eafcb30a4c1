//! Parsing, anew or after an edit.

use tree_sitter::{InputEdit, Node, Parser, Point};

use crate::language::Language;
use crate::walk::walk;

/// A parsed text; cheap to clone.
///
/// The tree does not hold the text: methods that need it take the very text that was parsed.
#[derive(Clone, Debug)]
pub struct Tree {
    pub(crate) language: Language,
    pub(crate) inner: tree_sitter::Tree,
}

/// Parses `text`; never fails.
pub fn parse(language: Language, text: &str) -> Tree {
    parse_from(language, text, None)
}

fn parse_from(language: Language, text: &str, old: Option<&tree_sitter::Tree>) -> Tree {
    let mut parser = Parser::new();
    parser.set_language(&(language.row().grammar)()).expect("the grammars fit the tree-sitter of this build");
    let inner =
        parser.parse(text, old).expect("a parser with a language and without a deadline gives a tree");
    Tree { language, inner }
}

impl Tree {
    /// The language it was parsed as.
    pub fn language(&self) -> Language {
        self.language
    }

    /// Moves the tree's nodes by an edit of `before`, the text it stands for until now. Afterwards it serves [`Tree::reparse`] only.
    ///
    /// An edit outside of `before` changes nothing.
    pub fn edit(&mut self, before: &str, edit: &text::Edit) {
        let (Some(head), Some(removed)) = (before.get(..edit.range.start), before.get(edit.range.clone()))
        else {
            return;
        };
        let start_position = advance(Point { row: 0, column: 0 }, head);
        self.inner.edit(&InputEdit {
            start_byte: edit.range.start,
            old_end_byte: edit.range.end,
            new_end_byte: edit.range.start + edit.text.len(),
            start_position,
            old_end_position: advance(start_position, removed),
            new_end_position: advance(start_position, &edit.text),
        });
    }

    /// Parses `text`, reusing what the edits since the last parse left alone.
    #[must_use]
    pub fn reparse(&self, text: &str) -> Tree {
        parse_from(self.language, text, Some(&self.inner))
    }

    /// Whether the parser found an error anywhere (`ERROR` nodes; missing nodes do not count).
    pub fn has_error(&self) -> bool {
        // Subtrees without a flaw are passed over, so that only the paths to flaws are walked.
        walk(self.root(), |node| node.has_error()).any(|node| node.is_error())
    }

    pub(crate) fn root(&self) -> Node<'_> {
        self.inner.root_node()
    }
}

/// The parser's position after `text`, which begins at `point`. The parser counts line feeds only, and columns in bytes.
fn advance(point: Point, text: &str) -> Point {
    let rows = text.bytes().filter(|&byte| byte == b'\n').count();
    match text.rfind('\n') {
        Some(last) => Point { row: point.row + rows, column: text.len() - last - 1 },
        None => Point { row: point.row, column: point.column + text.len() },
    }
}
