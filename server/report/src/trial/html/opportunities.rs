//! The opportunities of the page: the truth with its provenance, and each arm's answer compared with it.

use cases::{ArmAnswer, Opportunity, PrivacyLevel, Provenance, Truth};
use scoring::TrialScoreboard;
use serde::Serialize;

use super::word_diff::{DiffPart, word_diff};
use crate::format::{escape_invisible, milliseconds, on_one_line};

/// Most opportunities of a page: it stays below a few megabytes.
const MOST_SHOWN: usize = 200;
/// Most characters of a text.
const MOST_CHARACTERS: usize = 4_000;
/// Characters of the line before the cursor.
const BEFORE: usize = 120;

/// One opportunity.
#[derive(Serialize)]
pub(super) struct OpportunityView {
    place: String,
    at: String,
    exposure: String,
    /// The line before the cursor.
    before: String,
    truth: Vec<TruthPart>,
    stage: String,
    answers: Vec<AnswerView>,
}

/// A part of a truth.
#[derive(Serialize)]
struct TruthPart {
    class: &'static str,
    title: &'static str,
    text: String,
}

/// An arm's answer.
#[derive(Serialize)]
struct AnswerView {
    arm: String,
    /// Number of its colour.
    color: usize,
    state: String,
    is_right: bool,
    parts: Vec<DiffPart>,
}

/// Returns the latest opportunities with texts, and the number of those left out.
pub(super) fn views(board: &TrialScoreboard, rows: &[Opportunity]) -> (Vec<OpportunityView>, usize) {
    let mut with_texts: Vec<(&Opportunity, &Truth)> = rows
        .iter()
        .filter(|row| row.privacy != PrivacyLevel::Metrics && !row.answers.is_empty())
        .filter_map(|row| Some((row, row.truth()?)))
        .collect();
    with_texts.sort_by(|left, right| right.0.opened_at.cmp(&left.0.opened_at));
    let omitted = with_texts.len().saturating_sub(MOST_SHOWN);
    with_texts.truncate(MOST_SHOWN);
    (with_texts.into_iter().map(|(row, truth)| view(board, row, truth)).collect(), omitted)
}

fn view(board: &TrialScoreboard, row: &Opportunity, truth: &Truth) -> OpportunityView {
    let line = row.cursor.prefix.rsplit('\n').next().unwrap_or_default();
    let skipped = line.chars().count().saturating_sub(BEFORE);
    let mut answers: Vec<&ArmAnswer> = row.answers.iter().take(board.arms.len().max(1)).collect();
    // The same order in all opportunities, whichever answered first.
    answers.sort_by_key(|answer| board.arms.iter().position(|arm| *arm == answer.arm));
    OpportunityView {
        place: format!("{}:{}", on_one_line(&row.cursor.path), u64::from(row.cursor.line) + 1),
        at: on_one_line(&row.opened_at),
        exposure: row.exposure.to_string(),
        before: escape_invisible(&line.chars().skip(skipped).collect::<String>()),
        truth: truth_parts(truth),
        stage: truth.stage.to_string(),
        answers: answers.into_iter().map(|answer| answer_view(board, answer, truth)).collect(),
    }
}

fn clipped(text: &str) -> &str {
    text.char_indices().nth(MOST_CHARACTERS).map_or(text, |(end, _)| &text[..end])
}

fn answer_view(board: &TrialScoreboard, answer: &ArmAnswer, truth: &Truth) -> AnswerView {
    let color = board.arms.iter().position(|arm| *arm == answer.arm).unwrap_or_default() % 9;
    let parts = word_diff(&escape_invisible(clipped(&truth.text)), &escape_invisible(clipped(&answer.text)));
    let late = if answer.cached { ", cached" } else { "" };
    AnswerView {
        arm: on_one_line(&answer.arm),
        color,
        state: format!("{}, {} ms{late}", answer.status, milliseconds(answer.ms.total)),
        is_right: answer.text == truth.text,
        parts,
    }
}

/// Cuts the truth by provenance. Ranges that do not fit the text are ignored.
fn truth_parts(truth: &Truth) -> Vec<TruthPart> {
    let text = clipped(&truth.text);
    let mut parts = Vec::new();
    let mut end = 0;
    for span in &truth.provenance {
        let Some(part) = text.get(span.range.clone()).filter(|_| span.range.start == end) else { break };
        end = span.range.end;
        parts.push(truth_part(span.provenance, part));
    }
    if let Some(rest) = text.get(end..).filter(|rest| !rest.is_empty()) {
        parts.push(TruthPart { class: "", title: "provenance unknown", text: escape_invisible(rest) });
    }
    parts
}

fn truth_part(provenance: Provenance, text: &str) -> TruthPart {
    let (class, title) = match provenance {
        Provenance::Typed => ("typed", "typed"),
        Provenance::Accepted => ("accepted", "accepted from a suggestion"),
        Provenance::Popup => ("popup", "completed by the popup menu"),
        Provenance::Pasted => ("pasted", "pasted"),
        Provenance::Undo => ("undo", "restored by undo or redo"),
        Provenance::Formatter => ("formatter", "written by a formatter"),
        Provenance::OtherProvider => ("program", "accepted from another provider"),
        Provenance::External => ("program", "changed on disk"),
        Provenance::Unobserved => ("pasted", "written between two requests"),
    };
    TruthPart { class, title, text: escape_invisible(text) }
}
