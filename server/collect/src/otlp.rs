//! OTLP in JSON: spans and log records with their attributes.
//!
//! OTLP carries neither a licence nor a consent for code. Therefore texts that may be code are left out: those of several lines, and long
//! ones. Secrets in the others are masked.

use serde_json::{Map, Value, json};
use thiserror::Error;

use crate::store::TelemetryRecord;

/// Most bytes of a text that is kept: a name, an id, an address.
const MAX_TEXT_BYTES: usize = 256;

/// Most records of a request.
const MAX_RECORDS: usize = 20_000;

/// A request that is not OTLP in JSON.
#[derive(Debug, Error, PartialEq, Eq)]
pub(crate) enum OtlpError {
    /// It is something else.
    #[error("this is no OTLP request in JSON ({0}); set OTEL_EXPORTER_OTLP_PROTOCOL to http/json")]
    Json(String),
    /// A record has no time or id.
    #[error("{0} has no time in ns since 1970; check the exporter")]
    NoTime(&'static str),
    /// It has too many records.
    #[error("the request has more than {MAX_RECORDS} records; send smaller batches")]
    TooMany,
}

/// The signals that are received.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Signal {
    Spans,
    Logs,
}

impl Signal {
    /// Names of the lists from the outside in, and of a record.
    fn lists(self) -> ([&'static str; 3], &'static str) {
        match self {
            Signal::Spans => (["resourceSpans", "scopeSpans", "spans"], "span"),
            Signal::Logs => (["resourceLogs", "scopeLogs", "logRecords"], "log"),
        }
    }
}

/// Reads a request.
pub(crate) fn records(body: &[u8], signal: Signal) -> Result<Vec<TelemetryRecord>, OtlpError> {
    let request: Value = serde_json::from_slice(body).map_err(|error| OtlpError::Json(error.to_string()))?;
    let ([resources, scopes, records], _) = signal.lists();
    if request.get(resources).is_none_or(|list| !list.is_array()) {
        return Err(OtlpError::Json(format!("it has no list `{resources}`")));
    }
    let mut found = Vec::new();
    for resource in list(&request, resources) {
        let service = resource.get("resource").cloned().map_or(Value::Null, clean);
        for scope in list(resource, scopes) {
            for record in list(scope, records) {
                if found.len() == MAX_RECORDS {
                    return Err(OtlpError::TooMany);
                }
                found.push(telemetry_record(record, &service, signal)?);
            }
        }
    }
    Ok(found)
}

/// Returns the values of a list; none if it is missing.
fn list<'v>(value: &'v Value, name: &str) -> impl Iterator<Item = &'v Value> {
    value.get(name).and_then(Value::as_array).into_iter().flatten()
}

fn telemetry_record(record: &Value, service: &Value, signal: Signal) -> Result<TelemetryRecord, OtlpError> {
    let (_, kind) = signal.lists();
    let times = ["startTimeUnixNano", "timeUnixNano", "observedTimeUnixNano"];
    let at = times.iter().find_map(|name| nanoseconds(record.get(*name)?)).ok_or(OtlpError::NoTime(kind))?;
    let text = |name: &str| record.get(name).and_then(Value::as_str).unwrap_or_default();
    let hash = match signal {
        // A span that is sent again may have more attributes, and is the same.
        Signal::Spans => blake3::hash(format!("{} {}", text("traceId"), text("spanId")).as_bytes()),
        Signal::Logs => blake3::hash(record.to_string().as_bytes()),
    };
    let name =
        [text("name"), text("eventName")].into_iter().find(|name| !name.is_empty()).unwrap_or_default();
    let name = shortened(name).unwrap_or_default();
    let mut cleaned = clean(record.clone());
    if let Some(fields) = cleaned.as_object_mut() {
        fields.insert("resource".to_owned(), service.clone());
    }
    Ok(TelemetryRecord {
        id: hash.to_hex()[..32].to_owned(),
        at: at / 1_000_000,
        kind,
        name,
        body: cleaned.to_string(),
    })
}

/// Parses a number that may be a text, as 64-bit integers are in this encoding.
fn nanoseconds(value: &Value) -> Option<i64> {
    let number = value.as_str().map_or_else(|| value.as_i64(), |text| text.parse().ok());
    number.filter(|number| *number > 0)
}

/// Leaves texts out that may be code, and masks secrets.
fn clean(value: Value) -> Value {
    match value {
        Value::String(text) => shortened(&text).map_or(Value::Null, Value::String),
        Value::Array(values) => values.into_iter().map(clean).collect(),
        Value::Object(fields) => {
            let fields = fields.into_iter().filter(|(name, _)| name.len() <= MAX_TEXT_BYTES);
            Value::Object(
                fields.map(|(name, value)| (without_null(&name), clean(value))).collect::<Map<_, _>>(),
            )
        }
        other => other,
    }
}

fn shortened(text: &str) -> Option<String> {
    let is_name = text.len() <= MAX_TEXT_BYTES && !text.contains(['\n', '\r']);
    is_name.then(|| without_null(&secrets::redact(text)))
}

/// PostgreSQL stores no text with this character.
fn without_null(text: &str) -> String {
    text.replace('\0', "\u{fffd}")
}

/// The response to an accepted request: all of it.
pub(crate) fn accepted() -> Value {
    json!({ "partialSuccess": {} })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn request(span: Value) -> Vec<u8> {
        json!({ "resourceSpans": [{ "scopeSpans": [{ "spans": [span] }] }] }).to_string().into_bytes()
    }

    #[test]
    fn texts_that_may_be_code_are_left_out_and_secrets_masked() {
        let span = json!({
            "traceId": "t", "spanId": "s", "name": "chat", "startTimeUnixNano": "1767323045678000000",
            "attributes": [
                { "key": "gen_ai.input.messages", "value": { "stringValue": "def a():\n    pass" } },
                { "key": "gen_ai.request.model", "value": { "stringValue": "coder" } },
                { "key": "header", "value": { "stringValue": "ghp_0123456789abcdefghijklmnopqrstuvwxyz" } },
            ],
        });
        let records = records(&request(span), Signal::Spans).expect("it is OTLP");
        let [record] = &records[..] else { panic!("{records:?}") };
        assert_eq!((record.at, &*record.name, record.kind), (1_767_323_045_678, "chat", "span"));
        assert!(record.body.contains("coder"));
        assert!(!record.body.contains("def a") && !record.body.contains("ghp_0123"), "{}", record.body);
    }

    #[test]
    fn a_span_that_is_sent_again_is_the_same_and_others_are_refused() {
        let span = |attributes: Value| json!({ "traceId": "t", "spanId": "s", "startTimeUnixNano": 5, "attributes": attributes });
        let id = |span| records(&request(span), Signal::Spans).expect("it is OTLP")[0].id.clone();
        assert_eq!(id(span(json!([]))), id(span(json!([1]))));
        assert!(matches!(records(b"{}", Signal::Spans), Err(OtlpError::Json(_))));
        assert!(matches!(records(b"nonsense", Signal::Logs), Err(OtlpError::Json(_))));
        let timeless = request(json!({ "traceId": "t" }));
        assert_eq!(records(&timeless, Signal::Spans), Err(OtlpError::NoTime("span")));
    }
}
