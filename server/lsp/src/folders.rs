//! The workspace's folders: what was read of each, and what was recorded in it.

use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex};

use completion::World;
use replay::{Code, DataFolder};
use syntax::Language;
use tokio::sync::{Notify, watch};
use tokio_util::sync::CancellationToken;
use tower_lsp_server::gen_lsp_types::{Uri, WorkspaceFolder};
use workspace::Snapshot;

use crate::documents::OpenDocument;
use crate::from_proto;
use crate::locks::lock;
use crate::recorded::Recorded;

/// All folders.
#[derive(Default)]
pub(crate) struct Folders {
    open: Mutex<Vec<Arc<Folder>>>,
    expected: Mutex<Vec<WorkspaceFolder>>,
}

/// One folder.
pub(crate) struct Folder {
    /// As the client writes it.
    pub(crate) uri: Uri,
    /// As the client calls it.
    pub(crate) name: String,
    /// Where it is.
    pub(crate) root: PathBuf,
    /// What was recorded in it.
    pub(crate) recorded: Recorded,
    /// Told when files changed.
    pub(crate) changed: Notify,
    /// Cancelled when the folder is removed, or the server stops.
    pub(crate) removed: CancellationToken,
    reading: watch::Sender<Reading>,
}

/// How far reading a folder has come, with what is known so far.
#[derive(Clone, Default)]
pub(crate) struct Reading {
    /// How the last attempt ended.
    pub(crate) state: State,
    /// What it found; what an earlier one found while it goes on.
    pub(crate) contents: Arc<Contents>,
}

/// Where reading a folder stands.
#[derive(Clone, Debug, Default, PartialEq)]
pub(crate) enum State {
    /// It is under way.
    #[default]
    Indexing,
    /// It is done.
    Ready,
    /// It failed, and why.
    Failed(String),
}

/// What engines may read of a folder; empty until it was read.
pub(crate) struct Contents {
    /// The files; `None` where there are none.
    pub(crate) files: Option<Snapshot>,
    /// What is derived from them.
    pub(crate) world: World,
    /// What tells this code from other code.
    pub(crate) code: Option<Code>,
}

impl Default for Contents {
    fn default() -> Contents {
        Contents { files: None, world: World::empty(), code: None }
    }
}

/// Where a document belongs.
pub(crate) struct Home {
    /// The folder that holds it; the first one for documents that are outside of all.
    pub(crate) folder: Option<Arc<Folder>>,
    /// Its path in that folder, with `/` between its parts; the whole path, or the URI, if it is outside.
    pub(crate) path: Arc<str>,
    /// Whether the folder really holds it.
    pub(crate) is_inside: bool,
}

impl Folders {
    /// Remembers folders until the client is ready for what they bring with them.
    pub(crate) fn expect(&self, folders: Vec<WorkspaceFolder>) {
        *lock(&self.expected) = folders;
    }

    /// The folders that were expected.
    pub(crate) fn take_expected(&self) -> Vec<WorkspaceFolder> {
        std::mem::take(&mut lock(&self.expected))
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

    /// Takes note that a file may have changed.
    pub(crate) fn changed(&self, path: &Path) {
        for folder in self.all().iter().filter(|folder| path.starts_with(&folder.root)) {
            folder.changed.notify_one();
        }
    }

    /// The innermost folder that holds a file.
    fn holding(&self, path: &Path) -> Option<Arc<Folder>> {
        let all = self.all();
        let holding = all.into_iter().filter(|folder| path.starts_with(&folder.root));
        holding.max_by_key(|folder| folder.root.as_os_str().len())
    }

    /// Where a document belongs.
    pub(crate) fn home(&self, document: &OpenDocument) -> Home {
        let folder = document.path.as_deref().and_then(|path| self.holding(path));
        let inside = folder.as_ref().zip(document.path.as_deref()).and_then(|(folder, path)| {
            let path = path.strip_prefix(&folder.root).ok()?;
            Some(path.to_string_lossy().replace('\\', "/"))
        });
        let outside = || {
            document.path.as_ref().map_or_else(|| document.uri.0.clone(), |path| path.display().to_string())
        };
        Home {
            is_inside: inside.is_some(),
            path: inside.unwrap_or_else(outside).into(),
            folder: folder.or_else(|| self.all().into_iter().next()),
        }
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
            recorded: Recorded::new(data.clone(), root.clone()),
            uri: folder.uri,
            name: folder.name,
            root,
            changed: Notify::new(),
            removed,
            reading: watch::Sender::default(),
        })
    }

    /// What is known of its files.
    pub(crate) fn reading(&self) -> Reading {
        self.reading.borrow().clone()
    }

    /// What engines may read.
    pub(crate) fn contents(&self) -> Arc<Contents> {
        Arc::clone(&self.reading.borrow().contents)
    }

    /// What engines may read, once the folder was read for the first time: measuring must not depend on who is faster.
    pub(crate) async fn contents_when_read(&self) -> Arc<Contents> {
        let mut reading = self.reading.subscribe();
        let read = reading.wait_for(|reading| reading.state != State::Indexing).await;
        // The sender lives as long as the folder.
        read.map(|reading| Arc::clone(&reading.contents)).unwrap_or_default()
    }

    /// Publishes what was read, or why it was not.
    pub(crate) fn publish(&self, read: Result<Contents, String>) {
        self.reading.send_modify(|reading| match read {
            Ok(contents) => *reading = Reading { state: State::Ready, contents: Arc::new(contents) },
            Err(reason) => reading.state = State::Failed(reason),
        });
    }

    /// Ends its work; false, as what it leaves behind.
    fn remove(&self) -> bool {
        self.removed.cancel();
        false
    }
}

impl Contents {
    /// The language of the file at `path`, where it was read: an `.h` may be either of two.
    pub(crate) fn language(&self, path: &str) -> Option<Language> {
        Some(self.files.as_ref()?.get(path)?.language)
    }
}
