//! A file that changes while the server runs.

use std::path::Path;

use config::{Config, ConfigLayer, Environment, LayerKind, Problem, Trust};

fn layer(text: &str, trust: Trust) -> ConfigLayer {
    ConfigLayer::file(
        LayerKind::Workspace,
        Path::new("/w/ghostbench.toml"),
        text.as_bytes(),
        trust,
        &Environment::default(),
    )
}

fn budget(layer: &ConfigLayer) -> usize {
    Config::new(std::slice::from_ref(layer), &Environment::default()).context.budget_tokens
}

#[test]
fn broken_file_keeps_the_last_valid_settings() {
    let good = layer("[context]\nbudget_tokens = 7\n", Trust::Trusted);
    for broken in [
        "[context]\nbudget_tokens = \n",
        "[context]\nbudget_tokens = -1\n",
        "[context]\nbudget_tokens = 8\nstrategy = 3\n",
    ] {
        let kept = layer(broken, Trust::Unknown).or_last_valid(Some(&good));
        assert_eq!(budget(&kept), 7, "{broken}");
        assert!(kept.is_broken() && kept.problems().len() == 1);
        let again = layer("[context\n", Trust::Unknown).or_last_valid(Some(&kept));
        assert_eq!(budget(&again), 7, "however often it is broken");
        let mended = layer("[context]\nbudget_tokens = 9\n", Trust::Trusted).or_last_valid(Some(&again));
        assert_eq!(budget(&mended), 9);
        assert!(!mended.is_broken());
    }
}

#[test]
fn first_broken_file_applies_its_valid_settings() {
    let first = layer("[context]\nbudget_tokens = 7\nstrategy = 3\n", Trust::Trusted).or_last_valid(None);
    assert_eq!(budget(&first), 7);
}

#[test]
fn unknown_keys_do_not_block_other_changes() {
    let good = layer("[context]\nbudget_tokens = 7\n", Trust::Trusted);
    let changed =
        layer("[context]\nbudget_tokens = 8\ncolour = 1\n", Trust::Trusted).or_last_valid(Some(&good));
    assert_eq!(budget(&changed), 8);
    assert_eq!(changed.problems().len(), 1);
}

#[test]
fn a_file_that_lost_its_trust_loses_its_engines() {
    let text = "[[engine]]\nname = \"a\"\nkind = \"builtin\"\n";
    let good = layer(text, Trust::Trusted);
    let changed = layer(&format!("{text}temperature = 1\n"), Trust::Changed).or_last_valid(Some(&good));
    let config = Config::new(&[changed], &Environment::default());
    assert!(config.engines[0].settings.is_err());
}

#[test]
fn problem_key_does_not_depend_on_its_position() {
    let causes = |text: &str| {
        let config = Config::new(&[layer(text, Trust::Trusted)], &Environment::default());
        config.problems.iter().map(Problem::key).collect::<Vec<_>>()
    };
    assert_eq!(causes("[context]\ncolour = 1\n"), causes("# moved\n[context]\n  colour = 1\n"));
    assert_ne!(causes("[context]\ncolour = 1\n"), causes("[context]\ncolor = 1\n"));
}
