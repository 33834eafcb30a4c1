//! The outline of a file: encoded, and decoded on first use.

use std::borrow::Cow;
use std::sync::OnceLock;
use std::sync::atomic::{AtomicBool, Ordering};

use stored::PodArray;
use syntax::Outline;

/// An outline that can move to a store. Decoded, outlines take several times the memory, and few of them are ever used.
#[derive(Debug, Default)]
pub(super) struct StoredOutline {
    pub(super) encoded: PodArray<u8>,
    decoded: OnceLock<Outline>,
    /// Whether it was asked for since the last look.
    is_used: AtomicBool,
}

impl From<Outline> for StoredOutline {
    fn from(outline: Outline) -> StoredOutline {
        let encoded = postcard::to_stdvec(&outline).expect("an outline has nothing that cannot be written");
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
        let outline: Outline = postcard::from_bytes(bytes).ok()?;
        is_sound(&outline)
            .then(|| StoredOutline { encoded: bytes.to_vec().into(), ..StoredOutline::default() })
    }

    /// Returns the outline, and keeps it in memory from now on.
    pub(super) fn get(&self) -> &Outline {
        // Other threads read the same memory: it is written once between two looks.
        if !self.is_used.load(Ordering::Relaxed) {
            self.is_used.store(true, Ordering::Relaxed);
        }
        self.decoded.get_or_init(|| self.decode())
    }

    /// Returns the outline without keeping it, for a pass over all files.
    pub(super) fn read(&self) -> Cow<'_, Outline> {
        self.decoded.get().map_or_else(|| Cow::Owned(self.decode()), Cow::Borrowed)
    }

    /// Whether it is decoded although it is in a store, and was not asked for since the last call.
    pub(super) fn is_out_of_use(&self) -> bool {
        let is_decoded = matches!(self.encoded, PodArray::Mapped { .. }) && self.decoded.get().is_some();
        is_decoded && !self.is_used.swap(false, Ordering::Relaxed)
    }

    /// Returns the same outline, not decoded.
    pub(super) fn without_decoded(&self) -> StoredOutline {
        StoredOutline { encoded: self.encoded.clone(), ..StoredOutline::default() }
    }

    /// Decodes bytes that were written by this version, so an error is impossible; without definitions it would lead to fewer hits.
    fn decode(&self) -> Outline {
        postcard::from_bytes(&self.encoded).unwrap_or_default()
    }
}
