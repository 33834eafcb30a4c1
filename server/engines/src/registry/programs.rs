//! Creates engines that are programs from their settings.

use std::path::{Path, PathBuf};
use std::sync::Arc;

use config::{EngineKind, EngineSettings};

use super::http;
use crate::{
    Cassette, CommandEngine, CommandSettings, LLAMA_SERVER, LlamaServerEngine, LlamaServerSettings,
    LspEngine, LspSettings, Program,
};

/// Placeholder for the address of a server that is not running yet.
const PLACEHOLDER_URL: &str = "http://127.0.0.1:0";

/// Creates an engine for any program, or returns why that fails.
pub(super) fn command(
    settings: &EngineSettings,
    cassette: Option<&Arc<Cassette>>,
) -> Result<CommandEngine, String> {
    let program = checked_program(settings, cassette)?;
    Ok(CommandEngine::new(CommandSettings {
        name: settings.name.clone(),
        program,
        model: settings.model.clone(),
        max_tokens: settings.max_tokens,
        max_concurrency: settings.concurrency,
        start_timeout: settings.start_timeout,
    }))
}

/// Creates an engine for a model file, with a cassette if there is one; or returns why that fails. The server writes its log
/// into the folder for logs.
pub(super) fn llama_server(
    settings: &EngineSettings,
    cassette: Option<&Arc<Cassette>>,
    logs: Option<&Path>,
) -> Result<LlamaServerEngine, String> {
    let settings = LlamaServerSettings {
        program: program(settings),
        gguf: settings.gguf.clone().ok_or("it needs `gguf`")?,
        log: logs.map(|logs| log(logs, &settings.name)),
        start_timeout: settings.start_timeout,
        http: http::http_settings(settings, PLACEHOLDER_URL.to_owned())?,
        cassette: cassette.cloned(),
    };
    LlamaServerEngine::new(settings).map_err(|error| error.to_string())
}

/// Creates an engine for a language server, or returns why that fails.
pub(super) fn language_server(
    settings: &EngineSettings,
    cassette: Option<&Arc<Cassette>>,
) -> Result<LspEngine, String> {
    let program = checked_program(settings, cassette)?;
    Ok(LspEngine::new(LspSettings {
        name: settings.name.clone(),
        program,
        model: settings.model.clone(),
        request: settings.request.clone(),
        options: settings.initialization_options.clone(),
        settings: settings.settings.clone(),
        extra: settings.extra_body.clone(),
        start_timeout: settings.start_timeout,
        concurrency: settings.concurrency,
    }))
}

/// Returns the program, or why it can't be started. Offline it is not checked, because it may be missing.
fn checked_program(settings: &EngineSettings, cassette: Option<&Arc<Cassette>>) -> Result<Program, String> {
    let program = program(settings);
    if cassette.is_none_or(|cassette| !cassette.is_offline()) {
        program.check().map_err(|fault| fault.to_string())?;
    }
    Ok(program)
}

/// Returns the program of an engine that has one.
pub(super) fn program(settings: &EngineSettings) -> Program {
    let mut command = settings.command.clone();
    if command.is_empty() && settings.kind == EngineKind::LlamaServer {
        command.push(LLAMA_SERVER.to_owned());
    }
    Program { command, env: settings.env.clone(), folder: settings.folder.clone() }
}

/// Returns the log file of an engine. Engine names may contain characters that file names may not.
fn log(logs: &Path, engine: &str) -> PathBuf {
    let file: String =
        engine.chars().map(|c| if c.is_alphanumeric() || c == '-' { c } else { '_' }).collect();
    logs.join(format!("{file}.log"))
}
