//! Random layers: the strongest wins, order and neighbours do not matter, and nothing panics.

use std::path::Path;

use config::{Config, ConfigLayer, Environment, LayerKind, Trust};
use proptest::prelude::*;

const KINDS: [LayerKind; 5] = [
    LayerKind::User,
    LayerKind::Workspace,
    LayerKind::Editor,
    LayerKind::Environment,
    LayerKind::CommandLine,
];

/// Settings of three keys in one layer.
#[derive(Clone, Debug)]
struct LayerValues {
    budget: Option<usize>,
    deadline: Option<u64>,
    is_enabled: Option<bool>,
}

fn random_settings() -> impl Strategy<Value = LayerValues> {
    (
        proptest::option::of(0..1000usize),
        proptest::option::of(1..1000u64),
        proptest::option::of(any::<bool>()),
    )
        .prop_map(|(budget, deadline, is_enabled)| LayerValues { budget, deadline, is_enabled })
}

fn layer(kind: LayerKind, values: &LayerValues, trust: Trust) -> ConfigLayer {
    let LayerValues { budget, deadline, is_enabled } = values;
    let variables = Environment::default();
    match kind {
        LayerKind::Editor => {
            let settings = serde_json::json!({
                "context": {"budgetTokens": budget},
                "completion": {"deadlineMs": deadline, "enabled": is_enabled},
            });
            ConfigLayer::editor(&settings, &variables)
        }
        LayerKind::Environment => {
            let pairs = [
                ("GHOSTBENCH_CONTEXT_BUDGET_TOKENS", budget.map(|value| value.to_string())),
                ("GHOSTBENCH_COMPLETION_DEADLINE_MS", deadline.map(|value| value.to_string())),
                ("GHOSTBENCH_COMPLETION_ENABLED", is_enabled.map(|value| value.to_string())),
            ];
            let set = pairs.into_iter().filter_map(|(name, value)| Some((name.to_owned(), value?)));
            ConfigLayer::environment(&Environment::new(set))
        }
        kind => {
            let line = |name: &str, value: Option<String>| {
                value.map(|value| format!("{name} = {value}\n")).unwrap_or_default()
            };
            let text = format!(
                "[context]\n{}[completion]\n{}{}",
                line("budget_tokens", budget.map(|value| value.to_string())),
                line("deadline_ms", deadline.map(|value| value.to_string())),
                line("enabled", is_enabled.map(|value| value.to_string())),
            );
            ConfigLayer::file(kind, Path::new("/f.toml"), text.as_bytes(), trust, &variables)
        }
    }
}

proptest! {
    #[test]
    fn strongest_layer_that_sets_a_key_wins(
        all in proptest::collection::vec(random_settings(), KINDS.len()),
        order in Just(KINDS).prop_shuffle(),
    ) {
        let at = |kind: LayerKind| KINDS.iter().position(|other| *other == kind).expect("all are there");
        let layers: Vec<ConfigLayer> =
            order.iter().map(|&kind| layer(kind, &all[at(kind)], Trust::Trusted)).collect();
        let config = Config::new(&layers, &Environment::default());
        prop_assert!(config.problems.is_empty());
        let strongest = |key: &str, is_set: &dyn Fn(&LayerValues) -> bool| {
            let layer = KINDS.into_iter().rev().find(|kind| is_set(&all[at(*kind)]));
            let (section, key) = key.split_once('.').expect("a section and a key");
            let origin = config.origin(section, key).expect("the key is in the table").layer;
            (origin, layer.unwrap_or(LayerKind::Default))
        };
        for (found, expected) in [
            strongest("context.budget_tokens", &|values| values.budget.is_some()),
            strongest("completion.deadline_ms", &|values| values.deadline.is_some()),
            strongest("completion.enabled", &|values| values.is_enabled.is_some()),
        ] {
            prop_assert_eq!(found, expected);
        }
        let last = |value: &dyn Fn(&LayerValues) -> Option<usize>| all.iter().rev().find_map(value);
        prop_assert_eq!(config.context.budget_tokens, last(&|values| values.budget).unwrap_or(1024));
    }

    #[test]
    fn untrusted_file_cannot_change_engines_or_recording(name in "[a-c]", text in ".{0,40}") {
        let user = "[[engine]]\nname = \"a\"\nkind = \"builtin\"\n[record]\nprivacy = \"off\"\n";
        let theirs = format!(
            "# {}\n[[engine]]\nname = {name:?}\nkind = \"command\"\ncommand = [\"x\"]\n[record]\nprivacy = \"full\"\n",
            text.escape_default()
        );
        let variables = Environment::default();
        let file = |kind, text: &str, trust| {
            ConfigLayer::file(kind, Path::new("/f.toml"), text.as_bytes(), trust, &variables)
        };
        let mine = file(LayerKind::User, user, Trust::Trusted);
        let before = Config::new(std::slice::from_ref(&mine), &variables);
        let config = Config::new(&[mine, file(LayerKind::Workspace, &theirs, Trust::Unknown)], &variables);
        prop_assert_eq!(&config.engines[0], &before.engines[0]);
        prop_assert_eq!(&config.record, &before.record);
        prop_assert!(config.engines[1..].iter().all(|engine| engine.settings.is_err()));
    }

    #[test]
    fn random_toml_does_not_panic(
        text in "(\\[\\[?(engine|context|completion|x)\\]?\\]?|(name|kind|url|headers|strategy|deadline_ms|command|é) ?= ?(\"[a-z$é]*\"|[0-9]{1,20}|\\{a = 1|\\[1, ?|true|-?inf|1979-05-27)|\n| |.){0,30}",
    ) {
        let variables = Environment::default();
        let layer = ConfigLayer::file(LayerKind::User, Path::new("/f.toml"), text.as_bytes(), Trust::Trusted, &variables);
        let problems = layer.problems().to_vec();
        let config = Config::new(&[layer], &variables);
        prop_assert!(config.problems.len() >= problems.len());
        for problem in problems {
            prop_assert!(!problem.message.contains('\n'), "{}", problem.message);
        }
    }

    #[test]
    fn random_bytes_and_editor_settings_do_not_panic(bytes in proptest::collection::vec(any::<u8>(), 0..60)) {
        let variables = Environment::default();
        ConfigLayer::file(LayerKind::User, Path::new("/f.toml"), &bytes, Trust::Trusted, &variables);
        if let Ok(json) = serde_json::from_slice(&bytes) {
            ConfigLayer::editor(&json, &variables);
        }
    }
}

/// The smallest stack that a thread of ours has anywhere.
const STACK_BYTES: usize = 512 << 10;
const DEEP: usize = 100_000;

/// Reads a file of settings on a small stack; returns how many problems it has.
fn problems_on_a_small_stack(text: String) -> usize {
    let read = move || {
        let variables = Environment::default();
        let layer = ConfigLayer::file(
            LayerKind::User,
            Path::new("/c.toml"),
            text.as_bytes(),
            Trust::Trusted,
            &variables,
        );
        let config = Config::new(std::slice::from_ref(&layer), &variables);
        layer.problems().len() + config.problems.len()
    };
    let running = std::thread::Builder::new().stack_size(STACK_BYTES).spawn(read);
    running.expect("a thread can be started").join().expect("it ends well")
}

#[test]
fn deeply_nested_toml_is_handled_on_a_small_stack() {
    let key = "a.".repeat(DEEP) + "a";
    let quoted = "\"a\" . 'b'.".repeat(DEEP) + "a";
    let short = ["a"; 8].join(".");
    let inline = (0..200).fold("1".to_owned(), |inner, _| format!("{{ {short} = {inner} }}"));
    for text in [
        format!("{key} = 1\n"),
        format!("{quoted} = 1\n"),
        format!("[{key}]\nb = 1\n"),
        format!("[[{key}]]\nb = 1\n"),
        format!("a = {{ {key} = 1 }}\n"),
        format!("[{short}]\n{short} = {inline}\n"),
        format!("a = {}1{}\n", "[".repeat(DEEP), "]".repeat(DEEP)),
        format!("a = {}", "[".repeat(DEEP)),
        format!("a = {}", "{ a = ".repeat(DEEP)),
        format!("{}a", "[".repeat(DEEP)),
    ] {
        let start: String = text.chars().take(40).collect();
        assert!(problems_on_a_small_stack(text) > 0, "{start}");
    }
    for text in ["a = 'a.a.a.a.a.a.a.a.a.a.a.a'\n", "a = [0.1, 0.2, 0.3, 0.4, 0.5, 0.6, 0.7, 0.8, 0.9]\n"] {
        let variables = Environment::default();
        let layer = ConfigLayer::file(
            LayerKind::User,
            Path::new("/c.toml"),
            text.as_bytes(),
            Trust::Trusted,
            &variables,
        );
        assert!(!layer.is_broken(), "{text}");
    }
}

#[test]
fn deeply_nested_json_is_handled_on_a_small_stack() {
    let deep = "[".repeat(DEEP);
    assert!(config::TrustStore::parse(&deep).is_err());
    // As deep as a parser of JSON goes.
    let settings = format!("{{\"a\":{}{}}}", "[".repeat(120), "]".repeat(120));
    let settings: serde_json::Value = serde_json::from_str(&settings).unwrap();
    let running = std::thread::Builder::new()
        .stack_size(STACK_BYTES)
        .spawn(move || drop(ConfigLayer::editor(&settings, &Environment::default())));
    running.expect("a thread can be started").join().expect("it ends well");
}
