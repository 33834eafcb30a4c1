//! Editors without inline completion: Helix and Emacs with Eglot, as docs/other-editors.md configures them, record and replay cases
//! of text that is not saved. The template for JetBrains fits the languages of the server.

use std::collections::BTreeSet;
use std::fs;
use std::path::{Path, PathBuf};

use serde_json::{Value, json};
use tests::{Project, RunningProcess, Terminal, component, search_path, wait_until};

/// Folder of the repository.
const ROOT: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/..");

const FILE: &str = "//- /a.py
def total(orders):
    result = 0
    return result
";

/// Returns the block of docs/other-editors.md with this information string.
#[track_caller]
fn documented(information: &str) -> String {
    let page = fs::read_to_string(Path::new(ROOT).join("docs/other-editors.md")).expect("the page is there");
    let (_, block) = page.split_once(&format!("```{information}\n")).expect("the page has the block");
    block.split_once("\n```").expect("the block ends").0.to_owned()
}

/// Returns the suite that was recorded in a project, once there is one.
#[track_caller]
fn recorded_cases(project: &Project) -> Vec<Value> {
    let data = project.home().join(".local/share/ghostbench/recorded");
    let mut cases = Vec::new();
    wait_until("a case is recorded", || {
        let suites = fs::read_dir(&data).into_iter().flatten().flatten();
        let texts = suites.filter_map(|folder| fs::read_to_string(folder.path().join("cases.jsonl")).ok());
        cases = texts
            .flat_map(|text| {
                text.lines().filter_map(|line| serde_json::from_str(line).ok()).collect::<Vec<_>>()
            })
            .collect();
        !cases.is_empty()
    });
    cases
}

/// Waits until a replay has stored an answer of the built-in engine.
#[track_caller]
fn wait_for_answers(project: &Project) {
    let data = project.home().join(".local/share/ghostbench/runs");
    wait_until("a replay is stored", || {
        let folders = |path: PathBuf| {
            fs::read_dir(path).into_iter().flatten().flatten().map(|entry| entry.path()).collect::<Vec<_>>()
        };
        let mut runs = folders(data.clone()).into_iter().flat_map(folders);
        runs.any(|run| {
            let answers = fs::read_to_string(run.join("predictions.jsonl"));
            answers.is_ok_and(|text| text.contains("\"builtin\""))
        })
    });
}

#[test]
fn emacs_records_and_replays_by_eglot() {
    let Some(emacs) = component("emacs") else { return };
    let project = Project::new(FILE);
    let configuration = project.sibling_path("ghostbench.el");
    fs::write(&configuration, documented("elisp eglot")).expect("the folder is ours");
    let script = concat!(env!("CARGO_MANIFEST_DIR"), "/src/other_editors.el");
    let mut command = project.command(&emacs, "--batch -Q -l");
    command.arg(script).env("GHOSTBENCH_TEST_CONFIGURATION", configuration).env("PATH", search_path());
    let outcome = RunningProcess::start(command).wait();
    assert_eq!(outcome.status.code(), Some(0), "{}\n{}", outcome.stdout, outcome.stderr);
    let lines = outcome.stdout.lines().filter_map(|line| serde_json::from_str::<Value>(line).ok());
    let results: Vec<Value> = lines.collect();
    let result = |name: &str| {
        let found = results.iter().find(|result| result["name"] == name);
        found.unwrap_or_else(|| panic!("no {name} in {}\n{}", outcome.stdout, outcome.stderr))["value"]
            .clone()
    };
    assert_eq!(result("inlineCompletion"), true);
    let commands = result("commands");
    for command in ["ghostbench.recordCase", "ghostbench.replay"] {
        assert!(commands.as_array().expect("a list").contains(&json!(command)), "{commands}");
    }
    let is_told = |name: &str, words: &str| {
        let message = result(name);
        assert!(message.as_str().is_some_and(|text| text.starts_with(words)), "{message}");
    };
    is_told("recorded", "Recorded in /");
    is_told("again", "Recorded before in /");
    is_told("replayed", "Replayed 1 of 1 requests");
    assert_eq!(result("lenses")[0]["command"]["command"], "ghostbench.replay");
    let refusal = result("refused");
    assert!(refusal.as_str().is_some_and(|text| text != "recorded"), "a comment is no code: {refusal}");
    assert_eq!(result("is-running"), false);
    let cases = recorded_cases(&project);
    assert_eq!(cases[0]["truth"], "result = 0 + 1", "the text was not saved when it was recorded");
    wait_for_answers(&project);
    let saved = fs::read_to_string(project.root().join("a.py")).expect("the file is there");
    assert_eq!(saved, "# a comment\ndef total(orders):\n    result = 0 + 1\n    return result\n");
}

#[test]
fn helix_records_and_replays_by_keys() {
    let Some(helix) = component("hx") else { return };
    let project = Project::new(FILE);
    // Helix has no workspace folder otherwise.
    project.write(".git/HEAD", "ref: refs/heads/main\n");
    let folder = project.home().join(".config/helix");
    fs::create_dir_all(&folder).expect("the home is ours");
    fs::write(folder.join("languages.toml"), documented("toml helix languages")).expect("the home is ours");
    fs::write(folder.join("config.toml"), documented("toml helix config")).expect("the home is ours");
    let Some(terminal) = Terminal::open(&project, &project.root(), 100, 24) else { return };
    terminal.enter(&format!("clear; exec '{}' -vv a.py", helix.display()));
    terminal.wait_for("return result");
    let log = project.home().join(".cache/helix/helix.log");
    let logs = |words: &str| fs::read_to_string(&log).is_ok_and(|text| text.contains(words));
    wait_until("the server has read the folder", || logs("workspace is read"));
    terminal.press(&["j", "A"]);
    terminal.wait_for("INS");
    terminal.type_text(" + 1");
    terminal.press(&["Escape"]);
    terminal.wait_for("NOR");
    terminal.wait_for("result = 0 + 1");
    terminal.type_text("gs gr");
    let cases = recorded_cases(&project);
    assert_eq!(cases[0]["truth"], "result = 0 + 1", "the text was not saved when it was recorded");
    terminal.type_text(" ga");
    wait_for_answers(&project);
    assert!(!logs("[ERROR] ghostbench"), "{}", fs::read_to_string(&log).unwrap_or_default());
    terminal.enter(":wq");
    wait_until("the file is saved", || {
        fs::read_to_string(project.root().join("a.py")).is_ok_and(|text| text.contains("result = 0 + 1"))
    });
}

/// Languages by the names that editors use for them, in the configuration of Neovim, whose names differ for one.
fn neovim_languages() -> BTreeSet<String> {
    let text =
        fs::read_to_string(Path::new(ROOT).join("editors/neovim/lsp/ghostbench.lua")).expect("it is there");
    let (_, list) = text.split_once("filetypes = {").expect("it has types");
    let (list, _) = list.split_once('}').expect("the list ends");
    let names = list.split(',').map(|name| name.trim().trim_matches('\'')).filter(|name| !name.is_empty());
    names.map(|name| if name == "cs" { "csharp" } else { name }.to_owned()).collect()
}

#[test]
fn template_for_jetbrains_has_all_languages() {
    let path = Path::new(ROOT).join("editors/jetbrains/template.json");
    let template: Value =
        serde_json::from_str(&fs::read_to_string(path).expect("it is there")).expect("it is JSON");
    assert_eq!(template["programArgs"]["default"], "ghostbench lsp --stdio");
    let mappings = template["fileTypeMappings"].as_array().expect("a list");
    let languages: BTreeSet<String> =
        mappings.iter().map(|mapping| mapping["languageId"].as_str().expect("a name").to_owned()).collect();
    assert_eq!(languages, neovim_languages());
    assert!(
        mappings
            .iter()
            .all(|mapping| !mapping["fileType"]["patterns"].as_array().expect("a list").is_empty())
    );
}
