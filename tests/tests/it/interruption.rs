//! Interrupting a run at any moment loses no finished row, and resuming repeats none.

use std::process::Command;

use mock::{Latch, MockServer, Reply, ReplyStep};
use tests::unix::interrupt;
use tests::{Project, RunningProcess, wait_until};

use crate::run_rows;
use crate::settings::user_file;

const INTERRUPTED: i32 = 130;

/// Enough requests for a signal to arrive in between.
const REPLAY: &str = "replay ../suite.jsonl --workspace . --repeat 40 --jobs 2";

#[test]
fn ctrl_c_stops_a_run_that_can_be_resumed() {
    let project = project_with_suite();
    let run = project.sibling_path("run");
    let process = start_and_wait_for_answers(&project, "--out ../run", 20);
    interrupt(&process);
    let outcome = process.wait().expect_code(INTERRUPTED);
    assert!(outcome.stderr.contains("--resume"), "{}", outcome.stderr);
    let stopped = run_rows::answers(&run);
    assert!(run_rows::text(&run.join("predictions.jsonl")).ends_with('\n'), "the last row is whole");
    assert!(stopped.len() < run_rows::total_answers(&run), "stopped before the end");
    project.run("report ../run").expect_code(0);
}

/// Starts a replay against a server that answers when `latch` opens, and returns once a request is in flight.
fn start_with_request_in_flight(project: &Project, latch: &Latch) -> (RunningProcess, MockServer) {
    let wait = ReplyStep::Wait(latch.clone());
    let answer = r#"{"choices": [{"index": 0, "text": "pass", "finish_reason": "stop"}]}"#;
    let server = MockServer::scripted(move |request| match request.path.ends_with("/completions") {
        true => Reply::events([answer, "[DONE]"]).preceded_by(wait.clone()),
        false => Reply::json(404, &serde_json::json!({})),
    });
    let url = server.url();
    let settings = format!(
        "[[engine]]\nname = \"slow\"\nkind = \"openai\"\nurl = \"{url}\"\nmodel = \"coder\"\nfim = \"server\"\n"
    );
    user_file(project, &settings);
    let mut process =
        RunningProcess::start(project.ghostbench(&format!("{REPLAY} --engine slow --out ../run")));
    wait_until("a request is in flight", || is_in_flight(&server) || process.has_ended());
    assert!(!process.has_ended(), "the replay ended before it could be stopped");
    (process, server)
}

fn is_in_flight(server: &MockServer) -> bool {
    server.log().received.iter().any(|request| request.path.ends_with("/completions"))
}

#[test]
fn ctrl_c_waits_for_requests_in_flight() {
    let project = project_with_suite();
    let latch = Latch::default();
    let (process, _server) = start_with_request_in_flight(&project, &latch);
    interrupt(&process);
    latch.open();
    process.wait().expect_code(INTERRUPTED);
    let rows = run_rows::predictions(&project.sibling_path("run"));
    assert!(rows.iter().any(|row| row.engine.name == "slow" && row.text == "pass"), "{rows:?}");
}

#[test]
fn second_ctrl_c_exits_without_waiting_for_requests() {
    let project = project_with_suite();
    let latch = Latch::default();
    let (mut process, _server) = start_with_request_in_flight(&project, &latch);
    interrupt(&process);
    assert!(!process.has_ended(), "the first one waits for the request, which is never answered");
    // Two signals that arrive together count once, so the second is repeated until the process has seen it.
    wait_until("the process has exited", || {
        let _ = Command::new("kill").args(["-INT", &process.id().to_string()]).output();
        process.has_ended()
    });
    process.wait().expect_code(INTERRUPTED);
    run_rows::answers(&project.sibling_path("run"));
}

#[test]
fn killed_run_resumes_without_repeating_rows() {
    let project = project_with_suite();
    let run = project.sibling_path("run");
    let mut process = start_and_wait_for_answers(&project, "--out ../run", 50);
    process.kill();
    assert_eq!(process.wait().code(), None);
    let kept = run_rows::predictions(&run);
    assert!(kept.len() >= 50);
    project.run(&format!("{REPLAY} --out ../run --resume")).expect_code(0);
    let finished = run_rows::predictions(&run);
    assert_eq!(finished.get(..kept.len()), Some(kept.as_slice()), "finished rows are unchanged");
    let answers = run_rows::answers(&run);
    assert_eq!(answers.len(), run_rows::total_answers(&run));
    // An uninterrupted run has the same answers.
    project.run(&format!("{REPLAY} --out ../whole")).expect_code(0);
    assert_eq!(run_rows::answers(&project.sibling_path("whole")), answers);
}

#[test]
fn second_process_cannot_resume_a_running_run() {
    let project = project_with_suite();
    let _running = start_and_wait_for_answers(&project, "--out ../run", 5);
    let second = project.run(&format!("{REPLAY} --out ../run --resume"));
    second.expect_code(3).expect_message(&["another ghostbench", "--out"]);
}

fn project_with_suite() -> Project {
    let project = Project::generated(6);
    project.run("mine . --cases 20 --out ../suite.jsonl").expect_code(0);
    project
}

/// Starts a replay and returns when this number of answers is on disk and many more are pending.
fn start_and_wait_for_answers(project: &Project, arguments: &str, count: usize) -> RunningProcess {
    let mut process = RunningProcess::start(project.ghostbench(&format!("{REPLAY} {arguments}")));
    let run = project.sibling_path("run");
    wait_until("answers are on disk", || run_rows::answers_so_far(&run) >= count || process.has_ended());
    assert!(!process.has_ended(), "the replay ended before it could be stopped");
    process
}
