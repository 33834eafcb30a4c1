//! The hunks of a changed file, and which of them are no new code: removed, reformatted or moved lines.

use std::collections::HashSet;
use std::ops::Range;

use imara_diff::{Algorithm, Diff, InternedInput};

use super::{FileChange, HistoryReason};

/// Share of a hunk's lines that the commit removed elsewhere, from which on the hunk is moved code.
const MOVED_SHARE: f64 = 0.8;
/// Minimum number of letters and digits of a line that can be recognized elsewhere.
const MIN_DISTINCTIVE: usize = 6;

/// A group of added lines, in the file with all earlier hunks applied and none of the later ones.
#[derive(Clone, Debug)]
pub(super) struct Hunk {
    /// The text of the file.
    pub(super) text: String,
    /// Range of the added lines in it; empty if the hunk only removes lines.
    pub(super) lines: Range<usize>,
    /// The lines that it replaces.
    pub(super) removed: String,
}

/// Why a hunk adds no new code.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum HunkReason {
    OnlyRemoves,
    Formatting,
    Moved,
}

impl From<HunkReason> for HistoryReason {
    fn from(reason: HunkReason) -> HistoryReason {
        match reason {
            HunkReason::OnlyRemoves => HistoryReason::OnlyRemoves,
            HunkReason::Formatting => HistoryReason::Formatting,
            HunkReason::Moved => HistoryReason::Moved,
        }
    }
}

/// Returns the hunks between two texts, from the top.
pub(super) fn hunks(before: &str, after: &str) -> Vec<Hunk> {
    let input = InternedInput::new(before, after);
    let mut diff = Diff::compute(Algorithm::Histogram, &input);
    diff.postprocess_lines(&input);
    let (old, new) = (line_starts(before), line_starts(after));
    let bytes =
        |starts: &[usize], lines: &Range<u32>| starts[lines.start as usize]..starts[lines.end as usize];
    let hunk = |hunk: imara_diff::Hunk| {
        let (removed, added) = (bytes(&old, &hunk.before), bytes(&new, &hunk.after));
        Hunk {
            text: [&after[..added.end], &before[removed.end..]].concat(),
            lines: added,
            removed: before[removed].to_owned(),
        }
    };
    diff.hunks().map(hunk).collect()
}

/// Returns the starts of all lines and the end of the text.
fn line_starts(text: &str) -> Vec<usize> {
    let mut starts = vec![0];
    starts.extend(text.split_inclusive('\n').scan(0, |end, line| {
        *end += line.len();
        Some(*end)
    }));
    starts
}

impl Hunk {
    /// Returns the added lines.
    pub(super) fn added(&self) -> &str {
        &self.text[self.lines.clone()]
    }

    /// Returns the line ends and blanks at the end of the added lines.
    pub(super) fn blanks_at_end(&self) -> &str {
        let added = self.added();
        &added[added.trim_end().len()..]
    }

    /// Returns the reason why the hunk adds no new code.
    pub(super) fn reason(&self, removed: &RemovedLines<'_>) -> Option<HunkReason> {
        if self.added().trim().is_empty() {
            Some(HunkReason::OnlyRemoves)
        } else if !self.removed.trim().is_empty()
            && without_layout(&self.removed) == without_layout(self.added())
        {
            Some(HunkReason::Formatting)
        } else {
            removed.contain(self.added()).then_some(HunkReason::Moved)
        }
    }
}

/// Returns the text without everything that formatters change: blanks, line ends, optional punctuation and the kind of quotes.
fn without_layout(text: &str) -> String {
    let is_layout = |c: char| c.is_whitespace() || matches!(c, ',' | ';' | '(' | ')' | '\\');
    text.chars().filter(|c| !is_layout(*c)).map(|c| if matches!(c, '\'' | '`') { '"' } else { c }).collect()
}

/// The lines that a commit removes, without their indentation.
pub(super) struct RemovedLines<'a>(HashSet<&'a str>);

impl<'a> RemovedLines<'a> {
    pub(super) fn of(files: &'a [FileChange]) -> RemovedLines<'a> {
        let mut removed = HashSet::new();
        for file in files {
            let Some(before) = &file.before else { continue };
            let kept: HashSet<&str> =
                file.after.as_deref().unwrap_or_default().lines().map(str::trim).collect();
            let lines = before.lines().map(str::trim);
            removed.extend(lines.filter(|line| is_distinctive(line) && !kept.contains(line)));
        }
        RemovedLines(removed)
    }

    /// Whether most of the added lines are among them.
    fn contain(&self, added: &str) -> bool {
        let lines = || added.lines().map(str::trim).filter(|line| is_distinctive(line));
        let (all, known) = (lines().count(), lines().filter(|line| self.0.contains(line)).count());
        all > 0 && known as f64 >= MOVED_SHARE * all as f64
    }
}

fn is_distinctive(line: &str) -> bool {
    line.chars().filter(|c| c.is_alphanumeric()).take(MIN_DISTINCTIVE).count() == MIN_DISTINCTIVE
}
