//! Metadata of a file, for detecting changes without reading it.

use std::fs::Metadata;
use std::time::{Duration, SystemTime, UNIX_EPOCH};

/// A file changed within this time of its last change may have the same times: file systems have a resolution of up to two
/// seconds (FAT).
const CLOCK_STEP: Duration = Duration::from_secs(2);

/// Size, times and identity of a file. Any difference, including an earlier time, means that its text may have changed.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct DiskStamp {
    /// Size in bytes.
    size: u64,
    /// Time of the last change of the contents, in nanoseconds since 1970; tools may set it to anything.
    modified: i64,
    /// Time of the last change of contents or metadata, in nanoseconds since 1970; only the system sets it. 0 if unavailable.
    changed: i64,
    /// Identity of the file, including its file system; 0 if unknown.
    id: u64,
}

impl DiskStamp {
    /// Length of a stamp as bytes.
    pub const BYTES: usize = 32;

    pub(crate) fn of(metadata: &Metadata) -> DiskStamp {
        let (changed, id) = platform::change_and_id(metadata);
        let modified = metadata.modified().map_or(0, nanoseconds);
        DiskStamp { size: metadata.len(), modified, changed, id }
    }

    /// Whether the stamp of a folder changes with each new entry, as on Unix. Elsewhere, some file systems do not note that.
    pub(crate) fn shows_entries(self) -> bool {
        self.changed != 0
    }

    /// Returns the identity of the file; 0 if unknown.
    pub(crate) fn id(self) -> u64 {
        self.id
    }

    /// Returns the stamp if every change after `now` is sure to alter it. `now` is a moment before the metadata was read.
    pub(crate) fn if_settled(self, now: SystemTime) -> Option<DiskStamp> {
        let last = if self.changed == 0 { self.modified } else { self.changed };
        let step = i64::try_from(CLOCK_STEP.as_nanos()).unwrap_or(i64::MAX);
        (last.saturating_add(step) < nanoseconds(now)).then_some(self)
    }

    /// Encodes the stamp for storage, valid on the same machine only.
    pub fn to_bytes(self) -> [u8; DiskStamp::BYTES] {
        let words = [self.size, self.modified.cast_unsigned(), self.changed.cast_unsigned(), self.id];
        let mut bytes = [0; DiskStamp::BYTES];
        for (place, word) in bytes.chunks_exact_mut(8).zip(words) {
            place.copy_from_slice(&word.to_le_bytes());
        }
        bytes
    }

    /// Decodes a stamp from [`to_bytes`](DiskStamp::to_bytes); `None` if the bytes are invalid.
    pub fn from_bytes(bytes: &[u8]) -> Option<DiskStamp> {
        let (words, []) = bytes.as_chunks::<8>() else { return None };
        let &[size, modified, changed, id] = words else { return None };
        let [size, modified, changed, id] = [size, modified, changed, id].map(u64::from_le_bytes);
        Some(DiskStamp { size, modified: modified.cast_signed(), changed: changed.cast_signed(), id })
    }
}

/// Converts to nanoseconds since 1970, negative before; saturates after the year 2262.
fn nanoseconds(time: SystemTime) -> i64 {
    let count = |distance: Duration| i64::try_from(distance.as_nanos()).unwrap_or(i64::MAX);
    match time.duration_since(UNIX_EPOCH) {
        Ok(since) => count(since),
        Err(before) => -count(before.duration()),
    }
}

/// Returns the number of the file's hard links: it may be changed through any of them. 1 if unknown.
pub(crate) fn names(metadata: &Metadata) -> u64 {
    platform::names(metadata)
}

#[cfg(unix)]
use unix as platform;

#[cfg(unix)]
mod unix {
    use std::fs::Metadata;
    use std::os::unix::fs::MetadataExt;

    pub(super) fn change_and_id(metadata: &Metadata) -> (i64, u64) {
        let changed = metadata.ctime().saturating_mul(1_000_000_000).saturating_add(metadata.ctime_nsec());
        // Device numbers are small: rotating moves their bits away from those that distinguish the files of one device.
        (changed, metadata.ino() ^ metadata.dev().rotate_right(16))
    }

    pub(super) fn names(metadata: &Metadata) -> u64 {
        metadata.nlink()
    }
}

/// On other platforms the standard library provides neither, so size and modification time must do.
#[cfg(not(unix))]
mod platform {
    use std::fs::Metadata;

    pub(super) fn change_and_id(_: &Metadata) -> (i64, u64) {
        (0, 0)
    }

    pub(super) fn names(_: &Metadata) -> u64 {
        1
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn stamp(modified: i64, changed: i64) -> DiskStamp {
        DiskStamp { size: 7, modified, changed, id: 3 }
    }

    #[test]
    fn stamp_bytes_round_trip() {
        for stamp in [stamp(0, 0), stamp(-1, i64::MAX), stamp(i64::MIN, 5)] {
            assert_eq!(DiskStamp::from_bytes(&stamp.to_bytes()), Some(stamp));
        }
        assert_eq!(DiskStamp::from_bytes(&[]), None);
        assert_eq!(DiskStamp::from_bytes(&[0; DiskStamp::BYTES - 1]), None);
        assert_eq!(DiskStamp::from_bytes(&[0; DiskStamp::BYTES + 8]), None);
    }

    #[test]
    fn recent_and_future_stamps_are_not_settled() {
        let second = 1_000_000_000;
        let now = UNIX_EPOCH + Duration::from_secs(100);
        let is_settled = |modified, changed| stamp(modified, changed).if_settled(now).is_some();
        assert!(is_settled(90 * second, 0));
        assert!(!is_settled(99 * second, 0));
        assert!(!is_settled(200 * second, 0));
        assert!(is_settled(200 * second, 90 * second), "a time of modification that a tool has set");
        assert!(!is_settled(90 * second, 99 * second));
    }
}
