//! Identity of engines: the fingerprint, and the settings that are compared when a run is resumed.
//!
//! Rows are keyed by an engine's name, never by its fingerprint. The fingerprint detects changes of the engine with that name.

use std::collections::{BTreeMap, BTreeSet};

use cases::{EngineConfig, Price, Run};
use engines::{HASH_KEY, is_hashed};

use crate::ReplayError;

/// Hexadecimal digits of a fingerprint: 64 bits distinguish the few engines of a run.
const HASH_DIGITS: usize = 16;

/// The first schema minor version whose runs describe everything that can change an engine's answers.
const FIRST_COMPLETE_MINOR: u32 = 3;

/// Hashes kind, model, settings and the version of Ghostbench. The fingerprint is equal for engines whose answers can only
/// differ by chance. Names and prices are not included.
pub(crate) fn fingerprint(kind: &str, model: &str, settings: &BTreeMap<String, String>) -> String {
    let mut hasher = blake3::Hasher::new();
    let mut field = |text: &str| {
        hasher.update(&(text.len() as u64).to_le_bytes());
        hasher.update(text.as_bytes());
    };
    [env!("CARGO_PKG_VERSION"), kind, model].into_iter().for_each(&mut field);
    for (name, value) in settings {
        field(name);
        field(value);
    }
    hasher.finalize().to_hex()[..HASH_DIGITS].to_owned()
}

/// Rejects two engines of the same name, because their rows could not be distinguished.
pub(crate) fn check_names(run: &Run) -> Result<(), ReplayError> {
    let mut names = BTreeSet::new();
    match run.engines.iter().find(|config| !names.insert(&config.engine.name)) {
        Some(config) => Err(ReplayError::SameName { name: config.engine.name.clone() }),
        None => Ok(()),
    }
}

/// Returns the differences between the engines of a run to resume and the requested ones, by name and setting.
pub(crate) fn differences(theirs: &Run, ours: &Run) -> Vec<String> {
    if let Some(obstacle) = too_brief(theirs) {
        return vec![obstacle];
    }
    let mut found = Vec::new();
    if theirs.tool != ours.tool {
        found.push(format!("it was started by {}, this is {}", theirs.tool, ours.tool));
    }
    let by_name =
        |run: &Run, name: &str| run.engines.iter().find(|config| config.engine.name == name).cloned();
    for config in &theirs.engines {
        let name = &config.engine.name;
        match by_name(ours, name) {
            None => found.push(format!("engine `{name}` is missing")),
            Some(other) => found.extend(engine_differences(config, &other)),
        }
    }
    let new = ours.engines.iter().filter(|config| by_name(theirs, &config.engine.name).is_none());
    found.extend(new.map(|config| format!("engine `{}` is new", config.engine.name)));
    found
}

/// Returns how an engine differs from the run's engine of that name; nothing if the run has none.
pub(crate) fn changes(theirs: &Run, ours: &EngineConfig) -> Vec<String> {
    match theirs.engines.iter().find(|config| config.engine.name == ours.engine.name) {
        None => Vec::new(),
        Some(_) if too_brief(theirs).is_some() => too_brief(theirs).into_iter().collect(),
        Some(config) => engine_differences(config, ours),
    }
}

/// Returns how an engine on another machine differs from the run's engine. Hashed settings are not compared, because each machine has
/// its own key.
pub fn differences_on_another_machine(theirs: &EngineConfig, ours: &EngineConfig) -> Vec<String> {
    let without_hashes = |config: &EngineConfig| {
        let mut config = config.clone();
        config.settings.retain(|key, value| key != HASH_KEY && !is_hashed(value));
        config
    };
    engine_differences(&without_hashes(theirs), &without_hashes(ours))
}

/// Returns why the engines of a run cannot be compared with others, if so.
fn too_brief(theirs: &Run) -> Option<String> {
    (theirs.schema.minor < FIRST_COMPLETE_MINOR).then(|| {
        format!(
            "an older ghostbench (schema {}) described its engines too briefly to compare them",
            theirs.schema
        )
    })
}

fn engine_differences(theirs: &EngineConfig, ours: &EngineConfig) -> Vec<String> {
    let (theirs, ours) = (comparable_engine(theirs), comparable_engine(ours));
    let other_key = theirs.settings.get(HASH_KEY) != ours.settings.get(HASH_KEY);
    let mut found = Vec::new();
    if other_key && theirs.settings.contains_key(HASH_KEY) && ours.settings.contains_key(HASH_KEY) {
        found.push(format!(
            "engine `{}`: its hashed settings were made on another machine or with a lost key and cannot be compared",
            ours.name
        ));
    }
    let keys: BTreeSet<&String> = theirs.settings.keys().chain(ours.settings.keys()).collect();
    for key in keys.into_iter().filter(|key| *key != HASH_KEY) {
        let (before, now) = (theirs.settings.get(key), ours.settings.get(key));
        match (before, now) {
            (before, now) if before == now => {}
            (Some(before), Some(now)) if is_hashed(before) && is_hashed(now) && other_key => {}
            (Some(before), Some(now)) if !is_hashed(before) && !is_hashed(now) => {
                found.push(format!("engine `{}`: `{key}` was {before}, is {now}", ours.name));
            }
            _ => found.push(format!("engine `{}`: `{key}` differs", ours.name)),
        }
    }
    found
}

/// The compared properties of an engine.
struct ComparableEngine {
    name: String,
    settings: BTreeMap<String, String>,
}

fn comparable_engine(config: &EngineConfig) -> ComparableEngine {
    let mut settings = config.settings.clone();
    settings.insert("kind".to_owned(), config.engine.kind.clone());
    settings.insert("model".to_owned(), config.engine.model.clone());
    if let Some(Price { input, output }) = config.price {
        settings.insert("price_in".to_owned(), input.to_string());
        settings.insert("price_out".to_owned(), output.to_string());
    }
    ComparableEngine { name: config.engine.name.clone(), settings }
}

#[cfg(test)]
mod tests {
    use expect_test::{Expect, expect};

    use super::*;

    fn settings(settings: &[(&str, &str)]) -> BTreeMap<String, String> {
        settings.iter().map(|&(name, value)| (name.to_owned(), value.to_owned())).collect()
    }

    fn config(name: &str, price: Option<f64>, known: &[(&str, &str)]) -> EngineConfig {
        let engine = cases::EngineIdentity {
            name: name.to_owned(),
            kind: "openai".to_owned(),
            model: "m".to_owned(),
            fingerprint: fingerprint("openai", "m", &settings(known)),
        };
        let price = price.map(|input| Price { input, output: 0.0 });
        EngineConfig { engine, price, cutoff: None, settings: settings(known) }
    }

    fn run(engines: &[EngineConfig]) -> Run {
        Run {
            schema: cases::SchemaVersion::CURRENT,
            tool: "ghostbench 1".to_owned(),
            name: "r".to_owned(),
            suite: "s".to_owned(),
            seed: 1,
            repeat: 1,
            engines: engines.to_vec(),
            workspace: None,
            copies: Vec::new(),
            machine: cases::Machine { os: String::new(), cpu: String::new(), cores: 1 },
        }
    }

    #[track_caller]
    fn check(theirs: &[EngineConfig], ours: &[EngineConfig], expected: Expect) {
        expected.assert_eq(&differences(&run(theirs), &run(ours)).join("\n"));
    }

    #[test]
    fn differing_settings_are_named_without_their_hashes() {
        let base = [("hash_key", "k"), ("url", "hashed:1"), ("max_tokens", "5")];
        let a = |settings| config("a", None, settings);
        check(&[a(&base)], &[a(&base)], expect![""]);
        check(
            &[a(&base), config("b", Some(1.0), &[])],
            &[
                a(&[("hash_key", "k"), ("url", "hashed:2"), ("max_tokens", "6"), ("temperature", "1")]),
                config("b", Some(2.0), &[]),
                config("c", None, &[]),
            ],
            expect![[r#"
                engine `a`: `max_tokens` was 5, is 6
                engine `a`: `temperature` differs
                engine `a`: `url` differs
                engine `b`: `price_in` was 1, is 2
                engine `c` is new"#]],
        );
        check(
            &[config("b", None, &[])],
            &[config("b", Some(2.0), &[])],
            expect![[r#"
            engine `b`: `price_in` differs
            engine `b`: `price_out` differs"#]],
        );
        check(&[a(&base), config("b", None, &[])], &[a(&base)], expect!["engine `b` is missing"]);
        check(
            &[a(&base)],
            &[a(&[("hash_key", "l"), ("url", "hashed:2"), ("max_tokens", "5")])],
            expect![
                "engine `a`: its hashed settings were made on another machine or with a lost key and cannot be compared"
            ],
        );
    }

    #[test]
    fn duplicate_engine_names_are_rejected() {
        check_names(&run(&[config("a", None, &[]), config("b", None, &[])])).expect("two names");
        let error = check_names(&run(&[config("a", None, &[]), config("a", None, &[("url", "x")])]));
        assert!(matches!(error, Err(ReplayError::SameName { name }) if name == "a"));
    }
}
