//! Every strategy at every cursor, evaluated.

use std::fmt::Write;

use cases::{Case, DefinitionLocation, ENTITY_TAG};
use rayon::prelude::*;
use scoring::ScoringInput;
use scoring::retrieval_score::{RetrievalScore, score_retrieval};
use syntax::Language;

use super::CHARACTERS_PER_TOKEN;
use super::mined_repository::MinedRepository;
use super::strategies::{RetrievalVariant, Retriever, ShownContext};

/// Whether a file uses a name for the first time.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum UseOrder {
    First,
    Later,
}

/// Output of one strategy at one cursor.
pub(super) struct StrategyResult {
    /// Unique over all repositories; the same for all strategies.
    pub(super) case: String,
    pub(super) repo: &'static str,
    pub(super) language: Language,
    pub(super) place: String,
    pub(super) entity: String,
    pub(super) use_order: UseOrder,
    /// Whether name resolution finds the definition.
    pub(super) is_resolved: bool,
    pub(super) variant: RetrievalVariant,
    /// Whether a shown line defines the name, as found by name resolution.
    pub(super) is_defined: bool,
    pub(super) retrieval_score: RetrievalScore,
    /// Characters shown, in tokens.
    pub(super) tokens: f64,
    pub(super) milliseconds: f64,
}

/// Runs every strategy on the repository's cases, on one core, so that times are those of a single query.
pub(super) fn ask(mined: &MinedRepository) -> Vec<StrategyResult> {
    let retriever = Retriever::new(mined);
    let first = mined.first.iter().map(|case| (UseOrder::First, case));
    let later = mined.later.iter().map(|case| (UseOrder::Later, case));
    first.chain(later).flat_map(|(used, case)| rows(mined, &retriever, used, case)).collect()
}

fn rows(
    mined: &MinedRepository,
    retriever: &Retriever<'_>,
    used: UseOrder,
    case: &Case,
) -> Vec<StrategyResult> {
    let language = Language::from_name(&case.language).unwrap_or(mined.language());
    let shown = RetrievalVariant::ALL.map(|asked| (asked, retriever.show(asked, language, case)));
    let tag = |name: &str| case.tags.get(name).cloned().unwrap_or_default();
    let question = ScoringInput { language, prefix: &case.prefix, suffix: &case.suffix, truth: &case.truth };
    let definitions = case.resolved_definitions();
    let row = |(asked, shown): &(RetrievalVariant, ShownContext)| {
        let code: Vec<&str> = shown.code.iter().map(String::as_str).collect();
        StrategyResult {
            case: format!("{}/{}", mined.name(), case.id),
            repo: mined.name(),
            language: mined.language(),
            place: format!("{}:{}", case.path, case.line + 1),
            entity: tag(ENTITY_TAG),
            use_order: used,
            is_resolved: definitions.is_some(),
            variant: *asked,
            is_defined: definitions.iter().flatten().any(|place| is_shown(shown, place)),
            retrieval_score: score_retrieval(&question, &code),
            tokens: shown.characters as f64 / CHARACTERS_PER_TOKEN as f64,
            milliseconds: shown.took.as_secs_f64() * 1e3,
        }
    };
    shown.par_iter().map(row).collect()
}

fn is_shown(shown: &ShownContext, place: &DefinitionLocation) -> bool {
    shown.lines.iter().any(|(path, line)| **path == *place.path && *line == place.line)
}

/// Renders all rows as comma-separated values.
pub(super) fn csv(rows: &[StrategyResult]) -> String {
    let mut out =
        "case,repo,place,entity,use,resolved,strategy,defined,new,found,new_beyond,found_beyond,copy,tokens,ms\n"
            .to_owned();
    for row in rows {
        let StrategyResult {
            case,
            repo,
            place,
            entity,
            use_order: used,
            is_resolved,
            is_defined,
            retrieval_score: worth,
            tokens,
            milliseconds,
            ..
        } = row;
        let RetrievalScore { new_identifiers: new, new_beyond_suffix: beyond, copy_with_file, .. } = worth;
        writeln!(
            out,
            "{case},{repo},\"{place}\",\"{entity}\",{used:?},{is_resolved},\"{}\",{is_defined},{},{},{},{},{copy_with_file:.4},\
             {tokens:.0},{milliseconds:.3}",
            row.variant.name(),
            new.den,
            new.num,
            beyond.den,
            beyond.num,
        )
        .expect("a string takes everything");
    }
    out
}
