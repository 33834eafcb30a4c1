//! What retrieval strategies would send, for the terminal: the code itself, or a row per strategy over a suite.

use super::text_table::TextTable;
use super::{Style, with_title};
use crate::format;
use crate::run_summary::{CellView, LatencyView};

/// What one strategy would send.
#[derive(Clone, Debug)]
pub struct RetrievalView {
    /// Name of the strategy.
    pub strategy: String,
    /// Tokens that it had.
    pub budget: usize,
    /// How long it took, milliseconds.
    pub ms: f64,
    /// The code, most useful first.
    pub items: Vec<RetrievalItem>,
}

/// A piece of code that would be sent.
#[derive(Clone, Debug)]
pub struct RetrievalItem {
    /// Its file.
    pub path: String,
    /// First line, 0-based.
    pub start_line: u32,
    /// The line after the last one.
    pub end_line: u32,
    /// What kind of code it is.
    pub kind: &'static str,
    /// The strategy's score, on a scale of its kind.
    pub score: f64,
    /// Tokens of the budget that it takes.
    pub tokens: usize,
    /// Why it was found.
    pub reason: String,
    /// The code.
    pub text: String,
}

impl RetrievalView {
    /// Tokens of the budget that all items take.
    pub fn tokens(&self) -> usize {
        self.items.iter().map(|item| item.tokens).sum()
    }
}

/// What one strategy found over a suite.
#[derive(Clone, Debug)]
pub struct StrategyRow {
    /// Name of the strategy.
    pub strategy: String,
    /// Questions asked.
    pub questions: usize,
    /// Items sent, on average.
    pub items: f64,
    /// Tokens sent, on average.
    pub tokens: f64,
    /// The truth's identifiers that the file lacks before the cursor, and that were found.
    pub new_identifiers: Option<CellView>,
    /// Truths of which any such identifier was found.
    pub any_new: Option<CellView>,
    /// Resolved names whose definition was found.
    pub definition_hit: Option<CellView>,
    /// How near to the truth the best copy comes.
    pub copy: Option<CellView>,
    /// How long it took.
    pub latency: Option<LatencyView>,
}

/// The code that each strategy would send, one after the other, and what the numbers mean.
pub fn retrieval_text(strategies: &[RetrievalView], style: Style) -> String {
    let mut parts: Vec<String> = strategies.iter().map(|strategy| strategy_text(strategy, style)).collect();
    if strategies.iter().any(|strategy| !strategy.items.is_empty()) {
        parts.push(super::dim_note(SCORES, style) + "\n");
    }
    parts.join("\n")
}

const SCORES: &str = "Behind its kind stands an item's score; higher is nearer, and only scores of one kind compare. definition: \
    probability that the first one is what comes next. use: that, times how alike the surroundings are. window, chunk, function: weight \
    of the words shared (of embeddings their similarity). visit: 1 for the latest, then less. Tokens count paths and comment signs.";

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

/// A row per strategy for the cases whose names the language's rules resolve, the same for the others, and what the columns mean.
pub fn retrieval_tables(resolved: &[StrategyRow], unresolved: &[StrategyRow], style: Style) -> String {
    let tables = [
        ("what retrieval finds", resolved),
        ("for names that the language's rules do not lead to (unresolved)", unresolved),
    ];
    let tables = tables.into_iter().filter(|(_, rows)| !rows.is_empty());
    let mut parts: Vec<String> = tables.map(|(title, rows)| table(title, rows, style)).collect();
    parts.push(super::dim_note(COLUMNS_MEAN, style));
    parts.join("\n\n") + "\n"
}

const COLUMNS: [&str; 12] =
    ["strategy", "n", "items", "tokens", "new ids", "95 %", "any new", "of", "def hit", "of", "copy", "ms"];
/// What goes first where there is no room: the interval, the items, the time, the tokens.
const DISPENSABLE: [usize; 4] = [5, 2, 11, 3];

fn table(title: &str, strategies: &[StrategyRow], style: Style) -> String {
    let rows = strategies.iter().map(|strategy| row(strategy, style)).collect();
    let sheet = TextTable { header: &COLUMNS, words: 1, dispensable: &DISPENSABLE, rows };
    with_title(title, &sheet.draw(style), style)
}

fn row(strategy: &StrategyRow, style: Style) -> Vec<String> {
    let none = || style.alphabet().range_dash().to_owned();
    let share = |cell: Option<CellView>| {
        cell.map_or_else(none, |cell| cell.value.map_or_else(|| format::counts(&cell), format::percent))
    };
    let cases = |cell: Option<CellView>| cell.map_or(0, |cell| cell.cases).to_string();
    let interval = strategy.new_identifiers.and_then(|cell| cell.interval);
    vec![
        strategy.strategy.clone(),
        strategy.questions.to_string(),
        format::one_decimal(strategy.items),
        format::one_decimal(strategy.tokens),
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

const COLUMNS_MEAN: &str = "n: questions, one for each hole. items, tokens: sent on average. new ids: share of the truths' identifiers that \
    the file lacks before the cursor and the context holds, with its 95 % interval. any new: truths of which it holds any, of those that \
    have such identifiers. def hit: names whose definition it shows, of those whose definition the language's rules lead to. copy: edit \
    similarity of the best copy from context and file, over all n. ms: median/95th percentile.";
