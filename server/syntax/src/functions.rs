//! Functions with their names, signatures and documentation.

use std::cmp::Reverse;
use std::ops::Range;

use tree_sitter::Node;

use crate::blocks::BlockKind;
use crate::body::measure_body;
use crate::constructs::{Construct, functions, functions_with_body};
use crate::language::LanguageSpec;
use crate::node_fields::NodeFields;
use crate::queries::ConstructKind;
use crate::tokens::whole_comments;
use crate::tree::Tree;

/// A function or method.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Function {
    /// Name as written in the definition, with qualifiers (`Shape::area`); empty for anonymous functions.
    pub name: String,
    /// The whole definition, including decorators, annotations, attributes and `export`.
    pub range: Range<usize>,
    /// From the start of the definition to just past the opener of the body; the whole definition if it has no body.
    pub signature: Range<usize>,
    /// The docstring or the doc comment directly above.
    pub docstring: Option<Range<usize>>,
    /// Text between opener and closer; `None` for a function that is only declared.
    pub body: Option<Range<usize>>,
}

impl Tree {
    /// Returns all functions with or without a body in order of their start, outer before inner.
    ///
    /// Methods, constructors, accessors and nested functions are functions; in JavaScript and TypeScript also a function or an
    /// arrow function with a block body that is bound to a name. Other lambdas and closures are not.
    pub fn functions(&self, text: &str) -> Vec<Function> {
        let row = self.language.spec();
        let structure = functions(self);
        let comments = whole_comments(structure.comments, text);
        let mut functions: Vec<Function> = structure
            .constructs
            .iter()
            .filter(|construct| construct.kind == ConstructKind::Block(BlockKind::Function))
            .map(|construct| function(construct, row, text, &comments))
            .collect();
        functions.sort_by_key(|function| (function.range.start, Reverse(function.range.end)));
        functions
    }

    /// Returns the ranges of those [`Tree::functions`] that have a body, in the same order, in a third of the time.
    pub fn functions_with_body(&self, text: &str) -> Vec<Range<usize>> {
        let mut ranges: Vec<Range<usize>> = functions_with_body(self, text)
            .constructs
            .into_iter()
            .filter(|construct| construct.body.is_some())
            .map(|construct| construct.range)
            .collect();
        ranges.sort_by_key(|range| (range.start, Reverse(range.end)));
        ranges
    }
}

fn function(construct: &Construct, row: &LanguageSpec, text: &str, comments: &[Range<usize>]) -> Function {
    let range = construct.range.clone();
    let body = measure_body(construct, row).map(|body| body.inner);
    let name = construct.name.map(|node| unwrap_name(node, row));
    let name = name.and_then(|node| text.get(node.byte_range())).unwrap_or_default();
    let docstring = construct.docstring.map(|node| node.byte_range());
    Function {
        name: name.to_owned(),
        docstring: docstring.or_else(|| doc_comment(range.start, row, text, comments)),
        signature: range.start..body.as_ref().map_or(range.end, |body| body.start),
        range,
        body,
    }
}

/// Returns the name inside its wrapper nodes.
fn unwrap_name<'tree>(mut node: Node<'tree>, row: &LanguageSpec) -> Node<'tree> {
    while row.name_wrappers.contains(&node.kind()) {
        let Some(inner) = node.child_in("declarator").or_else(|| node.named_child(0)) else {
            break;
        };
        node = inner;
    }
    node
}

/// Returns the doc comments on the lines directly above `start`, as one range.
fn doc_comment(
    start: usize,
    row: &LanguageSpec,
    text: &str,
    comments: &[Range<usize>],
) -> Option<Range<usize>> {
    let above = comments.partition_point(|comment| comment.end <= start);
    let mut found: Option<Range<usize>> = None;
    for comment in comments[..above].iter().rev() {
        let first = found.as_ref().map_or(start, |found| found.start);
        let written = text.get(comment.clone()).unwrap_or_default();
        let is_doc = row.doc_comments.iter().any(|opening| written.starts_with(opening));
        if !is_doc || !is_directly_above(text, comment, first) {
            break;
        }
        found = Some(comment.start..found.map_or(comment.end, |found| found.end));
    }
    found
}

/// Whether `comment` begins its line and ends on the line before `start`.
fn is_directly_above(text: &str, comment: &Range<usize>, start: usize) -> bool {
    let gap = text.get(comment.end..start).unwrap_or_default();
    let before = text.get(..comment.start).unwrap_or_default();
    let line = before.rsplit(['\n', '\r']).next().unwrap_or_default();
    gap.trim().is_empty() && gap.matches('\n').count() == 1 && line.trim().is_empty()
}
