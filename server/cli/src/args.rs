//! What can be typed. What it means is decided in `commands`.

mod engines;

use std::num::NonZeroUsize;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use ::engines::Rule;
use cases::Scenario;
use clap::{Parser, Subcommand, ValueEnum};
use index::Strategy;
use syntax::Language;

pub(crate) use self::engines::{
    EnginesArgs, EnginesCassetteArgs, EnginesCheckArgs, EnginesCommand, EnginesCompleteArgs, EnginesListArgs,
};

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
  ghostbench try .                                  400 cases from this repository, the built-in engine
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
  ghostbench replay cases.jsonl --workspace . --out run --resume     go on after a stop
  ghostbench replay cases.jsonl --cassette answers.jsonl             record what engines answer, ask nothing twice
  ghostbench replay cases.jsonl --cassette answers.jsonl --offline   the same answers again, without any engine")]
    Replay(ReplayArgs),
    /// Index a workspace ahead of its first use, or look after the caches of all.
    #[command(after_help = "Examples:
  ghostbench index .          read the workspace now, so that an editor finds it ready
  ghostbench index --list     whose caches there are, and how large
  ghostbench index --clear    remove them all; nothing but time is lost")]
    Index(IndexArgs),
    /// Show a run: the last step of `try`.
    #[command(after_help = "Examples:
  ghostbench report run                 the table, and run/report.html
  ghostbench report run --format json   every number, for scripts
  ghostbench report run --open          the report in the browser")]
    Report(ReportArgs),
    /// Show what is set in a folder and where, which engines would be asked, and what is wrong.
    #[command(after_help = "Examples:
  ghostbench doctor                       the settings that hold here, each with the place where it was set
  ghostbench doctor --config ci.toml      with that file before all others
  ghostbench doctor --json                for scripts; exit code 1 means that something is wrong")]
    Doctor(DoctorArgs),
    /// Show which engines can be asked here, check that they are asked rightly, and ask them once.
    #[command(after_help = "Examples:
  ghostbench engines list                          those of the settings, and those that need none
  ghostbench engines check                         whether they answer, how fast, and in the right template
  ghostbench engines complete src/app.py:120:17    what they would write at line 120, column 17
  ghostbench engines cassette answers.jsonl --engine qwen --out qwen.cassette.jsonl
                                                   let an engine answer as another program heard it answer")]
    Engines(EnginesArgs),
    /// Let a workspace's ghostbench.toml name engines, after you have read it.
    #[command(after_help = "Examples:
  ghostbench trust                        the file of this folder, or of the repository around it, as it is now
  ghostbench trust --list                 what is trusted, and what has changed since
  ghostbench trust ../shop --remove       trust it no more
A file that changes has to be trusted again.")]
    Trust(TrustArgs),
    /// Show what is known of the settings themselves.
    #[command(after_help = "Examples:
  ghostbench config schema > ghostbench.schema.json    for editors that complete and check ghostbench.toml
What every key means stands in docs/configuration.md; `ghostbench doctor` shows what is set.")]
    Config(ConfigArgs),
    /// Show what retrieval would send to an engine: the code that each strategy finds at a place, or how good it is over a suite.
    #[command(after_help = "Examples:
  ghostbench retrieve src/app.py:120:17                     what each strategy would send at line 120, column 17
  ghostbench retrieve src/app.py:120:17 --strategy hybrid --budget 1024
  ghostbench retrieve cases.jsonl --workspace .             how much of the truths each strategy finds
  ghostbench retrieve src/app.py:120:17 --strategy functions --embeddings http://127.0.0.1:8080")]
    Retrieve(RetrieveArgs),
}

/// Which cases to mine.
#[derive(Debug, clap::Args)]
pub(crate) struct MiningArgs {
    /// Cases to mine. Those of cross_file come in threes: one hole with no context, with what retrieval finds, and with what it finds
    /// when it sees the truth. With 400 in all scenarios, 57 ask whether an engine is silent where nothing is missing: enough to tell
    /// restraint of 80 % from 55 %.
    #[arg(long, default_value_t = 400, value_name = "N")]
    pub(crate) cases: usize,
    /// Seed of every random choice; the same tree and seed give the same cases.
    #[arg(long, default_value_t = 1, value_name = "S")]
    pub(crate) seed: u64,
    /// Scenario to mine; may be given more than once [default: all five].
    #[arg(long = "scenario", value_name = "SCENARIO", value_parser = parse_scenario)]
    pub(crate) scenarios: Vec<Scenario>,
    /// Proportions of the block kinds.
    #[arg(long, value_enum, default_value_t = MixArg::Even)]
    pub(crate) mix: MixArg,
}

/// In which proportions block kinds are drawn.
#[derive(Clone, Copy, Debug, ValueEnum)]
pub(crate) enum MixArg {
    /// Evenly, as Codev-Bench does; a tenth of what it calls statements are imports.
    Even,
    /// As people ask, by Codev-Bench's industrial log; imports as before.
    RealUse,
}

/// Where settings come from, besides their usual places.
#[derive(Debug, clap::Args)]
pub(crate) struct SettingsArgs {
    /// File of settings that beats all others. Naming it is trusting it.
    #[arg(long = "config", value_name = "FILE")]
    pub(crate) file: Option<PathBuf>,
}

/// Which engines to ask.
#[derive(Debug, clap::Args)]
pub(crate) struct EngineArgs {
    /// Engine to ask; may be given more than once [default: all of the settings, else builtin]. Known are those of the settings, and
    /// builtin with its controls longest-match, nearest-line and empty.
    #[arg(long = "engine", value_name = "NAME")]
    pub(crate) engines: Vec<String>,
    /// What else is set.
    #[command(flatten)]
    pub(crate) settings: SettingsArgs,
    /// Requests under way at once [default: one per core].
    #[arg(long, value_name = "N")]
    pub(crate) jobs: Option<NonZeroUsize>,
    /// Which cases to ask once more with those files hidden that hold a copy of the truth (a copied or renamed function, a backup, generated
    /// code). An engine that reads no other file is not asked again.
    #[arg(long, value_enum, default_value_t, value_name = "CASES")]
    pub(crate) no_copies: NoCopiesArg,
    /// Where answers are recorded.
    #[command(flatten)]
    pub(crate) cassette: CassetteArgs,
}

/// Which cases are asked once more without copies of their truths.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, ValueEnum)]
pub(crate) enum NoCopiesArg {
    /// None.
    Off,
    /// Those whose truth has a copy in another file; of the others the answer is known to be the same.
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

/// Where answers are recorded, and come from instead of engines.
#[derive(Debug, clap::Args)]
pub(crate) struct CassetteArgs {
    /// File of recorded answers: what it holds is replayed, all else is asked and added to it. It holds code, and no keys.
    #[arg(id = "cassette", long = "cassette", value_name = "FILE")]
    pub(crate) file: Option<PathBuf>,
    /// Ask nobody beyond Ghostbench itself: whatever the cassette does not hold is an error.
    #[arg(long)]
    pub(crate) offline: bool,
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
    /// Engine to serve; may be given more than once: the first one writes the ghost text, all are replayed [default: all of the settings,
    /// else builtin]. Known are those of the settings, and builtin with its controls longest-match, nearest-line and empty.
    #[arg(long = "engine", value_name = "NAME")]
    pub(crate) engines: Vec<String>,
    /// What else is set.
    #[command(flatten)]
    pub(crate) settings: SettingsArgs,
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

/// `ghostbench index`.
#[derive(Debug, clap::Args)]
pub(crate) struct IndexArgs {
    /// Workspace to index.
    #[arg(default_value = ".", conflicts_with_all = ["list", "clear"])]
    pub(crate) path: PathBuf,
    /// List the caches instead.
    #[arg(long, conflicts_with = "clear")]
    pub(crate) list: bool,
    /// Remove all caches instead.
    #[arg(long)]
    pub(crate) clear: bool,
    /// Print as JSON.
    #[arg(long)]
    pub(crate) json: bool,
}

/// `ghostbench report`.
#[derive(Debug, clap::Args)]
pub(crate) struct ReportArgs {
    /// Folder of a run.
    pub(crate) run: PathBuf,
    /// What to print.
    #[arg(long, value_enum, default_value_t = ReportFormat::Table)]
    pub(crate) format: ReportFormat,
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

/// `ghostbench retrieve`.
#[derive(Debug, clap::Args)]
pub(crate) struct RetrieveArgs {
    /// A place as FILE:LINE:COLUMN, counted from 1 as editors do, or a suite.
    #[arg(value_name = "FILE:LINE:COLUMN | SUITE", value_parser = parse_target)]
    pub(crate) target: RetrieveTarget,
    /// Strategy to ask; may be given more than once [default: that of the settings, else hybrid, symbols, functions, bm25-chunks]. Known are those, recent (which
    /// knows what was edited, and so nothing here) and none.
    #[arg(long = "strategy", value_name = "NAME")]
    pub(crate) strategies: Vec<Strategy>,
    /// Tokens that each may send, of four bytes [default: that of the settings, else 512].
    #[arg(long, value_name = "TOKENS", value_parser = clap::value_parser!(u32).range(1..))]
    pub(crate) budget: Option<u32>,
    /// The code to search [default for a place: this folder].
    #[arg(long, value_name = "DIR")]
    pub(crate) workspace: Option<PathBuf>,
    /// By what functions are alike.
    #[command(flatten)]
    pub(crate) embeddings: EmbeddingArgs,
    /// What else is set.
    #[command(flatten)]
    pub(crate) settings: SettingsArgs,
    /// Seed of the intervals.
    #[arg(long, default_value_t = 1, value_name = "S")]
    pub(crate) seed: u64,
    /// Print everything as JSON.
    #[arg(long)]
    pub(crate) json: bool,
}

/// `ghostbench doctor`.
#[derive(Debug, clap::Args)]
pub(crate) struct DoctorArgs {
    /// Folder of the workspace.
    #[arg(default_value = ".")]
    pub(crate) path: PathBuf,
    /// What else is set.
    #[command(flatten)]
    pub(crate) settings: SettingsArgs,
    /// Print everything as JSON.
    #[arg(long)]
    pub(crate) json: bool,
}

/// `ghostbench trust`.
#[derive(Debug, clap::Args)]
pub(crate) struct TrustArgs {
    /// Folder of the workspace, or its file.
    #[arg(default_value = ".")]
    pub(crate) path: PathBuf,
    /// List what is trusted instead.
    #[arg(long, conflicts_with = "remove")]
    pub(crate) list: bool,
    /// Trust the file no more.
    #[arg(long)]
    pub(crate) remove: bool,
    /// Print as JSON.
    #[arg(long)]
    pub(crate) json: bool,
}

/// `ghostbench config`.
#[derive(Debug, clap::Args)]
#[command(arg_required_else_help = true)]
pub(crate) struct ConfigArgs {
    /// What to show.
    #[command(subcommand)]
    pub(crate) command: ConfigCommand,
}

/// What can be shown of the settings.
#[derive(Clone, Copy, Debug, Subcommand)]
pub(crate) enum ConfigCommand {
    /// Print the JSON schema of ghostbench.toml.
    #[command(after_help = "Example:
  ghostbench config schema > ghostbench.schema.json")]
    Schema,
}

/// Where embeddings come from.
#[derive(Debug, clap::Args)]
pub(crate) struct EmbeddingArgs {
    /// Let embeddings of this server tell which functions are alike, rather than words: any server that speaks OpenAI's /v1/embeddings.
    /// The workspace's functions are sent to it, each one once.
    #[arg(long = "embeddings", value_name = "URL")]
    pub(crate) server: Option<String>,
    /// Model that the server shall use, where it has several.
    #[arg(long = "embedding-model", value_name = "NAME", requires = "server")]
    pub(crate) model: Option<String>,
    /// Environment variable that holds the server's key.
    #[arg(long = "embedding-key-env", value_name = "VARIABLE", requires = "server")]
    pub(crate) key_variable: Option<String>,
}

/// What to retrieve for.
#[derive(Clone, Debug)]
pub(crate) enum RetrieveTarget {
    /// One place.
    Place(CursorArg),
    /// The places of a suite's cases.
    Suite(PathBuf),
}

/// A place in a file.
#[derive(Clone, Debug)]
pub(crate) struct CursorArg {
    /// The file.
    pub(crate) path: PathBuf,
    /// Line, from 1.
    pub(crate) line: u32,
    /// Column in characters, from 1.
    pub(crate) column: u32,
}

/// How a report is printed.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum ReportFormat {
    /// A table for the terminal.
    Table,
    /// Every number, for programs.
    Json,
    /// A table for pull requests and wikis.
    Markdown,
}

/// What ends in two numbers is a place, in the forms in which editors and compilers write one.
fn parse_target(word: &str) -> Result<RetrieveTarget, String> {
    match cursor_in(word) {
        Some(place) => Ok(RetrieveTarget::Place(place?)),
        None if word.ends_with(".jsonl") || Path::new(word).is_file() => {
            Ok(RetrieveTarget::Suite(word.into()))
        }
        None => Err("name a place as FILE:LINE:COLUMN, or a suite (a .jsonl file)".to_owned()),
    }
}

fn parse_cursor(word: &str) -> Result<CursorArg, String> {
    cursor_in(word).unwrap_or_else(|| Err("name a place as FILE:LINE:COLUMN".to_owned()))
}

/// `FILE:LINE:COLUMN`, perhaps with a colon behind it, or `FILE(LINE,COLUMN)`; `None` for what is no place at all.
fn cursor_in(word: &str) -> Option<Result<CursorArg, String>> {
    let is_number = |text: &str| {
        let digits = text.trim_start_matches(['-', '+']);
        !digits.is_empty() && digits.bytes().all(|byte| byte.is_ascii_digit())
    };
    let bare = word.strip_suffix(':').unwrap_or(word);
    let in_brackets = || {
        let (path, numbers) = bare.strip_suffix(')')?.rsplit_once('(')?;
        let (line, column) = numbers.split_once(',')?;
        Some((path, line, column)).filter(|_| is_number(line) && is_number(column))
    };
    let with_colons = || {
        let (rest, column) = bare.rsplit_once(':')?;
        let (path, line) = rest.rsplit_once(':')?;
        Some((path, line, column)).filter(|_| is_number(line) && is_number(column))
    };
    let Some((path, line, column)) = with_colons().or_else(in_brackets) else {
        let has_line = bare.rsplit_once(':').is_some_and(|(_, line)| is_number(line));
        if has_line {
            return Some(Err("name the column too: FILE:LINE:COLUMN".to_owned()));
        }
        let is_code = Language::from_path(word).is_some();
        return is_code.then(|| Err(format!("name the line and the column too: {word}:LINE:COLUMN")));
    };
    Some(match (line.parse(), column.parse()) {
        (Ok(line @ 1..), Ok(column @ 1..)) => Ok(CursorArg { path: path.into(), line, column }),
        _ => Err(format!("lines and columns count from 1 to {}", u32::MAX)),
    })
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
