//! `ghostbench retrieve --embeddings`: similar functions by a server's embeddings.

use std::fs;
use std::process::Command;

use serde_json::Value;
use tests::{LlamaServer, ProcessOutcome, Project, RunningProcess};

const FIXTURE: &str = "\
//- /writing.py
def load_user(path):
    with open(path) as file:
        return
//- /loading.py
def load_group(path):
    with open(path) as file:
        return parse_group(file.read())

def save_group(path, group):
    with open(path, 'w') as file:
        file.write(print_group(group))
//- /shapes.py
def area(width, height):
    return width * height
";

/// The function being written, as it is embedded.
const WRITING: &str = "def load_user(path):\n    with open(path) as file:\n        return";

fn retrieve(project: &Project, arguments: &str) -> Command {
    project.ghostbench(&format!("retrieve writing.py:3:15 --strategy functions --json {arguments}"))
}

/// The results with the server's embeddings.
#[track_caller]
fn embedded(project: &Project, server: &LlamaServer) -> ProcessOutcome {
    let arguments = format!("--embeddings {} --embedding-model tiny", server.url());
    RunningProcess::start(retrieve(project, &arguments)).wait().expect_code(0)
}

/// The retrieved snippets, with scores and reasons.
#[track_caller]
fn items(outcome: &ProcessOutcome) -> Vec<Value> {
    let report: Value = serde_json::from_str(&outcome.stdout).expect("the report is JSON");
    report["strategies"][0]["items"].as_array().expect("a strategy has items").clone()
}

/// Number of embedded texts in the command's output.
#[track_caller]
fn texts_embedded(outcome: &ProcessOutcome) -> usize {
    let reported = outcome.stderr.lines().find_map(|line| line.split_once(" text")?.0.trim().parse().ok());
    reported.unwrap_or_else(|| panic!("nothing was embedded: {}", outcome.stderr))
}

#[test]
fn functions_are_embedded_once_for_each_content() {
    let Some(server) = LlamaServer::start(&["--embeddings"]) else { return };
    let project = Project::new(FIXTURE);
    let first = embedded(&project, &server);
    assert_eq!(texts_embedded(&first), 4, "three functions and the query");
    assert_eq!(items(&first).len(), 3);
    for item in items(&first) {
        let score = item["score"].as_f64().expect("an item has a score");
        assert_eq!(item["reason"], format!("similarity {score:.2} by tiny"));
        assert!((-1.0..=1.00001).contains(&score), "{score}");
    }

    let before = server.tokens_read();
    let second = embedded(&project, &server);
    assert_eq!(texts_embedded(&second), 1);
    assert_eq!(items(&second), items(&first));
    let query_tokens = WRITING.len() - WRITING.matches("de").count();
    assert_eq!(server.tokens_read() - before, query_tokens as u64, "only the query is asked for");

    project.write("shapes.py", "def area(width, height):\n    return height * width\n");
    assert_eq!(texts_embedded(&embedded(&project, &server)), 2, "the query and what has changed");
}

#[test]
fn embeddings_are_listed_and_cleared_with_other_caches() {
    let Some(server) = LlamaServer::start(&["--embeddings"]) else { return };
    let project = Project::new(FIXTURE);
    let first = embedded(&project, &server);
    let listed = project.run("index --list").expect_code(0);
    assert!(listed.stdout.contains("embeddings: tiny"), "{}", listed.stdout);
    project.run("index --clear").expect_code(0);
    let again = embedded(&project, &server);
    assert_eq!(texts_embedded(&again), 4);
    assert_eq!(items(&again), items(&first), "the same text has the same vector");
}

#[test]
fn damaged_embeddings_are_reported_and_rebuilt() {
    let Some(server) = LlamaServer::start(&["--embeddings"]) else { return };
    let project = Project::new(FIXTURE);
    let first = embedded(&project, &server);
    let caches = fs::read_dir(project.home().join(".cache/ghostbench")).expect("embeddings are kept");
    for cache in caches {
        let path = cache.expect("the folder is ours").path();
        let mut bytes = fs::read(&path).expect("the file is ours");
        *bytes.last_mut().expect("the file is not empty") ^= 1;
        fs::write(path, bytes).expect("the file is ours");
    }
    let again = embedded(&project, &server).expect_message(&["rebuilding the embeddings", "damaged"]);
    assert_eq!((texts_embedded(&again), items(&again)), (4, items(&first)));
    let healed = embedded(&project, &server);
    assert_eq!(texts_embedded(&healed), 1);
    assert!(!healed.stderr.contains("rebuilding"), "{}", healed.stderr);
}

#[test]
fn too_long_function_is_embedded_by_its_beginning() {
    let Some(server) = LlamaServer::start(&["--embeddings", "--ubatch-size", "512"]) else { return };
    let project = Project::new(FIXTURE);
    let body: String = (0..80).map(|number| format!("    print(shapes[{number}])\n")).collect();
    project.write("long.py", format!("def print_shapes(shapes):\n{body}"));
    let outcome = embedded(&project, &server);
    assert_eq!(texts_embedded(&outcome), 5);
    assert!(!outcome.stderr.contains("instead"), "{}", outcome.stderr);
}

/// Checks the lexical results after embeddings failed.
#[track_caller]
fn check_fallback(project: &Project, server: &LlamaServer, reason: &[&str]) {
    let lexical = RunningProcess::start(retrieve(project, "")).wait().expect_code(0);
    assert_eq!(items(&lexical).len(), 3);
    let fallen = embedded(project, server).expect_message(&["functions are compared by their words instead"]);
    assert_eq!(items(&fallen.expect_message(reason)), items(&lexical));
}

#[test]
fn unreachable_server_falls_back_to_lexical_similarity() {
    let Some(mut server) = LlamaServer::start(&["--embeddings"]) else { return };
    let project = Project::new(FIXTURE);
    embedded(&project, &server);
    server.kill();
    let address = server.url().replace("http://", "");
    check_fallback(&project, &server, &[&format!("nothing listens at {address}")]);
}

#[test]
fn server_without_embeddings_falls_back_with_a_remedy() {
    let Some(server) = LlamaServer::start(&[]) else { return };
    let project = Project::new(FIXTURE);
    check_fallback(&project, &server, &["answered 501", "`--embeddings`"]);
}

#[test]
fn embedding_request_is_announced_before_it_fails() {
    let project = Project::new(FIXTURE);
    let outcome =
        RunningProcess::start(retrieve(&project, "--embeddings http://127.0.0.1:1")).wait().expect_code(0);
    let reported =
        ["requesting embeddings from http://127.0.0.1:1", "functions are compared by their words instead"];
    let [before, after] = reported.map(|words| outcome.stderr.find(words).expect("it is reported"));
    assert!(before < after, "{}", outcome.stderr);
}

#[test]
fn invalid_embedding_options_are_rejected() {
    let project = Project::new(FIXTURE);
    for (arguments, words) in [
        ("--embeddings nonsense", &["nonsense", "http://"][..]),
        ("--embeddings http://127.0.0.1:1 --embedding-key-env GHOSTBENCH_NO_KEY", &["GHOSTBENCH_NO_KEY"]),
        ("--embedding-model tiny", &["--embeddings"]),
    ] {
        RunningProcess::start(retrieve(&project, arguments)).wait().expect_code(2).expect_message(words);
    }
    let hybrid = "retrieve writing.py:3:15 --strategy hybrid --embeddings http://127.0.0.1:1";
    project.run(hybrid).expect_code(2).expect_message(&["--strategy functions"]);
}
