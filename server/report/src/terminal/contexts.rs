//! The table of effects of context in `cross_file`.

use cases::Metric;

use super::columns::CellFormatter;
use super::text_table::TextTable;
use super::{Style, dim_note, with_title};
use crate::format;
use scoring::run_summary::{ContextEffect, ReportSection};

const COLUMNS: [&str; 9] = ["with - without", "engine", "n", "exact", "95 %", "+/-", "edit", "95 %", "+/-"];
/// Columns that are dropped first if there is no room: the intervals, exact matches first.
const DISPENSABLE: [usize; 2] = [4, 7];

/// Returns a row per kind of context and engine in detailed tables.
pub(super) fn table(
    numbers: &CellFormatter,
    section: &ReportSection,
    is_shown: impl Fn(usize) -> bool,
    style: Style,
) -> Option<String> {
    let key = |effect: &ContextEffect| (effect.engine, effect.is_resolved, effect.variant);
    let rows: Vec<Vec<String>> = section
        .contexts
        .chunk_by(|left, right| key(left) == key(right))
        .filter(|effects| effects.iter().all(|effect| is_shown(effect.engine)))
        .filter_map(|effects| row(numbers, effects))
        .collect();
    if rows.is_empty() {
        return None;
    }
    let sheet = TextTable { header: &COLUMNS, words: 2, dispensable: &DISPENSABLE, rows };
    let title = "cross_file: effect of context, on the same holes";
    let note = format!(
        "+/-: holes in which it makes the answer better, and worse. {}",
        format::contexts_caption(section, style.alphabet())
    );
    let note = dim_note(&note, style);
    Some(with_title(title, &format!("{}\n{note}", sheet.draw(style)), style))
}

fn row(numbers: &CellFormatter, effects: &[ContextEffect]) -> Option<Vec<String>> {
    let of = |metric: Metric| effects.iter().find(|effect| effect.metric == metric);
    let (exact, edit) = of(Metric::ExactMatch).zip(of(Metric::EditSimilarity))?;
    let value = |effect: &ContextEffect| {
        effect
            .difference
            .value
            .map_or_else(|| numbers.alphabet.range_dash().to_owned(), format::signed_percent)
    };
    let interval =
        |effect: &ContextEffect| effect.difference.interval.map_or_else(String::new, format::signed_interval);
    let changed =
        |effect: &ContextEffect| format!("{}/{}", effect.difference.better, effect.difference.worse);
    Some(vec![
        format::effect_title(exact),
        numbers.engine(exact.engine),
        format::cases(exact.holes, exact.difference.other_tree > 0, numbers.alphabet),
        value(exact),
        interval(exact),
        changed(exact),
        value(edit),
        interval(edit),
        changed(edit),
    ])
}
