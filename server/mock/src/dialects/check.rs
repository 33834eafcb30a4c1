//! Checks request bodies against the fields of a format.

use serde_json::{Map, Value};

/// Type of a field.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Is {
    Text,
    Number,
    Count,
    Flag,
    /// A string or a list of strings.
    Texts,
    List,
    Object,
}

/// Name and type of a field, and whether it is required.
pub(super) type Field = (&'static str, Is, bool);

/// Error in a request body.
pub(super) enum Wrong {
    /// Not a JSON object.
    NoObject,
    /// A required field is missing.
    Missing(&'static str),
    /// A field has another type.
    Type(&'static str),
}

/// Returns the object and the names of its unknown fields.
pub(super) fn check<'a>(
    body: &'a Value,
    fields: &[Field],
) -> Result<(&'a Map<String, Value>, Vec<String>), Wrong> {
    let object = body.as_object().ok_or(Wrong::NoObject)?;
    for (name, is, is_needed) in fields {
        match object.get(*name) {
            None | Some(Value::Null) if *is_needed => return Err(Wrong::Missing(name)),
            None | Some(Value::Null) => {}
            Some(value) if holds(value, *is) => {}
            Some(_) => return Err(Wrong::Type(name)),
        }
    }
    let is_unknown = |name: &&String| !fields.iter().any(|(known, _, _)| known == name);
    Ok((object, object.keys().filter(is_unknown).cloned().collect()))
}

fn holds(value: &Value, is: Is) -> bool {
    match is {
        Is::Text => value.is_string(),
        Is::Number => value.is_number(),
        Is::Count => value.is_i64() || value.is_u64(),
        Is::Flag => value.is_boolean(),
        Is::Texts => {
            value.is_string() || value.as_array().is_some_and(|texts| texts.iter().all(Value::is_string))
        }
        Is::List => value.is_array(),
        Is::Object => value.is_object(),
    }
}
