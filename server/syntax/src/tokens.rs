//! Identifiers, comments and strings.

use std::ops::Range;

use crate::constructs::{Matcher, structure};
use crate::queries::{Role, RoleQuery};
use crate::tree::Tree;
use crate::walk::walk;

impl Tree {
    /// Ranges of all identifiers in order.
    pub fn identifiers(&self) -> Vec<Range<usize>> {
        self.tokens(Role::Identifier)
    }

    /// Ranges of all comments in order, without their line ends.
    pub fn comments(&self, text: &str) -> Vec<Range<usize>> {
        trim_comments(structure(self).comments, text)
    }

    /// Ranges of all string and character literals in order, outermost only.
    pub fn strings(&self) -> Vec<Range<usize>> {
        let mut strings = self.tokens(Role::String);
        let mut end = 0;
        strings.retain(|string| {
            let is_outermost = string.start >= end;
            end = end.max(string.end);
            is_outermost
        });
        strings
    }

    fn tokens(&self, role: Role) -> Vec<Range<usize>> {
        let mut matcher = Matcher::new(RoleQuery::tokens(self.language));
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

/// Cuts off the line ends that some grammars count as part of a comment.
pub(crate) fn trim_comments(mut comments: Vec<Range<usize>>, text: &str) -> Vec<Range<usize>> {
    for comment in &mut comments {
        let written = text.get(comment.clone()).unwrap_or_default();
        comment.end = comment.start + written.trim_end_matches(['\n', '\r']).len();
    }
    comments
}
