//! Engines that are programs, as the configuration describes them.

use std::path::PathBuf;

use config::EngineSettings;
use engines::{
    CommandEngine, CommandSettings, LLAMA_SERVER, LlamaServerEngine, LlamaServerSettings, LspEngine,
    LspSettings, Program,
};

use super::http;
use crate::folders;

/// Stands in for the address of a server that is not running yet.
const NOWHERE: &str = "http://127.0.0.1:0";

/// Any program, or why it cannot be asked.
pub(super) fn command(settings: &EngineSettings) -> Result<CommandEngine, String> {
    let program = program(settings);
    program.check().map_err(|fault| fault.to_string())?;
    Ok(CommandEngine::new(CommandSettings {
        name: settings.name.clone(),
        program,
        model: settings.model.clone(),
        max_tokens: settings.max_tokens,
        at_once: settings.concurrency,
        start_timeout: settings.start_timeout,
    }))
}

/// A server for a file, or why there is none.
pub(super) fn llama_server(settings: &EngineSettings) -> Result<LlamaServerEngine, String> {
    let mut program = program(settings);
    if program.command.is_empty() {
        program.command.push(LLAMA_SERVER.to_owned());
    }
    let settings = LlamaServerSettings {
        program,
        gguf: settings.gguf.clone().ok_or("it needs `gguf`")?,
        log: log(&settings.name),
        start_timeout: settings.start_timeout,
        http: http::asking(settings, NOWHERE.to_owned())?,
    };
    LlamaServerEngine::new(settings).map_err(|error| error.to_string())
}

/// A language server, or why it cannot be asked.
pub(super) fn language_server(settings: &EngineSettings) -> Result<LspEngine, String> {
    let program = program(settings);
    program.check().map_err(|fault| fault.to_string())?;
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

fn program(settings: &EngineSettings) -> Program {
    Program { command: settings.command.clone(), env: settings.env.clone(), folder: settings.folder.clone() }
}

/// Where the program of an engine writes what it does. Names of engines may hold what names of files may not.
fn log(engine: &str) -> Option<PathBuf> {
    let file: String =
        engine.chars().map(|c| if c.is_alphanumeric() || c == '-' { c } else { '_' }).collect();
    Some(folders::engine_logs()?.join(format!("{file}.log")))
}
