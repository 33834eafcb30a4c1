//! `ghostbench mine`: a suite from a repository.

use std::path::Path;

use cases::Case;

use crate::args::MineArgs;
use crate::exit::Usage;
use crate::folders::{self, USE_OUT};
use crate::output::quoted;
use crate::steps::index::index;
use crate::steps::use_threads;
use crate::{output, steps};

/// Runs the command.
pub(crate) fn run(args: &MineArgs) -> anyhow::Result<()> {
    use_threads(args.jobs)?;
    let indexed = index(&args.path)?;
    let cases = steps::mine::mine(&indexed, &args.mining)?;
    if args.out.as_deref() == Some(Path::new("-")) {
        let rows: String = cases.iter().map(cases::to_line).collect();
        return Ok(output::print(&rows)?);
    }
    let path = match &args.out {
        Some(path) => path.clone(),
        None => folders::data(USE_OUT)?.suite(&indexed.code.name, args.mining.seed)?,
    };
    if path.is_dir() {
        return Err(Usage(format!("{} is a folder; name a file with --out", path.display())).into());
    }
    replay::write_suite(&path, &cases)?;
    let text =
        if args.json { json(&path, &cases, indexed.report()) } else { summary(&path, &cases, &args.path) };
    Ok(output::print(&text)?)
}

fn summary(path: &Path, cases: &[Case], workspace: &Path) -> String {
    let counts = mining::SCENARIOS.map(|scenario| {
        let count = cases.iter().filter(|case| case.scenario == scenario).count();
        format!("{count:>6}  {scenario}\n")
    });
    format!(
        "{}{:>6}  in {}\nNext: ghostbench replay {} --workspace {}\n",
        counts.concat(),
        cases.len(),
        path.display(),
        quoted(path),
        quoted(workspace)
    )
}

fn json(path: &Path, cases: &[Case], indexing: serde_json::Value) -> String {
    let suite = path.display().to_string();
    let hash = cases::suite_hash(cases);
    format!(
        "{:#}\n",
        serde_json::json!({ "suite": suite, "hash": hash, "cases": cases.len(), "indexing": indexing })
    )
}
