//! The effective configuration: all layers merged.

use std::collections::BTreeMap;

use crate::engine_definition::{EngineDefinition, merge_engines};
use crate::environment::Environment;
use crate::key::{KeySpec, Section, Values, WorkspaceAccess};
use crate::layer::ConfigLayer;
use crate::problem::{Problem, Severity};
use crate::setting_location::{LayerKind, SettingLocation, SettingOrigin};
use crate::suggest::backquoted_list;
use crate::table::{
    COLLECT, COMPLETION, CONTEXT, Collect, Completion, Context, INDEX, IndexSettings, RECORD, Record,
    SECTIONS, SERVE, Serve, TESTS, TRIAL, Tests, Trial, defaults,
};
use crate::trust::Trust;
use crate::validate::KeySetting;

/// Effective settings, the origin of each value, and all problems.
#[derive(Clone, Debug, PartialEq)]
pub struct Config {
    /// Ghost text.
    pub completion: Completion,
    /// Code from other files.
    pub context: Context,
    /// Recording.
    pub record: Record,
    /// Index.
    pub index: IndexSettings,
    /// The store of live trials.
    pub trial: Trial,
    /// Unit tests.
    pub tests: Tests,
    /// The front door.
    pub serve: Serve,
    /// Traces of a team.
    pub collect: Collect,
    /// Engines, in the order in which they are first named. Engines of an untrusted file are listed but cannot be used.
    pub engines: Vec<EngineDefinition>,
    /// Problems, layer by layer.
    pub problems: Vec<Problem>,
    values: Vec<EffectiveValue>,
}

/// A key with its effective value and origin.
#[derive(Clone, Debug, PartialEq)]
pub struct EffectiveValue {
    /// The key.
    pub key: &'static KeySpec,
    /// Value as written in a file, with secrets removed; `None` if it is unset and has no default.
    pub value: Option<String>,
    /// Origin of the value.
    pub origin: SettingOrigin,
}

/// A setting with its layer.
#[derive(Clone)]
pub(crate) struct LayeredSetting<'a> {
    pub(crate) setting: &'a KeySetting,
    pub(crate) layer: LayerKind,
}

impl Config {
    /// Merges the layers, which may be given in any order.
    pub fn new(layers: &[ConfigLayer], variables: &Environment) -> Config {
        let mut layers: Vec<&ConfigLayer> = layers.iter().collect();
        layers.sort_by_key(|layer| layer.kind);
        let mut set = BTreeMap::new();
        for layer in &layers {
            for setting in layer.settings.iter().filter(|setting| is_allowed(layer, setting.key)) {
                let layered = LayeredSetting { setting, layer: layer.kind };
                set.insert((setting.key.section, setting.key.name), layered);
            }
        }
        let (engines, engine_problems) = merge_engines(&layers, variables);
        let mut problems: Vec<Problem> = Vec::new();
        for layer in &layers {
            problems.extend(layer.problems.iter().cloned());
            problems.extend(untrusted_problem(layer));
        }
        problems.extend(engine_problems);
        sort_by_location(&mut problems);
        let values = |section: &Section| {
            let ours = set.iter().filter(|((name, _), _)| *name == section.name);
            let mut values: Values = defaults(section).clone();
            values.extend(ours.map(|((_, key), layered)| (*key, layered.setting.value.clone())));
            values
        };
        Config {
            completion: Completion::of(&values(&COMPLETION), variables),
            context: Context::of(&values(&CONTEXT), variables),
            record: Record::of(&values(&RECORD), variables),
            index: IndexSettings::of(&values(&INDEX), variables),
            trial: Trial::of(&values(&TRIAL), variables),
            tests: Tests::of(&values(&TESTS), variables),
            serve: Serve::of(&values(&SERVE), variables),
            collect: Collect::of(&values(&COLLECT), variables),
            engines,
            problems,
            values: SECTIONS
                .iter()
                .flat_map(|section| section.keys)
                .map(|key| effective_value(key, set.get(&(key.section, key.name))))
                .collect(),
        }
    }

    /// Returns all keys except those of engines, in the order of the table.
    pub fn values(&self) -> &[EffectiveValue] {
        &self.values
    }

    /// Returns the origin of a key that does not belong to an engine.
    pub fn origin(&self, section: &str, key: &str) -> Option<&SettingOrigin> {
        let row = self.values.iter().find(|row| row.key.section == section && row.key.name == key)?;
        Some(&row.origin)
    }

    /// Returns whether a key that does not belong to an engine is set, rather than left at its default.
    pub fn is_set(&self, section: &str, key: &str) -> bool {
        self.origin(section, key).is_some_and(|origin| origin.layer != LayerKind::Default)
    }
}

/// Sorts the problems of each file by position.
fn sort_by_location(problems: &mut [Problem]) {
    let mut files: Vec<SettingLocation> = Vec::new();
    for place in problems.iter().map(|problem| problem.location.without_position()) {
        if !files.contains(&place) {
            files.push(place);
        }
    }
    let rank = |place: &SettingLocation| files.iter().position(|file| *file == place.without_position());
    problems.sort_by_key(|problem| (rank(&problem.location), problem.location.position()));
}

/// Returns the effective value of a key: its setting or its default.
pub(crate) fn effective_value(key: &'static KeySpec, set: Option<&LayeredSetting<'_>>) -> EffectiveValue {
    match set {
        Some(LayeredSetting { setting, layer }) => EffectiveValue {
            key,
            value: Some(setting.value.to_string()),
            origin: SettingOrigin { layer: *layer, location: setting.location.clone() },
        },
        None => EffectiveValue {
            key,
            value: key.default.map(str::to_owned),
            origin: SettingOrigin { layer: LayerKind::Default, location: SettingLocation::Default },
        },
    }
}

/// Returns whether a layer may set a key.
fn is_allowed(layer: &ConfigLayer, key: &KeySpec) -> bool {
    layer.trust == Trust::Trusted || key.workspace == WorkspaceAccess::Untrusted
}

/// Returns the problem of a file whose settings are ignored because it is not trusted, if it has any that matter.
fn untrusted_problem(layer: &ConfigLayer) -> Option<Problem> {
    let path = layer.path.as_ref().filter(|_| layer.trust != Trust::Trusted)?;
    let keys = layer.settings.iter().filter(|setting| !is_allowed(layer, setting.key));
    let keys: Vec<String> =
        keys.map(|setting| format!("{}.{}", setting.key.section, setting.key.name)).collect();
    let names: Vec<&str> = layer.engines.iter().map(|engine| engine.name.as_str()).collect();
    let mut left_out = Vec::new();
    if !names.is_empty() {
        let word = if names.len() == 1 { "its engine is" } else { "its engines are" };
        left_out.push(format!("{word} not asked ({})", backquoted_list(names.into_iter())));
    }
    if !keys.is_empty() {
        let word = if keys.len() == 1 { "does" } else { "do" };
        left_out.push(format!("{} {word} not hold", backquoted_list(keys.iter().map(String::as_str))));
    }
    if left_out.is_empty() {
        return None;
    }
    let state = match layer.trust {
        Trust::Changed => "has changed since it was trusted",
        _ => "is not trusted",
    };
    let message = format!(
        "{state}, so {}; read it, then run: ghostbench trust {}",
        left_out.join(" and "),
        shell_quoted(&path.display().to_string()),
    );
    Some(Problem { severity: Severity::Untrusted, location: SettingLocation::whole_file(path), message })
}

/// Quotes a path for a shell.
fn shell_quoted(path: &str) -> String {
    let is_plain = path.chars().all(|c| c.is_alphanumeric() || "/\\._-:+@%".contains(c));
    if is_plain { path.to_owned() } else { format!("'{}'", path.replace('\'', "'\\''")) }
}
