//! The judge of the command line: its sandbox, by the settings of a workspace.

use std::path::Path;

use anyhow::Context;
use config::Tests;
use replay::{JudgedAnswers, JudgingJob, JudgingRules, RunContents, SandboxJudge, TestJudge};
use sandbox::ConfinementChoice;
use tokio_util::sync::CancellationToken;

use crate::args::SandboxArgs;
use crate::exit::InterruptedError;
use crate::interrupt::stop_token;
use crate::output::{count, print_message};
use crate::progress::Progress;

/// Returns the judge over a workspace: the program of the settings, or a sandbox.
pub(crate) fn open_judge(workspace: &Path, tests: &Tests, args: &SandboxArgs) -> anyhow::Result<TestJudge> {
    let judge = session::open_judge(workspace, tests, confinement(args), &CancellationToken::new());
    let judge = judge.context("cannot run tests safely; see --no-sandbox")?;
    if matches!(judge, TestJudge::Sandbox(_)) {
        warn_of_no_sandbox(args);
    }
    Ok(judge)
}

/// Returns the judge that runs tests in a sandbox over a workspace.
pub(crate) fn open_sandbox(
    workspace: &Path,
    tests: &Tests,
    args: &SandboxArgs,
) -> anyhow::Result<SandboxJudge> {
    let judge = session::open_sandbox(workspace, tests, confinement(args), &CancellationToken::new());
    let judge = judge.context("cannot run tests safely; see --no-sandbox")?;
    warn_of_no_sandbox(args);
    Ok(judge)
}

fn confinement(args: &SandboxArgs) -> ConfinementChoice {
    if args.no_sandbox { ConfinementChoice::None } else { ConfinementChoice::Required }
}

fn warn_of_no_sandbox(args: &SandboxArgs) {
    if args.no_sandbox {
        print_message("warning: without a sandbox, code that engines wrote runs with all your rights");
    }
}

/// Judges the answers of a run that have no judgement yet.
pub(crate) fn judge_run(
    folder: &Path,
    contents: &RunContents,
    judge: &TestJudge,
    rules: &JudgingRules,
    (tree_hash, jobs): (&str, usize),
) -> anyhow::Result<JudgedAnswers> {
    let stop = stop_token().context("cannot listen for Ctrl-C")?;
    let progress = Progress::new("judged", "different answers");
    let job = JudgingJob { folder, contents, judge, tree_hash, rules, jobs, stop: &stop };
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
