//! Engines behind HTTP, from settings to answers. The mock servers are strict.

mod check;
mod complete;

use mock::{Dialect, MockModel, MockServer, Reply, TemplateMarks};
use serde_json::Value;
use tests::Project;

use crate::run_rows;
use crate::settings::user_file;

/// A secret that no message, log, run or report may contain.
pub(crate) const KEY: &str = "sk-very-secret-0123456789";

/// The model's answer to every request.
pub(crate) const WRITTEN: &str = "total = 1";

fn model() -> MockModel {
    MockModel::new("coder", Some(TemplateMarks::QWEN)).with_answers(|_| Some(WRITTEN.to_owned()))
}

/// A server in OpenAI's format with the settings of an engine `mock` for it.
pub(crate) fn open_ai() -> (MockServer, String) {
    let server = MockServer::with_dialect(Dialect::open_ai(model(), KEY));
    let settings = format!(
        "[[engine]]\nname = \"mock\"\nkind = \"openai\"\nurl = \"{}\"\nmodel = \"coder\"\nfim = \"qwen2.5-coder\"\n\
         headers = {{Authorization = \"Bearer {KEY}\"}}\n",
        server.url()
    );
    (server, settings)
}

/// The same with a server that always answers with this text.
pub(crate) fn open_ai_answering(text: &'static str) -> (MockServer, String) {
    let model =
        MockModel::new("coder", Some(TemplateMarks::QWEN)).with_answers(move |_| Some(text.to_owned()));
    let server = MockServer::with_dialect(Dialect::open_ai(model, KEY));
    let settings = open_ai().1;
    let (before, rest) = settings.split_once("url = \"").expect("it has an address");
    let (_, after) = rest.split_once('"').expect("it ends");
    let settings = format!("{before}url = \"{}\"{after}", server.url());
    (server, settings)
}

/// The same with a server of llama.cpp.
pub(crate) fn llama_cpp() -> (MockServer, String) {
    let server = MockServer::with_dialect(Dialect::llama_cpp(model()));
    let settings = format!("[[engine]]\nname = \"mock\"\nkind = \"llama-cpp\"\nurl = \"{}\"\n", server.url());
    (server, settings)
}

/// Tries the engine on five cases and replays them.
#[track_caller]
fn check_measured((server, settings): (MockServer, String)) {
    let project = Project::generated(3);
    user_file(&project, &settings);
    let tried = project.run("try . --cases 5 --engine mock --out ../run").expect_code(0);
    let asked = server.log().received.len();
    assert!(asked >= 5, "{asked} requests");
    let replayed = project.run("replay ../run/cases.jsonl --engine mock --out ../again").expect_code(0);
    assert!(server.log().received.len() >= asked + 5);
    assert_eq!(run_rows::run(&project.sibling_path("again")).engines[0].engine.name, "mock");
    for run in ["run", "again"] {
        let predictions = std::fs::read_to_string(project.sibling_path(run).join("predictions.jsonl"));
        let predictions = predictions.expect("the run has its predictions");
        assert!(predictions.contains(WRITTEN), "{predictions}");
        assert!(!predictions.contains(KEY));
        let described = std::fs::read_to_string(project.sibling_path(run).join("run.json"));
        assert!(!described.expect("the run is described").contains(KEY));
    }
    let response = [tried.stdout, tried.stderr, replayed.stdout, replayed.stderr].concat();
    assert!(!response.contains(KEY), "{response}");
}

#[test]
fn openai_server_can_be_tried_and_replayed() {
    check_measured(open_ai());
}

#[test]
fn llama_cpp_server_can_be_tried_and_replayed() {
    check_measured(llama_cpp());
}

#[test]
fn engines_list_shows_models_and_reasons_for_unavailability() {
    let project = Project::generated(2);
    let (server, settings) = open_ai();
    let no_certificates =
        "[[engine]]\nname = \"other\"\nkind = \"tgi\"\nurl = \"https://host\"\ntls_roots = \"none.pem\"\n";
    user_file(&project, &format!("{settings}{no_certificates}"));
    let listed = project.run("engines list").expect_code(0).stdout;
    for word in ["mock", "openai", "coder", "other", "not asked: cannot read the `tls_roots`", "nearest-line"]
    {
        assert!(listed.contains(word), "no {word} in {listed}");
    }
    let listed = project.run("engines list --json").expect_code(0).stdout;
    let listed: Value = serde_json::from_str(&listed).expect("standard output is JSON alone");
    assert_eq!((&listed[0]["model"], &listed[1]["asked"]), (&"coder".into(), &false.into()));
    assert!(server.log().received.is_empty(), "the list needs no request");
}

#[test]
fn authentication_error_has_a_remedy_and_hides_the_key() {
    let project = Project::generated(2);
    let response = format!("Incorrect API key provided: {KEY}.");
    let refusal = Reply::json(401, &serde_json::json!({"error": {"message": response}}));
    let server = MockServer::with_replies([refusal]);
    let settings = format!(
        "[[engine]]\nname = \"mock\"\nkind = \"openai\"\nurl = \"{}\"\nmodel = \"coder\"\nfim = \"server\"\n\
         headers = {{Authorization = \"{KEY}\"}}\n",
        server.url()
    );
    user_file(&project, &settings);
    let outcome = project.run("try . --cases 3 --engine mock --out ../run").expect_code(3);
    assert_eq!(outcome.stderr.matches("api_key_env").count(), 1, "{}", outcome.stderr);
    let predictions = std::fs::read_to_string(project.sibling_path("run").join("predictions.jsonl"));
    let predictions = predictions.expect("the run has its predictions");
    assert!(predictions.contains("api_key_env"), "{predictions}");
    let shown = [outcome.stdout, outcome.stderr, predictions].concat();
    assert!(!shown.contains(KEY), "{shown}");
}

#[test]
fn configured_engines_are_compared_on_the_same_cases() {
    let project = Project::generated(3);
    let (one, first) = open_ai();
    let (other, second) = llama_cpp();
    let second = second.replace("\"mock\"", "\"other\"");
    user_file(&project, &format!("{first}price_in = 2\nprice_out = 8\n{second}"));
    let tried =
        project.run("try . --cases 12 --engine mock --engine other --json --out ../run").expect_code(0);
    let tried: Value = serde_json::from_str(&tried.stdout).expect("standard output is JSON alone");
    let section = &tried["summary"]["sections"][0];
    // If files have near-duplicates, both engines are measured once more without these, in further rows.
    assert_eq!(
        (&tried["summary"]["engines"][0]["name"], &tried["summary"]["engines"][1]["name"]),
        (&"mock".into(), &"other".into())
    );
    let lines = &section["overall"]["lines"];
    assert_eq!((&lines[0]["engine"], &lines[1]["engine"]), (&0.into(), &1.into()));
    assert_eq!(lines[0]["cases"], lines[1]["cases"]);
    let all = section["differences"].as_array().into_iter().flatten();
    // Restraint only covers the cases with an empty truth.
    let of_all_cases = |difference: &&Value| difference["engine"] == 1 && difference["metric"] != "restraint";
    let differences: Vec<_> = all.filter(of_all_cases).collect();
    assert!(!differences.is_empty());
    for difference in differences {
        assert_eq!(
            (&difference["baseline"], &difference["cases"]),
            (&0.into(), &lines[0]["cases"]),
            "paired: {difference}"
        );
        // Both answer the same, so neither is better anywhere.
        assert_eq!((&difference["better"], &difference["worse"]), (&0.into(), &0.into()), "{difference}");
    }
    // One has a price; its tokens are counted, or estimated if the answer was stopped.
    let costs = tried["summary"]["costs"].as_array().expect("one has a price");
    assert!(
        costs.iter().all(|cost| cost["engine"] == 0 || cost["engine"] == 2) && !costs.is_empty(),
        "{costs:?}"
    );
    assert!(costs[0]["amount"].as_f64() > Some(0.0) && costs[0]["unknown"] == 0, "{costs:?}");
    for server in [one, other] {
        assert!(server.log().requests >= 12, "{} requests", server.log().requests);
    }
}
