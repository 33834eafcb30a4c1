//! Why places where a file could be cut are left out; each is counted by its reason.
//!
//! Most are refused because no engine could be shown to answer them rightly, however its answer is cut; the others because they would
//! measure something else than a completion at a cursor.

use std::collections::BTreeMap;
use std::fmt;

use cases::{Case, Variant};
use syntax::Language;
use text::is_invisible;

/// Why a place is not made a case.
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
    /// Without the truth, some choice of `#if` arms would have unbalanced brackets.
    AcrossArms,
    /// The hole begins or ends inside of an escape, a character reference or several characters that are seen as one.
    InsideSign,
    /// A fresh line behind a complete body would not be recognized as one of the body: behind a label, or in a body that is not indented.
    NotAligned,
    /// The statement of a name from another file ends in the middle of a line.
    MidLine,
    /// What uses a name from another file ends its line with the `{` of a type or literal.
    OpenBrace,
    /// Where the rest of the file is missing, hardly anything is before the cursor either.
    NoBeginning,
    /// Where the rest of the block is missing, nothing shows how much is asked for.
    UnclearEnd,
    /// A case from another file has the same text before and after the cursor.
    AskedElsewhere,
    /// Imports have had their share of the suite, and nothing else was left.
    ImportShare,
    /// The truth holds characters that are never inserted: control characters, marks of direction, characters without width.
    Invisible,
}

impl Obstacle {
    /// Name of the reason in JSON.
    pub fn name(self) -> &'static str {
        match self {
            Obstacle::InsideWord => "inside_word",
            Obstacle::NoEnd => "no_end",
            Obstacle::Repeated => "repeated",
            Obstacle::OtherIndentation => "other_indentation",
            Obstacle::AcrossArms => "across_arms",
            Obstacle::InsideSign => "inside_sign",
            Obstacle::NotAligned => "not_aligned",
            Obstacle::MidLine => "mid_line",
            Obstacle::OpenBrace => "open_brace",
            Obstacle::NoBeginning => "no_beginning",
            Obstacle::UnclearEnd => "unclear_end",
            Obstacle::AskedElsewhere => "asked_elsewhere",
            Obstacle::ImportShare => "import_share",
            Obstacle::Invisible => "invisible",
        }
    }
}

/// How many places were left out, by reason.
pub type LeftOut = BTreeMap<Obstacle, usize>;

impl fmt::Display for Obstacle {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Obstacle::InsideWord => "without its truth the cursor is inside a word",
            Obstacle::NoEnd => "nothing shows where its block ends",
            Obstacle::Repeated => "its truth is repeated after the cursor",
            Obstacle::OtherIndentation => "its truth alone is indented by tabs, or by blanks",
            Obstacle::AcrossArms => "it is a part of alternative #if arms",
            Obstacle::InsideSign => "it begins or ends inside an escape or a character",
            Obstacle::NotAligned => "a new line there would not belong to the body",
            Obstacle::MidLine => "its statement ends in the middle of a line",
            Obstacle::OpenBrace => "its line ends with the `{` of a type or literal",
            Obstacle::NoBeginning => "too little code before the cursor, and none after it",
            Obstacle::UnclearEnd => "nothing shows how much is asked for",
            Obstacle::AskedElsewhere => "another file has the same text around the cursor",
            Obstacle::ImportShare => "imports have had their share",
            Obstacle::Invisible => "its truth holds invisible characters",
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
        (Obstacle::Invisible, case.truth.contains(is_invisible)),
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
