//! Replays on a Ray cluster: the same rows as on one machine, each once, whatever is killed or delivered twice; limits over all nodes.

use std::collections::BTreeSet;
use std::path::Path;
use std::process::Command;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex};
use std::time::{Duration, Instant};

use mock::{Latch, MockServer, Reply, ReplyStep};
use regex::Regex;
use tests::ray::{RayCluster, ray_package, ray_python, script, with_ray, with_stand_in};
use tests::{Project, RunningProcess, wait_until};

use crate::engines::{KEY, open_ai};
use crate::run_rows;
use crate::settings::user_file;

const ANSWER: &str = r#"{"choices": [{"index": 0, "text": "pass", "finish_reason": "stop"}]}"#;

/// Time that the server of [`answering_server`] takes for an answer.
const ANSWER_TIME: Duration = Duration::from_millis(40);

/// A server that notes when requests come, and the settings of its engine `hosted`. From request number `held` on, answers wait for
/// the latch.
fn answering_server(held: usize, latch: &Latch) -> (MockServer, String, Arc<Mutex<Vec<Instant>>>) {
    let (latch, times) = (latch.clone(), Arc::new(Mutex::new(Vec::new())));
    let (noted, count) = (Arc::clone(&times), AtomicUsize::new(0));
    let server = MockServer::scripted(move |request| {
        if !request.path.ends_with("/completions") {
            return Reply::json(404, &serde_json::json!({}));
        }
        noted.lock().expect("no panics").push(Instant::now());
        let reply = Reply::events([ANSWER, "[DONE]"]).preceded_by(ReplyStep::Pause(ANSWER_TIME));
        match count.fetch_add(1, Ordering::SeqCst) >= held {
            true => reply.preceded_by(ReplyStep::Wait(latch.clone())),
            false => reply,
        }
    });
    let settings = format!(
        "[[engine]]\nname = \"hosted\"\nkind = \"openai\"\nurl = \"{}\"\nmodel = \"coder\"\nfim = \"server\"\nprice_in = 10.0\n\
         price_out = 10.0\n",
        server.url()
    );
    (server, settings, times)
}

fn project(settings: &str) -> Project {
    let project = Project::generated(6);
    user_file(&project, settings);
    project.run("mine . --cases 20 --out ../suite.jsonl").expect_code(0);
    project
}

fn run(command: Command) -> tests::ProcessOutcome {
    RunningProcess::start(command).wait()
}

/// The rows of a run without the measured times, sorted.
fn rows_without_times(run: &Path) -> Vec<String> {
    let times = Regex::new(r#","ms":\{[^}]*\}"#).expect("a pattern");
    let text = run_rows::text(&run.join("predictions.jsonl"));
    let mut rows: Vec<String> = text.lines().map(|row| times.replace(row, "").into_owned()).collect();
    assert!(rows.iter().all(|row| !row.contains("\"ms\"")));
    rows.sort();
    rows
}

#[test]
fn rows_are_those_of_one_machine_byte_for_byte() {
    let Some(cluster) = RayCluster::start(2) else { return };
    let (server, settings) = open_ai();
    let project = project(&settings.replace(KEY, "${RAY_TEST_KEY}"));
    let engines = "--workspace . --engine mock --engine builtin";
    let on_one = |arguments: &str| {
        let mut command = project.ghostbench(&format!("replay ../suite.jsonl {engines} {arguments}"));
        command.env("RAY_TEST_KEY", KEY);
        run(command).expect_code(0)
    };
    let on_nodes = |arguments: &str| {
        let arguments = format!("replay ../suite.jsonl {engines} {arguments}");
        let mut command = cluster.ghostbench(&project, &arguments);
        command.env("RAY_TEST_KEY", KEY);
        run(command)
    };
    on_one("--out ../recorded --cassette ../answers.jsonl");
    let without_key = on_nodes("--out ../refused").expect_code(3);
    without_key.expect_message(&["no node of the cluster can be used", "mock", "finished answers are kept"]);
    let asked = server.log().received.len();
    let live = on_nodes("--out ../live --ray-env RAY_TEST_KEY").expect_code(0);
    assert!(server.log().received.len() > asked, "nodes send the requests");
    assert!(!live.stderr.contains(KEY) && !live.stdout.contains(KEY), "{}", live.stderr);
    drop(server);
    let offline = "--cassette ../answers.jsonl --offline --ray-env RAY_TEST_KEY --out ../many";
    on_one("--cassette ../answers.jsonl --offline --out ../one");
    on_nodes(offline).expect_code(0);
    let [one, many] = ["one", "many"].map(|name| project.sibling_path(name));
    let rows = rows_without_times(&one);
    assert_eq!(rows.len(), run_rows::total_answers(&one));
    assert_eq!(rows, rows_without_times(&many));
    assert_eq!(run_rows::text(&one.join("run.json")), run_rows::text(&many.join("run.json")));
    let scores = |run: &Path| -> BTreeSet<String> {
        run_rows::text(&run.join("scores.jsonl")).lines().map(str::to_owned).collect()
    };
    assert_eq!(scores(&one), scores(&many));
}

/// Enough requests for two nodes to be busy.
const REPLAY: &str = "replay ../suite.jsonl --engine hosted --repeat 8 --jobs 3";

/// Starts a replay whose server holds answers back from request 60 on. Returns once it holds some.
#[track_caller]
fn start_and_hold(cluster: &RayCluster, project: &Project, server: &MockServer) -> RunningProcess {
    let command = cluster.ghostbench(project, &format!("{REPLAY} --out ../run"));
    let mut process = RunningProcess::start(command);
    let asked = || server.log().received.iter().filter(|one| one.path.ends_with("/completions")).count();
    wait_until("answers are held back on both nodes", || asked() >= 64 || process.has_ended());
    let run = project.sibling_path("run");
    wait_until("answers are on disk", || run_rows::answers_so_far(&run) >= 30 || process.has_ended());
    assert!(!process.has_ended(), "the replay ended before anything was killed");
    process
}

#[track_caller]
fn check_every_answer_once(project: &Project) {
    let run = project.sibling_path("run");
    let answers = run_rows::answers(&run);
    assert_eq!(answers.len(), run_rows::total_answers(&run));
    assert!(answers.values().all(|text| text == "pass"));
}

#[test]
fn killed_node_loses_no_case() {
    let Some(mut cluster) = RayCluster::start(2) else { return };
    let latch = Latch::default();
    let (server, settings, _) = answering_server(60, &latch);
    let project = project(&settings);
    let process = start_and_hold(&cluster, &project, &server);
    cluster.kill_node(0);
    wait_until("the node's requests are broken off", || server.log().disconnected > 0);
    latch.open();
    let outcome = process.wait().expect_code(0);
    assert!(outcome.stderr.contains("its cases are sent again"), "{}", outcome.stderr);
    check_every_answer_once(&project);
}

#[test]
fn killed_driver_is_resumed_without_repeating_rows() {
    let Some(cluster) = RayCluster::start(2) else { return };
    let latch = Latch::default();
    let (server, settings, _) = answering_server(60, &latch);
    let project = project(&settings);
    let mut process = start_and_hold(&cluster, &project, &server);
    process.kill();
    assert_eq!(process.wait().code(), None);
    let run = project.sibling_path("run");
    let kept = run_rows::predictions(&run);
    latch.open();
    // Its workers hold the nodes' only cores, so this waits for their end.
    let resumed =
        RunningProcess::start(cluster.ghostbench(&project, &format!("{REPLAY} --out ../run --resume")));
    resumed.wait().expect_code(0);
    let finished = run_rows::predictions(&run);
    assert_eq!(finished.get(..kept.len()), Some(kept.as_slice()), "finished rows are unchanged");
    check_every_answer_once(&project);
}

#[test]
fn limits_hold_over_all_nodes() {
    let Some(cluster) = RayCluster::start(2) else { return };
    let (_server, settings, times) = answering_server(usize::MAX, &Latch::default());
    let project = project(&settings);
    let replay = "replay ../suite.jsonl --engine hosted --repeat 4 --jobs 4 --out ../run";
    let take_times = || std::mem::take(&mut *times.lock().expect("no panics"));
    let stopped = run(cluster.ghostbench(&project, &format!("{replay} --max-requests 9"))).expect_code(1);
    stopped.expect_message(&["--max-requests", "finished answers are kept", "--resume", "--ray"]);
    assert_eq!(take_times().len(), 9);
    let limited = format!("{replay} --resume --max-requests 29 --concurrency hosted=3");
    run(cluster.ghostbench(&project, &limited)).expect_code(1);
    let at_once = take_times();
    assert_eq!(at_once.len(), 20);
    // Answers take their time, so four requests within less than that are four at once.
    let fewest = at_once.windows(4).map(|four| four[3] - four[0]).min().expect("more than four");
    assert!(fewest >= ANSWER_TIME, "four requests within {fewest:?}");
    run(cluster.ghostbench(&project, &format!("{replay} --resume --rate hosted=600"))).expect_code(0);
    let paced = take_times();
    let duration = *paced.last().expect("requests") - paced[0];
    // Ten a second. Without the limit, eight at a time take less than half as long.
    let expected = Duration::from_millis(100) * u32::try_from(paced.len() - 1).expect("few");
    assert!(duration > expected.mul_f64(0.7), "{} requests in {duration:?}", paced.len());
    check_every_answer_once(&project);
}

/// A replay by the stand-in of the Python package; the address is only looked at.
#[track_caller]
fn with_mode(mode: &str) -> (Project, tests::ProcessOutcome, usize) {
    let (server, settings, times) = answering_server(usize::MAX, &Latch::default());
    let project = project(&settings);
    let replay = format!("{REPLAY} --out ../run --ray {}", server.address());
    let outcome = run(with_stand_in(&project, mode, &replay));
    let requests = times.lock().expect("no panics").len();
    (project, outcome, requests)
}

#[test]
fn duplicate_and_late_rows_are_counted_once() {
    let (project, outcome, requests) = with_mode("twice");
    outcome.expect_code(0);
    check_every_answer_once(&project);
    let rows = run_rows::predictions(&project.sibling_path("run")).len();
    assert!(requests > rows, "{requests} requests and {rows} rows: lost batches are sent again");
}

#[test]
fn broken_packages_end_the_run_with_a_remedy() {
    for (mode, message) in [
        ("dies", "the connection to the cluster ended"),
        ("foreign", "answers case elsewhere"),
        ("garbage", "invalid message from the cluster"),
    ] {
        let (project, outcome, _) = with_mode(mode);
        outcome.expect_code(3).expect_message(&[message, "finished answers are kept"]);
        run_rows::answers(&project.sibling_path("run"));
    }
}

#[test]
fn cases_that_crash_every_worker_are_failures() {
    let (project, outcome, requests) = with_mode("crashes");
    outcome
        .expect_code(3)
        .expect_message(&["engine `hosted` never answered", "workers of the cluster crashed"]);
    assert_eq!(requests, 0);
    let run = project.sibling_path("run");
    assert_eq!(run_rows::answers(&run).len(), run_rows::total_answers(&run));
}

#[test]
fn mistakes_are_reported_before_anything_is_sent() {
    let (server, settings, _) = answering_server(usize::MAX, &Latch::default());
    let project = project(&settings);
    let replay = format!("replay ../suite.jsonl --engine hosted --out ../run --ray {}", server.address());
    let check = |command: Command, code: i32, words: &[&str]| {
        run(command).expect_code(code).expect_message(words);
        assert!(!project.sibling_path("run").exists(), "no run is begun");
    };
    let missing = project.ghostbench(&format!("{replay} --python /nowhere/python"));
    check(missing, 3, &["cannot start /nowhere/python", "GHOSTBENCH_PYTHON"]);
    let isolated = script(&project, "isolated.sh", "#!/bin/sh\nexec python3 -I \"$@\"\n");
    let isolated = project.ghostbench(&format!("{replay} --python {}", isolated.display()));
    check(isolated, 3, &["ghostbench_ray", "pip install", "--python"]);
    let bare = script(&project, "bare.sh", "#!/bin/sh\nexec python3 -S \"$@\"\n");
    let mut without_ray = project.ghostbench(&format!("{replay} --python {}", bare.display()));
    without_ray.env("PYTHONPATH", ray_package());
    check(without_ray, 3, &["`ray` is not installed", "pip install"]);
    let nowhere = format!("{replay} --ray 127.0.0.1:1").replace(&format!(" --ray {}", server.address()), "");
    check(with_stand_in(&project, "twice", &nowhere), 3, &["no Ray cluster answers at 127.0.0.1:1", "--ray"]);
    let option = |options: &str| with_stand_in(&project, "twice", &format!("{replay} {options}"));
    check(option("--rate other=5"), 2, &["no engine `other`"]);
    check(option("--ray-env NOT_SET_ANYWHERE"), 2, &["NOT_SET_ANYWHERE", "not set"]);
    check(option("--cassette ../new.jsonl"), 2, &["--offline"]);
    let mut unasked = with_stand_in(&project, "twice", &replay);
    let arguments: Vec<_> =
        unasked.get_args().filter(|word| *word != "--yes").map(ToOwned::to_owned).collect();
    let mut without_consent = project.ghostbench("");
    without_consent.args(arguments).env("STAND_IN_MODE", "twice");
    without_consent.env("STAND_IN_VERSION", env!("CARGO_PKG_VERSION"));
    check(without_consent, 2, &["sends the cases", &server.address(), "--yes"]);
    unasked.env("STAND_IN_VERSION", "0.0.1");
    check(unasked, 3, &["ghostbench-ray 0.0.1", "pip install"]);
    assert!(server.log().received.iter().all(|request| !request.path.ends_with("/completions")));
}

#[test]
fn doctor_says_whether_a_cluster_can_be_used() {
    let project = Project::generated(1);
    let report = |command: Command| -> serde_json::Value {
        serde_json::from_str(&run(command).expect_code(0).stdout).expect("standard output is JSON alone")
    };
    let mut missing = project.ghostbench("doctor --json");
    missing.env("GHOSTBENCH_PYTHON", "/nowhere/python");
    let reason = report(missing)["cluster"]["reason"].clone();
    assert!(reason.as_str().is_some_and(|reason| reason.contains("/nowhere/python")), "{reason}");
    if ray_python().is_some() {
        let found = report(with_ray(&project, "doctor --json"));
        assert_eq!(found["cluster"]["versions"]["ghostbench_ray"], env!("CARGO_PKG_VERSION"), "{found}");
    }
}

#[test]
fn python_package_passes_its_own_tests() {
    let Some(python) = ray_python() else { return };
    let mut command = Command::new(python);
    command.args(["-m", "unittest", "discover", "-s", "../tests"]).current_dir(ray_package());
    let outcome = run(command).expect_code(0);
    assert!(outcome.stderr.contains("OK"), "{}", outcome.stderr);
}
