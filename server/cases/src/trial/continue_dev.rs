//! The dev data of Continue: a line of JSON for each of its completions, as opportunities without a truth, and back.
//!
//! Only what Continue records is known: the document around the cursor, its answer, and whether it was accepted. It writes no exact
//! position of a suggestion that was accepted in part, and no text that the developer wrote.

use serde_json::{Value, json};

use super::{
    ArmAnswer, ArmRole, OfferOutcome, Opportunity, OpportunityCursor, OutcomeKind, PrivacyLevel, TrialMode,
    Trigger, TypingRhythm,
};
use crate::prediction::{EngineIdentity, Finish, PredictionTimings, Status};
use crate::{Exposure, Metrics, ParseError, SchemaVersion, parse_line};

/// Name of the events that are read and written.
const EVENT: &str = "autocomplete";

/// Version of Continue's schema that is written.
const SCHEMA: &str = "0.2.0";

/// The place of a file that Continue names by a URI or a path.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ImportedPlace {
    /// Path, relative to the workspace.
    pub path: String,
    /// Name of the language.
    pub language: String,
}

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
    let own_id = text("completionId").or(text("uniqueId")).unwrap_or(line.trim());
    let id = blake3::hash(["continue", own_id, &opened_at].join("\n").as_bytes()).to_hex()[..32].to_owned();
    let is_accepted = event.get("accepted").and_then(Value::as_bool);
    let kind = match is_accepted {
        Some(true) => OutcomeKind::Accepted,
        Some(false) => OutcomeKind::Rejected,
        None => OutcomeKind::Shown,
    };
    let accepted_chars = if is_accepted == Some(true) { completion.chars().count() } else { 0 };
    let arm = text("modelName").unwrap_or("continue").to_owned();
    Ok(Some(Opportunity {
        schema: SchemaVersion::CURRENT,
        id,
        trial: None,
        mode: TrialMode::Single,
        developer: text("userId").filter(|user| !user.is_empty()).unwrap_or("continue").to_owned(),
        session: "continue".to_owned(),
        opened_at,
        trigger: Trigger::Automatic,
        privacy: PrivacyLevel::Full,
        secrets: 0,
        cursor: cursor(place, prefix, text("suffix").unwrap_or_default()),
        commit: None,
        tree_hash: String::new(),
        context: Vec::new(),
        similar_functions: Vec::new(),
        rhythm: TypingRhythm::default(),
        requests: 1,
        decisions: Vec::new(),
        answers: vec![answer(&event, &arm, completion)],
        outcome: OfferOutcome {
            kind,
            arm: Some(arm),
            accepted_chars: count(accepted_chars),
            ..OfferOutcome::not_shown()
        },
        exposure: if is_accepted == Some(true) { Exposure::Accepted } else { Exposure::Shown },
        task: None,
        block_kind: None,
        truths: Vec::new(),
        lost: None,
    }))
}

/// Returns the cursor between two parts of a document.
fn cursor(place: ImportedPlace, prefix: &str, suffix: &str) -> OpportunityCursor {
    let line_start = prefix.rfind('\n').map_or(0, |end| end + 1);
    OpportunityCursor {
        language: place.language,
        path: place.path,
        offset: prefix.len(),
        line: count(prefix.matches('\n').count()),
        character: count(prefix[line_start..].encode_utf16().count()),
        prefix: prefix.to_owned(),
        suffix: suffix.to_owned(),
    }
}

/// Returns the answer of an event.
fn answer(event: &Value, arm: &str, completion: &str) -> ArmAnswer {
    let total = event.get("time").and_then(Value::as_f64).unwrap_or_default();
    let provider = event.get("modelProvider").and_then(Value::as_str);
    ArmAnswer {
        arm: arm.to_owned(),
        engine: EngineIdentity {
            name: arm.to_owned(),
            kind: provider.unwrap_or("continue").to_owned(),
            model: arm.to_owned(),
            fingerprint: String::new(),
        },
        role: ArmRole::Shown,
        status: if completion.is_empty() { Status::Silent } else { Status::Ok },
        reason: None,
        raw: completion.to_owned(),
        text: completion.to_owned(),
        finish: Finish::None,
        asked: 0.0,
        ms: PredictionTimings { gather: 0.0, first: None, total },
        confidence: None,
        tokens: None,
        cost: None,
        cached: event.get("cacheHit").and_then(Value::as_bool).unwrap_or_default(),
        metrics: Metrics::new(),
    }
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
        Value::String(text) => is_time(text).then(|| text.clone()),
        Value::Number(ms) => rfc3339(ms.as_u64()?),
        _ => None,
    }
}

/// Whether a text has the form of `2026-01-02T03:04:05Z`, with or without a fraction.
fn is_time(text: &str) -> bool {
    let bytes = text.as_bytes();
    let separators = [(4, b'-'), (7, b'-'), (10, b'T'), (13, b':'), (16, b':')];
    text.is_ascii()
        && (20..=30).contains(&text.len())
        && text.ends_with('Z')
        && separators.iter().all(|&(at, separator)| bytes[at] == separator)
}

/// Formats ms since 1970; `None` after the year 9999.
fn rfc3339(ms: u64) -> Option<String> {
    let (days, in_day) = (i64::try_from(ms / 86_400_000).ok()?, ms % 86_400_000);
    // Days to a date of the Gregorian calendar, in years that begin in March.
    let shifted = days + 719_468;
    let (era, day_of_era) = (shifted / 146_097, shifted % 146_097);
    let year_of_era = (day_of_era - day_of_era / 1_460 + day_of_era / 36_524 - day_of_era / 146_096) / 365;
    let day_of_year = day_of_era - (365 * year_of_era + year_of_era / 4 - year_of_era / 100);
    let march_month = (5 * day_of_year + 2) / 153;
    let day = day_of_year - (153 * march_month + 2) / 5 + 1;
    let month = if march_month < 10 { march_month + 3 } else { march_month - 9 };
    let year = year_of_era + era * 400 + i64::from(month <= 2);
    let (hour, minute, second, fraction) =
        (in_day / 3_600_000, in_day / 60_000 % 60, in_day / 1_000 % 60, in_day % 1_000);
    (year <= 9_999)
        .then(|| format!("{year:04}-{month:02}-{day:02}T{hour:02}:{minute:02}:{second:02}.{fraction:03}Z"))
}

fn count(number: usize) -> u32 {
    u32::try_from(number).unwrap_or(u32::MAX)
}

#[cfg(test)]
mod tests {
    use super::*;

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

    #[test]
    fn milliseconds_are_times() {
        assert_eq!(rfc3339(0).as_deref(), Some("1970-01-01T00:00:00.000Z"));
        assert_eq!(rfc3339(1_767_323_045_678).as_deref(), Some("2026-01-02T03:04:05.678Z"));
        assert_eq!(rfc3339(951_782_400_000).as_deref(), Some("2000-02-29T00:00:00.000Z"));
        assert_eq!(rfc3339(u64::MAX), None);
    }
}
