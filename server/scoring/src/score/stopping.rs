//! Whether an answer ends where the truth ends.
//!
//! Compares tokens as token-exact match does: white space and comments do not count. It never compares characters, because `x`
//! would then begin with the whole of `x1`. It does not apply to answers that are wrong before either end, or to empty truths,
//! which restraint measures.

use std::ops::Range;

use syntax::{LexedPrefix, TokenKind};

use super::{ScoringInput, is_blank};

/// End of an answer that has no wrong token before its own end or the truth's, whichever comes first.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Ending {
    /// Before the truth's last token, or within it.
    Short,
    /// After the truth's last token.
    Exact,
    /// Further: after another token, or a line with a comment that the truth lacks.
    Beyond,
}

/// The truth's tokens where it is in its file.
pub(super) struct EndOfTruth<'a> {
    truth: &'a str,
    tokens: Vec<Range<usize>>,
    /// The text before the answers, which may have opened a literal or begun a name. `None` if the truth has no tokens, such as a
    /// comment: then words are compared.
    prefix: Option<LexedPrefix<'a>>,
}

impl<'a> EndOfTruth<'a> {
    pub(super) fn new(question: &ScoringInput<'a>) -> EndOfTruth<'a> {
        let truth = question.truth;
        if is_blank(truth) {
            return EndOfTruth { truth, tokens: Vec::new(), prefix: None };
        }
        let prefix = LexedPrefix::new(question.language, question.prefix);
        match tokens(&prefix, truth) {
            none if none.is_empty() => EndOfTruth { truth, tokens: words(truth), prefix: None },
            tokens => EndOfTruth { truth, tokens, prefix: Some(prefix) },
        }
    }

    /// Returns the end of `answer`. `None` if the truth or the answer is empty, or if the answer has a wrong token.
    pub(super) fn ending(&self, answer: &str) -> Option<Ending> {
        if is_blank(self.truth) || is_blank(answer) {
            return None;
        }
        let answered = self.prefix.as_ref().map_or_else(|| words(answer), |prefix| tokens(prefix, answer));
        ending_of(self.truth, &self.tokens, answer, &answered)
    }
}

/// Compares the tokens of the truth with those of the answer.
fn ending_of(right: &str, truth: &[Range<usize>], answer: &str, answered: &[Range<usize>]) -> Option<Ending> {
    let same = truth
        .iter()
        .zip(answered)
        .take_while(|(expected, given)| right[expected.start..expected.end] == answer[given.start..given.end])
        .count();
    if let Some(expected) = truth.get(same) {
        let is_within = |given: &Range<usize>| right[expected.clone()].starts_with(&answer[given.clone()]);
        let is_short = match &answered[same..] {
            [] => same > 0,
            [last] => is_within(last),
            _ => false,
        };
        return is_short.then_some(Ending::Short);
    }
    let rest = |text: &str, tokens: &[Range<usize>]| {
        tokens[..same].last().map_or(0, |last| lines_behind(&text[last.end..]))
    };
    let has_more = answered.len() > same || rest(answer, answered) > rest(right, truth);
    Some(if has_more { Ending::Beyond } else { Ending::Exact })
}

/// Returns the ranges of the tokens of `text` behind the prefix.
fn tokens(prefix: &LexedPrefix<'_>, text: &str) -> Vec<Range<usize>> {
    let tokens = prefix.lex(text).into_iter().filter(|token| token.kind != TokenKind::Newline);
    tokens.map(|token| token.range).collect()
}

/// Returns the ranges of the words of `text`.
fn words(text: &str) -> Vec<Range<usize>> {
    let mut words: Vec<Range<usize>> = Vec::new();
    for (start, character) in text.char_indices().filter(|(_, character)| !character.is_whitespace()) {
        let end = start + character.len_utf8();
        match words.last_mut() {
            Some(word) if word.end == start => word.end = end,
            _ => words.push(start..end),
        }
    }
    words
}

/// Counts the non-blank lines after the first one, which is the rest of the last token's line.
fn lines_behind(rest: &str) -> usize {
    rest.lines().skip(1).filter(|line| !is_blank(line)).count()
}

#[cfg(test)]
mod tests {
    use syntax::Language;

    use super::*;

    #[track_caller]
    fn check(language: Language, prefix: &str, truth: &str, answers: &[(&str, Option<Ending>)]) {
        let question = ScoringInput { language, prefix, suffix: "", truth };
        for &(answer, expected) in answers {
            assert_eq!(EndOfTruth::new(&question).ending(answer), expected, "{answer:?} for {truth:?}");
        }
    }

    const SHORT: Option<Ending> = Some(Ending::Short);
    const EXACT: Option<Ending> = Some(Ending::Exact);
    const BEYOND: Option<Ending> = Some(Ending::Beyond);

    #[test]
    fn layout_and_trailing_comments_do_not_affect_the_ending() {
        let answers = [
            ("f( a,b );\r\n\r\n", EXACT),
            ("f(a, /* both */ b); // done", EXACT),
            ("f(a,", SHORT),
            ("f(a, b)", SHORT),
            ("f(a, b);\n}", BEYOND),
            ("f(a, b);\n// Next.", BEYOND),
            ("f(a, b); g();", BEYOND),
            ("f(a, c);", None),
            ("g(", None),
            ("  \n", None),
            ("", None),
        ];
        check(Language::Java, "class A { void m() { ", "f(a, b);", &answers);
    }

    #[test]
    fn extended_final_token_does_not_match() {
        check(Language::Rust, "let a = ", "x", &[("x1", None), ("x", EXACT), ("x.len()", BEYOND)]);
        check(Language::Rust, "let a = ", "total", &[("to", SHORT), ("tot()", None)]);
        check(Language::Python, "a = ", "'b c'", &[("'b", SHORT), ("'b c' + d", BEYOND), ("'b d'", None)]);
    }

    #[test]
    fn tokens_are_lexed_in_the_context_of_the_prefix() {
        // In an open string, in the middle of a name, and within a comment.
        let answers = [("b\")\nf(\"c\")\n", BEYOND), ("b\")\n", EXACT), ("b", SHORT), ("c\")", None)];
        check(Language::Python, "f(\"a ", "b\")\n", &answers);
        let answers = [("b\"\"\"\nc = 1", BEYOND), ("b\"\"\"", EXACT)];
        check(Language::Python, "def f():\n    \"\"\"a ", "b\"\"\"\n", &answers);
        check(
            Language::Go,
            "x := val",
            "ue + 1",
            &[("ue + 1 + y", BEYOND), ("ue", SHORT), ("ues + 1", None)],
        );
        let answers = [("the whole.", EXACT), ("the", SHORT), ("the whole.\nfn f() {}", BEYOND), ("a", None)];
        check(Language::Rust, "// Gives ", "the whole.", &answers);
    }

    #[test]
    fn trailing_comment_of_the_truth_may_differ_or_be_missing() {
        check(
            Language::Python,
            "",
            "a = 1\n# One.\n",
            &[("a = 1\n# Uno.", EXACT), ("a = 1\n", EXACT), ("a = 1\n# One.\n# Two.", BEYOND)],
        );
    }

    #[test]
    fn empty_truth_has_no_ending() {
        check(Language::Python, "return", "", &[("", None), ("x", None)]);
    }
}
