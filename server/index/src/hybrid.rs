//! The strategies `symbols` and `hybrid`: definitions of the names in reach of a cursor, their usages in other files, and
//! similar code in other files.
//!
//! ```text
//! text around the cursor ──► Around (names by nearness, weighted terms)
//!   └► scope ──► owners in reach ──► candidates with features ──► ranked definitions ──► skeletons
//!                                                                        └──► usages of the same names
//!   └► weighted terms ──────────────► windows
//! ```
//!
//! A definition's score is a linear sum of features, fitted by `cargo xtask fit` as a listwise model: the probability that a
//! candidate is needed next is the softmax of its score over all candidates. All results share one budget.

use syntax::Projects;

use crate::copies::OwnLines;
use crate::resolve::{Facts, Resolver};
use crate::retrieve::{Budget, Query};
use crate::searcher::Searcher;
use crate::similar_lines::LineSet;
use crate::view::View;
use crate::{FileIndex, Hit};

mod around;
mod candidates;
mod features;
mod owners;
mod render;
mod skeletons;
mod usages;
mod weights;
mod windows;

pub use features::FEATURES;

use around::Around;
use candidates::{Candidate, Ranking};
use render::Shown;
use skeletons::Docs;
use windows::Window;

/// Name of the strategy with definitions only.
pub const SYMBOLS: &str = "symbols";
/// Name of the strategy with definitions, usages and windows.
pub const HYBRID: &str = "hybrid";

/// Shares of the budget, in percent of the whole; windows get the rest.
#[derive(Clone, Copy)]
struct Split {
    skeletons: usize,
    usages: usize,
}

/// Best for new identifiers and for code that can be copied, according to the strategy's design study and
/// `cargo xtask bench retrieval`.
const SPLIT: Split = Split { skeletons: 50, usages: 25 };
/// If the type before the dot is known, its members are the most important. The figures in docs/benchmarks.md include this; its
/// effect alone was not measured.
const SPLIT_OF_MEMBERS: Split = Split { skeletons: 55, usages: 25 };

/// Lines on either side of the cursor that are assumed to be visible to every engine.
const VISIBLE_LINES: usize = 60;
/// Number of windows whose names make a definition likelier.
const WINDOWS: usize = 40;
/// Maximum repetitions of the window search after near-duplicate files were excluded. Remaining ones only take up room.
const MAX_ROUNDS: usize = 4;

/// Number of definitions with documentation if nothing else is shown.
const DOCUMENTED: usize = 8;

/// Data of a query, gathered once.
struct Question<'a> {
    query: &'a Query<'a>,
    searcher: &'a Searcher,
    around: Around<'a>,
    windows: Vec<Window>,
    /// The lines around the cursor, which the engine sees anyway.
    visible: LineSet<'a>,
}

/// Requested parts of the context.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Parts {
    /// Only skeletons of definitions.
    Skeletons,
    /// All three.
    All,
}

/// Returns the hits for a cursor, most useful first.
pub(crate) fn answer(
    searcher: &Searcher,
    projects: &Projects,
    query: &Query<'_>,
    budget: Budget,
    parts: Parts,
) -> Vec<Hit> {
    with_ranking(searcher, projects, query, |question, resolver, ranking| match parts {
        Parts::Skeletons => question.skeletons(resolver, ranking, budget),
        Parts::All => question.all(resolver, ranking, budget),
    })
    .unwrap_or_default()
}

/// Ranks the definitions in reach of a cursor for `then`; `None` if the request was cancelled.
fn with_ranking<T>(
    searcher: &Searcher,
    projects: &Projects,
    query: &Query<'_>,
    then: impl for<'r> FnOnce(&Question<'_>, &Resolver<'r>, &Ranking<'r>) -> T,
) -> Option<T> {
    let go_on = || (!searcher.is_cancelled()).then_some(());
    let scope = syntax::scope(query.language, query.prefix);
    go_on()?;
    let around = Around::new(query, &scope);
    go_on()?;
    let (others, windows) = without_copies(searcher, query, &around);
    go_on()?;
    let question = Question::new(&others, query, around, windows);
    let here = Facts { path: query.path, language: query.language, outline: &scope.outline };
    let view = View::new(others.layers(), here);
    let resolver = Resolver::new(&view, projects);
    let ranking = candidates::rank(&question, &resolver, &scope);
    go_on()?;
    Some(then(&question, &resolver, &ranking))
}

/// Excludes near-duplicates of the open file: they match best everywhere, and contain nothing new. They are found by their
/// windows, which rank first. Returns the remaining windows.
fn without_copies(searcher: &Searcher, query: &Query<'_>, around: &Around<'_>) -> (Searcher, Vec<Window>) {
    let own = OwnLines::new(query);
    let mut others = searcher.clone();
    let mut windows = windows::best(&others, around, WINDOWS);
    for _ in 0..MAX_ROUNDS {
        if searcher.is_cancelled() {
            break;
        }
        let mut files: Vec<&FileIndex> = windows.iter().map(|window| &*window.file).collect();
        files.sort_unstable_by_key(|file| file.path());
        files.dedup_by_key(|file| file.path());
        let copies = files.into_iter().filter(|file| own.are_copied_by(file));
        let copies: Vec<&str> = copies.map(FileIndex::path).collect();
        if copies.is_empty() {
            break;
        }
        others = others.hide(&copies);
        windows = windows::best(&others, around, WINDOWS);
    }
    (others, windows)
}

impl<'a> Question<'a> {
    fn new(
        searcher: &'a Searcher,
        query: &'a Query<'a>,
        around: Around<'a>,
        windows: Vec<Window>,
    ) -> Question<'a> {
        let before = query.prefix.lines().rev().take(VISIBLE_LINES);
        let visible = LineSet::of_lines(before.chain(query.suffix.lines().take(VISIBLE_LINES)));
        Question { query, searcher, around, windows, visible }
    }

    /// Whether lines only repeat text around the cursor: a copy of the open file contains nothing new.
    fn is_known(&self, lines: &[render::Line]) -> bool {
        LineSet::of_lines(lines.iter().map(|(_, text)| text.as_str())).is_mostly_in(&self.visible)
    }

    fn skeletons<'r>(&self, resolver: &Resolver<'r>, ranking: &Ranking<'r>, budget: Budget) -> Vec<Hit> {
        let mut shown = Shown::new(budget);
        skeletons::show(resolver, ranking, Docs::OfFirst(DOCUMENTED), budget.bytes(), &mut shown);
        shown.into_hits(SYMBOLS)
    }

    fn all<'r>(&self, resolver: &Resolver<'r>, ranking: &Ranking<'r>, budget: Budget) -> Vec<Hit> {
        let split = if ranking.knows_receiver { SPLIT_OF_MEMBERS } else { SPLIT };
        let part = |percent| budget.bytes() * percent / 100;
        let mut shown = Shown::new(budget);
        skeletons::show(resolver, ranking, Docs::None, part(split.skeletons), &mut shown);
        usages::show(self, ranking, part(split.skeletons + split.usages), &mut shown);
        windows::show(self, &mut shown);
        shown.into_hits(HYBRID)
    }
}

/// Returns the weights of the features, in the order of [`FEATURES`].
pub fn weights() -> &'static [f32] {
    &weights::WEIGHTS
}

/// A candidate definition.
#[derive(Clone, Debug, PartialEq)]
pub struct RankedDefinition {
    /// Its file.
    pub path: String,
    /// Line of its name, 0-based.
    pub line: u32,
    /// Its name.
    pub name: String,
    /// Probability that it is needed next, among all candidates.
    pub probability: f32,
    /// Its features, in the order of [`FEATURES`].
    pub features: Vec<f32>,
}

impl Searcher {
    /// Returns the definitions in reach of a cursor, likeliest first.
    pub fn definitions(&self, projects: &Projects, query: &Query<'_>) -> Vec<RankedDefinition> {
        let ranked = |candidate: &Candidate<'_>| RankedDefinition {
            path: candidate.def.file.path.to_owned(),
            line: candidate.def.get().line,
            name: candidate.def.get().name.to_string(),
            probability: candidate.probability,
            features: candidate.features.0.to_vec(),
        };
        with_ranking(&self.hide(&[query.path]), projects, query, |_, _, ranking| {
            ranking.candidates.iter().map(ranked).collect()
        })
        .unwrap_or_default()
    }
}
