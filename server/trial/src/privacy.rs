//! Privacy: how much of the code a row keeps. Applied before anything is written.
//!
//! Secrets are masked at every level. `structure` renames identifiers and literals, `metrics` keeps numbers only. This module never adds
//! text to a row, and never raises a row's level.

use cases::{Opportunity, PrivacyLevel, redact_opportunity};

use crate::store::PlaceKey;

/// Reduces a row to a level. A row that already has a lower level keeps it.
pub fn apply(row: &mut Opportunity, level: PrivacyLevel, key: &PlaceKey) {
    if row.privacy != PrivacyLevel::Full {
        return;
    }
    redact_opportunity(row);
    match level {
        PrivacyLevel::Full => {}
        PrivacyLevel::Structure | PrivacyLevel::Metrics => keep_numbers(row, key),
    }
}

fn keep_numbers(row: &mut Opportunity, key: &PlaceKey) {
    row.privacy = PrivacyLevel::Metrics;
    row.cursor.path = key.hash(&row.cursor.path);
    for text in [&mut row.cursor.prefix, &mut row.cursor.suffix] {
        text.clear();
    }
    row.texts_at_cursor_mut().for_each(String::clear);
    row.context.clear();
    row.similar_functions.clear();
    for answer in &mut row.answers {
        answer.reason = None;
    }
    for truth in &mut row.truths {
        truth.deleted.clear();
        truth.deleted_before.clear();
        truth.provenance.clear();
    }
    row.commit = None;
}
