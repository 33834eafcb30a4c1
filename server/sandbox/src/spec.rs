//! Descriptions of sandboxes, as passed from process to process.

use std::collections::BTreeMap;
use std::fs::File;
use std::io::{self, Read as _, Write};
use std::path::{Component, Path, PathBuf};
use std::time::Duration;

use serde::{Deserialize, Serialize};

use crate::limits::Limits;

/// A file with other content in the copy of the workspace.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct ChangedFile {
    /// Path relative to the workspace. Its folder must exist or be creatable, and no part of it may be a link.
    pub path: PathBuf,
    /// The content.
    pub text: String,
}

/// Files that a command writes as its report.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum ReportFiles {
    /// One file, relative to the workspace.
    File(PathBuf),
    /// All files of a folder, relative to the workspace, with names that end like this.
    Folder(PathBuf, String),
    /// All files below a folder, relative to the workspace, with names that end like this.
    Tree(PathBuf, String),
}

/// A command in a sandbox.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct SandboxCommand {
    /// Program and arguments.
    pub words: Vec<String>,
    /// Folder relative to the workspace in which it runs.
    pub folder: PathBuf,
    /// Environment variables beside those of every command.
    pub env: BTreeMap<String, String>,
    /// Files to read afterwards. Those that exist before are removed first.
    pub reports: Vec<ReportFiles>,
    /// Wall time, if it is shorter than that of all commands.
    pub time_limit: Option<Duration>,
}

/// Input of the process in the sandbox that runs the command.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub(crate) struct InitSpec {
    pub(crate) words: Vec<String>,
    /// Absolute path of the workspace.
    pub(crate) workspace: PathBuf,
    /// Folder of the command, relative to the workspace.
    pub(crate) folder: PathBuf,
    /// All environment variables.
    pub(crate) env: BTreeMap<String, String>,
    pub(crate) reports: Vec<ReportFiles>,
    pub(crate) limits: Limits,
    /// Folders that may be written, for the kernel's own rules; `None` without confinement.
    pub(crate) writable: Option<Vec<PathBuf>>,
}

/// Input of the process that prepares a sandbox.
#[cfg(target_os = "linux")]
#[derive(Debug, Serialize, Deserialize)]
pub(crate) struct MountSpec {
    /// Id of the process that wants the sandbox, and with which it ends.
    pub(crate) parent: u32,
    /// An empty folder outside of every workspace; mounts on it are seen by the sandbox only.
    pub(crate) mount_point: PathBuf,
    /// The copy to use in place of an overlay.
    pub(crate) copy: Option<PathBuf>,
    /// Folders with a writable layer, beside the workspace: caches of build tools.
    pub(crate) caches: Vec<PathBuf>,
    /// Folders that can be read.
    pub(crate) readable: Vec<PathBuf>,
    /// The user's home, which is empty inside.
    pub(crate) home: PathBuf,
    pub(crate) changes: Vec<ChangedFile>,
    /// Path of bubblewrap.
    pub(crate) bubblewrap: PathBuf,
    /// Groups of processes with limits, to join first.
    pub(crate) cgroups: Vec<PathBuf>,
    pub(crate) init: InitSpec,
}

/// Byte on the standard input of the first process in a sandbox after which the command starts.
pub(crate) const START: u8 = b'\n';

/// Writes a description, preceded by its length in bytes, so that its reader leaves what follows to the next program.
pub(crate) fn write_framed(mut output: impl Write, text: &str) -> io::Result<()> {
    output.write_all(&(text.len() as u64).to_le_bytes())?;
    output.write_all(text.as_bytes())
}

/// Reads a [framed](write_framed) description.
pub(crate) fn read_framed(input: &mut File) -> io::Result<String> {
    let mut length = [0; 8];
    input.read_exact(&mut length)?;
    let length = u64::from_le_bytes(length);
    let mut text = String::new();
    let read = input.take(length).read_to_string(&mut text)?;
    if read as u64 == length { Ok(text) } else { Err(io::ErrorKind::UnexpectedEof.into()) }
}

/// Returns standard input without a buffer: a program that replaces this one reads on.
pub(crate) fn standard_input() -> io::Result<File> {
    #[cfg(unix)]
    return Ok(std::os::fd::AsFd::as_fd(&io::stdin()).try_clone_to_owned()?.into());
    #[cfg(windows)]
    return Ok(std::os::windows::io::AsHandle::as_handle(&io::stdin()).try_clone_to_owned()?.into());
}

/// Whether a path has only normal components, so that it stays below the folder that it is joined to.
pub(crate) fn is_inside(path: &Path) -> bool {
    path.components().all(|component| matches!(component, Component::Normal(_)))
}
