//! Requests of a run to a server that counts them: estimates, limits, near-copies, failures and their repetition.

use cases::Prediction;
use mock::{MockServer, Reply};
use serde_json::Value;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use tests::Project;

use crate::run_rows;
use crate::settings::user_file;

/// A server that fails at the first `failures` completions, and its settings as engine `counted`, with prices.
fn counting_server(text: &'static str, failures: usize) -> (MockServer, String) {
    let left = Arc::new(AtomicUsize::new(failures));
    let server = MockServer::scripted(move |request| {
        if !request.path.ends_with("/completions") {
            return Reply::json(404, &serde_json::json!({}));
        }
        let fails = left.fetch_update(Ordering::Relaxed, Ordering::Relaxed, |left| left.checked_sub(1));
        if fails.is_ok() {
            return Reply::json(400, &serde_json::json!({"error": {"message": "the model is broken"}}));
        }
        let text = serde_json::json!({"choices": [{"index": 0, "text": text, "finish_reason": "stop"}]});
        let usage =
            serde_json::json!({"choices": [], "usage": {"prompt_tokens": 100, "completion_tokens": 10}});
        Reply::events([&*text.to_string(), &*usage.to_string(), "[DONE]"])
    });
    let settings = format!(
        "[[engine]]\nname = \"counted\"\nkind = \"openai\"\nurl = \"{}\"\nmodel = \"coder\"\nfim = \"server\"\nprice_in = 10.0\n\
         price_out = 10.0\n",
        server.url()
    );
    (server, settings)
}

fn completions(server: &MockServer) -> usize {
    server.log().received.iter().filter(|request| request.path.ends_with("/completions")).count()
}

/// Code that has nothing in common with the generated modules.
pub(crate) const OTHER_CODE: &str = "import csv

from pathlib import Path


def read_temperatures(folder: Path) -> dict[str, list[float]]:
    measured: dict[str, list[float]] = {}
    for sheet in sorted(folder.glob('*.csv')):
        with sheet.open(newline='') as lines:
            for station, celsius in csv.reader(lines):
                measured.setdefault(station.strip(), []).append(float(celsius))
    return measured


def warmest_station(measured: dict[str, list[float]]) -> str | None:
    if not measured:
        return None
    averages = {station: sum(values) / len(values) for station, values in measured.items()}
    best = max(averages, key=averages.__getitem__)
    while averages[best] > 60:
        averages.pop(best)
        best = max(averages, key=averages.__getitem__)
    return best
";

/// A workspace with a suite of at least twelve cases, and a copy of one of its modules.
fn project_with_copies(settings: &str) -> Project {
    let project = Project::generated(6);
    let module = std::fs::read(project.root().join("shop/module_0.py")).expect("the module is there");
    project.write("shop/copy_of_0.py", &module);
    project.write("weather/stations.py", OTHER_CODE);
    user_file(&project, settings);
    project.run("mine . --cases 20 --out ../suite.jsonl").expect_code(0);
    assert!(case_count(&project) >= 12);
    project
}

fn case_count(project: &Project) -> usize {
    run_rows::text(&project.sibling_path("suite.jsonl")).lines().count()
}

#[test]
fn no_request_is_sent_twice_and_the_estimate_knows_their_number() {
    let (server, settings) = counting_server("pass", 0);
    let project = project_with_copies(&settings);
    let replay = "replay ../suite.jsonl --workspace . --engine counted --no-copies all";
    let estimate = project.run(&format!("{replay} --dry-run --json")).expect_code(0);
    let estimate: Value = serde_json::from_str(&estimate.stdout).expect("standard output is JSON alone");
    assert_eq!(completions(&server), 0, "an estimate makes no requests");
    let requests: u64 = estimate["engines"]
        .as_array()
        .expect("engines")
        .iter()
        .map(|engine| engine["requests"].as_u64().expect("a count"))
        .sum();
    let response = project.run(&format!("{replay} --out ../run")).expect_code(0);
    assert!(response.stderr.contains("prompt tokens"), "{}", response.stderr);
    let rows = run_rows::predictions(&project.sibling_path("run"));
    let reused = rows.iter().filter(|row| row.reused).count();
    assert!(reused > 0 && rows.len() == 2 * case_count(&project), "{} rows, {reused} reused", rows.len());
    assert_eq!(completions(&server), rows.len() - reused);
    assert_eq!((requests as usize, estimate["reused"].as_u64()), (rows.len() - reused, Some(reused as u64)));
    let off = completions(&server);
    project
        .run("replay ../suite.jsonl --workspace . --engine counted --no-copies off --out ../off")
        .expect_code(0);
    assert_eq!(completions(&server) - off, case_count(&project));
}

#[test]
fn limits_stop_a_run_that_can_be_resumed() {
    let (server, settings) = counting_server("pass", 0);
    let project = project_with_copies(&settings);
    let replay = "replay ../suite.jsonl --engine counted --out ../run";
    let stopped = project.run(&format!("{replay} --max-requests 7")).expect_code(1);
    stopped.expect_message(&["--max-requests", "finished answers are kept", "--resume"]);
    assert_eq!(completions(&server), 7);
    // An answer costs 0.0011, and the seven count.
    let stopped = project.run(&format!("{replay} --resume --budget 0.0095")).expect_code(1);
    stopped.expect_message(&["--budget", "spent"]);
    let rows = run_rows::predictions(&project.sibling_path("run"));
    assert_eq!(rows.len(), completions(&server));
    assert!((7..=8).contains(&rows.len()), "{} answers", rows.len());
    project.run("replay --engine counted --out ../run --resume").expect_code(0);
    assert_eq!(completions(&server), case_count(&project));
    project.run(&format!("{replay} --budget -1")).expect_code(2);
}

#[test]
fn failures_are_counted_in_all_outputs_and_repeated_on_demand() {
    let (server, settings) = counting_server("pass", 5);
    let project = project_with_copies(&settings);
    let response = project.run("replay ../suite.jsonl --engine counted --out ../run --jobs 1").expect_code(0);
    assert!(
        response.stdout.contains("Failed requests") && response.stdout.contains("the model is broken"),
        "{}",
        response.stdout
    );
    let count = case_count(&project);
    assert!(response.stdout.contains(&format!("5 of {count} requests failed (")), "{}", response.stdout);
    assert!(response.stdout.contains("--retry-failed"), "{}", response.stdout);
    let markdown = project.run("report ../run --format markdown").expect_code(0).stdout;
    assert!(markdown.contains("the model is broken"), "{markdown}");
    project.run("replay --engine counted --out ../run --retry-failed").expect_code(0);
    assert_eq!(completions(&server), count + 5);
    let json = project.run("report ../run --json").expect_code(0).stdout;
    let json: Value = serde_json::from_str(&json).expect("JSON");
    let failures = &json["summary"]["failures"][0];
    assert_eq!((&failures["failed"], &failures["repeated"]), (&0.into(), &5.into()));
}

#[test]
fn failed_requests_are_repeated_after_a_limit_stopped_the_run() {
    let (server, settings) = counting_server("pass", 3);
    let project = project_with_copies(&settings);
    // Failures are free, and an answer costs 0.0011: the budget does not suffice for twelve, and stops earlier, because the next request
    // might cost more.
    let replay = "replay ../suite.jsonl --engine counted --no-copies off --jobs 1 --out ../run";
    project.run(&format!("{replay} --budget 0.012")).expect_code(1).expect_message(&["--budget", "--resume"]);
    let (run, sent) = (project.sibling_path("run"), completions(&server));
    let stopped = run_rows::predictions(&run);
    assert_eq!((stopped.len(), failed(&stopped)), (sent, 3), "{sent} requests were sent");
    assert!(sent < case_count(&project), "the run stopped early");
    // Missing and failed requests, in one command; paid ones count.
    let retry = "replay --engine counted --no-copies off --jobs 1 --out ../run --retry-failed";
    project.run(&format!("{retry} --budget 0.0125")).expect_code(1).expect_message(&["--retry-failed"]);
    assert!(completions(&server) <= sent + 2, "the first run's costs count");
    project.run(retry).expect_code(0);
    assert_eq!(completions(&server), case_count(&project) + 3, "each case is answered once");
    let json = project.run("report ../run --json").expect_code(0).stdout;
    let json: Value = serde_json::from_str(&json).expect("JSON");
    let failures = &json["summary"]["failures"][0];
    assert_eq!((&failures["failed"], &failures["repeated"]), (&0.into(), &3.into()));
}

/// Number of failed answers.
fn failed(rows: &[Prediction]) -> usize {
    rows.iter().filter(|row| row.has_failed()).count()
}

#[test]
fn engine_that_never_answers_fails_the_run_also_when_it_is_resumed() {
    let (_server, settings) = counting_server("pass", 1000);
    let project = project_with_copies(&settings);
    project.run("replay ../suite.jsonl --engine counted --out ../run").expect_code(3);
    project.run("replay --engine counted --out ../run --resume").expect_code(3);
    project.run("replay --engine counted --out ../run --retry-failed").expect_code(3);
    project.run("try . --cases 5 --engine counted --out ../tried").expect_code(3);
}

#[test]
fn chat_model_behind_a_completion_prompt_is_named_with_its_remedy() {
    let (_server, settings) =
        counting_server("Sure, here is the missing code for you\n```python\nx = 1\n```\n", 0);
    let project = project_with_copies(&settings);
    let response = project.run("replay ../suite.jsonl --engine counted --out ../run").expect_code(0).stdout;
    let response = response.split_whitespace().collect::<Vec<_>>().join(" ");
    assert!(
        response.contains(&format!("counted: of {} answers", case_count(&project)))
            && response.contains("kind = \"openai-chat\""),
        "{response}"
    );
}
