//! Arguments of `ghostbench serve`.

use std::path::PathBuf;
use std::sync::Arc;

use engines::ScriptedReply;

use super::values::parse_rules;
use super::{LogLevel, SettingsArgs};

/// `ghostbench serve`.
#[derive(Debug, clap::Args)]
pub(crate) struct ServeArgs {
    /// Folders whose files the requests belong to. The settings of the first one choose the engine.
    #[arg(default_value = ".", value_name = "FOLDER")]
    pub(crate) folders: Vec<PathBuf>,
    /// Address and port to listen at [default: `serve.listen` in the settings].
    #[arg(long, value_name = "ADDRESS")]
    pub(crate) listen: Option<String>,
    /// Engine that answers [default: the configured one, else builtin].
    #[arg(long = "engine", value_name = "NAME")]
    pub(crate) engine: Option<String>,
    /// Additional settings.
    #[command(flatten)]
    pub(crate) settings: SettingsArgs,
    /// Rules of a scripted engine in front of the others, as JSON; for tests.
    #[arg(long, value_name = "JSON", value_parser = parse_rules, hide = true)]
    pub(crate) scripted: Option<Arc<[ScriptedReply]>>,
    /// Log verbosity.
    #[arg(long, value_enum, default_value_t = LogLevel::Info, value_name = "LEVEL")]
    pub(crate) log_level: LogLevel,
    /// Print the address as JSON.
    #[arg(long)]
    pub(crate) json: bool,
}
