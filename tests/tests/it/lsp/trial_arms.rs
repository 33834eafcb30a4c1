//! The arms of a live trial: who answers, who is shown, and what is counted.

use cases::{
    ArmAnswer, ArmRole, AssignmentUnit, DecisionKind, Opportunity, OutcomeKind, Status, TrialArm,
    TrialDefinition, TrialMode,
};
use mock::{Latch, MockServer, Reply, ReplyStep};
use serde_json::{Value, json};
use tests::{Project, wait_until};

use super::editor::{Editor, find, items, setup};
use super::trial::{SHOP, SUGGESTION, definition, folder, rows};
use crate::settings::user_file;

/// What the arm in shadow suggests.
const RIVAL: &str = "return price * rate";

fn event(piece: &str, is_last: bool) -> Vec<u8> {
    format!("data: {}\n\n", json!({"content": piece, "stop": is_last})).into_bytes()
}

fn answer() -> Reply {
    Reply::stream("text/event-stream").chunk(&event(RIVAL, false)).chunk(&event("", true)).end()
}

/// A server that answers when the latch is open.
fn slow_server() -> (MockServer, Latch) {
    let latch = Latch::default();
    let gate = latch.clone();
    (MockServer::scripted(move |_| answer().preceded_by(ReplyStep::Wait(gate.clone()))), latch)
}

fn engine(name: &str, url: &str) -> String {
    format!(
        "[[engine]]\nname = \"{name}\"\nkind = \"llama-cpp\"\nurl = \"{url}\"\nfim = \"server\"\ncontext_window = 8192\n"
    )
}

fn arm(name: &str, requests_per_day: u32) -> TrialArm {
    TrialArm { name: name.to_owned(), weight: 1.0, requests_per_day, budget_per_day: None }
}

fn start(project: &Project, definition: &TrialDefinition) {
    trial::definition::write_definition(&folder(project), definition).expect("the definition is written");
}

fn stop(project: &Project, editor: &Editor, definition: &TrialDefinition) {
    start(
        project,
        &TrialDefinition { stopped_at: Some("2026-01-02T00:00:00Z".to_owned()), ..definition.clone() },
    );
    wait_until("no trial runs", || editor.status()["trial"] == Value::Null);
}

/// An editor with the scripted engine, in whose project a trial runs.
fn editor(project: &Project) -> Editor {
    let files = ["shop.py", "till.py", "a.py", "b.py", "c.py", "d.py", "e.py", "f.py"];
    let rules: Vec<Value> = files.iter().map(|path| json!({"path": path, "text": SUGGESTION})).collect();
    let editor = Editor::start(project, &["--scripted", &json!(rules).to_string()], setup(project));
    wait_until("the trial runs", || editor.status()["trial"]["name"] == "first");
    editor
}

/// Asks in a new document, and returns the items.
fn ask(editor: &Editor, path: &str) -> Vec<Value> {
    let buffer = editor.open(path, SHOP);
    let asked = editor.ask(&buffer, find(SHOP, "    \n") + 4);
    items(&editor.client.wait(asked).expect("it is answered"))
}

fn row_of(project: &Project, path: &str) -> Option<Opportunity> {
    rows(project).into_iter().find(|row| row.cursor.path == path)
}

fn answer_of(project: &Project, path: &str, arm: &str) -> Option<ArmAnswer> {
    row_of(project, path)?.answers.into_iter().find(|answer| answer.arm == arm)
}

/// Waits until an arm's answer in a file is stored.
fn stored(project: &Project, path: &str, arm: &str) -> ArmAnswer {
    wait_until("the answer is stored", || answer_of(project, path, arm).is_some());
    answer_of(project, path, arm).expect("it is stored")
}

#[test]
fn arms_in_shadow_answer_the_same_and_delay_nothing() {
    let project = Project::new("");
    let (slow, latch) = slow_server();
    let failing = MockServer::scripted(|_| Reply::json(400, &json!({"error": "no"})));
    user_file(&project, &[engine("slow", &slow.url()), engine("failing", &failing.url())].concat());
    let definition = TrialDefinition {
        mode: TrialMode::Shadow,
        arms: vec![arm("scripted", 10), arm("slow", 10), arm("failing", 10)],
        ..definition()
    };
    start(&project, &definition);
    let editor = editor(&project);
    // The slow arm has not answered, and cannot before the latch is open.
    assert_eq!(ask(&editor, "shop.py").len(), 1);
    wait_until("it is asked", || slow.log().requests == 1);
    let failed = stored(&project, "shop.py", "failing");
    assert_eq!((failed.role, failed.status), (ArmRole::Shadow, Status::Error));
    assert_eq!(ask(&editor, "till.py").len(), 1);
    assert_eq!(answer_of(&project, "shop.py", "slow"), None);
    latch.open();
    let answer = stored(&project, "shop.py", "slow");
    assert_eq!((answer.role, answer.status, &*answer.text), (ArmRole::Shadow, Status::Ok, RIVAL));
    assert!(answer.ms.total > 0.0 && !answer.cached, "{answer:?}");
    // The second question has waited for the first one.
    assert_eq!(stored(&project, "till.py", "slow").text, RIVAL);
    editor.client.exit();
    let row = row_of(&project, "shop.py").expect("it is stored");
    let found: Vec<_> = row.answers.iter().map(|answer| (&*answer.arm, answer.role)).collect();
    assert_eq!(found[0], ("scripted", ArmRole::Shown));
    assert_eq!((found.len(), row.mode, &*row.answers[0].text), (3, TrialMode::Shadow, SUGGESTION));
    assert_eq!(slow.log().requests, 2);
}

#[test]
fn busy_limited_and_stopped_arms_say_so() {
    let project = Project::new("");
    let (slow, latch) = slow_server();
    user_file(&project, &engine("slow", &slow.url()));
    let definition = TrialDefinition {
        mode: TrialMode::Shadow,
        arms: vec![arm("scripted", 10), arm("slow", 2)],
        ..definition()
    };
    start(&project, &definition);
    let first = editor(&project);
    ask(&first, "a.py");
    wait_until("it is asked", || slow.log().requests == 1);
    ask(&first, "b.py");
    ask(&first, "c.py");
    let busy = stored(&project, "b.py", "slow");
    assert_eq!(
        (busy.status, busy.reason.as_deref()),
        (Status::Gated, Some("busy with an earlier opportunity"))
    );
    latch.open();
    assert_eq!(stored(&project, "c.py", "slow").status, Status::Ok);
    ask(&first, "d.py");
    let limited = stored(&project, "d.py", "slow");
    assert_eq!(
        (limited.status, limited.reason.as_deref()),
        (Status::Gated, Some("limit of 2 requests a day"))
    );
    first.client.exit();
    let second = editor(&project);
    ask(&second, "e.py");
    assert_eq!(stored(&project, "e.py", "slow").status, Status::Gated, "a restart does not begin at zero");
    stop(&project, &second, &definition);
    assert_eq!(ask(&second, "f.py").len(), 1);
    second.client.exit();
    assert_eq!(row_of(&project, "f.py"), None);
    assert_eq!(slow.log().requests, 2);
}

#[test]
fn stopping_a_trial_cancels_what_is_asked() {
    let project = Project::new("");
    let (slow, _latch) = slow_server();
    user_file(&project, &engine("slow", &slow.url()));
    let definition = TrialDefinition {
        mode: TrialMode::Shadow,
        arms: vec![arm("scripted", 10), arm("slow", 10)],
        ..definition()
    };
    start(&project, &definition);
    let editor = editor(&project);
    ask(&editor, "a.py");
    wait_until("it is asked", || slow.log().requests == 1);
    stop(&project, &editor, &definition);
    wait_until("the request is cancelled", || slow.log().disconnected == 1);
    assert_eq!(stored(&project, "a.py", "slow").status, Status::Cancelled);
    ask(&editor, "b.py");
    editor.client.exit();
    assert_eq!(slow.log().requests, 1);
}

#[test]
fn a_holdout_shows_nothing_and_keeps_the_answer() {
    let project = Project::new("");
    let holdout = 0.999_999;
    start(&project, &TrialDefinition { arms: vec![arm("scripted", 10)], holdout, ..definition() });
    let editor = editor(&project);
    assert_eq!(ask(&editor, "shop.py"), Vec::<Value>::new());
    assert_eq!(editor.status()["lastCompletion"]["reason"], "held out by the trial");
    stored(&project, "shop.py", "scripted");
    editor.client.exit();
    let row = row_of(&project, "shop.py").expect("it is stored");
    let [answer] = &row.answers[..] else { panic!("{row:?}") };
    assert_eq!((answer.role, answer.status, &*answer.text), (ArmRole::Held, Status::Ok, SUGGESTION));
    assert_eq!(row.outcome.kind, OutcomeKind::NotShown);
    let [decision] = &row.decisions[..] else { panic!("{row:?}") };
    assert_eq!(
        (decision.kind, &*decision.value, decision.probability),
        (DecisionKind::Holdout, "hidden", holdout)
    );
}

#[test]
fn each_file_keeps_the_arm_it_was_assigned() {
    let project = Project::new("");
    let rival = MockServer::scripted(|_| answer());
    user_file(&project, &engine("rival", &rival.url()));
    let definition = TrialDefinition {
        mode: TrialMode::Assign,
        arms: vec![arm("scripted", 10), arm("rival", 10)],
        unit: AssignmentUnit::File,
        salt: "salt".to_owned(),
        ..definition()
    };
    start(&project, &definition);
    let files = ["shop.py", "till.py", "a.py", "b.py", "c.py", "d.py", "e.py", "f.py"];
    let mut seen: Vec<Vec<String>> = Vec::new();
    for _ in 0..2 {
        let editor = editor(&project);
        let shown = |path: &str| {
            let found = ask(&editor, path);
            let text = found[0]["insertText"].as_str().expect("it is a text").to_owned();
            (text.contains("return")).to_string()
        };
        seen.push(files.iter().copied().map(shown).collect());
        wait_until("the rows are stored", || rows(&project).len() == seen.len() * files.len());
        editor.client.exit();
    }
    assert_eq!(seen[0], seen[1], "also after a restart");
    let rows = rows(&project);
    assert_eq!(rows.len(), 2 * files.len());
    for row in &rows {
        let [decision] = &row.decisions[..] else { panic!("{row:?}") };
        assert_eq!((decision.kind, decision.probability), (DecisionKind::Assignment, 0.5));
        assert_eq!((row.answers.len(), &row.answers[0].arm), (1, &decision.value));
        let text = if decision.value == "rival" { RIVAL } else { SUGGESTION };
        assert_eq!(row.answers[0].text, text);
    }
}

#[test]
fn a_missing_arm_turns_the_trial_off_with_one_message() {
    let project = Project::new("");
    start(
        &project,
        &TrialDefinition {
            mode: TrialMode::Shadow,
            arms: vec![arm("scripted", 1), arm("gone", 1)],
            ..definition()
        },
    );
    let editor = editor(&project);
    assert_eq!(ask(&editor, "shop.py").len(), 1);
    let shown = editor.client.expect_notification("window/showMessage");
    let message = shown["message"].as_str().expect("a message is a text");
    assert!(message.contains("the trial `first` is off") && message.contains("`gone`"), "{message}");
    wait_until("no trial runs", || editor.status()["trial"] == Value::Null);
    assert_eq!(ask(&editor, "till.py").len(), 1);
    // At the end no message may be unread.
    editor.client.exit();
}
