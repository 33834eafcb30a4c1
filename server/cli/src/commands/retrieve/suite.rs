//! What each strategy finds for the cases of a suite, measured against their truths.

use std::collections::{BTreeMap, HashSet};
use std::path::Path;

use cases::{Case, DEFINED_TAG, DefinedAt, RESOLVED_TAG};
use index::{Budget, Hit, Query, Strategy};
use report::terminal::StrategyRow;
use scoring::retrieval::worth;
use scoring::{Grouping, MetricValue, Metrics, Observation, Question, Row};
use syntax::Language;

use super::{Retrieval, index, milliseconds, strategies, tokens};
use crate::args::RetrieveArgs;
use crate::exit::Usage;
use crate::output::{self, count, say};
use crate::progress::Progress;
use crate::steps::embeddings::Embeddings;
use crate::steps::index::Indexed;

/// Names of the metrics, in `--json` too.
const NEW_IDENTIFIERS: &str = "new_identifiers";
const ANY_NEW: &str = "any_new";
const DEFINITION_HIT: &str = "definition_hit";
const COPY: &str = "copy";

/// The dimension of the table.
const STRATEGY: &str = "strategy";

/// Asks about every hole of the suite.
pub(super) fn run(
    suite: &Path,
    args: &RetrieveArgs,
    embeddings: Option<&mut Embeddings>,
) -> anyhow::Result<()> {
    let Some(workspace) = args.workspace.as_deref() else {
        let suite = suite.display();
        return Err(Usage(format!(
            "{suite} holds cases, not the code to search; name its folder with --workspace"
        ))
        .into());
    };
    let cases = one_of_each_hole(replay::read_suite(suite)?);
    let indexed = index(workspace)?;
    tell_other_tree(&cases, &indexed);
    let strategies = strategies(args);
    let mut retrieval = Retrieval {
        searcher: indexed.index.searcher(&|_| false),
        projects: &indexed.projects,
        budget: Budget { tokens: args.budget as usize },
        embeddings,
    };
    let answers = ask(&mut retrieval, &strategies, &cases);
    let rows = rows(&strategies, &answers, args.seed);
    let text = if args.json {
        json(suite, cases.len(), args.budget, &rows)
    } else {
        report::terminal::retrieval_table(&rows, output::style())
    };
    Ok(output::print(&text)?)
}

/// The cases of one hole differ in what goes with the question; the question is the same.
fn one_of_each_hole(mut cases: Vec<Case>) -> Vec<Case> {
    let mut seen = HashSet::new();
    cases.retain(|case| !case.truth.is_empty() && seen.insert(case.hole.clone()));
    cases
}

fn tell_other_tree(cases: &[Case], indexed: &Indexed) {
    let other = cases.iter().filter(|case| case.origin.tree_hash != indexed.code.state.tree_hash).count();
    if other > 0 {
        say(&format!(
            "{} cut from other code than the workspace holds (another tree hash): what they ask for may stand elsewhere now",
            count(other, "case")
        ));
    }
}

/// What a strategy found for a case.
struct Found {
    strategy: Strategy,
    items: usize,
    tokens: usize,
    observation: Observation,
}

fn ask(retrieval: &mut Retrieval<'_>, strategies: &[Strategy], cases: &[Case]) -> Vec<Found> {
    let progress = Progress::new("searched", "cases");
    let mut found = Vec::new();
    for (done, case) in cases.iter().enumerate() {
        let language =
            Language::from_name(&case.language).expect("suites with other languages are refused on reading");
        let query =
            Query { path: &case.path, language, prefix: &case.prefix, suffix: &case.suffix, recent: &[] };
        for &strategy in strategies {
            let (hits, duration) = retrieval.ask(strategy, &query);
            let observation = Observation {
                case: case.hole.clone(),
                cluster: case.path.clone(),
                labels: BTreeMap::from([(STRATEGY.to_owned(), strategy.name().to_owned())]),
                metrics: metrics(case, language, &hits),
                latency: Some(milliseconds(duration)),
            };
            found.push(Found { strategy, items: hits.len(), tokens: tokens(&hits), observation });
        }
        progress.set(done as u64 + 1, cases.len() as u64);
    }
    progress.finish(&count(cases.len(), "case"));
    found
}

fn metrics(case: &Case, language: Language, hits: &[Hit]) -> Metrics {
    let question = Question { language, prefix: &case.prefix, suffix: &case.suffix, truth: &case.truth };
    let texts: Vec<&str> = hits.iter().map(|hit| hit.text.as_str()).collect();
    let worth = worth(&question, &texts);
    let new = worth.new_identifiers;
    let new = (new.den > 0.0).then_some(MetricValue::Ratio { num: new.num, den: new.den });
    let flag = |holds: bool| MetricValue::Value(f64::from(u8::from(holds)));
    let metrics = [
        (NEW_IDENTIFIERS, new),
        (ANY_NEW, worth.has_any_new().map(flag)),
        (DEFINITION_HIT, shows_definition(case, hits).map(flag)),
        (COPY, Some(MetricValue::Value(worth.copy_with_file))),
    ];
    metrics.into_iter().filter_map(|(name, value)| Some((name.to_owned(), value?))).collect()
}

/// Whether a definition of the case's name is among the hits; `None` where the language's rules lead to none.
fn shows_definition(case: &Case, hits: &[Hit]) -> Option<bool> {
    let is_resolved = case.tags.get(RESOLVED_TAG).is_some_and(|resolved| resolved == "yes");
    let defined = DefinedAt::from_tag(case.tags.get(DEFINED_TAG).filter(|_| is_resolved)?);
    Some(defined.iter().any(|place| hits.iter().any(|hit| shows(hit, place))))
}

fn shows(hit: &Hit, place: &DefinedAt) -> bool {
    let is_within = if hit.lines.is_empty() {
        (hit.start_line..hit.end_line).contains(&place.line)
    } else {
        hit.lines.contains(&place.line)
    };
    *hit.path == *place.path && is_within
}

fn rows(strategies: &[Strategy], found: &[Found], seed: u64) -> Vec<StrategyRow> {
    let observations: Vec<Observation> = found.iter().map(|found| found.observation.clone()).collect();
    let grouping = Grouping { apart: vec![STRATEGY.to_owned()], pooled: Vec::new() };
    let table = scoring::summarize(&observations, &grouping, seed);
    let named = |strategy: Strategy| {
        table
            .rows
            .iter()
            .find(move |row| row.key.first().and_then(|key| key.as_deref()) == Some(strategy.name()))
    };
    strategies.iter().filter_map(|&strategy| Some(row(strategy, found, named(strategy)?))).collect()
}

fn row(strategy: Strategy, found: &[Found], row: &Row) -> StrategyRow {
    let cell = |name: &str| row.cells.get(name).map(report::Cell::from);
    let mean = |count: fn(&Found) -> usize| {
        let counts = found.iter().filter(|found| found.strategy == strategy).map(count);
        counts.sum::<usize>() as f64 / row.cases.max(1) as f64
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
        latency: row.latency.map(report::Latency::from),
    }
}

fn json(suite: &Path, cases: usize, budget: u32, rows: &[StrategyRow]) -> String {
    let strategies: Vec<_> = rows
        .iter()
        .map(|row| {
            serde_json::json!({
                "strategy": row.strategy,
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
        })
        .collect();
    let suite = suite.display().to_string();
    format!(
        "{:#}\n",
        serde_json::json!({ "suite": suite, "cases": cases, "budget": budget, "strategies": strategies })
    )
}
