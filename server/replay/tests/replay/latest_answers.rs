//! Latest answers to recorded cases.

use std::fs;
use std::path::PathBuf;

use cases::{Case, Metric, MetricValue, Score, parse_lines, to_line};
use completion::ConfiguredEngine;
use replay::{DataFolder, LatestAnswers, RunFolder, StopSignal, SuiteRun, replay};
use tempfile::TempDir;
use tokio_util::sync::CancellationToken;

use crate::fixture::{case, named, run, run_inputs, run_missing_attempts, scripted_engine};

const SUITE: &str = "app-123";

fn data() -> (TempDir, DataFolder) {
    let folder = tempfile::tempdir().expect("the temporary folder is ours");
    let data = DataFolder::new(folder.path().join("data"));
    (folder, data)
}

async fn replayed(data: &DataFolder, cases: &[Case], engines: &[ConfiguredEngine]) -> PathBuf {
    let folder = data.new_run(SUITE).expect("the temporary folder is ours");
    let stop = StopSignal::immediately(CancellationToken::new());
    let made = replay(folder.clone(), run(cases, engines), run_inputs(cases, engines), stop, |_, _| {}).await;
    let answers = made.expect("the data folder is writable");
    assert!(answers.is_finished());
    folder
}

fn latest(data: &DataFolder, name: &str, cases: &[Case]) -> LatestAnswers {
    let ids: Vec<String> = cases.iter().map(|case| case.id.clone()).collect();
    replay::latest_answers(data, name, &ids, |id| cases.iter().find(|case| case.id == id).cloned(), || true)
}

/// Returns path of the case, answer and exact match of each latest answer.
fn shown(latest: &LatestAnswers) -> Vec<(String, &str, bool)> {
    let show = |(prediction, score): &(cases::Prediction, cases::Score)| {
        assert_eq!((&score.case, &score.fingerprint), (&prediction.case, &prediction.engine.fingerprint));
        score.metrics[&Metric::ExactMatch] == MetricValue::Value(1.0)
    };
    latest.answers.iter().map(|row| (row.0.case.clone(), row.0.text.as_str(), show(row))).collect()
}

#[tokio::test]
async fn a_suite_that_was_never_replayed_has_no_answers() {
    let (_folder, data) = data();
    let latest = latest(&data, SUITE, &[case(1)]);
    assert!(latest.answers.is_empty() && latest.suite_run.is_none() && latest.problems.is_empty());
}

#[tokio::test]
async fn newest_answer_per_engine_and_case_is_returned() {
    let (_folder, data) = data();
    let cases: Vec<Case> = (0..3).map(case).collect();
    let (right, wrong, other) = (named("c", "a + b"), named("b", "a"), named("a", "b"));
    replayed(&data, &cases[..2], &[right.clone(), wrong]).await;
    replayed(&data, &cases, &[right]).await;
    replayed(&data, &cases[1..2], &[other]).await;
    let id = |number: usize| cases[number].id.clone();
    let expected = [
        (id(0), "a", false),
        (id(0), "a + b", true),
        (id(1), "b", false),
        (id(1), "a", false),
        (id(1), "a + b", true),
        (id(2), "a + b", true),
    ];
    assert_eq!(shown(&latest(&data, SUITE, &cases)), expected);
}

#[tokio::test]
async fn engine_with_changed_settings_is_listed_once_per_case() {
    let (_folder, data) = data();
    let cases = [case(1), case(2)];
    replayed(&data, &cases, &[named("one", "a"), named("two", "b")]).await;
    replayed(&data, &cases[..1], &[named("one", "a + b")]).await;
    let id = |number: usize| cases[number].id.clone();
    let expected = [(id(0), "a + b", true), (id(0), "b", false), (id(1), "a", false), (id(1), "b", false)];
    assert_eq!(shown(&latest(&data, SUITE, &cases)), expected);
}

#[tokio::test]
async fn newer_of_two_answers_of_an_engine_is_returned() {
    let (_folder, data) = data();
    let (cases, engines) = ([case(1)], [scripted_engine("a + b", 0)]);
    let old = replayed(&data, &cases, &engines).await;
    replayed(&data, &cases, &engines).await;
    let rows = old.join("predictions.jsonl");
    let text = fs::read_to_string(&rows).unwrap().replace("\"text\":\"a + b\"", "\"text\":\"old\"");
    fs::write(&rows, text).unwrap();
    assert_eq!(shown(&latest(&data, SUITE, &cases)), [(cases[0].id.clone(), "a + b", true)]);
}

#[tokio::test]
async fn stored_scores_are_reused_and_missing_ones_computed() {
    let (_folder, data) = data();
    let (cases, engines) = ([case(1), case(2)], [scripted_engine("a + b", 0)]);
    let folder = replayed(&data, &cases, &engines).await;
    let known = || -> Vec<Score> {
        latest(&data, SUITE, &cases).answers.into_iter().map(|(_, score)| score).collect()
    };
    let made = known();
    let rows = folder.join("scores.jsonl");
    let stored: Vec<Score> = parse_lines(&fs::read_to_string(&rows).unwrap()).unwrap().rows;
    assert!(stored.len() == 2 && made.iter().all(|score| stored.contains(score)), "{made:?}");

    let marked = Score { metrics: [(Metric::Tokens, MetricValue::Value(1.0))].into(), ..made[0].clone() };
    fs::write(&rows, to_line(&marked)).unwrap();
    assert_eq!(known(), [marked.clone(), made[1].clone()], "only the first score is stored");
    for scorer in [None, Some(0)] {
        fs::write(&rows, to_line(&Score { scorer, ..marked.clone() })).unwrap();
        assert_eq!(known(), made, "the score of another scorer is made again");
    }
    fs::write(&rows, "no row\n").unwrap();
    assert_eq!(known(), made, "no score can be read");
    fs::remove_file(&rows).unwrap();
    assert_eq!(known(), made, "no score was written");
}

#[tokio::test]
async fn the_newest_run_over_the_whole_suite_is_found() {
    let (_folder, data) = data();
    let cases: Vec<Case> = (0..4).map(case).collect();
    let engines = [scripted_engine("a + b", 0)];
    replayed(&data, &cases[..3], &engines).await;
    let folder = replayed(&data, &cases[..3], &engines).await;
    replayed(&data, &cases[..1], &engines).await;
    replayed(&data, &cases[1..], &engines).await;
    let found = latest(&data, SUITE, &cases).suite_run;
    assert_eq!(found, Some(SuiteRun { folder, cases: 3 }), "one case was recorded since");
    let folder = replayed(&data, &cases, &engines).await;
    let found = latest(&data, SUITE, &cases).suite_run;
    assert_eq!(found, Some(SuiteRun { folder, cases: 4 }));
}

#[tokio::test]
async fn unfinished_run_is_not_a_suite_run() {
    let (_folder, data) = data();
    let cases: Vec<Case> = (0..3).map(case).collect();
    let engines = [scripted_engine("a + b", 0)];
    let mut rows = RunFolder::create(&data.new_run(SUITE).unwrap(), &run(&cases, &engines), &cases).unwrap();
    rows.append(&run_missing_attempts(&cases[..1], &engines, &[], 1).await[0]).unwrap();
    let latest = latest(&data, SUITE, &cases);
    assert_eq!(latest.suite_run, None);
    assert_eq!(latest.answers.len(), 1);
}

#[tokio::test]
async fn unreadable_runs_are_reported_and_skipped() {
    let (_folder, data) = data();
    let (cases, engines) = ([case(1)], [scripted_engine("a + b", 0)]);
    replayed(&data, &cases, &engines).await;
    let broken = replayed(&data, &cases, &engines).await;
    fs::write(broken.join("predictions.jsonl"), "half a row\n").unwrap();
    data.new_run(SUITE).unwrap();
    let latest = latest(&data, SUITE, &cases);
    assert_eq!(shown(&latest), [(cases[0].id.clone(), "a + b", true)]);
    let [problem] = latest.problems.as_slice() else { panic!("one run is broken: {:?}", latest.problems) };
    assert!(
        problem.to_string().starts_with(&format!("{}, line 1", broken.join("predictions.jsonl").display()))
    );
}

#[tokio::test]
async fn only_the_last_50_runs_are_read() {
    let (_folder, data) = data();
    let (cases, engines) = ([case(1)], [scripted_engine("a + b", 0)]);
    let first = replayed(&data, &cases, &engines).await;
    let numbers = 2..=50;
    for _ in numbers {
        data.new_run(SUITE).unwrap();
    }
    assert_eq!(latest(&data, SUITE, &cases).suite_run.map(|whole| whole.folder), Some(first));
    data.new_run(SUITE).unwrap();
    assert_eq!(latest(&data, SUITE, &cases).answers.len(), 0);
}

#[tokio::test]
async fn runs_stamp_changes_with_every_change_of_the_runs() {
    let (_folder, data) = data();
    let (cases, engines) = ([case(1), case(2)], [scripted_engine("a + b", 0)]);
    let mut stamps = vec![data.runs_stamp(SUITE)];
    let mut changed = |change: &str| {
        let stamp = data.runs_stamp(SUITE);
        assert_eq!(stamp, data.runs_stamp(SUITE), "nothing happened after {change}");
        assert!(!stamps.contains(&stamp), "{change} changes the stamp");
        stamps.push(stamp);
    };
    let folder = data.new_run(SUITE).unwrap();
    changed("a new folder");
    let mut rows = RunFolder::create(&folder, &run(&cases, &engines), &cases).unwrap();
    changed("a run's beginning");
    rows.append(&run_missing_attempts(&cases, &engines, &[], 1).await[0]).unwrap();
    changed("an answer");
    let newer = replayed(&data, &cases, &engines).await;
    changed("a newer run");
    replay::write_scores(&folder, &[]).unwrap();
    changed("scores in an older run");
    fs::remove_dir_all(newer).unwrap();
    replayed(&data, &cases[..1], &engines).await;
    changed("another run under a number that is free again");
}

#[tokio::test]
async fn unreadable_runs_have_the_stamp_of_no_runs() {
    let (folder, data) = data();
    let none = data.runs_stamp(SUITE);
    fs::write(folder.path().join("data"), "no folder").unwrap();
    assert_eq!(data.runs_stamp(SUITE), none);
}
