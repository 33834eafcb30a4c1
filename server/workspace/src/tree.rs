//! State of every path of a workspace, and the snapshot derived from it.
//!
//! ```text
//! Tree ── update(result of a walk) ──► Tree ── read(files not read yet) ──► Tree ── snapshot ──► Snapshot
//! ```
//!
//! A tree is the combined result of the walks so far, as if a single walk had found it. Everything that depends on all files
//! together (the limit of the whole workspace, the language of headers) is recomputed for each snapshot, so it never depends on
//! the order of discovery.

use std::collections::{BTreeMap, BTreeSet};
use std::ops::Bound;
use std::path::Path;
use std::sync::Arc;
use std::time::SystemTime;

use syntax::{Language, Manifest, SourceFile};

use crate::read::{Content, Text, read_all};
use crate::scope::folders_above;
use crate::walk::{Candidate, Found, Kind};
use crate::{Known, Limits, Progress, SkipReason, Skipped, Skips, Snapshot, Stamp};

/// State of a workspace's paths.
#[derive(Debug, Default)]
pub(crate) struct Tree {
    nodes: BTreeMap<Arc<str>, Node>,
    /// The folders that walks have entered; the root is empty.
    entered: BTreeSet<Arc<str>>,
}

/// Result of a walk for a path.
#[derive(Debug)]
enum Node {
    File(File),
    /// A skipped file or folder, with the system's error if there is one.
    Skipped(SkipReason, Option<String>),
}

/// A usable file, judged by its name and size.
#[derive(Debug)]
struct File {
    kind: Kind,
    bytes: u64,
    /// Identity of the file, and its number of hard links.
    id: u64,
    names: u64,
    /// Stamp from when the file was read; `None` if it is not reliable.
    stamp: Option<Stamp>,
    state: State,
}

#[derive(Debug)]
enum State {
    /// Not read yet, with the previous text.
    Unread(Option<Text>),
    Read(Content),
    /// Over the limit of the workspace.
    Beyond,
}

impl Tree {
    /// Creates a tree without entered folders, but with texts that are current if their files' stamps are.
    pub(crate) fn of_known(known: impl IntoIterator<Item = Known>) -> Tree {
        let node = |known: Known| {
            let kind = Kind::Source(Language::from_path(&known.path)?);
            let state = State::Read(Content::Text(Text { text: known.text, hash: known.hash }));
            let file = File { kind, bytes: 0, id: 0, names: 1, stamp: known.stamp, state };
            Some((known.path, Node::File(file)))
        };
        Tree { nodes: known.into_iter().filter_map(node).collect(), entered: BTreeSet::new() }
    }

    /// Returns the folders that walks have entered, in order; the root is empty.
    pub(crate) fn entered(&self) -> &BTreeSet<Arc<str>> {
        &self.entered
    }

    /// Whether there is an entry at `path` other than an entered folder.
    pub(crate) fn knows(&self, path: &str) -> bool {
        self.nodes.contains_key(path)
    }

    /// Returns the first folder above `path` that is skipped or not a folder: paths below it are irrelevant.
    pub(crate) fn closed_above<'a>(&self, path: &'a str) -> Option<&'a str> {
        folders_above(path).find(|folder| self.knows(folder))
    }

    /// Returns the source files with their texts, in the order of their paths.
    pub(crate) fn known(&self) -> impl Iterator<Item = Known> {
        self.files().filter(|(_, file)| file.kind != Kind::Manifest).filter_map(|(path, file)| {
            let Text { text, hash } = file.text()?.clone();
            Some(Known { path: path.clone(), stamp: file.stamp, hash, text })
        })
    }

    /// Returns the skipped paths with their reasons.
    pub(crate) fn skipped(&self) -> impl Iterator<Item = (&str, SkipReason)> {
        self.nodes.iter().filter_map(|(path, node)| match node {
            Node::Skipped(reason, _) => Some((&**path, *reason)),
            Node::File(_) => None,
        })
    }

    /// Returns files with several hard links, with their stamps from when they were read; `None` if a stamp is not reliable.
    pub(crate) fn files_with_other_names(&self) -> impl Iterator<Item = (&str, Option<Stamp>)> {
        // A file found before it got another link has no record of that.
        let ids: BTreeSet<u64> =
            self.files().filter(|(_, file)| file.names > 1).map(|(_, file)| file.id).collect();
        self.files().filter(move |(_, file)| ids.contains(&file.id)).map(|(path, file)| (&**path, file.stamp))
    }

    fn files(&self) -> impl Iterator<Item = (&Arc<str>, &File)> {
        self.nodes.iter().filter_map(|(path, node)| match node {
            Node::File(file) => Some((path, file)),
            Node::Skipped(..) => None,
        })
    }

    /// Replaces the entries at and below `paths` with the result of a walk that began at `begun`.
    pub(crate) fn update(&mut self, paths: &BTreeSet<String>, found: Found, begun: SystemTime) {
        let mut old = BTreeMap::new();
        for path in paths {
            let gone = folders_above(path).find(|folder| !found.entered.contains(*folder)).unwrap_or(path);
            old.extend(self.nodes.remove_entry(gone));
            old.extend(self.nodes.extract_if(below(gone), |_, _| true));
            self.entered.remove(gone);
            self.entered.extract_if(below(gone), |_| true).for_each(drop);
        }
        for folder in found.entered {
            self.nodes.remove(&*folder);
            self.entered.insert(folder.into());
        }
        for Skipped { path, reason, error } in found.skipped {
            self.nodes.insert(path.into(), Node::Skipped(reason, error));
        }
        for candidate in found.candidates {
            let (path, known) = match old.remove_entry(&*candidate.path) {
                Some((path, Node::File(known))) => (path, Some(known)),
                _ => (candidate.path.as_str().into(), None),
            };
            self.nodes.insert(path, Node::File(File::of(&candidate, known, begun)));
        }
    }

    /// Reads unread files within the limit of the workspace, as long as `keep_going` returns `true`.
    pub(crate) fn read(
        &mut self,
        root: &Path,
        limits: &Limits,
        progress: &(dyn Fn(Progress) + Sync),
        keep_going: &(dyn Fn() -> bool + Sync),
    ) {
        self.limit(limits.total_bytes);
        let unread = self.files().filter(|(_, file)| matches!(file.state, State::Unread(_)));
        let unread: Vec<_> = unread.map(|(path, file)| (path.clone(), file.kind)).collect();
        for ((path, _), content) in unread.iter().zip(read_all(root, &unread, limits, progress, keep_going)) {
            match self.nodes.get_mut(path) {
                Some(Node::File(file)) if !matches!(content, Content::Vanished) => file.fill(content),
                _ => drop(self.nodes.remove(path)),
            }
        }
    }

    /// Keeps files, in order, up to `total_bytes` of source and as much of manifests; the others are not read.
    fn limit(&mut self, total_bytes: u64) {
        let (mut source, mut manifests) = (0_u64, 0_u64);
        for node in self.nodes.values_mut() {
            let Node::File(file) = node else { continue };
            let sum = if file.kind == Kind::Manifest { &mut manifests } else { &mut source };
            *sum = sum.saturating_add(file.bytes);
            match file.state {
                _ if *sum > total_bytes => file.state = State::Beyond,
                State::Beyond => file.state = State::Unread(None),
                _ => {}
            }
        }
    }

    /// Returns the known workspace, without unread files.
    pub(crate) fn snapshot(&self, root: &Arc<Path>) -> Snapshot {
        let (mut sources, mut manifests) = (Vec::new(), Vec::new());
        for (path, file) in self.files() {
            match (file.kind, file.text()) {
                (Kind::Source(language), text) if file.counts() => sources.push((path, language, text)),
                (Kind::Manifest, Some(Text { text, .. })) => {
                    manifests.push(Manifest { path: path.clone(), text: text.clone() });
                }
                _ => {}
            }
        }
        Language::settle_headers(sources.iter_mut().map(|(path, language, _)| (&***path, language)));
        let read = sources.into_iter().filter_map(|(path, language, text)| {
            let Text { text, hash } = text?.clone();
            Some((SourceFile { path: path.clone(), language, text }, hash))
        });
        let (files, hashes) = read.unzip();
        Snapshot::new(root, files, hashes, manifests, self.skips())
    }

    fn skips(&self) -> Skips {
        Skips::new(self.nodes.iter().filter_map(|(path, node)| {
            let (reason, error) = node.refusal()?;
            Some((&**path, reason, error))
        }))
    }
}

impl Node {
    /// Returns the reason why the path is skipped, if it is. A manifest counts as skipped with respect to source.
    fn refusal(&self) -> Option<(SkipReason, Option<&str>)> {
        match self {
            Node::Skipped(reason, error) => Some((*reason, error.as_deref())),
            Node::File(File { state: State::Read(Content::Refused { reason, error }), .. }) => {
                Some((*reason, error.as_deref()))
            }
            Node::File(File { state: State::Beyond, .. }) => Some((SkipReason::WorkspaceFull, None)),
            Node::File(File { kind: Kind::Manifest, .. }) => Some((SkipReason::UnsupportedLanguage, None)),
            Node::File(_) => None,
        }
    }
}

impl File {
    /// Returns a file found by a walk that began at `begun`, with the content of `known` if that is current.
    fn of(found: &Candidate, known: Option<File>, begun: SystemTime) -> File {
        let &Candidate { kind, bytes, stamp, names, .. } = found;
        let id = stamp.id();
        match known {
            Some(known) if known.kind == kind && known.stamp == Some(stamp) => {
                File { bytes, id, names, ..known }
            }
            known => {
                let before = known.and_then(|known| known.text().cloned());
                let (stamp, state) = (stamp.settled(begun), State::Unread(before));
                File { kind, bytes, id, names, stamp, state }
            }
        }
    }

    /// Whether it is within the limit of the workspace.
    fn counts(&self) -> bool {
        !matches!(self.state, State::Beyond)
    }

    fn text(&self) -> Option<&Text> {
        match &self.state {
            State::Read(Content::Text(text)) => Some(text),
            _ => None,
        }
    }

    /// Sets the content. An unchanged text keeps its memory; an unreadable file is tried again next time.
    fn fill(&mut self, content: Content) {
        if matches!(content, Content::Refused { reason: SkipReason::Unreadable, .. }) {
            self.stamp = None;
        }
        let content = match (&self.state, content) {
            (State::Unread(Some(before)), Content::Text(text)) if before.hash == text.hash => {
                Content::Text(before.clone())
            }
            (_, content) => content,
        };
        self.state = State::Read(content);
    }
}

/// Returns the range of all paths below the folder `path`: those that start with it and a slash, the character before `0`. The
/// root is empty.
pub(crate) fn below(path: &str) -> (Bound<Arc<str>>, Bound<Arc<str>>) {
    if path.is_empty() {
        return (Bound::Unbounded, Bound::Unbounded);
    }
    (Bound::Included(format!("{path}/").into()), Bound::Excluded(format!("{path}0").into()))
}
