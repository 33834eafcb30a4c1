//! Token counts of an engine's own tokenizer.

use std::cell::{Cell, RefCell};
use std::collections::HashMap;
use std::path::Path;

use completion::{CompletionSettings, ConfiguredEngine};
use engines::Role;
use tokio::runtime::Runtime;

use crate::exit::UsageError;
use crate::steps::engine_registry;
use crate::steps::run_replay::runtime;
use crate::steps::settings_sources::SettingsSources;

/// Longest text whose count is kept: lines repeat, contexts do not.
const MAX_KNOWN_BYTES: usize = 256;

/// Asks the server of an engine for counts; those of lines are kept.
pub(super) struct EngineTokens {
    engine: ConfiguredEngine,
    runtime: Runtime,
    known: RefCell<HashMap<String, usize>>,
    has_failed: Cell<bool>,
}

impl EngineTokens {
    /// Finds the engine by its name in the settings.
    ///
    /// # Errors
    ///
    /// There is no such engine, or it counts no tokens.
    pub(super) fn new(name: &str) -> anyhow::Result<EngineTokens> {
        let config = SettingsSources::new(None).config(Path::new("."))?;
        let registered = engine_registry::select_for_run(&config, &[name.to_owned()], None)?;
        let settings = CompletionSettings::for_replay();
        let engine = registered.first().and_then(|it| ConfiguredEngine::new(it, Role::Replay, settings));
        let engine = engine.ok_or_else(|| UsageError(format!("the engine `{name}` cannot be asked")))?;
        let tokens = EngineTokens {
            engine,
            runtime: runtime()?,
            known: RefCell::default(),
            has_failed: Cell::new(false),
        };
        tokens.count("x");
        tokens.check()?;
        Ok(tokens)
    }

    /// Returns the tokens of a text; 0 once the server has failed, which [`EngineTokens::check`] reports.
    pub(super) fn count(&self, text: &str) -> usize {
        if self.has_failed.get() {
            return 0;
        }
        if let Some(&count) = self.known.borrow().get(text) {
            return count;
        }
        let count = self.runtime.block_on(self.engine.engine.count_tokens(text));
        self.has_failed.set(count.is_none());
        let count = count.unwrap_or_default();
        if text.len() <= MAX_KNOWN_BYTES {
            self.known.borrow_mut().insert(text.to_owned(), count);
        }
        count
    }

    /// Fails if the server did not count a text.
    pub(super) fn check(&self) -> anyhow::Result<()> {
        if !self.has_failed.get() {
            return Ok(());
        }
        let name = self.engine.name();
        let remedy =
            "name an engine of kind llama-cpp, vllm or tgi whose server runs, or leave --tokenizer out";
        Err(UsageError(format!("the engine `{name}` counts no tokens; {remedy}")).into())
    }
}
