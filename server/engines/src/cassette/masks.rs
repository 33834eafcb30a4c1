//! Rows of a cassette without the secrets of the code in them.
//!
//! Responsible for secrets that no single text of a row holds whole: a request has the code before and after the cursor in two fields,
//! or with a marker between them, and the answer is somewhere else. They are searched as one text, and what each of them holds of a
//! secret is masked in it. Must never change what a request is found by: that is its hash.

use std::ops::Range;
use std::sync::Arc;

use secrets::redact_between;
use serde_json::Value;

use super::{Piece, Recorded};
use crate::Request;

/// Shorter parts of a secret are masked within their line alone: the same text elsewhere is chance, bytes.
const MIN_LONE_PART: usize = 4;

/// A document with its cursor.
#[derive(Clone, Debug)]
pub(crate) struct Document {
    text: Arc<str>,
    /// Bytes before it, between two characters.
    cursor: usize,
}

impl Document {
    /// The document that is made of these texts.
    pub(crate) fn new(before: &str, after: &str) -> Document {
        Document { text: [before, after].concat().into(), cursor: before.len() }
    }
}

impl From<&Request> for Document {
    fn from(request: &Request) -> Document {
        Document { text: Arc::clone(&request.text), cursor: request.cursor }
    }
}

/// Masks the secrets in what people may see of a request and in its answer.
pub(super) fn mask(shown: Value, document: Option<&Document>, reply: Recorded) -> (Value, Recorded) {
    let (before, after) = document.map_or(("", ""), |document| document.text.split_at(document.cursor));
    let mut parts = Parts::default();
    parts.search(before, "", after);
    let reply = match reply {
        Recorded::Said(mut said) => {
            let text: String = said.pieces.iter().map(|piece| piece.text.as_str()).collect();
            let masked = parts.search(before, &text, after);
            put_text(&mut said.pieces, &masked);
            Recorded::Said(said)
        }
        Recorded::Server(mut reply) => {
            // Servers repeat the prompt in their answers. A body that changes becomes one piece, as its text may lie across pieces.
            let text: String = reply.pieces.iter().map(|piece| piece.text.as_str()).collect();
            let masked = parts.mask(&text);
            if masked != text {
                let ms = reply.pieces.last().and_then(|piece| piece.ms);
                reply.pieces = vec![Piece { ms, text: masked }];
            }
            Recorded::Server(reply)
        }
    };
    (mask_texts(shown, &|text| secrets::redact(&parts.mask(text)).into_owned()), reply)
}

/// Puts a text of the same length in the place of that of the pieces.
fn put_text(pieces: &mut [Piece], text: &str) {
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

/// What the texts around a cursor hold of secrets, as pairs of a text and the same text masked.
#[derive(Default)]
struct Parts(Vec<Part>);

struct Part {
    /// The line of the secret, as far as the cursor.
    line: (String, String),
    secret: (String, String),
}

impl Parts {
    /// Searches three texts as one. Returns the one in the middle without secrets.
    fn search(&mut self, before: &str, text: &str, after: &str) -> String {
        let masked = redact_between(before, text, after);
        self.differences(&before[before.len() - masked.before.len()..], &masked.before);
        self.differences(&after[..masked.after.len()], &masked.after);
        masked.text
    }

    /// Takes what is masked in one of two texts of the same length.
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

    /// A text without them, as it is and as JSON writes it.
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

/// A text as it is within a string of JSON.
fn escaped(text: &str) -> String {
    let quoted = Value::from(text).to_string();
    quoted[1..quoted.len() - 1].to_owned()
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::super::Said;
    use super::*;
    use crate::Finish;

    fn said(text: &str) -> Recorded {
        let pieces = text.split_inclusive(' ').map(|piece| Piece { ms: None, text: piece.to_owned() });
        Recorded::Said(Said { pieces: pieces.collect(), finish: Finish::Stop, tokens: None })
    }

    /// All that a row with this cursor, marked `$0`, and this answer holds.
    fn row(marked: &str, answer: &str, shown: impl Fn(&str, &str) -> Value) -> String {
        let (before, after) = marked.split_once("$0").expect("there is a cursor");
        let (shown, reply) = mask(shown(before, after), Some(&Document::new(before, after)), said(answer));
        let Recorded::Said(said) = reply else { panic!("it was text") };
        let answer: String = said.pieces.into_iter().map(|piece| piece.text).collect();
        format!("{shown} {answer}")
    }

    /// Wherever a cursor and the end of an answer part a secret, no part of it is in a row.
    #[test]
    fn no_part_of_a_parted_secret_is_in_a_row() {
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
    fn code_without_secrets_stays() {
        let form = |before: &str, after: &str| json!({"prefix": before, "suffix": after, "n": 1});
        assert_eq!(
            row("a = $0\nb", "1 + 2", form),
            "{\"n\":1,\"prefix\":\"a = \",\"suffix\":\"\\nb\"} 1 + 2"
        );
    }
}
