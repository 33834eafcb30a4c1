//! The configuration that holds: all layers, one over the other.

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

/// What holds, where each value comes from, and what is wrong.
#[derive(Clone, Debug, PartialEq)]
pub struct Config {
    /// Ghost text.
    pub completion: Completion,
    /// Code from elsewhere.
    pub context: Context,
    /// What is kept.
    pub record: Record,
    /// The engines, in the order in which they are first named; those of a file that is not trusted are listed and cannot be asked.
    pub engines: Vec<Engine>,
    /// What is wrong, layer by layer.
    pub problems: Vec<Problem>,
    rows: Vec<Row>,
}

/// A key with the value that holds and where it comes from.
#[derive(Clone, Debug, PartialEq)]
pub struct Row {
    /// The key.
    pub key: &'static Key,
    /// Its value as a file would say it, without what may be a key; `None` where nothing is set and there is no default.
    pub value: Option<String>,
    /// Where it was set.
    pub origin: Origin,
}

/// A setting with the layer that it comes from.
#[derive(Clone)]
pub(crate) struct Layered<'a> {
    pub(crate) setting: &'a Setting,
    pub(crate) layer: LayerKind,
}

impl Config {
    /// What these layers come to, in whatever order they are given.
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

    /// All keys that are no engine's, in the table's order.
    pub fn rows(&self) -> &[Row] {
        &self.rows
    }

    /// Where a key that is no engine's was set.
    pub fn origin(&self, section: &str, key: &str) -> Option<&Origin> {
        let row = self.rows.iter().find(|row| row.key.section == section && row.key.name == key)?;
        Some(&row.origin)
    }

    /// Whether somebody has set a key that is no engine's, rather than left it as it is by default.
    pub fn is_set(&self, section: &str, key: &str) -> bool {
        self.origin(section, key).is_some_and(|origin| origin.layer != LayerKind::Default)
    }

    /// The causes of all problems, for who tells each only once.
    pub fn causes(&self) -> impl Iterator<Item = Cause> {
        self.problems.iter().map(Problem::cause)
    }
}

/// Puts the problems of one file together, from its top to its end.
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

/// The value of a key that was set, or its default.
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

/// Whether what a layer says of a key holds.
fn may_set(layer: &Layer, key: &Key) -> bool {
    layer.trust == Trust::Trusted || key.workspace == Workspace::Untrusted
}

/// What a file says without being trusted, if that matters.
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

/// A path as a shell takes it.
fn quoted(path: &str) -> String {
    let is_plain = path.chars().all(|c| c.is_alphanumeric() || "/\\._-:+@%".contains(c));
    if is_plain { path.to_owned() } else { format!("'{}'", path.replace('\'', "'\\''")) }
}
