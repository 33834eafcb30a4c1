//! Code lenses: the positions of recorded cases while their text changes.

use serde_json::{Value, json};
use tests::Project;
use tests::lsp::Buffer;

use super::editor::{Editor, find};
use super::recording::{LOOP, SHOP, all_cases, cursor, lenses, record};
use super::scripted_engine::{RULES, assert_synchronized};

#[test]
fn lens_is_at_the_case_and_follows_edits() {
    let project = Project::new("");
    let editor = Editor::scripted(&project, &RULES);
    let mut buffer = editor.open("shop.py", SHOP);
    record(&editor, &buffer, LOOP);
    editor.client.expect_request("workspace/codeLens/refresh");
    assert_lens_at(&editor, &buffer, "for order");
    editor.change(buffer.edit(0..0, "# One line\r\n# and another '😀'\n"));
    assert_lens_at(&editor, &buffer, "for order");
    let place = find(buffer.text(), "result = 0");
    editor.change(buffer.edit(place..place + 10, "result = 0\n    count = 1"));
    assert_lens_at(&editor, &buffer, "for order");
    // Text below does not move it.
    editor.change(buffer.append("\n\nx = 1\n"));
    assert_lens_at(&editor, &buffer, "for order");
}

#[track_caller]
pub(super) fn assert_lens_at(editor: &Editor, buffer: &Buffer, needle: &str) {
    let lenses = lenses(editor, buffer);
    assert_eq!(lenses.len(), 1, "{lenses:?}");
    let line = buffer.position(find(buffer.text(), needle))["line"].clone();
    assert_eq!(lenses[0]["range"]["start"]["line"], line);
    assert_eq!(lenses[0]["command"]["command"], "ghostbench.replay");
    let title = lenses[0]["command"]["title"].as_str().expect("a lens has a title");
    assert!(title.contains("full_block"), "the scenario is shown: {title}");
}

#[test]
fn lens_disappears_with_its_deleted_text() {
    let project = Project::new("");
    let editor = Editor::scripted(&project, &RULES);
    let mut buffer = editor.open("shop.py", SHOP);
    record(&editor, &buffer, LOOP);
    record(&editor, &buffer, "if radius");
    assert_eq!(lenses(&editor, &buffer).len(), 2);
    let start = find(buffer.text(), "    for order");
    let end = find(buffer.text(), "    return result\n");
    editor.change(buffer.edit(start..end, ""));
    assert_lens_at(&editor, &buffer, "if radius");
    assert_eq!(all_cases(&editor).len(), 2, "the case itself stays");
}

#[test]
fn reopened_document_shows_its_lenses() {
    let project = Project::new("");
    let editor = Editor::scripted(&project, &RULES);
    let buffer = editor.open("shop.py", SHOP);
    record(&editor, &buffer, LOOP);
    editor.close(&buffer);
    let changed_meanwhile = format!("# A line more.\n{SHOP}");
    let reopened = editor.open("shop.py", &changed_meanwhile);
    assert_lens_at(&editor, &reopened, "for order");
    editor.close(&reopened);
    let gone = editor.open("shop.py", "x = 1\n");
    assert_eq!(lenses(&editor, &gone), Vec::<Value>::new());
}

#[test]
fn lens_reappears_with_restored_text() {
    let project = Project::new("");
    let editor = Editor::scripted(&project, &RULES);
    let mut buffer = editor.open("shop.py", SHOP);
    record(&editor, &buffer, LOOP);
    let start = find(SHOP, LOOP);
    editor.change(buffer.edit(start..start + LOOP.len(), ""));
    assert_eq!(lenses(&editor, &buffer), Vec::<Value>::new());
    editor.change(buffer.edit(start..start, LOOP));
    assert_lens_at(&editor, &buffer, "for order");
}

#[test]
fn full_text_changes_keep_lenses() {
    let project = Project::new("");
    let editor = Editor::scripted(&project, &RULES);
    let mut buffer = editor.open("shop.py", SHOP);
    record(&editor, &buffer, LOOP);
    record(&editor, &buffer, "if radius");
    let before = lenses(&editor, &buffer);
    assert_eq!(before.len(), 2);
    let change = buffer.change_all(SHOP);
    editor.change(buffer.did_change(vec![change]));
    assert_eq!(lenses(&editor, &buffer), before);
    let change = buffer.change_all(&format!("# A line of '😀' more.\n{SHOP}"));
    editor.change(buffer.did_change(vec![change]));
    let places = lenses(&editor, &buffer).into_iter().map(|mut lens| lens["range"]["start"].take());
    let place = |needle| buffer.position(find(buffer.text(), needle));
    assert_eq!(places.collect::<Vec<_>>(), [place(LOOP), place("if radius")]);
}

#[test]
fn lens_positions_are_consistent_during_edits() {
    let project = Project::new("");
    let editor = Editor::scripted(&project, &RULES);
    let mut buffer = editor.open("shop.py", SHOP);
    record(&editor, &buffer, LOOP);
    let mut asked = Vec::new();
    for _ in 0..100 {
        let line = buffer.position(find(buffer.text(), LOOP))["line"].as_u64();
        let id = editor.client.request("textDocument/codeLens", json!({"textDocument": buffer.id()}));
        asked.push((id, line));
        editor.change(buffer.edit(0..0, "# A line more.\n"));
    }
    let newest = buffer.position(find(buffer.text(), LOOP));
    for (id, line) in asked {
        let lenses = editor.client.wait(id).expect("lenses are given");
        let start = &lenses[0]["range"]["start"];
        assert_eq!(start["character"], newest["character"], "{start}");
        let lines = line..=newest["line"].as_u64();
        assert!(lines.contains(&start["line"].as_u64()), "{start} is in {lines:?}");
    }
    assert_lens_at(&editor, &buffer, "for order");
}

#[test]
fn slow_lens_search_does_not_block_other_requests() {
    let project = Project::new("");
    let editor = Editor::scripted(&project, &RULES);
    // Repeated text takes longest to find.
    let line = "total = subtotal\n";
    let text = line.repeat(40_000);
    let large = editor.open("large.py", &text);
    for number in 0..10 {
        editor.client.call("ghostbench/recordCase", cursor(&large, line.len() * 100 * number));
    }
    editor.close(&large);
    let mut large = editor.open("large.py", &format!("# A line more.\n{text}"));
    let mut other = editor.open("echo.py", "x = 1\n");
    let slow = editor.client.request("textDocument/codeLens", json!({"textDocument": large.id()}));
    for _ in 0..5 {
        editor.change(large.append("# More.\n"));
        editor.change(other.append("y = 2\n"));
        assert_synchronized(&editor, &other);
    }
    assert!(!editor.client.is_answered(slow), "all that went on while the cases were looked for");
    let lenses = editor.client.wait(slow).expect("lenses are given");
    assert_eq!(lenses.as_array().map(Vec::len), Some(10));
}

/// The titles of a document's lenses.
fn titles(editor: &Editor, buffer: &Buffer) -> Vec<String> {
    lenses(editor, buffer)
        .into_iter()
        .filter_map(|lens| lens["command"]["title"].as_str().map(str::to_owned))
        .collect()
}

#[test]
fn formatting_and_line_end_changes_keep_the_lens_unedited() {
    let project = Project::new("");
    let editor = Editor::scripted(&project, &RULES);
    let mut buffer = editor.open("shop.py", SHOP);
    record(&editor, &buffer, LOOP);
    let crlf = SHOP.replace('\n', "\r\n");
    let nested = format!("class Shop:\n    {}", SHOP.trim_end().replace('\n', "\n    "));
    for text in [crlf, SHOP.replace("    ", "  "), SHOP.replace("    ", "\t"), nested, SHOP.to_owned()] {
        let whole = buffer.change_all(&text);
        editor.change(buffer.did_change(vec![whole]));
        assert_lens_at(&editor, &buffer, "for order");
        assert!(!titles(&editor, &buffer)[0].contains("edited"), "{:?}", titles(&editor, &buffer));
    }
    // Line by line, as formatters in editors do.
    for line in buffer.text().lines().map(str::to_owned).collect::<Vec<_>>() {
        if let Some(rest) = line.strip_prefix("    ").filter(|_| buffer.text().matches(&line).count() == 1) {
            let at = find(buffer.text(), &line);
            editor.change(buffer.edit(at..at + line.len(), &format!("      {rest}")));
            assert_eq!(lenses(&editor, &buffer).len(), 1, "{line}");
        }
    }
    assert_lens_at(&editor, &buffer, "for order");
    let place = find(buffer.text(), "result += order.price");
    editor.change(buffer.edit(place..place + 6, "total"));
    assert!(titles(&editor, &buffer)[0].contains("edited since"), "{:?}", titles(&editor, &buffer));
}

#[test]
fn masked_secret_does_not_mark_a_case_as_edited() {
    let key = ["ghp", "_0123456789abcdefABCDEF0123456789abcd"].concat();
    let text = format!(
        "def login(shop):\n    for user in shop:\n        user.enter(token=\"{key}\")\n    return shop\n"
    );
    let project = Project::new("");
    let editor = Editor::scripted(&project, &RULES);
    let mut buffer = editor.open("shop.py", &text);
    record(&editor, &buffer, "for user");
    assert!(!titles(&editor, &buffer)[0].contains("edited"), "{:?}", titles(&editor, &buffer));
    let place = find(buffer.text(), &key);
    editor.change(buffer.edit(place..place + key.len(), "from the environment"));
    assert!(titles(&editor, &buffer)[0].contains("edited since"), "{:?}", titles(&editor, &buffer));
}

/// A workspace with the recorded file, which is then closed.
fn recorded_shop(project: &Project) -> Editor {
    std::fs::write(project.root().join("shop.py"), SHOP).expect("the project is ours");
    let editor = Editor::scripted(project, &RULES);
    super::handshake::wait_until_ready(&editor);
    let buffer = editor.open("shop.py", SHOP);
    record(&editor, &buffer, LOOP);
    editor.close(&buffer);
    editor
}

#[test]
fn lenses_follow_a_renamed_file_by_its_content() {
    let project = Project::new("//- /other.py\nx = 1\n");
    let editor = recorded_shop(&project);
    let (old, new) = (project.root().join("shop.py"), project.root().join("store.py"));
    std::fs::rename(&old, &new).expect("the project is ours");
    editor.watched("shop.py", 3);
    editor.watched("store.py", 1);
    let buffer = editor.open("store.py", SHOP);
    tests::wait_until("the folder was read again", || lenses(&editor, &buffer).len() == 1);
    assert_lens_at(&editor, &buffer, "for order");
    assert_eq!(all_cases(&editor)[0]["path"], "store.py");
    // With a second copy, the file is ambiguous.
    std::fs::write(project.root().join("copy.py"), SHOP).expect("the project is ours");
    editor.watched("copy.py", 1);
    tests::wait_until("the folder was read again", || lenses(&editor, &buffer).is_empty());
    // If the recorded path exists again, that is the file.
    std::fs::write(&old, SHOP).expect("the project is ours");
    let original = editor.open("shop.py", SHOP);
    assert_lens_at(&editor, &original, "for order");
    assert_eq!(lenses(&editor, &buffer), Vec::<Value>::new());
}

#[test]
fn copy_of_a_recorded_file_has_no_lenses() {
    let project = Project::new("//- /other.py\nx = 1\n");
    let editor = recorded_shop(&project);
    std::fs::write(project.root().join("copy.py"), SHOP).expect("the project is ours");
    editor.watched("copy.py", 1);
    let copy = editor.open("copy.py", SHOP);
    tests::wait_until("the copy was read", || editor.status()["folders"][0]["files"] == 3);
    assert_eq!(lenses(&editor, &copy), Vec::<Value>::new());
    assert_lens_at(&editor, &editor.open("shop.py", SHOP), "for order");
}

/// Notifies the server of a rename, as editors do: after the rename on disk.
#[track_caller]
fn rename(editor: &Editor, project: &Project, old: &str, new: &str) {
    let [from, to] = [old, new].map(|path| project.root().join(path));
    std::fs::create_dir_all(to.parent().expect("it is in the project")).expect("the project is ours");
    std::fs::rename(from, to).expect("the project is ours");
    let files = json!([{"oldUri": editor.uri(old), "newUri": editor.uri(new)}]);
    editor.client.notify("workspace/didRenameFiles", json!({"files": files}));
}

#[test]
fn lenses_follow_a_rename_notified_by_the_editor() {
    let project = Project::new("//- /copy.py\nx = 1\n");
    project.write("copy.py", SHOP);
    let editor = recorded_shop(&project);
    let buffer = editor.open("shop.py", SHOP);
    // Its code is in another file too, so that only the editor knows the right one.
    rename(&editor, &project, "shop.py", "store.py");
    editor.close(&buffer);
    let mut store = editor.open("store.py", SHOP);
    assert_lens_at(&editor, &store, "for order");
    assert_eq!(all_cases(&editor)[0]["path"], "store.py");
    editor.change(store.edit(0..0, "# A line more.\n"));
    assert_lens_at(&editor, &store, "for order");
    record(&editor, &store, "if radius");
    assert_eq!(lenses(&editor, &store).len(), 2);
    // A folder, and back.
    project.write("store.py", store.text());
    rename(&editor, &project, "store.py", "app/store.py");
    rename(&editor, &project, "app", "lib/app");
    let moved = editor.open("lib/app/store.py", store.text());
    assert_eq!(lenses(&editor, &moved).len(), 2);
    rename(&editor, &project, "lib/app/store.py", "shop.py");
    let back = editor.open("shop.py", store.text());
    assert_eq!(lenses(&editor, &back).len(), 2);
    assert_eq!(lenses(&editor, &editor.open("copy.py", SHOP)), Vec::<Value>::new());
}
