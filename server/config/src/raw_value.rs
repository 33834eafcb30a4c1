//! Unchecked settings: one representation for files and editors' settings, with the place of every part.

pub(crate) mod json;
pub(crate) mod toml;

use serde_json::{Map, Number, Value as Json};

use crate::setting_location::SettingLocation;

/// A value with its place.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct RawNode {
    pub(crate) raw: RawValue,
    pub(crate) location: SettingLocation,
}

/// A key with its place and its value.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct RawEntry {
    pub(crate) key: String,
    pub(crate) location: SettingLocation,
    pub(crate) node: RawNode,
}

/// A value in TOML or JSON.
#[derive(Clone, Debug, PartialEq)]
pub(crate) enum RawValue {
    /// Sets nothing.
    Null,
    Boolean(bool),
    Integer(i64),
    Number(f64),
    Text(String),
    List(Vec<RawNode>),
    Table(Vec<RawEntry>),
    /// A type that no key accepts, with its description.
    Unsupported(&'static str),
}

impl RawValue {
    /// Describes the type of the value.
    pub(crate) fn kind(&self) -> &'static str {
        match self {
            RawValue::Null => "nothing",
            RawValue::Boolean(_) => "true or false",
            RawValue::Integer(_) => "a whole number",
            RawValue::Number(_) => "a number",
            RawValue::Text(_) => "text",
            RawValue::List(_) => "a list",
            RawValue::Table(_) => "a table",
            RawValue::Unsupported(kind) => kind,
        }
    }

    /// Converts the value to JSON. An error describes a type that JSON lacks.
    pub(crate) fn to_json(&self) -> Result<Json, &'static str> {
        Ok(match self {
            RawValue::Null => Json::Null,
            RawValue::Boolean(value) => Json::Bool(*value),
            RawValue::Integer(value) => Json::Number((*value).into()),
            RawValue::Number(value) => {
                Json::Number(Number::from_f64(*value).ok_or("a number that is not finite")?)
            }
            RawValue::Text(text) => Json::String(text.clone()),
            RawValue::List(nodes) => {
                Json::Array(nodes.iter().map(|node| node.raw.to_json()).collect::<Result<_, _>>()?)
            }
            RawValue::Table(entries) => Json::Object(object(entries)?),
            RawValue::Unsupported(kind) => return Err(kind),
        })
    }
}

/// Converts a table to JSON. An error describes a type that JSON lacks.
pub(crate) fn object(entries: &[RawEntry]) -> Result<Map<String, Json>, &'static str> {
    entries.iter().map(|entry| Ok((entry.key.clone(), entry.node.raw.to_json()?))).collect()
}
