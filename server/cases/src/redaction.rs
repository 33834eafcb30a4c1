//! Cases and predictions without secrets, before they are stored.
//!
//! Texts that belong together are searched as one: a secret may be cut in two by the cursor, and what is before and after an answer
//! says whether it is one. Masks have the length of what they replace, so ranges, positions and scores keep their meaning.

use std::borrow::Cow;
use std::cmp::Reverse;
use std::collections::{BTreeSet, VecDeque};
use std::iter;

use secrets::{Finding, MASK, MaskedParts, find_secrets, is_distinctive, mask, redact, redact_between};

use crate::{Case, Prediction};

#[cfg(test)]
mod tests;

/// Marks a case whose truth held a secret, so that its score can be told from the others.
const REDACTED_TAG: &str = "redacted";

/// Replaces all secrets in what a case shows and asks, and gives it the id of its new texts. Returns how many were found.
///
/// Prefix, truth and suffix are searched as one text, since the cursor may stand within a secret. A key that was recognised in
/// one place is replaced in all others too. Ranges and positions go on to speak of the original file.
pub fn redact_case(case: &mut Case) -> usize {
    let file = [&*case.prefix, &case.truth, &case.suffix].concat();
    let texts: Vec<&str> = iter::once(&*file).chain(case.context.iter().map(|item| &*item.text)).collect();
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

/// Replaces all secrets in an answer to `case`: an engine may have copied one from a file that no case shows, or completed one whose
/// beginning is in the case.
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

fn mask_of(secret: &str) -> String {
    MASK.to_string().repeat(secret.len())
}

/// Secrets so distinctive that the same text elsewhere is the same secret; long ones first, as they may hold shorter ones.
fn keys<'a>(texts: &[&'a str], findings: &[Vec<Finding>]) -> BTreeSet<(Reverse<usize>, &'a str)> {
    let found = texts
        .iter()
        .zip(findings)
        .flat_map(|(text, findings)| findings.iter().map(|finding| &text[finding.range.clone()]));
    found.filter(|secret| is_distinctive(secret)).map(|secret| (Reverse(secret.len()), secret)).collect()
}

/// Puts back the file and the context, in this order; the file's parts have kept their lengths.
fn put_texts(case: &mut Case, mut texts: VecDeque<String>) {
    if let Some(file) = texts.pop_front() {
        let (prefix, rest) = file.split_at(case.prefix.len());
        let (truth, suffix) = rest.split_at(case.truth.len());
        if truth != case.truth {
            case.tags.insert(REDACTED_TAG.to_owned(), "truth".to_owned());
        }
        (case.prefix, case.truth, case.suffix) = (prefix.to_owned(), truth.to_owned(), suffix.to_owned());
    }
    for (item, text) in case.context.iter_mut().zip(texts) {
        item.text = text;
    }
    case.id = case.compute_id();
}

fn mask_keys(mut text: String, keys: &BTreeSet<(Reverse<usize>, &str)>) -> String {
    for (Reverse(length), key) in keys {
        if text.contains(key) {
            text = text.replace(key, &MASK.to_string().repeat(*length));
        }
    }
    text
}
