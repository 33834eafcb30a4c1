//! From file contents to effective layers.

use std::path::{Path, PathBuf};

use config::{Config, ConfigFile, ConfigFiles, Environment, Trust, TrustStore};
use serde_json::{Value, json};

use crate::fixture::{USER, WORKSPACE, shown};

const ENGINE: &str = "[[engine]]\nname = \"a\"\nkind = \"builtin\"\n";

fn read(path: &str, text: &str) -> Option<ConfigFile> {
    Some(ConfigFile { path: PathBuf::from(path), content: Ok(text.as_bytes().to_vec()) })
}

fn workspace(text: &str) -> ConfigFiles {
    ConfigFiles { workspace: read(WORKSPACE, text), ..ConfigFiles::default() }
}

/// Returns the trust list after the user trusts the workspace's file with this text.
fn trusting(text: &str) -> Option<ConfigFile> {
    let mut list = TrustStore::default();
    list.trust(Path::new(WORKSPACE), text.as_bytes());
    read("/data/trust.json", &list.print())
}

fn config(files: &ConfigFiles, editor: &[Value]) -> Config {
    let variables = Environment::default();
    Config::new(&files.layers(editor, &variables), &variables)
}

/// Returns whether the workspace's engine can be used.
fn is_workspace_engine_usable(files: &ConfigFiles, editor: &[Value]) -> bool {
    config(files, editor).engines[0].settings.is_ok()
}

#[test]
fn trust_list_or_editor_setting_trusts_the_workspace_file() {
    let unknown = workspace(ENGINE);
    assert!(!is_workspace_engine_usable(&unknown, &[]));
    assert!(is_workspace_engine_usable(&ConfigFiles { trusted: trusting(ENGINE), ..unknown.clone() }, &[]));
    assert!(!is_workspace_engine_usable(
        &ConfigFiles { trusted: trusting("something else"), ..unknown.clone() },
        &[]
    ));
    assert!(is_workspace_engine_usable(&unknown, &[json!({"trusted": true})]));
    assert!(
        !is_workspace_engine_usable(&unknown, &[json!({"trusted": true}), json!({"trusted": false})]),
        "the last word counts"
    );
    assert!(is_workspace_engine_usable(&unknown, &[json!({"trusted": true}), Value::Null]));
}

#[test]
fn changed_file_is_distinguished_from_an_untrusted_one() {
    let files = ConfigFiles { trusted: trusting("something else"), ..workspace(ENGINE) };
    let layers = files.layers(&[], &Environment::default());
    assert_eq!(layers.last().map(|layer| layer.trust()), Some(Trust::Changed));
}

#[test]
fn invalid_trust_list_is_reported_if_it_is_needed() {
    let trusted = read("/data/trust.json", "{");
    let files = ConfigFiles { trusted: trusted.clone(), ..workspace(ENGINE) };
    assert!(!is_workspace_engine_usable(&files, &[]));
    let reported = shown(&config(&files, &[]));
    assert!(reported.contains("Warning /data/trust.json: invalid list of trusted files"), "{reported}");
    assert_eq!(config(&ConfigFiles { trusted, ..ConfigFiles::default() }, &[]).problems, []);
}

#[test]
fn file_given_by_config_option_is_trusted_and_read_once() {
    let files = ConfigFiles { command_line: read(WORKSPACE, ENGINE), ..workspace(ENGINE) };
    assert!(is_workspace_engine_usable(&files, &[]));
    assert_eq!(config(&files, &[]).problems, []);
}

#[test]
fn later_editor_settings_override_earlier_ones_per_key() {
    let editor = [
        json!({"context": {"strategy": "none", "budgetTokens": 1}}),
        json!({"context": {"budgetTokens": 2}}),
    ];
    let config = config(&ConfigFiles::default(), &editor);
    assert_eq!((config.context.strategy.name(), config.context.budget_tokens), ("none", 2));
}

#[test]
fn unreadable_file_is_reported_and_others_apply() {
    let unreadable = |path: &str| {
        Some(ConfigFile { path: PathBuf::from(path), content: Err("permission denied".to_owned()) })
    };
    let files = ConfigFiles { user: unreadable(USER), ..workspace("[context]\nbudget_tokens = 7\n") };
    let config = config(&files, &[]);
    assert_eq!(config.context.budget_tokens, 7);
    assert_eq!(config.problems[0].to_string(), format!("{USER}: cannot be read: permission denied"));
}
