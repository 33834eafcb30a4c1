//! Arguments of `ghostbench engines`.

use std::path::PathBuf;

use clap::Subcommand;

use super::values::parse_cursor;
use super::{CassetteArgs, CursorArg, SettingsArgs};

/// `ghostbench engines`.
#[derive(Debug, clap::Args)]
#[command(arg_required_else_help = true)]
pub(crate) struct EnginesArgs {
    /// The subcommand.
    #[command(subcommand)]
    pub(crate) command: EnginesCommand,
}

/// Subcommands of `ghostbench engines`.
#[derive(Debug, Subcommand)]
pub(crate) enum EnginesCommand {
    /// List the engines with their models, and why any of them are unavailable.
    #[command(after_help = "Example:
  ghostbench engines list --config ci.toml")]
    List(EnginesListArgs),
    /// Check each engine with a few requests: availability, speed, streaming, cancellation and template.
    #[command(
        after_help = "Requests a few completions with nearly forced text, with the chosen template and with others, to tell apart a wrong
template, a chat model and a model without fill-in-the-middle. Exit code 1 means that there are problems, 3 that an engine
gave no answer. Examples:
  ghostbench engines check                      all configured engines
  ghostbench engines check --engine qwen --json    one, for scripts"
    )]
    Check(EnginesCheckArgs),
    /// Complete once at a position, like the editor, and show details.
    #[command(after_help = "Examples:
  ghostbench engines complete src/app.py:120:17                            by the engine that writes the ghost text
  ghostbench engines complete src/app.py:120:17 --engine a --engine b      by these two, one after the other
  ghostbench engines complete src/app.py:120:17 --prompt                   with the prompt
  ghostbench engines complete src/app.py:120:17 --explain --invoked        with the source of each part, uncertain ones included")]
    Complete(EnginesCompleteArgs),
    /// Convert a file of prompts and answers to a cassette, for engines whose model was run by another program.
    #[command(
        after_help = "A row of the file is a line of JSON with `prompt`, the text as the model read it, and its answer as `answer`, `output` or \
`completion`. Optional fields are the end of the answer (`finish`, `finish_reason` or `stop_reason`) and the model (`model`): an engine \
with another model ignores the row. Examples:
  ghostbench engines cassette answers.jsonl --engine qwen --out cassette.jsonl
  ghostbench replay cases.jsonl --engine qwen --cassette cassette.jsonl --offline"
    )]
    Cassette(EnginesCassetteArgs),
}

/// `ghostbench engines check`.
#[derive(Debug, clap::Args)]
pub(crate) struct EnginesCheckArgs {
    /// Folder of the workspace.
    #[arg(default_value = ".")]
    pub(crate) path: PathBuf,
    /// Engine to check; may be given more than once [default: all configured engines, else builtin].
    #[arg(long = "engine", value_name = "NAME")]
    pub(crate) engines: Vec<String>,
    /// Additional settings.
    #[command(flatten)]
    pub(crate) settings: SettingsArgs,
    /// Print everything as JSON.
    #[arg(long)]
    pub(crate) json: bool,
}

/// `ghostbench engines complete`.
#[derive(Debug, clap::Args)]
pub(crate) struct EnginesCompleteArgs {
    /// The position; lines and columns count from 1, columns in characters. FILE(LINE,COLUMN) and a final colon are accepted too.
    #[arg(value_name = "FILE:LINE:COLUMN", value_parser = parse_cursor)]
    pub(crate) place: CursorArg,
    /// Engine to run; may be given more than once [default: the one that writes the ghost text].
    #[arg(long = "engine", value_name = "NAME")]
    pub(crate) engines: Vec<String>,
    /// The workspace.
    #[arg(long, default_value = ".", value_name = "DIR")]
    pub(crate) workspace: PathBuf,
    /// Complete as on explicit invocation: show uncertain answers and alternatives.
    #[arg(long)]
    pub(crate) invoked: bool,
    /// Show the source of each part of the text, how far the code before it matches, and why the text ends.
    #[arg(long)]
    pub(crate) explain: bool,
    /// Show the prompt sent to the model.
    #[arg(long)]
    pub(crate) prompt: bool,
    /// Additional settings.
    #[command(flatten)]
    pub(crate) settings: SettingsArgs,
    /// Recording of answers.
    #[command(flatten)]
    pub(crate) cassette: CassetteArgs,
    /// Print everything as JSON.
    #[arg(long)]
    pub(crate) json: bool,
}

/// `ghostbench engines cassette`.
#[derive(Debug, clap::Args)]
pub(crate) struct EnginesCassetteArgs {
    /// The prompts and answers.
    pub(crate) answers: PathBuf,
    /// Engine that gives these answers; may be given more than once. It must have a template (`fim`), with which it sends prompts.
    #[arg(long = "engine", value_name = "NAME", required = true)]
    pub(crate) engines: Vec<String>,
    /// File for the cassette, which must not exist yet.
    #[arg(long, value_name = "FILE")]
    pub(crate) out: PathBuf,
    /// Additional settings.
    #[command(flatten)]
    pub(crate) settings: SettingsArgs,
}

/// `ghostbench engines list`.
#[derive(Debug, clap::Args)]
pub(crate) struct EnginesListArgs {
    /// Folder of the workspace.
    #[arg(default_value = ".")]
    pub(crate) path: PathBuf,
    /// Additional settings.
    #[command(flatten)]
    pub(crate) settings: SettingsArgs,
    /// Print as JSON.
    #[arg(long)]
    pub(crate) json: bool,
}
