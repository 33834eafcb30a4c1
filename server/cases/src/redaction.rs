//! Removes secrets from cases and predictions before they are stored.
//!
//! Adjacent texts are searched as one text, because the cursor may split a secret, and the text around an answer decides
//! whether part of it is a secret. A mask has the length of the secret, so ranges, positions and scores stay valid.

use std::borrow::Cow;
use std::cmp::Reverse;
use std::collections::{BTreeSet, HashMap, VecDeque};
use std::{iter, mem};

use secrets::{Finding, MASK, MaskedParts, find_secrets, is_distinctive, mask, redact, redact_between};

use crate::{Case, Opportunity, Prediction};

#[cfg(test)]
mod tests;

/// Tag of a case whose truth contained a secret, so that its score can be reported separately.
const REDACTED_TAG: &str = "redacted";

/// Masks all secrets in the texts of a case and updates its id. Returns the number of secrets.
///
/// Prefix, truth and suffix are searched as one text, because the cursor may be inside a secret. A key that was recognised in
/// one place is masked everywhere. Ranges and positions still refer to the original file.
pub fn redact_case(case: &mut Case) -> usize {
    let file = [&*case.prefix, &case.truth, &case.suffix].concat();
    let others: Vec<String> = case_texts_mut(case).into_iter().map(|text| text.clone()).collect();
    let texts: Vec<&str> = iter::once(&*file).chain(others.iter().map(|text| &**text)).collect();
    let findings: Vec<Vec<Finding>> = texts.iter().map(|text| find_secrets(text)).collect();
    let count = findings.iter().map(Vec::len).sum();
    if count == 0 {
        return 0;
    }
    let keys = keys(&texts, &findings);
    let redacted =
        texts.iter().zip(&findings).map(|(text, findings)| mask_keys(mask(text, findings), &keys)).collect();
    put_texts(case, redacted);
    count
}

/// Masks all secrets in an answer to `case`: the engine may have copied one from a file that is not in the case, or completed
/// one that begins in the case.
pub fn redact_prediction(prediction: &mut Prediction, case: &Case) {
    let (before, after) = (&case.prefix, &case.suffix);
    let is_same = prediction.raw == prediction.text;
    let MaskedParts { text, secrets: mut known, .. } = redact_between(before, &prediction.text, after);
    let raw = if is_same { text.clone() } else { redact_between(before, &prediction.raw, after).text };
    known.extend(
        find_secrets(&prediction.raw).into_iter().map(|finding| prediction.raw[finding.range].to_owned()),
    );
    known.retain(|secret| is_distinctive(secret));
    let names = prediction.spans.iter_mut().flat_map(|span| &mut span.renamed);
    let names =
        names.flat_map(|renamed| [&mut renamed.there, &mut renamed.here]).chain(&mut prediction.reason);
    for name in names {
        let masked = known.iter().fold(redact(name), |name, secret| {
            if name.contains(secret.as_str()) {
                name.replace(secret.as_str(), &mask_of(secret)).into()
            } else {
                name
            }
        });
        if let Cow::Owned(masked) = masked {
            *name = masked;
        }
    }
    (prediction.raw, prediction.text) = (raw, text);
}

/// Masks all secrets in the texts of an opportunity, and adds their number to the row. A row that is masked again stays the same.
///
/// Each answer and truth is searched between the document's two parts, as one text, because the cursor may be inside a secret; the
/// parts are then masked too. A key that was recognised in one place is masked everywhere. Masks keep all ranges valid.
pub fn redact_opportunity(row: &mut Opportunity) {
    let (prefix, suffix) = (row.cursor.prefix.clone(), row.cursor.suffix.clone());
    let whole = [&*prefix, &suffix].concat();
    let findings = find_secrets(&whole);
    let mut known: BTreeSet<String> =
        findings.iter().map(|finding| whole[finding.range.clone()].to_owned()).collect();
    let mut document = mask(&whole, &findings).into_bytes();
    let mut masked: HashMap<String, String> = HashMap::new();
    for text in row.texts_at_cursor_mut() {
        if !masked.contains_key(text) {
            let MaskedParts { before, text: middle, after, secrets } = redact_between(&prefix, text, &suffix);
            overlay(&mut document[prefix.len() - before.len()..], &before);
            overlay(&mut document[prefix.len()..], &after);
            known.extend(secrets);
            masked.insert(text.clone(), middle);
        }
        text.clone_from(&masked[text]);
    }
    let document = String::from_utf8(document).expect("masks replace whole characters");
    let (before, after) = document.split_at(prefix.len());
    (row.cursor.prefix, row.cursor.suffix) = (before.to_owned(), after.to_owned());
    for text in row.other_texts_mut() {
        known.extend(find_secrets(text).into_iter().map(|finding| text[finding.range].to_owned()));
        if let Cow::Owned(masked) = redact(text) {
            *text = masked;
        }
    }
    row.secrets = row.secrets.saturating_add(u32::try_from(known.len()).unwrap_or(u32::MAX));
    let keys: BTreeSet<(Reverse<usize>, &str)> = known
        .iter()
        .filter(|secret| is_distinctive(secret))
        .map(|secret| (Reverse(secret.len()), &**secret))
        .collect();
    let Opportunity { cursor, .. } = row;
    for text in [&mut cursor.prefix, &mut cursor.suffix] {
        *text = mask_keys(mem::take(text), &keys);
    }
    for text in row.texts_at_cursor_mut() {
        *text = mask_keys(mem::take(text), &keys);
    }
    for text in row.other_texts_mut() {
        *text = mask_keys(mem::take(text), &keys);
    }
}

/// Copies the masked bytes of `masked`, a masked copy of the first bytes of `text`, to `text`.
fn overlay(text: &mut [u8], masked: &str) {
    for (byte, &mask) in text.iter_mut().zip(masked.as_bytes()) {
        if mask == MASK as u8 {
            *byte = mask;
        }
    }
}

fn mask_of(secret: &str) -> String {
    MASK.to_string().repeat(secret.len())
}

/// Returns secrets so distinctive that every occurrence is the same secret; long ones first, because they may contain shorter
/// ones.
fn keys<'a>(texts: &[&'a str], findings: &[Vec<Finding>]) -> BTreeSet<(Reverse<usize>, &'a str)> {
    let found = texts
        .iter()
        .zip(findings)
        .flat_map(|(text, findings)| findings.iter().map(|finding| &text[finding.range.clone()]));
    found.filter(|secret| is_distinctive(secret)).map(|secret| (Reverse(secret.len()), secret)).collect()
}

/// Puts the file's parts and the context, in this order, back into the case; the lengths of the file's parts are unchanged.
fn put_texts(case: &mut Case, mut texts: VecDeque<String>) {
    if let Some(file) = texts.pop_front() {
        let (prefix, rest) = file.split_at(case.prefix.len());
        let (truth, suffix) = rest.split_at(case.truth.len());
        if truth != case.truth {
            case.tags.insert(REDACTED_TAG.to_owned(), "truth".to_owned());
        }
        (case.prefix, case.truth, case.suffix) = (prefix.to_owned(), truth.to_owned(), suffix.to_owned());
    }
    for (place, text) in case_texts_mut(case).into_iter().zip(texts) {
        *place = text;
    }
    case.id = case.compute_id();
}

/// Returns the texts of a case besides its file: those of the context, and those of the question of a task without a cursor.
fn case_texts_mut(case: &mut Case) -> Vec<&mut String> {
    let context = case.context.iter_mut().map(|item| &mut item.text);
    context.chain(case.function.iter_mut().flat_map(|question| question.texts_mut())).collect()
}

fn mask_keys(mut text: String, keys: &BTreeSet<(Reverse<usize>, &str)>) -> String {
    for (Reverse(length), key) in keys {
        if text.contains(key) {
            text = text.replace(key, &MASK.to_string().repeat(*length));
        }
    }
    text
}
