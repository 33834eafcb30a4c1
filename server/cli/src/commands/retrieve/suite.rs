//! Measures the hits of each strategy for the cases of a suite against their truths.

use std::collections::{BTreeMap, HashSet};
use std::path::Path;

use cases::Case;
use index::{Hit, RetrievalQuery, Strategy, TokenBudget};
use report::terminal::StrategyRow;
use scoring::retrieval_score::{ANY_NEW, COPY, DEFINITION_HIT, NEW_IDENTIFIERS, score_retrieval};
use scoring::{Grouping, MetricTable, MetricValue, Metrics, Observation, ScoringInput, TableRow};
use serde_json::{Value, json};
use syntax::Language;

use super::{Retrieval, budget, index, milliseconds, strategies};
use crate::args::RetrieveArgs;
use crate::exit::UsageError;
use crate::output::{self, count, print_message};
use crate::progress::Progress;
use crate::steps::embeddings::Embeddings;
use crate::steps::index::IndexedWorkspace;

/// Dimensions of the tables.
const STRATEGY: &str = "strategy";
const IS_RESOLVED: &str = "is_resolved";

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
    let rows = |is_resolved| rows(&strategies, &found, &table, is_resolved);
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
        report::terminal::retrieval_tables(&resolved, &unresolved, output::style())
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

fn table(found: &[CaseRetrieval<'_>], seed: u64) -> MetricTable {
    let observation = |found: &CaseRetrieval<'_>| Observation {
        case: found.case.hole.clone(),
        cluster: found.case.path.clone(),
        labels: BTreeMap::from([
            (STRATEGY.to_owned(), found.strategy.name().to_owned()),
            (IS_RESOLVED.to_owned(), found.case.is_resolved().to_string()),
        ]),
        metrics: found.metrics.clone(),
        latency: Some(found.ms),
    };
    let observations: Vec<Observation> = found.iter().map(observation).collect();
    let grouping = Grouping { apart: vec![STRATEGY.to_owned(), IS_RESOLVED.to_owned()], pooled: Vec::new() };
    scoring::summarize(&observations, &grouping, seed)
}

/// Returns a table row for each strategy, in their order.
fn rows(
    strategies: &[Strategy],
    found: &[CaseRetrieval<'_>],
    table: &MetricTable,
    resolved: bool,
) -> Vec<StrategyRow> {
    let key = |strategy: Strategy| [Some(strategy.name().to_owned()), Some(resolved.to_string())];
    let named = |strategy| table.rows.iter().find(move |row| row.key == key(strategy));
    let of = |strategy: Strategy| -> Vec<&CaseRetrieval<'_>> {
        found
            .iter()
            .filter(|found| found.strategy == strategy && found.case.is_resolved() == resolved)
            .collect()
    };
    strategies.iter().filter_map(|&strategy| Some(row(strategy, &of(strategy), named(strategy)?))).collect()
}

fn row(strategy: Strategy, found: &[&CaseRetrieval<'_>], row: &TableRow) -> StrategyRow {
    let cell = |name: &str| row.cells.get(name).map(report::CellView::from);
    let mean = |count: fn(&CaseRetrieval<'_>) -> usize| {
        found.iter().map(|found| count(found)).sum::<usize>() as f64 / row.cases.max(1) as f64
    };
    StrategyRow {
        strategy: strategy.name().to_owned(),
        questions: row.cases,
        items: mean(|found| found.items),
        tokens: mean(|found| found.tokens),
        new_identifiers: cell(NEW_IDENTIFIERS),
        any_new: cell(ANY_NEW),
        definition_hit: cell(DEFINITION_HIT),
        copy: cell(COPY),
        latency: row.latency.map(report::LatencyView::from),
    }
}

fn json_row(row: &StrategyRow) -> Value {
    json!({
        "strategy": row.strategy,
        "cases": row.questions,
        "items": row.items,
        "tokens": row.tokens,
        "metrics": {
            NEW_IDENTIFIERS: row.new_identifiers,
            ANY_NEW: row.any_new,
            DEFINITION_HIT: row.definition_hit,
            COPY: row.copy,
        },
        "latency": row.latency,
    })
}

fn json_case_retrieval(found: &CaseRetrieval<'_>) -> Value {
    let metrics: BTreeMap<&str, Value> =
        found.metrics.iter().map(|(name, &value)| (name.as_str(), json_metric(value))).collect();
    json!({
        "case": found.case.id,
        "hole": found.case.hole,
        "strategy": found.strategy.name(),
        "is_resolved": found.case.is_resolved(),
        "items": found.items,
        "tokens": found.tokens,
        "ms": found.ms,
        "metrics": metrics,
    })
}

/// Formats a metric as in a score.
fn json_metric(value: MetricValue) -> Value {
    match value {
        MetricValue::Value(value) => json!(value),
        MetricValue::Ratio { num, den } => json!({ "num": num, "den": den }),
    }
}
