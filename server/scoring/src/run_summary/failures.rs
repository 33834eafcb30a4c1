//! Failed requests by reason, and signs that an engine gets its prompts in the wrong form.

use std::collections::{BTreeMap, HashMap};

use cases::{Case, CaseId, EngineIdentity, Prediction, PromptSymptom, Status};
use serde::Serialize;

use super::RunRows;
use super::rows;

/// Failed requests of one engine.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct EngineFailures {
    /// Index into the engines of the run, or of all compared runs.
    pub engine: usize,
    /// Answers that needed a request.
    pub requests: usize,
    /// Those of them that failed, in their last attempt.
    pub failed: usize,
    /// Attempts that repeated a failed request.
    pub repeated: u64,
    /// Whether the share of failed requests is above [`FREQUENT`].
    pub is_frequent: bool,
    /// The most frequent reasons, the most frequent first.
    pub reasons: Vec<FailureReason>,
    /// Failures for other reasons.
    pub other: usize,
}

/// Failures for one reason.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct FailureReason {
    /// Outcome of the requests.
    pub status: Status,
    /// The engine's message for the first of them, if it gave one. Messages that differ in numbers only have the same reason.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub reason: Option<String>,
    /// Number of failed requests.
    pub count: usize,
    /// The first cases that failed.
    pub examples: Vec<FailedCase>,
}

/// A case whose request failed.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct FailedCase {
    /// The case.
    pub case: CaseId,
    /// Its file; absent if the case is not in the suite.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub path: Option<String>,
    /// Line of its cursor, from 0; absent if the case is not in the suite.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub line: Option<u32>,
}

/// An engine many of whose answers show that its prompt has the wrong form.
#[derive(Clone, Debug, PartialEq)]
pub struct PromptProblem {
    /// The engine's name.
    pub engine: String,
    /// Its kind.
    pub kind: String,
    /// The signs with the number of answers, the most frequent first.
    pub symptoms: Vec<(PromptSymptom, usize)>,
    /// Number of answers with text.
    pub answers: usize,
}

/// Share of failed requests above which a report warns: a smaller one moves no result beyond its interval.
pub const FREQUENT: f64 = 0.02;

/// Number of reasons that are listed for an engine, and of examples for a reason.
const MAX_REASONS: usize = 5;
const MAX_EXAMPLES: usize = 3;

/// Number of answers with a sign below which it may be chance.
const MIN_ANSWERS: usize = 3;

/// Returns the failures of the engines that have any, now or before requests were repeated.
pub fn request_failures(rows: &RunRows<'_>) -> Vec<EngineFailures> {
    let cases: HashMap<&str, &Case> = rows.cases.iter().map(|case| (case.id.as_str(), case)).collect();
    let of_engine = |(engine, identity): (usize, &EngineIdentity)| {
        let asked = requested(rows, &identity.name);
        let failed: Vec<&Prediction> = asked.iter().copied().filter(|row| row.has_failed()).collect();
        let mut reasons = reasons(&failed, &cases);
        let other = reasons.iter().skip(MAX_REASONS).map(|reason| reason.count).sum();
        reasons.truncate(MAX_REASONS);
        EngineFailures {
            engine,
            requests: asked.len(),
            failed: failed.len(),
            repeated: asked.iter().map(|row| u64::from(row.attempt.saturating_sub(1))).sum(),
            is_frequent: failed.len() as f64 > asked.len() as f64 * FREQUENT,
            reasons,
            other,
        }
    };
    let engines = rows::engines(rows);
    let all = engines.iter().enumerate().map(of_engine);
    all.filter(|failures| failures.failed > 0 || failures.repeated > 0).collect()
}

/// Returns the answers of an engine that needed a request.
fn requested<'a>(rows: &RunRows<'a>, engine: &str) -> Vec<&'a Prediction> {
    let own = rows.predictions.iter().filter(|row| row.engine.name == engine);
    own.filter(|row| !row.reused && !row.is_unasked()).collect()
}

/// Returns the reasons, the most frequent first; equally frequent ones in the order of their first failure.
fn reasons(failed: &[&Prediction], cases: &HashMap<&str, &Case>) -> Vec<FailureReason> {
    let mut places: HashMap<(Status, String), usize> = HashMap::new();
    let mut reasons: Vec<FailureReason> = Vec::new();
    for row in failed {
        let key = (row.status, without_numbers(row.reason.as_deref().unwrap_or_default()));
        let place = *places.entry(key).or_insert_with(|| {
            reasons.push(FailureReason {
                status: row.status,
                reason: row.reason.clone(),
                count: 0,
                examples: Vec::new(),
            });
            reasons.len() - 1
        });
        let reason = &mut reasons[place];
        reason.count += 1;
        if reason.examples.len() < MAX_EXAMPLES {
            reason.examples.push(failed_case(row, cases.get(row.case.as_str()).copied()));
        }
    }
    reasons.sort_by_key(|reason| std::cmp::Reverse(reason.count));
    reasons
}

fn failed_case(row: &Prediction, case: Option<&Case>) -> FailedCase {
    FailedCase {
        case: row.case.clone(),
        path: case.map(|case| case.path.clone()),
        line: case.map(|case| case.line),
    }
}

/// Replaces numbers, such as ports, times and ids of requests.
fn without_numbers(message: &str) -> String {
    let mut kept = String::with_capacity(message.len());
    for character in message.chars() {
        match character.is_ascii_digit() {
            true if kept.ends_with('0') => {}
            true => kept.push('0'),
            false => kept.push(character),
        }
    }
    kept
}

/// Returns the engines with a frequent sign of a wrong prompt.
pub(super) fn prompt_problems(rows: &RunRows<'_>, engines: &[EngineIdentity]) -> Vec<PromptProblem> {
    let problem = |identity: &EngineIdentity| {
        let asked = requested(rows, &identity.name);
        let answers = asked.iter().filter(|row| !row.raw.is_empty() || !row.symptoms.is_empty()).count();
        let mut counts: BTreeMap<PromptSymptom, usize> = BTreeMap::new();
        for symptom in asked.iter().flat_map(|row| &row.symptoms) {
            *counts.entry(*symptom).or_default() += 1;
        }
        let mut symptoms: Vec<(PromptSymptom, usize)> = counts
            .into_iter()
            .filter(|(symptom, count)| {
                *count >= MIN_ANSWERS && *count as f64 >= answers as f64 * telling_share(*symptom)
            })
            .collect();
        symptoms.sort_by_key(|(_, count)| std::cmp::Reverse(*count));
        PromptProblem { engine: identity.name.clone(), kind: identity.kind.clone(), symptoms, answers }
    };
    engines.iter().map(problem).filter(|problem| !problem.symptoms.is_empty()).collect()
}

/// Returns the share of answers from which a sign is no chance. Good answers never have the first three; a line of the prefix is repeated
/// in similar statements.
fn telling_share(symptom: PromptSymptom) -> f64 {
    match symptom {
        PromptSymptom::Tokens | PromptSymptom::Prose | PromptSymptom::Fence => 0.2,
        PromptSymptom::Echo => 0.5,
    }
}

#[cfg(test)]
mod tests {
    use cases::EngineIdentity;

    use super::*;

    fn failed(status: Status, reason: &str) -> Prediction {
        let name = || "e".to_owned();
        let engine = EngineIdentity { name: name(), kind: name(), model: name(), fingerprint: name() };
        Prediction { reason: Some(reason.to_owned()), ..Prediction::empty("c".to_owned(), engine, status) }
    }

    #[test]
    fn messages_that_differ_in_numbers_have_one_reason() {
        let rows = [
            failed(Status::Error, "refused"),
            failed(Status::Error, "busy, try again in 12 s (request 9f1)"),
            failed(Status::Error, "busy, try again in 7 s (request 12f1)"),
            failed(Status::Timeout, "refused"),
        ];
        let found = reasons(&rows.iter().collect::<Vec<_>>(), &HashMap::new());
        let counts: Vec<(Status, usize)> = found.iter().map(|reason| (reason.status, reason.count)).collect();
        assert_eq!(counts, [(Status::Error, 2), (Status::Error, 1), (Status::Timeout, 1)]);
        assert_eq!(found[0].reason.as_deref(), Some("busy, try again in 12 s (request 9f1)"));
        assert_eq!(found[0].examples.len(), 2);
    }
}
