//! `textDocument/inlineCompletion`: which requests are answered, and how.

use serde_json::{Value, json};
use tests::Project;
use tests::lsp::Buffer;

use super::editor::{AUTOMATIC, Editor, INVOKED, completion_params, find, items, setup};
use super::scripted_engine::{RULES, TALK, assert_synchronized};

const REQUEST: &str = "textDocument/inlineCompletion";

#[test]
fn a_suggestion_is_drawn_at_the_cursor() {
    let project = Project::new("");
    let editor = Editor::scripted(&project, &RULES);
    let buffer = editor.open("talk.py", "def f():\n    é = '😀'\n    \n");
    for cursor in [buffer.text().len() - 1, buffer.text().len()] {
        let item = editor.item(&buffer, cursor);
        assert_eq!(buffer.ghost_text(cursor, &item), TALK);
        assert_eq!(editor.last_completion(), "ok");
    }
}

#[test]
fn newest_request_supersedes_others_of_the_same_document() {
    let project = Project::new("");
    let editor = Editor::scripted(&project, &RULES);
    let (one, two) = (editor.open("1/slow.py", "x = 1\n"), editor.open("2/slow.py", "x = 1\n"));
    let other = editor.ask_at_end(&two);
    let asked = [0; 5].map(|_| editor.ask_at_end(&one));
    let (&newest, older) = asked.split_last().expect("there are five");
    for &id in older {
        assert_eq!(editor.client.wait(id), Ok(Value::Null), "a superseded request is answered with null");
    }
    assert!(!editor.client.is_answered(newest) && !editor.client.is_answered(other));
    tests::wait_until("the superseded ones have freed the engine", || editor.busy() == 2);
    for id in [newest, other] {
        editor.client.cancel(id);
        assert!(editor.client.wait(id).is_err());
    }
}

#[test]
fn an_edit_elsewhere_ends_a_request_with_null() {
    let project = Project::new("");
    let editor = Editor::scripted(&project, &RULES);
    let mut buffer = editor.open("slow.py", "x = 1\ny = 2\n");
    let id = editor.ask_at_end(&buffer);
    tests::wait_until("the engine works on it", || editor.busy() == 1);
    editor.change(buffer.edit(0..1, "z"));
    assert_eq!(editor.client.wait(id), Ok(Value::Null));
    tests::wait_until("the engine is free", || editor.busy() == 0);
}

#[test]
fn silent_engine_returns_an_empty_list() {
    let project = Project::new("");
    let editor = Editor::scripted(&project, &RULES);
    let buffer = editor.open("quiet.py", "x = 1\n");
    for trigger in [AUTOMATIC, INVOKED] {
        let answer = editor.client.call(REQUEST, completion_params(&buffer, 6, trigger));
        assert_eq!(items(&answer), Vec::<Value>::new());
        assert_eq!(editor.last_completion(), "silent");
    }
}

#[test]
fn gated_request_returns_an_empty_list_with_a_reason() {
    let project = Project::new("");
    let editor = Editor::scripted(&project, &RULES);
    let buffer = editor.open("talk.py", "variable = 1\n");
    let id = editor.ask(&buffer, 3);
    assert_eq!(items(&editor.client.wait(id).expect("a gate is no failure")), Vec::<Value>::new());
    let last = &editor.status()["lastCompletion"];
    assert_eq!(last["status"], "gated");
    assert_eq!(last["reason"], "the cursor is inside a word");
}

#[test]
fn automatic_and_invoked_requests_are_answered() {
    let project = Project::new("");
    let editor = Editor::scripted(&project, &RULES);
    let buffer = editor.open("talk.py", "x = 1\n");
    for trigger in [AUTOMATIC, INVOKED] {
        let answer = editor.client.call(REQUEST, completion_params(&buffer, 6, trigger));
        let items = items(&answer);
        let texts: Vec<_> = items.iter().map(|item| buffer.ghost_text(6, item)).collect();
        assert_eq!(texts, [TALK]);
    }
}

#[test]
fn suggestion_continues_the_selected_popup_item() {
    let project = Project::new("");
    let editor = Editor::scripted(&project, &json!([{"path": "popup.py", "text": "(total)"}]));
    let buffer = editor.open("popup.py", "total = 1\npri\n");
    let start = find(buffer.text(), "pri");
    let selected = json!({"range": buffer.range(start..start + 3), "text": "print"});
    let answer = ask_with_popup(&editor, &buffer, start + 3, &selected);
    let items = items(&answer);
    assert_eq!(items.len(), 1, "{answer}");
    assert_eq!(items[0]["range"], selected["range"], "an item with another range is not drawn");
    assert_eq!(items[0]["insertText"], "print(total)");
}

#[test]
fn a_selection_that_does_not_touch_the_cursor_is_ignored() {
    let project = Project::new("");
    let editor = Editor::scripted(&project, &RULES);
    let buffer = editor.open("talk.py", "total = 1\nx = 2\n");
    let cursor = buffer.text().len();
    // Neovim sends the selected text in visual mode.
    let selected = json!({"range": buffer.range(0..5), "text": "total"});
    let answer = ask_with_popup(&editor, &buffer, cursor, &selected);
    let items = items(&answer);
    assert_eq!(items.len(), 1, "{answer}");
    assert_eq!(buffer.ghost_text(cursor, &items[0]), TALK);
}

#[track_caller]
fn ask_with_popup(editor: &Editor, buffer: &Buffer, cursor: usize, selected: &Value) -> Value {
    let mut params = completion_params(buffer, cursor, AUTOMATIC);
    params["context"]["selectedCompletionInfo"] = selected.clone();
    editor.client.call(REQUEST, params)
}

#[test]
fn typing_a_suggestion_reuses_the_answer() {
    let project = Project::new("");
    let editor = Editor::scripted(&project, &RULES);
    // An index that becomes complete between two requests invalidates cached answers.
    super::handshake::wait_until_ready(&editor);
    let mut buffer = editor.open("talk.py", "x = 1\n");
    let cursor = buffer.text().len();
    assert_eq!(editor.ghost_text(&buffer, cursor), TALK);
    assert_eq!(editor.last_completion(), "ok");
    for (typed, rest) in [("t", "otal = 1"), ("otal", " = 1"), (" ", "= 1")] {
        editor.change(buffer.append(typed));
        assert_eq!(editor.ghost_text(&buffer, buffer.text().len()), rest);
        assert_eq!(editor.last_completion(), "reused");
    }
}

#[test]
fn typing_an_invoked_suggestion_reuses_the_answer() {
    let project = Project::new("");
    let editor = Editor::scripted(&project, &RULES);
    // An index that becomes complete between two requests invalidates cached answers.
    super::handshake::wait_until_ready(&editor);
    let mut buffer = editor.open("talk.py", "x = 1\n");
    let answer = editor.client.call(REQUEST, completion_params(&buffer, 6, INVOKED));
    assert_eq!(items(&answer).len(), 1, "{answer}");
    editor.change(buffer.append("t"));
    assert_eq!(editor.ghost_text(&buffer, 7), "otal = 1");
    assert_eq!(editor.last_completion(), "reused");
}

/// An engine with alternatives, and the file for which it has them.
fn rules_with_alternatives() -> Value {
    json!([{"path": "choice.py", "text": "total = 1", "others": ["total = 2", "price = 3", "total = 1", " "]}])
}

/// The texts that the items of an answer insert at the end of a document.
#[track_caller]
fn texts(editor: &Editor, buffer: &Buffer, trigger: u8) -> Vec<String> {
    let end = buffer.text().len();
    let answer = editor.client.call(REQUEST, completion_params(buffer, end, trigger));
    items(&answer).iter().map(|item| buffer.ghost_text(end, item)).collect()
}

#[test]
fn explicit_invocation_returns_all_alternatives() {
    let project = Project::new("");
    let editor = Editor::scripted(&project, &rules_with_alternatives());
    // An index that becomes complete between two requests invalidates cached answers.
    super::handshake::wait_until_ready(&editor);
    let mut buffer = editor.open("choice.py", "x = 1\n");
    assert_eq!(texts(&editor, &buffer, AUTOMATIC), ["total = 1"]);
    let all = ["total = 1", "total = 2", "price = 3"];
    assert_eq!(texts(&editor, &buffer, INVOKED), all, "the shown text stays first");
    assert_eq!(editor.last_completion(), "ok");
    assert_eq!(texts(&editor, &buffer, INVOKED), all);
    assert_eq!(editor.last_completion(), "reused");
    editor.change(buffer.append("total = "));
    assert_eq!(texts(&editor, &buffer, AUTOMATIC), ["1", "2"], "whichever begins like this");
}

#[test]
fn alternatives_have_distinct_ids_and_can_be_accepted() {
    let project = Project::new("");
    let editor = Editor::scripted(&project, &rules_with_alternatives());
    let mut buffer = editor.open("choice.py", "x = 1\n");
    let answer = editor.client.call(REQUEST, completion_params(&buffer, 6, INVOKED));
    let items = items(&answer);
    let ids: std::collections::BTreeSet<String> =
        items.iter().map(|item| item["command"]["arguments"][0].to_string()).collect();
    assert_eq!((items.len(), ids.len()), (3, 3));
    editor.change(buffer.append("price = 3"));
    super::exposure::accept(&editor, &items[2]);
    let origin = super::exposure::origin(&editor, &buffer, "price = 3");
    assert_eq!(origin.exposure, cases::Exposure::Accepted);
}

#[test]
fn builtin_engine_offers_alternatives() {
    let project = Project::generated(3);
    let editor = Editor::new(&project);
    super::handshake::wait_until_ready(&editor);
    let text = "def total(orders, limit):\n    total = 0\n    for order in orders:\n        ";
    let buffer = editor.open("shop/new.py", text);
    let choice = texts(&editor, &buffer, INVOKED);
    let distinct: std::collections::BTreeSet<&String> = choice.iter().collect();
    assert!(choice.len() > 1 && choice.len() <= 6 && distinct.len() == choice.len(), "{choice:?}");
    assert_eq!(texts(&editor, &buffer, AUTOMATIC), choice, "known texts are kept");
}

#[test]
fn typing_other_text_sends_a_new_request() {
    let project = Project::new("");
    let editor = Editor::scripted(&project, &RULES);
    let mut buffer = editor.open("talk.py", "x = 1\n");
    assert_eq!(editor.ghost_text(&buffer, 6), TALK);
    editor.change(buffer.append("y = "));
    assert_eq!(editor.ghost_text(&buffer, 10), TALK);
    assert_eq!(editor.last_completion(), "ok");
}

#[test]
fn edit_elsewhere_invalidates_the_cached_answer() {
    let project = Project::new("");
    let editor = Editor::scripted(&project, &RULES);
    let mut buffer = editor.open("echo.py", "x = 1\ny = 2\n");
    assert_synchronized(&editor, &buffer);
    editor.change(buffer.edit(4..5, "3"));
    // The echo of the old text would still match at the cursor.
    assert_synchronized(&editor, &buffer);
    assert_eq!(editor.last_completion(), "ok");
}

#[test]
fn answer_in_flight_is_shared_if_the_typed_text_matches() {
    let project = Project::new("");
    let editor = Editor::scripted(&project, &json!([{"path": "late.py", "delay_ms": 500, "text": TALK}]));
    let mut buffer = editor.open("late.py", "x = 1\n");
    let first = editor.ask_at_end(&buffer);
    tests::wait_until("the engine works on it", || editor.busy() == 1);
    editor.change(buffer.append("to"));
    assert_eq!(editor.client.wait(first), Ok(Value::Null), "its place on the screen has changed");
    assert_eq!(editor.ghost_text(&buffer, 8), "tal = 1");
    assert_eq!(editor.last_completion(), "reused");
}

#[test]
fn items_have_distinct_ids() {
    let project = Project::new("");
    let editor = Editor::scripted(&project, &RULES);
    let id = |path| {
        let buffer = editor.open(path, "x = 1\n");
        editor.item(&buffer, 6)["command"]["arguments"][0].clone()
    };
    assert_ne!(id("1/talk.py"), id("2/talk.py"));
}

#[test]
fn failed_engine_returns_an_empty_list_and_a_reason() {
    let project = Project::new("");
    let editor = Editor::scripted(&project, &RULES);
    let buffer = editor.open("fail.py", "x = 1\n");
    let id = editor.ask_at_end(&buffer);
    let answer = editor.client.wait(id).expect("editors show or log an error at every key");
    assert_eq!(items(&answer), Vec::<Value>::new());
    let last = &editor.status()["lastCompletion"];
    assert_eq!(last["status"], "error");
    let shown = editor.client.expect_notification("window/showMessage");
    for reason in [&shown["message"], &last["reason"]] {
        assert!(reason.as_str().is_some_and(|why| why.contains("out of order")), "{reason}");
    }
}

#[test]
fn exceeded_deadline_returns_an_empty_list() {
    let project = Project::new("");
    let client = setup(&project).options(json!({"completion": {"deadlineMs": 50}}));
    let editor = Editor::start(&project, &["--scripted", &RULES.to_string()], client);
    let buffer = editor.open("slow.py", "x = 1\n");
    let id = editor.ask_at_end(&buffer);
    assert_eq!(items(&editor.client.wait(id).expect("it is no failure")), Vec::<Value>::new());
    assert_eq!((editor.last_completion().as_str(), editor.busy()), ("timeout", 0));
    let shown = editor.client.expect_notification("window/showMessage");
    assert!(shown["message"].as_str().is_some_and(|why| why.contains("deadline_ms")), "{shown}");
}

#[test]
fn the_built_in_engine_completes_from_the_workspace() {
    let project = Project::generated(3);
    let editor = Editor::new(&project);
    super::handshake::wait_until_ready(&editor);
    let text = "def total(orders, limit):\n    total = 0\n    for order in orders:\n        price = order.price * 2\n        if ";
    let buffer = editor.open("shop/new.py", text);
    let ghost_text = editor.ghost_text(&buffer, text.len());
    assert!(ghost_text.starts_with("price < limit:"), "{ghost_text}");
}
