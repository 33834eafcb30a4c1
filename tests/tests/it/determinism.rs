//! The same tree and seed give the same cases and the same answers, whatever the number of threads.

use tests::Project;

use crate::run_rows;

#[test]
fn cases_are_the_same_bytes_for_any_number_of_threads() {
    let project = Project::generated(8);
    let suite = |jobs: u32| {
        project.run(&format!("mine . --cases 60 --seed 5 --jobs {jobs} --out -")).expect_code(0).stdout
    };
    let alone = suite(1);
    assert!(!alone.is_empty());
    for jobs in [2, 7] {
        assert_eq!(suite(jobs), alone, "{jobs} threads");
    }
}

#[test]
fn a_copy_of_the_tree_gives_the_same_cases() {
    let suites = [Project::generated(5), Project::generated(5)];
    let [left, right] = suites.map(|project| project.run("mine . --cases 30 --out -").expect_code(0).stdout);
    assert_eq!(without_repository(&left), without_repository(&right));
}

#[test]
fn another_seed_gives_other_cases() {
    let project = Project::generated(8);
    let suite =
        |seed: u32| project.run(&format!("mine . --cases 20 --seed {seed} --out -")).expect_code(0).stdout;
    assert_ne!(suite(1), suite(2));
}

#[test]
fn answers_do_not_depend_on_concurrency() {
    let project = Project::generated(6);
    let answers = |jobs: u32| {
        let run = format!("run-{jobs}");
        project.run(&format!("try . --cases 30 --jobs {jobs} --out ../{run}")).expect_code(0);
        run_rows::answers(&project.sibling_path(&run))
    };
    let alone = answers(1);
    assert!(!alone.is_empty());
    assert_eq!(answers(4), alone);
}

/// The rows without the name of the temporary folder, in case they contain it.
fn without_repository(suite: &str) -> Vec<String> {
    let rows = cases::parse_lines::<cases::Case>(suite).expect("standard output is a suite").rows;
    rows.into_iter()
        .map(|mut case| {
            case.origin.repository = None;
            cases::to_line(&case)
        })
        .collect()
}
