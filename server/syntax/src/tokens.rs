//! Identifiers, comments and strings.

use std::ops::Range;

use crate::constructs::NodeMatcher;
use crate::queries::{CaptureRole, RoleQuery, comment_kinds};
use crate::tree::Tree;
use crate::walk::walk;

impl Tree {
    /// Returns the ranges of all identifiers in order.
    pub fn identifiers(&self) -> Vec<Range<usize>> {
        self.tokens(CaptureRole::Identifier)
    }

    /// Returns the ranges of all comments in order, without their line ends, outermost only.
    pub fn comments(&self, text: &str) -> Vec<Range<usize>> {
        let kinds = comment_kinds(self.language);
        let comments = walk(self.root(), |_| true).filter(|node| kinds.has(*node));
        whole_comments(comments.map(|node| node.byte_range()).collect(), text)
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

#[cfg(test)]
mod tests {
    use super::*;
    use crate::constructs::structure;
    use crate::{Language, parse};

    #[test]
    fn comments_by_kind_are_those_of_the_query() {
        let text = "# a\n// b\n/* c */ x /// d\n/** e */ <!-- f -->\n'g' #!h\n/* i /* j */ k */\n#if 0\n#endif // l\n";
        for language in Language::ALL {
            let tree = parse(language, text);
            let expected = whole_comments(structure(&tree).comments, text);
            assert!(!expected.is_empty(), "{}", language.name());
            assert_eq!(tree.comments(text), expected, "{}", language.name());
        }
    }
}
