//! The dev data of Continue: a line of JSON for each of its completions, as opportunities without a truth, and back.
//!
//! Only what Continue records is known: the document around the cursor, its answer, and whether it was accepted. It writes no exact
//! position of a suggestion that was accepted in part, and no text that the developer wrote.

use serde_json::{Value, json};

use super::imported_event::{ImportedEvent, ImportedPlace};
use super::{Opportunity, OutcomeKind, PrivacyLevel, timestamp};
use crate::{ParseError, parse_line};

/// Name of the events that are read and written.
const EVENT: &str = "autocomplete";

/// Version of Continue's schema that is written.
const SCHEMA: &str = "0.2.0";

/// Parses a line of `autocomplete.jsonl`. `None` for other events, events without code, and files without a place in this workspace.
///
/// # Errors
/// The line is no JSON object.
pub fn from_continue(
    line: &str,
    number: usize,
    place_of: impl Fn(&str) -> Option<ImportedPlace>,
) -> Result<Option<Opportunity>, ParseError> {
    let event: Value = parse_line(line, number)?;
    let text = |key: &str| event.get(key).and_then(Value::as_str);
    let is_completion = text("eventName").is_none_or(|name| name == EVENT);
    let (Some(prefix), Some(completion), true) = (text("prefix"), text("completion"), is_completion) else {
        return Ok(None);
    };
    let Some(place) = text("filepath").and_then(place_of) else { return Ok(None) };
    let Some(opened_at) = ["timestamp", "createdAt"].iter().find_map(|key| time(event.get(key)?)) else {
        return Ok(None);
    };
    let outcome = match event.get("accepted").and_then(Value::as_bool) {
        Some(true) => OutcomeKind::Accepted,
        Some(false) => OutcomeKind::Rejected,
        None => OutcomeKind::Shown,
    };
    let imported = ImportedEvent {
        tool: "continue",
        id: text("completionId").or(text("uniqueId")).unwrap_or(line.trim()),
        opened_at,
        developer: text("userId").filter(|user| !user.is_empty()).unwrap_or("continue"),
        place,
        prefix,
        suffix: text("suffix").unwrap_or_default(),
        provider: text("modelProvider"),
        model: text("modelName"),
        completion,
        total_ms: event.get("time").and_then(Value::as_f64).unwrap_or_default(),
        cached: event.get("cacheHit").and_then(Value::as_bool).unwrap_or_default(),
        outcome,
        accepted_chars: if outcome == OutcomeKind::Accepted { completion.chars().count() } else { 0 },
    };
    Ok(Some(imported.into_opportunity()))
}

/// Returns the event of the shown answer in Continue's form; `None` if nothing was asked, or without code.
pub fn to_continue(row: &Opportunity) -> Option<Value> {
    let answer = row.shown_answer().filter(|_| row.privacy != PrivacyLevel::Metrics)?;
    let accepted = match row.outcome.kind {
        OutcomeKind::Accepted => Some(true),
        OutcomeKind::NotShown | OutcomeKind::Shown => None,
        _ => Some(false),
    };
    let mut event = json!({
        "eventName": EVENT,
        "schema": SCHEMA,
        "timestamp": row.opened_at,
        "userId": row.developer,
        "userAgent": "ghostbench",
        "time": answer.ms.total,
        "prefix": row.cursor.prefix,
        "suffix": row.cursor.suffix,
        "prompt": "",
        "completion": answer.text,
        "modelProvider": answer.engine.kind,
        "modelName": answer.engine.model,
        "cacheHit": answer.cached,
        "filepath": row.cursor.path,
        "completionId": row.id,
    });
    if let Some(accepted) = accepted {
        event["accepted"] = accepted.into();
    }
    Some(event)
}

/// Returns a time as RFC 3339: Continue writes that, or ms since 1970.
fn time(value: &Value) -> Option<String> {
    match value {
        Value::String(text) => timestamp::since_1970(text).map(|_| text.clone()),
        Value::Number(ms) => timestamp::from_ms(ms.as_u64()?),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Exposure;

    const LINE: &str = r#"{"eventName":"autocomplete","schema":"0.2.0","timestamp":"2026-01-02T03:04:05.678Z","userId":"u","accepted":true,"time":123.5,"prefix":"def f():\n    é = ","suffix":"\n","prompt":"<fim>","completion":"compute()","modelProvider":"ollama","modelName":"qwen","cacheHit":false,"filepath":"file:///w/a.py","completionId":"c1"}"#;

    fn place(path: &str) -> Option<ImportedPlace> {
        let path = path.strip_prefix("file:///w/").unwrap_or(path).to_owned();
        path.ends_with(".py").then(|| ImportedPlace { path, language: "python".to_owned() })
    }

    #[test]
    fn an_accepted_completion_is_an_opportunity_without_truth() {
        let row = from_continue(LINE, 1, place).expect("JSON").expect("a completion");
        assert_eq!((row.cursor.line, row.cursor.character, &*row.cursor.path), (1, 8, "a.py"));
        assert_eq!((row.outcome.kind, row.outcome.accepted_chars), (OutcomeKind::Accepted, 9));
        assert_eq!((row.exposure, row.truths.len()), (Exposure::Accepted, 0));
        let event = to_continue(&row).expect("an event");
        let again = from_continue(&event.to_string(), 1, place).expect("JSON").expect("a completion");
        assert_eq!(Opportunity { id: row.id.clone(), ..again }, row);
    }

    #[test]
    fn other_lines_are_no_opportunities() {
        for line in [
            "{}",
            r#"{"eventName":"chat","prefix":"","completion":""}"#,
            &LINE.replace("a.py", "a.txt"),
            &LINE.replace("2026-01-02T03:04:05.678Z", "now"),
            "[1]",
            "3",
        ] {
            assert_eq!(from_continue(line, 1, place), Ok(None), "{line}");
        }
        assert!(from_continue("{", 7, place).is_err_and(|error| error.line == 7));
    }
}
