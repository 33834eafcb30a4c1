//! The temporary folder of a simulation: a workspace under git, the files of the server, and the trial that runs.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::time::{Duration, SystemTime, UNIX_EPOCH};

use cases::{Opportunity, TrialArm, TrialDefinition, TrialMode};
use replay::DataFolder;
use serde_json::json;
use tempfile::TempDir;
use trial::StoreReader;
use trial::store::{STORE_FILE, StoreFilter};

use crate::SimulationSettings;
use crate::error::SimulationError;

/// Name of the trial.
pub(crate) const TRIAL: &str = "simulated";
/// The engine that is shown.
pub(crate) const FAST: &str = "fast";
/// An engine in shadow that is often right.
pub(crate) const RIVAL: &str = "rival";
/// An engine in shadow that is slow.
const SLOW: &str = "slow";
/// Its delay: longer than several keys take.
const SLOW_DELAY: Duration = Duration::from_secs(2);
/// Its delay with a simulated clock, under which keys take milliseconds.
const SIMULATED_SLOW_DELAY: Duration = Duration::from_millis(20);
/// The branch with the files as they were before the developer changed them.
const OTHER_BRANCH: &str = "other";
/// Its answer.
const SLOW_ANSWER: &str = "slow_answer()";
/// A temporary folder, which is removed when it is dropped.
#[derive(Debug)]
pub(crate) struct Scratch {
    folder: TempDir,
}

impl Scratch {
    /// Creates the folder.
    pub(crate) fn new(settings: &SimulationSettings) -> Result<Scratch, SimulationError> {
        let folder = TempDir::with_prefix("ghostbench-simulation-");
        let folder = folder.map_err(|source| SimulationError::File { path: std::env::temp_dir(), source })?;
        let scratch = Scratch { folder };
        scratch.write(&scratch.workspace().join("README.md"), "Simulated.\n")?;
        scratch.write(&scratch.suggestion(FAST), "")?;
        scratch.write(&scratch.suggestion(RIVAL), "")?;
        scratch.write(&scratch.suggestion(SLOW), SLOW_ANSWER)?;
        scratch.write(&scratch.config(), &engines(&scratch, settings))?;
        let trial = trial::definition::write_definition(&scratch.trial(), &definition());
        trial.map_err(|error| SimulationError::Definition(error.to_string()))?;
        let now = SystemTime::now();
        scratch.git(&["init", "--quiet"], now)?;
        scratch.commit("first", now)?;
        Ok(scratch)
    }

    /// Returns the root of the workspace.
    pub(crate) fn workspace(&self) -> PathBuf {
        self.path("workspace")
    }

    /// Returns the file with an engine's next answer.
    pub(crate) fn suggestion(&self, engine: &str) -> PathBuf {
        self.path(engine)
    }

    /// Returns the command that starts the server.
    pub(crate) fn server(&self, settings: &SimulationSettings) -> Command {
        self.server_with_data(settings, self.path("data"))
    }

    /// Returns the command that starts a server in the same workspace that knows nothing of the trial.
    pub(crate) fn server_without_trial(&self, settings: &SimulationSettings) -> Command {
        self.server_with_data(settings, self.path("other-data"))
    }

    fn server_with_data(&self, settings: &SimulationSettings, data: PathBuf) -> Command {
        let mut command = Command::new(&settings.program);
        command.args(["lsp", "--log-level", "warn", "--config"]).arg(self.config());
        if !settings.is_real_time {
            command.arg("--simulated-clock");
        }
        command.current_dir(self.workspace());
        for variable in ["XDG_DATA_HOME", "APPDATA"] {
            command.env(variable, &data);
        }
        let other =
            ["HOME", "USERPROFILE", "XDG_CONFIG_HOME", "XDG_CACHE_HOME", "XDG_STATE_HOME", "LOCALAPPDATA"];
        for variable in other {
            command.env(variable, self.path("home"));
        }
        command
    }

    /// Writes a file, with its folders.
    pub(crate) fn write(&self, path: &Path, text: &str) -> Result<(), SimulationError> {
        let folder = path.parent().unwrap_or(path);
        let written = fs::create_dir_all(folder).and_then(|()| fs::write(path, text));
        written.map_err(|source| SimulationError::File { path: path.to_owned(), source })
    }

    /// Renames a file.
    pub(crate) fn rename(&self, from: &Path, to: &Path) -> Result<(), SimulationError> {
        fs::rename(from, to).map_err(|source| SimulationError::File { path: to.to_owned(), source })
    }

    /// Removes a folder of the workspace. Returns the paths of its files in the workspace.
    pub(crate) fn remove_folder(&self, folder: &str) -> Result<Vec<String>, SimulationError> {
        let root = self.workspace().join(folder);
        let failed = |source| SimulationError::File { path: root.clone(), source };
        let mut files = Vec::new();
        let mut folders = vec![folder.to_owned()];
        while let Some(folder) = folders.pop() {
            for entry in fs::read_dir(self.workspace().join(&folder)).map_err(failed)? {
                let entry = entry.map_err(failed)?;
                let path = format!("{folder}/{}", entry.file_name().to_string_lossy());
                let is_folder = entry.file_type().map_err(failed)?.is_dir();
                if is_folder { folders.push(path) } else { files.push(path) }
            }
        }
        fs::remove_dir_all(&root).map_err(failed)?;
        Ok(files)
    }

    /// Commits all saved files.
    pub(crate) fn commit(&self, message: &str, date: SystemTime) -> Result<(), SimulationError> {
        self.git(&["add", "--all"], date)?;
        self.git(&["commit", "--quiet", "--allow-empty", "--message", message], date)
    }

    /// Replaces the last commit by one with another message.
    pub(crate) fn amend(&self, message: &str, date: SystemTime) -> Result<(), SimulationError> {
        self.git(&["commit", "--quiet", "--amend", "--allow-empty", "--message", message], date)
    }

    /// Sets the other branch to the last commit.
    pub(crate) fn branch(&self, date: SystemTime) -> Result<(), SimulationError> {
        self.git(&["branch", "--force", OTHER_BRANCH], date)
    }

    /// Checks out the other branch.
    pub(crate) fn check_out_other(&self, date: SystemTime) -> Result<(), SimulationError> {
        self.git(&["checkout", "--quiet", OTHER_BRANCH], date)
    }

    /// Checks out the branch that was checked out before.
    pub(crate) fn check_out_previous(&self, date: SystemTime) -> Result<(), SimulationError> {
        self.git(&["checkout", "--quiet", "-"], date)
    }

    /// Rewrites the commits that are not in the other branch, on top of it.
    pub(crate) fn rebase(&self, date: SystemTime) -> Result<(), SimulationError> {
        self.git(&["rebase", "--quiet", OTHER_BRANCH], date)
    }

    /// Returns the text of a file of the workspace; `None` if there is none.
    pub(crate) fn read(&self, path: &str) -> Option<String> {
        fs::read_to_string(self.workspace().join(path)).ok()
    }

    /// Returns the number of stored rows; 0 before there is a store.
    pub(crate) fn stored(&self) -> Result<u64, SimulationError> {
        let path = self.trial().join(STORE_FILE);
        if !path.is_file() {
            return Ok(0);
        }
        Ok(StoreReader::open(&path)?.count(&StoreFilter::default())?)
    }

    /// Returns all stored rows, oldest first.
    pub(crate) fn rows(&self) -> Result<Vec<Opportunity>, SimulationError> {
        let reader = StoreReader::open(&self.trial().join(STORE_FILE))?;
        let rows = reader.read_all(&StoreFilter::default())?;
        Ok(rows.into_iter().map(|row| row.opportunity).collect())
    }

    fn trial(&self) -> PathBuf {
        DataFolder::new(self.path("data").join("ghostbench")).trial(&self.workspace())
    }

    fn config(&self) -> PathBuf {
        self.path("config.toml")
    }

    fn path(&self, name: &str) -> PathBuf {
        // The server resolves links in the paths of folders.
        let folder = self.folder.path();
        folder.canonicalize().unwrap_or_else(|_| folder.to_owned()).join(name)
    }

    fn git(&self, arguments: &[&str], date: SystemTime) -> Result<(), SimulationError> {
        let identity = ["-c", "user.name=simulated", "-c", "user.email=simulated@localhost"];
        let plain = ["-c", "commit.gpgSign=false", "-c", "core.hooksPath=/dev/null", "-c", "gc.auto=0"];
        let mut command = Command::new("git");
        command.args(identity).args(plain).args(arguments).current_dir(self.workspace());
        let date = date.duration_since(UNIX_EPOCH).unwrap_or_default().as_secs();
        command.env("GIT_COMMITTER_DATE", format!("@{date} +0000"));
        let failed = |message| SimulationError::Git { command: arguments.join(" "), message };
        let output = command.output().map_err(|error| failed(error.to_string()))?;
        match output.status.success() {
            true => Ok(()),
            false => Err(failed(String::from_utf8_lossy(&output.stderr).trim().to_owned())),
        }
    }
}

/// The settings of the server: engines whose programs are this one.
fn engines(scratch: &Scratch, settings: &SimulationSettings) -> String {
    let slow = if settings.is_real_time { SLOW_DELAY } else { SIMULATED_SLOW_DELAY };
    let engine = |name: &str, delay: Duration| {
        let (program, delay) = (settings.program.display().to_string(), delay.as_millis().to_string());
        let file = scratch.suggestion(name).display().to_string();
        let command =
            json!([program, "trial", "simulate", "--answer-with", file, "--answer-after-ms", delay]);
        format!("[[engine]]\nname = \"{name}\"\nkind = \"command\"\ncommand = {command}\n")
    };
    [engine(FAST, Duration::ZERO), engine(RIVAL, Duration::ZERO), engine(SLOW, slow)].concat()
}

fn definition() -> TrialDefinition {
    let arm = |name: &str| TrialArm::new(name.to_owned());
    let arms = vec![arm(FAST), arm(RIVAL), arm(SLOW)];
    TrialDefinition::new(TRIAL.to_owned(), TrialMode::Shadow, arms, "2026-01-01T00:00:00Z".to_owned())
}
