//! Hashes of the contents of files and folders.
//!
//! Only regular files are opened. Hashes of large files are cached by size and times. A folder is read within limits, by a rule
//! that gives the same hash for the same files.

use std::fs::{self, DirEntry, File, Metadata};
use std::io;
use std::path::{Path, PathBuf};
use std::time::UNIX_EPOCH;

/// Minimum size in bytes for caching a hash: smaller files are read faster than the cache.
const MIN_CACHED_HASH_BYTES: u64 = 16 << 20;

/// Maximum entries of a folder, including subfolders: more than programs and models have, and read within a second.
const ENTRIES: usize = 10_000;

/// Maximum bytes in a folder whose contents count; of further files only size and times count. A model in several files is
/// covered, but a whole disk named by an argument is not read for minutes.
const BYTES: u64 = 64 << 30;

/// Folders that change without a change of their program.
const PASSED_OVER: [&str; 4] = [".git", ".hg", ".svn", "__pycache__"];

/// Reads and hashes contents.
#[derive(Default)]
pub(super) struct Contents {
    /// The folder of cached hashes of large files, if there is one.
    pub(super) remembered: Option<PathBuf>,
}

impl Contents {
    /// Returns the hash of a file's contents, or of a folder's with its names.
    pub(super) fn hash(&self, path: &Path) -> io::Result<blake3::Hash> {
        let metadata = fs::metadata(path)?;
        if metadata.is_dir() { self.folder(path) } else { self.file(path, &metadata) }
    }

    fn file(&self, path: &Path, metadata: &Metadata) -> io::Result<blake3::Hash> {
        if !metadata.is_file() {
            return Err(io::Error::other("no regular file"));
        }
        let large = metadata.len() >= MIN_CACHED_HASH_BYTES;
        let Some(remembered) = self.remembered.as_ref().filter(|_| large) else { return read(path) };
        let whole = path.canonicalize()?;
        let entry = remembered.join(&blake3::hash(whole.as_os_str().as_encoded_bytes()).to_hex()[..32]);
        let stamp = stamp(metadata);
        let known = fs::read_to_string(&entry).unwrap_or_default();
        let known = known.strip_prefix(&format!("{stamp} ")).and_then(|hex| blake3::Hash::from_hex(hex).ok());
        if let Some(known) = known {
            return Ok(known);
        }
        let hash = read(path)?;
        // Best effort: the file is read again next time.
        let _ = private_files::create_folder(remembered)
            .and_then(|()| private_files::write_atomically(&entry, format!("{stamp} {hash}").as_bytes()));
        Ok(hash)
    }

    /// Links to files count as the files, as in caches of models; links to folders count by their targets' paths, because they
    /// may form cycles.
    fn folder(&self, root: &Path) -> io::Result<blake3::Hash> {
        let mut hasher = blake3::Hasher::new();
        let (mut entries, mut bytes) = (0, 0);
        let mut folders = vec![root.to_owned()];
        while let Some(folder) = folders.pop() {
            let Ok(mut inside) = sorted(&folder) else { continue };
            inside.truncate(ENTRIES.saturating_sub(entries));
            entries += inside.len();
            for entry in inside {
                let path = entry.path();
                let name = path.strip_prefix(root).unwrap_or(&path).as_os_str().as_encoded_bytes();
                hasher.update(&(name.len() as u64).to_le_bytes()).update(name);
                match fs::metadata(&path) {
                    Ok(metadata) if metadata.is_dir() => match fs::read_link(&path) {
                        Ok(target) => _ = hasher.update(target.as_os_str().as_encoded_bytes()),
                        Err(_) => folders.push(path),
                    },
                    Ok(metadata) => {
                        bytes += metadata.len();
                        match self.file(&path, &metadata) {
                            Ok(hash) if bytes <= BYTES => _ = hasher.update(hash.as_bytes()),
                            _ => _ = hasher.update(stamp(&metadata).as_bytes()),
                        }
                    }
                    Err(_) => {}
                }
            }
        }
        Ok(hasher.finalize())
    }
}

/// Returns the entries of a folder that count, by name.
fn sorted(folder: &Path) -> io::Result<Vec<DirEntry>> {
    let mut entries: Vec<DirEntry> = fs::read_dir(folder)?
        .flatten()
        .filter(|entry| !PASSED_OVER.iter().any(|name| entry.file_name() == *name))
        .collect();
    entries.sort_by_key(DirEntry::file_name);
    Ok(entries)
}

fn read(path: &Path) -> io::Result<blake3::Hash> {
    let mut hasher = blake3::Hasher::new();
    hasher.update_reader(File::open(path)?)?;
    Ok(hasher.finalize())
}

/// Data that changes with a file: size, times and, on Unix, its number. The time of the last status change cannot be set back.
fn stamp(metadata: &Metadata) -> String {
    let modified = metadata.modified().ok().and_then(|time| time.duration_since(UNIX_EPOCH).ok());
    let modified = modified.unwrap_or_default().as_nanos();
    #[cfg(unix)]
    let system = {
        use std::os::unix::fs::MetadataExt;
        format!("{}:{}:{}.{}", metadata.dev(), metadata.ino(), metadata.ctime(), metadata.ctime_nsec())
    };
    #[cfg(not(unix))]
    let system = "";
    format!("{} {modified} {system}", metadata.len())
}

#[cfg(test)]
mod tests {
    use std::time::{Duration, SystemTime};

    use super::*;

    #[test]
    fn cached_hash_of_a_large_file_is_updated_on_change() {
        let folder = tempfile::tempdir().expect("a folder");
        let remembered = folder.path().join("hashes");
        let contents = Contents { remembered: Some(remembered.clone()) };
        let path = folder.path().join("m.gguf");
        let write = |byte: u8| {
            fs::write(&path, vec![byte; MIN_CACHED_HASH_BYTES as usize]).expect("it can be written");
            let past = SystemTime::now() - Duration::from_secs(3600);
            File::options().write(true).open(&path).and_then(|file| file.set_modified(past)).expect("a time");
        };
        write(1);
        let first = contents.hash(&path).expect("it is there");
        assert_eq!(contents.hash(&path).expect("it is there"), first);
        assert_eq!(fs::read_dir(&remembered).expect("hashes are kept").count(), 1);
        write(2);
        let second = contents.hash(&path).expect("it is there");
        assert_eq!(second, read(&path).expect("it is there"));
        assert_ne!(second, first);
    }

    #[test]
    fn folder_hash_covers_names_and_contents_but_not_bytecode() {
        let folder = tempfile::tempdir().expect("a folder");
        let root = folder.path();
        let write = |name: &str, text: &str| {
            let path = root.join(name);
            fs::create_dir_all(path.parent().expect("it is below the root")).expect("a folder");
            fs::write(path, text).expect("it can be written");
        };
        let hash = || Contents::default().hash(root).expect("it can be read");
        write("engine/main.py", "1");
        let first = hash();
        write("engine/__pycache__/main.pyc", "compiled");
        assert_eq!(hash(), first);
        write("engine/main.py", "2");
        let second = hash();
        assert_ne!(second, first);
        write("engine/deep/er/helper.py", "");
        let third = hash();
        assert_ne!(third, second);
        fs::rename(root.join("engine/main.py"), root.join("engine/other.py")).expect("renamed");
        assert_ne!(hash(), third);
    }

    #[test]
    #[cfg(unix)]
    fn cyclic_links_end_and_file_links_are_followed() {
        let folder = tempfile::tempdir().expect("a folder");
        let (root, blob) = (folder.path().join("model"), folder.path().join("blob"));
        fs::create_dir(&root).expect("a folder");
        fs::write(&blob, "1").expect("it can be written");
        std::os::unix::fs::symlink(&root, root.join("self")).expect("a link");
        std::os::unix::fs::symlink(&blob, root.join("weights")).expect("a link");
        let first = Contents::default().hash(&root).expect("it can be read");
        fs::write(&blob, "2").expect("it can be written");
        assert_ne!(Contents::default().hash(&root).expect("it can be read"), first);
    }
}
