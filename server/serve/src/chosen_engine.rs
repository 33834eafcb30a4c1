//! The engine that answers the requests at the front door: that of the settings, or an arm of the trial that runs.

use std::sync::{Arc, Mutex};

use cases::{Decision, EngineIdentity};
use completion::ConfiguredEngine;
use config::{Config, EngineKind, EngineSettings};
use engines::PassThrough;
use recording::{RunningTrial, TrialSession, Writer, choose_for_folder};
use session::{EffectiveSettings, Folder, lock};

/// Most servers whose connections are kept: those of the arms, before and after a change of the settings.
const MAX_SERVERS: usize = 8;

/// The engine of a request.
pub(crate) struct ChosenEngine {
    /// The settings in effect.
    pub(crate) settings: Arc<EffectiveSettings>,
    /// The engine.
    pub(crate) engine: ConfiguredEngine,
    /// Its identity.
    pub(crate) identity: EngineIdentity,
    /// The random decisions of the trial.
    pub(crate) decisions: Vec<Decision>,
    /// The trial that records the request.
    pub(crate) trial: Option<Arc<RunningTrial>>,
    /// Its kind and its server, if it has an address.
    pub(crate) server: Option<(EngineKind, Arc<PassThrough>)>,
}

/// The servers of engines, with their connections.
#[derive(Default)]
pub(crate) struct EngineServers(Mutex<Vec<(EngineSettings, Arc<PassThrough>)>>);

impl EngineServers {
    /// Returns the engine that answers a request; `None` if the session ends.
    pub(crate) async fn choose(&self, session: &TrialSession) -> Option<Arc<ChosenEngine>> {
        let folder: Option<Arc<Folder>> = session.folders.first();
        let settings = session.settings_in(folder.as_deref()).await?;
        let (writer, trial) = match &folder {
            Some(folder) => choose_for_folder(session, folder, &settings).await,
            None => (Writer::of_settings(&settings), None),
        };
        let Writer { engine, identity, decisions, .. } = writer;
        let server = self.server(&settings.config, &identity.name);
        Some(Arc::new(ChosenEngine { settings, engine, identity, decisions, trial, server }))
    }

    fn server(&self, config: &Config, name: &str) -> Option<(EngineKind, Arc<PassThrough>)> {
        let definition = config.engines.iter().find(|engine| engine.name == name)?;
        let settings = definition.settings.as_ref().ok()?;
        let mut known = lock(&self.0);
        if let Some((_, server)) = known.iter().find(|(known, _)| known == settings) {
            return Some((settings.kind, Arc::clone(server)));
        }
        // The registry has reported invalid settings.
        let server = Arc::new(engines::pass_through(settings).ok().flatten()?);
        known.insert(0, (settings.clone(), Arc::clone(&server)));
        known.truncate(MAX_SERVERS);
        Some((settings.kind, server))
    }
}
