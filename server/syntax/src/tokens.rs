//! Identifiers, comments and strings.

use std::ops::Range;

use crate::constructs::for_each_capture;
use crate::queries::{Queries, Role};
use crate::tree::Tree;

impl Tree {
    /// Ranges of all identifiers in order.
    pub fn identifiers(&self) -> Vec<Range<usize>> {
        self.tokens(Role::Identifier)
    }

    /// Ranges of all comments in order, without their line ends.
    pub fn comments(&self, text: &str) -> Vec<Range<usize>> {
        let mut comments = self.tokens(Role::Comment);
        for comment in &mut comments {
            let written = text.get(comment.clone()).unwrap_or_default();
            comment.end = comment.start + written.trim_end_matches(['\n', '\r']).len();
        }
        comments
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
        let mut ranges = Vec::new();
        for_each_capture(self, &Queries::of(self.language).tokens, |found, node| {
            if found == role {
                ranges.push(node.byte_range());
            }
        });
        ranges.sort_by_key(|range| range.start);
        ranges
    }
}
