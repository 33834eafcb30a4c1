//! Language servers as engines, tested with a server that misbehaves on request.

mod server;

use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::{Duration, Instant};

use config::{Secret, SecretTable};
use engines::{Answer, Cassette, Engine, EngineError, LspEngine, LspSettings, PromptInput, Request};
use expect_test::expect;
use futures_util::FutureExt;
use serde_json::{Value, json};
use tempfile::TempDir;
use text::Edit;
use tokio_util::sync::CancellationToken;

use crate::harness::{KEY, TRUTH, ask_for, request, with_context};
use server::{INSERTED, heard, program};

/// Timeout; generous for a busy machine.
const LIMIT: Duration = Duration::from_secs(60);

/// An engine whose server starts in this mode, and the server's log.
struct Asked {
    engine: Arc<LspEngine>,
    log: PathBuf,
    _folder: TempDir,
}

fn asked(beginning: &str, change: impl FnOnce(&mut LspSettings)) -> Asked {
    let folder = TempDir::new().expect("there is room for temporary files");
    let log = folder.path().join("log");
    let mut settings = LspSettings {
        name: "vendor".to_owned(),
        program: program(beginning, &log),
        model: None,
        request: "textDocument/inlineCompletion".to_owned(),
        options: SecretTable::default(),
        settings: SecretTable::default(),
        extra: serde_json::Map::new(),
        start_timeout: LIMIT,
        concurrency: None,
    };
    change(&mut settings);
    Asked { engine: Arc::new(LspEngine::new(settings)), log, _folder: folder }
}

/// A settings table without keys.
fn table(json: Value) -> SecretTable {
    json.as_object().cloned().expect("a table").into()
}

/// A request for a document that makes the server do this.
fn request_with_instruction(what: &str) -> Request {
    request(&format!("# {what}\ndef area(width, height):\n    return $0\n"))
}

/// The same request about another document.
fn elsewhere(request: Request) -> Request {
    Request { input: PromptInput { path: "src/other.py".into(), ..request.input }, ..request }
}

impl Asked {
    async fn ask(&self, request: Request) -> (Result<Answer, EngineError>, String) {
        let mut text = String::new();
        let mut sink = |piece: &str| {
            text.push_str(piece);
            std::ops::ControlFlow::Continue(())
        };
        let cancel = CancellationToken::new();
        let answer = self.engine.complete(request, &mut sink, &cancel);
        let answer = tokio::time::timeout(LIMIT, answer).await.expect("it does not hang");
        (answer, text)
    }

    /// The inserted text of a successful request.
    async fn inserted(&self) -> String {
        let (answer, text) = self.ask(request_with_instruction("nothing wrong")).await;
        answer.expect("it answers");
        text
    }

    /// The error message, with the program's path replaced.
    async fn fault(&self, request: Request) -> String {
        let (answer, text) = self.ask(request).await;
        assert_eq!(text, "");
        let message = answer.expect_err("it has no answer").to_string();
        let (before, rest) = message.split_once('`').expect("the engine is named");
        let (engine, rest) = rest.split_once("`: `").expect("the program is named");
        let (_, after) = rest.split_once('`').expect("the program is named");
        format!("{before}`{engine}`: `PROGRAM`{after}")
    }

    fn methods(&self) -> Vec<String> {
        methods(&self.log)
    }

    fn starts(&self) -> usize {
        self.methods().iter().filter(|method| *method == "(started)").count()
    }
}

/// Methods that a server has received, and where it was restarted.
fn methods(log: &Path) -> Vec<String> {
    heard(log)
        .iter()
        .filter_map(|message| match (&message["method"], &message["started"]) {
            (Value::String(method), _) => Some(method.clone()),
            (_, Value::String(_)) => Some("(started)".to_owned()),
            _ => None,
        })
        .collect()
}

/// Waits until a server has received this many messages of a method.
async fn until_received(log: &Path, method: &str, count: usize) {
    until(method, || methods(log).iter().filter(|other| *other == method).count() >= count).await;
}

async fn until(what: &str, is_true: impl Fn() -> bool) {
    let end = Instant::now() + LIMIT;
    while !is_true() {
        assert!(Instant::now() < end, "waited in vain: {what}");
        tokio::time::sleep(Duration::from_millis(5)).await;
    }
}

#[tokio::test]
async fn server_session_sends_the_expected_messages_in_order() {
    let asked = asked("offers", |settings| {
        settings.options = table(json!({"editorInfo": {"name": "Ghostbench"}}));
        settings.settings = table(json!({"vendor": {"level": 3}}));
        settings.extra = json!({"formattingOptions": {"tabSize": 4}}).as_object().unwrap().clone();
    });
    let question = with_context(request("é = 1\ndef area(width, height):\n    return $0\n"));
    let (answer, text) = asked.ask(question).await;
    assert_eq!((answer.expect("it answers").silence, text.as_str()), (None, INSERTED));
    let Asked { engine, log, _folder } = asked;
    drop(engine);
    until_received(&log, "exit", 1).await;
    let mut heard = heard(&log);
    let here = heard[0]["started"].as_str().expect("it started").to_owned();
    assert_eq!(heard[0]["files"], 0, "it runs in an empty folder");
    until("the folder goes with it", || !Path::new(&here).exists()).await;
    assert_eq!(heard[1]["params"]["initializationOptions"], json!({"editorInfo": {"name": "Ghostbench"}}));
    let capabilities = heard[1]["params"]["capabilities"].take();
    assert_eq!(capabilities["textDocument"]["inlineCompletion"], json!({"dynamicRegistration": true}));
    let name = here.rsplit('/').next().expect("a path").to_owned();
    let reported = heard[1]["params"]["rootUri"].as_str().expect("it gets a folder").to_owned();
    assert!(reported.starts_with("file://") && reported.ends_with(&name), "{reported}");
    let mut lines: Vec<String> = heard[2..].iter().map(|message| format!("{message}\n")).collect();
    // Its request for settings may come before or after our request.
    let settings =
        lines.iter().position(|line| line.contains("\"settings\",\"jsonrpc\"")).expect("it was answered");
    let settings = lines.remove(settings);
    expect![[r#"
        {"id":"settings","jsonrpc":"2.0","result":[{"level":3}]}
    "#]]
    .assert_eq(&settings);
    let lines: String = lines.concat().replace(&reported, "FOLDER");
    expect![[r#"
        {"jsonrpc":"2.0","method":"initialized","params":{}}
        {"jsonrpc":"2.0","method":"workspace/didChangeConfiguration","params":{"settings":{"vendor":{"level":3}}}}
        {"jsonrpc":"2.0","method":"textDocument/didOpen","params":{"textDocument":{"languageId":"python","text":"def far():\n    pass\n","uri":"FOLDER/src/far.py","version":1}}}
        {"jsonrpc":"2.0","method":"textDocument/didOpen","params":{"textDocument":{"languageId":"python","text":"def near():\n    pass\n","uri":"FOLDER/src/near.py","version":1}}}
        {"jsonrpc":"2.0","method":"textDocument/didOpen","params":{"textDocument":{"languageId":"python","text":"é = 1\ndef area(width, height):\n    return \n","uri":"FOLDER/src/area.py","version":1}}}
        {"id":1,"jsonrpc":"2.0","method":"textDocument/inlineCompletion","params":{"context":{"triggerKind":2},"formattingOptions":{"tabSize":4},"position":{"character":11,"line":2},"textDocument":{"uri":"FOLDER/src/area.py","version":1}}}
        {"jsonrpc":"2.0","method":"textDocument/didClose","params":{"textDocument":{"uri":"FOLDER/src/far.py"}}}
        {"jsonrpc":"2.0","method":"textDocument/didClose","params":{"textDocument":{"uri":"FOLDER/src/near.py"}}}
        {"jsonrpc":"2.0","method":"textDocument/didClose","params":{"textDocument":{"uri":"FOLDER/src/area.py"}}}
        {"id":2,"jsonrpc":"2.0","method":"shutdown"}
        {"jsonrpc":"2.0","method":"exit"}
    "#]].assert_eq(&lines);
}

#[tokio::test]
async fn dynamically_registered_server_is_used() {
    let asked = asked("registers", |_| {});
    assert_eq!(asked.inserted().await, INSERTED);
}

#[tokio::test]
async fn server_without_inline_completion_is_reported() {
    for (beginning, expected) in [
        (
            "lists",
            expect![[
                r#"engine `vendor`: `PROGRAM` does not offer `textDocument/inlineCompletion`; it offers completion lists, so if its items are whole answers, set `request = "textDocument/completion"`"#
            ]],
        ),
        (
            "nothing",
            expect![
                "engine `vendor`: `PROGRAM` does not offer `textDocument/inlineCompletion`; a program that offers it is needed in `command`"
            ],
        ),
    ] {
        expected.assert_eq(&asked(beginning, |_| {}).fault(request_with_instruction("nothing wrong")).await);
    }
}

#[tokio::test]
async fn every_failure_is_reported_and_the_next_request_answered() {
    let asked = asked("offers", |settings| {
        settings.program.env.insert("TOKEN".to_owned(), Secret::new(KEY));
    });
    for (what, starts, expected) in [
        (
            "refuses",
            1,
            expect![
                "engine `vendor`: `PROGRAM` failed: bad token (the key) (code 1000 to `textDocument/inlineCompletion`); it said last: sign in first"
            ],
        ),
        ("crashes", 2, expect!["engine `vendor`: `PROGRAM` ended with exit code 3: out of memory"]),
        (
            "rubbish",
            3,
            expect![
                "engine `vendor`: `PROGRAM` wrote something else than messages of the language server protocol: it sends invalid JSON: expected value at line 1 column 1"
            ],
        ),
        (
            "babbles",
            4,
            expect![
                "engine `vendor`: `PROGRAM` wrote something else than messages of the language server protocol: it writes text that is not a message: `y`"
            ],
        ),
        (
            "endless",
            5,
            expect![
                "engine `vendor`: `PROGRAM` wrote something else than messages of the language server protocol: it sends a message of 104857600 bytes, and 16777216 are read"
            ],
        ),
    ] {
        expected.assert_eq(&asked.fault(request_with_instruction(what)).await);
        assert_eq!(asked.inserted().await, INSERTED, "after {what}");
        assert_eq!(asked.starts(), starts, "after {what}");
    }
    let (answer, text) = asked.ask(request_with_instruction("confuses")).await;
    assert_eq!((answer.is_ok(), text.as_str()), (true, INSERTED), "unknown ids are ignored");
}

#[tokio::test]
async fn failing_server_is_not_restarted_for_every_request() {
    let asked = asked("dies", |_| {});
    for _ in 0..5 {
        expect!["engine `vendor`: `PROGRAM` ended with exit code 3: no licence"]
            .assert_eq(&asked.fault(request_with_instruction("nothing wrong")).await);
    }
    assert_eq!(asked.starts(), 2, "the first end may be chance");
}

#[tokio::test]
async fn hanging_initialize_times_out() {
    let asked = asked("hangs", |settings| settings.start_timeout = Duration::from_millis(300));
    expect!["engine `vendor`: `PROGRAM` did not answer `initialize` within 300ms"]
        .assert_eq(&asked.fault(request_with_instruction("nothing wrong")).await);
}

#[tokio::test]
async fn start_continues_after_its_request_is_dropped() {
    let asked = asked("offers", |_| {});
    let cancel = CancellationToken::new();
    cancel.cancel();
    let mut sink = |_: &str| std::ops::ControlFlow::Continue(());
    let waits = CancellationToken::new();
    for _ in 0..3 {
        let answer = asked.engine.complete(request_with_instruction("nothing wrong"), &mut sink, &waits);
        // Dropped as soon as it waits.
        assert!(answer.now_or_never().is_none());
        tokio::task::yield_now().await;
    }
    let cancelled =
        asked.engine.complete(request_with_instruction("nothing wrong"), &mut sink, &cancel).await;
    assert!(matches!(cancelled, Err(EngineError::Cancelled)));
    assert_eq!(asked.inserted().await, INSERTED);
    assert_eq!(asked.starts(), 1);
}

#[tokio::test]
async fn cancelled_request_is_sent_and_does_not_block_later_ones() {
    let asked = asked("offers", |_| {});
    assert_eq!(asked.inserted().await, INSERTED);
    for round in 1..=3 {
        let mut sink = |_: &str| std::ops::ControlFlow::Continue(());
        let cancel = CancellationToken::new();
        let answer = asked.engine.complete(request_with_instruction("ignores"), &mut sink, &cancel);
        let asking = async {
            until_received(&asked.log, "textDocument/inlineCompletion", 2 * round).await;
            cancel.cancel();
        };
        let (answer, ()) = tokio::join!(answer, asking);
        assert!(matches!(answer, Err(EngineError::Cancelled)), "{answer:?}");
        until_received(&asked.log, "$/cancelRequest", round).await;
        assert_eq!(asked.inserted().await, INSERTED, "the late answer is ignored");
    }
    let closed = asked.methods().iter().filter(|method| *method == "textDocument/didClose").count();
    let opened = asked.methods().iter().filter(|method| *method == "textDocument/didOpen").count();
    assert_eq!((asked.starts(), opened), (1, 7));
    assert!(closed >= 6, "documents of cancelled requests are closed: {closed}");
}

#[tokio::test]
async fn concurrency_allows_several_documents_but_not_the_same() {
    let asked = asked("offers", |settings| settings.concurrency = Some(2));
    let elsewhere = elsewhere(request_with_instruction("pairs"));
    let (one, other) = tokio::join!(asked.ask(request_with_instruction("pairs")), asked.ask(elsewhere));
    assert_eq!((one.1.as_str(), other.1.as_str()), (INSERTED, INSERTED));
    let (one, other) = tokio::join!(
        asked.ask(request_with_instruction("nothing")),
        asked.ask(request_with_instruction("nothing"))
    );
    assert_eq!((one.1.as_str(), other.1.as_str()), (INSERTED, INSERTED));
    let methods = asked.methods();
    let last: Vec<&str> = methods
        .iter()
        .rev()
        .skip_while(|method| *method == "textDocument/didClose")
        .map(String::as_str)
        .collect();
    assert_eq!(
        last[..4],
        [
            "textDocument/inlineCompletion",
            "textDocument/didOpen",
            "textDocument/didClose",
            "textDocument/inlineCompletion"
        ],
    );
}

#[tokio::test]
async fn requests_are_sequential_by_default() {
    let asked = asked("offers", |_| {});
    let elsewhere = elsewhere(request_with_instruction("nothing"));
    let (one, other) = tokio::join!(asked.ask(request_with_instruction("nothing")), asked.ask(elsewhere));
    assert_eq!((one.1.as_str(), other.1.as_str()), (INSERTED, INSERTED));
    let methods = asked.methods();
    let opened =
        methods.iter().position(|method| method == "textDocument/didOpen").expect("it was shown one");
    assert_eq!(methods[opened + 2], "textDocument/didClose");
}

#[tokio::test]
async fn trigger_kind_distinguishes_explicit_invocation() {
    let asked = asked("offers", |_| {});
    for invoked in [true, false] {
        asked.ask(Request { invoked, ..request_with_instruction("nothing") }).await.0.expect("it answers");
    }
    let kinds: Vec<Value> = heard(&asked.log)
        .iter()
        .filter(|message| message["method"] == "textDocument/inlineCompletion")
        .map(|message| message["params"]["context"]["triggerKind"].clone())
        .collect();
    assert_eq!(kinds, [1, 2]);
}

#[tokio::test]
async fn explicit_invocation_returns_all_insertable_items() {
    let asked = asked("offers", |_| {});
    for (invoked, expected) in [(true, vec!["other", "third"]), (false, vec![])] {
        let (answer, text) = asked.ask(Request { invoked, ..request_with_instruction("a choice") }).await;
        let answer = answer.expect("it answers");
        let others: Vec<&str> = answer.alternatives.iter().map(|other| &*other.text).collect();
        assert_eq!((text.as_str(), others), (INSERTED, expected));
    }
    assert!(asked.engine.has_alternatives());
}

#[tokio::test]
async fn an_item_for_another_place_is_an_edit_also_when_it_is_replayed() {
    let asked = asked("offers", |_| {});
    let folder = TempDir::new().expect("a folder");
    let path = folder.path().join("cassette.jsonl");
    let Asked { engine, .. } = &asked;
    let recording = Arc::new(Cassette::recording(&path).expect("it is new"));
    let edits = vec![Edit { range: 0..1, text: "//".to_owned() }];
    let recorder = engines::recorded(Arc::clone(engine) as Arc<dyn Engine>, &recording);
    let (answer, heard) = ask_for(&*recorder, request_with_instruction("another place")).await;
    assert_eq!((answer.map(|answer| answer.edits).ok(), &*heard.text), (Some(edits.clone()), ""));
    drop((recorder, recording));
    let offline = Arc::new(Cassette::offline(Some(&path)).expect("it was just made"));
    let replayed = engines::recorded(Arc::clone(engine) as Arc<dyn Engine>, &offline);
    let (answer, heard) = ask_for(&*replayed, request_with_instruction("another place")).await;
    assert_eq!((answer.map(|answer| answer.edits).ok(), &*heard.text), (Some(edits), ""));
}

#[tokio::test]
async fn requests_never_contain_the_truth() {
    let asked = asked("offers", |_| {});
    asked
        .ask(with_context(request("def area(width, height):\n    return $0\n")))
        .await
        .0
        .expect("it answers");
    let heard = Value::from(heard(&asked.log)).to_string();
    assert!(heard.contains("def near") && !heard.contains(TRUTH), "{heard}");
}

#[test]
fn description_covers_settings_that_change_answers() {
    let described = |change: fn(&mut LspSettings)| asked("offers", change).engine.description().clone();
    let plain = described(|settings| settings.program.env.clear());
    let changes: [fn(&mut LspSettings); 5] = [
        |settings| settings.options = table(json!({"model": "a"})),
        |settings| settings.settings = table(json!({"model": "a"})),
        |settings| settings.request = "textDocument/completion".to_owned(),
        |settings| settings.extra = json!({"n": 1}).as_object().unwrap().clone(),
        |settings| settings.program.command.push("--fast".to_owned()),
    ];
    for change in changes {
        assert_ne!(described(change).settings, plain.settings);
    }
    assert_eq!(plain.model, "the server's");
    let with_key = described(|settings| {
        settings.program.env.insert("TOKEN".to_owned(), Secret::new(KEY));
    });
    assert!(!format!("{:?}", with_key.settings).contains(KEY));
}
