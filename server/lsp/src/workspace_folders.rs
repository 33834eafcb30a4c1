//! The workspace folders: index state and recorded cases of each.

use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex};

use completion::WorkspaceIndex;
use replay::{CodeVersion, DataFolder};
use session::{LazyRealPath, OpenDocument, lock};
use tokio::sync::{Notify, watch};
use tokio_util::sync::CancellationToken;
use tower_lsp_server::gen_lsp_types::{Uri, WorkspaceFolder};
use workspace::ScanScope;

use crate::background_pool::Priority;
use crate::from_proto;
use crate::recorded_cases::RecordedCases;
use crate::settings::FolderSettings;

/// All workspace folders.
#[derive(Default)]
pub(crate) struct Folders {
    open: Mutex<Vec<Arc<Folder>>>,
    deferred: Mutex<Vec<WorkspaceFolder>>,
}

/// One workspace folder.
pub(crate) struct Folder {
    /// URI as written by the client.
    pub(crate) uri: Uri,
    /// Name given by the client.
    pub(crate) name: String,
    /// Path as written by the client.
    pub(crate) root: PathBuf,
    real_root: LazyRealPath,
    /// Recorded cases.
    pub(crate) recorded_cases: RecordedCases,
    /// Settings of the folder.
    pub(crate) settings: Arc<FolderSettings>,
    /// Notified when files may have changed.
    pub(crate) changed: Notify,
    pending: Mutex<ScanScope>,
    /// Whether a failure of the cache was reported.
    was_warned_of_cache: AtomicBool,
    /// Cancelled when the folder is removed or the server stops.
    pub(crate) removed: CancellationToken,
    /// Priority of the folder's background work.
    pub(crate) priority: watch::Sender<Priority>,
    state: watch::Sender<FolderState>,
}

/// Progress of indexing a folder, and the index so far.
#[derive(Clone)]
pub(crate) struct FolderState {
    /// Outcome of the last attempt.
    pub(crate) state: IndexingState,
    /// Index of the last attempt; of the previous one while the next is running.
    pub(crate) index: Arc<WorkspaceIndex>,
    /// Number of changes of `index`.
    pub(crate) version: u64,
    /// Identifies the version of the code; `None` without source files.
    pub(crate) code_version: Option<CodeVersion>,
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
pub(crate) enum IndexingState {
    /// Indexing is running.
    #[default]
    Indexing,
    /// Indexing is done.
    Ready,
    /// Indexing failed; the reason.
    Failed(String),
}

/// Location of a document.
pub(crate) struct DocumentLocation {
    /// The folder that contains it; the first folder for documents outside of all folders.
    pub(crate) folder: Option<Arc<Folder>>,
    /// Path in that folder, with `/` as separator; outside of it the document's key.
    pub(crate) path: Arc<str>,
    /// Whether the folder contains the document.
    pub(crate) is_inside: bool,
}

impl Folders {
    /// Stores folders until the client has sent `initialized`.
    pub(crate) fn defer(&self, folders: Vec<WorkspaceFolder>) {
        *lock(&self.deferred) = folders;
    }

    /// Returns the stored folders.
    pub(crate) fn take_deferred(&self) -> Vec<WorkspaceFolder> {
        std::mem::take(&mut lock(&self.deferred))
    }

    /// Adds a folder, replacing one with the same root.
    pub(crate) fn add(&self, folder: Folder) -> Arc<Folder> {
        let folder = Arc::new(folder);
        let mut open = lock(&self.open);
        open.retain(|other| other.root != folder.root || other.remove());
        open.push(Arc::clone(&folder));
        folder
    }

    /// Removes a folder.
    pub(crate) fn remove(&self, uri: &Uri) {
        let root = from_proto::path(uri);
        lock(&self.open).retain(|folder| Some(&folder.root) != root.as_ref() || folder.remove());
    }

    /// All folders, in the client's order.
    pub(crate) fn all(&self) -> Vec<Arc<Folder>> {
        lock(&self.open).clone()
    }

    /// Raises the priority of the folders that contain an opened document.
    pub(crate) fn note_opened(&self, path: &Path) {
        self.all().iter().filter(|folder| folder.may_contain(path)).for_each(|folder| folder.mark_active());
    }

    /// Notes that a file may have changed.
    pub(crate) fn note_changed(&self, path: &Path) {
        for folder in self.all().iter().filter(|folder| folder.may_contain(path)) {
            folder.note_changes(ScanScope::Paths(vec![path.to_owned()]));
        }
    }

    /// Notes that a file or folder was renamed.
    pub(crate) fn renamed(&self, old: &Path, new: &Path) {
        for folder in self.all() {
            if let Some((old, new)) = folder.path_in(old).zip(folder.path_in(new)) {
                folder.recorded_cases.rename(&old, &new);
            }
        }
        self.note_changed(old);
        self.note_changed(new);
    }

    /// Returns the location of a document: the innermost folder that contains it. A folder that contains the file itself takes
    /// precedence over one that contains a link to it.
    pub(crate) async fn locate(&self, document: &OpenDocument) -> DocumentLocation {
        let all = self.all();
        let mut best: Option<(FolderMatch, &Arc<Folder>)> = None;
        for folder in &all {
            let Some(held) = folder.match_document(document).await else { continue };
            if best.as_ref().is_none_or(|(other, _)| held.rank() >= other.rank()) {
                best = Some((held, folder));
            }
        }
        match best {
            Some((held, folder)) => {
                folder.mark_active();
                DocumentLocation::inside(folder, held.path)
            }
            None => {
                let path = Arc::clone(&document.key);
                DocumentLocation { folder: all.first().cloned(), path, is_inside: false }
            }
        }
    }
}

impl DocumentLocation {
    fn inside(folder: &Arc<Folder>, path: Arc<str>) -> DocumentLocation {
        DocumentLocation { folder: Some(Arc::clone(folder)), path, is_inside: true }
    }
}

/// How a folder contains a document.
struct FolderMatch {
    /// Path of the document in the folder, with `/` as separator.
    path: Arc<str>,
    /// Whether the folder contains the file itself, not a link to it.
    is_real: bool,
    /// Whether the client's path of the document begins with the client's path of the folder.
    is_as_written: bool,
    /// Depth of the folder.
    depth: usize,
}

impl FolderMatch {
    /// A document belongs to the folder with the larger rank.
    fn rank(&self) -> (bool, usize, bool) {
        (self.is_real, self.depth, self.is_as_written)
    }
}

impl Folder {
    /// Creates a folder on disk; `None` for other URIs.
    pub(crate) fn new(
        folder: WorkspaceFolder,
        data: &DataFolder,
        removed: CancellationToken,
    ) -> Option<Folder> {
        let root = from_proto::path(&folder.uri)?;
        Some(Folder {
            recorded_cases: RecordedCases::new(data.clone(), root.clone()),
            settings: Arc::new(FolderSettings::new(Some(root.clone()), removed.clone())),
            uri: folder.uri,
            name: folder.name,
            root,
            real_root: LazyRealPath::default(),
            changed: Notify::new(),
            pending: Mutex::default(),
            was_warned_of_cache: AtomicBool::new(false),
            removed,
            priority: watch::Sender::new(Priority::LargeFolder),
            state: watch::Sender::default(),
        })
    }

    /// The folder's path without links. Waits for the disk the first time.
    async fn real_root(&self) -> Option<Arc<Path>> {
        self.real_root.get(&self.root).await
    }

    /// Returns how the folder contains a document. The index knows each file by one path only, so the path without links is used,
    /// and the client's path only if there is no other.
    async fn match_document(&self, document: &OpenDocument) -> Option<FolderMatch> {
        let written = document.path.as_deref().and_then(|path| path.strip_prefix(&self.root).ok());
        let (real_path, real_root) = (document.real_path().await, self.real_root().await);
        let real = real_path.as_deref().zip(real_root.as_deref());
        let real = real.and_then(|(path, root)| path.strip_prefix(root).ok());
        let root = if real.is_some() { real_root.as_deref()? } else { &self.root };
        Some(FolderMatch {
            path: workspace::path_text(real.or(written)?).into(),
            is_real: real.is_some(),
            is_as_written: written.is_some(),
            depth: root.components().count(),
        })
    }

    /// The location of a document in this folder, even if it belongs to a nested folder; `None` if it is not below this one.
    pub(crate) async fn locate(self: &Arc<Folder>, document: &OpenDocument) -> Option<DocumentLocation> {
        Some(DocumentLocation::inside(self, self.match_document(document).await?.path))
    }

    /// Marks the folder as active: the user works in it.
    pub(crate) fn mark_active(&self) {
        self.set_priority(Priority::Interactive);
    }

    /// Marks the folder as small.
    pub(crate) fn mark_small(&self) {
        if *self.priority.borrow() == Priority::LargeFolder {
            self.set_priority(Priority::SmallFolder);
        }
    }

    fn set_priority(&self, urgency: Priority) {
        self.priority.send_if_modified(|now| std::mem::replace(now, urgency) != urgency);
    }

    /// Whether a file may be in the folder, by its path only.
    fn may_contain(&self, path: &Path) -> bool {
        path.starts_with(&self.root) || self.real_root.known().is_some_and(|root| path.starts_with(root))
    }

    /// A path relative to the folder's root.
    fn path_in(&self, path: &Path) -> Option<String> {
        let below = |root: &Path| path.strip_prefix(root).ok().map(workspace::path_text);
        below(&self.root).or_else(|| below(&self.real_root.known()?))
    }

    /// Returns the index state.
    pub(crate) fn state(&self) -> FolderState {
        self.state.borrow().clone()
    }

    /// Waits until the folder was indexed for the first time, and returns its state: measurements must not depend on the
    /// indexing speed.
    pub(crate) async fn wait_until_indexed(&self) -> FolderState {
        let mut state = self.state.subscribe();
        let indexed = state.wait_for(|state| state.state != IndexingState::Indexing).await;
        // The sender lives as long as the folder.
        indexed.map(|state| state.clone()).unwrap_or_default()
    }

    /// Notes where files may have changed.
    pub(crate) fn note_changes(&self, scope: ScanScope) {
        if let ScanScope::Paths(paths) = &scope
            && paths.iter().any(|path| path.file_name().is_some_and(|name| name == config::FILE_NAME))
        {
            self.settings.refresh();
        }
        lock(&self.pending).extend(scope);
        self.changed.notify_one();
    }

    /// Takes the changes noted so far.
    pub(crate) fn take_pending(&self) -> ScanScope {
        std::mem::take(&mut lock(&self.pending))
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

    /// Whether the last attempt to read it failed.
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

    /// Cancels its work. Returns false, for `retain`.
    fn remove(&self) -> bool {
        self.removed.cancel();
        false
    }
}
