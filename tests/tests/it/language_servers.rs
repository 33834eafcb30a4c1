//! Language servers as engines, each in its own process: ours, Tabby's agent, and one made with the library of VS Code's own
//! servers.

use std::collections::BTreeMap;
use std::fs;
use std::path::Path;

use cases::{Prediction, Status};
use mock::{Dialect, MockModel, MockServer};
use tests::{Project, binary, component};

use crate::engines::{KEY, WRITTEN};
use crate::run_rows;
use crate::settings::user_file;

/// Settings of an engine that is a language server.
pub(crate) fn settings(name: &str, command: &[&str], more: &str) -> String {
    format!("[[engine]]\nname = \"{name}\"\nkind = \"lsp\"\ncommand = {command:?}\n{more}\n")
}

/// Our own server with the built-in engine.
pub(crate) fn own_server_settings(name: &str) -> String {
    let binary = binary();
    settings(name, &[&binary.to_string_lossy(), "lsp", "--engine", "builtin"], "")
}

/// The answers of a run by engine, then by case.
fn answers(run: &Path) -> BTreeMap<String, BTreeMap<String, Prediction>> {
    let mut answers: BTreeMap<String, BTreeMap<String, Prediction>> = BTreeMap::new();
    for prediction in run_rows::predictions(run) {
        let of_engine = answers.entry(prediction.engine.name.clone()).or_default();
        of_engine.insert(prediction.case.to_string(), prediction);
    }
    answers
}

/// Our server sees one document in an empty folder, so the comparison uses a workspace with one file. As for typing, it
/// withholds uncertain answers and cuts answers where they become uncertain; the rest equals the engine's own answer.
#[test]
fn own_language_server_gives_the_answers_of_its_engine() {
    let project = Project::generated(1);
    user_file(&project, &own_server_settings("served"));
    project.run("try . --cases 90 --engine builtin --engine served --out ../run").expect_code(0);
    let answers = answers(&project.sibling_path("run"));
    let (direct, served) = (&answers["builtin"], &answers["served"]);
    let mut response = 0;
    for (case, served) in served {
        match served.status {
            Status::Ok => assert!(direct[case].text.starts_with(&served.text), "{case}: {served:?}"),
            Status::Silent | Status::Gated => continue,
            ref other => panic!("{case}: {other:?} {:?}", served.reason),
        }
        response += 1;
    }
    assert!(response >= 10, "{response} answers");
}

/// A published server: it queries Tabby's server, replaced by a strict mock, and answers with completion lists.
#[test]
fn tabby_agent_works_as_an_lsp_engine() {
    let Some(agent) = component("tabby-agent") else { return };
    let model = MockModel::new("tabby", None).with_answers(|_| Some(WRITTEN.to_owned()));
    let server = MockServer::with_dialect(Dialect::tabby(model, KEY));
    let project = Project::generated(2);
    let folder = project.home().join(".tabby-client/agent");
    fs::create_dir_all(&folder).expect("the home is ours");
    let config = format!(
        "[server]\nendpoint = \"{}\"\ntoken = \"{KEY}\"\n[anonymousUsageTracking]\ndisable = true\n",
        server.url()
    );
    fs::write(folder.join("config.toml"), config).expect("the home is ours");
    let command = [&*agent.to_string_lossy(), "--lsp", "--stdio"];
    let lists = "request = \"textDocument/completion\"";
    user_file(&project, &[settings("tabby", &command, lists), settings("inline", &command, "")].concat());
    // `inline` never answers, and an engine that never answers fails the run.
    project.run("try . --cases 5 --engine tabby --engine inline --out ../run").expect_code(3);
    let answers = answers(&project.sibling_path("run"));
    for (case, answer) in &answers["tabby"] {
        assert_eq!(
            (answer.status, answer.text.as_str()),
            (Status::Ok, WRITTEN),
            "{case}: {:?}",
            answer.reason
        );
    }
    let asked = server.log().received.iter().filter(|received| received.path == "/v1/completions").count();
    // It caches its answers.
    assert!((2..=5).contains(&asked), "{asked} questions");
    for answer in answers["inline"].values() {
        let reason = answer.reason.clone().unwrap_or_default();
        assert!(reason.contains("does not offer `textDocument/inlineCompletion`"), "{reason}");
    }
}

/// Rewrites the line before the cursor and adds to it, as snippets with ranges.
const SERVER: &str = r#"
const { createConnection, TextDocuments, TextDocumentSyncKind } = require('vscode-languageserver/node');
const { TextDocument } = require('vscode-languageserver-textdocument');
const connection = createConnection();
const documents = new TextDocuments(TextDocument);
let word;
connection.onInitialize(({ initializationOptions }) => {
  word = initializationOptions.word;
  return { capabilities: { textDocumentSync: TextDocumentSyncKind.Incremental, inlineCompletionProvider: true } };
});
connection.languages.inlineCompletion.on(async ({ textDocument, position }) => {
  const start = { line: position.line, character: 0 };
  const typed = documents.get(textDocument.uri).getText({ start, end: position });
  const settings = await connection.workspace.getConfiguration('vendor');
  const value = typed.replace(/[$}\\]/g, '\\$&') + word + '(${1:' + settings.argument + '})$0';
  return { items: [{ insertText: { kind: 'snippet', value }, range: { start, end: position } }] };
});
documents.listen(connection);
connection.listen();
"#;

#[test]
fn vscode_languageserver_node_works_as_an_lsp_engine() {
    let Some(node) = component("language-server-node") else { return };
    let project = Project::generated(2);
    let program = project.sibling_path("server.js");
    fs::write(&program, SERVER).expect("the temporary folder is ours");
    let command = [&*node.to_string_lossy(), &*program.to_string_lossy(), "--stdio"];
    let reported = "initialization_options = { word = \"$WORD\" }\nsettings = { vendor = { argument = \"x, \\\"é😀\\\"\" } }";
    user_file(&project, &settings("node", &command, reported));
    let mut ghostbench = project.ghostbench("try . --cases 10 --engine node --out ../run");
    ghostbench.env("WORD", "call");
    tests::RunningProcess::start(ghostbench).wait().expect_code(0);
    let answers = answers(&project.sibling_path("run"));
    for (case, answer) in &answers["node"] {
        let response = (answer.status, answer.raw.as_str());
        assert_eq!(response, (Status::Ok, "call(x, \"é😀\")"), "{case}: {:?}", answer.reason);
    }
}
