//! Measures the hits of each strategy for the cases of a suite against their truths.

use std::collections::{BTreeMap, HashSet};
use std::path::Path;

use cases::{Case, Metric, MetricValue, Metrics};
use index::{Hit, RetrievalQuery, Strategy, TokenBudget};
use scoring::retrieval_score::score_retrieval;
use scoring::{Observation, ScoringInput, TableRow};
use serde_json::{Value, json};
use syntax::Language;

use super::{Retrieval, budget, index, milliseconds, strategies};
use crate::args::RetrieveArgs;
use crate::exit::UsageError;
use crate::output::{self, count, print_message};
use crate::progress::Progress;
use crate::steps::embeddings::Embeddings;
use crate::steps::index::IndexedWorkspace;
use crate::views::retrieval::{StrategyRow, retrieval_tables};

/// Runs the strategies on every hole of the suite.
pub(super) fn run(
    suite: &Path,
    args: &RetrieveArgs,
    embeddings: Option<&mut Embeddings>,
) -> anyhow::Result<()> {
    let Some(workspace) = args.workspace.as_deref() else {
        let suite = output::path(suite);
        return Err(UsageError(format!(
            "{suite} holds cases, not the code to search; name its folder with --workspace"
        ))
        .into());
    };
    let cases = one_case_per_hole(replay::read_suite(suite)?)?;
    let indexed = index(workspace)?;
    warn_about_other_tree(&cases, &indexed);
    let strategies = strategies(args);
    let mut retrieval = Retrieval {
        searcher: indexed.index.index().searcher(&|_| false),
        projects: indexed.index.projects(),
        budget: TokenBudget { tokens: budget(args) as usize },
        embeddings,
    };
    let found = ask(&mut retrieval, &strategies, &cases);
    let table = table(&found, args.seed);
    let rows = |is_resolved| rows(&strategies, &table, is_resolved);
    let (resolved, unresolved) = (rows(true), rows(false));
    let text = if args.json {
        let report = json!({
            "suite": suite.display().to_string(),
            "cases": cases.len(),
            "budget": budget(args),
            "strategies": resolved.iter().map(json_row).collect::<Vec<_>>(),
            "unresolved": unresolved.iter().map(json_row).collect::<Vec<_>>(),
            "rows": found.iter().map(json_case_retrieval).collect::<Vec<_>>(),
        });
        format!("{report:#}\n")
    } else {
        retrieval_tables(&resolved, &unresolved, output::style())
    };
    Ok(output::print(&text)?)
}

/// Keeps one case per hole: the others differ only in their context. Drops cases with an empty truth, which have nothing to find.
/// Prints the numbers of dropped cases.
fn one_case_per_hole(mut cases: Vec<Case>) -> Result<Vec<Case>, UsageError> {
    let all = cases.len();
    cases.retain(|case| !case.truth.is_empty());
    let silent = all - cases.len();
    let mut seen = HashSet::new();
    cases.retain(|case| seen.insert(case.hole.clone()));
    let others = all - silent - cases.len();
    if cases.len() < all {
        let holes = count(cases.len(), "hole");
        print_message(&format!(
            "{holes} from {}: {others} repeat a hole, {silent} have nothing to find",
            count(all, "case")
        ));
    }
    if cases.is_empty() {
        return Err(UsageError("no case of the suite has anything to find".to_owned()));
    }
    Ok(cases)
}

fn warn_about_other_tree(cases: &[Case], indexed: &IndexedWorkspace) {
    let other = cases.iter().filter(|case| case.origin.tree_hash != indexed.code.state.tree_hash).count();
    if other > 0 {
        print_message(&format!(
            "{} cut from other code than the workspace's (another tree hash): their truths may have moved",
            count(other, "case")
        ));
    }
}

/// The hits of a strategy for a case.
struct CaseRetrieval<'a> {
    case: &'a Case,
    strategy: Strategy,
    items: usize,
    tokens: usize,
    ms: f64,
    metrics: Metrics,
}

fn ask<'a>(
    retrieval: &mut Retrieval<'_>,
    strategies: &[Strategy],
    cases: &'a [Case],
) -> Vec<CaseRetrieval<'a>> {
    let progress = Progress::new("searched", "cases");
    let mut found = Vec::new();
    for (done, case) in cases.iter().enumerate() {
        let language =
            Language::from_name(&case.language).expect("suites with other languages are refused on reading");
        let query = RetrievalQuery {
            path: &case.path,
            language,
            prefix: &case.prefix,
            suffix: &case.suffix,
            recent: &[],
        };
        for &strategy in strategies {
            let (hits, duration) = retrieval.ask(strategy, &query);
            found.push(CaseRetrieval {
                case,
                strategy,
                items: hits.len(),
                tokens: index::budget_tokens(&hits).iter().sum(),
                ms: milliseconds(duration),
                metrics: metrics(case, language, &hits),
            });
        }
        progress.set(done as u64 + 1, cases.len() as u64);
    }
    progress.finish(&count(cases.len(), "case"));
    found
}

fn metrics(case: &Case, language: Language, hits: &[Hit]) -> Metrics {
    let question = ScoringInput { language, prefix: &case.prefix, suffix: &case.suffix, truth: &case.truth };
    let texts: Vec<&str> = hits.iter().map(|hit| hit.text.as_str()).collect();
    let definitions = case.resolved_definitions();
    let shows_definition = definitions.map(|definitions| {
        definitions.iter().any(|place| hits.iter().any(|hit| hit.shows(&place.path, place.line)))
    });
    score_retrieval(&question, &texts).metrics(shows_definition)
}

/// Rows by strategy and by whether the language's rules resolve the names.
type RetrievalTable = BTreeMap<(&'static str, bool), TableRow>;

fn table(found: &[CaseRetrieval<'_>], seed: u64) -> RetrievalTable {
    let observation = |found: &CaseRetrieval<'_>| {
        let sizes = [(Metric::Items, found.items), (Metric::Tokens, found.tokens)];
        let sizes = sizes.map(|(metric, size)| (metric, MetricValue::Value(size as f64)));
        let metrics = found.metrics.clone().into_iter().chain(sizes).collect();
        Observation::new(found.case.hole.clone(), found.case.path.as_str(), metrics, Some(found.ms))
    };
    let observations: Vec<Observation<'_>> = found.iter().map(observation).collect();
    let keys = found.iter().map(|found| (found.strategy.name(), found.case.is_resolved()));
    scoring::summarize(keys.zip(&observations), seed)
}

/// Returns a table row for each strategy, in their order.
fn rows(strategies: &[Strategy], table: &RetrievalTable, is_resolved: bool) -> Vec<StrategyRow> {
    strategies
        .iter()
        .filter_map(|&strategy| Some(row(strategy, table.get(&(strategy.name(), is_resolved))?)))
        .collect()
}

fn row(strategy: Strategy, row: &TableRow) -> StrategyRow {
    let cell = |metric: Metric| row.cells.get(&metric).copied();
    StrategyRow {
        strategy: strategy.name().to_owned(),
        questions: row.cases,
        items: cell(Metric::Items),
        tokens: cell(Metric::Tokens),
        new_identifiers: cell(Metric::NewIdentifiers),
        any_new: cell(Metric::AnyNew),
        definition_hit: cell(Metric::DefinitionHit),
        copy: cell(Metric::Copy),
        latency: row.latency,
    }
}

fn json_row(row: &StrategyRow) -> Value {
    json!({
        "strategy": row.strategy,
        "cases": row.questions,
        "items": row.items.and_then(|cell| cell.mean()),
        "tokens": row.tokens.and_then(|cell| cell.mean()),
        "metrics": {
            (Metric::NewIdentifiers.name()): row.new_identifiers,
            (Metric::AnyNew.name()): row.any_new,
            (Metric::DefinitionHit.name()): row.definition_hit,
            (Metric::Copy.name()): row.copy,
        },
        "latency": row.latency,
    })
}

fn json_case_retrieval(found: &CaseRetrieval<'_>) -> Value {
    json!({
        "case": found.case.id,
        "hole": found.case.hole,
        "strategy": found.strategy.name(),
        "is_resolved": found.case.is_resolved(),
        "items": found.items,
        "tokens": found.tokens,
        "ms": found.ms,
        "metrics": found.metrics,
    })
}
