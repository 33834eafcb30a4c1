//! Faults around the plugin for Neovim: no server, another version, crashes, engines that are down, files without a folder,
//! editors that end in the middle.

use std::ffi::OsStr;
use std::fs;
use std::os::unix::fs::PermissionsExt;
use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use mock::{MockServer, Reply};
use serde_json::json;
use tests::{Neovim, NeovimVersion, Project, search_path, wait_until};

use crate::settings::user_file;

/// The process of the server, a child of Neovim.
const SERVER: &str = "vim.iter(vim.api.nvim_get_proc_children(vim.fn.getpid())):find(function(id) \
                      return (vim.api.nvim_get_proc(id) or {}).name == 'ghostbench' end)";

/// The versions that users have.
const INSTALLED: [NeovimVersion; 3] = [NeovimVersion::Native, NeovimVersion::Eleven, NeovimVersion::Ten];

#[track_caller]
fn wait_for_message(editor: &Neovim, words: &str) {
    editor.wait_until(&format!("Test.messages('{words}')[1]"));
}

/// Waits until another server than the one of a process runs; returns its process.
#[track_caller]
fn wait_for_server(editor: &Neovim, former: u64) -> u64 {
    let found = editor.wait_until(&format!(
        "(function(id) return Test.is_attached() and id ~= {former} and id end)({SERVER})"
    ));
    found.as_u64().expect("a process has an id")
}

#[test]
fn fresh_install_shows_ghost_text() {
    for version in INSTALLED {
        let project = Project::generated(6);
        project.write(".git/HEAD", "ref: refs/heads/main\n");
        project.write("shop/new.py", "import math\n\n\n");
        let Some(editor) = Neovim::install(version, &project, "shop/new.py", "", &search_path()) else {
            continue;
        };
        editor.wait_until("Test.is_attached()");
        editor.wait_until("Test.status().folders[1].state == 'ready'");
        let folder = editor.evaluate("Test.status().folders[1].uri");
        assert!(folder.as_str().is_some_and(|uri| uri.ends_with("/workspace")), "{folder}");
        editor.press("Godef total_0(orders_3, limit=3):<CR>");
        let ghost = editor.wait_for_ghost_text();
        editor.press("<Tab>");
        let first = ghost.lines().find(|line| !line.trim().is_empty()).expect("it has text").trim();
        editor.wait_until(&format!("vim.fn.search({}, 'nw') > 0", json!(format!("\\V{first}"))));
        assert_eq!(editor.evaluate("vim.v.errmsg"), "", "{version:?}");
    }
}

#[test]
fn missing_server_is_reported_with_the_way_to_install_it() {
    for version in INSTALLED {
        let project = Project::new("//- /a.py\nx = 1\n//- /b.py\n");
        let path = OsStr::new("/usr/bin:/bin");
        let Some(editor) = Neovim::install(version, &project, "a.py", "", path) else { continue };
        wait_for_message(&editor, "no ghostbench in your PATH");
        editor.press(":edit b.py<CR>");
        editor.wait_until("vim.fn.bufname() == 'b.py'");
        assert_eq!(editor.evaluate("#Test.messages('in your PATH')"), 1, "it is said once");
        editor.press(":checkhealth ghostbench<CR>");
        editor.wait_until("vim.bo.filetype == 'checkhealth'");
        assert!(editor.text().contains("uv tool install ghostbench"), "{}", editor.text());
        editor.press(":quit<CR>:messages clear<CR>:Ghostbench restart<CR>");
        wait_for_message(&editor, "no server has run yet");
    }
}

#[test]
fn server_of_another_version_is_reported_once() {
    let project = Project::new("//- /a.py\nx = 1\n");
    let setup = "require('ghostbench.version').VERSION = '9.9.0'";
    let Some(editor) = Neovim::install(NeovimVersion::Native, &project, "a.py", setup, &search_path()) else {
        return;
    };
    wait_for_message(&editor, &format!("server {}, plugin 9.9.0", env!("CARGO_PKG_VERSION")));
    editor.press(":Ghostbench status<CR>");
    editor.wait_until("Test.page()");
    assert_eq!(editor.evaluate("#Test.messages('plugin 9.9.0')"), 1);
}

#[test]
fn options_of_a_wrong_type_are_reported_and_have_their_defaults() {
    let project = Project::new("//- /a.py\nx = 1\n");
    let setup = "vim.g.ghostbench_accept = 5\nvim.g.ghostbench_native = 'yes'";
    let Some(editor) = Neovim::install(NeovimVersion::Native, &project, "a.py", setup, &search_path()) else {
        return;
    };
    wait_for_message(&editor, "g:ghostbench_accept is no key; the default applies");
    wait_for_message(&editor, "g:ghostbench_native is no boolean; the default applies");
    editor.wait_until("Test.is_attached()");
    assert_eq!(editor.evaluate("vim.fn.maparg('<Tab>', 'i') ~= ''"), true);
    assert_eq!(editor.evaluate("#Test.messages('ghostbench_accept is no')"), 1);
}

#[test]
fn file_without_a_folder_has_ghost_text_and_no_cases() {
    for version in INSTALLED {
        let project = Project::new("//- /a.py\ntotal_of_prices = 1\nprint(total_of_prices)\n");
        let Some(editor) = Neovim::install(version, &project, "a.py", "", &search_path()) else { continue };
        editor.wait_until("Test.is_attached()");
        editor.press(":Ghostbench status<CR>");
        let shown = editor.wait_until("Test.page()");
        assert!(shown.as_str().is_some_and(|text| text.contains("folder   none")), "{shown}");
        editor.press("q:call cursor(1, 1)<CR>:Ghostbench record<CR>");
        wait_for_message(&editor, "Ghostbench: ");
        assert_eq!(editor.evaluate("Test.messages('recorded')"), json!([]), "{version:?}");
    }
}

#[test]
fn read_only_file_is_recorded_and_not_written() {
    let project = Project::new("//- /a.py\nx = 1\n");
    let file = project.root().join("a.py");
    fs::set_permissions(&file, fs::Permissions::from_mode(0o444)).expect("the file is ours");
    let rules = json!([{"path": "", "text": "y = 2"}]).to_string();
    let Some(editor) = Neovim::open(&project, "a.py", &["--scripted", &rules]) else { return };
    editor.press(":set readonly<CR>:call cursor(1, 1)<CR>:Ghostbench record<CR>");
    wait_for_message(&editor, "recorded the whole statement, line 1");
    editor.press("o");
    assert_eq!(editor.wait_for_ghost_text(), "y = 2");
    editor.press("<Tab>");
    editor.wait_until("vim.api.nvim_get_current_line() == 'y = 2'");
    editor.press("<Esc>");
    assert_eq!(fs::read_to_string(file).expect("the file is there"), "x = 1\n");
}

#[test]
fn killed_server_is_started_again_and_stays_off_after_five_crashes() {
    for version in INSTALLED {
        let project = Project::new("//- /a.py\ntotal_of_prices = 1\n");
        let Some(editor) = Neovim::open_version(version, &project, "a.py", &[]) else { continue };
        let mut server = 0;
        for crash in 1..=5 {
            server = wait_for_server(&editor, server);
            if crash == 2 {
                // Neovim reports the crash too, in a message that has to be confirmed.
                editor.press("<Esc><Esc>Gototal_of");
                let ghost = editor.wait_for_ghost_text();
                assert!(ghost.starts_with("_prices"), "the second server knows the text: {ghost}");
                editor.press("<Esc>");
            }
            editor.evaluate(&format!("vim.uv.kill({server}, 'sigkill')"));
        }
        wait_for_message(&editor, "server crashed 5 times (signal 9); see :Ghostbench log");
        editor.press(":Ghostbench status<CR>");
        let shown = editor.wait_until("Test.page()");
        let shown = shown.as_str().expect("it is text");
        assert!(
            shown.contains("crashed 5 times within 3 minutes, at last signal 9") && shown.contains("lsp.log"),
            "{shown}"
        );
        assert_eq!(editor.evaluate("#vim.lsp.get_clients()"), 0);
        editor.press("q:Ghostbench restart<CR>");
        wait_for_server(&editor, server);
    }
}

#[test]
fn ghost_text_ends_and_returns_with_the_engine() {
    let project = Project::new("//- /a.py\n");
    let is_down = Arc::new(AtomicBool::new(false));
    let state = Arc::clone(&is_down);
    let engine = MockServer::scripted(move |_| {
        if state.load(Ordering::SeqCst) {
            return Reply::json(503, &json!({"error": {"message": "loading model"}}));
        }
        let step = json!({"content": "total", "stop": true});
        Reply::stream("text/event-stream").chunk(format!("data: {step}\n\n").as_bytes()).end()
    });
    let engines = format!(
        "[[engine]]\nname = \"far\"\nkind = \"llama-cpp\"\nurl = \"{}\"\nfim = \"server\"\ncontext_window = 8192\n",
        engine.url()
    );
    user_file(&project, &engines);
    let Some(editor) = Neovim::open(&project, "a.py", &[]) else { return };
    editor.press("ix = ");
    assert_eq!(editor.wait_for_ghost_text(), "total");
    is_down.store(true, Ordering::SeqCst);
    editor.press("<Esc>oy = ");
    editor.wait_until("vim.startswith(require('ghostbench').statusline(), 'far failing')");
    assert_eq!(editor.ghost_text(), None);
    is_down.store(false, Ordering::SeqCst);
    // The server asks an engine that failed again after a while.
    let mut line = 0;
    wait_until("the engine answers again", || {
        line += 1;
        let asked = editor.requests("textDocument/inlineCompletion").len();
        editor.press(&format!("<Esc>oz{line} = "));
        wait_until("the line is asked about", || {
            editor.requests("textDocument/inlineCompletion").len() > asked
        });
        let answer = editor.wait_for_answer("textDocument/inlineCompletion");
        answer["result"]["items"].as_array().is_some_and(|items| !items.is_empty())
    });
    assert_eq!(editor.wait_for_ghost_text(), "total");
    editor.wait_until("vim.startswith(require('ghostbench').statusline(), 'far ready')");
}

#[test]
fn rename_during_a_request_leaves_a_working_buffer() {
    let project = Project::new("//- /a.py\n");
    let rules =
        json!([{"path": "a.py", "text": "late", "delay_ms": 2000}, {"path": "b.py", "text": "fresh"}]);
    let Some(editor) = Neovim::open(&project, "a.py", &["--scripted", &rules.to_string()]) else { return };
    editor.press("ix = ");
    editor.wait_until("#vim.tbl_filter(function(r) return r.method:match('inline') end, Test.requests) > 0");
    editor.press("<C-o>:saveas b.py<CR>");
    editor.wait_until("vim.endswith(vim.api.nvim_buf_get_name(0), 'b.py')");
    editor.press("<Esc>oy = ");
    assert_eq!(editor.wait_for_ghost_text(), "fresh");
    assert_eq!(editor.evaluate("vim.v.errmsg"), "");
}

#[test]
fn large_file_has_ghost_text_at_its_end() {
    let project = Project::new("");
    let lines: String = (0..20_000).map(|number| format!("value_{number} = {number}\n")).collect();
    project.write("a.py", lines);
    let rules = json!([{"path": "", "text": "price * rate"}]).to_string();
    for version in [NeovimVersion::Native, NeovimVersion::Ten] {
        let Some(editor) = Neovim::open_version(version, &project, "a.py", &["--scripted", &rules]) else {
            continue;
        };
        editor.press("Gototal = ");
        assert_eq!(editor.wait_for_ghost_text(), "price * rate");
        editor.press("<Tab>");
        editor.wait_until("vim.api.nvim_get_current_line() == 'total = price * rate'");
        assert_eq!(editor.evaluate("vim.api.nvim_win_get_cursor(0)[1]"), 20_001);
    }
}

#[test]
fn two_editors_share_the_cases_of_a_workspace() {
    let project = Project::new("//- /a.py\nx = 1\n//- /b.py\ny = 2\n");
    let Some(one) = Neovim::open(&project, "a.py", &[]) else { return };
    let Some(other) = Neovim::open(&project, "b.py", &[]) else { return };
    one.press(":call cursor(1, 1)<CR>:Ghostbench record<CR>");
    wait_for_message(&one, "recorded the whole statement, line 1");
    other.press(":call cursor(1, 1)<CR>:Ghostbench record<CR>");
    wait_for_message(&other, "recorded the whole statement, line 1");
    for editor in [&one, &other] {
        editor.press(":Ghostbench cases<CR>");
        editor.wait_until("#vim.fn.getqflist() == 2");
    }
}

#[test]
fn server_ends_with_an_editor_that_is_closed_in_the_middle() {
    let project = Project::new("//- /a.py\nx = 1\n");
    let rules = json!([{"path": "", "text": "late", "delay_ms": 600_000}]).to_string();
    let working = || {
        let editor = Neovim::open(&project, "a.py", &["--scripted", &rules])?;
        editor.press(":call cursor(1, 1)<CR>:Ghostbench record<CR>");
        wait_for_message(&editor, "recorded");
        editor.press(":Ghostbench replay<CR>");
        editor.wait_until("Test.pending('Ghostbench replays cases') == 1");
        editor.press("oy = ");
        editor.wait_until(
            "#vim.tbl_filter(function(r) return r.method:match('inline') end, Test.requests) > 0",
        );
        Some(editor)
    };
    let has_ended =
        |server: u64| wait_until("the server ends", || !Path::new(&format!("/proc/{server}/stat")).exists());
    let Some(editor) = working() else { return };
    let server = editor.evaluate(SERVER).as_u64().expect("a process has an id");
    editor.press("<Esc>:qall!<CR>");
    has_ended(server);

    let editor = working().expect("it was there before");
    let server = editor.evaluate(SERVER).as_u64().expect("a process has an id");
    editor.kill();
    has_ended(server);
}
