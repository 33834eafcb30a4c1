//! The engines that can be named on the command line.

use std::sync::Arc;

use builtin::{Method, Settings as BuiltinSettings};
use cases::Case;
use completion::{Settings, World};
use engines::{BuiltinEngine, Engine};
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
