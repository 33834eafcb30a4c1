//! The engines that a folder's settings select, each with the settings of its roles.

use completion::{CompletionSettings, ConfiguredEngine};
use config::{Completion, Config, Problem, SettingLocation, Severity};
use engines::{RegisteredEngine, Registry, Role, check_named_once};
use index::TokenBudget;

/// The engines a server can use, and the selection by name.
#[derive(Default)]
pub struct EngineSource {
    /// Creates engines from their settings.
    pub registry: Registry,
    /// Engine names of the command line; if empty, the engines of the settings are used.
    pub names: Vec<String>,
    /// Engine for tests; used before all others.
    pub scripted: Option<RegisteredEngine>,
}

/// The engines selected by some settings, each in its roles.
#[derive(Clone)]
pub struct EngineSet {
    /// At least one engine writes the ghost text, and at least one is replayed. The order is that of the selection.
    engines: Vec<(Role, ConfiguredEngine)>,
    /// Unavailable engines.
    pub unavailable: Vec<UnavailableEngine>,
    /// Problems with engines whose settings are valid.
    pub problems: Vec<Problem>,
}

/// An unavailable engine.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct UnavailableEngine {
    /// Name given by the user.
    pub name: String,
    /// Kind; empty if unknown.
    pub kind: String,
    /// Why it is unavailable.
    pub reason: String,
}

impl EngineSet {
    /// Returns the engines in a role.
    pub fn in_role(&self, role: Role) -> impl Iterator<Item = &ConfiguredEngine> {
        self.engines.iter().filter(move |(other, _)| *other == role).map(|(_, engine)| engine)
    }

    /// Returns the engine that writes the ghost text.
    pub fn ghost_text(&self) -> &ConfiguredEngine {
        self.in_role(Role::GhostText).next().expect("there is at least the built-in engine")
    }

    /// Returns all engines in all their roles.
    pub fn all_mut(&mut self) -> impl Iterator<Item = &mut ConfiguredEngine> {
        self.engines.iter_mut().map(|(_, engine)| engine)
    }

    /// Returns whether any engine reads the workspace's tokens in any of its roles.
    pub fn reads_tokens(&self) -> bool {
        self.engines.iter().any(|(_, configured)| configured.engine.reads_workspace())
    }
}

/// Returns the settings of an engine's completions in a role.
pub fn role_settings(role: Role, config: &Config) -> CompletionSettings {
    let Completion { deadline, min_confidence, .. } = config.completion;
    let settings = match role {
        Role::GhostText => {
            CompletionSettings { deadline, min_confidence, ..CompletionSettings::for_editor() }
        }
        Role::Replay => CompletionSettings::for_replay(),
    };
    let budget = TokenBudget { tokens: config.context.budget_tokens };
    CompletionSettings { strategy: config.context.strategy, budget, ..settings }
}

/// Returns the engines in their roles: the wanted one or else the first one writes the ghost text, and all are replayed.
fn assign_roles(engines: &[&RegisteredEngine], config: &Config) -> Vec<(Role, ConfiguredEngine)> {
    let writer = engines
        .iter()
        .position(|engine| Some(&engine.name) == config.completion.engine.as_ref())
        .unwrap_or(0);
    let configured = engines.iter().enumerate().flat_map(|(index, engine)| {
        let roles: &[Role] = if index == writer { &[Role::GhostText, Role::Replay] } else { &[Role::Replay] };
        let roles: Vec<_> = roles.iter().map(|role| (*role, role_settings(*role, config))).collect();
        ConfiguredEngine::in_roles(engine, &roles)
    });
    configured.collect()
}

impl EngineSource {
    /// Returns the engines for these settings: the scripted one, then those named on the command line, once each; without names,
    /// those of the settings; otherwise the built-in one. An engine whose settings have not changed is reused. May wait for the
    /// disk.
    pub fn serve(&self, config: &Config) -> EngineSet {
        let configured = self.registry.configured_engines(config);
        let not_asked = configured.iter().filter_map(not_asked).collect();
        let mut problems = unsupported(config, &configured);
        let (mut named, errors) = self.named(config);
        problems.extend(errors);
        if self.names.is_empty() {
            named = configured;
        }
        let all = self.scripted.iter().chain(&named);
        let mut available: Vec<&RegisteredEngine> =
            all.filter(|engine| engine.obstacle().is_none()).collect();
        let default = RegisteredEngine::default_engine();
        if available.is_empty() {
            available.push(&default);
        }
        problems.extend(unknown_writer(config, &available));
        EngineSet { engines: assign_roles(&available, config), unavailable: not_asked, problems }
    }

    /// Returns any engine by its name, as a writer of ghost text: a configured one, a built-in one or the scripted one. May wait for the
    /// disk.
    ///
    /// # Errors
    /// There is no such engine, or it is unavailable; the message says why.
    pub fn writer(&self, config: &Config, name: &str) -> Result<ConfiguredEngine, String> {
        let scripted = self.scripted.as_ref().filter(|engine| engine.name == name);
        let settings = role_settings(Role::GhostText, config);
        let configured = match scripted {
            Some(engine) => ConfiguredEngine::new(engine, Role::GhostText, settings),
            None => {
                let engine = self.registry.named(config, name).map_err(|error| error.to_string())?;
                ConfiguredEngine::new(&engine, Role::GhostText, settings)
            }
        };
        configured.ok_or_else(|| format!("engine `{name}` is not available"))
    }

    /// The engines named on the command line, once each, and problems with the names.
    fn named(&self, config: &Config) -> (Vec<RegisteredEngine>, Vec<Problem>) {
        let names = self.names.iter().enumerate();
        let once = names.filter(|(place, name)| !self.names[..*place].contains(name));
        let mut engines = Vec::new();
        let mut errors: Vec<_> = check_named_once(&self.names).err().into_iter().collect();
        for (_, name) in once {
            match self.registry.named(config, name) {
                Ok(engine) => engines.push(engine),
                Err(error) => errors.push(error),
            }
        }
        let problems = errors.into_iter().map(|error| Problem {
            severity: Severity::Warning,
            location: SettingLocation::Option("--engine"),
            message: error.to_string(),
        });
        (engines, problems.collect())
    }
}

fn not_asked(engine: &RegisteredEngine) -> Option<UnavailableEngine> {
    let reason = engine.obstacle()?.to_owned();
    let kind = engine.kind.map(|kind| kind.name().to_owned()).unwrap_or_default();
    Some(UnavailableEngine { name: engine.name.clone(), kind, reason })
}

/// Problems with engines whose settings are valid.
fn unsupported(config: &Config, engines: &[RegisteredEngine]) -> Vec<Problem> {
    let valid = config.engines.iter().zip(engines).filter(|(settings, _)| settings.settings.is_ok());
    valid
        .filter_map(|(settings, engine)| {
            let message = format!("engine `{}` is not asked: {}", engine.name, engine.obstacle()?);
            Some(Problem { severity: Severity::Warning, location: settings.origin.location.clone(), message })
        })
        .collect()
}

/// A problem if the engine selected for ghost text is unavailable.
fn unknown_writer(config: &Config, engines: &[&RegisteredEngine]) -> Option<Problem> {
    let wanted = config.completion.engine.as_ref()?;
    let names: Vec<&str> = engines.iter().map(|engine| engine.name.as_str()).collect();
    if names.contains(&wanted.as_str()) {
        return None;
    }
    let place = config.origin("completion", "engine")?.location.clone();
    let message = format!("engine `{wanted}` is not available; `engine` may be {}", names.join(", "));
    Some(Problem { severity: Severity::Warning, location: place, message })
}

#[cfg(test)]
mod tests {
    use std::path::Path;
    use std::sync::Arc;

    use config::{ConfigLayer, Environment, LayerKind, Trust};
    use engines::ScriptedReply;
    use index::Strategy;

    use super::*;

    const TWO: &str = "[[engine]]\nname = \"a\"\nkind = \"builtin\"\nmethod = \"empty\"\n[[engine]]\nname = \"b\"\nkind = \"builtin\"\n";

    fn configuration(text: &str) -> Config {
        let (path, variables) = (Path::new("/w/ghostbench.toml"), Environment::default());
        let layer = ConfigLayer::file(LayerKind::User, path, text.as_bytes(), Trust::Trusted, &variables);
        Config::new(&[layer], &variables)
    }

    fn source(names: &[&str], rules: Option<&[ScriptedReply]>) -> EngineSource {
        let names = names.iter().map(|&name| name.to_owned()).collect();
        EngineSource {
            names,
            scripted: rules.map(RegisteredEngine::scripted_instance),
            ..EngineSource::default()
        }
    }

    fn names(text: &str, names: &[&str], rules: Option<&[ScriptedReply]>) -> Vec<String> {
        let served = source(names, rules).serve(&configuration(text));
        served.in_role(Role::Replay).map(|engine| engine.name().to_owned()).collect()
    }

    #[test]
    fn engines_keep_the_named_order_without_duplicates() {
        assert_eq!(names("", &[], None), ["builtin"]);
        assert_eq!(names("", &["empty", "builtin", "empty"], None), ["empty", "builtin"]);
        assert_eq!(names("", &[], Some(&[])), ["scripted"]);
        assert_eq!(names("", &["builtin"], Some(&[])), ["scripted", "builtin"]);
        assert_eq!(names(TWO, &[], None), ["a", "b"]);
        assert_eq!(names(TWO, &["b"], Some(&[])), ["scripted", "b"]);
    }

    #[test]
    fn engines_that_cannot_be_served_are_reported() {
        let text = "[completion]\nengine = \"b\"\n[[engine]]\nname = \"a\"\nkind = \"openai\"\n[[engine]]\nname = \"b\"\nkind = \"lsp\"\ncommand = [\"no-such-program\"]\n";
        let served = source(&["c"], None).serve(&configuration(text));
        assert_eq!(served.in_role(Role::Replay).map(ConfiguredEngine::name).collect::<Vec<_>>(), ["builtin"]);
        let not_asked: Vec<_> = served.unavailable.iter().map(|engine| engine.name.as_str()).collect();
        assert_eq!(not_asked, ["a", "b"]);
        let problems: Vec<String> = served.problems.iter().map(ToString::to_string).collect();
        assert_eq!(
            problems,
            [
                "/w/ghostbench.toml:6:1: engine `b` is not asked: there is no program `no-such-program`; install it, or correct `command`",
                "--engine: there is no engine `c`; known are a, b, builtin, longest-match, nearest-line, empty",
                "/w/ghostbench.toml:2:1: engine `b` is not available; `engine` may be builtin",
            ]
        );
    }

    #[test]
    fn engine_instances_survive_unrelated_setting_changes() {
        let source = source(&[], None);
        let serve = |text: &str| source.serve(&configuration(text));
        let before = serve(TWO);
        let after = serve(&format!("{TWO}[context]\nbudget_tokens = 1\n"));
        for ((_, before), (_, after)) in before.engines.iter().zip(&after.engines) {
            assert!(Arc::ptr_eq(&before.engine, &after.engine));
            assert_ne!(before.settings, after.settings);
        }
    }

    #[test]
    fn one_engine_writes_the_ghost_text_and_all_are_replayed() {
        let roles = |text: &str| {
            let served = source(&[], None).serve(&configuration(text));
            let named =
                |role| served.in_role(role).map(|engine| engine.name().to_owned()).collect::<Vec<_>>();
            (named(Role::GhostText), named(Role::Replay))
        };
        let names = |names: &[&str]| names.iter().map(|&name| name.to_owned()).collect::<Vec<_>>();
        assert_eq!(roles(TWO), (names(&["a"]), names(&["a", "b"])));
        let text = format!("[completion]\nengine = \"b\"\n{TWO}");
        assert_eq!(roles(&text), (names(&["b"]), names(&["a", "b"])));
    }

    #[test]
    fn request_kinds_differ_in_deadline_and_min_confidence() {
        let text = "[completion]\ndeadline_ms = 7\nmin_confidence = 0.5\n[context]\nstrategy = \"symbols\"\nbudget_tokens = 9\n";
        let served = source(&[], None).serve(&configuration(text));
        let automatic = served.ghost_text();
        let invoked = &automatic.invoked();
        let replayed = served.in_role(Role::Replay).next().expect("the built-in engine is replayed");
        let seven = std::time::Duration::from_millis(7);
        assert_eq!((automatic.settings.deadline, automatic.settings.min_confidence), (seven, Some(0.5)));
        assert_eq!((invoked.settings.deadline, invoked.settings.min_confidence), (seven, None));
        assert_eq!(replayed.settings.deadline, CompletionSettings::for_replay().deadline);
        for asked in [automatic, invoked, replayed] {
            assert_eq!((asked.settings.strategy, asked.settings.budget.tokens), (Strategy::Symbols, 9));
        }
    }
}
