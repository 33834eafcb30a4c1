//! Identifiers, comments and strings.

use std::ops::Range;

use crate::constructs::{NodeMatcher, structure};
use crate::queries::{CaptureRole, RoleQuery};
use crate::tree::Tree;
use crate::walk::walk;

impl Tree {
    /// Returns the ranges of all identifiers in order.
    pub fn identifiers(&self) -> Vec<Range<usize>> {
        self.tokens(CaptureRole::Identifier)
    }

    /// Returns the ranges of all comments in order, without their line ends, outermost only.
    pub fn comments(&self, text: &str) -> Vec<Range<usize>> {
        whole_comments(structure(self).comments, text)
    }

    /// Returns the ranges of all string and character literals in order, outermost only.
    pub fn strings(&self) -> Vec<Range<usize>> {
        outermost(self.tokens(CaptureRole::String))
    }

    fn tokens(&self, role: CaptureRole) -> Vec<Range<usize>> {
        let mut matcher = NodeMatcher::new(RoleQuery::tokens(self.language));
        let mut ranges = Vec::new();
        for node in walk(self.root(), |_| true) {
            matcher.matches_at(node, |query, found| {
                let captures = found.captures().iter().filter(|capture| query.role(capture) == role);
                ranges.extend(captures.map(|capture| capture.node.byte_range()));
            });
        }
        ranges
    }
}

/// Drops ranges within another range: strings in an interpolation, and comments in a comment, which the Rust grammar produces in
/// error recovery after slashes. `ranges` must be in walk order.
fn outermost(mut ranges: Vec<Range<usize>>) -> Vec<Range<usize>> {
    let mut end = 0;
    ranges.retain(|range| {
        let is_outermost = range.start >= end;
        end = end.max(range.end);
        is_outermost
    });
    ranges
}

/// Returns the outermost of `comments`, which are in order, without the line ends that some grammars include in a comment.
pub(crate) fn whole_comments(comments: Vec<Range<usize>>, text: &str) -> Vec<Range<usize>> {
    let mut comments = outermost(comments);
    for comment in &mut comments {
        let written = text.get(comment.clone()).unwrap_or_default();
        comment.end = comment.start + written.trim_end_matches(['\n', '\r']).len();
    }
    comments
}
