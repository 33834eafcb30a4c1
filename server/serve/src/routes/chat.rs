//! OpenAI's `/v1/chat/completions`, as plugins use it to fill in code: the last message contains the hole.
//!
//! A message without a known marker is a conversation, and no opportunity.

use serde_json::Value;

use super::FillRequest;
use crate::fim_prompt;

/// Marks of the cursor between the code before and after it.
const CURSOR_MARKS: [&str; 5] = ["{{FILL_HERE}}", "<HOLE>", "<FILL_HERE>", "<|cursor|>", "<CURSOR>"];
/// Tags around the code with a marked cursor.
const CODE_TAGS: [(&str, &str); 2] = [("<QUERY>\n", "\n</QUERY>"), ("<code>\n", "\n</code>")];
/// Tags of two parts, the code before and after the cursor; each part ends at the next tag.
const BEFORE_TAGS: [&str; 2] = ["<contextBeforeCursor>\n", "<PREFIX>\n"];
const AFTER_TAGS: [&str; 2] = ["<contextAfterCursor>\n", "<SUFFIX>\n"];
const PART_ENDS: [&str; 6] = [
    "<cursorPosition>",
    "\n<contextAfterCursor>",
    "\n<contextBeforeCursor>",
    "\n</PREFIX>",
    "\n</SUFFIX>",
    "<endCompletion>",
];

pub(super) fn completion(body: &Value) -> Option<FillRequest> {
    let messages = body.get("messages")?.as_array()?;
    let last =
        messages.iter().rfind(|message| message.get("role").and_then(Value::as_str) == Some("user"))?;
    hole(&content(last.get("content")?)?)
}

/// The text of a message, which may be in parts.
fn content(content: &Value) -> Option<String> {
    match content {
        Value::Array(parts) => {
            let texts = parts.iter().filter_map(|part| part.get("text")?.as_str());
            Some(texts.collect::<Vec<_>>().concat())
        }
        content => content.as_str().map(str::to_owned),
    }
}

fn hole(message: &str) -> Option<FillRequest> {
    fim_prompt::split(message).or_else(|| in_parts(message)).or_else(|| at_mark(message))
}

/// The code before and after the cursor are marked as such.
fn in_parts(message: &str) -> Option<FillRequest> {
    let part = |tags: &[&str]| {
        let (start, tag) = tags.iter().find_map(|tag| Some((message.rfind(tag)?, tag)))?;
        let rest = &message[start + tag.len()..];
        let end = PART_ENDS.iter().filter_map(|end| rest.find(end)).min().unwrap_or(rest.len());
        Some(rest[..end].to_owned())
    };
    let prefix = part(&BEFORE_TAGS)?;
    Some(FillRequest { prefix, suffix: part(&AFTER_TAGS).unwrap_or_default(), path: None })
}

/// The cursor is marked in the code.
fn at_mark(message: &str) -> Option<FillRequest> {
    let tagged = CODE_TAGS.iter().find_map(|(start, end)| {
        let code = &message[message.rfind(start)? + start.len()..];
        Some(code.split_once(end).map_or(code, |(code, _)| code))
    });
    let code = tagged.unwrap_or(message);
    let (at, mark) = CURSOR_MARKS.iter().find_map(|mark| Some((code.rfind(mark)?, mark)))?;
    Some(FillRequest {
        prefix: code[..at].to_owned(),
        suffix: code[at + mark.len()..].to_owned(),
        path: None,
    })
}
