//! Checks request bodies against the fields of a format.

use serde_json::{Map, Value};

/// Type of a field.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum FieldType {
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
pub(super) type FieldSpec = (&'static str, FieldType, bool);

/// Error in a request body.
pub(super) enum BodyError {
    /// Not a JSON object.
    NoObject,
    /// A required field is missing.
    Missing(&'static str),
    /// A field has another type.
    Type(&'static str),
}

/// Returns the object and the names of its unknown fields.
pub(super) fn check_body<'a>(
    body: &'a Value,
    fields: &[FieldSpec],
) -> Result<(&'a Map<String, Value>, Vec<String>), BodyError> {
    let object = body.as_object().ok_or(BodyError::NoObject)?;
    for (name, is, is_needed) in fields {
        match object.get(*name) {
            None | Some(Value::Null) if *is_needed => return Err(BodyError::Missing(name)),
            None | Some(Value::Null) => {}
            Some(value) if has_type(value, *is) => {}
            Some(_) => return Err(BodyError::Type(name)),
        }
    }
    Ok((
        object,
        object.keys().filter(|name| !fields.iter().any(|(known, _, _)| known == name)).cloned().collect(),
    ))
}

fn has_type(value: &Value, is: FieldType) -> bool {
    match is {
        FieldType::Text => value.is_string(),
        FieldType::Number => value.is_number(),
        FieldType::Count => value.is_i64() || value.is_u64(),
        FieldType::Flag => value.is_boolean(),
        FieldType::Texts => {
            value.is_string() || value.as_array().is_some_and(|texts| texts.iter().all(Value::is_string))
        }
        FieldType::List => value.is_array(),
        FieldType::Object => value.is_object(),
    }
}
