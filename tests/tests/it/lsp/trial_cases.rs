//! Opportunities of a live trial as recorded cases: once reviewed, they get code lenses and are replayed.

use serde_json::{Value, json};
use tests::Project;

use super::editor::{Editor, find};
use super::recording::{all_cases, lenses};
use super::trial::{SHOP, editor_at_level, recorded_editor, rows, save, start_trial, type_before};
use crate::trial::json as parsed;

/// What the developer writes: what the engine suggests.
const WRITTEN: &str = "total = price * rate";

/// Records an opportunity at a level of privacy, where the developer writes [`WRITTEN`]. Returns the text of the file, and the truth.
#[track_caller]
fn record_opportunity(project: &Project, level: &str) -> (String, String) {
    start_trial(project);
    let editor = editor_at_level(project, level);
    let mut buffer = editor.open("shop.py", SHOP);
    let asked = editor.ask(&buffer, find(SHOP, "    \n") + 4);
    editor.client.wait(asked).expect("it is answered");
    type_before(&editor, &mut buffer, "\n\n\ndef", WRITTEN);
    save(&editor, &buffer);
    editor.client.exit();
    let rows = rows(project);
    let [row] = &rows[..] else { panic!("{rows:?}") };
    (buffer.text().to_owned(), row.truth().expect("there is a truth").text.clone())
}

/// Runs the command of a lens.
#[track_caller]
fn click(editor: &Editor, lens: &Value) -> Value {
    let (command, arguments) = (&lens["command"]["command"], &lens["command"]["arguments"]);
    editor.client.call("workspace/executeCommand", json!({"command": command, "arguments": arguments}))
}

#[test]
fn reviewed_opportunities_become_recorded_cases_with_a_lens() {
    let project = Project::new("");
    let (text, truth) = record_opportunity(&project, "full");
    assert_eq!(truth, WRITTEN);
    project.write("shop.py", &text);
    let editor = recorded_editor(&project);
    let buffer = editor.open("shop.py", &text);
    assert_eq!(lenses(&editor, &buffer), Vec::<Value>::new());
    let refused = project.run("trial export --record").expect_code(2);
    assert!(refused.stderr.contains("trial review --full"), "{}", refused.stderr);
    project.run("trial review --full").expect_code(0);
    let outcome = parsed(&project.run("trial export --record --json").expect_code(0).stdout);
    assert_eq!((&outcome["recorded"]["cases"], &outcome["recorded"]["known"]), (&1.into(), &0.into()));

    // The editor that is open hears of it.
    editor.client.expect_request("workspace/codeLens/refresh");
    let found = lenses(&editor, &buffer);
    assert_eq!(found.len(), 1, "{found:?}");
    let line = buffer.position(find(&text, WRITTEN))["line"].clone();
    assert_eq!(found[0]["range"]["start"]["line"], line);
    let replayed = click(&editor, &found[0]);
    assert_eq!(replayed["cases"][0]["results"][0]["exact"], true, "{replayed}");
    editor.client.expect_request("workspace/codeLens/refresh");
    let title = lenses(&editor, &buffer)[0]["command"]["title"].clone();
    assert!(title.as_str().is_some_and(|title| title.contains("scripted exact")), "{title}");
    assert_eq!(all_cases(&editor)[0]["path"], "shop.py");

    let again = parsed(&project.run("trial export --record --json").expect_code(0).stdout);
    assert_eq!((&again["recorded"]["cases"], &again["recorded"]["known"]), (&0.into(), &1.into()));
    assert_eq!(lenses(&editor, &buffer).len(), 1);
}

#[test]
fn code_that_is_not_stored_as_it_is_becomes_no_case() {
    let project = Project::new("");
    let (_, truth) = record_opportunity(&project, "structure");
    assert!(!truth.contains("price"), "{truth}");
    project.run("trial review --full").expect_code(0);
    let refused = project.run("trial export --record").expect_code(2);
    assert!(refused.stderr.contains("no case to record"), "{}", refused.stderr);
}
