//! `ghostbench judge`: judges the answers of a run by unit tests.

use std::num::NonZeroUsize;
use std::path::Path;

use replay::{JudgingRules, RunContents};
use session::judge_jobs;

use crate::args::JudgeArgs;
use crate::exit::UsageError;
use crate::steps::index::{IndexedWorkspace, index};
use crate::steps::ray_cluster;
use crate::steps::ray_judge::{Judging, TestFiles};
use crate::steps::settings_sources::SettingsSources;
use crate::steps::show_run::{ReportOptions, score, show};
use crate::steps::test_judge::{JudgedRun, RunJudge, judge_run, open_judge};

/// Runs the command.
pub(crate) fn run(args: &JudgeArgs) -> anyhow::Result<()> {
    let contents = replay::read_run(&args.run)?;
    if contents.cases.iter().all(|case| case.tests.is_none()) {
        return Err(UsageError(
            "no case of this run has tests; make cases with tests by `ghostbench build codev-bench --with-tests`".to_owned(),
        )
        .into());
    }
    let workspace: &Path = &args.workspace;
    let sources = SettingsSources::new(args.settings.file.as_deref());
    let (tests, rules) = (sources.config(workspace)?.tests, args.rules());
    let (judge, indexed) = match &args.cluster.ray {
        None => {
            let judge = open_judge(workspace, &tests, &args.sandbox)?;
            let jobs = judge_jobs(args.judge_jobs, &tests);
            (RunJudge::Here { judge, jobs }, index(workspace)?)
        }
        Some(address) => judge_of_cluster(address, args, &sources, &contents, &rules)?,
    };
    let tree_hash = &indexed.code.state.tree_hash;
    let run = JudgedRun { folder: &args.run, contents: &contents, workspace, tree_hash, rules: &rules };
    judge_run(&run, &judge)?;
    let scores = score(&args.run, &contents);
    let showing = ReportOptions::in_run(&args.run, args.verdict, args.json, false);
    show(&args.run, &contents, &scores, &showing)?;
    Ok(())
}

/// Returns the judge on the cluster at an address, and the workspace.
fn judge_of_cluster(
    address: &str,
    args: &JudgeArgs,
    sources: &SettingsSources,
    contents: &RunContents,
    rules: &JudgingRules,
) -> anyhow::Result<(RunJudge, IndexedWorkspace)> {
    let indexed = index(&args.workspace)?;
    let files = TestFiles::list(&args.workspace, &args.cluster)?;
    let cluster = ray_cluster::agree(address, &args.cluster, Some(files.description()))?;
    let judging = Judging {
        cases: &contents.cases,
        rules,
        jobs: args.judge_jobs.map(NonZeroUsize::get),
        sandbox: args.sandbox,
        tree_hash: &indexed.code.state.tree_hash,
    };
    let judge = files.judge(&cluster, sources.files.read(Some(&args.workspace)), &judging)?;
    Ok((judge, indexed))
}
