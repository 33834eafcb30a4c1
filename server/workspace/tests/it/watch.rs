//! System events lead to the right scans, on a real disk. Every wait ends with the expected state, or fails.

use std::fs;
use std::path::PathBuf;
use std::sync::Mutex;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc::{self, Receiver, RecvTimeoutError};
use std::thread;
use std::time::{Duration, Instant};

use tempfile::TempDir;
use workspace::watcher::{WatchError, Watcher};
use workspace::{ReadLimits, ScanScope, Snapshot, WorkspaceTracker};

#[cfg(target_os = "linux")]
use crate::fixture::unix::runs_inside;
use crate::fixture::{folder, write};

/// Far longer than any machine needs.
const DEADLINE: Duration = Duration::from_secs(60);

struct WatchedFolder {
    folder: TempDir,
    follower: WorkspaceTracker,
    watcher: Watcher,
    events: Receiver<ScanScope>,
    /// All reported paths.
    paths: Vec<PathBuf>,
}

fn start(follower: &WorkspaceTracker) -> Result<(Watcher, Receiver<ScanScope>), WatchError> {
    let (sender, reported) = mpsc::channel();
    let watcher = Watcher::start(follower, move |one| drop(sender.send(one)))?;
    Ok((watcher, reported))
}

impl WatchedFolder {
    fn new(fixture: &str) -> WatchedFolder {
        let folder = folder(fixture);
        let follower = WorkspaceTracker::open(folder.path(), &ReadLimits::standard(), [], &|_| ()).unwrap();
        let (watcher, reported) = start(&follower).unwrap();
        WatchedFolder { folder, follower, watcher, events: reported, paths: Vec::new() }
    }

    fn write(&self, path: &str, text: &str) {
        write(self.folder.path(), path, text);
    }

    fn rename(&self, from: &str, to: &str) {
        fs::rename(self.folder.path().join(from), self.folder.path().join(to)).unwrap();
    }

    /// Applies events until the workspace contains exactly the files in `expected`, each as `path: text`.
    #[track_caller]
    fn wait_for(&mut self, expected: &[&str]) {
        let deadline = Instant::now() + DEADLINE;
        while describe(self.follower.snapshot()) != expected {
            let reported = self.events.recv_timeout(deadline.saturating_duration_since(Instant::now()));
            match reported.unwrap_or_else(|_| panic!("still {:?}", describe(self.follower.snapshot()))) {
                ScanScope::Paths(paths) => {
                    self.follower.refresh(&paths).unwrap();
                    self.paths.extend(paths);
                }
                ScanScope::Everything | ScanScope::Unwatched => drop(self.follower.refresh_all().unwrap()),
            }
            self.watcher.follow(&self.follower).unwrap();
        }
    }
}

fn describe(snapshot: &Snapshot) -> Vec<String> {
    snapshot.files().iter().map(|file| format!("{}: {}", file.path, file.text)).collect()
}

#[test]
fn file_events_are_reported_by_the_watcher() {
    let mut watched = WatchedFolder::new("//- /a.py\n");
    watched.write("b.py", "1");
    watched.wait_for(&["a.py: ", "b.py: 1"]);
    watched.write("b.py", "2");
    watched.wait_for(&["a.py: ", "b.py: 2"]);
    watched.rename("b.py", "c.py");
    watched.wait_for(&["a.py: ", "c.py: 2"]);
    fs::remove_file(watched.folder.path().join("a.py")).unwrap();
    watched.wait_for(&["c.py: 2"]);
}

#[test]
fn changes_before_the_watch_started_are_reported() {
    let folder = folder("//- /a.py\n");
    let follower = WorkspaceTracker::open(folder.path(), &ReadLimits::standard(), [], &|_| ()).unwrap();
    write(folder.path(), "b.py", "1");
    let (watcher, reported) = start(&follower).unwrap();
    let mut watched = WatchedFolder { folder, follower, watcher, events: reported, paths: Vec::new() };
    watched.wait_for(&["a.py: ", "b.py: 1"]);
}

#[test]
fn new_folders_are_watched() {
    let mut watched = WatchedFolder::new("//- /a.py\n");
    watched.write("x/y/z/b.py", "1");
    watched.wait_for(&["a.py: ", "x/y/z/b.py: 1"]);
    watched.write("x/y/z/b.py", "2");
    watched.write("x/y/c.py", "3");
    watched.wait_for(&["a.py: ", "x/y/c.py: 3", "x/y/z/b.py: 2"]);
}

#[test]
fn renamed_folder_is_watched_at_its_new_path() {
    let mut watched = WatchedFolder::new("//- /a.py\n//- /old/deep/b.py\n1");
    watched.wait_for(&["a.py: ", "old/deep/b.py: 1"]);
    watched.rename("old", "new");
    watched.wait_for(&["a.py: ", "new/deep/b.py: 1"]);
    watched.write("new/deep/b.py", "2");
    watched.wait_for(&["a.py: ", "new/deep/b.py: 2"]);
    watched.write("old/deep/c.py", "3");
    watched.wait_for(&["a.py: ", "new/deep/b.py: 2", "old/deep/c.py: 3"]);
}

#[test]
fn recreated_folder_is_watched() {
    let mut watched = WatchedFolder::new("//- /a.py\n//- /lib/b.py\n1");
    for round in 2..6 {
        fs::remove_dir_all(watched.folder.path().join("lib")).unwrap();
        watched.write("lib/b.py", "0");
        watched.wait_for(&["a.py: ", "lib/b.py: 0"]);
        let text = round.to_string();
        watched.write("lib/b.py", &text);
        watched.wait_for(&["a.py: ", &format!("lib/b.py: {text}")]);
    }
}

#[test]
fn changed_ignore_files_add_and_remove_watched_files() {
    let mut watched = WatchedFolder::new("//- /a.py\n//- /lib/b.py\n");
    watched.write(".gitignore", "lib\n");
    watched.wait_for(&["a.py: "]);
    watched.write(".gitignore", "");
    watched.wait_for(&["a.py: ", "lib/b.py: "]);
    watched.write("lib/b.py", "2");
    watched.wait_for(&["a.py: ", "lib/b.py: 2"]);
}

#[cfg(target_os = "linux")]
#[test]
fn skipped_folders_are_not_watched() {
    let mut watched =
        WatchedFolder::new("//- /.gitignore\n/out\n//- /a.py\n//- /node_modules/b/c.js\n//- /out/d.py\n");
    watched.write("node_modules/b/c.js", "2");
    watched.write("out/d.py", "2");
    // Events keep their order.
    watched.write("a.py", "2");
    watched.wait_for(&["a.py: 2"]);
    assert_eq!(
        watched.paths.iter().find(|path| {
            path.components().any(|part| ["b", "out"].iter().any(|name| part.as_os_str() == *name))
        }),
        None
    );
}

#[cfg(target_os = "linux")]
#[test]
fn exhausted_watch_limit_is_an_error() {
    let limit = "echo 3 > /proc/sys/user/max_inotify_watches && exec \"$@\"";
    let command = ["unshare", "--user", "--map-root-user", "sh", "-c", limit, "sh"];
    if !runs_inside("watch::exhausted_watch_limit_is_an_error", &command) {
        return;
    }
    let few = folder("//- /a/a.py\n");
    let follower = WorkspaceTracker::open(few.path(), &ReadLimits::standard(), [], &|_| ()).unwrap();
    let (mut watcher, reported) = start(&follower).unwrap();
    let mut follower = follower;
    write(few.path(), "b/b.py", "");
    write(few.path(), "c/c.py", "");
    follower.refresh(["b", "c"]).unwrap();
    assert!(matches!(watcher.follow(&follower), Err(WatchError::TooMany)));
    drop(watcher);
    let b = ScanScope::Paths(vec![few.path().canonicalize().unwrap().join("b")]);
    assert!(reported.iter().any(|reported| reported == b), "watchable folders are reported");
    assert!(matches!(start(&follower), Err(WatchError::TooMany)));
}

#[test]
fn removed_folder_is_not_reported_repeatedly() {
    let folder = folder("//- /a.py\n//- /lib/b.py\n");
    let follower = WorkspaceTracker::open(folder.path(), &ReadLimits::standard(), [], &|_| ()).unwrap();
    fs::remove_dir_all(folder.path().join("lib")).unwrap();
    let (mut watcher, reported) = start(&follower).unwrap();
    for _ in 0..3 {
        watcher.follow(&follower).unwrap();
    }
    drop(watcher);
    let reported: Vec<_> = reported.iter().collect();
    assert!(
        !reported.iter().any(
            |reported| matches!(reported, ScanScope::Paths(paths) if paths.iter().any(|path| path.ends_with("lib")))
        ),
        "{reported:?}"
    );
}

#[test]
fn watching_a_missing_root_is_an_error() {
    let folder = folder("//- /workspace/a.py\n");
    let root = folder.path().join("workspace");
    let follower = WorkspaceTracker::open(&root, &ReadLimits::standard(), [], &|_| ()).unwrap();
    fs::rename(&root, folder.path().join("elsewhere")).unwrap();
    assert!(matches!(start(&follower), Err(WatchError::Missing { .. })));
}

/// The system queues this many events for a process that does not read them.
#[cfg(target_os = "linux")]
#[test]
fn folders_are_watched_again_after_an_event_overflow() {
    let kept = fs::read_to_string("/proc/sys/fs/inotify/max_queued_events").unwrap();
    let kept: usize = kept.trim().parse().unwrap();
    let folder = folder("//- /a.py\n//- /lib/b.py\n0");
    let follower = WorkspaceTracker::open(folder.path(), &ReadLimits::standard(), [], &|_| ()).unwrap();
    let (sender, reported) = mpsc::channel();
    let (go_on, gate) = mpsc::channel();
    let (gate, is_closed) = (Mutex::new(gate), AtomicBool::new(true));
    let begun = thread::current().id();
    let watcher = Watcher::start(&follower, move |one| {
        drop(sender.send(one));
        // The callback on the watcher's own thread blocks; its first call waits until the test continues.
        if thread::current().id() != begun && is_closed.swap(false, Ordering::Relaxed) {
            gate.lock().unwrap().recv_timeout(DEADLINE).unwrap();
        }
    });
    let mut watched =
        WatchedFolder { folder, follower, watcher: watcher.unwrap(), events: reported, paths: Vec::new() };
    // Equal consecutive events are merged, so two files take turns; each is opened, written and closed.
    for number in 0..=kept / 2 {
        watched.write(["a.py", "lib/b.py"][number % 2], "1");
    }
    fs::remove_dir_all(watched.folder.path().join("lib")).unwrap();
    watched.write("lib/b.py", "2");
    go_on.send(()).unwrap();
    while watched.events.recv_timeout(DEADLINE).unwrap() != ScanScope::Everything {}
    watched.follower.refresh_all().unwrap();
    watched.watcher.follow(&watched.follower).unwrap();
    assert_eq!(describe(watched.follower.snapshot()), ["a.py: 1", "lib/b.py: 2"]);
    watched.write("lib/b.py", "3");
    watched.wait_for(&["a.py: 1", "lib/b.py: 3"]);
}

#[test]
fn dropped_watcher_closes_its_channel() {
    let WatchedFolder { folder, watcher, events: reported, .. } = WatchedFolder::new("//- /a.py\n");
    drop(watcher);
    check_ends(&reported);
    drop(folder);
}

/// Checks that all senders are gone.
#[track_caller]
fn check_ends(reported: &Receiver<ScanScope>) {
    let deadline = Instant::now() + DEADLINE;
    while reported.recv_timeout(deadline.saturating_duration_since(Instant::now()))
        != Err(RecvTimeoutError::Disconnected)
    {
        assert!(Instant::now() < deadline, "the watcher goes on");
    }
}
