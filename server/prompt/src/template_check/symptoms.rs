//! Symptoms of a wrong prompt in an answer.

use super::special_token;

/// A symptom that no good answer has.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Symptom {
    /// A special token written as text.
    Tokens,
    /// A sentence for people.
    Prose,
    /// A fence of Markdown.
    Fence,
    /// A repetition of the text after the hole.
    SuffixAgain,
    /// A repetition of the text before the hole.
    PrefixAgain,
    /// The answer continues behind the end of the hole.
    GoesOn,
}

impl Symptom {
    /// All symptoms.
    pub const ALL: [Symptom; 6] = [
        Symptom::Tokens,
        Symptom::Prose,
        Symptom::Fence,
        Symptom::SuffixAgain,
        Symptom::PrefixAgain,
        Symptom::GoesOn,
    ];

    /// Returns a description for display: the answers ...
    pub fn name(self) -> &'static str {
        match self {
            Symptom::Tokens => "hold special tokens as text",
            Symptom::Prose => "are prose",
            Symptom::Fence => "have code fences",
            Symptom::SuffixAgain => "repeat the text after the hole",
            Symptom::PrefixAgain => "repeat the text before the hole",
            Symptom::GoesOn => "continue past the end of the hole",
        }
    }

    /// Returns whether it shows an answer for people.
    pub(super) fn is_talk(self) -> bool {
        matches!(self, Symptom::Prose | Symptom::Fence)
    }
}

/// Returns the symptoms of an answer to the hole between `prefix` and `suffix` that do not depend on the right answer. In code that a
/// developer wrote, each of them also occurs by chance.
pub fn symptoms_of(prefix: &str, suffix: &str, raw: &str) -> Vec<Symptom> {
    let repeats = |line: Option<&str>| line.is_some_and(|line| raw.contains(line));
    let checks = [
        (Symptom::Tokens, special_token(raw).is_some()),
        (Symptom::Prose, is_prose(raw)),
        (Symptom::Fence, raw.contains("```")),
        (Symptom::SuffixAgain, repeats(first_distinctive(suffix.lines()))),
        (Symptom::PrefixAgain, repeats(first_distinctive(prefix.lines().rev()))),
    ];
    checks.into_iter().filter(|(_, is_there)| *is_there).map(|(symptom, _)| symptom).collect()
}

/// Minimum length of a repeated line in characters; shorter ones repeat by chance.
const MIN_DISTINCTIVE_CHARACTERS: usize = 6;

fn first_distinctive<'a>(mut lines: impl Iterator<Item = &'a str>) -> Option<&'a str> {
    lines.find(|line| line.trim().len() >= MIN_DISTINCTIVE_CHARACTERS).map(str::trim)
}

/// Minimum number of words of a sentence; fewer are as likely a comment or a name.
const SENTENCE: usize = 5;

/// Returns whether the first line is a sentence: it begins like one and has no characters typical of code.
fn is_prose(raw: &str) -> bool {
    let line = raw.trim_start().lines().next().unwrap_or_default();
    line.starts_with(char::is_uppercase)
        && !line.contains(|c| "(){}[];=<>_+*#/|".contains(c))
        && line.split_whitespace().count() >= SENTENCE
}
