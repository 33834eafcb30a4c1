//! Alternative completions.

use std::collections::BTreeMap;

use completion::{CompletionSettings, Outcome, OutcomeStatus, complete};
use engines::{
    Alternative, Answer, AnswerListener, Engine, EngineDescription, EngineError, EngineKind, FinishReason,
    Request,
};
use futures_util::FutureExt;
use futures_util::future::BoxFuture;
use tokio_util::sync::CancellationToken;

use crate::complete::at_cursor;

/// An engine with a first text and alternatives, each with a confidence.
struct Offers(EngineDescription, Vec<(&'static str, f64)>);

impl Engine for Offers {
    fn description(&self) -> &EngineDescription {
        &self.0
    }

    fn reads_workspace(&self) -> bool {
        false
    }

    fn reads_context(&self) -> bool {
        false
    }

    fn has_alternatives(&self) -> bool {
        true
    }

    fn complete<'a>(
        &'a self,
        _: Request,
        sink: &'a mut dyn AnswerListener,
        _: &'a CancellationToken,
    ) -> BoxFuture<'a, Result<Answer, EngineError>> {
        async move {
            let (first, others) = self.1.split_first().expect("there is one");
            let _ = sink.text(first.0);
            let alternatives = others
                .iter()
                .map(|&(text, confidence)| Alternative {
                    text: text.to_owned(),
                    confidence: Some(confidence),
                    explanation: None,
                })
                .collect();
            Ok(Answer { alternatives, confidence: Some(first.1), ..Answer::with_finish(FinishReason::Stop) })
        }
        .boxed()
    }
}

async fn complete_with_alternatives(
    fixture: &str,
    texts: &[(&'static str, f64)],
    settings: &CompletionSettings,
) -> Outcome {
    let name = "offers".to_owned();
    let description = EngineDescription {
        model: name.clone(),
        name,
        kind: EngineKind::Scripted,
        settings: BTreeMap::new(),
    };
    let (snapshot, offset) = at_cursor(fixture);
    let engine = Offers(description, texts.to_vec());
    complete(&snapshot, offset, &engine, settings, &CancellationToken::new()).await
}

fn texts(outcome: &Outcome) -> Vec<&str> {
    outcome.alternatives.iter().map(|alternative| &*alternative.text).collect()
}

#[tokio::test]
async fn alternatives_are_cleaned_deduplicated_and_limited_to_four() {
    let offered = [
        ("a)", 1.0),
        ("a", 1.0),
        ("b))", 1.0),
        ("b", 1.0),
        ("  \n", 1.0),
        ("c", 0.5),
        ("d", 1.0),
        ("e", 1.0),
        ("f", 1.0),
    ];
    let outcome =
        complete_with_alternatives("x = f($0)\n", &offered, &CompletionSettings::for_editor().invoked())
            .await;
    assert_eq!(outcome.text, "a");
    assert_eq!(texts(&outcome), ["b", "c", "d", "e"], "at most four alternatives");
}

#[tokio::test]
async fn no_alternatives_on_automatic_request_or_empty_completion() {
    let typed =
        complete_with_alternatives("x = $0\n", &[("a", 1.0), ("b", 1.0)], &CompletionSettings::for_editor())
            .await;
    assert_eq!((&*typed.text, typed.alternatives.len()), ("a", 0));
    let nothing = complete_with_alternatives(
        "x = $0\n",
        &[("", 1.0), ("b", 1.0)],
        &CompletionSettings::for_editor().invoked(),
    )
    .await;
    assert!(matches!(nothing.status, OutcomeStatus::Silent(_)), "{:?}", nothing.status);
    assert_eq!((&*nothing.text, nothing.alternatives.len()), ("", 0));
}

#[tokio::test]
async fn confidence_gate_applies_to_alternatives() {
    let settings =
        CompletionSettings { min_confidence: Some(0.5), ..CompletionSettings::for_editor().invoked() };
    let outcome =
        complete_with_alternatives("x = $0\n", &[("a", 0.9), ("b", 0.4), ("c", 0.6)], &settings).await;
    assert_eq!(texts(&outcome), ["c"]);
}
