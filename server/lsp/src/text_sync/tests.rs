//! Tests documents with random edits against a model that stores UTF-16 units as JavaScript does.

use proptest::collection::vec;
use proptest::prelude::*;
use proptest::sample::Index;
use serde_json::{Value, json};
use session::OpenDocument;

use super::*;
use crate::lenient_json::repair;

const PATH: &str = "file:///mirror.py";

/// A document as JavaScript represents it.
#[derive(Clone, Debug, PartialEq)]
struct Mirror(Vec<u16>);

impl Mirror {
    /// Replaces units; returns the change as an editor writes it, with lone surrogates as escapes or as raw bytes.
    fn replace(&mut self, range: Range<usize>, new: &[u16], is_raw: bool) -> Vec<u8> {
        let position = |offset: usize| {
            let line = self.0[..offset].iter().filter(|&&unit| unit == u16::from(b'\n')).count();
            let start =
                self.0[..offset].iter().rposition(|&unit| unit == u16::from(b'\n')).map_or(0, |at| at + 1);
            json!({"line": line, "character": offset - start})
        };
        let range_json = json!({"start": position(range.start), "end": position(range.end)});
        self.0.splice(range, new.iter().copied());
        [format!(r#"{{"range":{range_json},"text":"#).as_bytes(), &string(new, is_raw), b"}"].concat()
    }
}

/// A JSON string as `JSON.stringify` writes it, or as older versions did.
fn string(units: &[u16], is_raw: bool) -> Vec<u8> {
    let mut written = vec![b'"'];
    for unit in char::decode_utf16(units.iter().copied()) {
        match unit {
            Ok('\n') => written.extend(b"\\n"),
            Ok(character) => written.extend(character.to_string().bytes()),
            Err(half) if is_raw => {
                let half = half.unpaired_surrogate();
                written.extend([0xED, 0x80 | (half >> 6 & 0x3F) as u8, 0x80 | (half & 0x3F) as u8]);
            }
            Err(half) => written.extend(format!("\\u{:04x}", half.unpaired_surrogate()).bytes()),
        }
    }
    written.push(b'"');
    written
}

fn opened(text: &[u8], encoding: PositionEncoding) -> TextSync {
    let mut documents = TextSync::new(encoding);
    let item = [format!(r#"{{"uri":"{PATH}","languageId":"python","text":"#).as_bytes(), text, b"}"].concat();
    documents.open(serde_json::from_slice(&repair(&item)).expect("it is a document"), 0);
    documents
}

fn change(documents: &mut TextSync, change: &[u8]) -> Option<SyncOutcome> {
    let change = serde_json::from_slice(&repair(change)).ok();
    documents.change(&Uri(PATH.to_owned()), [change], document(documents).revision + 1, Instant::now())
}

fn document(documents: &TextSync) -> &OpenDocument {
    documents.documents().get("/mirror.py").expect("it is open")
}

fn text(documents: &TextSync) -> String {
    document(documents).text().to_string()
}

fn unit() -> impl Strategy<Value = u16> {
    prop_oneof![
        Just(0xD83D),
        Just(0xD83C),
        Just(0xDE00),
        Just(0xDFFF),
        Just(0xFFFD),
        Just(10),
        Just(0xE9),
        Just(0x61)
    ]
}

proptest! {
    /// Lone surrogates may be inserted, removed, replaced and completed in any order, also if a range cuts a character.
    #[test]
    fn random_utf16_edits_match_the_text_of_the_editor(
        start in vec(unit(), 0..8),
        edits in vec((any::<Index>(), 0..4_usize, vec(unit(), 0..4), any::<bool>()), 0..12),
    ) {
        let mut mirror = Mirror(start);
        let mut documents = opened(&string(&mirror.0, false), PositionEncoding::Utf16);
        for (place, length, new, is_raw) in edits {
            let start = place.index(mirror.0.len() + 1);
            let range = start..(start + length).min(mirror.0.len());
            let sent = mirror.replace(range, &new, is_raw);
            prop_assert_eq!(change(&mut documents, &sent), Some(SyncOutcome::Unchanged));
            prop_assert_eq!(text(&documents), String::from_utf16_lossy(&mirror.0));
        }
    }
}

/// Replaces a range of bytes on the first line.
fn edit(characters: Range<u32>, new: &[u8]) -> Vec<u8> {
    let position = |character| json!({"line": 0, "character": character});
    let range = json!({"start": position(characters.start), "end": position(characters.end)});
    [format!(r#"{{"range":{range},"text":""#).as_bytes(), new, b"\"}"].concat()
}

#[test]
fn invalid_bytes_have_the_width_of_each_position_encoding() {
    // A lone surrogate has three bytes, or one unit or character; any other byte has one of each.
    for (encoding, columns) in
        [(PositionEncoding::Utf8, 5), (PositionEncoding::Utf16, 3), (PositionEncoding::Utf32, 3)]
    {
        let mut documents = opened(b"\"a\xed\xa0\xbd\xff\"", encoding);
        assert_eq!(change(&mut documents, &edit(columns..columns, b"!")), Some(SyncOutcome::Unchanged));
        assert_eq!(text(&documents), "a\u{fffd}\u{1a}!", "{encoding:?}");
    }
}

#[test]
fn surrogate_halves_stay_separate_in_utf8_and_utf32() {
    for (encoding, columns) in [(PositionEncoding::Utf8, 6), (PositionEncoding::Utf32, 2)] {
        let mut documents = opened(b"\"\xed\xa0\xbd\xed\xb8\x80\"", encoding);
        assert_eq!(change(&mut documents, &edit(columns..columns, b"!")), Some(SyncOutcome::Unchanged));
        assert_eq!(text(&documents), "\u{fffd}\u{fffd}!", "{encoding:?}");
    }
}

#[test]
fn invalid_change_desynchronizes_until_a_full_text_change() {
    let whole = |text: &str| serde_json::from_value(json!({ "text": text })).ok();
    let part = |change: Value| serde_json::from_value::<ContentChange>(change).ok();
    let range = |start: u32, end: u32| json!({"start": {"line": 0, "character": start}, "end": {"line": 0, "character": end}});
    let mut documents = opened(b"\"abc\"", PositionEncoding::Utf16);
    let uri = Uri(PATH.to_owned());
    let mut send = |changes: Vec<Option<ContentChange>>| {
        let revision = document(&documents).revision + 1;
        let state = documents.change(&uri, changes, revision, Instant::now()).expect("it is open");
        let document = document(&documents);
        (state, document.is_synchronized(), document.text().to_string())
    };
    let insert = || part(json!({"range": range(0, 0), "text": "x"}));
    let reversed = part(json!({"range": range(2, 1), "text": "x"}));
    assert!(reversed.is_some());
    assert_eq!(send(vec![reversed, insert()]), (SyncOutcome::Lost, false, "abc".to_owned()));
    assert_eq!(send(vec![insert()]), (SyncOutcome::Unchanged, false, "abc".to_owned()));
    assert_eq!(
        send(vec![insert(), whole("new"), insert()]),
        (SyncOutcome::Unchanged, true, "xnew".to_owned())
    );
    assert_eq!(send(vec![None, whole("one"), insert()]), (SyncOutcome::Unchanged, true, "xone".to_owned()));
    assert_eq!(send(vec![whole("two"), None]), (SyncOutcome::Lost, false, "two".to_owned()));
}
