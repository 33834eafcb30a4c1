//! The cache folder: assigns files to workspaces, evicts old ones and removes abandoned ones.

use std::collections::{BTreeMap, BTreeSet, btree_map};
use std::ffi::{OsStr, OsString};
use std::fs::{self, DirEntry, File, OpenOptions};
use std::io;
use std::path::{Path, PathBuf};
use std::time::SystemTime;

use private_files::PARTIAL_EXTENSION;

use crate::cache_reader::read_head;
use crate::format::Hash;
use crate::{CacheError, CacheInfo, ClearSummary};

/// File extension of caches.
pub(crate) const CACHE_EXTENSION: &str = "cache";

/// File extension of the caches for mining.
pub(crate) const HOLES_EXTENSION: &str = "holes";

/// File extension of blocks.
const BLOCKS_EXTENSION: &str = "blocks";

/// File extension of images.
const IMAGE_EXTENSION: &str = "image";

/// File extension of caches that are not complete.
const BEGUN_EXTENSION: &str = "begun";

/// Extensions of all files of a workspace.
const EXTENSIONS: [&str; 5] =
    [CACHE_EXTENSION, HOLES_EXTENSION, BLOCKS_EXTENSION, IMAGE_EXTENSION, BEGUN_EXTENSION];

/// Hexadecimal digits of a root's hash in its file names; 128 bits are enough to avoid collisions.
const KEY_DIGITS: usize = 32;

/// Paths of the cache files of one workspace.
#[derive(Clone, Debug)]
pub(crate) struct CachePaths {
    pub(crate) path: PathBuf,
    pub(crate) key: Hash,
    /// Workspace root, for display.
    pub(crate) root: String,
}

/// Returns the cache paths of the workspace at `root`, by its canonical path. `extension` is that of the cache.
pub(crate) fn cache_paths(folder: &Path, root: &Path, extension: &str) -> CachePaths {
    let root = root.canonicalize().unwrap_or_else(|_| root.to_owned());
    let hash = blake3::hash(root.as_os_str().as_encoded_bytes());
    let path = folder.join(&hash.to_hex()[..KEY_DIGITS]).with_extension(extension);
    CachePaths { path, key: hash.into(), root: root.to_string_lossy().into_owned() }
}

impl CachePaths {
    /// Returns the path of the workspace's cache while it is not complete.
    pub(crate) fn begun_path(&self) -> PathBuf {
        self.path.with_extension(BEGUN_EXTENSION)
    }

    /// Returns the path of the workspace's blocks.
    pub(crate) fn blocks_path(&self) -> PathBuf {
        self.path.with_extension(BLOCKS_EXTENSION)
    }

    /// Returns the path of the workspace's image.
    pub(crate) fn image_path(&self) -> PathBuf {
        self.path.with_extension(IMAGE_EXTENSION)
    }
}

/// Creates the folder if it is missing, for this user alone because it holds code, and removes files left by killed processes.
pub(crate) fn prepare_folder(folder: &Path) -> io::Result<()> {
    private_files::own_folder(folder)?;
    for file in files(folder, PARTIAL_EXTENSION)? {
        remove_abandoned(&file.path());
    }
    Ok(())
}

/// Removes a file that no process is writing. A writer holds the file's lock, which the system releases when the process ends. The
/// lock is held until the file is removed, so that a process that has just created the file notices when it gets the lock.
fn remove_abandoned(path: &Path) {
    let Ok(file) = OpenOptions::new().write(true).open(path) else { return };
    if file.try_lock().is_ok() {
        drop(fs::remove_file(path));
    }
}

/// Removes the least recently used caches and images until all together have at most `limit` bytes, but never those of the
/// workspace at `kept`. Returns how many were removed. Files that cannot be removed stay.
pub(crate) fn evict(folder: &Path, kept: &CachePaths, limit: u64) -> usize {
    let metadata = |file: DirEntry| Some((file.path(), file.metadata().ok()?));
    let mut files: Vec<_> = cache_files(folder).into_iter().flatten().filter_map(metadata).collect();
    files.sort_by_cached_key(|(path, metadata)| (metadata.modified().ok(), path.clone()));
    let mut bytes: u64 = files.iter().map(|(_, metadata)| metadata.len()).sum();
    let kept = EXTENSIONS.map(|extension| kept.path.with_extension(extension));
    let mut evicted = BTreeSet::new();
    for (path, metadata) in files.iter().filter(|(path, _)| !kept.contains(path)) {
        if bytes <= limit {
            break;
        }
        if fs::remove_file(path).is_ok() {
            bytes -= metadata.len();
            evicted.insert(path.file_stem());
        }
    }
    evicted.len()
}

/// Lists caches and images.
fn cache_files(folder: &Path) -> io::Result<Vec<DirEntry>> {
    let mut all = Vec::new();
    for extension in EXTENSIONS {
        all.extend(files(folder, extension)?);
    }
    Ok(all)
}

pub(crate) fn list(folder: &Path) -> Result<Vec<CacheInfo>, CacheError> {
    let mut of_workspace: BTreeMap<Option<OsString>, CacheInfo> = BTreeMap::new();
    for file in cache_files(folder).map_err(|error| CacheError::of(error, folder))? {
        let path = file.path();
        // Skip files that vanish in between.
        let Ok(listed) = read_info(&path) else { continue };
        match of_workspace.entry(path.file_stem().map(OsString::from)) {
            btree_map::Entry::Vacant(entry) => drop(entry.insert(listed)),
            btree_map::Entry::Occupied(mut entry) => entry.get_mut().add(listed),
        }
    }
    let mut listed: Vec<CacheInfo> = of_workspace.into_values().collect();
    listed.sort_by(|a, b| b.last_used.cmp(&a.last_used).then_with(|| a.root.cmp(&b.root)));
    Ok(listed)
}

impl CacheInfo {
    /// Merges another file of the same workspace.
    fn add(&mut self, other: CacheInfo) {
        self.root = self.root.take().or(other.root);
        self.files = self.files.max(other.files);
        self.bytes += other.bytes;
        self.last_used = self.last_used.max(other.last_used);
    }
}

fn read_info(path: &Path) -> io::Result<CacheInfo> {
    let mut file = File::open(path)?;
    let metadata = file.metadata()?;
    let head = read_head(&mut file).ok().and_then(Result::ok);
    Ok(CacheInfo {
        files: head.as_ref().map_or(0, |head| head.files),
        root: head.map(|head| head.root),
        bytes: metadata.len(),
        last_used: metadata.modified().unwrap_or(SystemTime::UNIX_EPOCH),
    })
}

pub(crate) fn clear(folder: &Path) -> Result<ClearSummary, CacheError> {
    let failed = |error| CacheError::of(error, folder);
    let mut workspaces = BTreeSet::new();
    let mut bytes = 0;
    let mut remove = |file: &DirEntry| {
        let length = file.metadata().map_or(0, |metadata| metadata.len());
        match fs::remove_file(file.path()) {
            Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(()),
            removed => removed.map_err(failed)?,
        }
        bytes += length;
        Ok(())
    };
    for file in cache_files(folder).map_err(failed)? {
        remove(&file)?;
        workspaces.insert(file.path().file_stem().map(OsString::from));
    }
    files(folder, PARTIAL_EXTENSION).map_err(failed)?.iter().try_for_each(remove)?;
    Ok(ClearSummary { workspaces: workspaces.len(), bytes })
}

/// Lists the cache files with this extension; none if the folder does not exist.
fn files(folder: &Path, ending: &str) -> io::Result<Vec<DirEntry>> {
    let entries = match fs::read_dir(folder) {
        Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(Vec::new()),
        entries => entries?,
    };
    Ok(entries.flatten().filter(|entry| is_cache_file(&entry.file_name(), ending)).collect())
}

fn is_cache_file(name: &OsStr, ending: &str) -> bool {
    let Some((stem, found)) = name.to_str().and_then(|name| name.rsplit_once('.')) else { return false };
    let key = stem.split('-').next().unwrap_or_default();
    found == ending && key.len() == KEY_DIGITS && key.bytes().all(|byte| byte.is_ascii_hexdigit())
}
