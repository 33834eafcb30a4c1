//! Cases that no engine could be shown to answer rightly, whatever cuts its answers: they are left out, and counted.

use std::fmt;

use cases::{Case, Variant};
use syntax::Language;

/// Why a right answer to a case could not be told from a wrong one.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Obstacle {
    /// Without the truth, the text before and after the cursor is one word.
    InsideWord,
    /// Nothing follows that would show where an indented block of several statements ends.
    NoEnd,
    /// The truth is the text that follows: an engine may also have repeated that.
    Repeated,
    /// Only the truth is indented by tabs, or only the rest of the file is.
    OtherIndentation,
}

impl fmt::Display for Obstacle {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Obstacle::InsideWord => "without its truth the cursor is inside a word",
            Obstacle::NoEnd => "nothing shows where its block ends",
            Obstacle::Repeated => "its truth is repeated after the cursor",
            Obstacle::OtherIndentation => "its truth alone is indented by tabs, or by blanks",
        })
    }
}

/// What keeps a right answer to `case` from being shown, if anything does.
pub(crate) fn obstacle(case: &Case) -> Option<Obstacle> {
    let is_word = |c: char| c.is_alphanumeric() || c == '_';
    let is_indented =
        Language::from_name(&case.language).is_some_and(|language| !language.has_brace_blocks());
    let truth = case.truth.trim();
    let follows = case.suffix.trim_start();
    let checks = [
        (Obstacle::InsideWord, case.prefix.ends_with(is_word) && case.suffix.starts_with(is_word)),
        (
            Obstacle::NoEnd,
            is_indented
                && case.variant == Some(Variant::RestOfBlock)
                && follows.is_empty()
                && truth.contains('\n'),
        ),
        (
            Obstacle::Repeated,
            !truth.is_empty() && follows.starts_with(truth) && case.suffix.starts_with(['\r', '\n']),
        ),
        (Obstacle::OtherIndentation, is_indented_alone(case)),
    ];
    checks.into_iter().find_map(|(obstacle, is_there)| is_there.then_some(obstacle))
}

fn is_indented_alone(case: &Case) -> bool {
    let begins = |text: &str, blank: &str| text.split('\n').skip(1).any(|line| line.starts_with(blank));
    let around = |blank| begins(&case.prefix, blank) || begins(&case.suffix, blank);
    let only =
        |own, other| begins(&case.truth, own) && !begins(&case.truth, other) && !around(own) && around(other);
    only("\t", "  ") || only("  ", "\t")
}
