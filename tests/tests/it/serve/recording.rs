//! What the trial records of requests at the front door.

use cases::{ArmRole, Opportunity, OutcomeKind, Status, TrialMode, TruthStage};
use mock::{Latch, MockServer, Reply, ReplyStep};
use serde_json::{Value, json};
use tests::front_door::{connect, read_until, send};
use tests::{FrontDoor, Project, wait_until};

use super::{SHOP, SUGGESTION, around, engine, infill, project, start_trial};
use crate::lsp::trial::rows;
use crate::settings::user_file;
use crate::trial_rows::{spans, wait_for_row};

const SHORT_STAGES: &str = "[trial]\nsettled_ms = 1000\nleave_block_ms = 1000\nidle_ms = 2000\n";

fn answering(text: &'static str) -> MockServer {
    MockServer::scripted(move |_| {
        Reply::json(200, &json!({"content": text, "stop": true, "stop_type": "eos"}))
    })
}

/// A front door to a server, whose trial is running.
fn recorded(project: &Project, server: &MockServer) -> FrontDoor {
    user_file(project, &[SHORT_STAGES.to_owned(), engine("remote", "llama-cpp", &server.url())].concat());
    start_trial(project, TrialMode::Single, &["remote"]);
    let door = FrontDoor::open(project, &[]);
    door.wait_for_trial();
    door
}

fn ask(door: &FrontDoor, prefix: &str, suffix: &str) {
    assert_eq!(door.post("/infill", infill(prefix, suffix).to_string().as_bytes()).status, 200);
}

fn has_save(row: &Opportunity) -> bool {
    row.truths.iter().any(|truth| truth.stage == TruthStage::Save)
}

#[test]
fn a_request_is_an_opportunity_and_the_saved_file_its_truth() {
    let project = project();
    let server = answering(SUGGESTION);
    let door = recorded(&project, &server);
    let (prefix, suffix) = around();
    ask(&door, prefix, suffix);
    project.write("shop.py", SHOP.replace("    \n", "    net = price - rate\n    return net\n"));
    let row = wait_for_row(&project, "a truth is stored", has_save);
    assert_eq!((&*row.cursor.path, row.cursor.line, row.cursor.character), ("shop.py", 4, 4));
    assert_eq!((&*row.cursor.prefix, &*row.cursor.suffix), (prefix, suffix));
    let answer = row.shown_answer().expect("it was shown");
    assert_eq!(
        (&*answer.arm, answer.role, answer.status, &*answer.text),
        ("remote", ArmRole::Shown, Status::Ok, SUGGESTION)
    );
    assert!(answer.ms.total > 0.0 && answer.ms.first.is_some(), "{answer:?}");
    let truth = row.truth().expect("there is one");
    assert_eq!(truth.text.trim_end(), "net = price - rate");
    assert_ne!(row.outcome.kind, OutcomeKind::Accepted);
    assert!(spans(&row).iter().all(|(_, provenance)| *provenance == "unobserved"), "{:?}", spans(&row));
}

#[test]
fn unsaved_edits_and_acceptance_show_in_later_requests() {
    let project = project();
    let server = answering(SUGGESTION);
    let door = recorded(&project, &server);
    let edited = SHOP.replace("import math\n", "import math\nimport os\n");
    let at = edited.find("    \n").expect("a body") + 4;
    ask(&door, &edited[..at], &edited[at..]);
    wait_for_row(&project, "it is answered", |row| row.shown_answer().is_some());
    let accepted = edited.replace("    \n", &format!("    {SUGGESTION}\n    \n"));
    let next = accepted.rfind("    \n").expect("the next line") + 4;
    ask(&door, &accepted[..next], &accepted[next..]);
    let row = wait_for_row(&project, "it is accepted", |row| row.outcome.kind == OutcomeKind::Accepted);
    assert_eq!(row.cursor.prefix, &edited[..at]);
    project.write("shop.py", accepted.replace("    \n", "    return total\n"));
    let row = wait_for_row(&project, "it is saved", |saved| saved.id == row.id && has_save(saved));
    assert_eq!(spans(&row)[0], (SUGGESTION, "accepted"));
    wait_for_row(&project, "the second one is saved", |second| {
        second.id != row.id && second.truth().is_some_and(|truth| truth.text.trim_end() == "return total")
    });
}

#[test]
fn arms_in_shadow_are_asked_the_same() {
    let project = project();
    let (server, rival) = (answering(SUGGESTION), answering("return price * rate"));
    let engines = [engine("remote", "llama-cpp", &server.url()), engine("rival", "llama-cpp", &rival.url())];
    user_file(&project, &engines.concat());
    start_trial(&project, TrialMode::Shadow, &["remote", "rival"]);
    let door = FrontDoor::open(&project, &[]);
    door.wait_for_trial();
    let (prefix, suffix) = around();
    ask(&door, prefix, suffix);
    let row = wait_for_row(&project, "both have answered", |row| row.answers.len() == 2);
    let found: Vec<_> = row.answers.iter().map(|answer| (&*answer.arm, answer.role, &*answer.text)).collect();
    assert_eq!(
        found,
        [("remote", ArmRole::Shown, SUGGESTION), ("rival", ArmRole::Shadow, "return price * rate")]
    );
    assert_eq!(server.log().received.iter().filter(|request| request.path == "/infill").count(), 1);
}

#[test]
fn the_arm_of_the_trial_answers_instead_of_the_engine_of_the_settings() {
    let project = project();
    let (server, arm) = (answering("no"), answering(SUGGESTION));
    let engines = [engine("remote", "llama-cpp", &server.url()), engine("arm", "llama-cpp", &arm.url())];
    user_file(&project, &engines.concat());
    start_trial(&project, TrialMode::Single, &["arm"]);
    let door = FrontDoor::open(&project, &[]);
    door.wait_for_trial();
    let (prefix, suffix) = around();
    let reply = door.post("/infill", infill(prefix, suffix).to_string().as_bytes());
    assert_eq!(reply.json()["content"], SUGGESTION);
    assert_eq!(server.log().requests, 0);
}

#[test]
fn own_answers_are_recorded_and_tabby_reports_what_became_of_them() {
    let project = project();
    let rules = json!([{"path": "shop.py", "text": SUGGESTION}]).to_string();
    start_trial(&project, TrialMode::Single, &["scripted"]);
    let door = FrontDoor::open(&project, &["--scripted", &rules]);
    door.wait_for_trial();
    let (prefix, suffix) = around();
    let body = json!({"language": "python", "segments": {"prefix": prefix, "suffix": suffix, "filepath": "shop.py"}});
    let id = door.post("/v1/completions", body.to_string().as_bytes()).json()["id"].clone();
    wait_for_row(&project, "it is answered", |row| {
        row.shown_answer().is_some_and(|answer| answer.text == SUGGESTION && answer.status == Status::Ok)
    });
    let event = |kind: &str| json!({"type": kind, "completion_id": id, "choice_index": 0}).to_string();
    door.post("/v1/events", event("view").as_bytes());
    wait_for_row(&project, "it is visible", |row| {
        row.outcome.kind == OutcomeKind::Shown && !row.outcome.is_inferred
    });
    door.post("/v1/events", event("dismiss").as_bytes());
    wait_for_row(&project, "it is rejected", |row| row.outcome.kind == OutcomeKind::Rejected);
}

#[test]
fn failures_are_recorded_with_their_reason() {
    let project = project();
    let server = MockServer::with_replies([
        Reply::stream("text/event-stream")
            .chunk(b"data: {\"content\":\"to\"}\n\n")
            .with_step(ReplyStep::Reset),
        Reply::json(500, &json!({"error": {"message": "secret of the server"}})),
        Reply::stream("text/event-stream")
            .chunk(b"data: {\"content\":\"to\"}\n\n")
            .with_step(ReplyStep::Hang),
    ]);
    let door = recorded(&project, &server);
    let (prefix, suffix) = around();
    let second = &SHOP[..SHOP.find("return math").expect("it is there")];
    let cursors = [(prefix, suffix), (second, &SHOP[second.len()..]), ("import math\n", &SHOP[12..])];
    let status_at = |line: u32, status: Status| {
        wait_for_row(&project, "the failure is stored", |row| {
            row.cursor.line == line && row.answers.first().is_some_and(|answer| answer.status == status)
        })
    };
    door.post("/infill", infill(cursors[0].0, cursors[0].1).to_string().as_bytes());
    let broken = status_at(4, Status::Error);
    assert!(broken.answers[0].reason.is_some() && broken.answers[0].text == "to", "{:?}", broken.answers);
    door.post("/infill", infill(cursors[1].0, cursors[1].1).to_string().as_bytes());
    let failed = status_at(8, Status::Error);
    assert_eq!(failed.answers[0].reason.as_deref(), Some("the server answered with status 500"));
    let mut stream = connect(&door.address);
    send(&mut stream, "POST", "/infill", &[], infill(cursors[2].0, cursors[2].1).to_string().as_bytes());
    read_until(&mut stream, b"\"to\"");
    drop(stream);
    status_at(1, Status::Cancelled);
}

#[test]
fn requests_of_no_workspace_pass_and_are_not_stored() {
    let project = project();
    project.write(".gitignore", "ignored.py\n");
    project.write(
        "ignored.py",
        "def ignored_function(value):\n    return value\n\ndef ignored_other(value):\n    pass\n",
    );
    let server = answering(SUGGESTION);
    let door = recorded(&project, &server);
    ask(&door, "class Elsewhere:\n    def method(self):\n        return ", "self.elsewhere\n");
    ask(&door, "def ignored_function(value):\n    return ", "value\n\ndef ignored_other(value):\n");
    ask(&door, "no tokens, no file", "");
    let (prefix, suffix) = around();
    ask(&door, prefix, suffix);
    let last = wait_for_row(&project, "the last one is stored", |row| row.shown_answer().is_some());
    assert_eq!(rows(&project).len(), 1, "{:?}", rows(&project));
    assert_eq!((&*last.cursor.path, server.log().requests), ("shop.py", 4));
}

#[test]
fn a_killed_front_door_loses_no_stored_row_and_the_next_one_continues() {
    let project = project();
    let server = answering(SUGGESTION);
    let mut door = recorded(&project, &server);
    let (prefix, suffix) = around();
    ask(&door, prefix, suffix);
    let first = wait_for_row(&project, "it is stored", |row| row.shown_answer().is_some());
    door.kill();
    let door = recorded(&project, &server);
    // The next request in the document brings the unfinished opportunity back.
    let (before, after) = SHOP.split_at(SHOP.find("return math").expect("it is there"));
    ask(&door, before, after);
    wait_for_row(&project, "the next one is stored", |row| row.session != first.session);
    project.write("shop.py", SHOP.replace("    \n", "    return price\n"));
    let row = wait_for_row(&project, "the truth of the first one is stored", |row| {
        row.id == first.id && has_save(row)
    });
    assert_eq!(row.truth().map(|truth| truth.text.trim_end()), Some("return price"));
}

#[test]
fn recording_delays_no_answer() {
    let project = project();
    let latch = Latch::default();
    let gate = latch.clone();
    // The arm in shadow does not answer until the end.
    let slow = MockServer::scripted(move |_| {
        Reply::json(200, &json!({"content": "x"})).preceded_by(ReplyStep::Wait(gate.clone()))
    });
    let server = answering(SUGGESTION);
    let engines = [engine("remote", "llama-cpp", &server.url()), engine("slow", "llama-cpp", &slow.url())];
    user_file(&project, &engines.concat());
    start_trial(&project, TrialMode::Shadow, &["remote", "slow"]);
    let door = FrontDoor::open(&project, &[]);
    door.wait_for_trial();
    let (prefix, suffix) = around();
    let bodies: Vec<Value> = (0..20).map(|n| infill(&format!("{prefix}{}", "x".repeat(n)), suffix)).collect();
    for body in &bodies {
        assert_eq!(door.post("/infill", body.to_string().as_bytes()).json()["content"], SUGGESTION);
    }
    wait_until("the arm in shadow is asked", || slow.log().requests > 0);
    latch.open();
}
