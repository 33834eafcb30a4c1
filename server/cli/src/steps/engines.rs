//! The engines that can be named on the command line.

use std::collections::HashSet;
use std::sync::Arc;

use builtin::{Method, Settings as BuiltinSettings};
use cases::Case;
use completion::{Settings, World};
use engines::{BuiltinEngine, Engine, Rule, ScriptedEngine};
use lsp::EditorEngine;
use replay::ConfiguredEngine;

/// The embedded engine, and the controls that show how much of its score is plain copying.
const KNOWN: [(&str, Method); 4] = [
    ("builtin", Method::Hybrid),
    ("longest-match", Method::LongestMatch),
    ("nearest-line", Method::NearestLine),
    ("empty", Method::Empty),
];

/// The engine called `name`.
pub(crate) fn known(name: &str) -> Result<(&'static str, Method), String> {
    KNOWN.into_iter().find(|&(known, _)| known == name).ok_or_else(|| {
        let known = KNOWN.map(|(name, _)| name).join(", ");
        format!("known are {known}")
    })
}

/// The engine that says which cases are too easy: the built-in one, as it is replayed.
pub(crate) fn judge() -> ConfiguredEngine {
    engine(KNOWN[0].0, KNOWN[0].1, false)
}

/// The engines called `names` (the built-in one by default), each as it is; and, where files of the suite have near duplicates in
/// the workspace, each once more without them.
pub(crate) fn configure(names: &[String], world: &World, cases: &[Case]) -> Vec<ConfiguredEngine> {
    let is_named = |name: &str| names.iter().any(|named| named == name);
    let mut methods: Vec<(&str, Method)> = KNOWN.into_iter().filter(|(name, _)| is_named(name)).collect();
    if methods.is_empty() {
        methods.push(KNOWN[0]);
    }
    let as_they_are = methods.iter().map(|&(name, method)| engine(name, method, false));
    let mut engines: Vec<ConfiguredEngine> = as_they_are.collect();
    if cases.iter().any(|case| !world.near_duplicates(&case.path).is_empty()) {
        engines.extend(methods.iter().map(|&(name, method)| engine(name, method, true)));
    }
    engines
}

fn engine(name: &str, method: Method, hide_near_duplicates: bool) -> ConfiguredEngine {
    let name = if hide_near_duplicates { format!("{name} no-copies") } else { name.to_owned() };
    let settings = BuiltinSettings { method, ..BuiltinSettings::for_replay() };
    let engine: Arc<dyn Engine> = Arc::new(BuiltinEngine::new(&name, settings));
    ConfiguredEngine { engine, settings: Settings { hide_near_duplicates, ..Settings::for_replay() } }
}

/// The engines of a language server: a scripted one where there are rules for it, then those called `names`, in their order and
/// once each; where there are neither, the built-in one.
pub(crate) fn for_editor(names: &[String], rules: Option<&[Rule]>) -> Vec<EditorEngine> {
    let mut engines: Vec<EditorEngine> = rules.map(scripted).into_iter().collect();
    let mut seen = HashSet::new();
    let names = names.iter().filter(|&name| seen.insert(name));
    engines.extend(names.filter_map(|name| known(name).ok()).map(embedded));
    if engines.is_empty() {
        engines.push(embedded(KNOWN[0]));
    }
    engines
}

fn scripted(rules: &[Rule]) -> EditorEngine {
    let engine: Arc<dyn Engine> = Arc::new(ScriptedEngine::with_rules("scripted", rules.to_vec()));
    editor_engine(&engine, &engine)
}

/// A person gets what is likely to be right; a replay measures everything.
fn embedded((name, method): (&str, Method)) -> EditorEngine {
    let engine = |settings: BuiltinSettings| -> Arc<dyn Engine> {
        Arc::new(BuiltinEngine::new(name, BuiltinSettings { method, ..settings }))
    };
    editor_engine(&engine(BuiltinSettings::for_editor()), &engine(BuiltinSettings::for_replay()))
}

fn editor_engine(writing: &Arc<dyn Engine>, replayed: &Arc<dyn Engine>) -> EditorEngine {
    let under =
        |settings, engine: &Arc<dyn Engine>| ConfiguredEngine { engine: Arc::clone(engine), settings };
    EditorEngine {
        automatic: under(Settings::for_editor(), writing),
        invoked: under(Settings::for_invoked(), writing),
        replayed: under(Settings::for_replay(), replayed),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Names of the engines that `names` and `rules` give a language server.
    fn served(names: &[&str], rules: Option<&[Rule]>) -> Vec<String> {
        let names: Vec<String> = names.iter().map(|&name| name.to_owned()).collect();
        for_editor(&names, rules).iter().map(|engine| engine.automatic.name().name).collect()
    }

    #[test]
    fn the_first_engine_named_comes_first_and_each_one_once() {
        assert_eq!(served(&[], None), ["builtin"]);
        assert_eq!(served(&["empty", "builtin", "empty"], None), ["empty", "builtin"]);
        assert_eq!(served(&[], Some(&[])), ["scripted"]);
        assert_eq!(served(&["builtin"], Some(&[])), ["scripted", "builtin"]);
    }

    #[test]
    fn an_editor_replays_as_the_command_line_does() {
        let [in_editor] = for_editor(&[], None).try_into().ok().expect("the built-in engine alone");
        let [here] = configure(&[], &World::empty(), &[]).try_into().ok().expect("the built-in engine alone");
        assert_eq!(in_editor.replayed.name(), here.name());
        assert_ne!(in_editor.automatic.name(), here.name(), "a person sees only what is likely");
    }
}
