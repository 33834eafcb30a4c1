//! Checks that every engine of a run gave an answer.

use std::collections::BTreeMap;

use cases::{NO_COPIES_SUFFIX, Prediction, Status};
use replay::RunContents;

use crate::exit::NoAnswerError;

/// Returns an error if any engine failed at every request, with the most frequent reason of each such engine: its numbers measure only
/// the failure. The run and its report are kept.
pub(crate) fn require_answers(contents: &RunContents) -> anyhow::Result<()> {
    let names = contents.run.engines.iter().map(|config| config.engine.name.as_str());
    let mut failures: BTreeMap<&str, String> = BTreeMap::new();
    for name in names {
        // The same engine without copies fails for the same reason.
        let is_reported = name.strip_suffix(NO_COPIES_SUFFIX).is_some_and(|base| failures.contains_key(base));
        let message = no_answer_message(name, &contents.predictions).filter(|_| !is_reported);
        failures.extend(message.map(|message| (name, message)));
    }
    let messages: Vec<String> = failures.into_values().collect();
    if messages.is_empty() { Ok(()) } else { Err(NoAnswerError(messages.join("\n")).into()) }
}

/// Returns the message for an engine that never answered.
fn no_answer_message(name: &str, predictions: &[Prediction]) -> Option<String> {
    let rows: Vec<&Prediction> = predictions.iter().filter(|row| row.engine.name == name).collect();
    let failed: Vec<&&Prediction> = rows.iter().filter(|row| row.has_failed()).collect();
    let unasked = rows.iter().filter(|row| row.is_unasked()).count();
    if failed.is_empty() || failed.len() + unasked < rows.len() {
        return None;
    }
    // An error explains more than the timeouts before it.
    let mut reasons: BTreeMap<(bool, &str), usize> = BTreeMap::new();
    for row in &failed {
        *reasons
            .entry((row.status == Status::Error, report::failure_text(row.status, row.reason.as_deref())))
            .or_default() += 1;
    }
    let ((_, reason), _) = reasons.into_iter().max_by_key(|((is_error, _), count)| (*is_error, *count))?;
    Some(format!(
        "engine `{name}` never answered ({} of {} requests failed): {reason}",
        failed.len(),
        rows.len()
    ))
}

#[cfg(test)]
mod tests {
    use cases::EngineIdentity;

    use super::*;

    fn row(status: Status, reason: &str) -> Prediction {
        let engine = EngineIdentity {
            name: "a".to_owned(),
            kind: String::new(),
            model: String::new(),
            fingerprint: String::new(),
        };
        Prediction { reason: Some(reason.to_owned()), ..Prediction::empty("c".to_owned(), engine, status) }
    }

    #[test]
    fn no_answer_is_reported_only_if_all_requests_failed() {
        let error = |reason| row(Status::Error, reason);
        assert_eq!(no_answer_message("a", &[]), None);
        assert_eq!(no_answer_message("a", &[row(Status::Gated, "cursor in a word")]), None);
        assert_eq!(no_answer_message("a", &[error("down"), row(Status::Silent, "nothing")]), None);
        assert_eq!(no_answer_message("b", &[error("down")]), None);
        let rows = [error("down"), error("refused"), error("refused"), row(Status::Gated, "no")];
        assert_eq!(
            no_answer_message("a", &rows).as_deref(),
            Some("engine `a` never answered (3 of 4 requests failed): refused")
        );
        let timeout = no_answer_message("a", &[row(Status::Timeout, "")]).expect("it never answered");
        assert!(timeout.ends_with("the deadline passed before the first text"), "{timeout}");
    }
}
