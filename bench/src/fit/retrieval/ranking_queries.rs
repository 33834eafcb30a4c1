//! Training data of the retrieval model.

use std::collections::HashSet;

use cases::{Case, DEFINED_TAG, DefinitionLocation, RESOLVED_TAG};
use index::hybrid::RankedDefinition;
use index::{RetrievalQuery, Searcher};
use syntax::Language;

use crate::measure::MinedRepository;

/// Maximum candidates of a question; hardly any has more.
const MAX_CANDIDATES: usize = 2_500;

/// A cursor with its candidates.
pub(crate) struct RankingQuery {
    pub(crate) candidates: Vec<RankingCandidate>,
    /// Whether name resolution finds the used definition.
    pub(crate) is_resolved: bool,
}

/// A candidate definition.
pub(crate) struct RankingCandidate {
    pub(crate) features: Vec<f32>,
    /// Whether it is the definition used next.
    pub(crate) is_used: bool,
    /// Whether its name is written next for the first time.
    pub(crate) is_named: bool,
}

/// Returns the questions of a repository, each with and without the text after the cursor.
pub(crate) fn ranking_queries(mined: &MinedRepository) -> Vec<RankingQuery> {
    let searcher = mined.searcher();
    let cases = mined.first_uses().iter();
    cases
        .flat_map(|case| {
            [question(mined, &searcher, case, &case.suffix), question(mined, &searcher, case, "")]
        })
        .collect()
}

fn question(mined: &MinedRepository, searcher: &Searcher, case: &Case, suffix: &str) -> RankingQuery {
    let language = Language::from_name(&case.language).unwrap_or(mined.language());
    let query = RetrievalQuery { path: &case.path, language, prefix: &case.prefix, suffix, recent: &[] };
    let defined = case.tags.get(DEFINED_TAG).map(|tag| DefinitionLocation::from_tag(tag)).unwrap_or_default();
    let before: HashSet<&str> = index::identifiers(language, &case.prefix).collect();
    let new: HashSet<&str> =
        index::identifiers(language, &case.truth).filter(|name| !before.contains(name)).collect();
    let candidate = |ranked: RankedDefinition| RankingCandidate {
        is_used: defined.iter().any(|place| place.path == ranked.path && place.line == ranked.line),
        is_named: new.contains(ranked.name.as_str()),
        features: ranked.features,
    };
    let ranked = searcher.definitions(mined.projects(), &query);
    RankingQuery {
        candidates: ranked.into_iter().take(MAX_CANDIDATES).map(candidate).collect(),
        is_resolved: case.tags.get(RESOLVED_TAG).is_some_and(|resolved| resolved == "yes"),
    }
}
