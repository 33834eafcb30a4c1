//! Real plugins in a real Neovim, which know nothing of Ghostbench but an address.

use cases::{OutcomeKind, Status, TrialMode, TruthStage};
use mock::{MockServer, Reply};
use serde_json::json;
use tests::{FrontDoor, Neovim, Project, unpack_plugin};

use super::{SUGGESTION, engine, project, start_trial};
use crate::settings::user_file;
use crate::trial_rows::{spans, wait_for_row};

/// A front door to a server of this kind, in whose project a trial runs.
fn recorded(project: &Project, kind: &str, server: &MockServer) -> FrontDoor {
    user_file(project, &engine("remote", kind, &server.url()));
    start_trial(project, TrialMode::Single, &["remote"]);
    let door = FrontDoor::open(project, &[]);
    door.wait_for_trial();
    door
}

/// Waits until the accepted suggestion is saved, and checks its row.
fn check_saved(project: &Project, typed: &str) {
    let row = wait_for_row(project, "the truth of the save is stored", |row| {
        row.outcome.kind == OutcomeKind::Accepted
            && row.truths.iter().any(|truth| truth.stage == TruthStage::Save)
    });
    assert_eq!((&*row.cursor.path, row.cursor.line), ("shop.py", 4));
    assert!(row.cursor.prefix.ends_with(&format!("    {typed}")), "{:?}", row.cursor.prefix);
    let answer = row.shown_answer().expect("it was shown");
    assert_eq!((&*answer.text, answer.status), (SUGGESTION, Status::Ok));
    assert_eq!(spans(&row), [(SUGGESTION, "accepted")]);
}

#[test]
fn llama_vim_takes_part() {
    let project = project();
    let Some(plugin) = unpack_plugin(&project.home(), "llama.vim") else { return };
    let server = MockServer::scripted(|_| Reply::json(200, &json!({"content": SUGGESTION})));
    let door = recorded(&project, "llama-cpp", &server);
    let url = door.url("/infill");
    let setup =
        format!("vim.g.llama_config = {{ endpoint_fim = '{url}', show_info = 0, ring_n_chunks = 0 }}");
    let Some(editor) = Neovim::with_plugin(&project, "shop.py", &plugin, &setup) else { return };
    editor.press(":call cursor(5, 5)<CR>A#");
    assert_eq!(editor.wait_until("Test.ghost_text('vt_fim')"), SUGGESTION);
    editor.press("<Tab>");
    editor.wait_until(&format!("vim.api.nvim_get_current_line() == '    #{SUGGESTION}'"));
    editor.press("<Esc>:write<CR>");
    check_saved(&project, "#");
    assert!(server.log().received.iter().all(|request| request.path == "/infill"));
}

#[test]
fn minuet_takes_part() {
    let project = project();
    let Some(plugin) = unpack_plugin(&project.home(), "minuet-ai.nvim") else { return };
    let event = json!({"choices": [{"text": SUGGESTION}]}).to_string();
    let server = MockServer::scripted(move |_| Reply::events([&*event, "[DONE]"]));
    let door = recorded(&project, "openai", &server);
    let setup = format!(
        "vim.env.GHOSTBENCH_TEST_KEY = 'key'
        require('minuet').setup({{
          provider = 'openai_fim_compatible', n_completions = 1, throttle = 0, debounce = 0, notify = false,
          virtualtext = {{ auto_trigger_ft = {{ 'python' }} }},
          provider_options = {{
            openai_fim_compatible = {{ end_point = '{}', model = 'm', name = 'door', api_key = 'GHOSTBENCH_TEST_KEY' }},
          }},
        }})",
        door.url("/v1/completions")
    );
    let Some(editor) = Neovim::with_plugin(&project, "shop.py", &plugin, &setup) else { return };
    editor.press(":call cursor(5, 5)<CR>A#");
    assert_eq!(editor.wait_until("Test.ghost_text('minuet.virtualtext')"), SUGGESTION);
    editor.press("<Cmd>lua require('minuet.virtualtext').action.accept()<CR>");
    editor.wait_until(&format!("vim.api.nvim_get_current_line() == '    #{SUGGESTION}'"));
    editor.press("<Esc>:write<CR>");
    check_saved(&project, "#");
    assert_eq!(server.log().received[0].header("authorization"), Some("Bearer key"));
}
