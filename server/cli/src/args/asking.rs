//! Arguments that ask engines: which ones, with which settings, how many at a time, up to which limits, recorded or not.

use std::num::NonZeroUsize;
use std::path::PathBuf;

use clap::ValueEnum;
use replay::SpendLimits;

use super::values::parse_amount;

/// Additional settings.
#[derive(Debug, clap::Args)]
pub(crate) struct SettingsArgs {
    /// Settings file that overrides all others. Naming it means trusting it.
    #[arg(long = "config", value_name = "FILE")]
    pub(crate) file: Option<PathBuf>,
}

/// Selection of engines.
#[derive(Debug, clap::Args)]
pub(crate) struct EngineArgs {
    /// Engine to run; may be given more than once [default: all configured engines, else builtin]. Available are the configured
    /// engines, builtin, and its baselines longest-match, nearest-line and empty.
    #[arg(long = "engine", value_name = "NAME")]
    pub(crate) engines: Vec<String>,
    /// Additional settings.
    #[command(flatten)]
    pub(crate) settings: SettingsArgs,
    /// Number of concurrent requests [default: one per core].
    #[arg(long, value_name = "N")]
    pub(crate) jobs: Option<NonZeroUsize>,
    /// Cases to run once more without the files that hold a copy of the truth (a copied or renamed function, a backup, generated code).
    /// Engines that read no other file are not run again.
    #[arg(long, value_enum, default_value_t, value_name = "CASES")]
    pub(crate) no_copies: NoCopiesArg,
    /// Recording of answers.
    #[command(flatten)]
    pub(crate) cassette: CassetteArgs,
    /// Limits of the run.
    #[command(flatten)]
    pub(crate) limits: LimitArgs,
}

/// Limits of a run.
#[derive(Clone, Copy, Debug, clap::Args)]
pub(crate) struct LimitArgs {
    /// Stop before the run might cost more than this, in the currency of `price_in` and `price_out`. The answers before a --resume count.
    #[arg(long, value_name = "AMOUNT", value_parser = parse_amount)]
    pub(crate) budget: Option<f64>,
    /// Stop after this number of requests to all engines. Those before a --resume count.
    #[arg(long, value_name = "N")]
    pub(crate) max_requests: Option<u64>,
    /// Print an estimate of requests, tokens, cost and time, and make no requests.
    #[arg(long)]
    pub(crate) dry_run: bool,
}

impl LimitArgs {
    /// Returns the limits.
    pub(crate) fn limits(self) -> SpendLimits {
        SpendLimits { budget: self.budget, requests: self.max_requests }
    }
}

/// Cases that run once more without copies of their truths.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, ValueEnum)]
pub(crate) enum NoCopiesArg {
    /// None.
    Off,
    /// Cases whose truth has a copy in another file; the others would give the same answer.
    #[default]
    Affected,
    /// Every case.
    All,
}

impl std::fmt::Display for NoCopiesArg {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(match self {
            NoCopiesArg::Off => "off",
            NoCopiesArg::Affected => "affected",
            NoCopiesArg::All => "all",
        })
    }
}

/// Recording and replay of answers.
#[derive(Debug, clap::Args)]
pub(crate) struct CassetteArgs {
    /// File of recorded answers: recorded answers are replayed, others are requested and added. It contains code, but no API keys.
    #[arg(id = "cassette", long = "cassette", value_name = "FILE")]
    pub(crate) file: Option<PathBuf>,
    /// Make no requests: an answer that is missing from the cassette is an error.
    #[arg(long)]
    pub(crate) offline: bool,
}
