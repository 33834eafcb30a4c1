//! Finds near-duplicates of the open file: other versions of it, backups, generated twins.

use crate::file_index::{CodeLine, SegmentFile};
use crate::line_set::LineSet;
use crate::retrieve::RetrievalQuery;

/// Minimum share of a copy's lines that occur in the file. Files from the same template, which refer to each other's names,
/// share up to about four fifths.
const COPY_SHARE: f64 = 0.9;
/// The same for a sample, which may miss more than the whole.
const SAMPLE_SHARE: f64 = 0.7;
/// Sample size: this many lines, spread over a file, decide whether to compare all of them.
const SAMPLE: usize = 32;

/// The lines of the open file.
pub(crate) struct OpenFileLines<'a>(LineSet<'a>);

impl<'a> OpenFileLines<'a> {
    pub(crate) fn new(query: &RetrievalQuery<'a>) -> OpenFileLines<'a> {
        OpenFileLines(LineSet::of_texts([query.prefix, query.suffix]))
    }

    /// Whether nearly all of a file's lines occur in the open one. Comments and imports, which unlike files share, do not
    /// count.
    pub(crate) fn are_copied_by(&self, file: SegmentFile<'_>) -> bool {
        let lines = file.lines();
        let sample = || lines.iter().step_by(lines.len().div_ceil(SAMPLE).max(1));
        let OpenFileLines(own) = self;
        own.has_share_of(code_text(file, sample()), sample().len(), SAMPLE_SHARE)
            && own.has_share_of(code_text(file, lines.iter()), lines.len(), COPY_SHARE)
    }
}

/// Returns the texts of `lines` without comments and imports.
fn code_text<'f>(
    file: SegmentFile<'f>,
    lines: impl Iterator<Item = &'f CodeLine>,
) -> impl Iterator<Item = &'f str> {
    let imports = file.imports();
    let last_import = imports.iter().map(|import| import.line).max();
    let is_import = move |number| {
        last_import.is_some_and(|last| number <= last) && imports.iter().any(|import| import.line == number)
    };
    lines
        .filter(move |line| !is_import(line.number))
        .map(move |line| file.index.line_text(line))
        .filter(move |text| !file.language().is_comment_line(text))
}
