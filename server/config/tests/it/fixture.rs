//! Fixtures: layers in one text, the expected result in another.
//!
//! A layer begins with a line `//- user`, `workspace`, `untrusted`, `changed`, `editor` (JSON), `environment` (`NAME=value`) or
//! `--config`.

use std::fmt::Write;
use std::path::Path;

use config::{Config, ConfigLayer, EffectiveValue, EngineDefinition, Environment, LayerKind, Trust};
use expect_test::Expect;

pub(crate) const USER: &str = "/home/you/.config/ghostbench/config.toml";
pub(crate) const WORKSPACE: &str = "/shop/ghostbench.toml";
const COMMAND_LINE: &str = "/ci/bench.toml";

/// Parses the layers and the environment of a fixture.
#[track_caller]
pub(crate) fn layers(fixture: &str) -> (Vec<ConfigLayer>, Environment) {
    let parts = test_fixture::sections(fixture);
    let environment = parts.iter().find(|(name, _)| *name == "environment").map_or("", |(_, text)| *text);
    let variables =
        Environment::new(environment.lines().filter_map(|line| {
            line.split_once('=').map(|(name, value)| (name.to_owned(), value.to_owned()))
        }));
    let file = |kind, path: &str, text: &str, trust| {
        ConfigLayer::file(kind, Path::new(path), text.as_bytes(), trust, &variables)
    };
    let layer = |&(name, text): &(&str, &str)| match name {
        "user" => file(LayerKind::User, USER, text, Trust::Trusted),
        "workspace" => file(LayerKind::Workspace, WORKSPACE, text, Trust::Trusted),
        "untrusted" => file(LayerKind::Workspace, WORKSPACE, text, Trust::Unknown),
        "changed" => file(LayerKind::Workspace, WORKSPACE, text, Trust::Changed),
        "--config" => file(LayerKind::CommandLine, COMMAND_LINE, text, Trust::Trusted),
        "editor" => {
            ConfigLayer::editor(&serde_json::from_str(text).expect("the fixture is JSON"), &variables)
        }
        "environment" => ConfigLayer::environment(&variables),
        other => panic!("there is no layer {other}"),
    };
    let layers = parts.iter().map(layer).collect();
    (layers, variables)
}

/// Returns the configuration of a fixture.
#[track_caller]
pub(crate) fn config(fixture: &str) -> Config {
    let (layers, variables) = layers(fixture);
    Config::new(&layers, &variables)
}

/// Compares the configuration of a fixture, without defaults.
#[track_caller]
pub(crate) fn check(fixture: &str, expected: Expect) {
    expected.assert_eq(&shown(&config(fixture)));
}

/// Displays all settings, engine by engine, and all problems.
pub(crate) fn shown(config: &Config) -> String {
    let mut text = String::new();
    for row in config.values().iter().filter(|row| is_set(row)) {
        line(&mut text, "", &format!("{}.{}", row.key.section, row.key.name), row);
    }
    for engine in &config.engines {
        shown_engine(&mut text, engine);
    }
    for problem in &config.problems {
        let _ = writeln!(text, "{:?} {problem}", problem.severity);
    }
    text
}

fn shown_engine(text: &mut String, engine: &EngineDefinition) {
    let state = match &engine.settings {
        Ok(_) => "ready".to_owned(),
        Err(obstacle) => obstacle.to_string(),
    };
    let kind = engine.kind.map_or("?", |kind| kind.name());
    let _ = writeln!(text, "[{}] {kind}: {state}", engine.name);
    let keys = engine.values().iter().filter(|row| is_set(row) && !["name", "kind"].contains(&row.key.name));
    for row in keys {
        line(text, "  ", row.key.name, row);
    }
}

fn is_set(row: &EffectiveValue) -> bool {
    row.origin.layer != LayerKind::Default
}

fn line(text: &mut String, indent: &str, name: &str, row: &EffectiveValue) {
    let value = row.value.as_deref().unwrap_or("-");
    let _ = writeln!(text, "{indent}{name} = {value} ({})", row.origin);
}
