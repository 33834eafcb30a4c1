//! Which requests a run makes: none twice, failed ones again if asked for, none beyond its limits.

use std::collections::BTreeMap;
use std::path::Path;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex};

use cases::{Case, NO_COPIES_SUFFIX, Prediction, Run, Status};
use completion::{CompletionSettings, ConfiguredEngine, WorkspaceIndex};
use engines::{
    Answer, AnswerListener, Engine, EngineDescription, EngineError, EngineKind, FinishReason, Request,
    TokenPrice, Usage, with_name,
};
use futures_util::FutureExt;
use futures_util::future::BoxFuture;
use index::{Index, Strategy};
use replay::{
    ReachedLimit, RequestPlan, RunAnswers, RunFolder, RunInputs, SpendLimits, StopSignal, TruthCopies,
    execute, read_run,
};
use syntax::{Language, Projects, SourceFile};
use tokio_util::sync::CancellationToken;

use crate::fixture::{case, run, run_inputs};

/// An engine that counts its requests by the files of their context, and fails at the first `failures` of them.
struct CountingEngine {
    description: EngineDescription,
    requests: Mutex<BTreeMap<String, usize>>,
    failures: AtomicUsize,
    usage: Option<Usage>,
}

impl CountingEngine {
    fn new(failures: usize) -> Arc<CountingEngine> {
        let description = EngineDescription {
            name: "model".to_owned(),
            kind: EngineKind::OpenAi,
            model: "m".to_owned(),
            settings: BTreeMap::from([("max_tokens".to_owned(), "100".to_owned())]),
        };
        let usage = Some(Usage { input: 10, output: 10, cached: None });
        Arc::new(CountingEngine { description, requests: Mutex::default(), failures: failures.into(), usage })
    }

    fn count(&self) -> usize {
        self.requests.lock().expect("no test panics with the lock").values().sum()
    }

    fn configured(self: &Arc<CountingEngine>, price: Option<TokenPrice>) -> ConfiguredEngine {
        let settings = CompletionSettings { strategy: Strategy::Hybrid, ..CompletionSettings::for_replay() };
        ConfiguredEngine { engine: self.clone(), settings, price, cutoff: None, identity: Arc::default() }
    }
}

impl Engine for CountingEngine {
    fn description(&self) -> &EngineDescription {
        &self.description
    }

    fn reads_workspace(&self) -> bool {
        false
    }

    fn reads_context(&self) -> bool {
        true
    }

    fn complete<'a>(
        &'a self,
        request: Request,
        sink: &'a mut dyn AnswerListener,
        _cancel: &'a CancellationToken,
    ) -> BoxFuture<'a, Result<Answer, EngineError>> {
        let files: Vec<&str> = request.input.context.iter().map(|item| &*item.path).collect();
        *self.requests.lock().expect("no test panics with the lock").entry(files.join(" ")).or_default() += 1;
        let fails =
            self.failures.fetch_update(Ordering::Relaxed, Ordering::Relaxed, |left| left.checked_sub(1));
        let answer = match fails {
            Ok(_) => Err(EngineError::Failed { engine: "model".to_owned(), message: "down".to_owned() }),
            Err(_) => {
                let _ = sink.text("a + b");
                Ok(Answer { usage: self.usage, ..Answer::with_finish(FinishReason::Stop) })
            }
        };
        std::future::ready(answer).boxed()
    }
}

/// Returns the engine, and the same engine without copies.
fn both_arms(engine: &Arc<CountingEngine>) -> Vec<ConfiguredEngine> {
    let all = engine.configured(None);
    let settings = CompletionSettings { hide_near_duplicates: true, ..all.settings.clone() };
    let hidden = with_name(Arc::clone(&all.engine), &["model", NO_COPIES_SUFFIX].concat());
    vec![all.clone(), ConfiguredEngine { engine: hidden, settings, ..all }]
}

const FUNCTION: &str = "def discount(order, rate):\n    total = order.price_of_items(rate)\n    for item in order.items:\n        total -= item.rebate(rate, order.customer)\n    order.remember(total, rate)\n    return total\n";

/// Returns a case in `path` that removes the function after `import`, and the file that it was cut from.
fn case_with_copy(path: &str, import: &str) -> (Case, String) {
    let prefix = format!("{import}\n\n");
    let text = [&prefix, FUNCTION].concat();
    let range = prefix.len()..text.len();
    let case = Case {
        path: path.to_owned(),
        byte_range: range,
        prefix,
        suffix: String::new(),
        truth: FUNCTION.to_owned(),
        ..case(1)
    };
    (Case { id: case.compute_id(), ..case }, text)
}

/// Returns two cases whose truth has a copy in `copy.py`, of which only the first one retrieves it, and their inputs.
fn cases_with_copies(engine: &Arc<CountingEngine>) -> RunInputs {
    let (near, near_text) = case_with_copy("near.py", "from copy import discount_of, rebate");
    let (far, far_text) = case_with_copy("far.py", "x = 1");
    let copy = FUNCTION.replace("discount", "discount_of");
    let file = |path: &str, text: &str| SourceFile {
        path: path.into(),
        language: Language::Python,
        text: text.into(),
    };
    let files: Arc<[SourceFile]> =
        [file("copy.py", &copy), file("far.py", &far_text), file("near.py", &near_text)].into();
    let world = WorkspaceIndex::new(Arc::clone(&files)).with_index(
        Arc::clone(&files),
        Index::build(&files),
        Arc::new(Projects::default()),
    );
    let (cases, engines) = (vec![near, far], both_arms(engine));
    let copies = TruthCopies::find(&cases, &world, false);
    assert_eq!(copies.rows().len(), 2, "both have copies");
    let copies = copies.with_same_requests(&cases, &engines, &world);
    RunInputs { cases: cases.into(), engines: engines.into(), world, copies: copies.into(), jobs: 2 }
}

fn describe(inputs: &RunInputs) -> Run {
    Run { copies: inputs.copies.rows(), ..run(&inputs.cases, &inputs.engines) }
}

async fn start(folder: &Path, inputs: &RunInputs, plan: RequestPlan) -> RunAnswers {
    let mut rows = RunFolder::create(folder, &describe(inputs), &inputs.cases).expect("a new folder");
    finish(&mut rows, Vec::new(), inputs, plan).await
}

async fn resume(folder: &Path, inputs: &RunInputs, plan: RequestPlan) -> RunAnswers {
    let (mut rows, contents) = RunFolder::resume(folder, &describe(inputs)).expect("the same run");
    finish(&mut rows, contents.predictions, inputs, plan).await
}

async fn finish(
    rows: &mut RunFolder,
    done: Vec<Prediction>,
    inputs: &RunInputs,
    plan: RequestPlan,
) -> RunAnswers {
    let stop = StopSignal::after_pending(CancellationToken::new());
    execute(rows, done, plan, inputs, &stop, |_, _| {}).await.expect("answers")
}

#[tokio::test]
async fn case_is_asked_again_without_copies_only_if_its_context_changes() {
    let folder = tempfile::tempdir().unwrap();
    let engine = CountingEngine::new(0);
    let inputs = cases_with_copies(&engine);
    let answers = start(&folder.path().join("run"), &inputs, RequestPlan::new(1)).await;
    let requests = engine.requests.lock().unwrap().clone();
    let expected = [("", 2), ("copy.py far.py", 1)].map(|(files, count)| (files.to_owned(), count));
    assert_eq!(requests, expected.into(), "two cases, and one of them without copies");
    assert!(answers.is_finished());
    let reused: Vec<&Prediction> = answers.predictions.iter().filter(|row| row.reused).collect();
    let [reused] = reused[..] else { panic!("{:?}", answers.predictions) };
    assert_eq!((&*reused.case, &*reused.engine.name), (&*inputs.cases[1].id, "model no-copies"));
    assert_eq!((&*reused.text, reused.requests(), reused.cost), ("a + b", 0, None));
    assert_eq!(answers.scores.len(), 4, "it is scored as well");
}

#[tokio::test]
async fn answer_is_reused_after_a_kill_between_the_two_rows() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("run");
    let engine = CountingEngine::new(0);
    let inputs = cases_with_copies(&engine);
    start(&path, &inputs, RequestPlan::new(1)).await;
    let rows = std::fs::read_to_string(path.join("predictions.jsonl")).unwrap();
    let kept: String =
        rows.lines().filter(|row| !row.contains("\"reused\"")).map(|row| format!("{row}\n")).collect();
    std::fs::write(path.join("predictions.jsonl"), kept).unwrap();
    let asked = engine.count();
    let answers = resume(&path, &inputs, RequestPlan::new(1)).await;
    assert_eq!(engine.count(), asked);
    assert!(answers.is_finished() && answers.predictions.iter().any(|row| row.reused));
}

#[tokio::test]
async fn failed_requests_are_repeated_and_their_history_is_kept() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("run");
    let engine = CountingEngine::new(3);
    let cases: Vec<Case> = (0..5).map(case).collect();
    let inputs = run_inputs(&cases, &[engine.configured(None)]);
    let failed = |answers: &[Prediction]| answers.iter().filter(|row| row.status == Status::Error).count();
    let first = start(&path, &inputs, RequestPlan::new(1)).await;
    assert_eq!((failed(&first.predictions), engine.count()), (3, 5));
    let retry = RequestPlan { retries_failed: true, ..RequestPlan::new(1) };
    engine.failures.store(1, Ordering::Relaxed);
    let second = resume(&path, &inputs, retry).await;
    assert_eq!((failed(&second.predictions), engine.count()), (1, 8), "only failed ones are repeated");
    assert!(second.is_finished());
    let third = resume(&path, &inputs, retry).await;
    assert_eq!((failed(&third.predictions), engine.count()), (0, 9));
    assert_eq!(third.predictions.iter().map(Prediction::requests).sum::<u64>(), 9);
    let read = read_run(&path).unwrap();
    assert_eq!(read.predictions, third.predictions, "each request counts once");
    let rows = std::fs::read_to_string(path.join("predictions.jsonl")).unwrap();
    assert_eq!(rows.lines().filter(|row| row.contains("\"error\"")).count(), 4, "failures stay in the file");
    let scored = replay::scores_of(&path, &read);
    assert_eq!((scored.computed, scored.scores), (0, replay::score_all(&cases, &read.predictions)));
}

#[tokio::test]
async fn repeated_requests_that_were_killed_have_no_scores_of_their_failures() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("run");
    let engine = CountingEngine::new(2);
    let cases: Vec<Case> = (0..2).map(case).collect();
    let inputs = run_inputs(&cases, &[engine.configured(None)]);
    start(&path, &inputs, RequestPlan::new(1)).await;
    let (mut rows, contents) = RunFolder::resume(&path, &describe(&inputs)).unwrap();
    let retry = RequestPlan { retries_failed: true, ..RequestPlan::new(1) };
    let stop = StopSignal::after_pending(CancellationToken::new());
    // The process ends after the first answer, before it writes scores.
    let killed = std::panic::AssertUnwindSafe(execute(
        &mut rows,
        contents.predictions,
        retry,
        &inputs,
        &stop,
        |done, _| assert!(done == 0, "killed"),
    ));
    assert!(killed.catch_unwind().await.is_err());
    drop(rows);
    let read = read_run(&path).unwrap();
    assert!(read.predictions.iter().any(|row| row.attempt == 2));
    assert_eq!(replay::scores_of(&path, &read).scores, replay::score_all(&cases, &read.predictions));
}

/// Ten units for each token read and written, so that an answer of the test engine costs 0.0002.
const PRICE: Option<TokenPrice> = Some(TokenPrice { input: 10.0, output: 10.0 });

#[tokio::test]
async fn budget_is_never_exceeded_and_counts_earlier_answers() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("run");
    let engine = CountingEngine::new(0);
    let cases: Vec<Case> = (0..20).map(case).collect();
    let inputs = run_inputs(&cases, &[engine.configured(PRICE)]);
    let with_budget = |budget: f64| RequestPlan {
        limits: SpendLimits { budget: Some(budget), requests: None },
        ..RequestPlan::new(1)
    };
    let spent = |answers: &RunAnswers| -> f64 {
        answers.predictions.iter().filter_map(|row| row.cost).map(|cost| cost.amount).sum()
    };
    // The longest answer costs 0.001, so three requests in flight would exceed the budget.
    let first = start(&path, &inputs, with_budget(0.002)).await;
    assert!(spent(&first) <= 0.002 && first.predictions.len() >= 4, "{} answers", first.predictions.len());
    assert!(matches!(first.limit, Some(ReachedLimit::Budget { .. })) && !first.is_finished());
    assert_eq!(read_run(&path).unwrap().predictions, first.predictions, "finished answers are kept");
    let asked = engine.count();
    let again = resume(&path, &inputs, with_budget(0.002)).await;
    assert_eq!(engine.count(), asked, "it is already spent");
    assert_eq!(again.predictions, first.predictions);
    let rest = resume(&path, &inputs, with_budget(1.0)).await;
    assert!(rest.is_finished() && rest.limit.is_none());
    assert_eq!(engine.count(), 20);
}

#[tokio::test]
async fn number_of_requests_is_limited_over_resumed_runs() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("run");
    let engine = CountingEngine::new(0);
    let cases: Vec<Case> = (0..20).map(case).collect();
    let inputs = run_inputs(&cases, &[engine.configured(None)]);
    let with_limit = |requests: u64| RequestPlan {
        limits: SpendLimits { budget: None, requests: Some(requests) },
        ..RequestPlan::new(1)
    };
    let first = start(&path, &inputs, with_limit(7)).await;
    assert_eq!((engine.count(), first.predictions.len(), first.missing), (7, 7, 13));
    assert_eq!(first.limit, Some(ReachedLimit::Requests(7)));
    let second = resume(&path, &inputs, with_limit(9)).await;
    assert_eq!((engine.count(), second.predictions.len()), (9, 9));
    assert!(resume(&path, &inputs, with_limit(20)).await.is_finished());
}
