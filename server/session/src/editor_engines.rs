//! The engines that a folder's settings select, each with the settings of its uses.

use std::sync::Arc;

use completion::CompletionSettings;
use config::{Completion, Config, Problem, SettingLocation, Severity};
use engines::{RegisteredEngine, Registry, Role, check_named_once};
use index::TokenBudget;
use replay::ConfiguredEngine;

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

/// The engines selected by some settings.
#[derive(Clone)]
pub struct EngineSet {
    /// Available engines, at least one. The first one writes the ghost text unless the settings name another; all are replayed.
    pub engines: Vec<EditorEngine>,
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

/// An engine with the settings of each of its uses.
#[derive(Clone)]
pub struct EditorEngine {
    /// For automatic completion while typing.
    pub automatic: ConfiguredEngine,
    /// For explicit invocation: uses a lower confidence threshold.
    pub invoked: ConfiguredEngine,
    /// For replaying recorded cases: holds nothing back.
    pub replayed: ConfiguredEngine,
}

impl EditorEngine {
    /// Returns an engine for the editor; `None` if it is unavailable. Reads the files that its settings name.
    pub fn new(engine: &RegisteredEngine, config: &Config) -> Option<EditorEngine> {
        let Completion { deadline, min_confidence, .. } = config.completion;
        let settings = with_context(CompletionSettings::for_replay(), config);
        let replayed = ConfiguredEngine::new(engine, Role::Replay, settings)?;
        let ghost_text = engine.in_role(Role::GhostText)?;
        let writing = |settings: CompletionSettings| ConfiguredEngine {
            engine: Arc::clone(ghost_text),
            settings: with_context(settings, config),
            ..replayed.clone()
        };
        Some(EditorEngine {
            automatic: writing(CompletionSettings {
                deadline,
                min_confidence,
                ..CompletionSettings::for_editor()
            }),
            invoked: writing(CompletionSettings { deadline, ..CompletionSettings::for_invoked() }),
            replayed,
        })
    }

    /// Name given by the user.
    pub fn name(&self) -> &str {
        &self.automatic.engine.description().name
    }

    /// Whether it reads the workspace's tokens in any of its uses.
    pub(crate) fn reads_tokens(&self) -> bool {
        [&self.automatic, &self.invoked, &self.replayed].iter().any(|asked| asked.engine.reads_workspace())
    }

    /// The engine in each of its uses.
    pub(crate) fn modes_mut(&mut self) -> [&mut ConfiguredEngine; 3] {
        [&mut self.automatic, &mut self.invoked, &mut self.replayed]
    }
}

/// Returns these settings with the context settings of the configuration.
pub fn with_context(settings: CompletionSettings, config: &Config) -> CompletionSettings {
    let budget = TokenBudget { tokens: config.context.budget_tokens };
    CompletionSettings { strategy: config.context.strategy, budget, ..settings }
}

impl EngineSource {
    /// Returns the engines for these settings: the scripted one, then those named on the command line, once each; without names,
    /// those of the settings; otherwise the built-in one. An engine whose settings have not changed is reused. May wait for the
    /// disk.
    pub(crate) fn serve(&self, config: &Config) -> EngineSet {
        let configured = self.registry.configured_engines(config);
        let not_asked = configured.iter().filter_map(not_asked).collect();
        let mut problems = unsupported(config, &configured);
        let (mut named, errors) = self.named(config);
        problems.extend(errors);
        if self.names.is_empty() {
            named = configured;
        }
        let all = self.scripted.iter().chain(&named);
        let mut engines: Vec<EditorEngine> =
            all.filter_map(|engine| EditorEngine::new(engine, config)).collect();
        if engines.is_empty() {
            engines.extend(EditorEngine::new(&RegisteredEngine::default_engine(), config));
        }
        problems.extend(unknown_writer(config, &engines));
        EngineSet { engines, unavailable: not_asked, problems }
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
    let problem = |(settings, engine): (&config::EngineDefinition, &RegisteredEngine)| {
        let message = format!("engine `{}` is not asked: {}", engine.name, engine.obstacle()?);
        Some(Problem { severity: Severity::Warning, location: settings.origin.location.clone(), message })
    };
    valid.filter_map(problem).collect()
}

/// A problem if the engine selected for ghost text is unavailable.
fn unknown_writer(config: &Config, engines: &[EditorEngine]) -> Option<Problem> {
    let wanted = config.completion.engine.as_ref()?;
    let names: Vec<&str> = engines.iter().map(EditorEngine::name).collect();
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

    use config::{ConfigLayer, Environment, LayerKind, Trust};
    use engines::Rule;
    use index::Strategy;

    use super::*;

    const TWO: &str = "[[engine]]\nname = \"a\"\nkind = \"builtin\"\nmethod = \"empty\"\n[[engine]]\nname = \"b\"\nkind = \"builtin\"\n";

    fn configuration(text: &str) -> Config {
        let (path, variables) = (Path::new("/w/ghostbench.toml"), Environment::default());
        let layer = ConfigLayer::file(LayerKind::User, path, text.as_bytes(), Trust::Trusted, &variables);
        Config::new(&[layer], &variables)
    }

    fn source(names: &[&str], rules: Option<&[Rule]>) -> EngineSource {
        let names = names.iter().map(|&name| name.to_owned()).collect();
        EngineSource {
            names,
            scripted: rules.map(RegisteredEngine::scripted_instance),
            ..EngineSource::default()
        }
    }

    fn names(text: &str, names: &[&str], rules: Option<&[Rule]>) -> Vec<String> {
        let served = source(names, rules).serve(&configuration(text));
        served.engines.iter().map(|engine| engine.name().to_owned()).collect()
    }

    #[test]
    fn the_first_engine_named_comes_first_and_each_one_once() {
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
        assert_eq!(served.engines.iter().map(EditorEngine::name).collect::<Vec<_>>(), ["builtin"]);
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
    fn an_engine_is_the_same_one_under_other_settings_of_the_editor() {
        let source = source(&[], None);
        let serve = |text: &str| source.serve(&configuration(text));
        let before = serve(TWO);
        let after = serve(&format!("{TWO}[context]\nbudget_tokens = 1\n"));
        for (before, after) in before.engines.iter().zip(&after.engines) {
            assert!(Arc::ptr_eq(&before.automatic.engine, &after.automatic.engine));
            assert_ne!(before.automatic.settings, after.automatic.settings);
        }
    }

    #[test]
    fn deadlines_apply_to_typing_and_invocation_and_confidence_to_typing_alone() {
        let text = "[completion]\ndeadline_ms = 7\nmin_confidence = 0.5\n[context]\nstrategy = \"symbols\"\nbudget_tokens = 9\n";
        let served = source(&[], None).serve(&configuration(text));
        let EditorEngine { automatic, invoked, replayed } = &served.engines[0];
        let seven = std::time::Duration::from_millis(7);
        assert_eq!((automatic.settings.deadline, automatic.settings.min_confidence), (seven, Some(0.5)));
        assert_eq!((invoked.settings.deadline, invoked.settings.min_confidence), (seven, None));
        assert_eq!(replayed.settings.deadline, CompletionSettings::for_replay().deadline);
        for asked in [automatic, invoked, replayed] {
            assert_eq!((asked.settings.strategy, asked.settings.budget.tokens), (Strategy::Symbols, 9));
        }
    }
}
