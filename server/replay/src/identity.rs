//! What makes two engines different: the fingerprint, and how settings that may be secret are compared without being stored.
//!
//! Addresses, headers, environment values, arguments and the contents of files are stored as hashes keyed with [`HashKey`], which
//! never leaves the machine. Runs on one machine compare them. A reader of a published run cannot: without the key, trying all
//! addresses or passwords proves nothing. A salt in the run itself would not prevent that. The price is that runs on two machines
//! cannot be compared setting by setting, and that a lost key ends the resuming of runs begun before.
//!
//! Rows are keyed by an engine's name, never by its fingerprint. The fingerprint tells whether the engine of that name is still the
//! same one.

use std::collections::{BTreeMap, BTreeSet};
use std::fmt;

use cases::{EngineConfig, Price, Run};

use crate::Error;

/// Setting that names the key with which the hashed settings beside it were made.
pub const HASH_KEY: &str = "hash_key";

/// What a hashed setting begins with.
const HASHED: &str = "hashed:";

/// Hexadecimal digits of a hash: 64 bits tell the few settings of a machine apart.
const DIGITS: usize = 16;

/// The first schema whose runs describe everything that can change an engine's answers.
const FIRST_WHOLE_MINOR: u32 = 3;

/// Whether the value of a setting is a hash.
pub fn is_hashed(value: &str) -> bool {
    value.starts_with(HASHED)
}

/// A machine's secret key for hashes of settings.
#[derive(Clone, PartialEq, Eq)]
pub struct HashKey([u8; HashKey::BYTES]);

impl HashKey {
    /// Length of a key.
    pub const BYTES: usize = 32;

    /// The key made of these bytes, which nobody else must know.
    pub fn new(bytes: [u8; HashKey::BYTES]) -> HashKey {
        HashKey(bytes)
    }

    /// A key for this process alone: runs can be compared while it lasts.
    pub fn random() -> HashKey {
        let mut bytes = [0; HashKey::BYTES];
        getrandom::fill(&mut bytes).expect("the system has a source of random numbers");
        HashKey(bytes)
    }

    pub(crate) fn bytes(&self) -> &[u8] {
        &self.0
    }

    /// The hash of the value of a setting. Equal values of two settings have different hashes.
    pub fn hash(&self, setting: &str, value: &[u8]) -> String {
        let mut hasher = blake3::Hasher::new_keyed(&self.0);
        hasher.update(&(setting.len() as u64).to_le_bytes()).update(setting.as_bytes()).update(value);
        format!("{HASHED}{}", &hasher.finalize().to_hex()[..DIGITS])
    }

    /// A name for the key that tells nothing about it.
    pub fn id(&self) -> String {
        self.hash(HASH_KEY, &[])[HASHED.len()..].to_owned()
    }
}

impl fmt::Debug for HashKey {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("HashKey(..)")
    }
}

/// The hash of kind, model, settings and the version of Ghostbench: equal for engines whose answers can only differ by chance. Names
/// and prices take no part.
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
    hasher.finalize().to_hex()[..DIGITS].to_owned()
}

/// Refuses two engines of one name: rows could not tell them apart.
pub(crate) fn check_names(run: &Run) -> Result<(), Error> {
    let mut names = BTreeSet::new();
    match run.engines.iter().find(|config| !names.insert(&config.engine.name)) {
        Some(config) => Err(Error::SameName { name: config.engine.name.clone() }),
        None => Ok(()),
    }
}

/// How the engines of a run that is to be resumed differ from those asked for now, by name and setting; empty if they do not.
pub(crate) fn differences(theirs: &Run, ours: &Run) -> Vec<String> {
    if theirs.schema.minor < FIRST_WHOLE_MINOR {
        return vec![format!(
            "an older ghostbench (schema {}) described its engines too briefly to compare them",
            theirs.schema
        )];
    }
    let mut found = Vec::new();
    if theirs.tool != ours.tool {
        found.push(format!("it was begun by {}, this is {}", theirs.tool, ours.tool));
    }
    let by_name =
        |run: &Run, name: &str| run.engines.iter().find(|config| config.engine.name == name).cloned();
    for config in &theirs.engines {
        let name = &config.engine.name;
        match by_name(ours, name) {
            None => found.push(format!("engine `{name}` is missing")),
            Some(other) => found.extend(between(config, &other)),
        }
    }
    let new = ours.engines.iter().filter(|config| by_name(theirs, &config.engine.name).is_none());
    found.extend(new.map(|config| format!("engine `{}` is new", config.engine.name)));
    found
}

fn between(theirs: &EngineConfig, ours: &EngineConfig) -> Vec<String> {
    let (theirs, ours) = (described(theirs), described(ours));
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

/// What is compared of an engine.
struct Described {
    name: String,
    settings: BTreeMap<String, String>,
}

fn described(config: &EngineConfig) -> Described {
    let mut settings = config.settings.clone();
    settings.insert("kind".to_owned(), config.engine.kind.clone());
    settings.insert("model".to_owned(), config.engine.model.clone());
    if let Some(Price { input, output }) = config.price {
        settings.insert("price_in".to_owned(), input.to_string());
        settings.insert("price_out".to_owned(), output.to_string());
    }
    Described { name: config.engine.name.clone(), settings }
}

#[cfg(test)]
mod tests {
    use expect_test::{Expect, expect};

    use super::*;

    fn settings(settings: &[(&str, &str)]) -> BTreeMap<String, String> {
        settings.iter().map(|&(name, value)| (name.to_owned(), value.to_owned())).collect()
    }

    fn config(name: &str, price: Option<f64>, known: &[(&str, &str)]) -> EngineConfig {
        let engine = cases::EngineName {
            name: name.to_owned(),
            kind: "openai".to_owned(),
            model: "m".to_owned(),
            fingerprint: fingerprint("openai", "m", &settings(known)),
        };
        let price = price.map(|input| Price { input, output: 0.0 });
        EngineConfig { engine, price, settings: settings(known) }
    }

    fn run(engines: &[EngineConfig]) -> Run {
        Run {
            schema: cases::Schema::CURRENT,
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
    fn hashes_depend_on_the_key_the_setting_and_the_value() {
        let [one, two] = [1, 2].map(|byte| HashKey::new([byte; HashKey::BYTES]));
        let hash = one.hash("url", b"http://localhost:8080");
        assert_eq!(hash, one.hash("url", b"http://localhost:8080"));
        for other in [
            two.hash("url", b"http://localhost:8080"),
            one.hash("proxy", b"http://localhost:8080"),
            one.hash("url", b"http://localhost:8081"),
            // What somebody without the key could compute.
            format!("hashed:{}", &blake3::hash(b"http://localhost:8080").to_hex()[..16]),
        ] {
            assert_ne!(other, hash);
        }
        assert_ne!(one.id(), two.id());
        assert_eq!(format!("{one:?}"), "HashKey(..)");
        assert_ne!(HashKey::random(), HashKey::random());
    }

    #[test]
    fn what_differs_is_named_and_hashes_are_not_printed() {
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
    fn equal_names_are_refused() {
        check_names(&run(&[config("a", None, &[]), config("b", None, &[])])).expect("two names");
        let error = check_names(&run(&[config("a", None, &[]), config("a", None, &[("url", "x")])]));
        assert!(matches!(error, Err(Error::SameName { name }) if name == "a"));
    }
}
