//! Words failed requests: their reasons, counts and examples, the same in all outputs.

use cases::{EngineIdentity, Status};
use scoring::run_summary::{EngineFailures, FailedCase, FailureReason};

use crate::format::{self, Alphabet};

/// Returns the reason of a failed request.
pub fn failure_text(status: Status, reason: Option<&str>) -> &str {
    match status {
        Status::Timeout => "the deadline passed before the first text",
        Status::Cancelled => "the request was cancelled",
        _ => reason.unwrap_or("no reason given"),
    }
}

/// A row of the table of failures.
pub(crate) struct FailureRow {
    /// Index of the engine.
    pub(crate) engine: usize,
    /// Number of failed requests.
    pub(crate) count: usize,
    /// Number of requests to the engine.
    pub(crate) requests: usize,
    /// Why they failed.
    pub(crate) reason: String,
    /// The cases of the first ones.
    pub(crate) examples: String,
}

/// Headings of the rows.
pub(crate) const HEADINGS: [&str; 5] = ["engine", "failed", "of", "reason", "first at"];

/// Returns one row for each reason, by engine, the most frequent reason first. `engines` have the names of their runs.
pub(crate) fn rows(
    failures: &[EngineFailures],
    engines: &[EngineIdentity],
    alphabet: Alphabet,
) -> Vec<FailureRow> {
    let name = |engine: usize| engines.get(engine).map_or("", |engine| engine.name.as_str());
    failures.iter().flat_map(|failures| rows_of_engine(name(failures.engine), failures, alphabet)).collect()
}

fn rows_of_engine(name: &str, failures: &EngineFailures, alphabet: Alphabet) -> Vec<FailureRow> {
    let EngineFailures { engine, requests, repeated, other, .. } = failures.clone();
    let row = |count: usize, reason: String, examples: String| FailureRow {
        engine,
        count,
        requests,
        reason,
        examples,
    };
    let of_reason = |reason: &FailureReason| {
        let text = failure_text(reason.status, reason.reason.as_deref());
        let examples: Vec<String> = reason.examples.iter().take(1).map(case_place).collect();
        row(reason.count, reason_of_engine(name, text, alphabet), examples.concat())
    };
    let mut rows: Vec<FailureRow> = failures.reasons.iter().map(of_reason).collect();
    rows.extend((other > 0).then(|| row(other, "other reasons".to_owned(), String::new())));
    if repeated > 0 {
        let attempts = format::count_of(usize::try_from(repeated).unwrap_or(usize::MAX), "attempt");
        rows.push(row(failures.failed, format!("after {attempts} to repeat failed requests"), String::new()));
    }
    rows
}

/// Returns the start of a reason in a row that names the engine.
pub(crate) fn reason_of_engine(name: &str, text: &str, alphabet: Alphabet) -> String {
    let text = text.strip_prefix(&format!("engine `{name}`: ")).unwrap_or(text);
    format::clipped(text, MAX_REASON, alphabet)
}

/// Maximum length of a reason in characters; messages of servers may be whole pages.
const MAX_REASON: usize = 300;

fn case_place(example: &FailedCase) -> String {
    match (&example.path, example.line) {
        (Some(path), Some(line)) => format!("{path}:{}", u64::from(line) + 1),
        _ => example.case.clone(),
    }
}

/// Words the warning about an engine whose requests fail often.
pub(crate) fn warning(engine: &str, failures: &EngineFailures) -> String {
    let share = format::percent(failures.failed as f64 / failures.requests.max(1) as f64);
    let most = failures.reasons.first().map_or_else(String::new, |reason| {
        let text = failure_text(reason.status, reason.reason.as_deref());
        format!(" Most often: {}", format::clipped(text, MAX_REASON, Alphabet::Unicode))
    });
    format!(
        "{engine}: {} of {} failed ({share} %), and each counts as a wrong answer. `ghostbench replay --out RUN --retry-failed` \
         repeats them.{most}",
        failures.failed,
        format::count_of(failures.requests, "request"),
    )
}
