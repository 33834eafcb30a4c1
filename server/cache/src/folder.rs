//! The folder of the caches: which file belongs to which workspace, what is old, what is left over.

use std::collections::{BTreeMap, BTreeSet, btree_map};
use std::ffi::{OsStr, OsString};
use std::fs::{self, DirEntry, File, OpenOptions};
use std::io;
use std::path::{Path, PathBuf};
use std::process;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::SystemTime;

use crate::format::Hash;
use crate::open::read_head;
use crate::{Cleared, Error, Listed};

/// What the names of caches end with.
const CACHE: &str = "cache";

/// What the names of images end with.
const IMAGE: &str = "image";

/// What the names of files that are being written end with.
const TEMPORARY: &str = "partial";

/// Hexadecimal digits of a root's hash in the names of its files; 128 bits are enough to be never the same by chance.
const KEY_DIGITS: usize = 32;

/// Where the cache of a workspace is.
#[derive(Clone, Debug)]
pub(crate) struct Place {
    pub(crate) path: PathBuf,
    pub(crate) key: Hash,
    /// The root, for people.
    pub(crate) root: String,
}

/// The place of the cache of the workspace at `root`, by the name that the system gives to it.
pub(crate) fn place(folder: &Path, root: &Path) -> Place {
    let root = root.canonicalize().unwrap_or_else(|_| root.to_owned());
    let hash = blake3::hash(root.as_os_str().as_encoded_bytes());
    let path = folder.join(&hash.to_hex()[..KEY_DIGITS]).with_extension(CACHE);
    Place { path, key: hash.into(), root: root.to_string_lossy().into_owned() }
}

impl Place {
    /// Where the workspace's image is.
    pub(crate) fn image(&self) -> PathBuf {
        self.path.with_extension(IMAGE)
    }
}

/// A name that no other file has, or had a moment ago.
pub(crate) fn temporary_path(folder: &Path, place: &Place) -> PathBuf {
    static COUNT: AtomicU64 = AtomicU64::new(0);
    let key = place.path.file_stem().unwrap_or_default().to_string_lossy();
    let count = COUNT.fetch_add(1, Ordering::Relaxed);
    folder.join(format!("{key}-{}-{count}.{TEMPORARY}", process::id()))
}

/// Makes the folder if need be, for this user alone since it will hold code, and removes what killed processes have left in it.
pub(crate) fn prepare(folder: &Path) -> io::Result<()> {
    private_files::own_folder(folder)?;
    for file in files(folder, TEMPORARY)? {
        remove_abandoned(&file.path());
    }
    Ok(())
}

/// Removes a file that nobody is writing: whoever does holds its lock, and the system ends that with the process. The lock is held until
/// the file is gone, so that one who has just created it learns of that when he gets the lock.
fn remove_abandoned(path: &Path) {
    let Ok(file) = OpenOptions::new().write(true).open(path) else { return };
    if file.try_lock().is_ok() {
        drop(fs::remove_file(path));
    }
}

/// Creates a file for this user alone; it is an error if there is one.
pub(crate) fn create_private(path: &Path) -> io::Result<File> {
    private_files::open(OpenOptions::new().write(true).create_new(true), path)
}

/// Makes a rename to `path` last. A rename that is lost leaves the former file.
pub(crate) fn flush_names(path: &Path) {
    #[cfg(unix)]
    unix::flush_folder_of(path);
    let _ = path;
}

/// Removes caches and images, those first that were not used for longest, until all together have at most `limit` bytes; never those of
/// the workspace at `kept`. Tells how many. What cannot be removed stays.
pub(crate) fn evict(folder: &Path, kept: &Place, limit: u64) -> usize {
    let metadata = |file: DirEntry| Some((file.path(), file.metadata().ok()?));
    let mut files: Vec<_> = lasting(folder).into_iter().flatten().filter_map(metadata).collect();
    files.sort_by_cached_key(|(path, metadata)| (metadata.modified().ok(), path.clone()));
    let mut bytes: u64 = files.iter().map(|(_, metadata)| metadata.len()).sum();
    let kept = [kept.path.clone(), kept.image()];
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

/// Caches and images.
fn lasting(folder: &Path) -> io::Result<Vec<DirEntry>> {
    let mut all = files(folder, CACHE)?;
    all.extend(files(folder, IMAGE)?);
    Ok(all)
}

pub(crate) fn list(folder: &Path) -> Result<Vec<Listed>, Error> {
    let mut of_workspace: BTreeMap<Option<OsString>, Listed> = BTreeMap::new();
    for file in lasting(folder).map_err(|error| Error::of(error, folder))? {
        let path = file.path();
        // What vanishes meanwhile is not there.
        let Ok(listed) = describe(&path) else { continue };
        match of_workspace.entry(path.file_stem().map(OsString::from)) {
            btree_map::Entry::Vacant(entry) => drop(entry.insert(listed)),
            btree_map::Entry::Occupied(mut entry) => entry.get_mut().add(listed),
        }
    }
    let mut listed: Vec<Listed> = of_workspace.into_values().collect();
    listed.sort_by(|a, b| b.last_used.cmp(&a.last_used).then_with(|| a.root.cmp(&b.root)));
    Ok(listed)
}

impl Listed {
    /// Adds another file of the workspace.
    fn add(&mut self, other: Listed) {
        self.root = self.root.take().or(other.root);
        self.files = self.files.max(other.files);
        self.bytes += other.bytes;
        self.last_used = self.last_used.max(other.last_used);
    }
}

fn describe(path: &Path) -> io::Result<Listed> {
    let mut file = File::open(path)?;
    let metadata = file.metadata()?;
    let head = read_head(&mut file).ok().and_then(Result::ok);
    Ok(Listed {
        files: head.as_ref().map_or(0, |head| head.files),
        root: head.map(|head| head.root),
        bytes: metadata.len(),
        last_used: metadata.modified().unwrap_or(SystemTime::UNIX_EPOCH),
    })
}

pub(crate) fn clear(folder: &Path) -> Result<Cleared, Error> {
    let failed = |error| Error::of(error, folder);
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
    for file in lasting(folder).map_err(failed)? {
        remove(&file)?;
        workspaces.insert(file.path().file_stem().map(OsString::from));
    }
    files(folder, TEMPORARY).map_err(failed)?.iter().try_for_each(remove)?;
    Ok(Cleared { workspaces: workspaces.len(), bytes })
}

/// The files that are named as we name ours, with this ending; none if there is no folder.
fn files(folder: &Path, ending: &str) -> io::Result<Vec<DirEntry>> {
    let entries = match fs::read_dir(folder) {
        Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(Vec::new()),
        entries => entries?,
    };
    Ok(entries.flatten().filter(|entry| is_ours(&entry.file_name(), ending)).collect())
}

fn is_ours(name: &OsStr, ending: &str) -> bool {
    let Some((stem, found)) = name.to_str().and_then(|name| name.rsplit_once('.')) else { return false };
    let key = stem.split('-').next().unwrap_or_default();
    found == ending && key.len() == KEY_DIGITS && key.bytes().all(|byte| byte.is_ascii_hexdigit())
}

/// Elsewhere names last by themselves.
#[cfg(unix)]
mod unix {
    use std::fs::File;
    use std::path::Path;

    pub(super) fn flush_folder_of(path: &Path) {
        // Some file systems cannot; then the rename lasts a little later.
        drop(path.parent().map(|folder| File::open(folder).and_then(|folder| folder.sync_all())));
    }
}
