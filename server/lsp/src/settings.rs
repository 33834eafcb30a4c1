//! What is set in a folder, followed while the server runs.
//!
//! ```text
//! files (looked at every 2 s) ─┐
//! editor's settings ───────────┴─► layers, the last good ones of broken files ─► config ─► engines ─► published
//!                                                      └─► problems, each cause told once
//! ```
//!
//! Requests take what is published, and wait only while settings that the editor sent before them are being taken in. Files are never
//! read in the order of messages.

use std::collections::{HashMap, HashSet};
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex};
use std::time::Duration;

use config::{Config, ConfigFiles, ConfigLayer, Problem, ProblemKey, Severity};
use serde_json::Value;
use tokio::sync::{Notify, watch};
use tokio::task::spawn_blocking;
use tokio_util::sync::CancellationToken;
use tower_lsp_server::gen_lsp_types::MessageType;

use crate::ServerSetup;
use crate::locks::lock;
use crate::served::{EditorEngine, EngineSet};
use crate::server::Server;

/// Files are looked at so often. Who saves one and turns to the code has not typed a line by then, and four files are nothing to look at.
const POLL_INTERVAL: Duration = Duration::from_secs(2);

/// Problems that are told in one message; who has more reads them in `ghostbench doctor`.
const MAX_PROBLEMS_SHOWN: usize = 5;

/// What holds in a folder.
pub(crate) struct EffectiveSettings {
    /// Which of the editor's settings are in it.
    revision: u64,
    /// Another number for other settings of this folder.
    pub(crate) number: u64,
    /// The settings.
    pub(crate) config: Config,
    /// The engines that they come to.
    pub(crate) engine_set: EngineSet,
}

impl EffectiveSettings {
    /// The same for who waits for what the editor sent later.
    fn at_revision(&self, revision: u64) -> EffectiveSettings {
        EffectiveSettings {
            revision,
            number: self.number,
            config: self.config.clone(),
            engine_set: self.engine_set.clone(),
        }
    }

    /// The engine that writes the ghost text.
    pub(crate) fn ghost_text_engine(&self) -> &EditorEngine {
        let name = self.config.completion.engine.as_deref();
        let named = name.and_then(|name| self.engine_set.engines.iter().find(|engine| engine.name() == name));
        named.or(self.engine_set.engines.first()).expect("there is an engine, if only the built-in one")
    }

    /// Whether any engine reads the workspace's tokens.
    pub(crate) fn reads_tokens(&self) -> bool {
        self.engine_set.engines.iter().any(EditorEngine::reads_tokens)
    }
}

/// What the editor has sent.
#[derive(Default)]
pub(crate) struct EditorSettings(Mutex<SettingsRevision>);

#[derive(Clone, Default)]
struct SettingsRevision {
    /// Counts changes.
    revision: u64,
    /// What came with `initialize`.
    initial: Value,
    /// What came since, over that.
    current: Value,
}

impl EditorSettings {
    /// Takes in what comes with `initialize`.
    pub(crate) fn set_initial(&self, settings: Value) {
        lock(&self.0).initial = settings;
    }

    /// Takes in what comes later, in the place of what came before it.
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

/// The causes that were told, by who told them: one of several folders with a common file tells of it for all.
#[derive(Default)]
pub(crate) struct ReportedProblems(Mutex<HashMap<Option<PathBuf>, HashSet<ProblemKey>>>);

impl ReportedProblems {
    /// Takes note of all problems that there are now in a folder, and gives those that nobody was told of.
    fn take_new<'a>(&self, root: Option<&Path>, problems: &'a [Problem]) -> Vec<&'a Problem> {
        let mut told = lock(&self.0);
        let is_told = |problem: &&Problem| told.values().any(|causes| causes.contains(&problem.key()));
        let new = problems.iter().filter(|problem| !is_told(problem)).collect();
        told.insert(root.map(Path::to_owned), problems.iter().map(Problem::key).collect());
        new
    }

    /// Forgets what was told of a folder.
    fn forget(&self, root: Option<&Path>) {
        lock(&self.0).remove(&root.map(Path::to_owned));
    }
}

/// What is set in one folder, or outside of all.
pub(crate) struct FolderSettings {
    root: Option<PathBuf>,
    /// Told when there may be something new.
    changed: Notify,
    published: watch::Sender<Option<Arc<EffectiveSettings>>>,
    /// Cancelled when nothing is followed any more.
    removed: CancellationToken,
}

impl FolderSettings {
    /// Nothing is read before [`follow_settings`] begins.
    pub(crate) fn new(root: Option<PathBuf>, removed: CancellationToken) -> FolderSettings {
        FolderSettings { root, changed: Notify::new(), published: watch::Sender::new(None), removed }
    }

    /// Has the files looked at again.
    pub(crate) fn refresh(&self) {
        self.changed.notify_one();
    }

    /// The number of settings that are to hold. With other settings a fault is another one.
    fn number(&self, config: &Config, server: &Server) -> u64 {
        let before = self.published.borrow();
        let Some(before) = &*before else { return 0 };
        if before.config == *config {
            return before.number;
        }
        server.engine_health.clear_faults();
        before.number + 1
    }

    /// Hears of everything that comes to hold.
    pub(crate) fn subscribe(&self) -> watch::Receiver<Option<Arc<EffectiveSettings>>> {
        self.published.subscribe()
    }

    /// What holds, with all that the editor had sent by now; what held last in a folder that was removed. `None` where nothing ever did,
    /// because the server stops.
    pub(crate) async fn effective(&self, editor: &EditorSettings) -> Option<Arc<EffectiveSettings>> {
        let wanted = editor.revision();
        let mut published = self.published.subscribe();
        let is_new = |state: &Option<Arc<EffectiveSettings>>| {
            state.as_ref().is_some_and(|state| state.revision >= wanted)
        };
        match self.removed.run_until_cancelled(published.wait_for(is_new)).await {
            Some(Ok(state)) => state.clone(),
            _ => self.published.borrow().clone(),
        }
    }
}

/// Follows what is set until nobody wants to know any more.
pub(crate) fn follow_settings(server: &Server, followed: Arc<FolderSettings>) {
    let server = server.clone();
    tokio::spawn(async move {
        followed.removed.run_until_cancelled(follow_changes(&server, &followed)).await;
        server.reported_problems.forget(followed.root.as_deref());
    });
}

async fn follow_changes(server: &Server, followed: &FolderSettings) {
    let mut earlier: Vec<ConfigLayer> = Vec::new();
    loop {
        let sent = server.editor_settings.current();
        let revision = sent.revision;
        let files = read_files(server, followed).await;
        let (shared, content, before) = (server.clone(), files.clone(), earlier.clone());
        let made = spawn_blocking(move || {
            let ServerSetup { variables, engines, .. } = &shared.setup;
            let layers = layers(&content, &sent, &before, variables);
            let config = Config::new(&layers, variables);
            let served = engines.serve(&config);
            (layers, config, served)
        });
        if let Ok((layers, config, mut served)) = made.await {
            report_problems(
                server,
                followed,
                config.problems.iter().chain(&served.problems).cloned().collect(),
            );
            server.count_busy(&mut served);
            let number = followed.number(&config, server);
            let in_force = EffectiveSettings { revision, number, config, engine_set: served };
            followed.published.send_replace(Some(Arc::new(in_force)));
            earlier = layers;
        } else {
            // What held before holds on, also for who waits for the new.
            server.warn("taking in the settings stopped by a defect of the server".to_owned());
            followed.published.send_modify(|state| {
                *state = state.as_ref().map(|state| Arc::new(state.at_revision(revision)));
            });
        }
        wait_for_change(server, followed, &files, revision).await;
    }
}

/// The layers of these files; a broken file is what it was before.
fn layers(
    files: &ConfigFiles,
    sent: &SettingsRevision,
    earlier: &[ConfigLayer],
    variables: &config::Environment,
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

/// Waits until the editor has sent something after `revision`, or a file is another one.
async fn wait_for_change(server: &Server, followed: &FolderSettings, files: &ConfigFiles, revision: u64) {
    loop {
        // Somebody may have pointed at a file that is as it was.
        let _ = tokio::time::timeout(POLL_INTERVAL, followed.changed.notified()).await;
        if server.editor_settings.revision() != revision || read_files(server, followed).await != *files {
            return;
        }
    }
}

async fn read_files(server: &Server, followed: &FolderSettings) -> ConfigFiles {
    let (files, root) = (server.setup.files.clone(), followed.root.clone());
    spawn_blocking(move || files.read(root.as_deref())).await.unwrap_or_default()
}

/// Tells the user, in one message, what they have not been told yet.
fn report_problems(server: &Server, followed: &FolderSettings, problems: Vec<Problem>) {
    let new = server.reported_problems.take_new(followed.root.as_deref(), &problems);
    let Some(worst) = new.iter().map(|problem| problem.severity).max() else { return };
    let mut lines: Vec<String> = new.iter().take(MAX_PROBLEMS_SHOWN).map(ToString::to_string).collect();
    if new.len() > MAX_PROBLEMS_SHOWN {
        let more = new.len() - MAX_PROBLEMS_SHOWN;
        lines.push(format!("and {more} more; `ghostbench doctor` shows all"));
    }
    let kind = match worst {
        Severity::Error => MessageType::Error,
        Severity::Warning => MessageType::Warning,
        Severity::Untrusted => MessageType::Info,
    };
    server.show_and_log(kind, lines.join("\n"));
}

#[cfg(test)]
mod tests {
    use config::{Environment, LayerKind, Trust};

    use super::*;

    fn problems(text: &str) -> Vec<Problem> {
        let (path, variables) = (Path::new("/w/ghostbench.toml"), Environment::default());
        let layer =
            ConfigLayer::file(LayerKind::Workspace, path, text.as_bytes(), Trust::Trusted, &variables);
        Config::new(&[layer], &variables).problems
    }

    #[test]
    fn a_cause_is_told_once_by_one_of_those_who_have_it_and_again_when_it_comes_back() {
        let told = ReportedProblems::default();
        let (one, other) = (Some(Path::new("/one")), Some(Path::new("/other")));
        let typo = problems("[context]\ncolour = 1\n");
        assert_eq!(told.take_new(one, &typo).len(), 1);
        assert_eq!(told.take_new(one, &problems("\n[context]\ncolour = 1\n")).len(), 0, "it has moved");
        assert_eq!(told.take_new(other, &typo).len(), 0, "it was told for both");
        assert_eq!(told.take_new(one, &[]).len(), 0);
        assert_eq!(told.take_new(one, &typo).len(), 0, "the other one still has it");
        told.forget(other);
        assert_eq!(told.take_new(one, &[]).len(), 0);
        assert_eq!(told.take_new(one, &typo).len(), 1);
    }
}
