//! `ghostbench trial stop`: ends the running trial, and reveals the names of its arms if they were hidden.

use cases::TrialMode;
use serde_json::json;
use trial::assignment::BlindNames;
use trial::proposal;

use crate::args::TrialPlaceArgs;
use crate::output;
use crate::steps::trial_store::{TrialPlace, proposal_error};

/// Runs the command.
pub(crate) fn run(args: &TrialPlaceArgs) -> anyhow::Result<()> {
    let place = TrialPlace::of(&args.path)?;
    let definition = proposal::stop(&place.folder).map_err(proposal_error)?;
    let revealed = BlindNames::of_mode(&definition).map(|names| names.arms).unwrap_or_default();
    if args.json {
        let arms = revealed.iter().map(|arm| json!({ "name": arm.name, "shown_as": arm.shown_as }));
        let report = json!({ "trial": definition, "revealed": arms.collect::<Vec<_>>() });
        return Ok(output::print(&format!("{report:#}\n"))?);
    }
    let mut text = format!("trial `{}` is stopped; its opportunities are kept\n", definition.name);
    for arm in &revealed {
        text.push_str(&format!("{} was {}\n", arm.shown_as, arm.name));
    }
    if definition.mode == TrialMode::Duel {
        text.push_str("Next: ghostbench trial scoreboard --metric preferred\n");
    }
    Ok(output::print(&text)?)
}
