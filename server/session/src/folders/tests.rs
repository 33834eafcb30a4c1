//! Tests of a session's folders, without any editor: they wait for events, never for a time.

use std::fs;

use futures_util::FutureExt;
use tempfile::TempDir;
use tokio::sync::mpsc::UnboundedReceiver;

use super::*;
use crate::IndexingState;
use crate::events::{IndexingOutcome, IndexingReport};

/// A session with a user's settings, and its events.
fn session(home: &TempDir, settings: &str) -> (Folders, UnboundedReceiver<SessionEvent>) {
    let user = home.path().join("settings.toml");
    fs::write(&user, settings).unwrap();
    let setup = SessionSetup {
        files: SettingsFiles { user: Some(user), ..SettingsFiles::default() },
        variables: Environment::default(),
        engines: EngineSource::default(),
        data: DataFolder::new(home.path().join("data")),
        cache: None,
    };
    let (events, received) = mpsc::unbounded_channel();
    let folders = Folders::new(setup, BackgroundPool::start().unwrap(), events, CancellationToken::new());
    folders.start(Value::Null);
    (folders, received)
}

fn add(folders: &Folders, root: &Path) {
    let name = root.file_name().unwrap().to_string_lossy().into_owned();
    folders.add(NewFolder { uri: format!("file://{}", root.display()), name, root: root.to_owned() });
}

async fn indexing(events: &mut UnboundedReceiver<SessionEvent>) -> IndexingReport {
    match events.recv().await {
        Some(SessionEvent::IndexingStarted(report)) => report,
        other => panic!("{other:?}"),
    }
}

#[tokio::test]
async fn a_folder_is_indexed_and_follows_its_files() {
    let (home, project) = (tempfile::tempdir().unwrap(), tempfile::tempdir().unwrap());
    fs::write(project.path().join("main.py"), "size = 1\n").unwrap();
    let (folders, mut events) = session(&home, "");
    add(&folders, project.path());
    let report = indexing(&mut events).await;
    let outcome = report.outcome.await;
    assert!(matches!(outcome, Ok(IndexingOutcome::Ready { tokens }) if tokens.excluded_files == 0));
    let folder = folders.first().unwrap();
    let before = folder.state();
    assert_eq!((before.state, before.index.files().len()), (IndexingState::Ready, 1));
    fs::write(project.path().join("other.py"), "width = 2\n").unwrap();
    folders.note_changed(&project.path().join("other.py"));
    let after = folder.wait_for(|state| state.index.file("other.py").is_some()).await.unwrap();
    assert!(after.version > before.version);
    assert!(before.index.file("other.py").is_none(), "an index does not change");
}

#[tokio::test]
async fn whoever_waits_for_a_folder_learns_that_it_is_removed() {
    let (home, project) = (tempfile::tempdir().unwrap(), tempfile::tempdir().unwrap());
    let (folders, _events) = session(&home, "");
    add(&folders, project.path());
    let folder = folders.first().unwrap();
    // Nothing runs until this test waits, so the folder is not read yet.
    let waiting = folder.wait_until_indexed();
    folders.remove(project.path());
    assert!(waiting.now_or_never().expect("it is answered").is_none());
}

#[tokio::test]
async fn a_folder_that_was_read_keeps_its_state_when_it_is_removed() {
    let (home, project) = (tempfile::tempdir().unwrap(), tempfile::tempdir().unwrap());
    fs::write(project.path().join("main.py"), "size = 1\n").unwrap();
    let (folders, mut events) = session(&home, "");
    add(&folders, project.path());
    let folder = folders.first().unwrap();
    indexing(&mut events).await.outcome.await.unwrap();
    folders.remove(project.path());
    let state = folder.wait_until_indexed().await.expect("it was read");
    assert_eq!(state.index.files().len(), 1);
}

#[tokio::test]
async fn directories_of_opened_documents_are_kept_latest_first() {
    let (home, project) = (tempfile::tempdir().unwrap(), tempfile::tempdir().unwrap());
    let (folders, _events) = session(&home, "");
    add(&folders, project.path());
    let folder = folders.first().unwrap();
    for path in ["main.py", "net/a.py", "net/b.py", "fs/ext4/c.py", "net/d.py"] {
        folders.note_opened(&project.path().join(path));
    }
    folders.note_opened(&home.path().join("outside.py"));
    assert_eq!(folder.recent_directories().join(" "), "net fs/ext4 ");
    (0..100).for_each(|number| folders.note_opened(&project.path().join(format!("{number}/a.py"))));
    let recent = folder.recent_directories();
    assert!(recent.len() < 20 && *recent[0] == *"99", "{recent:?}");
}

#[tokio::test]
async fn a_folder_that_cannot_be_read_fails_until_it_can() {
    let (home, parent) = (tempfile::tempdir().unwrap(), tempfile::tempdir().unwrap());
    let root = parent.path().join("shop");
    let (folders, mut events) = session(&home, "");
    add(&folders, &root);
    let outcome = indexing(&mut events).await.outcome.await.unwrap();
    let state = folders.first().unwrap().state().state;
    assert!(
        matches!((&outcome, &state),
        (IndexingOutcome::Failed(reported), IndexingState::Failed(kept)) if reported == kept),
        "{outcome:?} {state:?}"
    );
    fs::create_dir(&root).unwrap();
    fs::write(root.join("main.py"), "size = 1\n").unwrap();
    folders.note_changed(&root.join("main.py"));
    assert!(matches!(indexing(&mut events).await.outcome.await, Ok(IndexingOutcome::Ready { .. })));
}

#[tokio::test]
async fn folders_are_listed_in_the_order_in_which_they_were_added() {
    let (home, parent) = (tempfile::tempdir().unwrap(), tempfile::tempdir().unwrap());
    let (folders, _events) = session(&home, "");
    let roots = ["c", "a", "b"].map(|name| parent.path().join(name));
    roots.iter().for_each(|root| add(&folders, root));
    let names = || folders.all().iter().map(|folder| folder.name.clone()).collect::<Vec<_>>();
    assert_eq!(names(), ["c", "a", "b"]);
    let replaced = folders.first().unwrap();
    add(&folders, &roots[0]);
    assert_eq!(names(), ["a", "b", "c"]);
    assert!(replaced.removed.is_cancelled());
    folders.remove(&roots[1]);
    assert_eq!(names(), ["b", "c"]);
}

#[tokio::test]
async fn settings_apply_in_order_and_their_problems_are_events() {
    let home = tempfile::tempdir().unwrap();
    let (folders, mut events) = session(&home, "[context]\ncolour = 1\n");
    let settings = folders.settings_in(None).await.unwrap();
    assert!(settings.config.completion.is_enabled);
    let Some(SessionEvent::SettingsProblems(problems)) = events.recv().await else {
        panic!("an unknown key is a problem");
    };
    assert!(problems[0].to_string().contains("colour"), "{}", problems[0]);
    // Settings sent before a request are in effect for it.
    folders.set_editor_settings(serde_json::json!({ "completion": { "enabled": false } }));
    assert!(!folders.settings_in(None).await.unwrap().config.completion.is_enabled);
}
