//! The effective settings of a folder, kept up to date while the server runs.
//!
//! ```text
//! files (checked every 2 s) ─┐
//! editor's settings ──────────┴─► layers, last good ones for broken files ─► config ─► engines ─► published
//!                                                      └─► problems, each cause reported once
//! ```
//!
//! Requests use the published settings. They wait only for settings that the editor sent before them and that are not applied
//! yet. Files are read independently of the message order.

use std::collections::{HashMap, HashSet};
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex};
use std::time::Duration;

use cases::EngineIdentity;
use completion::ConfiguredEngine;
use config::{Config, ConfigFiles, ConfigLayer, Environment, Problem, ProblemKey};
use engines::BusyCounter;
use replay::engine_identity;
use serde_json::Value;
use tokio::sync::{Notify, watch};
use tokio::task::spawn_blocking;
use tokio_util::sync::CancellationToken;

use crate::engine_health::EngineHealth;
use crate::engine_set::{EngineSet, EngineSource};
use crate::events::{EventSender, SessionEvent};
use crate::locks::lock;
use crate::settings_files::SettingsFiles;

/// Interval at which files are checked: shorter than saving settings and then typing a line. Checking four files is cheap.
const POLL_INTERVAL: Duration = Duration::from_secs(2);

/// The effective settings of a folder.
pub struct EffectiveSettings {
    /// Revision of the editor's settings that they include.
    revision: u64,
    /// Version number: differs between different settings of this folder.
    pub number: u64,
    /// The settings.
    pub config: Config,
    /// The engines they select.
    pub engine_set: EngineSet,
    /// Identity of the engine that writes the ghost text.
    pub ghost_text: EngineIdentity,
    /// Whether the editor says that the user does not trust the workspace: its code must not run.
    pub is_restricted: bool,
}

impl EffectiveSettings {
    /// The same settings at a later revision of the editor's.
    fn at_revision(&self, revision: u64) -> EffectiveSettings {
        EffectiveSettings {
            revision,
            number: self.number,
            config: self.config.clone(),
            engine_set: self.engine_set.clone(),
            ghost_text: self.ghost_text.clone(),
            is_restricted: self.is_restricted,
        }
    }
}

/// Settings sent by the editor.
#[derive(Default)]
pub(crate) struct EditorSettings(Mutex<SettingsRevision>);

#[derive(Clone, Default)]
struct SettingsRevision {
    /// Counts changes.
    revision: u64,
    /// Sent with `initialize`.
    initial: Value,
    /// Sent later; takes precedence over `initial`.
    current: Value,
}

impl SettingsRevision {
    /// Whether the editor says that the user does not trust the workspace.
    fn is_restricted(&self) -> bool {
        let said = [&self.current, &self.initial].into_iter().find_map(config::editor_trusts_folder);
        said == Some(false)
    }
}

impl EditorSettings {
    /// Sets the settings sent with `initialize`.
    pub(crate) fn set_initial(&self, settings: Value) {
        lock(&self.0).initial = settings;
    }

    /// Replaces the settings sent after `initialize`.
    pub(crate) fn set(&self, settings: Value) {
        let mut sent = lock(&self.0);
        sent.revision += 1;
        sent.current = settings;
    }

    fn revision(&self) -> u64 {
        lock(&self.0).revision
    }

    fn current(&self) -> SettingsRevision {
        lock(&self.0).clone()
    }
}

/// The problems that were reported, by folder: a problem of a file that several folders share is reported once.
#[derive(Default)]
pub(crate) struct ReportedProblems(Mutex<HashMap<Option<PathBuf>, HashSet<ProblemKey>>>);

impl ReportedProblems {
    /// Stores the current problems of a folder and returns those that were not reported before.
    fn take_new(&self, root: Option<&Path>, problems: &[Problem]) -> Vec<Problem> {
        let mut reported = lock(&self.0);
        let new = problems
            .iter()
            .filter(|problem| !reported.values().any(|causes| causes.contains(&problem.key())))
            .cloned()
            .collect();
        reported.insert(root.map(Path::to_owned), problems.iter().map(Problem::key).collect());
        new
    }

    /// Forgets the problems of a folder.
    fn forget(&self, root: Option<&Path>) {
        lock(&self.0).remove(&root.map(Path::to_owned));
    }
}

/// The sources of settings, and the state that the settings of all folders share.
pub(crate) struct SettingsServices {
    files: SettingsFiles,
    variables: Environment,
    engines: EngineSource,
    /// Settings sent by the editor.
    pub(crate) editor: Arc<EditorSettings>,
    /// Latency and faults of the engines that write ghost text.
    pub(crate) engine_health: EngineHealth,
    /// Number of requests that engines are processing.
    pub(crate) busy: BusyCounter,
    reported_problems: ReportedProblems,
    events: EventSender,
}

impl SettingsServices {
    pub(crate) fn new(
        files: SettingsFiles,
        variables: Environment,
        engines: EngineSource,
        events: EventSender,
    ) -> SettingsServices {
        SettingsServices {
            files,
            variables,
            engines,
            editor: Arc::default(),
            engine_health: EngineHealth::default(),
            busy: BusyCounter::default(),
            reported_problems: ReportedProblems::default(),
            events,
        }
    }

    /// Returns the layers of these files and the configuration that they form, with its engines. May wait for the disk.
    fn configure(
        &self,
        files: &ConfigFiles,
        sent: &SettingsRevision,
        earlier: &[ConfigLayer],
    ) -> (Vec<ConfigLayer>, Config, EngineSet) {
        let layers = layers(files, sent, earlier, &self.variables);
        let config = Config::new(&layers, &self.variables);
        let mut engine_set = self.engines.serve(&config);
        for used in engine_set.all_mut() {
            used.engine = self.busy.wrap(Arc::clone(&used.engine));
        }
        (layers, config, engine_set)
    }

    /// Returns any engine by its name, as [`EngineSource::writer`] does.
    pub(crate) fn writer(&self, config: &Config, name: &str) -> Result<ConfiguredEngine, String> {
        let mut writer = self.engines.writer(config, name)?;
        writer.engine = self.busy.wrap(writer.engine);
        Ok(writer)
    }
}

/// Settings of one folder, or those outside of all folders.
pub(crate) struct FolderSettings {
    root: Option<PathBuf>,
    editor: Arc<EditorSettings>,
    /// Notified when the settings may have changed.
    changed: Notify,
    published: watch::Sender<Option<Arc<EffectiveSettings>>>,
    /// Cancelled when the settings are no longer needed.
    removed: CancellationToken,
}

impl FolderSettings {
    /// Reads nothing before [`follow_settings`] is called.
    pub(crate) fn new(
        root: Option<PathBuf>,
        editor: Arc<EditorSettings>,
        removed: CancellationToken,
    ) -> FolderSettings {
        FolderSettings { root, editor, changed: Notify::new(), published: watch::Sender::new(None), removed }
    }

    /// Requests a check of the files.
    pub(crate) fn refresh(&self) {
        self.changed.notify_one();
    }

    /// Returns the version number for these settings.
    fn number(&self, config: &Config) -> u64 {
        let before = self.published.borrow();
        let Some(before) = &*before else { return 0 };
        if before.config == *config {
            return before.number;
        }
        before.number + 1
    }

    /// Subscribes to changes of the effective settings.
    pub(crate) fn subscribe(&self) -> watch::Receiver<Option<Arc<EffectiveSettings>>> {
        self.published.subscribe()
    }

    /// Returns the effective settings, including everything the editor has sent so far; the last ones of a folder that was
    /// removed. `None` if the session ends before there were any.
    pub(crate) async fn effective(&self) -> Option<Arc<EffectiveSettings>> {
        let wanted = self.editor.revision();
        let mut published = self.published.subscribe();
        match self
            .removed
            .run_until_cancelled(
                published.wait_for(|state| state.as_ref().is_some_and(|state| state.revision >= wanted)),
            )
            .await
        {
            Some(Ok(state)) => state.clone(),
            _ => self.published.borrow().clone(),
        }
    }
}

/// Keeps the settings up to date until they are no longer needed.
pub(crate) fn follow_settings(services: &Arc<SettingsServices>, followed: Arc<FolderSettings>) {
    let services = Arc::clone(services);
    tokio::spawn(async move {
        followed.removed.run_until_cancelled(follow_changes(&services, &followed)).await;
        services.reported_problems.forget(followed.root.as_deref());
    });
}

async fn follow_changes(services: &Arc<SettingsServices>, followed: &FolderSettings) {
    let mut earlier: Vec<ConfigLayer> = Vec::new();
    loop {
        let sent = services.editor.current();
        let revision = sent.revision;
        let is_restricted = sent.is_restricted();
        let files = read_files(services, followed).await;
        let (shared, content, before) = (Arc::clone(services), files.clone(), earlier.clone());
        let configured = spawn_blocking(move || shared.configure(&content, &sent, &before));
        if let Ok((layers, config, engine_set)) = configured.await {
            let problems: Vec<Problem> =
                config.problems.iter().chain(&engine_set.problems).cloned().collect();
            let new = services.reported_problems.take_new(followed.root.as_deref(), &problems);
            if !new.is_empty() {
                services.events.send(SessionEvent::SettingsProblems(new));
            }
            let number = followed.number(&config);
            let ghost_text = engine_identity(engine_set.ghost_text());
            let settings =
                EffectiveSettings { revision, number, config, engine_set, ghost_text, is_restricted };
            followed.published.send_replace(Some(Arc::new(settings)));
            earlier = layers;
        } else {
            // The previous settings remain effective, also for requests that wait for the new ones.
            services
                .events
                .warn("applying the settings panicked; the previous ones stay in effect".to_owned());
            followed.published.send_modify(|state| {
                *state = state.as_ref().map(|state| Arc::new(state.at_revision(revision)));
            });
        }
        wait_for_change(services, followed, &files, revision).await;
    }
}

/// Returns the layers of these files. A broken file keeps its last good layer.
fn layers(
    files: &ConfigFiles,
    sent: &SettingsRevision,
    earlier: &[ConfigLayer],
    variables: &Environment,
) -> Vec<ConfigLayer> {
    let editor = [sent.initial.clone(), sent.current.clone()];
    let before = |layer: &ConfigLayer| {
        let path = layer.path()?;
        earlier.iter().find(|other| other.kind() == layer.kind() && other.path() == Some(path))
    };
    let layers = files.layers(&editor, variables).into_iter();
    layers
        .map(|layer| {
            let before = before(&layer);
            layer.or_last_valid(before)
        })
        .collect()
}

/// Waits until the editor has sent settings after `revision`, or a file has changed.
async fn wait_for_change(
    services: &Arc<SettingsServices>,
    followed: &FolderSettings,
    files: &ConfigFiles,
    revision: u64,
) {
    loop {
        // The notified file may be unchanged.
        let _ = tokio::time::timeout(POLL_INTERVAL, followed.changed.notified()).await;
        if services.editor.revision() != revision || read_files(services, followed).await != *files {
            return;
        }
    }
}

async fn read_files(services: &Arc<SettingsServices>, followed: &FolderSettings) -> ConfigFiles {
    let (services, root) = (Arc::clone(services), followed.root.clone());
    spawn_blocking(move || services.files.read(root.as_deref())).await.unwrap_or_default()
}

#[cfg(test)]
mod tests {
    use config::{LayerKind, Trust};

    use super::*;

    fn problems(text: &str) -> Vec<Problem> {
        let (path, variables) = (Path::new("/w/ghostbench.toml"), Environment::default());
        let layer =
            ConfigLayer::file(LayerKind::Workspace, path, text.as_bytes(), Trust::Trusted, &variables);
        Config::new(&[layer], &variables).problems
    }

    #[test]
    fn problem_is_reported_once_across_folders_until_it_recurs() {
        let known = ReportedProblems::default();
        let (one, other) = (Some(Path::new("/one")), Some(Path::new("/other")));
        let typo = problems("[context]\ncolour = 1\n");
        assert_eq!(known.take_new(one, &typo).len(), 1);
        assert_eq!(known.take_new(one, &problems("\n[context]\ncolour = 1\n")).len(), 0, "it has moved");
        assert_eq!(known.take_new(other, &typo).len(), 0, "it was reported for both");
        assert_eq!(known.take_new(one, &[]).len(), 0);
        assert_eq!(known.take_new(one, &typo).len(), 0, "the other one still has it");
        known.forget(other);
        assert_eq!(known.take_new(one, &[]).len(), 0);
        assert_eq!(known.take_new(one, &typo).len(), 1);
    }
}
