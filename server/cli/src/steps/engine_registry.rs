//! The engines of a command and their settings; the engine registry of this machine.

use std::sync::Arc;

use cases::{Case, NO_COPIES_SUFFIX};
use completion::{CompletionSettings, ConfiguredEngine, WorkspaceIndex};
use config::Config;
use engines::{Cassette, HashKey, HttpEngine, RegisteredEngine, Registry, RegistryOptions, Role};
use index::Strategy;
use replay::{DataFolder, TruthCopies};
use session::role_settings;

use crate::args::NoCopiesArg;
use crate::exit::UsageError;
use crate::folders;
use crate::output::print_message;

/// Returns a registry for engines that are measured or served: runs on this machine are comparable. Answers are recorded if there is a
/// cassette.
pub(crate) fn registry(cassette: Option<&Arc<Cassette>>) -> Registry {
    Registry::new(RegistryOptions {
        cassette: cassette.cloned(),
        hash_key: hash_key(),
        file_hashes: folders::cache_path().map(|folder| folder.join("file-hashes")),
        inherited: std::env::vars_os().collect(),
        logs: folders::engine_logs(),
    })
}

/// Returns a registry for engines that are listed or checked; it stores only logs.
pub(crate) fn registry_without_runs() -> Registry {
    Registry::new(RegistryOptions { logs: folders::engine_logs(), ..RegistryOptions::default() })
}

/// Returns this machine's key. Without a usable key, other processes cannot resume the runs of this one.
fn hash_key() -> HashKey {
    let Some(data) = folders::data_path() else { return HashKey::random() };
    DataFolder::new(data).hash_key().unwrap_or_else(|error| {
        print_message(&format!("warning: {error}; runs made now cannot be resumed"));
        HashKey::random()
    })
}

/// Returns the configured engine `name`, which must be an HTTP engine: only those send prompts.
pub(crate) fn http_engine(config: &Config, name: &str) -> Result<HttpEngine, UsageError> {
    let engine = config.engines.iter().find(|engine| engine.name == name);
    let engine = engine.ok_or_else(|| UsageError(format!("there is no engine `{name}` in the settings")))?;
    let settings = engine.settings.as_ref().map_err(ToString::to_string);
    settings
        .and_then(engines::http_engine)
        .map_err(|obstacle| UsageError(format!("engine `{name}` sends no prompts: {obstacle}")))
}

/// Returns the engines called `names`, or the default ones, and prints which others are unavailable.
pub(crate) fn select_for_run(
    config: &Config,
    names: &[String],
    cassette: Option<&Arc<Cassette>>,
) -> Result<Vec<RegisteredEngine>, UsageError> {
    let selection =
        registry(cassette).select(config, names).map_err(|error| UsageError(error.to_string()))?;
    selection.notes.iter().for_each(|note| print_message(note));
    Ok(selection.engines)
}

/// Returns the engine that decides which cases are too easy: the built-in one with its replay settings.
pub(crate) fn judge() -> ConfiguredEngine {
    let engine = RegisteredEngine::default_engine();
    let judge = ConfiguredEngine::new(&engine, Role::Replay, CompletionSettings::for_replay());
    judge.expect("the built-in engine can always be asked")
}

/// Returns the engines with their replay settings. If truths of the suite have copies in the workspace, each engine that reads other
/// files is added once more without the files that hold the copies.
pub(crate) fn engines_for_replay(
    engines: &[RegisteredEngine],
    config: &Config,
    world: &WorkspaceIndex,
    cases: &[Case],
    no_copies: NoCopiesArg,
) -> (Vec<ConfiguredEngine>, TruthCopies) {
    let mut configured = configured_engines(engines, config);
    let without: Vec<ConfiguredEngine> = configured.iter().filter_map(without_copies).collect();
    if no_copies == NoCopiesArg::Off || without.is_empty() {
        return (configured, TruthCopies::default());
    }
    let copies = TruthCopies::find(cases, world, no_copies == NoCopiesArg::All);
    if no_copies == NoCopiesArg::All || !copies.rows().is_empty() {
        configured.extend(without);
    }
    let copies = copies.with_same_requests(cases, &configured, world);
    (configured, copies)
}

/// Returns the engines with their replay settings, and those that read other files once more without the files that hold copies.
pub(crate) fn with_and_without_copies(
    engines: &[RegisteredEngine],
    config: &Config,
) -> Vec<ConfiguredEngine> {
    let mut configured = configured_engines(engines, config);
    configured.extend(configured.iter().filter_map(without_copies).collect::<Vec<_>>());
    configured
}

/// Returns the engines with their replay settings.
fn configured_engines(engines: &[RegisteredEngine], config: &Config) -> Vec<ConfiguredEngine> {
    let settings = role_settings(Role::Replay, config);
    let configured = |engine| ConfiguredEngine::new(engine, Role::Replay, settings.clone());
    engines.iter().filter_map(configured).collect()
}

/// Returns the engine without the files that hold a copy of the case's truth; `None` if it reads no file except the case's.
fn without_copies(asked: &ConfiguredEngine) -> Option<ConfiguredEngine> {
    let reads_context = asked.engine.reads_context() && asked.settings.strategy != Strategy::None;
    (asked.engine.reads_workspace() || reads_context).then(|| ConfiguredEngine {
        engine: engines::with_name(
            Arc::clone(&asked.engine),
            &format!("{}{NO_COPIES_SUFFIX}", asked.engine.description().name),
        ),
        settings: CompletionSettings { hide_near_duplicates: true, ..asked.settings.clone() },
        price: asked.price,
        cutoff: asked.cutoff.clone(),
        identity: asked.identity.clone(),
    })
}

#[cfg(test)]
mod tests {
    use replay::engine_identity;
    use session::EngineSource;

    use super::*;

    #[test]
    fn editor_and_command_line_replay_the_same_engine() {
        let config = Config::new(&[], &config::Environment::default());
        let engine = RegisteredEngine::default_engine();
        let in_editor = EngineSource::default().serve(&config);
        let replayed = in_editor.in_role(Role::Replay).next().expect("the built-in engine");
        let here =
            engines_for_replay(&[engine], &config, &WorkspaceIndex::empty(), &[], NoCopiesArg::default()).0;
        let [here] = here.try_into().ok().expect("the built-in engine alone");
        assert_eq!(engine_identity(replayed), engine_identity(&here));
        let ghost_text = engine_identity(in_editor.ghost_text());
        assert_ne!(ghost_text, engine_identity(&here), "the editor shows only likely answers");
    }
}
