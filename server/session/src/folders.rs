//! The workspace folders of a session, with the settings outside of all folders.

use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use cache::Cache;
use completion::ConfiguredEngine;
use config::{Config, Environment};
use dashmap::DashMap;
use replay::DataFolder;
use serde_json::Value;
use tokio::sync::{mpsc, watch};
use tokio_util::sync::CancellationToken;
use workspace::ScanScope;

use crate::background_pool::BackgroundPool;
use crate::engine_health::EngineHealth;
use crate::engine_set::EngineSource;
use crate::events::{EventSender, SessionEvent};
use crate::folder::{Folder, NewFolder};
use crate::indexing::{self, IndexingServices};
use crate::settings::{EffectiveSettings, FolderSettings, SettingsServices, follow_settings};
use crate::settings_files::SettingsFiles;

/// The parts that a session is built from.
pub struct SessionSetup {
    /// Settings files.
    pub files: SettingsFiles,
    /// Environment variables that settings refer to.
    pub variables: Environment,
    /// Creates engines from settings.
    pub engines: EngineSource,
    /// Folder for suites and runs.
    pub data: DataFolder,
    /// Cache of derived data, for the next start; `None` disables it.
    pub cache: Option<Cache>,
}

/// All workspace folders.
pub struct Folders {
    /// By their path as written by the editor. Never locked across an await.
    open: DashMap<PathBuf, Arc<Folder>>,
    /// Number of folders that were added.
    added: AtomicU64,
    data: DataFolder,
    indexing: IndexingServices,
    /// Whether the editor reports changed files.
    client_watches: watch::Sender<bool>,
    settings: Arc<SettingsServices>,
    /// Settings that apply outside of all folders.
    outside_settings: Arc<FolderSettings>,
    /// Cancels all work when the session ends.
    ended: CancellationToken,
}

impl Folders {
    /// Creates a session without folders. Its work is cancelled with `ended`.
    pub fn new(
        setup: SessionSetup,
        background: BackgroundPool,
        events: mpsc::UnboundedSender<SessionEvent>,
        ended: CancellationToken,
    ) -> Folders {
        let SessionSetup { files, variables, engines, data, cache } = setup;
        let events = EventSender(events);
        let client_watches = watch::Sender::new(false);
        let indexing = IndexingServices {
            background,
            cache,
            client_watches: client_watches.subscribe(),
            events: events.clone(),
        };
        let settings = Arc::new(SettingsServices::new(files, variables, engines, events));
        let outside_settings = FolderSettings::new(None, Arc::clone(&settings.editor), ended.clone());
        Folders {
            open: DashMap::new(),
            added: AtomicU64::new(0),
            data,
            indexing,
            client_watches,
            settings,
            outside_settings: Arc::new(outside_settings),
            ended,
        }
    }

    /// Starts to follow the settings outside of all folders. `initial` are settings of the editor, below those set later.
    pub fn start(&self, initial: Value) {
        self.settings.editor.set_initial(initial);
        follow_settings(&self.settings, Arc::clone(&self.outside_settings));
    }

    /// Adds a folder, replacing one with the same path, and starts to index it.
    pub fn add(&self, folder: NewFolder) {
        let number = self.added.fetch_add(1, Ordering::Relaxed);
        let removed = self.ended.child_token();
        let settings = FolderSettings::new(
            Some(folder.root.clone()),
            Arc::clone(&self.settings.editor),
            removed.clone(),
        );
        let folder = Arc::new(Folder::new(folder, number, settings, self.data.clone(), removed));
        if let Some(replaced) = self.open.insert(folder.root.clone(), Arc::clone(&folder)) {
            replaced.removed.cancel();
        }
        follow_settings(&self.settings, Arc::clone(&folder.settings));
        indexing::start(self.indexing.clone(), folder);
    }

    /// Removes the folder at `root`, the path as written by the editor, and cancels its work.
    pub fn remove(&self, root: &Path) {
        if let Some((_, folder)) = self.open.remove(root) {
            folder.removed.cancel();
        }
    }

    /// Returns all folders, in the order in which they were added.
    pub fn all(&self) -> Vec<Arc<Folder>> {
        let mut all: Vec<Arc<Folder>> = self.open.iter().map(|entry| Arc::clone(entry.value())).collect();
        all.sort_unstable_by_key(|folder| folder.number);
        all
    }

    /// Returns the folder that was added first.
    pub fn first(&self) -> Option<Arc<Folder>> {
        self.all().into_iter().next()
    }

    /// Notes that a document was opened: its folders get a higher priority, and the code near it comes first.
    pub fn note_opened(&self, path: &Path) {
        self.all()
            .iter()
            .filter(|folder| folder.may_contain(path))
            .for_each(|folder| folder.note_opened(path));
    }

    /// Notes that the user types: background work takes one core for some seconds, and idle time of the others.
    pub fn note_typing(&self) {
        self.indexing.background.note_typing();
    }

    /// Notes that a file may have changed.
    pub fn note_changed(&self, path: &Path) {
        self.note_all_changed(&[path.to_owned()]);
    }

    /// Notes that files may have changed.
    pub fn note_all_changed(&self, paths: &[PathBuf]) {
        for folder in self.all() {
            let changed: Vec<PathBuf> =
                paths.iter().filter(|path| folder.may_contain(path)).cloned().collect();
            if !changed.is_empty() {
                folder.note_changes(ScanScope::Paths(changed));
            }
        }
    }

    /// Notes that a file or folder was renamed.
    pub fn note_renamed(&self, old: &Path, new: &Path) {
        for folder in self.all() {
            if let Some((old, new)) = folder.path_in(old).zip(folder.path_in(new)) {
                folder.recorded_cases.rename(&old, &new);
            }
        }
        self.note_changed(old);
        self.note_changed(new);
    }

    /// Sets whether the editor reports changed files. Until then, the system's watcher is used.
    pub fn set_client_watches(&self, watches: bool) {
        self.client_watches.send_replace(watches);
    }

    /// Returns the settings of a folder, or those outside of all folders, including everything the editor has sent so far. `None`
    /// if the session ends before there are any.
    pub async fn settings_in(&self, folder: Option<&Folder>) -> Option<Arc<EffectiveSettings>> {
        let followed = folder.map_or(&*self.outside_settings, |folder| &*folder.settings);
        followed.effective().await
    }

    /// Returns any engine by its name as a writer of ghost text in a folder with these settings. May wait for the disk.
    ///
    /// # Errors
    /// There is no such engine, or it is unavailable; the message says why.
    pub fn writer(&self, config: &Config, name: &str) -> Result<ConfiguredEngine, String> {
        self.settings.writer(config, name)
    }

    /// Applies settings of the editor on top of the initial ones.
    pub fn set_editor_settings(&self, settings: Value) {
        self.settings.editor.set(settings);
        self.outside_settings.refresh();
        self.all().iter().for_each(|folder| folder.settings.refresh());
    }

    /// Returns the latency and the faults of the engines that write ghost text.
    pub fn engine_health(&self) -> &EngineHealth {
        &self.settings.engine_health
    }

    /// Returns the number of requests that engines are processing.
    pub fn busy_engines(&self) -> usize {
        self.settings.busy.count()
    }
}

#[cfg(test)]
mod tests;
