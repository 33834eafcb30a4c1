//! Renders results of retrieval strategies for the terminal: the code, or a row per strategy over a suite.

use report::format;
use report::terminal::{Style, TextTable, dim_note, with_title};
use scoring::{Latency, MetricCell};

/// Context that one strategy retrieves.
#[derive(Clone, Debug)]
pub(crate) struct RetrievalView {
    /// Name of the strategy.
    pub(crate) strategy: String,
    /// Token budget.
    pub(crate) budget: usize,
    /// Duration, milliseconds.
    pub(crate) ms: f64,
    /// The code, most useful first.
    pub(crate) items: Vec<RetrievalItem>,
}

/// A piece of retrieved code.
#[derive(Clone, Debug)]
pub(crate) struct RetrievalItem {
    /// Its file.
    pub(crate) path: String,
    /// First line, 0-based.
    pub(crate) start_line: u32,
    /// The line after the last one.
    pub(crate) end_line: u32,
    /// Kind of code.
    pub(crate) kind: &'static str,
    /// The strategy's score, on a scale of its kind.
    pub(crate) score: f64,
    /// Tokens of the budget that it takes.
    pub(crate) tokens: usize,
    /// Reason for its retrieval.
    pub(crate) reason: String,
    /// The code.
    pub(crate) text: String,
}

impl RetrievalView {
    /// Tokens of the budget that all items take.
    pub(crate) fn tokens(&self) -> usize {
        self.items.iter().map(|item| item.tokens).sum()
    }
}

/// Results of one strategy over a suite.
#[derive(Clone, Debug)]
pub(crate) struct StrategyRow {
    /// Name of the strategy.
    pub(crate) strategy: String,
    /// Number of requests.
    pub(crate) questions: usize,
    /// Pieces of code.
    pub(crate) items: Option<MetricCell>,
    /// Tokens of the code.
    pub(crate) tokens: Option<MetricCell>,
    /// The truth's identifiers that the file lacks before the cursor and the context contains.
    pub(crate) new_identifiers: Option<MetricCell>,
    /// Truths with at least one such identifier in the context.
    pub(crate) any_new: Option<MetricCell>,
    /// Resolved names whose definition is in the context.
    pub(crate) definition_hit: Option<MetricCell>,
    /// Similarity of the best copy to the truth.
    pub(crate) copy: Option<MetricCell>,
    /// Duration of the retrieval.
    pub(crate) latency: Option<Latency>,
}

/// Renders the code of each strategy, and the meaning of the numbers.
pub(crate) fn retrieval_text(strategies: &[RetrievalView], style: Style) -> String {
    let mut parts: Vec<String> = strategies.iter().map(|strategy| strategy_text(strategy, style)).collect();
    if strategies.iter().any(|strategy| !strategy.items.is_empty()) {
        parts.push(dim_note(SCORES, style) + "\n");
    }
    parts.join("\n")
}

const SCORES: &str = "A score follows the kind of each item; higher is nearer, and only scores of one kind are comparable. definition: \
    probability that the first definition is used next. use: the same, times the similarity of the surroundings. window, \
    chunk, function: weight of the shared words (for embeddings, similarity). visit: 1 for the latest, then less. Tokens \
    count paths and comment signs.";

fn strategy_text(strategy: &RetrievalView, style: Style) -> String {
    let RetrievalView { strategy: name, budget, ms, items } = strategy;
    let dot = style.alphabet().dot();
    let (count, tokens) = (format::count_of(items.len(), "item"), strategy.tokens());
    let time = format::duration(*ms);
    let heading = format!("{} {dot} {count}, {tokens} of {budget} tokens, {time}", style.title(name));
    let items: String = items.iter().map(|each| item(each, style)).collect();
    format!("{heading}\n{items}")
}

fn item(item: &RetrievalItem, style: Style) -> String {
    let path = format::on_one_line(&item.path);
    let first = item.start_line + 1;
    let is_one = item.end_line <= first;
    let lines = if is_one {
        first.to_string()
    } else {
        format!("{first}{}{}", style.alphabet().range_dash(), item.end_line)
    };
    let RetrievalItem { kind, score, .. } = item;
    let (reason, tokens) = (format::on_one_line(&item.reason), format::count_of(item.tokens, "token"));
    let text: String = item
        .text
        .lines()
        .map(|line| format!("    {}\n", style.dim(&format::escape_invisible(line))))
        .collect();
    format!("\n  {}:{lines}  {kind} {score:.3}  {reason}  {}\n{text}", style.title(&path), style.dim(&tokens))
}

/// Renders a row per strategy for the cases with resolved names, the same for the others, and the meaning of the columns.
pub(crate) fn retrieval_tables(resolved: &[StrategyRow], unresolved: &[StrategyRow], style: Style) -> String {
    let tables = [
        ("retrieval results", resolved),
        ("names that the language's rules do not resolve (unresolved)", unresolved),
    ];
    let tables = tables.into_iter().filter(|(_, rows)| !rows.is_empty());
    let mut parts: Vec<String> = tables.map(|(title, rows)| table(title, rows, style)).collect();
    parts.push(dim_note(COLUMNS_MEAN, style));
    parts.join("\n\n") + "\n"
}

const COLUMNS: [&str; 12] =
    ["strategy", "n", "items", "tokens", "new ids", "95 %", "any new", "of", "def hit", "of", "copy", "ms"];
/// Columns that are dropped first if there is no room: the interval, the items, the time, the tokens.
const DISPENSABLE: [usize; 4] = [5, 2, 11, 3];

fn table(title: &str, strategies: &[StrategyRow], style: Style) -> String {
    let rows = strategies.iter().map(|strategy| row(strategy, style)).collect();
    let sheet = TextTable { header: &COLUMNS, words: 1, dispensable: &DISPENSABLE, rows };
    with_title(title, &sheet.draw(style), style)
}

fn row(strategy: &StrategyRow, style: Style) -> Vec<String> {
    let none = || style.alphabet().range_dash().to_owned();
    let share = |cell: Option<MetricCell>| {
        cell.map_or_else(none, |cell| cell.value.map_or_else(|| format::counts(&cell), format::percent))
    };
    let mean =
        |cell: Option<MetricCell>| format::one_decimal(cell.and_then(|cell| cell.mean()).unwrap_or(0.0));
    let cases = |cell: Option<MetricCell>| cell.map_or(0, |cell| cell.cases).to_string();
    let interval = strategy.new_identifiers.and_then(|cell| cell.interval);
    vec![
        strategy.strategy.clone(),
        strategy.questions.to_string(),
        mean(strategy.items),
        mean(strategy.tokens),
        share(strategy.new_identifiers),
        interval.map_or_else(String::new, |interval| format::interval(interval, style.alphabet())),
        share(strategy.any_new),
        cases(strategy.any_new),
        share(strategy.definition_hit),
        cases(strategy.definition_hit),
        share(strategy.copy),
        format::latency(strategy.latency, style.alphabet().range_dash()),
    ]
}

const COLUMNS_MEAN: &str = "n: requests, one for each hole. items, tokens: sent on average. new ids: share of the truths' identifiers missing from \
    the file before the cursor that are in the context, with its 95 % interval. any new: truths with any such identifier in \
    the context, of those that have one. def hit: names whose definition is in the context, of those that the language's \
    rules resolve. copy: edit similarity of the best copy from context and file, over all n. ms: median/95th percentile.";

#[cfg(test)]
mod tests;
