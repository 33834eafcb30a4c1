//! Arguments of `ghostbench trial`.

use std::path::PathBuf;

use cases::{AssignmentUnit, Metric, PrivacyLevel, TrialMode};
use clap::{ArgGroup, Subcommand, ValueEnum};

use super::values::{
    parse_arm_limit, parse_arm_number, parse_holdout, parse_margin, parse_moment, parse_trial_metric,
};
use super::{SettingsArgs, TrialScoreboardArgs};

/// `ghostbench trial`.
#[derive(Debug, clap::Args)]
#[command(arg_required_else_help = true)]
pub(crate) struct TrialArgs {
    /// The subcommand.
    #[command(subcommand)]
    pub(crate) command: TrialCommand,
}

/// Subcommands of `ghostbench trial`.
#[derive(Debug, Subcommand)]
pub(crate) enum TrialCommand {
    /// Start a trial in a workspace: the engines that take part, their limits, and the question.
    #[command(
        after_help = "Names each engine that sends code off this machine or costs money, and asks once. Examples:
  ghostbench trial start --arm builtin                          record one engine
  ghostbench trial start --arm builtin --arm qwen --mode shadow    show builtin, and ask qwen the same in shadow
  ghostbench trial start --arm a --arm b --mode assign --unit day --holdout 0.1
  ghostbench trial start --arm a --arm b --mode shadow --requests-per-day b=300 --budget-per-day b=1.50 --yes"
    )]
    Start(TrialStartArgs),
    /// Stop the trial. Its opportunities are kept.
    #[command(after_help = "Example:
  ghostbench trial stop")]
    Stop(TrialPlaceArgs),
    /// Show the trial, and how much is recorded.
    #[command(after_help = "Examples:
  ghostbench trial status
  ghostbench trial status --json        for scripts")]
    Status(TrialPlaceArgs),
    /// Show which arm is better, equivalent, or not yet known, at any time of a trial.
    #[command(after_help = "Examples:
  ghostbench trial scoreboard                                 this workspace's trial
  ghostbench trial scoreboard --metric exact_in_time          only answers that were there before the next key count
  ghostbench trial scoreboard --html trial.html --open        with the truth and all answers of each opportunity
  ghostbench trial scoreboard ann.jsonl bob.jsonl --json      exported opportunities of two developers, for scripts")]
    Scoreboard(TrialScoreboardArgs),
    /// Show recorded opportunities. Only those that have been shown in full can be exported.
    #[command(after_help = "Examples:
  ghostbench trial review --since 7d                    the code at each cursor, the answers and the truth
  ghostbench trial review --path src/app.py --full      everything that an export would contain
  ghostbench trial review --full --json > all.jsonl     the same, for programs")]
    Review(TrialReviewArgs),
    /// Write reviewed opportunities as a bundle with a datasheet, or as a suite, or record them as cases of the workspace.
    #[command(after_help = "Asks once whether you agree. Examples:
  ghostbench trial export --out bundle.jsonl --consent 'I agree to its use by my team'
  ghostbench trial export --out bundle.jsonl --level structure --yes     with renamed identifiers and literals
  ghostbench trial export --out autocomplete.jsonl --format continue     as Continue's dev data
  ghostbench trial export --otlp http://localhost:4318                   spans and metrics, for a collector of OpenTelemetry
  ghostbench trial export --record --since 2h                            recorded cases, which editors show as code lenses
  ghostbench trial export --suite cases.jsonl                            ordinary cases, for:
  ghostbench replay cases.jsonl --workspace .
  ghostbench export cases.jsonl --format codev-bench --out rows          the same as rows of Codev-Bench")]
    Export(TrialExportArgs),
    /// Read a bundle, or another program's record of completions, into the store of a workspace.
    #[command(after_help = "Rows with the id of a recorded opportunity replace it. Examples:
  ghostbench trial import bundle.jsonl
  ghostbench trial import ~/.continue/dev_data/0.2.0/autocomplete.jsonl --format continue   without truths
  ghostbench trial import ~/.tabby/events/2026-01-02.json --format tabby                    likewise
  ghostbench trial import evals/ --format zed                                               likewise, examples in Markdown")]
    Import(TrialImportArgs),
    /// Delete opportunities, and their texts from all files of the store.
    #[command(after_help = "Examples:
  ghostbench trial forget --id 3f2a9c0d4b5e6f708192a3b4c5d6e7f8
  ghostbench trial forget --path src/secret        a file, or a folder
  ghostbench trial forget --since 2h               the last two hours
  ghostbench trial forget --all --yes")]
    Forget(TrialForgetArgs),
    /// Put bundles of several developers together.
    #[command(after_help = "Each row keeps its developer: the cluster in statistics. Example:
  ghostbench trial merge ann.jsonl bob.jsonl --out team.jsonl")]
    Merge(TrialMergeArgs),
    /// Check the recorder: type what the commits of repositories added, and compare the recorded truths with the commits.
    #[command(
        after_help = "Runs a language server with three simulated engines and a simulated clock in a temporary folder. Examples:
  ghostbench trial simulate .
  ghostbench trial simulate ~/src/click ~/src/fd --opportunities 1000 --json
  ghostbench trial simulate . --hours 0.05 --real-time           three minutes, as long as it takes a developer
  ghostbench trial simulate . --out rows.jsonl && ghostbench trial scoreboard rows.jsonl --html page.html"
    )]
    Simulate(TrialSimulateArgs),
}

/// `ghostbench trial simulate`.
#[derive(Debug, clap::Args)]
pub(crate) struct TrialSimulateArgs {
    /// Git repositories.
    #[arg(default_value = ".")]
    pub(crate) paths: Vec<PathBuf>,
    /// Commits to type, the newest first, as git names them.
    #[arg(long, value_name = "RANGE", default_value = "HEAD")]
    pub(crate) range: String,
    /// Number of opportunities per repository.
    #[arg(long, value_name = "N", default_value_t = 500)]
    pub(crate) opportunities: u64,
    /// Hours of typing per repository after which nothing more is typed than the text that was begun.
    #[arg(long, value_name = "N")]
    pub(crate) hours: Option<f64>,
    /// Number of times per repository that the server is killed and started again.
    #[arg(long, value_name = "N", default_value_t = 1)]
    pub(crate) kills: u32,
    /// Let time pass as usual. Typing takes as long as a developer takes: a few opportunities a minute.
    #[arg(long)]
    pub(crate) real_time: bool,
    /// File for the recorded opportunities, as a bundle: for `trial scoreboard`, for example.
    #[arg(long, value_name = "FILE")]
    pub(crate) out: Option<PathBuf>,
    /// Be an engine of a simulation, which answers with the text of this file.
    #[arg(long, value_name = "FILE", hide = true)]
    pub(crate) answer_with: Option<PathBuf>,
    /// Time until each of its answers.
    #[arg(long, value_name = "MS", default_value_t = 0, hide = true)]
    pub(crate) answer_after_ms: u64,
    /// Random seed.
    #[arg(long, value_name = "N", default_value_t = 1)]
    pub(crate) seed: u64,
    /// Print as JSON.
    #[arg(long)]
    pub(crate) json: bool,
}

/// The workspace of a trial.
#[derive(Debug, clap::Args)]
pub(crate) struct TrialPlaceArgs {
    /// Folder of the workspace.
    #[arg(default_value = ".")]
    pub(crate) path: PathBuf,
    /// Print as JSON.
    #[arg(long)]
    pub(crate) json: bool,
}

/// Selection of opportunities.
#[derive(Clone, Debug, Default, clap::Args)]
pub(crate) struct TrialFilterArgs {
    /// Opportunity with this id, or with an id that begins so.
    #[arg(long, value_name = "ID")]
    pub(crate) id: Option<String>,
    /// Opportunities in this file or folder.
    #[arg(long = "path", value_name = "PATH")]
    pub(crate) file: Option<PathBuf>,
    /// Opportunities of this language.
    #[arg(long, value_name = "LANGUAGE")]
    pub(crate) language: Option<String>,
    /// Opportunities of this trial.
    #[arg(long, value_name = "NAME")]
    pub(crate) trial: Option<String>,
    /// Opportunities from this moment on: 2026-01-31, 2026-01-31T08:00:00Z, or an age such as 7d or 2h.
    #[arg(long, value_name = "TIME", value_parser = parse_moment)]
    pub(crate) since: Option<i64>,
    /// Opportunities before this moment.
    #[arg(long, value_name = "TIME", value_parser = parse_moment)]
    pub(crate) until: Option<i64>,
}

/// Form of an exported file.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum TrialExportFormat {
    /// A datasheet and opportunities.
    Bundle,
    /// Continue's dev data, `autocomplete.jsonl`: the document, the shown answer, and whether it was accepted.
    Continue,
    /// OpenTelemetry: a span for each request of an arm, as one OTLP request; without code.
    OtlpSpans,
    /// OpenTelemetry: a log record for each metric of an answer, as one OTLP request; without code.
    OtlpEvaluations,
}

/// Form of an imported file.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum TrialImportFormat {
    /// A datasheet and opportunities.
    Bundle,
    /// Continue's dev data, `autocomplete.jsonl`.
    Continue,
    /// The event log of a Tabby server.
    Tabby,
    /// Zed's example of an edit prediction in Markdown, or a folder of them. The code around the cursor is the whole document.
    Zed,
}

/// `ghostbench trial start`.
#[derive(Debug, clap::Args)]
pub(crate) struct TrialStartArgs {
    /// Folder of the workspace.
    #[arg(default_value = ".")]
    pub(crate) path: PathBuf,
    /// Name of the trial [default: the present time].
    #[arg(long, value_name = "NAME")]
    pub(crate) name: Option<String>,
    /// Engine that takes part; may be given more than once. In `single` and `shadow`, the first one is shown.
    #[arg(long = "arm", value_name = "ENGINE", required = true)]
    pub(crate) arms: Vec<String>,
    /// Experiment: single (one engine, recorded), shadow (one is shown, the others answer the same), assign (each unit sees one of
    /// them), duel (both answer, and you choose without knowing the names, which `trial stop` reveals).
    #[arg(long, default_value_t = TrialMode::Single)]
    pub(crate) mode: TrialMode,
    /// Unit that keeps its engine in `assign`: user, day, session or file.
    #[arg(long, default_value_t = AssignmentUnit::Session)]
    pub(crate) unit: AssignmentUnit,
    /// Share of the opportunities at which nothing is shown, so that the truth owes nothing to an engine [default: 0.1 with several
    /// engines, else 0]. Without it, the scoreboard of several engines claims nothing about what they suggest.
    #[arg(long, value_name = "SHARE", value_parser = parse_holdout)]
    pub(crate) holdout: Option<f64>,
    /// Weight of an engine in random assignments; may be given more than once [default: 1 each].
    #[arg(long = "weight", value_name = "ENGINE=WEIGHT", value_parser = parse_arm_number)]
    pub(crate) weights: Vec<(String, f64)>,
    /// Limit of requests to an engine in 60 seconds; may be given more than once [default: 60 for engines in shadow].
    #[arg(long, value_name = "ENGINE=N", value_parser = parse_arm_limit)]
    pub(crate) requests_per_minute: Vec<(String, u32)>,
    /// Limit of requests to an engine a day; may be given more than once [default: 2000 for engines in shadow]. An engine that is shown
    /// suggests nothing beyond its limits.
    #[arg(long, value_name = "ENGINE=N", value_parser = parse_arm_limit)]
    pub(crate) requests_per_day: Vec<(String, u32)>,
    /// Limit of cost of an engine a day, in the currency of its prices; may be given more than once.
    #[arg(long, value_name = "ENGINE=AMOUNT", value_parser = parse_arm_number)]
    pub(crate) budget_per_day: Vec<(String, f64)>,
    /// Metric that decides.
    #[arg(long, value_name = "METRIC", default_value_t = Metric::ExactMatch, value_parser = parse_trial_metric)]
    pub(crate) primary: Metric,
    /// Difference below which two engines are equivalent.
    #[arg(long, value_name = "POINTS", default_value = "1pt", value_parser = parse_margin)]
    pub(crate) margin: f64,
    /// Start without asking.
    #[arg(long)]
    pub(crate) yes: bool,
    /// Additional settings.
    #[command(flatten)]
    pub(crate) settings: SettingsArgs,
    /// Print as JSON.
    #[arg(long)]
    pub(crate) json: bool,
}

/// `ghostbench trial review`.
#[derive(Debug, clap::Args)]
pub(crate) struct TrialReviewArgs {
    /// Folder of the workspace.
    #[arg(default_value = ".")]
    pub(crate) workspace: PathBuf,
    /// Selection.
    #[command(flatten)]
    pub(crate) filter: TrialFilterArgs,
    /// Show whole documents and context, as an export contains them. Marks the opportunities as reviewed.
    #[arg(long)]
    pub(crate) full: bool,
    /// Show opportunities that are not reviewed yet only.
    #[arg(long)]
    pub(crate) new: bool,
    /// Print as JSON Lines.
    #[arg(long)]
    pub(crate) json: bool,
}

/// `ghostbench trial export`.
#[derive(Debug, clap::Args)]
pub(crate) struct TrialExportArgs {
    /// Folder of the workspace.
    #[arg(default_value = ".")]
    pub(crate) workspace: PathBuf,
    /// Selection.
    #[command(flatten)]
    pub(crate) filter: TrialFilterArgs,
    /// File for the bundle.
    #[arg(long, value_name = "FILE", required_unless_present_any = ["suite", "record", "otlp"])]
    pub(crate) out: Option<PathBuf>,
    /// Form of the file.
    #[arg(long, value_enum, default_value_t = TrialExportFormat::Bundle)]
    pub(crate) format: TrialExportFormat,
    /// Collector of OpenTelemetry that receives spans and metrics, without code. Headers come from OTEL_EXPORTER_OTLP_HEADERS, as
    /// NAME=VALUE with commas between.
    #[arg(long, value_name = "URL")]
    pub(crate) otlp: Option<String>,
    /// File for a suite of the opportunities with a truth, as cases for `replay`. It stays yours: no datasheet, no consent.
    #[arg(long, value_name = "FILE")]
    pub(crate) suite: Option<PathBuf>,
    /// Add the opportunities with a truth to the recorded cases of the workspace, which stay on this machine: editors show each as a code
    /// lens that replays it. Only those whose code is stored as it is (level full).
    #[arg(long)]
    pub(crate) record: bool,
    /// Lower privacy level of the bundle: structure or metrics [default: as recorded].
    #[arg(long, value_name = "LEVEL", conflicts_with = "record")]
    pub(crate) level: Option<PrivacyLevel>,
    /// Words of your agreement, for the datasheet.
    #[arg(long, value_name = "TEXT", default_value = "exported by the developer")]
    pub(crate) consent: String,
    /// Agree without being asked.
    #[arg(long)]
    pub(crate) yes: bool,
    /// Print as JSON.
    #[arg(long)]
    pub(crate) json: bool,
}

/// `ghostbench trial import`.
#[derive(Debug, clap::Args)]
pub(crate) struct TrialImportArgs {
    /// The file.
    #[arg(id = "source", value_name = "FILE")]
    pub(crate) file: PathBuf,
    /// Form of the file.
    #[arg(long, value_enum, default_value_t = TrialImportFormat::Bundle)]
    pub(crate) format: TrialImportFormat,
    /// Folder of the workspace.
    #[arg(long, default_value = ".", value_name = "DIR")]
    pub(crate) workspace: PathBuf,
    /// Additional settings.
    #[command(flatten)]
    pub(crate) settings: SettingsArgs,
    /// Print as JSON.
    #[arg(long)]
    pub(crate) json: bool,
}

/// `ghostbench trial forget`.
#[derive(Debug, clap::Args)]
// The struct's own group contains every argument, so that `--yes` alone would do.
#[group(skip)]
#[command(group = ArgGroup::new("scope").required(true).multiple(true).args(["id", "file", "since", "until", "all"]))]
pub(crate) struct TrialForgetArgs {
    /// Folder of the workspace.
    #[arg(default_value = ".")]
    pub(crate) workspace: PathBuf,
    /// Opportunity with this id.
    #[arg(long, value_name = "ID", conflicts_with_all = ["file", "since", "until", "all"])]
    pub(crate) id: Option<String>,
    /// Opportunities in this file or folder.
    #[arg(long = "path", value_name = "PATH", conflicts_with_all = ["since", "until", "all"])]
    pub(crate) file: Option<PathBuf>,
    /// Opportunities from this moment on: 2026-01-31, 2026-01-31T08:00:00Z, or an age such as 7d or 2h.
    #[arg(long, value_name = "TIME", value_parser = parse_moment, conflicts_with = "all")]
    pub(crate) since: Option<i64>,
    /// Opportunities before this moment.
    #[arg(long, value_name = "TIME", value_parser = parse_moment, conflicts_with = "all")]
    pub(crate) until: Option<i64>,
    /// All opportunities, and damaged stores that were set aside.
    #[arg(long)]
    pub(crate) all: bool,
    /// Delete without asking.
    #[arg(long)]
    pub(crate) yes: bool,
    /// Print as JSON.
    #[arg(long)]
    pub(crate) json: bool,
}

/// `ghostbench trial merge`.
#[derive(Debug, clap::Args)]
pub(crate) struct TrialMergeArgs {
    /// The bundles.
    #[arg(required = true, num_args = 2.., value_name = "BUNDLE")]
    pub(crate) bundles: Vec<PathBuf>,
    /// File for the merged bundle.
    #[arg(long, value_name = "FILE")]
    pub(crate) out: PathBuf,
    /// Print as JSON.
    #[arg(long)]
    pub(crate) json: bool,
}
