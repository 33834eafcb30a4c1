//! What the model is fitted to.

use std::collections::HashSet;

use cases::{Case, DEFINED_TAG, DefinedAt, RESOLVED_TAG};
use index::hybrid::RankedDefinition;
use index::{Query, Searcher};
use syntax::Language;

use crate::measure::Mined;

/// Candidates of a question that are kept; hardly any has more.
const MAX_CANDIDATES: usize = 2_500;

/// A cursor with what may be needed there.
pub(crate) struct Question {
    pub(crate) candidates: Vec<Candidate>,
    /// Whether the rules of the language lead to what is used.
    pub(crate) is_resolved: bool,
}

/// A definition in reach.
pub(crate) struct Candidate {
    pub(crate) features: Vec<f32>,
    /// Whether it is what is used next.
    pub(crate) is_used: bool,
    /// Whether its name is written next, and was not before.
    pub(crate) is_named: bool,
}

/// The questions of a repository, each asked with what stands after the cursor and without.
pub(crate) fn of(mined: &Mined) -> Vec<Question> {
    let searcher = mined.searcher();
    let cases = mined.first_uses().iter();
    cases
        .flat_map(|case| {
            [question(mined, &searcher, case, &case.suffix), question(mined, &searcher, case, "")]
        })
        .collect()
}

fn question(mined: &Mined, searcher: &Searcher, case: &Case, suffix: &str) -> Question {
    let language = Language::from_name(&case.language).unwrap_or(mined.language());
    let query = Query { path: &case.path, language, prefix: &case.prefix, suffix, recent: &[] };
    let defined = case.tags.get(DEFINED_TAG).map(|tag| DefinedAt::from_tag(tag)).unwrap_or_default();
    let before: HashSet<&str> = index::identifiers(language, &case.prefix).collect();
    let new: HashSet<&str> =
        index::identifiers(language, &case.truth).filter(|name| !before.contains(name)).collect();
    let candidate = |ranked: RankedDefinition| Candidate {
        is_used: defined.iter().any(|place| place.path == ranked.path && place.line == ranked.line),
        is_named: new.contains(ranked.name.as_str()),
        features: ranked.features,
    };
    let ranked = searcher.definitions(mined.projects(), &query);
    Question {
        candidates: ranked.into_iter().take(MAX_CANDIDATES).map(candidate).collect(),
        is_resolved: case.tags.get(RESOLVED_TAG).is_some_and(|resolved| resolved == "yes"),
    }
}
