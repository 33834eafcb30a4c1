//! Privacy: how much of the code a row keeps. Applied before anything is written.
//!
//! Secrets are masked at every level. `structure` renames identifiers and literals ([`code_mask`]), `metrics` keeps numbers only. This
//! module never adds text to a row, and never raises a row's level.

mod code_mask;
mod word_cipher;

use std::collections::HashMap;

use cases::{ArmAnswer, Finish, Metrics, Opportunity, PrivacyLevel, redact_opportunity};
use scoring::{AnswerOutcome, AnswerText, CaseScorer, RightFiles, ScoringInput};
use syntax::Language;

use self::code_mask::CodeMask;
use self::word_cipher::WordCipher;
use crate::store::PlaceKey;

/// Reduces a row to a level. A row that already has a lower level keeps it.
pub fn apply(row: &mut Opportunity, level: PrivacyLevel, key: &PlaceKey) {
    if row.privacy != PrivacyLevel::Full {
        return;
    }
    redact_opportunity(row);
    match level {
        PrivacyLevel::Full => {}
        PrivacyLevel::Structure => rename(row, key),
        PrivacyLevel::Metrics => keep_numbers(row, key),
    }
}

/// Renames identifiers and literals, the same in all texts of all rows of this machine.
fn rename(row: &mut Opportunity, key: &PlaceKey) {
    row.privacy = PrivacyLevel::Structure;
    let cipher = WordCipher::new(key.for_use("words"));
    let mask = CodeMask::new(&cipher, Language::from_name(&row.cursor.language));
    let (prefix, suffix) = (row.cursor.prefix.clone(), row.cursor.suffix.clone());
    row.cursor.prefix = mask.mask(&prefix, 0..prefix.len());
    let document = [&*prefix, &suffix].concat();
    row.cursor.suffix = mask.mask(&document, prefix.len()..document.len());
    let mut masked: HashMap<String, String> = HashMap::new();
    for text in row.texts_at_cursor_mut() {
        let written = masked.entry(text.clone()).or_insert_with(|| {
            let file = [&*prefix, text].concat();
            mask.mask(&file, prefix.len()..file.len())
        });
        text.clone_from(written);
    }
    for truth in &mut row.truths {
        let deleted_end = prefix.len() + truth.deleted.len();
        // Deleted text is a part of the document, and is masked as such if it is still found there.
        let is_next = document.get(prefix.len()..deleted_end) == Some(&*truth.deleted);
        truth.deleted = match is_next {
            true => mask.mask(&document, prefix.len()..deleted_end),
            false => mask.mask(&truth.deleted, 0..truth.deleted.len()),
        };
        let before_start = prefix.len().saturating_sub(truth.deleted_before.len());
        truth.deleted_before = match prefix.get(before_start..) == Some(&*truth.deleted_before) {
            true => mask.mask(&prefix, before_start..prefix.len()),
            false => mask.mask(&truth.deleted_before, 0..truth.deleted_before.len()),
        };
    }
    for item in row.context.iter_mut().chain(&mut row.similar_functions) {
        item.text =
            CodeMask::new(&cipher, Language::from_path(&item.path)).mask(&item.text, 0..item.text.len());
        item.path = key.hash(&item.path);
    }
    row.answers.iter_mut().for_each(|answer| answer.reason = None);
    row.cursor.path = key.hash(&row.cursor.path);
}

/// Removes all texts. The metrics of the answers are computed before, because nothing is left to compute them from.
fn keep_numbers(row: &mut Opportunity, key: &PlaceKey) {
    let metrics = answer_metrics(row);
    row.privacy = PrivacyLevel::Metrics;
    row.cursor.path = key.hash(&row.cursor.path);
    for text in [&mut row.cursor.prefix, &mut row.cursor.suffix] {
        text.clear();
    }
    row.texts_at_cursor_mut().for_each(String::clear);
    row.context.clear();
    row.similar_functions.clear();
    for (answer, metrics) in row.answers.iter_mut().zip(metrics) {
        answer.reason = None;
        answer.metrics = metrics;
    }
    for truth in &mut row.truths {
        truth.deleted.clear();
        truth.deleted_before.clear();
        truth.provenance.clear();
    }
    row.commit = None;
}

/// Returns the metrics of each answer; none before there is a truth, and none in a language that is not supported. Rows without texts
/// keep them.
pub fn answer_metrics(row: &Opportunity) -> Vec<Metrics> {
    if row.privacy == PrivacyLevel::Metrics {
        return row.answers.iter().map(|answer| answer.metrics.clone()).collect();
    }
    let none = || vec![Metrics::new(); row.answers.len()];
    let Some(case) = row.to_case().filter(|case| Language::from_name(&case.language).is_some()) else {
        return none();
    };
    let files = RightFiles::default();
    let scorer = CaseScorer::new(ScoringInput::from(&case), &files);
    let score = |answer: &ArmAnswer| {
        let (text, raw) = (&*answer.text, &*answer.raw);
        let has_ended = answer.finish == Finish::Stop;
        let outcome = match answer.has_failed() {
            true => AnswerOutcome::Failed,
            false => AnswerOutcome::InTime(AnswerText { text, raw, has_ended }),
        };
        scorer.score_response(outcome)
    };
    row.answers.iter().map(score).collect()
}

#[cfg(test)]
mod tests;
