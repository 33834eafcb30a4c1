//! Replaces secrets in code before it is stored.
//!
//! A secret gives way to as many `x` as it has bytes. Quotes and line ends stay, and so does every offset, line and column; a
//! text that was redacted once stays as it is. Nothing tells which secret stood there, so equal secrets cannot be linked.

use std::borrow::Cow;
use std::cmp::Reverse;
use std::collections::{BTreeSet, VecDeque};
use std::iter;

use crate::{Case, Prediction};

mod rules;
#[cfg(test)]
mod tests;

pub use rules::{Finding, find_secrets};

/// What stands in place of every byte of a secret.
const MASK: char = 'x';

/// Marks a case whose truth held a secret, so that its score can be told from the others.
const REDACTED_TAG: &str = "redacted";

/// `text` without its secrets; borrowed when there are none.
pub fn redact(text: &str) -> Cow<'_, str> {
    match find_secrets(text).as_slice() {
        [] => Cow::Borrowed(text),
        findings => Cow::Owned(mask(text, findings)),
    }
}

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

/// Replaces all secrets in an answer: an engine may have copied one from a file that no case shows.
pub fn redact_prediction(prediction: &mut Prediction) {
    let names = prediction.spans.iter_mut().flat_map(|span| &mut span.renamed);
    let names = names.flat_map(|renamed| [&mut renamed.there, &mut renamed.here]);
    for text in [&mut prediction.raw, &mut prediction.text].into_iter().chain(names) {
        if let Cow::Owned(redacted) = redact(text) {
            *text = redacted;
        }
    }
}

/// Secrets so distinctive that the same text elsewhere is the same secret; long ones first, as they may hold shorter ones.
fn keys<'a>(texts: &[&'a str], findings: &[Vec<Finding>]) -> BTreeSet<(Reverse<usize>, &'a str)> {
    let found = texts
        .iter()
        .zip(findings)
        .flat_map(|(text, findings)| findings.iter().map(|finding| &text[finding.range.clone()]));
    found.filter(|secret| rules::is_random(secret)).map(|secret| (Reverse(secret.len()), secret)).collect()
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

/// Findings are in order and do not overlap.
fn mask(text: &str, findings: &[Finding]) -> String {
    let mut masked = String::with_capacity(text.len());
    for Finding { range, .. } in findings {
        masked.push_str(&text[masked.len()..range.start]);
        masked.extend(iter::repeat_n(MASK, range.len()));
    }
    masked.push_str(&text[masked.len()..]);
    masked
}

fn mask_keys(mut text: String, keys: &BTreeSet<(Reverse<usize>, &str)>) -> String {
    for (Reverse(length), key) in keys {
        if text.contains(key) {
            text = text.replace(key, &MASK.to_string().repeat(*length));
        }
    }
    text
}
