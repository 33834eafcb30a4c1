//! The judge of `cross_file` cases: the built-in engine with only the case's file.

use std::ops::ControlFlow;
use std::sync::Arc;

use cases::{Case, Metric, MetricValue};
use completion::{ConfiguredEngine, WorkspaceIndex};
use replay::{Attempt, RunInputs, StopSignal};
use tokio::runtime::Runtime;
use tokio_util::sync::CancellationToken;

use crate::steps::engine_registry;
use crate::steps::run_replay::runtime;

/// The engine and its runtime.
pub(crate) struct BuiltinJudge {
    runtime: Runtime,
    engine: ConfiguredEngine,
    world: WorkspaceIndex,
}

impl BuiltinJudge {
    pub(crate) fn new() -> anyhow::Result<BuiltinJudge> {
        Ok(BuiltinJudge {
            runtime: runtime()?,
            engine: engine_registry::judge(),
            world: WorkspaceIndex::empty(),
        })
    }

    /// Returns the engine's name.
    pub(crate) fn name(&self) -> &str {
        self.engine.name()
    }

    /// Returns whether the engine answers the case exactly.
    pub(crate) fn is_right(&self, case: &Case) -> bool {
        let questions = RunInputs {
            cases: [case.clone()].into(),
            engines: [self.engine.clone()].into(),
            world: self.world.clone(),
            copies: Arc::default(),
            jobs: 1,
        };
        let mut answers = Vec::new();
        let attempts = vec![Attempt { case: 0, engine: 0, repetition: 0 }];
        let stop = StopSignal::immediately(CancellationToken::new());
        self.runtime.block_on(replay::run_attempts(
            attempts,
            &questions,
            |_, _| (),
            &stop,
            |_, prediction| {
                answers.push(prediction);
                ControlFlow::Continue(())
            },
        ));
        let scores = replay::score_all(&questions.cases, &answers);
        scores.iter().any(|score| score.metrics.get(&Metric::ExactMatch) == Some(&MetricValue::Value(1.0)))
    }
}
