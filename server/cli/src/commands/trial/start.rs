//! `ghostbench trial start`: checks the engines, names each that sends code away or costs money, and writes the trial's definition.

use std::time::SystemTime;

use anyhow::Context;
use cases::{SchemaVersion, TrialArm, TrialDefinition, TrialMode};
use config::{Config, EngineDefinition, Privacy};
use serde_json::json;
use trial::definition::{read_definitions, write_definition};

use crate::args::TrialStartArgs;
use crate::exit::UsageError;
use crate::output::{self, print_message};
use crate::steps::engine_registry::registry_without_runs;
use crate::steps::settings_sources::SettingsSources;
use crate::steps::trial_store::{TrialPlace, confirm, now};

/// Default limit of requests to an engine a day: a full day of typing.
const REQUESTS_PER_DAY: u32 = 2_000;

/// Default share of opportunities at which nothing is shown, with several engines: each truth there owes nothing to an engine.
const HOLDOUT: f64 = 0.1;

/// Longest name of a trial, characters.
const MAX_NAME: usize = 60;

/// Runs the command.
pub(crate) fn run(args: &TrialStartArgs) -> anyhow::Result<()> {
    let place = TrialPlace::of(&args.path)?;
    let earlier = read_definitions(&place.folder)?;
    if let Some(running) = earlier.iter().find(|trial| trial.is_running()) {
        let name = &running.name;
        return Err(
            UsageError(format!("trial `{name}` is running; stop it first: ghostbench trial stop")).into()
        );
    }
    let config = SettingsSources::new(args.settings.file.as_deref()).config(&place.root)?;
    let definition = define(args, &config)?;
    if earlier.iter().any(|trial| trial.name == definition.name) {
        let name = &definition.name;
        return Err(UsageError(format!("there was a trial `{name}`; choose another name with --name")).into());
    }
    let disclosures = disclosures(&definition, &config);
    disclosures.iter().for_each(|line| print_message(line));
    if config.record.privacy == Privacy::Off {
        print_message(
            "note: record.privacy is \"off\", so that nothing is recorded; set it to \"full\", \"structure\" or \"metrics\"",
        );
    }
    if !disclosures.is_empty() {
        confirm("Start the trial with these engines?", args.yes)?;
    }
    write_definition(&place.folder, &definition)?;
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

/// Returns the trial that the arguments describe.
fn define(args: &TrialStartArgs, config: &Config) -> anyhow::Result<TrialDefinition> {
    if args.mode == TrialMode::Duel {
        let message = "mode `duel` does not exist yet; use --mode shadow or assign";
        return Err(UsageError(message.to_owned()).into());
    }
    let count = args.arms.len();
    let fits = match args.mode {
        TrialMode::Single => count == 1,
        TrialMode::Shadow | TrialMode::Assign => count >= 2,
        TrialMode::Duel => count == 2,
    };
    if !fits {
        let needs = match args.mode {
            TrialMode::Single => "one engine; name several with --mode shadow or assign",
            TrialMode::Shadow | TrialMode::Assign => "two engines or more; repeat --arm",
            TrialMode::Duel => "two engines",
        };
        return Err(UsageError(format!("mode `{}` needs {needs}", args.mode)).into());
    }
    engines::check_named_once(&args.arms).map_err(|error| UsageError(error.to_string()))?;
    check_arms_exist(args)?;
    let registry = registry_without_runs();
    for name in &args.arms {
        let engine = registry.named(config, name).map_err(|error| UsageError(error.to_string()))?;
        if let Some(obstacle) = engine.obstacle() {
            return Err(UsageError(format!("engine `{name}` cannot take part: {obstacle}")).into());
        }
    }
    let name =
        args.name.clone().unwrap_or_else(|| humantime::format_rfc3339_seconds(SystemTime::now()).to_string());
    if name.trim() != name
        || name.is_empty()
        || name.chars().count() > MAX_NAME
        || name.chars().any(char::is_control)
    {
        let message = format!(
            "--name must be a name of one line and at most {MAX_NAME} characters, without blanks around it"
        );
        return Err(UsageError(message).into());
    }
    Ok(TrialDefinition {
        schema: SchemaVersion::CURRENT,
        name,
        mode: args.mode,
        arms: args.arms.iter().map(|name| arm(name, args)).collect(),
        holdout: args.holdout.unwrap_or(if count > 1 { HOLDOUT } else { 0.0 }),
        unit: args.unit,
        salt: random_salt()?,
        primary: args.primary,
        margin: args.margin,
        started_at: now(),
        stopped_at: None,
    })
}

/// Refuses limits of engines that do not take part: they are misspelt.
fn check_arms_exist(args: &TrialStartArgs) -> Result<(), UsageError> {
    let weights = args.weights.iter().map(|(name, _)| ("--weight", name));
    let requests = args.requests_per_day.iter().map(|(name, _)| ("--requests-per-day", name));
    let budgets = args.budget_per_day.iter().map(|(name, _)| ("--budget-per-day", name));
    match weights.chain(requests).chain(budgets).find(|(_, name)| !args.arms.contains(name)) {
        Some((option, name)) => Err(UsageError(format!("{option} names `{name}`, which is no --arm"))),
        None => Ok(()),
    }
}

fn arm(name: &str, args: &TrialStartArgs) -> TrialArm {
    TrialArm {
        name: name.to_owned(),
        weight: value_of(&args.weights, name).unwrap_or(1.0),
        requests_per_day: value_of(&args.requests_per_day, name).unwrap_or(REQUESTS_PER_DAY),
        budget_per_day: value_of(&args.budget_per_day, name),
    }
}

/// Returns the value that is given for an engine, the last one if there are several.
fn value_of<T: Copy>(values: &[(String, T)], name: &str) -> Option<T> {
    values.iter().rev().find(|(known, _)| known == name).map(|(_, value)| *value)
}

/// Returns random text for the salted hashes of assignments.
fn random_salt() -> anyhow::Result<String> {
    let mut bytes = [0; 16];
    getrandom::fill(&mut bytes).context("the system gives no random numbers")?;
    Ok(bytes.iter().map(|byte| format!("{byte:02x}")).collect())
}

/// Returns a line for each engine that sends code off this machine, runs another program or costs money: what it may send and spend
/// a day.
fn disclosures(definition: &TrialDefinition, config: &Config) -> Vec<String> {
    let lines = definition.arms.iter().enumerate().filter_map(|(index, arm)| {
        let engine = config.engines.iter().find(|engine| engine.name == arm.name)?;
        let target = code_target(engine);
        let price = engine
            .settings
            .as_ref()
            .is_ok_and(|settings| settings.price_in.is_some() || settings.price_out.is_some());
        if target.is_none() && !price {
            return None;
        }
        let sends = match target {
            Some(target) => format!("sends the file at the cursor and code of other files to {target}"),
            None => "runs on this machine".to_owned(),
        };
        // The limits are those of engines in shadow: what is shown is asked whenever the editor asks.
        let is_in_shadow = definition.mode == TrialMode::Shadow && index > 0;
        let requests = match is_in_shadow {
            true => format!("at most {} requests a day", arm.requests_per_day),
            false => "asked whenever its suggestion is to be shown, without a daily limit".to_owned(),
        };
        let cost = match (price, arm.budget_per_day) {
            (true, Some(budget)) if is_in_shadow => format!(", costs money: at most {budget} a day"),
            (true, None) if is_in_shadow => ", costs money: limit it with --budget-per-day".to_owned(),
            (true, _) => ", costs money".to_owned(),
            (false, _) => String::new(),
        };
        Some(format!("{}: {sends}; {requests}{cost}", arm.name))
    });
    lines.collect()
}

/// Returns where an engine's code goes if it may leave this machine.
fn code_target(engine: &EngineDefinition) -> Option<String> {
    let kind = engine.kind.filter(|kind| kind.is_external())?;
    let settings = engine.settings.as_ref().ok()?;
    if matches!(kind, config::EngineKind::Command | config::EngineKind::Lsp) {
        return Some("a program, which may send it anywhere".to_owned());
    }
    let address = settings.url.as_deref().or(kind.default_url()).filter(|_| !kind.is_program())?;
    match url::Url::parse(address) {
        Ok(url) if is_this_machine(&url) => None,
        Ok(url) => Some(url.host_str().unwrap_or("its server").to_owned()),
        Err(_) => Some("its server".to_owned()),
    }
}

fn is_this_machine(url: &url::Url) -> bool {
    match url.host() {
        Some(url::Host::Domain(name)) => name == "localhost" || name.ends_with(".localhost"),
        Some(url::Host::Ipv4(address)) => address.is_loopback(),
        Some(url::Host::Ipv6(address)) => address.is_loopback(),
        None => false,
    }
}
