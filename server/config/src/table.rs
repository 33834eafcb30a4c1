//! The table: every key with its type, default and documentation, once.
//!
//! Parsing, checks, the JSON schema, `docs/configuration.md` and the settings structs are generated from it. The syntax of a row:
//!
//! ```text
//! /// Documentation, in a sentence.
//! field: type of the field = "key": type of the value, default, trust needed in a workspace, kinds of engines it applies to;
//! ```
//!
//! To add a key, add a row, run `cargo xtask docs`, and use the field: an unused key would be silently ignored, which this crate
//! must never do. Units are the last part of a name (`_ms`, `_tokens`); the only abbreviations are common terms of the field.

use std::collections::BTreeMap;
use std::path::PathBuf;
use std::sync::LazyLock;
use std::time::Duration;

use serde_json::{Map, Value as Json};

use crate::key::{Key, Section, Values, Workspace};
use crate::kind::{self, Kind};
use crate::raw::toml::default_value;
use crate::types::Type;
use crate::value::{Field, Value};
use crate::variables::Variables;
use crate::{Secret, SecretTable};

/// Defines a section of the table and the struct with its values.
macro_rules! section {
    (
        $(#[doc = $about:literal])+
        $table:ident $name:literal $struct:ident [$kinds:expr];
        $(
            $(#[doc = $doc:literal])+
            $field:ident: $type:ty = $key:literal: $takes:expr, $default:expr, $workspace:ident $(, $is_for:expr)?;
        )+
    ) => {
        $(#[doc = $about])+
        pub static $table: Section = Section {
            name: $name,
            doc: concat!($($about),+).trim_ascii(),
            keys: &[$(Key {
                section: $name,
                name: $key,
                takes: $takes,
                default: $default,
                doc: concat!($($doc),+).trim_ascii(),
                workspace: Workspace::$workspace,
                is_for: section!(@is_for $kinds $(, $is_for)?),
            }),+],
        };

        $(#[doc = $about])+
        #[derive(Clone, Debug, PartialEq)]
        pub struct $struct {
            $($(#[doc = $doc])+ pub $field: $type,)+
        }

        impl $struct {
            /// Creates the struct from values, with references to the environment resolved.
            pub(crate) fn of(values: &Values, variables: &Variables) -> $struct {
                $struct {
                    $($field: Field::of(values.get($key), variables)
                        .expect("a test makes every field from its default and from a value of its type"),)+
                }
            }
        }
    };
    (@is_for $kinds:expr) => { $kinds };
    (@is_for $kinds:expr, $is_for:expr) => { $is_for };
}

/// Names of strategies; a test of the command line compares them with the strategies themselves.
const STRATEGIES: Type = Type::Choice(&["none", "bm25-chunks", "functions", "symbols", "recent", "hybrid"]);
/// Names of the built-in engine's methods; a test of the command line compares them with the methods themselves.
const METHODS: Type = Type::Choice(&["hybrid", "longest-match", "nearest-line", "empty"]);
/// Up to ten minutes; no completion is worth a longer wait.
const TIME: Type = Type::Milliseconds { min: 1, max: 600_000 };
/// Up to ten seconds; a longer pause is pointless because completions can be invoked explicitly.
const PAUSE: Type = Type::Milliseconds { min: 0, max: 10_000 };
/// More tokens than any current model reads.
const TOKENS: Type = Type::Integer { min: 1, max: 10_000_000, unit: "tokens" };
/// Context of a request; more would take too long to process.
const BUDGET: Type = Type::Integer { min: 0, max: 1_000_000, unit: "tokens" };
/// A probability.
const PROBABILITY: Type = Type::Number { min: 0.0, max: 1.0, unit: "" };
/// Above 2 the output is noise, and servers reject it.
const TEMPERATURE: Type = Type::Number { min: 0.0, max: 2.0, unit: "" };
/// More than any server processes at once.
const REQUESTS: Type = Type::Integer { min: 1, max: 1024, unit: "requests" };
/// Levels of recording.
const PRIVACY: Type = Type::Choice(&["full", "structure", "metrics", "off"]);
/// The most expensive models cost a few hundred dollars.
const PRICE: Type = Type::Number { min: 0.0, max: 1_000_000.0, unit: "" };

section! {
    /// Ghost text in the editor.
    COMPLETION "completion" Completion [|_| false];

    /// Whether to show ghost text. Recording and replaying work without it.
    is_enabled: bool = "enabled": Type::Boolean, Some("true"), Untrusted;
    /// Name of the engine that writes the ghost text. Default: the first usable engine.
    engine: Option<String> = "engine": Type::Name, None, Trusted;
    /// Time limit for a completion, from the request to its last character; at most half of it is spent on choosing context.
    deadline: Duration = "deadline_ms": TIME, Some("5000"), Untrusted;
    /// Pause before the engine runs, counted from the last key regardless of the editor's own delay. Default: depends on your
    /// typing speed and the engine's latency; no pause for fast engines.
    debounce: Option<Duration> = "debounce_ms": PAUSE, None, Untrusted;
    /// Minimum confidence of a completion; less likely ones are not shown. Applies to engines that report their confidence.
    min_confidence: Option<f64> = "min_confidence": PROBABILITY, None, Untrusted;
}

section! {
    /// Code from other places in the workspace that is sent with a request.
    CONTEXT "context" Context [|_| false];

    /// Strategy that chooses this code.
    strategy: String = "strategy": STRATEGIES, Some("\"hybrid\""), Untrusted;
    /// Maximum amount of this code in a request.
    budget_tokens: usize = "budget_tokens": BUDGET, Some("1024"), Untrusted;
}

section! {
    /// Recording of events in the editor. Recorded data stays on this machine.
    RECORD "record" Record [|_| false];

    /// Level of recording: everything, no code, only numbers, or nothing. Cases contain code, so they are recorded only with
    /// `full`.
    privacy: String = "privacy": PRIVACY, Some("\"full\""), Trusted;
}

section! {
    /// An engine. The section can be repeated.
    ENGINE "engine" EngineSettings [|_| true];

    /// Name of the engine in reports and on the command line. A later layer adds to the engine of the same name.
    name: String = "name": Type::Name, None, Trusted;
    /// Kind of the engine.
    kind: Kind = "kind": Type::Choice(&kind::NAMES), None, Trusted;
    /// Address of the server, with or without the path of the kind.
    url: Option<String> = "url": Type::Url, None, Trusted, Kind::has_address;
    /// Name of the model.
    model: Option<String> = "model": Type::Text, None, Trusted, Kind::is_elsewhere;
    /// Prompt template: a name such as `qwen2.5-coder`, or a layout. Default: detected.
    fim: Option<String> = "fim": Type::Text, None, Trusted, Kind::takes_template;
    /// Environment variable with the API key. Keys are never written into a file.
    api_key: Option<Secret> = "api_key_env": Type::KeyVariable, None, Trusted, Kind::has_address;
    /// Additional headers of every request.
    headers: BTreeMap<String, Secret> = "headers": Type::Headers, None, Trusted, Kind::has_address;
    /// Additional fields in the body of every request; they override the default ones.
    extra_body: Map<String, Json> = "extra_body": Type::Json, None, Trusted, Kind::takes_extra;
    /// Proxy for every request; `none` disables proxies. Default: the system's proxy, except for servers on this machine.
    proxy: Option<Secret> = "proxy": Type::Proxy, None, Trusted, Kind::has_address;
    /// Trusted certificates in PEM form, in addition to the system's.
    tls_roots: Option<PathBuf> = "tls_roots": Type::Path, None, Trusted, Kind::has_address;
    /// Model file in GGUF form.
    gguf: Option<PathBuf> = "gguf": Type::Path, None, Trusted, |kind| kind == Kind::LlamaServer;
    /// Program to run, with its arguments; for `llama-server`, the command that replaces that name.
    command: Vec<String> = "command": Type::Command, None, Trusted, Kind::is_program;
    /// Additional environment variables of the program.
    env: BTreeMap<String, Secret> = "env": Type::Environment, None, Trusted, Kind::is_program;
    /// Working directory of the program. Default: that of Ghostbench; for a language server, an empty folder.
    folder: Option<PathBuf> = "folder": Type::Path, None, Trusted, Kind::is_program;
    /// Request method of a language server. Use `textDocument/completion` if its completion lists contain complete answers.
    request: String = "request": Type::Text, Some("\"textDocument/inlineCompletion\""), Trusted, |kind| kind == Kind::Lsp;
    /// Initialization options of a language server (`initializationOptions`).
    initialization_options: SecretTable = "initialization_options": Type::Options, None, Trusted, |kind| kind == Kind::Lsp;
    /// Settings of a language server by section, sent when it requests them.
    settings: SecretTable = "settings": Type::Options, None, Trusted, |kind| kind == Kind::Lsp;
    /// Method of the built-in engine: the engine itself, or a baseline that shows how much of its score is plain copying.
    method: String = "method": METHODS, Some("\"hybrid\""), Trusted, |kind| kind == Kind::Builtin;
    /// Sampling temperature; 0 always picks the most likely token. Default: chosen by the engine.
    temperature: Option<f64> = "temperature": TEMPERATURE, None, Trusted, Kind::is_prompted;
    /// Maximum number of tokens in a completion.
    max_tokens: u32 = "max_tokens": TOKENS, Some("512"), Trusted, Kind::has_limit;
    /// Maximum number of tokens that the model reads and writes in one request. Default: as reported by the server, if it does.
    context_window: Option<u32> = "context_window": TOKENS, None, Trusted, Kind::is_prompted;
    /// Time limit for a connection.
    connect_timeout: Duration = "connect_timeout_ms": TIME, Some("5000"), Trusted, Kind::speaks_http;
    /// Time limit from the connection to the first byte of an answer, even if the deadline is later.
    first_byte_timeout: Duration = "first_byte_timeout_ms": TIME, Some("60000"), Trusted, Kind::speaks_http;
    /// Time limit for each further byte.
    idle_timeout: Duration = "idle_timeout_ms": TIME, Some("20000"), Trusted, Kind::speaks_http;
    /// Time limit from the start of a program until it is ready.
    start_timeout: Duration = "start_timeout_ms": TIME, Some("60000"), Trusted, Kind::is_program;
    /// Maximum number of concurrent requests. Default: 1 for a language server, otherwise unlimited.
    concurrency: Option<usize> = "concurrency": REQUESTS, None, Trusted, Kind::is_elsewhere;
    /// Price of a million input tokens. Use the same currency for all prices.
    price_in: Option<f64> = "price_in": PRICE, None, Trusted, Kind::is_elsewhere;
    /// Price of a million output tokens.
    price_out: Option<f64> = "price_out": PRICE, None, Trusted, Kind::is_elsewhere;
}

/// The sections that occur once.
pub static SECTIONS: [&Section; 3] = [&COMPLETION, &CONTEXT, &RECORD];

/// Returns all sections; the last one can be repeated.
pub fn all_sections() -> impl Iterator<Item = &'static Section> + Clone {
    SECTIONS.into_iter().chain([&ENGINE])
}

/// Returns the defaults of a section, for the keys that have one.
pub(crate) fn defaults(section: &Section) -> &'static Values {
    static ALL: LazyLock<BTreeMap<&'static str, Values>> = LazyLock::new(|| {
        let default = |key: &'static Key| {
            let value: Value = default_value(key)?;
            Some((key.name, value))
        };
        all_sections()
            .map(|section| (section.name, section.keys.iter().filter_map(default).collect()))
            .collect()
    });
    static EMPTY: Values = Values::new();
    ALL.get(section.name).unwrap_or(&EMPTY)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::raw::toml::entries;
    use crate::types::Surroundings;

    /// Returns a text that the key accepts.
    fn sample(key: &Key) -> &'static str {
        match key.takes {
            Type::Boolean => "false",
            Type::Integer { .. } | Type::Number { .. } | Type::Milliseconds { .. } => "1",
            Type::Choice(words) if words.contains(&"ollama") => "\"ollama\"",
            Type::Choice(words) if words.contains(&"none") => "\"none\"",
            Type::Choice(words) if words.contains(&"empty") => "\"empty\"",
            Type::Choice(_) => "\"off\"",
            Type::Text | Type::Name => "\"text\"",
            Type::Url => "\"http://h\"",
            Type::Proxy => "\"none\"",
            Type::Path => "\"/file\"",
            Type::Command => "[\"program\"]",
            Type::KeyVariable => "\"KEY\"",
            Type::Headers | Type::Environment | Type::Json | Type::Options => "{A = \"b\"}",
        }
    }

    fn value(key: &Key, text: &str) -> Value {
        let text = format!("key = {text}");
        let (entries, problems) = entries(&std::path::Path::new("").into(), &text);
        assert!(problems.is_empty(), "{}: {problems:?}", key.name);
        let variables = Variables::default();
        let around = Surroundings { folder: None, is_shared: true, variables: &variables };
        key.takes.check(&entries[0].node.raw, around).unwrap_or_else(|reason| panic!("{} {reason}", key.name))
    }

    /// Creating a struct panics if a field cannot hold the value of its row.
    #[test]
    fn every_field_holds_its_default_and_every_value_of_its_type() {
        for section in all_sections() {
            for key in section.keys {
                let default = key.default.map(|text| value(key, text));
                assert_eq!(defaults(section).get(key.name), default.as_ref(), "{}", key.name);
            }
            let mut values = defaults(section).clone();
            let required = Values::from([
                ("name", Value::Text("n".to_owned())),
                ("kind", Value::Text("lsp".to_owned())),
            ]);
            if section.name == ENGINE.name {
                values.extend(required);
            }
            make(section, &values);
            values.extend(section.keys.iter().map(|key| (key.name, value(key, sample(key)))));
            make(section, &values);
        }
    }

    fn make(section: &Section, values: &Values) {
        let variables = Variables::default();
        match section.name {
            "completion" => drop(Completion::of(values, &variables)),
            "context" => drop(Context::of(values, &variables)),
            "record" => drop(Record::of(values, &variables)),
            "engine" => drop(EngineSettings::of(values, &variables)),
            other => panic!("[{other}] has no struct"),
        }
    }

    #[test]
    fn kinds_need_keys_that_they_have() {
        for kind in Kind::ALL {
            for name in kind.needs() {
                let key = ENGINE.key(name).expect("the key is in the table");
                assert!((key.is_for)(kind), "{kind} {name}");
                assert!(kind.default_url().is_none() || *name != "url", "{kind}");
            }
            assert_eq!(Kind::from_name(kind.name()), Some(kind));
        }
    }
}
