//! `ghostbench trust`: manages the list of trusted workspace files. Only trusted files may configure engines.

use std::fmt::Write;
use std::path::{Path, PathBuf};

use anyhow::Context;
use config::{Config, ConfigLayer, EngineDefinition, LayerKind, Trust};
use serde_json::json;
use session::{read_settings_file, workspace_file};

use crate::args::TrustArgs;
use crate::exit::UsageError;
use crate::output::print;
use crate::steps::settings_sources;
use crate::steps::trust_list;

/// Keys that decide where code is sent, which programs run, and which API keys are used.
const SHOWN_KEYS: [&str; 7] = ["url", "command", "gguf", "api_key_env", "headers", "proxy", "extra_body"];

/// Runs the command.
pub(crate) fn run(args: &TrustArgs) -> anyhow::Result<()> {
    let text = match (args.list, args.remove) {
        (true, _) => list(args.json)?,
        (false, true) => remove(&args.path, args.json)?,
        (false, false) => add(&args.path, args.json)?,
    };
    Ok(print(&text)?)
}

/// Trusts a file in its current state, and prints the engines that it configures.
fn add(path: &Path, as_json: bool) -> anyhow::Result<String> {
    let file = file(path)?;
    let content = settings_sources::read_named(&file)?;
    let variables = settings_sources::variables();
    let layers = [ConfigLayer::file(LayerKind::Workspace, &file, &content, Trust::Trusted, &variables)];
    settings_sources::refuse_broken(&layers, LayerKind::Workspace)
        .context("the file is not trusted; fix it first")?;
    let config = Config::new(&layers, &variables);
    trust_list::update_trust_list(|store| store.trust(&file, &content))?;
    if as_json {
        let engines: Vec<_> = config.engines.iter().map(|engine| engine.name.as_str()).collect();
        return Ok(format!("{:#}\n", json!({ "trusted": file.to_string_lossy(), "engines": engines })));
    }
    let mut text = format!("trusted in its current state: {}\n", file.display());
    if !config.engines.is_empty() {
        text.push_str("it configures these engines:\n");
    }
    config.engines.iter().for_each(|engine| describe(&mut text, engine));
    Ok(text)
}

fn describe(text: &mut String, engine: &EngineDefinition) {
    let kind = engine.kind.map_or("no kind", |kind| kind.name());
    // Writing to a string cannot fail.
    let _ = writeln!(text, "  {} ({kind})", engine.name);
    for row in engine.values().iter().filter(|row| SHOWN_KEYS.contains(&row.key.name)) {
        let _ = writeln!(text, "    {} = {}", row.key.name, row.value.as_deref().unwrap_or_default());
    }
}

fn remove(path: &Path, as_json: bool) -> anyhow::Result<String> {
    // A deleted file can be removed by the path that the list shows.
    let file = file(path).unwrap_or_else(|_| path.to_owned());
    let was_trusted = trust_list::update_trust_list(|store| store.remove(&file))?;
    if as_json {
        let removed = was_trusted.then(|| file.to_string_lossy());
        return Ok(format!("{:#}\n", json!({ "removed": removed })));
    }
    let state = if was_trusted { "no longer trusted" } else { "was not trusted" };
    Ok(format!("{state}: {}\n", file.display()))
}

fn list(as_json: bool) -> anyhow::Result<String> {
    let store = trust_list::load_trust_list()?;
    let state = |path: &Path| match read_settings_file(path) {
        Ok(content) if store.trust_in(path, &content) == Trust::Trusted => "trusted",
        Ok(_) => "changed since",
        Err(_) => "not there",
    };
    let listed: Vec<(&Path, &str)> = store.paths().map(|path| (path, state(path))).collect();
    if as_json {
        return Ok(format!(
            "{:#}\n",
            json!(
                listed
                    .iter()
                    .map(|(path, state)| json!({ "path": path.to_string_lossy(), "state": state }))
                    .collect::<Vec<_>>()
            )
        ));
    }
    if listed.is_empty() {
        return Ok("no trusted files\n".to_owned());
    }
    Ok(listed.iter().map(|(path, state)| format!("{state:<13}  {}\n", path.display())).collect())
}

/// Returns the settings file: the path itself, or the file of that folder.
fn file(path: &Path) -> Result<PathBuf, UsageError> {
    if path.is_dir() {
        let missing = || {
            let name = config::FILE_NAME;
            UsageError(format!(
                "{} has no {name}, nor has a folder above it in its repository",
                path.display()
            ))
        };
        return workspace_file(path).ok_or_else(missing);
    }
    path.canonicalize().map_err(|error| {
        UsageError(format!("{}: {error}; name a folder or its {}", path.display(), config::FILE_NAME))
    })
}
