//! CrossCodeEval's scores of one prediction and of a file of predictions, equal to the original's numbers.
//!
//! ```text
//! prediction -> truncate -> remove comments -\
//!                                             exact match, edit similarity, identifiers -> aggregate
//! truth ----------------> remove comments ---/
//! ```
//!
//! The original supports Python, Java, C# and TypeScript. The other languages end statements with the same characters as the last
//! three and use the same rule.

mod aggregate;
mod comments;
mod identifiers;
mod keywords;
mod truncate;

use std::borrow::Cow;

use syntax::Language;

use crate::similarity::Similarity;
use text::python;

pub use aggregate::{AggregateScore, aggregate};
pub use comments::remove_comments;
pub use identifiers::{IdentifierMatch, identifiers, match_identifiers};
pub(crate) use keywords::is_keyword;
pub use truncate::truncate;

/// The scores of one prediction.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct CcevalScore {
    /// Whether the non-blank lines are equal.
    pub exact_match: bool,
    /// Edit similarity by difflib, which the original's listed requirements install; 0 to 100, whole.
    pub similarity_difflib: f64,
    /// Edit similarity with python-Levenshtein installed, 0 to 100, whole.
    pub similarity_indel: f64,
    /// Agreement of the identifiers.
    pub identifiers: IdentifierMatch,
}

impl CcevalScore {
    /// Returns the edit similarity of the given variant, 0 to 100, whole.
    pub fn similarity(&self, similarity: Similarity) -> f64 {
        match similarity {
            Similarity::Difflib => self.similarity_difflib,
            Similarity::Indel => self.similarity_indel,
        }
    }
}

/// The texts that a score is computed from.
#[derive(Clone, Debug, PartialEq)]
pub struct ComparedTexts<'a> {
    language: Language,
    /// The prediction after truncation.
    pub truncated: &'a str,
    /// The truncated prediction without comments.
    pub prediction: Cow<'a, str>,
    /// The truth without comments.
    pub truth: Cow<'a, str>,
}

impl<'a> ComparedTexts<'a> {
    /// Returns the texts of `prediction`, which continues `prompt`.
    pub fn new(language: Language, prompt: &str, prediction: &'a str, truth: &'a str) -> ComparedTexts<'a> {
        ComparedTexts::truncated(language, truncate(language, prompt, prediction), truth)
    }

    /// Returns the texts of a prediction that is already truncated.
    pub fn truncated(language: Language, truncated: &'a str, truth: &'a str) -> ComparedTexts<'a> {
        let (prediction, truth) = (remove_comments(truncated), remove_comments(truth));
        ComparedTexts { language, truncated, prediction, truth }
    }

    /// Scores the prediction.
    pub fn score(&self) -> CcevalScore {
        let (prediction, truth) = (python::strip(&self.prediction), python::strip(&self.truth));
        let exact_match = exact_match(prediction, truth);
        if prediction == truth {
            let identifiers = identifiers::of_equal_texts(self.language, prediction);
            return CcevalScore {
                exact_match,
                similarity_difflib: 100.0,
                similarity_indel: 100.0,
                identifiers,
            };
        }
        CcevalScore {
            exact_match,
            similarity_difflib: Similarity::Difflib.percent(prediction, truth),
            similarity_indel: Similarity::Indel.percent(prediction, truth),
            identifiers: identifiers::of_texts(self.language, prediction, truth),
        }
    }
}

/// Scores `prediction` as CrossCodeEval does; `prompt` is the text the prediction continues.
pub fn score(language: Language, prompt: &str, prediction: &str, truth: &str) -> CcevalScore {
    ComparedTexts::new(language, prompt, prediction, truth).score()
}

/// Scores a prediction that is already truncated.
pub fn score_truncated(language: Language, truncated: &str, truth: &str) -> CcevalScore {
    ComparedTexts::truncated(language, truncated, truth).score()
}

/// Whether the two texts have the same non-blank lines, ignoring blanks at both ends of a line.
pub fn exact_match(prediction: &str, truth: &str) -> bool {
    lines(prediction).eq(lines(truth))
}

fn lines(text: &str) -> impl Iterator<Item = &str> {
    text.split('\n').map(python::strip).filter(|line| !line.is_empty())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn exact_match_ignores_surrounding_whitespace_and_blank_lines() {
        assert!(exact_match("", " \n\t\r\n"));
        assert!(exact_match("a\r\n\n  b\u{1f}", "a\nb"));
        assert!(!exact_match("a b", "a  b"));
        assert!(!exact_match("a\rb", "a\nb"), "a lone carriage return ends no line");
        assert!(!exact_match("ab", "a\nb"));
        assert!(!exact_match("e\u{301}", "é"));
    }

    #[test]
    fn truth_is_stripped_of_comments_but_not_truncated() {
        let texts = ComparedTexts::new(Language::Java, "x = ", "f(a); g(b);", "f(a); // g(b);");
        assert_eq!((texts.truncated, &*texts.truth), ("f(a);", "f(a); "));
        let score = texts.score();
        assert!(score.exact_match);
        assert_eq!(score.similarity(Similarity::Indel), 100.0);
        assert_eq!(score.identifiers.true_positives, 2);
        assert!(score.identifiers.exact);
    }

    #[test]
    fn equal_texts_score_as_texts_that_are_compared() {
        for text in ["f(a, 'b') + f(c)", "", "\"x\"", "return", "a a"] {
            let score = score_truncated(Language::Python, text, &format!(" {text} "));
            assert_eq!((score.similarity_difflib, score.similarity_indel), (100.0, 100.0));
            assert_eq!(score.identifiers, identifiers::of_texts(Language::Python, text, text), "{text}");
        }
    }
}
