//! Code in other files that is similar to the text around the cursor.

use std::sync::Arc;

use super::HybridQuery;
use super::hit_collector::{HitCollector, HitReason, NumberedLine};
use crate::HitKind;
use crate::file_index::{CodeLine, FileIndex};
use crate::lexical_index::LexicalIndex;
use crate::near_duplicate_files::OpenFileLines;
use crate::searcher::Searcher;
use crate::side_task::SideTask;
use crate::terms::Term;
use crate::window_search::{WindowHit, WindowQuery};

/// Number of windows whose names make a definition likelier.
const WINDOWS: usize = 40;
/// Maximum repetitions of the search after near-duplicate files were excluded. Remaining ones only take up room.
const MAX_ROUNDS: usize = 4;
/// Maximum windows that are shown.
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

/// The search for the windows that are most similar to the text around a cursor. It begins on another thread.
pub(crate) struct WindowSearch<'a> {
    searcher: &'a Searcher,
    /// In order, with their weights.
    terms: Arc<[(Term, f32)]>,
    first: SideTask<Vec<SimilarWindow>>,
}

/// The windows, best first.
pub(crate) struct FoundWindows {
    pub(crate) windows: Vec<SimilarWindow>,
    /// The other files, if some are near-duplicates of the open file.
    pub(crate) without_copies: Option<Searcher>,
}

impl<'a> WindowSearch<'a> {
    /// Begins to search for `terms`, in order and with their weights.
    pub(crate) fn start(searcher: &'a Searcher, terms: Vec<(Term, f32)>) -> WindowSearch<'a> {
        let terms: Arc<[(Term, f32)]> = terms.into();
        let (all, shared) = (searcher.clone(), Arc::clone(&terms));
        let first = SideTask::start(move || best_windows(&all, &shared));
        WindowSearch { searcher, terms, first }
    }

    /// Excludes near-duplicates of the open file, whose lines are `own`: they match best everywhere, and contain nothing new. They are found
    /// by their windows, which rank first. Returns the remaining windows.
    pub(crate) fn finish(self, own: &OpenFileLines<'_>) -> FoundWindows {
        let mut found = FoundWindows { windows: self.first.finish(), without_copies: None };
        for _ in 0..MAX_ROUNDS {
            let others = found.without_copies.as_ref().unwrap_or(self.searcher);
            if others.is_cancelled() {
                break;
            }
            let mut paths: Vec<&str> = found.windows.iter().map(|window| window.file.path()).collect();
            paths.sort_unstable();
            paths.dedup();
            let is_copy = |path: &&str| others.file(path).is_some_and(|file| own.are_copied_by(file));
            let copies: Vec<&str> = paths.into_iter().filter(is_copy).collect();
            if copies.is_empty() {
                break;
            }
            let others = others.hide(&copies);
            found =
                FoundWindows { windows: best_windows(&others, &self.terms), without_copies: Some(others) };
        }
        found
    }
}

fn best_windows(index: &dyn LexicalIndex, terms: &[(Term, f32)]) -> Vec<SimilarWindow> {
    let hits = index.search(&WindowQuery::new(terms, WINDOWS));
    let window = |hit: WindowHit<'_>| SimilarWindow {
        file: Arc::clone(hit.file),
        number: hit.window,
        score: hit.score,
    };
    hits.into_iter().map(window).collect()
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
