//! The state of the trial of a folder, for editors: running, paused or off, and why.
//!
//! ```text
//! RecorderThread: definitions, stores ──changed──► announce_changes ──► ghostbench/didChangeTrial
//! ```
//!
//! Names of arms that a developer must not know while a trial runs never leave through here.

use std::collections::HashMap;

use config::Privacy;
use session::Folder;
use tower_lsp_server::gen_lsp_types::Uri;
use trial::assignment::BlindNames;

use crate::ext::{DidChangeTrial, TrialState, TrialStateKind};
use crate::server::Server;

/// Returns the state of the trial of a folder, without the counts of the day.
pub(crate) async fn trial_state(server: &Server, folder: &Folder) -> TrialState {
    let trial = server.trial.trial_in(&folder.root);
    let problem = server.trial.problem_in(&folder.root);
    let off = TrialState::off(Uri(folder.uri.clone()));
    let Some(trial) = trial else {
        let Some(problem) = problem else { return off };
        let state = if problem.trial.is_some() { TrialStateKind::Paused } else { TrialStateKind::Off };
        let (name, mode) = problem.trial.unzip();
        let mode = mode.map(|mode| mode.name().to_owned());
        let paused_until =
            problem.paused_until.map(|until| humantime::format_rfc3339_seconds(until).to_string());
        return TrialState { state, name, mode, reason: Some(problem.reason), paused_until, ..off }
            .with_message();
    };
    let definition = &trial.definition;
    let privacy = match server.settings_in(Some(folder)).await {
        Ok(settings) => settings.config.record.privacy,
        Err(_) => return off,
    };
    let is_off = privacy == Privacy::Off;
    let off_reason = || is_off.then(|| "record.privacy is \"off\" in the settings".to_owned());
    let reason = problem.map(|problem| problem.reason).or_else(off_reason);
    let names = || definition.arms.iter().map(|arm| arm.name.clone()).collect();
    let state = TrialState {
        state: if reason.is_some() { TrialStateKind::Paused } else { TrialStateKind::Running },
        name: Some(definition.name.clone()),
        mode: Some(definition.mode.name().to_owned()),
        arms: BlindNames::in_effect(definition).is_none().then(names),
        level: Some(privacy.name().to_owned()),
        reason,
        ..off
    };
    state.with_message()
}

impl TrialState {
    fn off(folder: Uri) -> TrialState {
        TrialState {
            folder,
            state: TrialStateKind::Off,
            name: None,
            mode: None,
            arms: None,
            level: None,
            reason: None,
            paused_until: None,
            today: None,
            message: "no trial is running".to_owned(),
        }
    }

    fn with_message(self) -> TrialState {
        let title = match (&self.name, &self.mode) {
            (Some(name), Some(mode)) => format!("trial {name} ({mode})"),
            _ => "the trial".to_owned(),
        };
        let message = match (self.state, &self.reason) {
            (TrialStateKind::Running, _) => format!("{title} is recorded"),
            (TrialStateKind::Paused, Some(reason)) => format!("{title} is paused: {reason}"),
            (TrialStateKind::Off, Some(reason)) => format!("{title} is off: {reason}"),
            (_, None) => self.message,
        };
        TrialState { message, ..self }
    }
}

/// Sends the state of each folder's trial when it changes, until the server stops.
pub(crate) async fn announce_changes(server: Server) {
    let mut announced: HashMap<String, TrialState> = HashMap::new();
    while server.stopping.run_until_cancelled(server.trial.changed.notified()).await.is_some() {
        let folders = server.folders.all();
        announced.retain(|uri, _| folders.iter().any(|folder| folder.uri == *uri));
        for folder in folders {
            let state = trial_state(&server, &folder).await;
            let before = announced.get(&folder.uri);
            let is_news = match before {
                Some(before) => *before != state,
                // Editors begin with this state.
                None => state != TrialState::off(Uri(folder.uri.clone())),
            };
            if is_news {
                announced.insert(folder.uri.clone(), state.clone());
                server.client.send_notification::<DidChangeTrial>(state).await;
            }
        }
    }
}
