//! Ghost text that the plugin draws itself, in Neovim 0.10 and 0.11, and in 0.12 by an option.

use serde_json::{Value, json};
use tests::{Neovim, NeovimVersion, Project};

const INLINE_COMPLETION: &str = "textDocument/inlineCompletion";
const EXECUTE_COMMAND: &str = "workspace/executeCommand";
const PARTLY_ACCEPTED: &str = "textDocument/didPartiallyAcceptCompletion";

/// Runs a test in each version in which the plugin draws: with a file, and an engine that always suggests one text.
#[track_caller]
fn in_each_version(content: &str, text: &str, test: impl Fn(&Neovim)) {
    in_each_version_with(content, &json!([{"path": "", "text": text}]), test);
}

/// As [`in_each_version`], with rules of the engine.
#[track_caller]
fn in_each_version_with(content: &str, rules: &Value, test: impl Fn(&Neovim)) {
    for version in NeovimVersion::FALLBACKS {
        let project = Project::new("//- /a.py\n");
        project.write("a.py", content);
        let arguments = ["--scripted", &rules.to_string()];
        let Some(editor) = Neovim::open_version(version, &project, "a.py", &arguments) else { continue };
        let is_drawn = editor.evaluate("require('ghostbench.options').is_native()");
        assert_eq!(is_drawn, false, "the plugin draws in {version:?}");
        test(&editor);
        assert_eq!(editor.evaluate("Test.messages('Error')"), json!([]), "{version:?}");
    }
}

#[test]
fn suggestion_of_several_lines_is_drawn_and_accepted_as_one_undo_step() {
    let text = "add(\n    a,\n    b,\n)";
    in_each_version("", text, |editor| {
        editor.press("ix = ");
        assert_eq!(editor.wait_for_ghost_text(), text);
        editor.wait_until("#Test.notified('textDocument/didShowCompletion') > 0");
        editor.press("<Tab>");
        let command = editor.wait_for_answer(EXECUTE_COMMAND);
        assert_eq!(command["params"]["command"], "ghostbench.didAcceptCompletionItem");
        assert_eq!(command["error"], Value::Null);
        assert_eq!(editor.text(), "x = add(\n    a,\n    b,\n)");
        assert_eq!(editor.evaluate("vim.api.nvim_win_get_cursor(0)"), json!([4, 1]));
        editor.press("# end<Esc>u");
        assert_eq!(editor.text(), "x = add(\n    a,\n    b,\n)");
        editor.press("u");
        assert_eq!(editor.text(), "x = ");
    });
}

#[test]
fn word_before_the_cursor_and_text_behind_it_are_kept() {
    in_each_version("total = sum()\n", "prices", |editor| {
        editor.press("$i");
        assert_eq!(editor.wait_for_ghost_text(), "prices");
        editor.press("<Tab>");
        editor.wait_for_answer(EXECUTE_COMMAND);
        assert_eq!(editor.text(), "total = sum(prices)");
    });
    in_each_version("", "urn total", |editor| {
        editor.press("iret");
        assert_eq!(editor.wait_for_ghost_text(), "urn total");
        editor.press("<Tab>");
        editor.wait_for_answer(EXECUTE_COMMAND);
        assert_eq!(editor.text(), "return total");
    });
}

#[test]
fn typing_through_and_deleting_keep_the_suggestion_without_an_answer() {
    in_each_version("", "urn add(a,\n    b)", |editor| {
        editor.press("iret");
        editor.wait_for_ghost_text();
        editor.hold(INLINE_COMPLETION);
        editor.press("urn a");
        editor.wait_until("Test.ghost_text() == 'dd(a,\\n    b)'");
        editor.press("<BS><BS>");
        editor.wait_until("Test.ghost_text() == ' add(a,\\n    b)'");
        editor.press("<Tab>");
        editor.wait_for_answer(EXECUTE_COMMAND);
        assert_eq!(editor.text(), "return add(a,\n    b)");
    });
}

#[test]
fn other_text_removes_the_suggestion_and_cancels_the_request() {
    in_each_version("", "add(a, b)", |editor| {
        editor.press("idef ");
        editor.wait_for_ghost_text();
        editor.hold(INLINE_COMPLETION);
        editor.press("sub(<Tab>");
        editor.wait_until("vim.endswith(vim.api.nvim_get_current_line(), '    ')");
        assert_eq!(editor.text(), "def sub(    ", "the key indents");
        assert_eq!(editor.ghost_text(), None);
        assert_eq!(editor.requests(EXECUTE_COMMAND), Vec::<Value>::new());
    });
    let rules = json!([{"path": "", "text": "late", "delay_ms": 600_000}]);
    in_each_version_with("", &rules, |editor| {
        editor.press("ix = ");
        editor.wait_until(
            "#vim.tbl_filter(function(r) return r.method:match('inline') end, Test.requests) > 0",
        );
        editor.press("y");
        editor.wait_until("#Test.notified('$/cancelRequest') == 1");
    });
}

#[test]
fn words_and_lines_are_accepted_and_reported() {
    in_each_version("", "total = add(\n    price,\n    rate)", |editor| {
        editor.press("i");
        editor.wait_for_ghost_text();
        editor.hold(INLINE_COMPLETION);
        editor.press("<M-Right>");
        editor.wait_until("vim.api.nvim_get_current_line() == 'total'");
        editor.wait_until("Test.ghost_text() == ' = add(\\n    price,\\n    rate)'");
        editor.press("<M-C-Right>");
        editor.wait_until("vim.api.nvim_get_current_line() == 'total = add('");
        editor.press("<M-C-Right>");
        editor.wait_until("Test.ghost_text() == '\\n    rate)'");
        let reported =
            format!("#Test.notified('{PARTLY_ACCEPTED}') == 3 and Test.notified('{PARTLY_ACCEPTED}')");
        let reported = editor.wait_until(&reported);
        for (number, length) in [5, 12, 23].into_iter().enumerate() {
            assert_eq!(reported[number]["acceptedLength"], length);
        }
        editor.press("<M-C-Right>");
        editor.wait_for_answer(EXECUTE_COMMAND);
        assert_eq!(editor.text(), "total = add(\n    price,\n    rate)");
    });
}

#[test]
fn suggestions_are_shown_in_turn_in_both_directions() {
    let rules = json!([{"path": "", "text": "total", "others": ["price", "tax"]}]);
    in_each_version_with("", &rules, |editor| {
        editor.press("ix = ");
        assert_eq!(editor.wait_for_ghost_text(), "total");
        for (key, number, text) in
            [("<M-]>", 2, "price"), ("<M-]>", 3, "tax"), ("<M-]>", 1, "total"), ("<M-[>", 3, "tax")]
        {
            editor.press(key);
            let shown = json!(format!("{text} ({number}/3)"));
            editor.wait_until(&format!("Test.ghost_text() == {shown}"));
        }
        editor.press("<Tab>");
        editor.wait_for_answer(EXECUTE_COMMAND);
        assert_eq!(editor.text(), "x = tax");
    });
}

#[test]
fn dismissing_and_leaving_insert_mode_clear_the_suggestion() {
    in_each_version("", "add(a, b)", |editor| {
        editor.press("ireturn ");
        editor.wait_for_ghost_text();
        editor.press("<C-]>");
        editor.wait_until("Test.ghost_text() == nil");
        editor.press("<BS> ");
        editor.wait_for_ghost_text();
        editor.press("<Esc>");
        editor.wait_until("vim.api.nvim_get_mode().mode == 'n' and Test.ghost_text() == nil");
        let reasons = editor.evaluate(
            "vim.tbl_map(function(p) return p.reason end, Test.notified('ghostbench/didDismissCompletion'))",
        );
        assert_eq!(reasons, json!(["rejected", "ignored"]));
    });
}

#[test]
fn carriage_returns_tabs_and_wide_characters_are_kept() {
    let content = "# \u{1f642} \u{e9}\r\nface = '\u{1f642}\u{1f642}'\r\n";
    in_each_version(content, " + (\r\n\t'\u{1f643}')", |editor| {
        editor.press("GA");
        assert!(editor.wait_for_ghost_text().starts_with(" + (\n "), "a tab is drawn as blanks");
        editor.press("<M-Right>");
        editor.wait_until("vim.endswith(vim.api.nvim_get_current_line(), ' +')");
        editor.press("<Tab>");
        editor.wait_for_answer(EXECUTE_COMMAND);
        editor.press("<Esc>:write<CR>");
        editor.wait_until("not vim.bo.modified");
        let written = editor.evaluate("vim.fn.readblob('a.py')").to_string();
        assert!(!written.is_empty());
        assert_eq!(editor.text(), "# \u{1f642} \u{e9}\nface = '\u{1f642}\u{1f642}' + (\n\t'\u{1f643}')");
        assert_eq!(editor.evaluate("vim.bo.fileformat"), "dos");
    });
}

#[test]
fn cases_are_recorded_replayed_and_shown_in_old_versions() {
    let content = "def total(orders):\n    result = 0\n    return result\n";
    in_each_version(content, "result = 0", |editor| {
        editor.press(":call cursor(2, 5)<CR>:Ghostbench record<CR>");
        editor.wait_until("Test.lenses()[1] and Test.lenses()[1].title:find('not replayed yet', 1, true)");
        editor.press(":Ghostbench replay suite<CR>");
        editor.wait_until("Test.messages('replayed 1 of 1 requests')[1]");
        editor.wait_until("Test.lenses()[1].title:find('scripted exact', 1, true)");
        editor.press(":Ghostbench scoreboard<CR>");
        let board = editor.wait_until("Test.page()");
        assert!(board.as_str().is_some_and(|text| text.contains("scripted")), "{board}");
    });
}
