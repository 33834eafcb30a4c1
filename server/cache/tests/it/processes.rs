//! Several processes that share a cache, and processes that are killed.

use std::collections::BTreeSet;
use std::ffi::OsString;
use std::path::Path;
use std::process::{Child, Command, Stdio};
use std::thread;
use std::time::{Duration, Instant};
use std::{env, fs};

use cache::{Cache, CacheMiss};
use tempfile::TempDir;

use crate::fixture::{FORMAT, Folder, Owned, open};

/// Much longer than any machine needs.
const DEADLINE: Duration = Duration::from_secs(60);

/// Environment variable of a child process with the place at which it works.
const PLACE: &str = "GHOSTBENCH_TEST_PLACE";

/// A test that runs again in a child process.
pub(crate) struct Inside<'a> {
    test: &'a str,
    place: &'a str,
}

impl<'a> Inside<'a> {
    pub(crate) fn of(test: &'a str) -> Inside<'a> {
        Inside { test, place: "" }
    }

    /// Sets the place.
    pub(crate) fn at(self, place: &'a str) -> Inside<'a> {
        Inside { place, ..self }
    }

    fn command(&self, before: &[&str], program: &Path) -> Command {
        let mut command = match before {
            [] => Command::new(program),
            [first, rest @ ..] => {
                let mut command = Command::new(first);
                command.args(rest).arg(program);
                command
            }
        };
        command.args(["--exact", self.test]).env(PLACE, self.place);
        command
    }

    /// Returns the place, in the child process.
    pub(crate) fn place(&self) -> String {
        env::var(PLACE).unwrap()
    }

    fn is_child_process(&self) -> bool {
        env::var_os(PLACE).is_some()
    }

    fn start(&self) -> Running {
        let mut command = self.command(&[], &env::current_exe().unwrap());
        Running(command.stdout(Stdio::null()).stderr(Stdio::null()).spawn().unwrap())
    }

    /// Runs the test in a child process started by the command `before`. Returns true in that process. Returns false in the
    /// parent, which has nothing else to do, and if the command does not exist.
    #[expect(clippy::print_stderr, reason = "a test that is skipped says so")]
    pub(crate) fn run_in_child(&self, before: &[&str]) -> bool {
        if self.is_child_process() {
            return true;
        }
        if !self.command(before, Path::new("true")).output().is_ok_and(|output| output.status.success()) {
            eprintln!("skipped: `{}` does not work here", before.join(" "));
            return false;
        }
        let output = self.command(before, &env::current_exe().unwrap()).output().unwrap();
        let printed =
            String::from_utf8_lossy(&output.stdout).into_owned() + &String::from_utf8_lossy(&output.stderr);
        assert!(output.status.success() && printed.contains("1 passed"), "{printed}");
        false
    }
}

/// A process that is killed on drop, even if the test fails.
struct Running(Child);

impl Running {
    fn is_running(&mut self) -> bool {
        self.0.try_wait().unwrap().is_none()
    }
}

impl Drop for Running {
    fn drop(&mut self) {
        self.0.kill().unwrap();
        self.0.wait().unwrap();
    }
}

/// Files of a few megabytes with the same content.
fn files(text: &str) -> Vec<Owned> {
    (0..30).map(|number| Owned::new(&format!("{number}.py"), &text.repeat(50_000))).collect()
}

fn save(cache: &Cache, files: &[Owned]) {
    cache.save("/project".as_ref(), FORMAT, files.iter().map(Owned::entry)).unwrap();
}

/// Returns the content of all files, which must come from one save.
#[track_caller]
fn read_saved_text(folder: &TempDir) -> String {
    let cache = Cache::new(folder.path(), Cache::DEFAULT_LIMIT);
    let opened = open(&cache, "/project").unwrap();
    let text = opened[0].text[..1].to_owned();
    assert!(opened == files(&text), "parts of several saves");
    text
}

/// Saves forever in the child process.
fn save_forever(inside: &Inside<'_>) {
    if inside.is_child_process() {
        let cache = Cache::new(inside.place().as_ref(), Cache::DEFAULT_LIMIT);
        let [a, b] = ["a", "b"].map(files);
        loop {
            save(&cache, &a);
            save(&cache, &b);
        }
    }
}

#[test]
fn killed_process_leaves_a_readable_cache() {
    let inside = Inside::of("processes::killed_process_leaves_a_readable_cache");
    save_forever(&inside);
    let Folder { folder, cache } = Folder::new();
    save(&cache, &files("a"));
    let inside = inside.at(folder.path().to_str().unwrap());
    const ROUNDS: u64 = 25;
    let whole = bytes(&folder, names(&folder).first().unwrap());
    let mut was_cut_off = false;
    for round in 0..ROUNDS {
        let before = names(&folder);
        let child = inside.start();
        let deadline = Instant::now() + DEADLINE;
        // Each round kills the process after another share of the cache is written.
        while !is_written(&folder, &before, whole * round / ROUNDS) {
            assert!(Instant::now() < deadline, "the process does not save");
            thread::yield_now();
        }
        drop(child);
        read_saved_text(&folder);
        was_cut_off |= names(&folder).len() > 1;
    }
    assert!(was_cut_off, "no process was killed while it was saving");
    save(&cache, &files("c"));
    assert_eq!(
        (read_saved_text(&folder), names(&folder).len()),
        ("c".to_owned(), 1),
        "abandoned files are removed"
    );
}

/// Returns whether a file that is not in `before` has at least so many bytes.
fn is_written(folder: &TempDir, before: &BTreeSet<OsString>, bytes: u64) -> bool {
    names(folder).difference(before).any(|name| self::bytes(folder, name) >= bytes)
}

/// Returns the size of a file, or 0 if it has vanished.
fn bytes(folder: &TempDir, name: &OsString) -> u64 {
    fs::metadata(folder.path().join(name)).map_or(0, |metadata| metadata.len())
}

fn names(folder: &TempDir) -> BTreeSet<OsString> {
    folder.path().read_dir().unwrap().map(|entry| entry.unwrap().file_name()).collect()
}

#[test]
fn concurrent_processes_leave_one_complete_cache() {
    let inside = Inside::of("processes::concurrent_processes_leave_one_complete_cache");
    save_forever(&inside);
    let Folder { folder, cache } = Folder::new();
    save(&cache, &files("c"));
    let inside = inside.at(folder.path().to_str().unwrap());
    let mut children = [inside.start(), inside.start()];
    let deadline = Instant::now() + DEADLINE;
    let mut seen = Vec::new();
    while !["a", "b"].iter().all(|text| seen.iter().any(|known| known == text)) {
        assert!(Instant::now() < deadline, "the processes do not save: {seen:?}");
        seen.push(read_saved_text(&folder));
    }
    assert!(children.iter_mut().all(Running::is_running), "a process could not save");
    drop(children);
    read_saved_text(&folder);
}

#[test]
fn concurrent_threads_leave_one_complete_cache() {
    let Folder { folder, cache } = Folder::new();
    thread::scope(|scope| {
        for text in ["a", "b", "c"] {
            let cache = &cache;
            scope.spawn(move || (0..5).for_each(|_| save(cache, &files(text))));
        }
    });
    read_saved_text(&folder);
    assert_eq!(names(&folder).len(), 1);
    assert!(!matches!(open(&cache, "/project"), Err(CacheMiss::Absent)));
}
