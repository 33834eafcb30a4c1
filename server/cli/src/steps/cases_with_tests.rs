//! The cases of a built benchmark that the repository's tests can judge.

use std::collections::BTreeMap;

use anyhow::Context;
use cases::Case;
use serde_json::Value;
use session::{configured_runner, judge_jobs};

use crate::args::BuildArgs;
use crate::exit::{InterruptedError, UsageError};
use crate::interrupt::stop_token;
use crate::steps::find_tests::{find_runner, judge_cases, run_tests, test_counts};
use crate::steps::settings_sources::SettingsSources;
use crate::steps::test_judge::open_sandbox;

/// Cases that tests can judge.
pub(crate) struct JudgedCases {
    /// The cases.
    pub(crate) cases: Vec<Case>,
    /// Numbers of tests.
    pub(crate) counts: Value,
}

/// Runs the repository's tests, and keeps the cases that they can judge.
pub(crate) fn with_tests(
    args: &BuildArgs,
    cases: Vec<Case>,
    left_out: &mut BTreeMap<String, usize>,
) -> anyhow::Result<JudgedCases> {
    let settings = SettingsSources::new(args.describe.settings.file.as_deref()).config(&args.path)?.tests;
    let runner = find_runner(&args.path, configured_runner(&settings))?;
    let judge = open_sandbox(&args.path, &settings, &args.tests.sandbox)?;
    let stop = stop_token().context("cannot listen for Ctrl-C")?;
    let tests = run_tests(&judge, runner, args.tests.test_runs)?;
    let jobs = judge_jobs(args.jobs, &settings);
    let found = judge_cases(&tests, &judge, cases, jobs, &stop)?;
    if stop.is_cancelled() {
        return Err(InterruptedError { remedy: "Nothing was written; start again".to_owned() }.into());
    }
    stop.cancel();
    if found.cases.is_empty() && !found.left_out.is_empty() {
        let reasons: Vec<_> =
            found.left_out.iter().map(|(reason, number)| format!("{reason}: {number}")).collect();
        let problem = format!("the tests can judge none of the blocks ({})", reasons.join("; "));
        return Err(UsageError(format!("{problem}; try more blocks with a larger --size")).into());
    }
    for (reason, number) in found.left_out {
        *left_out.entry(reason).or_default() += number;
    }
    Ok(JudgedCases { cases: found.cases, counts: test_counts(&tests) })
}
