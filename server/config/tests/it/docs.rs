//! Generated documents are up to date.

use config::{Config, ConfigLayer, Environment, LayerKind, Trust};
use expect_test::expect_file;

// `cargo xtask docs` writes both documents by running these two tests.

#[test]
fn configuration_document_matches_the_table() {
    expect_file!["../../../../docs/configuration.md"].assert_eq(&config::documentation());
}

#[test]
fn json_schema_matches_the_table() {
    expect_file!["../../../../docs/ghostbench.schema.json"].assert_eq(&config::schema());
}

#[test]
fn document_examples_have_no_problems() {
    let document = config::documentation();
    let examples: Vec<&str> = document
        .split("```toml\n")
        .skip(1)
        .map(|rest| rest.split("```").next().unwrap_or_default())
        .collect();
    assert!(examples.len() > 2, "the document has examples");
    let keys = ["OPENAI_API_KEY", "ANTHROPIC_API_KEY", "MISTRAL_API_KEY", "COMPANY_TOKEN"];
    let set = keys.map(|name| (name.to_owned(), "x".to_owned()));
    let home = ("HOME".to_owned(), "/home/you".to_owned());
    let variables = Environment::new(set.into_iter().chain([home]));
    for example in examples {
        let path = std::path::Path::new("/w/ghostbench.toml");
        let layer = ConfigLayer::file(LayerKind::User, path, example.as_bytes(), Trust::Trusted, &variables);
        let problems = Config::new(&[layer], &variables).problems;
        assert!(problems.is_empty(), "{problems:?} in\n{example}");
    }
}

#[test]
fn every_key_is_documented_by_one_sentence() {
    for key in config::all_sections().flat_map(|section| section.keys) {
        let doc = key.doc;
        assert!(doc.ends_with('.') && doc.starts_with(char::is_uppercase), "{}: {doc}", key.name);
        assert!(!doc.contains('|') && !doc.contains("  "), "{}: {doc}", key.name);
    }
}

#[test]
fn no_two_keys_share_a_variable() {
    let keys = config::all_sections().flat_map(|section| section.keys);
    let mut names: Vec<_> = keys.filter_map(|key| key.variable()).collect();
    let count = names.len();
    names.sort();
    names.dedup();
    assert_eq!(names.len(), count);
}

#[test]
fn settings_in_the_protocol_example_are_valid() {
    let protocol = include_str!("../../../../docs/protocol.md");
    let (_, example) = protocol.split_once("\n```json ghostbench settings\n").expect("the example is there");
    let example = example.split("```").next().unwrap_or_default();
    let settings = serde_json::from_str(example).expect("the example is JSON");
    let variables = Environment::default();
    let config = Config::new(&[ConfigLayer::editor(&settings, &variables)], &variables);
    assert_eq!(config.problems, []);
    assert!(config.is_set("completion", "deadline_ms"));
    assert_eq!(config::editor_trusts_folder(&settings), Some(true));
}
