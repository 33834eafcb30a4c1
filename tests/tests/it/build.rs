//! Benchmarks built from a repository: their files can be scored, with full marks for the truths.

use std::fs;
use std::path::Path;

use mock::{MockServer, ReceivedRequest, Reply};
use serde_json::{Value, json};
use tests::Project;

use crate::cceval_reader::{exact_matches, read_examples};
use crate::settings::user_file;

fn build(project: &Project, arguments: &str) -> Value {
    let outcome = project.run(&format!("build {arguments} --json")).expect_code(0);
    serde_json::from_str(&outcome.stdout).expect("JSON alone")
}

fn rows(path: &Path) -> Vec<Value> {
    let text = fs::read_to_string(path).unwrap_or_else(|error| panic!("{}: {error}", path.display()));
    text.lines().map(|line| serde_json::from_str(line).expect("a row")).collect()
}

fn score(project: &Project, arguments: &str) -> Value {
    let outcome = project.run(&format!("score {arguments} --json")).expect_code(0);
    serde_json::from_str(&outcome.stdout).expect("JSON alone")
}

#[test]
fn codev_bench_has_six_files_whose_truths_are_right() {
    let project = project_with_uses();
    let datasheet = build(&project, "codev-bench . --out ../codev --size 40");
    let files = datasheet["files"].as_object().expect("files");
    assert_eq!(files.len(), 6, "{files:?}");
    for (name, count) in files {
        let path = project.sibling_path("codev").join(name);
        let answered: String = rows(&path)
            .into_iter()
            .map(|mut row| {
                let original = fs::read_to_string(
                    project.root().join(row["block_key"].as_str().unwrap().rsplit_once("#L").unwrap().0),
                )
                .expect("a file of the workspace");
                let whole =
                    ["test_prefix", "test_middle", "test_suffix"].map(|key| row[key].as_str().unwrap());
                if !name.contains("empty_completion") {
                    assert_eq!(whole.concat(), original);
                }
                assert_eq!(row["prompt"].as_str().unwrap().matches("<fim_middle>").count(), 1);
                row["response"] = row["middle"].clone();
                row["is_all_passed"] = true.into();
                format!("{row}\n")
            })
            .collect();
        assert_eq!(&json!(answered.lines().count()), count);
        fs::write(&path, answered).expect("written");
    }
    fs::remove_file(project.sibling_path("codev/datasheet.json")).expect("a datasheet");
    let scores = score(&project, "--format codev-bench ../codev");
    for name in ["full_block", "inner_block", "incomplete_suffix", "rag"] {
        let table = &scores["tables"][name];
        assert_eq!(table["edit_sim"]["average"], 100.0, "{name}: {table}");
        assert_eq!(table["right_indent"]["average"], 100.0, "{name}: {table}");
    }
}

/// A project whose modules use names of another one, and have similar functions.
fn project_with_uses() -> Project {
    let project = Project::new("");
    let store: String = (0..12)
        .map(|number| format!("def open_store_{number}(path, limit):\n    return read(path)[:limit]\n\n\n"))
        .collect();
    project.write("shop/store.py", store);
    for number in 0..12 {
        let filler: String = (0..10).map(|line| format!("TOTAL_{line} = {line} * {number} + 1\n")).collect();
        let main = format!(
            "def main_{number}(path, size):\n    rows = open_store_{number}(path, size + canary_{number})\n    return rows\n"
        );
        let report = format!(
            "def report_{number}(rows, limit):\n    if rows > limit + {number}:\n        print(rows, name_{number})\n    for row in rows:\n        sold_{number}(row)\n    return limit\n"
        );
        let import = format!("from shop.store import open_store_{number}\n\n");
        project.write(
            &format!("shop/main_{number}.py"),
            [import, filler, "\n\n".to_owned(), main, "\n\n".to_owned(), report].concat(),
        );
    }
    project
}

#[test]
fn crosscodeeval_has_the_originals_three_files() {
    let project = project_with_uses();
    project.write("shop/tiny.py", "from shop.store import open_store_1\n\n\nprint(open_store_1(1, 2))\n");
    let datasheet = build(&project, "crosscodeeval . --out ../cceval --size 5");
    let out = project.sibling_path("cceval/python");
    let plain = rows(&out.join("line_completion.jsonl"));
    assert_eq!(datasheet["files"]["python/line_completion.jsonl"], plain.len());
    assert_eq!(datasheet["left_out"]["too few lines before a name from another file"], 1, "{datasheet}");
    let oracle = rows(&out.join("line_completion_oracle_bm25.jsonl"));
    let rg1 = rows(&out.join("line_completion_rg1_bm25.jsonl"));
    assert!(!plain.is_empty() && plain.len() == oracle.len() && plain.len() == rg1.len());
    for (plain, oracle) in plain.iter().zip(&oracle) {
        let path = project.root().join(plain["metadata"]["file"].as_str().unwrap());
        let parts = ["prompt", "groundtruth", "right_context"].map(|key| plain[key].as_str().unwrap());
        assert_eq!(parts.concat(), fs::read_to_string(path).expect("a file of the workspace"));
        assert_eq!(plain["metadata"], oracle["metadata"]);
        let context = oracle["crossfile_context"]["text"].as_str().unwrap();
        assert!(context.starts_with("# Here are some relevant code fragments"), "{context}");
    }
    let predictions: Vec<Value> = plain
        .iter()
        .map(|row| json!({"task_id": row["metadata"]["task_id"], "pred": row["groundtruth"]}))
        .collect();
    for (file, has_context) in [(&plain, false), (&rg1, true), (&oracle, true)] {
        let examples = read_examples(file, "#");
        assert_eq!(exact_matches(&examples, &predictions), 100.0);
        for example in examples {
            assert_eq!(
                example.prompt.starts_with("# Here are some relevant"),
                has_context,
                "{}",
                example.prompt
            );
        }
    }
    let predictions: String = predictions.iter().map(|row| format!("{row}\n")).collect();
    fs::write(out.join("prediction.jsonl"), predictions).expect("written");
    let files = "../cceval/python/line_completion_rg1_bm25.jsonl ../cceval/python/prediction.jsonl";
    let scores = score(&project, &format!("--format crosscodeeval {files}"));
    assert_eq!(scores["tables"]["results"]["python"]["em"], 100.0, "{scores}");
}

#[test]
fn repoqa_functions_are_found_by_their_own_code() {
    let project = Project::new("");
    for number in 0..8 {
        let function = format!(
            "def topic_{number}(pages):\n    \"\"\"Count the pages of chapter {number} of the manual.\"\"\"\n    return len(pages) + {number}\n"
        );
        let same_name = "\n\ndef total(pages):\n    \"\"\"Add the pages of all the chapters.\"\"\"\n    return sum(pages)\n";
        project.write(&format!("docs/topic_{number}.py"), function + same_name);
    }
    let datasheet = build(&project, "repoqa . --out ../repoqa --size 5");
    assert_eq!(datasheet["counts"]["functions"]["python"], 5);
    assert!(datasheet["left_out"]["another function has the same name"].as_u64().unwrap() > 0);
    let dataset: Value =
        serde_json::from_slice(&fs::read(project.sibling_path("repoqa/repoqa.json")).expect("a data set"))
            .expect("JSON");
    let repository = &dataset["python"][0];
    let outputs: String = repository["needles"]
        .as_array()
        .unwrap()
        .iter()
        .map(|needle| {
            let text = repository["content"][needle["path"].as_str().unwrap()].as_str().unwrap();
            let at = |key: &str| needle[key].as_u64().unwrap() as usize;
            let code = &text[at("start_byte")..at("end_byte")];
            assert!(!text.contains(needle["description"].as_str().unwrap()));
            json!({"language": "python", "repo": repository["repo"], "name": needle["name"],
                "output": [format!("```python\n{code}\n```")], "position_ratio": 0.5, "code_context_ntokens": 16000})
            .to_string()
                + "\n"
        })
        .collect();
    fs::write(project.sibling_path("repoqa/outputs.jsonl"), outputs).expect("written");
    let scores = score(&project, "--format repoqa ../repoqa/repoqa.json ../repoqa/outputs.jsonl");
    assert_eq!(scores["tables"]["pass@1"]["python"]["1.0"], 1.0, "{scores}");
    let depths = &scores["tables"]["pass@1 at 0.8 by size of the context and depth of the function"];
    assert_eq!(depths["16384 tokens"]["50%"], 1.0);
}

const C_CODE: &str = "//- /src/list.c
/* Add a value at the end of the list. */
int list_add(struct list *l, int value) {
    l->items[l->n] = value;
    l->n++;
    return l->n;
}

/* Tell whether there is room for more visitors tonight. */
bool is_open(const struct museum *m) {
    unsigned guests = m->children + m->adults;
    return list_add(m->log, guests) < m->seats;
}
//- /src/main.c
/* Make a copy of the name for the owner. */
char *copy_of(const char *name, int size) {
    char *copy = malloc(size);
    memcpy(copy, name, size);
    return copy;
}
//- /LICENSE
MIT License
";

#[test]
fn yabloco_functions_have_their_categories() {
    let project = Project::new(C_CODE);
    let datasheet = build(&project, "yabloco . --out ../yabloco");
    assert_eq!(datasheet["counts"]["categories"], json!({"none": 1, "stdlib": 1, "same_file": 1}));
    assert_eq!(datasheet["licences"], json!([{"file": "LICENSE", "licence": "MIT"}]));
    let oracle: Value =
        serde_json::from_slice(&fs::read(project.sibling_path("yabloco/oracle.json")).expect("a document"))
            .expect("JSON");
    let answers: Vec<Value> = oracle.as_array().unwrap().iter().map(|row| json!([row["code"]])).collect();
    fs::write(project.sibling_path("yabloco/answers.json"), json!(answers).to_string()).expect("written");
    let scores = score(&project, "--format yabloco ../yabloco/oracle.json ../yabloco/answers.json");
    assert_eq!(scores["tables"]["repositories"]["overall"]["em"], 100.0, "{scores}");
    let mut csv = "Unnamed: 0,0\n".to_owned();
    for row in oracle.as_array().unwrap() {
        csv += &format!("{},\"{}\"\n", row["id"].as_str().unwrap(), row["code"].as_str().unwrap());
    }
    fs::write(project.sibling_path("yabloco/model.csv"), csv).expect("written");
    let files = ["bench.csv", "bench.json", "model.csv"].map(|name| format!("../yabloco/{name}")).join(" ");
    let scores = score(&project, &format!("--format yabloco {files}"));
    assert_eq!(scores["tables"]["dependencies"]["overall"]["em"], 100.0, "{scores}");
}

#[test]
fn repositories_without_a_fitting_function_are_usage_errors() {
    let project = Project::new("//- /a.py\n# Nothing but a comment.\n");
    project.run("build yabloco . --out ../out").expect_code(2).expect_message(&["--language"]);
    project.run("build repoqa . --out ../out").expect_code(2);
    project.run("build codev-bench . --out ../out").expect_code(2);
    project.run("build repoqa . --out a.py").expect_code(2).expect_message(&["is a file"]);
}

/// A chat server that describes the functions of the next test: the first description of `weigh` has its name.
fn describing_server() -> MockServer {
    MockServer::scripted(|request: &ReceivedRequest| {
        let prompt = request.text();
        let text = match () {
            () if prompt.contains("def always_named") => "It is always_named and nothing else.",
            () if prompt.contains("def weigh") && !prompt.contains("Avoid these: Weigh") => {
                "Weigh all the pages of a book."
            }
            () => "Sums up the mass of every page of a book.",
        };
        let piece = json!({"choices": [{"index": 0, "delta": {"content": text}, "finish_reason": null}]});
        let end = json!({"choices": [{"index": 0, "delta": {}, "finish_reason": "stop"}]});
        Reply::events([piece.to_string().as_str(), end.to_string().as_str(), "[DONE]"])
    })
}

#[test]
fn a_chat_engine_describes_functions_and_its_answers_are_recorded() {
    let project = Project::new(
        "//- /a.py\ndef weigh(pages):\n    return sum(page.mass for page in pages)\n\n\n\ndef always_named(x):\n    return x\n",
    );
    let server = describing_server();
    user_file(
        &project,
        &format!(
            "[[engine]]\nname = \"writer\"\nkind = \"openai-chat\"\nurl = \"{}\"\nmodel = \"m\"\n",
            server.url()
        ),
    );
    let arguments = "repoqa . --describe-with writer --cassette ../c.jsonl --out";
    let datasheet = build(&project, &format!("{arguments} ../first"));
    let counts = &datasheet["counts"];
    assert_eq!(
        (&counts["functions"], &counts["describer"]["engine"]),
        (&json!({"python": 1}), &json!("writer"))
    );
    assert_eq!(counts["describer"]["requests"], 5, "two for one function, three for the other");
    assert_eq!(datasheet["left_out"]["the engine's description names the function or something in it"], 1);
    let dataset = fs::read(project.sibling_path("first/repoqa.json")).expect("a data set");
    let text = String::from_utf8(dataset.clone()).expect("text");
    assert!(text.contains("Sums up the mass of every page of a book."), "{text}");
    drop(server);
    let again =
        build(&project, "repoqa . --describe-with writer --cassette ../c.jsonl --offline --out ../again");
    assert_eq!(again["counts"], datasheet["counts"]);
    assert_eq!(fs::read(project.sibling_path("again/repoqa.json")).expect("a data set"), dataset);
    let missing = "build repoqa . --describe-with writer --cassette ../none.jsonl --out ../none";
    project.run(missing).expect_code(3);
}

#[test]
fn only_chat_engines_describe_and_only_functions_of_repoqa() {
    let project = Project::new("//- /a.py\ndef weigh(pages):\n    return sum(pages)\n");
    project
        .run("build repoqa . --describe-with builtin --out ../out")
        .expect_code(2)
        .expect_message(&["builtin", "does not chat"]);
    project
        .run("build yabloco . --describe-with builtin --out ../out")
        .expect_code(2)
        .expect_message(&["--describe-with is for repoqa"]);
}

#[test]
fn compilation_database_of_yabloco_is_found_and_checked() {
    let project = Project::new(C_CODE);
    let root = project.root().canonicalize().expect("it is there");
    let entry = json!([{"directory": root, "file": "src/list.c", "command": "cc -c src/list.c"}]);
    project.write("build/compile_commands.json", entry.to_string());
    let datasheet = build(&project, "yabloco . --out ../yabloco");
    assert_eq!(datasheet["counts"]["compiled_files"], 1);
    assert_eq!(datasheet["left_out"]["the file is not compiled"], 1);
    assert_eq!(datasheet["counts"]["categories"], json!({"none": 1, "same_file": 1}));
    project.write("build/compile_commands.json", "{");
    project.run("build yabloco . --out ../yabloco").expect_code(2).expect_message(&["compilation database"]);
    project
        .run("build yabloco . --compile-commands nowhere.json --out ../yabloco")
        .expect_code(2)
        .expect_message(&["nowhere.json"]);
}

#[test]
fn unusable_index_of_clangd_is_named_and_ignored() {
    let project = Project::new(C_CODE);
    project.write(".cache/clangd/index/list.c.0.idx", b"RIFF\0\0\0\0CdIxmeta\x04\0\0\0\x63\0\0\0");
    project.write(".cache/clangd/index/main.c.0.idx", "no index");
    let outcome = project.run("build yabloco . --out ../yabloco --json").expect_code(0).expect_message(&[
        "ignored 1 file: version 99 of the index is not supported",
        "ignored 1 file: not an index of clangd",
        "has no reference",
    ]);
    let datasheet: Value = serde_json::from_str(&outcome.stdout).expect("JSON alone");
    assert_eq!(datasheet["counts"]["indexed_references"], Value::Null);
    assert_eq!(datasheet["counts"]["categories"], json!({"none": 1, "stdlib": 1, "same_file": 1}));
    project
        .run("build yabloco . --clangd-index nowhere --out ../yabloco")
        .expect_code(2)
        .expect_message(&["nowhere is not a folder"]);
}
