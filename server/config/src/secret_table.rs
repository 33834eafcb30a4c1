//! Tables passed on to other programs: arbitrary JSON whose strings may refer to environment variables with a dollar sign.

use std::collections::BTreeMap;
use std::fmt;

use serde_json::{Map, Value as Json};

use crate::Secret;
use crate::environment::{EnvTemplate, Environment};

/// JSON with unresolved references to environment variables. It may hold keys, so only its names are displayed.
#[derive(Clone, Debug, PartialEq)]
pub(crate) enum JsonTemplate {
    /// JSON without references.
    Json(Json),
    Text(EnvTemplate),
    List(Vec<JsonTemplate>),
    Table(BTreeMap<String, JsonTemplate>),
}

/// A table that may hold keys. Its content is never displayed.
#[derive(Clone, Default, PartialEq)]
pub struct SecretTable {
    filled: Map<String, Json>,
    secrets: Vec<Secret>,
}

impl SecretTable {
    /// Returns the table. Only send it; never display it.
    pub fn expose(&self) -> &Map<String, Json> {
        &self.filled
    }

    /// Returns the values that came from the environment.
    pub fn secrets(&self) -> &[Secret] {
        &self.secrets
    }
}

/// A table without references.
impl From<Map<String, Json>> for SecretTable {
    fn from(filled: Map<String, Json>) -> SecretTable {
        SecretTable { filled, secrets: Vec::new() }
    }
}

impl fmt::Debug for SecretTable {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("SecretTable(..)")
    }
}

impl JsonTemplate {
    /// Parses references in the JSON. An error has a description and the name of the affected entry.
    pub(crate) fn parse(json: Json, name: &str) -> Result<JsonTemplate, (String, &'static str)> {
        Ok(match json {
            Json::String(text) => {
                JsonTemplate::Text(EnvTemplate::parse(&text).map_err(|remedy| (name.to_owned(), remedy))?)
            }
            Json::Array(items) => {
                let items = items.into_iter().map(|item| JsonTemplate::parse(item, name));
                JsonTemplate::List(items.collect::<Result<_, _>>()?)
            }
            Json::Object(fields) => {
                let fields = fields.into_iter().map(|(name, value)| {
                    let value = JsonTemplate::parse(value, &name)?;
                    Ok((name, value))
                });
                JsonTemplate::Table(fields.collect::<Result<_, _>>()?)
            }
            json => JsonTemplate::Json(json),
        })
    }

    /// Returns the names of the referenced variables.
    pub(crate) fn variables(&self) -> Vec<&str> {
        match self {
            JsonTemplate::Json(_) => Vec::new(),
            JsonTemplate::Text(template) => template.variables().into_iter().collect(),
            JsonTemplate::List(items) => items.iter().flat_map(JsonTemplate::variables).collect(),
            JsonTemplate::Table(fields) => fields.values().flat_map(JsonTemplate::variables).collect(),
        }
    }

    /// Returns the first name that, by `is_key`, holds a key and whose text has no reference.
    pub(crate) fn literal_key(&self, is_key: &impl Fn(&str) -> bool) -> Option<&str> {
        let JsonTemplate::Table(fields) = self else {
            let JsonTemplate::List(items) = self else { return None };
            return items.iter().find_map(|item| item.literal_key(is_key));
        };
        fields.iter().find_map(|(name, value)| match value {
            JsonTemplate::Text(template) if is_key(name) && template.variables().is_empty() => {
                Some(name.as_str())
            }
            value => value.literal_key(is_key),
        })
    }

    /// Substitutes the variables. Anything but a table becomes an empty one.
    pub(crate) fn fill(&self, variables: &Environment) -> SecretTable {
        let filled = match self.filled(variables) {
            Json::Object(filled) => filled,
            _ => Map::new(),
        };
        let secrets = self.variables().into_iter().filter_map(|name| variables.get(name)).map(Secret::new);
        SecretTable { filled, secrets: secrets.collect() }
    }

    fn filled(&self, variables: &Environment) -> Json {
        match self {
            JsonTemplate::Json(json) => json.clone(),
            JsonTemplate::Text(template) => Json::String(template.expand_untrimmed(variables)),
            JsonTemplate::List(items) => items.iter().map(|item| item.filled(variables)).collect(),
            JsonTemplate::Table(fields) => {
                fields.iter().map(|(name, value)| (name.clone(), value.filled(variables))).collect()
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn pattern(json: Json) -> JsonTemplate {
        JsonTemplate::parse(json, "").expect("its dollar signs are right")
    }

    #[test]
    fn nested_texts_are_expanded_and_debug_hides_secrets() {
        let variables = Environment::new([("TOKEN".to_owned(), "sk-1".to_owned())]);
        let pattern = pattern(json!({"a": [1, {"token": "Bearer $TOKEN"}], "b": " $$5 ", "c": null}));
        assert_eq!(pattern.variables(), ["TOKEN"]);
        let table = pattern.fill(&variables);
        let filled = json!({"a": [1, {"token": "Bearer sk-1"}], "b": " $5 ", "c": null});
        assert_eq!(Json::from(table.expose().clone()), filled);
        assert_eq!(table.secrets(), [Secret::new("sk-1")]);
        assert_eq!(format!("{table:?} {pattern:?}").matches("sk-1").count(), 0);
    }

    #[test]
    fn invalid_dollar_sign_is_refused_with_its_key() {
        let refused = JsonTemplate::parse(json!({"a": {"price": "5 $"}}), "").unwrap_err();
        assert_eq!(refused.0, "price");
    }

    #[test]
    fn literal_key_is_found() {
        let is_key = |name: &str| name == "token";
        let found = |json: Json| pattern(json).literal_key(&is_key).map(str::to_owned);
        assert_eq!(found(json!({"a": [{"token": "sk-1"}]})).as_deref(), Some("token"));
        assert_eq!(found(json!({"a": [{"token": "$TOKEN"}], "tokens": "x"})), None);
    }
}
