//! The memory of a server after a day of typing.

use std::env;
use std::path::{Path, PathBuf};

use anyhow::{Context, Result, ensure};
use serde_json::Value;
use tests::Project;
use xtask::process;

use super::TrialBench;
use crate::measure::figures::FigureRow;

/// A working day.
const HOURS: u32 = 8;
/// More than are typed in it.
const OPPORTUNITIES: u32 = 1_000_000;
/// Maximum growth in bytes.
const MAX_GROWTH: f64 = 20e6;
/// Names another repository.
const HISTORY: &str = "GHOSTBENCH_HISTORY";

/// A history that is long enough, if Ghostbench's own is not.
const LONG_HISTORY: &str = "click";

/// Types the commits of the repository that is named, or Ghostbench's own; if they end too early, those of a longer history of the tests.
pub(super) fn measure(bench: &TrialBench) -> Result<FigureRow> {
    let named = env::var_os(HISTORY).map(PathBuf::from);
    let own = process::repository_root().to_owned();
    let results = simulate(bench, named.as_deref().unwrap_or(&own))?;
    if named.is_some() || hours(&results) >= f64::from(HOURS) {
        return growth(&results);
    }
    let unpacked = Project::new("");
    let longer = tests::check_out_history(&unpacked.root(), LONG_HISTORY).with_context(|| {
        format!(
            "Ghostbench's own history ends after {:.1} hours; name a longer one by {HISTORY}, or set GHOSTBENCH_HISTORIES to the folder of \
             histories",
            hours(&results)
        )
    })?;
    growth(&simulate(bench, &longer)?)
}

/// Types a history; returns the results.
fn simulate(bench: &TrialBench, history: &Path) -> Result<Value> {
    let project = Project::new("");
    let limits = format!("--hours {HOURS} --opportunities {OPPORTUNITIES} --kills 0 --json");
    let mut command = project.command(&bench.ghostbench, &format!("trial simulate {limits}"));
    let output = command.arg(history).output()?;
    // A finding is reported in the results.
    serde_json::from_slice(&output.stdout)
        .with_context(|| String::from_utf8_lossy(&output.stderr).into_owned())
}

fn hours(results: &Value) -> f64 {
    results["server"]["hours"].as_f64().unwrap_or_default()
}

fn growth(results: &Value) -> Result<FigureRow> {
    let server = &results["server"];
    let hours = hours(results);
    ensure!(
        hours >= f64::from(HOURS),
        "the history ends after {hours:.1} hours; name a longer one by {HISTORY}"
    );
    let held = |index: usize, name: &str| {
        server["resources"][index][name].as_f64().context("the resources are not known")
    };
    let (first, last) = (held(0, "resident_bytes")?, held(1, "resident_bytes")?);
    let (new_first, new_last) = (held(0, "new_server_bytes")?, held(1, "new_server_bytes")?);
    let growth = (last - first) - (new_last - new_first);
    Ok(FigureRow::value(
        format!(
            "growth of the server's memory over {hours:.1} hours, {} opportunities, {} truths right, {} wrong",
            results["all"]["opportunities"], results["all"]["right"], results["all"]["wrong"]
        ),
        format!(
            "{:+.1} MB (from {:.1} to {:.1} MB; a new server: from {:.1} to {:.1} MB); threads {} to {}, open files {} to {}",
            growth / 1e6,
            first / 1e6,
            last / 1e6,
            new_first / 1e6,
            new_last / 1e6,
            held(0, "threads")?,
            held(1, "threads")?,
            held(0, "open_files")?,
            held(1, "open_files")?
        ),
        "20 MB",
        growth <= MAX_GROWTH,
    ))
}
