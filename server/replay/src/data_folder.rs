//! Ghostbench's data folder: default location of everything that is stored. Nothing is written to workspaces.
//!
//! ```text
//! runs/<name>/1, 2, ...            runs, newest last
//! suites/<name>-<seed>.jsonl       mined suites
//! recorded/<name>-<hash>/          the suite recorded in one workspace
//! trials/<name>-<hash>/            the live trials of one workspace, and their store
//! hash-key                         the secret key for hashes of settings; readable only by its owner
//! ```
//!
//! Only the binary knows the platform's location of this folder.

use std::fs;
use std::io::{self, ErrorKind};
use std::path::{Path, PathBuf};

use cases::Prediction;
use engines::HashKey;

use crate::file_io::FileStamp;
use crate::{RecordedSuite, ReplayError, run_folder};

/// The file of a recorded suite in its folder.
const RECORDED_CASES: &str = "cases.jsonl";

/// Digits of a workspace's hash in its folder name: 48 bits distinguish the workspaces of one machine.
const HASH_DIGITS: usize = 12;

/// Maximum characters of a workspace's name in its folder name; file systems allow 255 bytes.
const NAME_LENGTH: usize = 40;

/// Number of runs that are searched for answers. Runs are frequent and kept; older ones are not worth the time to read them.
const LAST_RUNS: usize = 50;

/// The file of the key for hashes of settings.
const HASH_KEY_FILE: &str = "hash-key";

/// Ghostbench's data folder.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct DataFolder {
    root: PathBuf,
}

/// Snapshot of the files of a suite's last runs: equal stamps mean the same answers. Take it before reading the runs, so that
/// concurrent changes are detected next time.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct RunsStamp(Vec<(PathBuf, [FileStamp; 3])>);

impl DataFolder {
    /// Creates a handle of the folder at `root`; the folder is created on the first write.
    pub fn new(root: PathBuf) -> DataFolder {
        DataFolder { root }
    }

    /// Returns the machine's key for hashes of settings; creates it if missing.
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
        // Another process may have created the file, so every process reads it.
        let bytes = fs::read(&path).map_err(failed)?;
        let bytes = bytes.try_into().map_err(|_| failed(io::Error::other("it is not 32 bytes long")))?;
        Ok(HashKey::new(bytes))
    }

    /// Creates a numbered folder for a new run of `name`; later runs have higher numbers.
    pub fn new_run(&self, name: &str) -> Result<PathBuf, ReplayError> {
        let parent = self.runs(name);
        let claimed = private_files::own_folder(&self.root).and_then(|()| create_numbered_folder(&parent));
        claimed.map_err(|reason| ReplayError::Folder { path: parent, reason })
    }

    /// Returns the path of a suite of `name` mined with `seed`.
    pub fn suite(&self, name: &str, seed: u64) -> Result<PathBuf, ReplayError> {
        let parent = self.root.join("suites");
        let path = parent.join(format!("{}-{seed}.jsonl", file_name(name)));
        let made = [&self.root, &parent].into_iter().try_for_each(|folder| private_files::own_folder(folder));
        made.map_err(|reason| ReplayError::Folder { path: parent, reason })?;
        Ok(path)
    }

    /// Returns the suite recorded in a workspace. Its folder is named after the workspace's folder and a hash of its
    /// whole path, so that two workspaces called `app` do not share one. Nothing is created before the first case is added.
    pub fn recorded_suite(&self, workspace_root: &Path) -> RecordedSuite {
        let name = path_name(workspace_root);
        RecordedSuite::new(self.root.join("recorded").join(&name).join(RECORDED_CASES), name)
    }

    /// Returns the suite in a file of the user, such as an imported one. Its runs are named like those of a workspace.
    pub fn suite_of_file(&self, file: &Path) -> RecordedSuite {
        RecordedSuite::new(file.to_owned(), path_name(file))
    }

    /// Returns the folder of a workspace's live trials: their definition and their store. It is named as its recorded suite, and is not
    /// created.
    pub fn trial(&self, workspace_root: &Path) -> PathBuf {
        self.root.join("trials").join(path_name(workspace_root))
    }

    /// Returns a stamp that changes if the last runs of `name` change, by any process. Stats three files for each of at
    /// most 50 runs, without reading them; inaccessible files count as missing.
    pub fn runs_stamp(&self, name: &str) -> RunsStamp {
        let folders = self.last_runs(name).unwrap_or_default();
        RunsStamp(
            folders
                .into_iter()
                .map(|folder| {
                    let files = run_folder::growing_files(&folder).map(|path| FileStamp::of(&path));
                    (folder, files)
                })
                .collect(),
        )
    }

    /// Returns the answers of the newest run of `name` that can be read; none if there is no such run.
    pub fn newest_answers(&self, name: &str) -> Vec<Prediction> {
        let runs = self.last_runs(name).unwrap_or_default();
        let answers = runs.iter().find_map(|folder| run_folder::read_answers(folder).ok());
        answers.map_or_else(Vec::new, |(_, predictions)| predictions)
    }

    /// Returns the last 50 runs of `name`, newest first.
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

/// Creates the folder after the highest of `1`, `2`, ...; two processes never get the same one. Numbers of deleted runs
/// are not reused, because the newest run must have the highest number.
pub(crate) fn create_numbered_folder(parent: &Path) -> io::Result<PathBuf> {
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

pub(crate) fn run_numbers(parent: &Path) -> io::Result<Vec<u32>> {
    let names: Vec<_> =
        fs::read_dir(parent)?.map(|entry| Ok(entry?.file_name())).collect::<io::Result<_>>()?;
    Ok(names.iter().filter_map(|name| name.to_str()?.parse().ok()).collect())
}

/// Returns the name of a workspace or a suite in this folder: its last part and a hash of its whole path.
fn path_name(path: &Path) -> String {
    let root = path.canonicalize().unwrap_or_else(|_| path.to_owned());
    let folder = root.file_name().map(|name| name.to_string_lossy()).unwrap_or_default();
    let hash = blake3::hash(root.as_os_str().as_encoded_bytes()).to_hex();
    // Runs are named after this folder, and a dot would look like the start of an extension.
    let folder: String = file_name(&folder).replace('.', "-").chars().take(NAME_LENGTH).collect();
    format!("{folder}-{}", &hash[..HASH_DIGITS])
}

/// Replaces everything but letters, digits, dashes, dots and underscores, so that any name is a safe file name.
fn file_name(name: &str) -> String {
    let kept: String =
        name.chars().map(|c| if c.is_alphanumeric() || "-_.".contains(c) { c } else { '-' }).collect();
    let trimmed = kept.trim_matches(['.', '-']);
    if trimmed.is_empty() { "workspace".to_owned() } else { trimmed.to_owned() }
}

/// Writes a new key at `path` unless another process has done so. Readers never see an incomplete key.
fn make_hash_key(path: &Path) -> io::Result<()> {
    match private_files::create_atomically(path, HashKey::random().bytes()) {
        Err(error) if error.kind() == ErrorKind::AlreadyExists => Ok(()),
        created => created,
    }
}
