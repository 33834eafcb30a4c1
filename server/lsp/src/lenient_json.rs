//! Message bodies that strict JSON rejects: repaired if possible, otherwise parsed partially.
//!
//! JavaScript strings may contain one half of a surrogate pair, which `JSON.stringify` writes as an escape and older versions as
//! three raw bytes; editors that store files as bytes send bytes that are not UTF-8. [`repair`] replaces each of them by exactly
//! one character of the same length in the negotiated encoding, so that later positions fit:
//!
//! | in a string | becomes | UTF-8 | UTF-16 | UTF-32 |
//! |---|---|---|---|---|
//! | half of a surrogate pair, escaped or as three bytes | U+FFFD | 3 | 1 | 1 |
//! | any other byte that is not UTF-8 | U+001A SUBSTITUTE | 1 | 1 | 1 |
//! | a control character without its escape | itself | 1 | 1 | 1 |
//!
//! The original surrogates are stored beside members named `text` as [`SURROGATES`], since the other half may come with the next
//! change. Bodies that cannot be repaired are scanned by [`parse_partially`], without recursion. Nothing here performs IO or depends on
//! the meaning of messages.

use tower_lsp_server::jsonrpc::Id;

/// The member beside a repaired `text`: pairs of the byte offset of a U+FFFD in it and the original surrogate.
pub(crate) const SURROGATES: &str = "textSurrogates";

/// The only member whose surrogates are stored.
const TEXT: &[u8] = b"\"text\"";
const BOM: &[u8] = b"\xEF\xBB\xBF";
/// Replacement of a lone surrogate.
const REPLACEMENT: &str = "\u{fffd}";
/// Depth of `params.textDocument.uri`, the deepest member that is recognized.
const MAX_DEPTH: usize = 3;

/// Returns the body with every string made valid; everything else is unchanged.
pub(crate) fn repair(body: &[u8]) -> Vec<u8> {
    let body = body.strip_prefix(BOM).unwrap_or(body);
    let mut repaired = Vec::with_capacity(body.len());
    let (mut at, mut key, mut string) = (0, 0..0, 0..0);
    let mut is_value = false;
    while let Some(&byte) = body.get(at) {
        match byte {
            b'"' => {
                let (end, surrogates) = repair_string(body, at, &mut repaired);
                string = at..end;
                at = end;
                if is_value && body.get(key.clone()) == Some(TEXT) && !surrogates.is_empty() {
                    repaired.extend(member(&surrogates).bytes());
                }
                continue;
            }
            b':' => (key, is_value) = (string.clone(), true),
            b',' | b'{' | b'[' => is_value = false,
            _ => {}
        }
        repaired.push(byte);
        at += 1;
    }
    repaired
}

fn member(surrogates: &[(usize, u16)]) -> String {
    let pairs: Vec<String> = surrogates.iter().map(|(at, surrogate)| format!("[{at},{surrogate}]")).collect();
    format!(",\"{SURROGATES}\":[{}]", pairs.join(","))
}

/// Writes the string that begins with the quote at `start`. Returns its end, and its lone surrogates by their byte offset in the
/// value.
fn repair_string(body: &[u8], start: usize, out: &mut Vec<u8>) -> (usize, Vec<(usize, u16)>) {
    let mut surrogates = Vec::new();
    let (mut at, mut length) = (start + 1, 0);
    out.push(b'"');
    while let Some(&byte) = body.get(at) {
        let rest = &body[at..];
        let (read, lone) = match byte {
            b'"' => {
                out.push(byte);
                return (at + 1, surrogates);
            }
            b'\\' => escape(rest),
            0..0x20 => (StringUnit { bytes: 1, length: 1, is_valid: false }, None),
            _ => character(rest),
        };
        if let Some(surrogate) = lone {
            surrogates.push((length, surrogate));
            out.extend(REPLACEMENT.bytes());
        } else if read.is_valid {
            out.extend(&rest[..read.bytes]);
        } else {
            let code = if byte < 0x20 { byte } else { 0x1a };
            out.extend(format!("\\u{code:04x}").bytes());
        }
        at += read.bytes;
        length += read.length;
    }
    (at, surrogates)
}

/// The output for one character of a string, and its length in UTF-8 bytes in the string's value.
struct StringUnit {
    bytes: usize,
    length: usize,
    is_valid: bool,
}

impl StringUnit {
    fn valid(bytes: usize, length: usize) -> (StringUnit, Option<u16>) {
        (StringUnit { bytes, length, is_valid: true }, None)
    }

    fn lone(bytes: usize, surrogate: u16) -> (StringUnit, Option<u16>) {
        (StringUnit { bytes, length: REPLACEMENT.len(), is_valid: true }, Some(surrogate))
    }
}

/// The escape sequence at the start of `rest`. An invalid one is kept, so that strict parsing rejects it.
fn escape(rest: &[u8]) -> (StringUnit, Option<u16>) {
    let Some(unit) = code_unit(rest) else { return StringUnit::valid(rest.len().min(2), 1) };
    let next = rest.get(6..).and_then(code_unit);
    let decoded = char::decode_utf16(std::iter::once(unit).chain(next)).next();
    match decoded {
        Some(Ok(character)) => StringUnit::valid(6 * character.len_utf16(), character.len_utf8()),
        _ => StringUnit::lone(6, unit),
    }
}

fn code_unit(rest: &[u8]) -> Option<u16> {
    let digits = rest.strip_prefix(b"\\u")?.get(..4)?;
    // `from_str_radix` accepts signs; JSON does not.
    let digits = str::from_utf8(digits).ok().filter(|_| digits.iter().all(u8::is_ascii_hexdigit))?;
    u16::from_str_radix(digits, 16).ok()
}

/// The character at the start of `rest`: valid, a surrogate encoded as UTF-8, or an invalid byte.
fn character(rest: &[u8]) -> (StringUnit, Option<u16>) {
    let valid = rest[..rest.len().min(4)].utf8_chunks().next().and_then(|chunk| chunk.valid().chars().next());
    match (valid, rest) {
        (Some(character), _) => StringUnit::valid(character.len_utf8(), character.len_utf8()),
        (None, [0xED, second @ 0xA0..=0xBF, third @ 0x80..=0xBF, ..]) => {
            StringUnit::lone(3, 0xD000 | u16::from(second & 0x3F) << 6 | u16::from(third & 0x3F))
        }
        (None, _) => (StringUnit { bytes: 1, length: 1, is_valid: false }, None),
    }
}

/// The readable parts of a message that is not valid JSON.
#[derive(Debug, Default, PartialEq, Eq)]
pub(crate) struct PartialMessage {
    /// Whether it begins like an object. Nothing else is a message.
    pub(crate) is_object: bool,
    /// Its `id`, if valid.
    pub(crate) id: Option<Id>,
    /// Its `method`.
    pub(crate) method: Option<String>,
    /// The document named in its parameters.
    pub(crate) uri: Option<String>,
    /// Whether it has a result or an error, as responses do.
    pub(crate) is_response: bool,
}

/// Parses a repaired body, up to a mismatched bracket or an unterminated string.
pub(crate) fn parse_partially(body: &[u8]) -> PartialMessage {
    let mut scan = Scanner { body, at: 0, open: Vec::new(), path: Default::default() };
    let is_object = body.trim_ascii_start().starts_with(b"{");
    let mut recognized = PartialMessage { is_object, ..PartialMessage::default() };
    while is_object && scan.step(&mut recognized).is_some() {}
    recognized
}

/// A position in a body with its enclosing brackets.
struct Scanner<'a> {
    body: &'a [u8],
    at: usize,
    /// Closing brackets of the open ones.
    open: Vec<u8>,
    /// Keys of the outermost objects at this position.
    path: [Option<String>; MAX_DEPTH],
}

impl Scanner<'_> {
    /// Reads a token; `None` at the end of the readable part.
    fn step(&mut self, recognized: &mut PartialMessage) -> Option<()> {
        let byte = *self.body.get(self.at)?;
        match byte {
            b'{' | b'[' => {
                if let Some(key) = self.path.get_mut(self.open.len()) {
                    *key = None;
                }
                self.open.push(byte + 2);
            }
            b'}' | b']' => {
                let is_closed = self.open.pop()? == byte;
                let is_inside = is_closed && !self.open.is_empty();
                is_inside.then_some(())?;
            }
            b'"' => {
                let length = string_length(&self.body[self.at..])?;
                let text = &self.body[self.at..self.at + length];
                self.at += length;
                self.string(text, recognized);
                return Some(());
            }
            b'-' | b'0'..=b'9' => {
                self.number(recognized);
                return Some(());
            }
            _ => {}
        }
        self.at += 1;
        Some(())
    }

    fn string(&mut self, quoted: &[u8], recognized: &mut PartialMessage) {
        let is_key = self.body[self.at..].trim_ascii_start().starts_with(b":");
        let depth = self.open.len();
        if is_key {
            let Some(key) = depth.checked_sub(1).and_then(|level| self.path.get_mut(level)) else { return };
            *key = serde_json::from_slice(quoted).ok();
            recognized.is_response |= depth == 1 && matches!(key.as_deref(), Some("result" | "error"));
            return;
        }
        let value = || serde_json::from_slice::<String>(quoted).ok();
        match self.path.each_ref().map(Option::as_deref) {
            [Some("id"), ..] if depth == 1 => recognized.id = value().map(Id::String),
            [Some("method"), ..] if depth == 1 => recognized.method = value(),
            [Some("params"), Some("textDocument"), Some("uri")] if depth == 3 => recognized.uri = value(),
            _ => {}
        }
    }

    fn number(&mut self, recognized: &mut PartialMessage) {
        let rest = &self.body[self.at..];
        let is_in_number = |byte: &u8| byte.is_ascii_alphanumeric() || b"+-.".contains(byte);
        let length = rest.iter().position(|byte| !is_in_number(byte)).unwrap_or(rest.len());
        self.at += length;
        if self.open.len() == 1 && self.path[0].as_deref() == Some("id") {
            recognized.id = serde_json::from_slice(&rest[..length]).ok().map(Id::Number);
        }
    }
}

/// Length of the quoted string at the start of `rest`; `None` if it is unterminated.
fn string_length(rest: &[u8]) -> Option<usize> {
    let mut at = 1;
    loop {
        match rest.get(at)? {
            b'"' => return Some(at + 1),
            b'\\' => at += 2,
            _ => at += 1,
        }
    }
}

#[cfg(test)]
mod tests {
    use expect_test::{Expect, expect};

    use super::*;

    fn check(body: &[u8], expected: Expect) {
        let repaired = repair(body);
        let valid = serde_json::from_slice::<serde_json::Value>(&repaired);
        let line = valid.map_or_else(|error| error.to_string(), |value| value.to_string());
        expected.assert_eq(&(line + "\n"));
    }

    #[test]
    fn lone_surrogates_are_replaced_and_listed() {
        check(
            br#"{"text":"a\ud83dz"}"#,
            expect![[r#"
            {"text":"a�z","textSurrogates":[[1,55357]]}
        "#]],
        );
        check(
            br#"{"text":"\ude00\ud83d"}"#,
            expect![[r#"
            {"text":"��","textSurrogates":[[0,56832],[3,55357]]}
        "#]],
        );
        check(
            b"{\"text\":\"\xc3\xa9\xed\xa0\xbd\xed\xb8\x80\"}",
            expect![[r#"
            {"text":"é��","textSurrogates":[[2,55357],[5,56832]]}
        "#]],
        );
        check(
            b"{\"text\":\"\xed\xa0\xbd\\ude00\", \"uri\": \"\\ud800\"}",
            expect![[r#"
            {"text":"��","textSurrogates":[[0,55357],[3,56832]],"uri":"�"}
        "#]],
        );
        check(
            br#"{"\ud800": "text", "a": ["text", "\udfff"]}"#,
            expect![[r#"
            {"a":["text","�"],"�":"text"}
        "#]],
        );
    }

    #[test]
    fn valid_pairs_and_escapes_are_kept() {
        check(
            br#"{"text":"\ud83d\ude00\u00e9\n\\ud83d\"\ud83d"}"#,
            expect![[r#"
                {"text":"😀é\n\\ud83d\"�","textSurrogates":[[14,55357]]}
            "#]],
        );
    }

    #[test]
    fn invalid_bytes_and_control_characters_are_repaired() {
        check(
            b"\xef\xbb\xbf[\"a\xffb\xe2\x82c\xf0\x9f\x98\x80\xc3\"]",
            expect![[r#"
            ["a\u001ab\u001a\u001ac😀\u001a"]
        "#]],
        );
        check(
            b"[\"a\nb\tc\0\"]",
            expect![[r#"
            ["a\nb\tc\u0000"]
        "#]],
        );
    }

    #[test]
    fn other_json_errors_are_kept() {
        check(
            br#"["\x41"]"#,
            expect![[r#"
            invalid escape at line 1 column 4
        "#]],
        );
        check(
            br#"["\u00"]"#,
            expect![[r#"
            invalid escape at line 1 column 8
        "#]],
        );
        check(
            b"[\"\\",
            expect![[r#"
            EOF while parsing a string at line 1 column 3
        "#]],
        );
        check(
            b"[\xff]",
            expect![[r#"
            expected value at line 1 column 2
        "#]],
        );
    }

    #[test]
    fn incomplete_messages_are_parsed_partially() {
        let read = |body: &str| {
            let PartialMessage { id, method, uri, is_response, is_object } = parse_partially(body.as_bytes());
            format!("{is_object} {id:?} {method:?} {uri:?} {is_response}")
        };
        let check = |body: &str, expected: Expect| expected.assert_eq(&read(body));
        check(
            r#"{"method":"m","params":{"a":[{"uri":"no"}],"textDocument":{"uri":"yes"},"b":"\x"},"id":7}"#,
            expect![[r#"true Some(Number(7)) Some("m") Some("yes") false"#]],
        );
        check(r#"{"id":"\"a","method":"#, expect![[r#"true Some(String("\"a")) None None false"#]]);
        check(r#"{"method":"m","params":{]"id":7"#, expect![[r#"true None Some("m") None false"#]]);
        check(r#"{"result":{"id":3},"id":-4"#, expect!["true Some(Number(-4)) None None true"]);
        check(r#"{"id":1.5,"method":"m"} {"id":2}"#, expect![[r#"true None Some("m") None false"#]]);
        check(r#"["id", {"id":7}"#, expect!["false None None None false"]);
        check(&"[".repeat(100_000), expect!["false None None None false"]);
        let deep =
            format!(r#"{{"params":{}{},"id":7,"method":"m"}}"#, "[".repeat(100_000), "]".repeat(100_000));
        check(&deep, expect![[r#"true Some(Number(7)) Some("m") None false"#]]);
    }

    #[test]
    fn deeply_nested_bodies_fit_into_a_small_stack() {
        /// The smallest stack of any of our threads on any platform.
        const STACK_BYTES: usize = 512 << 10;
        const DEEP: usize = 100_000;
        let read = || {
            for piece in [
                "[",
                "{\"a\":",
                "\"",
                "\\",
                "\\ud83d",
                "{\"text\":\"\\ud83d\",",
                ":",
                ",",
                "]",
                "1e",
                "\u{ed}",
            ] {
                let body = piece.repeat(DEEP);
                for body in [body.clone(), format!("{{\"id\":1,\"params\":{body}")] {
                    let repaired = repair(body.as_bytes());
                    parse_partially(&repaired);
                    drop(serde_json::from_slice::<serde_json::Value>(&repaired));
                }
            }
        };
        let running = std::thread::Builder::new().stack_size(STACK_BYTES).spawn(read);
        running.expect("a thread can be started").join().expect("it ends well");
    }
}
