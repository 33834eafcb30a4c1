//! What context adds in `cross_file`.

use comfy_table::CellAlignment;
use scoring::metric::{EDIT_SIMILARITY, EXACT_MATCH};

use super::columns::Numbers;
use super::{Style, sheet, titled};
use crate::format;
use crate::summary::{ContextEffect, Section};

/// A row per kind of context and engine that is shown in detail.
pub(super) fn table(
    numbers: &Numbers,
    section: &Section,
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
    let header = ["with - without", "engine", "n", "exact", "95 %", "edit", "95 %", "better", "worse"];
    let mut table = sheet::plain(header.map(str::to_owned).to_vec(), rows);
    for column in table.column_iter_mut().skip(2) {
        column.set_cell_alignment(CellAlignment::Right);
    }
    let mut lines = table.lines().map(|line| line.trim_end().to_owned());
    let header = lines.next().map(|line| style.dim(&line));
    let text = header.into_iter().chain(lines).collect::<Vec<_>>().join("\n");
    Some(titled("cross_file: what context adds, on the same holes", &text, style))
}

fn row(numbers: &Numbers, effects: &[ContextEffect]) -> Option<Vec<String>> {
    let of = |metric: &str| effects.iter().find(|effect| effect.metric == metric);
    let (exact, edit) = of(EXACT_MATCH).zip(of(EDIT_SIMILARITY))?;
    let value = |effect: &ContextEffect| {
        effect.value.map_or_else(|| numbers.alphabet.to().to_owned(), format::signed_percent)
    };
    let interval = |effect: &ContextEffect| effect.interval.map_or_else(String::new, format::signed_interval);
    Some(vec![
        format::effect_title(exact),
        numbers.engine(exact.engine),
        exact.holes.to_string(),
        value(exact),
        interval(exact),
        value(edit),
        interval(edit),
        exact.better.to_string(),
        exact.worse.to_string(),
    ])
}
