//! Engines that are programs: any program, and llama.cpp's server for a model file.

use std::fs;
use std::path::Path;
use std::process::Command;

use tests::{LlamaServer, Project, component, wait_until};

use crate::run_rows;
use crate::settings::user_file;

/// Answers every request with the same text, and writes its process id to a file.
#[cfg(unix)]
pub(crate) const PROGRAM: &str = r#"#!/bin/sh
echo $$ >> "$PIDS"
while read -r line; do
  id=${line#*'"id":'}; id=${id%%,*}
  case $line in '{"cancel"'*) ;; *) echo "{\"id\":$id,\"text\":\"total = 1\",\"done\":true}" ;; esac
done
"#;

/// Settings of an engine `mine` that is this program.
#[cfg(unix)]
#[track_caller]
pub(crate) fn program(project: &Project) -> String {
    let path = project.sibling_path("complete.sh");
    fs::write(&path, PROGRAM).expect("the temporary folder is ours");
    let pids = project.sibling_path("pids");
    format!(
        "[[engine]]\nname = \"mine\"\nkind = \"command\"\ncommand = [\"sh\", {path:?}]\nenv = {{PIDS = {:?}}}\n",
        pids.display().to_string()
    )
}

/// Settings of an engine `tiny` with a model for llama.cpp; `None` if it is not installed.
#[track_caller]
pub(crate) fn tiny(project: &Project) -> Option<String> {
    let program = component("llama-server")?;
    let model = project.sibling_path("tiny.gguf");
    fs::write(&model, LlamaServer::tiny_model()).expect("the temporary folder is ours");
    Some(format!(
        "[[engine]]\nname = \"tiny\"\nkind = \"llama-server\"\ngguf = {model:?}\nfim = \"qwen2.5-coder\"\nmax_tokens = 8\n\
         command = [{program:?}, \"--threads\", \"1\", \"--parallel\", \"1\", \"--ctx-size\", \"16384\", \"--offline\"]\n"
    ))
}

/// Ids of all processes of the program so far.
#[cfg(unix)]
pub(crate) fn processes(project: &Project) -> Vec<String> {
    let pids = fs::read_to_string(project.sibling_path("pids")).unwrap_or_default();
    pids.lines().map(str::to_owned).collect()
}

/// Processes with a file in their command line.
#[cfg(target_os = "linux")]
pub(crate) fn processes_naming(file: &Path) -> Vec<String> {
    let processes = fs::read_dir("/proc").expect("Linux has /proc").flatten();
    let names = processes.filter(|process| {
        let line = fs::read(process.path().join("cmdline")).unwrap_or_default();
        String::from_utf8_lossy(&line).contains(file.to_str().expect("the path is text"))
    });
    names.map(|process| process.file_name().to_string_lossy().into_owned()).collect()
}

#[cfg(unix)]
pub(crate) fn is_alive(process: &str) -> bool {
    Command::new("kill").args(["-0", process]).output().expect("there is kill").status.success()
}

/// The engines and answers of a run.
#[track_caller]
fn predictions(project: &Project, run: &str) -> String {
    fs::read_to_string(project.sibling_path(run).join("predictions.jsonl"))
        .expect("the run has its predictions")
}

#[cfg(unix)]
#[test]
fn command_engine_is_replayed_and_its_process_exits() {
    let project = Project::generated(3);
    user_file(&project, &program(&project));
    project.run("try . --cases 5 --engine mine --out ../run").expect_code(0);
    project.run("replay ../run/cases.jsonl --engine mine --out ../again").expect_code(0);
    assert_eq!(run_rows::run(&project.sibling_path("again")).engines[0].engine.name, "mine");
    for run in ["run", "again"] {
        let predictions = predictions(&project, run);
        assert!(predictions.lines().all(|row| row.contains("total = 1")), "{predictions}");
    }
    let processes = processes(&project);
    assert_eq!(processes.len(), 2, "one for each command");
    wait_until("the programs have ended", || !processes.iter().any(|process| is_alive(process)));
}

/// The example of the document.
#[test]
fn documented_example_program_works() {
    let document = include_str!("../../../docs/command-engine.md");
    let (_, code) = document.split_once("```python\n").expect("the document has a program");
    let code = code.split_once("```").expect("the program ends").0;
    let Some(python) = component("python3") else { return };
    let project = Project::generated(3);
    fs::write(project.sibling_path("complete.py"), code).expect("the temporary folder is ours");
    let settings = format!(
        "[[engine]]\nname = \"mine\"\nkind = \"command\"\ncommand = [{python:?}, {:?}]\n",
        project.sibling_path("complete.py")
    );
    user_file(&project, &settings);
    project.run("try . --cases 10 --engine mine --out ../run").expect_code(0);
    let predictions = predictions(&project, "run");
    assert!(!predictions.contains("\"error\""), "{predictions}");
    assert!(predictions.lines().count() >= 10, "{predictions}");
}

#[test]
fn missing_program_is_reported_before_any_request() {
    let project = Project::generated(2);
    let engines = "[[engine]]\nname = \"mine\"\nkind = \"command\"\ncommand = [\"no-such-program\"]\n\
                   [[engine]]\nname = \"file\"\nkind = \"llama-server\"\ngguf = \"/no/model.gguf\"\n";
    user_file(&project, engines);
    for command in ["engines list", "doctor"] {
        let response = project.run(command).expect_code(0).stdout;
        for word in
            ["there is no program `no-such-program`; install it", "cannot read the `gguf` /no/model.gguf"]
        {
            assert!(response.contains(word), "no {word} in {response}");
        }
    }
    let outcome = project.run("try . --engine mine").expect_code(2);
    outcome.expect_message(&["engine `mine` cannot be asked: there is no program `no-such-program`"]);
}

#[cfg(target_os = "linux")]
#[test]
fn llama_server_runs_only_during_the_command() {
    let project = Project::generated(3);
    let Some(settings) = tiny(&project) else { return };
    user_file(&project, &settings);
    let tried = project.run("try . --cases 3 --engine tiny --out ../run").expect_code(0);
    assert_eq!(run_rows::run(&project.sibling_path("run")).engines[0].engine.model, "tiny");
    let predictions = predictions(&project, "run");
    assert!(!predictions.contains("\"error\""), "{predictions} {}", tried.stderr);
    wait_until("the server has ended", || processes_naming(&project.sibling_path("tiny.gguf")).is_empty());
    let logs = project.home().join(".local/state/ghostbench/engines/tiny.log");
    assert!(fs::metadata(&logs).is_ok_and(|log| log.len() > 0), "{} is its log", logs.display());
}
