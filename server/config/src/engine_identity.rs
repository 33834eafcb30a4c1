//! The settings of an engine that can change its answers, key by key.
//!
//! Derived from the table of keys: a new key is included unless it is listed in [`EXCLUDED_KEYS`]. Reads no files; the caller hashes the
//! contents of the paths and the values that may be secret.

use std::path::PathBuf;

use crate::Secret;
use crate::engine_kind::EngineKind;
use crate::environment::Environment;
use crate::key::Values;
use crate::secret_table::JsonTemplate;
use crate::table::ENGINE;
use crate::value::Value;

/// Excluded keys. A run has the name, the kind and the model in its own fields; prices are compared separately; the cut-off
/// changes no answer; the command consists of files that only the caller can find.
const EXCLUDED_KEYS: [&str; 7] = ["name", "kind", "model", "price_in", "price_out", "cutoff", "command"];

/// A setting that can change an engine's answers.
#[derive(Clone, Debug, PartialEq)]
pub struct IdentityPart {
    /// The key; inside a table the key, a dot and the name: `headers.accept`.
    pub key: String,
    /// The value.
    pub value: IdentityValue,
}

/// The value of such a setting.
#[derive(Clone, Debug, PartialEq)]
pub enum IdentityValue {
    /// May be displayed.
    Plain(String),
    /// May hold a key, a password or an address; store it only as a keyed hash.
    Secret(Secret),
    /// Its contents matter, not its path.
    File(PathBuf),
}

/// Returns the parts of the values that apply to the kind, in the order of the table.
pub(crate) fn identity(kind: EngineKind, values: &Values, variables: &Environment) -> Vec<IdentityPart> {
    let keys = ENGINE.keys.iter().filter(|key| (key.is_for)(kind) && !EXCLUDED_KEYS.contains(&key.name));
    keys.filter_map(|key| Some((key.name, values.get(key.name)?)))
        .flat_map(|(key, value)| parts(key, value, variables))
        .collect()
}

fn parts(key: &str, value: &Value, variables: &Environment) -> Vec<IdentityPart> {
    let one = |value| vec![IdentityPart { key: key.to_owned(), value }];
    let plain = |text: String| one(IdentityValue::Plain(text));
    let secret = |text: &str| one(IdentityValue::Secret(Secret::new(text)));
    match value {
        Value::Boolean(value) => plain(value.to_string()),
        Value::Integer(value) => plain(value.to_string()),
        Value::Number(value) => plain(value.to_string()),
        Value::Milliseconds(value) => plain(value.to_string()),
        Value::Text(text) => plain(text.clone()),
        Value::Url(url) => secret(url),
        Value::List(words) => secret(&words.join("\0")),
        // A folder is identified by its path, other paths by the contents of their files.
        Value::Path(path) if key == "folder" => secret(&path.to_string_lossy()),
        Value::Path(path) => one(IdentityValue::File(path.clone())),
        Value::Template(template) => one(IdentityValue::Secret(template.expand(variables))),
        Value::Templates(templates) => templates
            .iter()
            .map(|(name, template)| IdentityPart {
                key: format!("{key}.{name}"),
                value: IdentityValue::Secret(template.expand(variables)),
            })
            .collect(),
        Value::Json(map) => map
            .iter()
            // Engines use this name for these fields.
            .map(|(name, value)| IdentityPart { key: format!("extra.{name}"), value: json(value) })
            .collect(),
        Value::Options(pattern) => options(key, pattern, variables),
    }
}

fn options(key: &str, pattern: &JsonTemplate, variables: &Environment) -> Vec<IdentityPart> {
    let filled = serde_json::Value::from(pattern.fill(variables).expose().clone());
    vec![IdentityPart { key: key.to_owned(), value: json(&filled) }]
}

/// Numbers and booleans hold no key.
fn json(value: &serde_json::Value) -> IdentityValue {
    match value {
        serde_json::Value::Null | serde_json::Value::Bool(_) | serde_json::Value::Number(_) => {
            IdentityValue::Plain(value.to_string())
        }
        _ => IdentityValue::Secret(Secret::new(&value.to_string())),
    }
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeMap;

    use super::*;
    use crate::environment::EnvTemplate;
    use crate::table::defaults;
    use crate::value_type::ValueType;

    fn template(text: &str) -> EnvTemplate {
        EnvTemplate::parse(text).expect("its dollar signs are right")
    }

    /// Returns two values of a key's type.
    fn two(takes: ValueType) -> [Value; 2] {
        let text = |text: &str| Value::Text(text.to_owned());
        let json = |text: &str| serde_json::json!({"a": text}).as_object().expect("an object").clone();
        let options = |text: &str| JsonTemplate::parse(json(text).into(), "").expect("no dollar signs");
        match takes {
            ValueType::Boolean => [Value::Boolean(true), Value::Boolean(false)],
            ValueType::Integer { .. } => [Value::Integer(1), Value::Integer(2)],
            ValueType::Number { .. } => [Value::Number(0.5), Value::Number(1.0)],
            ValueType::Milliseconds { .. } => [Value::Milliseconds(1), Value::Milliseconds(2)],
            ValueType::Text | ValueType::Name | ValueType::Date | ValueType::Choice(_) => {
                [text("one"), text("two")]
            }
            ValueType::Url => [Value::Url("http://h:1".to_owned()), Value::Url("http://h:2".to_owned())],
            ValueType::Proxy | ValueType::KeyVariable => {
                [Value::Template(template("sk-1")), Value::Template(template("sk-2"))]
            }
            ValueType::Path => ["/one", "/two"].map(|path| Value::Path(path.into())),
            ValueType::Command => ["one", "two"].map(|word| Value::List(vec![word.to_owned()])),
            ValueType::Headers | ValueType::Environment => ["one", "two"]
                .map(|text| Value::Templates(BTreeMap::from([("A".to_owned(), template(text))]))),
            ValueType::Json => ["one", "two"].map(|text| Value::Json(json(text))),
            ValueType::Options => ["one", "two"].map(|text| Value::Options(options(text))),
        }
    }

    /// If a key of the table were ignored, two different engines would have the same identity.
    #[test]
    fn identity_includes_every_key_except_excluded_ones() {
        for kind in EngineKind::ALL {
            for key in ENGINE.keys.iter().filter(|key| (key.is_for)(kind)) {
                let [one, two] = two(key.takes).map(|value| {
                    let mut values = defaults(&ENGINE).clone();
                    values.insert(key.name, value);
                    identity(kind, &values, &Environment::default())
                });
                assert_eq!(one == two, EXCLUDED_KEYS.contains(&key.name), "{kind} {}", key.name);
            }
        }
    }

    #[test]
    fn identity_hides_values_that_may_be_keys() {
        let variables = Environment::new([("KEY".to_owned(), "sk-1".to_owned())]);
        let mut values = Values::new();
        values.insert("api_key_env", Value::Template(EnvTemplate::variable("KEY")));
        values.insert("headers", Value::Templates(BTreeMap::from([("x-key".to_owned(), template("$KEY"))])));
        values.insert("url", Value::Url("https://me:sk-1@host".to_owned()));
        let extra = serde_json::json!({"key": "sk-1", "top_k": 3});
        values.insert("extra_body", Value::Json(extra.as_object().expect("an object").clone()));
        let parts = identity(EngineKind::OpenAi, &values, &variables);
        let keys: Vec<&str> = parts.iter().map(|part| part.key.as_str()).collect();
        assert_eq!(keys, ["url", "api_key_env", "headers.x-key", "extra.key", "extra.top_k"]);
        assert!(!format!("{parts:?}").contains("sk-1"), "{parts:?}");
        assert_eq!(parts[4].value, IdentityValue::Plain("3".to_owned()));
    }
}
