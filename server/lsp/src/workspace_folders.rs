//! The workspace's folders: what was read of each, and what was recorded in it.

use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex};

use completion::WorkspaceIndex;
use replay::{CodeVersion, DataFolder};
use syntax::Language;
use tokio::sync::{Notify, watch};
use tokio_util::sync::CancellationToken;
use tower_lsp_server::gen_lsp_types::{Uri, WorkspaceFolder};
use workspace::Snapshot;

use crate::background_pool::Priority;
use crate::documents::OpenDocument;
use crate::from_proto;
use crate::lazy_real_path::LazyRealPath;
use crate::locks::lock;
use crate::recorded_cases::RecordedCases;
use crate::settings::FolderSettings;

/// All folders.
#[derive(Default)]
pub(crate) struct Folders {
    open: Mutex<Vec<Arc<Folder>>>,
    deferred: Mutex<Vec<WorkspaceFolder>>,
}

/// One folder.
pub(crate) struct Folder {
    /// As the client writes it.
    pub(crate) uri: Uri,
    /// As the client calls it.
    pub(crate) name: String,
    /// Where it is, as the client writes it.
    pub(crate) root: PathBuf,
    real_root: LazyRealPath,
    /// What was recorded in it.
    pub(crate) recorded_cases: RecordedCases,
    /// What is set in it.
    pub(crate) settings: Arc<FolderSettings>,
    /// Told when there is something to look at.
    pub(crate) changed: Notify,
    pending: Mutex<PendingChanges>,
    /// Whether it was said that there is no cache.
    was_warned_of_cache: AtomicBool,
    /// Cancelled when the folder is removed, or the server stops.
    pub(crate) removed: CancellationToken,
    /// How soon what there is to do for it is done.
    pub(crate) priority: watch::Sender<Priority>,
    state: watch::Sender<FolderState>,
}

/// Where to look for changes.
#[derive(Debug, PartialEq, Eq)]
pub(crate) enum PendingChanges {
    /// At these paths.
    Paths(Vec<PathBuf>),
    /// Everywhere.
    Everything,
    /// Nowhere: nobody looks any more.
    Closed,
}

/// More paths than these are not remembered one by one: to look at everything costs as much.
const MAX_PATHS: usize = 10_000;

/// How far reading a folder has come, with what is known so far.
#[derive(Clone, Default)]
pub(crate) struct FolderState {
    /// How the last attempt ended.
    pub(crate) state: IndexingState,
    /// What it found; what an earlier one found while it goes on.
    pub(crate) contents: Arc<FolderContents>,
    /// How often that has changed.
    pub(crate) version: u64,
}

/// Where reading a folder stands.
#[derive(Clone, Debug, Default, PartialEq)]
pub(crate) enum IndexingState {
    /// It is under way.
    #[default]
    Indexing,
    /// It is done.
    Ready,
    /// It failed, and why.
    Failed(String),
}

/// What engines may read of a folder; empty until it was read.
pub(crate) struct FolderContents {
    /// The files; `None` where there are none.
    pub(crate) files: Option<Snapshot>,
    /// What is derived from them.
    pub(crate) index: WorkspaceIndex,
    /// What tells this code from other code.
    pub(crate) code_version: Option<CodeVersion>,
}

impl Default for FolderContents {
    fn default() -> FolderContents {
        FolderContents { files: None, index: WorkspaceIndex::empty(), code_version: None }
    }
}

/// Where a document belongs.
pub(crate) struct DocumentLocation {
    /// The folder that holds it; the first one for documents that are outside of all.
    pub(crate) folder: Option<Arc<Folder>>,
    /// Its path in that folder, with `/` between its parts; the whole path, or the URI, if it is outside.
    pub(crate) path: Arc<str>,
    /// Whether the folder really holds it.
    pub(crate) is_inside: bool,
}

impl Folders {
    /// Remembers folders until the client is ready for what they bring with them.
    pub(crate) fn defer(&self, folders: Vec<WorkspaceFolder>) {
        *lock(&self.deferred) = folders;
    }

    /// The folders that were expected.
    pub(crate) fn take_deferred(&self) -> Vec<WorkspaceFolder> {
        std::mem::take(&mut lock(&self.deferred))
    }

    /// Adds a folder, in place of one with the same root.
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

    /// Takes note that a document is open.
    pub(crate) fn note_opened(&self, path: &Path) {
        self.all().iter().filter(|folder| folder.may_contain(path)).for_each(|folder| folder.mark_active());
    }

    /// Takes note that a file may have changed.
    pub(crate) fn note_changed(&self, path: &Path) {
        for folder in self.all().iter().filter(|folder| folder.may_contain(path)) {
            folder.note_changed_paths(vec![path.to_owned()]);
        }
    }

    /// Takes note that a file or folder was renamed.
    pub(crate) fn renamed(&self, old: &Path, new: &Path) {
        for folder in self.all() {
            if let Some((old, new)) = folder.path_in(old).zip(folder.path_in(new)) {
                folder.recorded_cases.rename(&old, &new);
            }
        }
        self.note_changed(old);
        self.note_changed(new);
    }

    /// Where a document belongs: to the innermost folder that holds it. A folder in which it only is behind a link counts less than one in
    /// which its file is.
    pub(crate) async fn locate(&self, document: &OpenDocument) -> DocumentLocation {
        let all = self.all();
        let mut best: Option<(FolderMatch, &Arc<Folder>)> = None;
        for folder in &all {
            let Some(held) = folder.match_document(document).await else { continue };
            if best.as_ref().is_none_or(|(other, _)| held.rank() >= other.rank()) {
                best = Some((held, folder));
            }
        }
        let outside = || {
            document.path.as_ref().map_or_else(|| document.uri.0.clone(), |path| workspace::path_text(path))
        };
        match best {
            Some((held, folder)) => {
                folder.mark_active();
                DocumentLocation::inside(folder, held.path)
            }
            None => {
                DocumentLocation { folder: all.first().cloned(), path: outside().into(), is_inside: false }
            }
        }
    }
}

impl DocumentLocation {
    fn inside(folder: &Arc<Folder>, path: Arc<str>) -> DocumentLocation {
        DocumentLocation { folder: Some(Arc::clone(folder)), path, is_inside: true }
    }
}

/// How a folder holds a document.
struct FolderMatch {
    /// The document's path in it, with `/` between its parts.
    path: Arc<str>,
    /// Whether the file lies there, rather than behind a link.
    is_real: bool,
    /// Whether the client writes the document's path with the folder's before it.
    is_as_written: bool,
    /// How deep the folder lies.
    depth: usize,
}

impl FolderMatch {
    /// Of two folders that hold a document, it belongs to the one with the larger rank.
    fn rank(&self) -> (bool, usize, bool) {
        (self.is_real, self.depth, self.is_as_written)
    }
}

impl Folder {
    /// A folder on disk; `None` for other URIs.
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
            pending: Mutex::new(PendingChanges::Paths(Vec::new())),
            was_warned_of_cache: AtomicBool::new(false),
            removed,
            priority: watch::Sender::new(Priority::LargeFolder),
            state: watch::Sender::default(),
        })
    }

    /// Where it is, whatever links lead there. Waits for the disk the first time.
    async fn real_root(&self) -> Option<Arc<Path>> {
        self.real_root.get(&self.root).await
    }

    /// Whether it holds a document. Its index knows a file by one path only, so the file's own path counts, and the one that the client
    /// writes where there is no other.
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

    /// The document as one of this folder, even if it belongs to another one within; `None` if it is not below.
    pub(crate) async fn locate(self: &Arc<Folder>, document: &OpenDocument) -> Option<DocumentLocation> {
        Some(DocumentLocation::inside(self, self.match_document(document).await?.path))
    }

    /// Takes note that somebody works in it.
    pub(crate) fn mark_active(&self) {
        self.set_priority(Priority::Interactive);
    }

    /// Takes note that it is read in no time.
    pub(crate) fn mark_small(&self) {
        if *self.priority.borrow() == Priority::LargeFolder {
            self.set_priority(Priority::SmallFolder);
        }
    }

    fn set_priority(&self, urgency: Priority) {
        self.priority.send_if_modified(|now| std::mem::replace(now, urgency) != urgency);
    }

    /// Whether a file may be in it, as far as its path tells.
    fn may_contain(&self, path: &Path) -> bool {
        path.starts_with(&self.root) || self.real_root.known().is_some_and(|root| path.starts_with(root))
    }

    /// A path in it, relative to its root.
    fn path_in(&self, path: &Path) -> Option<String> {
        let below = |root: &Path| path.strip_prefix(root).ok().map(workspace::path_text);
        below(&self.root).or_else(|| below(&self.real_root.known()?))
    }

    /// What is known of its files.
    pub(crate) fn state(&self) -> FolderState {
        self.state.borrow().clone()
    }

    /// What engines may read, once the folder was read for the first time: measuring must not depend on who is faster.
    pub(crate) async fn wait_for_contents(&self) -> Arc<FolderContents> {
        let mut reading = self.state.subscribe();
        let read = reading.wait_for(|reading| reading.state != IndexingState::Indexing).await;
        // The sender lives as long as the folder.
        read.map(|reading| Arc::clone(&reading.contents)).unwrap_or_default()
    }

    /// Takes note of paths at which something has happened.
    pub(crate) fn note_changed_paths(&self, paths: Vec<PathBuf>) {
        if paths.iter().any(|path| path.file_name().is_some_and(|name| name == config::FILE_NAME)) {
            self.settings.refresh();
        }
        lock(&self.pending).add(paths);
        self.changed.notify_one();
    }

    /// Takes note that something has happened somewhere.
    pub(crate) fn note_unknown_changes(&self) {
        lock(&self.pending).add_everything();
        self.changed.notify_one();
    }

    /// What to look at by now.
    pub(crate) fn take_pending(&self) -> PendingChanges {
        std::mem::replace(&mut lock(&self.pending), PendingChanges::Paths(Vec::new()))
    }

    /// Takes note of nothing any more, since nobody looks.
    pub(crate) fn stop_tracking(&self) {
        *lock(&self.pending) = PendingChanges::Closed;
    }

    /// Publishes that it is being read from the beginning.
    pub(crate) fn begin_indexing(&self) {
        self.state.send_modify(|reading| reading.state = IndexingState::Indexing);
    }

    /// Publishes what is known by now, and gives back what was there before; requests that wait for all of it go on waiting.
    pub(crate) fn update_contents(&self, contents: FolderContents) -> Arc<FolderContents> {
        self.publish(|reading| reading.replace_contents(contents))
    }

    /// Publishes that all is known, and gives back what was there before; a folder that cannot be read any more stays one.
    pub(crate) fn finish_indexing(&self, contents: FolderContents) -> Arc<FolderContents> {
        self.publish(|reading| {
            if reading.state == IndexingState::Indexing {
                reading.state = IndexingState::Ready;
            }
            reading.replace_contents(contents)
        })
    }

    fn publish(&self, change: impl FnOnce(&mut FolderState) -> Arc<FolderContents>) -> Arc<FolderContents> {
        let mut old = Arc::default();
        self.state.send_modify(|reading| old = change(reading));
        old
    }

    /// Asks anew where it is, since its path leads elsewhere.
    pub(crate) fn forget_real_root(&self) {
        self.real_root.forget();
    }

    /// Publishes why the folder could not be read; what was known stays. False if that was known too.
    pub(crate) fn fail_indexing(&self, reason: String) -> bool {
        // It may be another one when it comes back.
        self.real_root.forget();
        let failed = IndexingState::Failed(reason);
        self.state.send_if_modified(|reading| {
            let is_new = reading.state != failed;
            reading.state = failed;
            is_new
        })
    }

    /// Whether it could not be read the last time.
    pub(crate) fn has_failed(&self) -> bool {
        matches!(self.state.borrow().state, IndexingState::Failed(_))
    }

    /// Publishes that the folder can be read; false if nobody said otherwise.
    pub(crate) fn recover(&self) -> bool {
        self.state.send_if_modified(|reading| {
            let has_failed = matches!(reading.state, IndexingState::Failed(_));
            if has_failed {
                reading.state = IndexingState::Ready;
            }
            has_failed
        })
    }

    /// Says, once, why nothing is kept for the next start.
    pub(crate) fn warn_of_cache_once(&self, error: &cache::CacheError) {
        if !self.was_warned_of_cache.swap(true, Ordering::Relaxed) {
            tracing::warn!(folder = self.name, %error, "nothing is cached");
        }
    }

    /// Ends its work; false, as what it leaves behind.
    fn remove(&self) -> bool {
        self.removed.cancel();
        false
    }
}

impl FolderState {
    /// Gives back what was there before.
    fn replace_contents(&mut self, contents: FolderContents) -> Arc<FolderContents> {
        self.version += 1;
        std::mem::replace(&mut self.contents, Arc::new(contents))
    }
}

impl PendingChanges {
    fn add(&mut self, paths: Vec<PathBuf>) {
        match self {
            PendingChanges::Paths(pending) if pending.len() + paths.len() <= MAX_PATHS => {
                pending.extend(paths)
            }
            PendingChanges::Paths(_) => *self = PendingChanges::Everything,
            PendingChanges::Everything | PendingChanges::Closed => {}
        }
    }

    fn add_everything(&mut self) {
        if !matches!(self, PendingChanges::Closed) {
            *self = PendingChanges::Everything;
        }
    }
}

impl FolderContents {
    /// The language of the file at `path`, where it was read: an `.h` may be either of two.
    pub(crate) fn language(&self, path: &str) -> Option<Language> {
        Some(self.files.as_ref()?.get(path)?.language)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_to_look_at_is_bounded() {
        let mut pending = PendingChanges::Paths(Vec::new());
        pending.add(vec!["a".into(); MAX_PATHS]);
        assert_eq!(pending, PendingChanges::Paths(vec!["a".into(); MAX_PATHS]));
        pending.add(vec!["b".into()]);
        assert_eq!(pending, PendingChanges::Everything);
        pending.add(vec!["c".into()]);
        assert_eq!(pending, PendingChanges::Everything);
    }

    #[test]
    fn nothing_is_noted_for_nobody() {
        let mut pending = PendingChanges::Closed;
        pending.add(vec!["a".into()]);
        pending.add_everything();
        assert_eq!(pending, PendingChanges::Closed);
    }
}
