//! A trial before it starts: its definition, and what each of its engines may send and spend.
//!
//! Command line and editors start and stop trials through this module, so that both ask the developer the same. It reads settings and the
//! folder of the trials only; whether an engine exists is decided by the caller, which has the engines.

use std::path::Path;
use std::time::SystemTime;

use cases::{AssignmentUnit, Metric, SchemaVersion, TrialArm, TrialDefinition, TrialMode};
use config::{Config, EngineDefinition, EngineKind, Privacy};
use scoring::trial_scoreboard::{NetWeights, TrialMetric};
use thiserror::Error;

use crate::definition::{DefinitionError, read_definition, read_definitions, write_definition};
use crate::pause::{self, PauseError};

/// Default limit of requests to an engine in shadow a day: a full day of typing.
const REQUESTS_PER_DAY: u32 = 2_000;

/// Default limit of requests to an engine in shadow a minute: fast typing, and no runaway client.
const REQUESTS_PER_MINUTE: u32 = 60;

/// Default share of opportunities at which nothing is shown, with several engines: each truth there owes nothing to an engine.
const HOLDOUT: f64 = 0.1;

/// Default difference below which two engines are equivalent, as a share.
const MARGIN: f64 = 0.01;

/// Longest name of a trial, characters.
const MAX_NAME: usize = 60;

/// Most engines of a trial: each answers every opportunity.
const MAX_ARMS: usize = 16;

/// Note if the settings forbid recording.
const NOTE_OFF: &str = "record.privacy is \"off\", so that nothing is recorded; set it to \"full\", \"structure\" or \"metrics\"";

/// Largest limit of cost a day, in the currency of the prices: that of the setting.
const MAX_BUDGET: f64 = 1e6;

/// What the developer chooses. Limits and weights are by engine; the last one counts.
#[derive(Clone, Debug, PartialEq)]
pub struct TrialChoices {
    /// Name; `None` for the present time.
    pub name: Option<String>,
    /// Experiment.
    pub mode: TrialMode,
    /// Names of the engines. In `single` and `shadow` the first one is shown.
    pub arms: Vec<String>,
    /// Unit of the assignment.
    pub unit: AssignmentUnit,
    /// Share of the opportunities at which nothing is shown, from 0 to below 1; `None` for the default.
    pub holdout: Option<f64>,
    /// Weights in random assignments.
    pub weights: Vec<(String, f64)>,
    /// Limits of requests a minute.
    pub requests_per_minute: Vec<(String, u32)>,
    /// Limits of requests a day.
    pub requests_per_day: Vec<(String, u32)>,
    /// Limits of cost a day.
    pub budget_per_day: Vec<(String, f64)>,
    /// Metric that decides.
    pub primary: Metric,
    /// Difference below which two engines are equivalent, as a share.
    pub margin: f64,
}

impl TrialChoices {
    /// Returns the default choices for these engines.
    pub fn new(mode: TrialMode, arms: Vec<String>) -> TrialChoices {
        TrialChoices {
            name: None,
            mode,
            arms,
            unit: AssignmentUnit::Session,
            holdout: None,
            weights: Vec::new(),
            requests_per_minute: Vec::new(),
            requests_per_day: Vec::new(),
            budget_per_day: Vec::new(),
            primary: Metric::ExactMatch,
            margin: MARGIN,
        }
    }
}

/// A trial that cannot be started or stopped.
#[derive(Debug, Error)]
pub enum ProposalError {
    /// Another trial runs.
    #[error("trial `{0}` is running; stop it first: ghostbench trial stop")]
    Running(String),
    /// No trial runs.
    #[error("no trial is running in this workspace; start one with: ghostbench trial start")]
    NotRunning,
    /// The choices contradict each other.
    #[error("{0}")]
    Choices(String),
    /// The system gives no random numbers for the assignments.
    #[error("the system gives no random numbers: {0}")]
    Random(getrandom::Error),
    /// The file of the definition cannot be read or written.
    #[error(transparent)]
    Definition(#[from] DefinitionError),
    /// A pause of the recording cannot be ended.
    #[error(transparent)]
    Pause(#[from] PauseError),
}

/// A trial that is ready to start.
#[derive(Clone, Debug, PartialEq)]
pub struct TrialProposal {
    /// The trial.
    pub definition: TrialDefinition,
    /// A line for each engine that sends code off this machine, runs another program or costs money: what it may send and spend a day.
    /// The developer has to confirm them.
    pub disclosures: Vec<String>,
    /// Why nothing would be recorded.
    pub note: Option<&'static str>,
}

impl TrialProposal {
    /// Checks the choices for the workspace whose trials are in `folder`. `check_engine` returns why an engine cannot take part.
    ///
    /// # Errors
    /// Another trial runs, the choices contradict each other, or the earlier trials cannot be read.
    pub fn new(
        folder: &Path,
        choices: &TrialChoices,
        config: &Config,
        check_engine: impl Fn(&str) -> Result<(), String>,
    ) -> Result<TrialProposal, ProposalError> {
        let earlier = read_definitions(folder)?;
        if let Some(running) = earlier.iter().find(|trial| trial.is_running()) {
            return Err(ProposalError::Running(running.name.clone()));
        }
        check_arms(choices).map_err(ProposalError::Choices)?;
        for name in &choices.arms {
            check_engine(name).map_err(ProposalError::Choices)?;
        }
        let name = choices.name.clone().unwrap_or_else(now);
        check_name(&name).map_err(ProposalError::Choices)?;
        if earlier.iter().any(|trial| trial.name == name) {
            let message = format!("there was a trial `{name}`; choose another name");
            return Err(ProposalError::Choices(message));
        }
        let definition = definition(name, choices, config)?;
        Ok(TrialProposal {
            disclosures: disclosures(&definition, config),
            note: (config.record.privacy == Privacy::Off).then_some(NOTE_OFF),
            definition,
        })
    }

    /// Starts the trial, and ends a pause of the recording. The caller has shown [`TrialProposal::disclosures`], and the developer has
    /// confirmed them.
    ///
    /// # Errors
    /// The definition cannot be written, or the pause not be ended.
    pub fn start(&self, folder: &Path) -> Result<(), ProposalError> {
        pause::resume(folder)?;
        Ok(write_definition(folder, &self.definition)?)
    }
}

/// Stops the running trial of a folder for trials, and returns its definition.
///
/// # Errors
/// No trial runs, or its definition cannot be read or written.
pub fn stop(folder: &Path) -> Result<TrialDefinition, ProposalError> {
    let running = read_definition(folder)?.filter(TrialDefinition::is_running);
    let Some(mut definition) = running else { return Err(ProposalError::NotRunning) };
    definition.stopped_at = Some(now());
    write_definition(folder, &definition)?;
    Ok(definition)
}

/// The present time, RFC 3339 in UTC.
fn now() -> String {
    #[expect(clippy::disallowed_methods, reason = "a trial begins and ends at a time")]
    let time = SystemTime::now();
    humantime::format_rfc3339_seconds(time).to_string()
}

fn check_arms(choices: &TrialChoices) -> Result<(), String> {
    let TrialChoices { mode, arms, .. } = choices;
    let (fits, needs) = match mode {
        TrialMode::Single => (arms.len() == 1, "one engine; choose shadow or assign for several"),
        TrialMode::Shadow | TrialMode::Assign => (arms.len() >= 2, "two engines or more"),
        TrialMode::Duel => (arms.len() == 2, "two engines"),
    };
    if !fits {
        return Err(format!("mode `{mode}` needs {needs}"));
    }
    if choices.holdout.is_some_and(|share| !(0.0..1.0).contains(&share)) {
        return Err("the holdout must be a share from 0 to below 1, such as 0.1".to_owned());
    }
    if arms.len() > MAX_ARMS {
        return Err(format!("a trial has at most {MAX_ARMS} engines"));
    }
    if let Some((_, twice)) = arms.iter().enumerate().find(|(index, name)| arms[..*index].contains(name)) {
        return Err(format!("engine `{twice}` is named twice; name it once"));
    }
    let weights = choices.weights.iter().map(|(name, _)| ("a weight", name));
    let rates = choices.requests_per_minute.iter().map(|(name, _)| ("a limit of requests", name));
    let requests = choices.requests_per_day.iter().map(|(name, _)| ("a limit of requests", name));
    let budgets = choices.budget_per_day.iter().map(|(name, _)| ("a limit of cost", name));
    check_numbers(choices)?;
    // Values of engines that do not take part are misspelt.
    match weights.chain(rates).chain(requests).chain(budgets).find(|(_, name)| !arms.contains(name)) {
        Some((value, name)) => Err(format!("{value} names `{name}`, which is no engine of the trial")),
        None => Ok(()),
    }
}

/// The command line checks its numbers when it parses them, an editor sends any.
fn check_numbers(choices: &TrialChoices) -> Result<(), String> {
    let TrialChoices {
        weights, requests_per_minute, requests_per_day, budget_per_day, margin, primary, ..
    } = choices;
    let is_above_0 = |number: f64| number.is_finite() && number > 0.0;
    if let Some((name, _)) = weights.iter().find(|(_, weight)| !is_above_0(*weight)) {
        return Err(format!("the weight of `{name}` must be a number above 0"));
    }
    if let Some((name, _)) =
        requests_per_minute.iter().chain(requests_per_day).find(|(_, requests)| *requests == 0)
    {
        return Err(format!("the limit of requests of `{name}` must be above 0"));
    }
    if let Some((name, _)) =
        budget_per_day.iter().find(|(_, budget)| !is_above_0(*budget) || *budget > MAX_BUDGET)
    {
        return Err(format!("the budget of `{name}` must be an amount above 0 and at most {MAX_BUDGET}"));
    }
    if !(is_above_0(*margin) && *margin < 1.0) {
        return Err("the margin must be a share above 0 and below 1, such as 0.01".to_owned());
    }
    match primary.name().parse::<TrialMetric>() {
        Ok(_) => Ok(()),
        Err(_) => Err(format!("`{primary}` decides no trial; choose exact_match, for example")),
    }
}

fn check_name(name: &str) -> Result<(), String> {
    let is_valid = name.trim() == name
        && !name.is_empty()
        && name.chars().count() <= MAX_NAME
        && !name.chars().any(char::is_control);
    if is_valid {
        return Ok(());
    }
    Err(format!(
        "the name of a trial must be one line of at most {MAX_NAME} characters, without blanks around it"
    ))
}

fn definition(
    name: String,
    choices: &TrialChoices,
    config: &Config,
) -> Result<TrialDefinition, ProposalError> {
    let arm = |(index, name): (usize, &String)| arm(name, index, choices, config);
    let default_holdout = if choices.arms.len() > 1 { HOLDOUT } else { 0.0 };
    Ok(TrialDefinition {
        schema: SchemaVersion::CURRENT,
        name,
        mode: choices.mode,
        arms: choices.arms.iter().enumerate().map(arm).collect(),
        holdout: choices.holdout.unwrap_or(default_holdout),
        unit: choices.unit,
        salt: random_salt().map_err(ProposalError::Random)?,
        primary: choices.primary,
        margin: choices.margin,
        started_at: now(),
        stopped_at: None,
    })
}

fn arm(name: &str, index: usize, choices: &TrialChoices, config: &Config) -> TrialArm {
    // Limits of an engine that is shown are for the user to decide: beyond them it suggests nothing.
    let in_shadow = |limit: u32| (choices.mode == TrialMode::Shadow && index > 0).then_some(limit);
    TrialArm {
        weight: value_of(&choices.weights, name).unwrap_or(1.0),
        requests_per_minute: value_of(&choices.requests_per_minute, name).or(in_shadow(REQUESTS_PER_MINUTE)),
        requests_per_day: value_of(&choices.requests_per_day, name).or(in_shadow(REQUESTS_PER_DAY)),
        // Nothing is spent without a limit.
        budget_per_day: value_of(&choices.budget_per_day, name)
            .or_else(|| has_price(name, config).then_some(config.trial.budget_per_day)),
        ..TrialArm::new(name.to_owned())
    }
}

/// Returns whether the requests of an engine cost money.
fn has_price(name: &str, config: &Config) -> bool {
    let engine = config.engines.iter().find(|engine| engine.name == name);
    let settings = engine.and_then(|engine| engine.settings.as_ref().ok());
    settings.is_some_and(|settings| settings.price_in.is_some() || settings.price_out.is_some())
}

/// Returns the values of outcomes in the settings.
pub fn net_weights(config: &Config) -> NetWeights {
    let config::Trial { accepted_value, rejected_value, silent_value, .. } = config.trial;
    NetWeights { accepted: accepted_value, rejected: rejected_value, silent: silent_value }
}

/// Returns the value that is given for an engine, the last one if there are several.
fn value_of<T: Copy>(values: &[(String, T)], name: &str) -> Option<T> {
    values.iter().rev().find(|(known, _)| known == name).map(|(_, value)| *value)
}

/// Returns random text for the salted hashes of assignments.
fn random_salt() -> Result<String, getrandom::Error> {
    let mut bytes = [0; 16];
    getrandom::fill(&mut bytes)?;
    Ok(bytes.iter().map(|byte| format!("{byte:02x}")).collect())
}

fn disclosures(definition: &TrialDefinition, config: &Config) -> Vec<String> {
    let lines = definition.arms.iter().filter_map(|arm| {
        let engine = config.engines.iter().find(|engine| engine.name == arm.name)?;
        let target = code_target(engine);
        if target.is_none() && !has_price(&arm.name, config) {
            return None;
        }
        let sends = match target {
            Some(target) => format!("sends the file at the cursor and code of other files to {target}"),
            None => "runs on this machine".to_owned(),
        };
        let requests = match request_limits(arm) {
            Some(limits) => format!("at most {limits}"),
            None => "asked whenever its suggestion is to be shown, without a limit of requests".to_owned(),
        };
        let budget = arm.budget_per_day.filter(|_| has_price(&arm.name, config));
        let cost = budget.map(|budget| format!(", costs money: at most {budget} a day")).unwrap_or_default();
        Some(format!("{}: {sends}; {requests}{cost}", arm.name))
    });
    lines.collect()
}

/// Returns the limits of an arm's requests; `None` without any.
pub fn request_limits(arm: &TrialArm) -> Option<String> {
    let limit = |count: Option<u32>, time: &str| {
        count.map(|count| format!("{count} {} a {time}", if count == 1 { "request" } else { "requests" }))
    };
    let limits = [limit(arm.requests_per_minute, "minute"), limit(arm.requests_per_day, "day")];
    let limits: Vec<String> = limits.into_iter().flatten().collect();
    (!limits.is_empty()).then(|| limits.join(" and "))
}

/// Returns where an engine's code goes if it may leave this machine.
fn code_target(engine: &EngineDefinition) -> Option<String> {
    let kind = engine.kind.filter(|kind| kind.is_external())?;
    let settings = engine.settings.as_ref().ok()?;
    if matches!(kind, EngineKind::Command | EngineKind::Lsp) {
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

#[cfg(test)]
mod tests {
    use config::Environment;

    use super::*;

    #[test]
    fn contradicting_choices_are_refused_and_one_trial_runs_at_a_time() {
        let folder = tempfile::tempdir().expect("a folder");
        let config = Config::new(&[], &Environment::default());
        let arms = |names: &[&str]| names.iter().map(|name| (*name).to_owned()).collect::<Vec<_>>();
        let propose = |choices: &TrialChoices| {
            TrialProposal::new(folder.path(), choices, &config, |name| match name {
                "missing" => Err("there is no engine `missing`".to_owned()),
                _ => Ok(()),
            })
        };
        let refusal = |choices: &TrialChoices| propose(choices).expect_err("it is refused").to_string();
        for (mode, names, expected) in [
            (TrialMode::Single, arms(&["a", "b"]), "needs one engine"),
            (TrialMode::Shadow, arms(&["a"]), "two engines or more"),
            (TrialMode::Assign, arms(&["a", "b", "a"]), "`a` is named twice"),
            (TrialMode::Single, arms(&["missing"]), "no engine `missing`"),
        ] {
            let message = refusal(&TrialChoices::new(mode, names));
            assert!(message.contains(expected), "{message}");
        }
        let choices = TrialChoices::new(TrialMode::Shadow, arms(&["a", "b"]));
        let misspelt = TrialChoices { weights: vec![("c".to_owned(), 2.0)], ..choices.clone() };
        assert!(refusal(&misspelt).contains("`c`"));
        for (wrong, expected) in [
            (TrialChoices { weights: vec![("a".to_owned(), 0.0)], ..choices.clone() }, "above 0"),
            (TrialChoices { requests_per_day: vec![("b".to_owned(), 0)], ..choices.clone() }, "above 0"),
            (TrialChoices { budget_per_day: vec![("b".to_owned(), f64::NAN)], ..choices.clone() }, "amount"),
            (TrialChoices { margin: 1.0, ..choices.clone() }, "below 1"),
            (TrialChoices { primary: Metric::Parses, ..choices.clone() }, "decides no trial"),
        ] {
            assert!(refusal(&wrong).contains(expected), "{}", refusal(&wrong));
        }
        let everything = TrialChoices { holdout: Some(1.0), ..choices.clone() };
        assert!(refusal(&everything).contains("below 1"));
        let named = TrialChoices { name: Some(" x".to_owned()), ..choices.clone() };
        assert!(refusal(&named).contains("without blanks"));
        let named = TrialChoices { name: Some("one".to_owned()), ..choices };
        let proposal = propose(&named).expect("it fits");
        assert_eq!((proposal.definition.holdout, proposal.note), (HOLDOUT, None));
        proposal.start(folder.path()).expect("it is written");
        assert!(matches!(propose(&named), Err(ProposalError::Running(name)) if name == "one"));
        assert!(stop(folder.path()).expect("it runs").stopped_at.is_some());
        assert!(matches!(stop(folder.path()), Err(ProposalError::NotRunning)));
        assert!(refusal(&named).contains("there was a trial `one`"));
    }
}
