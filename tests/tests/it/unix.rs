//! Permissions, links, pipes and full disks.

use std::fs;
use std::os::unix::fs::symlink;

use tests::unix::{SmallDisk, set_mode, unprivileged};
use tests::{Project, RunningProcess};

use crate::run_rows;

const OUTSIDE_WORLD: i32 = 3;

#[test]
fn unreadable_file_is_skipped() {
    let project = Project::generated(3);
    let secret = project.write("shop/closed.py", "def closed():\n    return 1\n");
    set_mode(&secret, 0o000);
    let outcome = RunningProcess::start(unprivileged(&project, "try . --cases 5 --json")).wait();
    let outcome = outcome.expect_code(0).expect_message(&["unreadable", "closed.py"]);
    assert!(outcome.stdout.contains("\"files\": 3"), "{}", outcome.stdout);
}

#[test]
fn unreadable_folder_gives_exit_code_3() {
    let project = Project::generated(1);
    let closed = project.root().join("closed");
    fs::create_dir(&closed).expect("the workspace is ours");
    set_mode(&closed, 0o000);
    let outcome = RunningProcess::start(unprivileged(&project, "try closed")).wait();
    outcome.expect_code(OUTSIDE_WORLD).expect_message(&["closed", "permission"]);
    set_mode(&closed, 0o700);
}

#[test]
fn read_only_output_folder_gives_exit_code_3() {
    let project = Project::generated(2);
    let closed = project.sibling_path("closed");
    fs::create_dir(&closed).expect("the temporary folder is ours");
    set_mode(&closed, 0o555);
    for command in [
        "try . --cases 5 --out ../closed",
        "try . --cases 5 --out ../closed/run",
        "mine . --out ../closed/suite.jsonl",
    ] {
        let outcome = RunningProcess::start(unprivileged(&project, command)).wait();
        outcome.expect_code(OUTSIDE_WORLD).expect_message(&["closed", "ermission denied", "--out"]);
    }
}

#[test]
fn symlink_loop_is_not_followed() {
    let project = Project::generated(3);
    symlink(project.root(), project.root().join("shop/loop")).expect("the workspace is ours");
    symlink("nowhere.py", project.root().join("dangling.py")).expect("the workspace is ours");
    let outcome = project.run("try . --cases 5 --out ../run --json").expect_code(0);
    assert!(outcome.stdout.contains("\"files\": 3"), "{}", outcome.stdout);
}

#[test]
fn a_pipe_in_the_workspace_does_not_block() {
    let project = Project::generated(2);
    let pipe = project.root().join("pipe.py");
    let made = std::process::Command::new("mkfifo").arg(pipe).status();
    assert!(made.is_ok_and(|status| status.success()));
    project.run("try . --cases 5 --out ../run").expect_code(0);
}

#[test]
fn closed_stdout_is_not_an_error() {
    let project = Project::generated(3);
    project.run("try . --cases 5 --out ../run").expect_code(0);
    for command in ["report ../run", "report ../run --json", "mine . --cases 5 --out -", "--help"] {
        let outcome =
            RunningProcess::start_with_closed_stdout(project.ghostbench(command)).wait().expect_code(0);
        assert!(!outcome.stderr.to_lowercase().contains("pipe"), "{}", outcome.stderr);
    }
}

#[test]
fn full_disk_keeps_finished_rows_for_resume() {
    let project = Project::generated(4);
    let disk = project.sibling_path("disk");
    let Some(_small_disk) = SmallDisk::mount(&disk, 8_000_000) else { return };
    project.run("mine . --cases 20 --out ../suite.jsonl").expect_code(0);
    let filler = disk.join("filler");
    fs::write(&filler, vec![0; 7_850_000]).expect("the disk has room for it");
    let replay = "replay ../suite.jsonl --engine empty --repeat 40 --out ../disk/run";
    let outcome = project.run(replay).expect_code(OUTSIDE_WORLD);
    outcome.expect_message(&["predictions.jsonl", "No space left", "--resume"]);
    let run = disk.join("run");
    let kept = run_rows::predictions(&run);
    assert!(!kept.is_empty());
    fs::remove_file(filler).expect("the disk is ours");
    project.run(&format!("{replay} --resume")).expect_code(0);
    let finished = run_rows::predictions(&run);
    assert_eq!(finished.get(..kept.len()), Some(kept.as_slice()), "finished rows are unchanged");
    assert_eq!(run_rows::answers(&run).len(), run_rows::total_answers(&run));
}

#[test]
fn full_disk_leaves_no_partial_suite() {
    let project = Project::generated(4);
    let disk = project.sibling_path("disk");
    let Some(_small_disk) = SmallDisk::mount(&disk, 20_000) else { return };
    let outcome = project.run("mine . --cases 60 --out ../disk/suite.jsonl").expect_code(OUTSIDE_WORLD);
    outcome.expect_message(&["suite.jsonl", "No space left"]);
    assert!(!disk.join("suite.jsonl").exists());
}
