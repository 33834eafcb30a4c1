//! Default locations of stored files.

use std::fs;

use replay::{DataFolder, ReplayError};

#[test]
fn runs_of_one_name_are_numbered() {
    let folder = tempfile::tempdir().unwrap();
    let data = DataFolder::new(folder.path().to_owned());
    let runs = ["app", "app", "other"].map(|name| data.new_run(name).unwrap());
    let expected = ["app/1", "app/2", "other/1"].map(|run| folder.path().join("runs").join(run));
    assert_eq!(runs, expected);
    assert!(runs.iter().all(|run| run.is_dir()));
}

#[test]
fn new_run_gets_the_highest_number_after_a_deletion() {
    let folder = tempfile::tempdir().unwrap();
    let data = DataFolder::new(folder.path().to_owned());
    let runs = [(); 3].map(|()| data.new_run("app").unwrap());
    fs::remove_dir(&runs[0]).unwrap();
    assert_eq!(data.new_run("app").unwrap(), folder.path().join("runs/app/4"));
}

#[test]
fn suite_names_are_sanitized_in_file_names() {
    let folder = tempfile::tempdir().unwrap();
    let data = DataFolder::new(folder.path().to_owned());
    for (name, file) in [("../../x", "x-1.jsonl"), ("a/b c", "a-b-c-1.jsonl"), ("..", "workspace-1.jsonl")] {
        assert_eq!(data.suite(name, 1).unwrap(), folder.path().join("suites").join(file));
    }
}

#[test]
fn error_names_the_folder_that_cannot_be_created() {
    let folder = tempfile::tempdir().unwrap();
    let root = folder.path().join("data");
    fs::write(&root, "no folder").unwrap();
    let error = DataFolder::new(root.clone()).new_run("app").unwrap_err();
    assert!(matches!(error, ReplayError::Folder { .. }));
    let expected = format!("cannot make a folder in {}: ", root.join("runs").join("app").display());
    assert!(error.to_string().starts_with(&expected), "{error}");
}
