//! The strategies `symbols` and `hybrid`: definitions of the names in reach of a cursor, their usages in other files, and
//! similar code in other files.
//!
//! ```text
//! text around the cursor ──► CursorTerms (names by nearness, weighted terms)
//!   └► scope ──► owners in reach ──► candidates with features ──► ranked definitions ──► skeletons
//!                                                                        └──► usages of the same names
//!   └► weighted terms ──────────────► windows (meanwhile, on another thread)
//! ```
//!
//! The terms need little of the scope, and that is mostly the same as in the last request: the imports and the function around the cursor.
//! So the windows are searched for before the scope is known, and again if it turns out to differ in that.
//!
//! A definition's score is a linear sum of features, fitted by `cargo xtask fit` as a listwise model: the probability that a
//! candidate is needed next is the softmax of its score over all candidates. All results share one budget.

use syntax::{Projects, Scope};

use crate::Hit;
use crate::line_set::LineSet;
use crate::name_view::NameView;
use crate::near_duplicate_files::OpenFileLines;
use crate::resolver::{FileNames, Resolver};
use crate::retrieve::{RetrievalQuery, TokenBudget};
use crate::searcher::Searcher;

mod cursor_terms;
mod definition_ranking;
mod features;
mod hit_collector;
mod reachable;
mod similar_windows;
mod skeletons;
mod usages;
mod weights;

pub use features::FEATURES;

use cursor_terms::{CursorTerms, have_same_terms};
use definition_ranking::{DefinitionCandidate, DefinitionRanking};
use hit_collector::HitCollector;
use reachable::{ReachableEntities, reachable_entities};
use similar_windows::{FoundWindows, SimilarWindow, WindowSearch};
use skeletons::DocPolicy;

/// Name of the strategy with definitions only.
pub const SYMBOLS: &str = config::Strategy::Symbols.name();
/// Name of the strategy with definitions, usages and windows.
pub const HYBRID: &str = config::Strategy::Hybrid.name();

/// Shares of the budget, in percent of the whole; windows get the rest.
#[derive(Clone, Copy)]
struct BudgetSplit {
    skeletons: usize,
    usages: usize,
}

/// Best for new identifiers and for code that can be copied, according to the strategy's design study and
/// `cargo xtask bench retrieval`.
const SPLIT: BudgetSplit = BudgetSplit { skeletons: 50, usages: 25 };
/// If the type before the dot is known, its members are the most important. The figures in docs/benchmarks.md include this; its
/// effect alone was not measured.
const SPLIT_OF_MEMBERS: BudgetSplit = BudgetSplit { skeletons: 55, usages: 25 };

/// Lines on either side of the cursor that are assumed to be visible to every engine.
const VISIBLE_LINES: usize = 60;

/// Number of definitions with documentation if nothing else is shown.
const DOCUMENTED_DEFINITIONS: usize = 8;

/// Data of a query, gathered once.
struct HybridQuery<'a> {
    query: &'a RetrievalQuery<'a>,
    searcher: &'a Searcher,
    cursor_terms: CursorTerms<'a>,
    windows: Vec<SimilarWindow>,
    /// The lines around the cursor, which the engine sees anyway.
    visible: LineSet<'a>,
}

/// Requested parts of the context.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum ContextParts {
    /// Only skeletons of definitions.
    Skeletons,
    /// All three.
    All,
}

/// Returns the hits for a cursor, most useful first.
pub(crate) fn retrieve_hybrid(
    searcher: &Searcher,
    projects: &Projects,
    query: &RetrievalQuery<'_>,
    budget: TokenBudget,
    parts: ContextParts,
) -> Vec<Hit> {
    with_ranking(searcher, projects, query, |question, resolver, ranking| match parts {
        ContextParts::Skeletons => question.skeletons(resolver, ranking, budget),
        ContextParts::All => question.all(resolver, ranking, budget),
    })
    .unwrap_or_default()
}

/// The terms around a cursor in a scope, and the begun search for windows with them.
struct TermSearch<'a> {
    scope: &'a Scope,
    around: CursorTerms<'a>,
    windows: WindowSearch<'a>,
}

impl<'a> TermSearch<'a> {
    fn start(searcher: &'a Searcher, query: &'a RetrievalQuery<'a>, scope: &'a Scope) -> TermSearch<'a> {
        let around = CursorTerms::new(searcher, query, scope);
        let windows = WindowSearch::start(searcher, around.sorted_weights());
        TermSearch { scope, around, windows }
    }
}

/// Ranks the definitions in reach of a cursor for `then`; `None` if the request was cancelled.
///
/// The entities in reach do not depend on the windows, so both are found at the same time.
fn with_ranking<T>(
    searcher: &Searcher,
    projects: &Projects,
    query: &RetrievalQuery<'_>,
    then: impl for<'r> FnOnce(&HybridQuery<'_>, &Resolver<'r>, &DefinitionRanking<'r>) -> T,
) -> Option<T> {
    let go_on = || (!searcher.is_cancelled()).then_some(());
    let last = searcher.last_scope(query.language);
    let early = last.as_deref().map(|last| TermSearch::start(searcher, query, last));
    let scope = searcher.scope(query.language, query.prefix);
    go_on()?;
    let TermSearch { around, windows, .. } = early
        .filter(|early| have_same_terms(early.scope, &scope))
        .unwrap_or_else(|| TermSearch::start(searcher, query, &scope));
    go_on()?;
    let own = OpenFileLines::new(query);
    let here = FileNames::Open { path: query.path, language: query.language, outline: &scope.outline };
    let view = NameView::new(searcher.layers(), here);
    let resolver = Resolver::new(&view, projects);
    let in_reach = reachable_entities(searcher, &around, &resolver, &scope);
    let FoundWindows { windows, without_copies } = windows.finish(&own);
    go_on()?;
    let Some(others) = without_copies else {
        return HybridQuery::new(searcher, query, around, windows).with_ranking(&resolver, in_reach, then);
    };
    // The copies were in reach, too.
    let around = around.for_other_files();
    let view = NameView::new(others.layers(), here);
    let resolver = Resolver::new(&view, projects);
    let in_reach = reachable_entities(&others, &around, &resolver, &scope);
    HybridQuery::new(&others, query, around, windows).with_ranking(&resolver, in_reach, then)
}

impl<'a> HybridQuery<'a> {
    fn new(
        searcher: &'a Searcher,
        query: &'a RetrievalQuery<'a>,
        around: CursorTerms<'a>,
        windows: Vec<SimilarWindow>,
    ) -> HybridQuery<'a> {
        let before = query.prefix.lines().rev().take(VISIBLE_LINES);
        let visible = LineSet::of_lines(before.chain(query.suffix.lines().take(VISIBLE_LINES)));
        HybridQuery { query, searcher, cursor_terms: around, windows, visible }
    }

    /// Ranks the definitions of the entities in reach for `then`; `None` if the request was cancelled.
    fn with_ranking<'r, T>(
        &self,
        resolver: &Resolver<'r>,
        in_reach: ReachableEntities<'r>,
        then: impl FnOnce(&HybridQuery<'_>, &Resolver<'r>, &DefinitionRanking<'r>) -> T,
    ) -> Option<T> {
        let ranking = definition_ranking::rank(self, resolver, in_reach);
        (!self.searcher.is_cancelled()).then(|| then(self, resolver, &ranking))
    }

    /// Whether lines only repeat text around the cursor: a copy of the open file contains nothing new.
    fn is_known(&self, lines: &[hit_collector::NumberedLine]) -> bool {
        LineSet::of_lines(lines.iter().map(|(_, text)| text.as_str())).is_mostly_in(&self.visible)
    }

    fn skeletons<'r>(
        &self,
        resolver: &Resolver<'r>,
        ranking: &DefinitionRanking<'r>,
        budget: TokenBudget,
    ) -> Vec<Hit> {
        let mut shown = HitCollector::new(budget);
        skeletons::show(
            resolver,
            ranking,
            DocPolicy::OfFirst(DOCUMENTED_DEFINITIONS),
            budget.bytes(),
            &mut shown,
        );
        shown.into_hits(SYMBOLS)
    }

    fn all<'r>(
        &self,
        resolver: &Resolver<'r>,
        ranking: &DefinitionRanking<'r>,
        budget: TokenBudget,
    ) -> Vec<Hit> {
        let split = if ranking.knows_receiver { SPLIT_OF_MEMBERS } else { SPLIT };
        let part = |percent| budget.bytes() * percent / 100;
        let mut shown = HitCollector::new(budget);
        skeletons::show(resolver, ranking, DocPolicy::None, part(split.skeletons), &mut shown);
        usages::show(self, ranking, part(split.skeletons + split.usages), &mut shown);
        similar_windows::show(self, &mut shown);
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
    pub fn definitions(&self, projects: &Projects, query: &RetrievalQuery<'_>) -> Vec<RankedDefinition> {
        let ranked = |candidate: &DefinitionCandidate<'_>| RankedDefinition {
            path: candidate.def.file.path().to_owned(),
            line: candidate.def.definition().line,
            name: candidate.def.definition().name.to_string(),
            probability: candidate.probability,
            features: candidate.features.0.to_vec(),
        };
        with_ranking(&self.hide(&[query.path]), projects, query, |_, _, ranking| {
            ranking.candidates.iter().map(ranked).collect()
        })
        .unwrap_or_default()
    }
}
