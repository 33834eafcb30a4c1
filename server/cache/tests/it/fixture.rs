//! Cache fixtures.

use std::borrow::Cow;
use std::fs;
use std::path::{Path, PathBuf};

use cache::{Cache, CacheMiss, Entry};
use tempfile::TempDir;

pub(crate) const FORMAT: &str = "test 1";

/// A workspace's file, owned.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Owned {
    pub(crate) path: String,
    pub(crate) stamp: Vec<u8>,
    pub(crate) text: String,
    pub(crate) payload: Vec<u8>,
}

impl Owned {
    pub(crate) fn new(path: &str, text: &str) -> Owned {
        Owned {
            path: path.to_owned(),
            stamp: vec![1, 2],
            text: text.to_owned(),
            payload: text.bytes().rev().collect(),
        }
    }

    pub(crate) fn entry(&self) -> Entry<'_> {
        let Owned { path, stamp, text, payload } = self;
        Entry { path, stamp, hash: blake3_of(text), text, payload: Cow::Borrowed(payload) }
    }
}

/// A fake hash; the cache must return it unchanged.
fn blake3_of(text: &str) -> [u8; 32] {
    std::array::from_fn(|place| text.as_bytes().get(place).copied().unwrap_or_default())
}

/// A folder for caches.
pub(crate) struct Folder {
    pub(crate) folder: TempDir,
    pub(crate) cache: Cache,
}

impl Folder {
    pub(crate) fn new() -> Folder {
        Folder::with_limit(Cache::DEFAULT_LIMIT)
    }

    pub(crate) fn with_limit(limit: u64) -> Folder {
        let folder = tempfile::tempdir().unwrap();
        let cache = Cache::new(folder.path(), limit);
        Folder { folder, cache }
    }

    pub(crate) fn save(&self, root: &str, files: &[Owned]) {
        self.cache.save(Path::new(root), FORMAT, files.iter().map(Owned::entry)).unwrap();
    }

    pub(crate) fn open(&self, root: &str) -> Result<Vec<Owned>, CacheMiss> {
        open(&self.cache, root)
    }

    /// All files in the folder, sorted.
    pub(crate) fn files(&self) -> Vec<PathBuf> {
        let mut files: Vec<_> =
            fs::read_dir(self.folder.path()).unwrap().map(|entry| entry.unwrap().path()).collect();
        files.sort();
        files
    }
}

pub(crate) fn open(cache: &Cache, root: &str) -> Result<Vec<Owned>, CacheMiss> {
    let opened = cache.open(Path::new(root), FORMAT)?;
    let count = opened.files();
    let mut files = Vec::new();
    for run in opened {
        files.extend(run?.entries()?.iter().map(own));
    }
    assert_eq!(files.len() as u64, count);
    Ok(files)
}

fn own(entry: &Entry<'_>) -> Owned {
    assert_eq!(entry.hash, blake3_of(entry.text));
    Owned {
        path: entry.path.to_owned(),
        stamp: entry.stamp.to_vec(),
        text: entry.text.to_owned(),
        payload: entry.payload.to_vec(),
    }
}
