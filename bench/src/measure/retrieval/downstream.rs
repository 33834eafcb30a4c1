//! Effect of retrieval on the built-in engine.
//!
//! In CrossCodeEval's three settings the engine only sees the case's file and context. The fourth setting is the engine's
//! normal operation: all other files of the repository are visible. The fifth one measures whether context would help in
//! addition.

use std::fmt::Write;
use std::ops::ControlFlow;
use std::sync::Arc;

use anyhow::Result;
use builtin::BuiltinSettings;
use cases::{Case, CompletionTask, CrossFileContext, Metric, Prediction, Task};
use completion::{CompletionSettings, ConfiguredEngine, WorkspaceIndex};
use engines::BuiltinEngine;
use replay::{Attempt, RunInputs, StopSignal};
use scoring::{Observation, ScoringInput};
use syntax::Language;
use tokio_util::sync::CancellationToken;

use super::mined_repository::MinedRepository;
use super::observations::{KeyedObservation, StrategyFigures, difference, equal_languages};

/// Input of the engine.
#[derive(Clone, Copy)]
enum VisibleContext {
    /// The file and the context of this variant.
    Variant(CrossFileContext),
    /// The file and all others, without context.
    Repository,
    /// The file and all others, with retrieved context.
    RepositoryAndRetrieval,
}

const SIGHTS: [VisibleContext; 5] = [
    VisibleContext::Variant(CrossFileContext::InFile),
    VisibleContext::Variant(CrossFileContext::Retrieval),
    VisibleContext::Variant(CrossFileContext::Oracle),
    VisibleContext::Repository,
    VisibleContext::RepositoryAndRetrieval,
];

impl VisibleContext {
    fn name(self) -> &'static str {
        match self {
            VisibleContext::Variant(variant) => variant.name(),
            VisibleContext::Repository => "whole repository",
            VisibleContext::RepositoryAndRetrieval => "whole repository and retrieval",
        }
    }
}

/// Runs the engine on the first uses.
pub(super) fn ask(mined: &MinedRepository) -> Result<Vec<KeyedObservation>> {
    let mut observations = Vec::new();
    for sight in SIGHTS {
        let repository = || WorkspaceIndex::new(mined.files.clone().into());
        let (variant, world) = match sight {
            VisibleContext::Variant(variant) => (variant, WorkspaceIndex::empty()),
            VisibleContext::Repository => (CrossFileContext::InFile, repository()),
            VisibleContext::RepositoryAndRetrieval => (CrossFileContext::Retrieval, repository()),
        };
        let mut cases: Vec<Case> = mined.variant(variant).cloned().collect();
        if let VisibleContext::Repository | VisibleContext::RepositoryAndRetrieval = sight {
            // `in_file` would restrict the engine to its file.
            let retrieval = Task::Complete(CompletionTask::CrossFile(CrossFileContext::Retrieval));
            cases.iter_mut().for_each(|case| case.task = retrieval);
        }
        let answers = answers(&cases, world)?;
        observations
            .extend(cases.iter().zip(&answers).map(|(case, answer)| observation(mined, sight, case, answer)));
    }
    Ok(observations)
}

/// Returns the engine's answers in the order of the cases.
fn answers(cases: &[Case], world: WorkspaceIndex) -> Result<Vec<Prediction>> {
    let engine = BuiltinEngine::new("builtin", BuiltinSettings::for_replay());
    let engine = ConfiguredEngine {
        engine: Arc::new(engine),
        settings: CompletionSettings::for_replay(),
        price: None,
        cutoff: None,
        identity: Arc::default(),
    };
    let questions = RunInputs {
        cases: cases.into(),
        engines: [engine].into(),
        world,
        copies: Arc::default(),
        jobs: replay::cores(),
    };
    let attempts: Vec<Attempt> =
        (0..cases.len()).map(|case| Attempt { case, engine: 0, repetition: 0 }).collect();
    let mut answers = Vec::new();
    let stop = StopSignal::immediately(CancellationToken::new());
    tokio::runtime::Runtime::new()?.block_on(replay::run_attempts(
        attempts,
        &questions,
        |_, _| (),
        &stop,
        |_, prediction| {
            answers.push(prediction);
            ControlFlow::Continue(())
        },
    ));
    answers.sort_by_cached_key(|answer| cases.iter().position(|case| case.id == answer.case));
    Ok(answers)
}

fn observation(
    mined: &MinedRepository,
    sight: VisibleContext,
    case: &Case,
    answer: &Prediction,
) -> KeyedObservation {
    let question = ScoringInput {
        language: Language::from_name(&case.language).unwrap_or(mined.language()),
        prefix: &case.prefix,
        suffix: &case.suffix,
        truth: &case.truth,
    };
    KeyedObservation {
        asked: sight.name(),
        language: mined.language(),
        // The variants of a case have different names; they share the hole.
        observation: Observation::new(
            format!("{}/{}", mined.name(), case.hole),
            mined.name(),
            scoring::score(&question, &answer.text),
            Some(answer.ms.total),
        ),
    }
}

/// The text above the table.
const HEAD: &str = "\
### The built-in engine

The engine's answers to the same first uses, mean over all eight languages: with its file alone, with the results of `hybrid`, with
the results of `hybrid` that also sees the truth, with all files of the repository as its corpus, as in an editor, and with both these
files and the results of `hybrid`.

| sight | token-exact | edit similarity | token-exact, more than in_file | edit similarity, more than in_file |
|---|---|---|---|---|
";

/// Renders the answers as a table.
pub(super) fn table(observations: &[KeyedObservation]) -> String {
    let observations = equal_languages(observations.to_vec());
    let figures = StrategyFigures::new(&observations);
    let mut out = HEAD.to_owned();
    for sight in SIGHTS.map(VisibleContext::name) {
        let gain = |metric| match sight {
            "in_file" => String::new(),
            _ => difference(&observations, CrossFileContext::InFile.name(), sight, metric),
        };
        let cells = [
            figures.percent(sight, Metric::TokenExact),
            figures.percent(sight, Metric::EditSimilarity),
            gain(Metric::TokenExact),
            gain(Metric::EditSimilarity),
        ];
        writeln!(out, "| {sight} | {} |", cells.join(" | ")).expect("a string takes everything");
    }
    out
}
