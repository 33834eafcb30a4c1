//! `:Ghostbench` in a real Neovim: its subcommands, pages, status line, health check and help.

use std::collections::BTreeSet;

use serde_json::{Value, json};
use tests::{Neovim, Project};

use crate::settings::{TWO_ENGINES, user_file};

const FILE: &str = "//- /a.py
def total(orders):
    result = 0
    for order in orders:
        result += order.price
    return result
";

/// The names of all subcommands.
pub(crate) fn subcommands(editor: &Neovim) -> BTreeSet<String> {
    let names = editor.evaluate("vim.tbl_keys(require('ghostbench.command').SUBCOMMANDS)");
    serde_json::from_value(names).expect("names are texts")
}

/// Opens the file with two engines of the settings.
#[track_caller]
fn open_with_two_engines(project: &Project) -> Option<Neovim> {
    user_file(project, TWO_ENGINES);
    let editor = Neovim::open(project, "a.py", &[])?;
    editor.wait_until("Test.status().folders[1].state == 'ready'");
    Some(editor)
}

#[test]
fn subcommands_and_their_arguments_are_completed() {
    let project = Project::new(FILE);
    project.write("suite.jsonl", "");
    let Some(editor) = open_with_two_engines(&project) else { return };
    editor.wait_until("#require('ghostbench.status').engine_names() == 2");
    let completed = |line: &str| editor.evaluate(&format!("vim.fn.getcompletion('{line}', 'cmdline')"));
    assert_eq!(completed("Ghostbench re"), json!(["record", "replay", "report", "restart", "resume"]));
    assert_eq!(completed("Ghostbench replay "), json!(["case", "file", "suite", "cancel"]));
    assert_eq!(completed("Ghostbench accept w"), json!(["word"]));
    assert_eq!(completed("Ghostbench trial start sh"), json!(["shadow"]));
    assert_eq!(completed("Ghostbench trial start shadow mi"), json!(["mine"]));
    assert_eq!(completed("Ghostbench diff "), json!(["mine", "plain"]));
    assert_eq!(completed("Ghostbench suite sui"), json!(["suite.jsonl"]));
    assert_eq!(completed("Ghostbench record "), json!([]));
    assert_eq!(completed("Ghostbench nothing "), json!([]));
    editor.press(":Ghostbench nothing<CR>");
    editor.wait_until("Test.messages('there is no subcommand')[1]");
}

#[test]
fn help_documents_every_subcommand_and_option() {
    let project = Project::new(FILE);
    let Some(editor) = Neovim::open(&project, "a.py", &[]) else { return };
    let doc = "vim.api.nvim_get_runtime_file('doc/ghostbench.txt', false)[1]";
    editor.evaluate(&format!(
        "vim.fn.mkdir('doc') + vim.fn.writefile(vim.fn.readfile({doc}), 'doc/ghostbench.txt')"
    ));
    editor.press(":helptags doc<CR>");
    editor.wait_until("vim.fn.filereadable('doc/tags') == 1");
    assert_eq!(editor.evaluate("vim.v.errmsg"), "");
    let tags = editor.evaluate("vim.fn.readfile('doc/tags')");
    let tags: Vec<&str> = tags.as_array().expect("lines").iter().filter_map(Value::as_str).collect();
    let tags: BTreeSet<&str> = tags.iter().filter_map(|line| line.split('\t').next()).collect();
    let documented: BTreeSet<String> =
        tags.iter().filter_map(|tag| tag.strip_prefix(":Ghostbench-")).map(str::to_owned).collect();
    assert_eq!(documented, subcommands(&editor));
    let options = editor.evaluate("vim.tbl_keys(require('ghostbench.options').KEYS)");
    for option in options.as_array().expect("names").iter().filter_map(Value::as_str).chain(["native"]) {
        assert!(tags.contains(format!("g:ghostbench_{option}").as_str()), "{option}");
    }
}

#[test]
fn status_line_shows_engine_state_latency_and_recording() {
    let project = Project::new(FILE);
    let Some(editor) = open_with_two_engines(&project) else { return };
    let line = "require('ghostbench').statusline()";
    editor.wait_until(&format!("{line} == 'mine ready'"));
    editor.press("Go");
    editor.wait_for_answer("textDocument/inlineCompletion");
    editor.wait_until(&format!("{line}:match('^mine ready %d+ ms$')"));
    editor.press("<Esc>:Ghostbench trial start single mine<CR>");
    editor.wait_until(&format!("{line}:match('^mine ready %d+ ms recording$')"));
    editor.press(":Ghostbench trial stop<CR>");
    editor.wait_until(&format!("not {line}:match('recording')"));
    editor.press(":Ghostbench trial start duel mine plain<CR>");
    editor.wait_until(&format!("{line}:match('^engine hidden ready %d+ ms recording$')"));
    editor.press(":set statusline=%{v:lua.require'ghostbench'.statusline()}<CR>");
    let drawn = editor.evaluate("vim.api.nvim_eval_statusline(vim.o.statusline, {}).str");
    assert!(drawn.as_str().is_some_and(|text| text.starts_with("engine hidden")), "{drawn}");
    editor.press(":enew<CR>");
    editor.wait_until(&format!("{line} == ''"));
}

#[test]
fn engine_of_the_ghost_text_is_chosen() {
    let project = Project::new(FILE);
    let Some(editor) = open_with_two_engines(&project) else { return };
    editor.press(":Ghostbench engine nothing<CR>");
    editor.wait_until("Test.messages('no engine \"nothing\" can be used; use mine, plain')[1]");
    editor.press(":Ghostbench engine plain<CR>");
    editor.wait_until("Test.messages('plain writes the ghost text until the server ends')[1]");
    editor.wait_until("Test.status().engines[1].name == 'plain'");
    editor.wait_until("vim.startswith(require('ghostbench').statusline(), 'plain ')");
    editor.evaluate(
        "(function() vim.ui.select = function(names, _, chosen) chosen(names[2]) end return 1 end)()",
    );
    editor.press(":Ghostbench engine<CR>");
    editor.wait_until("Test.status().engines[1].name == 'mine'");
}

#[test]
fn recorded_cases_are_listed_and_answers_are_compared() {
    let project = Project::new(FILE);
    let Some(editor) = open_with_two_engines(&project) else { return };
    editor.press(":Ghostbench cases<CR>");
    editor.wait_until("Test.messages('no case is recorded')[1]");
    editor.press(":call cursor(4, 9)<CR>:Ghostbench record<CR>");
    editor.wait_until("#Test.lenses() == 1");
    editor.press(":Ghostbench diff<CR>");
    editor.wait_until("Test.messages('this case is not replayed yet')[1]");
    editor.press(":Ghostbench replay<CR>");
    editor.wait_until("Test.messages('replayed 2 of 2 requests')[1]");

    editor.press(":Ghostbench cases file<CR>");
    editor.wait_until("vim.bo.buftype == 'quickfix'");
    let list = editor.evaluate("vim.fn.getqflist({ title = true, items = true })");
    let entry = &list["items"][0];
    assert_eq!(
        (&list["title"], &entry["lnum"], &entry["col"]),
        (&json!("Ghostbench cases"), &json!(4), &json!(9))
    );
    let text = entry["text"].as_str().expect("it is text");
    assert!(text.contains("mine ") && text.contains(" | plain "), "{text}");

    editor.press("<CR>:cclose<CR>:Ghostbench diff plain mine<CR>");
    editor.wait_until("vim.fn.tabpagenr('$') == 2 and #vim.api.nvim_tabpage_list_wins(0) == 3");
    let titles = "vim.tbl_map(function(w) return vim.b[vim.api.nvim_win_get_buf(w)].ghostbench_title end, \
                  vim.api.nvim_tabpage_list_wins(0))";
    let titles = editor.evaluate(titles);
    assert_eq!(titles[0], "right answer");
    assert!(titles[1].as_str().is_some_and(|title| title.starts_with("plain ")), "{titles}");
    assert!(titles[2].as_str().is_some_and(|title| title.starts_with("mine ")), "{titles}");
    assert_eq!(editor.evaluate("vim.wo.diff and vim.bo.filetype"), "python");
    assert_eq!(editor.text(), FILE.split_once('\n').expect("lines").1, "with the right answer in its place");
    editor.press("q");
    editor.wait_until("vim.fn.tabpagenr('$') == 1");
    editor.press(":Ghostbench diff far<CR>");
    editor.wait_until("Test.messages('far has not answered this case')[1]");
}

#[test]
fn report_is_opened_in_the_browser() {
    let project = Project::new(FILE);
    let Some(editor) = open_with_two_engines(&project) else { return };
    editor.evaluate(
        "(function() vim.ui.open = function(path) Test.opened = vim.fn.readfile(path) end return 1 end)()",
    );
    editor.press(":Ghostbench report<CR>");
    editor.wait_until("#Test.messages('Ghostbench: ') == 1");
    editor.press(":call cursor(4, 9)<CR>:Ghostbench record<CR>");
    editor.wait_until("#Test.lenses() == 1");
    editor.press(":Ghostbench replay suite<CR>");
    editor.wait_until("Test.messages('replayed 2 of 2 requests')[1]");
    editor.press(":Ghostbench report<CR>");
    let page = editor.wait_until("Test.opened and table.concat(Test.opened, '\\n')");
    let page = page.as_str().expect("it is text");
    assert!(page.contains("<html") && page.contains("plain"), "{page}");
}

#[test]
fn doctor_and_log_are_shown() {
    let project = Project::new(FILE);
    let Some(editor) = open_with_two_engines(&project) else { return };
    editor.press(":Ghostbench doctor<CR>");
    let shown = editor.wait_until("Test.page()");
    assert!(shown.as_str().is_some_and(|text| text.contains("nearest-line")), "{shown}");
    editor.press("q:Ghostbench log<CR>");
    editor.wait_until("vim.endswith(vim.api.nvim_buf_get_name(0), 'lsp.log')");
}

#[test]
fn health_check_names_program_server_and_engines() {
    let project = Project::new(FILE);
    let Some(editor) = open_with_two_engines(&project) else { return };
    editor.press(":checkhealth ghostbench<CR>");
    editor.wait_until("vim.bo.filetype == 'checkhealth'");
    let shown = editor.text();
    let version = env!("CARGO_PKG_VERSION");
    assert_eq!(editor.evaluate("require('ghostbench.version').VERSION"), version, "a release sets both");
    for words in ["draws the suggestions itself", &format!("version {version}"), "engine mine", "it serves "]
    {
        assert!(shown.contains(words), "{words} is missing in {shown}");
    }
    assert!(!shown.contains("ERROR"), "{shown}");
}
