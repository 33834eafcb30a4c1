//! The outline of a file: encoded, and decoded on first use.
//!
//! Its imports come first and can be decoded alone: a query follows those of hundreds of files, of which it reads few definitions.

use std::borrow::Cow;
use std::sync::OnceLock;
use std::sync::atomic::{AtomicBool, Ordering};

use serde::{Deserialize, Serialize};
use stored::PodArray;
use syntax::{Import, Outline};

/// The part of an outline that leads to other files.
#[derive(Debug, Default, Serialize, Deserialize)]
struct OutlineHead {
    imports: Vec<Import>,
    namespaces: Vec<Box<str>>,
}

/// An outline that can move to a store. Decoded, outlines take several times the memory, and few of them are ever used.
#[derive(Debug, Default)]
pub(super) struct StoredOutline {
    pub(super) encoded: PodArray<u8>,
    decoded: OnceLock<Outline>,
    head: OnceLock<OutlineHead>,
    /// Whether it was asked for since the last look.
    is_used: AtomicBool,
}

impl From<Outline> for StoredOutline {
    fn from(outline: Outline) -> StoredOutline {
        let Outline { definitions, imports, namespaces, extensions } = outline;
        let parts = (OutlineHead { imports, namespaces }, definitions, extensions);
        let encoded = postcard::to_stdvec(&parts).expect("an outline has nothing that cannot be written");
        StoredOutline { encoded: encoded.into(), ..StoredOutline::default() }
    }
}

impl PartialEq for StoredOutline {
    fn eq(&self, other: &StoredOutline) -> bool {
        self.read() == other.read()
    }
}

impl StoredOutline {
    /// Returns the outline with these bytes if they are valid and `is_sound` says so.
    pub(super) fn from_bytes(bytes: &[u8], is_sound: impl FnOnce(&Outline) -> bool) -> Option<StoredOutline> {
        is_sound(&decode(bytes)?)
            .then(|| StoredOutline { encoded: bytes.to_vec().into(), ..StoredOutline::default() })
    }

    /// Returns the outline, and keeps it in memory from now on.
    pub(super) fn get(&self) -> &Outline {
        self.mark_used();
        self.decoded.get_or_init(|| self.decode())
    }

    /// Returns its imports, which are kept in memory from now on.
    pub(super) fn imports(&self) -> &[Import] {
        self.mark_used();
        self.decoded.get().map_or_else(|| &self.head().imports, |outline| &outline.imports)
    }

    /// Returns its namespaces, which are kept in memory from now on.
    pub(super) fn namespaces(&self) -> &[Box<str>] {
        self.mark_used();
        self.decoded.get().map_or_else(|| &self.head().namespaces, |outline| &outline.namespaces)
    }

    /// Decodes bytes that were written by this version, so an error is impossible; without imports it would lead to fewer hits.
    fn head(&self) -> &OutlineHead {
        self.head.get_or_init(|| {
            postcard::take_from_bytes(&self.encoded).map_or_else(|_| OutlineHead::default(), |(head, _)| head)
        })
    }

    fn mark_used(&self) {
        // Other threads read the same memory: it is written once between two looks.
        if !self.is_used.load(Ordering::Relaxed) {
            self.is_used.store(true, Ordering::Relaxed);
        }
    }

    /// Returns the outline without keeping it, for a pass over all files.
    pub(super) fn read(&self) -> Cow<'_, Outline> {
        self.decoded.get().map_or_else(|| Cow::Owned(self.decode()), Cow::Borrowed)
    }

    /// Whether it is decoded although it is in a store, and was not asked for since the last call.
    pub(super) fn is_out_of_use(&self) -> bool {
        let is_decoded = self.decoded.get().is_some() || self.head.get().is_some();
        let is_stored = matches!(self.encoded, PodArray::Mapped { .. });
        is_decoded && is_stored && !self.is_used.swap(false, Ordering::Relaxed)
    }

    /// Returns the same outline, not decoded.
    pub(super) fn without_decoded(&self) -> StoredOutline {
        StoredOutline { encoded: self.encoded.clone(), ..StoredOutline::default() }
    }

    /// Decodes bytes that were written by this version, so an error is impossible; without definitions it would lead to fewer hits.
    fn decode(&self) -> Outline {
        decode(&self.encoded).unwrap_or_default()
    }
}

fn decode(bytes: &[u8]) -> Option<Outline> {
    let (OutlineHead { imports, namespaces }, definitions, extensions) = postcard::from_bytes(bytes).ok()?;
    Some(Outline { definitions, imports, namespaces, extensions })
}
