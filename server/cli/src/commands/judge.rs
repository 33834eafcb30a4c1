//! `ghostbench judge`: judges the answers of a run by unit tests.

use session::judge_jobs;
use std::path::Path;

use crate::args::JudgeArgs;
use crate::exit::UsageError;
use crate::steps::index::index;
use crate::steps::settings_sources::SettingsSources;
use crate::steps::show_run::{ReportOptions, score, show};
use crate::steps::test_judge::{judge_run, open_judge};

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
    let tests = SettingsSources::new(args.settings.file.as_deref()).config(workspace)?.tests;
    let judge = open_judge(workspace, &tests, &args.sandbox)?;
    let indexed = index(workspace)?;
    let jobs = judge_jobs(args.judge_jobs, &tests);
    judge_run(&args.run, &contents, &judge, &args.rules(), (&indexed.code.state.tree_hash, jobs))?;
    let scores = score(&args.run, &contents);
    let showing = ReportOptions::in_run(&args.run, args.verdict, args.json, false);
    show(&args.run, &contents, &scores, &showing)?;
    Ok(())
}
