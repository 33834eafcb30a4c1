//! Recorded answers are replayed; invalid and damaged files are reported with their line numbers and left unchanged.

use std::fs;
use std::io::Write;
use std::path::PathBuf;

use expect_test::{Expect, expect};
use serde_json::json;
use tempfile::TempDir;

use super::cassette_file::RecordedEdit;
use super::*;
use crate::FinishReason;

const ROW: &str = r#"{"engine":"a","hash":"0000000000000000000000000000000000000000000000000000000000000001","said":{"pieces":[],"finish":"stop"}}"#;

fn folder() -> (TempDir, PathBuf) {
    let folder = TempDir::new().expect("there is room for temporary files");
    let path = folder.path().join("c.jsonl");
    (folder, path)
}

fn header() -> String {
    cassette_file::header()
}

/// The error message for a file with these bytes.
#[track_caller]
fn refused(bytes: &[u8], expect: Expect) {
    let (folder, path) = folder();
    fs::write(&path, bytes).unwrap();
    let shown = |error: CassetteError| error.to_string().replace(&folder.path().display().to_string(), "DIR");
    let offline = shown(Cassette::offline(Some(&path)).expect_err("it is no cassette"));
    expect.assert_eq(&offline);
    assert_eq!(shown(Cassette::recording(&path).expect_err("it is no cassette")), offline);
    assert_eq!(fs::read(&path).unwrap(), bytes, "a file that is not a cassette is left unchanged");
}

#[test]
fn malformed_cassette_is_reported_with_line_and_remedy() {
    refused(
        b"{\"schema\":\"1.0\"}\n",
        expect!["DIR/c.jsonl is not a cassette: its first line is not a header; name another file"],
    );
    refused(
        &[0xff; 5000],
        expect!["DIR/c.jsonl is not a cassette: its first line is not a header; name another file"],
    );
    let line = |schema: &str| format!("{{\"schema\":\"{schema}\",\"format\":\"ghostbench-cassette\"}}\n");
    refused(
        line("2.0").as_bytes(),
        expect!["DIR/c.jsonl line 1: cassettes of version 2.0 are not supported; install a newer Ghostbench"],
    );
    refused(
        line("0.9").as_bytes(),
        expect!["DIR/c.jsonl line 1: cassettes of version 0.9 are not supported; record it again"],
    );
    let with = |rows: &str| format!("{}{rows}", header());
    refused(
        with(&format!("{{\"engine\":\n{ROW}\n")).as_bytes(),
        expect![
            "DIR/c.jsonl line 2: EOF while parsing a value at line 2 column 0; remove the line, and record its answer again"
        ],
    );
    refused(
        with("{\"engine\":\"a\"}\n").as_bytes(),
        expect![
            "DIR/c.jsonl line 2: a row has one of `server`, `said` and `lesson`; remove the line, and record its answer again"
        ],
    );
    refused(
        with(&format!("{}\n", ROW.replace("0001", "xyz1"))).as_bytes(),
        expect![
            "DIR/c.jsonl line 2: `hash` is none: invalid hex character: 'x'; remove the line, and record its answer again"
        ],
    );
    refused(
        &[header().as_bytes(), b"\xff\xfe\n", ROW.as_bytes()].concat(),
        expect!["DIR/c.jsonl line 2: it is not UTF-8; remove the line, and record its answer again"],
    );
}

#[test]
fn missing_cassette_is_an_error_offline_and_created_to_record() {
    let (_folder, path) = folder();
    let message = Cassette::offline(Some(&path)).unwrap_err().to_string();
    assert!(message.contains("c.jsonl") && message.contains("record it"), "{message}");
    drop(Cassette::recording(&path).unwrap());
    assert_eq!(fs::read_to_string(&path).unwrap(), header());
    Cassette::offline(Some(&path)).unwrap();
}

fn reply(text: &str) -> RecordedReply {
    RecordedReply::Engine(EngineReply {
        pieces: vec![ReplyPiece { ms: Some(1.5), text: text.to_owned() }],
        edits: vec![RecordedEdit { start: 1, end: 2, text: "y".to_owned() }],
        finish: FinishReason::Stop,
        tokens: None,
    })
}

fn record(cassette: Cassette, number: u32) {
    let tape = EngineCassette::new(Arc::new(cassette), "a");
    tape.record(CanonicalRequest::new("a", &json!(number), json!(number)), reply("x"));
}

fn holds(cassette: &Cassette, number: u32) -> bool {
    matches!(cassette.find(&CanonicalRequest::new("a", &json!(number), json!(0))), Ok(Some(_)))
}

/// Wherever a writer is killed, all earlier rows survive, the incomplete row is skipped, and the next row is written correctly.
#[test]
fn torn_last_line_loses_only_that_row() {
    let (_folder, path) = folder();
    record(Cassette::recording(&path).unwrap(), 1);
    let one = fs::read(&path).unwrap();
    record(Cassette::recording(&path).unwrap(), 2);
    let both = fs::read(&path).unwrap();
    for cut in one.len() + 1..both.len() - 1 {
        fs::write(&path, &both[..cut]).unwrap();
        let offline = Cassette::offline(Some(&path)).unwrap();
        assert_eq!(
            (offline.torn_line(), holds(&offline, 1), holds(&offline, 2)),
            (Some(3), true, false),
            "{cut}"
        );
        record(Cassette::recording(&path).unwrap(), 3);
        let offline = Cassette::offline(Some(&path)).unwrap();
        assert_eq!(
            (offline.torn_line(), holds(&offline, 1), holds(&offline, 3)),
            (None, true, true),
            "{cut}"
        );
    }
    fs::write(&path, &both[..both.len() - 1]).unwrap();
    record(Cassette::recording(&path).unwrap(), 3);
    let offline = Cassette::offline(Some(&path)).unwrap();
    assert!((1..=3).all(|number| holds(&offline, number)), "a row without its line end is a row");
}

#[test]
fn concatenated_cassettes_form_one_cassette() {
    let (_folder, path) = folder();
    record(Cassette::recording(&path).unwrap(), 1);
    let other = path.with_extension("other");
    record(Cassette::recording(&other).unwrap(), 2);
    let mut joined = fs::OpenOptions::new().append(true).open(&path).unwrap();
    joined.write_all(&fs::read(other).unwrap()).unwrap();
    let offline = Cassette::offline(Some(&path)).unwrap();
    assert!(holds(&offline, 1) && holds(&offline, 2));
}

#[test]
fn one_process_records_at_a_time_and_others_read() {
    let (_folder, path) = folder();
    let recording = Cassette::recording(&path).unwrap();
    let message = Cassette::recording(&path).unwrap_err().to_string();
    assert!(message.contains("another process records"), "{message}");
    if cfg!(unix) {
        Cassette::offline(Some(&path)).expect("a lock on Windows keeps readers out too, here it does not");
    }
    drop(recording);
    Cassette::recording(&path).unwrap();
}

/// A dependency may enable the feature that preserves the order of object keys. Existing cassettes would then match no request.
#[test]
fn request_hash_does_not_depend_on_key_order() {
    let form = |text: &str| {
        let request: Value = serde_json::from_str(text).unwrap();
        CanonicalRequest::new("a", &request, Value::Null).hash
    };
    assert_eq!(form(r#"{"b": {"d": 1, "c": 2.0}, "a": "é"}"#), form(r#"{"a":"\u00e9","b":{"c":2.0,"d":1}}"#));
    assert_ne!(form(r#"{"a": 1}"#), form(r#"{"a": 1.0}"#));
    let hash = form(r#"{"a": 1}"#).to_hex();
    expect!["b94e0ff8c7a2dadf"].assert_eq(&hash[..16]);
}

/// The documented example matches the written format and can be read.
#[test]
fn documented_cassette_example_round_trips() {
    const DOCUMENT: &str = include_str!("../../../../docs/formats.md");
    let example = |name: &str| {
        let (_, rest) = DOCUMENT.split_once(&format!("```jsonl {name}\n")).expect("there is an example");
        rest.split("```").next().unwrap_or_default()
    };
    let (_folder, path) = folder();
    fs::write(&path, example("cassette")).unwrap();
    let contents = cassette_file::read(&path).unwrap();
    let printed: String = contents.rows.iter().map(CassetteRow::to_line).collect();
    assert_eq!(header() + &printed, example("cassette"), "printed again");
    crate::AnswersFile::parse(example("answers")).expect("the example is a file of prompts and answers");
    for word in import_answers::ANSWER.iter().chain(&import_answers::FINISH) {
        assert!(DOCUMENT.contains(&format!("`{word}`")), "{word} is not documented");
    }
}
