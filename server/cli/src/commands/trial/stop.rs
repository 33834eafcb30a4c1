//! `ghostbench trial stop`: ends the running trial.

use serde_json::json;
use trial::definition::{read_definition, write_definition};

use crate::args::TrialPlaceArgs;
use crate::exit::UsageError;
use crate::output;
use crate::steps::trial_store::{TrialPlace, now};

/// Runs the command.
pub(crate) fn run(args: &TrialPlaceArgs) -> anyhow::Result<()> {
    let place = TrialPlace::of(&args.path)?;
    let running = read_definition(&place.folder)?.filter(cases::TrialDefinition::is_running);
    let Some(mut definition) = running else {
        return Err(UsageError(
            "no trial is running in this workspace; start one with: ghostbench trial start".to_owned(),
        )
        .into());
    };
    definition.stopped_at = Some(now());
    write_definition(&place.folder, &definition)?;
    if args.json {
        return Ok(output::print(&format!("{:#}\n", json!({ "trial": definition })))?);
    }
    Ok(output::print(&format!("trial `{}` is stopped; its opportunities are kept\n", definition.name))?)
}
