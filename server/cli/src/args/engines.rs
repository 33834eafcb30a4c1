//! What can be typed behind `ghostbench engines`.

use std::path::PathBuf;

use clap::Subcommand;

use super::{CassetteArgs, CursorArg, SettingsArgs, parse_cursor};

/// `ghostbench engines`.
#[derive(Debug, clap::Args)]
#[command(arg_required_else_help = true)]
pub(crate) struct EnginesArgs {
    /// What to do with them.
    #[command(subcommand)]
    pub(crate) command: EnginesCommand,
}

/// What can be done with engines.
#[derive(Debug, Subcommand)]
pub(crate) enum EnginesCommand {
    /// List them, with their models, and why any of them is not asked.
    #[command(after_help = "Example:
  ghostbench engines list --config ci.toml")]
    List(EnginesListArgs),
    /// Ask each a few questions: is it there, how fast is it, does it stream, can it be stopped, and is its template the right one?
    #[command(
        after_help = "Asks for a few holes whose text is nearly forced, with the chosen template and with others, so that a wrong template, a
model for chats and a model that fills no holes are told apart. Exit code 1 means that something was found, 3 that an
engine gave no answer. Examples:
  ghostbench engines check                      all of the settings
  ghostbench engines check --engine qwen --json    one, for scripts"
    )]
    Check(EnginesCheckArgs),
    /// Complete once at a place, as the editor would, and show how it came about.
    #[command(after_help = "Examples:
  ghostbench engines complete src/app.py:120:17                            by the engine that writes the ghost text
  ghostbench engines complete src/app.py:120:17 --engine a --engine b      by these two, one after the other
  ghostbench engines complete src/app.py:120:17 --prompt                   with what the model was sent
  ghostbench engines complete src/app.py:120:17 --explain --invoked        where each part stands already, doubtful ones too")]
    Complete(EnginesCompleteArgs),
    /// Make a cassette out of a file of prompts and answers, for engines whose model was asked by another program.
    #[command(
        after_help = "A row of the file is a line of JSON with `prompt`, the text as the model read it, and its answer as `answer`, `output` or \
`completion`. It may tell how the answer ended (`finish`, `finish_reason` or `stop_reason`), and whose it is (`model`): an engine with \
another model does not get it. Examples:
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
    /// Engine to check; may be given more than once [default: all of the settings, else builtin].
    #[arg(long = "engine", value_name = "NAME")]
    pub(crate) engines: Vec<String>,
    /// What else is set.
    #[command(flatten)]
    pub(crate) settings: SettingsArgs,
    /// Print everything as JSON.
    #[arg(long)]
    pub(crate) json: bool,
}

/// `ghostbench engines complete`.
#[derive(Debug, clap::Args)]
pub(crate) struct EnginesCompleteArgs {
    /// The place; lines and columns count from 1, columns in characters. FILE(LINE,COLUMN) and a colon at the end are understood too.
    #[arg(value_name = "FILE:LINE:COLUMN", value_parser = parse_cursor)]
    pub(crate) place: CursorArg,
    /// Engine to ask; may be given more than once [default: the one that writes the ghost text].
    #[arg(long = "engine", value_name = "NAME")]
    pub(crate) engines: Vec<String>,
    /// The workspace.
    #[arg(long, default_value = ".", value_name = "DIR")]
    pub(crate) workspace: PathBuf,
    /// As if asked for by key rather than by typing: nothing is kept back for being doubtful, and what else there is to choose from is shown.
    #[arg(long)]
    pub(crate) invoked: bool,
    /// Show where each part of the text is copied from, how far the code before it matches, and why the text ends where it does.
    #[arg(long)]
    pub(crate) explain: bool,
    /// Show what the model was sent.
    #[arg(long)]
    pub(crate) prompt: bool,
    /// What else is set.
    #[command(flatten)]
    pub(crate) settings: SettingsArgs,
    /// Where answers are recorded.
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
    /// Engine that shall answer so; may be given more than once. It has to have a template (`fim`), which is how it sends prompts.
    #[arg(long = "engine", value_name = "NAME", required = true)]
    pub(crate) engines: Vec<String>,
    /// File for the cassette, which must not be there yet.
    #[arg(long, value_name = "FILE")]
    pub(crate) out: PathBuf,
    /// What else is set.
    #[command(flatten)]
    pub(crate) settings: SettingsArgs,
}

/// `ghostbench engines list`.
#[derive(Debug, clap::Args)]
pub(crate) struct EnginesListArgs {
    /// Folder of the workspace.
    #[arg(default_value = ".")]
    pub(crate) path: PathBuf,
    /// What else is set.
    #[command(flatten)]
    pub(crate) settings: SettingsArgs,
    /// Print as JSON.
    #[arg(long)]
    pub(crate) json: bool,
}
