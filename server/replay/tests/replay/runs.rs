//! Runs that finish, are stopped, are truncated, and are resumed.

use std::collections::BTreeSet;
use std::fs;
use std::path::Path;
use std::sync::Arc;
use std::time::Duration;

use cases::{Case, Metric, MetricValue, Prediction, Run, SchemaVersion, Status, WorkspaceState, to_line};
use completion::{CompletionSettings, ConfiguredEngine};
use engines::{Script, ScriptedEngine, ScriptedReply};
use replay::{
    ReplayError, RunAnswers, RunFolder, StopSignal, read_run, read_run_beside, read_suite, replay, score_all,
    scores_of, write_scores, write_suite,
};
use tokio::sync::mpsc;
use tokio::time::Instant;
use tokio_util::sync::CancellationToken;

use crate::fixture::{case, engine, named, run, run_inputs, run_missing_attempts, scripted_engine};

#[tokio::test(start_paused = true)]
async fn stop_drains_running_requests_and_resume_repeats_none() {
    let cases: Vec<Case> = (0..20).map(case).collect();
    let slower = Script { delay: Duration::from_millis(20), pieces: vec!["a".to_owned()], failure: None };
    let engines = [scripted_engine("a + b", 10), engine("slower", slower)];
    let first = run_missing_attempts(&cases, &engines, &[], 5).await;
    assert!(
        (5..=10).contains(&first.len()),
        "{} answers: 5, at most 2 that arrived with the fifth, and 3 that were under way",
        first.len()
    );
    assert!(first.iter().all(|prediction| prediction.status == Status::Ok));
    let second = run_missing_attempts(&cases, &engines, &first, usize::MAX).await;
    let keys: BTreeSet<_> = first.iter().chain(&second).map(Prediction::key).collect();
    assert_eq!(first.len() + second.len(), 40);
    assert_eq!(keys.len(), 40);
}

#[tokio::test]
async fn replay_writes_rows_and_scores_and_reports_progress() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("run");
    let cases: Vec<Case> = (0..2).map(case).collect();
    let engines = [scripted_engine("a + b", 0)];
    let mut reported = Vec::new();
    let stop = StopSignal::immediately(CancellationToken::new());
    let made =
        replay(path.clone(), run(&cases, &engines), run_inputs(&cases, &engines), stop, |done, planned| {
            reported.push((done, planned))
        })
        .await;
    let answers = made.unwrap();
    assert!(answers.is_finished());
    assert_eq!(reported, [(0, 2), (1, 2), (2, 2)]);
    assert_eq!(read_run(&path).unwrap().predictions, answers.predictions);
    let rows = fs::read_to_string(path.join("scores.jsonl")).unwrap();
    assert_eq!(rows, answers.scores.iter().map(to_line).collect::<String>());
    assert_eq!(answers.scores[0].metrics[&Metric::ExactMatch], MetricValue::Value(1.0));
}

#[tokio::test]
async fn secrets_in_answers_are_masked() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("run");
    let secret = "ghp_0123456789abcdefghijABCDEFGHIJ456789";
    let (cases, engines) = ([case(1)], [scripted_engine(&format!("token = \"{secret}\""), 0)]);
    let stop = StopSignal::immediately(CancellationToken::new());
    let made = replay(path.clone(), run(&cases, &engines), run_inputs(&cases, &engines), stop, |_, _| {});
    let answers = made.await.unwrap();
    assert!(answers.predictions[0].text.contains("xxxx"), "{:?}", answers.predictions);
    assert!(!fs::read_to_string(path.join("predictions.jsonl")).unwrap().contains(secret));
}

/// Paused time only advances while all tasks wait, so an hour passes only if a task waits for the slow engine.
const HOUR: u64 = 3_600_000;

/// Returns an engine that answers `f0.py` immediately and everything else in an hour.
fn quick_or_slow() -> Arc<ScriptedEngine> {
    let delay = Duration::from_millis(HOUR);
    let rule = |path: &str, delay| ScriptedReply {
        path: path.to_owned(),
        delay,
        pieces: vec!["a + b".to_owned()],
        ..ScriptedReply::default()
    };
    Arc::new(ScriptedEngine::with_rules("scripted", vec![rule("f0.py", Duration::ZERO), rule("", delay)]))
}

#[tokio::test(start_paused = true)]
async fn immediate_stop_frees_engines_and_keeps_finished_answers() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("run");
    let cases: Vec<Case> = (0..5).map(case).collect();
    let scripted = quick_or_slow();
    let engines = [ConfiguredEngine {
        engine: scripted.clone(),
        settings: patient_settings(),
        price: None,
        cutoff: None,
        identity: Arc::default(),
    }];
    let token = CancellationToken::new();
    let start = Instant::now();
    let stop = StopSignal::immediately(token.clone());
    let made = replay(path.clone(), run(&cases, &engines), run_inputs(&cases, &engines), stop, |done, _| {
        if done == 1 {
            token.cancel();
        }
    });
    let answers = made.await.unwrap();
    assert!(start.elapsed() < Duration::from_secs(1), "slow answers were not awaited");
    until_free(&scripted).await;
    let RunAnswers { predictions, missing, scores, .. } = answers;
    assert_eq!((predictions.len(), missing, scores.len()), (1, 4, 1));
    assert_eq!(read_run(&path).unwrap().predictions, predictions);
}

#[tokio::test(start_paused = true)]
async fn dropped_replay_frees_its_engines() {
    let folder = tempfile::tempdir().unwrap();
    let cases: Vec<Case> = (0..5).map(case).collect();
    let scripted = quick_or_slow();
    let engines = [ConfiguredEngine {
        engine: scripted.clone(),
        settings: patient_settings(),
        price: None,
        cutoff: None,
        identity: Arc::default(),
    }];
    let (first_answer, mut answered) = mpsc::unbounded_channel();
    let stop = StopSignal::immediately(CancellationToken::new());
    let (run, questions) = (run(&cases, &engines), run_inputs(&cases, &engines));
    let replaying = tokio::spawn(replay(folder.path().join("run"), run, questions, stop, move |done, _| {
        if done == 1 {
            first_answer.send(()).expect("the test listens");
        }
    }));
    answered.recv().await.expect("there is a first answer");
    assert!(scripted.busy() > 0);
    replaying.abort();
    until_free(&scripted).await;
}

/// Returns settings under which the slow engine does not time out.
fn patient_settings() -> CompletionSettings {
    CompletionSettings { deadline: Duration::from_millis(2 * HOUR), ..CompletionSettings::for_replay() }
}

/// Returns once the engine is idle, without time passing.
async fn until_free(engine: &ScriptedEngine) {
    let start = Instant::now();
    while engine.busy() > 0 {
        assert!(start.elapsed() < Duration::from_secs(1), "the engine is still busy");
        tokio::time::sleep(Duration::from_millis(1)).await;
    }
}

#[tokio::test]
async fn panicking_or_failing_engine_does_not_affect_others() {
    struct Panicking(engines::EngineDescription);
    impl engines::Engine for Panicking {
        fn description(&self) -> &engines::EngineDescription {
            &self.0
        }
        fn reads_workspace(&self) -> bool {
            false
        }

        fn reads_context(&self) -> bool {
            false
        }
        fn complete<'a>(
            &'a self,
            _request: engines::Request,
            _sink: &'a mut dyn engines::AnswerListener,
            _cancel: &'a CancellationToken,
        ) -> futures_util::future::BoxFuture<'a, Result<engines::Answer, engines::EngineError>> {
            panic!("a defect at `x = `")
        }
    }
    let description =
        engine("panicking", Script { delay: Duration::from_millis(1), ..Script::default() }).engine;
    let panicking = Panicking(description.description().clone());
    let engines = [
        ConfiguredEngine {
            engine: Arc::new(panicking),
            settings: CompletionSettings::for_replay(),
            price: None,
            cutoff: None,
            identity: Arc::default(),
        },
        engine("failing", Script { failure: Some("no".to_owned()), ..Script::default() }),
        scripted_engine("a + b", 2),
    ];
    let cases = [case(1)];
    let mut predictions = run_missing_attempts(&cases, &engines, &[], usize::MAX).await;
    predictions.sort_by(|a, b| a.engine.name.cmp(&b.engine.name));
    let statuses: Vec<Status> = predictions.iter().map(|prediction| prediction.status).collect();
    assert_eq!(statuses, [Status::Error, Status::Error, Status::Ok]);
    assert_eq!(predictions[0].reason.as_deref(), Some("engine `failing` failed: no"));
    assert_eq!(predictions[1].reason.as_deref(), Some("the engine panicked"), "no code is quoted");
    let scores = score_all(&cases, &predictions);
    assert_eq!(scores[2].metrics[&Metric::ExactMatch], MetricValue::Value(1.0));
    assert_eq!(scores[0].metrics[&Metric::ExactMatch], MetricValue::Value(0.0));
}

/// Creates a run of three cases with two answers, as left by a process that was killed while writing the third.
async fn torn_run(folder: &Path) -> (Vec<Case>, [ConfiguredEngine; 1]) {
    let cases: Vec<Case> = (0..3).map(case).collect();
    let engines = [scripted_engine("größe", 0)];
    let mut run_folder =
        RunFolder::create(folder, &run(&cases, &engines), &cases).expect("the folder is writable");
    let predictions = run_missing_attempts(&cases, &engines, &[], usize::MAX).await;
    predictions[..2]
        .iter()
        .for_each(|prediction| run_folder.append(prediction).expect("the folder is writable"));
    let line = to_line(&predictions[2]);
    // The file ends inside a character of two bytes.
    let cut = line.find('ö').expect("the answer has an umlaut") + 1;
    let path = folder.join("predictions.jsonl");
    let mut bytes = fs::read(&path).expect("the folder is writable");
    bytes.extend(&line.as_bytes()[..cut]);
    fs::write(&path, bytes).expect("the folder is writable");
    (cases, engines)
}

#[tokio::test]
async fn torn_row_is_dropped_and_requested_again_on_resume() {
    let folder = tempfile::tempdir().unwrap();
    let (cases, engines) = torn_run(folder.path()).await;
    assert_eq!(
        read_run(folder.path()).unwrap().predictions.len(),
        2,
        "a report of a torn run shows what is whole"
    );
    let (mut resumed, contents) = RunFolder::resume(folder.path(), &run(&cases, &engines)).unwrap();
    let rest = run_missing_attempts(&cases, &engines, &contents.predictions, usize::MAX).await;
    assert_eq!(rest.len(), 1);
    resumed.append(&rest[0]).unwrap();
    let whole = read_run(folder.path()).unwrap();
    assert_eq!(whole.predictions.iter().map(Prediction::key).collect::<BTreeSet<_>>().len(), 3);
    assert_eq!(*whole.cases, cases);
}

/// A guard on counted work: a report computes only the scores that are missing or of another version of the scorer, once.
#[tokio::test]
async fn missing_and_outdated_scores_are_computed_once_and_stored() {
    let folder = tempfile::tempdir().unwrap();
    let (cases, engines) = torn_run(folder.path()).await;
    let contents = read_run(folder.path()).unwrap();
    let scored = || scores_of(folder.path(), &contents);
    let writer = RunFolder::resume(folder.path(), &run(&cases, &engines)).unwrap();
    assert_eq!(
        (scored().computed, scored().computed),
        (2, 2),
        "the process that writes the run stores its own"
    );
    assert!(!folder.path().join("scores.jsonl").exists());
    drop(writer);
    let first = scored();
    assert_eq!((first.computed, scored().computed), (2, 0));
    assert_eq!(first.scores, score_all(&cases, &contents.predictions));
    assert_eq!(scored().scores, first.scores);
    let mut outdated = first.scores.clone();
    outdated[1].scorer = Some(0);
    outdated[1].metrics.clear();
    write_scores(folder.path(), &outdated).unwrap();
    assert_eq!((scored().computed, scored().computed), (1, 0));
    assert_eq!(scored().scores, first.scores);
    fs::write(folder.path().join("scores.jsonl"), "no score\n").unwrap();
    assert_eq!((scored().computed, scored().computed), (2, 0));
}

#[tokio::test]
async fn existing_run_rejects_overwriting_and_mismatched_resume() {
    let folder = tempfile::tempdir().unwrap();
    let (cases, engines) = torn_run(folder.path()).await;
    let same = run(&cases, &engines);
    let create = RunFolder::create(folder.path(), &same, &cases);
    assert!(matches!(create, Err(ReplayError::Exists { .. })));
    let other_suite = RunFolder::resume(folder.path(), &run(&cases[1..], &engines));
    assert!(matches!(other_suite, Err(ReplayError::OtherSuite { .. })));
    let other_engines = RunFolder::resume(folder.path(), &run(&cases, &[scripted_engine("größe", 5)]));
    assert!(matches!(other_engines, Err(ReplayError::OtherEngines { .. })));
    let other_repeat = RunFolder::resume(folder.path(), &Run { repeat: 2, ..same.clone() });
    assert!(matches!(other_repeat, Err(ReplayError::OtherOption { what: "--repeat", .. })));
    let state = WorkspaceState { commit: None, dirty: None, tree_hash: "t".to_owned(), files: 1, lines: 1 };
    let other_workspace = RunFolder::resume(folder.path(), &Run { workspace: Some(state), ..same.clone() });
    let message = other_workspace.err().expect("answers from two workspaces do not mix").to_string();
    assert!(message.contains("another workspace (none, not t); resume it with the same"), "{message}");
    let _writing = RunFolder::resume(folder.path(), &same).unwrap();
    assert!(matches!(RunFolder::resume(folder.path(), &same), Err(ReplayError::Locked { .. })));
    assert!(read_run(folder.path()).is_ok(), "reading does not need to be alone");
}

#[tokio::test]
async fn failures_score_zero_and_late_answers_zero_in_time() {
    let cases = [case(1), Case { truth: String::new(), ..case(2) }];
    let answers = run_missing_attempts(&cases, &[scripted_engine("a + b", 0)], &[], usize::MAX).await;
    let scored = |change: &dyn Fn(&mut Prediction)| {
        let mut rows = answers.clone();
        rows.iter_mut().for_each(change);
        score_all(&cases, &rows)
    };
    for status in [Status::Error, Status::Timeout, Status::Cancelled] {
        let failed = scored(&|row| (row.status, row.text) = (status, String::new()));
        for (name, metric) in failed.iter().flat_map(|score| &score.metrics) {
            assert!(
                matches!(metric, MetricValue::Value(0.0) | MetricValue::Ratio { num: 0.0, .. }),
                "{status} {name} {metric:?}"
            );
        }
        assert!(failed.iter().any(|score| score.metrics.contains_key(&Metric::Restraint)));
    }
    let late = scored(&|row| row.late = true);
    let of = |metric: Metric| {
        late.iter().find(|score| score.case == cases[0].id).map(|score| score.metrics[&metric])
    };
    assert_eq!(of(Metric::ExactMatch), Some(MetricValue::Value(1.0)));
    assert_eq!(
        (of(Metric::InTime), of(Metric::ExactInTime)),
        (Some(MetricValue::Value(0.0)), Some(MetricValue::Value(0.0)))
    );
}

#[test]
fn invalid_suites_are_rejected_with_line_and_remedy() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("cases.jsonl");
    let refused = |text: &str| {
        fs::write(&path, text).unwrap();
        let message = read_suite(&path).unwrap_err().to_string();
        message.strip_prefix(&path.display().to_string()).expect("the message names the file").to_owned()
    };
    let line = to_line(&case(1));
    assert!(refused("").contains("contains no case; create a suite with `ghostbench mine`"));
    let torn = refused(&format!("{line}{}", &line[..40]));
    assert_eq!(
        torn,
        ", line 2: the last row is incomplete; delete that line to use the rows before it, or create the file again"
    );
    assert!(
        refused(&format!("{line}{}", line.replace(&SchemaVersion::CURRENT.to_string(), "2.0")))
            .contains("line 2, column")
    );
    assert!(refused(&format!("{line}{line}")).contains("twice"));
    assert!(refused(&line.replace("python", "cobol")).contains("unknown language `cobol`"));
    let missing = read_suite(&folder.path().join("none")).unwrap_err();
    assert!(missing.to_string().contains("create one with `ghostbench mine`"), "{missing}");
    assert!(matches!(read_run(folder.path()), Err(ReplayError::NoRun { .. })));
}

#[test]
fn suite_is_unchanged_by_writing_and_reading() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("suite.jsonl");
    let cases: Vec<Case> = (0..3).map(case).collect();
    write_suite(&path, &cases).unwrap();
    assert_eq!(read_suite(&path).unwrap(), cases);
    assert_eq!(fs::read_dir(folder.path()).unwrap().count(), 1, "no temporary file is left");
}

#[tokio::test]
async fn predictions_without_a_run_file_are_not_overwritten() {
    let folder = tempfile::tempdir().unwrap();
    let (cases, engines) = torn_run(folder.path()).await;
    fs::remove_file(folder.path().join("run.json")).unwrap();
    let before = fs::read(folder.path().join("predictions.jsonl")).unwrap();
    let refused = RunFolder::create(folder.path(), &run(&cases, &engines), &cases);
    assert!(refused.err().unwrap().to_string().contains("predictions.jsonl"));
    assert_eq!(fs::read(folder.path().join("predictions.jsonl")).unwrap(), before);
}

#[test]
fn writing_through_a_symlink_keeps_the_symlink() {
    let folder = tempfile::tempdir().unwrap();
    let (file, link) = (folder.path().join("suite.jsonl"), folder.path().join("link.jsonl"));
    fs::write(&file, "old").unwrap();
    if !make_link(&file, &link) {
        eprintln!("skipped: this system makes no links");
        return;
    }
    write_suite(&link, &[case(1)]).unwrap();
    assert!(fs::symlink_metadata(&link).unwrap().is_symlink());
    assert_eq!(read_suite(&file).unwrap(), [case(1)]);
}

#[cfg(unix)]
fn make_link(file: &Path, link: &Path) -> bool {
    std::os::unix::fs::symlink(file, link).is_ok()
}

#[cfg(not(unix))]
fn make_link(_file: &Path, _link: &Path) -> bool {
    false
}

#[cfg(unix)]
#[test]
fn socket_is_not_replaced_by_a_suite() {
    use std::os::unix::fs::FileTypeExt;

    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("socket");
    let _listener = std::os::unix::net::UnixListener::bind(&path).unwrap();
    assert!(
        matches!(write_suite(&path, &[case(1)]), Err(ReplayError::Write { .. })),
        "nobody can write to a socket"
    );
    assert!(fs::metadata(&path).unwrap().file_type().is_socket());
}

#[test]
fn edited_prefix_or_truth_is_reported_with_its_line() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("cases.jsonl");
    for (before, after) in
        [("\"truth\":\"a + b\"", "\"truth\":\"\""), ("\"prefix\":\"x = \"", "\"prefix\":\"y = \"")]
    {
        let edited = to_line(&case(2)).replace(before, after);
        fs::write(&path, [to_line(&case(1)), edited].concat()).unwrap();
        let message = read_suite(&path).unwrap_err().to_string();
        assert!(
            message.contains("line 2") && message.contains(&case(2).id) && message.contains("edited"),
            "{message}"
        );
    }
}

#[test]
fn runs_with_the_same_bytes_of_a_suite_share_its_cases() {
    let folder = tempfile::tempdir().expect("a folder");
    let engines = [named("a", "x")];
    let mut tagged = vec![case(1), case(2)];
    let write = |name: &str, cases: &[Case]| {
        let path = folder.path().join(name);
        RunFolder::create(&path, &run(cases, &engines), cases).expect("a new folder");
        path
    };
    let (one, same) = (write("one", &tagged), write("same", &tagged));
    // Tags are no part of a case's id: the suite is the same, but not its file.
    tagged[0].tags.insert("reviewed".to_owned(), "yes".to_owned());
    let other = write("other", &tagged);
    let known = read_run(&one).expect("a run");
    let beside = |path: &Path| read_run_beside(path, [(one.as_path(), &known)]).expect("a run");
    assert!(Arc::ptr_eq(&beside(&same).cases, &known.cases));
    let read = beside(&other);
    assert_eq!((&*read.cases, &read.run.suite), (tagged.as_slice(), &known.run.suite));
}
