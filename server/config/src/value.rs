//! Checked values and their conversion to fields.

use std::collections::BTreeMap;
use std::fmt;
use std::path::PathBuf;
use std::time::Duration;

use serde_json::{Map, Value as Json};

use crate::choices::{Method, Privacy, Strategy};
use crate::environment::{EnvTemplate, Environment};
use crate::secret_table::JsonTemplate;
use crate::{EngineKind, Secret, SecretTable};

/// A value of one of the types of the table. Displayed as written in a file, with secrets removed.
#[derive(Clone, Debug, PartialEq)]
pub(crate) enum Value {
    Boolean(bool),
    Integer(i64),
    Number(f64),
    Milliseconds(u64),
    Text(String),
    /// A URL; its password is not displayed.
    Url(String),
    List(Vec<String>),
    Path(PathBuf),
    Template(EnvTemplate),
    Templates(BTreeMap<String, EnvTemplate>),
    Json(Map<String, Json>),
    /// A table.
    Options(JsonTemplate),
}

impl Value {
    /// Returns the names of the referenced variables.
    pub(crate) fn variables(&self) -> Vec<&str> {
        match self {
            Value::Template(template) => template.variables().into_iter().collect(),
            Value::Templates(templates) => templates.values().flat_map(EnvTemplate::variables).collect(),
            Value::Options(pattern) => pattern.variables(),
            _ => Vec::new(),
        }
    }
}

impl fmt::Display for Value {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Value::Boolean(value) => value.fmt(f),
            Value::Integer(value) => value.fmt(f),
            Value::Number(value) => value.fmt(f),
            Value::Milliseconds(value) => value.fmt(f),
            Value::Text(text) => write!(f, "{text:?}"),
            Value::Url(url) => write!(f, "{:?}", without_password(url)),
            Value::List(words) => write!(f, "{words:?}"),
            Value::Path(path) => write!(f, "{:?}", path.display().to_string()),
            Value::Template(template) => template.fmt(f),
            Value::Templates(templates) => {
                let pairs = templates.iter().map(|(name, template)| format!("{name}: {template}"));
                f.write_str(&pairs.collect::<Vec<_>>().join(", "))
            }
            // The names that vendors give to keys cannot be foreseen, so no value is displayed.
            Value::Json(map) => write_names(f, map.keys()),
            Value::Options(JsonTemplate::Table(fields)) => write_names(f, fields.keys()),
            Value::Options(_) => f.write_str("…"),
        }
    }
}

fn write_names<'a>(f: &mut fmt::Formatter<'_>, names: impl Iterator<Item = &'a String>) -> fmt::Result {
    let names: Vec<_> = names.map(|name| format!("{name}: …")).collect();
    f.write_str(&names.join(", "))
}

/// Returns a URL without user name, password and query, any of which may be a key.
fn without_password(address: &str) -> String {
    let Ok(mut url) = url::Url::parse(address) else { return "…".to_owned() };
    // This fails for URLs without a host, which have no password.
    let _ = url.set_password(None);
    let _ = url.set_username("");
    let has_query = url.query().is_some();
    url.set_query(None);
    url.set_fragment(None);
    let mut shown = url.to_string();
    if url.path() == "/" && !address.ends_with('/') {
        shown.pop();
    }
    if has_query { format!("{shown}?…") } else { shown }
}

/// Type of a configuration field.
pub(crate) trait FromValue: Sized {
    /// Converts a setting. `None` if the field cannot hold it, which the table must rule out.
    fn of(value: Option<&Value>, variables: &Environment) -> Option<Self>;
}

/// Implements [`FromValue`] for a type that holds one variant.
macro_rules! field {
    ($type:ty, $pattern:pat => $value:expr) => {
        impl FromValue for $type {
            fn of(value: Option<&Value>, _: &Environment) -> Option<Self> {
                match value? {
                    $pattern => $value,
                    _ => None,
                }
            }
        }
    };
}

field!(bool, Value::Boolean(value) => Some(*value));
field!(u32, Value::Integer(value) => (*value).try_into().ok());
field!(usize, Value::Integer(value) => (*value).try_into().ok());
field!(f64, Value::Number(value) => Some(*value));
field!(Duration, Value::Milliseconds(value) => Some(Duration::from_millis(*value)));
field!(String, Value::Text(text) | Value::Url(text) => Some(text.clone()));
field!(EngineKind, Value::Text(text) => EngineKind::from_name(text));
field!(Privacy, Value::Text(text) => Privacy::from_name(text));
field!(Strategy, Value::Text(text) => text.parse().ok());
field!(Method, Value::Text(text) => Method::offered(text));
field!(PathBuf, Value::Path(path) => Some(path.clone()));

impl FromValue for Secret {
    fn of(value: Option<&Value>, variables: &Environment) -> Option<Self> {
        match value? {
            Value::Template(template) => Some(template.expand(variables)),
            _ => None,
        }
    }
}

impl<T: FromValue> FromValue for Option<T> {
    fn of(value: Option<&Value>, variables: &Environment) -> Option<Self> {
        match value {
            None => Some(None),
            value => T::of(value, variables).map(Some),
        }
    }
}

/// Implements [`FromValue`] for a collection that holds one variant, empty if unset.
macro_rules! collection {
    ($type:ty, $variant:ident($inner:ident), $variables:ident => $value:expr) => {
        impl FromValue for $type {
            fn of(value: Option<&Value>, $variables: &Environment) -> Option<Self> {
                match value {
                    None => Some(Self::default()),
                    Some(Value::$variant($inner)) => Some($value),
                    Some(_) => None,
                }
            }
        }
    };
}

collection!(Vec<String>, List(words), _variables => words.clone());
collection!(Map<String, Json>, Json(map), _variables => map.clone());
collection!(BTreeMap<String, Secret>, Templates(templates), variables => {
    templates.iter().map(|(name, template)| (name.clone(), template.expand(variables))).collect()
});
collection!(SecretTable, Options(pattern), variables => pattern.fill(variables));
