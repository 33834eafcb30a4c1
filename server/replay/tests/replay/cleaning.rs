//! Effect of cleaning on real models' raw answers: exact answers gained and lost.

use std::collections::BTreeMap;

use completion::{CompletionSettings, DocumentText, WorkspaceIndex, complete};
use engines::{Script, ScriptedEngine};
use scoring::cceval;
use serde_json::Value;
use syntax::Language;
use tokio_util::sync::CancellationToken;

use crate::real_answers::{RealAnswers, language, text};

/// Returns the ghost text for an answer to a task.
async fn shown(task: &Value, language: Language, answer: &str) -> String {
    let (prefix, suffix) = (text(task, "prompt"), text(task, "right_context"));
    let document = DocumentText { path: "main".into(), language, text: [prefix, suffix].concat().into() };
    let script =
        Script { pieces: answer.split_inclusive('\n').map(str::to_owned).collect(), ..Script::default() };
    let engine = ScriptedEngine::new("real", script);
    let snapshot = WorkspaceIndex::empty().snapshot(document);
    complete(&snapshot, prefix.len(), &engine, &CompletionSettings::for_replay(), &CancellationToken::new())
        .await
        .text
}

/// Exact answers by post-processing: that of the original project, and ours as "cleaned", with its gains and losses.
#[derive(Debug, Default)]
struct Counts {
    exact: BTreeMap<String, usize>,
    gained: usize,
    lost: usize,
}

#[tokio::test]
async fn golden_cleaning_gains_more_exact_answers_than_it_loses() {
    let Some(real) = RealAnswers::read("cleaning of real answers") else { return };
    let mut counts = Counts::default();
    for row in &real.answers {
        let (task, language) = (real.task(row), language(row));
        let is_exact =
            |answer: &str| cceval::score_truncated(language, answer, text(task, "groundtruth")).exact_match;
        for (name, result) in row["results"].as_object().expect("an object") {
            *counts.exact.entry(name.clone()).or_default() +=
                usize::from(is_exact(text(result, "postprocessed")));
        }
        let (raw, cleaned) =
            (is_exact(text(row, "output")), is_exact(&shown(task, language, text(row, "output")).await));
        *counts.exact.entry("cleaned".to_owned()).or_default() += usize::from(cleaned);
        counts.gained += usize::from(cleaned && !raw);
        counts.lost += usize::from(raw && !cleaned);
    }
    eprintln!("{counts:?}");
    let best = counts.exact.iter().filter(|(name, _)| *name != "cleaned").map(|(_, exact)| *exact).max();
    assert!(Some(counts.exact["cleaned"]) >= best, "another post-processor is better: {counts:?}");
    assert!(counts.lost * 4 <= counts.gained, "{counts:?}");
}
