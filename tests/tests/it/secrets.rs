//! Secrets that no single text contains completely: the cursor splits them, or an engine completes one.

use std::fs;
use std::path::{Path, PathBuf};

use tests::Project;

use crate::engines::open_ai_answering;
use crate::program_engines::PROGRAM;
use crate::run_rows;
use crate::settings::user_file;

const SECRET: &str = "Qz7-Vw9xK.j4mTp8";

/// The part before the cursor, and the engine's answer; the rest follows.
const BEFORE: usize = 4;
const ANSWER: std::ops::Range<usize> = BEFORE..9;

/// Minimum length in bytes of a part of the secret that must not occur.
const PART: usize = 4;

/// Returns all files below a folder that the tools wrote. Excludes caches, which are derived from the whole workspace.
fn written(folder: &Path) -> Vec<PathBuf> {
    let entries = fs::read_dir(folder).into_iter().flatten().map(|entry| entry.expect("it is ours").path());
    let is_other = |path: &Path| {
        ["workspace", ".cache", ".config", "complete.sh"].iter().any(|other| path.ends_with(other))
    };
    let paths = entries.filter(|path| !is_other(path));
    paths.flat_map(|path| if path.is_dir() { written(&path) } else { vec![path] }).collect()
}

/// Returns the files with a part of the secret.
#[track_caller]
fn leaks(project: &Project) -> Vec<String> {
    let files = written(&project.sibling_path(""));
    assert!(!files.is_empty(), "the tools write something");
    let parts = SECRET.as_bytes().windows(PART);
    let leaks = files.iter().flat_map(|path| {
        let bytes = match path.extension().is_some_and(|extension| extension == "html") {
            true => run_rows::unpacked_report(path).into_bytes(),
            false => fs::read(path).expect("it was listed"),
        };
        let found = parts.clone().find(|part| bytes.windows(PART).any(|window| window == *part));
        found.map(|part| format!("{} holds {}", path.display(), String::from_utf8_lossy(part)))
    });
    leaks.collect()
}

/// A workspace with a password that the cursor splits, and engines whose answer completes it.
fn project() -> (Project, mock::MockServer, usize) {
    let (server, settings) = open_ai_answering(&SECRET[ANSWER]);
    let project = Project::generated(3);
    let line = format!("    return login(\"svc\", password=\"{}", &SECRET[..BEFORE]);
    let after = &SECRET[ANSWER.end..];
    project.write("shop/app.py", format!("def connect(login):\n{line}{after}\")\n"));
    let path = project.sibling_path("complete.sh");
    fs::write(&path, PROGRAM.replace("\"$PIDS\"", "/dev/null").replace("total = 1", &SECRET[ANSWER]))
        .expect("the temporary folder is ours");
    let program = format!(
        "[[engine]]\nname = \"mine\"\nkind = \"command\"\ncommand = [\"sh\", {path:?}, \"--password={SECRET}\"]\n"
    );
    user_file(&project, &(settings + &program));
    (project, server, line.len() + 1)
}

#[test]
fn secret_split_by_the_cursor_is_in_no_output_file() {
    let (project, _server, column) = project();
    for engine in ["mock", "mine", "builtin"] {
        let complete = format!("engines complete shop/app.py:2:{column} --engine {engine} --invoked");
        project.run(&format!("{complete} --explain --prompt --cassette ../complete.jsonl")).expect_code(0);
    }
    let cassette = run_rows::text(&project.sibling_path("complete.jsonl"));
    let masked = "x".repeat(ANSWER.len());
    assert_eq!(cassette.matches(&format!("\"text\":\"{masked}\"")).count(), 2, "{cassette}");
    assert_eq!(leaks(&project), [""; 0]);
}

/// The answers of a run complete no password, but mining cuts one wherever possible.
#[test]
fn secret_is_in_no_file_of_a_run() {
    let project = Project::generated(3);
    project.write("shop/whole.py", format!("def connect(login):\n    return login(password=\"{SECRET}\")\n"));
    project.run("try . --cases 60 --engine builtin --out ../run").expect_code(0);
    project.run("mine . --cases 60 --out ../suite.jsonl").expect_code(0);
    project.run("report ../run --out ../report.html").expect_code(0);
    assert!(run_rows::cases(&project.sibling_path("run")).iter().any(|case| case.path.ends_with("whole.py")));
    assert_eq!(leaks(&project), [""; 0]);
}
