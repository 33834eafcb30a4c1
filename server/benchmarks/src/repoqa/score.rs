//! Score of one answer: the function it is most similar to.

use syntax::Language;

use super::bleu::Bleu;
use super::comments::remove_comments;
use super::sanitize::sanitize;
use crate::ScoringRules;

/// A function of the repository that an answer is compared with.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Needle<'a> {
    /// Its name, unique in the repository.
    pub name: &'a str,
    /// The whole lines that it occupies.
    pub code: &'a str,
}

/// Treatment of comments in a comparison.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum CommentMode {
    /// Comments count.
    Compare,
    /// Comments and docstrings are removed from the answer and the functions.
    Ignore,
}

impl CommentMode {
    fn compared(self, language: Language, code: &str) -> String {
        match self {
            CommentMode::Compare => code.to_owned(),
            CommentMode::Ignore => remove_comments(language, code),
        }
    }
}

/// A needle as it is compared; prepared once for all answers about a repository.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct PreparedNeedle {
    name: String,
    compared: String,
}

impl PreparedNeedle {
    /// Prepares a needle.
    pub fn new(language: Language, needle: Needle<'_>, comments: CommentMode) -> PreparedNeedle {
        PreparedNeedle { name: needle.name.to_owned(), compared: comments.compared(language, needle.code) }
    }
}

/// Score of an answer.
#[derive(Clone, Debug, PartialEq)]
pub struct FindScore {
    /// The extracted code.
    pub sanitized: String,
    /// The extracted code as it was compared.
    pub compared: String,
    /// BLEU-4 with each needle, in their order, from 0 to 1.
    pub similarities: Vec<f64>,
    /// The first needle with the highest similarity; none if all are 0.
    pub best: Option<usize>,
    /// Whether the best needle has the name asked for.
    pub is_right: bool,
}

impl FindScore {
    /// Returns the similarity to the best needle, from 0 to 1; 0 if there is none.
    pub fn best_similarity(&self) -> f64 {
        self.best.and_then(|best| self.similarities.get(best)).copied().unwrap_or(0.0)
    }

    /// Whether the answer is right and at least this similar.
    pub fn passes(&self, threshold: f64) -> bool {
        self.is_right && self.best_similarity() >= threshold
    }
}

/// Scores an answer to the question for the function `asked`; see [`sanitize`] for the differences between the rules.
pub fn score(
    language: Language,
    asked: &str,
    answer: &str,
    needles: &[PreparedNeedle],
    comments: CommentMode,
    rules: ScoringRules,
) -> FindScore {
    score_code(language, asked, sanitize(language, answer, rules), needles, comments)
}

/// Scores the code of an answer, as [`score`].
pub(crate) fn score_code(
    language: Language,
    asked: &str,
    sanitized: String,
    needles: &[PreparedNeedle],
    comments: CommentMode,
) -> FindScore {
    let compared = comments.compared(language, &sanitized);
    let bleu = Bleu::new(&compared);
    let similarities: Vec<f64> = needles.iter().map(|needle| bleu.similarity(&needle.compared)).collect();
    let mut best: Option<usize> = None;
    for (index, &similarity) in similarities.iter().enumerate() {
        if similarity > best.map_or(0.0, |best| similarities[best]) {
            best = Some(index);
        }
    }
    let is_right = best.is_some_and(|best| needles[best].name == asked);
    FindScore { sanitized, compared, similarities, best, is_right }
}
