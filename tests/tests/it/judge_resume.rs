//! A judgement that is killed again and again ends with one verdict for each answer.

use std::collections::BTreeSet;
use std::fs;
use std::path::{Path, PathBuf};

use cases::{Judgement, TestVerdict, parse_lines};
use serde_json::{Value, json};
use tests::{Project, RunningProcess, wait_until};

#[cfg(target_os = "linux")]
use crate::sandbox_attacks::{processes_with, sandboxed_processes};
use crate::settings::user_file;

/// Answers that are judged at a time: as many may be judged again after each kill.
const JOBS: usize = 4;

const KILLS: usize = 5;

/// Cases: `GHOSTBENCH_JUDGED_CASES` measures more.
fn case_count() -> usize {
    std::env::var("GHOSTBENCH_JUDGED_CASES").ok().and_then(|count| count.parse().ok()).unwrap_or(40)
}

/// A file in which no line is like one of another file.
fn order_file(number: usize) -> String {
    format!(
        "def settle_{number}(orders_{number}, limit_{number}):\n    total_{number} = {number}\n    \
         for order_{number} in orders_{number}:\n        if order_{number} > limit_{number}:\n            \
         total_{number} += order_{number} * {number}\n    return total_{number}\n"
    )
}

/// Writes a run of two engines in the sibling folder `run`; all answers are different. Returns their number.
fn write_run(project: &Project, count: usize) -> usize {
    project.run(&format!("mine . --cases {count} --scenario full_block --out ../suite.jsonl")).expect_code(0);
    let suite = project.sibling_path("suite.jsonl");
    let rows = |path: &Path| -> Vec<Value> {
        let text = fs::read_to_string(path).expect("rows");
        text.lines().map(|line| serde_json::from_str(line).expect("a row")).collect()
    };
    let write = |path: &Path, rows: Vec<Value>| {
        let text: String = rows.iter().map(|row| format!("{row}\n")).collect();
        fs::write(path, text).expect("written");
    };
    let mut cases = rows(&suite);
    for case in &mut cases {
        case["tests"] = json!({"runner": "command", "ids": ["command"], "seconds": 0.01});
    }
    assert!(cases.len() * 10 >= count * 9, "{} cases", cases.len());
    write(&suite, cases);
    project
        .run("replay ../suite.jsonl --workspace . --no-copies off --engine empty --engine nearest-line --out ../run")
        .expect_code(0);
    let predictions = project.sibling_path("run/predictions.jsonl");
    let mut answers = rows(&predictions);
    for (number, answer) in answers.iter_mut().enumerate() {
        answer["text"] = format!("answer_{number}").into();
        answer["raw"] = answer["text"].clone();
        answer["status"] = "ok".into();
    }
    let count = answers.len();
    write(&predictions, answers);
    fs::remove_file(project.sibling_path("run/scores.jsonl")).expect("scores");
    count
}

/// A run over a project of orders, to be judged again and again.
pub(crate) struct JudgedRun {
    pub(crate) project: Project,
    /// Answers of both engines.
    pub(crate) answers: usize,
}

impl JudgedRun {
    /// Writes the project, and a run of two engines over `count` cases.
    pub(crate) fn new(count: usize, settings: &str) -> JudgedRun {
        let project = Project::new("");
        for number in 0..count {
            project.write(&format!("shop/orders_{number}.py"), order_file(number));
        }
        let answers = write_run(&project, count);
        user_file(&project, settings);
        JudgedRun { project, answers }
    }

    pub(crate) fn verdicts(&self) -> PathBuf {
        self.project.sibling_path("run/verdicts.jsonl")
    }

    pub(crate) fn judge(&self) -> String {
        format!("judge ../run --workspace . --judge-jobs {JOBS}")
    }

    /// Kills judgements at a part of the verdicts each, then lets one end: every answer has one verdict, and no earlier one has changed.
    #[track_caller]
    fn kill_and_resume(&self, after_kill: impl Fn()) {
        let verdicts = self.verdicts();
        let mut kept: Vec<u8> = Vec::new();
        for kill in 1..=KILLS {
            let mut judge = RunningProcess::start(self.project.ghostbench(&self.judge()));
            wait_until("more verdicts are written", || {
                lines(&verdicts) * (KILLS + 1) >= self.answers * kill || judge.has_ended()
            });
            judge.kill();
            drop(judge);
            after_kill();
            let now = fs::read(&verdicts).expect("verdicts");
            let whole = now.iter().rposition(|byte| *byte == b'\n').map_or(0, |end| end + 1);
            assert!(now.starts_with(&kept), "kill {kill} changed earlier verdicts");
            kept = now[..whole].to_vec();
        }
        assert!(lines(&verdicts) < self.answers, "it ended before the last kill");
        self.project.run(&self.judge()).expect_code(0);
        let all = fs::read(&verdicts).expect("verdicts");
        assert!(all.starts_with(&kept), "earlier verdicts have changed");
        self.check_each_answer_passed_once();
    }

    #[track_caller]
    pub(crate) fn check_each_answer_passed_once(&self) {
        let text = fs::read_to_string(self.verdicts()).expect("verdicts");
        let rows: Vec<Judgement> = parse_lines(&text).expect("judgements").rows;
        let keys: BTreeSet<(&str, &str, u32)> = rows.iter().map(Judgement::key).collect();
        assert_eq!((rows.len(), keys.len()), (self.answers, self.answers));
        assert!(rows.iter().all(|row| row.verdict == TestVerdict::Passed), "the judge lets all pass");
    }
}

pub(crate) fn lines(path: &Path) -> usize {
    fs::read_to_string(path).map_or(0, |text| text.lines().count())
}

#[test]
fn judgement_that_is_killed_loses_and_repeats_no_verdict() {
    let calls = tempfile::NamedTempFile::new().expect("a file");
    let script = "sleep 0.05; echo call >> \"$0\"; echo '{\"verdict\": \"passed\"}' > \"$1/verdict.json\"";
    let words = json!(["sh", "-c", script, calls.path()]);
    let run = JudgedRun::new(case_count(), &format!("[tests]\njudge = {words}\n"));
    run.kill_and_resume(|| {
        #[cfg(target_os = "linux")]
        wait_until("the judge has ended", || processes_with(&calls.path().to_string_lossy()).is_empty());
    });
    let (calls, answers) = (lines(calls.path()), run.answers);
    assert!((answers..=answers + KILLS * JOBS).contains(&calls), "{calls} calls for {answers} answers");
}

#[cfg(target_os = "linux")]
#[test]
fn killed_judgement_leaves_no_process_and_no_mount_of_its_sandboxes() {
    if tests::component("bwrap").is_none() {
        return;
    }
    let command = json!(["sh", "-c", "sleep 0.05; exit 0"]);
    let run = JudgedRun::new(case_count(), &format!("[tests]\ncommand = {command}\n"));
    run.kill_and_resume(|| {
        wait_until("the sandboxes are gone", || sandboxed_processes(&run.project).is_empty());
        let mounts = fs::read_to_string("/proc/self/mounts").expect("mounts");
        assert!(!mounts.contains("ghostbench-sandbox"), "mounts are left: {mounts}");
    });
}

#[cfg(target_os = "linux")]
#[test]
fn next_sandbox_is_made_while_tests_run() {
    if tests::component("bwrap").is_none() {
        return;
    }
    let folder = tempfile::tempdir().expect("a folder");
    let may_end = folder.path().join("may-end");
    let mark = format!("slow-tests-{}", std::process::id());
    let script = "until test -e \"$1\"; do sleep 0.01; done";
    let command = json!(["sh", "-c", script, mark, may_end]);
    let read = json!([folder.path()]);
    let run = JudgedRun::new(2, &format!("[tests]\ncommand = {command}\nread = {read}\n"));
    let root = run.project.root().to_string_lossy().into_owned();
    let mut judge =
        RunningProcess::start(run.project.ghostbench("judge ../run --workspace . --judge-jobs 1"));
    wait_until("the first tests run", || !processes_with(&mark).is_empty() || judge.has_ended());
    let sandboxes = || processes_with(&root).into_iter().filter(|pid| is_bubblewrap(*pid)).count();
    wait_until("the next sandbox is made", || sandboxes() == 2 || judge.has_ended());
    // The shell is two processes for a moment, before it starts a program.
    wait_until("tests run in one of them", || processes_with(&mark).len() == 1);
    fs::write(&may_end, "").expect("a file");
    wait_until("the judgement ends", || judge.has_ended());
    assert_eq!(lines(&run.verdicts()), run.answers);
}

#[cfg(target_os = "linux")]
fn is_bubblewrap(pid: u32) -> bool {
    fs::read_to_string(format!("/proc/{pid}/comm")).is_ok_and(|name| name.trim() == "bwrap")
}
