//! The system's events, from the `notify` crate.
//!
//! Linux watches folder by folder with a limit on their number, so only the folders that the walk enters are watched. macOS and
//! Windows watch a whole tree at once; their events in skipped folders cost [`WorkspaceTracker::refresh`] nothing.

use std::collections::BTreeSet;
use std::fmt;
use std::io::ErrorKind as IoErrorKind;
use std::mem;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, PoisonError};

use notify::event::{AccessKind, AccessMode, ModifyKind};
use notify::{
    Config, ErrorKind, Event, EventKind, RecommendedWatcher, RecursiveMode, Watcher as _, WatcherKind,
};

use super::WatchError;
use crate::path_tree::range_below;
use crate::{ScanScope, WorkspaceTracker};

type EventCallback = Arc<dyn Fn(ScanScope) + Send + Sync>;

/// Folders that were created, removed or renamed: a watch on one of these paths may belong to another folder.
type MovedFolders = Arc<Mutex<BTreeSet<PathBuf>>>;

/// A watch on folders. Dropping it ends its thread.
pub(super) struct SystemWatcher {
    system: RecommendedWatcher,
    /// Absolute path, as required by the system.
    root: PathBuf,
    /// Individually watched folders, relative to the root.
    watched: BTreeSet<Arc<str>>,
    moved: MovedFolders,
    on_event: EventCallback,
}

impl SystemWatcher {
    pub(super) fn start(
        follower: &WorkspaceTracker,
        tell: impl Fn(ScanScope) + Send + Sync + 'static,
    ) -> Result<SystemWatcher, WatchError> {
        let root = follower.canonical_root().to_owned();
        check_file_system(&root)?;
        let (tell, moved): (EventCallback, MovedFolders) = (Arc::new(tell), MovedFolders::default());
        let handler = {
            let (root, tell, moved) = (root.clone(), tell.clone(), moved.clone());
            move |event: notify::Result<Event>| handle(event, &root, &moved, &*tell)
        };
        let system = RecommendedWatcher::new(handler, Config::default().with_follow_symlinks(false))
            .map_err(|error| watch_error(error, &root))?;
        let mut events = SystemWatcher { system, root, watched: BTreeSet::new(), moved, on_event: tell };
        match RecommendedWatcher::kind() {
            WatcherKind::Inotify => events.follow(follower)?,
            WatcherKind::Fsevent | WatcherKind::ReadDirectoryChangesWatcher => events.watch_tree()?,
            _ => return Err(WatchError::Unsupported),
        }
        Ok(events)
    }

    fn watch_tree(&mut self) -> Result<(), WatchError> {
        let watched = self.system.watch(&self.root, RecursiveMode::Recursive);
        watched.map_err(|error| watch_error(error, &self.root))?;
        (self.on_event)(ScanScope::Everything);
        Ok(())
    }

    pub(super) fn follow(&mut self, follower: &WorkspaceTracker) -> Result<(), WatchError> {
        let moved = mem::take(&mut *self.moved.lock().unwrap_or_else(PoisonError::into_inner));
        if RecommendedWatcher::kind() != WatcherKind::Inotify {
            return Ok(());
        }
        self.unwatch_moved(&moved);
        let followed: BTreeSet<Arc<str>> = follower.folders().map(Arc::from).collect();
        for gone in self.watched.extract_if(.., |folder| !followed.contains(folder)).collect::<Vec<_>>() {
            self.unwatch(&gone);
        }
        let new: Vec<_> = followed.difference(&self.watched).cloned().collect();
        let (mut reported, mut outcome) = (Vec::new(), Ok(()));
        for folder in new {
            let path = self.root.join(&*folder);
            match self.system.watch(&path, RecursiveMode::NonRecursive) {
                Ok(()) => {
                    self.watched.insert(folder);
                    reported.push(path);
                }
                // The folder above reports it; the root has none.
                Err(error) if is_gone(&error) && !folder.is_empty() => {}
                Err(error) if is_gone(&error) => return Err(WatchError::Missing { path: self.root.clone() }),
                Err(error) => {
                    outcome = Err(watch_error(error, &path));
                    break;
                }
            }
        }
        if !reported.is_empty() {
            (self.on_event)(ScanScope::Paths(reported));
        }
        outcome
    }

    /// Ends the watches on folders that were removed or may have been replaced. Must come first: the system treats a renamed
    /// folder as the one that it already watches.
    fn unwatch_moved(&mut self, moved: &BTreeSet<PathBuf>) {
        for path in moved {
            let Some(folder) = path.strip_prefix(&self.root).ok().and_then(Path::to_str) else { continue };
            let mut forgotten: Vec<_> = self.watched.extract_if(range_below(folder), |_| true).collect();
            forgotten.extend(self.watched.take(folder));
            for folder in forgotten {
                self.unwatch(&folder);
            }
        }
    }

    fn unwatch(&mut self, folder: &str) {
        // The system may already have ended the watch with the folder.
        drop(self.system.unwatch(&self.root.join(folder)));
    }
}

impl fmt::Debug for SystemWatcher {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Events").field("root", &self.root).field("watched", &self.watched.len()).finish()
    }
}

fn check_file_system(root: &Path) -> Result<(), WatchError> {
    #[cfg(unix)]
    if let Some(file_system) = super::unix::file_system_without_events(root) {
        return Err(WatchError::NoFileSystemEvents { file_system });
    }
    let _ = root;
    Ok(())
}

fn handle(
    event: notify::Result<Event>,
    root: &Path,
    moved: &Mutex<BTreeSet<PathBuf>>,
    tell: &dyn Fn(ScanScope),
) {
    let moved = || moved.lock().unwrap_or_else(PoisonError::into_inner);
    let event = match event {
        Ok(event) if !event.need_rescan() => event,
        _ => {
            // Any folder may have moved in a lost event.
            moved().insert(root.to_owned());
            return tell(ScanScope::Everything);
        }
    };
    if let EventKind::Create(_) | EventKind::Remove(_) | EventKind::Modify(ModifyKind::Name(_)) = event.kind {
        moved().extend(event.paths.iter().cloned());
    }
    let paths: Vec<PathBuf> =
        event.paths.into_iter().filter(|path| may_change_text(event.kind, path)).collect();
    if !paths.is_empty() {
        tell(ScanScope::Paths(paths));
    }
}

/// Whether an event may indicate a changed text. Reads do not; on Windows, neither do events of a folder for a change in it,
/// which has an event of its own.
fn may_change_text(kind: EventKind, path: &Path) -> bool {
    match kind {
        EventKind::Access(AccessKind::Close(AccessMode::Write)) => true,
        EventKind::Access(_) => false,
        EventKind::Modify(ModifyKind::Any | ModifyKind::Data(_)) => !path.is_dir(),
        _ => true,
    }
}

fn is_gone(error: &notify::Error) -> bool {
    match &error.kind {
        ErrorKind::PathNotFound => true,
        ErrorKind::Io(error) => {
            matches!(
                error.kind(),
                IoErrorKind::NotFound | IoErrorKind::PermissionDenied | IoErrorKind::NotADirectory
            )
        }
        _ => false,
    }
}

fn watch_error(error: notify::Error, path: &Path) -> WatchError {
    #[cfg(unix)]
    if matches!(&error.kind, ErrorKind::Io(error) if super::unix::is_limit(error)) {
        return WatchError::TooMany;
    }
    match error.kind {
        ErrorKind::MaxFilesWatch => WatchError::TooMany,
        _ => WatchError::Failed { path: path.to_owned(), reason: error.to_string() },
    }
}

#[cfg(test)]
mod tests {
    use std::io;

    use super::*;

    #[test]
    fn watch_limit_is_distinguished_from_other_errors() {
        let path = Path::new("/a");
        let watches = watch_error(notify::Error::new(ErrorKind::MaxFilesWatch), path);
        assert!(matches!(&watches, WatchError::TooMany) && watches.to_string().contains("max_user_watches"));
        let other = watch_error(notify::Error::io(io::Error::other("no such luck")), path);
        assert!(other.to_string().starts_with("cannot watch /a: no such luck"), "{other}");
    }

    #[cfg(unix)]
    #[test]
    fn instance_limit_is_reported_as_too_many_watches() {
        let error = io::Error::from_raw_os_error(rustix::io::Errno::MFILE.raw_os_error());
        assert!(matches!(watch_error(notify::Error::io(error), Path::new("/a")), WatchError::TooMany));
    }

    #[test]
    fn lost_events_cause_a_full_scan() {
        let reported = Mutex::new(Vec::new());
        let tell = |one| reported.lock().unwrap().push(one);
        let lost = Event::new(EventKind::Other).set_flag(notify::event::Flag::Rescan);
        let handle = |event| {
            let moved = Mutex::default();
            handle(event, Path::new("/a"), &moved, &tell);
            moved.into_inner().unwrap().into_iter().collect::<Vec<_>>()
        };
        assert_eq!(handle(Ok(lost)), [Path::new("/a")]);
        assert_eq!(handle(Err(notify::Error::generic("broken"))), [Path::new("/a")]);
        let read = EventKind::Access(AccessKind::Open(AccessMode::Any));
        assert_eq!(handle(Ok(Event::new(read).add_path("/a/x.py".into()))), Vec::<PathBuf>::new());
        assert_eq!(*reported.lock().unwrap(), [ScanScope::Everything, ScanScope::Everything]);
    }
}
