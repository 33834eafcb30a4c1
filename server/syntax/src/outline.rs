//! Definitions and imports of a file: the names that other files can reach.
//!
//! Only items with a name outside of functions are definitions: types with their members, functions, top-level values. Each
//! language's rules are in `languages/<language>/rules.rs` behind [`LanguageRules`](crate::language_rules::LanguageRules); this file has the common part.
//!
//! All texts in an outline are parts of the file, with runs of white space collapsed to one blank. Nothing is resolved here:
//! `index` resolves names of other files with the locations from [`crate::module_resolution`].

use std::ops::Range;
use std::sync::Arc;

use serde::{Deserialize, Serialize};
use tree_sitter::Node;

use crate::declarations::OneLineMacro;
use crate::expr::Expr;
use crate::node_fields::NodeFields;
use crate::tree::Tree;
use crate::walk::walk;

pub(crate) use builder::{DefaultsRegion, OutlineBuilder};
pub(crate) use continuation::{KnownBeginning, OutlineRecord};

mod builder;
mod continuation;

/// Maximum length of a signature, in bytes: several times the length shown by a strategy.
const MAX_SIGNATURE_BYTES: usize = 240;
/// Maximum length of a type, in bytes.
const MAX_TYPE_BYTES: usize = 200;
/// Maximum length of a documentation, in bytes.
const MAX_DOC_BYTES: usize = 100;
/// Maximum length of a qualified namespace, in bytes: same as a type.
const MAX_NAMESPACE_BYTES: usize = MAX_TYPE_BYTES;
/// Kinds of nodes that are comments.
const COMMENTS: &[&str] = &["comment", "line_comment", "block_comment"];
/// A text without any of these has no comment.
const COMMENT_SIGNS: [&str; 3] = ["//", "/*", "#"];
/// Maximum number of comment lines read above a definition.
const MAX_COMMENT_LINES: usize = 200;

/// Definitions and imports of a file.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Outline {
    /// Definitions in order of their start; containers before their members. The outlines of a text's versions share them.
    pub definitions: Vec<Arc<Definition>>,
    /// Imports in source order.
    pub imports: Vec<Import>,
    /// Packages and namespaces declared in the file, dotted; definitions refer to them by position. The first one is empty.
    pub namespaces: Vec<Box<str>>,
    /// Types that take over the members of another type, declared outside of the type (`impl Trait for ValueType`).
    pub extensions: Vec<Extension>,
}

/// Kind of a definition.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
pub enum DefinitionKind {
    /// A class, interface, struct, enum, trait, or type alias.
    Type,
    /// A module or namespace as a block with members in a file (not C#'s, C++'s and Java's namespaces).
    Module,
    /// A function outside of types; also a macro.
    Function,
    /// A function of a type.
    Method,
    /// A constructor of a type.
    Constructor,
    /// A value of a type: field, property, enum member.
    Field,
    /// A value outside of types.
    Constant,
}

/// A named item.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Definition {
    /// The name alone, without qualifiers.
    pub name: Box<str>,
    /// Kind of the definition.
    pub kind: DefinitionKind,
    /// Position of the definition whose body contains this one.
    pub container: Option<u32>,
    /// The type it is a member of, as written, if declared outside of the type's body: Go's receiver, Rust's `impl`, C++'s
    /// `ValueType::name`, the `this` parameter of a C# extension method.
    pub owner: Option<Box<str>>,
    /// Position in [`Outline::namespaces`].
    pub namespace: u32,
    /// Line of the name, 0-based.
    pub line: u32,
    /// The whole definition, in bytes.
    pub range: Range<u32>,
    /// The text before the body on one line, without decorators and annotations, with modifiers.
    pub signature: Box<str>,
    /// First sentence of the documentation; empty if there is none.
    pub doc: Box<str>,
    /// Return type of a function, type of a value, or target of an alias, as written; empty if absent.
    pub type_text: Box<str>,
    /// Types whose members it inherits, as written.
    pub bases: Vec<Box<str>>,
    /// Parameters of a function, without `self` and the like.
    pub parameters: Vec<Parameter>,
    /// If no type is written: the expression of the value, or of a function's return value.
    pub value: Option<Expr>,
    /// Whether it is not meant for other files: `private`, not exported, or with a leading underscore.
    pub is_private: bool,
    /// Whether it belongs to the type rather than to its values.
    pub is_static: bool,
}

impl Definition {
    /// Creates a definition with all other properties empty.
    pub fn new(name: &str, kind: DefinitionKind) -> Definition {
        Definition {
            name: name.into(),
            kind,
            container: None,
            owner: None,
            namespace: 0,
            line: 0,
            range: 0..0,
            signature: "".into(),
            doc: "".into(),
            type_text: "".into(),
            bases: Vec::new(),
            parameters: Vec::new(),
            value: None,
            is_private: false,
            is_static: false,
        }
    }
}

/// A parameter of a function.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Parameter {
    /// Its name.
    pub name: Box<str>,
    /// Type as written; empty if absent.
    pub type_text: Box<str>,
}

/// A type that takes over the members of another type.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Extension {
    /// The type, as written.
    pub of: Box<str>,
    /// The type whose members it takes over, as written.
    pub base: Box<str>,
}

/// The imported part of a module.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum ImportedItem {
    /// The module itself.
    Module,
    /// One name in it.
    Name(Box<str>),
    /// All names of a module, or all members of a type.
    All,
}

/// An import of one name, or of all names, from another module.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Import {
    /// Local name, dotted if the language has it so (`import a.b`); `*` for all names.
    pub local: Box<str>,
    /// Module as written (Python: with its leading dots; Java, C#, Rust: dotted; others: the path or name without its quotes).
    /// Empty for the file itself.
    pub module: Box<str>,
    /// The imported part.
    pub imported: ImportedItem,
    /// Whether importers of this file get it too.
    pub is_reexport: bool,
    /// Whether it applies to every file of the workspace (C#'s `global using`).
    pub is_global: bool,
    /// Line, 0-based.
    pub line: u32,
}

impl Tree {
    /// Returns the definitions and imports of the parsed `text`.
    pub fn outline(&self, text: &str) -> Outline {
        self.outline_with(text, &[])
    }

    /// Same as [`Tree::outline`], with macros that are not in the tree.
    pub(crate) fn outline_with(&self, text: &str, macros: &[OneLineMacro]) -> Outline {
        let mut builder = OutlineBuilder::new(self.language, SourceText { text }).with_macros(macros);
        builder.walk(self.root());
        builder.add_macros_before(text.len());
        builder.outline.limited()
    }
}

impl Outline {
    /// Returns the outline that is kept of a finished walk.
    fn limited(mut self) -> Outline {
        for definition in &mut self.definitions {
            if definition.value.as_ref().is_some_and(|value| !value.is_within(Expr::MAX_DEPTH)) {
                Arc::make_mut(definition).value = None;
            }
        }
        self
    }
}

/// The parsed text, for reading the text of its nodes.
#[derive(Clone, Copy)]
pub(crate) struct SourceText<'a> {
    pub(crate) text: &'a str,
}

impl<'a> SourceText<'a> {
    /// Returns the text of a node; empty if the range is outside of the text.
    pub(crate) fn text_of(&self, node: Node<'_>) -> &'a str {
        self.text.get(node.byte_range()).unwrap_or_default()
    }

    /// Returns the text of the child in a field; empty if there is none.
    pub(crate) fn field(&self, node: Node<'_>, field: &'static str) -> &'a str {
        node.child_in(field).map_or("", |child| self.text_of(child))
    }

    /// Returns a type as kept in an outline: without its introducing sign (`:`, `->`), collapsed and truncated.
    pub(crate) fn type_text(&self, node: Option<Node<'_>>) -> Box<str> {
        let text = node.map_or("", |node| self.text_of(node));
        collapse_whitespace(text.trim_start_matches([':', '-', '>', ' ']), MAX_TYPE_BYTES)
    }

    /// Returns the text of `node` before `body`, or all of it, on one line without comments and without the opener of the body.
    pub(crate) fn signature(&self, node: Node<'_>, body: Option<Node<'_>>) -> Box<str> {
        let end = body.map_or(node.end_byte(), |body| body.start_byte());
        let header = self.text.get(node.start_byte()..end).unwrap_or_default();
        // Few signatures have comments, and checking all nodes takes time.
        let has_comments = COMMENT_SIGNS.iter().any(|sign| header.contains(sign));
        self.signature_without(node, body, if has_comments { COMMENTS } else { &[] })
    }

    /// Returns the signature without the nodes whose kinds are `left_out`: annotations, attributes, comments.
    pub(crate) fn signature_without(
        &self,
        node: Node<'_>,
        body: Option<Node<'_>>,
        left_out: &[&str],
    ) -> Box<str> {
        let end = body.map_or(node.end_byte(), |body| body.start_byte());
        let text = |from, to| self.text.get(from..to).unwrap_or_default().trim_start();
        let mut kept = String::new();
        let mut from = node.start_byte();
        if !left_out.is_empty() {
            let is_left_out = |node: &Node<'_>| left_out.contains(&node.kind());
            let header = walk(node, |node| node.start_byte() < end && !is_left_out(&node));
            for hole in header.filter(is_left_out).filter(|hole| hole.end_byte() <= end) {
                kept.push_str(text(from, hole.start_byte()));
                from = hole.end_byte();
            }
        }
        kept.push_str(text(from, end));
        signature_line(&kept)
    }

    /// Returns the first sentence of a comment or docstring without comment signs.
    pub(crate) fn doc(&self, text: &str) -> Box<str> {
        let lines = text.lines().map(|line| {
            line.trim()
                .trim_start_matches(['/', '*', '!', '#', '"', '\''])
                .trim_end_matches(['/', '*', '"', '\''])
                .trim()
        });
        let joined = collapse_whitespace(&lines.collect::<Vec<_>>().join(" "), 4 * MAX_DOC_BYTES);
        let sentence = joined.split(". ").next().unwrap_or_default().trim_end_matches('.');
        truncate(sentence, MAX_DOC_BYTES).into()
    }

    /// Returns the comments directly above the line of `start`, as in [`SourceText::doc`].
    pub(crate) fn doc_above(&self, start: usize) -> Box<str> {
        self.doc(self.comments_above(start))
    }

    /// Returns the text of the comments on their own lines directly above the line of `start`. Searches the lines: a parser finds
    /// a previous sibling by visiting all of them.
    pub(crate) fn comments_above(&self, start: usize) -> &'a str {
        let above = self.text.get(..start).unwrap_or_default();
        let end = above.rfind('\n').map_or(0, |line_end| line_end + 1);
        let mut start = end;
        let mut is_in_block = false;
        for line in above[..end].split_inclusive('\n').rev().take(MAX_COMMENT_LINES) {
            let written = line.trim();
            let opens_block = written.starts_with("/*");
            let closes_block = written.ends_with("*/") && (opens_block || !written.contains("/*"));
            if !is_in_block && !closes_block && !written.starts_with("//") {
                break;
            }
            is_in_block = (is_in_block || closes_block) && !opens_block;
            start -= line.len();
        }
        if is_in_block { "" } else { &above[start..end] }
    }
}

/// Returns a signature on one line, without the opener of a body.
pub(crate) fn signature_line(written: &str) -> Box<str> {
    without_opener(&collapse_whitespace(written, MAX_SIGNATURE_BYTES)).into()
}

/// Returns a signature without the signs between it and a body or value.
fn without_opener(signature: &str) -> &str {
    let mut rest = signature.trim_end();
    while let Some(shorter) = ["{", ":", ";", "=>", "="].iter().find_map(|opener| rest.strip_suffix(opener)) {
        rest = shorter.trim_end();
    }
    rest
}

/// Replaces each part of `text` between `open` and `close` by the result of `replacement`: for the markup in documentation.
pub(crate) fn replace_between<'t>(
    text: &'t str,
    [open, close]: [char; 2],
    replacement: impl Fn(&'t str) -> &'t str,
) -> String {
    let mut replaced = String::with_capacity(text.len());
    let mut rest = text;
    while let Some((before, after)) = rest.split_once(open)
        && let Some((inside, after)) = after.split_once(close)
    {
        replaced.push_str(before);
        replaced.push_str(replacement(inside));
        rest = after;
    }
    replaced + rest
}

/// Collapses white space in `text` to single blanks and truncates it to at most `limit` bytes at a character boundary.
pub(crate) fn collapse_whitespace(text: &str, limit: usize) -> Box<str> {
    let mut squeezed = String::with_capacity(text.len().min(limit + 4));
    for word in text.split_whitespace() {
        if squeezed.len() > limit {
            break;
        }
        if !squeezed.is_empty() {
            squeezed.push(' ');
        }
        squeezed.push_str(word);
    }
    squeezed.truncate(squeezed.floor_char_boundary(limit));
    squeezed.into()
}

pub(crate) fn truncate(text: &str, limit: usize) -> &str {
    &text[..text.floor_char_boundary(limit)]
}

impl DefinitionKind {
    /// Whether definitions in its body are its members.
    pub fn holds_members(self) -> bool {
        matches!(self, DefinitionKind::Type | DefinitionKind::Module)
    }

    /// Whether it can be called.
    pub fn is_callable(self) -> bool {
        matches!(self, DefinitionKind::Function | DefinitionKind::Method | DefinitionKind::Constructor)
    }
}

impl Definition {
    /// Sets the value of an item without a written type. A typed `value`, such as a parameter, sets the type instead.
    pub(crate) fn set_value(&mut self, value: Option<Expr>) {
        match value {
            Some(Expr::Typed(written)) => self.type_text = written,
            value => self.value = value,
        }
    }

    /// Whether it is or may be a member of a value or type.
    pub fn is_member(&self) -> bool {
        self.owner.is_some()
            || matches!(
                self.kind,
                DefinitionKind::Method | DefinitionKind::Constructor | DefinitionKind::Field
            )
    }
}
