use std::path::Path;

use config::{ConfigLayer, Environment, LayerKind, Trust};

use super::*;

const TWO: &str = "[[engine]]\nname = \"a\"\nkind = \"builtin\"\nmethod = \"empty\"\n[[engine]]\nname = \"b\"\nkind = \"builtin\"\n";

fn configuration(text: &str) -> Config {
    let (path, variables) = (Path::new("/w/ghostbench.toml"), Environment::default());
    let layer = ConfigLayer::file(LayerKind::User, path, text.as_bytes(), Trust::Trusted, &variables);
    Config::new(&[layer], &variables)
}

fn select(text: &str, names: &[&str]) -> Result<EngineSelection, SelectionError> {
    let names: Vec<String> = names.iter().map(|&name| name.to_owned()).collect();
    Registry::default().select(&configuration(text), &names)
}

fn names(selection: &EngineSelection) -> Vec<&str> {
    selection.engines.iter().map(|engine| engine.name.as_str()).collect()
}

#[test]
fn configured_engines_are_selected_in_the_given_order() {
    let all = select(TWO, &[]).expect("they can be asked");
    assert_eq!(names(&all), ["a", "b"]);
    let models: Vec<_> = all.engines.iter().filter_map(RegisteredEngine::model).collect();
    assert_eq!(models, ["empty", "hybrid"]);
    let named = select(TWO, &["nearest-line", "b"]).expect("they can be asked");
    assert_eq!(names(&named), ["nearest-line", "b"]);
    let twice = select(TWO, &["b", "a", "b"]).err().expect("one engine cannot be asked twice");
    assert_eq!(twice.to_string(), "engine `b` is named twice, by the 1st and the 3rd --engine; name it once");
}

#[test]
fn unusable_engine_is_reported_and_replaced_by_built_in() {
    let text = "[[engine]]\nname = \"a\"\nkind = \"openai\"\n";
    let selection = select(text, &[]).expect("the built-in engine");
    assert_eq!(names(&selection), ["builtin"]);
    assert_eq!(selection.notes, ["engine `a` is not asked: it needs `url`"]);
    let error = select(text, &["a"]).err().expect("it cannot be asked");
    assert_eq!(error.to_string(), "engine `a` cannot be asked: it needs `url`");
    let error = select(text, &["b"]).err().expect("there is none");
    assert_eq!(
        error.to_string(),
        "there is no engine `b`; known are a, builtin, longest-match, nearest-line, empty"
    );
}

#[test]
fn equal_settings_give_the_same_engine_in_each_role() {
    let registry = Registry::default();
    let engines = |text: &str| registry.configured_engines(&configuration(text));
    let same = |one: &RegisteredEngine, other: &RegisteredEngine| {
        Role::ALL.map(|role| match (one.in_role(role), other.in_role(role)) {
            (Some(one), Some(other)) => Arc::ptr_eq(one, other),
            _ => false,
        })
    };
    let (before, after) = (engines(TWO), engines(TWO));
    assert_eq!([same(&before[0], &after[0]), same(&before[1], &after[1])], [[true; 2]; 2]);
    let other = engines(&TWO.replace("empty", "nearest-line"));
    assert_eq!([same(&before[0], &other[0]), same(&before[1], &other[1])], [[false; 2], [true; 2]]);
    let [ghost_text, replay] =
        Role::ALL.map(|role| before[1].in_role(role).map(|engine| engine.description()));
    assert_ne!(ghost_text, replay, "ghost text is only what is likely");
}

#[test]
fn roles_are_in_the_order_of_their_declaration() {
    assert_eq!(Role::ALL.map(|role| role as usize), [0, 1]);
}

#[test]
fn every_offered_method_has_an_engine_without_settings() {
    assert_eq!(Method::OFFERED, WITHOUT_SETTINGS.map(|(_, method)| method));
}
