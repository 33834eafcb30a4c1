//! Tables passed on to other programs: arbitrary JSON whose strings may refer to environment variables with a dollar sign.

use std::collections::BTreeMap;
use std::fmt;

use serde_json::{Map, Value as Json};

use crate::Secret;
use crate::variables::{Template, Variables};

/// JSON with unresolved references to environment variables. It may hold keys, so only its names are displayed.
#[derive(Clone, Debug, PartialEq)]
pub(crate) enum Pattern {
    /// JSON without references.
    Json(Json),
    Text(Template),
    List(Vec<Pattern>),
    Table(BTreeMap<String, Pattern>),
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

impl Pattern {
    /// Parses references in the JSON. An error has a description and the name of the affected entry.
    pub(crate) fn parse(json: Json, name: &str) -> Result<Pattern, (String, &'static str)> {
        Ok(match json {
            Json::String(text) => {
                Pattern::Text(Template::parse(&text).map_err(|remedy| (name.to_owned(), remedy))?)
            }
            Json::Array(items) => {
                let items = items.into_iter().map(|item| Pattern::parse(item, name));
                Pattern::List(items.collect::<Result<_, _>>()?)
            }
            Json::Object(fields) => {
                let fields = fields.into_iter().map(|(name, value)| {
                    let value = Pattern::parse(value, &name)?;
                    Ok((name, value))
                });
                Pattern::Table(fields.collect::<Result<_, _>>()?)
            }
            json => Pattern::Json(json),
        })
    }

    /// Returns the names of the referenced variables.
    pub(crate) fn variables(&self) -> Vec<&str> {
        match self {
            Pattern::Json(_) => Vec::new(),
            Pattern::Text(template) => template.variables().into_iter().collect(),
            Pattern::List(items) => items.iter().flat_map(Pattern::variables).collect(),
            Pattern::Table(fields) => fields.values().flat_map(Pattern::variables).collect(),
        }
    }

    /// Returns the first name that, by `is_key`, holds a key and whose text has no reference.
    pub(crate) fn bare_key(&self, is_key: &impl Fn(&str) -> bool) -> Option<&str> {
        let Pattern::Table(fields) = self else {
            let Pattern::List(items) = self else { return None };
            return items.iter().find_map(|item| item.bare_key(is_key));
        };
        fields.iter().find_map(|(name, value)| match value {
            Pattern::Text(template) if is_key(name) && template.variables().is_empty() => Some(name.as_str()),
            value => value.bare_key(is_key),
        })
    }

    /// Substitutes the variables. Anything but a table becomes an empty one.
    pub(crate) fn fill(&self, variables: &Variables) -> SecretTable {
        let filled = match self.filled(variables) {
            Json::Object(filled) => filled,
            _ => Map::new(),
        };
        let secrets = self.variables().into_iter().filter_map(|name| variables.get(name)).map(Secret::new);
        SecretTable { filled, secrets: secrets.collect() }
    }

    fn filled(&self, variables: &Variables) -> Json {
        match self {
            Pattern::Json(json) => json.clone(),
            Pattern::Text(template) => Json::String(template.fill_as_is(variables)),
            Pattern::List(items) => items.iter().map(|item| item.filled(variables)).collect(),
            Pattern::Table(fields) => {
                fields.iter().map(|(name, value)| (name.clone(), value.filled(variables))).collect()
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn pattern(json: Json) -> Pattern {
        Pattern::parse(json, "").expect("its dollar signs are right")
    }

    #[test]
    fn texts_at_any_depth_are_filled_in_and_nothing_shows_them() {
        let variables = Variables::new([("TOKEN".to_owned(), "sk-1".to_owned())]);
        let pattern = pattern(json!({"a": [1, {"token": "Bearer $TOKEN"}], "b": " $$5 ", "c": null}));
        assert_eq!(pattern.variables(), ["TOKEN"]);
        let table = pattern.fill(&variables);
        let filled = json!({"a": [1, {"token": "Bearer sk-1"}], "b": " $5 ", "c": null});
        assert_eq!(Json::from(table.expose().clone()), filled);
        assert_eq!(table.secrets(), [Secret::new("sk-1")]);
        assert_eq!(format!("{table:?} {pattern:?}").matches("sk-1").count(), 0);
    }

    #[test]
    fn a_dollar_sign_that_names_nothing_is_refused_by_name() {
        let refused = Pattern::parse(json!({"a": {"price": "5 $"}}), "").unwrap_err();
        assert_eq!(refused.0, "price");
    }

    #[test]
    fn a_key_that_is_written_out_is_found() {
        let is_key = |name: &str| name == "token";
        let found = |json: Json| pattern(json).bare_key(&is_key).map(str::to_owned);
        assert_eq!(found(json!({"a": [{"token": "sk-1"}]})).as_deref(), Some("token"));
        assert_eq!(found(json!({"a": [{"token": "$TOKEN"}], "tokens": "x"})), None);
    }
}
