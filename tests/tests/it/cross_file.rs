//! Cross-file cases and retrieval, from the command line.

use std::collections::BTreeMap;
use std::fs;

use cases::{Case, CrossFileContext, Scenario};
use tests::Project;

use crate::run_rows;

/// A package of modules that all use the definitions of a common one.
fn shop() -> Project {
    let project = Project::new("");
    let store: String = (0..12)
        .map(|number| format!("def open_store_{number}(path, limit):\n    return read(path)[:limit]\n\n\n"))
        .collect();
    project.write("shop/store.py", store);
    for number in 0..12 {
        let filler: String = (0..10).map(|line| format!("TOTAL_{line} = {line} * {number} + 1\n")).collect();
        let module = format!(
            "from shop.store import open_store_{number}\n\n{filler}\n\ndef main_{number}(path, size):\n    rows = open_store_{number}(path, size + canary_{number})\n    return rows\n\n\ndef later_{number}():\n    return 'only after the cursor'\n"
        );
        project.write(&format!("shop/main_{number}.py"), module);
    }
    project
}

#[test]
fn each_hole_has_three_variants_without_context_of_its_file() {
    let project = shop();
    project.run("mine . --scenario cross_file --cases 30 --out ../suite.jsonl").expect_code(0);
    let cases: Vec<Case> = cases::parse_lines(&run_rows::text(&project.sibling_path("suite.jsonl")))
        .expect("the suite is whole")
        .rows;
    let mut holes: BTreeMap<&str, Vec<&Case>> = BTreeMap::new();
    cases.iter().for_each(|case| holes.entry(&case.hole).or_default().push(case));
    assert!(holes.len() >= 5, "{}", holes.len());
    for cases in holes.values() {
        let variants: Vec<_> = cases.iter().map(|case| case.task.cross_file_context().unwrap()).collect();
        assert_eq!(
            variants,
            [CrossFileContext::InFile, CrossFileContext::Retrieval, CrossFileContext::Oracle]
        );
        assert!(cases.iter().all(|case| case.tags["resolved"] == "yes" && case.tags["judge"] == "builtin"));
    }
    let with_context: Vec<&Case> = cases.iter().filter(|case| !case.context.is_empty()).collect();
    assert!(with_context.len() >= holes.len(), "retrieval finds something");
    for case in with_context {
        let own = case.path.trim_start_matches("shop/main_").trim_end_matches(".py");
        for item in &case.context {
            assert_ne!(item.path, case.path);
            assert!(!item.text.contains(&format!("canary_{own})")), "the truth is in its context: {item:?}");
            assert!(
                !item.text.contains(&format!("later_{own}()")),
                "the context contains the continuation: {item:?}"
            );
        }
    }
}

#[test]
fn mine_reports_case_hole_and_resolved_counts() {
    let project = shop();
    let mined = project
        .run("mine . --scenario cross_file --scenario rag --cases 10 --out ../suite.jsonl")
        .expect_code(0);
    assert!(
        mined.stdout.contains("cross_file") && mined.stdout.contains("2 holes (2 resolved, 0 unresolved)"),
        "{}",
        mined.stdout
    );
    assert!(!mined.stdout.contains("full_block"), "it was not asked for: {}", mined.stdout);
    let one = project.run("mine . --scenario cross_file --cases 1 --json --out ../one.jsonl").expect_code(0);
    assert!(one.stderr.contains("cross_file cases come in threes"), "{}", one.stderr);
    let value: serde_json::Value = serde_json::from_str(&one.stdout).expect("standard output is JSON alone");
    let counted =
        serde_json::json!({ "cross_file": { "cases": 3, "holes": 1, "resolved": 1, "unresolved": 0 } });
    assert_eq!((&value["cases"], &value["holes"], &value["scenarios"]), (&3.into(), &1.into(), &counted));
    let alone = Project::generated(1);
    alone
        .run("mine . --scenario cross_file")
        .expect_code(2)
        .expect_message(&["no usable position", "only another file defines"]);
}

#[test]
fn try_compares_in_file_with_retrieval() {
    let project = shop();
    let outcome = project.run("try . --cases 90 --out ../run").expect_code(0);
    let cross_file = run_rows::cases(&project.sibling_path("run"))
        .iter()
        .filter(|case| case.scenario() == Scenario::CrossFile)
        .count();
    assert!(cross_file >= 3, "{cross_file}");
    for shown in [
        "retrieval - in_file*",
        "oracle - in_file*",
        "Selected against (*)",
        "in no total)",
        "+/-: holes in which",
    ] {
        assert!(outcome.stdout.contains(shown), "{shown}: {}", outcome.stdout);
    }
}

#[test]
fn single_file_reports_missing_cross_file_cases() {
    let project = Project::generated(1);
    let outcome = project.run("try . --cases 60 --out ../run").expect_code(0);
    assert!(outcome.stderr.contains("fewer than asked for cross_file"), "{}", outcome.stderr);
    assert!(!outcome.stdout.contains("cross_file"), "{}", outcome.stdout);
}

#[test]
fn reports_contain_the_context_of_each_case() {
    let project = shop();
    project.run("try . --scenario cross_file --cases 12 --out ../run").expect_code(0);
    let cases = run_rows::cases(&project.sibling_path("run"));
    let case = cases.iter().find(|case| !case.context.is_empty()).expect("retrieval finds something");
    let json = project.run("report ../run --json").expect_code(0).stdout;
    let value: serde_json::Value = serde_json::from_str(&json).expect("standard output is JSON alone");
    let item = &value["contexts"][&case.id][0];
    assert_eq!(item["path"], case.context[0].path.as_str());
    assert_eq!(item["text"], case.context[0].text.as_str());
    let page = run_rows::unpacked_report(&project.sibling_path("run").join("report.html"));
    assert!(page.contains(&case.context[0].path));
}

#[test]
fn retrieve_shows_the_context_at_a_cursor() {
    let project = shop();
    let place = "shop/main_3.py:16:12";
    let outcome =
        project.run(&format!("retrieve {place} --strategy hybrid --strategy bm25-chunks")).expect_code(0);
    for shown in [
        "hybrid",
        "bm25-chunks",
        "of 512 tokens",
        "shop/store.py:",
        "open_store_3",
        "  definition ",
        "only scores of one kind",
    ] {
        assert!(outcome.stdout.contains(shown), "{shown}: {}", outcome.stdout);
    }
    let json = project.run(&format!("retrieve {place} --budget 64 --json")).expect_code(0).stdout;
    let value: serde_json::Value = serde_json::from_str(&json).expect("standard output is JSON alone");
    let strategies = value["strategies"].as_array().expect("a list");
    assert_eq!(strategies.len(), 4);
    assert_eq!((&value["line"], &value["character"]), (&15.into(), &11.into()), "from 0, as in a case");
    for strategy in strategies {
        let items = strategy["items"].as_array().expect("a list");
        let tokens: u64 = items.iter().map(|item| item["tokens"].as_u64().expect("a count")).sum();
        assert_eq!(strategy["tokens"], tokens);
        assert!(tokens <= 64, "{strategy}");
        for item in items {
            assert_ne!(item["path"], "shop/main_3.py", "the file itself is in the window already");
            assert!(item["reason"].as_str().is_some_and(|reason| !reason.is_empty()), "{item}");
            assert!(
                item["text"].as_str().map(|text| text.len().div_ceil(4) as u64) < item["tokens"].as_u64()
            );
        }
    }
    let kinds = |strategy: usize| {
        strategies[strategy]["items"].as_array().expect("a list").iter().map(|item| &item["kind"])
    };
    assert!(kinds(0).any(|kind| kind == "definition"), "{}", strategies[0]);
    assert!(kinds(2).all(|kind| kind == "function") && kinds(3).all(|kind| kind == "chunk"));
}

#[test]
fn retrieve_measures_strategies_over_a_suite() {
    let project = shop();
    project.run("mine . --scenario cross_file --cases 30 --out ../suite.jsonl").expect_code(0);
    let outcome = project.run("retrieve ../suite.jsonl --workspace . --json").expect_code(0);
    let value: serde_json::Value =
        serde_json::from_str(&outcome.stdout).expect("standard output is JSON alone");
    let holes = value["cases"].as_u64().expect("a count");
    assert_eq!(holes, 10, "one question for each hole");
    assert!(outcome.stderr.contains("10 holes from 30 cases: 20 repeat a hole"), "{}", outcome.stderr);
    let hybrid = &value["strategies"][0];
    assert_eq!((&hybrid["strategy"], &hybrid["cases"]), (&"hybrid".into(), &holes.into()));
    assert_eq!(value["unresolved"], serde_json::json!([]));
    let rows = value["rows"].as_array().expect("a list");
    assert_eq!(rows.len() as u64, 4 * holes, "a row for each strategy at each hole");
    let hits = rows
        .iter()
        .filter(|row| row["strategy"] == "hybrid" && row["metrics"]["definition_hit"] == 1.0)
        .count();
    assert_eq!(hybrid["metrics"]["definition_hit"]["num"], hits as f64);
    for row in rows {
        assert!(
            row["case"].is_string() && row["ms"].is_f64() && row["tokens"].as_u64() <= Some(512),
            "{row}"
        );
    }
    assert!(hybrid["metrics"]["definition_hit"]["num"].as_f64() >= Some(holes as f64 / 2.0), "{hybrid}");
    let table = project.run("retrieve ../suite.jsonl --workspace .").expect_code(0).stdout;
    assert!(table.contains("def hit") && table.contains("functions"), "{table}");
    assert!(!table.contains("unresolved"), "{table}");
}

#[test]
fn retrieve_reports_unresolved_names_separately() {
    let project = shop();
    project.run("mine . --scenario cross_file --cases 30 --out ../suite.jsonl").expect_code(0);
    let suite = run_rows::text(&project.sibling_path("suite.jsonl"));
    let (first, rest) = suite.split_at(suite.lines().take(3).map(|line| line.len() + 1).sum());
    let unresolved = first.replace("\"resolved\":\"yes\"", "\"resolved\":\"no\"");
    assert_ne!(unresolved, first);
    fs::write(project.sibling_path("mixed.jsonl"), unresolved + rest).expect("the folder is ours");
    let json = project.run("retrieve ../mixed.jsonl --workspace . --json").expect_code(0).stdout;
    let value: serde_json::Value = serde_json::from_str(&json).expect("standard output is JSON alone");
    for (list, cases) in [("strategies", 9), ("unresolved", 1)] {
        assert_eq!(
            (&value[list][0]["strategy"], &value[list][0]["cases"]),
            (&"hybrid".into(), &cases.into())
        );
    }
    assert!(value["unresolved"][0]["metrics"]["definition_hit"].is_null(), "no definition is known");
    let table = project.run("retrieve ../mixed.jsonl --workspace .").expect_code(0).stdout;
    assert!(table.contains("(unresolved)"), "{table}");
}

#[test]
fn retrieve_rejects_invalid_arguments_with_a_message() {
    let project = shop();
    project.write("notes.txt", "text\n");
    project.write("binary.py", b"x\0");
    project.write("latin.py", b"x = '\xe9'\n");
    fs::write(project.sibling_path("outside.py"), "x = 1\n").expect("the folder is ours");
    project.run("mine . --cases 6 --out ../suite.jsonl").expect_code(0);
    for (arguments, message) in [
        ("shop/main_3.py:999:1", "shop/main_3.py has"),
        ("shop/main_3.py:1:999", "line 1 of shop/main_3.py has"),
        ("shop/main_3.py:0:1", "count from 1"),
        ("shop/main_3.py:4", "FILE:LINE:COLUMN"),
        ("shop/absent.py:1:1", "shop/absent.py does not exist"),
        ("notes.txt:1:1", "in no supported language"),
        ("binary.py:1:1", "(binary)"),
        ("latin.py:1:1", "(not UTF-8)"),
        ("../outside.py:1:1", "../outside.py is outside of the workspace"),
        ("shop:1:1", "shop is a folder"),
        ("shop/main_3.py", "name the line and the column too: shop/main_3.py:LINE:COLUMN"),
        ("shop/main_3.py:-1:5", "count from 1"),
        ("shop/main_3.py:1:99999999999", "count from 1"),
        ("../absent.jsonl --workspace .", "absent.jsonl"),
        ("../suite.jsonl", "--workspace"),
        ("shop/main_3.py:1:1 --workspace absent", "absent"),
        ("shop/main_3.py:1:1 --strategy best", "hybrid"),
        ("shop/main_3.py:1:1 --budget 0", "--budget"),
    ] {
        let outcome = project.run(&format!("retrieve {arguments}")).expect_code(2);
        assert!(outcome.stderr.contains(message), "{arguments}: {}", outcome.stderr);
        assert!(outcome.stdout.is_empty(), "{arguments}: {}", outcome.stdout);
        assert!(
            !outcome.stderr.lines().any(|line| line.starts_with("indexed ")),
            "reported before any work: {arguments}: {}",
            outcome.stderr
        );
    }
}
