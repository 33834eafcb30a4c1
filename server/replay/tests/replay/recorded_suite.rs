//! Recorded suites: nothing in them is lost, with any writers and any content.

use std::fs::{self, File};
use std::path::Path;
use std::thread;

use cases::{Case, SchemaVersion, to_line};
use replay::{DataFolder, RecordedSuite, ReplayError};
use tempfile::TempDir;

use crate::fixture::case;

/// Returns a data folder, and the suite of a workspace `app` in it.
fn suite() -> (TempDir, RecordedSuite) {
    let folder = tempfile::tempdir().expect("the temporary folder is ours");
    let suite = suite_of(folder.path(), "app");
    (folder, suite)
}

fn suite_of(folder: &Path, workspace: &str) -> RecordedSuite {
    let workspace = folder.join(workspace);
    fs::create_dir_all(&workspace).expect("the temporary folder is ours");
    DataFolder::new(folder.join("data")).recorded_suite(&workspace)
}

fn cases_in(suite: &RecordedSuite) -> Vec<Case> {
    assert_eq!(problems_in(suite), [""; 0]);
    loaded(suite)
}

fn loaded(suite: &RecordedSuite) -> Vec<Case> {
    let cases = suite.cases().expect("the suite is readable");
    cases.iter().map(|case| suite.load(case).expect("the case is there")).collect()
}

fn problems_in(suite: &RecordedSuite) -> Vec<String> {
    suite.problems().expect("the suite is readable")
}

fn text(suite: &RecordedSuite) -> String {
    fs::read_to_string(suite.path()).expect("the temporary folder is ours")
}

#[test]
fn suite_without_cases_is_empty_and_creates_no_folder() {
    let (folder, suite) = suite();
    assert!(cases_in(&suite).is_empty());
    assert!(!folder.path().join("data").exists());
}

#[test]
fn cases_are_recorded_in_order_without_duplicates() {
    let (_folder, suite) = suite();
    let is_new = [1, 2, 1].map(|number| suite.add(case(number)).unwrap().is_new);
    assert_eq!(is_new, [true, true, false]);
    assert_eq!(cases_in(&suite), [case(1), case(2)]);
    assert_eq!(
        replay::read_suite(&suite.path()).unwrap(),
        [case(1), case(2)],
        "it is a suite like any other"
    );
}

#[test]
fn secrets_are_removed_before_the_case_id_is_computed() {
    let (_folder, suite) = suite();
    let secret = "ghp_0123456789abcdefghijABCDEFGHIJ456789";
    let secretive = Case { prefix: format!("token = \"{secret}\"\nx = "), ..case(1) };
    let added = suite.add(secretive.clone()).unwrap();
    assert_eq!(added.case.id, added.case.compute_id());
    assert!(!text(&suite).contains(secret));
    assert_eq!(cases_in(&suite), [added.case]);
    assert!(!suite.add(secretive).unwrap().is_new);
}

#[test]
fn workspaces_with_the_same_name_have_separate_suites() {
    let folder = tempfile::tempdir().unwrap();
    let [one, other, again] =
        ["one/app.py", "other/app.py", "other/../one/app.py"].map(|path| suite_of(folder.path(), path));
    assert_ne!(one.path(), other.path());
    assert_eq!(one.path(), again.path());
    assert!(one.name().starts_with("app-py-"), "{}", one.name());
    let long = suite_of(folder.path(), &"größe".repeat(30));
    assert!(long.add(case(1)).unwrap().is_new, "the name of {} fits into a file system", long.name());
}

#[test]
fn torn_last_line_is_terminated_and_reported() {
    let (_folder, suite) = suite();
    suite.add(case(1)).unwrap();
    let line = to_line(&Case { truth: "größe".to_owned(), ..case(2) });
    // The file ends inside a character of two bytes.
    let cut = line.find('ö').expect("the truth has an umlaut") + 1;
    let torn = [text(&suite).as_bytes(), &line.as_bytes()[..cut]].concat();
    fs::write(suite.path(), &torn).unwrap();
    assert_eq!(cases_in(&suite), [case(1)], "another process may be writing the rest");
    assert!(suite.add(case(3)).unwrap().is_new);
    assert_eq!(loaded(&suite), [case(1), case(3)]);
    let problems = problems_in(&suite);
    let [problem] = problems.as_slice() else { panic!("one line is torn: {problems:?}") };
    let expected = format!("{}, line 2, column {}: not valid UTF-8", suite.path().display(), cut);
    assert!(problem.starts_with(&expected), "{problem}");
    assert!(fs::read(suite.path()).unwrap().starts_with(&torn), "nothing was cut off");
}

#[test]
fn last_line_without_newline_is_a_case() {
    let (_folder, suite) = suite();
    suite.add(case(1)).unwrap();
    fs::write(suite.path(), text(&suite).trim_end()).unwrap();
    assert!(!suite.add(case(1)).unwrap().is_new);
    suite.add(case(2)).unwrap();
    assert_eq!(cases_in(&suite), [case(1), case(2)]);
}

#[test]
fn invalid_lines_are_reported_and_kept_unchanged() {
    let (_folder, suite) = suite();
    suite.add(case(1)).unwrap();
    let strange = Case { language: "cobol".to_owned(), id: "strange".to_owned(), ..case(2) };
    let newer = to_line(&case(3)).replacen(&format!("\"{}\"", SchemaVersion::CURRENT), "\"2.0\"", 1);
    let lines = ["half a row\n", "\n", &to_line(&strange), &to_line(&case(1)), &newer].concat();
    let before = text(&suite) + &lines;
    fs::write(suite.path(), &before).unwrap();
    suite.add(case(4)).unwrap();
    assert_eq!(loaded(&suite), [case(1), case(4)]);
    let path = format!("{}, ", suite.path().display());
    let problems = problems_in(&suite);
    let problems: Vec<&str> =
        problems.iter().map(|problem| problem.strip_prefix(&path).expect("it names the file")).collect();
    let starts =
        ["line 2, column 1: ", "case strange: unknown language `cobol`", "case ", "line 6, column 15: "];
    for (problem, start) in problems.iter().zip(starts) {
        assert!(problem.starts_with(start), "{problem}");
    }
    assert!(problems[0].ends_with("; the other cases are used: correct that line, or delete it"));
    assert!(problems[2].ends_with("the case occurs twice; delete one of the two lines"));
    assert_eq!(problems.len(), starts.len());
    assert!(text(&suite).starts_with(&before), "invalid lines are unchanged");
}

#[test]
fn concurrently_recorded_cases_are_all_kept() {
    let (_folder, suite) = suite();
    thread::scope(|scope| {
        for first in 0..4 {
            let suite = suite.clone();
            scope.spawn(move || {
                // Adjacent threads record the same cases.
                for number in first * 10..first * 10 + 20 {
                    suite.add(case(number)).unwrap();
                }
            });
        }
    });
    let mut paths: Vec<String> = cases_in(&suite).into_iter().map(|case| case.path).collect();
    paths.sort();
    let mut expected: Vec<String> = (0..50).map(|number| case(number).path).collect();
    expected.sort();
    assert_eq!(paths, expected);
}

#[test]
fn recording_reports_an_unusable_folder_and_a_lock() {
    let (folder, suite) = suite();
    fs::write(folder.path().join("data"), "no folder").unwrap();
    let message = suite.add(case(1)).unwrap_err().to_string();
    assert!(message.starts_with("cannot add to ") && message.ends_with("then record again"), "{message}");
    fs::remove_file(folder.path().join("data")).unwrap();
    suite.add(case(1)).unwrap();
    let lock = File::open(suite.path().with_file_name("lock")).unwrap();
    lock.lock().unwrap();
    assert!(matches!(suite.add(case(2)), Err(ReplayError::Locked { .. })));
    assert_eq!(cases_in(&suite), [case(1)], "reading does not need to be alone");
}

/// Returns the number of bytes that this process has read, as counted by the system.
#[cfg(target_os = "linux")]
fn bytes_read() -> u64 {
    let counts =
        fs::read_to_string("/proc/thread-self/io").expect("Linux counts the bytes that a thread reads");
    let line = counts.lines().find_map(|line| line.strip_prefix("rchar: "));
    line.expect("bytes read are counted").parse().expect("it is a number")
}

#[test]
#[cfg(target_os = "linux")]
fn adding_a_case_reads_no_more_in_a_long_suite() {
    let (_folder, suite) = suite();
    let add = |number| {
        let before = bytes_read();
        assert!(suite.add(case(number)).unwrap().is_new);
        bytes_read() - before
    };
    let first = (0..10).map(add).max().expect("cases were added");
    let lines: String = (1_000..2_500).map(|number| to_line(&case(number))).collect();
    fs::write(suite.path(), text(&suite) + &lines).unwrap();
    assert_eq!(suite.count().unwrap(), 1_510, "lines appended by another process are read once");
    let last = (10..20).map(add).max().expect("cases were added");
    assert!(last <= first + (8 << 10), "{first} bytes are read at the start, {last} after 1,510 cases");
}

#[test]
fn changed_suite_file_is_read_again() {
    let (_folder, suite) = suite();
    for number in 0..4 {
        suite.add(case(number)).unwrap();
    }
    let lines: Vec<String> = text(&suite).split_inclusive('\n').map(str::to_owned).collect();
    let put = |lines: &[String]| fs::write(suite.path(), lines.concat()).unwrap();
    let numbers = || loaded(&suite).iter().map(|case| case.id.clone()).collect::<Vec<_>>();
    let ids = |wanted: &[usize]| wanted.iter().map(|&number| case(number).id).collect::<Vec<_>>();
    put(&lines[..2]);
    assert_eq!(numbers(), ids(&[0, 1]), "cut off");
    put(&[&lines[2..], &lines[..1]].concat());
    assert_eq!(numbers(), ids(&[2, 3, 0]), "replaced by a longer one");
    put(&[lines[3].clone(), lines[2].clone(), lines[0].clone(), to_line(&case(5))]);
    assert_eq!(numbers(), ids(&[3, 2, 0, 5]), "replaced, and longer than before");
    fs::remove_file(suite.path()).unwrap();
    assert_eq!(numbers(), ids(&[]), "deleted");
    assert!(suite.add(case(1)).unwrap().is_new);
    assert_eq!(numbers(), ids(&[1]));
}

#[test]
fn edit_with_unchanged_mtime_is_detected_when_adding() {
    let (_folder, suite) = suite();
    suite.add(case(1)).unwrap();
    suite.add(case(2)).unwrap();
    let before = text(&suite);
    let time = fs::metadata(suite.path()).unwrap().modified().unwrap();
    let edited = before.replacen(&case(1).id, &"0".repeat(case(1).id.len()), 1);
    fs::write(suite.path(), &edited).unwrap();
    File::options().write(true).open(suite.path()).unwrap().set_modified(time).unwrap();
    assert!(suite.add(case(1)).unwrap().is_new, "nothing that is recorded is lost");
    assert!(!suite.add(case(2)).unwrap().is_new);
    assert!(text(&suite).starts_with(&edited));
}

#[test]
fn alternating_writers_see_each_others_cases() {
    let (folder, one) = suite();
    let other = suite_of(folder.path(), "app");
    for number in 0..20 {
        let (adding, looking) = if number % 2 == 0 { (&one, &other) } else { (&other, &one) };
        assert!(adding.add(case(number)).unwrap().is_new);
        assert!(!looking.add(case(number)).unwrap().is_new);
        assert_eq!(looking.count().unwrap(), number + 1);
        assert_eq!(looking.of_file(&case(number).path).unwrap().len(), 1);
    }
}
