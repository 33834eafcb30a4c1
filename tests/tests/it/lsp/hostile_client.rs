//! A client that sends many messages of any kind, in any order: every request is answered once, and the server continues.
//!
//! When it is dropped, the client of these tests asserts that each of its requests was answered exactly once and that the
//! server ends as the protocol requires.

use serde_json::{Value, json};
use tests::Project;
use tests::lsp::{Buffer, Client};
use text::SplitMix64;

use super::editor::{AUTOMATIC, Editor, PARSE_ERROR, completion_params, setup};
use super::retrieval;
use super::scripted_engine::{RULES, assert_synchronized};

const METHODS: [&str; 12] = [
    "textDocument/inlineCompletion",
    "textDocument/codeLens",
    "workspace/executeCommand",
    "ghostbench/recordCase",
    "ghostbench/cases",
    "ghostbench/case",
    "ghostbench/replay",
    "ghostbench/scoreboard",
    "ghostbench/status",
    "textDocument/hover",
    "initialize",
    "$/unknown",
];

/// Valid, invalid and unlikely parameters of a method.
fn params(random: &mut SplitMix64, buffer: &Buffer) -> Value {
    let numbers = [json!(0), json!(-1), json!(u64::MAX), json!(1e300), json!(2_147_483_648_u64), json!(0.5)];
    let number = |random: &mut SplitMix64| numbers[random.below(numbers.len())].clone();
    let position = json!({"line": number(random), "character": number(random)});
    let uris =
        [buffer.uri(), "", "file:///", "no uri", "file:///%ff%00", "untitled:1", "https://example.com/a.py"];
    let document = json!({"uri": uris[random.below(uris.len())]});
    let all = [
        Value::Null,
        json!([]),
        json!({}),
        json!("text"),
        json!({"textDocument": document, "position": position, "context": {"triggerKind": number(random)}}),
        json!({"textDocument": document, "position": {"line": 0, "character": 1}, "context": {"triggerKind": 1}}),
        json!({"id": "\u{202e}\u{0}".repeat(random.below(9))}),
        json!({"target": "suite", "workDoneToken": number(random)}),
        json!({"command": "ghostbench.replay", "arguments": [{"target": "case", "case": "none"}]}),
    ];
    all[random.below(all.len())].clone()
}

/// Bodies that are not messages; each is answered once, with an error without an id.
const GARBAGE: [&[u8]; 9] = [
    b"\xff\xfe\xfd",
    b"",
    b"{",
    b"nonsense",
    b"[1,2",
    b"{\"jsonrpc\":\"2.0\",\"method\":\"textDocument/didSave\",\"params\":\xc3\x28}",
    b"{\"jsonrpc\":\"2.0\",\"id\":1e999,\"method\":\"ghostbench/status\"}",
    b"{\"jsonrpc\":\"2.0\",\"id\":18446744073709551616,\"method\":\"ghostbench/status\"}",
    b"{\"jsonrpc\":\"2.0\",\"method\":\"a\",}",
];

#[test]
fn random_messages_get_one_response_per_request() {
    let project = Project::new("");
    for seed in 0..4 {
        let mut random = SplitMix64::new(seed);
        let client = setup(&project).allow("window/logMessage").allow("window/showMessage");
        let editor = Editor::start(&project, &["--scripted", &RULES.to_string()], client);
        let buffers =
            ["echo.py", "slow.py", "fail.py", "panic.py"].map(|path| editor.open(path, "x = '😀'\n"));
        let mut asked: Vec<i64> = Vec::new();
        for _ in 0..300 {
            let buffer = &buffers[random.below(buffers.len())];
            match random.below(10) {
                0..5 => {
                    let method = METHODS[random.below(METHODS.len())];
                    asked.push(editor.client.request(method, params(&mut random, buffer)));
                }
                5 => {
                    editor.client.send_body(GARBAGE[random.below(GARBAGE.len())]);
                    let response = editor.client.wait_for_response(&Value::Null);
                    assert!(response["error"]["code"].is_i64(), "{response}");
                }
                6 => editor.client.notify("textDocument/didChange", params(&mut random, buffer)),
                7 => {
                    // A lone surrogate, which JavaScript can write.
                    let change = format!(
                        r#"{{"jsonrpc":"2.0","method":"textDocument/didChange","params":{{"textDocument":{{"uri":"{}","version":{}}},"contentChanges":[{{"text":"\ud83d"}}]}}}}"#,
                        buffer.uri(),
                        random.number() as i32
                    );
                    editor.client.send_body(change.as_bytes());
                }
                _ => (0..random.below(20)).for_each(|_| {
                    let id = random.below(asked.len() + 2) as i64;
                    editor.client.cancel(asked.get(id as usize).copied().unwrap_or(id));
                }),
            }
        }
        for id in &asked {
            // Requests that wait for the slow engine.
            editor.client.cancel(*id);
        }
        for id in asked {
            let _ = editor.client.wait(id);
        }
        tests::wait_until("the engines are free", || editor.busy() == 0);
        assert_synchronized(&editor, &editor.open("new/echo.py", "y = '😀'\n"));
    }
}

#[test]
fn wrong_content_length_affects_only_its_message() {
    let project = Project::new("");
    let client = setup(&project).allow("window/showMessage");
    let editor = Editor::start(&project, &["--scripted", &RULES.to_string()], client);
    let body = br#"{"jsonrpc":"2.0","method":"$/nothing","params":[1,2,3]}"#;
    for length in [0, 1, body.len() - 1, body.len() - 20] {
        editor.client.send_bytes(format!("Content-Length: {length}\r\n\r\n").as_bytes());
        editor.client.send_bytes(body);
        // The rest of the body is parsed as a header; the response may come with the next message.
        let id = editor.client.request("ghostbench/status", Value::Null);
        for what in ["the body", "the header behind it"] {
            let response = editor.client.wait_for_response(&Value::Null);
            assert_eq!(response["error"]["code"], PARSE_ERROR, "{what} of {length}: {response}");
        }
        assert!(editor.client.wait(id).expect("the next request is read").is_object());
    }
    assert_synchronized(&editor, &editor.open("echo.py", "x = 1\n"));
}

#[test]
fn initialize_works_after_a_flood_of_early_requests() {
    let project = Project::new("");
    let mut command = project.ghostbench("lsp");
    command.args(["--scripted", &RULES.to_string()]);
    let client = Client::spawn(command, setup(&project));
    let methods = METHODS.iter().filter(|method| **method != "initialize").cycle().take(500);
    let asked: Vec<i64> = methods.map(|method| client.request(method, json!({"a": 1}))).collect();
    (0..1_000).for_each(|id| client.cancel(id));
    for id in asked {
        assert!(client.wait(id).is_err(), "nothing is agreed on yet");
    }
    let editor = Editor::initialized(&project, client);
    assert_synchronized(&editor, &editor.open("echo.py", "x = 1\n"));
}

/// Pending requests in one document, from as many cursors.
const QUESTIONS: usize = 50;

#[test]
fn fifty_requests_in_one_document_are_all_answered() {
    let project = Project::new("//- /main.py\nx = 1\n");
    (0..40).for_each(|number| {
        drop(project.write(&format!("gadgets_{number}.py"), "def make_gadget(size):\n    return size\n"))
    });
    let client = setup(&project);
    let rules = json!([{"path": "", "context": true}]).to_string();
    let editor = Editor::start(&project, &["--scripted", &rules], client);
    super::handshake::wait_until_ready(&editor);
    let text = "size = make_gadget(1)\n".repeat(QUESTIONS) + &"[".repeat(50_000) + "\nother = make_gadget";
    let buffer = editor.open("question.py", &text);
    let line = "size = make_gadget(1)\n".len();
    let asked: Vec<i64> = (0..QUESTIONS)
        .map(|number| {
            let params = completion_params(&buffer, number * line + line - 1, AUTOMATIC);
            editor.client.request("textDocument/inlineCompletion", params)
        })
        .collect();
    let answers = asked.into_iter().map(|id| editor.client.wait(id).expect("a question is answered"));
    let answers: Vec<Value> = answers.collect();
    assert!(answers[..QUESTIONS - 1].iter().any(Value::is_null), "newer ones end older ones");
    let last = answers.last().expect("there are some");
    assert!(last.is_object(), "the newest one is answered: {last}");
    assert!(retrieval::has(&retrieval::context(&editor, retrieval::QUESTION), "gadgets_0.py"));
}
