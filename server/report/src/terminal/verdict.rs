//! The verdict: the ranking in a line, a table of the engines, and the pairs that a reader needs first.

use scoring::Verdict;
use scoring::verdict::PairVerdict;

use super::columns::CellFormatter;
use super::text_table::TextTable;
use super::{Style, dim_note, with_title, wrapped};
use crate::format;
use crate::verdict_text;

/// Returns the parts of the verdict, from the most important one on.
pub(super) fn parts(numbers: &CellFormatter, verdict: &Verdict, style: Style) -> Vec<String> {
    if verdict.standings.is_empty() {
        return unranked(numbers, verdict, style).into_iter().collect();
    }
    let mut parts = vec![ranking(numbers, verdict, style)];
    parts.extend(pairs(numbers, "pairs, the second engine subtracted", &verdict.main_pairs(), style));
    let copies: Vec<&PairVerdict> = verdict.copies.iter().collect();
    parts.extend(pairs(numbers, "effect of copies of the truths in other files", &copies, style));
    parts
}

fn ranking(numbers: &CellFormatter, verdict: &Verdict, style: Style) -> String {
    let name = |engine| numbers.engine(engine);
    let table = verdict_text::ranking(verdict, numbers.alphabet, name);
    let header: Vec<&str> = table.header.iter().map(String::as_str).collect();
    let sheet = TextTable { header: &header, words: 2, dispensable: &table.dispensable, rows: table.rows };
    let mut lines = Vec::new();
    if let Some(groups) = verdict_text::groups(verdict, name) {
        lines.push(format!("  {}", wrapped(&groups, style.width.saturating_sub(2), "  ")));
        lines.push(dim_note(&verdict_text::groups_caption(verdict), style));
    }
    lines.extend(unranked(numbers, verdict, style));
    lines.push(sheet.draw(style));
    lines.push(dim_note(&verdict_text::ranking_caption(verdict, name), style));
    with_title(&verdict_text::title(verdict), &lines.join("\n"), style)
}

fn unranked(numbers: &CellFormatter, verdict: &Verdict, style: Style) -> Option<String> {
    verdict_text::unranked(verdict, |engine| numbers.engine(engine))
        .map(|text| wrapped(&text, style.width, ""))
}

/// Returns a line for each pair.
fn pairs(numbers: &CellFormatter, title: &str, pairs: &[&PairVerdict], style: Style) -> Option<String> {
    let lines: Vec<String> = pairs
        .iter()
        .map(|pair| {
            format!("  {}", wrapped(&pair_text(numbers, pair), style.width.saturating_sub(4), "    "))
        })
        .collect();
    (!lines.is_empty()).then(|| with_title(title, &lines.join("\n"), style))
}

fn pair_text(numbers: &CellFormatter, pair: &PairVerdict) -> String {
    let names = format!("{} - {}:", numbers.engine(pair.engine), numbers.engine(pair.baseline));
    let difference = pair.difference.value.map(|value| format!(" {} points", format::signed_percent(value)));
    let interval =
        pair.difference.interval.map(|interval| format!(" ({})", format::signed_interval(interval)));
    let p = verdict_text::p_value(pair).map(|p| format!(", {p};"));
    let counts = format!(
        " {} better, {} worse, {} equal of {};",
        pair.difference.better,
        pair.difference.worse,
        pair.ties,
        format::cases(pair.cases, pair.difference.other_tree > 0, numbers.alphabet),
    );
    let parts = [Some(names), difference, interval, p, Some(counts)].into_iter().flatten();
    format!("{} {}", parts.collect::<String>(), verdict_text::conclusion(pair))
}
