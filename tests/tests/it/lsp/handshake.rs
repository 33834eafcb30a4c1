//! `initialize`: negotiation of client and server.

use std::fs;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use serde_json::{Value, json};
use tests::Project;
use tests::lsp::{Buffer, ClientSetup, Encoding};

use super::editor::{Editor, bare_setup, items, setup};
use super::scripted_engine::{RULES, assert_synchronized};

#[test]
fn position_encoding_defaults_to_utf16() {
    assert_eq!(negotiated_encoding(|setup| setup), Encoding::Utf16);
    assert_eq!(negotiated_encoding(|setup| setup.encodings(&[])), Encoding::Utf16);
}

#[test]
fn utf8_is_preferred_when_offered() {
    assert_eq!(negotiated_encoding(|setup| setup.encodings(&["utf-8", "utf-16"])), Encoding::Utf8);
    assert_eq!(negotiated_encoding(|setup| setup.encodings(&["utf-16", "utf-8", "utf-32"])), Encoding::Utf8);
}

#[test]
fn only_offered_encoding_is_used() {
    assert_eq!(negotiated_encoding(|setup| setup.encodings(&["utf-32"])), Encoding::Utf32);
    assert_eq!(negotiated_encoding(|setup| setup.encodings(&["utf-16"])), Encoding::Utf16);
}

#[test]
fn unknown_encoding_is_skipped() {
    assert_eq!(negotiated_encoding(|setup| setup.encodings(&["utf-7", "utf-32"])), Encoding::Utf32);
}

/// The negotiated encoding; positions must match in both copies.
#[track_caller]
fn negotiated_encoding(offer: impl FnOnce(ClientSetup) -> ClientSetup) -> Encoding {
    let project = Project::new("");
    let editor = Editor::start(&project, &["--scripted", &RULES.to_string()], offer(setup(&project)));
    let mut buffer = editor.open("echo.py", "a😀é = 1\n");
    editor.change(buffer.edit(5..5, "e\u{301}"));
    assert_synchronized(&editor, &buffer);
    assert_eq!(editor.status()["positionEncoding"], editor.encoding.name());
    editor.encoding
}

#[test]
fn initialize_result_lists_capabilities_and_commands() {
    let project = Project::new("");
    let editor = Editor::new(&project);
    let introduction = &editor.introduction;
    assert_eq!(introduction["serverInfo"]["name"], "ghostbench");
    let capabilities = &introduction["capabilities"];
    assert!(!capabilities["inlineCompletionProvider"].is_null(), "{capabilities}");
    assert!(capabilities["codeLensProvider"].is_object(), "{capabilities}");
    assert_eq!(capabilities["textDocumentSync"]["openClose"], true);
    assert_eq!(capabilities["textDocumentSync"]["change"], 2, "changes are incremental");
    assert_eq!(capabilities["workspace"]["workspaceFolders"]["supported"], true);
    let commands = &capabilities["executeCommandProvider"]["commands"];
    for command in ["ghostbench.didAcceptCompletionItem", "ghostbench.replay", "ghostbench.recordCase"] {
        assert!(commands.as_array().is_some_and(|all| all.contains(&command.into())), "{commands}");
    }
}

#[test]
fn workspace_folders_are_indexed_added_and_removed() {
    let project =
        Project::new("//- /one/a.py\nprint(1)\n//- /two/b.py\nprint(2)\nprint(3)\n//- /three/c.py\n");
    let root = project.root();
    let client = bare_setup();
    let client = client.folder(&root.join("one")).folder(&root.join("two"));
    let editor = Editor::start(&project, &[], client);
    wait_until_ready(&editor);
    let status = editor.status();
    assert_eq!(status["folders"][0]["files"], 1);
    assert_eq!(status["folders"][1]["lines"], 2);
    let folder = |name: &str| json!({"uri": editor.uri(name), "name": name});
    let event = json!({"added": [folder("three")], "removed": [folder("one")]});
    editor.client.notify("workspace/didChangeWorkspaceFolders", json!({"event": event}));
    wait_until_ready(&editor);
    let status = editor.status();
    let folders = status["folders"].as_array().expect("a list");
    let names: Vec<_> = folders.iter().map(|folder| folder["name"].as_str()).collect();
    assert_eq!(names, [Some("two"), Some("three")]);
}

#[test]
fn indexing_reports_work_done_progress_if_supported() {
    let project = Project::generated(3);
    let client = setup(&project).capability("/window/workDoneProgress", true.into());
    let editor = Editor::start(&project, &[], client);
    let token = &editor.client.expect_request("window/workDoneProgress/create")["token"];
    let progress = progress(&editor, token);
    assert_eq!(progress.first().map(String::as_str), Some("begin"));
    wait_until_ready(&editor);
    assert_eq!(editor.status()["folders"][0]["files"], 3);
}

#[test]
fn files_that_change_on_disk_are_read_again() {
    let project = Project::generated(3);
    let client =
        setup(&project).capability("/workspace/didChangeWatchedFiles/dynamicRegistration", true.into());
    let editor = Editor::start(&project, &[], client);
    let registered = editor.client.expect_request("client/registerCapability");
    assert_eq!(registered["registrations"][0]["method"], "workspace/didChangeWatchedFiles");
    wait_until_ready(&editor);
    project.write("shop/new.py", "x = 1\n");
    editor.watched("shop/new.py", 1);
    tests::wait_until("the new file is read", || editor.status()["folders"][0]["files"] == 4);
    fs::remove_file(project.root().join("shop/new.py")).expect("the workspace is ours");
    editor.watched("shop/new.py", 3);
    tests::wait_until("the file is forgotten", || editor.status()["folders"][0]["files"] == 3);
}

#[test]
fn client_without_progress_support_gets_no_progress() {
    let project = Project::generated(3);
    let editor = Editor::new(&project);
    // The client fails on any unexpected message.
    wait_until_ready(&editor);
    assert_eq!(editor.status()["folders"][0]["state"], "ready");
}

#[test]
fn indexing_does_not_wait_for_progress_creation() {
    use super::recording::{LOOP, SHOP, record};
    let project = Project::generated(1);
    let client = setup(&project)
        .capability("/window/workDoneProgress", true.into())
        .ignore("window/workDoneProgress/create");
    let editor = Editor::start(&project, &["--scripted", &RULES.to_string()], client);
    editor.client.expect_request("window/workDoneProgress/create");
    wait_until_ready(&editor);
    let buffer = editor.open("talk.py", SHOP);
    let recorded = record(&editor, &buffer, LOOP);
    let params = json!({"target": "case", "case": recorded["case"]["id"]});
    assert_eq!(editor.client.call("ghostbench/replay", params)["requests"], 1);
    project.write("talk.py", SHOP);
    editor.client.notify("textDocument/didSave", json!({"textDocument": buffer.id()}));
    tests::wait_until("the saved file is read", || editor.status()["folders"][0]["files"] == 2);
}

#[test]
fn missing_folder_fails_without_affecting_others() {
    let project = Project::new("//- /one/a.py\nprint(1)\n");
    let root = project.root();
    let client = bare_setup();
    let client = client.folder(&root.join("nowhere")).folder(&root.join("one"));
    let editor = Editor::start(&project, &["--scripted", &RULES.to_string()], client);
    wait_until_ready(&editor);
    let status = editor.status();
    assert_eq!(status["folders"][0]["state"], "failed");
    assert!(status["folders"][0]["message"].as_str().is_some_and(|why| !why.is_empty()), "{status}");
    assert_eq!(status["folders"][1]["state"], "ready");
    assert_synchronized(&editor, &editor.open("nowhere/echo.py", "x = 1\n"));
}

#[test]
fn without_a_folder_ghost_text_works_and_recording_fails() {
    let project = Project::new("");
    let editor = Editor::start(&project, &["--scripted", &RULES.to_string()], bare_setup());
    assert_eq!(editor.status()["folders"], json!([]));
    let buffer = editor.open("echo.py", "def f(x):\n    return x\n");
    assert_synchronized(&editor, &buffer);
    let params = json!({"textDocument": buffer.id(), "position": {"line": 1, "character": 4}});
    let id = editor.client.request("ghostbench/recordCase", params);
    let error = editor.client.wait(id).expect_err("there is no suite");
    assert!(error["message"].as_str().is_some_and(|why| why.contains("folder")), "{error}");
}

#[test]
fn configuration_is_requested_at_start_and_on_change() {
    let project = Project::new("");
    let is_enabled = Arc::new(AtomicBool::new(false));
    let answer = Arc::clone(&is_enabled);
    let client = setup(&project).capability("/workspace/configuration", true.into()).answer(
        "workspace/configuration",
        move |_| json!([{"completion": {"enabled": answer.load(Ordering::SeqCst)}}]),
    );
    let editor = Editor::start(&project, &["--scripted", &RULES.to_string()], client);
    let asked = editor.client.expect_request("workspace/configuration");
    assert_eq!(asked["items"], json!([{"section": "ghostbench"}]));
    let buffer = editor.open("talk.py", "x = 1\n");
    wait_for_suggestions(&editor, &buffer, 0);
    is_enabled.store(true, Ordering::SeqCst);
    editor.client.notify("workspace/didChangeConfiguration", json!({"settings": null}));
    editor.client.expect_request("workspace/configuration");
    wait_for_suggestions(&editor, &buffer, 1);
}

#[track_caller]
pub(super) fn wait_for_suggestions(editor: &Editor, buffer: &Buffer, count: usize) {
    tests::wait_until("the setting holds", || {
        let id = editor.ask_at_end(buffer);
        items(&editor.client.wait(id).expect("it is no failure")).len() == count
    });
}

#[test]
fn null_configuration_keeps_initialization_options() {
    let project = Project::new("");
    let client = setup(&project)
        .options(json!({"completion": {"enabled": false}}))
        .capability("/workspace/configuration", true.into())
        .capability("/workspace/didChangeWatchedFiles/dynamicRegistration", true.into());
    let editor = Editor::start(&project, &["--scripted", &RULES.to_string()], client);
    editor.client.expect_request("workspace/configuration");
    // The server registers for file events after `initialized`.
    editor.client.expect_request("client/registerCapability");
    let id = editor.ask_at_end(&editor.open("talk.py", "x = 1\n"));
    assert_eq!(items(&editor.client.wait(id).expect("it is no failure")), Vec::<Value>::new());
    assert_eq!(editor.last_completion(), "gated");
}

#[test]
fn invalid_configuration_response_is_tolerated() {
    for nonsense in
        [json!("nonsense"), json!([]), json!([7]), json!({"completion": {"enabled": false}}), Value::Null]
    {
        let project = Project::new("");
        let client = setup(&project)
            .capability("/workspace/configuration", true.into())
            .answer("workspace/configuration", move |_| nonsense.clone())
            .allow("window/showMessage");
        let editor = Editor::start(&project, &["--scripted", &RULES.to_string()], client);
        editor.client.expect_request("workspace/configuration");
        assert_synchronized(&editor, &editor.open("echo.py", "x = 1\n"));
    }
}

#[test]
fn pushed_settings_take_effect() {
    let project = Project::new("");
    let editor = Editor::scripted(&project, &RULES);
    let buffer = editor.open("talk.py", "x = 1\n");
    for (is_enabled, count) in [(false, 0), (true, 1)] {
        let settings = json!({"settings": {"ghostbench": {"completion": {"enabled": is_enabled}}}});
        editor.client.notify("workspace/didChangeConfiguration", settings);
        let id = editor.ask_at_end(&buffer);
        assert_eq!(items(&editor.client.wait(id).expect("it is no failure")).len(), count);
    }
}

#[test]
fn unknown_settings_are_reported_to_the_user() {
    let project = Project::new("");
    let client = setup(&project).options(json!({"colour": "red"}));
    let editor = Editor::start(&project, &["--scripted", &RULES.to_string()], client);
    let reported = editor.client.expect_notification("window/showMessage");
    assert!(reported["message"].as_str().is_some_and(|reported| reported.contains("colour")), "{reported}");
    assert_synchronized(&editor, &editor.open("echo.py", "x = 1\n"));
}

/// The kinds of progress for a token, up to its end.
#[track_caller]
pub(super) fn progress(editor: &Editor, token: &Value) -> Vec<String> {
    let mut kinds = Vec::new();
    while kinds.last().is_none_or(|kind| kind != "end") {
        let progress = editor.client.expect_notification("$/progress");
        assert_eq!(progress["token"], *token);
        kinds.push(progress["value"]["kind"].as_str().expect("progress has a kind").to_owned());
    }
    kinds
}

/// Waits until no folder is being indexed.
#[track_caller]
pub(super) fn wait_until_ready(editor: &Editor) {
    tests::wait_until("all folders are indexed", || {
        let status = editor.status();
        let folders = status["folders"].as_array().expect("folders are a list");
        folders.iter().all(|folder| folder["state"] != "indexing")
    });
}
