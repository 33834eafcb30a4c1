//! The engines that can be asked: those of the configuration, and those that are known without one.
//!
//! This is the one place that knows which engine of `engines` belongs to which kind of `config`: [`instance`].

mod http;
mod identity;
mod programs;

use std::collections::BTreeMap;
use std::sync::{Arc, Mutex, PoisonError, Weak};

use builtin::{Method, Settings as BuiltinSettings};
use cases::{Case, Price};
use completion::{Settings, World};
use config::{Completion, Config, EngineSettings, Kind, Place, Problem, Severity};
use engines::{BuiltinEngine, Cassette, Engine, HttpEngine, Rule, ScriptedEngine};
use index::{Budget, Strategy};
use lsp::{EditorEngine, NotAsked, Served};
use replay::{ConfiguredEngine, Copies};

use self::identity::{Configured, Hashes};
use crate::args::NoCopies;
use crate::exit::Usage;
use crate::output::say;

/// The embedded engine, and the controls that show how much of its score is plain copying. They need no configuration.
const KNOWN: [(&str, Method); 4] = [
    ("builtin", Method::Hybrid),
    ("longest-match", Method::LongestMatch),
    ("nearest-line", Method::NearestLine),
    ("empty", Method::Empty),
];

/// The one that is asked where there is no other.
pub(crate) const DEFAULT: &str = KNOWN[0].0;

/// An engine in its two uses.
#[derive(Clone)]
pub(crate) struct Instance {
    /// For a person, who gets what is likely to be right.
    writing: Arc<dyn Engine>,
    /// For measuring, which keeps nothing back.
    replayed: Arc<dyn Engine>,
}

impl Instance {
    /// An engine that keeps nothing back of its own accord, and so is one in both uses.
    fn of(engine: impl Engine + 'static) -> Instance {
        Instance::taped(engine, None)
    }

    /// The same of a program, which is asked only for what is not on the cassette, where there is one.
    fn taped(engine: impl Engine + 'static, cassette: Option<&Arc<Cassette>>) -> Instance {
        let engine: Arc<dyn Engine> = Arc::new(engine);
        let engine = match cassette {
            Some(cassette) => engines::taped(engine, cassette),
            None => engine,
        };
        Instance { writing: Arc::clone(&engine), replayed: engine }
    }
}

/// The engine that these settings describe, or why there is none. What it answers comes from the cassette, and goes there, where there
/// is one; the embedded engine has the same answers at any time.
fn instance(engine: &EngineSettings, cassette: Option<&Arc<Cassette>>) -> Result<Instance, String> {
    match engine.kind {
        Kind::Builtin => Ok(embedded(&engine.name, method(&engine.method))),
        Kind::Command => Ok(Instance::taped(programs::command(engine, cassette)?, cassette)),
        Kind::LlamaServer => Ok(Instance::of(programs::llama_server(engine, cassette)?)),
        // Two processes: who writes does not wait for what is measured, and neither server sees the other's documents.
        Kind::Lsp => {
            let server = || {
                programs::language_server(engine, cassette).map(|server| Instance::taped(server, cassette))
            };
            Ok(Instance { writing: server()?.writing, replayed: server()?.replayed })
        }
        Kind::Scripted => Err(format!("engines of kind `{}` are for tests alone", engine.kind)),
        _ => {
            let engine = http::engine(engine)?;
            Ok(Instance::of(match cassette {
                Some(cassette) => engine.on_cassette(cassette),
                None => engine,
            }))
        }
    }
}

/// The engines that are in use. Settings that come to the same engine again find it, with its connections and its processes.
#[derive(Default)]
pub(crate) struct Instances {
    in_use: Mutex<Vec<InUse>>,
    /// Where their answers are recorded.
    cassette: Option<Arc<Cassette>>,
    hashes: Arc<Hashes>,
}

/// An engine for as long as somebody has it.
struct InUse {
    settings: EngineSettings,
    writing: Weak<dyn Engine>,
    replayed: Weak<dyn Engine>,
}

impl Instances {
    /// On this machine, with their answers on a cassette where there is one.
    pub(crate) fn on(cassette: Option<&Arc<Cassette>>) -> Instances {
        let hashes = Arc::new(Hashes::of_this_machine());
        Instances { cassette: cassette.cloned(), hashes, ..Instances::default() }
    }

    fn get(&self, settings: &EngineSettings) -> Result<Instance, String> {
        let mut known = self.in_use.lock().unwrap_or_else(PoisonError::into_inner);
        known.retain(|known| known.writing.strong_count() > 0);
        let same = known.iter().find(|known| known.settings == *settings);
        let in_use = same.and_then(|known| {
            Some(Instance { writing: known.writing.upgrade()?, replayed: known.replayed.upgrade()? })
        });
        if let Some(instance) = in_use {
            return Ok(instance);
        }
        let new = instance(settings, self.cassette.as_ref())?;
        known.push(InUse {
            settings: settings.clone(),
            writing: Arc::downgrade(&new.writing),
            replayed: Arc::downgrade(&new.replayed),
        });
        Ok(new)
    }
}

fn embedded(name: &str, method: Method) -> Instance {
    let engine = |settings: BuiltinSettings| -> Arc<dyn Engine> {
        Arc::new(BuiltinEngine::new(name, BuiltinSettings { method, ..settings }))
    };
    Instance {
        writing: engine(BuiltinSettings::for_editor()),
        replayed: engine(BuiltinSettings::for_replay()),
    }
}

fn method(name: &str) -> Method {
    let known = KNOWN.into_iter().map(|(_, method)| method);
    known.into_iter().find(|method| method.name() == name).unwrap_or(Method::Hybrid)
}

/// An engine that somebody asks for, or would ask if it could be asked.
pub(crate) struct Candidate {
    /// What it is called.
    pub(crate) name: String,
    /// Its kind.
    pub(crate) kind: Option<Kind>,
    /// The engine, or why it cannot be asked.
    instance: Result<Instance, String>,
    /// What its tokens cost.
    price: Option<Price>,
    /// What was configured of it; none for one that is known without.
    configured: Option<(Configured, Arc<Hashes>)>,
}

impl Candidate {
    /// What was configured of it, as runs keep it; reads the files that it names.
    fn identity(&self) -> BTreeMap<String, String> {
        self.configured.as_ref().map(|(engine, hashes)| hashes.identity(engine)).unwrap_or_default()
    }

    /// The model that it runs; none for one that cannot be asked.
    pub(crate) fn model(&self) -> Option<&str> {
        self.instance.as_ref().ok().map(|instance| instance.replayed.description().model.as_str())
    }

    /// The engine as it is measured; none for one that cannot be asked.
    pub(crate) fn engine(&self) -> Option<&Arc<dyn Engine>> {
        self.instance.as_ref().ok().map(|instance| &instance.replayed)
    }

    /// The engine as an editor has it; none for one that cannot be asked.
    pub(crate) fn in_editor(&self, config: &Config) -> Option<EditorEngine> {
        let instance = self.instance.as_ref().ok()?;
        Some(editor_engine(instance, self.price, &self.identity(), config))
    }

    /// Why it cannot be asked, if so.
    pub(crate) fn obstacle(&self) -> Option<&str> {
        self.instance.as_ref().err().map(String::as_str)
    }
}

/// The engines of the configuration, in its order.
pub(crate) fn configured(config: &Config, instances: &Instances) -> Vec<Candidate> {
    config.engines.iter().map(|engine| candidate(engine, instances)).collect()
}

fn candidate(engine: &config::Engine, instances: &Instances) -> Candidate {
    let instance = match &engine.settings {
        Ok(settings) => instances.get(settings),
        Err(obstacle) => Err(obstacle.to_string()),
    };
    let price = engine.settings.as_ref().ok().and_then(price);
    let configured = engine.settings.as_ref().ok().map(|settings| {
        let configured = Configured { parts: engine.identity.clone(), settings: settings.clone() };
        (configured, Arc::clone(&instances.hashes))
    });
    Candidate { name: engine.name.clone(), kind: engine.kind, instance, price, configured }
}

/// What nobody has said costs nothing, where anything has a price.
fn price(settings: &EngineSettings) -> Option<Price> {
    let EngineSettings { price_in, price_out, .. } = settings;
    let is_priced = price_in.is_some() || price_out.is_some();
    is_priced.then(|| Price { input: price_in.unwrap_or(0.0), output: price_out.unwrap_or(0.0) })
}

/// The engine that needs no configuration and is called `name`.
fn known(name: &str) -> Option<Candidate> {
    let (name, method) = KNOWN.into_iter().find(|&(known, _)| known == name)?;
    let instance = Ok(embedded(name, method));
    let kind = Some(Kind::Builtin);
    Some(Candidate { name: name.to_owned(), kind, instance, price: None, configured: None })
}

/// Those that need no configuration.
pub(crate) fn without_configuration() -> Vec<Candidate> {
    KNOWN.into_iter().filter_map(|(name, _)| known(name)).collect()
}

/// The engine called `name`: one of the configuration, which may have the name of one that is known without it.
pub(crate) fn named(config: &Config, name: &str, instances: &Instances) -> Result<Candidate, String> {
    if let Some(engine) = config.engines.iter().find(|engine| engine.name == name) {
        let candidate = candidate(engine, instances);
        return match candidate.obstacle() {
            Some(obstacle) => Err(format!("engine `{name}` cannot be asked: {obstacle}")),
            None => Ok(candidate),
        };
    }
    known(name).ok_or_else(|| {
        let configured = config.engines.iter().map(|engine| engine.name.as_str());
        let known: Vec<&str> = configured.chain(KNOWN.into_iter().map(|(known, _)| known)).collect();
        format!("there is no engine `{name}`; known are {}", known.join(", "))
    })
}

/// The engine of the configuration called `name`, which has to be one behind HTTP: those alone send prompts.
pub(crate) fn behind_http(config: &Config, name: &str) -> Result<HttpEngine, Usage> {
    let engine = config.engines.iter().find(|engine| engine.name == name);
    let engine = engine.ok_or_else(|| Usage(format!("there is no engine `{name}` in the settings")))?;
    let settings = engine.settings.as_ref().map_err(ToString::to_string);
    settings
        .and_then(http::engine)
        .map_err(|obstacle| Usage(format!("engine `{name}` sends no prompts: {obstacle}")))
}

/// The engines called `names`, in that order; an error for one that cannot be asked, and for a name that is there twice. Without names, all of the
/// configuration that can be asked, else the built-in one; with a word on each of the others.
fn chosen(
    config: &Config,
    names: &[String],
    instances: &Instances,
) -> Result<(Vec<Candidate>, Vec<String>), Usage> {
    if names.is_empty() {
        return Ok(chosen_by_default(config, instances));
    }
    if let Some(message) = named_twice(names) {
        return Err(Usage(message));
    }
    let candidates = names.iter().map(|name| named(config, name, instances).map_err(Usage));
    Ok((candidates.collect::<Result<_, _>>()?, Vec::new()))
}

/// What to say of a name that the command line has twice.
fn named_twice(names: &[String]) -> Option<String> {
    let (second, name) = names.iter().enumerate().find(|(place, name)| names[..*place].contains(name))?;
    let first = names.iter().position(|other| other == name)?;
    Some(format!(
        "engine `{name}` is named twice, by the {} and the {} --engine; name it once",
        ordinal(first + 1),
        ordinal(second + 1)
    ))
}

fn ordinal(number: usize) -> String {
    let ending = match (number % 10, number % 100) {
        (1, hundredths) if hundredths != 11 => "st",
        (2, hundredths) if hundredths != 12 => "nd",
        (3, hundredths) if hundredths != 13 => "rd",
        _ => "th",
    };
    format!("{number}{ending}")
}

fn chosen_by_default(config: &Config, instances: &Instances) -> (Vec<Candidate>, Vec<String>) {
    let (mut asked, others): (Vec<_>, Vec<_>) =
        configured(config, instances).into_iter().partition(|candidate| candidate.instance.is_ok());
    let word = |other: &Candidate| {
        format!("engine `{}` is not asked: {}", other.name, other.obstacle().unwrap_or_default())
    };
    let words = others.iter().map(word).collect();
    if asked.is_empty() {
        asked.extend(known(KNOWN[0].0));
    }
    (asked, words)
}

/// As [`chosen`], with the words on the others said, and with their answers on a cassette where there is one.
pub(crate) fn to_ask(
    config: &Config,
    names: &[String],
    cassette: Option<&Arc<Cassette>>,
) -> Result<Vec<Candidate>, Usage> {
    let (candidates, words) = chosen(config, names, &Instances::on(cassette))?;
    words.iter().for_each(|word| say(word));
    Ok(candidates)
}

/// The engine that says which cases are too easy: the built-in one, as it is replayed.
pub(crate) fn judge() -> ConfiguredEngine {
    let (name, method) = KNOWN[0];
    ConfiguredEngine {
        engine: embedded(name, method).replayed,
        settings: Settings::for_replay(),
        price: None,
        identity: BTreeMap::new(),
    }
}

/// The engines as they are replayed, each as it is; and, where truths of the suite have copies in the workspace, each that sees other
/// files once more without those that hold the copies.
pub(crate) fn configure(
    candidates: &[Candidate],
    config: &Config,
    world: &World,
    cases: &[Case],
    no_copies: NoCopies,
) -> (Vec<ConfiguredEngine>, Copies) {
    let settings = with_context(Settings::for_replay(), config);
    let configured = |candidate: &Candidate| {
        Some(ConfiguredEngine {
            engine: Arc::clone(candidate.engine()?),
            settings: settings.clone(),
            price: candidate.price,
            identity: candidate.identity(),
        })
    };
    let mut configured: Vec<ConfiguredEngine> = candidates.iter().filter_map(configured).collect();
    let without: Vec<ConfiguredEngine> = configured.iter().filter_map(without_copies).collect();
    if no_copies == NoCopies::Off || without.is_empty() {
        return (configured, Copies::default());
    }
    let copies = Copies::find(cases, world, no_copies == NoCopies::All);
    if no_copies == NoCopies::All || !copies.rows().is_empty() {
        configured.extend(without);
    }
    (configured, copies)
}

/// An engine without files that hold a copy of the case's truth; the same as it is for one that sees no file but the case's.
fn without_copies(asked: &ConfiguredEngine) -> Option<ConfiguredEngine> {
    let reads_context = asked.engine.reads_context() && asked.settings.strategy != Strategy::None;
    (asked.engine.reads_workspace() || reads_context).then(|| ConfiguredEngine {
        engine: engines::renamed(
            Arc::clone(&asked.engine),
            &format!("{} no-copies", asked.engine.description().name),
        ),
        settings: Settings { hide_near_duplicates: true, ..asked.settings.clone() },
        price: asked.price,
        identity: asked.identity.clone(),
    })
}

/// These settings with what the configuration says about code from elsewhere.
fn with_context(settings: Settings, config: &Config) -> Settings {
    Settings { strategy: strategy(config), budget: budget(config), ..settings }
}

/// How code from elsewhere is chosen.
pub(crate) fn strategy(config: &Config) -> Strategy {
    config.context.strategy.parse().unwrap_or(Strategy::Hybrid)
}

/// How much of it.
pub(crate) fn budget(config: &Config) -> Budget {
    Budget { tokens: config.context.budget_tokens }
}

/// The engines of a language server: a scripted one where there is one, then those called `names`, in their order and once each; or,
/// without names, those of the configuration. Where there are none of all these, the built-in one.
pub(crate) fn for_editor(
    config: &Config,
    names: &[String],
    scripted: Option<&Instance>,
    instances: &Instances,
) -> Served {
    let configured = configured(config, instances);
    let not_asked = configured.iter().filter_map(not_asked).collect();
    let mut problems = unsupported(config, &configured);
    let mut candidates: Vec<Candidate> = Vec::new();
    let mut warn = |message| {
        problems.push(Problem { severity: Severity::Warning, place: Place::Option("--engine"), message });
    };
    named_twice(names).into_iter().for_each(&mut warn);
    for (_, name) in names.iter().enumerate().filter(|(place, name)| !names[..*place].contains(name)) {
        match named(config, name, instances) {
            Ok(candidate) => candidates.push(candidate),
            Err(message) => warn(message),
        }
    }
    if names.is_empty() {
        candidates.extend(configured);
    }
    let none = BTreeMap::new();
    let scripted = scripted.map(|instance| editor_engine(instance, None, &none, config));
    let named = candidates.iter().filter_map(|candidate| candidate.in_editor(config));
    let mut engines: Vec<EditorEngine> = scripted.into_iter().chain(named).collect();
    if engines.is_empty() {
        let (name, method) = KNOWN[0];
        engines.push(editor_engine(&embedded(name, method), None, &none, config));
    }
    problems.extend(unknown_writer(config, &engines));
    Served { engines, not_asked, problems }
}

fn not_asked(candidate: &Candidate) -> Option<NotAsked> {
    let reason = candidate.obstacle()?.to_owned();
    let kind = candidate.kind.map(|kind| kind.name().to_owned()).unwrap_or_default();
    Some(NotAsked { name: candidate.name.clone(), kind, reason })
}

/// What is wrong with engines whose settings are right.
fn unsupported(config: &Config, candidates: &[Candidate]) -> Vec<Problem> {
    let engines = config.engines.iter().zip(candidates).filter(|(engine, _)| engine.settings.is_ok());
    let problem = |(engine, candidate): (&config::Engine, &Candidate)| {
        let message = format!("engine `{}` is not asked: {}", engine.name, candidate.obstacle()?);
        Some(Problem { severity: Severity::Warning, place: engine.origin.place.clone(), message })
    };
    engines.filter_map(problem).collect()
}

/// The engine that is to write the ghost text is none of those that can.
fn unknown_writer(config: &Config, engines: &[EditorEngine]) -> Option<Problem> {
    let wanted = config.completion.engine.as_ref()?;
    let names: Vec<String> = engines.iter().map(|engine| engine.automatic.name().name).collect();
    if names.contains(wanted) {
        return None;
    }
    let place = config.origin("completion", "engine")?.place.clone();
    let message = format!("no engine `{wanted}` can be asked; `engine` may be {}", names.join(", "));
    Some(Problem { severity: Severity::Warning, place, message })
}

/// An engine that follows rules, for tests.
pub(crate) fn scripted(rules: &[Rule]) -> Instance {
    Instance::of(ScriptedEngine::with_rules("scripted", rules.to_vec()))
}

/// The engine in each of its uses. Who asks by key gets what there is, however doubtful.
fn editor_engine(
    instance: &Instance,
    price: Option<Price>,
    identity: &BTreeMap<String, String>,
    config: &Config,
) -> EditorEngine {
    let Completion { deadline, min_confidence, .. } = config.completion;
    let under = |settings: Settings, engine: &Arc<dyn Engine>| ConfiguredEngine {
        engine: Arc::clone(engine),
        settings: with_context(settings, config),
        price,
        identity: identity.clone(),
    };
    let automatic = Settings { deadline, min_confidence, ..Settings::for_editor() };
    EditorEngine {
        automatic: under(automatic, &instance.writing),
        invoked: under(Settings { deadline, ..Settings::for_invoked() }, &instance.writing),
        replayed: under(Settings::for_replay(), &instance.replayed),
    }
}

#[cfg(test)]
mod tests {
    use std::path::Path;

    use config::{Layer, LayerKind, Trust, Type, Variables};

    use super::*;

    fn configuration(text: &str) -> Config {
        let (path, variables) = (Path::new("/w/ghostbench.toml"), Variables::default());
        let layer = Layer::file(LayerKind::User, path, text.as_bytes(), Trust::Trusted, &variables);
        Config::new(&[layer], &variables)
    }

    fn words(names: &[&str]) -> Vec<String> {
        names.iter().map(|&name| name.to_owned()).collect()
    }

    /// Names of the engines that are asked by default or by name, and what is said of others.
    fn asked(text: &str, names: &[&str]) -> (Vec<String>, Vec<String>) {
        let (candidates, notes) =
            chosen(&configuration(text), &words(names), &Instances::default()).expect("they can be asked");
        (candidates.into_iter().map(|candidate| candidate.name).collect(), notes)
    }

    /// What a language server serves.
    fn served(text: &str, names: &[&str], rules: Option<&[Rule]>) -> Served {
        let scripted = rules.map(scripted);
        for_editor(&configuration(text), &words(names), scripted.as_ref(), &Instances::default())
    }

    fn names(served: &Served) -> Vec<String> {
        served.engines.iter().map(|engine| engine.automatic.name().name).collect()
    }

    #[test]
    fn the_first_engine_named_comes_first_and_each_one_once() {
        assert_eq!(names(&served("", &[], None)), ["builtin"]);
        assert_eq!(names(&served("", &["empty", "builtin", "empty"], None)), ["empty", "builtin"]);
        assert_eq!(names(&served("", &[], Some(&[]))), ["scripted"]);
        assert_eq!(names(&served("", &["builtin"], Some(&[]))), ["scripted", "builtin"]);
        assert_eq!(names(&served(TWO, &[], None)), ["a", "b"]);
        assert_eq!(names(&served(TWO, &["b"], Some(&[]))), ["scripted", "b"]);
    }

    #[test]
    fn what_an_editor_cannot_be_served_is_told() {
        let text = "[completion]\nengine = \"b\"\n[[engine]]\nname = \"a\"\nkind = \"openai\"\n[[engine]]\nname = \"b\"\nkind = \"lsp\"\ncommand = [\"no-such-program\"]\n";
        let served = served(text, &["c"], None);
        assert_eq!(names(&served), ["builtin"]);
        let not_asked: Vec<_> = served.not_asked.iter().map(|engine| engine.name.as_str()).collect();
        assert_eq!(not_asked, ["a", "b"]);
        let problems: Vec<String> = served.problems.iter().map(ToString::to_string).collect();
        assert_eq!(
            problems,
            [
                "/w/ghostbench.toml:6:1: engine `b` is not asked: there is no program `no-such-program`; install it, or correct `command`",
                "--engine: there is no engine `c`; known are a, b, builtin, longest-match, nearest-line, empty",
                "/w/ghostbench.toml:2:1: no engine `b` can be asked; `engine` may be builtin",
            ]
        );
    }

    #[test]
    fn an_engine_whose_settings_stay_is_the_same_one() {
        let instances = Instances::default();
        let serve = |text: &str| for_editor(&configuration(text), &[], None, &instances);
        let before = serve(TWO);
        let after = serve(&format!("{TWO}[context]\nbudget_tokens = 1\n"));
        for (before, after) in before.engines.iter().zip(&after.engines) {
            assert!(Arc::ptr_eq(&before.automatic.engine, &after.automatic.engine));
            assert_ne!(before.automatic.settings, after.automatic.settings);
        }
        let other = serve(&TWO.replace("empty", "nearest-line"));
        assert!(!Arc::ptr_eq(&before.engines[0].automatic.engine, &other.engines[0].automatic.engine));
        assert!(Arc::ptr_eq(&before.engines[1].automatic.engine, &other.engines[1].automatic.engine));
    }

    #[test]
    fn settings_of_completion_hold_for_who_types_and_deadlines_for_who_asks_too() {
        let served = served(
            "[completion]\ndeadline_ms = 7\nmin_confidence = 0.5\n[context]\nstrategy = \"none\"\n",
            &[],
            None,
        );
        let EditorEngine { automatic, invoked, replayed } = &served.engines[0];
        let seven = std::time::Duration::from_millis(7);
        assert_eq!((automatic.settings.deadline, automatic.settings.min_confidence), (seven, Some(0.5)));
        assert_eq!((invoked.settings.deadline, invoked.settings.min_confidence), (seven, None));
        assert_eq!(replayed.settings.deadline, Settings::for_replay().deadline);
        for asked in [automatic, invoked, replayed] {
            assert_eq!(asked.settings.strategy, Strategy::None);
        }
    }

    #[test]
    fn an_editor_replays_as_the_command_line_does() {
        let config = configuration("");
        let [in_editor] = served("", &[], None).engines.try_into().ok().expect("the built-in engine alone");
        let candidates = chosen(&config, &[], &Instances::default()).expect("the built-in engine").0;
        let here = configure(&candidates, &config, &World::empty(), &[], NoCopies::default()).0;
        let [here] = here.try_into().ok().expect("the built-in engine alone");
        assert_eq!(in_editor.replayed.name(), here.name());
        assert_ne!(in_editor.automatic.name(), here.name(), "a person sees only what is likely");
    }

    const TWO: &str = "[[engine]]\nname = \"a\"\nkind = \"builtin\"\nmethod = \"empty\"\n[[engine]]\nname = \"b\"\nkind = \"builtin\"\n";

    #[test]
    fn engines_of_the_configuration_are_asked_before_the_built_in_one() {
        assert_eq!(asked(TWO, &[]).0, ["a", "b"]);
        assert_eq!(asked(TWO, &["nearest-line", "b"]).0, ["nearest-line", "b"]);
        let config = configuration(TWO);
        let twice = chosen(&config, &words(&["b", "a", "b"]), &Instances::default());
        let message = twice.err().expect("one engine cannot be asked twice").to_string();
        assert_eq!(message, "engine `b` is named twice, by the 1st and the 3rd --engine; name it once");
        let candidates = chosen(&config, &[], &Instances::default()).expect("they can be asked").0;
        let models: Vec<_> = configure(&candidates, &config, &World::empty(), &[], NoCopies::default()).0;
        assert_eq!(models.iter().map(|engine| engine.name().model).collect::<Vec<_>>(), ["empty", "hybrid"]);
    }

    #[test]
    fn an_engine_that_cannot_be_asked_is_told_and_the_built_in_one_stands_in() {
        let text = "[[engine]]\nname = \"a\"\nkind = \"openai\"\n";
        let (names, notes) = asked(text, &[]);
        assert_eq!(names, ["builtin"]);
        assert_eq!(notes, ["engine `a` is not asked: it needs `url`"]);
        let error = chosen(&configuration(text), &words(&["a"]), &Instances::default())
            .err()
            .expect("it cannot be asked");
        assert_eq!(error.to_string(), "engine `a` cannot be asked: it needs `url`");
        let error =
            chosen(&configuration(text), &words(&["b"]), &Instances::default()).err().expect("there is none");
        assert_eq!(
            error.to_string(),
            "there is no engine `b`; known are a, builtin, longest-match, nearest-line, empty"
        );
    }

    #[test]
    fn what_the_configuration_says_of_context_holds() {
        let config = configuration("[context]\nstrategy = \"symbols\"\nbudget_tokens = 7\n");
        assert_eq!((strategy(&config), budget(&config).tokens), (Strategy::Symbols, 7));
    }

    /// The table cannot ask these crates what they have.
    #[test]
    fn the_words_of_the_table_are_those_of_their_owners() {
        let words = |section: &config::Section, key: &str| match section.key(key).map(|key| key.takes) {
            Some(Type::Choice(words)) => words.to_vec(),
            other => panic!("{key} takes {other:?}"),
        };
        assert_eq!(words(&config::CONTEXT, "strategy"), Strategy::ALL.map(Strategy::name));
        assert_eq!(words(&config::ENGINE, "method"), KNOWN.map(|(_, method)| method.name()));
    }
}
