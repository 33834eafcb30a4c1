//! `ghostbench engines check`.

use mock::{Dialect, MockModel, MockServer, TemplateMarks};
use prompt::template_check::PROBES;
use serde_json::Value;
use tests::{LlamaServer, Project};

use super::open_ai;
use crate::settings::user_file;

/// A model that fills the holes of a check.
fn model_with_probes(marks: Option<TemplateMarks>) -> MockModel {
    let model = MockModel::new("coder", marks);
    PROBES.iter().fold(model, |model, probe| model.with_answer(probe.prefix, probe.truth, probe.suffix))
}

fn engine(name: &str, kind: &str, server: &MockServer, more: &str) -> String {
    format!(
        "[[engine]]\nname = \"{name}\"\nkind = \"{kind}\"\nurl = \"{}\"\nmodel = \"coder\"\n{more}\n",
        server.url()
    )
}

fn json(text: &str) -> Value {
    serde_json::from_str(text).expect("standard output is JSON alone")
}

#[test]
fn check_lists_engines_and_problems_with_remedies() {
    let project = Project::new("//- /a.py\nx = 1\n");
    let qwen = MockServer::with_dialect(Dialect::vllm(model_with_probes(Some(TemplateMarks::QWEN))));
    let chat = MockServer::with_dialect(Dialect::vllm(
        MockModel::new("coder", None)
            .with_continuations(|_| "Here is the code that you asked me for:\n```\nx\n```".to_owned()),
    ));
    let gone = MockServer::with_replies([]).address();
    let settings = [
        engine("right", "vllm", &qwen, "fim = \"qwen2.5-coder\""),
        engine("wrong", "vllm", &qwen, "fim = \"codellama\""),
        engine("chat", "vllm", &chat, "fim = \"codellama\""),
        "[[engine]]\nname = \"half\"\nkind = \"openai\"\n".to_owned(),
    ]
    .concat();
    user_file(&project, &settings);
    let checked = project.run("engines check").expect_code(1);
    let lines: Vec<&str> = checked.stdout.lines().collect();
    for (line, words) in lines[1..5].iter().zip([
        ["right", "yes", "qwen2.5-coder (configuration)", "6/6 right"],
        ["wrong", "yes", "codellama (configuration)", "0/6 wrong template"],
        ["chat", "yes", "codellama (configuration)", "0/6 chat model"],
        ["half", "not asked", "–", "–"],
    ]) {
        for word in words {
            assert!(line.contains(word), "no {word} in {line}");
        }
    }
    let wrong = "wrong: the template is wrong: codellama fills 0 of 6 holes";
    let response = checked.stdout.replace("\n  ", " ");
    for words in [
        wrong,
        "write `fim = \"qwen2.5-coder\"`",
        "chat: this is a chat model",
        "half: not asked: it needs `url`",
    ] {
        assert!(response.contains(words), "no {words} in {response}");
    }
    assert!(!response.contains("right: "), "{response}");

    project.run("engines check --engine right").expect_code(0);
    let checked = project.run("engines check --json").expect_code(1);
    let rows = json(&checked.stdout);
    assert_eq!(
        (&rows[1]["verdict"], &rows[1]["better"]),
        (&"wrong template".into(), &"qwen2.5-coder".into())
    );
    assert_eq!((&rows[3]["asked"], &rows[3]["reason"]), (&false.into(), &"it needs `url`".into()));

    user_file(
        &project,
        &format!("{settings}[[engine]]\nname = \"gone\"\nkind = \"vllm\"\nurl = \"http://{gone}\"\n"),
    );
    let checked = project.run("engines check").expect_code(3);
    let response = checked.stdout.replace("\n  ", " ");
    assert!(
        response.contains(&format!("gone: nothing listens at {gone}; start the server, or correct `url`")),
        "{response}"
    );
}

#[test]
fn untrusted_engine_is_listed_without_sending_requests() {
    let (server, settings) = open_ai();
    let project = Project::new("//- /a.py\nx = 1\n");
    project.write("ghostbench.toml", settings);
    let checked = project.run("engines check --json").expect_code(0);
    let rows = json(&checked.stdout);
    assert_eq!((&rows[0]["name"], &rows[0]["asked"]), (&"mock".into(), &false.into()));
    assert!(rows[0]["reason"].as_str().is_some_and(|reason| reason.contains("is not trusted")), "{rows}");
    assert_eq!(rows[1]["name"], "builtin", "somebody can be asked");
    assert!(server.log().received.is_empty());
}

#[test]
fn verdict_is_unclear_for_an_untrained_model() {
    let Some(server) = LlamaServer::start(&["-c", "4096", "-np", "2"]) else { return };
    let project = Project::new("//- /a.py\nx = 1\n");
    let settings = format!("[[engine]]\nname = \"tiny\"\nkind = \"llama-cpp\"\nurl = \"{}\"\n", server.url());
    // Its vocabulary has no infill tokens, and its name is unknown.
    user_file(&project, &settings);
    let checked = project.run("engines check").expect_code(1);
    assert!(checked.stdout.contains("tiny: no template is known for"), "{}", checked.stdout);

    user_file(&project, &format!("{settings}fim = \"starcoder\"\n"));
    let checked = project.run("engines check --json").expect_code(0);
    let row = &json(&checked.stdout)[0];
    assert_eq!((&row["reachable"], &row["verdict"]), (&true.into(), &"unclear".into()), "{row}");
    assert_eq!(
        (&row["model"], &row["form"], &row["window"]),
        (&"tiny.gguf".into(), &"starcoder".into(), &2048.into())
    );
    assert!(row["ms"]["first"].as_f64() > Some(0.0) && row["ms"]["total"].as_f64() > Some(0.0), "{row}");
    assert!(row["tokens_per_second"].as_f64() > Some(1.0) && row["tokens_are_counted"] == true, "{row}");
    assert!(row["streaming"]["pieces"].as_u64() > Some(8), "{row}");
    assert_eq!(row["cancelling"]["found"], "freed", "the server tells: {row}");
    assert!(row["tried"].as_array().is_some_and(|tried| tried.len() > 5), "{row}");
}
