//! A live trial in a real VS Code: the store holds what was done in the editor.

use cases::{
    AcceptedPart, OutcomeKind, Provenance, TrialArm, TrialDefinition, TrialMode, Trigger, TruthStage,
};
use mock::{MockServer, Reply};
use serde_json::{Value, json};
use tests::{Project, VsCode, WindowOptions, wait_until};
use trial::definition::write_definition;

use crate::lsp::trial::folder;
use crate::settings::user_file;
use crate::trial_rows::{parts, spans, wait_for_row};

/// A function without a body.
const SHOP: &str = "//- /shop.py
def cost(price, rate):
    

def other(price):
    return 1
";

/// What the engine suggests everywhere.
const SUGGESTION: &str = "total = price * rate";

/// What the other engine of a duel suggests.
const RIVAL: &str = "return price";

/// Opens the file, and starts a trial of the scripted engine with short stages.
#[track_caller]
fn open_with_trial(project: &Project) -> Option<VsCode> {
    open_file_with_trial(project, "shop.py", json!({"files.trimTrailingWhitespace": true}))
}

/// As [`open_with_trial`], with a file and settings.
#[track_caller]
fn open_file_with_trial(project: &Project, file: &str, mut settings: Value) -> Option<VsCode> {
    user_file(project, "[trial]\nsettled_ms = 1000\nleave_block_ms = 1000\nidle_ms = 2000\n");
    let rules = json!([{"path": file, "text": SUGGESTION}]).to_string();
    settings["ghostbench.server.arguments"] = json!(["--scripted", rules]);
    let opening = WindowOptions { settings, server: None, is_trusted: true };
    let editor = VsCode::start(project, file, opening)?;
    editor.wait_until_served();
    assert_eq!(editor.evaluate("Eyes.trial()"), json!(null), "there is no trial");
    editor.run("Ghostbench: Start Trial");
    editor.answer("Record one engine");
    editor.answer("scripted");
    editor.wait_for_message("is started");
    editor.wait_until("Eyes.trial()?.endsWith('Trial: recording')");
    Some(editor)
}

/// Asks by leaving and entering the end of the second line, and waits for the suggestion.
#[track_caller]
fn wait_for_suggestion(editor: &VsCode) {
    editor.go_to(2, 5);
    editor.run("Trigger Inline Suggestion");
    editor.wait_for_this_ghost_text(SUGGESTION);
}

#[test]
fn parts_undo_save_and_restart_are_recorded() {
    let project = Project::new(SHOP);
    let Some(editor) = open_with_trial(&project) else { return };
    wait_for_suggestion(&editor);
    editor.press("Control+ArrowRight");
    let is_written = format!("Eyes.written()[1] === '    {SUGGESTION}'");
    editor.wait_for_this_ghost_text(" = price * rate");
    editor.press("Tab");
    editor.wait_until(&is_written);
    editor.press("Control+z");
    editor.wait_until("Eyes.written()[1] === '    total'");
    editor.press("Control+y");
    editor.wait_until(&is_written);
    editor.type_text("  ");
    editor.press("Escape");
    // VS Code removes the blanks: its own formatter.
    editor.check_saved(&format!(
        "def cost(price, rate):\n    {SUGGESTION}\n\ndef other(price):\n    return 1\n"
    ));
    let saved = wait_for_row(&project, "a truth of the save is stored", |row| {
        row.truths.iter().any(|truth| truth.stage == TruthStage::Save)
            && row.outcome.kind == OutcomeKind::Accepted
    });
    assert_eq!((&*saved.cursor.path, saved.cursor.line, saved.trigger), ("shop.py", 1, Trigger::Manual));
    let outcome = &saved.outcome;
    assert!(!outcome.is_inferred, "{outcome:?}");
    assert_eq!(parts(&project), [AcceptedPart::Word, AcceptedPart::Full]);
    assert_eq!(saved.truth().map(|truth| truth.text.trim_end()), Some(SUGGESTION));
    assert_eq!(spans(&saved), [("total", "accepted"), ("= price * rate", "undo")]);

    editor.run("Ghostbench: Restart Server");
    editor.wait_until("Eyes.trial() === null");
    editor.wait_until("Eyes.trial()?.endsWith('Trial: recording')");
    editor.press("Control+End");
    editor.type_text("y ");
    editor.wait_for_ghost_text();
    editor.type_text("= 2");
    editor.press("Control+s");
    let later = wait_for_row(&project, "the next session is recorded", |row| {
        row.session != saved.session && row.truth().is_some_and(|truth| truth.text.ends_with("= 2"))
    });
    assert!(spans(&later).iter().all(|(_, provenance)| *provenance == "typed"), "{later:?}");
}

#[test]
fn dismissals_and_pastes_are_reported() {
    let project = Project::new(SHOP);
    let Some(editor) = open_with_trial(&project) else { return };
    wait_for_suggestion(&editor);
    editor.press("Escape");
    editor.wait_until("Eyes.ghostText() === null");
    let rejected = wait_for_row(&project, "the rejection is stored", |row| {
        row.outcome.kind == OutcomeKind::Rejected && !row.outcome.is_inferred
    });
    assert_eq!(rejected.cursor.line, 1);
    // A short paste looks like keys.
    editor.type_text("x1");
    editor.press("Shift+Home");
    editor.press("Control+c");
    editor.press("End");
    editor.press("Control+v");
    editor.wait_until("Eyes.lines()[1].startsWith('    x1x1')");
    let written = wait_for_row(&project, "the text is stored", |row| {
        row.truth().is_some_and(|truth| truth.text == "x1x1")
    });
    assert_eq!(spans(&written), [("x1", "typed"), ("x1", "pasted")]);
}

#[test]
fn places_are_marked_and_the_trial_is_shown_and_stopped() {
    let project = Project::new(SHOP);
    // How many opportunities requests while typing open depends on the speed of the machine.
    let settings = json!({"editor.inlineSuggest.enabled": false});
    let Some(editor) = open_file_with_trial(&project, "shop.py", settings) else { return };
    editor.go_to(2, 5);
    editor.press("Control+Alt+m");
    editor.wait_for_message("marked as missing");
    editor.type_text("return price");
    editor.press("Escape");
    editor.go_to(5, 5);
    editor.run("Ghostbench: Mark Unwanted Suggestion at Cursor");
    editor.wait_for_message("nothing should have been suggested here");
    editor.press("Control+s");
    let missing = wait_for_row(&project, "the marked text is stored", |row| {
        row.trigger == Trigger::ShouldHaveSuggested && row.truth().is_some()
    });
    assert_eq!(missing.truth().map(|truth| &*truth.text), Some("return price"));
    wait_for_row(&project, "the other mark is stored", |row| row.trigger == Trigger::NotWanted);
    editor.click("#ghostbench\\.ghostbench\\.ghostbench\\.trial a");
    editor.answer("Show the scoreboard of the trial");
    editor.wait_until("Eyes.tabs().includes('Ghostbench Trial')");
    // The scoreboard shows the rows that were stored when it was opened.
    editor.repeat_until(
        "the scoreboard counts both",
        || editor.run("Ghostbench: Show Scoreboard of Trial"),
        || {
            let pages = editor.pages("document.body.innerText");
            pages.iter().any(|page| page.as_str().is_some_and(|text| text.contains("Trial: 2 opportunities")))
        },
    );
    editor.run("Ghostbench: Stop Trial");
    editor.wait_for_message("is stopped; its opportunities are kept");
    editor.wait_until("Eyes.trial() === null");
}

/// Whether a name of an engine is anywhere in the window.
const SHOWS_NAMES: &str = "/scripted|rival/.test(document.body.innerText)";

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
    let Some(editor) = VsCode::open(&project, "shop.py", &["--scripted", &rules]) else { return };
    editor.wait_until("Eyes.trial()?.endsWith('Trial: recording')");
    editor.go_to(2, 5);
    editor.run("Trigger Inline Suggestion");
    let first = editor.wait_for_ghost_text();
    assert!([SUGGESTION, RIVAL].contains(&&*first), "{first}");
    let second = if first == RIVAL { SUGGESTION } else { RIVAL };
    for text in [second, &*first, second] {
        editor.press("Alt+]");
        editor.wait_for_this_ghost_text(text);
    }
    let answered: Vec<Value> =
        editor.requests("textDocument/inlineCompletion").into_iter().filter_map(|(_, a)| a).collect();
    let answered = json!(answered).to_string();
    assert!(
        answered.contains(RIVAL) && !answered.contains("\"rival") && !answered.contains("\"scripted"),
        "{answered}"
    );
    assert_eq!(editor.evaluate(SHOWS_NAMES), json!(false));
    editor.press("Tab");
    // The next suggestion may be shown already.
    editor.wait_until(&format!(
        "Eyes.lines()[1].startsWith('    {second}') && Eyes.ghostText() !== '{second}'"
    ));
    let chosen = wait_for_row(&project, "the choice is stored", |row| {
        row.outcome.kind == OutcomeKind::Accepted && !row.outcome.is_inferred && row.truth().is_some()
    });
    let answer = chosen.answers.iter().find(|answer| answer.text == second).expect("it was offered");
    assert_eq!((chosen.answers.len(), chosen.outcome.arm.as_ref()), (2, Some(&answer.arm)));
    assert_eq!(spans(&chosen).iter().map(|(_, provenance)| *provenance).collect::<Vec<_>>(), ["accepted"]);

    editor.click("#ghostbench\\.ghostbench\\.ghostbench\\.trial a");
    editor.wait_until("Eyes.choices().includes('Stop the trial')");
    assert_eq!(editor.evaluate(SHOWS_NAMES), json!(false), "also in the state of the trial");
    editor.answer("Show the scoreboard of the trial");
    editor.wait_for_page("engine 1");
    assert_eq!(editor.evaluate(SHOWS_NAMES), json!(false));
    assert!(!editor.pages(SHOWS_NAMES).contains(&json!(true)));
    editor.run("Ghostbench: Stop Trial");
    editor.wait_for_message("was rival");
    editor.wait_for_message("was scripted");
    editor.wait_until("Eyes.trial() === null");
}

#[test]
fn a_formatter_that_runs_on_save_is_recorded() {
    let project = Project::new("//- /shop.ts\nfunction cost(price: number, rate: number) {\n    \n}\n");
    let settings = json!({"editor.formatOnSave": true, "editor.wordBasedSuggestions": "off"});
    let Some(editor) = open_file_with_trial(&project, "shop.ts", settings) else { return };
    editor.go_to(2, 5);
    editor.run("Trigger Inline Suggestion");
    editor.wait_for_this_ghost_text(SUGGESTION);
    editor.type_text("const net=price*rate;");
    editor.press("Escape");
    // The formatter of VS Code is a program that takes a while to start; until then, the file is saved as it is.
    wait_until("the saved file is formatted", || {
        editor.press("Control+s");
        let text = std::fs::read_to_string(project.root().join("shop.ts"));
        text.is_ok_and(|text| text.contains("const net = price * rate;"))
    });
    let saved = wait_for_row(&project, "the formatted text is the truth", |row| {
        row.truth().is_some_and(|truth| truth.text == "const net = price * rate;")
    });
    let truth = saved.truth().expect("it was waited for");
    let written_by = |provenance: Provenance| {
        let spans = truth.provenance.iter().filter(|span| span.provenance == provenance);
        spans.map(|span| &truth.text[span.range.clone()]).collect::<String>()
    };
    assert_eq!(written_by(Provenance::Typed), "const net=price*rate;", "{truth:?}");
    assert_eq!(written_by(Provenance::Formatter), "    ", "{truth:?}");
}
