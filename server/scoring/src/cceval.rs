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

use syntax::Language;

use crate::similarity::Similarity;
use text::python;

pub use aggregate::{AggregateScore, aggregate};
pub use comments::remove_comments;
pub use identifiers::{IdentifierMatch, identifiers, match_identifiers};
pub(crate) use keywords::is_keyword;
pub use truncate::truncate;

/// The scores of one prediction and the texts they are computed from.
#[derive(Clone, Debug, PartialEq)]
pub struct CcevalScore {
    /// The prediction after truncation.
    pub truncated: String,
    /// The truncated prediction without comments.
    pub prediction: String,
    /// The truth without comments.
    pub truth: String,
    /// Whether the non-blank lines are equal.
    pub exact_match: bool,
    /// Edit similarity by difflib, which the original's listed requirements install; 0 to 100, whole.
    pub similarity_difflib: f64,
    /// Edit similarity with python-Levenshtein installed, 0 to 100, whole.
    pub similarity_indel: f64,
    /// Identifiers of the prediction, in order, with repeats.
    pub prediction_identifiers: Vec<String>,
    /// Identifiers of the truth, in order, with repeats.
    pub truth_identifiers: Vec<String>,
    /// Agreement of the two lists.
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

/// Scores `prediction` as CrossCodeEval does; `prompt` is the text the prediction continues.
pub fn score(language: Language, prompt: &str, prediction: &str, truth: &str) -> CcevalScore {
    score_truncated(language, truncate(language, prompt, prediction), truth)
}

/// Scores a prediction that is already truncated.
pub fn score_truncated(language: Language, truncated: &str, truth: &str) -> CcevalScore {
    let truncated = truncated.to_owned();
    let prediction = remove_comments(&truncated);
    let truth = remove_comments(truth);
    let prediction_identifiers = identifiers(language, &prediction);
    let truth_identifiers = identifiers(language, &truth);
    let similarity = |variant: Similarity| variant.percent(python::strip(&prediction), python::strip(&truth));
    CcevalScore {
        exact_match: exact_match(&prediction, &truth),
        similarity_difflib: similarity(Similarity::Difflib),
        similarity_indel: similarity(Similarity::Indel),
        identifiers: match_identifiers(&prediction_identifiers, &truth_identifiers),
        truncated,
        prediction,
        truth,
        prediction_identifiers,
        truth_identifiers,
    }
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
        let score = score(Language::Java, "x = ", "f(a); g(b);", "f(a); // g(b);");
        assert_eq!(score.truncated, "f(a);");
        assert_eq!(score.truth, "f(a); ");
        assert!(score.exact_match);
        assert_eq!(score.similarity(Similarity::Indel), 100.0);
        assert_eq!(score.truth_identifiers, ["f", "a"]);
        assert!(score.identifiers.exact);
    }
}
