//! Detects a server's quirks from its refusals. Pure.
//!
//! Compatible servers differ in a few fields. Which field a server lacks can't be known from its address, only from its error
//! messages. So a refusal that names a field is recorded as a quirk, the request is repeated without the field, and the quirk
//! holds for the engine's lifetime. Only fields that Ghostbench adds are ever omitted, never those that the user set.

use super::Object;

/// A quirk of a server.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum ServerQuirk {
    /// It accepts rendered prompts only.
    NoInfill,
    /// It rejects this field or its value.
    OmitField(&'static str),
    /// Its name of the first field is the second.
    RenameField(&'static str, &'static str),
}

/// All known quirks of one server.
#[derive(Clone, Debug, Default)]
pub(crate) struct ServerQuirks(Vec<ServerQuirk>);

/// The only field with two names, and its other name.
const RENAMED_LIMIT: ServerQuirk = ServerQuirk::RenameField("max_tokens", "max_completion_tokens");

/// Optional fields that are sent because they help servers that support them, anywhere in a body.
const OPTIONAL_FIELDS: [&str; 8] = [
    "stream_options",
    "return_progress",
    "cache_prompt",
    "think",
    "skip_special_tokens",
    "include_stop_str_in_output",
    "stop",
    "temperature",
];

/// Phrases with which servers reject a field.
const REFUSAL_PHRASES: [&str; 9] = [
    "unsupported",
    "not supported",
    "not support",
    "unrecognized",
    "unknown",
    "unexpected",
    "not permitted",
    "not allowed",
    "extra inputs",
];

impl ServerQuirk {
    /// Name in a cassette.
    pub(crate) fn name(self) -> String {
        match self {
            ServerQuirk::NoInfill => "no hole".to_owned(),
            ServerQuirk::OmitField(field) => format!("without {field}"),
            ServerQuirk::RenameField(from, to) => format!("{from} is {to}"),
        }
    }

    /// Returns the quirk of this name.
    pub(crate) fn from_name(name: &str) -> Option<ServerQuirk> {
        let without = OPTIONAL_FIELDS.into_iter().map(ServerQuirk::OmitField);
        [ServerQuirk::NoInfill, RENAMED_LIMIT].into_iter().chain(without).find(|quirk| quirk.name() == name)
    }
}

impl ServerQuirks {
    /// Adds a quirk; returns `false` if it is known already, so that the request isn't repeated for it.
    pub(crate) fn learn(&mut self, quirk: ServerQuirk) -> bool {
        let is_new = !self.0.contains(&quirk);
        if is_new {
            self.0.push(quirk);
        }
        is_new
    }

    /// Whether the server accepts rendered prompts only.
    pub(crate) fn without_hole(&self) -> bool {
        self.0.contains(&ServerQuirk::NoInfill)
    }

    /// Adapts a body to the quirks.
    pub(crate) fn apply(&self, body: &mut Object) {
        for quirk in &self.0 {
            match quirk {
                ServerQuirk::NoInfill => {}
                ServerQuirk::OmitField(field) => drop(body.remove(*field)),
                ServerQuirk::RenameField(from, to) => {
                    if let Some(value) = body.remove(*from) {
                        body.insert((*to).to_owned(), value);
                    }
                }
            }
        }
    }
}

/// Returns the quirk that a refusal reveals. `body` contains only the fields that Ghostbench added; `is_hole` means that the
/// request was an infill request and another form is possible.
pub(crate) fn quirk_of_refusal(
    status: u16,
    message: &str,
    body: &Object,
    is_hole: bool,
) -> Option<ServerQuirk> {
    let words = message.to_lowercase();
    // Builds of llama.cpp without support answer 500. Ollama: "x does not support insert"; llama.cpp: "Infill is not supported
    // by this model".
    let hole = ["suffix", "insert", "infill"];
    if is_hole && matches!(status, 400 | 422 | 500 | 501) && hole.iter().any(|word| names_field(&words, word))
    {
        return Some(ServerQuirk::NoInfill);
    }
    if !matches!(status, 400 | 422) {
        return None;
    }
    if words.contains("max_completion_tokens") && body.contains_key("max_tokens") {
        return Some(RENAMED_LIMIT);
    }
    if !REFUSAL_PHRASES.iter().any(|refusal| words.contains(refusal)) {
        return None;
    }
    OPTIONAL_FIELDS
        .iter()
        .find(|field| body.contains_key(**field) && names_field(&words, field))
        .map(|&field| ServerQuirk::OmitField(field))
}

/// Whether the message names the field, and not just a longer name that contains it.
fn names_field(words: &str, field: &str) -> bool {
    let is_part = |character: char| character.is_alphanumeric() || character == '_';
    words
        .match_indices(field)
        .any(|(at, _)| !words[..at].ends_with(is_part) && !words[at + field.len()..].starts_with(is_part))
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn body() -> Object {
        let body =
            json!({"prompt": "", "max_tokens": 1, "temperature": 0.0, "stream_options": {}, "stop": []});
        body.as_object().unwrap().clone()
    }

    fn learnt(status: u16, message: &str, is_hole: bool) -> Option<ServerQuirk> {
        quirk_of_refusal(status, message, &body(), is_hole)
    }

    #[test]
    fn known_refusals_are_recognized_as_quirks() {
        for (status, message) in [
            (400, "suffix is not currently supported"),
            (400, "Unsupported param: suffix"),
            (422, "Suffix is not supported and can be achieved by preprocessing the prompt."),
            (400, "registry.ollama.ai/library/llama3:latest does not support insert"),
            (
                501,
                "Infill is not supported by this model: prefix token is missing. suffix token is missing. ",
            ),
        ] {
            assert_eq!(learnt(status, message, true), Some(ServerQuirk::NoInfill), "{message}");
            assert_eq!(learnt(status, message, false), None, "{message}");
        }
        for (message, expected) in [
            (
                "Unsupported parameter: 'max_tokens' is not supported with this model. Use 'max_completion_tokens' instead.",
                ServerQuirk::RenameField("max_tokens", "max_completion_tokens"),
            ),
            (
                "Unsupported value: 'temperature' does not support 0 with this model. Only the default (1) value is supported.",
                ServerQuirk::OmitField("temperature"),
            ),
            (
                "Unrecognized request argument supplied: stream_options",
                ServerQuirk::OmitField("stream_options"),
            ),
            ("body.stream_options: Extra inputs are not permitted", ServerQuirk::OmitField("stream_options")),
        ] {
            assert_eq!(learnt(400, message, false), Some(expected), "{message}");
        }
    }

    #[test]
    fn other_refusals_are_not_quirks() {
        for (status, message) in [
            (400, "[json.exception.out_of_range.403] key 'input_suffix' not found"),
            (400, "unknown field top_p"),
            (400, "temperature must be at most 2"),
            (400, "unsupported nonstop"),
            (500, "it broke"),
            (500, "stream_options is not supported"),
            (401, "suffix is not supported"),
            (401, "stream_options is not supported"),
        ] {
            assert_eq!(learnt(status, message, true), None, "{message}");
        }
    }

    #[test]
    fn quirk_is_learnt_once_and_applied() {
        let mut quirks = ServerQuirks::default();
        assert!(
            quirks.learn(ServerQuirk::OmitField("stop")) && !quirks.learn(ServerQuirk::OmitField("stop"))
        );
        assert!(quirks.learn(ServerQuirk::RenameField("max_tokens", "max_completion_tokens")));
        let mut body = body();
        quirks.apply(&mut body);
        let names: Vec<&String> = body.keys().collect();
        assert_eq!(names, ["max_completion_tokens", "prompt", "stream_options", "temperature"]);
    }
}
