//! Checks the rules of `--fail-under`, `--fail-on` and `--non-inferior`, and compares engines with their baseline.

use std::path::Path;

use anyhow::Context;
use cases::Run;
use scoring::compared_runs::Contestant;
use scoring::gate::{self, GateReport, GateScope};
use scoring::{ComparedRuns, RunComparison, RunRows, VerdictSettings};

use crate::args::GateArgs;
use crate::exit::{FailedGatesError, UsageError};
use crate::steps::scored_runs::ScoredRun;

/// The baseline of the engines of a run.
pub(crate) enum Baseline {
    /// Nothing.
    None,
    /// An engine of the same run, by its index.
    Engine(usize),
    /// The engines of the same names in another run.
    Run(Box<ScoredRun>),
}

impl Baseline {
    /// Finds an engine of the run, or reads the run in the folder of that name.
    pub(crate) fn find(name: Option<&str>, run: &Run) -> anyhow::Result<Baseline> {
        let Some(name) = name else { return Ok(Baseline::None) };
        Ok(match Baseline::engine_or_run(name, run)? {
            Some(engine) => Baseline::Engine(engine),
            None => Baseline::Run(Box::new(ScoredRun::read(Path::new(name), "baseline".to_owned())?)),
        })
    }

    /// Returns the index of the run's engine of that name, or nothing if it is the folder of a run.
    pub(crate) fn engine_or_run(name: &str, run: &Run) -> Result<Option<usize>, UsageError> {
        let engines: Vec<&str> = run.engines.iter().map(|config| config.engine.name.as_str()).collect();
        let engine = engines.iter().position(|engine| *engine == name);
        if engine.is_none() && !Path::new(name).join("run.json").exists() {
            return Err(UsageError(format!(
                "--baseline: `{name}` is neither an engine of the run ({}) nor the folder of a run",
                engines.join(", ")
            )));
        }
        Ok(engine)
    }

    /// Returns the engine of the run that every other one is compared with.
    pub(crate) fn engine(&self) -> Option<usize> {
        if let Baseline::Engine(engine) = self { Some(*engine) } else { None }
    }
}

/// Checks the rules for a run, `own` being its rows alone, with the changes against its baseline. Writes JUnit's file if one is
/// requested.
pub(crate) fn check_run(
    rows: RunRows<'_>,
    own: &ComparedRuns<'_>,
    baseline: &Baseline,
    args: &GateArgs,
    question: &VerdictSettings,
) -> anyhow::Result<GateReport> {
    // Rules name the engines of the run as it does.
    let name = |engine: &Contestant| match engine.run {
        0 => engine.engine.name.clone(),
        _ => format!("{} @ baseline", engine.engine.name),
    };
    let names = |compared: &ComparedRuns<'_>| compared.contestants().iter().map(name).collect();
    match baseline {
        Baseline::None => check(own, names(own), Pairing::None, args, question),
        Baseline::Engine(engine) => check(own, names(own), Pairing::WithEngine(*engine), args, question),
        Baseline::Run(run) => {
            let both = ComparedRuns::new(&[rows, run.named().rows]);
            check(&both, names(&both), Pairing::WithSecondRun, args, question)
        }
    }
}

/// Checks the rules for the engines of all runs. Writes JUnit's file if one is requested.
pub(crate) fn check_comparison(
    comparison: &RunComparison,
    compared: &ComparedRuns<'_>,
    args: &GateArgs,
    question: &VerdictSettings,
) -> anyhow::Result<GateReport> {
    let baseline = comparison.sections.first().and_then(|section| section.verdict.baseline);
    let pairing = baseline.map_or(Pairing::None, Pairing::WithEngine);
    let names = comparison.engines.iter().map(|engine| engine.name.clone()).collect();
    check(compared, names, pairing, args, question)
}

/// The baselines of engines.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Pairing {
    /// None.
    None,
    /// One engine for all others.
    WithEngine(usize),
    /// For the engines of the first run, those of the same names in the second one. A single engine of each run is compared whatever
    /// their names are.
    WithSecondRun,
}

/// Checks the rules for the engines of the runs, without those of a run that is the baseline.
fn check(
    compared: &ComparedRuns<'_>,
    names: Vec<String>,
    pairing: Pairing,
    args: &GateArgs,
    question: &VerdictSettings,
) -> anyhow::Result<GateReport> {
    let Some(&(section, _)) = compared.sections().first() else {
        return match args.is_empty() {
            true => Ok(GateReport::default()),
            false => Err(FailedGatesError("there are no answers to check".to_owned()).into()),
        };
    };
    let is_checked = |engine: &Contestant| {
        engine.with_copies.is_none() && (engine.run == 0 || pairing != Pairing::WithSecondRun)
    };
    let contestants = compared.contestants().iter().enumerate();
    let engines: Vec<usize> =
        contestants.filter(|(_, engine)| is_checked(engine)).map(|(index, _)| index).collect();
    let pairs = pairs(compared, &engines, pairing);
    let scope = GateScope { runs: compared, section, names, engines };
    let mut report = GateReport {
        checks: gate::check_conditions(&scope, &args.conditions(), question.deadline)?,
        changes: gate::changes(&scope, &pairs, question),
    };
    if let Some(margin) = args.non_inferior {
        if pairs.is_empty() {
            return Err(UsageError(
                "--non-inferior: no engine has a baseline; name an engine, or a run with engines of the same names"
                    .to_owned(),
            )
            .into());
        }
        // Without the digits that the conversion to a share adds.
        let points = (margin * 1e6).round() / 1e4;
        let rule = format!("not {points}pt worse than the baseline");
        let question = VerdictSettings { margin: Some(margin), ..*question };
        report.checks.extend(gate::check_non_inferiority(&scope, &rule, &pairs, &question)?);
    }
    if let Some(file) = &args.junit {
        private_files::write(file, report::gates_junit(&report, "ghostbench").as_bytes())
            .with_context(|| format!("cannot write {}; choose another place with --junit", file.display()))?;
    }
    Ok(report)
}

/// Returns each engine with its baseline.
fn pairs(compared: &ComparedRuns<'_>, engines: &[usize], pairing: Pairing) -> Vec<(usize, usize)> {
    match pairing {
        Pairing::None => return Vec::new(),
        Pairing::WithEngine(baseline) => {
            let others = engines.iter().filter(|&&engine| engine != baseline);
            return others.map(|&engine| (engine, baseline)).collect();
        }
        Pairing::WithSecondRun => {}
    }
    let contestants = compared.contestants();
    let others = contestants.iter().enumerate().filter(|(_, it)| it.run == 1 && it.with_copies.is_none());
    let others: Vec<usize> = others.map(|(engine, _)| engine).collect();
    if let ([engine], [other]) = (engines, others.as_slice()) {
        return vec![(*engine, *other)];
    }
    let name = |engine: usize| &contestants[engine].engine.name;
    let paired = engines.iter().filter_map(|&engine| {
        let other = others.iter().find(|&&other| name(other) == name(engine))?;
        Some((engine, *other))
    });
    paired.collect()
}

/// Returns an error with the reasons if a check failed.
pub(crate) fn require_passed(report: &GateReport) -> anyhow::Result<()> {
    let reasons: Vec<String> =
        report.failures().map(|check| format!("\n  {}", report::check_text(check))).collect();
    if reasons.is_empty() {
        return Ok(());
    }
    let failed = format!("{} of {} checks failed:{}", reasons.len(), report.checks.len(), reasons.concat());
    Err(FailedGatesError(failed).into())
}
