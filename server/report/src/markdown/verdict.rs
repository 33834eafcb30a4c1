//! The verdict: the ranking in a line, a table of the engines, and the pairs that a reader needs first.

use cases::EngineIdentity;
use scoring::Verdict;
use scoring::verdict::PairVerdict;

use super::{UNICODE, difference_cell, escaped};
use crate::format;
use crate::verdict_text;

/// Returns the parts of the verdict on the engines, from the most important one on.
pub(super) fn parts(verdict: &Verdict, engines: &[EngineIdentity]) -> Vec<String> {
    let plain = |index: usize| engines.get(index).map_or_else(String::new, |engine| engine.name.clone());
    let name = &|index| escaped(&plain(index));
    let unranked = verdict_text::unranked(verdict, name);
    if verdict.standings.is_empty() {
        return unranked.into_iter().collect();
    }
    let mut parts = Vec::new();
    if let Some(groups) = verdict_text::groups(verdict, name) {
        let title = escaped(&verdict_text::title(verdict));
        parts.push(format!("**{title}: {groups}**"));
        parts.push(escaped(&verdict_text::groups_caption(verdict)));
    }
    parts.extend(unranked);
    parts.push(ranking(verdict, name));
    parts.push(escaped(&verdict_text::ranking_caption(verdict, plain)));
    let pairs: Vec<&PairVerdict> = verdict.main_pairs().into_iter().chain(&verdict.copies).collect();
    parts.extend((!pairs.is_empty()).then(|| pair_table(&pairs, name)));
    parts
}

fn ranking(verdict: &Verdict, name: &impl Fn(usize) -> String) -> String {
    let table = verdict_text::ranking(verdict, UNICODE, name);
    let numbers = "--:|".repeat(table.header.len() - 2);
    let row = |cells: &Vec<String>| format!("| {} |", cells.join(" | "));
    let mut lines = vec![row(&table.header), format!("|---|---|{numbers}")];
    lines.extend(table.rows.iter().map(row));
    lines.join("\n")
}

/// Renders a row for each pair.
pub(super) fn pair_table(pairs: &[&PairVerdict], name: &impl Fn(usize) -> String) -> String {
    let mut lines = vec![
        "| on the same cases | n | difference | p | better | worse | equal | verdict |".to_owned(),
        "|---|--:|--:|--:|--:|--:|--:|---|".to_owned(),
    ];
    let row = |pair: &&PairVerdict| {
        format!(
            "| {} - {} | {} | {} | {} | {} | {} | {} | {} |",
            name(pair.engine),
            name(pair.baseline),
            format::cases(pair.cases, pair.difference.other_tree > 0, UNICODE),
            difference_cell(&pair.difference),
            verdict_text::p_value(pair)
                .map_or_else(|| "–".to_owned(), |p| p.replace("p = ", "").replace("p <", "\\<")),
            pair.difference.better,
            pair.difference.worse,
            pair.ties,
            escaped(&verdict_text::conclusion(pair)),
        )
    };
    lines.extend(pairs.iter().map(row));
    lines.join("\n")
}
