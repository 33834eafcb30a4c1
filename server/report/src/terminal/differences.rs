//! Engines against the first one.

use comfy_table::CellAlignment;

use super::columns::Numbers;
use super::{Style, sheet, titled};
use crate::format;
use crate::summary::{Difference, Section, Summary};

/// The table, if there is more than one engine.
pub(super) fn table(summary: &Summary, section: &Section, style: Style) -> Option<String> {
    if section.differences.is_empty() {
        return None;
    }
    let numbers = Numbers { engines: &summary.engines, alphabet: style.alphabet() };
    let header = ["engines", "metric", "n", "difference", "95 %", "better", "worse"];
    let rows = section.differences.iter().map(|difference| row(&numbers, difference));
    let mut table = sheet::plain(header.map(str::to_owned).to_vec(), rows);
    for (index, column) in table.column_iter_mut().enumerate() {
        column.set_cell_alignment(if index < 2 { CellAlignment::Left } else { CellAlignment::Right });
    }
    let mut lines = table.lines().map(|line| line.trim_end().to_owned());
    let header = lines.next().map(|line| style.dim(&line));
    let text = header.into_iter().chain(lines).collect::<Vec<_>>().join("\n");
    Some(titled("difference on the same cases", &text, style))
}

fn row(numbers: &Numbers<'_>, difference: &Difference) -> Vec<String> {
    let pair = format!("{} - {}", numbers.engine(difference.engine), numbers.engine(difference.baseline));
    vec![
        pair,
        difference.metric.replace('_', " "),
        difference.cases.to_string(),
        difference.value.map_or_else(|| numbers.alphabet.to().to_owned(), format::signed_percent),
        difference.interval.map_or_else(String::new, format::signed_interval),
        difference.better.to_string(),
        difference.worse.to_string(),
    ]
}
