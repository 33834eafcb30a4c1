//! The effective configuration: all layers merged.

use std::collections::BTreeMap;

use crate::check::Setting;
use crate::engine::{Engine, engines};
use crate::key::{Key, Section, Values, Workspace};
use crate::layer::Layer;
use crate::place::{LayerKind, Origin, Place};
use crate::problem::{Cause, Problem, Severity};
use crate::suggest::listed;
use crate::table::{COMPLETION, CONTEXT, Completion, Context, RECORD, Record, SECTIONS, defaults};
use crate::trust::Trust;
use crate::variables::Variables;

/// Effective settings, the origin of each value, and all problems.
#[derive(Clone, Debug, PartialEq)]
pub struct Config {
    /// Ghost text.
    pub completion: Completion,
    /// Code from other files.
    pub context: Context,
    /// Recording.
    pub record: Record,
    /// Engines, in the order in which they are first named. Engines of an untrusted file are listed but cannot be used.
    pub engines: Vec<Engine>,
    /// Problems, layer by layer.
    pub problems: Vec<Problem>,
    rows: Vec<Row>,
}

/// A key with its effective value and origin.
#[derive(Clone, Debug, PartialEq)]
pub struct Row {
    /// The key.
    pub key: &'static Key,
    /// Value as written in a file, with secrets removed; `None` if it is unset and has no default.
    pub value: Option<String>,
    /// Origin of the value.
    pub origin: Origin,
}

/// A setting with its layer.
#[derive(Clone)]
pub(crate) struct Layered<'a> {
    pub(crate) setting: &'a Setting,
    pub(crate) layer: LayerKind,
}

impl Config {
    /// Merges the layers, which may be given in any order.
    pub fn new(layers: &[Layer], variables: &Variables) -> Config {
        let mut layers: Vec<&Layer> = layers.iter().collect();
        layers.sort_by_key(|layer| layer.kind);
        let mut set = BTreeMap::new();
        for layer in &layers {
            let is_free = |setting: &&Setting| may_set(layer, setting.key);
            for setting in layer.settings.iter().filter(is_free) {
                let layered = Layered { setting, layer: layer.kind };
                set.insert((setting.key.section, setting.key.name), layered);
            }
        }
        let (engines, engine_problems) = engines(&layers, variables);
        let mut problems: Vec<Problem> = Vec::new();
        for layer in &layers {
            problems.extend(layer.problems.iter().cloned());
            problems.extend(held_back(layer));
        }
        problems.extend(engine_problems);
        in_order(&mut problems);
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
            engines,
            problems,
            rows: SECTIONS
                .iter()
                .flat_map(|section| section.keys)
                .map(|key| row(key, set.get(&(key.section, key.name))))
                .collect(),
        }
    }

    /// Returns all keys except those of engines, in the order of the table.
    pub fn rows(&self) -> &[Row] {
        &self.rows
    }

    /// Returns the origin of a key that does not belong to an engine.
    pub fn origin(&self, section: &str, key: &str) -> Option<&Origin> {
        let row = self.rows.iter().find(|row| row.key.section == section && row.key.name == key)?;
        Some(&row.origin)
    }

    /// Returns whether a key that does not belong to an engine is set, rather than left at its default.
    pub fn is_set(&self, section: &str, key: &str) -> bool {
        self.origin(section, key).is_some_and(|origin| origin.layer != LayerKind::Default)
    }

    /// Returns the causes of all problems, for callers that report each only once.
    pub fn causes(&self) -> impl Iterator<Item = Cause> {
        self.problems.iter().map(Problem::cause)
    }
}

/// Sorts the problems of each file by position.
fn in_order(problems: &mut [Problem]) {
    let mut files: Vec<Place> = Vec::new();
    for place in problems.iter().map(|problem| problem.place.without_position()) {
        if !files.contains(&place) {
            files.push(place);
        }
    }
    let rank = |place: &Place| files.iter().position(|file| *file == place.without_position());
    problems.sort_by_key(|problem| (rank(&problem.place), problem.place.position()));
}

/// Returns the effective value of a key: its setting or its default.
pub(crate) fn row(key: &'static Key, set: Option<&Layered<'_>>) -> Row {
    match set {
        Some(Layered { setting, layer }) => Row {
            key,
            value: Some(setting.value.to_string()),
            origin: Origin { layer: *layer, place: setting.place.clone() },
        },
        None => Row {
            key,
            value: key.default.map(str::to_owned),
            origin: Origin { layer: LayerKind::Default, place: Place::Default },
        },
    }
}

/// Returns whether a layer may set a key.
fn may_set(layer: &Layer, key: &Key) -> bool {
    layer.trust == Trust::Trusted || key.workspace == Workspace::Untrusted
}

/// Returns the problem of a file whose settings are ignored because it is not trusted, if it has any that matter.
fn held_back(layer: &Layer) -> Option<Problem> {
    let path = layer.path.as_ref().filter(|_| layer.trust != Trust::Trusted)?;
    let keys = layer.settings.iter().filter(|setting| !may_set(layer, setting.key));
    let keys: Vec<String> =
        keys.map(|setting| format!("{}.{}", setting.key.section, setting.key.name)).collect();
    let names: Vec<&str> = layer.engines.iter().map(|engine| engine.name.as_str()).collect();
    let mut left_out = Vec::new();
    if !names.is_empty() {
        let word = if names.len() == 1 { "its engine is" } else { "its engines are" };
        left_out.push(format!("{word} not asked ({})", listed(names.into_iter())));
    }
    if !keys.is_empty() {
        let word = if keys.len() == 1 { "does" } else { "do" };
        left_out.push(format!("{} {word} not hold", listed(keys.iter().map(String::as_str))));
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
        quoted(&path.display().to_string()),
    );
    Some(Problem { severity: Severity::Untrusted, place: Place::whole(path), message })
}

/// Quotes a path for a shell.
fn quoted(path: &str) -> String {
    let is_plain = path.chars().all(|c| c.is_alphanumeric() || "/\\._-:+@%".contains(c));
    if is_plain { path.to_owned() } else { format!("'{}'", path.replace('\'', "'\\''")) }
}
