//! `ghostbench trial stop`: ends the running trial.

use cases::TrialMode;
use serde_json::json;
use trial::assignment::blind_names;
use trial::proposal;

use crate::args::TrialPlaceArgs;
use crate::output;
use crate::steps::trial_store::{TrialPlace, proposal_error};

/// Runs the command.
pub(crate) fn run(args: &TrialPlaceArgs) -> anyhow::Result<()> {
    let place = TrialPlace::of(&args.path)?;
    let definition = proposal::stop(&place.folder).map_err(proposal_error)?;
    if args.json {
        return Ok(output::print(&format!("{:#}\n", json!({ "trial": definition })))?);
    }
    let mut text = format!("trial `{}` is stopped; its opportunities are kept\n", definition.name);
    if definition.mode == TrialMode::Duel {
        for (name, shown) in blind_names(&definition) {
            text.push_str(&format!("{shown} was {name}\n"));
        }
        text.push_str("Next: ghostbench trial scoreboard --metric preferred\n");
    }
    Ok(output::print(&text)?)
}
