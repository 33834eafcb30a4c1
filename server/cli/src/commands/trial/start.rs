//! `ghostbench trial start`: names each engine that sends code away or costs money, asks once, and starts the trial.

use serde_json::json;
use trial::proposal::{TrialChoices, TrialProposal};

use crate::args::TrialStartArgs;
use crate::output::{self, print_message};
use crate::steps::engine_registry::registry_without_runs;
use crate::steps::settings_sources::SettingsSources;
use crate::steps::trial_store::{TrialPlace, confirm, proposal_error};

/// Runs the command.
pub(crate) fn run(args: &TrialStartArgs) -> anyhow::Result<()> {
    let place = TrialPlace::of(&args.path)?;
    let config = SettingsSources::new(args.settings.file.as_deref()).config(&place.root)?;
    let registry = registry_without_runs();
    let check_engine =
        |name: &str| registry.named(&config, name).map(drop).map_err(|error| error.to_string());
    let proposal = TrialProposal::new(&place.folder, &choices(args), &config, check_engine);
    let proposal = proposal.map_err(proposal_error)?;
    let TrialProposal { definition, disclosures, note } = &proposal;
    disclosures.iter().for_each(|line| print_message(line));
    if let Some(note) = note {
        print_message(&format!("note: {note}"));
    }
    if !disclosures.is_empty() {
        confirm("Start the trial with these engines?", args.yes)?;
    }
    proposal.start(&place.folder)?;
    if args.json {
        let report = json!({ "trial": definition, "disclosures": disclosures });
        return Ok(output::print(&format!("{report:#}\n"))?);
    }
    let arms: Vec<&str> = definition.arms.iter().map(|arm| arm.name.as_str()).collect();
    let (name, mode) = (&definition.name, definition.mode);
    Ok(output::print(&format!(
        "trial `{name}` ({mode}): {}; nothing is shown at {} % of the opportunities\nNext: ghostbench trial status\n",
        arms.join(", "),
        definition.holdout * 100.0
    ))?)
}

fn choices(args: &TrialStartArgs) -> TrialChoices {
    TrialChoices {
        name: args.name.clone(),
        mode: args.mode,
        arms: args.arms.clone(),
        unit: args.unit,
        holdout: args.holdout,
        weights: args.weights.clone(),
        requests_per_minute: args.requests_per_minute.clone(),
        requests_per_day: args.requests_per_day.clone(),
        budget_per_day: args.budget_per_day.clone(),
        primary: args.primary,
        margin: args.margin,
    }
}
