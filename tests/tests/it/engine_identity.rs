//! Engines of a run are distinguished by name, and by everything that can change their answers.

use std::fs;
use std::path::Path;

use mock::{Dialect, MockModel, MockServer, TemplateMarks};
use tests::Project;
#[cfg(unix)]
use tests::RunningProcess;

use crate::run_rows;
use crate::settings::user_file;

const KEY: &str = "sk-very-secret-0123456789";

/// A llama.cpp mock server that always answers with this text.
fn server(answer: &'static str) -> MockServer {
    MockServer::with_dialect(Dialect::llama_cpp(
        MockModel::new("coder", Some(TemplateMarks::QWEN)).with_answers(move |_| Some(answer.to_owned())),
    ))
}

/// An engine without a model.
fn engine(name: &str, server: &MockServer, rest: &str) -> String {
    format!("[[engine]]\nname = \"{name}\"\nkind = \"llama-cpp\"\nurl = \"{}\"\n{rest}", server.url())
}

fn count(run: &Path, engine: &str, text: &str) -> usize {
    run_rows::predictions(run).iter().filter(|row| row.engine.name == engine && row.raw == text).count()
}

#[test]
fn servers_without_a_model_have_distinct_fingerprints() {
    let project = Project::generated(3);
    let (one, two) = (server("one = 1"), server("two = 2"));
    let (prices, header) = ("price_in = 1.0\n", format!("headers = {{ x-route = \"{KEY}\" }}\n"));
    let settings = engine("a", &one, prices) + &engine("b", &two, "") + &engine("c", &two, &header);
    user_file(&project, &settings);
    let run = project.sibling_path("run");
    project.run("try . --cases 5 --engine a --engine b --engine c --out ../run").expect_code(0);
    let cases = run_rows::cases(&run).len();
    assert_eq!(
        [count(&run, "a", "one = 1"), count(&run, "b", "two = 2"), count(&run, "c", "two = 2")],
        [cases; 3]
    );
    let mut fingerprints: Vec<_> =
        run_rows::run(&run).engines.iter().map(|config| config.engine.fingerprint.clone()).collect();
    fingerprints.sort();
    fingerprints.dedup();
    assert_eq!(fingerprints.len(), run_rows::run(&run).engines.len());
    let json = project.run("report ../run --json").expect_code(0).stdout;
    let json: serde_json::Value = serde_json::from_str(&json).expect("JSON");
    let lines = json["summary"]["sections"][0]["overall"]["lines"].as_array().expect("lines").clone();
    assert!(lines.len() >= 3 && lines.iter().all(|line| line["cases"] == cases), "{lines:?}");
    let stored = run_rows::text(&run.join("run.json"));
    for private in [KEY, one.url().trim_start_matches("http://"), two.url().trim_start_matches("http://")] {
        assert!(!stored.contains(private), "{private} in {stored}");
    }
}

#[test]
fn resume_names_changed_engine_settings() {
    let project = Project::generated(3);
    let (one, two) = (server("one = 1"), server("two = 2"));
    user_file(&project, &engine("a", &one, "price_in = 1.0\n"));
    project.run("try . --cases 3 --engine a --out ../run").expect_code(0);
    let resume = "replay ../run/cases.jsonl --workspace . --engine a --out ../run --resume";
    project.run(resume).expect_code(0);
    let before = run_rows::text(&project.sibling_path("run").join("predictions.jsonl"));
    for (settings, message) in [
        (engine("a", &two, "price_in = 1.0\n"), "engine `a`: `url` differs"),
        (engine("a", &one, "price_in = 2.0\n"), "engine `a`: `price_in` was 1, is 2"),
        (engine("a", &one, "price_in = 1.0\nheaders = { x = \"y\" }\n"), "engine `a`: `headers.x` differs"),
        (engine("a", &one, "price_in = 1.0\nmax_tokens = 7\n"), "engine `a`: `max_tokens` was 512, is 7"),
    ] {
        user_file(&project, &settings);
        let refused = project.run(resume).expect_code(2).expect_message(&[message, "--out"]);
        assert!(!refused.stderr.contains("hashed:"), "{}", refused.stderr);
    }
    user_file(&project, &engine("a", &one, "price_in = 1.0\n"));
    fs::remove_file(key_file(&project.home())).expect("the key of this machine");
    project
        .run(resume)
        .expect_code(2)
        .expect_message(&["engine `a`", "on another machine or with a lost key"]);
    assert_eq!(run_rows::text(&project.sibling_path("run").join("predictions.jsonl")), before);
}

fn key_file(folder: &Path) -> std::path::PathBuf {
    let mut folders = vec![folder.to_owned()];
    while let Some(folder) = folders.pop() {
        for entry in fs::read_dir(folder).expect("it is ours").flatten() {
            match entry.path() {
                path if path.ends_with("hash-key") => return path,
                path if path.is_dir() => folders.push(path),
                _ => {}
            }
        }
    }
    panic!("there is no key");
}

/// Settings of programs that differ in one thing each: a variable, the script or the model file. All inherit the same environment.
#[cfg(unix)]
fn programs(project: &Project, who: &str) -> String {
    let answering = |script: &str, text: &str| {
        let path = project.sibling_path(script);
        let answer = format!("echo \"{{\\\"id\\\":$id,\\\"text\\\":\\\"{text}\\\",\\\"done\\\":true}}\"");
        let id = "id=${line#*'\"id\":'}; id=${id%%,*}";
        let script = format!(
            "while read -r line; do {id}; case $line in '{{\"cancel\"'*) ;; *) {answer} ;; esac; done\n"
        );
        fs::write(&path, script).expect("the temporary folder is ours");
        path
    };
    let (one, other) = (answering("one.sh", "$WHO$(cat $1)"), answering("other.sh", "other"));
    for model in ["first.bin", "second.bin"] {
        fs::write(project.sibling_path(model), &model[..5]).expect("the temporary folder is ours");
    }
    let engine = |name: &str, price: u32, script: &Path, model: &str, who: &str| {
        let model = project.sibling_path(model);
        format!(
            "[[engine]]\nname = \"{name}\"\nkind = \"command\"\nprice_in = {price}.0\ncommand = [\"sh\", {script:?}, {model:?}]\nenv = {{ WHO = \"{who}\" }}\n"
        )
    };
    engine("base", 1, &one, "first.bin", who)
        + &engine("env", 2, &one, "first.bin", "two_")
        + &engine("script", 3, &other, "first.bin", who)
        + &engine("model", 4, &one, "second.bin", who)
}

#[test]
#[cfg(unix)]
fn programs_differing_in_env_script_or_model_are_distinct() {
    const ANSWERS: [(&str, &str); 4] =
        [("base", "one_first"), ("env", "two_first"), ("script", "other"), ("model", "one_secon")];
    let project = Project::generated(3);
    user_file(&project, &programs(&project, "one_"));
    let run = project.sibling_path("run");
    project.run("try . --cases 5 --out ../run --cassette ../c.jsonl").expect_code(0);
    let cases = run_rows::cases(&run).len();
    let check = |run: &Path| {
        for (engine, answer) in ANSWERS {
            assert_eq!(count(run, engine, answer), cases, "{engine}");
        }
    };
    check(&run);
    let engines = run_rows::run(&run).engines;
    let fingerprints: std::collections::BTreeSet<_> =
        engines.iter().map(|config| &config.engine.fingerprint).collect();
    assert_eq!(fingerprints.len(), engines.len(), "{engines:?}");
    let prices: Vec<_> = engines.iter().filter_map(|config| config.price.map(|price| price.input)).collect();
    assert!(prices.starts_with(&[1.0, 2.0, 3.0, 4.0]), "{prices:?}");
    project
        .run("replay ../run/cases.jsonl --workspace . --cassette ../c.jsonl --offline --out ../again")
        .expect_code(0);
    check(&project.sibling_path("again"));
    let resume = "replay ../run/cases.jsonl --workspace . --out ../run --resume";
    project.run(resume).expect_code(0);
    user_file(&project, &programs(&project, "1_"));
    project.run(resume).expect_code(2).expect_message(&["engine `base`: `env.WHO` differs"]);
    user_file(&project, &programs(&project, "one_"));
    fs::write(project.sibling_path("second.bin"), "third").expect("the temporary folder is ours");
    project.run(resume).expect_code(2).expect_message(&["engine `model`: `command[2] contents` differs"]);
    user_file(&project, &programs(&project, "one_"));
    let mut elsewhere = project.ghostbench(resume);
    elsewhere.env("OMP_NUM_THREADS", "3");
    RunningProcess::start(elsewhere)
        .wait()
        .expect_code(2)
        .expect_message(&["engine `base`: `environment` differs"]);
    project.run(resume).expect_code(0);
}

#[test]
fn duplicate_engine_names_are_rejected_with_locations() {
    let project = Project::generated(2);
    let (one, two) = (server("one = 1"), server("two = 2"));
    user_file(&project, &(engine("a", &one, "") + &engine("a", &two, "")));
    let refused = project.run("try . --cases 3 --engine a --out ../run").expect_code(2);
    refused.expect_message(&["two engines are called `a`", "config.toml:1:1", "config.toml:5:1"]);
    let refused =
        project.run("try . --cases 3 --engine builtin --engine builtin --out ../run").expect_code(2);
    refused.expect_message(&["engine `builtin` is named twice", "1st", "2nd"]);
    assert!(!project.sibling_path("run").exists());
}

#[test]
fn engine_that_never_answers_fails_the_run() {
    let project = Project::generated(3);
    let gone = server("one = 1");
    let settings = engine("gone", &gone, "");
    drop(gone);
    user_file(&project, &settings);
    for (command, run) in [
        ("try . --cases 12 --engine builtin --engine gone --out ../run", "run"),
        ("replay ../run/cases.jsonl --engine gone --out ../again", "again"),
    ] {
        let outcome = project.run(command).expect_code(3);
        outcome.expect_message(&["engine `gone` never answered", "requests failed", "127.0.0.1"]);
        assert!(project.sibling_path(run).join("report.html").is_file());
        let scores: Vec<cases::Score> =
            cases::parse_lines(&run_rows::text(&project.sibling_path(run).join("scores.jsonl")))
                .expect("scores")
                .rows;
        let failed: Vec<_> = scores.iter().filter(|score| score.engine == "gone").collect();
        assert!(!failed.is_empty());
        for (name, metric) in failed.iter().flat_map(|score| &score.metrics) {
            let earned = match metric {
                cases::MetricValue::Value(value) => *value,
                cases::MetricValue::Ratio { num, .. } => *num,
            };
            assert_eq!(earned, 0.0, "{name}");
        }
    }
}

/// The run was created by version 0.0.0 with schema 1.2, in which engines `one` and `two` have the same fingerprint.
#[test]
fn run_of_an_older_schema_is_rendered_but_not_resumed() {
    let project = Project::generated(1);
    let run = project.sibling_path("run");
    fs::create_dir_all(&run).expect("the temporary folder is ours");
    let stored = Path::new(env!("CARGO_MANIFEST_DIR")).join("fixtures/run-1.2");
    for file in ["run.json", "cases.jsonl", "predictions.jsonl", "scores.jsonl"] {
        fs::copy(stored.join(file), run.join(file)).expect("the run is stored");
    }
    let json = project.run("report ../run --json").expect_code(0).stdout;
    let json: serde_json::Value = serde_json::from_str(&json).expect("JSON");
    let lines = json["summary"]["sections"][0]["overall"]["lines"].as_array().expect("lines").clone();
    let found: Vec<_> = lines
        .iter()
        .map(|line| (line["engine"].as_u64(), line["metrics"]["edit_similarity"]["num"].as_f64()))
        .collect();
    assert_eq!(found.iter().map(|(engine, _)| *engine).collect::<Vec<_>>(), [0, 1, 2, 3].map(Some));
    assert_ne!(found[1].1, found[2].1, "two engines with one fingerprint are two lines");
    let resumed = project.run("replay ../run/cases.jsonl --out ../run --resume --engine builtin");
    resumed.expect_code(2);
}
