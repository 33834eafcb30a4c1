//! The hunks of a changed file.

use std::ops::Range;

use imara_diff::{Algorithm, Diff, InternedInput};

/// Added lines, in bytes.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct TypedHunk {
    /// Where they begin in the text after the commit, which is also their place while all earlier hunks are applied.
    pub(crate) start: usize,
    /// Length of the lines that they replace.
    pub(crate) removed: usize,
    /// The lines.
    pub(crate) added: Range<usize>,
}

/// Returns the hunks between two texts, from the top.
pub(crate) fn typed_hunks(before: &str, after: &str) -> Vec<TypedHunk> {
    let diff = Diff::compute(Algorithm::Histogram, &InternedInput::new(before, after));
    let (old, new) = (line_starts(before), line_starts(after));
    diff.hunks()
        .map(|hunk| {
            let added = new[hunk.after.start as usize]..new[hunk.after.end as usize];
            let removed = old[hunk.before.end as usize] - old[hunk.before.start as usize];
            TypedHunk { start: added.start, removed, added }
        })
        .collect()
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
