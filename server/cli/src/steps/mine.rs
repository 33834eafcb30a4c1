//! Mines cases without secrets.

use std::collections::HashSet;

use cases::{Case, OriginKind, Scenario};
use mining::{HoleCandidates, Judge, MiningOptions, Mix};
use rayon::prelude::*;
use serde_json::Value;

use crate::args::{MiningArgs, MixArg};
use crate::exit::UsageError;
use crate::output::{count, print_message};
use crate::progress::Progress;
use crate::steps::builtin_judge::BuiltinJudge;
use crate::steps::index::IndexedWorkspace;

/// Mined cases without secrets.
pub(crate) struct MinedCases {
    /// The suite.
    pub(crate) cases: Vec<Case>,
    /// Number of skipped positions by reason, for `--json`.
    pub(crate) left_out: Value,
}

/// Mines cases with the given arguments.
pub(crate) fn mine(
    indexed: &IndexedWorkspace,
    candidates: &[HoleCandidates],
    args: &MiningArgs,
) -> anyhow::Result<MinedCases> {
    if args.cases == 0 {
        return Err(UsageError("--cases 0 selects no case; use at least 1".to_owned()).into());
    }
    let progress = Progress::spinner("mined");
    let judge = BuiltinJudge::new()?;
    let is_right = |case: &Case| judge.is_right(case);
    let judge = Judge { name: judge.name(), is_right: &is_right };
    let mined = mining::mine(&indexed.mining_sources(candidates), &options(indexed, args), Some(&judge));
    let holes = count_holes(mined.cases.iter());
    progress.finish(&format!("{} from {}", count(mined.cases.len(), "case"), count(holes, "hole")));
    let mut cases = mined.cases;
    if cases.is_empty() {
        return Err(no_cases_error(args).into());
    }
    if cases.len() > args.cases {
        print_message("cross_file cases come in threes, one hole with three kinds of context");
    }
    for (scenario, missing) in &mined.missing {
        print_message(&shortage(*scenario, *missing));
    }
    for (obstacle, left_out) in &mined.left_out {
        print_message(&format!("left out {}: {obstacle}", count(*left_out, "place")));
    }
    let secrets: usize = cases.par_iter_mut().map(cases::redact_case).sum();
    if secrets > 0 {
        print_message(&format!("replaced {} in the cases", count(secrets, "secret")));
    }
    let left_out = mined.left_out.iter().map(|(obstacle, left_out)| (obstacle.name(), *left_out));
    Ok(MinedCases { cases, left_out: left_out.collect() })
}

/// Counts the distinct holes of the cases; several cases can share one.
pub(crate) fn count_holes<'a>(cases: impl Iterator<Item = &'a Case>) -> usize {
    cases.map(|case| case.hole.as_str()).collect::<HashSet<_>>().len()
}

/// Returns the error for an empty suite.
fn no_cases_error(args: &MiningArgs) -> UsageError {
    let what = match &*args.scenarios {
        [Scenario::CrossFile] => "these files have no usable position whose name only another file defines",
        _ => "no block in these files can become a case",
    };
    UsageError(format!("{what}; try more files or other scenarios (--scenario)"))
}

fn shortage(scenario: Scenario, missing: usize) -> String {
    let missing = count(missing, "case");
    let reason = match scenario {
        Scenario::CrossFile => "the files use no more names that only other files define",
        _ => "the files have no more",
    };
    format!("found {missing} fewer than asked for {scenario}: {reason}")
}

fn options(indexed: &IndexedWorkspace, args: &MiningArgs) -> MiningOptions {
    let scenarios = mining::SCENARIOS.into_iter();
    MiningOptions {
        cases: args.cases,
        seed: args.seed,
        scenarios: scenarios
            .filter(|scenario| args.scenarios.is_empty() || args.scenarios.contains(scenario))
            .collect(),
        mix: match args.mix {
            MixArg::Even => Mix::Even,
            MixArg::RealUse => Mix::RealUse,
        },
        first_uses_only: true,
        origin: indexed.code.origin(OriginKind::Mined),
    }
}
