//! An engine in one of its roles, with the settings of the pipeline for this role.

use std::collections::BTreeMap;
use std::sync::Arc;

use engines::{Engine, RegisteredEngine, Role, TokenPrice};

use crate::settings::CompletionSettings;

/// An engine with the settings that completions are made with.
#[derive(Clone)]
pub struct ConfiguredEngine {
    /// The engine.
    pub engine: Arc<dyn Engine>,
    /// Settings of the completion pipeline.
    pub settings: CompletionSettings,
    /// Token price, if known.
    pub price: Option<TokenPrice>,
    /// Last day or month of the model's training data, if known.
    pub cutoff: Option<Arc<str>>,
    /// The user's configuration of the engine, by setting; values that may be secret are hashed with an [`engines::HashKey`].
    /// They override the engine's own description of the same settings.
    pub identity: Arc<BTreeMap<String, String>>,
}

impl ConfiguredEngine {
    /// Returns an engine in each of these roles; empty if it is unavailable. Reads the files that its settings name.
    pub fn in_roles(
        engine: &RegisteredEngine,
        roles: &[(Role, CompletionSettings)],
    ) -> Vec<(Role, ConfiguredEngine)> {
        let (price, cutoff) = (engine.price(), engine.cutoff().map(Arc::from));
        let identity = Arc::new(engine.identity());
        roles
            .iter()
            .filter_map(|(role, settings)| {
                let (engine, settings) = (Arc::clone(engine.in_role(*role)?), settings.clone());
                let (cutoff, identity) = (cutoff.clone(), Arc::clone(&identity));
                Some((*role, ConfiguredEngine { engine, settings, price, cutoff, identity }))
            })
            .collect()
    }

    /// Returns an engine in one role; `None` if it is unavailable. Reads the files that its settings name.
    pub fn new(
        engine: &RegisteredEngine,
        role: Role,
        settings: CompletionSettings,
    ) -> Option<ConfiguredEngine> {
        ConfiguredEngine::in_roles(engine, &[(role, settings)]).pop().map(|(_, engine)| engine)
    }

    /// Returns the engine with its settings for explicit invocations.
    pub fn invoked(&self) -> ConfiguredEngine {
        ConfiguredEngine { settings: self.settings.clone().invoked(), ..self.clone() }
    }

    /// Returns the user's name of the engine.
    pub fn name(&self) -> &str {
        &self.engine.description().name
    }
}
