//! Cases, engines and runs for tests.

use std::ops::ControlFlow;
use std::sync::Arc;
use std::time::Duration;

use cases::{
    BlockCut, Case, CompletionTask, Machine, Origin, OriginKind, Prediction, Run, SchemaVersion, Tags, Task,
    suite_hash,
};
use completion::{CompletionSettings, ConfiguredEngine, WorkspaceIndex};
use engines::{Script, ScriptedEngine};
use replay::{RunInputs, StopSignal, engine_config, plan, run_attempts};
use tokio_util::sync::CancellationToken;

pub(crate) fn case(number: usize) -> Case {
    let origin = Origin::new(OriginKind::Mined, "t");
    let mut case = Case {
        schema: SchemaVersion::CURRENT,
        id: String::new(),
        hole: number.to_string(),
        task: Task::Complete(CompletionTask::FullBlock(BlockCut::BlockStart)),
        language: "python".to_owned(),
        block_kind: None,
        path: format!("f{number}.py"),
        byte_range: 4..9,
        line: 0,
        character: 4,
        prefix: "x = ".to_owned(),
        suffix: "\n".to_owned(),
        truth: "a + b".to_owned(),
        context: Vec::new(),
        function: None,
        tests: None,
        origin,
        tags: Tags::new(),
    };
    case.id = case.compute_id();
    case
}

pub(crate) fn engine(name: &str, script: Script) -> ConfiguredEngine {
    ConfiguredEngine {
        engine: Arc::new(ScriptedEngine::new(name, script)),
        settings: CompletionSettings::for_replay(),
        price: None,
        cutoff: None,
        identity: Arc::default(),
    }
}

pub(crate) fn scripted_engine(text: &str, delay_ms: u64) -> ConfiguredEngine {
    let delay = Duration::from_millis(delay_ms);
    engine("scripted", Script { delay, pieces: vec![text.to_owned()], failure: None })
}

/// Returns an engine with this name; its answer is part of its fingerprint.
pub(crate) fn named(name: &str, text: &str) -> ConfiguredEngine {
    engine(name, Script { pieces: vec![text.to_owned()], ..Script::default() })
}

pub(crate) fn run(cases: &[Case], engines: &[ConfiguredEngine]) -> Run {
    Run {
        schema: SchemaVersion::CURRENT,
        tool: "test".to_owned(),
        name: "test".to_owned(),
        suite: suite_hash(cases),
        seed: 1,
        repeat: 1,
        engines: engines.iter().map(engine_config).collect(),
        workspace: None,
        copies: Vec::new(),
        machine: Machine { os: "os".to_owned(), cpu: "cpu".to_owned(), cores: 2 },
    }
}

pub(crate) fn run_inputs(cases: &[Case], engines: &[ConfiguredEngine]) -> RunInputs {
    RunInputs {
        cases: cases.into(),
        engines: engines.into(),
        world: WorkspaceIndex::empty(),
        copies: Arc::default(),
        jobs: 3,
    }
}

pub(crate) fn names(engines: &[ConfiguredEngine]) -> Vec<String> {
    engines.iter().map(|engine| engine.name().to_owned()).collect()
}

/// Runs the attempts missing in `done`; stops after `limit` answers.
pub(crate) async fn run_missing_attempts(
    cases: &[Case],
    engines: &[ConfiguredEngine],
    done: &[Prediction],
    limit: usize,
) -> Vec<Prediction> {
    let attempts = plan(cases, &names(engines), 1, done);
    let enough = CancellationToken::new();
    let mut predictions = Vec::new();
    let record = |_, prediction| {
        predictions.push(prediction);
        if predictions.len() == limit {
            enough.cancel();
        }
        ControlFlow::Continue(())
    };
    let stop = StopSignal::after_pending(enough.clone());
    run_attempts(attempts, &run_inputs(cases, engines), |_, _| (), &stop, record).await;
    predictions
}
