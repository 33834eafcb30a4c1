//! What servers and sockets say went wrong, in one short line.

use std::error::Error;

use serde_json::Value;

/// What fits into a few lines of a terminal, characters.
const LIMIT: usize = 300;

/// What a server says about an error: the message in its JSON, wherever servers put it, else its first line.
pub(super) fn in_body(body: &[u8]) -> Option<String> {
    let places = ["/error/message", "/error", "/message", "/detail"];
    let json: Option<Value> = serde_json::from_slice(body).ok();
    let message =
        json.as_ref().and_then(|json| places.iter().find_map(|place| json.pointer(place)?.as_str()));
    let text = String::from_utf8_lossy(body);
    let said = shortened(message.unwrap_or(&text));
    (!said.is_empty()).then_some(said)
}

/// The first line, or as much of it as can be shown.
pub(super) fn shortened(text: &str) -> String {
    let line = text.trim().lines().next().unwrap_or_default();
    line.chars().filter(|character| !character.is_control()).take(LIMIT).collect()
}

/// The cause of all causes, which says most.
pub(super) fn innermost(error: &dyn Error) -> String {
    let mut innermost = error;
    while let Some(source) = innermost.source() {
        innermost = source;
    }
    innermost.to_string()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_message_is_found_wherever_servers_put_it() {
        for (body, expected) in [
            (
                r#"{"error": {"code": 501, "message": "start it with `--embeddings`"}}"#,
                "start it with `--embeddings`",
            ),
            (r#"{"error": "model not found"}"#, "model not found"),
            (r#"{"object": "error", "message": "too long"}"#, "too long"),
            (r#"{"detail": "Not Found"}"#, "Not Found"),
            ("<html>\n<p>nginx</p>", "<html>"),
            ("\u{1b}[31mred", "[31mred"),
        ] {
            assert_eq!(in_body(body.as_bytes()).as_deref(), Some(expected));
        }
        assert_eq!(in_body(b" \n"), None);
        assert_eq!(in_body("é".repeat(1000).as_bytes()), Some("é".repeat(LIMIT)));
    }
}
