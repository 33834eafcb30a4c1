//! Finds the files that may be source, by folders, names and sizes; contents are not looked at here.
//!
//! The `ignore` crate walks and applies .gitignore and .ghostbenchignore. It does not tell what it left out, so each folder
//! is listed once more: what is listed but never visited was ignored.

use std::collections::BTreeSet;
use std::fs::Metadata;
use std::path::{MAIN_SEPARATOR, Path};
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::mpsc::{self, Sender};

use ignore::{DirEntry, WalkBuilder, WalkState};
use syntax::Language;

use crate::secret_names::is_secret_like;
use crate::{Limits, Progress, SkipReason, Skipped, folders};

/// A file that may be source.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct Candidate {
    pub(crate) path: String,
    pub(crate) language: Language,
    pub(crate) bytes: u64,
}

/// The outcome of a walk.
pub(crate) struct Found {
    /// In the order of their paths.
    pub(crate) candidates: Vec<Candidate>,
    /// In no order.
    pub(crate) skipped: Vec<Skipped>,
}

/// What a walking thread reports.
enum Event {
    /// A folder holds this entry.
    Listed(String),
    /// The walk, not having ignored it, came to this entry.
    Visited(String),
    Candidate(Candidate),
    Skipped(Skipped),
}

/// Walks the folder `root`, which is known to be readable.
pub(crate) fn walk(root: &Path, limits: &Limits, progress: &(dyn Fn(Progress) + Sync)) -> Found {
    let (sender, events) = mpsc::channel();
    let found = AtomicUsize::new(0);
    ignore_rules(root).threads(limits.threads.get()).build_parallel().run(|| {
        let visitor = Visitor { root, limits, sender: sender.clone() };
        let found = &found;
        Box::new(move |entry| match entry {
            Ok(entry) => {
                let state = visitor.visit(&entry);
                if entry.file_type().is_some_and(|kind| kind.is_file()) {
                    progress(Progress::Walking { found: found.fetch_add(1, Ordering::Relaxed) + 1 });
                }
                state
            }
            Err(error) => {
                visitor.report_error(&error);
                WalkState::Continue
            }
        })
    });
    drop(sender);
    collect(events.into_iter(), limits)
}

/// A walk below `root` by all ignore files that count.
pub(crate) fn ignore_rules(root: &Path) -> WalkBuilder {
    let mut builder = WalkBuilder::new(root);
    builder
        .hidden(false)
        .ignore(false)
        .parents(is_in_git_repository(root))
        .require_git(false)
        .add_custom_ignore_filename(".ghostbenchignore");
    builder
}

/// Whether ignore files above `root` count: they do for git, but a stray .gitignore above a plain folder does not.
fn is_in_git_repository(root: &Path) -> bool {
    root.canonicalize().is_ok_and(|root| root.ancestors().any(|folder| folder.join(".git").exists()))
}

/// Sorts events into candidates and skips, neither of which depends on the order of the events.
fn collect(events: impl Iterator<Item = Event>, limits: &Limits) -> Found {
    let (mut candidates, mut skipped) = (Vec::new(), Vec::new());
    let (mut listed, mut visited) = (BTreeSet::new(), BTreeSet::new());
    for event in events {
        match event {
            Event::Listed(path) => drop(listed.insert(path)),
            Event::Visited(path) => drop(visited.insert(path)),
            Event::Candidate(candidate) => candidates.push(candidate),
            Event::Skipped(one) => skipped.push(one),
        }
    }
    skipped.extend(listed.difference(&visited).map(|path| Skipped::new(path, SkipReason::Ignored)));
    candidates.sort_unstable();
    let kept = within_total(&candidates, limits.total_bytes);
    skipped.extend(candidates.drain(kept..).map(|one| Skipped::new(one.path, SkipReason::WorkspaceFull)));
    Found { candidates, skipped }
}

/// How many candidates, from the first on, fit into `total_bytes`.
fn within_total(candidates: &[Candidate], total_bytes: u64) -> usize {
    let mut sum = 0_u64;
    candidates
        .iter()
        .position(|candidate| {
            sum = sum.saturating_add(candidate.bytes);
            sum > total_bytes
        })
        .unwrap_or(candidates.len())
}

/// One walking thread.
struct Visitor<'a> {
    root: &'a Path,
    limits: &'a Limits,
    sender: Sender<Event>,
}

impl Visitor<'_> {
    fn visit(&self, entry: &DirEntry) -> WalkState {
        if entry.depth() == 0 {
            return self.enter(entry.path(), "");
        }
        let path = match relative(self.root, entry.path()) {
            Ok(path) => path,
            Err(lossy) => return self.skip(Skipped::new(lossy, SkipReason::InvalidUtf8)),
        };
        self.send(Event::Visited(path.clone()));
        match entry.file_type() {
            Some(kind) if kind.is_symlink() => self.skip(Skipped::new(path, SkipReason::Symlink)),
            Some(kind) if kind.is_dir() => self.enter(entry.path(), &path),
            Some(kind) if kind.is_file() => self.judge_file(entry, path),
            _ => self.skip(Skipped::new(path, SkipReason::Special)),
        }
    }

    /// Judges a folder by its name and entries; the root, whose `path` is empty, is always walked.
    fn enter(&self, folder: &Path, path: &str) -> WalkState {
        let entries = match folders::list(folder) {
            Ok(entries) => entries,
            Err(error) => return self.skip(Skipped::unreadable(path, &error)),
        };
        let name = path.rsplit('/').next().unwrap_or(path);
        let reason = if path.is_empty() { None } else { folders::judge(folder, name, &entries) };
        if let Some(reason) = reason {
            return self.skip(Skipped::new(path, reason));
        }
        for entry in entries {
            let listed = if path.is_empty() { entry } else { format!("{path}/{entry}") };
            self.send(Event::Listed(listed));
        }
        WalkState::Continue
    }

    fn judge_file(&self, entry: &DirEntry, path: String) -> WalkState {
        match judge_name(&path) {
            Err(reason) => self.skip(Skipped::new(path, reason)),
            Ok(language) => match entry.metadata().as_ref().map(Metadata::len) {
                Err(error) => self.skip(Skipped::unreadable(path, error)),
                Ok(bytes) if bytes > self.limits.file_bytes => {
                    self.skip(Skipped::new(path, SkipReason::Oversized))
                }
                Ok(bytes) => {
                    self.send(Event::Candidate(Candidate { path, language, bytes }));
                    WalkState::Continue
                }
            },
        }
    }

    fn report_error(&self, error: &ignore::Error) {
        let path = error_path(error).and_then(|path| relative(self.root, path).ok()).unwrap_or_default();
        self.send(Event::Visited(path.clone()));
        self.skip(Skipped::unreadable(path, error));
    }

    /// For a file both states mean the same.
    fn skip(&self, skipped: Skipped) -> WalkState {
        self.send(Event::Skipped(skipped));
        WalkState::Skip
    }

    fn send(&self, event: Event) {
        self.sender.send(event).expect("the receiver outlives the walk");
    }
}

/// The language of a file that its name lets into the workspace, or why it stays out.
pub(crate) fn judge_name(path: &str) -> Result<Language, SkipReason> {
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

/// Lock files, and the endings that protocol compilers, designers and build steps give to their output.
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

/// `path` below `root` with `/` between its parts; as near as it can be written when it is not UTF-8.
fn relative(root: &Path, path: &Path) -> Result<String, String> {
    let below = path.strip_prefix(root).unwrap_or(path);
    let with_slashes = |text: &str| text.replace(MAIN_SEPARATOR, "/");
    below.to_str().map(with_slashes).ok_or_else(|| with_slashes(&below.to_string_lossy()))
}

fn error_path(error: &ignore::Error) -> Option<&Path> {
    match error {
        ignore::Error::WithPath { path, .. } => Some(path),
        ignore::Error::WithDepth { err, .. } | ignore::Error::WithLineNumber { err, .. } => error_path(err),
        ignore::Error::Loop { child, .. } => Some(child),
        _ => None,
    }
}
