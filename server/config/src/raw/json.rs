//! Parses an editor's settings.

use serde_json::Value as Json;

use super::{Entry, Node, Raw};
use crate::place::Place;
use crate::suggest::snake_case;

/// Name of the settings section in editors.
const SECTION: &str = "ghostbench";

/// Returns the settings with keys spelled as in files, or `None` if they are not an object.
pub(crate) fn entries(settings: &Json) -> Option<Vec<Entry>> {
    let Raw::Table(mut entries) = node(settings, SECTION.to_owned()).raw else { return None };
    entries.iter_mut().for_each(rename);
    Some(entries)
}

/// Converts `deadlineMs` to snake case. Renames sections, engines and their keys, but no names inside values.
fn rename(entry: &mut Entry) {
    entry.key = snake_case(&entry.key);
    match &mut entry.node.raw {
        Raw::Table(keys) => keys.iter_mut().for_each(|key| key.key = snake_case(&key.key)),
        Raw::List(engines) => {
            for engine in engines {
                if let Raw::Table(keys) = &mut engine.raw {
                    keys.iter_mut().for_each(|key| key.key = snake_case(&key.key));
                }
            }
        }
        _ => {}
    }
}

fn node(value: &Json, path: String) -> Node {
    let raw = match value {
        Json::Null => Raw::Null,
        Json::Bool(value) => Raw::Boolean(*value),
        Json::Number(number) => match (number.as_i64(), number.as_f64()) {
            (Some(integer), _) => Raw::Integer(integer),
            (None, Some(number)) => Raw::Number(number),
            (None, None) => Raw::Strange("a number too large"),
        },
        Json::String(text) => Raw::Text(text.clone()),
        Json::Array(values) => Raw::List(
            values.iter().enumerate().map(|(at, value)| node(value, format!("{path}[{at}]"))).collect(),
        ),
        Json::Object(fields) => Raw::Table(
            fields
                .iter()
                .map(|(key, value)| {
                    let path = format!("{path}.{key}");
                    Entry { key: key.clone(), place: Place::Setting(path.clone()), node: node(value, path) }
                })
                .collect(),
        ),
    };
    Node { raw, place: Place::Setting(path) }
}
