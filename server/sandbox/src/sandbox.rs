//! Runs commands in throw-away copies of a workspace.

use std::path::{Path, PathBuf};
use std::process::Command;

use tempfile::TempDir;
use tokio_util::sync::CancellationToken;

use crate::confinement::{Confinement, ConfinementChoice};
use crate::limits::Limits;
use crate::outcome::CommandOutcome;
use crate::prepared_command::{PreparedCommand, SandboxProcess};
use crate::spec::{ChangedFile, InitSpec, SandboxCommand, is_inside};
use crate::temporary_folder;
use crate::tool_folders::ToolFolders;
use crate::workspace_copy::copy_workspace;

/// A command could not be run in the sandbox. It says nothing about the command.
#[derive(Debug, thiserror::Error)]
pub enum SandboxError {
    /// There is no confinement.
    #[error("{reason}")]
    Unavailable {
        /// Why, and the remedy.
        reason: String,
    },
    /// The workspace cannot be copied.
    #[error("cannot copy {}: {error}", path.display())]
    Copy {
        /// The workspace.
        path: PathBuf,
        /// The reason.
        error: std::io::Error,
    },
    /// A process cannot be started, or ended without an outcome.
    #[error("the sandbox failed: {reason}")]
    Failed {
        /// Its message.
        reason: String,
    },
    /// It was stopped before the command had ended.
    #[error("stopped")]
    Stopped,
    /// A changed file is not below the workspace.
    #[error("{} is not a path below the workspace", path.display())]
    Outside {
        /// The path.
        path: PathBuf,
    },
}

/// Options of a sandbox.
#[derive(Clone, Debug, Default)]
pub struct SandboxOptions {
    /// Whether it must confine.
    pub confinement: ConfinementChoice,
    /// Limits of each command.
    pub limits: Limits,
    /// Folders outside of the workspace that can be read, beside those of known tools.
    pub readable: Vec<PathBuf>,
    /// The program with the commands `sandbox-mount` and `sandbox-init`: this one, if it is `None`.
    pub program: Option<PathBuf>,
}

/// Runs commands over a workspace. Any number may run at a time, each in a copy of its own.
#[derive(Debug)]
pub struct Sandbox {
    workspace: PathBuf,
    confinement: Confinement,
    limits: Limits,
    program: PathBuf,
    home: PathBuf,
    tools: ToolFolders,
    /// An empty folder for mounts.
    mount_point: TempDir,
    /// Whether overlays work; else files are copied.
    has_overlays: bool,
    stop: CancellationToken,
}

impl Sandbox {
    /// Finds the confinement of this system and tries it.
    pub fn new(workspace: &Path, options: &SandboxOptions) -> Result<Sandbox, SandboxError> {
        let failed = |error: std::io::Error| SandboxError::Failed { reason: error.to_string() };
        let confinement = match options.confinement {
            ConfinementChoice::None => Confinement::None,
            ConfinementChoice::Required => {
                Confinement::of_system().map_err(|reason| SandboxError::Unavailable { reason })?
            }
        };
        let workspace = workspace
            .canonicalize()
            .map_err(|error| SandboxError::Copy { path: workspace.to_owned(), error })?;
        let home = home();
        let tools = ToolFolders::of_user(&home, &options.readable);
        let mut sandbox = Sandbox {
            workspace,
            confinement,
            limits: options.limits,
            program: options.program.clone().map_or_else(std::env::current_exe, Ok).map_err(failed)?,
            home,
            tools,
            mount_point: temporary_folder::create().map_err(failed)?,
            has_overlays: matches!(options.confinement, ConfinementChoice::Required)
                && cfg!(target_os = "linux"),
            stop: CancellationToken::new(),
        };
        sandbox.check()?;
        Ok(sandbox)
    }

    /// Kills commands once a token is cancelled: they are [stopped](SandboxError::Stopped).
    #[must_use]
    pub fn stopped_by(self, stop: CancellationToken) -> Sandbox {
        Sandbox { stop, ..self }
    }

    /// Returns the workspace, without links in its path.
    pub fn workspace(&self) -> &Path {
        &self.workspace
    }

    /// Returns the confinement.
    pub fn confinement(&self) -> &Confinement {
        &self.confinement
    }

    /// Whether a copy is an overlay, which takes no time.
    pub fn has_overlays(&self) -> bool {
        self.has_overlays
    }

    /// Runs a command in a copy of the workspace with some changed files. Blocks until it has ended.
    pub fn run(
        &self,
        changes: &[ChangedFile],
        command: &SandboxCommand,
    ) -> Result<CommandOutcome, SandboxError> {
        let prepared = self.prepare(changes, command)?;
        prepared.start();
        prepared.outcome()
    }

    /// Makes a copy of the workspace with some changed files for a command. Does not wait until it is made, if it is an overlay.
    pub fn prepare(
        &self,
        changes: &[ChangedFile],
        command: &SandboxCommand,
    ) -> Result<PreparedCommand, SandboxError> {
        let outside =
            changes.iter().map(|change| &change.path).chain([&command.folder]).find(|path| !is_inside(path));
        if let Some(path) = outside {
            return Err(SandboxError::Outside { path: path.clone() });
        }
        let copy = self.copy()?;
        let process = self.process(changes, command, copy)?;
        PreparedCommand::new(process, self.stop.clone())
    }

    /// Runs a command that does nothing, and does without overlays if the system has none.
    fn check(&mut self) -> Result<(), SandboxError> {
        temporary_folder::remove_stale();
        #[cfg(target_os = "linux")]
        crate::linux::cgroup::remove_stale();
        let nothing = SandboxCommand { words: vec!["true".to_owned()], ..SandboxCommand::default() };
        let Err(error) = self.run(&[], &nothing) else { return Ok(()) };
        if self.has_overlays {
            self.has_overlays = false;
            if self.run(&[], &nothing).is_ok() {
                return Ok(());
            }
        }
        Err(SandboxError::Unavailable {
            reason: format!(
                "{} does not work here: {error}; allow user namespaces, or allow running without a sandbox",
                self.confinement.name()
            ),
        })
    }

    fn copy(&self) -> Result<Option<TempDir>, SandboxError> {
        if self.has_overlays {
            return Ok(None);
        }
        let copied = copy_workspace(&self.workspace);
        copied.map(Some).map_err(|error| SandboxError::Copy { path: self.workspace.clone(), error })
    }

    fn limits_of(&self, command: &SandboxCommand) -> Limits {
        let time = command.time_limit.map_or(self.limits.time, |time| time.min(self.limits.time));
        Limits { time, ..self.limits }
    }

    fn init_spec(&self, command: &SandboxCommand, workspace: &Path) -> InitSpec {
        let mut env = self.tools.env.clone();
        env.insert("TMPDIR".to_owned(), "/tmp".to_owned());
        env.extend(command.env.clone());
        InitSpec {
            words: command.words.clone(),
            workspace: workspace.to_owned(),
            folder: command.folder.clone(),
            env,
            reports: command.reports.clone(),
            limits: self.limits_of(command),
            writable: None,
        }
    }

    /// Returns the process to start, with what must stay while it runs.
    #[cfg(target_os = "linux")]
    fn process(
        &self,
        changes: &[ChangedFile],
        command: &SandboxCommand,
        copy: Option<TempDir>,
    ) -> Result<SandboxProcess, SandboxError> {
        let time_limit = self.limits_of(command).time;
        let groups = crate::linux::cgroup::Cgroups::create(&self.limits);
        let Confinement::Bubblewrap(bubblewrap) = &self.confinement else {
            let (spec, process) = self.unconfined(changes, command, copy.as_ref())?;
            return Ok(SandboxProcess { command: process, spec, time_limit, groups, copy });
        };
        let mut init = self.init_spec(command, &self.workspace);
        let mut writable =
            vec![self.workspace.clone(), "/tmp".into(), "/var/tmp".into(), "/proc".into(), self.home.clone()];
        let caches = self.tools.caches.iter().filter(|_| self.has_overlays).cloned();
        let caches: Vec<PathBuf> = caches.filter(|cache| !cache.starts_with(&self.workspace)).collect();
        writable.extend(caches.iter().cloned());
        init.writable = Some(writable);
        let readable =
            self.tools.readable.iter().chain(self.tools.caches.iter().filter(|_| !self.has_overlays));
        let spec = crate::spec::MountSpec {
            parent: std::process::id(),
            mount_point: self.mount_point.path().to_owned(),
            copy: copy.as_ref().map(|copy| copy.path().to_owned()),
            caches,
            readable: readable.filter(|folder| !folder.starts_with(&self.workspace)).cloned().collect(),
            home: self.home.clone(),
            changes: changes.to_vec(),
            bubblewrap: bubblewrap.clone(),
            cgroups: groups.folders().to_vec(),
            init,
        };
        let mut process = Command::new(&self.program);
        process.arg(crate::MOUNT_COMMAND);
        crate::linux::die_with_parent(&mut process);
        Ok(SandboxProcess { command: process, spec: to_json(&spec)?, time_limit, groups, copy })
    }

    #[cfg(not(target_os = "linux"))]
    fn process(
        &self,
        changes: &[ChangedFile],
        command: &SandboxCommand,
        copy: Option<TempDir>,
    ) -> Result<SandboxProcess, SandboxError> {
        let time_limit = self.limits_of(command).time;
        let (spec, process) = self.unconfined(changes, command, copy.as_ref())?;
        #[cfg(target_os = "macos")]
        if self.confinement == Confinement::Seatbelt {
            let folder = copy.as_ref().map_or(&*self.workspace, TempDir::path);
            let readable: Vec<&Path> =
                self.tools.readable.iter().map(PathBuf::as_path).chain([folder]).collect();
            let writable = [folder, Path::new("/private/tmp"), Path::new("/private/var/folders")];
            let mut confined = crate::macos::command(&self.home, &readable, &writable);
            confined.arg(process.get_program()).args(process.get_args());
            return Ok(SandboxProcess { command: confined, spec, time_limit, groups: (), copy });
        }
        Ok(SandboxProcess { command: process, spec, time_limit, groups: (), copy })
    }

    /// Returns a process that runs the command in a copy, without confinement.
    fn unconfined(
        &self,
        changes: &[ChangedFile],
        command: &SandboxCommand,
        copy: Option<&TempDir>,
    ) -> Result<(String, Command), SandboxError> {
        let copy = copy.map_or(&*self.workspace, TempDir::path);
        for change in changes {
            let path = copy.join(&change.path);
            let written = path.parent().map_or(Ok(()), std::fs::create_dir_all).and_then(|()| {
                // A link may lead out of the copy.
                let _ = std::fs::remove_file(&path);
                std::fs::write(&path, &change.text)
            });
            written.map_err(|error| SandboxError::Copy { path: change.path.clone(), error })?;
        }
        let mut process = Command::new(&self.program);
        process.arg(crate::INIT_COMMAND);
        #[cfg(target_os = "linux")]
        crate::linux::die_with_parent(&mut process);
        Ok((to_json(&self.init_spec(command, copy))?, process))
    }
}

fn to_json(value: &impl serde::Serialize) -> Result<String, SandboxError> {
    serde_json::to_string(value).map_err(|error| SandboxError::Failed { reason: error.to_string() })
}

/// Returns the user's home, or a placeholder if there is none.
fn home() -> PathBuf {
    let home = std::env::var_os("HOME").map(PathBuf::from);
    home.filter(|home| home.is_absolute() && *home != Path::new("/"))
        .unwrap_or_else(|| "/home/sandbox".into())
}
