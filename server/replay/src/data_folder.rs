//! Ghostbench's own folder, where everything goes that the user did not ask for elsewhere. Nothing is written into a workspace.
//!
//! ```text
//! runs/<name>/1, 2, ...            runs, newest last
//! suites/<name>-<seed>.jsonl       mined suites
//! recorded/<name>-<hash>/          the suite recorded in one workspace
//! hash-key                         the secret key for hashes of settings; readable by its owner alone
//! ```
//!
//! Only the binary knows where the platform keeps such a folder.

use std::fs;
use std::io::{self, ErrorKind};
use std::path::{Path, PathBuf};

use engines::HashKey;

use crate::file_io::FileStamp;
use crate::{RecordedSuite, ReplayError, run_folder};

/// As many digits of a workspace's hash as tell any workspaces of one machine apart: 48 bits.
const HASH_DIGITS: usize = 12;

/// As much of a folder's name as people recognise it by, in characters; file systems take 255 bytes.
const NAME_LENGTH: usize = 40;

/// Runs are made by the press of a key and stay; the answers of older ones than the last 50 are not worth the time to read them.
const LAST_RUNS: usize = 50;

/// The file of the key for hashes of settings.
const HASH_KEY_FILE: &str = "hash-key";

/// Ghostbench's own folder.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct DataFolder {
    root: PathBuf,
}

/// The state of the last runs of a suite at one moment: two that are equal stand for the same answers. Take it before the runs are
/// read, so that what changes meanwhile is noticed the next time.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct RunsStamp(Vec<(PathBuf, [FileStamp; 2])>);

impl DataFolder {
    /// The folder at `root`, which is made when something is first kept there.
    pub fn new(root: PathBuf) -> DataFolder {
        DataFolder { root }
    }

    /// The machine's key for hashes of settings, made when it is first asked for.
    pub fn hash_key(&self) -> Result<HashKey, ReplayError> {
        let path = self.root.join(HASH_KEY_FILE);
        let failed = |reason| ReplayError::HashKey { path: path.clone(), reason };
        match fs::read(&path) {
            Err(reason) if reason.kind() == ErrorKind::NotFound => {
                private_files::create_folder(&self.root)
                    .and_then(|()| make_hash_key(&path))
                    .map_err(failed)?;
            }
            _ => {}
        }
        // Whichever process made it, all use what the file holds.
        let bytes = fs::read(&path).map_err(failed)?;
        let bytes = bytes.try_into().map_err(|_| failed(io::Error::other("it is not 32 bytes long")))?;
        Ok(HashKey::new(bytes))
    }

    /// A new folder for a run of `name`: numbered, so that runs of one workspace stand in order.
    pub fn new_run(&self, name: &str) -> Result<PathBuf, ReplayError> {
        let parent = self.runs(name);
        let claimed = private_files::own_folder(&self.root).and_then(|()| create_numbered_folder(&parent));
        claimed.map_err(|reason| ReplayError::Folder { path: parent, reason })
    }

    /// Where a suite of `name` that was mined with `seed` goes.
    pub fn suite(&self, name: &str, seed: u64) -> Result<PathBuf, ReplayError> {
        let parent = self.root.join("suites");
        let path = parent.join(format!("{}-{seed}.jsonl", file_name(name)));
        let made = [&self.root, &parent].into_iter().try_for_each(|folder| private_files::own_folder(folder));
        made.map_err(|reason| ReplayError::Folder { path: parent, reason })?;
        Ok(path)
    }

    /// The suite of the cases that are recorded in a workspace. It goes by the name of the workspace's folder and by a hash of its
    /// whole path, so that two workspaces called `app` do not share one. Nothing is made before the first case is added.
    pub fn recorded_suite(&self, workspace_root: &Path) -> RecordedSuite {
        let root = workspace_root.canonicalize().unwrap_or_else(|_| workspace_root.to_owned());
        let folder = root.file_name().map(|name| name.to_string_lossy()).unwrap_or_default();
        let hash = blake3::hash(root.as_os_str().as_encoded_bytes()).to_hex();
        // A dot would look like the beginning of an extension to whoever names runs after this folder.
        let folder: String = file_name(&folder).replace('.', "-").chars().take(NAME_LENGTH).collect();
        let name = format!("{folder}-{}", &hash[..HASH_DIGITS]);
        RecordedSuite::new(self.root.join("recorded").join(&name), name)
    }

    /// What tells whether the last runs of `name` changed, whoever made, resumed or deleted them. Looks at two files of each of at
    /// most 50 runs, and reads none; what cannot be looked at counts as not there.
    pub fn runs_stamp(&self, name: &str) -> RunsStamp {
        let folders = self.last_runs(name).unwrap_or_default();
        let stamp = |folder: PathBuf| {
            let files = run_folder::growing_files(&folder).map(|path| FileStamp::of(&path));
            (folder, files)
        };
        RunsStamp(folders.into_iter().map(stamp).collect())
    }

    /// The last 50 runs of `name`, newest first.
    pub(crate) fn last_runs(&self, name: &str) -> Result<Vec<PathBuf>, ReplayError> {
        let parent = self.runs(name);
        let mut numbers = match run_numbers(&parent) {
            Err(reason) if reason.kind() == ErrorKind::NotFound => Vec::new(),
            numbers => numbers.map_err(|reason| ReplayError::Read { path: parent.clone(), reason })?,
        };
        numbers.sort_unstable_by(|a, b| b.cmp(a));
        Ok(numbers.into_iter().take(LAST_RUNS).map(|number| parent.join(number.to_string())).collect())
    }

    fn runs(&self, name: &str) -> PathBuf {
        self.root.join("runs").join(file_name(name))
    }
}

/// Makes the folder after the highest of `1`, `2`, ...; two processes never get the same one. The number of a run that was deleted
/// stays free, because the highest number is the newest run's.
fn create_numbered_folder(parent: &Path) -> io::Result<PathBuf> {
    private_files::own_folder(parent)?;
    let highest = run_numbers(parent)?.into_iter().max().unwrap_or_default();
    for number in highest.saturating_add(1)..=u32::MAX {
        let path = parent.join(number.to_string());
        match private_files::create_new_folder(&path) {
            Ok(()) => return Ok(path),
            Err(error) if error.kind() == ErrorKind::AlreadyExists => {}
            Err(error) => return Err(error),
        }
    }
    Err(io::Error::other("all numbers are taken"))
}

fn run_numbers(parent: &Path) -> io::Result<Vec<u32>> {
    let names: Vec<_> =
        fs::read_dir(parent)?.map(|entry| Ok(entry?.file_name())).collect::<io::Result<_>>()?;
    Ok(names.iter().filter_map(|name| name.to_str()?.parse().ok()).collect())
}

/// Keeps letters, digits, dashes, dots and underscores, so that any name is a harmless file name.
fn file_name(name: &str) -> String {
    let keep = |c: char| if c.is_alphanumeric() || "-_.".contains(c) { c } else { '-' };
    let kept: String = name.chars().map(keep).collect();
    let trimmed = kept.trim_matches(['.', '-']);
    if trimmed.is_empty() { "workspace".to_owned() } else { trimmed.to_owned() }
}

/// Writes a new key at `path` unless another process has done so. Nobody ever reads half a key.
fn make_hash_key(path: &Path) -> io::Result<()> {
    let partial = path.with_extension(format!("{}.partial", std::process::id()));
    private_files::write(&partial, HashKey::random().bytes())?;
    // A link, unlike a rename, never replaces the key of another process. File systems without links exist.
    let linked = match fs::hard_link(&partial, path) {
        Err(error) if error.kind() == ErrorKind::AlreadyExists => Ok(()),
        Err(_) => fs::rename(&partial, path),
        linked => linked,
    };
    // Best effort: a rename has removed it already.
    let _ = fs::remove_file(&partial);
    linked
}
