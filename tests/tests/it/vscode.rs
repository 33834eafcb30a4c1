//! The extension of `vscode-extension` in a real VS Code: ghost text, the accept key, commands.

use std::fs;

use serde_json::{Value, json};
use tests::lsp::{Buffer, Encoding};
use tests::{Project, VsCode, WindowOptions, wait_until};

const INLINE_COMPLETION: &str = "textDocument/inlineCompletion";
const EXECUTE_COMMAND: &str = "workspace/executeCommand";

/// Longer than the time to the next key, even on a busy machine.
const SLOW_MS: u64 = 1_000;

/// Longer than any test.
const FOREVER_MS: u64 = 600_000;

/// A server whose engine always answers with one text.
#[track_caller]
fn open_scripted(project: &Project, file: &str, text: &str) -> Option<VsCode> {
    open_with_rule(project, file, &json!({"path": "", "text": text}))
}

#[track_caller]
fn open_with_rule(project: &Project, file: &str, rule: &Value) -> Option<VsCode> {
    VsCode::open(project, file, &["--scripted", &json!([rule]).to_string()])
}

/// The shown item: the only one of the latest response.
#[track_caller]
fn answered_item(editor: &VsCode) -> Value {
    let (_, answer) = editor.requests(INLINE_COMPLETION).pop().expect("it was asked");
    let answer = answer.expect("the shown text was answered");
    let items = answer["result"]["items"].as_array().or(answer["result"].as_array());
    let items = items.unwrap_or_else(|| panic!("no items: {answer}"));
    assert_eq!(items.len(), 1, "one is enough for an automatic request");
    items[0].clone()
}

/// Presses the accept key; checks that the file differs by exactly the item, and that the item's command was answered. Returns
/// the text of the file.
#[track_caller]
fn check_acceptance(editor: &VsCode, before: &str) -> String {
    let item = answered_item(editor);
    let mut buffer = Buffer::new("file:///any", "any", Encoding::Utf16, before);
    let range = buffer.offset(&item["range"]["start"])..buffer.offset(&item["range"]["end"]);
    buffer.edit(range, item["insertText"].as_str().expect("an item is plain text"));
    editor.press("Tab");
    let mut accepted = None;
    wait_until("the item's command is answered", || {
        accepted = editor.requests(EXECUTE_COMMAND).pop().filter(|(_, answer)| answer.is_some());
        accepted.is_some()
    });
    let (command, answer) = accepted.expect("there is one");
    assert_eq!(command["params"]["command"], item["command"]["command"]);
    assert_eq!(command["params"]["arguments"], item["command"]["arguments"]);
    assert_eq!(answer.expect("it is answered")["error"], Value::Null);
    editor.check_saved(buffer.text());
    buffer.text().to_owned()
}

#[test]
fn accept_key_inserts_the_builtin_engine_item() {
    let project = Project::generated(6);
    project.write("shop/new.py", "import math\n\n\n");
    let Some(editor) = VsCode::open(&project, "shop/new.py", &[]) else { return };
    editor.press("Control+End");
    editor.type_text("def total_0(orders_3, limit=3):\n");
    assert!(!editor.wait_for_ghost_text().trim().is_empty());
    check_acceptance(&editor, "import math\n\n\ndef total_0(orders_3, limit=3):\n    ");
}

#[test]
fn next_suggestion_can_be_shown_and_accepted() {
    let project = Project::new("//- /a.py\n");
    let rule = json!({"path": "", "text": "total", "others": ["price", "tax"]});
    let Some(editor) = open_with_rule(&project, "a.py", &rule) else { return };
    editor.type_text("x = ");
    editor.wait_for_this_ghost_text("total");
    for text in ["price", "tax", "total", "price"] {
        editor.press("Alt+]");
        editor.wait_for_this_ghost_text(text);
    }
    editor.press("Tab");
    editor.check_saved("x = price");
    let mut accepted = None;
    wait_until("the item's command is answered", || {
        accepted = editor.requests(EXECUTE_COMMAND).pop().filter(|(_, answer)| answer.is_some());
        accepted.is_some()
    });
    let (command, _) = accepted.expect("there is one");
    let by_key = editor.requests(INLINE_COMPLETION).into_iter();
    let by_key = by_key.filter(|(asked, _)| asked["params"]["context"]["triggerKind"] == 1);
    let has_item = |(_, answer): &(Value, Option<Value>)| {
        let items = answer.as_ref().and_then(|answer| answer["result"]["items"].as_array().cloned());
        items.is_some_and(|items| {
            items.len() == 3 && items[1]["command"]["arguments"] == command["params"]["arguments"]
        })
    };
    assert!(by_key.into_iter().any(|asked| has_item(&asked)), "it is the second of a choice");
}

#[test]
fn multiline_item_is_drawn_and_accepted() {
    let project = Project::new("//- /a.py\n");
    let text = "add(\n    a,\n    b,\n)";
    let Some(editor) = open_scripted(&project, "a.py", text) else { return };
    editor.type_text("x = ");
    editor.wait_for_this_ghost_text(text);
    assert_eq!(check_acceptance(&editor, "x = "), "x = add(\n    a,\n    b,\n)");
}

#[test]
fn rest_of_a_word_is_drawn_after_the_typed_part() {
    let project = Project::new("//- /a.py\n# \u{1f642}\n");
    let Some(editor) = open_scripted(&project, "a.py", "urn '\u{1f643}'") else { return };
    editor.press("Control+End");
    editor.type_text("ret");
    editor.wait_for_this_ghost_text("urn '\u{1f643}'");
    assert_eq!(answered_item(&editor)["insertText"], "return '\u{1f643}'");
    let text = check_acceptance(&editor, "# \u{1f642}\nret");
    assert_eq!(text, "# \u{1f642}\nreturn '\u{1f643}'");
}

#[test]
fn suggestion_is_inserted_before_existing_text() {
    let project = Project::new("//- /a.py\ntotal = sum()\n");
    let Some(editor) = open_scripted(&project, "a.py", "prices") else { return };
    editor.go_to(1, 12);
    editor.type_text("(");
    editor.wait_for_this_ghost_text("prices");
    check_acceptance(&editor, "total = sum(()\n");
}

/// The beginning of the echo engine's answer for ASCII text.
fn echo_of(line: &str) -> String {
    format!("len={} ", line.len())
}

#[test]
fn superseded_requests_are_never_drawn() {
    let project = Project::new("//- /a.py\n");
    let rule = json!({"path": "", "delay_ms": SLOW_MS, "echo": true});
    let Some(editor) = open_with_rule(&project, "a.py", &rule) else { return };
    for (index, key) in ["x", " ", "=", " ", "+", " "].into_iter().enumerate() {
        editor.type_text(key);
        wait_until("the key is asked about", || editor.requests(INLINE_COMPLETION).len() > index);
    }
    let ghost = Value::from(echo_of("x = + "));
    editor.wait_until(&format!("Eyes.ghostText()?.startsWith({ghost})"));
    let requests = editor.requests(INLINE_COMPLETION);
    let is_superseded = |answer: &Value| answer["result"].is_null();
    let superseded = requests.iter().filter(|(_, answer)| answer.as_ref().is_some_and(is_superseded));
    assert!(superseded.count() > 1, "nothing was superseded: {requests:?}");
    // Every shown text matched the document's text at that moment.
    let drawn = editor.evaluate("Eyes.drawn");
    for drawn in drawn.as_array().expect("it is a list") {
        let [line, ghost] = ["line", "ghost"].map(|name| drawn[name].as_str().expect("it is text"));
        let typed =
            line.strip_suffix(ghost).unwrap_or_else(|| panic!("`{ghost}` is not at the end of `{line}`"));
        assert!(ghost.starts_with(&echo_of(typed)), "`{ghost}` behind `{typed}`");
    }
}

/// A function with a block to record.
const FUNCTION: &str = "//- /a.py
def total(orders):
    result = 0
    for order in orders:
        result += order.price
    return result
";

/// Opens the function and records its block; the engine's answer is the block.
#[track_caller]
fn open_recorded(project: &Project) -> Option<VsCode> {
    let editor = open_scripted(project, "a.py", "result += order.price")?;
    editor.go_to(4, 9);
    editor.run("Ghostbench: Record Case at Cursor");
    editor.wait_for_message("Ghostbench: recorded the whole statement, line 4");
    wait_for_lens(&editor, "not replayed yet");
    Some(editor)
}

/// Waits until the only lens has these words.
#[track_caller]
fn wait_for_lens(editor: &VsCode, words: &str) {
    let words = Value::from(words);
    editor.wait_until(&format!("Eyes.lenses().length === 1 && Eyes.lenses()[0].includes({words})"));
}

#[test]
fn replayed_cases_appear_in_the_scoreboard() {
    let project = Project::new(FUNCTION);
    let Some(editor) = open_recorded(&project) else { return };
    editor.run("Ghostbench: Replay Recorded Cases");
    editor.answer("All recorded cases");
    editor.wait_for_message("Ghostbench: replayed 1 of 1 requests, run 1");
    wait_for_lens(&editor, "scripted exact");
    editor.run("Ghostbench: Show Scoreboard");
    editor.wait_until("Eyes.tabs().includes('Ghostbench Scoreboard')");
    editor.wait_for("the scoreboard shows the engine", || {
        let has_row = "/^ +scripted +1 +1\\/1/m.test(document.body.innerText)";
        editor.pages(has_row).contains(&json!(true))
    });
}

#[test]
fn a_click_on_a_lens_replays_its_case() {
    let project = Project::new(FUNCTION);
    let Some(editor) = open_recorded(&project) else { return };
    editor.click(".codelens-decoration > a");
    wait_for_lens(&editor, "scripted exact");
    let (command, _) = editor.requests(EXECUTE_COMMAND).pop().expect("a lens is a command");
    assert_eq!(command["params"]["command"], "ghostbench.replay");
    editor.run("Ghostbench: Replay Recorded Cases");
    editor.answer("The case at the cursor");
    editor.wait_for_message("Ghostbench: replayed 1 of 1 requests, run 2");
}

#[test]
fn rejected_recording_shows_the_server_message() {
    let project = Project::new("//- /a.py\n# nothing\n");
    let Some(editor) = open_scripted(&project, "a.py", "") else { return };
    editor.go_to(1, 1);
    editor.run("Ghostbench: Record Case at Cursor");
    let mut refused = None;
    wait_until("the case is refused", || {
        refused = editor.requests("ghostbench/recordCase").pop().and_then(|(_, answer)| answer);
        refused.is_some()
    });
    let refused = refused.expect("it was waited for");
    editor.wait_for_message(&format!("Ghostbench: {}", refused["error"]["message"].as_str().unwrap()));
}

#[test]
fn missing_server_is_reported_once_and_starts_when_fixed() {
    let project = Project::new("//- /a.py\n");
    let nothing = project.sibling_path("nothing");
    let opening = WindowOptions { settings: json!({}), server: Some(&nothing), is_trusted: true };
    let Some(editor) = VsCode::start(&project, "a.py", opening) else { return };
    editor.wait_until("Eyes.status()?.endsWith('Ghostbench: no server')");
    editor.wait_for_message("ghostbench.server.path is not a program");
    editor.wait_for_message("correct the setting, or remove it");
    assert_eq!(editor.evaluate("Eyes.messages().length"), 1);
    editor.set(&json!({"ghostbench.server.path": editor.server()}));
    editor.wait_until_served();
}

#[test]
fn status_bar_counts_requests_in_flight_until_restart() {
    let project = Project::new("//- /a.py\n");
    let rules = json!([{"path": "", "delay_ms": FOREVER_MS, "text": "late"}]).to_string();
    let settings = json!({"ghostbench.server.arguments": ["--scripted", rules], "ghostbench.completion.engine": "scripted"});
    let opening = WindowOptions { settings, server: None, is_trusted: true };
    let Some(editor) = VsCode::start(&project, "a.py", opening) else { return };
    editor.wait_until_served();
    editor.type_text("x = ");
    editor.wait_until("Eyes.status()?.endsWith('Ghostbench: 1 question')");
    editor.run("Ghostbench: Restart Server");
    let is_start = |message: &Value| message["method"] == "initialize";
    wait_until("another server is started", || {
        editor.sent_by_editor().iter().filter(|m| is_start(m)).count() == 2
    });
    editor.wait_until("Eyes.isServed()");
    // A panel that another one covers is shown by the next try.
    wait_until("the log is shown", || {
        editor.run("Ghostbench: Show Log");
        editor.evaluate("Eyes.output()") == json!("Ghostbench")
    });
    assert_eq!(editor.evaluate("Eyes.messages()"), json!([]));
    check_settings_sent(&editor);
}

/// Checks that the server got the user's settings without the client's own, and found no problem.
#[track_caller]
fn check_settings_sent(editor: &VsCode) {
    let asked =
        editor.sent_by_server().into_iter().find(|message| message["method"] == "workspace/configuration");
    let asked = asked.expect("the server asks for them");
    let sent = editor.sent_by_editor();
    let answer = sent
        .iter()
        .find(|message| message["method"].is_null() && message["id"] == asked["id"])
        .expect("it is answered");
    let reported = &answer["result"][0];
    assert_eq!(reported["completion"]["engine"], "scripted");
    assert_eq!(reported["trusted"], true);
    assert_eq!((&reported["server"], &reported["trace"]), (&Value::Null, &Value::Null));
    let complaints = editor.sent_by_server().iter().filter(|m| m["method"] == "window/logMessage").count();
    assert_eq!(complaints, 0);
}

/// Opens a workspace whose own settings name a server that writes a file; returns whether it was started.
#[track_caller]
fn starts_server_of_workspace(is_trusted: bool) -> Option<bool> {
    let project = Project::new("//- /a.py\n");
    let mark = project.sibling_path("mark");
    let rules = json!([{"path": "", "text": "total"}]).to_string();
    let settings = json!({"ghostbench.server.arguments": ["--scripted", rules]});
    let opening = |server| WindowOptions { settings, server, is_trusted };
    let script = project.write("server.sh", format!("#!/bin/sh\necho > '{}'\n", mark.display()));
    fs::set_permissions(&script, std::os::unix::fs::PermissionsExt::from_mode(0o755)).expect("it is ours");
    let own = json!({"ghostbench.server.path": "server.sh", "ghostbench.completion.enabled": false});
    project.write(".vscode/settings.json", own.to_string());
    let editor = VsCode::start(&project, "a.py", opening(None))?;
    if is_trusted {
        wait_until("the workspace's server is started", || mark.exists());
    } else {
        editor.wait_until_served();
        editor.type_text("x = ");
        // The workspace cannot switch it off either.
        editor.wait_for_this_ghost_text("total");
    }
    Some(mark.exists())
}

#[test]
fn workspace_server_path_is_used_only_if_trusted() {
    let Some(is_started) = starts_server_of_workspace(true) else { return };
    assert!(is_started);
    assert_eq!(starts_server_of_workspace(false), Some(false));
}
