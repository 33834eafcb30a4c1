//! A live trial in a real Neovim: the store holds what was done in the editor.

use cases::{
    AcceptedPart, OutcomeKind, Provenance, TrialArm, TrialDefinition, TrialMode, Trigger, TruthStage,
};
use mock::{MockServer, Reply};
use serde_json::json;
use tests::{Neovim, Project};
use trial::definition::write_definition;

use crate::lsp::trial::{folder, rows};
use crate::settings::user_file;
use crate::trial_rows::{parts, spans, wait_for_row};

/// A function without a body, and one with a name to complete.
const SHOP: &str = "//- /shop.py
def cost(price, rate):
    

def other(price):
    return 1
";

/// What the engine suggests everywhere.
const SUGGESTION: &str = "total = price * rate";

/// What its rival in a duel suggests.
const RIVAL: &str = "return price * rate";

/// Opens the file, and starts a trial of the scripted engine with short stages.
#[track_caller]
fn open_with_trial(project: &Project) -> Option<Neovim> {
    user_file(project, "[trial]\nsettled_ms = 1000\nleave_block_ms = 1000\nidle_ms = 2000\n");
    let rules = json!([{"path": "shop.py", "text": SUGGESTION}]).to_string();
    let editor = Neovim::open(project, "shop.py", &["--scripted", &rules])?;
    editor.press(":Ghostbench trial start single scripted<CR>");
    editor.wait_until("require('ghostbench.trial').recording() == 'recording'");
    editor.wait_until("Test.messages('is started')[1]");
    Some(editor)
}

#[test]
fn parts_undo_save_and_restart_are_recorded() {
    let project = Project::new(SHOP);
    let Some(editor) = open_with_trial(&project) else { return };
    editor.press(":call cursor(2, 5)<CR>A");
    assert_eq!(editor.wait_for_ghost_text(), SUGGESTION);
    editor.press("<M-Right>");
    editor.wait_until("vim.api.nvim_get_current_line() == '    total'");
    editor.wait_until("Test.ghost_text() == ' = price * rate'");
    editor.press("<M-C-Right>");
    editor.wait_until(&format!("vim.api.nvim_get_current_line() == '    {SUGGESTION}'"));
    editor.press("<Esc>u");
    editor.wait_until("vim.api.nvim_get_current_line() == '    total'");
    editor.press("<C-r>");
    editor.wait_until(&format!("vim.api.nvim_get_current_line() == '    {SUGGESTION}'"));
    editor.press(":write<CR>");
    let saved = wait_for_row(&project, "a truth of the save is stored", |row| {
        row.truths.iter().any(|truth| truth.stage == TruthStage::Save)
    });
    assert_eq!((&*saved.cursor.path, saved.cursor.line, saved.trigger), ("shop.py", 1, Trigger::Automatic));
    let outcome = &saved.outcome;
    assert_eq!((outcome.kind, outcome.is_inferred), (OutcomeKind::Accepted, false));
    assert_eq!(parts(&project), [AcceptedPart::Word, AcceptedPart::Full]);
    assert!(outcome.visible.is_some_and(|visible| visible > 0.0), "{outcome:?}");
    assert_eq!(saved.truth().map(|truth| &*truth.text), Some(SUGGESTION));
    assert_eq!(spans(&saved), [("total", "accepted"), ("= price * rate", "undo")]);
    wait_for_row(&project, "the text has settled", |row| {
        row.id == saved.id && row.truths.iter().any(|truth| truth.stage == TruthStage::Settled)
    });

    editor.evaluate("vim.lsp.get_clients()[1]:stop()");
    editor.wait_until("#vim.lsp.get_clients() == 0 and require('ghostbench.trial').recording() == ''");
    editor.press(":edit<CR>");
    editor.wait_until("Test.is_attached() and require('ghostbench.trial').recording() == 'recording'");
    editor.press("Go");
    editor.wait_for_ghost_text();
    editor.press("y = 2<Esc>:write<CR>");
    let later = wait_for_row(&project, "the next session is recorded", |row| {
        row.session != saved.session && row.truth().is_some_and(|truth| truth.text == "y = 2")
    });
    assert_eq!(spans(&later), [("y = 2", "typed")]);
    assert!(!later.outcome.is_inferred, "{:?}", later.outcome);
}

/// Starts a language server that formats when the file is saved: it puts blanks around `=` and `*`.
const FORMATTER: &str = r"(function()
  local function edits(uri)
    local found = {}
    local buffer = vim.uri_to_bufnr(uri)
    for row, line in ipairs(vim.api.nvim_buf_get_lines(buffer, 0, -1, true)) do
      for at in line:gmatch('()%w[=*]%w') do
        for _, column in ipairs({ at, at + 1 }) do
          local place = { line = row - 1, character = column }
          table.insert(found, { range = { start = place, ['end'] = place }, newText = ' ' })
        end
      end
    end
    return found
  end
  local function request(method, params, on_answer, on_reply)
    local results = {
      initialize = { capabilities = { documentFormattingProvider = true } },
      ['textDocument/formatting'] = method == 'textDocument/formatting' and edits(params.textDocument.uri),
    }
    Test.ids = (Test.ids or 0) + 1
    local id = Test.ids
    vim.schedule(function()
      if on_reply then on_reply(id) end
      on_answer(nil, results[method], id)
    end)
    return true, id
  end
  vim.lsp.start({
    name = 'formatter',
    cmd = function()
      return {
        request = request,
        notify = function() return true end,
        is_closing = function() return false end,
        terminate = function() end,
      }
    end,
  })
  vim.api.nvim_create_autocmd('BufWritePre', {
    callback = function() vim.lsp.buf.format({ name = 'formatter', timeout_ms = 10000 }) end,
  })
  return true
end)()";

#[test]
fn a_formatter_that_runs_on_save_is_recorded_and_the_place_is_kept() {
    let project = Project::new(SHOP);
    let Some(editor) = open_with_trial(&project) else { return };
    editor.evaluate(FORMATTER);
    editor.wait_until("(vim.lsp.get_clients({ name = 'formatter' })[1] or {}).initialized");
    editor.press(":call cursor(2, 5)<CR>A");
    editor.wait_for_ghost_text();
    editor.press("net=price*rate<Esc>:write<CR>");
    editor.wait_until("vim.api.nvim_buf_get_lines(0, 1, 2, true)[1] == '    net = price * rate'");
    let saved = wait_for_row(&project, "the formatted text is the truth", |row| {
        row.truth().is_some_and(|truth| truth.text == "net = price * rate")
    });
    let truth = saved.truth().expect("it was waited for");
    let written_by = |provenance: Provenance| {
        let spans = truth.provenance.iter().filter(|span| span.provenance == provenance);
        spans.map(|span| &truth.text[span.range.clone()]).collect::<String>()
    };
    assert_eq!(written_by(Provenance::Typed).replace(' ', ""), "net=price*rate", "{truth:?}");
    let formatted = written_by(Provenance::Formatter);
    assert!(!formatted.is_empty() && formatted.trim().is_empty(), "{truth:?}");
}

#[test]
fn a_duel_is_decided_by_cycling_and_names_are_revealed_at_the_end() {
    let project = Project::new(SHOP);
    let step = json!({"content": RIVAL, "stop": true});
    let rival = MockServer::scripted(move |_| {
        Reply::stream("text/event-stream").chunk(format!("data: {step}\n\n").as_bytes()).end()
    });
    let engine = format!(
        "[[engine]]\nname = \"rival\"\nkind = \"llama-cpp\"\nurl = \"{}\"\nfim = \"server\"\ncontext_window = 8192\n",
        rival.url()
    );
    user_file(&project, &engine);
    let arms = ["scripted", "rival"].map(|name| TrialArm::new(name.to_owned())).to_vec();
    let started_at = "2026-01-01T00:00:00Z".to_owned();
    let definition = TrialDefinition::new("duel".to_owned(), TrialMode::Duel, arms, started_at);
    write_definition(&folder(&project), &definition).expect("the definition is written");
    let rules = json!([{"path": "shop.py", "text": SUGGESTION}]).to_string();
    let Some(editor) = Neovim::open(&project, "shop.py", &["--scripted", &rules]) else { return };
    editor.wait_until("require('ghostbench.trial').recording() == 'recording'");
    editor.press(":call cursor(2, 5)<CR>A");
    let first = editor.wait_for_ghost_text();
    assert!([SUGGESTION, RIVAL].iter().any(|text| first.starts_with(text)), "{first}");
    let answered = editor.wait_for_answer("textDocument/inlineCompletion").to_string();
    assert!(!answered.contains("\"rival") && !answered.contains("\"scripted"), "{answered}");
    editor.press("<M-]>");
    let second = editor.wait_until("(Test.ghost_text() or ''):match('^(.*) %(2/2%)$')");
    let second = second.as_str().expect("it is text").to_owned();
    assert!(!first.starts_with(&second) && [SUGGESTION, RIVAL].contains(&&*second), "{first} {second}");
    editor.press("<Tab>");
    editor.wait_until(&format!("vim.api.nvim_get_current_line() == '    {second}'"));
    let chosen = wait_for_row(&project, "the choice is stored", |row| {
        row.outcome.kind == OutcomeKind::Accepted && row.outcome.arm.is_some()
    });
    let answer = chosen.answers.iter().find(|answer| answer.text == second).expect("it was offered");
    assert_eq!((chosen.answers.len(), chosen.outcome.arm.as_ref()), (2, Some(&answer.arm)));
    editor.press("<Esc>:Ghostbench trial scoreboard<CR>");
    let board = editor.wait_for_answer("ghostbench/scoreboard").to_string();
    assert!(board.contains("engine 1") && !board.contains("rival"), "{board}");
    editor.wait_until("Test.page()");
    editor.press("q:Ghostbench trial stop<CR>");
    let reported = editor.wait_until("(Test.page() or ''):match('.* was .*')").to_string();
    assert!(reported.contains("was rival") && reported.contains("was scripted"), "{reported}");
    editor.wait_until("Test.messages('is stopped')[1]");
}

#[test]
fn dismissals_and_the_work_of_programs_are_reported() {
    let project = Project::new(SHOP);
    let Some(editor) = open_with_trial(&project) else { return };
    editor.press(":call cursor(2, 5)<CR>A");
    editor.wait_for_ghost_text();
    editor.press("<C-]>");
    editor.wait_until("Test.ghost_text() == nil");
    let rejected = wait_for_row(&project, "the rejection is stored", |row| {
        row.outcome.kind == OutcomeKind::Rejected && !row.outcome.is_inferred
    });
    assert_eq!(rejected.cursor.line, 1);
    // Neovim sends a completed word as keys, and a short paste looks like keys.
    editor.press("pri<C-n>");
    editor.wait_until("vim.api.nvim_get_current_line() == '    price'");
    editor.press(" ");
    editor.wait_until("Test.notified('ghostbench/didIdentifyChange')[1].provenance == 'popup'");
    editor.evaluate("vim.api.nvim_paste('+ 1', true, -1)");
    editor.wait_until("Test.notified('ghostbench/didIdentifyChange')[2].provenance == 'pasted'");
    editor.press("<Esc>");
    let written = wait_for_row(&project, "the text has settled", |row| {
        row.truth().is_some_and(|truth| truth.text.contains("+ 1"))
    });
    let spans = spans(&written);
    assert!(spans[0].0.ends_with("price") && spans[0].1 == "popup", "{spans:?}");
    assert_eq!(spans.last(), Some(&("+ 1", "pasted")));

    editor.press("Go");
    editor.wait_for_ghost_text();
    editor.press("<Esc>");
    let ignored = wait_for_row(&project, "the suggestion is ignored", |row| {
        row.outcome.kind == OutcomeKind::Ignored && row.cursor.line > 4
    });
    assert!(!ignored.outcome.is_inferred, "{:?}", ignored.outcome);
}

#[test]
fn places_are_marked_and_the_scoreboard_is_shown() {
    let project = Project::new(SHOP);
    let Some(editor) = open_with_trial(&project) else { return };
    editor.press(":Ghostbench trial<CR>");
    let shown = editor.wait_until("Test.page()");
    assert!(shown.as_str().is_some_and(|text| text.contains("(single) is recorded")), "{shown}");
    editor.press("q:set virtualedit=onemore<CR>:call cursor(2, 5)<CR>:Ghostbench missing<CR>");
    editor.wait_until("Test.messages('marked as missing')[1]");
    editor.press("Areturn price<Esc>");
    editor.press(":call cursor(5, 1)<CR>:Ghostbench unwanted<CR>");
    editor.wait_until("Test.messages('nothing should have been suggested here')[1]");
    editor.press(":write<CR>");
    let missing = wait_for_row(&project, "the marked text is stored", |row| {
        row.trigger == Trigger::ShouldHaveSuggested && row.truth().is_some()
    });
    assert_eq!(missing.truth().map(|truth| &*truth.text), Some("return price"));
    wait_for_row(&project, "the other mark is stored", |row| row.trigger == Trigger::NotWanted);
    editor.press(":Ghostbench trial scoreboard<CR>");
    let board = editor.wait_until("Test.page()");
    let answer = editor.wait_for_answer("ghostbench/scoreboard");
    assert_eq!(board, answer["result"]["text"].as_str().expect("it is text").trim_end_matches('\n'));
    editor.press("q:Ghostbench trial stop<CR>");
    editor.wait_until("require('ghostbench.trial').recording() == ''");
    editor.press(":Ghostbench trial nothing<CR>");
    editor.wait_until("Test.messages('use start, stop or scoreboard')[1]");
}

#[test]
fn recording_is_paused_resumed_and_forgotten() {
    let project = Project::new(SHOP);
    let Some(editor) = open_with_trial(&project) else { return };
    editor.press(":call cursor(2, 5)<CR>A");
    editor.wait_for_ghost_text();
    editor.press("total = 1<Esc>:write<CR>");
    wait_for_row(&project, "a truth is stored", |row| row.truth().is_some());
    editor.press(":Ghostbench pause 5<CR>");
    editor.wait_until("Test.messages('nothing is recorded for 5 minutes')[1]");
    editor.wait_until("require('ghostbench.trial').recording() == 'paused'");
    editor.press(":Ghostbench pause soon<CR>");
    editor.wait_until("Test.messages('\"soon\" is no number of minutes')[1]");
    editor.press(":Ghostbench resume<CR>");
    editor.wait_until("require('ghostbench.trial').recording() == 'recording'");
    // Without a terminal, Neovim asks nothing.
    editor
        .evaluate("(function() vim.fn.confirm = function(q) Test.question = q return 2 end return 1 end)()");
    editor.press(":Ghostbench forget<CR>");
    editor.wait_until("(Test.question or ''):find('in the last 60 minutes', 1, true)");
    assert_eq!(editor.evaluate("#Test.messages('are deleted')"), 0);
    assert!(!rows(&project).is_empty(), "nothing is deleted without a yes");
    editor.evaluate("(function() vim.fn.confirm = function() return 1 end return 1 end)()");
    editor.press(":Ghostbench forget<CR>");
    editor.wait_until("Test.messages('opportunities are deleted')[1]");
    assert!(rows(&project).is_empty());
}

#[test]
fn what_was_sent_is_shown() {
    let project = Project::new(SHOP);
    let server = MockServer::scripted(|_| {
        let step = json!({"content": SUGGESTION, "stop": true});
        Reply::stream("text/event-stream").chunk(format!("data: {step}\n\n").as_bytes()).end()
    });
    let engine = format!(
        "[[engine]]\nname = \"far\"\nkind = \"llama-cpp\"\nurl = \"{}\"\nfim = \"server\"\ncontext_window = 8192\n",
        server.url()
    );
    user_file(&project, &engine);
    let Some(editor) = Neovim::open(&project, "shop.py", &[]) else { return };
    editor.press(":Ghostbench sent<CR>");
    editor.wait_until("Test.messages('nothing was asked for this file yet')[1]");
    editor.press(":call cursor(2, 5)<CR>A");
    editor.wait_for_ghost_text();
    editor.press("<Esc>:Ghostbench sent<CR>");
    let shown = editor.wait_until("Test.page()");
    let shown = shown.as_str().expect("it is text");
    for words in ["ok by far", "offered\n    ", "sent     to far at 20", "def cost(price, rate):"] {
        assert!(shown.contains(words), "{words:?} is missing in {shown}");
    }
    editor.press("q");
    editor.wait_until("not Test.page()");
}
