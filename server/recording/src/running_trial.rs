//! A trial that runs in a folder: its engines, and which of them writes the ghost text of a request.

use std::path::PathBuf;
use std::sync::{Arc, Mutex};
use std::time::SystemTime;

use cases::{AssignmentUnit, Decision, EngineIdentity, TrialArm, TrialDefinition, TrialMode};
use completion::ConfiguredEngine;
use replay::engine_identity;
use session::{DocumentLocation, EffectiveSettings, Folder, OpenDocument, lock};
use text::PositionEncoding;
use tokio_util::sync::CancellationToken;
use trial::assignment::{assigned_arm, first_of_duel, holdout, is_hidden};
use trial::daily_usage::{DailyUsage, RefusedArm, UsageRefusal, utc_date};

use crate::duel::AnsweredDuels;
use crate::trial_session::TrialSession;

/// A trial that runs in a folder.
#[derive(Debug)]
pub struct RunningTrial {
    /// The folder of its store.
    pub folder: PathBuf,
    /// Its definition.
    pub definition: TrialDefinition,
    /// Pseudonym of the developer; empty unless arms are assigned.
    pub developer: String,
    /// Cancelled when the trial or the server stops.
    pub stopped: CancellationToken,
    /// Answers of a duel.
    pub duels: AnsweredDuels,
    /// What its arms were asked and cost today.
    usage: Arc<Mutex<DailyUsage>>,
    /// The engines of the arms, with the number of the settings that they were made of.
    engines: Mutex<Option<(u64, Arc<[TrialEngine]>)>>,
}

/// An arm with its engine.
#[derive(Clone)]
pub struct TrialEngine {
    /// The arm with its limits.
    pub arm: TrialArm,
    /// The engine, as a writer of ghost text.
    pub engine: ConfiguredEngine,
    /// Its identity.
    pub identity: EngineIdentity,
}

impl std::fmt::Debug for TrialEngine {
    fn fmt(&self, formatter: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        formatter.debug_tuple("TrialEngine").field(&self.arm.name).finish()
    }
}

/// The engine that writes the ghost text of a request.
pub struct Writer {
    /// The engine.
    pub engine: ConfiguredEngine,
    /// Its identity.
    pub identity: EngineIdentity,
    /// The random decisions of the trial.
    pub decisions: Vec<Decision>,
    /// Whether its text must not be shown.
    pub is_held: bool,
    /// The arm of the trial, with its limits.
    pub arm: Option<TrialArm>,
    /// The other arm of a duel.
    pub rival: Option<TrialEngine>,
}

impl Writer {
    /// The engine of the settings.
    pub fn of_settings(settings: &EffectiveSettings) -> Writer {
        Writer {
            engine: settings.engine_set.ghost_text().clone(),
            identity: settings.ghost_text.clone(),
            decisions: Vec::new(),
            is_held: false,
            arm: None,
            rival: None,
        }
    }
}

impl RunningTrial {
    pub(crate) fn new(
        folder: PathBuf,
        definition: TrialDefinition,
        developer: String,
        stopped: CancellationToken,
    ) -> RunningTrial {
        let usage = Arc::new(Mutex::new(DailyUsage::new(folder.clone())));
        let (duels, engines) = (AnsweredDuels::default(), Mutex::default());
        RunningTrial { folder, definition, developer, stopped, duels, usage, engines }
    }

    /// Counts a request of each of these arms, all or none. No request must be sent if this is refused.
    pub async fn admit(&self, arms: &[&TrialArm]) -> Result<(), RefusedArm> {
        let limited: Vec<TrialArm> =
            arms.iter().filter(|arm| arm.is_limited()).map(|arm| (*arm).clone()).collect();
        let Some(first) = limited.first().map(|arm| arm.name.clone()) else { return Ok(()) };
        let usage = Arc::clone(&self.usage);
        let admitted = completion::run_blocking(move |_| {
            lock(&usage).admit(&limited.iter().collect::<Vec<_>>(), SystemTime::now())
        })
        .await;
        admitted.unwrap_or_else(|_| {
            let refusal = UsageRefusal::Uncounted("internal error".to_owned());
            Err(RefusedArm { arm: first, refusal })
        })
    }

    /// Counts the cost of an arm's request.
    pub async fn add_cost(&self, arm: &str, amount: f64) {
        let (usage, arm) = (Arc::clone(&self.usage), arm.to_owned());
        let counted =
            completion::run_blocking(move |_| lock(&usage).add_cost(&arm, amount, SystemTime::now())).await;
        if !matches!(counted, Ok(Ok(()))) {
            tracing::warn!("the cost of an arm is not counted");
        }
    }

    fn known_engines(&self, settings: &EffectiveSettings) -> Option<Arc<[TrialEngine]>> {
        let known = lock(&self.engines);
        known
            .as_ref()
            .filter(|(number, _)| *number == settings.number)
            .map(|(_, engines)| Arc::clone(engines))
    }

    /// Returns the engines of all arms, in their order. May wait for the disk. The error says which one is missing.
    pub fn engines(
        &self,
        session: &TrialSession,
        folder: &Folder,
        settings: &EffectiveSettings,
    ) -> Result<Arc<[TrialEngine]>, String> {
        if let Some(known) = self.known_engines(settings) {
            return Ok(known);
        }
        let engine = |arm: &TrialArm| {
            let engine = session.folders.writer(&settings.config, &arm.name)?;
            if engine.engine.reads_workspace() {
                folder.need_tokens();
            }
            let identity = engine_identity(&engine);
            Ok(TrialEngine { arm: arm.clone(), engine, identity })
        };
        let engines: Result<Vec<TrialEngine>, String> = self.definition.arms.iter().map(engine).collect();
        let engines: Arc<[TrialEngine]> = engines?.into();
        *lock(&self.engines) = Some((settings.number, Arc::clone(&engines)));
        Ok(engines)
    }

    /// Returns the arm that is shown, with the decision if it was drawn; `None` if the definition names none.
    fn shown_arm(&self, session: &str, path: &str, place: &[&str]) -> Option<(String, Option<Decision>)> {
        if self.definition.mode == TrialMode::Duel {
            let first = first_of_duel(&self.definition, place)?;
            return Some((first.value.clone(), Some(first)));
        }
        if self.definition.mode != TrialMode::Assign {
            return self.definition.arms.first().map(|arm| (arm.name.clone(), None));
        }
        let developer = self.developer.as_str();
        let date = utc_date(SystemTime::now());
        let decision = match self.definition.unit {
            AssignmentUnit::User => assigned_arm(&self.definition, &[developer]),
            AssignmentUnit::Day => assigned_arm(&self.definition, &[developer, &date]),
            AssignmentUnit::Session => assigned_arm(&self.definition, &[developer, session]),
            AssignmentUnit::File => assigned_arm(&self.definition, &[developer, path]),
        }?;
        Some((decision.value.clone(), Some(decision)))
    }
}

/// Returns the engines of all arms. A trial with a missing one is turned off.
pub(crate) async fn engines(
    session: &TrialSession,
    trial: &Arc<RunningTrial>,
    folder: &Arc<Folder>,
    settings: &Arc<EffectiveSettings>,
) -> Option<Arc<[TrialEngine]>> {
    if let Some(known) = trial.known_engines(settings) {
        return Some(known);
    }
    let (owned, running, home, read) =
        (session.clone(), Arc::clone(trial), Arc::clone(folder), Arc::clone(settings));
    let made = completion::run_blocking(move |_| running.engines(&owned, &home, &read)).await;
    match made {
        Ok(Ok(engines)) => Some(engines),
        Ok(Err(reason)) => {
            session.trial.refuse(session, &trial.folder, &trial.definition.name, &reason);
            None
        }
        Err(_) => None,
    }
}

/// Returns the engine that writes the ghost text at the cursor of a document, and the trial that runs in its folder.
pub async fn choose(
    session: &TrialSession,
    home: &DocumentLocation,
    settings: &Arc<EffectiveSettings>,
    document: &OpenDocument,
    cursor: usize,
) -> (Writer, Option<Arc<RunningTrial>>) {
    let mut writer = Writer::of_settings(settings);
    let folder = home.folder.as_ref().filter(|_| home.is_inside);
    let Some((folder, trial)) =
        folder.and_then(|folder| Some((folder, session.trial.trial_in(&folder.root)?)))
    else {
        return (writer, None);
    };
    if settings.config.record.privacy == config::Privacy::Off {
        return (writer, None);
    }
    let definition = &trial.definition;
    let (line, before) = place(document, cursor);
    let thought = [&*document.key, &line, &before];
    if let Some((name, decision)) = trial.shown_arm(&session.trial.session_id(), &home.path, &thought) {
        let is_duel = definition.mode == TrialMode::Duel;
        if name != writer.identity.name || is_duel {
            let Some(engines) = engines(session, &trial, folder, settings).await else {
                return (writer, None);
            };
            let Some(arm) = engines.iter().find(|engine| engine.arm.name == name) else {
                return (writer, None);
            };
            (writer.engine, writer.identity) = (arm.engine.clone(), arm.identity.clone());
            writer.rival = engines.iter().find(|engine| is_duel && engine.arm.name != name).cloned();
        }
        writer.arm = definition.arms.iter().find(|arm| arm.name == name).cloned();
        writer.decisions.extend(decision);
    }
    if let Some(decision) = holdout(definition, &thought) {
        writer.is_held = is_hidden(&decision);
        writer.decisions.push(decision);
    }
    (writer, Some(trial))
}

/// Returns the engine that answers the requests in a folder, and the trial that records them, before the place of a request is known. A
/// trial that decides by the place, such as a duel, does not take part: `None`.
pub async fn choose_for_folder(
    session: &TrialSession,
    folder: &Arc<Folder>,
    settings: &Arc<EffectiveSettings>,
) -> (Writer, Option<Arc<RunningTrial>>) {
    let mut writer = Writer::of_settings(settings);
    let Some(trial) = session.trial.trial_in(&folder.root) else { return (writer, None) };
    let definition = &trial.definition;
    let needs_place = definition.mode == TrialMode::Duel
        || definition.mode == TrialMode::Assign && definition.unit == AssignmentUnit::File;
    if needs_place || settings.config.record.privacy == config::Privacy::Off {
        return (writer, None);
    }
    let Some((name, decision)) = trial.shown_arm(&session.trial.session_id(), "", &[]) else {
        return (writer, Some(trial));
    };
    if name != writer.identity.name {
        let engines = engines(session, &trial, folder, settings).await;
        let Some(arm) = engines.iter().flat_map(|engines| &**engines).find(|engine| engine.arm.name == name)
        else {
            return (writer, None);
        };
        (writer.engine, writer.identity) = (arm.engine.clone(), arm.identity.clone());
    }
    writer.arm = definition.arms.iter().find(|arm| arm.name == name).cloned();
    writer.decisions.extend(decision);
    (writer, Some(trial))
}

/// Identifies the thought at a cursor, without what was typed for it: the number of the line, and the line before it.
fn place(document: &OpenDocument, cursor: usize) -> (String, String) {
    let line = document.rope.position(cursor, PositionEncoding::Utf8).map_or(0, |position| position.line);
    let text = document.text();
    let start = text.get(..cursor).and_then(|before| before.rfind('\n'));
    let before = start.and_then(|end| text[..end].lines().next_back()).unwrap_or_default();
    (line.to_string(), before.to_owned())
}
