//! Finds secrets in code and masks them.
//!
//! Each byte of a secret is replaced with `x`. Quotes and line ends stay, so that offsets, lines and columns do not change; a
//! redacted text stays the same if it is redacted again. Equal secrets cannot be linked. Pure: no IO, no clock.
//!
//! There are three sources: [`gitleaks`] knows the tokens of services, [`token_patterns`] a few token formats that may be truncated or
//! must keep their layout, and [`named_values`] reads code. [`classify_value`] decides whether a value can be a secret.
#![deny(clippy::disallowed_methods)]

mod classify_value;
mod entropy;
mod gitleaks;
mod named_values;
mod token_patterns;

use std::borrow::Cow;
use std::cmp::Reverse;
use std::ops::Range;

/// Replacement of every byte of a secret.
pub const MASK: char = 'x';

/// Size of the code around a text that is searched with it, bytes: the hint that something is a secret is in the same statement,
/// or in the lines of a private key.
const AROUND: usize = 8 << 10;

/// Limit of searches per text. The search is repeated on the masked text because the rest may look like a secret then. It normally
/// ends earlier.
const MAX_ROUNDS: usize = 8;

/// A secret in a text.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Finding {
    /// Name of the rule that found it.
    pub rule: &'static str,
    /// Its bytes in the text.
    pub range: Range<usize>,
}

/// Returns all secrets in `text`, in order and without overlap. Masking them leaves none.
pub fn find_secrets(text: &str) -> Vec<Finding> {
    let mut findings = find_once(text);
    for _ in 1..MAX_ROUNDS {
        if findings.is_empty() {
            break;
        }
        let more = find_once(&mask(text, &findings));
        if more.is_empty() {
            break;
        }
        findings.extend(more);
        findings = merge(findings);
    }
    findings
}

fn find_once(text: &str) -> Vec<Finding> {
    let mut findings = Vec::new();
    let mut found = |rule, range: Range<usize>| {
        let range = text.floor_char_boundary(range.start)..text.ceil_char_boundary(range.end);
        let secret = text[range.clone()].trim_matches(['"', '\'', '`', '\n', '\r', ' ', '\t']);
        let start = range.start + text[range].find(secret).unwrap_or_default();
        if !secret.chars().all(|character| character == MASK || character.is_whitespace()) {
            findings.push(Finding { rule, range: start..start + secret.len() });
        }
    };
    token_patterns::find(text, &mut found);
    gitleaks::rules().find(text, |rule, range| {
        if rule != gitleaks::GENERIC || is_literal(text, &range) {
            found(rule, range);
        }
    });
    named_values::find(text, &mut found);
    merge(findings)
}

/// Whether a value is a literal, not an expression: it is quoted, and as random as a key.
fn is_literal(text: &str, range: &Range<usize>) -> bool {
    let before = text[..text.floor_char_boundary(range.start)].chars().next_back();
    let is_quoted = before.is_some_and(|before| ['"', '\'', '`'].contains(&before));
    let Some(value) = text.get(range.clone()) else { return false };
    is_quoted && classify_value::is_key(value) && !named_values::is_about_secret(text, range.start)
}

/// Returns `text` with its secrets masked; borrowed if there are none.
pub fn redact(text: &str) -> Cow<'_, str> {
    match find_secrets(text).as_slice() {
        [] => Cow::Borrowed(text),
        findings => Cow::Owned(mask(text, findings)),
    }
}

/// Three neighbouring texts with their secrets masked, including secrets that extend over more than one of them.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct MaskedParts {
    /// The end of the text before that was searched, at most 8 KiB.
    pub before: String,
    /// The whole text in the middle.
    pub text: String,
    /// The beginning of the text after that was searched, at most 8 KiB.
    pub after: String,
    /// The full text of the secrets that overlap the middle text.
    pub secrets: Vec<String>,
}

/// Masks the secrets in `text`, which is between two other texts.
///
/// The neighbours can make it a secret: `password = "` before an answer, or the other half of a token. With an empty `text`,
/// `secrets` contains the secrets that the cursor splits.
pub fn redact_between(before: &str, text: &str, after: &str) -> MaskedParts {
    let before = &before[before.ceil_char_boundary(before.len().saturating_sub(AROUND))..];
    let after = &after[..after.floor_char_boundary(AROUND)];
    let whole = [before, text, after].concat();
    let range = before.len()..before.len() + text.len();
    let mut findings = find_secrets(&whole);
    // Masks begin and end at character boundaries, and so do the parts.
    let masked = mask(&whole, &findings);
    findings.retain(|finding| finding.range.start < range.end && range.start < finding.range.end);
    let secrets = findings.into_iter().map(|finding| whole[finding.range].to_owned()).collect();
    let part = |range: Range<usize>| masked[range].to_owned();
    MaskedParts {
        before: part(0..range.start),
        text: part(range.clone()),
        after: part(range.end..whole.len()),
        secrets,
    }
}

/// Returns `text` with every byte of the findings masked except line ends. The findings are in order and do not overlap.
pub fn mask(text: &str, findings: &[Finding]) -> String {
    let mut masked = String::with_capacity(text.len());
    for Finding { range, .. } in findings {
        masked.push_str(&text[masked.len()..range.start]);
        masked.extend(text[range.clone()].bytes().map(|byte| match byte {
            b'\n' => '\n',
            b'\r' => '\r',
            _ => MASK,
        }));
    }
    masked.push_str(&text[masked.len()..]);
    masked
}

/// Whether a secret is so distinctive that an equal text elsewhere is the same secret.
pub fn is_distinctive(secret: &str) -> bool {
    token_patterns::is_random(secret)
}

/// Joins overlapping findings under the name of the first one.
fn merge(mut findings: Vec<Finding>) -> Vec<Finding> {
    findings.sort_by_key(|finding| (finding.range.start, Reverse(finding.range.end)));
    let mut merged: Vec<Finding> = Vec::new();
    for finding in findings {
        match merged.last_mut() {
            Some(last) if finding.range.start < last.range.end => {
                last.range.end = last.range.end.max(finding.range.end);
            }
            _ => merged.push(finding),
        }
    }
    merged
}

#[cfg(test)]
mod tests;
