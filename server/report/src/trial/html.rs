//! Renders the scoreboard of a trial as one HTML file without scripts. Code gets into the page as escaped text.

mod opportunities;
mod plot;
mod word_diff;

use cases::Opportunity;
use scoring::TrialScoreboard;
use serde::Serialize;

use super::{arm_name, sentences, tables};
use crate::format::{self, Alphabet};
use crate::html::page::{Head, render};
use crate::html::plain_tables::PlainTable;
use opportunities::OpportunityView;
use plot::OverTime;

#[derive(Serialize)]
struct TrialPage {
    sentences: Vec<String>,
    pairs: Vec<PairView>,
    tables: Vec<PlainTable>,
    health: Vec<String>,
    has_problems: bool,
    opportunities: Vec<OpportunityView>,
    /// Opportunities with texts that the page leaves out.
    omitted: usize,
}

#[derive(Serialize)]
struct PairView {
    arm: String,
    baseline: String,
    class: &'static str,
    verdict: &'static str,
    /// Opportunities so far over those needed, in percent, at most 100; absent if unknown.
    resolution: Option<String>,
    resolution_text: String,
    over_time: Option<OverTime>,
}

/// Renders the page. `opportunities` are shown with their texts, the latest first, as far as they have some.
pub fn html(board: &TrialScoreboard, opportunities: &[Opportunity]) -> String {
    let (views, omitted) = opportunities::views(board, opportunities);
    let head = Head { kind: "trial", title: sentences::title(board), facts: facts(board), script: None };
    let page = TrialPage {
        sentences: sentences::verdict_sentences(board),
        pairs: pairs(board),
        tables: tables::tables(board, Alphabet::Unicode).into_iter().map(plain_table).collect(),
        health: sentences::health(board),
        has_problems: board.health.has_problems(),
        opportunities: views,
        omitted,
    };
    render("trial.html", &head, &page)
}

fn facts(board: &TrialScoreboard) -> Vec<(&'static str, String)> {
    let mut facts = vec![
        ("arms", (0..board.arms.len()).map(|arm| arm_name(board, arm)).collect::<Vec<_>>().join(", ")),
        ("margin", format!("{}", board.settings.margin)),
    ];
    if let Some((first, last)) = &board.period {
        facts.push(("from", format::on_one_line(first)));
        facts.push(("until", format::on_one_line(last)));
    }
    facts
}

fn pairs(board: &TrialScoreboard) -> Vec<PairView> {
    board
        .pairs
        .iter()
        .map(|pair| {
            let size = pair.sample_size;
            let resolution = size.and_then(|size| size.resolution);
            PairView {
                arm: arm_name(board, pair.arm),
                baseline: arm_name(board, pair.baseline),
                class: match pair.claim {
                    scoring::trial_scoreboard::TrialClaim::Better => "better",
                    scoring::trial_scoreboard::TrialClaim::Worse => "worse",
                    _ => "undecided",
                },
                verdict: tables::claim(pair.claim),
                resolution: resolution.map(|it| format!("{:.1}", (it * 100.0).clamp(0.0, 100.0))),
                resolution_text: match size.and_then(|size| size.needed) {
                    Some(needed) => format!("{} of about {needed} opportunities (N/N*)", pair.cases),
                    None => format!("{} opportunities; N* is unknown", pair.cases),
                },
                over_time: plot::over_time(pair, board.settings.metric),
            }
        })
        .collect()
}

fn plain_table(table: super::TrialTable) -> PlainTable {
    PlainTable::new(table.title, table.caption, &table.header, table.words, table.rows)
}
