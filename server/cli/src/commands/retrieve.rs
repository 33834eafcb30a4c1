//! `ghostbench retrieve`: what each strategy would send to an engine, at a place or over a suite.

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

/// What is asked where no strategy is named: all that find something without an editor's help.
const DEFAULT_STRATEGIES: [Strategy; 4] =
    [Strategy::Hybrid, Strategy::Symbols, Strategy::Functions, Strategy::Bm25Chunks];

/// Tokens that each strategy may send where nothing is said: what they are measured with.
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
    // What was embedded cost time, whatever became of the rest.
    if let Some(embeddings) = embeddings {
        embeddings.save();
    }
    shown
}

/// What the settings say where the command line says nothing.
fn apply_settings(args: &mut RetrieveArgs) -> anyhow::Result<()> {
    let here = Path::new(".");
    let config = SettingsSources::new(args.settings.file.as_deref())
        .config(args.workspace.as_deref().unwrap_or(here))?;
    if args.strategies.is_empty() && config.is_set("context", "strategy") {
        args.strategies.push(lsp::strategy(&config));
    }
    if args.budget.is_none() && config.is_set("context", "budget_tokens") {
        args.budget = u32::try_from(lsp::budget(&config).tokens).ok();
    }
    Ok(())
}

/// What tells which functions are alike, if it is not words.
fn embeddings(args: &RetrieveArgs) -> anyhow::Result<Option<Embeddings>> {
    let embeddings = Embeddings::open(&args.embeddings)?;
    if embeddings.is_some() && !strategies(args).contains(&Strategy::Functions) {
        let message = "only the strategy functions has a use for --embeddings; add --strategy functions";
        return Err(UsageError(message.to_owned()).into());
    }
    Ok(embeddings)
}

/// Whom to ask, with which budget, about which code.
struct Retrieval<'a> {
    searcher: Searcher,
    projects: &'a Projects,
    budget: TokenBudget,
    embeddings: Option<&'a mut Embeddings>,
}

impl Retrieval<'_> {
    /// What a strategy finds, and how long that takes.
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

/// Tokens that each strategy may send.
fn budget(args: &RetrieveArgs) -> u32 {
    args.budget.unwrap_or(DEFAULT_BUDGET)
}

fn strategies(args: &RetrieveArgs) -> Vec<Strategy> {
    if args.strategies.is_empty() { DEFAULT_STRATEGIES.to_vec() } else { args.strategies.clone() }
}

fn milliseconds(duration: Duration) -> f64 {
    duration.as_secs_f64() * 1e3
}
