//! Masks secrets of the code in the rows of a cassette.
//!
//! Responsible for secrets that span several texts of a row: a request has the code before and after the cursor in two fields,
//! or with a marker between them, and the answer in another field. They are searched as one text, and each text's part of a
//! secret is masked. Must never change the request's hash.

use std::ops::Range;
use std::sync::Arc;

use secrets::redact_between;
use serde_json::Value;

use super::{RecordedReply, ReplyPiece};
use crate::Request;

/// Minimum length in bytes for masking part of a secret everywhere. Shorter parts are masked within their line only, because
/// the same text elsewhere is coincidence.
const MIN_LONE_PART: usize = 4;

/// A document with its cursor.
#[derive(Clone, Debug)]
pub(crate) struct Document {
    text: Arc<str>,
    /// Byte offset of the cursor, on a character boundary.
    cursor: usize,
}

impl Document {
    /// Creates the document from the texts around the cursor.
    pub(crate) fn new(before: &str, after: &str) -> Document {
        Document { text: [before, after].concat().into(), cursor: before.len() }
    }
}

impl From<&Request> for Document {
    fn from(request: &Request) -> Document {
        Document { text: Arc::clone(&request.input.text), cursor: request.input.cursor }
    }
}

/// Masks the secrets in the redacted request and in its answer.
pub(super) fn mask(
    shown: Value,
    document: Option<&Document>,
    reply: RecordedReply,
) -> (Value, RecordedReply) {
    let (before, after) = document.map_or(("", ""), |document| document.text.split_at(document.cursor));
    let mut parts = Parts::default();
    parts.search(before, "", after);
    let reply = match reply {
        RecordedReply::Engine(mut response) => {
            let text: String = response.pieces.iter().map(|piece| piece.text.as_str()).collect();
            let masked = parts.search(before, &text, after);
            put_text(&mut response.pieces, &masked);
            let text = document.map_or("", |document| &*document.text);
            for edit in &mut response.edits {
                let (before, after) = (text.get(..edit.start), text.get(edit.end..));
                edit.text = parts.search(before.unwrap_or(""), &edit.text, after.unwrap_or(""));
            }
            RecordedReply::Engine(response)
        }
        RecordedReply::Server(mut reply) => {
            // Servers may repeat the prompt in their answers. A changed body becomes one piece, because its text may span
            // pieces.
            let text: String = reply.pieces.iter().map(|piece| piece.text.as_str()).collect();
            let masked = parts.mask(&text);
            if masked != text {
                let ms = reply.pieces.last().and_then(|piece| piece.ms);
                reply.pieces = vec![ReplyPiece { ms, text: masked }];
            }
            RecordedReply::Server(reply)
        }
    };
    (mask_texts(shown, &|text| secrets::redact(&parts.mask(text)).into_owned()), reply)
}

/// Replaces the text of the pieces by one of the same length.
fn put_text(pieces: &mut [ReplyPiece], text: &str) {
    let mut start = 0;
    for piece in pieces {
        let end = start + piece.text.len();
        piece.text = text[start..end].to_owned();
        start = end;
    }
}

fn mask_texts(value: Value, mask: &dyn Fn(&str) -> String) -> Value {
    match value {
        Value::String(text) => mask(&text).into(),
        Value::Array(values) => values.into_iter().map(|value| mask_texts(value, mask)).collect(),
        Value::Object(fields) => {
            fields.into_iter().map(|(name, value)| (name, mask_texts(value, mask))).collect()
        }
        other => other,
    }
}

/// Parts of secrets in the texts around a cursor, as pairs of a text and its masked form.
#[derive(Default)]
struct Parts(Vec<Part>);

struct Part {
    /// The line of the secret, up to the cursor.
    line: (String, String),
    secret: (String, String),
}

impl Parts {
    /// Searches three texts as one. Returns the middle one without secrets.
    fn search(&mut self, before: &str, text: &str, after: &str) -> String {
        let masked = redact_between(before, text, after);
        self.differences(&before[before.len() - masked.before.len()..], &masked.before);
        self.differences(&after[..masked.after.len()], &masked.after);
        masked.text
    }

    /// Adds the masked parts of a text; `masked` has the same length.
    fn differences(&mut self, text: &str, masked: &str) {
        let mut start = 0;
        let differs = |at: usize| text.as_bytes()[at] != masked.as_bytes()[at];
        while let Some(first) = (start..text.len()).find(|at| differs(*at)) {
            let end = (first..text.len()).find(|at| !differs(*at)).unwrap_or(text.len());
            let (first, end) = (text.floor_char_boundary(first), text.ceil_char_boundary(end));
            let line = text[..first].rfind('\n').map_or(0, |at| at + 1);
            let line_end = text[end..].find('\n').map_or(text.len(), |at| end + at);
            let pair = |range: Range<usize>| (text[range.clone()].to_owned(), masked[range].to_owned());
            self.0.push(Part { line: pair(line..line_end), secret: pair(first..end) });
            start = end;
        }
    }

    /// Masks the parts in a text, also in JSON notation.
    fn mask(&self, text: &str) -> String {
        let mut text = text.to_owned();
        for Part { line, secret } in &self.0 {
            let pairs = if secret.0.len() < MIN_LONE_PART { vec![line] } else { vec![line, secret] };
            for (part, masked) in pairs {
                text = text.replace(part.as_str(), masked);
                let (escaped, masked) = (escaped(part), escaped(masked));
                if escaped != *part {
                    text = text.replace(&escaped, &masked);
                }
            }
        }
        text
    }
}

/// Returns a text as it occurs within a JSON string.
fn escaped(text: &str) -> String {
    let quoted = Value::from(text).to_string();
    quoted[1..quoted.len() - 1].to_owned()
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::super::EngineReply;
    use super::super::cassette_file::RecordedEdit;
    use super::*;
    use crate::FinishReason;

    fn recorded_reply(text: &str) -> RecordedReply {
        let pieces = text.split_inclusive(' ').map(|piece| ReplyPiece { ms: None, text: piece.to_owned() });
        RecordedReply::Engine(EngineReply {
            pieces: pieces.collect(),
            edits: Vec::new(),
            finish: FinishReason::Stop,
            tokens: None,
        })
    }

    /// The whole row for this cursor, marked `$0`, and this answer.
    fn row(marked: &str, answer: &str, shown: impl Fn(&str, &str) -> Value) -> String {
        let (before, after) = test_fixture::split_at_cursor(marked);
        let (shown, reply) =
            mask(shown(before, after), Some(&Document::new(before, after)), recorded_reply(answer));
        let RecordedReply::Engine(response) = reply else { panic!("it was text") };
        let answer: String = response.pieces.into_iter().map(|piece| piece.text).collect();
        format!("{shown} {answer}")
    }

    /// Wherever a cursor and the end of an answer split a secret, a row contains no part of it.
    #[test]
    fn split_secret_is_fully_masked_in_a_row() {
        let (head, secret, tail) = ("x = 1\npassword = \"", "Winter-R0se.Tr33", "\"\ny = 2\n");
        let forms: [fn(&str, &str) -> Value; 3] = [
            |before, after| json!({"prefix": before, "suffix": after}),
            |before, after| json!({"prompt": format!("<P>{before}<S>{after}<M>")}),
            |before, after| json!({"body": json!({"prompt": before, "suffix": after}).to_string()}),
        ];
        let (answers, text) = (0..=secret.len(), format!("{head}{secret}{tail}"));
        for (start, end) in answers.clone().flat_map(|start| answers.clone().map(move |end| (start, end))) {
            let (start, end) = (head.len() + start.min(end), head.len() + end.max(start));
            let marked = format!("{}$0{}", &text[..start], &text[end..]);
            for form in forms {
                let row = row(&marked, &text[start..end], form);
                for part in secret.as_bytes().windows(3) {
                    let part = str::from_utf8(part).expect("it is ASCII");
                    assert!(!row.contains(part), "{part} of {marked:?}: {row}");
                }
            }
        }
    }

    #[test]
    fn secrets_of_edits_are_masked() {
        let text = "password = \"old\"\ny = 2\n";
        let edit = RecordedEdit { start: 12, end: 15, text: "Winter-R0se.Tr33".to_owned() };
        let response =
            EngineReply { pieces: Vec::new(), edits: vec![edit], finish: FinishReason::Stop, tokens: None };
        let document = Document::new(text, "");
        let (_, reply) = mask(Value::Null, Some(&document), RecordedReply::Engine(response));
        let RecordedReply::Engine(response) = reply else { panic!("it was text") };
        assert!(!format!("{:?}", response.edits).contains("R0se"), "{:?}", response.edits);
    }

    #[test]
    fn row_without_secrets_is_unchanged() {
        assert_eq!(
            row("a = $0\nb", "1 + 2", |before, after| json!({"prefix": before, "suffix": after, "n": 1})),
            "{\"n\":1,\"prefix\":\"a = \",\"suffix\":\"\\nb\"} 1 + 2"
        );
    }
}
