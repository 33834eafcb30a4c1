//! The table: every key with its type, default and documentation, once.
//!
//! Parsing, checks, the JSON schema, `docs/configuration.md` and the structs that programs read are all made from it. A row reads
//!
//! ```text
//! /// What the key means, in a sentence.
//! field: type of the field = "key": type of the value, default, who may set it in a workspace, to which kinds of engines it means something;
//! ```
//!
//! To add a key, add a row, run `cargo xtask docs`, and have somebody read the field: a key that nobody reads would be ignored, which
//! this crate promises not to do. Units stand at the end of names (`_ms`, `_tokens`); there are no abbreviations but the field's own.

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

/// Makes a section of the table and the struct that holds its values.
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
            /// The fields of these values, with what the environment holds of them.
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

/// The words for strategies; a test of the command line compares them with the strategies themselves.
const STRATEGIES: Type = Type::Choice(&["none", "bm25-chunks", "functions", "symbols", "recent", "hybrid"]);
/// The words for the built-in engine's methods; a test of the command line compares them with the methods themselves.
const METHODS: Type = Type::Choice(&["hybrid", "longest-match", "nearest-line", "empty"]);
/// Ten minutes: who waits longer for a completion waits for something else.
const TIME: Type = Type::Milliseconds { min: 1, max: 600_000 };
/// Who pauses longer than ten seconds can ask by key.
const PAUSE: Type = Type::Milliseconds { min: 0, max: 10_000 };
/// No model in use reads more, tokens.
const TOKENS: Type = Type::Integer { min: 1, max: 10_000_000, unit: "tokens" };
/// What goes with a question; nobody reads a megabyte of it while somebody waits.
const BUDGET: Type = Type::Integer { min: 0, max: 1_000_000, unit: "tokens" };
/// A probability.
const PROBABILITY: Type = Type::Number { min: 0.0, max: 1.0, unit: "" };
/// Beyond 2 there is noise, and servers refuse it.
const TEMPERATURE: Type = Type::Number { min: 0.0, max: 2.0, unit: "" };
/// More than any server takes at once.
const REQUESTS: Type = Type::Integer { min: 1, max: 1024, unit: "requests" };
/// The words for what is kept.
const PRIVACY: Type = Type::Choice(&["full", "structure", "metrics", "off"]);
/// The dearest models cost a few hundred dollars.
const PRICE: Type = Type::Number { min: 0.0, max: 1_000_000.0, unit: "" };

section! {
    /// Ghost text in the editor.
    COMPLETION "completion" Completion [|_| false];

    /// Whether ghost text is written at all; recording and replaying go on without.
    is_enabled: bool = "enabled": Type::Boolean, Some("true"), Untrusted;
    /// Name of the engine that writes the ghost text; the first of those that can be asked where nothing is said.
    engine: Option<String> = "engine": Type::Name, None, Trusted;
    /// Time for an answer, from the request to its last character; at most half of it goes into choosing context.
    deadline: Duration = "deadline_ms": TIME, Some("5000"), Untrusted;
    /// Pause after a key before an engine is asked, whatever the editor has waited already; where nothing is said, it follows from how fast
    /// you type and the engine answers, and is none for fast engines.
    debounce: Option<Duration> = "debounce_ms": PAUSE, None, Untrusted;
    /// Answers that are less likely right than this are kept back, for engines that know how sure they are.
    min_confidence: Option<f64> = "min_confidence": PROBABILITY, None, Untrusted;
}

section! {
    /// Code from elsewhere in the workspace that goes with a question.
    CONTEXT "context" Context [|_| false];

    /// How that code is chosen.
    strategy: String = "strategy": STRATEGIES, Some("\"hybrid\""), Untrusted;
    /// How much of it may go with a question.
    budget_tokens: usize = "budget_tokens": BUDGET, Some("1024"), Untrusted;
}

section! {
    /// What is kept of what happens in the editor. It stays on this machine.
    RECORD "record" Record [|_| false];

    /// How much is kept: everything, no code, numbers alone, or nothing. A case is code, so cases are recorded under `full` alone.
    privacy: String = "privacy": PRIVACY, Some("\"full\""), Trusted;
}

section! {
    /// An engine; there may be any number of them.
    ENGINE "engine" EngineSettings [|_| true];

    /// What it is called, in reports and on the command line; a later layer adds to the engine of the same name.
    name: String = "name": Type::Name, None, Trusted;
    /// How it is spoken to.
    kind: Kind = "kind": Type::Choice(&kind::NAMES), None, Trusted;
    /// Address of the server, with or without the path that belongs to the kind.
    url: Option<String> = "url": Type::Url, None, Trusted, Kind::has_address;
    /// The model that it shall use.
    model: Option<String> = "model": Type::Text, None, Trusted, Kind::is_elsewhere;
    /// Template of the model's prompt: a name such as `qwen2.5-coder`, or one written out; detected where nothing is said.
    fim: Option<String> = "fim": Type::Text, None, Trusted, Kind::takes_template;
    /// Environment variable that holds the key; keys are never written into a file.
    api_key: Option<Secret> = "api_key_env": Type::KeyVariable, None, Trusted, Kind::has_address;
    /// Headers that go with every request.
    headers: BTreeMap<String, Secret> = "headers": Type::Headers, None, Trusted, Kind::has_address;
    /// Fields that go into the body of every request beside ours, or in their place.
    extra_body: Map<String, Json> = "extra_body": Type::Json, None, Trusted, Kind::takes_extra;
    /// Proxy for every request, `none` for no proxy at all; the system's where nothing is said, and none to this machine.
    proxy: Option<Secret> = "proxy": Type::Proxy, None, Trusted, Kind::has_address;
    /// Certificates in PEM form that are trusted besides the system's.
    tls_roots: Option<PathBuf> = "tls_roots": Type::Path, None, Trusted, Kind::has_address;
    /// The model's file, in GGUF form.
    gguf: Option<PathBuf> = "gguf": Type::Path, None, Trusted, |kind| kind == Kind::LlamaServer;
    /// The program to run, with its arguments; for `llama-server` in the place of that word.
    command: Vec<String> = "command": Type::Command, None, Trusted, Kind::is_program;
    /// Variables of the program's environment, besides those that Ghostbench has itself.
    env: BTreeMap<String, Secret> = "env": Type::Environment, None, Trusted, Kind::is_program;
    /// The folder that the program runs in; where nothing is said the one that Ghostbench runs in, or, for a language server, an empty one.
    folder: Option<PathBuf> = "folder": Type::Path, None, Trusted, Kind::is_program;
    /// The method that asks a language server; `textDocument/completion` for one whose completion lists hold whole answers.
    request: String = "request": Type::Text, Some("\"textDocument/inlineCompletion\""), Trusted, |kind| kind == Kind::Lsp;
    /// What a language server is told when it is started, in its own words (`initializationOptions`).
    initialization_options: SecretTable = "initialization_options": Type::Options, None, Trusted, |kind| kind == Kind::Lsp;
    /// What a language server is told when it asks for its settings, by section.
    settings: SecretTable = "settings": Type::Options, None, Trusted, |kind| kind == Kind::Lsp;
    /// How the built-in engine completes: as itself, or as one of the controls that show how much of its score is plain copying.
    method: String = "method": METHODS, Some("\"hybrid\""), Trusted, |kind| kind == Kind::Builtin;
    /// How freely the model chooses its words, 0 for the likeliest; the engine's own way where nothing is said.
    temperature: Option<f64> = "temperature": TEMPERATURE, None, Trusted, Kind::is_prompted;
    /// Tokens of an answer, at most.
    max_tokens: u32 = "max_tokens": TOKENS, Some("512"), Trusted, Kind::has_limit;
    /// Tokens that the model reads and writes in one request; asked of the server where nothing is said and it can tell.
    context_window: Option<u32> = "context_window": TOKENS, None, Trusted, Kind::is_prompted;
    /// Time for a connection to be made.
    connect_timeout: Duration = "connect_timeout_ms": TIME, Some("5000"), Trusted, Kind::speaks_http;
    /// Time from there to the first byte of an answer, however late a deadline allows it.
    first_byte_timeout: Duration = "first_byte_timeout_ms": TIME, Some("60000"), Trusted, Kind::speaks_http;
    /// Time for each further byte.
    idle_timeout: Duration = "idle_timeout_ms": TIME, Some("20000"), Trusted, Kind::speaks_http;
    /// Time for a program to be ready, from its start.
    start_timeout: Duration = "start_timeout_ms": TIME, Some("60000"), Trusted, Kind::is_program;
    /// Requests under way at once, at most; where nothing is said one for a language server, and as many as are asked for others.
    concurrency: Option<usize> = "concurrency": REQUESTS, None, Trusted, Kind::is_elsewhere;
    /// Price of a million tokens read, in whatever currency all prices are.
    price_in: Option<f64> = "price_in": PRICE, None, Trusted, Kind::is_elsewhere;
    /// Price of a million tokens written.
    price_out: Option<f64> = "price_out": PRICE, None, Trusted, Kind::is_elsewhere;
}

/// The sections of which there is one each.
pub static SECTIONS: [&Section; 3] = [&COMPLETION, &CONTEXT, &RECORD];

/// All sections; the last one is repeated.
pub fn all_sections() -> impl Iterator<Item = &'static Section> + Clone {
    SECTIONS.into_iter().chain([&ENGINE])
}

/// What holds where nobody sets anything, for the keys that have a default.
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

    /// A text that the key takes.
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

    /// Making a struct panics where a field cannot hold what its row gives it.
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
