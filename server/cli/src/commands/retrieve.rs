//! `ghostbench retrieve`: shows the context that each strategy would send to an engine, at a position or over a suite.

mod at_cursor;
mod suite;

use std::path::Path;
use std::time::{Duration, Instant};

use index::{Hit, RetrievalQuery, Searcher, Strategy, TokenBudget};
use syntax::Projects;

use crate::args::{RetrieveArgs, RetrieveTarget};
use crate::exit::UsageError;
use crate::steps::embeddings::Embeddings;
use crate::steps::index::index;
use crate::steps::settings_sources::SettingsSources;

/// Default strategies: all that work without an editor.
const DEFAULT_STRATEGIES: [Strategy; 4] =
    [Strategy::Hybrid, Strategy::Symbols, Strategy::Functions, Strategy::Bm25Chunks];

/// Default token budget of each strategy, as used to measure them.
const DEFAULT_BUDGET: u32 = 512;

/// Runs the command.
pub(crate) fn run(mut args: RetrieveArgs) -> anyhow::Result<()> {
    apply_settings(&mut args)?;
    let args = &args;
    let mut embeddings = embeddings(args)?;
    let shown = match &args.target {
        RetrieveTarget::Place(target) => at_cursor::run(target, args, embeddings.as_mut()),
        RetrieveTarget::Suite(path) => suite::run(path, args, embeddings.as_mut()),
    };
    // Save new embeddings even after an error: they cost time.
    if let Some(embeddings) = embeddings {
        embeddings.save();
    }
    shown
}

/// Fills in missing arguments from the settings.
fn apply_settings(args: &mut RetrieveArgs) -> anyhow::Result<()> {
    let here = Path::new(".");
    let config = SettingsSources::new(args.settings.file.as_deref())
        .config(args.workspace.as_deref().unwrap_or(here))?;
    if args.strategies.is_empty() && config.is_set("context", "strategy") {
        args.strategies.push(config.context.strategy);
    }
    if args.budget.is_none() && config.is_set("context", "budget_tokens") {
        args.budget = u32::try_from(config.context.budget_tokens).ok();
    }
    Ok(())
}

/// Opens the embeddings used to compare functions, if any.
fn embeddings(args: &RetrieveArgs) -> anyhow::Result<Option<Embeddings>> {
    let embeddings = Embeddings::open(&args.embeddings)?;
    if embeddings.is_some() && !strategies(args).contains(&Strategy::Functions) {
        let message = "only the strategy functions uses --embeddings; add --strategy functions";
        return Err(UsageError(message.to_owned()).into());
    }
    Ok(embeddings)
}

/// A retrieval: its embeddings, budget and code.
struct Retrieval<'a> {
    searcher: Searcher,
    projects: &'a Projects,
    budget: TokenBudget,
    embeddings: Option<&'a mut Embeddings>,
}

impl Retrieval<'_> {
    /// Returns the hits of a strategy and their latency.
    fn ask(&mut self, strategy: Strategy, query: &RetrievalQuery<'_>) -> (Vec<Hit>, Duration) {
        let start = Instant::now();
        let hits = match &mut self.embeddings {
            Some(embeddings) if strategy == Strategy::Functions => {
                embeddings.retrieve(&self.searcher, query, self.budget)
            }
            _ => self.searcher.retrieve(strategy, self.projects, query, self.budget),
        };
        (hits, start.elapsed())
    }
}

/// Returns the token budget of each strategy.
fn budget(args: &RetrieveArgs) -> u32 {
    args.budget.unwrap_or(DEFAULT_BUDGET)
}

fn strategies(args: &RetrieveArgs) -> Vec<Strategy> {
    if args.strategies.is_empty() { DEFAULT_STRATEGIES.to_vec() } else { args.strategies.clone() }
}

fn milliseconds(duration: Duration) -> f64 {
    duration.as_secs_f64() * 1e3
}
