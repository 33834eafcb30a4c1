//! The configuration of `editors/neovim` in a real Neovim: what is drawn, what the key accepts, what the commands do.

use serde_json::{Value, json};
use tests::{Neovim, Project};

const INLINE_COMPLETION: &str = "textDocument/inlineCompletion";
const EXECUTE_COMMAND: &str = "workspace/executeCommand";

/// A server whose engine says one text wherever it is asked.
#[track_caller]
fn open_scripted(project: &Project, file: &str, text: &str) -> Option<Neovim> {
    let rules = json!([{"path": "", "text": text}]).to_string();
    Neovim::open(project, file, &["--scripted", &rules])
}

/// The only item of the latest answer.
#[track_caller]
fn answered_item(editor: &Neovim) -> Value {
    let answer = editor.wait_for_answer(INLINE_COMPLETION);
    let result = &answer["result"];
    let items = result["items"].as_array().or(result.as_array());
    let items = items.unwrap_or_else(|| panic!("no items: {answer}"));
    assert_eq!(items.len(), 1, "one is enough for an automatic request");
    items[0].clone()
}

/// Presses the key, and checks that the buffer then is what it was with exactly the item, and that the item's command was
/// answered.
#[track_caller]
fn check_acceptance(editor: &Neovim) {
    let item = answered_item(editor);
    let expected = editor.text_with(&item);
    editor.press("<Tab>");
    let command = editor.wait_for_answer(EXECUTE_COMMAND);
    assert_eq!(editor.text(), expected);
    assert_eq!(command["params"]["command"], item["command"]["command"]);
    assert_eq!(command["params"]["arguments"], item["command"]["arguments"]);
    assert_eq!(command["error"], Value::Null);
}

#[test]
fn the_key_accepts_exactly_the_item_of_the_built_in_engine() {
    let project = Project::generated(6);
    project.write("shop/new.py", "import math\n\n\n");
    let Some(editor) = Neovim::open(&project, "shop/new.py", &[]) else { return };
    editor.press("Godef total_0(orders_3, limit=3):<CR>");
    let ghost = editor.wait_for_ghost_text();
    assert!(!ghost.trim().is_empty());
    check_acceptance(&editor);
}

#[test]
fn an_item_of_several_lines_is_drawn_and_accepted() {
    let project = Project::new("//- /a.py\n");
    let text = "add(a, b):\n    return a + b";
    let Some(editor) = open_scripted(&project, "a.py", text) else { return };
    editor.press("idef ");
    assert_eq!(editor.wait_for_ghost_text(), text);
    check_acceptance(&editor);
    assert_eq!(editor.text(), "def add(a, b):\n    return a + b");
}

#[test]
fn the_rest_of_a_word_is_drawn_behind_its_beginning() {
    let project = Project::new("//- /a.py\n");
    let Some(editor) = open_scripted(&project, "a.py", "urn total") else { return };
    editor.press("iret");
    assert_eq!(editor.wait_for_ghost_text(), "urn total");
    assert_eq!(answered_item(&editor)["insertText"], "return total");
    check_acceptance(&editor);
    assert_eq!(editor.text(), "return total");
}

#[test]
fn a_suggestion_before_other_text_is_put_between() {
    let project = Project::new("//- /a.py\ntotal = sum()\n");
    let Some(editor) = open_scripted(&project, "a.py", "prices") else { return };
    editor.press("$i");
    assert_eq!(editor.wait_for_ghost_text(), "prices");
    check_acceptance(&editor);
    assert_eq!(editor.text(), "total = sum(prices)");
}

#[test]
fn typing_on_keeps_a_suggestion_until_the_server_answers_again() {
    let project = Project::new("//- /a.py\n");
    let Some(editor) = open_scripted(&project, "a.py", "add(a, b):\n    return a + b") else { return };
    editor.press("idef ");
    editor.wait_for_ghost_text();
    editor.hold(INLINE_COMPLETION);
    editor.press("add(");
    assert_eq!(editor.ghost_text().as_deref(), Some("a, b):\n    return a + b"));
    editor.press("<Tab>");
    editor.wait_for_answer(EXECUTE_COMMAND);
    assert_eq!(editor.text(), "def add(a, b):\n    return a + b");
}

#[test]
fn taking_back_a_character_keeps_a_suggestion() {
    let project = Project::new("//- /a.py\n");
    let Some(editor) = open_scripted(&project, "a.py", "urn total") else { return };
    editor.press("iret");
    editor.wait_for_ghost_text();
    editor.hold(INLINE_COMPLETION);
    editor.press("<BS>");
    assert_eq!(editor.ghost_text().as_deref(), Some("turn total"));
    editor.press("<Tab>");
    editor.wait_for_answer(EXECUTE_COMMAND);
    assert_eq!(editor.text(), "return total");
}

#[test]
fn a_suggestion_that_other_text_was_typed_over_is_not_accepted() {
    let project = Project::new("//- /a.py\n");
    let Some(editor) = open_scripted(&project, "a.py", "add(a, b):\n    return a + b") else { return };
    editor.press("idef ");
    editor.wait_for_ghost_text();
    editor.hold(INLINE_COMPLETION);
    editor.press("sub(<Tab>");
    editor.wait_until("vim.endswith(vim.api.nvim_get_current_line(), ' ')");
    assert_eq!(editor.text(), "def sub(    ", "the key indents");
    assert_eq!(editor.requests(EXECUTE_COMMAND), Vec::<Value>::new());
}

#[test]
fn the_key_does_what_it_did_where_nothing_is_suggested() {
    let project = Project::new("//- /a.py\n");
    let Some(editor) = open_scripted(&project, "a.py", "") else { return };
    editor.press("i<Tab>x");
    assert_eq!(editor.text(), "    x");
    editor.press("<C-o>:inoremap <lt>expr> <lt>Tab> 'mapped'<CR><Tab>");
    assert_eq!(editor.text(), "    xmapped");
    editor.press("<C-o>:lua vim.keymap.set('i', '<lt>Tab>', function() Test.pressed = true end)<CR><Tab>");
    editor.wait_until("Test.pressed");
}

#[test]
fn leaving_insert_mode_clears_a_suggestion() {
    let project = Project::new("//- /a.py\n");
    let Some(editor) = open_scripted(&project, "a.py", "add(a, b)") else { return };
    editor.press("ireturn ");
    assert_eq!(editor.wait_for_ghost_text(), "add(a, b)");
    editor.press("<Esc>");
    editor.wait_until("vim.api.nvim_get_mode().mode == 'n'");
    assert_eq!(editor.ghost_text(), None);
}

#[test]
fn carriage_returns_and_wide_characters_stay_what_they_are() {
    let project = Project::new("");
    let file = project.write("a.py", "# \u{1f642} \u{e9}\r\nface = '\u{1f642}\u{1f642}'\r\n");
    let Some(editor) = open_scripted(&project, "a.py", " + '\u{1f643}'\r\nprint(face)") else { return };
    editor.press("GA");
    assert_eq!(editor.wait_for_ghost_text(), " + '\u{1f643}'\nprint(face)");
    check_acceptance(&editor);
    editor.press("<Esc>:write<CR>");
    editor.wait_until("not vim.bo.modified");
    let written = std::fs::read_to_string(file).unwrap();
    assert_eq!(written, "# \u{1f642} \u{e9}\r\nface = '\u{1f642}\u{1f642}' + '\u{1f643}'\r\nprint(face)\r\n");
}

/// A function with a block to record.
const FUNCTION: &str = "//- /a.py
def total(orders):
    result = 0
    for order in orders:
        result += order.price
    return result
";

/// Opens the function with its block recorded; the engine's answer is the block.
#[track_caller]
fn open_recorded(project: &Project) -> Option<Neovim> {
    open_scripted(project, "a.py", "result += order.price").inspect(record)
}

/// Records the block.
#[track_caller]
fn record(editor: &Neovim) {
    editor.press(":call cursor(4, 9)<CR>:GhostbenchRecord<CR>");
    wait_for_lens(editor, 4, "not replayed yet");
}

/// Waits until the only lens stands at a line (1-based) with these words.
#[track_caller]
fn wait_for_lens(editor: &Neovim, line: usize, words: &str) {
    editor.wait_until(&format!(
        "#Test.lenses() == 1 and Test.lenses()[1].line == {line} and Test.lenses()[1].title:find('{words}', 1, true)"
    ));
}

/// Waits until the user was told this.
#[track_caller]
fn wait_for_message(editor: &Neovim, words: &str) {
    editor.wait_until(&format!(
        "vim.api.nvim_exec2('messages', {{ output = true }}).output:find('{words}', 1, true)"
    ));
}

#[test]
fn a_recorded_case_is_replayed_and_its_lens_follows_it() {
    let project = Project::new(FUNCTION);
    let Some(editor) = open_recorded(&project) else { return };
    wait_for_message(&editor, "recorded full_block statement at a.py:4");
    editor.press(":GhostbenchReplay<CR>");
    wait_for_message(&editor, "replayed 1 of 1 requests, run 1");
    wait_for_lens(&editor, 4, "scripted exact");
    editor.press("ggO# a comment<Esc>");
    wait_for_lens(&editor, 5, "scripted exact");
}

#[test]
fn a_lens_is_run_by_the_key_of_neovim() {
    let project = Project::new(FUNCTION);
    let Some(editor) = open_recorded(&project) else { return };
    editor.press("grx");
    wait_for_lens(&editor, 4, "scripted exact");
    assert_eq!(editor.wait_for_answer(EXECUTE_COMMAND)["params"]["command"], "ghostbench.replay");
}

#[test]
fn a_replay_of_the_suite_fills_the_scoreboard() {
    let project = Project::new(FUNCTION);
    let Some(editor) = open_recorded(&project) else { return };
    editor.press(":GhostbenchReplay suite<CR>");
    wait_for_message(&editor, "replayed 1 of 1 requests");
    editor.press(":GhostbenchScoreboard<CR>");
    editor.wait_until("Test.floating_text() and Test.floating_text():find('scripted', 1, true)");
}

#[test]
fn a_replay_is_stopped() {
    let project = Project::new(FUNCTION);
    let rules = json!([{"path": "", "text": "late", "delay_ms": 600_000}]).to_string();
    let Some(editor) = Neovim::open(&project, "a.py", &["--scripted", &rules]) else { return };
    record(&editor);
    editor.press(":GhostbenchReplay file<CR>");
    editor.wait_until("vim.lsp.get_clients()[1].progress.pending['ghostbench.replay']");
    editor.press(":GhostbenchReplay!<CR>");
    wait_for_message(&editor, "cancelled after 0 of 1 requests");
}

#[test]
fn away_from_any_case_there_is_nothing_to_replay() {
    let project = Project::new(FUNCTION);
    let Some(editor) = open_recorded(&project) else { return };
    editor.press("gg:GhostbenchReplay<CR>");
    wait_for_message(&editor, "no case was recorded at the cursor");
    assert_eq!(editor.requests("ghostbench/replay"), Vec::<Value>::new());
}
