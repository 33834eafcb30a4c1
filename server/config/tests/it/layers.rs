//! Precedence of layers and origin of values.

use std::time::Duration;

use config::{Config, Environment, LayerKind};
use expect_test::expect;

use crate::fixture::{check, config};

#[test]
fn without_layers_the_defaults_hold() {
    let config = Config::new(&[], &Environment::default());
    assert!(config.completion.is_enabled);
    assert_eq!(config.completion.deadline, Duration::from_secs(5));
    assert_eq!((config.context.strategy.name(), config.context.budget_tokens), ("hybrid", 1024));
    assert_eq!(config.record.privacy, "full");
    assert!(config.engines.is_empty() && config.problems.is_empty());
    assert!(config.values().iter().all(|row| row.origin.layer == LayerKind::Default));
    assert!(!config.is_set("context", "strategy"));
}

#[test]
fn later_layers_beat_earlier_ones_key_by_key() {
    check(
        r#"
//- user
[completion]
deadline_ms = 1000
[context]
strategy = "none"
budget_tokens = 100
[record]
privacy = "metrics"
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
fn nulls_of_an_editor_set_nothing() {
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
fn an_editor_may_write_keys_as_files_do() {
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
fn one_broken_layer_leaves_the_others_alone() {
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
            Error setting ghostbench: the settings are not an object; the known fields are completion, context, record, engine
            Error variable GHOSTBENCH_COMPLETION_ENABLED: `enabled` in [completion] must be true or false, not text
        "#]],
    );
}

#[test]
fn what_holds_is_the_value_that_was_set() {
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
privacy = "structure"
"#,
    );
    assert!(!config.completion.is_enabled);
    assert_eq!(config.completion.engine.as_deref(), Some("a"));
    assert_eq!(config.completion.deadline, Duration::from_millis(250));
    assert_eq!(config.completion.min_confidence, Some(1.0));
    assert_eq!((config.context.strategy.name(), config.context.budget_tokens), ("bm25-chunks", 0));
    assert_eq!(config.record.privacy, "structure");
    assert_eq!(config.problems, []);
}
