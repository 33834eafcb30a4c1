//! Cases from commits, from the command line.

use std::collections::BTreeMap;
use std::fs;
use std::ops::ControlFlow;
use std::path::Path;
use std::process::Command;
use std::sync::Arc;

use cases::{Case, Metric, MetricValue, OriginKind, Prediction};
use completion::{CompletionSettings, ConfiguredEngine, WorkspaceIndex};
use engines::{Script, ScriptedEngine};
use replay::{Attempt, RunInputs, StopSignal};
use tests::{Project, check_out_histories};
use tokio_util::sync::CancellationToken;

use crate::run_rows;

/// A repository whose second commit adds a function to `shop.py` and a use of it to `zoo.py`.
fn shop() -> Project {
    let project = Project::new("");
    let sizes: Vec<String> = (0..60).map(|number| number.to_string()).collect();
    let head = format!("SIZES = [{}]\n\n\ndef total(order):\n    return sum(order)\n", sizes.join(", "));
    project.write("shop.py", &head);
    project.write("zoo.py", "from shop import total\n\n\ndef visit(order):\n    return total(order)\n");
    commit(&project, "2025-01-10");
    let canary =
        "\n\ndef canary_price(order, rate):\n    price = total(order) * rate\n    return round(price, 2)\n";
    project.write("shop.py", [&*head, canary].concat());
    let used = "from shop import canary_price, total\n\n\ndef visit(order):\n    print(canary_price(order, 2))\n    return total(order)\n";
    project.write("zoo.py", used);
    commit(&project, "2025-09-20");
    project
}

#[track_caller]
fn git(project: &Project, args: &[&str], date: &str) {
    let mut command = Command::new("git");
    command.args(["-c", "user.name=Ada", "-c", "user.email=ada@example.org", "-c", "commit.gpgsign=false"]);
    command.args(args).current_dir(project.root());
    let date = format!("{date}T12:00:00Z");
    command.env("GIT_AUTHOR_DATE", &date).env("GIT_COMMITTER_DATE", &date);
    assert!(command.status().expect("there is git").success());
}

#[track_caller]
fn commit(project: &Project, date: &str) {
    git(project, &["init", "--quiet"], date);
    git(project, &["add", "--all"], date);
    git(project, &["commit", "--quiet", "--message=a"], date);
}

#[track_caller]
fn suite(path: &Path) -> Vec<Case> {
    cases::parse_lines(&run_rows::text(path)).expect("the suite is whole").rows
}

#[test]
fn commits_become_cases_with_dates_and_hashed_authors() {
    let project = shop();
    let outcome =
        project.run("mine . --from-history --since 2025-06 --out ../suite.jsonl --json").expect_code(0);
    let report: serde_json::Value = serde_json::from_str(&outcome.stdout).expect("JSON");
    assert_eq!(report["history"]["commits"], 2);
    assert_eq!(report["history"]["left_out_commits"]["before_since"], 1);
    let text = run_rows::text(&project.sibling_path("suite.jsonl"));
    assert!(!text.contains("ada@example.org"), "the author's address is only hashed");
    let cases = suite(&project.sibling_path("suite.jsonl"));
    let case =
        cases.iter().find(|case| case.truth.starts_with("def canary_price")).expect("the new function");
    assert_eq!(case.origin.kind, OriginKind::History);
    assert_eq!((&*case.tags["date"], &*case.tags["age_days"]), ("2025-09-20", "0"));
    assert!(case.tags["author"].starts_with("hashed:"));
    assert_ne!(Some(&case.tags["commit"]), case.origin.commit.as_ref(), "the tree is that of the parent");
    assert!(!case.context.iter().any(|item| item.text.contains("canary")), "a later file is in the context");

    project.run("mine . --from-history --since 2025-06 --out ../again.jsonl --jobs 1").expect_code(0);
    assert_eq!(run_rows::text(&project.sibling_path("again.jsonl")), text);
}

#[test]
fn engines_read_no_workspace_for_cases_from_history() {
    let project = shop();
    project.run("mine . --from-history --out ../suite.jsonl").expect_code(0);
    let texts = |arguments: &str, folder: &str| -> BTreeMap<String, (String, usize)> {
        project
            .run(&format!("replay ../suite.jsonl --engine builtin --out ../{folder} {arguments}"))
            .expect_code(0);
        let rows = run_rows::text(&project.sibling_path(folder).join("predictions.jsonl"));
        let rows: Vec<Prediction> = cases::parse_lines(&rows).expect("whole rows").rows;
        let files = |row: &Prediction| row.spans.iter().filter(|span| span.path == "zoo.py").count();
        rows.into_iter().map(|row| (row.case.clone(), (row.text.clone(), files(&row)))).collect()
    };
    assert_eq!(texts("", "without"), texts("--workspace .", "with"));
    let outcome = project.run("report ../with --json").expect_code(0);
    let report: serde_json::Value = serde_json::from_str(&outcome.stdout).expect("JSON");
    let section = &report["summary"]["sections"][0];
    assert_eq!((&section["origin"], &section["other_tree"]), (&"history".into(), &0.into()));
}

#[test]
fn unusable_histories_are_usage_errors() {
    let project = shop();
    for (arguments, message) in [
        ("mine . --from-history nope", "not a range of commits"),
        ("mine . --from-history=--output=x", "not a range of commits"),
        ("mine . --from-history HEAD..HEAD", "contains no commits"),
        ("mine . --from-history --since 2099-01", "no commit of"),
        ("mine . --from-history --since yesterday", "write a date"),
        ("mine . --from-history --scenario rag", "no cases of rag"),
        ("mine . --from-history --mix even", "cannot be used"),
        ("mine .. --from-history", "not in a git repository"),
    ] {
        let outcome = project.run(arguments).expect_code(2);
        assert!(outcome.stderr.contains(message), "{arguments}: {}", outcome.stderr);
    }
}

#[test]
fn perfect_answers_to_cases_from_real_histories_score_100_percent() {
    let folder = tempfile::tempdir().expect("a folder for temporary files");
    let Some(trees) = check_out_histories(folder.path()) else { return };
    let project = Project::new("");
    let runtime = tokio::runtime::Runtime::new().expect("a runtime");
    for (name, tree) in trees {
        let out = project.sibling_path(&format!("{name}.jsonl"));
        let arguments = format!("mine {} --from-history --cases 12 --out {}", tree.display(), out.display());
        project.run(&arguments).expect_code(0);
        let cases = suite(&out);
        assert_eq!(cases.len(), 12, "{name}");
        for case in &cases {
            assert!(
                !case.context.iter().any(|item| item.text.contains(&case.truth)),
                "{name}: {}",
                case.hole
            );
            let prediction = runtime.block_on(perfect_answer(case));
            let scores = replay::score_all(std::slice::from_ref(case), &[prediction]);
            let exact = scores[0].metrics.get(&Metric::ExactMatch);
            assert_eq!(exact, Some(&MetricValue::Value(1.0)), "{name}: {} {:?}", case.hole, case.truth);
        }
        fs::remove_dir_all(tree).expect("the temporary folder is ours");
    }
}

/// Returns the answer of an engine that knows the truth.
async fn perfect_answer(case: &Case) -> Prediction {
    let script = Script { pieces: vec![case.truth.clone()], ..Script::default() };
    let engine = ConfiguredEngine {
        engine: Arc::new(ScriptedEngine::new("perfect", script)),
        settings: CompletionSettings::for_replay(),
        price: None,
        cutoff: None,
        identity: Arc::default(),
    };
    let inputs = RunInputs {
        cases: [case.clone()].into(),
        engines: [engine].into(),
        world: WorkspaceIndex::empty(),
        copies: Arc::default(),
        jobs: 1,
    };
    let attempts = vec![Attempt { case: 0, engine: 0, repetition: 0 }];
    let stop = StopSignal::immediately(CancellationToken::new());
    let mut answers = Vec::new();
    replay::run_attempts(
        attempts,
        &inputs,
        |_, _| (),
        &stop,
        |_, answer| {
            answers.push(answer);
            ControlFlow::Continue(())
        },
    )
    .await;
    answers.remove(0)
}
