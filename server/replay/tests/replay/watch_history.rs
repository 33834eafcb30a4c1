//! Histories of watched suites: changes of engines, settings and code, interrupted nights, other suites.

use std::fs;
use std::path::Path;
use std::sync::{Arc, Mutex};

use cases::{Case, ChangeKind, Metric, Run, WatchedNight, WorkspaceState, suite_hash};
use completion::{CompletionSettings, ConfiguredEngine};
use engines::{
    Answer, AnswerListener, Engine, EngineDescription, EngineError, EngineKind, FinishReason, Request,
};
use futures_util::FutureExt;
use futures_util::future::BoxFuture;
use replay::{ReplayError, RunContents, StopSignal, WatchHistory, read_history, replay, unfinished_nights};
use tokio_util::sync::CancellationToken;

use crate::fixture::{case, named, run, run_inputs};

/// An engine that changes its answers without changing its settings; fails without one.
struct HostedEngine {
    description: EngineDescription,
    answer: Mutex<Option<String>>,
}

impl HostedEngine {
    fn new() -> Arc<HostedEngine> {
        let description = EngineDescription {
            name: "hosted".to_owned(),
            kind: EngineKind::OpenAi,
            model: "m".to_owned(),
            settings: [].into(),
        };
        Arc::new(HostedEngine { description, answer: Mutex::new(Some("a + b".to_owned())) })
    }

    fn answer(&self, text: Option<&str>) {
        *self.answer.lock().expect("nothing panics here") = text.map(str::to_owned);
    }

    fn configured(self: &Arc<HostedEngine>) -> ConfiguredEngine {
        ConfiguredEngine {
            engine: self.clone(),
            settings: CompletionSettings::for_replay(),
            price: None,
            cutoff: None,
            identity: Arc::default(),
        }
    }
}

impl Engine for HostedEngine {
    fn description(&self) -> &EngineDescription {
        &self.description
    }

    fn reads_workspace(&self) -> bool {
        false
    }

    fn reads_context(&self) -> bool {
        false
    }

    fn complete<'a>(
        &'a self,
        _request: Request,
        sink: &'a mut dyn AnswerListener,
        _cancel: &'a CancellationToken,
    ) -> BoxFuture<'a, Result<Answer, EngineError>> {
        let answer = match &*self.answer.lock().expect("nothing panics here") {
            Some(text) => {
                let _ = sink.text(text);
                Ok(Answer::with_finish(FinishReason::Stop))
            }
            None => Err(EngineError::Failed { engine: "hosted".to_owned(), message: "down".to_owned() }),
        };
        std::future::ready(answer).boxed()
    }
}

fn suite() -> Vec<Case> {
    (0..20).map(case).collect()
}

/// Adds a night and returns its row.
async fn night(
    folder: &Path,
    engines: &[ConfiguredEngine],
    tree_hash: Option<&str>,
    time: &str,
) -> WatchedNight {
    let cases = suite();
    let mut history = WatchHistory::open(folder, &suite_hash(&cases), Metric::ExactMatch)
        .expect("the folder can be written");
    let workspace = tree_hash.map(|hash| WorkspaceState {
        commit: None,
        dirty: None,
        tree_hash: hash.to_owned(),
        files: 1,
        lines: 1,
    });
    let run = Run { workspace, ..run(&cases, engines) };
    let path = history.new_run().expect("the folder can be written");
    let stop = StopSignal::immediately(CancellationToken::new());
    let answers = replay(path.clone(), run.clone(), run_inputs(&cases, engines), stop, |_, _| {})
        .await
        .expect("the folder can be written");
    let contents = RunContents { run, cases: cases.into(), predictions: answers.predictions };
    history
        .add(&path, time.to_owned(), Metric::ExactMatch, &contents, &answers.scores)
        .expect("the folder can be written")
        .clone()
}

#[tokio::test]
async fn changed_answers_are_reported_with_their_first_night() {
    let folder = tempfile::tempdir().unwrap();
    let engine = HostedEngine::new();
    // The clock may go backwards: nights are ordered by their rows.
    for number in 0..4 {
        let row =
            night(folder.path(), &[engine.configured()], None, &format!("2026-01-0{}T", 9 - number)).await;
        assert_eq!((row.engines[0].change.clone(), row.engines[0].since), (None, 0));
        assert_eq!(row.engines[0].value, Some(1.0));
    }
    engine.answer(Some("c"));
    let row = night(folder.path(), &[engine.configured()], None, "2026-01-10T").await;
    let change = row.engines[0].change.clone().expect("all answers are wrong");
    assert_eq!((change.kind, change.first, row.engines[0].since), (ChangeKind::Answers, 4, 4));
    let score = change.score.unwrap();
    assert_eq!((score.before, score.after), (1.0, 0.0));
    let next = night(folder.path(), &[engine.configured()], None, "2026-01-11T").await;
    assert_eq!((next.engines[0].change.clone(), next.engines[0].since), (None, 4), "it is reported once");
    let rows = read_history(folder.path()).unwrap();
    assert_eq!(rows.len(), 6);
    assert_eq!(rows[5], next);
}

#[tokio::test]
async fn other_settings_and_other_code_start_again_and_are_reported() {
    let folder = tempfile::tempdir().unwrap();
    night(folder.path(), &[named("e", "a")], Some("t1"), "1").await;
    let row = night(folder.path(), &[named("e", "b")], Some("t1"), "2").await;
    assert_eq!(row.engines[0].change.as_ref().map(|change| change.kind), Some(ChangeKind::Settings));
    assert_eq!(row.engines[0].since, 1);
    let row = night(folder.path(), &[named("e", "b")], Some("t2"), "3").await;
    assert_eq!(row.engines[0].change.as_ref().map(|change| change.kind), Some(ChangeKind::Workspace));
    let row = night(folder.path(), &[named("renamed", "b")], Some("t2"), "4").await;
    assert_eq!(
        (row.engines[0].change.clone(), row.engines[0].since),
        (None, 3),
        "another name is another engine"
    );
}

#[tokio::test]
async fn failed_and_removed_nights_are_no_change() {
    let folder = tempfile::tempdir().unwrap();
    let engine = HostedEngine::new();
    for number in 0..3 {
        night(folder.path(), &[engine.configured()], None, &number.to_string()).await;
    }
    engine.answer(None);
    let row = night(folder.path(), &[engine.configured()], None, "3").await;
    let failed = &row.engines[0];
    assert_eq!((failed.failed, failed.value, failed.change.clone()), (20, None, None));
    fs::remove_dir_all(folder.path().join("2")).unwrap();
    engine.answer(Some("a + b"));
    let row = night(folder.path(), &[engine.configured()], None, "4").await;
    assert_eq!((row.engines[0].change.clone(), row.engines[0].since), (None, 0));
}

#[tokio::test]
async fn interrupted_nights_are_left_out_and_half_rows_removed() {
    let folder = tempfile::tempdir().unwrap();
    let engine = HostedEngine::new();
    night(folder.path(), &[engine.configured()], None, "1").await;
    fs::create_dir(folder.path().join("2")).unwrap();
    let path = folder.path().join("history.jsonl");
    let whole = fs::read_to_string(&path).unwrap();
    fs::write(&path, format!("{whole}{}", &whole[..40])).unwrap();
    let rows = read_history(folder.path()).unwrap();
    assert_eq!(rows.len(), 1);
    assert_eq!(unfinished_nights(folder.path(), &rows), [folder.path().join("2")]);
    let row = night(folder.path(), &[engine.configured()], None, "2").await;
    assert_eq!(row.run, "3", "its folder is not taken over");
    assert_eq!(read_history(folder.path()).unwrap().len(), 2);
}

#[test]
fn history_refuses_another_suite_metric_and_writer() {
    let folder = tempfile::tempdir().unwrap();
    let open = |suite: &str, metric| WatchHistory::open(folder.path(), suite, metric);
    let row = r#"{"schema":"1.6","run":"1","time":"t","suite":"s","metric":"exact_match","engines":[]}"#;
    fs::write(folder.path().join("history.jsonl"), format!("{row}\n")).unwrap();
    let is_other = |opened: Result<WatchHistory, ReplayError>, expected: &str| matches!(opened, Err(ReplayError::OtherHistory { what, .. }) if what == expected);
    assert!(is_other(open("other", Metric::ExactMatch), "suite"));
    assert!(is_other(open("s", Metric::EditSimilarity), "metric"));
    let history = open("s", Metric::ExactMatch).unwrap();
    assert!(matches!(open("s", Metric::ExactMatch), Err(ReplayError::Locked { .. })));
    assert_eq!(history.nights().len(), 1);
}
