//! Throw-away copies of a workspace in which untrusted code runs: the tests that judge predictions.
//!
//! ```text
//! Sandbox::run --spec on stdin--> `ghostbench sandbox-mount` --exec--> bwrap --> `ghostbench sandbox-init` --> the command
//!      ^                          mounts the copy                      confines  limits, waits, kills            |
//!      +---------------------------- outcome and reports as JSON on stdout --------------------------------------+
//! ```
//!
//! On Linux the copy is an overlay whose changes are in memory, in a mount namespace of its own: it takes no time, and it is gone with the
//! last process. Elsewhere files are copied. The command never sees the network, the user's home or other processes, and its time,
//! memory, processes, output and disk are limited.
//!
//! Must never write to the workspace, nor leave a process, a mount or a file behind, also if it is killed itself. Output and files
//! of the command are data: nothing here believes them.

mod active_time;
mod confinement;
mod init;
mod judge_program;
mod limits;
#[cfg(target_os = "linux")]
mod linux;
#[cfg(target_os = "macos")]
mod macos;
mod outcome;
mod output_ends;
mod prepared_command;
mod runner;
mod sandbox;
mod spec;
mod temporary_folder;
mod tool_folders;
mod workspace_copy;

pub use confinement::{Confinement, ConfinementChoice};
pub use judge_program::{JudgeProgram, JudgeProgramError, ProgramVerdict};
pub use limits::Limits;
pub use outcome::{CommandOutcome, Exit, Report};
pub use prepared_command::PreparedCommand;
pub use runner::{
    CoveredLines, PreparedTests, TestResult, TestResults, TestRun, TestRunner, TestSelection, TestState,
};
pub use sandbox::{Sandbox, SandboxError, SandboxOptions};
pub use spec::{ChangedFile, ReportFiles, SandboxCommand};

/// Returns the memory of this machine in bytes, where the system says it.
pub fn memory_bytes() -> Option<u64> {
    let text = std::fs::read_to_string("/proc/meminfo").ok()?;
    let kilobytes =
        text.lines().find_map(|line| line.strip_prefix("MemTotal:"))?.trim().strip_suffix(" kB")?;
    kilobytes.parse::<u64>().ok()?.checked_mul(1024)
}

/// Name of the command of the program that prepares the sandbox; see [`run_mount`].
pub const MOUNT_COMMAND: &str = "sandbox-mount";

/// Name of the command of the program that runs inside of the sandbox; see [`run_init`].
pub const INIT_COMMAND: &str = "sandbox-init";

/// Prepares the sandbox described on standard input, and waits until it has ended. Must be called before any thread is started.
///
/// # Errors
///
/// A message: it cannot be prepared.
pub fn run_mount() -> Result<std::process::ExitStatus, String> {
    #[cfg(target_os = "linux")]
    return linux::mount_and_confine();
    #[cfg(not(target_os = "linux"))]
    return Err("only on Linux".to_owned());
}

/// Runs the command described in a file, or on standard input if there is none, and prints its outcome as JSON. It starts once a byte
/// follows on standard input.
///
/// # Errors
///
/// A message: the description cannot be read, or the command cannot be started.
pub fn run_init(spec: Option<&std::path::Path>) -> Result<(), String> {
    init::run(spec)
}
