//! The outline of a file: decoded, or encoded in a store and decoded on first use.

use std::borrow::Cow;
use std::sync::OnceLock;

use stored::PodArray;
use syntax::Outline;

/// An outline that can move to a store. Outlines are the largest part of an index, and few of them are ever used.
#[derive(Debug)]
pub(super) struct StoredOutline {
    /// The encoded outline, if it is stored or about to be.
    pub(super) encoded: PodArray<u8>,
    decoded: OnceLock<Outline>,
}

impl From<Outline> for StoredOutline {
    fn from(outline: Outline) -> StoredOutline {
        StoredOutline { encoded: PodArray::default(), decoded: outline.into() }
    }
}

impl PartialEq for StoredOutline {
    fn eq(&self, other: &StoredOutline) -> bool {
        self.get() == other.get()
    }
}

impl StoredOutline {
    /// Returns the outline, and keeps it in memory from now on.
    pub(super) fn get(&self) -> &Outline {
        self.decoded.get_or_init(|| self.decode())
    }

    /// Returns the outline without keeping it, for a pass over all files.
    pub(super) fn read(&self) -> Cow<'_, Outline> {
        self.decoded.get().map_or_else(|| Cow::Owned(self.decode()), Cow::Borrowed)
    }

    /// Encodes the outline, to be stored.
    pub(super) fn encode(&mut self) {
        if self.encoded.is_empty() {
            self.encoded = encode(self.get()).into();
        }
    }

    /// Drops the decoded outline if it is stored.
    pub(super) fn forget_decoded(&mut self) {
        match self.encoded {
            PodArray::Mapped { .. } => self.decoded = OnceLock::new(),
            PodArray::Owned(_) => self.encoded = PodArray::default(),
        }
    }

    /// Returns the outline in the same place, not decoded; `None` if it is not decoded, or not in a store.
    pub(super) fn without_decoded(&self) -> Option<StoredOutline> {
        let is_stored = matches!(self.encoded, PodArray::Mapped { .. });
        (is_stored && self.decoded.get().is_some())
            .then(|| StoredOutline { encoded: self.encoded.clone(), decoded: OnceLock::new() })
    }

    /// Decodes bytes of this process, so an error is impossible; without definitions it would lead to fewer hits.
    fn decode(&self) -> Outline {
        postcard::from_bytes(&self.encoded).unwrap_or_default()
    }
}

/// Encodes an outline.
pub(super) fn encode(outline: &Outline) -> Vec<u8> {
    postcard::to_stdvec(outline).expect("an outline has nothing that cannot be written")
}
