//! The judge of `cross_file` cases: the built-in engine, which knows a case's file and nothing else.

use std::ops::ControlFlow;
use std::sync::Arc;

use cases::{Case, Metric};
use completion::World;
use replay::{Attempt, ConfiguredEngine, Questions, Stop};
use scoring::metric::EXACT_MATCH;
use tokio::runtime::Runtime;
use tokio_util::sync::CancellationToken;

use crate::steps::ask::runtime;
use crate::steps::engines;

/// The engine with what it runs on.
pub(crate) struct BuiltinJudge {
    runtime: Runtime,
    engine: ConfiguredEngine,
    world: World,
}

impl BuiltinJudge {
    pub(crate) fn new() -> anyhow::Result<BuiltinJudge> {
        Ok(BuiltinJudge { runtime: runtime()?, engine: engines::judge(), world: World::empty() })
    }

    /// The engine's name.
    pub(crate) fn name(&self) -> &str {
        &self.engine.engine.description().name
    }

    /// Whether the engine answers the case exactly.
    pub(crate) fn is_right(&self, case: &Case) -> bool {
        let questions = Questions {
            cases: [case.clone()].into(),
            engines: [self.engine.clone()].into(),
            world: self.world.clone(),
            copies: Arc::default(),
            jobs: 1,
        };
        let mut answers = Vec::new();
        let attempts = vec![Attempt { case: 0, engine: 0, repetition: 0 }];
        let stop = Stop::at_once(CancellationToken::new());
        self.runtime.block_on(replay::ask_all(attempts, &questions, &stop, |prediction| {
            answers.push(prediction);
            ControlFlow::Continue(())
        }));
        let scores = replay::score_all(&questions.cases, &answers);
        scores.iter().any(|score| score.metrics.get(EXACT_MATCH) == Some(&Metric::Value(1.0)))
    }
}
