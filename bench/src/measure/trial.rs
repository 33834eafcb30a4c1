//! Live trials: the time that recording and arms in shadow add to a completion, and the size and speed of the store, the scoreboard and a
//! day.

use std::path::PathBuf;

use anyhow::Result;

mod completions;
mod day;
mod stored;

use super::background_load::BackgroundLoad;
use super::figures;

/// Measures everything and returns the Markdown of the section.
pub(super) fn measure() -> Result<String> {
    let bench = TrialBench { ghostbench: super::ghostbench()? };
    let neighbours = BackgroundLoad::watch()?;
    let mut rows = completions::measure(&bench)?;
    rows.extend(stored::measure(&bench)?);
    rows.push(day::measure(&bench)?);
    Ok(format!("{}\n\n{}", conditions(neighbours.share()?), figures::table(&rows)))
}

/// Inputs of the measurements.
struct TrialBench {
    /// The server's program.
    ghostbench: PathBuf,
}

fn conditions(neighbours: f64) -> String {
    format!(
        "Release build, milliseconds; other programs took {neighbours:.0} % of the processor time during the measurement. Servers that are \
         compared run at the same time and get the same keys in turn, one every 20 ms, so that each difference is that of one key. The scripted engine \
         answers at once. A day is 8 hours of simulated typing (`ghostbench trial simulate`) of Ghostbench's own commits or, if they \
         end earlier, of a longer history of the tests (`GHOSTBENCH_HISTORIES`), or of the repository that `GHOSTBENCH_HISTORY` names; growth is counted from the first half hour, less that of a new server that gets the files of these times."
    )
}
