//! `ghostbench mine`: creates a suite from a repository.

use std::path::Path;

use cases::{Case, RESOLVED_TAG, Scenario};
use serde_json::{Map, Value, json};

use crate::args::MineArgs;
use crate::exit::UsageError;
use crate::folders::{self, USE_OUT};
use crate::output::{count, shell_quoted};
use crate::steps::index::index_for_mining;
use crate::steps::mine::{MinedCases, count_holes};
use crate::steps::mine_history::{HISTORY_SCENARIOS, MinedHistory, mine_history};
use crate::steps::use_threads;
use crate::{output, steps};

/// Runs the command.
pub(crate) fn run(args: &MineArgs) -> anyhow::Result<()> {
    use_threads(args.jobs)?;
    let suite = match &args.from_history {
        Some(range) => from_history(args, range)?,
        None => from_files(args)?,
    };
    if args.out.as_deref() == Some(Path::new("-")) {
        let rows: String = suite.cases.iter().map(cases::to_line).collect();
        return Ok(output::print(&rows)?);
    }
    let path = match &args.out {
        Some(path) => path.clone(),
        None => folders::data_folder(USE_OUT)?.suite(&suite.name, args.mining.seed)?,
    };
    if path.is_dir() {
        return Err(UsageError(format!("{} is a folder; name a file with --out", path.display())).into());
    }
    replay::write_suite(&path, &suite.cases)?;
    if !args.json {
        return Ok(output::print(&summary(&path, &suite, args))?);
    }
    let mut report = json!({
        "suite": path.display().to_string(),
        "hash": cases::suite_hash(&suite.cases),
        "cases": suite.cases.len(),
        "holes": count_holes(suite.cases.iter()),
        "scenarios": scenarios(&suite.cases, &suite.scenarios),
        "left_out": suite.left_out,
    });
    report[suite.source.0] = suite.source.1;
    Ok(output::print(&format!("{report:#}\n"))?)
}

/// Mined cases and where they come from.
struct MinedSuite {
    cases: Vec<Case>,
    /// Name of the suite's file.
    name: String,
    /// Scenarios that were mined; empty means all.
    scenarios: Vec<Scenario>,
    left_out: Value,
    /// Key and description of the source, for `--json`.
    source: (&'static str, Value),
}

fn from_files(args: &MineArgs) -> anyhow::Result<MinedSuite> {
    let (indexed, candidates) = index_for_mining(&args.path)?;
    let MinedCases { cases, left_out } = steps::mine::mine(&indexed, &candidates, &args.mining)?;
    let (name, scenarios) = (indexed.code.name.clone(), args.mining.scenarios.clone());
    Ok(MinedSuite { cases, name, scenarios, left_out, source: ("indexing", indexed.report()) })
}

fn from_history(args: &MineArgs, range: &str) -> anyhow::Result<MinedSuite> {
    let since = args.since.as_deref();
    let MinedHistory { cases, name, left_out, report } =
        mine_history(&args.path, range, since, &args.mining)?;
    let all = || HISTORY_SCENARIOS.to_vec();
    let scenarios = if args.mining.scenarios.is_empty() { all() } else { args.mining.scenarios.clone() };
    Ok(MinedSuite {
        cases,
        name: format!("{name}-history"),
        scenarios,
        left_out,
        source: ("history", report),
    })
}

/// The mined cases of one scenario.
struct ScenarioCounts {
    scenario: Scenario,
    cases: usize,
    holes: usize,
    /// For `cross_file`: number of holes whose name is resolved by the language's rules, and whose name was found by name alone.
    names: Option<[usize; 2]>,
}

/// Counts the cases of the requested scenarios, in their order.
fn counts(cases: &[Case], asked: &[Scenario]) -> Vec<ScenarioCounts> {
    let mined = |scenario| {
        let of = || cases.iter().filter(move |case| case.scenario() == scenario);
        let names = (scenario == Scenario::CrossFile).then(|| {
            ["yes", "no"].map(|word| {
                count_holes(
                    of().filter(|case| case.tags.get(RESOLVED_TAG).is_some_and(|resolved| resolved == word)),
                )
            })
        });
        ScenarioCounts { scenario, cases: of().count(), holes: count_holes(of()), names }
    };
    mining::SCENARIOS
        .into_iter()
        .filter(|scenario| asked.is_empty() || asked.contains(scenario))
        .map(mined)
        .collect()
}

fn summary(path: &Path, suite: &MinedSuite, args: &MineArgs) -> String {
    let row = |mined: &ScenarioCounts| {
        let ScenarioCounts { scenario, cases, holes, names } = mined;
        let names = names.map(|[resolved, others]| format!(" ({resolved} resolved, {others} unresolved)"));
        let holes = count(*holes, "hole");
        format!("{cases:>6}  {scenario:<18} {holes}{}\n", names.unwrap_or_default())
    };
    let rows: String = counts(&suite.cases, &suite.scenarios).iter().map(row).collect();
    let workspace = match args.from_history {
        Some(_) => String::new(),
        None => format!(" --workspace {}", shell_quoted(&args.path)),
    };
    format!(
        "{rows}{:>6}  in {}\nNext: ghostbench replay {}{workspace}\n",
        suite.cases.len(),
        path.display(),
        shell_quoted(path),
    )
}

/// Returns the counts by scenario, for `--json`.
fn scenarios(cases: &[Case], asked: &[Scenario]) -> Map<String, Value> {
    let scenario = |mined: ScenarioCounts| {
        let mut counted = json!({ "cases": mined.cases, "holes": mined.holes });
        if let Some([resolved, unresolved]) = mined.names {
            counted["resolved"] = resolved.into();
            counted["unresolved"] = unresolved.into();
        }
        (mined.scenario.to_string(), counted)
    };
    counts(cases, asked).into_iter().map(scenario).collect()
}
