//! What was derived from workspaces, on disk: losing it loses time only.
//!
//! A [`Cache`] is a folder with up to two files for each workspace. One holds, for each file of the workspace, its text, how it looked
//! on disk, and bytes that mean something to the caller alone; it is read and written as a whole. The other is the workspace's
//! [`Image`]: bytes about the workspace as a whole, which are read in one piece and used where they lie.
//!
//! ```text
//! save:  entries ─► temporary file ─► flush to disk ─► rename over the workspace's file ─► evict what was not used for longest
//! open:  workspace's file ─► checksums, versions ─► Opened, or a Miss that says why not
//! ```
//!
//! A file is never changed once it has its name, so a process that is killed, or another that saves at the same moment, leaves either
//! the former cache or the new one; who has opened one keeps it. Writing everything anew costs a fraction of a second, where a journal
//! would have to be replayed, compacted and guarded against two writers; [`pays`] says when it is worth it.
//!
//! Nothing here looks at the workspaces themselves, and nothing fails because of what stands in a cache.

mod error;
mod folder;
mod format;
mod image;
mod open;
mod save;

use std::borrow::Cow;
use std::path::{Path, PathBuf};
use std::time::SystemTime;

pub use error::{Error, Miss};
pub use image::Image;
pub use open::{Opened, Run};

/// One file of a workspace.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Entry<'a> {
    /// Path relative to the workspace root, with `/` between its parts.
    pub path: &'a str,
    /// How the file looked on disk, in the caller's bytes; may be empty.
    pub stamp: &'a [u8],
    /// The hash of the text, by the caller's reckoning.
    pub hash: [u8; 32],
    /// The whole text.
    pub text: &'a str,
    /// What the caller has derived from the text.
    pub payload: Cow<'a, [u8]>,
}

/// The caches of all workspaces.
#[derive(Clone, Debug)]
pub struct Cache {
    folder: PathBuf,
    /// All files together, bytes.
    limit: u64,
}

/// What was saved.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Saved {
    /// The workspace's files.
    pub files: u64,
    /// Size of its cache, bytes.
    pub bytes: u64,
    /// Other workspaces whose caches were removed to stay within the limit.
    pub evicted: usize,
}

/// The cache of one workspace.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Listed {
    /// The workspace's root, as near as it can be written; `None` if the cache does not tell.
    pub root: Option<String>,
    /// The workspace's files.
    pub files: u64,
    /// Size on disk.
    pub bytes: u64,
    /// When it was last opened or saved.
    pub last_used: SystemTime,
}

/// What was removed.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Cleared {
    /// Workspaces whose caches were removed.
    pub workspaces: usize,
    /// Size of everything removed, bytes.
    pub bytes: u64,
}

impl Cache {
    /// Some ten workspaces of a million lines.
    pub const STANDARD_LIMIT: u64 = 2 << 30;

    /// The caches in `folder`, which need not exist yet, holding up to `limit` bytes in all. Does not touch the disk.
    pub fn new(folder: &Path, limit: u64) -> Cache {
        Cache { folder: folder.to_owned(), limit }
    }

    /// What was last saved of the workspace at `root` with the same `format`. It is read as [`Opened`] is gone through: 100 MB in a
    /// tenth of a second.
    pub fn open(&self, root: &Path, format: &str) -> Result<Opened, Miss> {
        open::open(&folder::place(&self.folder, root), format)
    }

    /// Saves `entries` as the cache of the workspace at `root`. `format` names what the payloads mean, with its version; who asks for
    /// another one gets nothing. Entries are taken one by one, so their payloads need not exist all at once.
    ///
    /// On an error the cache is as it was before.
    pub fn save<'a>(
        &self,
        root: &Path,
        format: &str,
        entries: impl IntoIterator<Item = Entry<'a>>,
    ) -> Result<Saved, Error> {
        let place = folder::place(&self.folder, root);
        let (files, bytes) = save::save(&self.folder, &place, format, entries, self.limit)?;
        let evicted = folder::evict(&self.folder, &place, self.limit);
        Ok(Saved { files, bytes, evicted })
    }

    /// Reads what was last saved with the same `format` as the image of the workspace at `root`. Nothing but its length is checked.
    pub fn open_image(&self, root: &Path, format: &str) -> Result<Image, Miss> {
        image::open(&folder::place(&self.folder, root), format)
    }

    /// Saves `pieces`, one after the other, as the image of the workspace at `root`, and tells its size on disk.
    ///
    /// On an error the image is as it was before.
    pub fn save_image(&self, root: &Path, format: &str, pieces: &[Cow<'_, [u8]>]) -> Result<u64, Error> {
        let place = folder::place(&self.folder, root);
        let bytes = image::save(&self.folder, &place, format, pieces, self.limit)?;
        folder::evict(&self.folder, &place, self.limit);
        Ok(bytes)
    }

    /// All caches, the last used first. Reads no more than their beginnings.
    pub fn list(&self) -> Result<Vec<Listed>, Error> {
        folder::list(&self.folder)
    }

    /// Removes all caches and nothing else.
    pub fn clear(&self) -> Result<Cleared, Error> {
        folder::clear(&self.folder)
    }
}

/// Whether saving pays when of `total` bytes of text `changed` bytes are not in the cache as they are.
///
/// What is not in the cache is read and derived again when the workspace is next opened. With a twentieth of a million lines that takes
/// a quarter of a second, about what saving all of them takes; with less, it is not worth writing 100 MB.
pub fn pays(changed: u64, total: u64) -> bool {
    changed > 0 && changed.saturating_mul(20) >= total
}
