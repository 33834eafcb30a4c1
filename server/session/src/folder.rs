//! One workspace folder: its index, settings and recorded cases.

use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex};

use completion::WorkspaceIndex;
use replay::{CodeVersion, DataFolder};
use tokio::sync::{Notify, watch};
use tokio_util::sync::CancellationToken;
use workspace::ScanScope;

use crate::background_pool::Priority;
use crate::folder_tests::FolderTests;
use crate::lazy_real_path::LazyRealPath;
use crate::locks::lock;
use crate::opened_suites::OpenedSuites;
use crate::recorded_cases::RecordedCases;
use crate::settings::FolderSettings;

/// Maximum number of directories that count as recent.
const MAX_RECENT_DIRECTORIES: usize = 8;

/// A folder that the editor opens.
pub struct NewFolder {
    /// URI as written by the editor.
    pub uri: String,
    /// Name given by the editor.
    pub name: String,
    /// Path as written by the editor.
    pub root: PathBuf,
}

/// One workspace folder.
pub struct Folder {
    /// URI as written by the editor.
    pub uri: String,
    /// Name given by the editor.
    pub name: String,
    /// Path as written by the editor.
    pub root: PathBuf,
    /// Position in the order of all folders.
    pub(crate) number: u64,
    real_root: LazyRealPath,
    /// Recorded cases.
    pub recorded_cases: Arc<RecordedCases>,
    /// Suites that the user opened.
    pub opened_suites: OpenedSuites,
    /// Unit tests that judge replays.
    pub tests: FolderTests,
    /// Settings of the folder.
    pub(crate) settings: Arc<FolderSettings>,
    /// Notified when files may have changed.
    pub(crate) changed: Notify,
    pending: Mutex<PendingChanges>,
    /// Directories of the last opened documents, latest first, relative to the root.
    recent_directories: Mutex<Vec<Arc<str>>>,
    /// Notified when a document is opened in another directory than the last ones.
    pub(crate) opened_elsewhere: Notify,
    /// Whether engines outside of the settings read the tokens.
    pub(crate) needs_tokens: AtomicBool,
    /// Whether it has few entries.
    is_small: AtomicBool,
    /// Whether a failure of the cache was reported.
    was_warned_of_cache: AtomicBool,
    /// Cancelled when the folder is removed or the session ends.
    pub(crate) removed: CancellationToken,
    /// Priority of the folder's background work.
    pub(crate) priority: watch::Sender<Priority>,
    state: watch::Sender<FolderState>,
}

/// Changes that were noted and not taken yet.
#[derive(Default)]
struct PendingChanges {
    scope: ScanScope,
    /// Number of changed paths; one for a scope without paths.
    count: usize,
}

/// Progress of indexing a folder, and the index so far.
#[derive(Clone)]
pub struct FolderState {
    /// Outcome of the last attempt.
    pub state: IndexingState,
    /// Index of the last attempt; of the previous one while the next is running.
    pub index: Arc<WorkspaceIndex>,
    /// Number of changes of `index`.
    pub version: u64,
    /// Identifies the version of the code; `None` without source files.
    pub code_version: Option<CodeVersion>,
}

impl Default for FolderState {
    fn default() -> FolderState {
        FolderState {
            state: IndexingState::default(),
            index: Arc::new(WorkspaceIndex::empty()),
            version: 0,
            code_version: None,
        }
    }
}

/// State of indexing a folder.
#[derive(Clone, Debug, Default, PartialEq)]
pub enum IndexingState {
    /// Indexing is running.
    #[default]
    Indexing,
    /// Indexing is done.
    Ready,
    /// Indexing failed; the reason.
    Failed(String),
}

impl Folder {
    /// Creates a folder that is not indexed yet.
    pub(crate) fn new(
        folder: NewFolder,
        number: u64,
        settings: FolderSettings,
        data: DataFolder,
        removed: CancellationToken,
    ) -> Folder {
        let NewFolder { uri, name, root } = folder;
        Folder {
            recorded_cases: Arc::new(RecordedCases::new(data.clone(), root.clone())),
            opened_suites: OpenedSuites::new(data, root.clone()),
            tests: FolderTests::default(),
            settings: Arc::new(settings),
            uri,
            name,
            root,
            number,
            real_root: LazyRealPath::default(),
            changed: Notify::new(),
            pending: Mutex::default(),
            recent_directories: Mutex::default(),
            opened_elsewhere: Notify::new(),
            needs_tokens: AtomicBool::new(false),
            is_small: AtomicBool::new(false),
            was_warned_of_cache: AtomicBool::new(false),
            removed,
            priority: watch::Sender::new(Priority::LargeFolder),
            state: watch::Sender::default(),
        }
    }

    /// Returns the recorded cases and the suites that the user opened.
    pub fn suites(&self) -> Vec<Arc<RecordedCases>> {
        let mut suites = vec![Arc::clone(&self.recorded_cases)];
        suites.extend(self.opened_suites.all());
        suites
    }

    /// Returns the folder's path without links. Waits for the disk the first time.
    pub(crate) async fn real_root(&self) -> Option<Arc<Path>> {
        self.real_root.get(&self.root).await
    }

    /// Marks the folder as active: the user works in it.
    pub(crate) fn mark_active(&self) {
        self.set_priority(Priority::Interactive);
    }

    /// Notes that a document in the folder was opened.
    pub(crate) fn note_opened(&self, path: &Path) {
        self.mark_active();
        let Some(path) = self.path_in(path) else { return };
        let directory = path.rsplit_once('/').map_or("", |(directory, _)| directory);
        let mut recent = lock(&self.recent_directories);
        let known = recent.iter().position(|recent| **recent == *directory);
        let latest = known.map_or_else(|| directory.into(), |known| recent.remove(known));
        recent.insert(0, latest);
        recent.truncate(MAX_RECENT_DIRECTORIES);
        if known.is_none() {
            self.opened_elsewhere.notify_one();
        }
    }

    /// Returns the directories of the last opened documents, latest first, relative to the root.
    pub(crate) fn recent_directories(&self) -> Vec<Arc<str>> {
        lock(&self.recent_directories).clone()
    }

    /// Returns whether the folder was marked as small.
    pub(crate) fn is_small(&self) -> bool {
        self.is_small.load(Ordering::Relaxed)
    }

    /// Marks the folder as small.
    pub(crate) fn mark_small(&self) {
        self.is_small.store(true, Ordering::Relaxed);
        if *self.priority.borrow() == Priority::LargeFolder {
            self.set_priority(Priority::SmallFolder);
        }
    }

    fn set_priority(&self, priority: Priority) {
        self.priority.send_if_modified(|now| std::mem::replace(now, priority) != priority);
    }

    /// Returns whether a file may be in the folder, by its path only.
    pub(crate) fn may_contain(&self, path: &Path) -> bool {
        path.starts_with(&self.root) || self.real_root.known().is_some_and(|root| path.starts_with(root))
    }

    /// Returns a path relative to the folder's root.
    pub(crate) fn path_in(&self, path: &Path) -> Option<String> {
        let below = |root: &Path| path.strip_prefix(root).ok().map(workspace::path_text);
        below(&self.root).or_else(|| below(&self.real_root.known()?))
    }

    /// Reads the tokens of the folder from now on, for an engine that is not of its settings.
    pub fn need_tokens(&self) {
        if !self.needs_tokens.swap(true, Ordering::Relaxed) {
            self.settings.refresh();
        }
    }

    /// Returns the index state.
    pub fn state(&self) -> FolderState {
        self.state.borrow().clone()
    }

    /// Waits until the folder was indexed for the first time, and returns its state: measurements must not depend on the
    /// indexing speed. `None` if it is removed, or the session ends, before that.
    pub async fn wait_until_indexed(&self) -> Option<FolderState> {
        self.wait_for(|state| state.state != IndexingState::Indexing).await
    }

    /// Waits for a state and returns it; `None` if the folder is removed before.
    pub(crate) async fn wait_for(&self, is_wanted: impl Fn(&FolderState) -> bool) -> Option<FolderState> {
        let mut states = self.state.subscribe();
        // The sender lives as long as the folder, but nothing changes the state of a removed one.
        tokio::select! {
            biased;
            state = states.wait_for(is_wanted) => state.ok().map(|state| state.clone()),
            () = self.removed.cancelled() => None,
        }
    }

    /// Notes where files may have changed.
    pub(crate) fn note_changes(&self, scope: ScanScope) {
        if let ScanScope::Paths(paths) = &scope
            && paths.iter().any(|path| path.file_name().is_some_and(|name| name == config::FILE_NAME))
        {
            self.settings.refresh();
        }
        let mut pending = lock(&self.pending);
        pending.count += if let ScanScope::Paths(paths) = &scope { paths.len() } else { 1 };
        pending.scope.extend(scope);
        drop(pending);
        self.changed.notify_one();
    }

    /// Takes the changes noted so far.
    pub(crate) fn take_pending(&self) -> ScanScope {
        std::mem::take(&mut *lock(&self.pending)).scope
    }

    /// Returns the number of changes that were not taken yet.
    pub(crate) fn pending_changes(&self) -> usize {
        lock(&self.pending).count
    }

    /// Publishes that indexing has started from the beginning.
    pub(crate) fn begin_indexing(&self) {
        self.state.send_modify(|reading| reading.state = IndexingState::Indexing);
    }

    /// Publishes an index and returns the previous one; requests that wait for a complete index keep waiting.
    pub(crate) fn update_index(&self, index: WorkspaceIndex) -> Arc<WorkspaceIndex> {
        let mut index = Arc::new(index);
        self.state.send_modify(|state| {
            state.version += 1;
            std::mem::swap(&mut state.index, &mut index);
        });
        index
    }

    /// Publishes a complete index and returns the previous one; the state of a folder that cannot be read remains `Failed`.
    pub(crate) fn finish_indexing(
        &self,
        index: WorkspaceIndex,
        code_version: Option<CodeVersion>,
    ) -> Arc<WorkspaceIndex> {
        let mut index = Arc::new(index);
        self.state.send_modify(|state| {
            if state.state == IndexingState::Indexing {
                state.state = IndexingState::Ready;
            }
            state.version += 1;
            state.code_version = code_version;
            std::mem::swap(&mut state.index, &mut index);
        });
        index
    }

    /// Forgets the path without links, after a link was redirected.
    pub(crate) fn forget_real_root(&self) {
        self.real_root.forget();
    }

    /// Publishes why the folder could not be read; keeps the contents. Returns false if the failure was published before.
    pub(crate) fn fail_indexing(&self, reason: String) -> bool {
        // The path may lead to another folder when it exists again.
        self.real_root.forget();
        let failed = IndexingState::Failed(reason);
        self.state.send_if_modified(|reading| {
            let is_new = reading.state != failed;
            reading.state = failed;
            is_new
        })
    }

    /// Returns whether the last attempt to read it failed.
    pub(crate) fn has_failed(&self) -> bool {
        matches!(self.state.borrow().state, IndexingState::Failed(_))
    }

    /// Publishes that the folder can be read again. Returns false if it had not failed.
    pub(crate) fn recover(&self) -> bool {
        self.state.send_if_modified(|reading| {
            let has_failed = matches!(reading.state, IndexingState::Failed(_));
            if has_failed {
                reading.state = IndexingState::Ready;
            }
            has_failed
        })
    }

    /// Logs, once, why the cache cannot be written.
    pub(crate) fn warn_of_cache_once(&self, error: &cache::CacheError) {
        if !self.was_warned_of_cache.swap(true, Ordering::Relaxed) {
            tracing::warn!(folder = self.name, %error, "nothing is cached");
        }
    }
}
