//! Recorded runs are replayed without their engines.

use std::fs;
use std::path::{Path, PathBuf};

use cases::{Recorded, Status};
use mock::{Dialect, MockModel, MockServer, TemplateMarks};
use tests::Project;

use crate::engines::{KEY, WRITTEN, open_ai, open_ai_answering};
#[cfg(unix)]
use crate::program_engines::PROGRAM;
use crate::program_engines::tiny;
use crate::run_rows;
use crate::settings::user_file;

/// The part of an answer that is the same in every replay.
fn stable_fields(run: &Path) -> Vec<(String, String, String, String, String)> {
    let mut all: Vec<_> = run_rows::predictions(run)
        .into_iter()
        .map(|row| {
            let rest = format!("{} {} {:?} {:?}", row.status, row.finish, row.reason, row.tokens);
            (row.case, row.engine.fingerprint, row.raw, row.text, rest)
        })
        .collect();
    all.sort();
    all
}

#[test]
fn run_is_replayed_from_a_cassette_without_its_server() {
    let project = Project::generated(3);
    let (server, settings) = open_ai();
    user_file(&project, &settings);
    let recorded =
        project.run("try . --cases 6 --engine mock --out ../run --cassette ../c.jsonl").expect_code(0);
    assert!(recorded.stderr.contains("c.jsonl: 0 answers replayed"), "{}", recorded.stderr);
    drop(server);
    assert!(!run_rows::text(&project.sibling_path("c.jsonl")).contains(KEY));
    let replayed = "replay ../run/cases.jsonl --workspace . --engine mock --cassette ../c.jsonl --offline --out ../again";
    let outcome = project.run(replayed).expect_code(0);
    let again = run_rows::predictions(&project.sibling_path("again"));
    assert!(again.iter().any(|row| row.raw.contains(WRITTEN)));
    assert!(again.iter().all(|row| row.recorded == Some(Recorded::Timed)));
    assert!(run_rows::predictions(&project.sibling_path("run")).iter().all(|row| row.recorded.is_none()));
    assert_eq!(stable_fields(&project.sibling_path("again")), stable_fields(&project.sibling_path("run")));
    assert!(outcome.stdout.contains("come from a cassette"), "{}", outcome.stdout);
    let config = |run: &str| run_rows::run(&project.sibling_path(run)).engines;
    assert_eq!(config("again"), config("run"), "a cassette makes no other engine");
}

/// The server streams it in pieces, each of which is no secret.
#[test]
fn secret_in_an_answer_is_masked_in_every_file_and_replay() {
    let project = Project::generated(3);
    let (_server, settings) = open_ai_answering("connect(password=\"Winter-R0se\")");
    user_file(&project, &settings);
    let record = "try . --cases 6 --engine mock --out ../run --cassette ../c.jsonl";
    let recorded = project.run(record).expect_code(0);
    let replay = "replay ../run/cases.jsonl --workspace . --engine mock --cassette ../c.jsonl --offline --out ../again";
    let replayed = project.run(replay).expect_code(0);
    assert_eq!(stable_fields(&project.sibling_path("again")), stable_fields(&project.sibling_path("run")));
    let masked = "password=\"xxxxxxxxxxx\"";
    assert!(run_rows::predictions(&project.sibling_path("run")).iter().any(|row| row.raw.contains(masked)));
    let files = [
        "c.jsonl",
        "run/predictions.jsonl",
        "run/report.html",
        "again/predictions.jsonl",
        "again/report.html",
    ];
    let text = |file: &str| {
        let path = project.sibling_path(file);
        if file.ends_with(".html") { run_rows::unpacked_report(&path) } else { run_rows::text(&path) }
    };
    for text in files.map(text).into_iter().chain([recorded.stdout, replayed.stdout]) {
        assert!(!text.contains("R0se"), "{text}");
    }
    assert!(run_rows::text(&project.sibling_path("c.jsonl")).contains("xxxxxxxxxxx"));
}

/// Records a run of an engine with these settings, and replays it without `gone`, a file that the engine needs.
#[track_caller]
fn check_replay_without(project: &Project, engine: &str, gone: &Path) {
    let record = format!("try . --cases 4 --engine {engine} --out ../run --cassette ../c.jsonl");
    project.run(&record).expect_code(0);
    fs::remove_file(gone).expect("it was there");
    let replay = "replay ../run/cases.jsonl --workspace . --cassette ../c.jsonl --offline";
    project.run(&format!("{replay} --engine {engine} --out ../again")).expect_code(0);
    // Missing files change the fingerprint.
    let answers = |run: &str| {
        let rows = stable_fields(&project.sibling_path(run)).into_iter();
        let mut rows: Vec<_> = rows.map(|(case, _, raw, text, rest)| (case, raw, text, rest)).collect();
        rows.sort();
        rows
    };
    assert_eq!(answers("again"), answers("run"));
}

#[cfg(unix)]
#[test]
fn missing_program_is_replayed_from_a_cassette() {
    let project = Project::generated(3);
    let path = project.sibling_path("complete.sh");
    user_file(&project, &format!("[[engine]]\nname = \"mine\"\nkind = \"command\"\ncommand = [{path:?}]\n"));
    fs::write(&path, PROGRAM.replace("\"$PIDS\"", "/dev/null")).expect("the temporary folder is ours");
    tests::unix::set_mode(&path, 0o755);
    check_replay_without(&project, "mine", &path);
    assert!(
        run_rows::predictions(&project.sibling_path("again")).iter().any(|row| row.raw.contains("total = 1"))
    );
}

#[test]
fn missing_model_file_is_replayed_for_recorded_prompts() {
    let project = Project::generated(3);
    let Some(settings) = tiny(&project) else { return };
    user_file(&project, &settings);
    check_replay_without(&project, "tiny", &project.sibling_path("tiny.gguf"));
    user_file(&project, &settings.replace("qwen2.5-coder", "starcoder2"));
    let changed = "replay ../run/cases.jsonl --workspace . --engine tiny --offline --cassette ../c.jsonl --out ../changed";
    project.run(changed).expect_code(3).expect_message(&["c.jsonl holds no answer to"]);
}

#[test]
fn missing_recordings_are_reported_once_and_fail_the_run() {
    let project = Project::generated(3);
    let (server, settings) = open_ai();
    user_file(&project, &settings);
    project.run("try . --cases 6 --engine mock --out ../run --cassette ../c.jsonl").expect_code(0);
    let asked = server.log().received.len();
    let other = "replay ../run/cases.jsonl --engine mock --engine builtin --workspace . --offline --out";
    let outcome = project.run(&format!("{other} ../none")).expect_code(3);
    let outcome = outcome.expect_message(&["no answer to", "--offline", "--cassette"]);
    assert_eq!(outcome.stderr.matches("--offline").count(), 1, "{}", outcome.stderr);
    for row in run_rows::predictions(&project.sibling_path("none")) {
        assert_eq!(row.status == Status::Error, row.engine.kind == "openai", "{row:?}");
    }
    let settings = settings.replace("qwen2.5-coder", "starcoder2");
    user_file(&project, &settings);
    let changed = project.run(&format!("{other} ../changed --cassette ../c.jsonl")).expect_code(3);
    changed.expect_message(&["c.jsonl holds no answer to", "run once without --offline to record them"]);
    assert_eq!(server.log().received.len(), asked, "no request was sent");
}

#[test]
fn malformed_cassettes_are_reported_with_a_remedy() {
    let project = Project::generated(2);
    project.write("notes.txt", "mine");
    let outcome = project.run("try . --cassette notes.txt").expect_code(2);
    outcome.expect_message(&["notes.txt is not a cassette", "name another file"]);
    assert_eq!(run_rows::text(&project.root().join("notes.txt")), "mine");
    let outcome = project.run("try . --cassette none.jsonl --offline").expect_code(2);
    outcome.expect_message(&["cannot read the cassette none.jsonl", "record it"]);
    let header = "{\"schema\":\"1.0\",\"format\":\"ghostbench-cassette\"}\n";
    project.write("torn.jsonl", format!("{header}{{\"engine\":\"a\",\"ha"));
    let outcome =
        project.run("try . --cases 2 --engine builtin --cassette torn.jsonl --offline --out ../run");
    outcome.expect_code(0).expect_message(&["torn.jsonl line 2 is incomplete"]);
    project.write("broken.jsonl", format!("{header}{{\"engine\":\n{{}}\n"));
    let outcome = project.run("try . --cassette broken.jsonl").expect_code(3);
    outcome.expect_message(&["broken.jsonl line 2:", "remove the line"]);
}

#[test]
fn engines_cassette_imports_prompts_and_answers() {
    let project = Project::generated(2);
    let engine = |name: &str, fim: &str| {
        format!(
            "[[engine]]\nname = \"{name}\"\nkind = \"openai\"\nurl = \"http://127.0.0.1:1\"\nmodel = \"m\"\n{fim}\n"
        )
    };
    user_file(&project, &[engine("told", "fim = \"qwen2.5-coder\""), engine("untold", "")].concat());
    project.write(
        "answers.jsonl",
        "{\"prompt\":\"a\",\"output\":\"b\"}\n{\"prompt\":\"a\",\"output\":\"c\",\"model\":\"x\"}\n",
    );
    let make = "engines cassette answers.jsonl --out made.jsonl --engine";
    project
        .run(&format!("{make} told"))
        .expect_code(0)
        .expect_message(&["told: 1 answer", "1 are of other models"]);
    project
        .run(&format!("{make} told"))
        .expect_code(2)
        .expect_message(&["cannot write the cassette made.jsonl"]);
    project.run(&format!("{make} untold")).expect_code(2).expect_message(&["`untold`", "`fim`"]);
    project
        .run(&format!("{make} builtin"))
        .expect_code(2)
        .expect_message(&["no engine `builtin` in the settings"]);
}

/// The fixture of a small cassette: it replays on any machine.
fn fixture() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("fixtures").join("cassette")
}

/// Our own cassette replays on any machine. If this fails, the wire format has changed: if that is intended, record the
/// cassette again with `UPDATE_EXPECT=1`.
#[test]
fn checked_in_cassette_replays_offline() {
    let (folder, project) = (fixture(), Project::generated(1));
    let at = |file: &str| folder.join(file).display().to_string();
    let (suite, cassette, settings) = (at("cases.jsonl"), at("cassette.jsonl"), at("ghostbench.toml"));
    if std::env::var_os("UPDATE_EXPECT").is_some() {
        record(&project, &suite, &cassette);
    }
    let before = run_rows::text(Path::new(&cassette));
    let replay = format!(
        "replay {suite} --config {settings} --engine coder --cassette {cassette} --offline --out ../run"
    );
    project.run(&replay).expect_code(0);
    let predictions = run_rows::predictions(&project.sibling_path("run"));
    for case in run_rows::cases(&folder) {
        let answer = predictions.iter().find(|row| row.case == case.id).expect("every case is answered");
        assert_eq!(answer.text, case.truth, "{}", case.path);
    }
    assert_eq!(run_rows::text(Path::new(&cassette)), before, "offline writes nothing");
}

/// Records the fixture from a server that knows the truths.
fn record(project: &Project, suite: &str, cassette: &str) {
    let model = run_rows::cases(&fixture())
        .iter()
        .fold(MockModel::new("coder", Some(TemplateMarks::QWEN)), |model, case| {
            model.with_answer(&case.prefix, &case.truth, &case.suffix)
        });
    let server = MockServer::with_dialect(Dialect::llama_cpp(model));
    let there =
        run_rows::text(&fixture().join("ghostbench.toml")).replace("http://127.0.0.1:1", &server.url());
    let settings = project.write("recording.toml", there);
    let _ = fs::remove_file(cassette);
    let replay = format!(
        "replay {suite} --config {} --engine coder --cassette {cassette} --out ../recorded",
        settings.display()
    );
    project.run(&replay).expect_code(0);
}
