//! All files with code are only accessible to their owner, whatever the umask, and even if they existed before.

use std::fs;
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};
use std::process::Command;

use tests::lsp::Client;
use tests::unix::set_mode;
use tests::{Project, RunningProcess, binary};

use super::editor::{Editor, setup};
use super::recording::{LOOP, SHOP, record};
use crate::engines::open_ai;
use crate::settings::user_file;

/// `ghostbench` with arguments and a umask that lets everyone read and write.
fn with_open_umask(project: &Project, arguments: &str) -> Command {
    let mut command = project.command(Path::new("sh"), "");
    command.args(["-c", "umask 000; exec \"$0\" \"$@\""]).arg(binary()).args(arguments.split_whitespace());
    command
}

/// All files and folders below `folder`, which may be a file.
fn below(folder: &Path) -> Vec<PathBuf> {
    let entries = fs::read_dir(folder).into_iter().flatten().map(|entry| entry.expect("it is ours").path());
    let below: Vec<PathBuf> = entries.flat_map(|path| below(&path)).collect();
    [folder.to_owned()].into_iter().chain(below).collect()
}

/// Everything with code: all named outputs, and Ghostbench's own folders in the home folder.
fn outputs(project: &Project) -> Vec<PathBuf> {
    let named = ["run", "c.jsonl", "suite.jsonl", "report.html"].map(|name| project.sibling_path(name));
    let of_home = below(&project.home()).into_iter().filter(|path| {
        let text = path.to_string_lossy();
        text.contains("/ghostbench") && !text.contains("/.config/")
    });
    named.iter().flat_map(|path| below(path)).chain(of_home).collect()
}

#[track_caller]
fn check(paths: &[PathBuf]) {
    for path in paths {
        let mode = fs::metadata(path).expect("it was listed").permissions().mode() & 0o777;
        assert_eq!(mode, if path.is_dir() { 0o700 } else { 0o600 }, "{} is {mode:o}", path.display());
    }
}

#[test]
fn outputs_are_private_despite_open_umask_and_existing_mode() {
    let project = Project::generated(3);
    let (_server, settings) = open_ai();
    user_file(&project, &settings);
    let everything = || {
        for arguments in [
            "index .",
            "try . --cases 4",
            "mine . --cases 4",
            "mine . --cases 4 --out ../suite.jsonl",
            "report ../run --out ../report.html",
        ] {
            RunningProcess::start(with_open_umask(&project, arguments)).wait().expect_code(0);
        }
        let client = Client::spawn(with_open_umask(&project, "lsp --engine builtin"), setup(&project));
        let editor = Editor::initialized(&project, client);
        record(&editor, &editor.open("shop.py", SHOP), LOOP);
    };
    let replay = "replay ../suite.jsonl --workspace . --engine mock --out ../run --cassette ../c.jsonl";
    RunningProcess::start(with_open_umask(&project, "mine . --cases 4 --out ../suite.jsonl"))
        .wait()
        .expect_code(0);
    RunningProcess::start(with_open_umask(&project, replay)).wait().expect_code(0);
    everything();
    let paths = outputs(&project);
    for part in
        ["run/predictions.jsonl", "c.jsonl", "report.html", "recorded", ".log", ".cache", "suites/", "runs/"]
    {
        assert!(
            paths.iter().any(|path| path.to_string_lossy().contains(part)),
            "{part} is not among {paths:#?}"
        );
    }
    check(&paths);
    for path in &paths {
        set_mode(path, if path.is_dir() { 0o777 } else { 0o666 });
    }
    let resume = format!("{replay} --resume");
    RunningProcess::start(with_open_umask(&project, &resume)).wait().expect_code(0);
    everything();
    // Folders named by a user keep their permissions, and so do files that weren't written.
    let written = ["run/predictions.jsonl", "run/scores.jsonl", "c.jsonl", "suite.jsonl", "report.html"];
    let mut again: Vec<PathBuf> = written.iter().map(|name| project.sibling_path(name)).collect();
    let kept = ["recorded", "suites", ".log"];
    again.extend(outputs(&project).into_iter().filter(|path| {
        let text = path.to_string_lossy();
        text.starts_with(&*project.home().to_string_lossy()) && kept.iter().any(|kept| text.contains(kept))
    }));
    check(&again);
}
