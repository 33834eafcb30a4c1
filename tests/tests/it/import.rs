//! Suites from the files of public benchmarks, and rows from suites and runs.

use std::fs;
use std::path::Path;

use serde_json::{Value, json};
use test_fixture::golden_rows;
use tests::Project;

use crate::cceval_reader::{exact_matches, read_examples};
use crate::run_rows;

fn lines<'a>(rows: impl IntoIterator<Item = &'a Value>) -> String {
    rows.into_iter().map(|row| format!("{row}\n")).collect()
}

fn rows(path: &Path) -> Vec<Value> {
    let text = fs::read_to_string(path).unwrap_or_else(|error| panic!("{}: {error}", path.display()));
    text.lines().map(|line| serde_json::from_str(line).expect("a row")).collect()
}

fn json_of(project: &Project, arguments: &str) -> Value {
    let outcome = project.run(&format!("{arguments} --json")).expect_code(0);
    serde_json::from_str(&outcome.stdout).expect("JSON alone")
}

#[test]
fn crosscodeeval_rows_are_the_same_after_import_and_export() {
    let Some(originals) = golden_rows("cceval_real_inputs.jsonl") else { return };
    let project = Project::new("");
    project.write("line_completion_rg1_openai.jsonl", lines(&originals));
    let report = json_of(
        &project,
        "import crosscodeeval line_completion_rg1_openai.jsonl --keep-secrets --out ../s.jsonl",
    );
    assert_eq!((&report["cases"], &report["broken"]["count"]), (&json!(originals.len()), &json!(0)));
    assert_eq!(report["scenarios"]["cross_file retrieval"], originals.len());
    project.run("export ../s.jsonl --format crosscodeeval --out ../rows").expect_code(0);
    assert_eq!(rows(&project.sibling_path("rows/line_completion_rg1.jsonl")), originals);
}

#[test]
fn answers_to_imported_rows_are_scored_by_the_originals_rules() {
    let Some(mut originals) = golden_rows("cceval_real_inputs.jsonl") else { return };
    originals.truncate(12);
    let project = Project::new("");
    project.write("line_completion_rg1_openai.jsonl", lines(&originals));
    project
        .run("import crosscodeeval line_completion_rg1_openai.jsonl --keep-secrets --out ../s.jsonl")
        .expect_code(0);
    project.run("replay ../s.jsonl --engine builtin --out ../run").expect_code(0);
    let report = json_of(&project, "export ../run --format crosscodeeval --out ../rows");
    assert_eq!(report["files"].as_array().unwrap().len(), 2, "{report}");
    let predictions = rows(&project.sibling_path("rows/01-builtin/line_completion_rg1.prediction.jsonl"));
    let answers = run_rows::predictions(&project.sibling_path("run"));
    for language in ["python", "java", "typescript", "csharp"] {
        // The evaluation of the original reads a file of each language.
        let of_language = |row: &&Value| row["metadata"]["task_id"].as_str().unwrap().contains(language);
        let exported = rows(&project.sibling_path("rows/line_completion_rg1.jsonl"));
        let exported: Vec<Value> = exported.iter().filter(of_language).cloned().collect();
        let of_task =
            |row: &&Value| exported.iter().any(|item| item["metadata"]["task_id"] == row["task_id"]);
        let predicted: Vec<Value> = predictions.iter().filter(of_task).cloned().collect();
        if !exported.is_empty() {
            let examples = read_examples(&exported, if language == "python" { "#" } else { "//" });
            assert!((0.0..=100.0).contains(&exact_matches(&examples, &predicted)));
        }
    }
    assert_eq!(predictions.len(), originals.len());
    assert!(predictions.iter().all(|row| answers.iter().any(|answer| answer.text == row["pred"])));
    let scores = json_of(
        &project,
        "score --format crosscodeeval ../rows/line_completion_rg1.jsonl ../rows/01-builtin/line_completion_rg1.prediction.jsonl",
    );
    assert_eq!((&scores["cases"], &scores["missing"]["count"]), (&json!(originals.len()), &json!(0)));
}

#[test]
fn reports_and_scores_follow_the_program_if_they_are_faithful() {
    let item = |id: &str| {
        json!({"prompt": "x = ", "groundtruth": "1;", "right_context": "",
            "metadata": {"task_id": format!("project_cc_java/{id}"), "file": format!("{id}.java")}})
    };
    let project = Project::new("");
    project.write("line_completion.jsonl", lines(&["1", "2"].map(item)));
    project.run("import crosscodeeval line_completion.jsonl --out ../s.jsonl").expect_code(0);
    project.run("replay ../s.jsonl --engine empty --out ../run").expect_code(0);
    // One of two answers is missing: its description counts it, its program leaves it out.
    let file = project.sibling_path("run/predictions.jsonl");
    let text = run_rows::text(&file);
    fs::write(&file, text.split_inclusive('\n').next().expect("an answer")).expect("written");
    let report = |option: &str| json_of(&project, &format!("report ../run {option}"));
    for (option, rules, total) in [("", "paper", 2), ("--faithful", "faithful", 1)] {
        let report = report(option);
        let rules_of_report = &report["benchmark_rules"]["crosscodeeval"];
        assert_eq!(rules_of_report["rules"], rules);
        let difference = &rules_of_report["differences"][0];
        assert_eq!(
            (&difference["engine"], &difference["affected"]),
            (&json!("empty"), &json!(1)),
            "{difference}"
        );
        let table = &report["benchmarks"]["crosscodeeval"]["results"]["empty: java"];
        assert_eq!(table["total"].as_f64(), Some(f64::from(total)), "{table}");
    }
    let text = project.run("report ../run --faithful").expect_code(0).stdout;
    assert!(text.contains("crosscodeeval, as the original's program computes"), "{text}");
    assert!(text.contains("its description: a case without a prediction counts as an empty one"), "{text}");
}

#[test]
fn codev_bench_rows_are_the_same_after_import_and_export() {
    let Some(rows_of_modes) = golden_rows("codev_judges.jsonl") else { return };
    let mode = "complete_current_header_inner_block_completion";
    let mut originals: Vec<Value> =
        rows_of_modes.into_iter().filter(|row| row["mode"] == mode && row["scenario"] != "crafted").collect();
    // Rows with the texts of others, at several places.
    originals.insert(3, originals[0].clone());
    originals.push(originals[1].clone());
    let project = Project::new("");
    project.write(&format!("{mode}/prompts.jsonl"), lines(&originals));
    let report = json_of(&project, &format!("import codev-bench {mode} --keep-secrets --out ../s.jsonl"));
    assert_eq!(report["broken"]["count"], 0, "{report}");
    let (cases, repeated) = (report["cases"].as_u64().unwrap(), report["repeated"].as_u64().unwrap());
    assert!(repeated >= 2 && (cases + repeated) as usize == originals.len(), "{report}");
    project.run("export ../s.jsonl --format codev-bench --out ../rows").expect_code(0);
    let exported = rows(&project.sibling_path("rows").join(mode).join("prompts.jsonl"));
    assert!(exported.len() > 10);
    assert_eq!(exported, originals);
}

fn document(path: &Path) -> Value {
    let text = fs::read_to_string(path).unwrap_or_else(|error| panic!("{}: {error}", path.display()));
    serde_json::from_str(&text).expect("a document")
}

#[test]
fn repoqa_data_set_is_the_same_after_import_and_export() {
    let Some(repositories) = golden_rows("repoqa_repos.jsonl") else { return };
    let mut dataset = json!({});
    for mut repository in repositories {
        for needle in repository["needles"].as_array_mut().expect("needles") {
            needle["description"] = "It does what it is for.".into();
        }
        let language = repository["language"].as_str().expect("a language").to_owned();
        let entries = dataset.as_object_mut().expect("an object").entry(language).or_insert(json!([]));
        entries.as_array_mut().expect("a list").push(repository);
    }
    dataset["go"].as_array_mut().expect("repositories").push(json!({"repo": 3, "is": "broken"}));
    let project = Project::new("");
    project.write("d.json", dataset.to_string());
    let import = "import repoqa d.json --keep-secrets --context-tokens 256 --out ../s.jsonl";
    let report = json_of(&project, import);
    assert_eq!(report["broken"]["count"], 1, "{report}");
    json_of(&project, "export ../s.jsonl --format repoqa --out ../rows");
    assert_eq!(document(&project.sibling_path("rows/repoqa.json")), dataset);

    // A suite without its data set is exported without it, unless another place is named.
    fs::rename(project.sibling_path("s.repoqa.json"), project.sibling_path("moved.json")).expect("renamed");
    let report = json_of(&project, "export ../s.jsonl --format repoqa --out ../alone");
    assert_eq!(report["files"].as_array().expect("files").len(), 1, "{report}");
    json_of(&project, "export ../s.jsonl --format repoqa --dataset ../moved.json --out ../named");
    assert_eq!(document(&project.sibling_path("named/repoqa.json")), dataset);
    let python = dataset["python"][0]["repo"].clone();
    dataset["python"].as_array_mut().expect("repositories").remove(0);
    project.write("less.json", dataset.to_string());
    let named = "export ../s.jsonl --format repoqa --dataset less.json --out ../less";
    project.run(named).expect_code(0).expect_message(&["less.json lacks", "of the suite"]);
    project.write(
        "other.json",
        json!({"python": [{"repo": python, "content": {}, "dependency": {}, "needles": []}]}).to_string(),
    );
    project
        .run("export ../s.jsonl --format repoqa --dataset other.json --out ../other")
        .expect_code(2)
        .expect_message(&["has no function of the suite"]);
    project
        .run("export ../s.jsonl --format crosscodeeval --dataset d.json --out ../other")
        .expect_code(2)
        .expect_message(&["--dataset is for repoqa"]);
}

#[test]
fn secrets_of_data_sets_are_masked_unless_they_are_kept() {
    let project = Project::new("");
    let key = format!("AKIA{}", "QX7DMBNZP4R2TS6V");
    let code = format!("KEY = \"{key}\"\ndef f():\n    return 1\n");
    let (start, end) = (code.find("def").expect("it is there"), code.len() - 1);
    let needle = json!({"name": "f", "path": "a.py", "start_line": 1, "end_line": 3, "start_byte": start,
        "end_byte": end, "description": "Returns one."});
    let dataset = json!({"python": [{"repo": "r", "content": {"a.py": code}, "dependency": {"a.py": []}, "needles": [needle]}]});
    project.write("d.json", dataset.to_string());
    project.run("import repoqa d.json --context-tokens 256 --out ../s.jsonl").expect_code(0);
    let masked = document(&project.sibling_path("s.repoqa.json"));
    let text = masked["python"][0]["content"]["a.py"].as_str().expect("code");
    assert!(!text.contains(&key) && text.len() == code.len() && text.ends_with(&code[start..]), "{text}");
    project.run("import repoqa d.json --keep-secrets --out ../s.jsonl").expect_code(0);
    assert_eq!(document(&project.sibling_path("s.repoqa.json")), dataset);
    // The imported file is not replaced by its masked copy.
    project.write("t.repoqa.json", dataset.to_string());
    project.run("import repoqa t.repoqa.json --out t.jsonl").expect_code(0);
    assert_eq!(document(&project.root().join("t.repoqa.json")), dataset);
}

#[test]
fn further_sources_are_imported_and_replayed() {
    let project = Project::new("");
    let safim = json!({"task_id": "block_completion_1", "lang": "python", "prompt": "", "eval_prompt":
        "def area(r):\n    {{completion}}\n    return r\n", "ground_truth": "r = r * r", "unit_tests": []});
    project.write("safim.jsonl", lines([&safim]));
    let human = json!({"task_id": "SingleLineInfilling/HumanEval/0/L0", "entry_point": "f", "prompt": "def f(a):\n",
        "suffix": "    return a\n", "canonical_solution": "    a = a + 1\n", "test": ""});
    project.write("human.jsonl", lines([&human]));
    let repoeval = json!({"prompt": "a = 1\n", "metadata": {"task_id": "r/0", "ground_truth": "b = 2",
        "fpath_tuple": ["r", "a.py"], "context_start_lineno": 0, "line_no": 1}});
    project.write("repoeval.jsonl", lines([&repoeval]));
    let repobench = json!({"repo_name": "o/r", "file_path": "a.py", "context": [{"identifier": "f", "path": "b.py",
        "snippet": "def f(): pass"}], "import_statement": "from b import f", "cropped_code": "x = 1", "next_line": "f()",
        "gold_snippet_index": 0, "level": "2k"});
    project.write("repobench.jsonl", lines([&repobench]));
    for (format, file) in [
        ("safim", "safim"),
        ("humaneval-infilling", "human"),
        ("repoeval", "repoeval"),
        ("repobench", "repobench"),
    ] {
        let report = json_of(&project, &format!("import {format} {file}.jsonl --out ../{format}.jsonl"));
        assert_eq!(report["cases"], 1, "{format}: {report}");
        project.run(&format!("replay ../{format}.jsonl --engine empty --out ../run-{format}")).expect_code(0);
        project
            .run(&format!("export ../{format}.jsonl --format {format} --out ../rows-{format}"))
            .expect_code(0);
        let path = format!("rows-{format}/{format}.jsonl");
        let original = rows(&project.root().join(format!("{file}.jsonl")));
        assert_eq!(rows(&project.sibling_path(&path)), original, "{format}");
    }
}

#[test]
fn hostile_rows_are_set_apart() {
    let project = Project::new("");
    let item = |id: &str, file: &str, truth: &str| {
        json!({"prompt": "x = ", "groundtruth": truth, "right_context": "", "metadata": {"task_id": id, "file": file}})
            .to_string()
    };
    let file = [
        format!("\u{feff}{}", item("a/b/c", "a.py", "1")),
        item("p/1", "../../a.py", "2"),
        item("p/2", "C:\\a.py", "2"),
        item("p/3", "a\u{0}.py", "2"),
        item("a/b/c", "a.py", "3"),
        item("p/4", "a.py", "1"),
        "[]".to_owned(),
        "{\"prompt\": \"".to_owned(),
    ]
    .join("\r\n");
    project.write("line_completion.jsonl", file);
    let report = json_of(&project, "import crosscodeeval line_completion.jsonl --out ../s.jsonl");
    let lines: Vec<u64> = report["broken"]["first"]
        .as_array()
        .unwrap()
        .iter()
        .map(|row| row["line"].as_u64().unwrap())
        .collect();
    assert_eq!((lines, &report["cases"]), (vec![2, 3, 4, 5, 7, 8], &json!(1)));
    assert_eq!(report["repeated"], 1);
    assert_eq!(rows(&project.sibling_path("s.jsonl"))[0]["path"], "a.py");
}

#[test]
fn imports_without_a_usable_row_write_nothing() {
    let project = Project::new("");
    project.write("line_completion.jsonl", "{}\n");
    project.run("import crosscodeeval line_completion.jsonl --out ../s.jsonl").expect_code(2);
    assert!(!project.sibling_path("s.jsonl").exists());
    let left: Vec<_> = fs::read_dir(project.root()).expect("ours").collect();
    assert_eq!(left.len(), 1);
    project
        .run("import crosscodeeval line_completion.jsonl --out .")
        .expect_code(2)
        .expect_message(&["is a folder"]);
    project
        .run("import codev-bench line_completion.jsonl --out ../s.jsonl")
        .expect_code(2)
        .expect_message(&["mode"]);
    let help = project.run("import --help").expect_code(0).stdout;
    assert!(help.contains("no licence") && help.contains("Apache-2.0"), "{help}");
}

#[test]
fn secrets_of_rows_are_masked_unless_they_are_kept() {
    let project = Project::new("");
    let key = format!("AKIA{}", "QX7DMBNZP4R2TS6V");
    let row = json!({"prompt": format!("KEY = \"{key}\"\nx = "), "groundtruth": "1", "right_context": "",
        "metadata": {"task_id": "p/1", "file": "a.py"}, "note": key});
    project.write("line_completion.jsonl", lines([&row]));
    let command = "import crosscodeeval line_completion.jsonl --out ../s.jsonl";
    project.run(command).expect_code(0).expect_message(&["masked", "--keep-secrets"]);
    assert!(!run_rows::text(&project.sibling_path("s.jsonl")).contains(&key));
    project.run(&format!("{command} --keep-secrets")).expect_code(0);
    assert!(run_rows::text(&project.sibling_path("s.jsonl")).contains(&key));
}

#[test]
fn files_of_other_evaluators_give_cases_where_the_edit_is_an_insertion() {
    let project = Project::new("");
    project.write(
        "votes.csv",
        "prefix,suffix,model_a,model_b,acceptedIndex,completion_a,completion_b\nx = ,\"\n\",a,b,1.0,1,2\ny = ,,a,b,7,1,2\nz = ,,a,b,0,,2\n",
    );
    let report = json_of(&project, "import copilot-arena votes.csv --language python --out ../votes.jsonl");
    assert_eq!(
        (&report["cases"], &report["left_out"]),
        (&json!(1), &json!({"the accepted completion is empty": 1}))
    );
    assert_eq!(report["broken"]["first"][0]["line"], 4, "{report}");
    project
        .run("import copilot-arena votes.csv --out ../votes.jsonl")
        .expect_code(2)
        .expect_message(&["--language"]);
    let scenario = |expected: &str| {
        format!(
            "About.\nid: s\nfile: a.py\nrow: 1\ncol: 4\n-- buffer.txt --\nx = \n-- expected --\n{expected}"
        )
    };
    project.write("scenarios/01.txtar", scenario("x = 1\n"));
    project.write("scenarios/02.txtar", scenario("y = 1\n"));
    project.write("scenarios/03.txtar", "no archive\n");
    project.write("scenarios/01/model.ndjson", "{}\n");
    let report = json_of(&project, "import cursortab scenarios --out ../scenarios.jsonl");
    assert_eq!((&report["cases"], &report["broken"]["count"]), (&json!(1), &json!(1)), "{report}");
    let left_out = json!({"the expected edit is no insertion at the cursor": 1});
    assert_eq!(report["left_out"], left_out);
    let example = |patch: &str| {
        format!(
            "# name\n\n## Cursor Position\n\n```a.py\nx = \n#   ^[CURSOR_POSITION]\n```\n\n## Expected Patch\n\n```diff\n@@ -1 +1 @@\n-x = \n+{patch}\n```\n"
        )
    };
    project.write("zed/one.md", example("x = 1"));
    project.write("zed/two.md", example("y = 1"));
    let row = json!({"name": "n", "cursor_path": "b.py", "cursor_position": "x = <|user_cursor|>\n", "expected_patches": ["@@ -1 +1 @@\n-x = \n+x = 2\n"]});
    project.write("zed/more.jsonl", format!("{row}\n{{\"name\":1}}\n"));
    let report = json_of(&project, "import zed zed --out ../zed.jsonl");
    assert_eq!((&report["cases"], &report["left_out"]), (&json!(2), &left_out), "{report}");
    assert_eq!(report["broken"]["first"][0]["line"], 2, "{report}");
    for suite in ["votes", "scenarios", "zed"] {
        project.run(&format!("replay ../{suite}.jsonl --engine builtin --out ../run-{suite}")).expect_code(0);
    }
}

#[test]
fn a_run_over_all_public_rows_shows_the_published_results() {
    let row = |number: usize| {
        json!({
            "func_name": format!("./Source_Code/searcharray/a{number}.py#L1-L2"),
            "block_key": format!("./Source_Code/searcharray/a{number}.py#L2-L2"),
            "block_type": "STATEMENT",
            "prompt": "",
            "prefix": format!("def f{number}():\n    "),
            "suffix": "\n",
            "middle": "return 1",
        })
    };
    let originals: Vec<Value> = (0..312).map(row).collect();
    let project = Project::new("");
    let name = "prefix_suffix_full_complete_current_block_no_evidence.jsonl";
    for (count, is_shown) in [(312, true), (311, false)] {
        project.write(name, lines(&originals[..count]));
        project.run(&format!("import codev-bench {name} --out ../{count}.jsonl")).expect_code(0);
        let replay = format!("replay ../{count}.jsonl --engine nearest-line --out ../run{count}");
        project.run(&replay).expect_code(0);
        let report = project.run(&format!("report ../run{count}")).expect_code(0).stdout;
        assert_eq!(report.contains("published: full_block, pass_rate"), is_shown, "{report}");
        let tables = &json_of(&project, &format!("report ../run{count}"))["benchmarks"]["codev-bench"];
        let published = &tables["published: full_block, pass_rate"]["Codegemma-7b"]["average"];
        assert_eq!(published, &if is_shown { json!(53.85) } else { Value::Null });
    }
}

#[test]
fn torn_documents_are_named_with_their_place() {
    let project = Project::new("");
    project.write("bench.csv", "Unnamed: 0,repository\nA1,redis\n");
    project.write("bench.json", "{\"A1\": {");
    for command in [
        "import yabloco bench.csv bench.json --out ../s.jsonl",
        "score --format yabloco bench.csv bench.json",
    ] {
        project.run(command).expect_code(2).expect_message(&["bench.json:1: column 8"]);
    }
    project.write("repoqa.json", "{\"python\": [");
    let outcome = project.run("import repoqa repoqa.json --out ../s.jsonl").expect_code(3);
    assert_eq!(outcome.stderr.matches("EOF").count(), 1, "{}", outcome.stderr);
    assert!(outcome.stderr.contains("repoqa.json: line 1, column 12"), "{}", outcome.stderr);
}
