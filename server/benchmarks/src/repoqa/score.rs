//! Score of one answer: the function it is most similar to.

use std::borrow::Cow;

use syntax::Language;

use super::bleu::References;
use super::comments::remove_comments;
use super::sanitize::sanitized_answer;
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
    /// Both, in the order of pairs of scores.
    pub const ALL: [CommentMode; 2] = [CommentMode::Compare, CommentMode::Ignore];
}

/// The functions of a repository, prepared once for all answers about it.
#[derive(Debug)]
pub struct Needles {
    language: Language,
    names: Vec<String>,
    codes: Vec<String>,
    /// The code without comments.
    uncommented: Vec<String>,
    /// The code, and the code without comments.
    references: [References; 2],
}

/// Score of an answer in one treatment of comments.
#[derive(Clone, Debug, PartialEq)]
pub struct FindScore {
    /// The extracted code as it was compared.
    pub compared: String,
    /// The first needle with the highest similarity; none if all are 0.
    pub best: Option<usize>,
    /// BLEU-4 with that needle, from 0 to 1; 0 if there is none.
    pub similarity: f64,
    /// Whether the best needle has the name asked for.
    pub is_right: bool,
}

/// Scores of an answer.
#[derive(Clone, Debug, PartialEq)]
pub struct AnswerScores {
    /// The extracted code.
    pub code: String,
    /// Scores in the order of [`CommentMode::ALL`].
    pub scores: [FindScore; 2],
    /// Whether the program of the original reads other code from the answer than its description says.
    pub is_read_differently: bool,
}

impl FindScore {
    /// Whether the answer is right and at least this similar.
    pub fn passes(&self, threshold: f64) -> bool {
        self.is_right && self.similarity >= threshold
    }
}

impl Needles {
    /// Prepares the functions of a repository.
    pub fn new<'a>(language: Language, needles: impl IntoIterator<Item = Needle<'a>>) -> Needles {
        let (names, codes): (Vec<String>, Vec<String>) =
            needles.into_iter().map(|needle| (needle.name.to_owned(), needle.code.to_owned())).unzip();
        let uncommented: Vec<String> =
            codes.iter().map(|code| remove_comments(language, code).into_owned()).collect();
        let references =
            [&codes, &uncommented].map(|codes| References::new(codes.iter().map(String::as_str)));
        Needles { language, names, codes, uncommented, references }
    }

    /// Scores an answer to the question for the function `asked`; see [`super::sanitize()`] for the differences between the rules.
    pub fn score(&self, asked: &str, answer: &str, rules: ScoringRules) -> AnswerScores {
        let answer = sanitized_answer(self.language, answer, rules);
        let uncommented = self.without_comments(&answer.code).into_owned();
        let score = |mode: CommentMode, compared: String| {
            let best = self.references[mode as usize].best(&compared);
            FindScore {
                compared,
                best: best.map(|best| best.index),
                similarity: best.map_or(0.0, |best| best.similarity),
                is_right: best.is_some_and(|best| self.names[best.index] == asked),
            }
        };
        AnswerScores {
            scores: [
                score(CommentMode::Compare, answer.code.clone()),
                score(CommentMode::Ignore, uncommented),
            ],
            code: answer.code,
            is_read_differently: answer.is_read_differently,
        }
    }

    /// Returns BLEU-4 of code with each needle, in their order, from 0 to 1. A score needs the highest only.
    pub fn similarities(&self, mode: CommentMode, compared: &str) -> Vec<f64> {
        self.references[mode as usize].similarities(compared)
    }

    /// Returns the code of an answer without its comments. Most answers repeat a function, whose comments are removed already.
    fn without_comments<'c>(&'c self, code: &'c str) -> Cow<'c, str> {
        match self.codes.iter().position(|known| known == code) {
            Some(known) => Cow::Borrowed(&self.uncommented[known]),
            None => remove_comments(self.language, code),
        }
    }
}
