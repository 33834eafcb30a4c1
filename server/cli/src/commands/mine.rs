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
use crate::steps::use_threads;
use crate::{output, steps};

/// Runs the command.
pub(crate) fn run(args: &MineArgs) -> anyhow::Result<()> {
    use_threads(args.jobs)?;
    let (indexed, candidates) = index_for_mining(&args.path)?;
    let MinedCases { cases, left_out } = steps::mine::mine(&indexed, &candidates, &args.mining)?;
    if args.out.as_deref() == Some(Path::new("-")) {
        let rows: String = cases.iter().map(cases::to_line).collect();
        return Ok(output::print(&rows)?);
    }
    let path = match &args.out {
        Some(path) => path.clone(),
        None => folders::data_folder(USE_OUT)?.suite(&indexed.code.name, args.mining.seed)?,
    };
    if path.is_dir() {
        return Err(UsageError(format!("{} is a folder; name a file with --out", path.display())).into());
    }
    replay::write_suite(&path, &cases)?;
    if !args.json {
        return Ok(output::print(&summary(&path, &cases, args))?);
    }
    let report = json!({
        "suite": path.display().to_string(),
        "hash": cases::suite_hash(&cases),
        "cases": cases.len(),
        "holes": count_holes(cases.iter()),
        "scenarios": scenarios(&cases, &args.mining.scenarios),
        "left_out": left_out,
        "indexing": indexed.report(),
    });
    Ok(output::print(&format!("{report:#}\n"))?)
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
    let is_asked = |scenario: &Scenario| asked.is_empty() || asked.contains(scenario);
    let mined = |scenario| {
        let of = || cases.iter().filter(move |case| case.scenario() == scenario);
        let resolved = |word: &str| {
            count_holes(
                of().filter(|case| case.tags.get(RESOLVED_TAG).is_some_and(|resolved| resolved == word)),
            )
        };
        let names = (scenario == Scenario::CrossFile).then(|| ["yes", "no"].map(resolved));
        ScenarioCounts { scenario, cases: of().count(), holes: count_holes(of()), names }
    };
    mining::SCENARIOS.into_iter().filter(is_asked).map(mined).collect()
}

fn summary(path: &Path, cases: &[Case], args: &MineArgs) -> String {
    let row = |mined: &ScenarioCounts| {
        let ScenarioCounts { scenario, cases, holes, names } = mined;
        let names = names.map(|[resolved, others]| format!(" ({resolved} resolved, {others} unresolved)"));
        let holes = count(*holes, "hole");
        format!("{cases:>6}  {scenario:<18} {holes}{}\n", names.unwrap_or_default())
    };
    let rows: String = counts(cases, &args.mining.scenarios).iter().map(row).collect();
    format!(
        "{rows}{:>6}  in {}\nNext: ghostbench replay {} --workspace {}\n",
        cases.len(),
        path.display(),
        shell_quoted(path),
        shell_quoted(&args.path)
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
