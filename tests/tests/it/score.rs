//! The numbers of public benchmarks, computed from files.

use std::collections::BTreeMap;
use std::fs::File;
use std::io::Write;

use flate2::Compression;
use flate2::write::GzEncoder;
use serde_json::{Value, json};
use syntax::Language;
use test_fixture::golden_rows;
use tests::Project;

/// Scores files of the workspace by the originals' programs.
fn faithful(project: &Project, arguments: &str) -> Value {
    let outcome = project.run(&format!("score {arguments} --faithful --json")).expect_code(0);
    serde_json::from_str(&outcome.stdout).expect("JSON alone")
}

fn lines(rows: impl IntoIterator<Item = Value>) -> String {
    rows.into_iter().map(|row| format!("{row}\n")).collect()
}

/// Writes a compressed file of the workspace.
fn write_gzip(project: &Project, path: &str, text: &str) {
    let path = project.write(path, "");
    let mut file = GzEncoder::new(File::create(path).expect("a file"), Compression::fast());
    file.write_all(text.as_bytes()).expect("written");
    file.finish().expect("written");
}

#[track_caller]
fn assert_number(ours: &Value, expected: &Value, name: &str) {
    assert_eq!(ours.as_f64(), expected.as_f64(), "{name}");
}

#[test]
fn codev_bench_tables_are_those_of_the_original() {
    let (Some(rows), Some(tables)) = (golden_rows("codev_results.jsonl"), golden_rows("codev_tables.jsonl"))
    else {
        return;
    };
    let project = Project::new("");
    let mut parts: BTreeMap<(String, u64), String> = BTreeMap::new();
    for row in rows {
        let part =
            (row["mode"].as_str().expect("a mode").to_owned(), row["shard"].as_u64().expect("a shard"));
        *parts.entry(part).or_default() += &format!("{row}\n");
    }
    for ((mode, part), rows) in &parts {
        project.write(&format!("results/{mode}/model.jsonl.{part}"), rows);
    }
    let report = faithful(&project, "--format codev-bench results");
    let groups = ["function", "branch", "loop", "exception", "statement", "average"];
    let names = ["函数", "判断逻辑块", "循环逻辑块", "异常逻辑块", "普通语句", "Average"];
    let rows = [
        ("pass_rate", "pass_rate"),
        ("edit_sim", "edit_sim_difflib"),
        ("edit_sim_levenshtein", "edit_sim_levenshtein"),
        ("line_length", "line_length"),
        ("latency", "latency"),
    ];
    for table in &tables {
        let name = if table["id"] == "codev-table-inner" { "inner_block" } else { "full_block" };
        for (ours, theirs) in rows {
            for (group, column) in groups.into_iter().zip(names) {
                let number = &report["tables"][name][ours][group];
                assert_number(number, &table[theirs][column], &format!("{name} {ours} {group}"));
            }
        }
    }
    let paper = project.run("score --format codev-bench results").expect_code(0).stdout;
    assert!(paper.contains("counted rows: that number of rows in each of the four parts"), "{paper}");
}

#[test]
fn codev_bench_files_without_a_mode_are_refused() {
    let project = Project::new("");
    project.write("rows.jsonl", "{}");
    project
        .run("score --format codev-bench rows.jsonl")
        .expect_code(2)
        .expect_message(&["rows.jsonl", "complete_current_header_inner_block_completion"]);
    let mode = "complete_current_header_empty_completion";
    for model in ["a", "b"] {
        project.write(&format!("{model}/{mode}/x.jsonl.0"), "{}");
    }
    project.run("score --format codev-bench a b").expect_code(2).expect_message(&["one model"]);
}

#[test]
fn crosscodeeval_results_are_those_of_the_original() {
    let (Some(rows), Some(aggregates)) =
        (golden_rows("cceval_metrics.jsonl"), golden_rows("cceval_aggregate.jsonl"))
    else {
        return;
    };
    let project = Project::new("");
    // Python's truncation depends on the version of its grammar.
    let rows: Vec<Value> = rows.into_iter().filter(|row| row["lang"] != "python").collect();
    let id =
        |row: &Value| format!("project_cc_{}/{}", row["lang"].as_str().unwrap(), row["id"].as_str().unwrap());
    let item = |row: &Value| {
        json!({"prompt": row["prompt"], "groundtruth": row["groundtruth"], "right_context": "",
            "metadata": {"task_id": id(row), "repository": "r", "file": "a/b"}})
    };
    write_gzip(&project, "line_completion.jsonl.gz", &lines(rows.iter().map(item)));
    let predictions = rows.iter().map(|row| json!({"task_id": id(row), "pred": row["prediction_raw"]}));
    project.write("prediction.jsonl", lines(predictions));
    let report = faithful(&project, "--format crosscodeeval prediction.jsonl line_completion.jsonl.gz");
    for row in aggregates.iter().filter(|row| row["lang"] != "python") {
        let ours = &report["tables"]["results"][row["lang"].as_str().unwrap()];
        let similarity = if row["es_variant"] == "levenshtein" { "es_levenshtein" } else { "es" };
        assert_number(&ours[similarity], &row["expected"]["es"], "es");
        for name in ["em", "id_em", "id_precision", "id_recall", "id_f1", "total"] {
            assert_number(&ours[name], &row["expected"][name], name);
        }
    }
}

#[test]
fn repoqa_results_are_those_of_the_original() {
    let Some(mut rows) = golden_rows("repoqa_scores.jsonl") else { return };
    // Versions of the parser recover from broken code in different ways.
    let is_broken = |row: &Value| {
        let code = row["expected"]["ignore_comments_false"]["sanitized_output"].as_str().unwrap();
        let language = Language::from_name(row["language"].as_str().unwrap()).expect("a language");
        syntax::parse(language, code).has_error()
    };
    rows.retain(|row| row["grammar_sensitive"] == false && !is_broken(row));
    assert!(rows.len() > 150, "{}", rows.len());
    let project = Project::new("");
    let (dataset, outputs) = repoqa_files(&rows);
    write_gzip(&project, "repoqa.json.gz", &dataset.to_string());
    project.write("outputs.jsonl", lines(outputs));
    let report = faithful(&project, "--format repoqa repoqa.json.gz outputs.jsonl");
    for (mode, table) in
        [("ignore_comments_false", "pass@1"), ("ignore_comments_true", "pass@1, comments ignored")]
    {
        for language in ["python", "java", "typescript", "rust", "cpp", "go", "all"] {
            let of_language: Vec<&Value> =
                rows.iter().filter(|row| language == "all" || row["language"] == language).collect();
            for tenths in 0..=10 {
                let threshold = format!("{:.1}", f64::from(tenths) / 10.0);
                let passed = |row: &&&Value| row["expected"][mode]["passed_at_threshold"][&threshold] == 1;
                let expected = of_language.iter().filter(passed).count() as f64 / of_language.len() as f64;
                let ours = &report["tables"][table][language][&threshold];
                assert_number(ours, &json!(expected), &format!("{mode} {language} at {threshold}"));
            }
        }
    }
    assert_eq!(report["predictions"], rows.len());
}

/// Makes a data set in which each golden row has a repository of its own, and the outputs.
fn repoqa_files(rows: &[Value]) -> (Value, Vec<Value>) {
    let mut languages: BTreeMap<String, Vec<Value>> = BTreeMap::new();
    let mut outputs = Vec::new();
    for row in rows {
        let (mut content, mut needles) = (serde_json::Map::new(), Vec::new());
        let mut others = 0;
        for needle in row["needles"].as_array().expect("needles") {
            let code = needle["code"].as_str().expect("code");
            let path = format!("{}", needles.len());
            needles.push(json!({"name": needle["name"], "path": path, "start_line": 0,
                "end_line": code.split('\n').count(), "start_byte": 0, "end_byte": code.len()}));
            others += usize::from(needle["name"] != row["ground_truth"]);
            content.insert(path, code.into());
        }
        assert_eq!(others + 1, needles.len());
        let (language, id) = (row["language"].as_str().expect("a language"), &row["id"]);
        languages.entry(language.to_owned()).or_default().push(json!({"repo": id, "content": content,
            "dependency": {}, "needles": needles}));
        outputs.push(json!({"language": language, "repo": id, "name": row["ground_truth"],
            "output": [row["model_output"]]}));
    }
    (json!(languages), outputs)
}

#[test]
fn yabloco_results_are_those_of_the_original() {
    let Some(rows) = golden_rows("yabloco_bench.jsonl") else { return };
    let project = Project::new("");
    let mut table =
        "Unnamed: 0,fname,file,same_file,same_package,project,stdlib,code_length,pos,repository\n".to_owned();
    let mut generations = "Unnamed: 0,0,1\n".to_owned();
    let mut functions = serde_json::Map::new();
    let quoted = |text: &str| format!("\"{}\"", text.replace('"', "\"\""));
    for (number, row) in rows.iter().enumerate() {
        let text = |key: &str| row[key].as_str().expect("a text");
        let deps = &row["deps"];
        table += &format!(
            "{},{},{},{},{},{},{},{},{},{}\n",
            text("key"),
            quoted(text("fname")),
            text("file"),
            deps["same_file"],
            deps["same_package"],
            deps["project"],
            deps["stdlib"],
            row["code_length"],
            row["pos"],
            text("repo")
        );
        generations +=
            &format!("{},{},{}\n", text("key"), quoted(&format!("```cpp\n{}\n```", text("code"))), "int x;");
        functions.insert(text("key").to_owned(), json!({"code": row["code"], "calls": []}));
        let result = json!({"built": true, "passed": number % 2 == 0, "error": ""});
        project.write(&format!("results/{}/{}-1-res.json", text("repo"), text("key")), result.to_string());
    }
    project.write("bench.csv", table);
    project.write("bench.json", Value::Object(functions).to_string());
    project.write("model.csv", generations);
    let report = faithful(&project, "--format yabloco bench.csv bench.json model.csv results");
    let overall = &report["tables"]["repositories"]["overall"];
    assert_number(&overall["em"], &json!(50.0), "em");
    assert_number(&overall["pass@1"], &json!(0.0), "the first answers have no passed test");
    let passed = rows.len().div_ceil(2) as f64;
    let expected = (10_000.0 * passed / rows.len() as f64).round() / 100.0;
    assert_number(&overall["pass@5"], &json!(expected), "pass@5");
    assert_number(&overall["functions"], &json!(rows.len()), "functions");
    for category in ["none", "stdlib", "same_file", "same_package", "project"] {
        let count = rows.iter().filter(|row| row["category"] == category).count();
        assert_number(&report["tables"]["dependencies"][category]["functions"], &json!(count), category);
    }
}

#[test]
fn broken_rows_are_reported_and_do_not_stop_the_rest() {
    let project = Project::new("");
    let item = |id: &str, file: &str| {
        json!({"prompt": "", "groundtruth": "a;", "metadata": {"task_id": id, "file": file}}).to_string()
    };
    let rows = [
        format!("\u{feff}{}", item("x/y/1", "a.java")),
        item("x/y/1", "a.java"),
        item("x/2", "../../etc/passwd.java"),
        item("x/3", "/a.java"),
        item("x/4", "a.txt"),
        r#"{"prompt": NaN}"#.to_owned(),
        item("x/5", "b.java"),
        r#"{"prompt": "cut o"#.to_owned(),
    ];
    project.write("items.jsonl", rows.join("\n"));
    project.write(
        "prediction.jsonl",
        "{\"task_id\":\"x/y/1\",\"pred\":\"a; }\"}\n{\"task_id\":\"x/99\",\"pred\":\"\"}\n",
    );
    let outcome =
        project.run("score --format crosscodeeval items.jsonl prediction.jsonl --json").expect_code(0);
    let report: Value = serde_json::from_str(&outcome.stdout).expect("JSON alone");
    let lines: Vec<u64> = report["broken"]["first"]
        .as_array()
        .unwrap()
        .iter()
        .map(|row| row["line"].as_u64().unwrap())
        .collect();
    assert_eq!(lines, [2, 3, 4, 6, 8, 5]);
    assert_eq!((&report["cases"], &report["missing"]["first"]), (&json!(2), &json!(["x/5"])));
    assert_eq!(report["unknown"]["first"], json!(["x/99"]));
    assert_number(&report["tables"]["results"]["java"]["em"], &json!(50.0), "em");
    outcome.expect_message(&[
        "items.jsonl:3: the path \"../../etc/passwd.java\"",
        "items.jsonl:5: the language",
    ]);
}

#[test]
fn files_without_any_case_are_usage_errors() {
    let project = Project::new("");
    project.write("utf16.jsonl", b"\xff\xfe{\0}\0");
    project.write("empty.jsonl", "");
    for format in ["crosscodeeval", "repoqa", "yabloco"] {
        for file in ["utf16.jsonl", "empty.jsonl", "absent.jsonl"] {
            let code = project.run(&format!("score --format {format} {file}")).code();
            assert!(matches!(code, Some(2 | 3)), "{format} {file}: {code:?}");
        }
    }
    project.run("score --format codev-bench absent").expect_code(2);
    let help = project.run("score --help").expect_code(0).stdout;
    assert!(help.contains("ghostbench score --format"), "{help}");
}
