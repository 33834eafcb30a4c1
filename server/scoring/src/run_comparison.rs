//! Several runs compared on the cases that they share: which cases, which engines, and a verdict on them.
//!
//! Plain data for every output, as [`run_summary`](crate::run_summary) is for one run. Gives engines of the same name in different runs
//! different names. Reads no folders; callers name the runs.

use std::collections::{BTreeMap, BTreeSet};

use cases::{EngineIdentity, Exposure, OriginKind, SchemaVersion};
use serde::Serialize;

use crate::compared_runs::ComparedRuns;
use crate::run_summary::{EngineFailures, RunRows, request_failures};
use crate::verdict::{Verdict, VerdictError, VerdictSettings, verdict};

/// A run with the name that distinguishes it.
#[derive(Clone, Copy, Debug)]
pub struct NamedRun<'a> {
    /// The name, different for each run.
    pub name: &'a str,
    /// Its rows.
    pub rows: RunRows<'a>,
}

/// Returns the answers of named runs.
pub fn compared_runs<'a>(runs: &[NamedRun<'a>]) -> ComparedRuns<'a> {
    ComparedRuns::new(&runs.iter().map(|run| run.rows).collect::<Vec<_>>())
}

/// The question of a comparison.
#[derive(Clone, Debug, PartialEq)]
pub struct ComparisonSettings {
    /// The question of the verdict; its baseline is ignored.
    pub verdict: VerdictSettings,
    /// Name of the engine that every other one is compared with; `None` compares all pairs.
    pub baseline: Option<String>,
}

/// Why runs cannot be compared.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum ComparisonError {
    /// A run has no case of any other one.
    #[error(
        "{run} shares no case with {others}; compare runs of the same suite: `ghostbench replay` with the file cases.jsonl of {run} asks its \
         cases again"
    )]
    NoSharedCases {
        /// The run.
        run: String,
        /// The other runs.
        others: String,
    },
    /// No engine has the name of the baseline, or several do.
    #[error("there is no single engine `{name}` to compare the others with; the engines are {known}")]
    UnknownEngine {
        /// The requested name.
        name: String,
        /// All names.
        known: String,
    },
    /// The cases were selected against the baseline.
    #[error(
        "the cases were kept because `{name}` does not solve them from the file alone, so any engine looks better; choose another baseline"
    )]
    SelectedAgainst {
        /// Name of the baseline.
        name: String,
    },
    /// The metric ranks no engines.
    #[error(transparent)]
    Metric(VerdictError),
}

/// All numbers of a comparison of runs.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct RunComparison {
    /// Version of the schema in which it is written.
    pub schema: SchemaVersion,
    /// The runs, in the requested order.
    pub runs: Vec<RunOverlap>,
    /// Number of cases that all runs have.
    pub shared_cases: usize,
    /// The engines: those of the first run, then those of the next one. Verdicts count in this list.
    pub engines: Vec<ComparedEngine>,
    /// One section per origin and exposure, the largest first.
    pub sections: Vec<ComparedSection>,
    /// Failed requests of the engines that have any, over all cases of their runs.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub failures: Vec<EngineFailures>,
}

/// How much of a run's suite other runs have, too.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct RunOverlap {
    /// Its name.
    pub name: String,
    /// Cases of its suite.
    pub cases: usize,
    /// Those of them that no other run has.
    pub only_here: usize,
}

/// An engine of one of the runs.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct ComparedEngine {
    /// Its name, followed by ` @ ` and the run's name if several runs have an engine of this name.
    pub name: String,
    /// Index of the run.
    pub run: usize,
    /// The engine as in the run.
    pub engine: EngineIdentity,
}

/// The verdict on the cases of one origin.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct ComparedSection {
    /// Origin of the cases.
    pub origin: OriginKind,
    /// Whether a suggestion was shown before the truth was written.
    pub exposure: Exposure,
    /// Cases with an answer of any engine, without those that count in no total.
    pub cases: usize,
    /// The verdict, each pair on the cases that both engines answered.
    pub verdict: Verdict,
}

impl RunComparison {
    /// Compares the runs; `compared` are their rows in the same order.
    pub fn new(
        runs: &[NamedRun<'_>],
        compared: &ComparedRuns<'_>,
        settings: &ComparisonSettings,
    ) -> Result<RunComparison, ComparisonError> {
        let (overlaps, shared_cases) = overlaps(runs)?;
        let engines = engines(runs, compared);
        let baseline = settings.baseline.as_deref().map(|name| find_engine(&engines, name)).transpose()?;
        let question = VerdictSettings { baseline, ..settings.verdict };
        let sections = compared
            .sections()
            .into_iter()
            .map(|(key, cases)| {
                let verdict =
                    verdict(compared, key, &question).map_err(|error| name_engine(error, &engines))?;
                Ok(ComparedSection { origin: key.origin, exposure: key.exposure, cases, verdict })
            })
            .collect::<Result<_, _>>()?;
        let failures = failures(runs, compared);
        let schema = SchemaVersion::CURRENT;
        Ok(RunComparison { schema, runs: overlaps, shared_cases, engines, sections, failures })
    }
}

/// Returns the overlap of each run with the others, and the number of cases that all have.
fn overlaps(runs: &[NamedRun<'_>]) -> Result<(Vec<RunOverlap>, usize), ComparisonError> {
    let mut owners: BTreeMap<&str, usize> = BTreeMap::new();
    for run in runs {
        let ids: BTreeSet<&str> = run.rows.cases.iter().map(|case| case.id.as_str()).collect();
        ids.into_iter().for_each(|id| *owners.entry(id).or_default() += 1);
    }
    let overlaps: Vec<RunOverlap> = runs
        .iter()
        .map(|run| {
            let only_here = run.rows.cases.iter().filter(|case| owners[case.id.as_str()] == 1).count();
            RunOverlap { name: run.name.to_owned(), cases: run.rows.cases.len(), only_here }
        })
        .collect();
    if let Some(apart) = overlaps.iter().find(|run| run.only_here == run.cases && runs.len() > 1) {
        let others: Vec<&str> = runs.iter().map(|run| run.name).filter(|name| *name != apart.name).collect();
        return Err(ComparisonError::NoSharedCases { run: apart.name.clone(), others: others.join(", ") });
    }
    let shared = owners.values().filter(|&&owners| owners == runs.len()).count();
    Ok((overlaps, shared))
}

/// Returns the engines under names that are different.
fn engines(runs: &[NamedRun<'_>], compared: &ComparedRuns<'_>) -> Vec<ComparedEngine> {
    let named = engine_names(runs, compared).into_iter().zip(compared.contestants());
    named
        .map(|(name, contestant)| ComparedEngine {
            name,
            run: contestant.run,
            engine: contestant.engine.clone(),
        })
        .collect()
}

/// Returns the names of the runs' engines, in the order of the contestants: followed by ` @ ` and the run's name if several runs have an
/// engine of this name.
pub fn engine_names(runs: &[NamedRun<'_>], compared: &ComparedRuns<'_>) -> Vec<String> {
    let mut counts: BTreeMap<&str, usize> = BTreeMap::new();
    for contestant in compared.contestants() {
        *counts.entry(&contestant.engine.name).or_default() += 1;
    }
    let named = compared.contestants().iter().map(|contestant| {
        let own = &contestant.engine.name;
        match counts[own.as_str()] {
            1 => own.clone(),
            _ => format!("{own} @ {}", runs[contestant.run].name),
        }
    });
    named.collect()
}

/// Returns the failed requests of all runs, with the engines' indices among the contestants.
fn failures(runs: &[NamedRun<'_>], compared: &ComparedRuns<'_>) -> Vec<EngineFailures> {
    let of_run = |(number, run): (usize, &NamedRun<'_>)| {
        let first = compared.contestants().iter().take_while(|engine| engine.run < number).count();
        let failures = request_failures(&run.rows).into_iter();
        failures.map(move |failures| EngineFailures { engine: first + failures.engine, ..failures })
    };
    runs.iter().enumerate().flat_map(of_run).collect()
}

/// Returns the engine of this name: as shown, or as in its run if only one run has it.
fn find_engine(engines: &[ComparedEngine], name: &str) -> Result<usize, ComparisonError> {
    engines.iter().position(|engine| engine.name == name).ok_or_else(|| ComparisonError::UnknownEngine {
        name: name.to_owned(),
        known: engines.iter().map(|engine| engine.name.as_str()).collect::<Vec<_>>().join(", "),
    })
}

fn name_engine(error: VerdictError, engines: &[ComparedEngine]) -> ComparisonError {
    let name = |engine: usize| engines.get(engine).map_or_else(String::new, |it| it.name.clone());
    match error {
        VerdictError::SelectedAgainst(engine) => ComparisonError::SelectedAgainst { name: name(engine) },
        VerdictError::NoBaseline(engine) => ComparisonError::UnknownEngine {
            name: name(engine),
            known: engines.iter().map(|engine| engine.name.as_str()).collect::<Vec<_>>().join(", "),
        },
        VerdictError::NoDirection(_) | VerdictError::NotOfEngines(_) => ComparisonError::Metric(error),
    }
}
