//! JSON values as they are spelled, so that rows are written as they were read: with the order of their keys and the form of their
//! numbers.

use serde::de::DeserializeOwned;
use serde::{Deserialize, Deserializer, Serialize, Serializer, ser};
use serde_json::value::RawValue;

/// A JSON value in its own spelling.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct JsonText(String);

impl JsonText {
    /// Returns a value in JSON; `None` if it has no form in JSON, such as an object without text keys.
    pub fn of(value: &impl Serialize) -> Option<JsonText> {
        serde_json::to_string(value).ok().map(JsonText)
    }

    /// Returns the value with this spelling; `None` if it is no JSON.
    pub fn new(text: String) -> Option<JsonText> {
        RawValue::from_string(text).ok().map(|raw| JsonText(raw.get().to_owned()))
    }

    /// Returns its spelling.
    pub(crate) fn text(&self) -> &str {
        &self.0
    }

    /// Returns its spelling.
    pub fn into_text(self) -> String {
        self.0
    }

    /// Parses the value as `T`, or returns the problem.
    pub(crate) fn try_parse<T: DeserializeOwned>(&self) -> Result<T, String> {
        let without_place = |error: cases::ParseError| error.message;
        cases::parse_document(&self.0).map_err(without_place)
    }

    /// Parses the value as `T`.
    pub fn parse<T: DeserializeOwned>(&self) -> Option<T> {
        serde_json::from_str(&self.0).ok()
    }
}

impl Serialize for JsonText {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        RawValue::from_string(self.0.clone()).map_err(ser::Error::custom)?.serialize(serializer)
    }
}

impl<'de> Deserialize<'de> for JsonText {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<JsonText, D::Error> {
        Box::<RawValue>::deserialize(deserializer).map(|raw| JsonText(raw.get().to_owned()))
    }
}
