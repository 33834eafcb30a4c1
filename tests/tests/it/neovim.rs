//! The configuration of `editors/neovim` in a real Neovim: ghost text, the accept key, commands.

use std::fs;

use serde_json::{Value, json};
use tests::{Neovim, Project};

const INLINE_COMPLETION: &str = "textDocument/inlineCompletion";
const EXECUTE_COMMAND: &str = "workspace/executeCommand";

/// A server whose engine always answers with one text.
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

/// Presses the accept key; checks that the buffer differs by exactly the item, and that the item's command was answered.
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
fn accept_key_inserts_the_builtin_engine_item() {
    let project = Project::generated(6);
    project.write("shop/new.py", "import math\n\n\n");
    let Some(editor) = Neovim::open(&project, "shop/new.py", &[]) else { return };
    editor.press("Godef total_0(orders_3, limit=3):<CR>");
    let ghost = editor.wait_for_ghost_text();
    assert!(!ghost.trim().is_empty());
    check_acceptance(&editor);
}

#[test]
fn next_suggestion_can_be_shown_and_accepted() {
    let project = Project::new("//- /a.py\n");
    let rule = json!([{"path": "", "text": "total", "others": ["price", "tax"]}]);
    let Some(editor) = Neovim::open(&project, "a.py", &["--scripted", &rule.to_string()]) else { return };
    editor.press("ix = ");
    assert_eq!(editor.wait_for_ghost_text(), "total");
    for (number, text) in [(2, "price"), (3, "tax"), (1, "total"), (2, "price")] {
        editor.press("<M-]>");
        let shown = json!(format!("{text} ({number}/3)"));
        editor.wait_until(&format!("Test.ghost_text() == {shown}"));
    }
    let asked = editor.requests(INLINE_COMPLETION);
    let by_key = asked.iter().filter(|request| request["params"]["context"]["triggerKind"] == 1);
    assert_eq!(by_key.count(), 1, "all are asked for once");
    let items = &asked.last().expect("it was asked")["result"]["items"];
    editor.press("<Tab>");
    let command = editor.wait_for_answer(EXECUTE_COMMAND);
    assert_eq!(editor.text(), "x = price");
    assert_eq!(command["params"]["arguments"], items[1]["command"]["arguments"]);
}

#[test]
fn next_key_sends_an_invoked_request_without_ghost_text() {
    let project = Project::new("//- /a.py\n");
    let Some(editor) = open_scripted(&project, "a.py", "") else { return };
    editor.press("ix = ");
    editor.wait_for_answer(INLINE_COMPLETION);
    editor.press("<M-]>");
    let is_by_key = "vim.iter(Test.requests):any(function(request) return vim.tbl_get(request.params, 'context', 'triggerKind') == 1 and request.is_answered end)";
    editor.wait_until(is_by_key);
    assert_eq!(editor.ghost_text(), None);
}

/// Counts Neovim's own pauses before a request, which take 200 ms, in `Test.pauses`.
const COUNT_PAUSES: &str = "(function()
    Test.pauses = 0
    function Test.asked()
        return #vim.tbl_filter(function(request)
            return request.method == 'textDocument/inlineCompletion'
        end, Test.requests)
    end
    local defer = vim.defer_fn
    vim.defer_fn = function(run, pause)
        return defer(function()
            if pause ~= 200 then
                return run()
            end
            if not Test.is_neovim_silent then
                run()
            end
            Test.pauses = Test.pauses + 1
        end, pause)
    end
end)()";

#[test]
fn neovim_does_not_ask_again_after_the_plugin() {
    let project = Project::new("//- /a.py\n");
    let Some(editor) = open_scripted(&project, "a.py", "total") else { return };
    editor.press("ix = ");
    editor.wait_for_ghost_text();
    editor.evaluate(COUNT_PAUSES);
    editor.press("(");
    editor.wait_until("Test.pauses > 0 and Test.asked() == 2");
    editor.evaluate("(function() Test.pauses, Test.is_neovim_silent = 0, true end)()");
    editor.press("(");
    editor.wait_until("Test.pauses > 0 and Test.asked() == 3");
    assert_eq!(editor.wait_for_ghost_text(), "total");
}

#[test]
fn multiline_item_is_drawn_and_accepted() {
    let project = Project::new("//- /a.py\n");
    let text = "add(\n    a,\n    b,\n)";
    let Some(editor) = open_scripted(&project, "a.py", text) else { return };
    editor.press("ix = ");
    assert_eq!(editor.wait_for_ghost_text(), text);
    check_acceptance(&editor);
    assert_eq!(editor.text(), "x = add(\n    a,\n    b,\n)");
}

#[test]
fn rest_of_a_word_is_drawn_after_the_typed_part() {
    let project = Project::new("//- /a.py\n");
    let Some(editor) = open_scripted(&project, "a.py", "urn total") else { return };
    editor.press("iret");
    assert_eq!(editor.wait_for_ghost_text(), "urn total");
    assert_eq!(answered_item(&editor)["insertText"], "return total");
    check_acceptance(&editor);
    assert_eq!(editor.text(), "return total");
}

#[test]
fn suggestion_is_inserted_before_existing_text() {
    let project = Project::new("//- /a.py\ntotal = sum()\n");
    let Some(editor) = open_scripted(&project, "a.py", "prices") else { return };
    editor.press("$i");
    assert_eq!(editor.wait_for_ghost_text(), "prices");
    check_acceptance(&editor);
    assert_eq!(editor.text(), "total = sum(prices)");
}

#[test]
fn typing_ahead_keeps_the_suggestion_while_a_request_is_pending() {
    let project = Project::new("//- /a.py\n");
    let Some(editor) = open_scripted(&project, "a.py", "add(a,\n    b)") else { return };
    editor.press("ix = ");
    editor.wait_for_ghost_text();
    editor.hold(INLINE_COMPLETION);
    editor.press("add(");
    assert_eq!(editor.ghost_text().as_deref(), Some("a,\n    b)"));
    editor.press("<Tab>");
    editor.wait_for_answer(EXECUTE_COMMAND);
    assert_eq!(editor.text(), "x = add(a,\n    b)");
}

#[test]
fn deleting_a_character_keeps_the_suggestion() {
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
fn suggestion_is_not_accepted_after_mismatching_text() {
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
fn accept_key_keeps_its_mapping_without_a_suggestion() {
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
fn accepted_suggestion_is_a_separate_undo_step() {
    let project = Project::new("//- /a.py\n");
    let Some(editor) = open_scripted(&project, "a.py", "urn total") else { return };
    editor.press("iret");
    editor.wait_for_ghost_text();
    check_acceptance(&editor);
    editor.press(" + 1<Esc>");
    assert_eq!(editor.text(), "return total + 1");
    for before in ["return total", "ret", ""] {
        editor.press("u");
        assert_eq!(editor.text(), before);
    }
    editor.press("<C-r><C-r>");
    assert_eq!(editor.text(), "return total");
}

#[test]
fn accept_key_is_configurable() {
    let project = Project::new("//- /a.py\n");
    project.write("b.py", "");
    let Some(editor) = open_scripted(&project, "a.py", "urn total") else { return };
    editor.press(":let g:ghostbench_accept = '<lt>C-l>'<CR>:edit b.py<CR>");
    editor.wait_until("Test.is_attached()");
    editor.press("i<Tab>ret");
    editor.wait_for_ghost_text();
    editor.press("<C-l>");
    editor.wait_for_answer(EXECUTE_COMMAND);
    assert_eq!(editor.text(), "    return total");
}

#[test]
fn keys_can_be_disabled() {
    let project = Project::new("//- /a.py\n");
    project.write("b.py", "");
    let Some(editor) = open_scripted(&project, "a.py", "urn total") else { return };
    for key in ["accept", "next", "previous", "accept_word", "accept_line", "dismiss"] {
        editor.press(&format!(":let g:ghostbench_{key} = v:false<CR>"));
    }
    editor.press(":edit b.py<CR>");
    editor.wait_until("Test.is_attached()");
    assert_eq!(editor.evaluate("#vim.api.nvim_buf_get_keymap(0, 'i')"), 0);
    assert_eq!(editor.evaluate("#vim.api.nvim_buf_get_keymap(vim.fn.bufnr('a.py'), 'i')"), 6);
}

/// The colours of ghost text and of lenses on a terminal without true colours.
#[track_caller]
fn terminal_colours(editor: &Neovim) -> [Value; 2] {
    ["ComplHint", "LspCodeLens"].map(|group| {
        editor.evaluate(&format!("vim.api.nvim_get_hl(0, {{ name = '{group}', link = false }}).ctermfg"))
    })
}

#[test]
fn ghost_text_has_a_terminal_colour_without_true_colours() {
    let project = Project::new("//- /a.py\n");
    let Some(editor) = open_scripted(&project, "a.py", "") else { return };
    assert_eq!(terminal_colours(&editor), [8, 8]);
    editor.press(":colorscheme habamax<CR>");
    editor.wait_until("vim.g.colors_name == 'habamax'");
    assert_eq!(terminal_colours(&editor), [240, 240], "the colour scheme's own");
    editor.press(":colorscheme default<CR>");
    editor.wait_until("vim.g.colors_name == 'default'");
    assert_eq!(terminal_colours(&editor), [8, 8]);
    editor.press(":set termguicolors | colorscheme default<CR>");
    editor.wait_until("vim.o.termguicolors");
    assert_eq!(terminal_colours(&editor), [Value::Null, Value::Null]);
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
fn crlf_and_wide_characters_are_kept() {
    let project = Project::new("");
    let file = project.write("a.py", "# \u{1f642} \u{e9}\r\nface = '\u{1f642}\u{1f642}'\r\n");
    let Some(editor) = open_scripted(&project, "a.py", " + (\r\n    '\u{1f643}')") else { return };
    editor.press("GA");
    assert_eq!(editor.wait_for_ghost_text(), " + (\n    '\u{1f643}')");
    check_acceptance(&editor);
    editor.press("<Esc>:write<CR>");
    editor.wait_until("not vim.bo.modified");
    let written = std::fs::read_to_string(file).unwrap();
    assert_eq!(written, "# \u{1f642} \u{e9}\r\nface = '\u{1f642}\u{1f642}' + (\r\n    '\u{1f643}')\r\n");
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
    editor.press(":call cursor(4, 9)<CR>:Ghostbench record<CR>");
    wait_for_lens(editor, 4, "not replayed yet");
}

/// Waits until the only lens is at a line (1-based) with these words.
#[track_caller]
fn wait_for_lens(editor: &Neovim, line: usize, words: &str) {
    editor.wait_until(&format!(
        "#Test.lenses() == 1 and Test.lenses()[1].line == {line} and Test.lenses()[1].title:find('{words}', 1, true)"
    ));
}

/// Waits for this message to the user.
#[track_caller]
fn wait_for_message(editor: &Neovim, words: &str) {
    editor.wait_until(&format!("Test.messages('{words}')[1]"));
}

#[test]
fn lens_shows_the_replay_result_and_follows_edits() {
    let project = Project::new(FUNCTION);
    let Some(editor) = open_recorded(&project) else { return };
    wait_for_message(&editor, "recorded the whole statement, line 4");
    editor.press(":Ghostbench replay<CR>");
    wait_for_message(&editor, "replayed 1 of 1 requests, run 1");
    wait_for_lens(&editor, 4, "scripted exact");
    editor.press("ggO# a comment<Esc>");
    wait_for_lens(&editor, 5, "scripted exact");
}

#[test]
fn builtin_lens_key_replays_the_case() {
    let project = Project::new(FUNCTION);
    let Some(editor) = open_recorded(&project) else { return };
    editor.press("grx");
    wait_for_lens(&editor, 4, "scripted exact");
    assert_eq!(editor.wait_for_answer(EXECUTE_COMMAND)["params"]["command"], "ghostbench.replay");
}

#[test]
fn suite_replay_appears_in_the_scoreboard() {
    let project = Project::new(FUNCTION);
    let Some(editor) = open_recorded(&project) else { return };
    editor.press(":Ghostbench replay suite<CR>");
    wait_for_message(&editor, "replayed 1 of 1 requests");
    editor.press(":Ghostbench scoreboard<CR>");
    let shown = editor.wait_until("Test.page()");
    let answer = editor.wait_for_answer("ghostbench/scoreboard");
    assert_eq!(shown, answer["result"]["text"].as_str().unwrap().trim_end_matches('\n'));
    assert!(shown.as_str().unwrap().contains("scripted"));
    assert_eq!(editor.evaluate("vim.fn.bufname()"), "ghostbench://scoreboard");
    assert_eq!(editor.evaluate("vim.wo.wrap"), false);
    editor.press("q");
    editor.wait_until("not Test.page()");
}

/// Writes `suite.jsonl` with two imported cases; the right answer of both is `a + 1`.
#[track_caller]
fn write_suite(project: &Project) {
    let row = |number: u8| {
        let prompt = format!("def next_{number}(a):\n    return ");
        json!({"task_id": format!("SingleLine/{number}"), "prompt": prompt, "suffix": "\n", "canonical_solution": "a + 1"})
    };
    fs::write(project.sibling_path("rows.jsonl"), format!("{}\n{}\n", row(0), row(1)))
        .expect("the folder is ours");
    project.run("import humaneval-infilling ../rows.jsonl --out suite.jsonl").expect_code(0);
}

#[test]
fn suite_is_shown_case_by_case_and_replayed() {
    let project = Project::new("//- /a.py\n");
    write_suite(&project);
    let Some(editor) = open_scripted(&project, "a.py", "a + 1") else { return };
    editor.press(":Ghostbench suite next<CR>");
    wait_for_message(&editor, "open a suite first");
    editor.press(":Ghostbench suite suite.jsonl<CR>");
    let shown = |number: u8| {
        format!(
            "table.concat(vim.api.nvim_buf_get_lines(0, 0, -1, true), '\\n') == 'def next_{number}(a):\\n    return ⟪hole⟫\\n'"
        )
    };
    editor.wait_until(&shown(0));
    assert_eq!(editor.evaluate("vim.bo.buftype .. vim.bo.filetype"), "nofilepython");
    assert_eq!(editor.evaluate("vim.api.nvim_win_get_cursor(0)"), json!([2, 11]));
    editor.press(":Ghostbench suite next<CR>");
    editor.wait_until(&shown(1));
    editor.press(":Ghostbench suite next<CR>");
    wait_for_message(&editor, "this is the last case");
    editor.press(":Ghostbench suite replay<CR>");
    wait_for_message(&editor, "scripted exact");
    editor.press(":Ghostbench suite answers<CR>");
    let answers = editor.wait_until("Test.page()");
    assert!(answers.as_str().unwrap().contains("## scripted exact"), "{answers}");
    editor.press("q:Ghostbench suite 1<CR>");
    editor.wait_until(&shown(0));
}

#[test]
fn replay_bang_command_cancels_all_replays() {
    let project = Project::new(FUNCTION);
    let rules = json!([{"path": "", "text": "late", "delay_ms": 600_000}]).to_string();
    let Some(editor) = Neovim::open(&project, "a.py", &["--scripted", &rules]) else { return };
    record(&editor);
    editor.press(":Ghostbench replay file<CR>");
    editor.press(":Ghostbench replay case<CR>grx");
    editor.wait_until("Test.pending('Ghostbench replays cases') == 3");
    editor.press(":Ghostbench replay cancel<CR>");
    editor.wait_until("Test.pending('Ghostbench replays cases') == 0");
    editor.wait_until("#Test.messages('cancelled after 0 of 1 requests') == 2");
    editor.press(":Ghostbench replay cancel<CR>");
    wait_for_message(&editor, "no replay is running");
}

#[test]
fn replay_without_a_case_at_the_cursor_is_rejected() {
    let project = Project::new(FUNCTION);
    let Some(editor) = open_recorded(&project) else { return };
    editor.press("gg:Ghostbench replay<CR>");
    wait_for_message(&editor, "no case was recorded at the cursor");
    assert_eq!(editor.requests("ghostbench/replay"), Vec::<Value>::new());
}

#[test]
fn invalid_replay_target_lists_the_valid_ones() {
    let project = Project::new(FUNCTION);
    let Some(editor) = open_recorded(&project) else { return };
    editor.press(":Ghostbench replay foo<CR>");
    wait_for_message(&editor, "cannot replay \"foo\"; use case, file, suite, cancel");
    assert_eq!(editor.requests("ghostbench/replay"), Vec::<Value>::new());
}

#[test]
fn recording_describes_the_recorded_block() {
    let other = "\n\ndef other(orders):\n    if orders:\n        return 1\n    print(orders)\n    return 0\n\n\nother([])\n";
    let project = Project::new(&format!("{FUNCTION}{other}"));
    let Some(editor) = open_scripted(&project, "a.py", "") else { return };
    let places = [
        ((1, 1), "recorded the whole function, lines 1-5"),
        ((1, 19), "recorded the function body, lines 1-5"),
        ((4, 19), "recorded the rest of the statement, line 4"),
        ((9, 5), "recorded the whole if block, lines 9-10"),
        ((10, 17), "recorded that nothing follows, line 10"),
        ((9, 1), "recorded the function body, lines 9-12"),
        ((15, 1), "recorded the whole statement, line 15"),
        ((1, 1), "recorded before: the whole function, lines 1-5"),
    ];
    editor.press(":set virtualedit=onemore<CR>");
    for ((line, column), words) in places {
        editor.press(&format!(":call cursor({line}, {column})<CR>:Ghostbench record<CR>"));
        wait_for_message(&editor, words);
    }
}

#[test]
fn error_fits_one_line_and_keeps_the_remedy_if_possible() {
    let project = Project::new("//- /a.py\n# nothing\n");
    let Some(editor) = open_scripted(&project, "a.py", "") else { return };
    editor.press(":Ghostbench record<CR>");
    let refusal = editor.wait_for_answer("ghostbench/recordCase")["error"]["message"].clone();
    let (reason, remedy) = refusal.as_str().unwrap().split_once(';').unwrap();
    for columns in [200, 80, 30] {
        editor.press(&format!(":messages clear | set columns={columns}<CR>:Ghostbench record<CR>"));
        let message =
            editor.wait_until("Test.messages('Ghostbench: ')[1] or Test.messages('Ghostbench:…')[1]");
        let message = message.as_str().unwrap();
        let room = editor.evaluate("vim.v.echospace").as_u64().unwrap() as usize;
        assert!(message.chars().count() <= room, "{message} does not fit {room} cells");
        assert_eq!(message.ends_with(remedy), columns > 30, "{message}");
        assert_eq!(message.contains(reason), columns == 200, "{message}");
    }
}

#[test]
fn status_shows_the_outcome_of_the_last_request() {
    let project = Project::new("//- /a.py\ntotal = 1\n");
    let Some(editor) = open_scripted(&project, "a.py", "") else { return };
    editor.wait_until("Test.status().folders[1].state == 'ready'");
    editor.press(":Ghostbench status<CR>");
    let shown = editor.wait_until("Test.page()");
    let shown = shown.as_str().unwrap();
    assert!(
        shown.contains("/workspace: ready (files: 1, lines: 1)\nengine   scripted, writes the ghost text"),
        "{shown}"
    );
    assert!(shown.contains("\nrequest  none for ghost text yet\nlog      ~/"), "{shown}");
    editor.press("qi");
    editor.wait_for_answer(INLINE_COMPLETION);
    editor.press("<Esc>:Ghostbench status<CR>");
    let shown = editor.wait_until("Test.page()");
    let shown = shown.as_str().unwrap();
    assert!(shown.contains("\nrequest  without text, "), "{shown}");
    assert!(shown.contains("\nbecause  "), "{shown}");
}

#[test]
fn commands_report_that_the_server_has_exited() {
    let project = Project::new(FUNCTION);
    let Some(editor) = open_scripted(&project, "a.py", "") else { return };
    editor.evaluate("vim.lsp.get_clients()[1]:stop(true)");
    editor.wait_until("#vim.lsp.get_clients() == 0");
    editor.press(":Ghostbench record<CR>");
    wait_for_message(&editor, "no server runs for this file; :Ghostbench restart");
    editor.press(":Ghostbench restart<CR>");
    editor.wait_until("Test.is_attached()");
    record(&editor);
}

#[test]
fn unsupported_neovim_version_is_reported() {
    let project = Project::new("//- /a.py\n");
    let Some(editor) = open_scripted(&project, "a.py", "") else { return };
    editor.press(":delcommand Ghostbench | unlet g:loaded_ghostbench<CR>");
    editor.press(":lua vim.fn.has = function() return 0 end<CR>:runtime plugin/ghostbench.lua<CR>");
    wait_for_message(&editor, "Ghostbench needs Neovim 0.10 or newer");
    assert_eq!(editor.evaluate("vim.fn.exists(':Ghostbench')"), 0);
}
