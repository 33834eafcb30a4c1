//! Tasks without a cursor, end to end: RepoQA's and YABLoCo's files are built, imported, replayed with the built-in engine and a real
//! llama.cpp server, scored, exported, and the export is scored again with the same numbers.

use std::fs;

use cases::{Case, FindFunction, parse_lines};
use serde_json::{Value, json};
use tests::{LlamaServer, Project, check_out_history};

use crate::run_rows;
use crate::settings::user_file;

fn json_of(project: &Project, arguments: &str) -> Value {
    let outcome = project.run(&format!("{arguments} --json")).expect_code(0);
    serde_json::from_str(&outcome.stdout).expect("JSON alone")
}

/// Returns Python files whose functions are documented.
fn described_functions() -> String {
    let subjects = ["invoice", "orbit", "violin", "harvest", "glacier", "lantern", "pottery", "railway"];
    let file = |(index, subject): (usize, &str)| {
        let function = |verb: &str, line: &str| {
            format!(
                "def {verb}_{subject}(values, limit):\n    \"\"\"{verb} {subject} with {subject} and {subject}.\"\"\"\n    result = []\n    for value in values:\n        if value < limit:\n            result.append({line})\n    return result\n\n\n"
            )
        };
        let code = function("merge", "value + 1") + &function("split", "value * 2");
        format!("//- /src/part{index}.py\nimport os\n\n{code}\n")
    };
    subjects.into_iter().enumerate().map(file).collect()
}

/// Returns a C project whose functions are documented.
fn documented_functions() -> &'static str {
    "//- /src/ring.c\n#include \"ring.h\"\n\n/* Returns the number of entries in the ring buffer. */\nint ring_length(struct ring *ring)\n{\n    int length = ring->head - ring->tail;\n    if (length < 0)\n        length += ring->size;\n    return length;\n}\n\n/* Tells whether the ring buffer has room for another entry. */\nint ring_has_room(struct ring *ring)\n{\n    int used = ring_length(ring);\n    return used + 1 < ring->size;\n}\n//- /src/ring.h\nstruct ring { int head; int tail; int size; };\nint ring_length(struct ring *ring);\n"
}

/// Checks the fields that the original's scripts read from a repository, and that its places are right.
#[track_caller]
fn assert_has_fields_of_the_original(repository: &Value) {
    let content = repository["content"].as_object().expect("files");
    assert_eq!(repository["dependency"].as_object().expect("imports").len(), content.len());
    for needle in repository["needles"].as_array().expect("needles") {
        let path = needle["path"].as_str().expect("a path");
        let text = content[path].as_str().expect("code");
        let at = |key: &str| needle[key].as_u64().unwrap_or_else(|| panic!("no {key}: {needle}")) as usize;
        let lines: Vec<&str> =
            text.split('\n').skip(at("start_line")).take(at("end_line") - at("start_line")).collect();
        assert_eq!(lines.join("\n"), text[at("start_byte")..at("end_byte")]);
        assert_eq!(at("global_end_line") - at("global_start_line"), lines.len());
        assert_eq!(at("global_end_byte") - at("global_start_byte"), at("end_byte") - at("start_byte"));
        assert!(needle["code_ratio"].is_f64() && needle["description"].is_string());
        let functions = repository["functions"][path].as_array().expect("functions");
        let same = functions.iter().find(|function| function["name"] == needle["name"]).expect("the needle");
        assert!(same.as_object().expect("fields").iter().all(|(key, value)| needle[key] == *value), "{same}");
    }
}

#[test]
fn built_in_engine_finds_described_functions() {
    let project = Project::new(&described_functions());
    json_of(&project, "build repoqa . --out ../rq --size 10");
    let imported = json_of(
        &project,
        "import repoqa ../rq/repoqa.json --context-tokens 600 --context-tokens 1200 --out ../rq.jsonl",
    );
    let cases = imported["cases"].as_u64().expect("a count");
    assert!(cases >= 10 && imported["broken"]["count"] == 0, "{imported}");
    json_of(&project, "export ../rq.jsonl --format repoqa --out ../suite-rows");
    let dataset = |path: &str| -> Value {
        let text = fs::read_to_string(project.sibling_path(path)).expect("a data set");
        serde_json::from_str(&text).expect("JSON")
    };
    let exported = dataset("suite-rows/repoqa.json");
    assert_eq!(exported, dataset("rq/repoqa.json"));
    assert_has_fields_of_the_original(&exported["python"][0]);
    project.run("replay ../rq.jsonl --engine builtin --out ../run").expect_code(0);
    let answers = run_rows::predictions(&project.sibling_path("run"));
    assert_eq!(answers.len() as u64, cases);
    assert!(answers.iter().all(|answer| answer.form == Some(cases::AnswerForm::Retrieval)));
    let report = json_of(&project, "report ../run");
    let shown = &report["benchmarks"]["repoqa"];
    let exported = json_of(&project, "export ../run --format repoqa --out ../rows");
    assert_eq!(exported["files"].as_array().expect("files").len(), 2, "{exported}");
    for (size, rounded) in [(600, 512), (1200, 1024)] {
        let scores = json_of(
            &project,
            &format!("score --format repoqa ../rq/repoqa.json ../rows/01-builtin/outputs-{size}.jsonl"),
        );
        for table in ["pass@1", "pass@1, comments ignored"] {
            let (ours, again) =
                (&shown[table][format!("builtin: all, {size} tokens")], &scores["tables"][table]["all"]);
            assert!(again["total"].as_f64() > Some(0.0));
            assert_eq!(ours, again, "{table} at {size}: {shown}");
        }
        let share = scores["tables"]["pass@1"]["all"]["0.8"].as_f64().expect("a share");
        assert!(share >= 0.5, "words of the description are in the names: {share}");
        let depths = "pass@1 at 0.8 by size of the context and depth of the function";
        let row = |of: &str| format!("{of}{rounded} tokens");
        assert_eq!(shown[depths][row("builtin: ")], scores["tables"][depths][row("")], "{shown}");
    }
    for text in [
        project.run("report ../run").expect_code(0).stdout,
        project.run("report ../run --format markdown").expect_code(0).stdout,
    ] {
        assert!(
            text.contains("repoqa, in the original's terms")
                && text.contains("comments ignored")
                && text.contains("builtin: got the tasks without a cursor without a prompt"),
            "{text}"
        );
    }
    let page = fs::read_to_string(project.sibling_path("run/report.html")).expect("a page");
    assert!(page.contains("<polyline") && page.contains("heat-9"));
    assert_eq!(report["benchmark_rules"]["repoqa"]["rules"], "paper");
    let faithful = json_of(&project, "report ../run --faithful");
    assert_eq!(faithful["benchmark_rules"]["repoqa"]["rules"], "faithful");
    assert_eq!(&faithful["benchmarks"]["repoqa"], shown, "the answers are whole, so the rules agree");
}

#[test]
fn bodies_are_written_and_scored_like_generations() {
    let project = Project::new(documented_functions());
    json_of(&project, "build yabloco . --out ../yb");
    let imported = json_of(&project, "import yabloco ../yb/bench.csv ../yb/bench.json --out ../yb.jsonl");
    let cases = imported["cases"].as_u64().expect("a count");
    assert!(cases > 0 && imported["broken"]["count"] == 0, "{imported}");
    project.run("replay ../yb.jsonl --engine builtin --repeat 2 --out ../run").expect_code(0);
    let exported = json_of(&project, "export ../run --format yabloco --out ../rows");
    assert_eq!(exported["files"].as_array().expect("files").len(), 3, "{exported}");
    let ours = fs::read(project.sibling_path("rows/bench.csv")).expect("a table");
    let theirs = fs::read(project.sibling_path("yb/bench.csv")).expect("a table");
    assert_eq!(String::from_utf8_lossy(&ours), String::from_utf8_lossy(&theirs));
    let scores = json_of(
        &project,
        "score --format yabloco ../rows/bench.csv ../rows/bench.json ../rows/01-builtin/generations.csv",
    );
    let report = json_of(&project, "report ../run");
    let (again, shown) = (
        &scores["tables"]["repositories"]["overall"],
        &report["benchmarks"]["yabloco"]["repositories"]["builtin: overall"],
    );
    assert_eq!(again["answers"].as_f64(), Some(2.0 * cases as f64), "{again}");
    assert_eq!(again, shown);
}

#[test]
fn chat_and_completion_models_get_the_tasks_in_their_form() {
    let Some(server) = LlamaServer::start(&["--ctx-size", "8192"]) else { return };
    let project = Project::new(&described_functions());
    let engine = |name: &str, kind: &str| {
        format!("[[engine]]\nname = \"{name}\"\nkind = \"{kind}\"\nurl = \"{}\"\n", server.url())
    };
    user_file(
        &project,
        &(engine("chat", "openai-chat") + "model = \"tiny\"\n" + &engine("text", "llama-cpp")),
    );
    let dataset = json!({"python": [{"repo": "r", "content": {"a.py": "def f():\n    return 1\n"}, "dependency": {"a.py": []}, "needles": [
        {"name": "f", "path": "a.py", "start_line": 0, "end_line": 2, "start_byte": 0, "end_byte": 21, "description": "Returns one."}]}]});
    project.write("d.json", dataset.to_string());
    project.run("import repoqa d.json --context-tokens 256 --out ../s.jsonl").expect_code(0);
    project.run("replay ../s.jsonl --engine chat --engine text --out ../run").expect_code(0);
    let mut forms: Vec<_> = run_rows::predictions(&project.sibling_path("run"))
        .into_iter()
        .map(|answer| {
            assert!(!answer.has_failed(), "{answer:?}");
            (answer.engine.name, answer.form)
        })
        .collect();
    forms.sort();
    let expected = [
        ("chat".to_owned(), Some(cases::AnswerForm::Chat)),
        ("text".to_owned(), Some(cases::AnswerForm::FillIn)),
    ];
    assert_eq!(forms, expected);
}

#[test]
fn equal_contexts_are_one_case() {
    let project = Project::new(&described_functions());
    json_of(&project, "build repoqa . --out ../rq --size 3");
    let import = "import repoqa ../rq/repoqa.json --context-tokens 100000 --all-depths --out ../rq.jsonl";
    let imported = json_of(&project, import);
    assert_eq!(imported["broken"]["count"], 0, "{imported}");
    let same = imported["left_out"]["same context as another case"].as_u64().expect("a count");
    assert_eq!(imported["cases"].as_u64().expect("a count") + same, 30, "three functions at ten depths");
}

#[test]
fn contexts_are_counted_by_the_engines_tokenizer() {
    let Some(server) = LlamaServer::start(&["--ctx-size", "8192"]) else { return };
    let project = Project::new(&described_functions());
    let engine = format!("[[engine]]\nname = \"text\"\nkind = \"llama-cpp\"\nurl = \"{}\"\n", server.url());
    user_file(&project, &engine);
    json_of(&project, "build repoqa . --out ../rq --size 2");
    let import = "import repoqa ../rq/repoqa.json --context-tokens 700";
    project.run(&format!("{import} --out ../estimate.jsonl")).expect_code(0);
    project.run(&format!("{import} --tokenizer text --out ../own.jsonl")).expect_code(0);
    let questions = |file: &str| -> Vec<FindFunction> {
        let cases: Vec<Case> =
            parse_lines(&run_rows::text(&project.sibling_path(file))).expect("a suite").rows;
        cases.iter().filter_map(|case| case.find_function().cloned()).collect()
    };
    let (estimated, own) = (questions("estimate.jsonl"), questions("own.jsonl"));
    assert_eq!((estimated.len(), own.len()), (2, 2));
    // The tiny model has few words, so it counts more tokens.
    assert!(own[0].tokens_of_function > estimated[0].tokens_of_function, "{:?}", own[0]);
    assert_eq!(own[0].tokenizer, "text");
    let without = project.run(&format!("{import} --tokenizer builtin --out ../x.jsonl")).expect_code(2);
    without.expect_message(&["counts no tokens"]);
}

#[test]
fn contexts_beyond_the_models_window_are_failures_with_the_reason() {
    let Some(server) = LlamaServer::start(&["--ctx-size", "2048"]) else { return };
    let project = Project::new(&described_functions());
    let engine = format!(
        "[[engine]]\nname = \"chat\"\nkind = \"openai-chat\"\nmodel = \"tiny\"\ncontext_window = 512\nurl = \"{}\"\n",
        server.url()
    );
    user_file(&project, &engine);
    json_of(&project, "build repoqa . --out ../rq --size 2");
    project.run("import repoqa ../rq/repoqa.json --context-tokens 1000 --out ../s.jsonl").expect_code(0);
    project.run("replay ../s.jsonl --engine chat --out ../run");
    let answers = run_rows::predictions(&project.sibling_path("run"));
    assert!(!answers.is_empty());
    for answer in answers {
        let reason = answer.reason.as_deref().unwrap_or_default();
        assert!(answer.has_failed() && reason.contains("context window has 512"), "{reason}");
    }
}

/// Builds a benchmark of the shape from a real repository, replays it, and returns the report, and the scores of the export.
fn report_and_scores_of_export(
    project: &Project,
    tree: &str,
    steps: [&str; 3],
    files: &[&str],
) -> [Value; 2] {
    let [build, import, format] = steps;
    json_of(project, &format!("build {build} {tree} --out ../{format}"));
    json_of(project, &format!("import {format} {import} --keep-secrets --out ../{format}.jsonl"));
    project
        .run(&format!("replay ../{format}.jsonl --engine builtin --no-copies off --out ../run-{format}"))
        .expect_code(0);
    let report = json_of(project, &format!("report ../run-{format}"))["benchmarks"][format].clone();
    json_of(project, &format!("export ../run-{format} --format {format} --out ../rows-{format}"));
    let files: String = files.iter().map(|file| format!(" ../{file}")).collect();
    [report, json_of(project, &format!("score --format {format}{files}"))["tables"].clone()]
}

/// Compares every row of the export's scores with that of the report.
#[track_caller]
fn assert_same_numbers([report, scores]: [Value; 2]) {
    let mut compared = 0;
    for (table, rows) in scores.as_object().expect("tables") {
        for (row, values) in rows.as_object().expect("rows") {
            assert_eq!(&report[table][report_row(row)], values, "{table}, {row}: {report}");
            compared += values.as_object().expect("values").len();
        }
    }
    assert!(compared >= 8, "{scores}");
}

/// Returns the name in the report of a row of the scores. Of several files of predictions, it begins with the file.
fn report_row(row: &str) -> String {
    let Some((file, language)) = row.split_once(": ") else { return format!("builtin: {row}") };
    let setting = match file {
        "01-builtin/line_completion" => "",
        "01-builtin/line_completion_rg1" => ", retrieval",
        "01-builtin/line_completion_oracle" => ", retrieval with the truth",
        other => panic!("`{other}` is no file of the export"),
    };
    format!("builtin: {language}{setting}")
}

#[test]
fn benchmarks_of_real_repositories_have_the_same_numbers_after_an_export() {
    let project = Project::new("");
    let folder = project.sibling_path("histories");
    fs::create_dir(&folder).expect("a new folder");
    let Some(click) = check_out_history(&folder, "click") else { return };
    let Some(hiredis) = check_out_history(&folder, "hiredis") else { return };
    let (click, hiredis) = (click.display().to_string(), hiredis.display().to_string());
    assert_same_numbers(report_and_scores_of_export(
        &project,
        &click,
        ["codev-bench --size 15", "../codev-bench", "codev-bench"],
        &["rows-codev-bench/01-builtin"],
    ));
    let [report, scores] = report_and_scores_of_export(
        &project,
        &click,
        ["crosscodeeval --size 10", "../crosscodeeval/python", "crosscodeeval"],
        &["rows-crosscodeeval"],
    );
    assert_eq!(scores["results"].as_object().expect("rows").len(), 3, "a row for each setting: {scores}");
    assert_same_numbers([report, scores]);
    assert_same_numbers(report_and_scores_of_export(
        &project,
        &click,
        ["repoqa --size 5", "../repoqa/repoqa.json --context-tokens 4096", "repoqa"],
        &["repoqa/repoqa.json", "rows-repoqa/01-builtin/outputs-4096.jsonl"],
    ));
    assert_same_numbers(report_and_scores_of_export(
        &project,
        &hiredis,
        ["yabloco --size 4", "../yabloco/bench.csv ../yabloco/bench.json", "yabloco"],
        &["rows-yabloco/bench.csv", "rows-yabloco/bench.json", "rows-yabloco/01-builtin/generations.csv"],
    ));
}
