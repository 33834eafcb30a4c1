//! Mines cases from code: finds holes, samples some of them, and cuts these into cases.
//!
//! ```text
//! files --hole_candidates--> number of holes by kind and cut --draw--> files and numbers --holes--> the suite's holes --cut--> cases
//! files --cross_file--> names that only other files define --------------draw, cut--> cases
//! file and cursor --cursor--> the hole at the cursor ------------------------cut--> a case
//! commit --history--> the holes of its hunks --------------------------------cut--> cases
//! ```
//!
//! Deterministic: the same files, seed and judge give the same bytes, for any number of threads. Mining never reads files and
//! does not depend on engines: a [`Judge`] decides whether a case is too easy.
#![deny(clippy::disallowed_methods)]

mod case_at_cursor;
mod cross_file;
mod cut_case;
pub mod history;
mod hole_candidates;
mod holes;
mod lazy_holes;
mod parsed_file;
mod sample;
mod seeded_random;
mod unanswerable;

use std::collections::BTreeMap;
use std::sync::OnceLock;

use cases::{Case, Origin, Scenario, Task};
use index::{CopyIndex, Index};
use rayon::prelude::*;
use syntax::{Projects, SourceFile};

use crate::cut_case::MiningRepository;
use crate::hole_candidates::HoleCounts;
use crate::lazy_holes::LazyHoles;

pub use crate::case_at_cursor::{NoCaseReason, UnitAtCursor, UnitFinder, case_at_cursor};
pub use crate::cut_case::context_item;
pub use crate::hole_candidates::HoleCandidates;
pub use crate::unanswerable::{LeftOut, UnanswerableReason};

/// The scenarios that can be mined.
pub const SCENARIOS: [Scenario; 5] = [
    Scenario::FullBlock,
    Scenario::InnerBlock,
    Scenario::IncompleteSuffix,
    Scenario::Rag,
    Scenario::CrossFile,
];

/// Code to mine.
#[derive(Clone, Copy, Debug)]
pub struct MiningInput<'a> {
    /// The files.
    pub files: &'a [SourceFile],
    /// Index of the same files.
    pub index: &'a Index,
    /// Projects according to the manifests beside the files.
    pub projects: &'a Projects,
    /// Copies among the same files; computed lazily and reusable by the caller.
    pub copies: &'a OnceLock<CopyIndex>,
    /// Candidates in each of the files, in their order.
    pub candidates: &'a [HoleCandidates],
}

/// Decides which `cross_file` cases can be answered from their own file alone; those are excluded.
#[derive(Clone, Copy)]
pub struct Judge<'a> {
    /// Its name, stored in every case that it did not answer.
    pub name: &'a str,
    /// Whether it answers the case correctly. Must depend only on the case.
    pub is_right: &'a (dyn Fn(&Case) -> bool + Sync),
}

/// Proportions of the sampled block kinds.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Mix {
    /// Evenly over Codev-Bench's seven kinds; a tenth of its statements are imports.
    Even,
    /// As in Codev-Bench's industrial log of real use; imports as with [`Mix::Even`].
    RealUse,
}

/// Options of mining.
#[derive(Clone, Debug)]
pub struct MiningOptions {
    /// Number of cases.
    pub cases: usize,
    /// Random seed.
    pub seed: u64,
    /// Scenarios, a subset of [`SCENARIOS`].
    pub scenarios: Vec<Scenario>,
    /// Proportions of the block kinds.
    pub mix: Mix,
    /// Whether `cross_file` uses only the first use of each name in a file, as CrossCodeEval does, instead of every use.
    pub first_uses_only: bool,
    /// Provenance of every case.
    pub origin: Origin,
}

/// Result of mining.
#[derive(Clone, Debug)]
pub struct MiningResult {
    /// Cases, ordered by scenario, path and position.
    pub cases: Vec<Case>,
    /// Number of cases that could not be found, by scenario.
    pub missing: BTreeMap<Scenario, usize>,
    /// Number of rejected holes of the requested scenarios in the examined files, by reason.
    pub left_out: LeftOut,
    /// Number of times a file was parsed.
    pub parses: usize,
}

/// Mines cases. Without a judge, `cross_file` cases that can be answered from their own file are kept.
pub fn mine(sources: &MiningInput<'_>, options: &MiningOptions, judge: Option<&Judge<'_>>) -> MiningResult {
    let repository = MiningRepository::new(sources, &options.origin);
    let count = |(file, candidates): (&SourceFile, &HoleCandidates)| {
        let counts = candidates.count(&file.path, options.seed);
        // Invalid candidates come from a damaged cache.
        let found = || HoleCandidates::new(file, &repository.parse(file)).count(&file.path, options.seed);
        counts.or_else(found).unwrap_or_default()
    };
    let counts: Vec<HoleCounts> = sources.files.par_iter().zip(sources.candidates).map(count).collect();
    let holes = LazyHoles::new(&repository, options.seed, &counts);
    let mut drawn = sample::sample_cases(&repository, &holes, options, judge);
    drawn.parses = repository.parses();
    drawn.cases.sort_by(|a, b| sort_key(a).cmp(&sort_key(b)));
    drawn
}

fn sort_key(case: &Case) -> (Scenario, &str, usize, Task, &str) {
    (case.scenario(), &case.path, case.byte_range.start, case.task, &case.id)
}
