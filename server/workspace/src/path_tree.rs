//! State of every path of a workspace, and the snapshot derived from it.
//!
//! ```text
//! PathTree ── update(result of a walk) ──► PathTree ── read(files not read yet) ──► PathTree ── snapshot ──► Snapshot
//! ```
//!
//! A tree is the combined result of the walks so far, as if a single walk had found it. Everything that depends on all files
//! together (the limit of the whole workspace, the language of headers) is recomputed for each snapshot, so it never depends on
//! the order of discovery.

use std::collections::{BTreeMap, BTreeSet};
use std::io;
use std::ops::Bound;
use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::SystemTime;

use stored::{SharedText, parts};
use syntax::{Language, Manifest, SourceFile};

use crate::read_files::{FileContent, HashedText, UnreadFile, read_all};
use crate::walk::{FileKind, WalkResult, WalkedFile};
use crate::walk_scope::folders_above;
use crate::{
    DiskStamp, KnownFile, LoadProgress, ReadLimits, SkipReason, SkippedPath, Skips, Snapshot, TextStore,
};

/// Bytes of texts in a block of a store: few blocks, and little memory while one is written.
const BLOCK_BYTES: u64 = if cfg!(test) { 64 } else { 64 << 20 };
/// Fewer bytes of changed texts stay in memory until there are more, unless the limit of all texts is lower.
const MIN_BLOCK_BYTES: u64 = 4 << 20;

/// State of a workspace's paths.
#[derive(Debug, Default)]
pub(crate) struct PathTree {
    nodes: BTreeMap<Arc<str>, PathNode>,
    /// The folders that walks have entered; the root is empty.
    entered: BTreeSet<Arc<str>>,
}

/// Result of a walk for a path.
#[derive(Debug)]
enum PathNode {
    File(TrackedFile),
    /// A skipped file or folder, with the system's error if there is one.
    Skipped(SkipReason, Option<String>),
}

/// A usable file, judged by its name and size.
#[derive(Debug)]
struct TrackedFile {
    kind: FileKind,
    bytes: u64,
    /// Identity of the file, and its number of hard links.
    id: u64,
    link_count: u64,
    /// Stamp from when the file was read; `None` if it is not reliable.
    stamp: Option<DiskStamp>,
    state: ReadState,
}

#[derive(Debug)]
enum ReadState {
    /// Not read yet, with the previous text.
    Unread(Option<HashedText>),
    Read(FileContent),
    /// Over the limit of the workspace.
    OverLimit,
}

impl PathTree {
    /// Creates a tree without entered folders, but with texts that are current if their files' stamps are.
    pub(crate) fn from_known(known: impl IntoIterator<Item = KnownFile>) -> PathTree {
        let nodes = known.into_iter().filter_map(|KnownFile { path, stamp, hash, text }| {
            let kind = FileKind::Source(Language::from_path(&path)?);
            let state = ReadState::Read(FileContent::Text(HashedText { text, hash }));
            Some((path, PathNode::File(TrackedFile { kind, bytes: 0, id: 0, link_count: 1, stamp, state })))
        });
        PathTree { nodes: nodes.collect(), entered: BTreeSet::new() }
    }

    /// Returns the tree without files in which these folders, and the root, were entered.
    pub(crate) fn with_entered<'p>(folders: impl Iterator<Item = &'p str>) -> PathTree {
        let entered = folders.chain([""]).map(Arc::from).collect();
        PathTree { nodes: BTreeMap::new(), entered }
    }

    /// Returns the folders that walks have entered, in order; the root is empty.
    pub(crate) fn entered(&self) -> &BTreeSet<Arc<str>> {
        &self.entered
    }

    /// Whether there is an entry at `path` other than an entered folder.
    pub(crate) fn contains(&self, path: &str) -> bool {
        self.nodes.contains_key(path)
    }

    /// Returns the first folder above `path` that is skipped or not a folder: paths below it are irrelevant.
    pub(crate) fn skipped_ancestor<'a>(&self, path: &'a str) -> Option<&'a str> {
        folders_above(path).find(|folder| self.contains(folder))
    }

    /// Returns the source files with their texts, in the order of their paths.
    pub(crate) fn known_files(&self) -> impl Iterator<Item = KnownFile> {
        self.files().filter(|(_, file)| file.kind != FileKind::Manifest).filter_map(|(path, file)| {
            let HashedText { text, hash } = file.text()?.clone();
            Some(KnownFile { path: path.clone(), stamp: file.stamp, hash, text })
        })
    }

    /// Returns the skipped paths with their reasons.
    pub(crate) fn skipped(&self) -> impl Iterator<Item = (&str, SkipReason)> {
        self.nodes.iter().filter_map(|(path, node)| match node {
            PathNode::Skipped(reason, _) => Some((&**path, *reason)),
            PathNode::File(_) => None,
        })
    }

    /// Returns files with several hard links, with their stamps from when they were read; `None` if a stamp is not reliable.
    pub(crate) fn hard_linked_files(&self) -> impl Iterator<Item = (&str, Option<DiskStamp>)> {
        // A file found before it got another link has no record of that.
        let ids: BTreeSet<u64> =
            self.files().filter(|(_, file)| file.link_count > 1).map(|(_, file)| file.id).collect();
        self.files().filter(move |(_, file)| ids.contains(&file.id)).map(|(path, file)| (&**path, file.stamp))
    }

    fn files(&self) -> impl Iterator<Item = (&Arc<str>, &TrackedFile)> {
        self.nodes.iter().filter_map(|(path, node)| match node {
            PathNode::File(file) => Some((path, file)),
            PathNode::Skipped(..) => None,
        })
    }

    /// Replaces the entries at and below `paths` with the result of a walk that began at `begun`.
    pub(crate) fn update(&mut self, paths: &BTreeSet<String>, found: WalkResult, begun: SystemTime) {
        let mut old = BTreeMap::new();
        for path in paths {
            let gone = folders_above(path).find(|folder| !found.entered.contains(*folder)).unwrap_or(path);
            old.extend(self.nodes.remove_entry(gone));
            old.extend(self.nodes.extract_if(range_below(gone), |_, _| true));
            self.entered.remove(gone);
            self.entered.extract_if(range_below(gone), |_| true).for_each(drop);
        }
        for folder in found.entered {
            self.nodes.remove(&*folder);
            self.entered.insert(folder.into());
        }
        for SkippedPath { path, reason, error } in found.skipped {
            self.nodes.insert(path.into(), PathNode::Skipped(reason, error));
        }
        for candidate in found.candidates {
            let (path, known) = match old.remove_entry(&*candidate.path) {
                Some((path, PathNode::File(known))) => (path, Some(known)),
                _ => (candidate.path.as_str().into(), None),
            };
            self.nodes.insert(path, PathNode::File(TrackedFile::from_candidate(&candidate, known, begun)));
        }
    }

    /// Reads unread files within the limit of the workspace, as long as `keep_going` returns `true`, and stores the texts of a large
    /// workspace part by part, so that a branch switch does not need memory for all of them.
    pub(crate) fn read(
        &mut self,
        root: &Path,
        limits: &ReadLimits,
        texts: Option<&TextStore>,
        progress: &(dyn Fn(LoadProgress) + Sync),
        keep_going: &(dyn Fn() -> bool + Sync),
    ) {
        self.limit(limits.total_bytes);
        let unread = self.unread();
        let mut store = texts.filter(|texts| !unread.is_empty() && self.source_bytes() > texts.above_bytes);
        let (read, total) = (AtomicUsize::new(0), unread.len());
        let on_read =
            || progress(LoadProgress::Reading { read: read.fetch_add(1, Ordering::Relaxed) + 1, total });
        let part_bytes = if store.is_some() { BLOCK_BYTES } else { u64::MAX };
        for part in parts(&unread, part_bytes, |file| file.bytes) {
            for (file, content) in part.iter().zip(read_all(root, part, limits, &on_read, keep_going)) {
                self.set_content(&file.path, content);
            }
            // A full disk usually stays full for a while, so the rest stays in memory as well.
            store = store.filter(|texts| self.store_texts(texts).is_ok());
        }
    }

    fn unread(&self) -> Vec<UnreadFile> {
        let unread = self.files().filter(|(_, file)| matches!(file.state, ReadState::Unread(_)));
        unread
            .map(|(path, file)| UnreadFile { path: path.clone(), kind: file.kind, bytes: file.bytes })
            .collect()
    }

    /// Returns the bytes of the source texts, including those that are to be read.
    fn source_bytes(&self) -> u64 {
        let sources = self.files().filter(|(_, file)| file.kind != FileKind::Manifest);
        sources.map(|(_, file)| file.text_bytes()).sum()
    }

    fn set_content(&mut self, path: &str, content: FileContent) {
        match self.nodes.get_mut(path) {
            Some(PathNode::File(file)) if !matches!(content, FileContent::Vanished) => {
                file.set_content(content)
            }
            _ => drop(self.nodes.remove(path)),
        }
    }

    /// Moves the texts that are in memory to a store, if they are enough for a block. After an error, for example because the disk is
    /// full, they are still in memory.
    fn store_texts(&mut self, texts: &TextStore) -> io::Result<()> {
        let sources = self.nodes.values_mut().filter_map(PathNode::source_text);
        let sources: Vec<&mut SharedText> = sources.filter(|text| text.is_in_memory()).collect();
        let bytes: u64 = sources.iter().map(|text| text.len() as u64).sum();
        if bytes < MIN_BLOCK_BYTES.min(texts.above_bytes) {
            return Ok(());
        }
        SharedText::move_all(&*texts.store, sources)
    }

    /// Keeps files, in order, up to `total_bytes` of source and as much of manifests; the others are not read.
    fn limit(&mut self, total_bytes: u64) {
        let (mut source, mut manifests) = (0_u64, 0_u64);
        for node in self.nodes.values_mut() {
            let PathNode::File(file) = node else { continue };
            let sum = if file.kind == FileKind::Manifest { &mut manifests } else { &mut source };
            *sum = sum.saturating_add(file.bytes);
            match file.state {
                _ if *sum > total_bytes => file.state = ReadState::OverLimit,
                ReadState::OverLimit => file.state = ReadState::Unread(None),
                _ => {}
            }
        }
    }

    /// Returns the known workspace, without unread files.
    pub(crate) fn snapshot(&self, root: &Arc<Path>) -> Snapshot {
        let (mut sources, mut manifests) = (Vec::new(), Vec::new());
        for (path, file) in self.files() {
            match (file.kind, file.text()) {
                (FileKind::Source(language), text) if file.is_within_limit() => {
                    sources.push((path, language, text))
                }
                (FileKind::Manifest, Some(HashedText { text, .. })) => {
                    manifests.push(Manifest { path: path.clone(), text: text.to_arc() });
                }
                _ => {}
            }
        }
        Language::resolve_headers(sources.iter_mut().map(|(path, language, _)| (&***path, language)));
        let read = sources.into_iter().filter_map(|(path, language, text)| {
            let HashedText { text, hash } = text?.clone();
            Some((SourceFile { path: path.clone(), language, text }, hash))
        });
        let (files, hashes) = read.unzip();
        Snapshot::new(root, files, hashes, manifests, self.skips())
    }

    fn skips(&self) -> Skips {
        Skips::new(self.nodes.iter().filter_map(|(path, node)| {
            let (reason, error) = node.skip_reason()?;
            Some((&**path, reason, error))
        }))
    }
}

impl PathNode {
    /// Returns the text of a source file.
    fn source_text(&mut self) -> Option<&mut SharedText> {
        match self {
            PathNode::File(TrackedFile {
                kind: FileKind::Source(_),
                state: ReadState::Read(FileContent::Text(HashedText { text, .. })),
                ..
            }) => Some(text),
            _ => None,
        }
    }

    /// Returns the reason why the path is skipped, if it is. A manifest counts as skipped with respect to source.
    fn skip_reason(&self) -> Option<(SkipReason, Option<&str>)> {
        match self {
            PathNode::Skipped(reason, error) => Some((*reason, error.as_deref())),
            PathNode::File(TrackedFile {
                state: ReadState::Read(FileContent::Skipped { reason, error }),
                ..
            }) => Some((*reason, error.as_deref())),
            PathNode::File(TrackedFile { state: ReadState::OverLimit, .. }) => {
                Some((SkipReason::WorkspaceFull, None))
            }
            PathNode::File(TrackedFile { kind: FileKind::Manifest, .. }) => {
                Some((SkipReason::UnsupportedLanguage, None))
            }
            PathNode::File(_) => None,
        }
    }
}

impl TrackedFile {
    /// Returns a file found by a walk that began at `begun`, with the content of `known` if that is current.
    fn from_candidate(found: &WalkedFile, known: Option<TrackedFile>, begun: SystemTime) -> TrackedFile {
        let &WalkedFile { kind, bytes, stamp, link_count: names, .. } = found;
        let id = stamp.id();
        match known {
            Some(known) if known.kind == kind && known.stamp == Some(stamp) => {
                TrackedFile { bytes, id, link_count: names, ..known }
            }
            known => {
                let before = known.and_then(|known| known.text().cloned());
                let (stamp, state) = (stamp.if_settled(begun), ReadState::Unread(before));
                TrackedFile { kind, bytes, id, link_count: names, stamp, state }
            }
        }
    }

    /// Whether it is within the limit of the workspace.
    fn is_within_limit(&self) -> bool {
        !matches!(self.state, ReadState::OverLimit)
    }

    fn text(&self) -> Option<&HashedText> {
        match &self.state {
            ReadState::Read(FileContent::Text(text)) => Some(text),
            _ => None,
        }
    }

    /// Bytes of its text; those of the file if it is to be read.
    fn text_bytes(&self) -> u64 {
        match &self.state {
            ReadState::Unread(_) => self.bytes,
            _ => self.text().map_or(0, |read| read.text.len() as u64),
        }
    }

    /// Sets the content. An unchanged text keeps its memory; an unreadable file is tried again next time.
    fn set_content(&mut self, content: FileContent) {
        if matches!(content, FileContent::Skipped { reason: SkipReason::Unreadable, .. }) {
            self.stamp = None;
        }
        let content = match (&self.state, content) {
            (ReadState::Unread(Some(before)), FileContent::Text(text)) if before.hash == text.hash => {
                FileContent::Text(before.clone())
            }
            (_, content) => content,
        };
        self.state = ReadState::Read(content);
    }
}

/// Returns the range of all paths below the folder `path`: those that start with it and a slash, the character before `0`. The
/// root is empty.
pub(crate) fn range_below(path: &str) -> (Bound<Arc<str>>, Bound<Arc<str>>) {
    if path.is_empty() {
        return (Bound::Unbounded, Bound::Unbounded);
    }
    (Bound::Included(format!("{path}/").into()), Bound::Excluded(format!("{path}0").into()))
}
