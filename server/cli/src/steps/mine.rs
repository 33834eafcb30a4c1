//! Mining, without secrets in what comes out.

use cases::{Case, OriginKind, Scenario};
use mining::{Judge, Mix, Options};

use crate::args::{MiningArgs, MixArg};
use crate::exit::Usage;
use crate::output::{count, say};
use crate::progress::Progress;
use crate::steps::index::Indexed;
use crate::steps::judge::BuiltinJudge;

/// Mines cases as the arguments say.
pub(crate) fn mine(indexed: &Indexed, args: &MiningArgs) -> anyhow::Result<Vec<Case>> {
    if args.cases == 0 {
        return Err(Usage("--cases 0 leaves nothing to do; ask for at least one".to_owned()).into());
    }
    let progress = Progress::spin("mined");
    let judge = BuiltinJudge::new()?;
    let is_right = |case: &Case| judge.is_right(case);
    let judge = Judge { name: judge.name(), is_right: &is_right };
    let mined = mining::mine(&indexed.sources(), &options(indexed, args), Some(&judge));
    progress.finish(&count(mined.cases.len(), "case"));
    let mut cases = mined.cases;
    if cases.is_empty() {
        let message =
            "no block in these files can become a case; try more files or other scenarios (--scenario)";
        return Err(Usage(message.to_owned()).into());
    }
    for (scenario, missing) in &mined.missing {
        say(&shortage(*scenario, *missing));
    }
    let secrets: usize = cases.iter_mut().map(cases::redact_case).sum();
    if secrets > 0 {
        say(&format!("replaced {} in the cases", count(secrets, "secret")));
    }
    Ok(cases)
}

fn shortage(scenario: Scenario, missing: usize) -> String {
    let missing = count(missing, "case");
    let reason = match scenario {
        Scenario::CrossFile => "the files use no more names that only other ones of them define",
        _ => "the files hold no more",
    };
    format!("found {missing} fewer than asked for {scenario}: {reason}")
}

fn options(indexed: &Indexed, args: &MiningArgs) -> Options {
    let scenarios = mining::SCENARIOS.into_iter();
    Options {
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
