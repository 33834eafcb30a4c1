//! Rules that fail a command: exit codes, reasons, JUnit's file and the Markdown for pull requests.

use tests::Project;

use crate::run_rows;

/// A project with the run of a good and a useless engine.
fn project_with_run() -> Project {
    let project = Project::generated(6);
    project.run("try . --cases 30 --engine builtin --engine empty --out ../run").expect_code(0);
    project
}

#[test]
fn failed_rules_exit_with_1_and_name_engine_and_value() {
    let project = project_with_run();
    let outcome = project
        .run("report ../run --fail-under exact_match[engine=empty]=99% --junit ../gates.xml")
        .expect_code(1);
    outcome.expect_message(&["empty", "exact_match"]);
    let junit = run_rows::text(&project.sibling_path("gates.xml"));
    assert!(junit.contains("<failure") && junit.contains("empty"), "{junit}");
}

#[test]
fn kept_rules_exit_with_0_and_junit_lists_them() {
    let project = project_with_run();
    project
        .run("report ../run --fail-under exact_match[engine=builtin]=0% --junit ../gates.xml")
        .expect_code(0);
    let junit = run_rows::text(&project.sibling_path("gates.xml"));
    assert!(junit.contains("<testcase") && !junit.contains("<failure"), "{junit}");
}

#[test]
fn worse_engine_is_not_non_inferior_to_its_baseline() {
    let project = project_with_run();
    let rules = "--baseline builtin --non-inferior 1pt --format markdown";
    let outcome = project.run(&format!("report ../run {rules}")).expect_code(1);
    assert!(outcome.stdout.contains("| "), "Markdown on standard output: {}", outcome.stdout);
    outcome.expect_message(&["empty"]);
}

#[test]
fn too_few_cases_prove_nothing_even_without_a_difference() {
    let project = project_with_run();
    project.run("replay ../run/cases.jsonl --workspace . --engine builtin --out ../today").expect_code(0);
    let few = project.run("report ../today --baseline ../run --non-inferior 1pt").expect_code(1);
    few.expect_message(&["undecided", "0 better, 0 worse"]);
    project.run("report ../today --baseline ../run --non-inferior 70pt").expect_code(0);
}

/// A slice that a renamed folder or another suite left empty must not pass unseen.
#[test]
fn rules_about_slices_without_cases_fail_and_say_so() {
    let project = project_with_run();
    for rule in
        ["--fail-under exact_match[language=rust]=0%", "--fail-on restraint[scenario=rag,engine=builtin]<1%"]
    {
        let failed = project.run(&format!("report ../run {rule} --junit ../gates.xml")).expect_code(1);
        failed.expect_message(&["there is nothing to measure for"]);
        let junit = run_rows::text(&project.sibling_path("gates.xml"));
        assert!(junit.contains("<failure") && junit.contains("nothing to measure"), "{junit}");
    }
    project.run("report ../run --fail-under exact_match[language=python]=0%").expect_code(0);
    // The number of cases of an empty slice is known.
    project.run("report ../run --fail-on cases[language=rust]>0").expect_code(0);
    project.run("report ../run --fail-on cases[language=rust]<1").expect_code(1);
}

#[test]
fn rules_that_cannot_be_checked_are_usage_errors() {
    let project = project_with_run();
    for (rules, message) in [
        ("--fail-under exact_mtch=40%", "exact_mtch"),
        ("--fail-on exact_match<", "exact_match"),
        ("--baseline ../nowhere --non-inferior 1pt", "../nowhere"),
        ("--non-inferior 1pt", "--baseline"),
    ] {
        project.run(&format!("report ../run {rules}")).expect_code(2).expect_message(&[message]);
    }
}
