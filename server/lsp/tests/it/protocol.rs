//! Checks `docs/protocol.md` against the code: all methods, fields and values are documented, no others are, and the examples are
//! valid messages.

use std::collections::BTreeSet;
use std::fmt::Debug;

use cases::Status as AnswerStatus;
use lsp::ext::{self, *};
use serde::Serialize;
use serde::de::DeserializeOwned;
use serde_json::Value;
use tower_lsp_server::gen_lsp_types::{
    CodeLens, ExecuteCommandParams, InitializeResult, InlineCompletionList, InlineCompletionParams,
    ProgressParams,
};

use document::{Document, Table};
use full_messages::FullMessage;

mod document;
mod full_messages;

/// Compares a part of the document with a type.
type Check<Part> = fn(&Part);

/// The tables: section, header of the first column, type.
const TABLES: &[(&str, &str, Check<Table>)] = &[
    (ext::DID_SHOW_COMPLETION, "parameters", has_fields_of::<DidShowCompletionParams>),
    (ext::DID_PARTIALLY_ACCEPT_COMPLETION, "parameters", has_fields_of::<DidPartiallyAcceptCompletionParams>),
    (ext::DID_FOCUS, "parameters", has_fields_of::<DidFocusParams>),
    (ext::RECORD_CASE, "parameters", has_fields_of::<RecordCaseParams>),
    (ext::RECORD_CASE, "result", has_fields_of::<RecordCaseResult>),
    (ext::CASES, "parameters", has_fields_of::<CasesParams>),
    (ext::CASES, "result", has_fields_of::<CasesResult>),
    (ext::CASE, "parameters", has_fields_of::<CaseParams>),
    (ext::CASE, "result", has_fields_of::<CaseResult>),
    (ext::REPLAY, "parameters", has_fields_of::<ReplayParams>),
    (ext::REPLAY, "result", has_fields_of::<ReplayResult>),
    (ext::SUITE, "parameters", has_fields_of::<SuiteParams>),
    (ext::SUITE, "result", has_fields_of::<SuiteResult>),
    (ext::SUITE_CASE, "parameters", has_fields_of::<SuiteCaseParams>),
    (ext::SUITE_CASE, "result", has_fields_of::<SuiteCaseResult>),
    (ext::SCOREBOARD, "parameters", has_fields_of::<ScoreboardParams>),
    (ext::SCOREBOARD, "result", has_fields_of::<ScoreboardResult>),
    (ext::STATUS, "result", has_fields_of::<ServerStatus>),
    (ext::ADVANCE_TIME, "parameters", has_fields_of::<AdvanceTimeParams>),
    (ext::STATUS, "folder", has_fields_of::<FolderStatus>),
    (ext::STATUS, "engine", has_fields_of::<EngineStatus>),
    (ext::STATUS, "completion", has_fields_of::<CompletionStatus>),
    (ext::STATUS, "trial", has_fields_of::<TrialStatus>),
    (ext::SHOULD_HAVE_SUGGESTED_COMMAND, "argument", has_fields_of::<MarkPlaceParams>),
    (ext::DID_CHANGE_STATUS, "parameters", has_fields_of::<DidChangeStatusParams>),
    (ext::DID_DISMISS_COMPLETION, "parameters", has_fields_of::<DidDismissCompletionParams>),
    (ext::DID_IDENTIFY_CHANGE, "parameters", has_fields_of::<DidIdentifyChangeParams>),
    (ext::TRIAL, "parameters", has_fields_of::<TrialParams>),
    (ext::TRIAL, "result", has_fields_of::<TrialState>),
    (ext::TRIAL, "day", has_fields_of::<TrialDay>),
    (ext::START_TRIAL, "parameters", has_fields_of::<StartTrialParams>),
    (ext::START_TRIAL, "result", has_fields_of::<StartTrialResult>),
    (ext::STOP_TRIAL, "parameters", has_fields_of::<TrialParams>),
    (ext::STOP_TRIAL, "result", has_fields_of::<StopTrialResult>),
    (ext::STOP_TRIAL, "revealed arm", has_fields_of::<RevealedArm>),
    (ext::PAUSE_RECORDING, "parameters", has_fields_of::<PauseRecordingParams>),
    (ext::PAUSE_RECORDING, "result", has_fields_of::<PauseRecordingResult>),
    (ext::FORGET, "parameters", has_fields_of::<ForgetParams>),
    (ext::FORGET, "result", has_fields_of::<ForgetResult>),
    (ext::LAST_REQUEST, "parameters", has_fields_of::<LastRequestParams>),
    (ext::LAST_REQUEST, "result", has_fields_of::<LastRequest>),
    (ext::LAST_REQUEST, "sent request", has_fields_of::<SentRequest>),
    (ext::LAST_REQUEST, "code from elsewhere", has_fields_of::<SentContext>),
    (ext::ANSWERS, "parameters", has_fields_of::<AnswersParams>),
    (ext::ANSWERS, "result", has_fields_of::<AnswersResult>),
    (ext::PAGE, "parameters", has_fields_of::<PageParams>),
    (ext::PAGE, "result", has_fields_of::<PageResult>),
    ("Case summary", "case", has_fields_of::<CaseSummary>),
    ("Case summary", "result", has_fields_of::<EngineResult>),
];

/// The examples: method, part, type.
const EXAMPLES: &[(&str, &str, Check<str>)] = &[
    ("initialize", "result", is_message::<InitializeResult>),
    ("textDocument/inlineCompletion", "parameters", is_message::<InlineCompletionParams>),
    ("textDocument/inlineCompletion", "result", is_message::<InlineCompletionList>),
    ("textDocument/codeLens", "result", is_message::<Vec<CodeLens>>),
    ("$/progress", "parameters", is_message::<ProgressParams>),
    ("ghostbench", "settings", is_message::<Value>),
    (ext::DID_ACCEPT_COMMAND, "command", is_message::<ExecuteCommandParams>),
    (ext::DID_SHOW_COMPLETION, "parameters", is_message::<DidShowCompletionParams>),
    (ext::DID_PARTIALLY_ACCEPT_COMPLETION, "parameters", is_message::<DidPartiallyAcceptCompletionParams>),
    (ext::DID_FOCUS, "parameters", is_message::<DidFocusParams>),
    (ext::RECORD_CASE, "parameters", is_message::<RecordCaseParams>),
    (ext::RECORD_CASE, "result", is_message::<RecordCaseResult>),
    (ext::CASES, "parameters", is_message::<CasesParams>),
    (ext::CASES, "result", is_message::<CasesResult>),
    (ext::CASE, "parameters", is_message::<CaseParams>),
    (ext::CASE, "result", is_message::<CaseResult>),
    (ext::REPLAY, "parameters", is_message::<ReplayParams>),
    (ext::REPLAY, "result", is_message::<ReplayResult>),
    (ext::SUITE, "parameters", is_message::<SuiteParams>),
    (ext::SUITE, "result", is_message::<SuiteResult>),
    (ext::SUITE_CASE, "parameters", is_message::<SuiteCaseParams>),
    (ext::SUITE_CASE, "result", is_message::<SuiteCaseResult>),
    (ext::SCOREBOARD, "parameters", is_message::<ScoreboardParams>),
    (ext::SCOREBOARD, "result", is_message::<ScoreboardResult>),
    (ext::STATUS, "result", is_message::<ServerStatus>),
    (ext::ADVANCE_TIME, "parameters", is_message::<AdvanceTimeParams>),
    (ext::DID_CHANGE_STATUS, "parameters", is_message::<DidChangeStatusParams>),
    (ext::SHOULD_HAVE_SUGGESTED_COMMAND, "command", is_message::<ExecuteCommandParams>),
    (ext::DID_DISMISS_COMPLETION, "parameters", is_message::<DidDismissCompletionParams>),
    (ext::DID_IDENTIFY_CHANGE, "parameters", is_message::<DidIdentifyChangeParams>),
    (ext::TRIAL, "parameters", is_message::<TrialParams>),
    (ext::TRIAL, "result", is_message::<TrialState>),
    (ext::DID_CHANGE_TRIAL, "parameters", is_message::<TrialState>),
    (ext::START_TRIAL, "parameters", is_message::<StartTrialParams>),
    (ext::START_TRIAL, "result", is_message::<StartTrialResult>),
    (ext::STOP_TRIAL, "parameters", is_message::<TrialParams>),
    (ext::STOP_TRIAL, "result", is_message::<StopTrialResult>),
    (ext::PAUSE_RECORDING, "parameters", is_message::<PauseRecordingParams>),
    (ext::PAUSE_RECORDING, "result", is_message::<PauseRecordingResult>),
    (ext::FORGET, "parameters", is_message::<ForgetParams>),
    (ext::FORGET, "result", is_message::<ForgetResult>),
    (ext::LAST_REQUEST, "result", is_message::<LastRequest>),
    (ext::ANSWERS, "result", is_message::<AnswersResult>),
    (ext::PAGE, "parameters", is_message::<PageParams>),
];

#[test]
fn custom_methods_and_commands_are_documented() {
    let constants = include_str!("../../src/ext.rs")
        .lines()
        .filter_map(|line| line.strip_prefix("pub const ")?.split_once(": &str = \"")?.1.strip_suffix("\";"));
    let constants: BTreeSet<&str> = constants.collect();
    assert_eq!(Document::read().names_in_our_headings(), constants, "sections (left) and ext.rs (right)");
}

#[test]
fn supported_standard_methods_are_documented() {
    let sources = [include_str!("../../src/service.rs"), include_str!("../../src/notifications.rs")].concat();
    let is_method =
        |text: &&str| ["textDocument/", "workspace/", "window/"].iter().any(|of| text.starts_with(of));
    let answered: Vec<&str> = sources.split('"').filter(is_method).collect();
    assert!(answered.len() > 5, "{answered:?}");
    let document = Document::read();
    let missing: Vec<&str> = answered.into_iter().filter(|method| !document.names(method)).collect();
    assert_eq!(missing, Vec::<&str>::new());
}

/// A table of messages instead of fields.
const OVERVIEW: (&str, &str) = ("Reports of a trial", "event");

#[test]
fn every_field_is_documented() {
    let mut tables = Document::read().our_tables();
    assert!(tables.remove(&OVERVIEW).is_some(), "it exists");
    for &(section, head, check) in TABLES {
        let table = tables.remove(&(section, head));
        check(&table.unwrap_or_else(|| panic!("{section} has no table of {head}")));
    }
    assert!(tables.is_empty(), "of no type: {:?}", tables.keys());
}

#[test]
fn examples_parse_as_messages() {
    let mut examples = Document::read().examples();
    for &(method, part, check) in EXAMPLES {
        let example = examples.remove(&(method, part));
        check(example.unwrap_or_else(|| panic!("{method} has no example of its {part}")));
    }
    assert!(examples.is_empty(), "of no type: {:?}", examples.keys());
}

#[test]
fn enum_values_are_documented() {
    let targets = [ReplayTarget::Case, ReplayTarget::File, ReplayTarget::Suite]
        .map(|target| serde_json::to_value(target).unwrap());
    check_words(ext::REPLAY, "parameters", "target", targets.iter().filter_map(Value::as_str));
    let words = |values: &[Value]| -> Vec<String> {
        values.iter().filter_map(|value| value.as_str().map(str::to_owned)).collect()
    };
    let states = [TrialStateKind::Off, TrialStateKind::Running, TrialStateKind::Paused]
        .map(|state| serde_json::to_value(state).unwrap());
    check_words(ext::TRIAL, "result", "state", words(&states).iter().map(String::as_str));
    let kinds = [PageKind::Trial, PageKind::Replay].map(|kind| serde_json::to_value(kind).unwrap());
    check_words(ext::PAGE, "parameters", "kind", words(&kinds).iter().map(String::as_str));
    let reasons =
        [DismissReason::Rejected, DismissReason::Ignored].map(|reason| serde_json::to_value(reason).unwrap());
    check_words(
        ext::DID_DISMISS_COMPLETION,
        "parameters",
        "reason",
        words(&reasons).iter().map(String::as_str),
    );
    let provenances = [
        IdentifiedProvenance::Popup,
        IdentifiedProvenance::Pasted,
        IdentifiedProvenance::Undo,
        IdentifiedProvenance::Formatter,
        IdentifiedProvenance::OtherProvider,
    ]
    .map(|provenance| serde_json::to_value(provenance).unwrap());
    check_words(
        ext::DID_IDENTIFY_CHANGE,
        "parameters",
        "provenance",
        words(&provenances).iter().map(String::as_str),
    );
    let statuses = AnswerStatus::ALL.iter().map(|status| status.name());
    check_words("Case summary", "result", "status", statuses);
}

/// The rows of the table are the fields of the type, and exactly the optional ones are marked as optional.
#[track_caller]
fn has_fields_of<T: FullMessage>(table: &Table) {
    let name = std::any::type_name::<T>();
    let Value::Object(fields) = serde_json::to_value(T::full()).expect("messages are JSON") else {
        panic!("{name} is no object");
    };
    let documented: BTreeSet<&str> = table.keys().copied().collect();
    assert_eq!(
        documented,
        fields.keys().map(String::as_str).collect(),
        "rows (left) and fields (right) of {name}"
    );
    for (field, kind) in table {
        let mut rest = fields.clone();
        rest.remove(*field);
        let may_be_left_out = serde_json::from_value::<T>(rest.into()).is_ok();
        assert_eq!(kind.ends_with("; optional"), may_be_left_out, "{name}: whether {field} is optional");
    }
}

/// The example parses, and the type knows all of its fields.
#[track_caller]
fn is_message<T: Serialize + DeserializeOwned + Debug>(example: &str) {
    let written: Value = serde_json::from_str(example).expect(example);
    let message: T = serde_json::from_value(written.clone()).expect(example);
    assert_eq!(
        serde_json::to_value(message).expect("messages are JSON"),
        written,
        "as the server reads it (left)"
    );
}

/// Compares the values in the type column.
#[track_caller]
fn check_words<'a>(section: &str, head: &str, field: &str, words: impl Iterator<Item = &'a str>) {
    let tables = Document::read().our_tables();
    let kind = tables[&(section, head)][field];
    let documented: Vec<&str> = kind.split('`').skip(1).step_by(2).collect();
    assert_eq!(documented, words.collect::<Vec<_>>(), "words of {section}, {field}");
}
