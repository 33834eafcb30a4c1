//! Conditional compilation (`#if` .. `#else` .. `#endif`): the parts of a text that are alternatives to one another.
//!
//! Reads lines and brackets only: grammars either fail if an arm opens a brace that another one closes, or count the braces of
//! all arms. Never evaluates a condition.

use std::ops::Range;

use crate::{Language, Token, TokenKind};

/// The conditional groups of a text.
#[derive(Clone, Debug, Default)]
pub struct ConditionalGroups {
    groups: Vec<ConditionalGroup>,
}

/// From `#if` to `#endif`.
#[derive(Clone, Debug)]
struct ConditionalGroup {
    range: Range<usize>,
    /// Ranges between two directives of the group.
    arms: Vec<Range<usize>>,
    /// Whether every arm closes the brackets that it opens, and no others.
    is_balanced: bool,
}

/// A line that begins with `#` and belongs to a group.
pub(crate) enum Directive {
    If,
    Else,
    End,
}

impl Directive {
    /// Returns the directive with this name.
    pub(crate) fn named(name: &str) -> Option<Directive> {
        match name {
            "if" | "ifdef" | "ifndef" => Some(Directive::If),
            "elif" | "elifdef" | "elifndef" | "else" => Some(Directive::Else),
            "endif" => Some(Directive::End),
            _ => None,
        }
    }
}

/// A group whose end was not read yet. Depths are brackets that are open since the start of the text.
struct OpenGroup {
    start: usize,
    arm_start: usize,
    arms: Vec<Range<usize>>,
    /// Depth at the start of the arm.
    arm_depth: isize,
    /// Least depth in the arm.
    least: isize,
    is_balanced: bool,
}

impl ConditionalGroups {
    /// Reads the tokens of `text`. An unclosed group extends to the end.
    pub fn new(language: Language, text: &str, tokens: &[Token]) -> ConditionalGroups {
        let mut groups = Vec::new();
        let mut open: Vec<OpenGroup> = Vec::new();
        if !language.spec().has_preprocessor {
            return ConditionalGroups { groups };
        }
        let mut depth = 0;
        let mut close = |open: &mut Vec<OpenGroup>, directive: usize, depth: isize| {
            let Some(mut group) = open.pop() else { return false };
            group.next_arm(directive, depth, text);
            // Only the innermost group is updated at every bracket, so that nesting has no cost.
            open.last_mut().into_iter().for_each(|outer| outer.least = outer.least.min(group.least));
            let OpenGroup { start, arm_start, arms, is_balanced, .. } = group;
            groups.push(ConditionalGroup { range: start..arm_start, arms, is_balanced });
            true
        };
        for (place, token) in tokens.iter().enumerate() {
            let start = token.range.start;
            match directive(text, &tokens[place..]) {
                Some(Directive::If) => open.push(OpenGroup::at(start, line_end(text, start), depth)),
                Some(Directive::Else) => {
                    open.last_mut().into_iter().for_each(|group| group.next_arm(start, depth, text));
                }
                Some(Directive::End) => {
                    close(&mut open, start, depth);
                }
                None => {
                    depth += bracket(&text[token.range.clone()]);
                    open.last_mut().into_iter().for_each(|group| group.least = group.least.min(depth));
                }
            }
        }
        while close(&mut open, text.len(), depth) {}
        ConditionalGroups { groups }
    }

    /// Whether `range` can be removed from the text for every choice of arms: it either contains each group that it touches as a
    /// whole, with all brackets of each arm closed there, or is in one arm.
    pub fn allow_removal(&self, range: &Range<usize>) -> bool {
        let holds =
            |outer: &Range<usize>, inner: &Range<usize>| outer.start <= inner.start && inner.end <= outer.end;
        let touched =
            self.groups.iter().filter(|group| group.range.start < range.end && range.start < group.range.end);
        touched.into_iter().all(|group| {
            let is_in_arm = group.arms.iter().any(|arm| holds(arm, range));
            is_in_arm || (group.is_balanced && holds(range, &group.range))
        })
    }
}

impl OpenGroup {
    fn at(start: usize, arm_start: usize, depth: isize) -> OpenGroup {
        OpenGroup { start, arm_start, arms: Vec::new(), arm_depth: depth, least: depth, is_balanced: true }
    }

    /// Ends the arm at `directive`. The least depth stays that of the whole group.
    fn next_arm(&mut self, directive: usize, depth: isize, text: &str) {
        self.arms.push(self.arm_start..directive.max(self.arm_start));
        self.arm_start = line_end(text, directive);
        self.is_balanced &= self.least >= self.arm_depth && depth == self.arm_depth;
        self.arm_depth = depth;
    }
}

/// Returns the change of depth by a token.
fn bracket(token: &str) -> isize {
    match token {
        "(" | "[" | "{" => 1,
        ")" | "]" | "}" => -1,
        _ => 0,
    }
}

/// Returns the directive at the start of `tokens`, if it belongs to a group.
fn directive(text: &str, tokens: &[Token]) -> Option<Directive> {
    let [sign, word, ..] = tokens else { return None };
    if &text[sign.range.clone()] != "#" || word.kind != TokenKind::Word {
        return None;
    }
    let line = text[..sign.range.start].rfind('\n').map_or(0, |at| at + 1);
    if !text[line..sign.range.start].trim().is_empty() {
        return None;
    }
    Directive::named(&text[word.range.clone()])
}

fn line_end(text: &str, offset: usize) -> usize {
    text[offset..].find('\n').map_or(text.len(), |at| offset + at)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::lex;

    /// Checks whether the text between the two `|` can be removed.
    #[track_caller]
    fn check(marked: &str, expected: bool) {
        let (before, rest) = marked.split_once('|').unwrap();
        let (inside, after) = rest.split_once('|').unwrap();
        let text = [before, inside, after].concat();
        let tokens = lex(Language::C, &text);
        let range = before.len()..before.len() + inside.len();
        assert_eq!(
            ConditionalGroups::new(Language::C, &text, &tokens).allow_removal(&range),
            expected,
            "{marked}"
        );
    }

    #[test]
    fn whole_group_or_part_of_one_branch_is_removable() {
        check("|f();\n#if A\n  g({1});\n#else\n  h();\n#endif\n|i();", true);
        check("#if A\n  |g();|\n#else\n  h();\n#endif\n", true);
        check("#ifdef A\n#if B\n|g();|\n#endif\n#endif\n", true);
        check("#if A\n#endif\n|g();|\n#if B\n#endif", true);
    }

    #[test]
    fn range_across_branches_or_unbalanced_braces_is_not_removable() {
        check("#if A\n  g();\n  |h();\n#else\n  i();|\n#endif\n", false);
        check("|g();\n#if A\n  h();|\n#endif\n", false);
        check("void f() |{\n#if A\n  if (a) {\n#else\n  if (b) {\n#endif\n  }\n}|", false);
        check("#if A\n#if B\n|g();\n#endif\n#else\n|h();\n#endif\n", false);
        check("#if A\n  |g();|", true);
    }

    #[test]
    fn directives_are_ignored_in_other_languages() {
        let text = "#if A {\n#else\n";
        let tokens = lex(Language::Python, text);
        assert!(ConditionalGroups::new(Language::Python, text, &tokens).allow_removal(&(3..text.len())));
    }
}
