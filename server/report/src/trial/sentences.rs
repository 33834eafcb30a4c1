//! The verdict of a trial in sentences.

use cases::LossReason;
use scoring::trial_scoreboard::{TrialClaim, TrialMetric, TrialPair};
use scoring::{Interval, TrialScoreboard};

use super::arm_name;
use crate::format;

/// Title of a scoreboard.
pub(super) fn title(board: &TrialScoreboard) -> String {
    let developers = match board.developers {
        0 | 1 => String::new(),
        developers => format!(", {}", format::count_of(developers, "developer")),
    };
    format!(
        "Trial: {} in {}{developers}, by {}",
        opportunities(board.opportunities),
        format::count_of(board.files, "file"),
        board.settings.metric.label()
    )
}

/// Returns the sentences of the verdict, the most important one first.
pub fn verdict_sentences(board: &TrialScoreboard) -> Vec<String> {
    let mut sentences = vec![match (board.winner, board.arms.len()) {
        (_, 0) => "No answers yet.".to_owned(),
        (_, 1) => format!("Only {} answered: there is nothing to compare.", arm_name(board, 0)),
        (Some(winner), 2) => format!("{} is better.", arm_name(board, winner)),
        (Some(winner), _) => format!("{} is better than every other arm.", arm_name(board, winner)),
        (None, _) => "No winner is proven.".to_owned(),
    }];
    sentences.extend(board.pairs.iter().map(|pair| verdict_sentence(board, pair)));
    sentences.extend(recommendation(board));
    sentences
}

/// Returns what a comparison proves: better, worse, equivalent, or not yet known.
pub fn verdict_sentence(board: &TrialScoreboard, pair: &TrialPair) -> String {
    let (arm, baseline) = (arm_name(board, pair.arm), arm_name(board, pair.baseline));
    let metric = board.settings.metric;
    let numbers = pair.value.map_or_else(String::new, |value| {
        let interval = pair.sequence.map_or_else(String::new, |it| format!(" [{}]", ends(metric, it)));
        format!(": {}{interval}{} {}", difference(metric, value), unit(metric), metric.label())
    });
    let size = format!(
        "{} in {}",
        opportunities(pair.cases),
        format::count_of(pair.files, if board.developers > 1 { "developer" } else { "file" })
    );
    match pair.claim {
        TrialClaim::Better => format!("{arm} is better than {baseline}{numbers}, {size}."),
        TrialClaim::Worse => format!("{arm} is worse than {baseline}{numbers}, {size}."),
        TrialClaim::Equivalent => format!(
            "{arm} and {baseline} are equivalent, within {}{}{numbers}, {size}.",
            plain(metric, board.settings.margin),
            unit(metric)
        ),
        TrialClaim::NotYetKnown => {
            format!(
                "Not yet known whether {arm} is better than {baseline}{numbers}, {size}{}.",
                missing(pair)
            )
        }
        TrialClaim::TooFewCases => {
            format!("Not yet known whether {arm} is better than {baseline}: only {size}.")
        }
        TrialClaim::TooFewFiles => format!(
            "Not yet known whether {arm} is better than {baseline}{numbers}: {size} prove nothing, whatever the answers."
        ),
        TrialClaim::NotRepresentative => format!(
            "Not known whether {arm} is better than {baseline}: suggestions were seen at {}, which no holdout could have hidden. Start the \
             trial with --holdout 0.2, or compare what the developer did.",
            opportunities(board.health.uncovered)
        ),
    }
}

fn missing(pair: &TrialPair) -> String {
    let Some(size) = pair.sample_size else { return String::new() };
    match (size.needed, size.more) {
        (Some(needed), Some(more)) if more > 0 => {
            format!("; about {more} more of {needed} would show a difference like this")
        }
        _ => String::new(),
    }
}

/// Returns which arm to use where.
fn recommendation(board: &TrialScoreboard) -> Option<String> {
    let found = board.recommendation.as_ref()?;
    let places: Vec<String> = found
        .exceptions
        .iter()
        .filter_map(|&(slice, arm)| {
            let slice = board.slices.get(slice)?;
            let kind = slice.block_kind.map_or_else(String::new, |kind| format!(" {kind}"));
            let language = format::on_one_line(&slice.language);
            Some(format!("{} for {language}{kind}", arm_name(board, arm)))
        })
        .collect();
    let metric = board.settings.metric;
    Some(format!(
        "Recommendation: {}, {} elsewhere: {} [{}]{} {} per opportunity.",
        places.join(", "),
        arm_name(board, found.elsewhere),
        difference(metric, found.gain),
        ends(metric, found.sequence),
        unit(metric),
        metric.label()
    ))
}

/// Returns the findings about the health of the trial.
pub(super) fn health(board: &TrialScoreboard) -> Vec<String> {
    let health = &board.health;
    let mut notes = Vec::new();
    for check in health.shares.iter().filter(|check| check.is_suspicious) {
        notes.push(format!(
            "Sample-ratio mismatch: {} was drawn {} times of {} instead of {:.0}: the assignment or the recording is broken.",
            format::on_one_line(&check.value),
            check.observed,
            check.units,
            check.expected
        ));
    }
    for arm in health.truths.iter().filter(|arm| arm.is_suspicious) {
        notes.push(format!(
            "Truths are lost at {} of {} at which {} was offered, unlike the others: its numbers may be biased.",
            arm.lost,
            opportunities(arm.opportunities),
            arm_name(board, arm.arm)
        ));
    }
    for change in &health.engine_changes {
        let day = format::on_one_line(&change.day);
        notes.push(format!(
            "The engine or settings of {} changed on {day}: start another trial.",
            arm_name(board, change.arm)
        ));
    }
    for drift in &health.drifts {
        let day = format::on_one_line(&drift.day);
        notes.push(format!(
            "The answers of {} to the same canary questions changed on {day}, although its settings did not: its server has changed.",
            arm_name(board, drift.arm)
        ));
    }
    if health.uncovered > 0 {
        notes.push(format!(
            "Suggestions were seen at {} that no holdout could have hidden: truths without exposure are no random sample.",
            opportunities(health.uncovered)
        ));
    }
    let left_out = health.left_out;
    let parts = [
        (left_out.other_author, "written by a program"),
        (left_out.unreadable, "without texts, or of an unknown language"),
        (left_out.pointed_at, "that the developer pointed at"),
        (left_out.without_holdout, "without a holdout decision"),
    ];
    for (count, reason) in parts.into_iter().filter(|(count, _)| *count > 0) {
        notes.push(format!("Not compared: {} {reason}.", opportunities(count)));
    }
    let lost: Vec<String> =
        health.lost.iter().map(|(reason, count): &(LossReason, usize)| format!("{count} {reason}")).collect();
    if !lost.is_empty() {
        notes.push(format!("Lost truths: {}.", lost.join(", ")));
    }
    notes
}

fn opportunities(count: usize) -> String {
    format::opportunities(count as u64)
}

fn unit(metric: TrialMetric) -> &'static str {
    if metric.is_share() { " points" } else { "" }
}

/// Formats a difference: percentage points of shares, others as they are.
pub(super) fn difference(metric: TrialMetric, value: f64) -> String {
    if metric.is_share() { format::signed_percent(value) } else { format!("{value:+.3}") }
}

fn plain(metric: TrialMetric, value: f64) -> String {
    if metric.is_share() { format::one_decimal(value * 100.0) } else { format!("{value:.3}") }
}

/// Formats the ends of an interval of differences.
pub(super) fn ends(metric: TrialMetric, interval: Interval) -> String {
    let Interval { low, high, .. } = interval;
    format!("{}, {}", difference(metric, low), difference(metric, high))
}
