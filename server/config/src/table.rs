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

use crate::choices::{Method, Privacy, Strategy};
use crate::engine_kind::{self, EngineKind};
use crate::environment::Environment;
use crate::key::{KeySpec, Section, Values, WorkspaceAccess};
use crate::raw_value::toml::default_value;
use crate::value::{FromValue, Value};
use crate::value_type::ValueType;
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
            keys: &[$(KeySpec {
                section: $name,
                name: $key,
                takes: $takes,
                default: $default,
                doc: concat!($($doc),+).trim_ascii(),
                workspace: WorkspaceAccess::$workspace,
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
            pub(crate) fn of(values: &Values, variables: &Environment) -> $struct {
                $struct {
                    $($field: FromValue::of(values.get($key), variables)
                        .expect("a test makes every field from its default and from a value of its type"),)+
                }
            }
        }
    };
    (@is_for $kinds:expr) => { $kinds };
    (@is_for $kinds:expr, $is_for:expr) => { $is_for };
}

/// Names of the strategies.
const STRATEGIES: ValueType = ValueType::Choice(&Strategy::NAMES);
/// Names of the built-in engine's methods.
const METHODS: ValueType = ValueType::Choice(&Method::OFFERED_NAMES);
/// Up to ten minutes; no completion is worth a longer wait.
const TIMEOUT: ValueType = ValueType::Milliseconds { min: 1, max: 600_000 };
/// Up to ten seconds; a longer pause is pointless because completions can be invoked explicitly.
const DEBOUNCE: ValueType = ValueType::Milliseconds { min: 0, max: 10_000 };
/// More tokens than any current model reads.
const TOKENS: ValueType = ValueType::Integer { min: 1, max: 10_000_000, unit: "tokens" };
/// A hundred million take three gigabytes while they are sorted.
const MODEL_TOKENS: ValueType = ValueType::Integer { min: 1, max: 100_000_000, unit: "tokens" };
/// Context of a request; more would take too long to process.
const BUDGET: ValueType = ValueType::Integer { min: 0, max: 1_000_000, unit: "tokens" };
/// A probability.
const PROBABILITY: ValueType = ValueType::Number { min: 0.0, max: 1.0, unit: "" };
/// Above 2 the output is noise, and servers reject it.
const TEMPERATURE: ValueType = ValueType::Number { min: 0.0, max: 2.0, unit: "" };
/// More than any server processes at once.
const REQUESTS: ValueType = ValueType::Integer { min: 1, max: 1024, unit: "requests" };
/// Levels of recording.
const PRIVACY: ValueType = ValueType::Choice(&Privacy::NAMES);
/// Up to ten minutes; later the developer works at something else.
const STAGE: ValueType = ValueType::Milliseconds { min: 1, max: 600_000 };
/// Up to four hours: the tests of a large project.
const TEST_TIME: ValueType = ValueType::Milliseconds { min: 1, max: 14_400_000 };
/// Up to ten years.
const DAYS: ValueType = ValueType::Integer { min: 1, max: 3_650, unit: "days" };
/// Up to ten years, or for ever.
const RETENTION: ValueType = ValueType::Integer { min: 0, max: 3_650, unit: "days" };
/// Up to a terabyte.
const MEGABYTES: ValueType = ValueType::Integer { min: 1, max: 1_000_000, unit: "megabytes" };
/// The most expensive models cost a few hundred dollars.
const PRICE: ValueType = ValueType::Number { min: 0.0, max: 1_000_000.0, unit: "" };
/// Values are relative to each other.
const NET_VALUE: ValueType = ValueType::Number { min: -1_000.0, max: 1_000.0, unit: "" };

section! {
    /// Ghost text in the editor.
    COMPLETION "completion" Completion [|_| false];

    /// Whether to show ghost text. Recording and replaying work without it.
    is_enabled: bool = "enabled": ValueType::Boolean, Some("true"), Untrusted;
    /// Name of the engine that writes the ghost text. Default: the first usable engine.
    engine: Option<String> = "engine": ValueType::Name, None, Trusted;
    /// Time limit for a completion, from the request to its last character; at most half of it is spent on choosing context.
    deadline: Duration = "deadline_ms": TIMEOUT, Some("5000"), Untrusted;
    /// Pause before the engine runs, counted from the last key regardless of the editor's own delay. Default: depends on your
    /// typing speed and the engine's latency; no pause for fast engines.
    debounce: Option<Duration> = "debounce_ms": DEBOUNCE, None, Untrusted;
    /// Minimum confidence of a completion; less likely ones are not shown. Applies to engines that report their confidence.
    min_confidence: Option<f64> = "min_confidence": PROBABILITY, None, Untrusted;
}

section! {
    /// Code from other places in the workspace that is sent with a request.
    CONTEXT "context" Context [|_| false];

    /// Strategy that chooses this code.
    strategy: Strategy = "strategy": STRATEGIES, Some("\"hybrid\""), Untrusted;
    /// Maximum amount of this code in a request.
    budget_tokens: usize = "budget_tokens": BUDGET, Some("1024"), Untrusted;
}

section! {
    /// Recording of events in the editor. Recorded data stays on this machine.
    RECORD "record" Record [|_| false];

    /// Level of recording: everything; code with consistently renamed identifiers and literals; numbers only; nothing. Secrets are
    /// masked at every level. Cases that you record by a command contain code, so they are recorded only with `full`.
    privacy: Privacy = "privacy": PRIVACY, Some("\"full\""), Trusted;
}

section! {
    /// The index of a workspace. Changes apply when the workspace is opened again.
    INDEX "index" IndexSettings [|_| false];

    /// Memory for the index of a workspace. An index that needs more is on disk, beside the caches, with the same results. Default: a
    /// quarter of the machine's memory, at most 2048.
    memory_mb: Option<u32> = "memory_mb": MEGABYTES, None, Trusted;
    /// Maximum number of tokens of the workspace from which the built-in engine completes in the editor; the code nearest to your open
    /// files comes first. Default: 20 million, or fewer with little memory.
    model_tokens: Option<u32> = "model_tokens": MODEL_TOKENS, None, Trusted;
}

section! {
    /// The store of a live trial, on this machine. `ghostbench trial` shows, exports and forgets its contents.
    TRIAL "trial" Trial [|_| false];

    /// Age at which opportunities are deleted.
    keep_days: u32 = "keep_days": DAYS, Some("180"), Untrusted;
    /// Size of a workspace's store above which the oldest opportunities are deleted.
    max_mb: u32 = "max_mb": MEGABYTES, Some("512"), Untrusted;
    /// Time without an edit at a place until the text there has settled.
    settled: Duration = "settled_ms": STAGE, Some("10000"), Untrusted;
    /// Time without an edit until a block that the cursor has left is taken for complete.
    leave_block: Duration = "leave_block_ms": STAGE, Some("5000"), Untrusted;
    /// Time without an edit in a document until you are taken for idle.
    idle: Duration = "idle_ms": STAGE, Some("30000"), Untrusted;
    /// Limit of cost a day of an engine with a price, if the trial was started without one; in the currency of the prices.
    budget_per_day: f64 = "budget_per_day": PRICE, Some("1"), Trusted;
    /// Net value of a suggestion that is accepted or typed.
    accepted_value: f64 = "accepted_value": NET_VALUE, Some("0.75"), Untrusted;
    /// Net value of a suggestion that is shown in vain.
    rejected_value: f64 = "rejected_value": NET_VALUE, Some("-0.25"), Untrusted;
    /// Net value of showing nothing.
    silent_value: f64 = "silent_value": NET_VALUE, Some("0"), Untrusted;
}

section! {
    /// Unit tests that judge answers. They run in a throw-away copy of the workspace, confined by the system.
    TESTS "tests" Tests [|_| false];

    /// Program that runs the tests, with its arguments; the whole command is one test unless it writes a report. Default: the
    /// runner that the files of the workspace name.
    command: Option<Vec<String>> = "command": ValueType::Command, None, Trusted;
    /// Report that the command writes in JUnit's XML format, relative to the workspace: each of its tests counts.
    report: Option<String> = "report": ValueType::Text, None, Trusted;
    /// Program that judges answers in place of the sandbox, with its arguments; it gets a folder with the code as a further argument. See
    /// unit-tests.md.
    judge: Option<Vec<String>> = "judge": ValueType::Command, None, Trusted;
    /// Whether a replay in the editor runs the unit tests of the replayed code and shows whether they pass. They run in the sandbox only,
    /// and not in a workspace that you do not trust.
    judges_in_editor: bool = "in_editor": ValueType::Boolean, Some("true"), Trusted;
    /// Time limit for the tests of a case, and of a run of all tests.
    timeout: Duration = "timeout_ms": TEST_TIME, Some("300000"), Untrusted;
    /// Memory of all processes of a run of tests.
    memory_mb: u32 = "memory_mb": MEGABYTES, Some("4096"), Untrusted;
    /// Files that a run of tests may write, which are kept in memory.
    disk_mb: u32 = "disk_mb": MEGABYTES, Some("2048"), Untrusted;
    /// A further folder that tests may read. The workspace, the system's programs and the packages of known tools are readable anyway.
    read: Option<PathBuf> = "read": ValueType::Path, None, Trusted;
}

section! {
    /// The front door: the APIs that completion plugins speak, served on this machine. See docs/front-door.md.
    SERVE "serve" Serve [|_| false];

    /// Whether the language server opens the front door, too. `ghostbench serve` opens it in any case.
    is_enabled: bool = "enabled": ValueType::Boolean, Some("false"), Trusted;
    /// Address and port to listen at. An address that other machines reach needs a token.
    listen: String = "listen": ValueType::Text, Some("\"127.0.0.1:7117\""), Trusted;
    /// Environment variable with a token that every request must carry, as a plugin sends its API key.
    token: Option<Secret> = "token_env": ValueType::KeyVariable, None, Trusted;
}

section! {
    /// Traces of a team: the server that collects them, and its rules. See docs/collect.md.
    COLLECT "collect" Collect [|_| false];

    /// Address of the team's server, for `ghostbench collect send`.
    url: Option<String> = "url": ValueType::Url, None, Trusted;
    /// Environment variable with the token that the server's administrator gave you.
    token: Option<Secret> = "token_env": ValueType::KeyVariable, None, Trusted;
    /// Trusted certificates of the server in PEM form, in addition to the system's.
    tls_roots: Option<PathBuf> = "tls_roots": ValueType::Path, None, Trusted;
    /// Your certificate with its private key in PEM form, for a server that knows you by it instead of a token.
    tls_identity: Option<PathBuf> = "tls_identity": ValueType::Path, None, Trusted;
    /// Address and port at which `ghostbench collect serve` listens.
    listen: String = "listen": ValueType::Text, Some("\"127.0.0.1:7118\""), Trusted;
    /// Licences of repositories that the server accepts, separated by commas, such as `MIT, Apache-2.0`; `none` means a repository
    /// without a licence file. Default: any.
    licences: Option<String> = "licences": ValueType::Text, None, Trusted;
    /// The most of the code that the server accepts: `full` code, `structure` only, `metrics` without code, or nothing.
    level: Privacy = "level": PRIVACY, Some("\"full\""), Trusted;
    /// Days after which the server deletes an opportunity; 0 keeps all.
    retention_days: u32 = "retention_days": RETENTION, Some("365"), Trusted;
}

section! {
    /// An engine. The section can be repeated.
    ENGINE "engine" EngineSettings [|_| true];

    /// Name of the engine in reports and on the command line. A later layer adds to the engine of the same name.
    name: String = "name": ValueType::Name, None, Trusted;
    /// Kind of the engine.
    kind: EngineKind = "kind": ValueType::Choice(&engine_kind::NAMES), None, Trusted;
    /// Address of the server, with or without the path of the kind.
    url: Option<String> = "url": ValueType::Url, None, Trusted, EngineKind::has_address;
    /// Name of the model.
    model: Option<String> = "model": ValueType::Text, None, Trusted, EngineKind::is_external;
    /// Prompt template: a name such as `qwen2.5-coder`, or a layout. Default: detected.
    fim: Option<String> = "fim": ValueType::Text, None, Trusted, EngineKind::takes_template;
    /// Environment variable with the API key. Keys are never written into a file.
    api_key: Option<Secret> = "api_key_env": ValueType::KeyVariable, None, Trusted, EngineKind::has_address;
    /// Additional headers of every request.
    headers: BTreeMap<String, Secret> = "headers": ValueType::Headers, None, Trusted, EngineKind::has_address;
    /// Additional fields in the body of every request; they override the default ones.
    extra_body: Map<String, Json> = "extra_body": ValueType::Json, None, Trusted, EngineKind::takes_extra_body;
    /// Proxy for every request; `none` disables proxies. Default: the system's proxy, except for servers on this machine.
    proxy: Option<Secret> = "proxy": ValueType::Proxy, None, Trusted, EngineKind::has_address;
    /// Trusted certificates in PEM form, in addition to the system's.
    tls_roots: Option<PathBuf> = "tls_roots": ValueType::Path, None, Trusted, EngineKind::has_address;
    /// Model file in GGUF form.
    gguf: Option<PathBuf> = "gguf": ValueType::Path, None, Trusted, |kind| kind == EngineKind::LlamaServer;
    /// Program to run, with its arguments; for `llama-server`, the command that replaces that name.
    command: Vec<String> = "command": ValueType::Command, None, Trusted, EngineKind::is_program;
    /// Additional environment variables of the program.
    env: BTreeMap<String, Secret> = "env": ValueType::Environment, None, Trusted, EngineKind::is_program;
    /// Working directory of the program. Default: that of Ghostbench; for a language server, an empty folder.
    folder: Option<PathBuf> = "folder": ValueType::Path, None, Trusted, EngineKind::is_program;
    /// Request method of a language server. Use `textDocument/completion` if its completion lists contain complete answers.
    request: String = "request": ValueType::Text, Some("\"textDocument/inlineCompletion\""), Trusted, |kind| kind == EngineKind::Lsp;
    /// Initialization options of a language server (`initializationOptions`).
    initialization_options: SecretTable = "initialization_options": ValueType::Options, None, Trusted, |kind| kind == EngineKind::Lsp;
    /// Settings of a language server by section, sent when it requests them.
    settings: SecretTable = "settings": ValueType::Options, None, Trusted, |kind| kind == EngineKind::Lsp;
    /// Method of the built-in engine: the engine itself, or a baseline that shows how much of its score is plain copying.
    method: Method = "method": METHODS, Some("\"hybrid\""), Trusted, |kind| kind == EngineKind::Builtin;
    /// Sampling temperature; 0 always picks the most likely token. Default: chosen by the engine.
    temperature: Option<f64> = "temperature": TEMPERATURE, None, Trusted, EngineKind::takes_prompt;
    /// Maximum number of tokens in a completion.
    max_tokens: u32 = "max_tokens": TOKENS, Some("512"), Trusted, EngineKind::takes_max_tokens;
    /// Maximum number of tokens that the model reads and writes in one request. Default: as reported by the server, if it does.
    context_window: Option<u32> = "context_window": TOKENS, None, Trusted, EngineKind::takes_prompt;
    /// Time limit for a connection.
    connect_timeout: Duration = "connect_timeout_ms": TIMEOUT, Some("5000"), Trusted, EngineKind::uses_http;
    /// Time limit from the connection to the first byte of an answer, even if the deadline is later. For requests of more than 32 KB it
    /// grows with their size.
    first_byte_timeout: Duration = "first_byte_timeout_ms": TIMEOUT, Some("60000"), Trusted, EngineKind::uses_http;
    /// Time limit for each further byte.
    idle_timeout: Duration = "idle_timeout_ms": TIMEOUT, Some("20000"), Trusted, EngineKind::uses_http;
    /// Time limit from the start of a program until it is ready.
    start_timeout: Duration = "start_timeout_ms": TIMEOUT, Some("60000"), Trusted, EngineKind::is_program;
    /// Maximum number of concurrent requests. Default: 1 for a language server, otherwise unlimited.
    concurrency: Option<usize> = "concurrency": REQUESTS, None, Trusted, EngineKind::is_external;
    /// Price of a million input tokens. Use the same currency for all prices.
    price_in: Option<f64> = "price_in": PRICE, None, Trusted, EngineKind::is_external;
    /// Price of a million output tokens.
    price_out: Option<f64> = "price_out": PRICE, None, Trusted, EngineKind::is_external;
    /// Last day or month of the model's training data. Reports then compare the cases from commits until and after it.
    cutoff: Option<String> = "cutoff": ValueType::Date, None, Trusted, EngineKind::is_external;
}

/// The sections that occur once.
pub static SECTIONS: [&Section; 8] =
    [&COMPLETION, &CONTEXT, &RECORD, &INDEX, &TRIAL, &TESTS, &SERVE, &COLLECT];

/// Returns all sections; the last one can be repeated.
pub fn all_sections() -> impl Iterator<Item = &'static Section> + Clone {
    SECTIONS.into_iter().chain([&ENGINE])
}

/// Returns the defaults of a section, for the keys that have one.
pub(crate) fn defaults(section: &Section) -> &'static Values {
    static ALL: LazyLock<BTreeMap<&'static str, Values>> = LazyLock::new(|| {
        all_sections()
            .map(|section| {
                (
                    section.name,
                    section
                        .keys
                        .iter()
                        .filter_map(|key| {
                            let value: Value = default_value(key)?;
                            Some((key.name, value))
                        })
                        .collect(),
                )
            })
            .collect()
    });
    static EMPTY: Values = Values::new();
    ALL.get(section.name).unwrap_or(&EMPTY)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::raw_value::toml::entries;
    use crate::value_type::ValidationContext;

    /// Returns a text that the key accepts.
    fn sample(key: &KeySpec) -> &'static str {
        match key.takes {
            ValueType::Boolean => "false",
            ValueType::Integer { .. } | ValueType::Number { .. } | ValueType::Milliseconds { .. } => "1",
            ValueType::Choice(words) if words.contains(&"ollama") => "\"ollama\"",
            ValueType::Choice(words) if words.contains(&"none") => "\"none\"",
            ValueType::Choice(words) if words.contains(&"empty") => "\"empty\"",
            ValueType::Choice(_) => "\"off\"",
            ValueType::Text | ValueType::Name => "\"text\"",
            ValueType::Date => "\"2025-06\"",
            ValueType::Url => "\"http://h\"",
            ValueType::Proxy => "\"none\"",
            ValueType::Path => "\"/file\"",
            ValueType::Command => "[\"program\"]",
            ValueType::KeyVariable => "\"KEY\"",
            ValueType::Headers | ValueType::Environment | ValueType::Json | ValueType::Options => {
                "{A = \"b\"}"
            }
        }
    }

    fn value(key: &KeySpec, text: &str) -> Value {
        let text = format!("key = {text}");
        let (entries, problems) = entries(&std::path::Path::new("").into(), &text);
        assert!(problems.is_empty(), "{}: {problems:?}", key.name);
        let variables = Environment::default();
        let around = ValidationContext { folder: None, is_shared: true, variables: &variables };
        key.takes
            .validate(&entries[0].node.raw, around)
            .unwrap_or_else(|reason| panic!("{} {reason}", key.name))
    }

    /// Creating a struct panics if a field cannot hold the value of its row.
    #[test]
    fn every_field_accepts_its_default_and_values_of_its_type() {
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
        let variables = Environment::default();
        match section.name {
            "completion" => drop(Completion::of(values, &variables)),
            "context" => drop(Context::of(values, &variables)),
            "record" => drop(Record::of(values, &variables)),
            "index" => drop(IndexSettings::of(values, &variables)),
            "trial" => drop(Trial::of(values, &variables)),
            "tests" => drop(Tests::of(values, &variables)),
            "serve" => drop(Serve::of(values, &variables)),
            "collect" => drop(Collect::of(values, &variables)),
            "engine" => drop(EngineSettings::of(values, &variables)),
            other => panic!("[{other}] has no struct"),
        }
    }

    #[test]
    fn required_keys_apply_to_their_engine_kind() {
        for kind in EngineKind::ALL {
            for name in kind.required_keys() {
                let key = ENGINE.key(name).expect("the key is in the table");
                assert!((key.is_for)(kind), "{kind} {name}");
                assert!(kind.default_url().is_none() || *name != "url", "{kind}");
            }
            assert_eq!(EngineKind::from_name(kind.name()), Some(kind));
        }
    }
}
