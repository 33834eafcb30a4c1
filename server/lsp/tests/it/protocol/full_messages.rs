//! Messages with all fields set. A new field must be added here to compile, and documented to pass.

use std::collections::BTreeMap;

use lsp::ext::*;
use serde::Serialize;
use serde::de::DeserializeOwned;
use serde_json::json;
use tower_lsp_server::gen_lsp_types::{Command, Position, ProgressToken, Range, TextDocumentIdentifier, Uri};

/// A message with all its fields.
pub(crate) trait FullMessage: Serialize + DeserializeOwned {
    fn full() -> Self;
}

macro_rules! full {
    ($($name:ident { $($field:ident: $value:expr),+ $(,)? })+) => {
        $(impl FullMessage for $name {
            fn full() -> $name {
                $name { $($field: $value),+ }
            }
        })+
    };
}

full! {
    RecordCaseParams { text_document: document(), position: Position::new(5, 4) }
    RecordCaseResult { case: FullMessage::full(), added: true, suite: "suite".into() }
    CasesParams { text_document: Some(document()) }
    CasesResult { cases: vec![FullMessage::full()] }
    CaseSummary {
        id: text(),
        scenario: text(),
        variant: Some(text()),
        block_kind: Some(text()),
        language: text(),
        uri: uri(),
        path: text(),
        line: 5,
        range: Some(Range::new(Position::new(5, 4), Position::new(5, 29))),
        edited: true,
        results: vec![FullMessage::full()],
    }
    EngineResult {
        engine: text(),
        fingerprint: text(),
        status: text(),
        reason: Some(text()),
        exact: false,
        edit_similarity: 54.0,
        ms: 1.5,
        passed: Some(true),
        text: Some(text()),
    }
    CaseParams { id: text() }
    CaseResult { summary: FullMessage::full(), case: case() }
    ReplayParams {
        target: ReplayTarget::Case,
        case: Some(text()),
        text_document: Some(document()),
        suite: Some(uri()),
        work_done_token: Some(ProgressToken::String(text())),
    }
    ReplayResult { run: "run".into(), requests: 1, planned: 2, cancelled: true, cases: vec![FullMessage::full()] }
    SuiteParams { suite: uri(), text_document: Some(document()), from: Some(1000) }
    SuiteResult { suite: uri(), total: 1, problems: 0, cases: vec![FullMessage::full()] }
    SuiteCaseParams { suite: uri(), number: 3 }
    SuiteCaseResult {
        number: 3,
        total: 10,
        uri: uri(),
        text: text(),
        hole: Range::new(Position::new(5, 4), Position::new(5, 10)),
        answers_uri: uri(),
        answers: text(),
        case: FullMessage::full(),
    }
    ScoreboardParams { text_document: Some(document()), trial: true }
    ScoreboardResult {
        suite: "suite".into(),
        cases: 1,
        run: Some("run".into()),
        trial: Some(text()),
        summary: Some(json!({})),
        markdown: text(),
        text: text(),
    }
    ServerStatus {
        version: text(),
        position_encoding: text(),
        folders: vec![FullMessage::full()],
        engines: vec![FullMessage::full()],
        busy: 0,
        last_completion: Some(FullMessage::full()),
        trial: Some(FullMessage::full()),
        log_file: Some("lsp.log".into()),
    }
    FolderStatus {
        uri: uri(),
        name: text(),
        state: text(),
        message: Some(text()),
        files: 2,
        lines: 12,
        suite: "suite".into(),
    }
    EngineStatus {
        name: text(),
        kind: text(),
        model: text(),
        roles: vec![text()],
        latency: Some(1.5),
        reason: Some(text()),
        fault: Some(text()),
    }
    MarkPlaceParams { text_document: document(), position: Position::new(5, 4) }
    TrialStatus { name: text(), mode: text(), dropped: 0 }
    TrialParams { text_document: Some(document()) }
    TrialState {
        folder: uri(),
        state: TrialStateKind::Paused,
        name: Some(text()),
        mode: Some(text()),
        arms: Some(vec![text()]),
        level: Some(text()),
        reason: Some(text()),
        paused_until: Some(text()),
        today: Some(FullMessage::full()),
        message: text(),
    }
    TrialDay { opportunities: 3, truths: 2, shown: 2, accepted: 1 }
    StartTrialParams {
        text_document: Some(document()),
        mode: cases::TrialMode::Shadow,
        arms: vec![text()],
        name: Some(text()),
        unit: Some(cases::AssignmentUnit::Day),
        holdout: Some(0.1),
        weights: BTreeMap::from([(text(), 2.0)]),
        requests_per_minute: BTreeMap::from([(text(), 30)]),
        requests_per_day: BTreeMap::from([(text(), 300)]),
        budget_per_day: BTreeMap::from([(text(), 1.5)]),
        primary: Some(cases::Metric::ExactMatch),
        margin: Some(0.01),
        confirmed: vec![text()],
    }
    StartTrialResult { started: false, name: text(), disclosures: vec![text()], note: Some(text()) }
    StopTrialResult { name: text(), revealed: vec![RevealedArm { name: text(), shown_as: text() }] }
    RevealedArm { name: text(), shown_as: text() }
    DidDismissCompletionParams { text_document: document(), item: Some(item()), reason: DismissReason::Rejected }
    DidIdentifyChangeParams { text_document: document(), provenance: IdentifiedProvenance::Pasted }
    CompletionStatus { status: text(), reason: Some(text()), ms: 1.5 }
    AdvanceTimeParams { ms: 250 }
    DidChangeStatusParams { busy: true, kind: text(), message: text() }
    DidShowCompletionParams { item: item() }
    DidPartiallyAcceptCompletionParams { item: item(), accepted_length: 6 }
    DidFocusParams { text_document: Some(document()) }
    PauseRecordingParams { minutes: Some(60) }
    PauseRecordingResult { until: text() }
    ForgetParams { minutes: 60 }
    ForgetResult { forgotten: 3 }
    LastRequestParams { text_document: document() }
    LastRequest {
        answered_at: text(),
        position: Position::new(5, 4),
        trigger: text(),
        engine: Some(text()),
        blind: false,
        status: text(),
        reason: Some(text()),
        ms: 1.5,
        items: vec![text()],
        sent: Some(FullMessage::full()),
    }
    SentRequest {
        sent_at: text(),
        engine: Some(text()),
        status: text(),
        reason: Some(text()),
        ms: 1.5,
        context: vec![FullMessage::full()],
        prompt: Some(text()),
        answer: Some(text()),
        cut: false,
    }
    SentContext {
        path: text(),
        start_line: Some(1),
        end_line: Some(2),
        strategy: text(),
        text: text(),
    }
    AnswersParams { case: text() }
    AnswersResult {
        case: FullMessage::full(),
        title: text(),
        before: text(),
        truth: text(),
        after: text(),
        answers: vec![FullMessage::full()],
    }
    PageParams { kind: PageKind::Replay, text_document: Some(document()) }
    PageResult { title: text(), html: text() }
}

fn text() -> String {
    "text".to_owned()
}

fn uri() -> Uri {
    Uri("file:///home/you/shop/prices.py".to_owned())
}

fn document() -> TextDocumentIdentifier {
    TextDocumentIdentifier { uri: uri() }
}

fn item() -> ShownItem {
    let arguments = Some(vec![json!("0")]);
    ShownItem {
        command: Command { title: text(), tooltip: None, command: DID_ACCEPT_COMMAND.to_owned(), arguments },
    }
}

fn case() -> cases::Case {
    let row = json!({
        "schema": "1.0", "id": "1", "hole": "a.py:0", "task": "complete", "scenario": "rag", "language": "python",
        "path": "a.py", "byte_range": { "start": 0, "end": 1 }, "line": 0, "character": 0,
        "prefix": "", "suffix": "", "truth": "x",
        "origin": { "kind": "live", "tree_hash": "9d2f", "exposure": "none" },
    });
    serde_json::from_value(row).expect("the required fields of a case")
}
