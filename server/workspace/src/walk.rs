//! Finds the files that may be source, by folders, names and sizes; does not read contents.
//!
//! The `ignore` crate walks and applies .gitignore and .ghostbenchignore. It does not report skipped entries, so each folder is
//! listed once more: entries that are listed but never visited were ignored.
//!
//! A walk may be restricted to a [`WalkScope`]; within it, the result is the same as that of the whole walk.

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::mpsc::{self, Sender};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use ignore::{DirEntry, WalkBuilder, WalkState};
use syntax::{Language, Manifest};

use crate::path_text::{exact_text, path_text};
use crate::secret_names::is_secret_like;
use crate::walk_scope::{WalkScope, join};
use crate::{DiskStamp, LoadProgress, ReadLimits, SkipReason, SkippedPath, disk_stamp, skipped_folders};

/// Kind of a usable file.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum FileKind {
    /// Source, in the language of its name.
    Source(Language),
    /// A manifest.
    Manifest,
}

/// A usable file.
#[derive(Clone, Debug)]
pub(crate) struct WalkedFile {
    pub(crate) path: String,
    pub(crate) kind: FileKind,
    pub(crate) bytes: u64,
    pub(crate) stamp: DiskStamp,
    /// Number of hard links.
    pub(crate) link_count: u64,
}

/// The result of a walk, unordered.
#[derive(Debug, Default)]
pub(crate) struct WalkResult {
    pub(crate) candidates: Vec<WalkedFile>,
    pub(crate) skipped: Vec<SkippedPath>,
    /// The folders that the walk entered; the root is empty.
    pub(crate) entered: BTreeSet<String>,
}

/// Number of paths above which a later walk uses several threads, as the first one does: they are started for it, and idle ones poll for work
/// every millisecond. A checkout is waited for, unlike a look through all files in case that a watcher missed something.
const NARROW_PATHS: usize = 5_000;

/// An event from a walking thread.
enum WalkEvent {
    /// A folder has this entry.
    Listed(String),
    /// The walk visited this entry, so it is not ignored.
    Visited(String),
    /// The walk entered this folder.
    Entered(String),
    Candidate(WalkedFile),
    Skipped(SkippedPath),
}

/// Walks the part of the folder `root` that `scope` covers; the folder must be readable.
pub(crate) fn walk(
    root: &Path,
    scope: &WalkScope<'_>,
    limits: &ReadLimits,
    progress: &(dyn Fn(LoadProgress) + Sync),
    keep_going: &(dyn Fn() -> bool + Sync),
) -> WalkResult {
    let (sender, events) = mpsc::channel();
    let found = AtomicUsize::new(0);
    let is_wide = scope.is_first() || scope.len() > NARROW_PATHS;
    let threads = if is_wide { rayon::current_num_threads() } else { 1 };
    let visit = |visitor: &Visitor<'_>, entry: Result<DirEntry, ignore::Error>| match entry {
        _ if !keep_going() => WalkState::Quit,
        Ok(entry) => {
            let state = visitor.visit(&entry);
            if entry.file_type().is_some_and(|kind| kind.is_file()) {
                progress(LoadProgress::Walking { found: found.fetch_add(1, Ordering::Relaxed) + 1 });
            }
            state
        }
        Err(error) => {
            visitor.report_error(&error);
            WalkState::Continue
        }
    };
    let visitor = Visitor { root, scope, limits, sender };
    if threads == 1 {
        walk_here(root, |entry| visit(&visitor, entry));
    } else {
        ignore_rules(root).threads(threads).build_parallel().run(|| {
            let (visitor, visit) = (visitor.clone(), &visit);
            Box::new(move |entry| visit(&visitor, entry))
        });
    }
    drop(visitor);
    collect_events(events.into_iter())
}

/// Walks on this thread; a parallel walk would start one even if it needs no other.
fn walk_here(root: &Path, mut visit: impl FnMut(Result<DirEntry, ignore::Error>) -> WalkState) {
    // The content of a folder comes right after it, so the last skipped one is enough.
    let skipped: Arc<Mutex<Option<PathBuf>>> = Arc::default();
    let last_skipped = Arc::clone(&skipped);
    let is_skipped =
        move |path: &Path| lock(&last_skipped).as_ref().is_some_and(|folder| path.starts_with(folder));
    let mut rules = ignore_rules(root);
    let is_below_skipped = is_skipped.clone();
    rules.filter_entry(move |entry| !is_below_skipped(entry.path()) && has_usable_rules(entry));
    for entry in rules.build() {
        // A skipped folder may be unreadable.
        if entry.as_ref().err().and_then(error_path).is_some_and(&is_skipped) {
            continue;
        }
        let folder =
            entry.as_ref().ok().filter(|entry| is_folder(entry)).map(|entry| entry.path().to_owned());
        match visit(entry) {
            WalkState::Continue => {}
            WalkState::Skip => *lock(&skipped) = folder,
            WalkState::Quit => return,
        }
    }
}

fn lock(folder: &Mutex<Option<PathBuf>>) -> MutexGuard<'_, Option<PathBuf>> {
    folder.lock().unwrap_or_else(PoisonError::into_inner)
}

/// Whether a folder has at most `entries` entries, without reading them. Installed dependencies do not count.
pub fn is_small(root: &Path, entries: usize) -> bool {
    let mut rules = ignore_rules(root);
    rules.filter_entry(|entry| !entry.file_name().to_str().is_some_and(skipped_folders::is_dependency_name));
    rules.build().take(entries + 1).count() <= entries
}

/// Returns a walk below `root` with all applicable ignore files.
pub(crate) fn ignore_rules(root: &Path) -> WalkBuilder {
    let mut builder = WalkBuilder::new(root);
    builder
        .hidden(false)
        .ignore(false)
        .parents(is_in_git_repository(root))
        .require_git(false)
        .add_custom_ignore_filename(".ghostbenchignore")
        .filter_entry(has_usable_rules);
    builder
}

fn has_usable_rules(entry: &DirEntry) -> bool {
    !(is_folder(entry) && has_special_ignore_file(entry.path()))
}

fn is_folder(entry: &DirEntry) -> bool {
    entry.file_type().is_some_and(|kind| kind.is_dir())
}

/// Whether an ignore file of a folder is a pipe or a device. Reading it could block forever, and its rules are unknown, so the
/// folder counts as ignored.
pub(crate) fn has_special_ignore_file(folder: &Path) -> bool {
    [".gitignore", ".ghostbenchignore", ".git/info/exclude"].into_iter().any(|name| {
        let metadata = std::fs::metadata(folder.join(name));
        metadata.is_ok_and(|metadata| !metadata.is_file() && !metadata.is_dir())
    })
}

/// Whether ignore files above `root` apply: they do for git, but a stray .gitignore above a plain folder does not.
pub(crate) fn is_in_git_repository(root: &Path) -> bool {
    root.canonicalize().is_ok_and(|root| root.ancestors().any(|folder| folder.join(".git").exists()))
}

/// Collects events, in any order, into a result.
fn collect_events(events: impl Iterator<Item = WalkEvent>) -> WalkResult {
    let mut found = WalkResult::default();
    let (mut listed, mut visited) = (BTreeSet::new(), BTreeSet::new());
    for event in events {
        match event {
            WalkEvent::Listed(path) => drop(listed.insert(path)),
            WalkEvent::Visited(path) => drop(visited.insert(path)),
            WalkEvent::Entered(path) => drop(found.entered.insert(path)),
            WalkEvent::Candidate(candidate) => found.candidates.push(candidate),
            WalkEvent::Skipped(one) => found.skipped.push(one),
        }
    }
    found.skipped.extend(listed.difference(&visited).map(|path| SkippedPath::new(path, SkipReason::Ignored)));
    found
}

/// One walking thread.
#[derive(Clone)]
struct Visitor<'a> {
    root: &'a Path,
    scope: &'a WalkScope<'a>,
    limits: &'a ReadLimits,
    sender: Sender<WalkEvent>,
}

impl Visitor<'_> {
    fn visit(&self, entry: &DirEntry) -> WalkState {
        if entry.depth() == 0 {
            return self.enter(entry.path(), "");
        }
        let path = match relative(self.root, entry.path()) {
            Ok(path) => path,
            Err(lossy) => return self.skip(SkippedPath::new(lossy, SkipReason::InvalidUtf8)),
        };
        if !self.scope.covers(&path) {
            return WalkState::Skip;
        }
        self.send(WalkEvent::Visited(path.clone()));
        match entry.file_type() {
            Some(kind) if kind.is_symlink() => self.skip(SkippedPath::new(path, SkipReason::Symlink)),
            Some(kind) if kind.is_dir() => self.enter(entry.path(), &path),
            Some(kind) if kind.is_file() => self.judge_file(entry, path),
            _ => self.skip(SkippedPath::new(path, SkipReason::Special)),
        }
    }

    /// Judges a folder by its name and entries; the root, whose `path` is empty, is always walked.
    fn enter(&self, folder: &Path, path: &str) -> WalkState {
        let entries = match skipped_folders::list_entries(folder) {
            Ok(entries) => entries,
            Err(error) => return self.skip(SkippedPath::unreadable(path, &error)),
        };
        let name = path.rsplit('/').next().unwrap_or(path);
        let reason =
            if path.is_empty() { None } else { skipped_folders::skip_reason(folder, name, &entries) };
        if let Some(reason) = reason {
            return self.skip(SkippedPath::new(path, reason));
        }
        self.send(WalkEvent::Entered(path.to_owned()));
        for listed in entries.iter().map(|entry| join(path, entry)).filter(|path| self.scope.covers(path)) {
            self.send(WalkEvent::Listed(listed));
        }
        WalkState::Continue
    }

    fn judge_file(&self, entry: &DirEntry, path: String) -> WalkState {
        let kind = match file_kind(&path) {
            Err(reason) => return self.skip(SkippedPath::new(path, reason)),
            Ok(kind) => kind,
        };
        match entry.metadata() {
            Err(error) => self.skip(SkippedPath::unreadable(path, &error)),
            Ok(metadata) if metadata.len() > self.limits.file_bytes => {
                self.skip(SkippedPath::new(path, SkipReason::Oversized))
            }
            Ok(metadata) => {
                let (bytes, stamp, names) =
                    (metadata.len(), DiskStamp::of(&metadata), disk_stamp::names(&metadata));
                self.send(WalkEvent::Candidate(WalkedFile { path, kind, bytes, stamp, link_count: names }));
                WalkState::Continue
            }
        }
    }

    fn report_error(&self, error: &ignore::Error) {
        let path = error_path(error).and_then(|path| relative(self.root, path).ok()).unwrap_or_default();
        self.send(WalkEvent::Visited(path.clone()));
        self.skip(SkippedPath::unreadable(path, error));
    }

    /// For a file both states are equivalent.
    fn skip(&self, skipped: SkippedPath) -> WalkState {
        self.send(WalkEvent::Skipped(skipped));
        WalkState::Skip
    }

    fn send(&self, event: WalkEvent) {
        self.sender.send(event).expect("the receiver outlives the walk");
    }
}

/// Returns the kind of a file by its name, or the reason to skip it.
pub(crate) fn file_kind(path: &str) -> Result<FileKind, SkipReason> {
    match language_or_skip(path) {
        Err(SkipReason::UnsupportedLanguage) if Manifest::is_at(path) => Ok(FileKind::Manifest),
        judged => judged.map(FileKind::Source),
    }
}

/// Returns the language of a file whose name is admitted, or the reason to skip it.
pub(crate) fn language_or_skip(path: &str) -> Result<Language, SkipReason> {
    let name = path.rsplit('/').next().unwrap_or(path);
    if is_secret_like(path) {
        Err(SkipReason::SecretLike)
    } else if name.starts_with('.') {
        Err(SkipReason::Hidden)
    } else if is_generated_name(name) {
        Err(SkipReason::Generated)
    } else if name.contains(".min.") {
        Err(SkipReason::Minified)
    } else {
        Language::from_path(path).ok_or(SkipReason::UnsupportedLanguage)
    }
}

/// Lock files, and the extensions of files written by protocol compilers, designers and build steps.
fn is_generated_name(name: &str) -> bool {
    const NAMES: [&str; 4] = ["package-lock.json", "npm-shrinkwrap.json", "pnpm-lock.yaml", "go.sum"];
    const ENDINGS: [&str; 9] = [
        ".lock",
        "_pb2.py",
        "_pb2_grpc.py",
        ".pb.go",
        ".pb.h",
        ".pb.cc",
        ".g.cs",
        ".designer.cs",
        ".generated.cs",
    ];
    let name = name.to_ascii_lowercase();
    NAMES.contains(&name.as_str()) || ENDINGS.iter().any(|ending| name.ends_with(ending))
}

/// Returns `path` below `root` with `/` between its parts; the error is a unique text for a path that is not UTF-8.
fn relative(root: &Path, path: &Path) -> Result<String, String> {
    let below = path.strip_prefix(root).unwrap_or(path);
    exact_text(below).ok_or_else(|| path_text(below))
}

fn error_path(error: &ignore::Error) -> Option<&Path> {
    match error {
        ignore::Error::WithPath { path, .. } => Some(path),
        ignore::Error::WithDepth { err, .. } | ignore::Error::WithLineNumber { err, .. } => error_path(err),
        ignore::Error::Loop { child, .. } => Some(child),
        _ => None,
    }
}
