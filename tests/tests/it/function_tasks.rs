//! Tasks without a cursor, end to end: RepoQA's and YABLoCo's files are built, imported, replayed with the built-in engine and a real
//! llama.cpp server, scored, exported, and the export is scored again with the same numbers.

use std::fs;

use serde_json::{Value, json};
use tests::{LlamaServer, Project};

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
    project.run("replay ../rq.jsonl --engine builtin --out ../run").expect_code(0);
    let answers = run_rows::predictions(&project.sibling_path("run"));
    assert_eq!(answers.len() as u64, cases);
    assert!(answers.iter().all(|answer| answer.form == Some(cases::AnswerForm::Retrieval)));
    let report = json_of(&project, "report ../run");
    let curve = &report["benchmarks"]["repoqa"]["pass@1"]["builtin: all"];
    assert!(
        curve["0.8"].as_f64().expect("a share") > 0.5,
        "words of the description are in the names: {curve}"
    );
    let exported = json_of(&project, "export ../run --format repoqa --out ../rows");
    assert_eq!(exported["files"].as_array().expect("files").len(), 2, "{exported}");
    let scores = ["600", "1200"].map(|size| {
        json_of(
            &project,
            &format!("score --format repoqa ../rq/repoqa.json ../rows/01-builtin/outputs-{size}.jsonl"),
        )["tables"]["pass@1"]["all"]
            .clone()
    });
    let found: f64 =
        scores.iter().map(|row| row["0.8"].as_f64().unwrap() * row["total"].as_f64().unwrap()).sum();
    let expected = curve["0.8"].as_f64().unwrap() * curve["total"].as_f64().unwrap();
    assert!((found - expected).abs() < 1e-9, "{scores:?} {curve}");
    for text in [
        project.run("report ../run").expect_code(0).stdout,
        project.run("report ../run --format markdown").expect_code(0).stdout,
    ] {
        assert!(
            text.contains("repoqa, in the original's terms") && text.contains("comments ignored"),
            "{text}"
        );
    }
    let page = fs::read_to_string(project.sibling_path("run/report.html")).expect("a page");
    assert!(page.contains("<polyline") && page.contains("heat-9"));
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
