//! Time to detect changes in 10,000 files of 3.6 kB, a million lines.
#![expect(clippy::unwrap_used, reason = "a benchmark without its folder has nothing to measure")]

use std::fs;
use std::path::{Path, PathBuf};
use std::thread;
use std::time::Duration;

use divan::Bencher;
use tempfile::TempDir;
use workspace::{KnownFile, ReadLimits, WorkspaceTracker};

const FILES: usize = 10_000;

/// As many files as a switch to another branch may change.
const MANY: usize = 2_000;

fn main() {
    divan::main();
}

fn path(root: &Path, number: usize) -> PathBuf {
    root.join(format!("src/module{}/part{}/file{number}.py", number % 50, number % 500))
}

fn text(number: usize, round: usize) -> String {
    format!("value_{number} = compute_something({round})  # as told\n").repeat(72)
}

fn folder() -> TempDir {
    let folder = tempfile::tempdir_in(env!("CARGO_TARGET_TMPDIR")).unwrap();
    for number in 0..FILES {
        let path = path(folder.path(), number);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(path, text(number, 0)).unwrap();
    }
    folder
}

/// Returns a tracked folder without changes for so long that stamps are reliable.
fn followed() -> (TempDir, WorkspaceTracker) {
    let folder = folder();
    let mut follower = open(folder.path(), Vec::new());
    while follower.known_files().any(|known| known.stamp.is_none()) {
        thread::sleep(Duration::from_millis(500));
        follower.refresh_all().unwrap();
    }
    (folder, follower)
}

fn open(root: &Path, known: Vec<KnownFile>) -> WorkspaceTracker {
    WorkspaceTracker::open(root, &ReadLimits::standard(), known, &|_| ()).unwrap()
}

#[divan::bench(sample_count = 10)]
fn open_unknown(bencher: Bencher<'_, '_>) {
    let folder = folder();
    bencher.bench_local(|| open(folder.path(), Vec::new()));
}

#[divan::bench(sample_count = 10)]
fn open_known(bencher: Bencher<'_, '_>) {
    let (folder, follower) = followed();
    bencher
        .with_inputs(|| follower.known_files().collect())
        .bench_local_values(|known| open(folder.path(), known));
}

#[divan::bench(sample_count = 20)]
fn refresh_all_unchanged(bencher: Bencher<'_, '_>) {
    let (_folder, mut follower) = followed();
    bencher.bench_local(|| follower.refresh_all().unwrap());
}

#[divan::bench(sample_size = 1)]
fn refresh_one(bencher: Bencher<'_, '_>) {
    let (folder, mut follower) = followed();
    let changed = path(folder.path(), FILES / 2);
    let mut round = 0;
    bencher
        .with_inputs(|| {
            round += 1;
            fs::write(&changed, text(0, round)).unwrap();
        })
        .bench_local_values(|()| {
            let changes = follower.refresh([&changed]).unwrap();
            assert_eq!(changes.changed.len(), 1);
        });
}

#[divan::bench(sample_count = 10, sample_size = 1)]
fn refresh_many(bencher: Bencher<'_, '_>) {
    let (folder, mut follower) = followed();
    let paths: Vec<PathBuf> = (0..MANY).map(|number| path(folder.path(), number * 5)).collect();
    let mut round = 0;
    let write = || {
        round += 1;
        for (number, path) in paths.iter().enumerate() {
            fs::write(path, text(number, round)).unwrap();
        }
    };
    bencher.with_inputs(write).bench_local_values(|()| {
        let changes = follower.refresh(&paths).unwrap();
        assert_eq!(changes.changed.len(), MANY);
    });
}

#[divan::bench]
fn tree_hash(bencher: Bencher<'_, '_>) {
    let (folder, mut follower) = followed();
    let changed = path(folder.path(), 0);
    let mut round = 0;
    // A snapshot keeps its hash, so each measurement needs another one.
    let change = || {
        round += 1;
        fs::write(&changed, text(0, round)).unwrap();
        follower.refresh([&changed]).unwrap();
        follower.snapshot().clone()
    };
    bencher.with_inputs(change).bench_local_values(|snapshot| snapshot.tree_hash().len());
}
