//! Tables of engines compared with the first one.

use super::columns::CellFormatter;
use super::text_table::TextTable;
use super::{Style, dim_note, with_title};
use crate::format;
use scoring::run_summary::{EngineDifference, ReportSection};

/// Returns one table per pair of engines.
pub(super) fn tables(numbers: &CellFormatter, section: &ReportSection, style: Style) -> Vec<String> {
    let pairs = section.differences.chunk_by(|left, right| left.engine == right.engine);
    let caption = format::differences_caption(section, style.alphabet());
    pairs.map(|pair| format!("{}\n{}", table(numbers, pair, style), dim_note(&caption, style))).collect()
}

const COLUMNS: [&str; 6] = ["metric", "n", "difference", "95 %", "better", "worse"];

fn table(numbers: &CellFormatter, pair: &[EngineDifference], style: Style) -> String {
    let rows = pair.iter().map(|difference| row(numbers, difference)).collect();
    let sheet = TextTable { header: &COLUMNS, words: 1, dispensable: &[], rows };
    let names = pair.first().map(|first| {
        let [engine, baseline] = [first.engine, first.baseline].map(|index| numbers.engine(index));
        format!("{engine} - {baseline}, on the same cases")
    });
    with_title(&names.unwrap_or_default(), &sheet.draw(style), style)
}

fn row(numbers: &CellFormatter, compared: &EngineDifference) -> Vec<String> {
    let difference = compared.difference;
    vec![
        format::metric_name(compared.metric),
        format::cases(compared.cases, difference.other_tree > 0, numbers.alphabet),
        difference.value.map_or_else(|| numbers.alphabet.range_dash().to_owned(), format::signed_percent),
        difference.interval.map_or_else(String::new, format::signed_interval),
        difference.better.to_string(),
        difference.worse.to_string(),
    ]
}
