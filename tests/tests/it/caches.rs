//! `ghostbench index`: caches kept, listed and removed.

use std::fs;
use std::path::PathBuf;

use serde_json::Value;
use tests::Project;

#[track_caller]
fn index(project: &Project) -> Value {
    let json = project.run("index . --json").expect_code(0).stdout;
    serde_json::from_str(&json).expect("standard output is JSON alone")
}

#[test]
fn small_changes_are_cached() {
    let project = Project::generated(40);
    assert_eq!((&index(&project)["reused"], &index(&project)["reused"]), (&0.into(), &40.into()));
    project.write("shop/small.py", "x = 1\n");
    let changed = index(&project);
    assert_eq!((&changed["reused"], &changed["derived"]), (&40.into(), &1.into()));
    assert!(changed["cached_bytes"].is_u64(), "{changed}");
    let again = index(&project);
    assert_eq!((&again["reused"], &again["derived"]), (&41.into(), &0.into()));
    assert!(again["cached_bytes"].is_null(), "nothing is left to be kept: {again}");
}

/// Returns a cache file of a project: its `cache`, or its `image`, which contains its tokens.
fn cached_file(project: &Project, ending: &str) -> PathBuf {
    let caches = fs::read_dir(project.home().join(".cache/ghostbench")).expect("something was kept");
    let mut paths = caches.map(|entry| entry.expect("it is ours").path());
    paths.find(|path| path.extension().is_some_and(|found| found == ending)).expect("it was kept")
}

#[test]
fn damaged_token_cache_is_rebuilt_with_the_same_answers() {
    let project = Project::generated(10);
    project.write("shop/new.py", "def total(prices):\n    return \n");
    // Without its times.
    let complete = || {
        let shown = project.run("engines complete shop/new.py:2:12").expect_code(0);
        let marked = shown.stdout.lines().find(|line| line.contains("{+")).map(str::to_owned);
        (marked, shown.stderr)
    };
    let (proposed, _) = complete();
    assert!(proposed.is_some(), "something is proposed");
    let image = cached_file(&project, "image");
    let bytes = fs::read(&image).expect("it is there");
    assert_eq!(complete().0, proposed);
    fs::write(&image, [&bytes[..bytes.len() - 1], b"x"].concat()).expect("it is ours");
    let (again, reported) = complete();
    assert_eq!(again, proposed);
    assert!(reported.contains("rebuilding the tokens: it is damaged"), "{reported}");
    assert_eq!(fs::read(&image).expect("it is there"), bytes, "a good one took its place");
}

#[test]
fn tokens_of_changed_files_are_counted() {
    let project = Project::generated(2);
    let before = index(&project)["tokens"].as_u64().expect("a number");
    project.write("shop/small.py", "x = 1\n");
    // And a newline, and an end.
    assert_eq!(index(&project)["tokens"], before + 5);
}

#[test]
fn caches_are_listed_and_cleared() {
    let project = Project::generated(1);
    index(&project);
    let listed = project.run("index --list").expect_code(0).stdout;
    for shown in [" 1 file ", "used today", "of 1 workspace\n"] {
        assert!(listed.contains(shown), "{shown}: {listed}");
    }
    for arguments in ["index . --list", "index . --clear"] {
        project.run(arguments).expect_code(2).expect_message(&["PATH"]);
    }
    assert_eq!(project.run("index --list").expect_code(0).stdout, listed, "nothing was removed");
    project.run("index --clear").expect_code(0);
    assert_eq!(project.run("index --list").expect_code(0).stdout, "nothing is cached\n");
}

#[test]
fn folder_at_a_cache_path_is_reported_with_a_remedy() {
    let project = Project::generated(2);
    index(&project);
    let cache = cached_file(&project, "cache");
    fs::remove_file(&cache).expect("the file is ours");
    fs::create_dir(&cache).expect("the folder is ours");
    let outcome = project.run("index .").expect_code(3);
    let name = cache.file_name().expect("a name").to_string_lossy().into_owned();
    outcome.expect_message(&[&name, "is a folder where the cache belongs; remove it"]);
}

#[test]
fn folder_without_source_files_is_an_error() {
    Project::new("").run("index .").expect_code(2).expect_message(&["no source files"]);
}
