//! Context of replayed cases.

use std::ops::ControlFlow;
use std::sync::Arc;

use cases::{Case, CompletionTask, ContextItem, Prediction, Task};
use completion::{CompletionSettings, ConfiguredEngine, WorkspaceIndex};
use engines::{ScriptedEngine, ScriptedReply};
use index::{Index, Strategy};
use replay::{RunInputs, StopSignal, plan, run_attempts};
use syntax::{Language, Projects, SourceFile};
use tokio_util::sync::CancellationToken;

use crate::fixture::{case, names};

const DOCUMENT: &str = "from helper import total_price\n\n\ndef cost(orders):\n    total = total_price(orders)\n    return total\n";

/// Returns a workspace with the case's own file and the file that it imports.
fn workspace_with_import() -> WorkspaceIndex {
    let file = |path: &str, text: &str| SourceFile {
        path: path.into(),
        language: Language::from_path(path).expect("the ending is known"),
        text: text.into(),
    };
    let helper = "def total_price(orders):\n    \"\"\"Sum of all prices.\"\"\"\n    return sum(order.price for order in orders)\n";
    let files: Arc<[SourceFile]> = [file("f1.py", DOCUMENT), file("helper.py", helper)].into();
    let index = Index::build(&files);
    WorkspaceIndex::new(Arc::clone(&files)).with_index(files, index, Arc::new(Projects::default()))
}

/// Returns a case in the document that removes the assigned value.
fn hole() -> Case {
    let (prefix, rest) = DOCUMENT.split_once("total_price(orders)\n").expect("it is in the document");
    let (prefix, suffix) = (prefix.to_owned(), format!("\n{rest}"));
    with_computed_id(Case { prefix, suffix, truth: "total_price(orders)".to_owned(), ..case(1) })
}

fn with_computed_id(case: Case) -> Case {
    Case { id: case.compute_id(), ..case }
}

/// Returns an engine that answers with the files of its context.
fn engine(name: &str, strategy: Strategy) -> ConfiguredEngine {
    let rule = ScriptedReply { context: true, ..ScriptedReply::default() };
    ConfiguredEngine {
        engine: Arc::new(ScriptedEngine::with_rules(name, vec![rule])),
        settings: CompletionSettings { strategy, ..CompletionSettings::for_replay() },
        price: None,
        cutoff: None,
        identity: Arc::default(),
    }
}

/// Returns the raw answers to cases in the workspace, by case and engine.
async fn answers(cases: &[Case], engines: &[ConfiguredEngine], jobs: usize) -> Vec<Prediction> {
    let attempts = plan(cases, &names(engines), 1, &[]);
    let inputs = RunInputs {
        cases: cases.into(),
        engines: engines.into(),
        world: workspace_with_import(),
        copies: Arc::default(),
        jobs,
    };
    let mut answers = Vec::new();
    let stop = StopSignal::immediately(CancellationToken::new());
    let record = |_, prediction| {
        answers.push(prediction);
        ControlFlow::Continue(())
    };
    run_attempts(attempts, &inputs, |_, _| (), &stop, record).await;
    answers.sort_by_key(|answer| (answer.case.clone(), answer.engine.name.clone()));
    answers
}

/// Returns the files of the context that an engine receives with the case under a strategy.
async fn sent(case: Case, strategy: Strategy) -> String {
    answers(&[case], &[engine("scripted", strategy)], 1).await.remove(0).raw
}

/// Counts of the process: nextest runs each test in its own.
#[tokio::test]
async fn context_of_a_case_is_chosen_once_for_engines_with_the_same_settings() {
    let renamed = Case { path: "f2.py".to_owned(), ..hole() };
    let cases = [hole(), with_computed_id(renamed)];
    let strategies = [Strategy::Hybrid, Strategy::Hybrid, Strategy::Symbols, Strategy::Hybrid];
    let engines: Vec<ConfiguredEngine> = strategies
        .iter()
        .enumerate()
        .map(|(number, strategy)| engine(&number.to_string(), *strategy))
        .collect();
    for jobs in [1, 4] {
        let (retrievals, parses) = (index::retrieval_count(), syntax::parse_counts().parses);
        let answered = answers(&cases, &engines, jobs).await;
        let raw: Vec<&str> = answered.iter().map(|answer| answer.raw.as_str()).collect();
        assert!(raw.iter().all(|raw| raw.contains("context=helper.py")), "{raw:?}");
        assert_eq!(index::retrieval_count() - retrievals, 4, "two ways for each of two cases, {jobs} jobs");
        // To choose, and with the answer.
        assert_eq!(syntax::parse_counts().parses - parses, 4, "two of each case, {jobs} jobs");
        let gathering: Vec<f64> = answered.iter().map(|answer| answer.ms.gather).collect();
        assert!(gathering.iter().all(|ms| *ms > 0.0), "each is charged for its context: {gathering:?}");
    }
}

#[tokio::test]
async fn context_is_retrieved_by_strategy_without_the_case_file() {
    assert_eq!(sent(hole(), Strategy::Hybrid).await, "context=helper.py");
    assert_eq!(sent(hole(), Strategy::None).await, "context=");
}

#[tokio::test]
async fn stored_context_of_a_case_is_not_replaced() {
    let item = ContextItem {
        path: "frozen.py".to_owned(),
        start_line: 0,
        end_line: 1,
        text: "x = 1\n".to_owned(),
        strategy: "functions".to_owned(),
        score: 1.0,
    };
    let frozen = with_computed_id(Case { context: vec![item], ..hole() });
    assert_eq!(sent(frozen, Strategy::Hybrid).await, "context=frozen.py");
    let rag = with_computed_id(Case { task: Task::Complete(CompletionTask::Rag), ..hole() });
    assert_eq!(sent(rag, Strategy::Hybrid).await, "context=", "nothing was found for it, which is a finding");
    let in_file = Case { task: Task::IN_FILE, ..hole() };
    assert_eq!(sent(with_computed_id(in_file), Strategy::Hybrid).await, "context=");
}
