//! The memory of a server after a day of typing.

use std::env;
use std::path::PathBuf;

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

pub(super) fn measure(bench: &TrialBench) -> Result<FigureRow> {
    let history = env::var_os(HISTORY).map_or_else(|| process::repository_root().to_owned(), PathBuf::from);
    let project = Project::new("");
    let limits = format!("--hours {HOURS} --opportunities {OPPORTUNITIES} --kills 0 --json");
    let mut command = project.command(&bench.ghostbench, &format!("trial simulate {limits}"));
    let output = command.arg(&history).output()?;
    // A finding is reported in the results.
    let results: Value = serde_json::from_slice(&output.stdout)
        .with_context(|| String::from_utf8_lossy(&output.stderr).into_owned())?;
    let server = &results["server"];
    let hours = server["hours"].as_f64().unwrap_or_default();
    ensure!(
        hours >= f64::from(HOURS),
        "the history ends after {hours:.1} hours; name a longer one by {HISTORY}"
    );
    let bytes = |index: usize| server["resident_bytes"][index].as_f64().context("the memory is not known");
    let (first, last) = (bytes(0)?, bytes(1)?);
    Ok(FigureRow::value(
        format!(
            "growth of the server's memory over {hours:.1} hours, {} opportunities, {} truths right, {} wrong",
            results["all"]["opportunities"], results["all"]["right"], results["all"]["wrong"]
        ),
        format!("{:+.1} MB, from {:.1} MB", (last - first) / 1e6, first / 1e6),
        "20 MB",
        last - first <= MAX_GROWTH,
    ))
}
