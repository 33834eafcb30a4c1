//! The tables of a trial.

use cases::Exposure;
use scoring::trial_scoreboard::{
    ArmNumbers, ArmOutcomes, ArmVotes, NetValue, PositionVotes, ScenarioNumbers, TrialClaim, TrialMetric,
    TrialPair, TrialSection, TruthQuality,
};
use scoring::{MetricCell, TrialScoreboard};

use super::sentences::{difference, ends};
use super::{TrialTable, arm_name};
use crate::format::{self, Alphabet};

/// Returns the tables with rows, the most important one first.
pub(super) fn tables(board: &TrialScoreboard, alphabet: Alphabet) -> Vec<TrialTable> {
    let none = alphabet.range_dash();
    let mut tables = vec![pairs(board, none)];
    tables.extend(board.sections.iter().map(|section| truths(board, section, none)));
    tables.extend([
        votes(board, none),
        outcomes(board, none),
        survival(board),
        requests(board, none),
        net_values(board, none),
        slices(board, none),
        quality(board, none),
        shares(board, none),
        lost_truths(board),
    ]);
    tables.retain(|table| !table.rows.is_empty());
    tables
}

/// Returns the words of a claim.
pub(super) fn claim(claim: TrialClaim) -> &'static str {
    match claim {
        TrialClaim::Better => "better",
        TrialClaim::Worse => "worse",
        TrialClaim::Equivalent => "equivalent",
        TrialClaim::NotYetKnown => "not yet known",
        TrialClaim::TooFewCases => "too few opportunities",
        TrialClaim::TooFewFiles => "too few files",
        TrialClaim::NotRepresentative => "no holdout",
    }
}

fn pairs(board: &TrialScoreboard, none: &str) -> TrialTable {
    let metric = board.settings.metric;
    let row = |pair: &TrialPair| {
        let size = pair.sample_size;
        let or_none = |text: Option<String>| text.unwrap_or_else(|| none.to_owned());
        vec![
            format!("{} - {}", arm_name(board, pair.arm), arm_name(board, pair.baseline)),
            claim(pair.claim).to_owned(),
            or_none(pair.value.map(|value| difference(metric, value))),
            or_none(pair.sequence.map(|it| ends(metric, it))),
            or_none(pair.fixed.map(|it| ends(metric, it))),
            format!("{}/{}/{}", pair.better, pair.worse, pair.ties),
            pair.cases.to_string(),
            pair.files.to_string(),
            or_none(size.and_then(|size| size.resolution).map(|it| format!("{} %", format::percent(it)))),
            or_none(size.and_then(|size| size.more).map(|more| more.to_string())),
        ]
    };
    TrialTable {
        title: "differences",
        caption: "At any time: holds at all moments of the trial together, corrected for all pairs; this interval decides. One look: the \
                  interval of a number of opportunities that was fixed in advance. N/N*: opportunities so far over those until which a \
                  difference like this is found in four of five trials.",
        header: vec![
            "arms",
            "verdict",
            "difference",
            "at any time",
            "one look",
            "won/lost/tied",
            "opportunities",
            "files",
            "N/N*",
            "more needed",
        ],
        words: 2,
        dispensable: &[4, 7, 5, 6],
        rows: board.pairs.iter().map(row).collect(),
    }
}

/// Columns of the tables of truths.
const COLUMNS: [TrialMetric; 7] = [
    TrialMetric::ExactMatch,
    TrialMetric::EditSimilarity,
    TrialMetric::IdentifierF1,
    TrialMetric::InTime,
    TrialMetric::ExactInTime,
    TrialMetric::Restraint,
    TrialMetric::TruthValue,
];

fn votes(board: &TrialScoreboard, none: &str) -> TrialTable {
    let share = |votes: PositionVotes| match votes.offered {
        0 => none.to_owned(),
        offered => format!(
            "{}/{offered} ({} %)",
            votes.chosen,
            format::percent(votes.chosen as f64 / offered as f64)
        ),
    };
    let row = |votes: &ArmVotes| {
        let all = PositionVotes {
            offered: votes.first.offered + votes.second.offered,
            chosen: votes.first.chosen + votes.second.chosen,
        };
        vec![arm_name(board, votes.arm), share(all), share(votes.first), share(votes.second)]
    };
    let mut rows: Vec<Vec<String>> = board.duel.iter().flat_map(|duel| &duel.arms).map(row).collect();
    rows.extend(
        board
            .duel
            .iter()
            .map(|duel| vec!["neither".to_owned(), duel.neither.to_string(), String::new(), String::new()]),
    );
    TrialTable {
        title: "votes",
        caption: "Duels with two different answers, of which the developer saw at least one. A position that wins more often than the other, \
                  for both arms, is a habit of the developer, not a quality of the answers.",
        header: vec!["arm", "chosen", "chosen when first", "chosen when second"],
        words: 1,
        dispensable: &[],
        rows,
    }
}

fn truths(board: &TrialScoreboard, section: &TrialSection, none: &str) -> TrialTable {
    let (title, caption) = match section.exposure {
        Exposure::None => (
            "unexposed truths",
            "The headline: nothing was seen before the truth was written. Weighted by 1 / probability.",
        ),
        Exposure::Shown => {
            ("truths after a suggestion was shown", "Apart: what was seen favours the arm that was shown.")
        }
        Exposure::Accepted => (
            "truths after a suggestion was accepted",
            "Apart: what was accepted favours the arm that was shown.",
        ),
    };
    let row = |group: &ScenarioNumbers, arm: &ArmNumbers| {
        let mut cells = vec![
            group.scenario.map_or_else(|| "all".to_owned(), |scenario| scenario.to_string()),
            arm_name(board, arm.arm),
            arm.opportunities.to_string(),
            arm.answered.to_string(),
        ];
        cells.extend(COLUMNS.iter().map(|metric| cell(*metric, arm.metrics.get(metric), none)));
        cells
    };
    let rows = section.scenarios.iter().flat_map(|group| group.arms.iter().map(move |arm| row(group, arm)));
    TrialTable {
        title,
        caption,
        header: vec![
            "scenario",
            "arm",
            "truths",
            "answered",
            "exact",
            "similarity",
            "F1",
            "in time",
            "exact in time",
            "restraint",
            "net value",
        ],
        words: 2,
        dispensable: &[6, 7, 5, 3],
        rows: rows.collect(),
    }
}

fn cell(metric: TrialMetric, cell: Option<&MetricCell>, none: &str) -> String {
    match cell {
        None => none.to_owned(),
        Some(cell) if metric.is_share() => format::share(cell),
        Some(MetricCell { value: Some(value), .. }) => format!("{value:+.3}"),
        Some(cell) => format::counts(cell),
    }
}

fn outcomes(board: &TrialScoreboard, none: &str) -> TrialTable {
    let offered = board.outcomes.iter().filter(|arm| arm.offered.opportunities > 0);
    let row = |arm: &ArmOutcomes| {
        let counts = arm.offered;
        let acceptance = counts.acceptance.map_or_else(
            || none.to_owned(),
            |share| {
                let accepted = counts.accepted + counts.partly_accepted;
                format!("{} % ({accepted}/{})", format::percent(share), counts.decided)
            },
        );
        let counted = [
            counts.opportunities,
            counts.shown,
            counts.accepted,
            counts.partly_accepted,
            counts.typed_through,
            counts.rejected,
            counts.ignored,
        ];
        let mut cells = vec![arm_name(board, arm.arm)];
        cells.extend(counted.map(|count| count.to_string()));
        let retained = arm.retained.and_then(|cell| cell.mean());
        cells.extend([acceptance, retained.map_or_else(|| none.to_owned(), |it| format!("{it:.2}"))]);
        cells
    };
    TrialTable {
        title: "what the developer did",
        caption: "Acceptance: accepted, as a whole or in part, over the suggestions that the developer decided about. Retained: accepted \
                  characters that survived, per opportunity.",
        header: vec![
            "arm",
            "opportunities",
            "shown",
            "accepted",
            "in part",
            "typed",
            "rejected",
            "ignored",
            "acceptance",
            "retained",
        ],
        words: 1,
        dispensable: &[4, 5, 6],
        rows: offered.map(row).collect(),
    }
}

fn survival(board: &TrialScoreboard) -> TrialTable {
    let rows = board.outcomes.iter().flat_map(|arm| {
        arm.survival.iter().map(move |row| {
            let mut cells = vec![arm_name(board, arm.arm), row.age.to_string()];
            cells.extend([row.kept, row.edited, row.moved, row.deleted].map(|count| count.to_string()));
            cells.push(format!("{}/{}", row.retained_chars, row.accepted_chars));
            cells
        })
    });
    TrialTable {
        title: "survival of accepted text",
        caption: "",
        header: vec!["arm", "after", "kept", "edited", "moved", "deleted", "characters"],
        words: 2,
        dispensable: &[],
        rows: rows.collect(),
    }
}

fn requests(board: &TrialScoreboard, none: &str) -> TrialTable {
    let row = |arm: &ArmOutcomes| {
        let times = arm.latency.map_or_else(
            || [none, none, none, none].map(str::to_owned),
            |latency| {
                let [p50, p90, p99] = [latency.p50, latency.p90, latency.p99].map(format::milliseconds);
                [p50, p90, p99, latency.timeouts.to_string()]
            },
        );
        let mut cells = vec![arm_name(board, arm.arm), arm.requests.to_string()];
        cells.extend(times);
        cells.extend([arm.failed, arm.silent, arm.gated, arm.cancelled].map(|count| count.to_string()));
        cells.push(if arm.cost > 0.0 { format::amount(arm.cost) } else { none.to_owned() });
        cells
    };
    TrialTable {
        title: "requests",
        caption: "Milliseconds until the answer was ready, without cached ones; a timeout counts as longest.",
        header: vec![
            "arm",
            "requests",
            "p50",
            "p90",
            "p99",
            "timeouts",
            "failed",
            "silent",
            "gated",
            "cancelled",
            "cost",
        ],
        words: 1,
        dispensable: &[10, 8, 7],
        rows: board.outcomes.iter().map(row).collect(),
    }
}

fn net_values(board: &TrialScoreboard, none: &str) -> TrialTable {
    let row = |arm: usize, basis: &str, value: NetValue| {
        let best = value.best.map_or_else(
            || [none, none, none].map(str::to_owned),
            |best| {
                [
                    format!("{:.2}", best.confidence),
                    format!("{:+.3}", best.value),
                    format!("{}/{}", best.remaining, best.suggestions),
                ]
            },
        );
        let mut cells = vec![arm_name(board, arm), basis.to_owned(), value.opportunities.to_string()];
        cells.push(format!("{:+.3}", value.value));
        cells.extend(best);
        cells
    };
    let rows = board.outcomes.iter().flat_map(|arm| {
        let values = [("observed", arm.observed_value), ("by truth", arm.truth_value)];
        values.into_iter().filter_map(move |(basis, value)| Some(row(arm.arm, basis, value?)))
    });
    TrialTable {
        title: "net value per opportunity",
        caption: "By truth: as if right answers were accepted and others rejected. Threshold: the confidence below which silence would have \
                  been best in this log; expect less of it on other opportunities.",
        header: vec!["arm", "basis", "opportunities", "value", "threshold", "value there", "suggestions"],
        words: 2,
        dispensable: &[6],
        rows: rows.collect(),
    }
}

fn slices(board: &TrialScoreboard, none: &str) -> TrialTable {
    let metric = board.settings.metric;
    let or_none = |text: Option<String>| text.unwrap_or_else(|| none.to_owned());
    let rows = board.slices.iter().map(|slice| {
        vec![
            format::on_one_line(&slice.language),
            slice.block_kind.map_or_else(|| none.to_owned(), |kind| kind.to_string()),
            format!("{} - {}", arm_name(board, slice.arm), arm_name(board, slice.baseline)),
            claim(slice.claim).to_owned(),
            or_none(slice.value.map(|value| difference(metric, value))),
            or_none(slice.shrunk.map(|value| difference(metric, value))),
            or_none(slice.sequence.map(|it| ends(metric, it))),
            slice.cases.to_string(),
            slice.files.to_string(),
        ]
    });
    TrialTable {
        title: "by language and block kind",
        caption: "Shrunk: the difference moved towards the mean of all slices, the less is known about the slice the farther. The interval \
                  holds at any time and for all slices together.",
        header: vec![
            "language",
            "block",
            "arms",
            "verdict",
            "difference",
            "shrunk",
            "at any time",
            "opportunities",
            "files",
        ],
        words: 4,
        dispensable: &[8, 7, 5, 4],
        rows: rows.collect(),
    }
}

fn quality(board: &TrialScoreboard, none: &str) -> TrialTable {
    let metric = board.settings.metric;
    let rows = board.truth_quality.iter().flat_map(|row| {
        let name = match row.quality {
            TruthQuality::Typed => "typed as a whole",
            TruthQuality::PartlyTyped => "pasted or formatted in part",
            TruthQuality::Reversed => "with undone edits",
            TruthQuality::Changed => "changed after an earlier stage",
        };
        row.arms.iter().map(move |(arm, of_arm)| {
            vec![
                name.to_owned(),
                arm_name(board, *arm),
                row.truths.to_string(),
                cell(metric, Some(of_arm), none),
            ]
        })
    });
    TrialTable {
        title: "quality of the unexposed truths",
        caption: "A truth can be in several rows. None is left out because of its quality.",
        header: vec!["truths", "arm", "number", "value"],
        words: 2,
        dispensable: &[],
        rows: rows.collect(),
    }
}

fn shares(board: &TrialScoreboard, none: &str) -> TrialTable {
    let rows = board.health.shares.iter().map(|check| {
        vec![
            check.kind.to_string(),
            format::on_one_line(&check.value),
            check.observed.to_string(),
            format::one_decimal(check.expected),
            check.units.to_string(),
            check.p.map_or_else(|| none.to_owned(), |p| format!("{p:.3}")),
        ]
    });
    TrialTable {
        title: "random decisions",
        caption: "A p-value of 0.001 or less is a sample-ratio mismatch.",
        header: vec!["decision", "result", "observed", "expected", "units", "p"],
        words: 2,
        dispensable: &[],
        rows: rows.collect(),
    }
}

fn lost_truths(board: &TrialScoreboard) -> TrialTable {
    let rows = board.health.truths.iter().map(|arm| {
        let counts = [arm.opportunities, arm.shown, arm.lost, arm.pending].map(|count| count.to_string());
        std::iter::once(arm_name(board, arm.arm)).chain(counts).collect()
    });
    TrialTable {
        title: "opportunities by offered arm",
        caption: "",
        header: vec!["arm", "opportunities", "shown", "truth lost", "no truth yet"],
        words: 1,
        dispensable: &[],
        rows: rows.collect(),
    }
}
