//! Answers that contain the truth and a mistake.

use std::ops::RangeInclusive;

use syntax::Language;

use crate::mined_cases::MinedCase;

/// The mistake in an answer.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Flaw {
    /// It continues with the text after the truth in the file.
    RealSuffix,
    /// It continues with a new function.
    NewFunction,
    /// It closes a bracket that is closed after the cursor.
    DoubledBracket,
    /// It repeats the cursor's line up to the cursor.
    RepeatedLine,
    /// It is indented with tabs in a document with blanks, or vice versa.
    OtherIndentation,
    /// Its lines after the first are indented relative to the cursor's.
    Relative,
    /// It continues with two more statements at the same indentation.
    TwoMore,
}

pub(crate) const FLAWS: &[Flaw] = &[
    Flaw::RealSuffix,
    Flaw::NewFunction,
    Flaw::DoubledBracket,
    Flaw::RepeatedLine,
    Flaw::OtherIndentation,
    Flaw::Relative,
    Flaw::TwoMore,
];

/// Number of lines of the file after the truth.
const LINES_AFTER: usize = 12;

impl Flaw {
    pub(crate) fn name(self) -> &'static str {
        match self {
            Flaw::RealSuffix => "truth + the file's next lines",
            Flaw::NewFunction => "truth + a new function",
            Flaw::DoubledBracket => "truth + a closing bracket that follows",
            Flaw::RepeatedLine => "the cursor's line + truth",
            Flaw::OtherIndentation => "tabs for blanks, blanks for tabs",
            Flaw::Relative => "lines indented relative to the cursor's",
            Flaw::TwoMore => "truth + two more statements",
        }
    }

    /// Why the flawed answer to a case may be a right one, so that nothing of it must be cut or changed.
    pub(crate) fn undecided(self, mined: &MinedCase) -> Option<&'static str> {
        let is_beside_truth =
            self == Flaw::TwoMore || self == Flaw::NewFunction && mined.outer == mined.indentation();
        let adds_code = matches!(self, Flaw::TwoMore | Flaw::NewFunction);
        let is_indentation = matches!(self, Flaw::Relative | Flaw::OtherIndentation);
        let is_kept_as_it_is =
            || relative(&mined.case.truth, mined.indentation()).is_some_and(|answer| mined.allows(&answer));
        let reasons = [
            ("the block may go on with more of them", is_beside_truth && mined.is_rest_of_block()),
            ("something else has to follow the truth", adds_code && mined.is_head()),
            ("its lines are the content of a literal", is_indentation && mined.is_literal()),
            (
                "the document or the truth is indented in both ways",
                self == Flaw::OtherIndentation && mined.is_mixed(),
            ),
            (
                "it is unclear whether a level of the document has two or four blanks",
                self == Flaw::OtherIndentation && UNCLEAR_LEVELS.contains(&mined.share_at_odd_levels()),
            ),
            ("no line is indented less than it may be there", self == Flaw::Relative && is_kept_as_it_is()),
        ];
        reasons.into_iter().find_map(|(reason, holds)| holds.then_some(reason))
    }

    /// Returns the flawed answer to a case; `None` if the flaw does not apply or changes nothing.
    pub(crate) fn answer(self, mined: &MinedCase) -> Option<String> {
        let truth = &*mined.case.truth;
        if self == Flaw::TwoMore && truth.is_empty() {
            return None;
        }
        let answer = match self {
            Flaw::RealSuffix => {
                let lines: String = mined.rest.split_inclusive('\n').take(LINES_AFTER).collect();
                [truth, &lines].concat()
            }
            Flaw::NewFunction => {
                format!("{truth}\n\n{}", indented(new_function(mined.language), &mined.outer))
            }
            Flaw::DoubledBracket => {
                let suffix = &mined.case.suffix;
                let at = suffix.find(|c: char| !c.is_whitespace())?;
                suffix[at..].starts_with([')', ']', '}']).then(|| [truth, &suffix[..=at]].concat())?
            }
            Flaw::RepeatedLine => [mined.line().trim_start(), truth].concat(),
            Flaw::OtherIndentation => other_indentation(mined)?,
            Flaw::Relative => relative(truth, mined.indentation())?,
            Flaw::TwoMore => {
                let own = mined.indentation();
                let more = statements(mined.language).map(|statement| format!("\n{own}{statement}")).concat();
                [truth, &more].concat()
            }
        };
        (answer.trim_end() != truth).then_some(answer)
    }
}

fn new_function(language: Language) -> &'static str {
    match language {
        Language::Python => "def ghost_new(value):\n    return value + 1\n",
        Language::TypeScript | Language::Tsx | Language::JavaScript => {
            "function ghostNew(value) {\n    return value + 1;\n}\n"
        }
        Language::Java | Language::CSharp => "public int ghostNew(int value) {\n    return value + 1;\n}\n",
        Language::Rust => "fn ghost_new(value: u32) -> u32 {\n    value + 1\n}\n",
        Language::Go => "func ghostNew(value int) int {\n\treturn value + 1\n}\n",
        Language::C | Language::Cpp => "static int ghost_new(int value) {\n    return value + 1;\n}\n",
    }
}

fn statements(language: Language) -> [&'static str; 2] {
    match language {
        Language::Python | Language::Go => ["ghost_one(1)", "ghost_two(2)"],
        _ => ["ghost_one(1);", "ghost_two(2);"],
    }
}

fn indented(text: &str, by: &str) -> String {
    text.split_inclusive('\n')
        .map(|line| if line.trim().is_empty() { line.to_owned() } else { format!("{by}{line}") })
        .collect()
}

/// Columns of a tab in answers.
pub(crate) const TAB: usize = 4;
/// Shares of lines at odd levels of two blanks that occur both with levels of two and, by alignment, with levels of four.
const UNCLEAR_LEVELS: RangeInclusive<f64> = 0.05..=0.25;

/// The truth with a tab for each level of blanks, or four blanks for each tab, if its indentation is consistent.
fn other_indentation(mined: &MinedCase) -> Option<String> {
    let rewrite = |text: &str, with: &dyn Fn(&str) -> String| -> String {
        let mut lines = text.split_inclusive('\n');
        let first = lines.next().unwrap_or_default().to_owned();
        lines.fold(first, |written, line| {
            let code = line.trim_start_matches([' ', '\t']);
            written + &with(&line[..line.len() - code.len()]) + code
        })
    };
    let truth = &*mined.case.truth;
    let level = if mined.share_at_odd_levels() > *UNCLEAR_LEVELS.end() { 2 } else { TAB };
    let begins = |blank: char| truth.split('\n').skip(1).any(|line| line.starts_with(blank));
    match (begins(' '), begins('\t')) {
        (true, false) => Some(rewrite(truth, &|blanks| {
            format!("{}{}", "\t".repeat(blanks.len() / level), " ".repeat(blanks.len() % level))
        })),
        (false, true) => Some(rewrite(truth, &|blanks| blanks.replace('\t', "    "))),
        _ => None,
    }
}

/// The truth with its later lines indented less by the indentation of the cursor's line. `None` if a line is indented less than
/// that, which such an answer can't express.
fn relative(truth: &str, by: &str) -> Option<String> {
    let mut lines = truth.split_inclusive('\n');
    let first = lines.next().unwrap_or_default().to_owned();
    lines.try_fold(first, |written, line| match line.strip_prefix(by) {
        _ if line.trim().is_empty() => Some(written + line),
        rest => Some(written + rest?),
    })
}
