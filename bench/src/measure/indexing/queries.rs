//! Query times of the strategies at cursors spread over a folder.

use std::time::Duration;

use completion::WorkspaceIndex;
use index::{RetrievalQuery, Strategy, TokenBudget};
use syntax::SourceFile;

use super::time;
use crate::measure::figures::SortedTimes;

/// Number of cursors, one per file.
const CURSORS: usize = 600;
/// Warm-up queries per strategy.
const WARM_UP: usize = 20;

/// The strategies of the table.
pub(super) const STRATEGIES: [Strategy; 4] =
    [Strategy::Hybrid, Strategy::Symbols, Strategy::Functions, Strategy::Bm25Chunks];

/// The times of each strategy.
pub(super) fn measure(indexed: &WorkspaceIndex) -> [SortedTimes; 4] {
    STRATEGIES.map(|strategy| measure_strategy(indexed, strategy))
}

/// The times of one strategy.
pub(super) fn measure_strategy(indexed: &WorkspaceIndex, strategy: Strategy) -> SortedTimes {
    let files = indexed.files();
    let step = (files.len() / CURSORS).max(1);
    let files: Vec<&SourceFile> = files.iter().step_by(step).collect();
    for (number, file) in files.iter().enumerate().take(WARM_UP) {
        ask(indexed, strategy, file, number);
    }
    SortedTimes::new(
        files.iter().enumerate().map(|(number, file)| ask(indexed, strategy, file, number)).collect(),
    )
}

/// Queries in the middle of a line, further down from file to file.
fn ask(indexed: &WorkspaceIndex, strategy: Strategy, file: &SourceFile, number: usize) -> Duration {
    let share = number % 10;
    let start = file.text.floor_char_boundary(file.text.len() * (2 * share + 1) / 20);
    let line = file.text[start..].find('\n').map_or(start, |end| start + end + 1);
    let length = file.text[line..].find('\n').unwrap_or(file.text.len() - line);
    let (prefix, suffix) = file.text.split_at(file.text.floor_char_boundary(line + length / 2));
    let query = RetrievalQuery { path: &file.path, language: file.language, prefix, suffix, recent: &[] };
    let searcher = indexed.index().hide(&[]);
    time(|| searcher.retrieve(strategy, indexed.projects(), &query, TokenBudget { tokens: 512 })).0
}
