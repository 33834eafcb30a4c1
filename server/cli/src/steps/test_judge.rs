//! The judge of the command line: its sandbox, by the settings of a workspace.

use std::num::NonZeroUsize;
use std::path::Path;

use anyhow::Context;
use config::Tests;
use replay::{JudgedAnswers, JudgingJob, RunContents, SandboxJudge, TestJudge, cores};
use sandbox::{ConfinementChoice, JudgeProgram, Limits, Sandbox, SandboxOptions, TestRunner};

use crate::args::SandboxArgs;
use crate::exit::InterruptedError;
use crate::interrupt::stop_token;
use crate::output::{count, print_message};
use crate::progress::Progress;

/// Returns the judge over a workspace: the program of the settings, or a sandbox.
pub(crate) fn open_judge(workspace: &Path, tests: &Tests, args: &SandboxArgs) -> anyhow::Result<TestJudge> {
    let Some(words) = &tests.judge else {
        return Ok(TestJudge::Sandbox(Box::new(open_sandbox(workspace, tests, args)?)));
    };
    let workspace =
        workspace.canonicalize().with_context(|| format!("cannot read {}", workspace.display()))?;
    Ok(TestJudge::Program(JudgeProgram::new(words.clone(), workspace)))
}

/// Returns the judge that runs tests in a sandbox over a workspace.
pub(crate) fn open_sandbox(
    workspace: &Path,
    tests: &Tests,
    args: &SandboxArgs,
) -> anyhow::Result<SandboxJudge> {
    let options = SandboxOptions {
        confinement: if args.no_sandbox { ConfinementChoice::None } else { ConfinementChoice::Required },
        limits: limits(tests),
        readable: tests.read.iter().cloned().collect(),
        program: None,
    };
    let sandbox = Sandbox::new(workspace, &options).context("cannot run tests safely; see --no-sandbox")?;
    if args.no_sandbox {
        print_message("warning: without a sandbox, code that engines wrote runs with all your rights");
    }
    Ok(SandboxJudge::new(sandbox, configured_runner(tests)))
}

/// Returns the runner of the settings.
pub(crate) fn configured_runner(tests: &Tests) -> Option<TestRunner> {
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
pub(crate) fn judge_jobs(wanted: Option<NonZeroUsize>, tests: &Tests) -> usize {
    let by_memory = sandbox::memory_bytes().map(|bytes| bytes / (u64::from(tests.memory_mb) << 20));
    let by_memory = by_memory.map_or(usize::MAX, |jobs| usize::try_from(jobs).unwrap_or(usize::MAX)).max(1);
    wanted.map_or_else(|| cores().min(by_memory), NonZeroUsize::get)
}

/// Judges the answers of a run that have no judgement yet.
pub(crate) fn judge_run(
    folder: &Path,
    contents: &RunContents,
    judge: &TestJudge,
    tree_hash: &str,
    jobs: usize,
) -> anyhow::Result<JudgedAnswers> {
    let stop = stop_token().context("cannot listen for Ctrl-C")?;
    let progress = Progress::new("judged", "different answers");
    let job = JudgingJob { folder, contents, judge, tree_hash, jobs, stop: &stop };
    let judged = replay::judge_answers(&job, |done, all| progress.set(done as u64, all as u64));
    let is_stopped = stop.is_cancelled();
    stop.cancel();
    let judged = judged?;
    progress.finish(&format!("{} of {}", judged.judged, count(judged.answers, "answer")));
    if is_stopped && judged.judged < judged.answers {
        let remedy = format!("Resume with: ghostbench judge {}", crate::output::shell_quoted(folder));
        return Err(InterruptedError { remedy }.into());
    }
    Ok(judged)
}
