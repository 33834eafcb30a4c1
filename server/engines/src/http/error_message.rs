//! Error messages of servers and sockets, shortened to one line without keys.

use std::error::Error;

use serde_json::Value;

use super::redactor::Redactor;

/// Maximum length in characters: a few lines of a terminal.
const MAX_CHARACTERS: usize = 300;

/// Returns a server's error message: the message field of its JSON, wherever it is, else the first line.
pub(super) fn message_in_body(body: &[u8], secrets: &Redactor) -> Option<String> {
    let places = ["/error/message", "/error", "/message", "/detail"];
    let json: Option<Value> = serde_json::from_slice(body).ok();
    let json = json.as_ref();
    let message = json.and_then(|json| places.iter().find_map(|place| json.pointer(place)?.as_str()));
    let message = message.map(str::to_owned).or_else(|| json.and_then(field_error));
    let text = String::from_utf8_lossy(body);
    let response = secrets.quoted(message.as_deref().unwrap_or(&text));
    (!response.is_empty()).then_some(response)
}

/// Reads the error of a server built with FastAPI: the first invalid field and its error.
fn field_error(json: &Value) -> Option<String> {
    let lists = ["/detail/0", "/message/detail/0"];
    let first = lists.iter().find_map(|list| json.pointer(list))?;
    let message = first.get("msg")?.as_str()?;
    let place = first.get("loc").and_then(Value::as_array).map(Vec::as_slice).unwrap_or_default();
    let place: Vec<String> =
        place.iter().map(|part| part.as_str().map_or_else(|| part.to_string(), str::to_owned)).collect();
    Some(format!("{}: {message}", place.join(".")))
}

impl Redactor {
    /// Returns the first line of a text as messages quote it: without keys, without control characters, at most 300 characters.
    ///
    /// All texts of others must be shortened by this method. Keys are removed first, because the rest of a truncated key is not
    /// recognized; and again after removing the control characters, which may have hidden one.
    pub(crate) fn quoted(&self, text: &str) -> String {
        let removed = self.redact(text);
        let line = removed.trim().lines().next().unwrap_or_default();
        let line: String = line.chars().filter(|character| !character.is_control()).collect();
        self.redact(&line).chars().take(MAX_CHARACTERS).collect()
    }
}

/// Returns the root cause, which is the most specific.
pub(super) fn root_cause(error: &dyn Error) -> String {
    let mut innermost = error;
    while let Some(source) = innermost.source() {
        innermost = source;
    }
    innermost.to_string()
}

#[cfg(test)]
mod tests {
    use config::Secret;
    use serde_json::json;

    use super::*;

    #[test]
    fn message_is_found_in_every_error_body_format() {
        for (body, expected) in [
            (
                r#"{"error": {"code": 501, "message": "start it with `--embeddings`"}}"#,
                "start it with `--embeddings`",
            ),
            (r#"{"error": "model not found"}"#, "model not found"),
            (r#"{"object": "error", "message": "too long"}"#, "too long"),
            (r#"{"detail": "Not Found"}"#, "Not Found"),
            (r#"{"detail": [{"loc": ["body", "n"], "msg": "Field required"}]}"#, "body.n: Field required"),
            (r#"{"type": "error", "error": {"type": "x", "message": "model: y"}}"#, "model: y"),
            ("<html>\n<p>nginx</p>", "<html>"),
            ("\u{1b}[31mred", "[31mred"),
        ] {
            assert_eq!(message_in_body(body.as_bytes(), &Redactor::default()).as_deref(), Some(expected));
        }
        assert_eq!(message_in_body(b" \n", &Redactor::default()), None);
        assert_eq!(
            message_in_body("é".repeat(1000).as_bytes(), &Redactor::default()),
            Some("é".repeat(MAX_CHARACTERS))
        );
    }

    #[test]
    fn truncated_message_contains_no_part_of_a_key() {
        let key = "sk-0123456789abcdefghijklmnopqr";
        let secrets = Redactor::new(Some(&Secret::new(key)), std::iter::empty(), std::iter::empty());
        for before in 0..=MAX_CHARACTERS + 1 {
            let text = format!("{}{key} is wrong", ".".repeat(before));
            for body in [text.clone(), json!({"error": {"message": text}}).to_string()] {
                let response = message_in_body(body.as_bytes(), &secrets).unwrap_or_default();
                assert!(!response.contains("sk-0"), "{response}");
            }
        }
        let hidden = format!("no {}\u{1b}{}", &key[..9], &key[9..]);
        assert_eq!(secrets.quoted(&hidden), "no (the key)");
    }
}
