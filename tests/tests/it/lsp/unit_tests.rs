//! Unit tests that judge replays: the lens of a recorded case shows whether its tests pass with an engine's answer.

use serde_json::{Value, json};
use tests::lsp::{Buffer, Client, ClientSetup};
use tests::wait_until;

use super::editor::{DEADLINE_MS, Editor, REQUEST_CANCELLED, find, setup};
use super::handshake::wait_until_ready;
use super::recording::{lenses, record};
use super::replay::{replay_case, title};
use crate::sandbox_attacks::processes_with;
use crate::unit_tests::{PACKAGE, PythonProject};

const PRICES: &str = "shop/prices.py";

/// Other code than the body of `total`, which does the same.
const OTHER_STYLE: &str =
    "for price in filter(lambda price: price <= limit, prices):\n        result += price";

fn editor(python: &PythonProject, text: &str, setup: ClientSetup) -> Editor {
    let mut command = python.command("lsp");
    command.args(["--scripted", &json!([{"path": PRICES, "text": text}]).to_string()]);
    let editor = Editor::initialized(&python.project, Client::spawn(command, setup));
    wait_until_ready(&editor);
    editor
}

fn open_prices(editor: &Editor, python: &PythonProject) -> Buffer {
    let text = std::fs::read_to_string(python.project.root().join(PRICES)).expect("a file");
    editor.open(PRICES, &text)
}

/// Records the loop of `total`, replays it, and returns its result.
#[track_caller]
fn replay_total(editor: &Editor, buffer: &Buffer) -> Value {
    let recorded = record(editor, buffer, "for price in prices:\n        if price <= limit");
    replay_case(editor, &recorded)["cases"][0]["results"][0].take()
}

#[test]
fn lens_shows_whether_the_tests_pass() {
    let Some(python) = PythonProject::new(PACKAGE) else { return };
    let right = editor(&python, OTHER_STYLE, setup(&python.project));
    let buffer = open_prices(&right, &python);
    let result = replay_total(&right, &buffer);
    assert_eq!((&result["exact"], &result["passed"]), (&false.into(), &true.into()), "{result}");
    let shown = title(&right, &buffer);
    assert!(shown.contains("similar, tests passed"), "{shown}");
    drop(right);
    // Another server shows the verdict, and replaces it by that of its own engine.
    let wrong = editor(&python, "result = len(prices)", setup(&python.project));
    let buffer = open_prices(&wrong, &python);
    assert_eq!(title(&wrong, &buffer), shown);
    let result = replay_total(&wrong, &buffer);
    assert_eq!((&result["exact"], &result["passed"]), (&false.into(), &false.into()), "{result}");
    assert!(title(&wrong, &buffer).contains("similar, tests failed"), "{}", title(&wrong, &buffer));
    assert!(!python.project.root().join(".ghostbench-tests").exists(), "the workspace has changed");
}

#[test]
fn code_without_tests_has_no_verdict() {
    let Some(python) = PythonProject::new(PACKAGE) else { return };
    let editor = editor(&python, "return \"dear\"", setup(&python.project));
    let buffer = open_prices(&editor, &python);
    let recorded = record(&editor, &buffer, "return \"expensive\"");
    let replayed = replay_case(&editor, &recorded);
    assert_eq!(replayed["cases"][0]["results"][0]["passed"], Value::Null, "{replayed}");
    assert!(!title(&editor, &buffer).contains("tests"), "{}", title(&editor, &buffer));
}

#[test]
fn case_is_judged_where_its_code_is_now() {
    let Some(python) = PythonProject::new(PACKAGE) else { return };
    let editor = editor(&python, OTHER_STYLE, setup(&python.project));
    let mut buffer = open_prices(&editor, &python);
    let recorded = record(&editor, &buffer, "for price in prices:\n        if price <= limit");
    let save = |text: &str| {
        python.project.write(PRICES, text);
        editor.watched(PRICES, 2);
    };
    editor.change(buffer.edit(0..0, "import math\n\n\n"));
    save(buffer.text());
    let result = replay_case(&editor, &recorded)["cases"][0]["results"][0].take();
    assert_eq!(result["passed"], true, "{result}");
    // Its own code is another one now, so that no answer can take its place.
    let at = find(buffer.text(), "price <= limit");
    editor.change(buffer.edit(at..at + 14, "price < limit"));
    save(buffer.text());
    let result = replay_case(&editor, &recorded)["cases"][0]["results"][0].take();
    assert_eq!(result["passed"], Value::Null, "{result}");
    assert_eq!(lenses(&editor, &buffer).len(), 1);
}

#[test]
fn cancelling_a_replay_kills_its_tests_and_the_next_one_runs_them() {
    let Some(python) = PythonProject::new(PACKAGE) else { return };
    // The arguments of a process are seen from outside of its sandbox.
    let seconds = format!("600.{}", std::process::id());
    let slow =
        format!("import subprocess\n\n\ndef test_slow():\n    subprocess.run(['sleep', '{seconds}'])\n");
    python.project.write("tests/test_slow.py", &slow);
    let editor = editor(&python, OTHER_STYLE, setup(&python.project));
    let buffer = open_prices(&editor, &python);
    let recorded = record(&editor, &buffer, "for price in prices:\n        if price <= limit");
    let params = json!({"target": "case", "case": recorded["case"]["id"]});
    let replay = editor.client.request("ghostbench/replay", params);
    wait_until("a test runs", || !processes_with(&seconds).is_empty());
    editor.client.cancel(replay);
    assert_eq!(editor.client.wait(replay).expect_err("it is cancelled")["code"], REQUEST_CANCELLED);
    wait_until("the test is killed", || processes_with(&seconds).is_empty());
    // The tests are of the saved files: these are other ones for the editor, too.
    python.project.write("tests/test_slow.py", "");
    editor.watched("tests/test_slow.py", 2);
    let result = replay_case(&editor, &recorded)["cases"][0]["results"][0].take();
    assert_eq!(result["passed"], true, "{result}");
}

#[test]
fn tests_run_in_trusted_workspaces_only_and_can_be_turned_off() {
    for options in [
        json!({"completion": {"deadlineMs": DEADLINE_MS}, "trusted": false}),
        json!({"completion": {"deadlineMs": DEADLINE_MS}, "tests": {"inEditor": false}}),
    ] {
        let Some(python) = PythonProject::new(PACKAGE) else { return };
        let editor = editor(&python, OTHER_STYLE, setup(&python.project).options(options.clone()));
        let buffer = open_prices(&editor, &python);
        let result = replay_total(&editor, &buffer);
        assert_eq!(
            (&result["status"], &result["passed"]),
            (&"ok".into(), &Value::Null),
            "{options}: {result}"
        );
    }
}
