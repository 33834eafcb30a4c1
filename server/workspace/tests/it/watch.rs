//! Whether the system's events lead to the right looks, on a real disk. Every wait ends with what is waited for, or fails.

use std::fs;
use std::path::PathBuf;
use std::sync::mpsc::{self, Receiver, RecvTimeoutError};
use std::time::{Duration, Instant};

use tempfile::TempDir;
use workspace::watch::{Told, WatchError, Watcher};
use workspace::{Follower, Limits, Snapshot};

#[cfg(target_os = "linux")]
use crate::fixture::unix::is_inside;
use crate::fixture::{folder, write};

/// Far beyond what any machine needs.
const DEADLINE: Duration = Duration::from_secs(60);

struct Watched {
    folder: TempDir,
    follower: Follower,
    watcher: Watcher,
    told: Receiver<Told>,
    /// All paths that were told of.
    paths: Vec<PathBuf>,
}

fn start(follower: &Follower) -> Result<(Watcher, Receiver<Told>), WatchError> {
    let (sender, told) = mpsc::channel();
    let watcher = Watcher::start(follower, move |one| drop(sender.send(one)))?;
    Ok((watcher, told))
}

impl Watched {
    fn new(fixture: &str) -> Watched {
        let folder = folder(fixture);
        let follower = Follower::open(folder.path(), &Limits::standard(), [], &|_| ()).unwrap();
        let (watcher, told) = start(&follower).unwrap();
        Watched { folder, follower, watcher, told, paths: Vec::new() }
    }

    fn write(&self, path: &str, text: &str) {
        write(self.folder.path(), path, text);
    }

    fn rename(&self, from: &str, to: &str) {
        fs::rename(self.folder.path().join(from), self.folder.path().join(to)).unwrap();
    }

    /// Takes in what is told until the workspace holds exactly the files that `expected` lists, each as `path: text`.
    #[track_caller]
    fn wait_for(&mut self, expected: &[&str]) {
        let deadline = Instant::now() + DEADLINE;
        while describe(self.follower.snapshot()) != expected {
            let told = self.told.recv_timeout(deadline.saturating_duration_since(Instant::now()));
            match told.unwrap_or_else(|_| panic!("still {:?}", describe(self.follower.snapshot()))) {
                Told::Paths(paths) => {
                    self.follower.refresh(&paths).unwrap();
                    self.paths.extend(paths);
                }
                Told::Everything => drop(self.follower.refresh_all().unwrap()),
            }
            self.watcher.follow(&self.follower).unwrap();
        }
    }
}

fn describe(snapshot: &Snapshot) -> Vec<String> {
    snapshot.files().iter().map(|file| format!("{}: {}", file.path, file.text)).collect()
}

#[test]
fn files_are_created_changed_renamed_and_removed() {
    let mut watched = Watched::new("//- /a.py\n");
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
fn what_happened_before_the_watch_is_told() {
    let folder = folder("//- /a.py\n");
    let follower = Follower::open(folder.path(), &Limits::standard(), [], &|_| ()).unwrap();
    write(folder.path(), "b.py", "1");
    let (watcher, told) = start(&follower).unwrap();
    let mut watched = Watched { folder, follower, watcher, told, paths: Vec::new() };
    watched.wait_for(&["a.py: ", "b.py: 1"]);
}

#[test]
fn folders_are_watched_as_they_appear() {
    let mut watched = Watched::new("//- /a.py\n");
    watched.write("x/y/z/b.py", "1");
    watched.wait_for(&["a.py: ", "x/y/z/b.py: 1"]);
    watched.write("x/y/z/b.py", "2");
    watched.write("x/y/c.py", "3");
    watched.wait_for(&["a.py: ", "x/y/c.py: 3", "x/y/z/b.py: 2"]);
}

#[test]
fn a_folder_that_was_renamed_is_watched_under_its_new_name() {
    let mut watched = Watched::new("//- /a.py\n//- /old/deep/b.py\n1");
    watched.wait_for(&["a.py: ", "old/deep/b.py: 1"]);
    watched.rename("old", "new");
    watched.wait_for(&["a.py: ", "new/deep/b.py: 1"]);
    watched.write("new/deep/b.py", "2");
    watched.wait_for(&["a.py: ", "new/deep/b.py: 2"]);
    watched.write("old/deep/c.py", "3");
    watched.wait_for(&["a.py: ", "new/deep/b.py: 2", "old/deep/c.py: 3"]);
}

#[test]
fn a_folder_that_was_removed_and_made_again_is_watched() {
    let mut watched = Watched::new("//- /a.py\n//- /lib/b.py\n1");
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
fn ignore_files_count_from_when_they_change() {
    let mut watched = Watched::new("//- /a.py\n//- /lib/b.py\n");
    watched.write(".gitignore", "lib\n");
    watched.wait_for(&["a.py: "]);
    watched.write(".gitignore", "");
    watched.wait_for(&["a.py: ", "lib/b.py: "]);
    watched.write("lib/b.py", "2");
    watched.wait_for(&["a.py: ", "lib/b.py: 2"]);
}

#[cfg(target_os = "linux")]
#[test]
fn folders_that_are_left_out_are_not_watched() {
    let mut watched =
        Watched::new("//- /.gitignore\n/out\n//- /a.py\n//- /node_modules/b/c.js\n//- /out/d.py\n");
    watched.write("node_modules/b/c.js", "2");
    watched.write("out/d.py", "2");
    // Events keep their order.
    watched.write("a.py", "2");
    watched.wait_for(&["a.py: 2"]);
    let is_inside = |path: &&PathBuf| {
        path.components().any(|part| ["b", "out"].iter().any(|name| part.as_os_str() == *name))
    };
    assert_eq!(watched.paths.iter().find(is_inside), None);
}

#[cfg(target_os = "linux")]
#[test]
fn a_system_that_watches_no_more_folders_says_so() {
    let limit = "echo 2 > /proc/sys/user/max_inotify_watches && exec \"$@\"";
    let command = ["unshare", "--user", "--map-root-user", "sh", "-c", limit, "sh"];
    if !is_inside("watch::a_system_that_watches_no_more_folders_says_so", &command) {
        return;
    }
    let few = folder("//- /a/a.py\n");
    let follower = Follower::open(few.path(), &Limits::standard(), [], &|_| ()).unwrap();
    let (mut watcher, _told) = start(&follower).unwrap();
    let mut follower = follower;
    write(few.path(), "b/b.py", "");
    follower.refresh(["b"]).unwrap();
    assert!(matches!(watcher.follow(&follower), Err(WatchError::TooMany)));
    drop(watcher);
    assert!(matches!(start(&follower), Err(WatchError::TooMany)));
}

#[test]
fn polling_asks_for_looks_until_it_is_dropped() {
    let (sender, told) = mpsc::channel();
    let mut watcher = Watcher::polling(Duration::from_millis(1), move |one| drop(sender.send(one)));
    let folder = folder("//- /a.py\n");
    let follower = Follower::open(folder.path(), &Limits::standard(), [], &|_| ()).unwrap();
    watcher.follow(&follower).unwrap();
    for _ in 0..3 {
        assert_eq!(told.recv_timeout(DEADLINE), Ok(Told::Everything));
    }
    drop(watcher);
    check_ends(&told);
}

#[test]
fn a_watcher_that_is_dropped_tells_nothing_more() {
    let Watched { folder, watcher, told, .. } = Watched::new("//- /a.py\n");
    drop(watcher);
    check_ends(&told);
    drop(folder);
}

/// Whoever could tell something has gone.
#[track_caller]
fn check_ends(told: &Receiver<Told>) {
    let deadline = Instant::now() + DEADLINE;
    while told.recv_timeout(deadline.saturating_duration_since(Instant::now()))
        != Err(RecvTimeoutError::Disconnected)
    {
        assert!(Instant::now() < deadline, "the watcher goes on");
    }
}
