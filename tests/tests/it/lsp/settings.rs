//! Settings in the editor: changes of files, trust, and messages that are shown once.

use std::fs;
use std::path::PathBuf;

use serde_json::{Value, json};
use tests::Project;
use tests::lsp::{Buffer, ClientSetup};

use super::editor::{Editor, REQUEST_FAILED, bare_setup, items, setup};
use super::handshake::wait_for_suggestions;
use super::recording::{LOOP, SHOP, cursor};
use super::scripted_engine::RULES;
use crate::settings::{TWO_ENGINES, user_file};

const OFF: &str = "[completion]\nenabled = false\n";
const ON: &str = "[completion]\nenabled = true\n";

/// An editor with an engine that always answers.
#[track_caller]
fn editor_with_answers(project: &Project, setup: ClientSetup) -> (Editor, Buffer) {
    let editor = Editor::start(project, &["--scripted", &RULES.to_string()], setup);
    let buffer = editor.open("talk.py", "x = 1\n");
    (editor, buffer)
}

/// Current number of suggestions.
#[track_caller]
fn suggestions(editor: &Editor, buffer: &Buffer) -> usize {
    let id = editor.ask_at_end(buffer);
    items(&editor.client.wait(id).expect("it is no failure")).len()
}

/// Replaces the workspace's settings file atomically: the server follows it, and would read a partly written file.
#[track_caller]
fn rewrite(project: &Project, text: impl AsRef<[u8]>) -> PathBuf {
    let (new, path) = (project.sibling_path("new.toml"), project.root().join("ghostbench.toml"));
    fs::write(&new, text).expect("the folder is ours");
    fs::rename(new, &path).expect("the folder is ours");
    path
}

/// The next message to the user.
#[track_caller]
fn shown_message(editor: &Editor) -> String {
    let message = editor.client.expect_notification("window/showMessage");
    message["message"].as_str().expect("a message is text").to_owned()
}

/// Names of the engines; disabled ones in brackets.
#[track_caller]
fn engines(editor: &Editor) -> Vec<String> {
    let status = editor.status();
    let engines = status["engines"].as_array().expect("engines are a list");
    engines
        .iter()
        .map(|engine| {
            let name = engine["name"].as_str().expect("an engine has a name");
            if engine["reason"].is_null() { name.to_owned() } else { format!("({name})") }
        })
        .collect()
}

#[track_caller]
fn wait_for_engines(editor: &Editor, expected: &[&str]) {
    tests::wait_until("the engines are there", || engines(editor) == expected);
}

#[test]
fn workspace_settings_apply_to_the_first_request_and_reload() {
    let project = Project::new(&format!("//- /ghostbench.toml\n{OFF}"));
    let (editor, buffer) = editor_with_answers(&project, setup(&project));
    assert_eq!(suggestions(&editor, &buffer), 0);
    rewrite(&project, ON);
    wait_for_suggestions(&editor, &buffer, 1);
    fs::remove_file(rewrite(&project, OFF)).expect("the workspace is ours");
    wait_for_suggestions(&editor, &buffer, 1);
}

#[test]
fn settings_reload_on_a_watched_file_event() {
    let project = Project::new(&format!("//- /ghostbench.toml\n{OFF}"));
    let client =
        setup(&project).capability("/workspace/didChangeWatchedFiles/dynamicRegistration", true.into());
    let (editor, buffer) = editor_with_answers(&project, client);
    let registered = editor.client.expect_request("client/registerCapability");
    assert!(registered.to_string().contains("**/*"), "the editor tells of this file too: {registered}");
    assert_eq!(suggestions(&editor, &buffer), 0);
    rewrite(&project, ON);
    editor.watched("ghostbench.toml", 2);
    wait_for_suggestions(&editor, &buffer, 1);
}

#[test]
fn invalid_settings_file_keeps_the_previous_settings() {
    let project = Project::new(&format!("//- /ghostbench.toml\n{OFF}"));
    let (editor, buffer) = editor_with_answers(&project, setup(&project));
    assert_eq!(suggestions(&editor, &buffer), 0);
    rewrite(&project, "[completion\n");
    let message = shown_message(&editor);
    assert!(message.contains("ghostbench.toml:1:12: invalid TOML"), "{message}");
    assert_eq!(suggestions(&editor, &buffer), 0, "the previous setting remains in effect");
    // The same mistake at another position is not reported again, a new one is.
    rewrite(&project, "# moved\n[completion\n[context]\nstratgy = 3\n");
    let message = shown_message(&editor);
    assert!(message.contains("stratgy") && !message.contains("invalid TOML"), "{message}");
    assert_eq!(suggestions(&editor, &buffer), 0);
    rewrite(&project, ON);
    wait_for_suggestions(&editor, &buffer, 1);
    rewrite(&project, "[completion\n");
    let message = shown_message(&editor);
    assert!(message.contains("invalid TOML"), "it came back: {message}");
    assert_eq!(suggestions(&editor, &buffer), 1);
}

#[test]
fn engines_of_an_untrusted_file_are_disabled_until_trusted() {
    let project = Project::new(&format!("//- /ghostbench.toml\n{TWO_ENGINES}"));
    let editor = Editor::start(&project, &[], setup(&project));
    assert_eq!(engines(&editor), ["builtin", "(mine)", "(plain)"]);
    let message = shown_message(&editor);
    assert!(
        message.contains("ghostbench.toml: is not trusted") && message.contains("ghostbench trust"),
        "{message}"
    );
    project.run("trust").expect_code(0);
    wait_for_engines(&editor, &["mine", "plain"]);
    rewrite(&project, format!("{TWO_ENGINES}# changed\n"));
    let message = shown_message(&editor);
    assert!(message.contains("has changed since it was trusted"), "{message}");
    assert_eq!(engines(&editor), ["builtin", "(mine)", "(plain)"]);
}

#[test]
fn editor_setting_can_grant_and_revoke_trust() {
    let project = Project::new(&format!("//- /ghostbench.toml\n{TWO_ENGINES}"));
    let editor = Editor::start(&project, &[], setup(&project).options(json!({"trusted": true})));
    assert_eq!(engines(&editor), ["mine", "plain"]);
    let change = |trusted: Value| {
        let settings = json!({"settings": {"ghostbench": {"trusted": trusted}}});
        editor.client.notify("workspace/didChangeConfiguration", settings);
    };
    change(false.into());
    assert_eq!(engines(&editor), ["builtin", "(mine)", "(plain)"]);
    assert!(shown_message(&editor).contains("is not trusted"));
    change(Value::Null);
    assert_eq!(engines(&editor), ["mine", "plain"]);
}

#[test]
fn user_settings_define_engines_and_the_active_one() {
    let project = Project::generated(2);
    let path = user_file(&project, TWO_ENGINES);
    let editor = Editor::start(&project, &[], setup(&project));
    assert_eq!(engines(&editor), ["mine", "plain"]);
    fs::write(&path, format!("[completion]\nengine = \"plain\"\n{TWO_ENGINES}")).expect("the home is ours");
    wait_for_engines(&editor, &["plain", "mine"]);
    let engine = json!({"settings": {"ghostbench": {"completion": {"engine": "nobody"}}}});
    editor.client.notify("workspace/didChangeConfiguration", engine);
    assert_eq!(engines(&editor), ["mine", "plain"]);
    let message = shown_message(&editor);
    assert!(message.contains("ghostbench.completion.engine: engine `nobody` is not available"), "{message}");
}

#[test]
fn engine_option_selects_engines() {
    let project = Project::generated(2);
    user_file(&project, TWO_ENGINES);
    let editor = Editor::start(&project, &["--engine", "plain", "--engine", "empty"], setup(&project));
    assert_eq!(engines(&editor), ["plain", "empty"]);
    let editor = Editor::start(&project, &["--engine", "nobody"], setup(&project));
    assert_eq!(engines(&editor), ["builtin"]);
    let message = shown_message(&editor);
    assert!(message.contains("--engine: there is no engine `nobody`; known are mine, plain"), "{message}");
    let outcome = project.run("lsp --config nowhere.toml").expect_code(2);
    outcome.expect_message(&["nowhere.toml", "there is no such file"]);
}

#[test]
fn folder_settings_are_separate_and_problems_reported_once() {
    let project = Project::new(&format!("//- /one/ghostbench.toml\n{OFF}//- /two/a.py\n"));
    user_file(&project, "[completion]\ncolour = 1\n");
    let root = project.root();
    let client = bare_setup().folder(&root.join("one")).folder(&root.join("two"));
    let editor = Editor::start(&project, &["--scripted", &RULES.to_string()], client);
    let off = editor.open("one/talk.py", "x = 1\n");
    let on = editor.open("two/talk.py", "x = 1\n");
    assert_eq!((suggestions(&editor, &off), suggestions(&editor, &on)), (0, 1));
    let message = shown_message(&editor);
    assert!(message.contains("unknown key `colour`"), "{message}");
    // The client fails on any unread message.
}

#[test]
fn privacy_setting_disables_recording() {
    let project = Project::new("");
    let client = setup(&project).options(json!({"record": {"privacy": "off"}}));
    let editor = Editor::start(&project, &["--scripted", &RULES.to_string()], client);
    let buffer = editor.open("shop.py", SHOP);
    let place = super::editor::find(SHOP, LOOP);
    let id = editor.client.request("ghostbench/recordCase", cursor(&buffer, place));
    let error = editor.client.wait(id).expect_err("nothing is recorded");
    assert_eq!(error["code"], REQUEST_FAILED);
    assert!(error["message"].as_str().is_some_and(|why| why.contains("record.privacy")), "{error}");
}

#[test]
fn secrets_in_settings_are_not_logged_or_shown() {
    let project = Project::new("");
    user_file(
        &project,
        "[[engine]]\nname = \"a\"\nkind = \"lsp\"\ncommand = [\"x\"]\n[[engine]]\nname = \"b\"\nkind = \"tgi\"\n\
         url = \"http://me:hidden-1@h\"\napi_key_env = \"SOME_KEY\"\nheaders = {A = \"$OTHER_KEY\", B = \"hidden-2\"}\n",
    );
    let mut command = project.ghostbench("lsp --log-level debug");
    command.env("SOME_KEY", "hidden-3");
    let editor = Editor::initialized(&project, tests::lsp::Client::spawn(command, setup(&project)));
    let message = shown_message(&editor);
    assert!(message.contains("OTHER_KEY") && !message.contains("hidden"), "{message}");
    let status = editor.status();
    assert!(!status.to_string().contains("hidden"), "{status}");
    let log =
        fs::read_to_string(status["logFile"].as_str().expect("there is a log")).expect("it can be read");
    assert!(log.contains("OTHER_KEY") && !log.contains("hidden"), "{log}");
}
