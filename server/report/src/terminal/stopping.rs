//! The table of stopping.

use super::columns::CellFormatter;
use super::text_table::TextTable;
use super::{Style, dim_note, with_title};
use crate::format;
use crate::stopping::{self, COUNTS, StoppingRow};
use scoring::run_summary::ReportSection;

/// Columns that are dropped first if there is no room: the sum of other columns, then the interval.
const DISPENSABLE: [usize; 3] = [2, 4, 9];

/// Returns two rows per engine and their meaning; `None` if no answer is right so far.
pub(super) fn table(numbers: &CellFormatter, section: &ReportSection, style: Style) -> Option<String> {
    let rows: Vec<Vec<String>> = stopping::rows(section).iter().map(|it| row(numbers, it)).collect();
    if rows.is_empty() {
        return None;
    }
    let header: Vec<&str> = std::iter::once("engine").chain(COUNTS).chain(["stopping", "95 %"]).collect();
    let sheet = TextTable { header: &header, words: 2, dispensable: &DISPENSABLE, rows };
    let caption = format!("{} {}", format::totals_caption(section, style.alphabet()), stopping::CAPTION);
    Some(with_title("stopping", &format!("{}\n{}", sheet.draw(style), dim_note(&caption, style)), style))
}

fn row(numbers: &CellFormatter, row: &StoppingRow<'_>) -> Vec<String> {
    let interval = row.stopping.and_then(|cell| cell.interval);
    let interval = interval.map_or_else(String::new, |interval| format::interval(interval, numbers.alphabet));
    let engine = std::iter::once(numbers.engine(row.engine));
    engine
        .chain(row.counts.clone())
        .chain([
            row.stopping.map_or_else(
                || numbers.alphabet.range_dash().to_owned(),
                |cell| cell.value.map_or_else(|| format::counts(cell), format::percent),
            ),
            interval,
        ])
        .collect()
}
