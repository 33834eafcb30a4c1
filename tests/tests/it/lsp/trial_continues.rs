//! Live trials across commits, restarts and kills: what was recorded goes on, or is lost with a reason.

use std::process::Command;

use cases::{LossReason, Opportunity, TrialMode, TruthStage};
use serde_json::json;
use tests::lsp::Buffer;
use tests::{Project, wait_until};

use super::editor::{Editor, find, setup};
use super::trial::{SHOP, SUGGESTION, definition, folder, rows};

fn start(project: &Project) {
    let definition = definition();
    assert_eq!(definition.mode, TrialMode::Single);
    trial::definition::write_definition(&folder(project), &definition).expect("the definition is written");
}

fn editor(project: &Project) -> Editor {
    let rules = json!([{"path": "shop.py", "text": SUGGESTION}]).to_string();
    let options = json!({"completion": {"deadlineMs": 600_000}, "trial": {"settledMs": 100}});
    let editor = Editor::start(project, &["--scripted", &rules], setup(project).options(options));
    wait_until("the trial runs", || editor.status()["trial"]["name"] == "first");
    editor
}

fn kill(editor: Editor) {
    let server = editor.client.process_id().to_string();
    let killed = Command::new("kill").args(["-KILL", &server]).status();
    assert!(killed.is_ok_and(|status| status.success()));
    editor.client.abandon();
}

fn git(project: &Project, args: &[&str]) {
    let author = ["-c", "user.name=a", "-c", "user.email=a@example.org", "-c", "commit.gpgsign=false"];
    let done = Command::new("git").arg("-C").arg(project.root()).args(author).args(args).status();
    assert!(done.is_ok_and(|status| status.success()), "git {args:?}");
}

/// Asks at a place, and types a text there key by key.
fn write(editor: &Editor, buffer: &mut Buffer, at: usize, text: &str) {
    editor.client.wait(editor.ask(buffer, at)).expect("it is answered");
    for (index, key) in text.char_indices() {
        editor.change(buffer.edit(at + index..at + index, &key.to_string()));
    }
}

fn save(project: &Project, editor: &Editor, buffer: &Buffer) {
    project.write("shop.py", buffer.text());
    editor.client.notify("textDocument/didSave", json!({"textDocument": {"uri": buffer.uri()}}));
}

fn truth(row: &Opportunity, stage: TruthStage) -> Option<&str> {
    row.truths.iter().find(|truth| truth.stage == stage).map(|truth| &*truth.text)
}

fn wait_for(project: &Project, stage: TruthStage, text: &str) {
    wait_until("the truth is taken", || rows(project).iter().any(|row| truth(row, stage) == Some(text)));
}

#[test]
fn a_commit_takes_the_truths_that_are_in_it() {
    let project = Project::new("");
    project.write("shop.py", SHOP);
    git(&project, &["init", "--quiet"]);
    git(&project, &["add", "."]);
    git(&project, &["commit", "--quiet", "--message=start"]);
    start(&project);
    let editor = editor(&project);
    let mut buffer = editor.open("shop.py", SHOP);
    write(&editor, &mut buffer, find(SHOP, "    \n") + 4, "return rate");
    save(&project, &editor, &buffer);
    git(&project, &["add", "."]);
    let unstaged = find(buffer.text(), "return 1") + 8;
    write(&editor, &mut buffer, unstaged, " + 2");
    save(&project, &editor, &buffer);
    wait_for(&project, TruthStage::Settled, " + 2");
    git(&project, &["commit", "--quiet", "--message=half"]);
    wait_for(&project, TruthStage::Commit, "return rate");
    assert!(rows(&project).iter().all(|row| truth(row, TruthStage::Commit) != Some(" + 2")));
    git(&project, &["add", "."]);
    git(&project, &["commit", "--quiet", "--amend", "--no-edit"]);
    wait_for(&project, TruthStage::Commit, " + 2");
    editor.client.exit();
}

#[test]
fn a_killed_server_continues_where_the_text_is_the_same() {
    let project = Project::new("");
    project.write("shop.py", SHOP);
    git(&project, &["init", "--quiet"]);
    start(&project);
    let first = editor(&project);
    let mut buffer = first.open("shop.py", SHOP);
    write(&first, &mut buffer, find(SHOP, "    \n") + 4, "return rate");
    wait_for(&project, TruthStage::Settled, "return rate");
    let later = find(buffer.text(), "return 1") + 8;
    write(&first, &mut buffer, later, " * 3");
    wait_for(&project, TruthStage::Settled, " * 3");
    save(&project, &first, &buffer);
    wait_for(&project, TruthStage::Save, " * 3");
    kill(first);
    // A program changes one of the places while no server runs.
    let text = buffer.text().replace(" * 3", " * 4");
    project.write("shop.py", &text);
    let second = editor(&project);
    let _buffer = second.open("shop.py", &text);
    wait_until("the place that has changed is lost", || {
        rows(&project).iter().any(|row| row.lost == Some(LossReason::Interrupted))
    });
    git(&project, &["add", "."]);
    git(&project, &["commit", "--quiet", "--message=all"]);
    wait_for(&project, TruthStage::Commit, "return rate");
    second.client.exit();
    let rows = rows(&project);
    assert_eq!(rows.len(), 2);
    let [kept, lost] = &rows[..] else { panic!("{rows:?}") };
    assert_eq!((kept.lost, truth(kept, TruthStage::Commit)), (None, Some("return rate")));
    assert_eq!(
        (lost.lost, lost.truth().map(|truth| &*truth.text)),
        (Some(LossReason::Interrupted), Some(" * 3"))
    );
    let locks = std::fs::read_dir(folder(&project)).expect("it is a folder").flatten();
    let locks = locks.filter(|entry| entry.file_name().to_string_lossy().starts_with("session-"));
    assert_eq!(locks.count(), 0, "no session runs");
}

/// Checks out a branch, after which the editor reloads the file.
fn check_out(project: &Project, editor: &Editor, buffer: &mut Buffer, branch: &str, text: &str) {
    git(project, &["checkout", "--quiet", branch]);
    let change = json!({"uri": buffer.uri(), "type": 2});
    editor.client.notify("workspace/didChangeWatchedFiles", json!({"changes": [change]}));
    let length = buffer.text().len();
    editor.change(buffer.edit(0..length, text));
}

#[test]
fn another_branch_takes_no_truths_and_loses_what_it_replaces() {
    let project = Project::new("");
    project.write("shop.py", SHOP);
    git(&project, &["init", "--quiet", "--initial-branch=main"]);
    git(&project, &["add", "."]);
    git(&project, &["commit", "--quiet", "--message=start"]);
    git(&project, &["branch", "other"]);
    start(&project);
    let editor = editor(&project);
    let mut buffer = editor.open("shop.py", SHOP);
    write(&editor, &mut buffer, find(SHOP, "    \n") + 4, "return rate");
    wait_for(&project, TruthStage::Settled, "return rate");
    save(&project, &editor, &buffer);
    git(&project, &["commit", "--quiet", "--all", "--message=work"]);
    wait_for(&project, TruthStage::Commit, "return rate");
    let later = find(buffer.text(), "return 1") + 8;
    write(&editor, &mut buffer, later, " + 2");
    wait_for(&project, TruthStage::Settled, " + 2");
    save(&project, &editor, &buffer);
    git(&project, &["stash", "--quiet"]);
    check_out(&project, &editor, &mut buffer, "other", SHOP);
    wait_until("the replaced place is lost", || {
        rows(&project).iter().any(|row| row.lost == Some(LossReason::External))
    });
    git(&project, &["commit", "--quiet", "--allow-empty", "--message=upstream"]);
    let text = SHOP.replace("    \n", "    return rate\n");
    check_out(&project, &editor, &mut buffer, "main", &text);
    git(&project, &["rebase", "--quiet", "other"]);
    editor.client.exit();
    let rows = rows(&project);
    let [committed, lost] = &rows[..] else { panic!("{rows:?}") };
    assert_eq!((committed.lost, truth(committed, TruthStage::Commit)), (None, Some("return rate")));
    assert_eq!((lost.lost, truth(lost, TruthStage::Commit)), (Some(LossReason::External), None));
    assert_eq!(lost.truth().map(|truth| &*truth.text), Some(" + 2"));
}

#[test]
fn a_rebase_takes_the_truths_that_it_rewrites() {
    let project = Project::new("");
    project.write("shop.py", SHOP);
    git(&project, &["init", "--quiet", "--initial-branch=main"]);
    git(&project, &["add", "."]);
    git(&project, &["commit", "--quiet", "--message=start"]);
    git(&project, &["checkout", "--quiet", "-b", "upstream"]);
    git(&project, &["commit", "--quiet", "--allow-empty", "--message=upstream"]);
    git(&project, &["checkout", "--quiet", "main"]);
    project.write("other.txt", "work\n");
    git(&project, &["add", "."]);
    git(&project, &["commit", "--quiet", "--message=work"]);
    start(&project);
    let editor = editor(&project);
    let mut buffer = editor.open("shop.py", SHOP);
    write(&editor, &mut buffer, find(SHOP, "    \n") + 4, "return rate");
    wait_for(&project, TruthStage::Settled, "return rate");
    save(&project, &editor, &buffer);
    git(&project, &["add", "."]);
    git(&project, &["commit", "--quiet", "--message=fixup! work"]);
    git(&project, &["rebase", "--quiet", "upstream"]);
    wait_for(&project, TruthStage::Commit, "return rate");
    editor.client.exit();
    let rows = rows(&project);
    assert_eq!((rows.len(), rows[0].lost), (1, None), "{rows:?}");
}

#[test]
fn a_session_that_runs_keeps_its_opportunities() {
    let project = Project::new("");
    project.write("shop.py", SHOP);
    start(&project);
    let first = editor(&project);
    let mut buffer = first.open("shop.py", SHOP);
    write(&first, &mut buffer, find(SHOP, "    \n") + 4, "return rate");
    wait_for(&project, TruthStage::Settled, "return rate");
    // Another editor has the same file open, with an older text.
    let second = editor(&project);
    let mut other = second.open("shop.py", SHOP);
    write(&second, &mut other, find(SHOP, "return 1") + 8, " - 1");
    wait_for(&project, TruthStage::Settled, " - 1");
    assert!(rows(&project).iter().all(|row| row.lost.is_none()));
    first.client.exit();
    second.client.exit();
}
