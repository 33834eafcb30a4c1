//! What can be typed. What it means is decided in `commands`.

use std::num::NonZeroUsize;
use std::path::PathBuf;
use std::sync::Arc;

use ::engines::Rule;
use cases::Scenario;
use clap::{Parser, Subcommand, ValueEnum};

use crate::steps::engines;

/// Repetitions tell chance from skill; a thousand tell it to a third of a percent.
const MAX_REPEAT: i64 = 1000;

/// Find out which completion engine is really better, on your own code.
#[derive(Debug, Parser)]
#[command(
    name = "ghostbench",
    version,
    arg_required_else_help = true,
    after_help = "Start with:  ghostbench try ."
)]
pub(crate) struct Args {
    /// What to do.
    #[command(subcommand)]
    pub(crate) command: Command,
}

/// The commands.
#[derive(Debug, Subcommand)]
pub(crate) enum Command {
    /// Turn a repository into a benchmark and score engines on it.
    #[command(after_help = "Examples:
  ghostbench try .                                  200 cases from this repository, the built-in engine
  ghostbench try . --scenario inner_block --open    one scenario, and the report in the browser
  ghostbench try . --mix real-use --cases 500       block kinds as people really ask for them
  ghostbench try . --engine builtin --engine nearest-line   two engines, side by side")]
    Try(TryArgs),
    /// Serve an editor: ghost text while typing, and cases recorded and replayed where the cursor is.
    #[command(
        after_help = "An editor starts this command and talks to it over standard input and output. Examples:
  ghostbench lsp                                        ghost text by the built-in engine
  ghostbench lsp --engine builtin --engine nearest-line   the first one writes, both are replayed
  ghostbench lsp --log-level debug                      more in the log file, which never holds code"
    )]
    Lsp(LspArgs),
    /// Cut cases out of a repository: the first step of `try`.
    #[command(after_help = "Examples:
  ghostbench mine . --out cases.jsonl
  ghostbench mine . --cases 1000 --seed 7 --scenario full_block --scenario rag --out cases.jsonl")]
    Mine(MineArgs),
    /// Run engines over a suite: the second step of `try`.
    #[command(after_help = "Examples:
  ghostbench replay cases.jsonl --workspace . --out run
  ghostbench replay cases.jsonl --workspace . --out run --resume     go on after a stop")]
    Replay(ReplayArgs),
    /// Show a run: the last step of `try`.
    #[command(after_help = "Examples:
  ghostbench report run                 the table, and run/report.html
  ghostbench report run --format json   every number, for scripts
  ghostbench report run --open          the report in the browser")]
    Report(ReportArgs),
}

/// Which cases to mine.
#[derive(Debug, clap::Args)]
pub(crate) struct MiningArgs {
    /// Cases to mine.
    #[arg(long, default_value_t = 200, value_name = "N")]
    pub(crate) cases: usize,
    /// Seed of every random choice; the same tree and seed give the same cases.
    #[arg(long, default_value_t = 1, value_name = "S")]
    pub(crate) seed: u64,
    /// Scenario to mine; may be given more than once [default: all four].
    #[arg(long = "scenario", value_name = "SCENARIO", value_parser = parse_scenario)]
    pub(crate) scenarios: Vec<Scenario>,
    /// Proportions of the block kinds.
    #[arg(long, value_enum, default_value_t = MixArg::Even)]
    pub(crate) mix: MixArg,
}

/// In which proportions block kinds are drawn.
#[derive(Clone, Copy, Debug, ValueEnum)]
pub(crate) enum MixArg {
    /// Evenly, as Codev-Bench does.
    Even,
    /// As people ask, by Codev-Bench's industrial log.
    RealUse,
}

/// Which engines to ask.
#[derive(Debug, clap::Args)]
pub(crate) struct EngineArgs {
    /// Engine to ask; may be given more than once [default: builtin]. Known are builtin, and its controls longest-match, nearest-line and empty.
    #[arg(long = "engine", value_name = "NAME", value_parser = parse_engine)]
    pub(crate) engines: Vec<String>,
    /// Requests under way at once [default: one per core].
    #[arg(long, value_name = "N")]
    pub(crate) jobs: Option<NonZeroUsize>,
}

/// `ghostbench try`.
#[derive(Debug, clap::Args)]
pub(crate) struct TryArgs {
    /// Repository to try.
    #[arg(default_value = ".")]
    pub(crate) path: PathBuf,
    /// What to mine.
    #[command(flatten)]
    pub(crate) mining: MiningArgs,
    /// Whom to ask.
    #[command(flatten)]
    pub(crate) asking: EngineArgs,
    /// Folder for the run [default: a new one in Ghostbench's data folder].
    #[arg(long, value_name = "DIR")]
    pub(crate) out: Option<PathBuf>,
    /// Print every number as JSON instead of a table.
    #[arg(long)]
    pub(crate) json: bool,
    /// Open the report in the browser.
    #[arg(long)]
    pub(crate) open: bool,
}

/// `ghostbench lsp`.
#[derive(Debug, clap::Args)]
pub(crate) struct LspArgs {
    /// Talk over standard input and output: the only way there is, and so the default.
    #[arg(long)]
    pub(crate) stdio: bool,
    /// Engine to serve; may be given more than once: the first one writes the ghost text, all are replayed [default: builtin].
    /// Known are builtin, and its controls longest-match, nearest-line and empty.
    #[arg(long = "engine", value_name = "NAME", value_parser = parse_engine)]
    pub(crate) engines: Vec<String>,
    /// Rules of a scripted engine that stands before the others, as JSON; for tests.
    #[arg(long, value_name = "JSON", value_parser = parse_rules, hide = true)]
    pub(crate) scripted: Option<Arc<[Rule]>>,
    /// How much stands in the log file.
    #[arg(long, value_enum, default_value_t = LogLevel::Info, value_name = "LEVEL")]
    pub(crate) log_level: LogLevel,
}

/// How much is logged; each level includes those before it.
#[derive(Clone, Copy, Debug, ValueEnum)]
pub(crate) enum LogLevel {
    /// What failed.
    Error,
    /// What was left out.
    Warn,
    /// When the server starts, indexes, replays and ends.
    Info,
    /// Every request.
    Debug,
}

impl From<LogLevel> for tracing::Level {
    fn from(level: LogLevel) -> tracing::Level {
        match level {
            LogLevel::Error => tracing::Level::ERROR,
            LogLevel::Warn => tracing::Level::WARN,
            LogLevel::Info => tracing::Level::INFO,
            LogLevel::Debug => tracing::Level::DEBUG,
        }
    }
}

/// `ghostbench mine`.
#[derive(Debug, clap::Args)]
pub(crate) struct MineArgs {
    /// Repository to mine.
    #[arg(default_value = ".")]
    pub(crate) path: PathBuf,
    /// What to mine.
    #[command(flatten)]
    pub(crate) mining: MiningArgs,
    /// File for the suite, `-` for standard output [default: one in Ghostbench's data folder].
    #[arg(long, value_name = "FILE")]
    pub(crate) out: Option<PathBuf>,
    /// Print what was mined as JSON.
    #[arg(long)]
    pub(crate) json: bool,
    /// Threads [default: one per core]; the cases are the same for any number.
    #[arg(long, value_name = "N")]
    pub(crate) jobs: Option<NonZeroUsize>,
}

/// `ghostbench replay`.
#[derive(Debug, clap::Args)]
pub(crate) struct ReplayArgs {
    /// The suite: a file that `mine` wrote, or the `cases.jsonl` of a run.
    pub(crate) suite: PathBuf,
    /// The code that engines may read; without it they know only what stands in the cases.
    #[arg(long, value_name = "DIR")]
    pub(crate) workspace: Option<PathBuf>,
    /// Whom to ask.
    #[command(flatten)]
    pub(crate) asking: EngineArgs,
    /// Times to ask every case.
    #[arg(long, default_value_t = 1, value_name = "N", value_parser = clap::value_parser!(u32).range(1..=MAX_REPEAT))]
    pub(crate) repeat: u32,
    /// Seed of the intervals.
    #[arg(long, default_value_t = 1, value_name = "S")]
    pub(crate) seed: u64,
    /// Folder for the run [default: a new one in Ghostbench's data folder].
    #[arg(long, value_name = "DIR")]
    pub(crate) out: Option<PathBuf>,
    /// Go on with the run in --out.
    #[arg(long, requires = "out")]
    pub(crate) resume: bool,
    /// Print every number as JSON instead of a table.
    #[arg(long)]
    pub(crate) json: bool,
    /// Open the report in the browser.
    #[arg(long)]
    pub(crate) open: bool,
}

/// `ghostbench report`.
#[derive(Debug, clap::Args)]
pub(crate) struct ReportArgs {
    /// Folder of a run.
    pub(crate) run: PathBuf,
    /// What to print.
    #[arg(long, value_enum, default_value_t = Format::Table)]
    pub(crate) format: Format,
    /// Short for `--format json`.
    #[arg(long)]
    pub(crate) json: bool,
    /// File for the HTML report [default: report.html in the run's folder].
    #[arg(long, value_name = "FILE")]
    pub(crate) out: Option<PathBuf>,
    /// Open the report in the browser.
    #[arg(long)]
    pub(crate) open: bool,
}

/// How a report is printed.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum Format {
    /// A table for the terminal.
    Table,
    /// Every number, for programs.
    Json,
    /// A table for pull requests and wikis.
    Markdown,
}

fn parse_engine(name: &str) -> Result<String, String> {
    engines::known(name).map(|(name, _)| name.to_owned())
}

fn parse_rules(json: &str) -> Result<Arc<[Rule]>, String> {
    serde_json::from_str(json).map(|rules: Vec<Rule>| rules.into()).map_err(|error| error.to_string())
}

fn parse_scenario(word: &str) -> Result<Scenario, String> {
    let scenario: Scenario = word.parse().map_err(|_| known_scenarios())?;
    if mining::SCENARIOS.contains(&scenario) { Ok(scenario) } else { Err(known_scenarios()) }
}

fn known_scenarios() -> String {
    format!("known are {}", mining::SCENARIOS.map(Scenario::name).join(", "))
}
