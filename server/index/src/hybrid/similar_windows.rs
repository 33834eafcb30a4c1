//! Code in other files that is similar to the text around the cursor.

use std::sync::Arc;

use super::HybridQuery;
use super::cursor_terms::CursorTerms;
use super::hit_collector::{HitCollector, HitReason, NumberedLine};
use crate::HitKind;
use crate::file_index::{CodeLine, FileIndex};
use crate::lexical_index::LexicalIndex;
use crate::window_search::WindowQuery;

/// Maximum windows.
const MAX_SHOWN: usize = 10;
/// Minimum lines of a shown window, if it has as many: a single line in the rest of a budget is useless.
const MIN_LINES: usize = 3;
/// A window of which this share is shown already is redundant.
const MAX_SHARED: f64 = 0.4;

/// A window and its similarity.
#[derive(Clone, Debug)]
pub(crate) struct SimilarWindow {
    pub(crate) file: Arc<FileIndex>,
    pub(crate) number: u32,
    pub(crate) score: f64,
}

/// Returns the windows most similar to the text around the cursor.
pub(crate) fn best_windows(
    index: &dyn LexicalIndex,
    around: &CursorTerms<'_>,
    limit: usize,
) -> Vec<SimilarWindow> {
    let mut terms: Vec<_> = around.weights.iter().map(|(&term, &weight)| (term, weight)).collect();
    terms.sort_unstable_by_key(|(term, _)| *term);
    index
        .search(&WindowQuery::new(&terms, limit))
        .into_iter()
        .map(|hit| SimilarWindow { file: Arc::clone(hit.file), number: hit.window, score: hit.score })
        .collect()
}

/// Shows windows, best first, without lines that are shown already.
pub(crate) fn show(question: &HybridQuery<'_>, shown: &mut HitCollector) {
    let mut count = 0;
    for window in &question.windows {
        if count == MAX_SHOWN || !shown.has_room() || question.searcher.is_cancelled() {
            break;
        }
        let lines = below_header(&window.file, window.number);
        let path = &window.file.file().path;
        let (covered, new): (Vec<&CodeLine>, Vec<&CodeLine>) =
            lines.iter().partition(|line| shown.covers(path, line.number));
        if covered.len() as f64 > MAX_SHARED * lines.len() as f64 {
            continue;
        }
        // A window begins anywhere in a file, so also with the brackets that end the code before it.
        let new: Vec<NumberedLine> = new
            .into_iter()
            .map(|line| (line.number, window.file.line_text(line).to_owned()))
            .skip_while(|(_, text)| !text.contains(char::is_alphanumeric))
            .collect();
        if question.is_known(&new) {
            continue;
        }
        let reason = "is about the same names".to_owned();
        let min_lines = new.len().min(MIN_LINES);
        let why = HitReason { kind: HitKind::Window, score: window.score, reason, about: None, min_lines };
        if shown.add(path, new, usize::MAX, why) {
            count += 1;
        }
    }
}

/// Returns the lines of a window without the file's header comments: licences match every file.
fn below_header(file: &FileIndex, window: u32) -> &[CodeLine] {
    let lines = file.window_lines(window);
    let end = syntax::header_comments_end(file.language(), file.text());
    &lines[lines.partition_point(|line| file.line_range(line).end as usize <= end)..]
}
