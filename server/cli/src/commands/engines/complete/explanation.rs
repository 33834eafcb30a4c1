//! Formats the sources of a suggestion as text and as JSON.

use crate::views::explanation::{CopiedPart, ExplanationView};
use completion::{CleanedAlternative, CopiedSpan, CopySource, Explanation, Outcome, OutcomeStatus};
use serde_json::{Value, json};

/// Formats an explanation for the terminal. With `is_invoked`, nothing was withheld.
pub(super) fn terminal_explanation(engine: &str, outcome: &Outcome, is_invoked: bool) -> ExplanationView {
    let Some(explanation) = &outcome.trace.explanation else {
        let remark = match outcome.status {
            OutcomeStatus::Ok | OutcomeStatus::Silent(_) | OutcomeStatus::Gated(_) => {
                format!("{engine} does not explain its text; the built-in engine does")
            }
            OutcomeStatus::Timeout | OutcomeStatus::Cancelled | OutcomeStatus::Failed(_) => {
                "there is nothing to explain".to_owned()
            }
        };
        return ExplanationView { parts: Vec::new(), remarks: vec![remark] };
    };
    let Explanation { spans, ending, figures } = explanation;
    let figures: Vec<_> =
        figures.iter().map(|(name, share)| format!("{name} {:.1} %", share * 100.0)).collect();
    let what = if outcome.trace.received.is_empty() { "nothing is written" } else { "it ends there" };
    let is_kept_back =
        !is_invoked && matches!(outcome.status, OutcomeStatus::Silent(_) | OutcomeStatus::Gated(_));
    let remarks = [
        Some([&[format!("{what} because {ending}")], &*figures].concat().join("; ")),
        is_kept_back.then(|| "use --invoked to show uncertain text".to_owned()),
    ];
    ExplanationView {
        parts: spans.iter().map(part).collect(),
        remarks: remarks.into_iter().flatten().collect(),
    }
}

/// Formats the location of a span. Editors and terminals count from 1.
fn location(span: &CopiedSpan) -> String {
    let start = span.start.map(|start| format!(":{}:{}", start.line + 1, start.character + 1));
    format!("{}{}", span.path, start.unwrap_or_default())
}

fn part(span: &CopiedSpan) -> CopiedPart {
    CopiedPart {
        range: span.range.clone(),
        place: location(span),
        from: match span.from {
            CopySource::Before => "above",
            CopySource::After => "below",
            CopySource::Context => "context",
            CopySource::File => "",
        },
        same: span.same,
        alike: span.alike,
        probability: span.probability,
        renamed: span.renamed.clone(),
    }
}

/// Returns the alternatives, with their locations if known.
pub(super) fn alternatives(outcome: &Outcome) -> Vec<(String, Option<String>)> {
    let alternatives = outcome.alternatives.iter();
    alternatives
        .map(|other| {
            (
                other.text.clone(),
                other.explanation.as_ref().map(|explanation| {
                    let mut places: Vec<String> = explanation.spans.iter().map(location).collect();
                    places.dedup();
                    places.join(", ")
                }),
            )
        })
        .collect()
}

/// Returns the alternatives as JSON.
pub(super) fn json_alternatives(outcome: &Outcome, is_explained: bool) -> Value {
    let alternative = |other: &CleanedAlternative| {
        let mut row = json!({"text": other.text});
        if is_explained {
            row["explanation"] = json_explanation(other.explanation.as_ref());
        }
        row
    };
    outcome.alternatives.iter().map(alternative).collect()
}

/// Returns an explanation as JSON, with spans as in a prediction.
pub(super) fn json_explanation(explanation: Option<&Explanation>) -> Value {
    let Some(Explanation { spans, ending, figures }) = explanation else { return Value::Null };
    let figures: serde_json::Map<String, Value> =
        figures.iter().map(|&(name, figure)| (name.to_owned(), figure.into())).collect();
    json!({"spans": replay::spans(spans.clone()), "ending": ending, "figures": figures})
}
