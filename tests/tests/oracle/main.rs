//! The oracle: an engine that answers the truth scores 100 %, and common mistakes of answers are repaired.
//!
//! Cases of every scenario and variant are mined from the heads of real histories (`GHOSTBENCH_HISTORIES`). Each is answered
//! with its truth, whole and in pieces, with LF and CRLF, and then with flawed versions of it, through the same pipeline that
//! editors use.

#![expect(
    clippy::print_stderr,
    reason = "the tables are what a reader of a failure needs, and a skip is said aloud"
)]

mod answers;
mod histories;
mod mined_cases;
mod pipeline;
mod table;

use std::collections::{BTreeMap, HashSet};

use rayon::prelude::*;

use crate::answers::{FLAWS, Flaw};
use crate::mined_cases::{MinedCase, mined_cases};
use crate::pipeline::{cleaned_answer, pieces};
use crate::table::Table;

/// Minimum number of cases, as required by the oracle's issue.
const MIN_CASES: usize = 10_000;
/// Minimum share of repaired answers of those for which the text around the cursor decides that they have a mistake.
const REPAIRED_SHARE: f64 = 0.99;
/// Number of failures shown per table.
const SHOWN_FAILURES: usize = 12;
const LANGUAGES: usize = 10;
/// One of this many cases is tested with each flaw.
const FLAW_SAMPLE_STEP: usize = 4;

#[test]
fn perfect_answers_are_shown_unchanged() {
    let Some(cases) = mined_cases() else { return };
    let languages: HashSet<&str> = cases.iter().map(|case| &*case.case.language).collect();
    if !histories::are_others() {
        assert_eq!(languages.len(), LANGUAGES, "{languages:?}");
        assert!(cases.len() >= MIN_CASES, "{}", cases.len());
    }

    let harmed: Vec<(&MinedCase, &str, String)> = cases.par_iter().flat_map(harmed_variants).collect();
    let ids: HashSet<&str> = harmed.iter().map(|(case, ..)| &*case.case.id).collect();
    let mut table = Table::default();
    cases.iter().for_each(|case| table.count(case, !ids.contains(&*case.case.id)));
    eprintln!("shown unharmed\n{table}");
    for (case, way, shown) in harmed.iter().step_by(step(harmed.len(), 2 * SHOWN_FAILURES)) {
        eprintln!("{}", case.failure(way, &case.case.truth, shown));
    }
    assert!(
        harmed.is_empty(),
        "{} answers to {} cases of {} were harmed",
        harmed.len(),
        ids.len(),
        cases.len()
    );
}

/// Selects about `shown` of `failures`, evenly spaced; all of them if `GHOSTBENCH_ORACLE_ALL` is set.
fn step(failures: usize, shown: usize) -> usize {
    if std::env::var_os("GHOSTBENCH_ORACLE_ALL").is_some() { 1 } else { failures.div_ceil(shown).max(1) }
}

/// Returns the variants of the truth that the pipeline changes.
fn harmed_variants(mined: &MinedCase) -> Vec<(&MinedCase, &'static str, String)> {
    let lf = mined.with_line_ends("\n");
    let crlf = mined.with_line_ends("\r\n");
    let own = (&*mined.case.prefix, &*mined.case.suffix, &*mined.case.truth);
    let ways = [
        ("as it is", own, vec![own.2.to_owned()]),
        ("in pieces", own, pieces(own.2, &mined.case.id)),
        ("LF in pieces", lf.parts(), pieces(&lf.truth, &mined.case.id)),
        ("CRLF in pieces", crlf.parts(), pieces(&crlf.truth, &mined.case.id)),
        ("LF for CRLF", crlf.parts(), vec![lf.truth.clone()]),
    ];
    let mut harmed = Vec::new();
    for (way, (prefix, suffix, truth), answer) in ways {
        let shown = cleaned_answer(mined.language, prefix, suffix, answer);
        if shown != truth {
            harmed.push((mined, way, shown));
        }
    }
    harmed
}

#[test]
fn known_flaws_in_answers_are_repaired() {
    let Some(cases) = mined_cases() else { return };
    let below: Vec<String> = FLAWS.iter().filter_map(|&flaw| repairs_too_few(flaw, &cases)).collect();
    assert!(below.is_empty(), "less than {REPAIRED_SHARE}: {}", below.join(", "));
}

/// Answers cases with a flaw and prints how many are repaired; returns the share if it is too low.
fn repairs_too_few(flaw: Flaw, cases: &[MinedCase]) -> Option<String> {
    let flawed = cases.par_iter().step_by(FLAW_SAMPLE_STEP);
    let flawed = flawed.filter_map(|case| Some((case, flaw.answer(case)?, flaw.undecided(case))));
    let (mut asked, mut undecided) = (Vec::new(), BTreeMap::<&str, usize>::new());
    for (case, answer, reason) in flawed.collect::<Vec<_>>() {
        match reason {
            Some(reason) => *undecided.entry(reason).or_default() += 1,
            None => asked.push((case, answer)),
        }
    }
    let name = flaw.name();
    for (reason, count) in undecided {
        eprintln!("{name}: not decided for {count}: {reason}");
    }
    let shown: Vec<String> = asked.par_iter().map(|(case, answer)| shown(case, answer)).collect();
    let share = report(flaw, &asked, &shown);
    (share < REPAIRED_SHARE).then(|| format!("{name} {share:.4}"))
}

fn shown(mined: &MinedCase, answer: &str) -> String {
    let pieces = answer.split_inclusive('\n').map(str::to_owned).collect();
    cleaned_answer(mined.language, &mined.case.prefix, &mined.case.suffix, pieces)
}

/// Prints the number of repaired answers and some of the others; returns the share of the repaired.
fn report(flaw: Flaw, asked: &[(&MinedCase, String)], shown: &[String]) -> f64 {
    let mut table = Table::default();
    let mut failures = Vec::new();
    for ((case, answer), shown) in asked.iter().zip(shown) {
        let is_repaired = *shown == case.case.truth;
        table.count(case, is_repaired);
        if !is_repaired {
            failures.push((case, answer, shown));
        }
    }
    eprintln!("{}\n{table}", flaw.name());
    for (case, answer, shown) in failures.iter().step_by(step(failures.len(), SHOWN_FAILURES)) {
        eprintln!("{}", case.failure(flaw.name(), answer, shown));
    }
    assert!(!asked.is_empty(), "no engine ran");
    table.share()
}
