//! Exports of runs.

use std::fs;

use tests::Project;

#[test]
fn run_is_exported_as_a_log_per_engine() {
    let project = Project::generated(6);
    project
        .run("try . --cases 12 --engine builtin --engine nearest-line --no-copies off --out ../run")
        .expect_code(0);
    let outcome = project.run("export ../run --out ../logs --json").expect_code(0);
    let report: serde_json::Value = serde_json::from_str(&outcome.stdout).expect("JSON");
    let logs = report["logs"].as_array().expect("a list");
    assert_eq!(logs.iter().map(|log| &log["engine"]).collect::<Vec<_>>(), ["builtin", "nearest-line"]);
    let bytes = |log: &serde_json::Value| {
        fs::read(project.root().join(log["path"].as_str().unwrap())).expect("a file")
    };
    assert!(logs.iter().all(|log| bytes(log).starts_with(b"PK")));
    let before = bytes(&logs[0]);
    project.run("export ../run --out ../logs").expect_code(0);
    assert_eq!(bytes(&logs[0]), before, "an export can be repeated");

    project.run("export ../absent --out ../logs").expect_code(2);
    let file = project.write("file", "x");
    project.run(&format!("export ../run --out {}", file.display())).expect_code(2);
}
