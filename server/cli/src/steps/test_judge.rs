//! The judge of the command line: its sandbox, by the settings of a workspace.

use std::path::Path;

use anyhow::Context;
use cluster::RayJudge;
use config::Tests;
use replay::{
    JudgedAnswers, JudgingJob, JudgingRules, LocalJudge, PatchRunner, RunContents, SandboxJudge, TestJudge,
};
use sandbox::ConfinementChoice;
use tokio_util::sync::CancellationToken;

use crate::args::SandboxArgs;
use crate::exit::InterruptedError;
use crate::interrupt::stop_token;
use crate::output::{count, print_message, shell_quoted};
use crate::progress::Progress;

/// Returns the judge over a workspace: the program of the settings, or a sandbox.
pub(crate) fn open_judge(workspace: &Path, tests: &Tests, args: &SandboxArgs) -> anyhow::Result<TestJudge> {
    let judge = session::open_judge(workspace, tests, confinement(*args), &CancellationToken::new());
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
    let judge = session::open_sandbox(workspace, tests, confinement(*args), &CancellationToken::new());
    let judge = judge.context("cannot run tests safely; see --no-sandbox")?;
    warn_of_no_sandbox(args);
    Ok(judge)
}

/// Returns the choice of the user.
pub(crate) fn confinement(args: SandboxArgs) -> ConfinementChoice {
    if args.no_sandbox { ConfinementChoice::None } else { ConfinementChoice::Required }
}

fn warn_of_no_sandbox(args: &SandboxArgs) {
    if args.no_sandbox {
        print_message("warning: without a sandbox, code that engines wrote runs with all your rights");
    }
}

/// Where answers are judged.
pub(crate) enum RunJudge {
    /// In this process.
    Here {
        /// The judge.
        judge: TestJudge,
        /// Number of sandboxes at a time.
        jobs: usize,
    },
    /// On a cluster.
    Cluster {
        /// The judge.
        judge: Box<RayJudge>,
        /// The options of the command line, for the command that resumes.
        options: String,
    },
}

/// A run to judge.
pub(crate) struct JudgedRun<'a> {
    /// The run's folder.
    pub(crate) folder: &'a Path,
    /// Its cases and answers.
    pub(crate) contents: &'a RunContents,
    /// The workspace of the tests.
    pub(crate) workspace: &'a Path,
    /// Hash of its files.
    pub(crate) tree_hash: &'a str,
    /// The rules.
    pub(crate) rules: &'a JudgingRules,
}

/// Judges the answers of a run that have no judgement yet.
pub(crate) fn judge_run(run: &JudgedRun<'_>, judge: &RunJudge) -> anyhow::Result<JudgedAnswers> {
    let JudgedRun { folder, contents, workspace, tree_hash, rules } = *run;
    let stop = stop_token().context("cannot listen for Ctrl-C")?;
    let progress = Progress::new("judged", "different answers");
    let local;
    let (runner, options): (&dyn PatchRunner, &str) = match judge {
        RunJudge::Here { judge, jobs } => {
            local = LocalJudge { judge, jobs: *jobs };
            (&local, "")
        }
        RunJudge::Cluster { judge, options } => (&**judge, options),
    };
    let job = JudgingJob { folder, contents, workspace, runner, tree_hash, rules, stop: &stop };
    let judged = replay::judge_answers(&job, |done, all| progress.set(done as u64, all as u64));
    let is_stopped = stop.is_cancelled();
    stop.cancel();
    let judged = judged?;
    progress.finish(&format!("{} of {}", judged.judged, count(judged.answers, "answer")));
    if is_stopped && judged.judged < judged.answers {
        let remedy = format!("Resume with: ghostbench judge {}{options}", shell_quoted(folder));
        return Err(InterruptedError { remedy }.into());
    }
    Ok(judged)
}
