//! Judging on a Ray cluster: the verdicts of one machine, each once, whatever is killed or delivered twice; nodes that cannot judge.

use std::collections::BTreeSet;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use mock::{MockServer, Reply};
use regex::Regex;
use serde_json::json;
use tests::ray::{RayCluster, with_stand_in};
use tests::{RunningProcess, wait_until};

use crate::judge_resume::{JudgedRun, lines};
use crate::run_rows;
use crate::sandbox_attacks::processes_with;
use crate::settings::user_file;
use crate::unit_tests::{PACKAGE, PythonProject};

/// A test that reads a file which is no code.
const DATA: &str = r#"
//- /data/limit.txt
10
//- /tests/test_data.py
from pathlib import Path

from shop.prices import total


def test_total_up_to_the_limit_of_the_data():
    limit = int(Path("data/limit.txt").read_text())
    assert total([1, 20, 3], limit) == 4
"#;

/// The verdicts of a run without what differs between two judgements, sorted: measured times, and the secret name of the test that
/// must fail.
fn verdicts_without_chance(run: &Path) -> Vec<String> {
    let chance = Regex::new(r#""seconds":[0-9.e-]+|\bin [0-9.]+s|control_\w+"#).expect("a pattern");
    let text = run_rows::text(&run.join("verdicts.jsonl"));
    let mut rows: Vec<String> = text.lines().map(|row| chance.replace_all(row, "").into_owned()).collect();
    rows.sort();
    rows
}

#[test]
fn verdicts_are_those_of_one_machine() {
    let Some(python) = PythonProject::new(&[PACKAGE, DATA].concat()) else { return };
    let Some(cluster) = RayCluster::start(2) else { return };
    let cases = python.build_some(2);
    let on_nodes = |arguments: &str| {
        let variables = "--ray-env PATH --ray-env VIRTUAL_ENV";
        let command = cluster.ghostbench(&python.project, &format!("{arguments} {variables}"));
        RunningProcess::start(python.in_its_python(command)).wait().expect_code(0)
    };
    let place = |id: &str| cases.iter().position(|case| case.id == id).expect("a case of the suite");
    for run in ["one", "many"] {
        python.answer(&cases, run, |case| match place(&case.id) % 3 {
            0 => case.truth.clone(),
            1 => "raise RuntimeError".to_owned(),
            _ => "return (".to_owned(),
        });
    }
    let [one, many] = ["one", "many"].map(|run| python.project.sibling_path(run));
    for rules in ["", "--faithful"] {
        python.run(&format!("judge ../one --workspace . {rules}")).expect_code(0);
        on_nodes(&format!("judge ../many --workspace . --judge-jobs 2 {rules}"));
    }
    let expected = verdicts_without_chance(&one);
    assert_eq!(expected.len(), 2 * cases.len(), "two kinds of rules");
    assert!(expected.iter().any(|row| row.contains(&*python.project.root().to_string_lossy())));
    assert_eq!(verdicts_without_chance(&many), expected);
    let replay = "replay ../codev/cases.jsonl --workspace . --engine builtin --no-copies off --judge";
    python.run(&format!("{replay} --out ../replayed-here")).expect_code(0);
    on_nodes(&format!("{replay} --out ../replayed"));
    let [here, there] = ["replayed-here", "replayed"].map(|run| python.project.sibling_path(run));
    assert_eq!(verdicts_without_chance(&there), verdicts_without_chance(&here));
    let again = on_nodes("judge ../replayed --workspace .");
    assert_eq!(verdicts_without_chance(&there), verdicts_without_chance(&here), "{}", again.stderr);
}

/// A judge of the settings that lets all pass. After some calls of a worker, it waits as long as a file exists.
struct HoldingJudge {
    calls: PathBuf,
    hold: PathBuf,
    _folder: tempfile::TempDir,
}

impl HoldingJudge {
    fn new() -> HoldingJudge {
        let folder = tempfile::tempdir().expect("a folder");
        let [calls, hold] = ["calls", "hold"].map(|name| folder.path().join(name));
        HoldingJudge { calls, hold, _folder: folder }
    }

    /// Holds the calls of each worker back from now on, after its first `free`.
    fn hold_after(&self, free: usize) {
        fs::write(&self.hold, free.to_string()).expect("written");
    }

    /// Whether this worker has made more calls than these.
    fn has_called(&self, workspace: &Path, calls: usize) -> bool {
        // The first call writes it.
        let text = fs::read_to_string(&self.calls).unwrap_or_default();
        text.lines().filter(|line| Path::new(line) == workspace).count() > calls
    }

    /// Workspaces of the workers whose calls run.
    fn callers(&self) -> BTreeSet<PathBuf> {
        let calls = processes_with(&self.calls.to_string_lossy()).into_iter();
        calls.filter_map(|call| fs::read_link(format!("/proc/{call}/cwd")).ok()).collect()
    }

    fn release(&self) {
        fs::remove_file(&self.hold).expect("it is held");
    }

    fn settings(&self) -> String {
        let script = r#"pwd >> "$0"
            while test -f "$1" && test "$(grep -cxF "$(pwd)" "$0")" -gt "$(cat "$1")"; do sleep 0.05; done
            echo '{"verdict": "passed"}' > "$2/verdict.json""#;
        let words = json!(["sh", "-c", script, self.calls, self.hold]);
        format!("[tests]\njudge = {words}\n")
    }
}

#[test]
fn killed_command_and_killed_node_lose_and_repeat_no_verdict() {
    let Some(mut cluster) = RayCluster::start(2) else { return };
    let judge = HoldingJudge::new();
    let run = JudgedRun::new(40, &judge.settings());
    let start_and_hold = |cluster: &RayCluster, free: usize| {
        judge.hold_after(free);
        let verdicts = lines(&run.verdicts());
        let mut process = RunningProcess::start(cluster.ghostbench(&run.project, &run.judge()));
        // The first call of a worker checks that it can judge; those that are held are of batches.
        wait_until("both nodes are held", || {
            let is_held = |workspace: &PathBuf| judge.has_called(workspace, free);
            judge.callers().iter().filter(|workspace| is_held(workspace)).count() == 2 || process.has_ended()
        });
        wait_until("verdicts are on disk", || {
            lines(&run.verdicts()) >= verdicts + free || process.has_ended()
        });
        assert!(!process.has_ended(), "it ended before anything was killed");
        process
    };
    let mut killed = start_and_hold(&cluster, 10);
    killed.kill();
    assert_eq!(killed.wait().code(), None);
    let kept = fs::read_to_string(run.verdicts()).expect("verdicts");
    judge.release();
    // Workers of the killed command make calls until Ray ends them.
    cluster.wait_until_idle();
    let resumed = start_and_hold(&cluster, 10);
    cluster.kill_node(0);
    wait_until("a worker has ended with its node", || judge.callers().len() == 1);
    judge.release();
    let outcome = resumed.wait().expect_code(0);
    assert!(outcome.stderr.contains("sent again"), "{}", outcome.stderr);
    run.check_each_answer_passed_once();
    let all = fs::read_to_string(run.verdicts()).expect("verdicts");
    let whole = kept.rfind('\n').map_or(0, |end| end + 1);
    assert!(all.starts_with(&kept[..whole]), "finished verdicts are unchanged");
}

#[test]
fn nodes_that_cannot_judge_are_left_out_with_the_remedy() {
    let Some(cluster) = RayCluster::start(2) else { return };
    let run = JudgedRun::new(6, "");
    let judge = |settings: &str, options: &str, environment: &[(&str, &str)]| {
        user_file(&run.project, settings);
        let _ = fs::remove_file(run.verdicts());
        let mut command = cluster.ghostbench(&run.project, &format!("{} {options}", run.judge()));
        command.envs(environment.iter().copied());
        RunningProcess::start(command).wait()
    };
    // The tests need a file that is ignored.
    run.project.write(".gitignore", "installed\n");
    run.project.write("installed/dependency", "");
    if tests::component("bwrap").is_some() {
        let needs_file = "[tests]\ncommand = [\"test\", \"-f\", \"installed/dependency\"]\n";
        let refused = judge(needs_file, "", &[]).expect_code(3);
        refused.expect_message(&[
            "do not pass with the truth",
            "--ray-folder",
            "`judge`",
            "finished verdicts",
        ]);
        judge(needs_file, "--ray-folder installed", &[]).expect_code(0);
        run.check_each_answer_passed_once();
        // The variable is sent, and no program is in the only folder.
        let nothing = run.project.root().to_string_lossy().into_owned();
        let refused = judge(needs_file, "--ray-env PATH", &[("PATH", &nothing)]).expect_code(3);
        refused.expect_message(&["no node of the cluster can be used", "bubblewrap", "section [tests]"]);
    }
    // A program judges in place of the sandbox: it is sent with the workspace, and fails on the first node that asks it.
    let once = run.project.sibling_path("once");
    let program = format!(
        "#!/bin/sh\n/bin/mkdir '{}' 2>/dev/null && exit 1\necho '{{\"verdict\": \"passed\"}}' > \"$1/verdict.json\"\n",
        once.display()
    );
    run.project.write("tools/judge.sh", program);
    tests::unix::set_mode(&run.project.root().join("tools/judge.sh"), 0o755);
    let without_sandbox = ("PATH", "/no/programs");
    run.project.write("tools/tests.toml", "[tests]\njudge = [\"./judge.sh\"]\n");
    let judged = judge("", "--ray-env PATH --config tools/tests.toml", &[without_sandbox]);
    judged.expect_code(0).expect_message(&["a node of the cluster is not used", "gave no verdict"]);
    run.check_each_answer_passed_once();
    assert!(once.exists());
}

/// Judges with a script in place of the Python package; it opens no connection.
fn with_mode(mode: &str) -> (JudgedRun, HoldingJudge, tests::ProcessOutcome) {
    let server = MockServer::scripted(|_| Reply::json(404, &json!({})));
    let judge = HoldingJudge::new();
    let run = JudgedRun::new(20, &judge.settings());
    let arguments = format!("{} --ray {}", run.judge(), server.address());
    let outcome = RunningProcess::start(with_stand_in(&run.project, mode, &arguments)).wait();
    (run, judge, outcome)
}

#[test]
fn duplicate_and_late_verdicts_are_counted_once() {
    let (run, judge, outcome) = with_mode("twice");
    outcome.expect_code(0);
    run.check_each_answer_passed_once();
    assert!(lines(&judge.calls) > run.answers, "lost batches are sent again");
}

#[test]
fn answers_that_crash_every_worker_have_no_verdict() {
    let (run, _, outcome) = with_mode("crashes");
    outcome.expect_code(3).expect_message(&[
        "have no verdict",
        "without --ray",
        "finished verdicts are kept",
    ]);
    assert_eq!(lines(&run.verdicts()), 0);
}

#[test]
fn options_of_judging_are_checked_before_anything_is_sent() {
    let run = JudgedRun::new(6, "[tests]\njudge = [\"true\"]\n");
    let server = MockServer::scripted(|_| Reply::json(404, &json!({})));
    let judge = format!("{} --ray {}", run.judge(), server.address());
    let check = |command: Command, words: &[&str]| {
        RunningProcess::start(command).wait().expect_code(2).expect_message(words);
    };
    let option = |arguments: &str| with_stand_in(&run.project, "twice", arguments);
    check(
        option(&format!("{judge} --ray-folder nowhere")),
        &["--ray-folder", "not a folder of the workspace"],
    );
    check(option(&format!("{judge} --ray-folder ..")), &["not a folder of the workspace"]);
    let replay = format!("replay ../suite.jsonl --workspace . --ray {}", server.address());
    check(option(&format!("{replay} --ray-folder .")), &["--ray-folder", "--judge"]);
    let unasked = option(&judge);
    let mut without_consent = run.project.ghostbench("");
    without_consent.args(unasked.get_args().filter(|word| *word != "--yes"));
    without_consent.env("STAND_IN_MODE", "twice").env("STAND_IN_VERSION", env!("CARGO_PKG_VERSION"));
    check(without_consent, &["sends the cases", "all files of", "neither ignored nor secret-like", "--yes"]);
}
