//! Invalid input, and valid input that looks invalid: a clear message and the right exit code, never a panic.

use std::fs;
use std::time::Duration;

use cases::SchemaVersion;
use tests::{Project, RunningProcess};

use crate::run_rows;

const USAGE: i32 = 2;
const OUTSIDE_WORLD: i32 = 3;

const GOOD: &str = "//- /good.py
import math


def area(radius):
    if radius < 0:
        raise ValueError(radius)
    total = math.pi * radius
    for step in range(3):
        total += step
        print(total)
    return total


def volume(radius):
    if radius < 0:
        raise ValueError(radius)
    total = math.pi * radius * radius
    for step in range(3):
        total += step
        print(total)
    return total
";

#[test]
fn missing_path_is_a_usage_error() {
    let project = Project::new(GOOD);
    for command in ["try nowhere", "mine nowhere"] {
        project.run(command).expect_code(USAGE).expect_message(&["nowhere"]);
    }
    project.run("replay nowhere.jsonl").expect_code(USAGE).expect_message(&["nowhere.jsonl"]);
    project.run("report nowhere").expect_code(USAGE).expect_message(&["nowhere"]);
}

#[test]
fn file_instead_of_a_folder_is_a_usage_error() {
    let project = Project::new(GOOD);
    for command in ["try good.py", "mine good.py", "report good.py"] {
        project.run(command).expect_code(USAGE).expect_message(&["good.py"]);
    }
}

#[test]
fn folder_instead_of_a_file_is_a_usage_error() {
    let project = Project::new(GOOD);
    project.run("replay .").expect_code(USAGE).expect_message(&["."]);
}

#[test]
fn workspace_without_usable_code_is_a_usage_error() {
    let empty = Project::new("");
    empty.run("try .").expect_code(USAGE).expect_message(&["no source files"]);
    let prose = Project::new("//- /README.md\n# Read me\n//- /data.csv\n1,2\n");
    prose.run("try .").expect_code(USAGE).expect_message(&["no source files", "python"]);
    let no_block = Project::new("//- /empty.py\n# Nothing but a comment.\n");
    no_block.run("try .").expect_code(USAGE).expect_message(&["no block"]);
}

#[test]
fn invalid_arguments_are_usage_errors() {
    let project = Project::new(GOOD);
    project.run("try . --cases 0").expect_code(USAGE).expect_message(&["--cases"]);
    project.run("try . --cases many").expect_code(USAGE).expect_message(&["many"]);
    project.run("try . --engine nobody").expect_code(USAGE).expect_message(&["nobody", "builtin"]);
    project.run("try . --scenario nothing").expect_code(USAGE).expect_message(&["nothing", "full_block"]);
    project.run("try . --jobs 0").expect_code(USAGE).expect_message(&["--jobs"]);
    project.run("replay suite.jsonl --resume").expect_code(USAGE).expect_message(&["--out"]);
    project.run("dance").expect_code(USAGE).expect_message(&["dance"]);
    project.run("").expect_code(USAGE);
}

#[test]
fn huge_jobs_are_accepted_and_huge_repeats_rejected() {
    let project = Project::new(GOOD);
    project.run("mine . --cases 4 --out ../suite.jsonl --jobs 1").expect_code(0);
    let start = |command| RunningProcess::start(project.ghostbench(command));
    let few_seconds = Duration::from_secs(20);
    // Threads are limited by the machine, so any number of them may be requested.
    start("try . --cases 4 --jobs 100000 --out ../run").wait_at_most(few_seconds).expect_code(0);
    let repeat = start("replay ../suite.jsonl --repeat 4000000000").wait_at_most(few_seconds);
    repeat.expect_code(USAGE).expect_message(&["--repeat"]);
}

#[test]
fn unwritable_output_paths_are_reported() {
    let project = Project::new(GOOD);
    project.run("try . --cases 4 --out good.py").expect_code(USAGE).expect_message(&["good.py", "--out"]);
    project.run("mine . --cases 4 --out .").expect_code(USAGE).expect_message(&["folder", "--out"]);
    let outcome = project.run("mine . --cases 4 --out ../no/such/suite.jsonl");
    let outcome = outcome.expect_code(OUTSIDE_WORLD).expect_message(&["suite.jsonl", "--out"]);
    assert_eq!(outcome.stderr.matches("os error").count(), 1, "a reason is given once: {}", outcome.stderr);
    assert!(!outcome.stderr.contains("--resume"), "there is no run to go on with: {}", outcome.stderr);
}

#[test]
fn try_succeeds_with_fewer_cases_than_requested() {
    let project = Project::new(GOOD);
    project.run("try . --cases 100000 --out ../run").expect_code(0);
    assert!(!run_rows::cases(&project.sibling_path("run")).is_empty());
}

#[test]
fn file_with_invalid_utf8_is_skipped() {
    let project = Project::new(GOOD);
    project.write("bad.py", b"def f():\n    return '\xff\xfe\xfd'\n");
    let outcome = project.run("try . --cases 5 --out ../run").expect_code(0).expect_message(&["bad.py"]);
    assert!(outcome.stderr.contains("not UTF-8"), "{}", outcome.stderr);
    assert_only_good_file_is_used(&project);
}

#[test]
fn binary_and_empty_files_are_skipped() {
    let project = Project::new(GOOD);
    project.write("nul.py", b"x = 1\0\0\0\n");
    project.write("empty.py", "");
    project.run("try . --cases 5 --out ../run").expect_code(0);
    assert_only_good_file_is_used(&project);
}

#[test]
fn file_with_a_50_mb_line_is_skipped() {
    let project = Project::new(GOOD);
    project.write("long.py", format!("x = '{}'\n", "a".repeat(50_000_000)));
    project.run("try . --cases 5 --out ../run").expect_code(0).expect_message(&["long.py"]);
    assert_only_good_file_is_used(&project);
}

#[test]
fn deeply_nested_file_does_not_overflow_the_stack() {
    let project = Project::new(GOOD);
    let depth = 20_000;
    project.write("deep.py", format!("x = {}1{}\n", "(".repeat(depth), ")".repeat(depth)));
    project.write("deep.c", format!("int main() {{ {} {} }}\n", "if (1) {".repeat(depth), "}".repeat(depth)));
    project.run("try . --cases 5 --out ../run").expect_code(0);
}

#[test]
fn unusual_file_names_are_supported() {
    let project = Project::new("");
    let (_, text) = GOOD.split_once('\n').expect("the fixture has a first line");
    for name in ["a b.py", "it's.py", "größe/naïve.py", "名前.py"] {
        project.write(name, text.replace("area", &format!("area_{}", name.len())));
    }
    project.run("try . --cases 20 --out ../run").expect_code(0);
    assert!(!run_rows::cases(&project.sibling_path("run")).is_empty());
}

#[test]
fn a_run_is_not_overwritten() {
    let project = Project::new(GOOD);
    project.run("try . --cases 5 --out ../run").expect_code(0);
    let before = run_rows::text(&project.sibling_path("run").join("predictions.jsonl"));
    project.run("try . --cases 5 --out ../run").expect_code(USAGE).expect_message(&["run", "--resume"]);
    assert_eq!(run_rows::text(&project.sibling_path("run").join("predictions.jsonl")), before);
}

#[test]
fn torn_suite_line_is_reported() {
    let project = Project::new(GOOD);
    project.run("mine . --cases 4 --out ../suite.jsonl").expect_code(0);
    let suite = run_rows::text(&project.sibling_path("suite.jsonl"));
    fs::write(project.sibling_path("torn.jsonl"), &suite[..suite.len() - 20])
        .expect("the temporary folder is ours");
    let line = format!("line {}", suite.matches('\n').count());
    project.run("replay ../torn.jsonl").expect_code(OUTSIDE_WORLD).expect_message(&["torn.jsonl", &line]);
}

#[test]
fn invalid_suite_line_is_reported() {
    let project = Project::new(GOOD);
    project.run("mine . --cases 4 --out ../suite.jsonl").expect_code(0);
    let suite = run_rows::text(&project.sibling_path("suite.jsonl"));
    let (first, rest) = suite.split_once('\n').expect("a suite has a row");
    let broken = format!("{first}\n{{\"schema\": \"1.0\", \"id\": 7}}\n{rest}");
    fs::write(project.sibling_path("broken.jsonl"), broken).expect("the temporary folder is ours");
    project
        .run("replay ../broken.jsonl")
        .expect_code(OUTSIDE_WORLD)
        .expect_message(&["broken.jsonl", "line 2"]);
}

#[test]
fn file_that_is_not_a_suite_is_rejected() {
    let project = Project::new(GOOD);
    for (text, code) in
        [("", USAGE), ("\n\n", USAGE), ("[1, 2]\n", OUTSIDE_WORLD), ("hello\n", OUTSIDE_WORLD)]
    {
        fs::write(project.sibling_path("no.jsonl"), text).expect("the temporary folder is ours");
        project.run("replay ../no.jsonl").expect_code(code).expect_message(&["no.jsonl"]);
    }
}

#[test]
fn suite_of_a_newer_major_schema_is_rejected() {
    let project = Project::new(GOOD);
    project.run("mine . --cases 4 --out ../suite.jsonl").expect_code(0);
    let newer =
        run_rows::text(&project.sibling_path("suite.jsonl")).replace("\"schema\":\"1.", "\"schema\":\"2.");
    fs::write(project.sibling_path("newer.jsonl"), newer).expect("the temporary folder is ours");
    let outcome = project.run("replay ../newer.jsonl").expect_code(OUTSIDE_WORLD);
    outcome.expect_message(&["newer.jsonl", "line 1", "schema 2.", "install a newer version"]);
}

#[test]
fn suite_of_a_newer_minor_schema_is_accepted() {
    let project = Project::new(GOOD);
    project.run("mine . --cases 4 --out ../suite.jsonl").expect_code(0);
    let suite = run_rows::text(&project.sibling_path("suite.jsonl"));
    let SchemaVersion { major, minor } = SchemaVersion::CURRENT;
    let later = format!("{{\"schema\":\"{major}.{}\",\"invented_later\":[1]", minor + 1);
    let newer = suite.replace(&format!("{{\"schema\":\"{major}.{minor}\""), &later);
    assert_ne!(newer, suite);
    fs::write(project.sibling_path("newer.jsonl"), newer).expect("the temporary folder is ours");
    project.run("replay ../newer.jsonl --workspace . --out ../run").expect_code(0);
}

#[test]
fn run_of_a_newer_schema_is_rejected() {
    let project = Project::new(GOOD);
    project.run("try . --cases 4 --out ../run").expect_code(0);
    for file in ["predictions.jsonl", "run.json"] {
        let path = project.sibling_path("run").join(file);
        let text = run_rows::text(&path);
        let newer = text.replacen(&format!("\"{}\"", SchemaVersion::CURRENT), "\"9.0\"", 1);
        assert_ne!(newer, text, "{file}");
        fs::write(&path, newer).expect("the run is ours");
        project.run("report ../run").expect_code(OUTSIDE_WORLD).expect_message(&[file, "schema 9.0"]);
        fs::write(&path, text).expect("the run is ours");
    }
}

#[test]
fn run_with_a_torn_last_row_can_be_rendered_and_resumed() {
    let project = Project::new(GOOD);
    project.run("mine . --cases 6 --out ../suite.jsonl").expect_code(0);
    project.run("replay ../suite.jsonl --workspace . --out ../run").expect_code(0);
    let path = project.sibling_path("run").join("predictions.jsonl");
    let (whole, answers) = (run_rows::text(&path), run_rows::answers(&project.sibling_path("run")));
    fs::write(&path, &whole[..whole.len() - 9]).expect("the run is ours");
    project.run("report ../run").expect_code(0);
    project.run("replay ../suite.jsonl --workspace . --out ../run --resume").expect_code(0);
    assert_eq!(run_rows::answers(&project.sibling_path("run")), answers);
}

#[test]
fn invalid_line_within_a_run_is_reported() {
    let project = Project::new(GOOD);
    project.run("try . --cases 4 --out ../run").expect_code(0);
    let path = project.sibling_path("run").join("predictions.jsonl");
    fs::write(&path, format!("half a row\n{}", run_rows::text(&path))).expect("the run is ours");
    let message = ["predictions.jsonl", "line 1"];
    project.run("report ../run").expect_code(OUTSIDE_WORLD).expect_message(&message);
}

#[test]
fn resume_rejects_other_suites_and_engines() {
    let project = Project::new(GOOD);
    project.run("mine . --cases 6 --out ../suite.jsonl").expect_code(0);
    project.run("mine . --cases 5 --seed 8 --out ../other.jsonl").expect_code(0);
    project.run("replay ../suite.jsonl --workspace . --out ../run").expect_code(0);
    let other_suite =
        project.run("replay ../other.jsonl --workspace . --out ../run --resume").expect_code(USAGE);
    other_suite.expect_message(&["another suite", "--out"]);
    let other_engine = "replay ../suite.jsonl --workspace . --engine empty --out ../run --resume";
    project.run(other_engine).expect_code(USAGE).expect_message(&["--out"]);
}

#[track_caller]
fn assert_only_good_file_is_used(project: &Project) {
    for case in run_rows::cases(&project.sibling_path("run")) {
        assert_eq!(case.path, "good.py");
    }
}

#[test]
fn too_complex_files_are_reported_and_skipped() {
    let project = Project::new(GOOD);
    project.write("hostile/Generic.java", ("a<".repeat(20) + "\n").repeat(1_000));
    project.write("hostile/comments.cpp", ("/* ".repeat(20) + "\n").repeat(1_350));
    let reported =
        ["2 files too complex to parse", "hostile/Generic.java: too complex", "comments.cpp: too complex"];
    let indexed = project.run("index . --json").expect_code(0).expect_message(&reported);
    let report: serde_json::Value =
        serde_json::from_str(&indexed.stdout).expect("standard output is JSON alone");
    assert_eq!((&report["files"], &report["files_too_complex"]), (&3.into(), &2.into()));
    // With the cache this is known without parsing.
    project.run("index .").expect_code(0).expect_message(&reported);
    project.run("mine . --cases 5 --out ../suite.jsonl").expect_code(0).expect_message(&reported);
    let suite = fs::read_to_string(project.sibling_path("suite.jsonl")).expect("it was written");
    assert!(suite.contains("good.py") && !suite.contains("hostile/"));
}
