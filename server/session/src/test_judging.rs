//! Judges by unit tests, as the settings of a workspace describe them.

use std::num::NonZeroUsize;
use std::path::Path;

use config::Tests;
use replay::{SandboxJudge, TestJudge, cores};
use sandbox::{ConfinementChoice, JudgeProgram, Limits, Sandbox, SandboxError, SandboxOptions, TestRunner};
use tokio_util::sync::CancellationToken;

/// Returns the judge over a workspace: the program of the settings, or a sandbox.
///
/// # Errors
///
/// There is no workspace, or no sandbox works here.
pub fn open_judge(
    workspace: &Path,
    tests: &Tests,
    confinement: ConfinementChoice,
    stop: &CancellationToken,
) -> Result<TestJudge, SandboxError> {
    let Some(words) = &tests.judge else {
        return Ok(TestJudge::Sandbox(Box::new(open_sandbox(workspace, tests, confinement, stop)?)));
    };
    let found = workspace.canonicalize();
    let workspace = found.map_err(|error| SandboxError::Copy { path: workspace.to_owned(), error })?;
    Ok(TestJudge::Program(JudgeProgram::new(words.clone(), workspace).stopped_by(stop.clone())))
}

/// Returns the judge that runs tests in a sandbox over a workspace.
///
/// # Errors
///
/// There is no workspace, or no sandbox works here.
pub fn open_sandbox(
    workspace: &Path,
    tests: &Tests,
    confinement: ConfinementChoice,
    stop: &CancellationToken,
) -> Result<SandboxJudge, SandboxError> {
    let options = SandboxOptions {
        confinement,
        limits: limits(tests),
        readable: tests.read.iter().cloned().collect(),
        program: None,
    };
    let sandbox = Sandbox::new(workspace, &options)?.stopped_by(stop.clone());
    Ok(SandboxJudge::new(sandbox, configured_runner(tests)))
}

/// Returns the runner of the settings.
pub fn configured_runner(tests: &Tests) -> Option<TestRunner> {
    let command = tests.command.clone()?;
    Some(TestRunner::of_command(command, tests.report.as_ref().map(Into::into)))
}

fn limits(tests: &Tests) -> Limits {
    Limits {
        time: tests.timeout,
        memory_bytes: u64::from(tests.memory_mb) << 20,
        disk_bytes: u64::from(tests.disk_mb) << 20,
        ..Limits::default()
    }
}

/// Returns the number of sandboxes at a time: the wanted number, or one for each core as far as the memory allows.
pub fn judge_jobs(wanted: Option<NonZeroUsize>, tests: &Tests) -> usize {
    let by_memory = sandbox::memory_bytes().map(|bytes| bytes / (u64::from(tests.memory_mb) << 20));
    let by_memory = by_memory.map_or(usize::MAX, |jobs| usize::try_from(jobs).unwrap_or(usize::MAX)).max(1);
    wanted.map_or_else(|| cores().min(by_memory), NonZeroUsize::get)
}
