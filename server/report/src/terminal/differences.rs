//! Engines against the first one.

use comfy_table::CellAlignment;

use super::columns::Numbers;
use super::{Style, sheet, titled};
use crate::format;
use crate::summary::{Difference, Section};

/// One table per pair of engines.
pub(super) fn tables(numbers: &Numbers, section: &Section, style: Style) -> Vec<String> {
    let pairs = section.differences.chunk_by(|left, right| left.engine == right.engine);
    pairs.map(|pair| table(numbers, pair, style)).collect()
}

fn table(numbers: &Numbers, pair: &[Difference], style: Style) -> String {
    let header = ["metric", "n", "difference", "95 %", "better", "worse"];
    let rows = pair.iter().map(|difference| row(numbers, difference));
    let mut table = sheet::plain(header.map(str::to_owned).to_vec(), rows);
    for column in table.column_iter_mut().skip(1) {
        column.set_cell_alignment(CellAlignment::Right);
    }
    let mut lines = table.lines().map(|line| line.trim_end().to_owned());
    let header = lines.next().map(|line| style.dim(&line));
    let text = header.into_iter().chain(lines).collect::<Vec<_>>().join("\n");
    let names = pair.first().map(|first| {
        let [engine, baseline] = [first.engine, first.baseline].map(|index| numbers.engine(index));
        format!("{engine} - {baseline}, on the same cases")
    });
    titled(&names.unwrap_or_default(), &text, style)
}

fn row(numbers: &Numbers, difference: &Difference) -> Vec<String> {
    vec![
        difference.metric.replace('_', " "),
        difference.cases.to_string(),
        difference.value.map_or_else(|| numbers.alphabet.to().to_owned(), format::signed_percent),
        difference.interval.map_or_else(String::new, format::signed_interval),
        difference.better.to_string(),
        difference.worse.to_string(),
    ]
}
