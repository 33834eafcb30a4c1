//! Arguments of the commands for public benchmarks.

use std::num::NonZeroUsize;
use std::path::PathBuf;

use cases::ContextComments;
use clap::ValueEnum;
use syntax::Language;

use super::{BuildTestsArgs, CassetteArgs, SettingsArgs};

/// `ghostbench score`.
#[derive(Debug, clap::Args)]
pub(crate) struct ScoreArgs {
    /// Files that the benchmark's own tools made, plain or compressed by gzip, in any order; a folder means all files below it.
    #[arg(required = true, value_name = "FILE")]
    pub(crate) files: Vec<PathBuf>,
    /// Benchmark of the files.
    #[arg(long, value_enum)]
    pub(crate) format: BenchmarkName,
    /// Compute as the original's program does, with its bugs: for comparisons with published numbers.
    #[arg(long)]
    pub(crate) faithful: bool,
    /// Language of all cases of crosscodeeval, if neither their ids nor their files name it.
    #[arg(long, value_name = "LANGUAGE", value_parser = parse_language)]
    pub(crate) language: Option<Language>,
    /// Print every number as JSON instead of tables.
    #[arg(long)]
    pub(crate) json: bool,
}

/// A public benchmark.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum BenchmarkName {
    /// Codev-Bench: its result files, whose paths have the name of their mode and end with the number of their part (.0 to .3).
    CodevBench,
    /// CrossCodeEval: `line_completion*.jsonl` and `prediction.jsonl`.
    Crosscodeeval,
    /// RepoQA: the data set and an output file.
    Repoqa,
    /// YABLoCo: its table and document (or MERA's rows), a model's table of generations, and the results of its tests.
    Yabloco,
}

impl BenchmarkName {
    /// Returns the name.
    pub(crate) fn name(self) -> &'static str {
        match self {
            BenchmarkName::CodevBench => "codev-bench",
            BenchmarkName::Crosscodeeval => "crosscodeeval",
            BenchmarkName::Repoqa => "repoqa",
            BenchmarkName::Yabloco => "yabloco",
        }
    }
}

fn parse_language(name: &str) -> Result<Language, String> {
    Language::from_name(name).ok_or_else(|| "not one of the supported languages".to_owned())
}

/// `ghostbench build`.
#[derive(Debug, clap::Args)]
pub(crate) struct BuildArgs {
    /// Benchmark to build.
    #[arg(value_enum)]
    pub(crate) format: BenchmarkName,
    /// Repository to build it from.
    pub(crate) path: PathBuf,
    /// Folder for the files; existing files of their names are replaced.
    #[arg(long, value_name = "DIR")]
    pub(crate) out: PathBuf,
    /// Size: rows per file for codev-bench [default: 400], cases for crosscodeeval [default: 400], functions per language for repoqa
    /// [default: 10], functions per dependency category for yabloco [default: 14].
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u32).range(1..=1_000_000))]
    pub(crate) size: Option<u32>,
    /// Seed of all random choices of codev-bench and crosscodeeval.
    #[arg(long, default_value_t = 1, value_name = "S")]
    pub(crate) seed: u64,
    /// Language to build from; may be given more than once [default: all; for yabloco c and cpp].
    #[arg(long = "language", value_name = "LANGUAGE", value_parser = parse_language)]
    pub(crate) languages: Vec<Language>,
    /// Descriptions of the functions of repoqa.
    #[command(flatten)]
    pub(crate) describe: DescribeArgs,
    /// Unit tests of codev-bench.
    #[command(flatten)]
    pub(crate) tests: BuildTestsArgs,
    /// Compilation database of yabloco [default: compile_commands.json in the repository or in its folder `build`].
    #[arg(long, value_name = "FILE")]
    pub(crate) compile_commands: Option<PathBuf>,
    /// Folder of clangd's index for yabloco [default: .cache/clangd/index in the repository, in its folder `build`, or beside
    /// the compilation database].
    #[arg(long, value_name = "DIR")]
    pub(crate) clangd_index: Option<PathBuf>,
    /// Print the datasheet as JSON.
    #[arg(long)]
    pub(crate) json: bool,
    /// Number of threads [default: one per core].
    #[arg(long, value_name = "N")]
    pub(crate) jobs: Option<NonZeroUsize>,
}

/// The engine that describes the functions of RepoQA.
#[derive(Debug, clap::Args)]
pub(crate) struct DescribeArgs {
    /// Chat engine of the settings that describes the functions of repoqa; it gets their code [default: their documentation describes
    /// them].
    #[arg(id = "describer", long = "describe-with", value_name = "ENGINE")]
    pub(crate) engine: Option<String>,
    /// Additional settings.
    #[command(flatten)]
    pub(crate) settings: SettingsArgs,
    /// Recording of its answers.
    #[command(flatten)]
    pub(crate) cassette: CassetteArgs,
}

/// Where public files come from.
const SOURCES: &str = "\
Ghostbench contains no public data. Sources and licences:
  codev-bench         github.com/LingmaTongyi/Codev-Bench; no licence
  crosscodeeval       github.com/amazon-science/cceval; Apache-2.0
  repoqa              github.com/evalplus/repoqa, releases; Apache-2.0, the code keeps the licences of its projects
  yabloco             github.com/yabloco-codegen/yabloco-benchmark; MIT, the code keeps the licences of its projects; also MERA's rows
  safim               github.com/gonglinyuan/safim; see its page for the licence
  humaneval-infilling github.com/openai/human-eval-infilling; MIT
  repoeval            github.com/microsoft/CodeT, folder RepoCoder; MIT
  repobench           huggingface.co/datasets/tianyang/repobench_python_v1.1; see its page for the licence
  copilot-arena       github.com/lmarena/copilot-arena, data/copilot_arena_examples_v1.csv; see its page for the licence
  cursortab           github.com/cursortab/cursortab.nvim, server/eval/scenarios; see its page for the licence
  zed                 github.com/zed-industries/zed, crates/edit_prediction_cli/evals; see its page for the licence
";

/// `ghostbench import`.
#[derive(Debug, clap::Args)]
#[command(after_long_help = SOURCES, after_help = SOURCES)]
pub(crate) struct ImportArgs {
    /// Format of the files.
    #[arg(value_enum)]
    pub(crate) format: ImportFormat,
    /// The benchmark's files, plain or compressed by gzip; a folder means all files below it.
    #[arg(required = true, value_name = "FILE")]
    pub(crate) files: Vec<PathBuf>,
    /// File for the suite.
    #[arg(long, value_name = "FILE")]
    pub(crate) out: PathBuf,
    /// Language of all cases of copilot-arena; of crosscodeeval, if neither their ids nor their files name it.
    #[arg(long, value_name = "LANGUAGE", value_parser = parse_language)]
    pub(crate) language: Option<Language>,
    /// Contexts of repoqa.
    #[command(flatten)]
    pub(crate) contexts: ContextArgs,
    /// Keep texts that look like secrets instead of masking them: public rows stay as they are.
    #[arg(long)]
    pub(crate) keep_secrets: bool,
    /// Print the counts as JSON.
    #[arg(long)]
    pub(crate) json: bool,
}

/// The contexts that RepoQA's functions are hidden in.
#[derive(Debug, clap::Args)]
pub(crate) struct ContextArgs {
    /// Size of the contexts of repoqa in tokens; may be given more than once.
    #[arg(long = "context-tokens", value_name = "N", default_values_t = [16_384], value_parser = clap::value_parser!(u32).range(256..=2_000_000))]
    pub(crate) sizes: Vec<u32>,
    /// Comments in the contexts of repoqa; may be given more than once.
    #[arg(long = "comments", value_enum, value_name = "MODE", default_values_t = [CommentsArg::Kept])]
    pub(crate) comments: Vec<CommentsArg>,
    /// Hide each function of repoqa at ten depths. By default the i-th of a repository's functions is at the i-th depth, as in the
    /// original.
    #[arg(long)]
    pub(crate) all_depths: bool,
    /// Build the contexts of repoqa as the original's program does, with its bugs: for comparisons with published numbers.
    #[arg(long)]
    pub(crate) faithful: bool,
    /// Count the tokens of repoqa's contexts by the tokenizer of this engine's server [default: estimate them].
    #[arg(long, value_name = "ENGINE")]
    pub(crate) tokenizer: Option<String>,
}

/// Treatment of comments in a context.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum CommentsArg {
    /// Keep them.
    Kept,
    /// Remove them, and keep the function in its place by numbered lines.
    Padded,
    /// Remove them.
    Removed,
}

impl std::fmt::Display for CommentsArg {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(ContextComments::from(*self).name())
    }
}

impl From<CommentsArg> for ContextComments {
    fn from(comments: CommentsArg) -> ContextComments {
        match comments {
            CommentsArg::Kept => ContextComments::Kept,
            CommentsArg::Padded => ContextComments::Padded,
            CommentsArg::Removed => ContextComments::Removed,
        }
    }
}

/// Format of imported files.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum ImportFormat {
    /// Prompt or prediction rows, whose paths have the name of their mode.
    CodevBench,
    /// `line_completion*.jsonl`: with `oracle` or `rg1` in its name, a file's cases have its context.
    Crosscodeeval,
    /// The data set: a case for each function in each context.
    Repoqa,
    /// The table and its document, or MERA's rows.
    Yabloco,
    /// Problems of SAFIM.
    Safim,
    /// Problems of HumanEval-infilling.
    HumanevalInfilling,
    /// Tasks of RepoEval.
    Repoeval,
    /// Rows of RepoBench v1.1 as JSON Lines.
    Repobench,
    /// Table of Copilot Arena; the accepted completion is the right answer. Needs --language.
    CopilotArena,
    /// Scenarios of cursortab.nvim (`.txtar`) whose expected edit is an insertion at the cursor, or none.
    Cursortab,
    /// Examples of Zed's edit predictions (Markdown or JSON Lines) with an accepted patch that is an insertion at the cursor.
    Zed,
}
