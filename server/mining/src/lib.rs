//! Cases from code: where files can be cut, which cuts are drawn, and what a cut looks like as a case.
//!
//! ```text
//! files --holes--> every place that a recipe allows --draw--> the suite's holes --cut--> cases
//! files --cross_file--> names that only other files define ------------------draw, cut--> cases
//! file at a cursor --cursor--> the hole of what stands there -------------------cut--> a case
//! ```
//!
//! Pure: the same files, seed and judge give the same bytes, whatever the number of threads. Mining never reads a file and knows no
//! engine: whether a case is too easy is for a [`Judge`] to say.
#![deny(clippy::disallowed_methods)]

mod case_at_cursor;
mod cross_file;
mod cut_case;
mod holes;
mod parsed_file;
mod sample;
mod seeded_random;
mod unanswerable;

use std::collections::BTreeMap;
use std::sync::OnceLock;

use cases::{Case, Origin, Scenario, Variant};
use index::{CopyIndex, Index};
use rayon::prelude::*;
use syntax::{Projects, SourceFile};

use crate::cut_case::MiningRepository;

pub use crate::case_at_cursor::{NoCaseReason, case_at_cursor};
pub use crate::unanswerable::{LeftOut, UnanswerableReason};

/// The scenarios that can be mined.
pub const SCENARIOS: [Scenario; 5] = [
    Scenario::FullBlock,
    Scenario::InnerBlock,
    Scenario::IncompleteSuffix,
    Scenario::Rag,
    Scenario::CrossFile,
];

/// The code to mine.
#[derive(Clone, Copy, Debug)]
pub struct MiningInput<'a> {
    /// The files.
    pub files: &'a [SourceFile],
    /// Made of the same files.
    pub index: &'a Index,
    /// What the manifests beside them say.
    pub projects: &'a Projects,
    /// Copies among the same files; filled when they are first asked for, and of use to others afterwards.
    pub copies: &'a OnceLock<CopyIndex>,
}

/// Who says which `cross_file` cases can be answered from their own file alone; those are left out.
#[derive(Clone, Copy)]
pub struct Judge<'a> {
    /// Its name, which every case that it let pass carries.
    pub name: &'a str,
    /// Whether it answers the case rightly. Must depend on nothing but the case.
    pub is_right: &'a (dyn Fn(&Case) -> bool + Sync),
}

/// In which proportions block kinds are drawn.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Mix {
    /// Evenly over Codev-Bench's seven kinds, as it does; one in ten of what it calls statements is an import.
    Even,
    /// As people ask, by Codev-Bench's industrial log; imports as with [`Mix::Even`].
    RealUse,
}

/// What to mine.
#[derive(Clone, Debug)]
pub struct MiningOptions {
    /// Cases wanted.
    pub cases: usize,
    /// Seed of every choice.
    pub seed: u64,
    /// Scenarios to spread them over, some of [`SCENARIOS`].
    pub scenarios: Vec<Scenario>,
    /// Proportions of the block kinds.
    pub mix: Mix,
    /// Whether `cross_file` takes only the first use of each name in a file, as CrossCodeEval does, rather than every one.
    pub first_uses_only: bool,
    /// Provenance that every case carries.
    pub origin: Origin,
}

/// What was mined.
#[derive(Clone, Debug)]
pub struct MiningResult {
    /// The cases, ordered by scenario, path and place.
    pub cases: Vec<Case>,
    /// Cases that could not be found, by scenario.
    pub missing: BTreeMap<Scenario, usize>,
    /// Places of the scenarios that were asked for, among the files that were looked at, that are not made cases, by reason.
    pub left_out: LeftOut,
}

/// Mines cases. Without a judge, `cross_file` cases that their own file answers are kept.
pub fn mine(sources: &MiningInput<'_>, options: &MiningOptions, judge: Option<&Judge<'_>>) -> MiningResult {
    let repository = MiningRepository::new(sources, &options.origin);
    let holes = sources.files.par_iter().map(|file| holes::holes(file, options.seed)).collect::<Vec<_>>();
    let mut drawn = sample::sample_cases(&repository, &holes, options, judge);
    drawn.cases.sort_by(|a, b| sort_key(a).cmp(&sort_key(b)));
    drawn
}

fn sort_key(case: &Case) -> (Scenario, &str, usize, Option<Variant>, &str) {
    (case.scenario, &case.path, case.byte_range.start, case.variant, &case.id)
}
