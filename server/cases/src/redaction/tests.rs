//! Tests of redaction. Secrets are assembled at run time, so that secret scanners do not report this file.

use super::*;
use crate::{
    BlockCut, CompletionTask, ContextItem, EngineIdentity, Finish, Origin, OriginKind, SchemaVersion, Status,
    Tags, Task,
};

/// Returns deterministic letters and digits.
fn letters(length: usize) -> String {
    const ALPHABET: &[u8] = b"aB3dE5fG7hI9jK1lM0nO2pQ4rS6tU8vWyZ";
    let mut random = text::SplitMix64::new(1);
    (0..length).map(|_| char::from(ALPHABET[random.below(ALPHABET.len())])).collect()
}

fn case(prefix: &str, truth: &str, suffix: &str, context: &str) -> Case {
    let item = ContextItem {
        path: "b.py".to_owned(),
        start_line: 0,
        end_line: 1,
        text: context.to_owned(),
        strategy: "functions".to_owned(),
        score: 1.0,
    };
    let origin = Origin::new(OriginKind::Mined, "t");
    let mut case = Case {
        schema: SchemaVersion::CURRENT,
        id: String::new(),
        hole: String::new(),
        task: Task::Complete(CompletionTask::FullBlock(BlockCut::BlockStart)),
        language: "python".to_owned(),
        block_kind: None,
        path: "a.py".to_owned(),
        byte_range: 0..0,
        line: 0,
        character: 0,
        prefix: prefix.to_owned(),
        suffix: suffix.to_owned(),
        truth: truth.to_owned(),
        context: vec![item],
        function: None,
        tests: None,
        origin,
        tags: Tags::new(),
    };
    case.id = case.compute_id();
    case
}

#[test]
fn a_secret_cut_in_two_by_the_cursor_is_replaced_on_both_sides() {
    let key = letters(36);
    let mut case =
        case(&format!("t = 'ghp_{}", &key[..10]), &format!("{}'\n", &key[10..]), "u = 1\n", "v = 2\n");
    let id = case.id.clone();
    assert_eq!(redact_case(&mut case), 1);
    assert_eq!(case.prefix, format!("t = '{}", "x".repeat(14)));
    assert_eq!(case.truth, format!("{}'\n", "x".repeat(26)));
    assert_eq!((&*case.suffix, &*case.context[0].text), ("u = 1\n", "v = 2\n"));
    assert_eq!(case.tags.get("redacted").map(String::as_str), Some("truth"));
    assert_eq!(case.id, case.compute_id());
    assert_ne!(case.id, id);
    assert_eq!(redact_case(&mut case), 0, "a second time there is nothing to do");
}

#[test]
fn a_key_known_from_the_context_is_replaced_everywhere() {
    let key = letters(24);
    let mut case = case(&format!("run('{key}')\n"), "close()\n", "", &format!("API_KEY = '{key}'\n"));
    assert_eq!(redact_case(&mut case), 1);
    assert_eq!(case.prefix, format!("run('{}')\n", "x".repeat(24)));
    assert_eq!(case.context[0].text, format!("API_KEY = '{}'\n", "x".repeat(24)));
    assert!(case.tags.is_empty(), "the truth held none");
}

#[test]
fn a_case_without_secrets_stays_as_it_is() {
    let mut redacted = case("a = 1\n", "b = 2\n", "c = 3\n", "d = 4\n");
    assert_eq!(redact_case(&mut redacted), 0);
    assert_eq!(redacted, case("a = 1\n", "b = 2\n", "c = 3\n", "d = 4\n"));
}

fn prediction(raw: &str, text: &str) -> Prediction {
    let word = |text: &str| text.to_owned();
    let engine =
        EngineIdentity { name: word("e"), kind: word("builtin"), model: word("m"), fingerprint: word("f") };
    let (raw, text) = (raw.to_owned(), text.to_owned());
    Prediction { raw, text, finish: Finish::Stop, ..Prediction::empty(word("c"), engine, Status::Ok) }
}

#[test]
fn a_secret_that_an_engine_copied_is_not_stored() {
    // Assembled at run time, so that secret scanners do not report this file.
    let key = ["AKIA", "Z7Q3W9XK2M5P8R4T"].concat();
    let text = format!("connect(\"{key}\")");
    let mut prediction = prediction(&format!("{text}\nclose()"), &text);
    prediction.reason = Some(format!("it said {key}"));
    redact_prediction(&mut prediction, &case("", "", "", ""));
    let masked = "x".repeat(key.len());
    assert_eq!(prediction.text, format!("connect(\"{masked}\")"));
    assert_eq!(prediction.raw, format!("{}\nclose()", prediction.text));
    assert_eq!(prediction.reason, Some(format!("it said {masked}")));
}

/// Returns the stored form of an answer between a prefix and a suffix.
fn stored(prefix: &str, answer: &str, suffix: &str) -> String {
    let mut prediction = prediction(answer, answer);
    redact_prediction(&mut prediction, &case(prefix, "pass", suffix, ""));
    assert_eq!(prediction.raw, prediction.text);
    assert_eq!(prediction.text.len(), answer.len(), "the text after it is not moved");
    prediction.text
}

#[test]
fn answer_is_searched_for_secrets_with_prefix_and_suffix() {
    for (prefix, answer, suffix, expected) in [
        ("db.connect(\npassword=", "\"Winter-R0se\"", ")\n", "\"xxxxxxxxxxx\""),
        ("password = \"", "Winter-R0se\"\nuser = 1", "", "xxxxxxxxxxx\"\nuser = 1"),
        ("password = \"Winter", "-R0se", "\"\n", "xxxxx"),
        ("url = 'postgres://app:", "Ros3bud", "@db/x'\n", "xxxxxxx"),
        ("x = '", "postgres://app:Ros3", "bud@db/x'\n", "postgres://app:xxxx"),
        ("// password: ", "Winter-R0se", "\n", "xxxxxxxxxxx"),
        ("total = ", "\"Winter-R0se\"", "\n", "\"Winter-R0se\""),
    ] {
        assert_eq!(stored(prefix, answer, suffix), expected, "{prefix}");
    }
    let token = ["gh", "p_", &letters(36)].concat();
    for cut in 1..token.len() {
        let (head, tail) = token.split_at(cut);
        assert_eq!(stored(&format!("t = '{head}"), tail, "'\n"), "x".repeat(tail.len()));
        assert_eq!(stored("t = '", head, &format!("{tail}'\n")), "x".repeat(head.len()));
    }
}
