//! The registry: the engines of the settings by name, and those that need no settings.
//!
//! ```text
//! config::Engine --kind--> one instance for each role --name--> RegisteredEngine
//!       └--identity--> the settings and files that can change its answers
//! ```
//!
//! The one place that knows which engine of this crate belongs to which kind of `config`: [`instances`]. Prints nothing, and knows no
//! editor and no run: callers report problems and decide how completions are made with an engine.

mod hash_key;
mod http;
mod identity;
mod programs;
mod selection;
#[cfg(test)]
mod tests;

use std::collections::BTreeMap;
use std::ffi::OsString;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, PoisonError, Weak};

use builtin::{BuiltinSettings, Method};
use config::{Config, EngineKind, EngineSettings};

use self::identity::{IdentityHasher, IdentityInput};
use crate::{BuiltinEngine, Cassette, Engine, HttpEngine, ScriptedEngine, ScriptedReply, recorded};

pub use self::http::pass_through;
pub use hash_key::{HASH_KEY, HashKey, is_hashed};
pub use selection::{EngineSelection, SelectionError, check_named_once};

/// The built-in engine, and the controls that show how much of its score is plain copying.
const WITHOUT_SETTINGS: [(&str, Method); 4] = [
    ("builtin", Method::Hybrid),
    ("longest-match", Method::LongestMatch),
    ("nearest-line", Method::NearestLine),
    ("empty", Method::Empty),
];

/// The engine that is asked if there is no other.
pub const DEFAULT_ENGINE: &str = WITHOUT_SETTINGS[0].0;

/// The use of an engine. An engine has one instance for each role, which may be the same one.
///
/// To add a role, add a variant, list it in [`Role::ALL`], and decide for each kind in [`instances`].
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Role {
    /// Writes the ghost text. The built-in engine holds doubtful text back.
    GhostText,
    /// Answers recorded cases for measuring, and holds nothing back.
    Replay,
}

impl Role {
    /// All roles, in the order of their declaration.
    pub const ALL: [Role; 2] = [Role::GhostText, Role::Replay];
}

/// An engine in all its roles.
#[derive(Clone)]
struct RoleInstances([Arc<dyn Engine>; Role::ALL.len()]);

impl RoleInstances {
    /// One instance for all roles.
    fn shared(engine: Arc<dyn Engine>) -> RoleInstances {
        RoleInstances(Role::ALL.map(|_| Arc::clone(&engine)))
    }

    fn in_role(&self, role: Role) -> &Arc<dyn Engine> {
        &self.0[role as usize]
    }
}

/// The engine, with its answers from the cassette if there is one.
fn on_cassette(engine: impl Engine + 'static, cassette: Option<&Arc<Cassette>>) -> Arc<dyn Engine> {
    let engine: Arc<dyn Engine> = Arc::new(engine);
    match cassette {
        Some(cassette) => recorded(engine, cassette),
        None => engine,
    }
}

/// Creates the engine that these settings describe, or returns why there is none. Its answers come from the cassette and are recorded
/// there, if there is one; the built-in engine always gives the same answers and needs none.
fn instances(
    engine: &EngineSettings,
    cassette: Option<&Arc<Cassette>>,
    logs: Option<&Path>,
) -> Result<RoleInstances, String> {
    match engine.kind {
        EngineKind::Builtin => Ok(builtin_instance(&engine.name, engine.method)),
        EngineKind::Command => {
            Ok(RoleInstances::shared(on_cassette(programs::command(engine, cassette)?, cassette)))
        }
        EngineKind::LlamaServer => {
            Ok(RoleInstances::shared(Arc::new(programs::llama_server(engine, cassette, logs)?)))
        }
        // A process for each role: ghost text does not wait for measuring, and neither server sees the other's documents.
        EngineKind::Lsp => {
            let server = || Ok(on_cassette(programs::language_server(engine, cassette)?, cassette));
            let [ghost_text, replay] = Role::ALL.map(|_| -> Result<_, String> { server() });
            Ok(RoleInstances([ghost_text?, replay?]))
        }
        EngineKind::Scripted => Err(format!("engines of kind `{}` are for tests alone", engine.kind)),
        _ => {
            let engine = http::engine(engine)?;
            Ok(RoleInstances::shared(Arc::new(match cassette {
                Some(cassette) => engine.with_cassette(cassette),
                None => engine,
            })))
        }
    }
}

fn builtin_instance(name: &str, method: Method) -> RoleInstances {
    RoleInstances(Role::ALL.map(|role| -> Arc<dyn Engine> {
        let settings = match role {
            Role::GhostText => BuiltinSettings::for_editor(),
            Role::Replay => BuiltinSettings::for_replay(),
        };
        Arc::new(BuiltinEngine::new(name, BuiltinSettings { method, ..settings }))
    }))
}

/// The parts of a registry that depend on the machine and the command. The default keeps nothing on disk.
pub struct RegistryOptions {
    /// Answers that are replayed and recorded.
    pub cassette: Option<Arc<Cassette>>,
    /// The key for hashes of settings. The default is random: runs can then be resumed by the same process only.
    pub hash_key: HashKey,
    /// The folder in which hashes of large files are kept.
    pub file_hashes: Option<PathBuf>,
    /// The variables that engines inherit if they are programs.
    pub inherited: Vec<(OsString, OsString)>,
    /// The folder for logs of programs.
    pub logs: Option<PathBuf>,
}

impl Default for RegistryOptions {
    fn default() -> RegistryOptions {
        RegistryOptions {
            cassette: None,
            hash_key: HashKey::random(),
            file_hashes: None,
            inherited: Vec::new(),
            logs: None,
        }
    }
}

/// The engines in use. Equal settings give the same engine, with its connections and its processes.
pub struct Registry {
    in_use: Mutex<Vec<LiveInstances>>,
    cassette: Option<Arc<Cassette>>,
    logs: Option<PathBuf>,
    hashes: Arc<IdentityHasher>,
}

/// An engine for as long as it is held elsewhere in any role.
struct LiveInstances {
    settings: EngineSettings,
    instances: [Weak<dyn Engine>; Role::ALL.len()],
}

impl LiveInstances {
    fn is_held(&self) -> bool {
        self.instances.iter().any(|instance| instance.strong_count() > 0)
    }

    /// Returns the instances that are held, and for the other roles new ones. Creates those only if they are needed.
    fn with_missing(
        &self,
        create: impl FnOnce() -> Result<RoleInstances, String>,
    ) -> Result<RoleInstances, String> {
        let held: Vec<_> = self.instances.iter().map(Weak::upgrade).collect();
        let new = if held.iter().any(Option::is_none) { Some(create()?) } else { None };
        Ok(RoleInstances(Role::ALL.map(|role| {
            let instance = held[role as usize].as_ref().or(new.as_ref().map(|new| new.in_role(role)));
            Arc::clone(instance.expect("new instances have all roles"))
        })))
    }
}

impl RoleInstances {
    fn downgrade(&self) -> [Weak<dyn Engine>; Role::ALL.len()] {
        Role::ALL.map(|role| Arc::downgrade(self.in_role(role)))
    }
}

impl Default for Registry {
    fn default() -> Registry {
        Registry::new(RegistryOptions::default())
    }
}

impl Registry {
    /// Creates a registry without engines; they are created when settings ask for them.
    pub fn new(options: RegistryOptions) -> Registry {
        let RegistryOptions { cassette, hash_key, file_hashes, inherited, logs } = options;
        let hashes = Arc::new(IdentityHasher::new(hash_key, file_hashes, inherited));
        Registry { in_use: Mutex::default(), cassette, logs, hashes }
    }

    /// Returns the engines of the settings, in their order. Looks for programs, and may read files.
    pub fn configured_engines(&self, config: &Config) -> Vec<RegisteredEngine> {
        config.engines.iter().map(|engine| self.register(engine)).collect()
    }

    fn register(&self, engine: &config::EngineDefinition) -> RegisteredEngine {
        let instances = match &engine.settings {
            Ok(settings) => self.instances(settings),
            Err(obstacle) => Err(obstacle.to_string()),
        };
        let configured = engine.settings.as_ref().ok().map(|settings| {
            let configured = IdentityInput { parts: engine.identity.clone(), settings: settings.clone() };
            (configured, Arc::clone(&self.hashes))
        });
        RegisteredEngine { name: engine.name.clone(), kind: engine.kind, instances, configured }
    }

    fn instances(&self, settings: &EngineSettings) -> Result<RoleInstances, String> {
        let mut in_use = self.in_use.lock().unwrap_or_else(PoisonError::into_inner);
        in_use.retain(LiveInstances::is_held);
        let create = || instances(settings, self.cassette.as_ref(), self.logs.as_deref());
        if let Some(known) = in_use.iter_mut().find(|known| known.settings == *settings) {
            let instances = known.with_missing(create)?;
            known.instances = instances.downgrade();
            return Ok(instances);
        }
        let new = create()?;
        in_use.push(LiveInstances { settings: settings.clone(), instances: new.downgrade() });
        Ok(new)
    }
}

/// Price of tokens, in the user's currency for a million of them.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct TokenPrice {
    /// Price of input tokens.
    pub input: f64,
    /// Price of output tokens.
    pub output: f64,
}

/// An engine by its name, or why it cannot be asked.
pub struct RegisteredEngine {
    /// The user's name for it.
    pub name: String,
    /// Its kind; `None` if the settings name none that exists.
    pub kind: Option<EngineKind>,
    instances: Result<RoleInstances, String>,
    /// Its settings; `None` for one that needs none.
    configured: Option<(IdentityInput, Arc<IdentityHasher>)>,
}

impl RegisteredEngine {
    /// Returns all engines that need no settings, the default one first.
    pub fn all_without_settings() -> impl Iterator<Item = RegisteredEngine> {
        WITHOUT_SETTINGS.into_iter().map(|(name, method)| RegisteredEngine {
            name: name.to_owned(),
            kind: Some(EngineKind::Builtin),
            instances: Ok(builtin_instance(name, method)),
            configured: None,
        })
    }

    /// Returns the engine that is asked if there is no other.
    pub fn default_engine() -> RegisteredEngine {
        RegisteredEngine::all_without_settings().next().expect("the list begins with the built-in engine")
    }

    /// Creates an engine that follows rules, for tests.
    pub fn scripted_instance(rules: &[ScriptedReply]) -> RegisteredEngine {
        let engine = ScriptedEngine::with_rules("scripted", rules.to_vec());
        RegisteredEngine {
            name: engine.description().name.clone(),
            kind: Some(EngineKind::Scripted),
            instances: Ok(RoleInstances::shared(Arc::new(engine))),
            configured: None,
        }
    }

    /// Returns the engine in a role; `None` if it cannot be asked.
    pub fn in_role(&self, role: Role) -> Option<&Arc<dyn Engine>> {
        Some(self.instances.as_ref().ok()?.in_role(role))
    }

    /// The model that it runs; `None` if it cannot be asked.
    pub fn model(&self) -> Option<&str> {
        self.in_role(Role::Replay).map(|engine| engine.description().model.as_str())
    }

    /// Why it cannot be asked; `None` if it can.
    pub fn obstacle(&self) -> Option<&str> {
        self.instances.as_ref().err().map(String::as_str)
    }

    /// Its settings; `None` for an engine that needs none, and for invalid settings.
    pub fn settings(&self) -> Option<&EngineSettings> {
        self.configured.as_ref().map(|(configured, _)| &configured.settings)
    }

    /// Returns the price of its tokens, if one is set; if only one side has a price, the other one is free.
    pub fn price(&self) -> Option<TokenPrice> {
        let EngineSettings { price_in, price_out, .. } = self.settings()?;
        let is_priced = price_in.is_some() || price_out.is_some();
        is_priced.then(|| TokenPrice { input: price_in.unwrap_or(0.0), output: price_out.unwrap_or(0.0) })
    }

    /// Returns the last day or month of its model's training data, if it is set.
    pub fn cutoff(&self) -> Option<&str> {
        self.settings()?.cutoff.as_deref()
    }

    /// Returns its settings as runs keep them: by key, hashed if they may be secret, with the contents of the files that they lead to.
    /// Reads these files.
    pub fn identity(&self) -> BTreeMap<String, String> {
        self.configured.as_ref().map(|(engine, hashes)| hashes.identity(engine)).unwrap_or_default()
    }
}

/// Creates the engine of these settings with its own type; fails unless it is one behind HTTP, because only those send prompts.
pub fn http_engine(settings: &EngineSettings) -> Result<HttpEngine, String> {
    http::engine(settings)
}
