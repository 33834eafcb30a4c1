//! Cases from code: where files can be cut, which cuts are drawn, and what a cut looks like as a case.
//!
//! ```text
//! files --holes--> every place that a recipe allows --draw--> the suite's holes --cut--> cases
//! file at a cursor --cursor--> the hole of what stands there -------------------cut--> a case
//! ```
//!
//! Pure: the same files and seed give the same bytes, whatever the number of threads. Mining never reads a file, asks an engine or
//! looks at an answer.
#![deny(clippy::disallowed_methods)]

mod cursor;
mod cut;
mod draw;
mod holes;
mod parsed;
mod random;

use std::collections::BTreeMap;

use cases::{Case, Origin, Scenario};
use index::Index;
use rayon::prelude::*;
use syntax::SourceFile;

use crate::cut::Repository;

pub use crate::cursor::{NoCase, at_cursor};

/// The scenarios that can be mined, in the order of their share.
pub const SCENARIOS: [Scenario; 4] =
    [Scenario::FullBlock, Scenario::InnerBlock, Scenario::IncompleteSuffix, Scenario::Rag];

/// In which proportions block kinds are drawn.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Mix {
    /// Evenly over the seven kinds, as Codev-Bench does.
    Even,
    /// As people ask, by Codev-Bench's industrial log.
    RealUse,
}

/// What to mine.
#[derive(Clone, Debug)]
pub struct Options {
    /// Cases wanted.
    pub cases: usize,
    /// Seed of every choice.
    pub seed: u64,
    /// Scenarios to spread them over, some of [`SCENARIOS`].
    pub scenarios: Vec<Scenario>,
    /// Proportions of the block kinds.
    pub mix: Mix,
    /// Provenance that every case carries.
    pub origin: Origin,
}

/// What was mined.
#[derive(Clone, Debug)]
pub struct Mined {
    /// The cases, ordered by scenario, path and place.
    pub cases: Vec<Case>,
    /// Cases that could not be found, by scenario.
    pub missing: BTreeMap<Scenario, usize>,
}

/// Mines cases from `files`; `index` was built over the same files.
pub fn mine(files: &[SourceFile], index: &Index, options: &Options) -> Mined {
    let holes = files.par_iter().map(|file| holes::holes(file, options.seed)).collect::<Vec<_>>();
    let repository = Repository { files, searcher: index.searcher(&|_| false), origin: &options.origin };
    let drawn = draw::draw(&repository, &holes, options);
    let mut cases = drawn.cases;
    cases.sort_by(|a, b| {
        (a.scenario, &a.path, a.byte_range.start, &a.id).cmp(&(
            b.scenario,
            &b.path,
            b.byte_range.start,
            &b.id,
        ))
    });
    Mined { cases, missing: drawn.missing }
}
