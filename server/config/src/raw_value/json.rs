//! Parses an editor's settings.

use serde_json::Value as Json;

use super::{RawEntry, RawNode, RawValue};
use crate::setting_location::SettingLocation;
use crate::suggest::snake_case;

/// Name of the settings section in editors.
const SECTION: &str = "ghostbench";

/// Returns the settings with keys spelled as in files, or `None` if they are not an object.
pub(crate) fn entries(settings: &Json) -> Option<Vec<RawEntry>> {
    let RawValue::Table(mut entries) = to_node(settings, SECTION.to_owned()).raw else { return None };
    entries.iter_mut().for_each(to_snake_case);
    Some(entries)
}

/// Converts `deadlineMs` to snake case. Renames sections, engines and their keys, but no names inside values.
fn to_snake_case(entry: &mut RawEntry) {
    entry.key = snake_case(&entry.key);
    match &mut entry.node.raw {
        RawValue::Table(keys) => keys.iter_mut().for_each(|key| key.key = snake_case(&key.key)),
        RawValue::List(engines) => {
            for engine in engines {
                if let RawValue::Table(keys) = &mut engine.raw {
                    keys.iter_mut().for_each(|key| key.key = snake_case(&key.key));
                }
            }
        }
        _ => {}
    }
}

fn to_node(value: &Json, path: String) -> RawNode {
    let raw = match value {
        Json::Null => RawValue::Null,
        Json::Bool(value) => RawValue::Boolean(*value),
        Json::Number(number) => match (number.as_i64(), number.as_f64()) {
            (Some(integer), _) => RawValue::Integer(integer),
            (None, Some(number)) => RawValue::Number(number),
            (None, None) => RawValue::Unsupported("a number too large"),
        },
        Json::String(text) => RawValue::Text(text.clone()),
        Json::Array(values) => RawValue::List(
            values.iter().enumerate().map(|(at, value)| to_node(value, format!("{path}[{at}]"))).collect(),
        ),
        Json::Object(fields) => RawValue::Table(
            fields
                .iter()
                .map(|(key, value)| {
                    let path = format!("{path}.{key}");
                    RawEntry {
                        key: key.clone(),
                        location: SettingLocation::Setting(path.clone()),
                        node: to_node(value, path),
                    }
                })
                .collect(),
        ),
    };
    RawNode { raw, location: SettingLocation::Setting(path) }
}
