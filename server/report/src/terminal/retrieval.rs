//! What retrieval strategies would send, for the terminal: the code itself, or a row per strategy over a suite.

use comfy_table::CellAlignment;

use super::{Style, sheet, titled};
use crate::format;
use crate::summary::{Cell, Latency};

/// What one strategy would send.
#[derive(Clone, Debug)]
pub struct Retrieved {
    /// Name of the strategy.
    pub strategy: String,
    /// Tokens that it used.
    pub tokens: usize,
    /// Tokens that it had.
    pub budget: usize,
    /// How long it took, milliseconds.
    pub ms: f64,
    /// The code, most useful first.
    pub items: Vec<RetrievedItem>,
}

/// A piece of code that would be sent.
#[derive(Clone, Debug)]
pub struct RetrievedItem {
    /// Its file.
    pub path: String,
    /// First line, 0-based.
    pub start_line: u32,
    /// The line after the last one.
    pub end_line: u32,
    /// The strategy's score.
    pub score: f64,
    /// Why it was found.
    pub reason: String,
    /// The code.
    pub text: String,
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
    pub new_identifiers: Option<Cell>,
    /// Truths of which any such identifier was found.
    pub any_new: Option<Cell>,
    /// Resolved names whose definition was found.
    pub definition_hit: Option<Cell>,
    /// How near to the truth the best copy comes.
    pub copy: Option<Cell>,
    /// How long it took.
    pub latency: Option<Latency>,
}

/// The code that each strategy would send, one after the other.
pub fn retrieved(strategies: &[Retrieved], style: Style) -> String {
    strategies.iter().map(|strategy| one(strategy, style)).collect::<Vec<_>>().join("\n")
}

fn one(strategy: &Retrieved, style: Style) -> String {
    let Retrieved { strategy: name, tokens, budget, ms, items } = strategy;
    let dot = style.alphabet().dot();
    let count = format::count_of(items.len(), "item");
    let time = format::milliseconds(*ms);
    let heading = format!("{} {dot} {count}, {tokens} of {budget} tokens, {time} ms", style.title(name));
    let items: String = items.iter().map(|each| item(each, style)).collect();
    format!("{heading}\n{items}")
}

fn item(item: &RetrievedItem, style: Style) -> String {
    let path = format::visible(&item.path);
    let lines = format!("{}{}{}", item.start_line + 1, style.alphabet().to(), item.end_line);
    let reason = format::visible(&item.reason);
    let text: String =
        item.text.lines().map(|line| format!("    {}\n", style.dim(&format::visible(line)))).collect();
    format!("\n  {}:{lines}  {:.3}  {reason}\n{text}", style.title(&path), item.score)
}

/// A row per strategy, and what the columns mean.
pub fn retrieval_table(strategies: &[StrategyRow], style: Style) -> String {
    let header = ["strategy", "n", "items", "tokens", "new ids", "95 %", "any new", "def hit", "copy", "ms"];
    let rows = strategies.iter().map(|strategy| row(strategy, style));
    let mut table = sheet::plain(header.map(str::to_owned).to_vec(), rows);
    for column in table.column_iter_mut().skip(1) {
        column.set_cell_alignment(CellAlignment::Right);
    }
    let mut lines = table.lines().map(|line| line.trim_end().to_owned());
    let header = lines.next().map(|line| style.dim(&line));
    let text = header.into_iter().chain(lines).collect::<Vec<_>>().join("\n");
    format!("{}\n\n{}\n", titled("what retrieval finds", &text, style), legend(style))
}

fn row(strategy: &StrategyRow, style: Style) -> Vec<String> {
    let none = || style.alphabet().to().to_owned();
    let share = |cell: Option<Cell>| {
        cell.map_or_else(none, |cell| cell.value.map_or_else(|| format::counts(&cell), format::percent))
    };
    let interval = strategy.new_identifiers.and_then(|cell| cell.interval);
    vec![
        strategy.strategy.clone(),
        strategy.questions.to_string(),
        format::short(strategy.items),
        format::short(strategy.tokens),
        share(strategy.new_identifiers),
        interval.map_or_else(String::new, |interval| format::interval(interval, style.alphabet())),
        share(strategy.any_new),
        share(strategy.definition_hit),
        share(strategy.copy),
        format::latency(strategy.latency, style.alphabet().to()),
    ]
}

fn legend(style: Style) -> String {
    let text = "items, tokens: sent on average. new ids: share of the truth's identifiers that the file lacks before the cursor and the \
        context holds, with its 95 % interval. any new: truths of which it holds any. def hit: resolved names whose definition it \
        shows. copy: edit similarity of the best copy from context and file. ms: median/95th percentile.";
    style.dim(&super::wrapped(text, style.width, ""))
}
