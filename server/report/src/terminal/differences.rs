//! Engines against the first one.

use super::columns::Numbers;
use super::sheet::Sheet;
use super::{Style, faint, titled};
use crate::format;
use crate::summary::{Difference, Section};

/// One table per pair of engines.
pub(super) fn tables(numbers: &Numbers, section: &Section, style: Style) -> Vec<String> {
    let pairs = section.differences.chunk_by(|left, right| left.engine == right.engine);
    let caption = format::differences_caption(section, style.alphabet());
    pairs.map(|pair| format!("{}\n{}", table(numbers, pair, style), faint(&caption, style))).collect()
}

const COLUMNS: [&str; 6] = ["metric", "n", "difference", "95 %", "better", "worse"];

fn table(numbers: &Numbers, pair: &[Difference], style: Style) -> String {
    let rows = pair.iter().map(|difference| row(numbers, difference)).collect();
    let sheet = Sheet { header: &COLUMNS, words: 1, dispensable: &[], rows };
    let names = pair.first().map(|first| {
        let [engine, baseline] = [first.engine, first.baseline].map(|index| numbers.engine(index));
        format!("{engine} - {baseline}, on the same cases")
    });
    titled(&names.unwrap_or_default(), &sheet.draw(style), style)
}

fn row(numbers: &Numbers, difference: &Difference) -> Vec<String> {
    vec![
        difference.metric.replace('_', " "),
        format::cases(difference.cases, difference.other_tree > 0, numbers.alphabet),
        difference.value.map_or_else(|| numbers.alphabet.to().to_owned(), format::signed_percent),
        difference.interval.map_or_else(String::new, format::signed_interval),
        difference.better.to_string(),
        difference.worse.to_string(),
    ]
}
