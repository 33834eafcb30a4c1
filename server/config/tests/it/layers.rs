//! Precedence of layers and origin of values.

use std::path::Path;
use std::time::Duration;

use config::{Config, ConfigLayer, Environment, LayerKind, Privacy, Severity, Trust};
use expect_test::expect;

use crate::fixture::{check, config};

#[test]
fn defaults_apply_without_layers() {
    let config = Config::new(&[], &Environment::default());
    assert!(config.completion.is_enabled);
    assert_eq!(config.completion.deadline, Duration::from_secs(5));
    assert_eq!((config.context.strategy.name(), config.context.budget_tokens), ("hybrid", 1024));
    assert_eq!(config.record.privacy, Privacy::Full);
    assert!(config.engines.is_empty() && config.problems.is_empty());
    assert!(config.values().iter().all(|row| row.origin.layer == LayerKind::Default));
    assert!(!config.is_set("context", "strategy"));
}

#[test]
fn later_layers_override_earlier_ones_per_key() {
    check(
        r#"
//- user
[completion]
deadline_ms = 1000
[context]
strategy = "none"
budget_tokens = 100
[record]
privacy = "full"
//- workspace
[context]
budget_tokens = 200
[completion]
engine = "a"
//- editor
{"completion": {"deadlineMs": 3000, "minConfidence": 0.5}, "record": {"privacy": "off"}}
//- environment
GHOSTBENCH_COMPLETION_MIN_CONFIDENCE=0.25
GHOSTBENCH_CONTEXT_STRATEGY=symbols
//- --config
[context]
strategy = "functions"
"#,
        expect![[r#"
            completion.engine = "a" (workspace file /shop/ghostbench.toml:4:1)
            completion.deadline_ms = 3000 (setting ghostbench.completion.deadlineMs)
            completion.min_confidence = 0.25 (variable GHOSTBENCH_COMPLETION_MIN_CONFIDENCE)
            context.strategy = "functions" (--config /ci/bench.toml:2:1)
            context.budget_tokens = 200 (workspace file /shop/ghostbench.toml:2:1)
            record.privacy = "off" (setting ghostbench.record.privacy)
        "#]],
    );
}

#[test]
fn null_editor_settings_are_ignored() {
    check(
        r#"
//- user
[completion]
enabled = false
//- editor
{"completion": {"enabled": null, "engine": null}, "context": null, "engine": null, "trusted": true}
"#,
        expect![[r#"
            completion.enabled = false (user file /home/you/.config/ghostbench/config.toml:2:1)
        "#]],
    );
}

#[test]
fn editor_settings_accept_snake_case_keys() {
    check(
        r#"
//- editor
{"completion": {"deadline_ms": 7}, "engine": [{"name": "a", "kind": "openai", "url": "http://h", "apiKeyEnv": "KEY",
 "extra_body": {"keepAlive": 1}, "headers": {"X-Mixed-Case": "x"}}]}
//- environment
KEY=abc
"#,
        expect![[r#"
            completion.deadline_ms = 7 (setting ghostbench.completion.deadline_ms)
            [a] openai: ready
              url = "http://h" (setting ghostbench.engine[0].url)
              api_key_env = $KEY (setting ghostbench.engine[0].apiKeyEnv)
              headers = X-Mixed-Case: … (setting ghostbench.engine[0].headers)
              extra_body = keepAlive: … (setting ghostbench.engine[0].extra_body)
        "#]],
    );
}

#[test]
fn broken_layer_does_not_affect_the_others() {
    check(
        r#"
//- user
[completion
deadline_ms = 1000
[context]
strategy = "none"
//- workspace
[context]
budget_tokens = 200
//- editor
"nonsense"
//- environment
GHOSTBENCH_COMPLETION_ENABLED=yes
GHOSTBENCH_RECORD_PRIVACY=off
"#,
        expect![[r#"
            context.budget_tokens = 200 (workspace file /shop/ghostbench.toml:2:1)
            record.privacy = "off" (variable GHOSTBENCH_RECORD_PRIVACY)
            Error /home/you/.config/ghostbench/config.toml:1:12: invalid TOML: unclosed table, expected `]`
            Error setting ghostbench: the settings are not an object; the known fields are completion, context, record, index, trial, tests, serve, collect, engine
            Error variable GHOSTBENCH_COMPLETION_ENABLED: `enabled` in [completion] must be true or false, not text
        "#]],
    );
}

#[test]
fn config_holds_the_values_of_a_file() {
    let config = config(
        r#"
//- user
[completion]
enabled = false
engine = "a"
deadline_ms = 250
min_confidence = 1
[context]
strategy = "bm25-chunks"
budget_tokens = 0
[record]
privacy = "off"
"#,
    );
    assert!(!config.completion.is_enabled);
    assert_eq!(config.completion.engine.as_deref(), Some("a"));
    assert_eq!(config.completion.deadline, Duration::from_millis(250));
    assert_eq!(config.completion.min_confidence, Some(1.0));
    assert_eq!((config.context.strategy.name(), config.context.budget_tokens), ("bm25-chunks", 0));
    assert_eq!(config.record.privacy, Privacy::Off);
    assert_eq!(config.problems, []);
}

#[test]
fn invalid_levels_of_recording_record_nothing() {
    for word in ["structures", "Off", "none"] {
        let file = format!("[record]\nprivacy = {word:?}\n");
        let layer = ConfigLayer::file(
            LayerKind::User,
            Path::new("/w/ghostbench.toml"),
            file.as_bytes(),
            Trust::Trusted,
            &Environment::default(),
        );
        let variables = Environment::new([("GHOSTBENCH_RECORD_PRIVACY".to_owned(), word.to_owned())]);
        let editor = serde_json::json!({"record": {"privacy": word}});
        for layer in [
            layer,
            ConfigLayer::environment(&variables),
            ConfigLayer::editor(&editor, &Environment::default()),
        ] {
            let config = Config::new(&[layer], &Environment::default());
            assert_eq!(config.record.privacy, Privacy::Off);
            let [problem] = &config.problems[..] else { panic!("{:?}", config.problems) };
            assert!(problem.message.contains("`off`"), "{problem}");
            assert_eq!(problem.severity, Severity::Warning);
        }
    }
}
