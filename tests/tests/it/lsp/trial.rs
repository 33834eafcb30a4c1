//! A live trial: the store contains what the developer did.

use std::path::PathBuf;

use cases::{Exposure, Opportunity, OutcomeKind, TrialDefinition, TrialMode, Trigger, TruthStage};
use replay::DataFolder;
use serde_json::{Value, json};
use tests::lsp::Buffer;
use tests::{Project, wait_until};
use trial::StoreReader;
use trial::store::{STORE_FILE, StoreFilter};

use super::editor::{Editor, REQUEST_FAILED, find, setup};
use super::exposure::accept;

/// What the scripted engine suggests.
pub(super) const SUGGESTION: &str = "total = price * rate";
pub(super) const SHOP: &str = "def cost(price, rate):\n    \n\n\ndef other():\n    return 1\n";

/// Folder of the trials of a project's workspace.
pub(crate) fn folder(project: &Project) -> PathBuf {
    DataFolder::new(project.home().join(".local/share/ghostbench")).trial(&project.root())
}

/// A trial without arms.
pub(super) fn definition() -> TrialDefinition {
    TrialDefinition::new("first".to_owned(), TrialMode::Single, Vec::new(), "2026-01-01T00:00:00Z".to_owned())
}

pub(super) fn start_trial(project: &Project) {
    trial::definition::write_definition(&folder(project), &definition()).expect("the definition is written");
}

/// Starts an editor whose server records with short stages.
pub(super) fn recorded_editor(project: &Project) -> Editor {
    editor_at_level(project, "full")
}

/// As [`recorded_editor`], at a level of privacy.
pub(super) fn editor_at_level(project: &Project, level: &str) -> Editor {
    let rules = json!([{"path": "shop.py", "text": SUGGESTION}, {"path": "secret.py", "text": SUGGESTION}])
        .to_string();
    let options = json!({
        "completion": {"deadlineMs": 600_000},
        "trial": {"settledMs": 200},
        "record": {"privacy": level},
    });
    let editor = Editor::start(project, &["--scripted", &rules], setup(project).options(options));
    wait_until("the trial runs", || {
        editor.client.call("ghostbench/status", Value::Null)["trial"]["name"] == "first"
    });
    editor
}

/// Returns the stored rows, oldest first.
pub(crate) fn rows(project: &Project) -> Vec<Opportunity> {
    let read = StoreReader::open(&folder(project).join(STORE_FILE));
    // The server may be creating it.
    let read = read.and_then(|reader| reader.read_all(&StoreFilter::default()));
    let Ok(rows) = read else { return Vec::new() };
    rows.into_iter().map(|row| row.opportunity).collect()
}

/// Types before `needle`, key by key.
pub(super) fn type_before(editor: &Editor, buffer: &mut Buffer, needle: &str, text: &str) {
    for key in text.chars() {
        let at = find(buffer.text(), needle);
        editor.change(buffer.edit(at..at, &key.to_string()));
    }
}

pub(super) fn save(editor: &Editor, buffer: &Buffer) {
    editor.client.notify("textDocument/didSave", json!({"textDocument": {"uri": buffer.uri()}}));
}

#[test]
fn the_store_contains_what_the_developer_did() {
    let project = Project::new("");
    start_trial(&project);
    let editor = recorded_editor(&project);
    let mut buffer = editor.open("shop.py", SHOP);
    let cursor = find(SHOP, "    \n") + 4;
    let item = editor.item(&buffer, cursor);
    editor.client.notify("textDocument/didShowCompletion", json!({"item": item}));
    editor.change(buffer.edit(cursor..cursor, SUGGESTION));
    accept(&editor, &item);
    type_before(&editor, &mut buffer, "\n\n\ndef", " * 2");
    // Undo, redo, and a formatter before saving.
    let end = find(buffer.text(), "\n\n\ndef");
    editor.change(buffer.edit(end - 4..end, ""));
    editor.change(buffer.edit(end - 4..end - 4, " * 2"));
    let star = find(buffer.text(), "* rate");
    let changes = vec![buffer.change(star + 1..star + 1, " "), buffer.change(star..star, " ")];
    editor.change(buffer.did_change(changes));
    save(&editor, &buffer);
    wait_until("the text has settled", || {
        rows(&project).iter().any(|row| row.truths.iter().any(|truth| truth.stage == TruthStage::Settled))
    });
    editor.client.exit();
    let rows = rows(&project);
    let [row] = &rows[..] else { panic!("{rows:?}") };
    assert_eq!(
        (row.trial.as_deref(), row.trigger, &*row.cursor.path),
        (Some("first"), Trigger::Automatic, "shop.py")
    );
    assert_eq!((&*row.cursor.prefix, &*row.cursor.suffix), SHOP.split_at(cursor));
    assert_eq!((row.answers.len(), &*row.answers[0].arm, &*row.answers[0].text), (1, "scripted", SUGGESTION));
    let outcome = &row.outcome;
    assert_eq!(
        (outcome.kind, outcome.is_inferred, outcome.accepted_chars),
        (OutcomeKind::Accepted, false, 20)
    );
    assert_eq!(row.exposure, Exposure::Accepted);
    let truth = row.truth().expect("there is a truth");
    assert_eq!((truth.stage, &*truth.text), (TruthStage::Close, "total = price  *  rate * 2"));
    let spans: Vec<(&str, &str)> = truth
        .provenance
        .iter()
        .map(|span| (&truth.text[span.range.clone()], span.provenance.name()))
        .filter(|(text, _)| !text.trim().is_empty())
        .collect();
    assert_eq!(spans.last(), Some(&(" * 2", "undo")), "{spans:?}");
    assert!(spans[..spans.len() - 1].iter().all(|(_, provenance)| *provenance == "accepted"), "{spans:?}");
}

#[test]
fn places_can_be_marked_by_hand() {
    let project = Project::new("");
    let editor = Editor::new(&project);
    let mut buffer = editor.open("shop.py", SHOP);
    let mark = |editor: &Editor, buffer: &Buffer, command: &str, offset: usize| {
        let place = json!({"textDocument": {"uri": buffer.uri()}, "position": buffer.position(offset)});
        let request = json!({"command": command, "arguments": [place]});
        editor.client.request("workspace/executeCommand", request)
    };
    let refused = mark(&editor, &buffer, "ghostbench.shouldHaveSuggested", 0);
    let error = editor.client.wait(refused).expect_err("no trial runs");
    assert_eq!(error["code"], REQUEST_FAILED);
    start_trial(&project);
    wait_until("the trial runs", || {
        editor.client.call("ghostbench/status", Value::Null)["trial"]["name"] == "first"
    });
    let cursor = find(SHOP, "    \n") + 4;
    let marked = mark(&editor, &buffer, "ghostbench.shouldHaveSuggested", cursor);
    assert_eq!(editor.client.wait(marked), Ok(Value::Null));
    type_before(&editor, &mut buffer, "\n\n\ndef", "return price");
    let marked = mark(&editor, &buffer, "ghostbench.notWanted", find(buffer.text(), "return 1"));
    assert_eq!(editor.client.wait(marked), Ok(Value::Null));
    editor.client.exit();
    let rows = rows(&project);
    let found: Vec<_> = rows.iter().map(|row| (row.trigger, row.truth().map(|truth| &*truth.text))).collect();
    assert_eq!(found, [(Trigger::ShouldHaveSuggested, Some("return price")), (Trigger::NotWanted, Some(""))]);
}

#[test]
fn only_admitted_documents_of_the_folder_are_recorded() {
    let project = Project::new("//- /.gitignore\nsecret.py\n");
    start_trial(&project);
    let editor = recorded_editor(&project);
    let ignored = editor.open("secret.py", SHOP);
    let outside = editor.open_uri("untitled:Untitled-1", SHOP);
    let recorded = editor.open("shop.py", SHOP);
    for buffer in [&ignored, &outside, &recorded] {
        let asked = editor.ask(buffer, find(SHOP, "    \n") + 4);
        editor.client.wait(asked).expect("it is answered");
    }
    wait_until("a row is stored", || !rows(&project).is_empty());
    editor.client.exit();
    let paths: Vec<String> = rows(&project).into_iter().map(|row| row.cursor.path).collect();
    assert_eq!(paths, ["shop.py"]);
}

#[test]
fn nothing_is_recorded_without_a_trial() {
    let project = Project::new("");
    let editor = Editor::new(&project);
    let buffer = editor.open("shop.py", SHOP);
    editor.client.wait(editor.ask_at_end(&buffer)).expect("it is answered");
    editor.client.exit();
    assert!(!folder(&project).exists());
}
