//! Unchecked settings: one representation for files and editors' settings, with the place of every part.

pub(crate) mod json;
pub(crate) mod toml;

use serde_json::{Map, Number, Value as Json};

use crate::place::Place;

/// A value with its place.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Node {
    pub(crate) raw: Raw,
    pub(crate) place: Place,
}

/// A key with its place and its value.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Entry {
    pub(crate) key: String,
    pub(crate) place: Place,
    pub(crate) node: Node,
}

/// A value in TOML or JSON.
#[derive(Clone, Debug, PartialEq)]
pub(crate) enum Raw {
    /// Sets nothing.
    Null,
    Boolean(bool),
    Integer(i64),
    Number(f64),
    Text(String),
    List(Vec<Node>),
    Table(Vec<Entry>),
    /// A type that no key accepts, with its description.
    Strange(&'static str),
}

impl Raw {
    /// Describes the type of the value.
    pub(crate) fn kind(&self) -> &'static str {
        match self {
            Raw::Null => "nothing",
            Raw::Boolean(_) => "true or false",
            Raw::Integer(_) => "a whole number",
            Raw::Number(_) => "a number",
            Raw::Text(_) => "text",
            Raw::List(_) => "a list",
            Raw::Table(_) => "a table",
            Raw::Strange(kind) => kind,
        }
    }

    /// Converts the value to JSON. An error describes a type that JSON lacks.
    pub(crate) fn to_json(&self) -> Result<Json, &'static str> {
        Ok(match self {
            Raw::Null => Json::Null,
            Raw::Boolean(value) => Json::Bool(*value),
            Raw::Integer(value) => Json::Number((*value).into()),
            Raw::Number(value) => {
                Json::Number(Number::from_f64(*value).ok_or("a number that is not finite")?)
            }
            Raw::Text(text) => Json::String(text.clone()),
            Raw::List(nodes) => {
                Json::Array(nodes.iter().map(|node| node.raw.to_json()).collect::<Result<_, _>>()?)
            }
            Raw::Table(entries) => Json::Object(object(entries)?),
            Raw::Strange(kind) => return Err(kind),
        })
    }
}

/// Converts a table to JSON. An error describes a type that JSON lacks.
pub(crate) fn object(entries: &[Entry]) -> Result<Map<String, Json>, &'static str> {
    entries.iter().map(|entry| Ok((entry.key.clone(), entry.node.raw.to_json()?))).collect()
}
