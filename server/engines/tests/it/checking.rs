//! Results of checks on servers with known models.

use std::time::Duration;

use engines::check::{Cancelling, Check, Streaming, check};
use engines::{BuiltinEngine, Engine, Error, Fault, Fim, HttpSettings, Kind};
use mock::{Dialect, Marks, MockServer, Model, Reply, SuffixPolicy};
use prompt::proof::{Form, PROBES, Symptom, Tried, Verdict};

use crate::asking::{KEY, engine, settings};

/// Model families and the marks that their models know.
const FAMILIES: [(&str, Marks); 7] = [
    ("qwen2.5-coder", Marks::QWEN),
    ("starcoder2", Marks::STARCODER),
    ("deepseek-coder", Marks::DEEPSEEK),
    ("codellama", Marks::CODELLAMA),
    ("codestral", Marks::CODESTRAL),
    ("falcon-h1-tiny-coder", Marks::FALCON),
    ("seed-coder", Marks::SEED_CODER),
];

/// A model that knows all probes.
fn knowing(marks: Option<Marks>) -> Model {
    let model = Model::new("coder", marks);
    PROBES.iter().fold(model, |model, probe| model.knowing(probe.prefix, probe.truth, probe.suffix))
}

/// The answer of a model that only sees the prefix.
fn continued(prompt: &str) -> String {
    let probe = PROBES.iter().find(|probe| prompt.ends_with(probe.prefix));
    match probe {
        Some(probe) if !probe.needs_suffix => format!("{}{}\nmore()\n", probe.truth, probe.suffix),
        _ => " f:\n        return f.read()\n".to_owned(),
    }
}

fn talk(_: &str) -> String {
    "Sure, here is the completed code for you:\n\n```python\nreturn a\n```\n".to_owned()
}

async fn checked(server: &MockServer, kind: Kind, fim: &str) -> Check {
    let fim = Fim::parse((fim != "auto").then_some(fim));
    let engine = engine(HttpSettings { fim, ..settings(kind, &server.url()) });
    check(&engine, &|| {}).await
}

fn better(template: &str) -> Option<Verdict> {
    Some(Verdict::Better(Form::Template(prompt::Template::parse(template).expect("the test's name"))))
}

#[tokio::test]
async fn the_right_template_is_proven_and_a_wrong_one_is_found_out() {
    for (right, marks) in FAMILIES {
        let server = MockServer::speaking(Dialect::vllm(knowing(Some(marks))));
        for (configured, _) in FAMILIES {
            let check = checked(&server, Kind::Vllm, configured).await;
            let expected = if configured == right { Some(Verdict::Right) } else { better(right) };
            assert_eq!(check.verdict, expected, "{right} asked as {configured}");
            let found = check.chosen.map(|tried| tried.found());
            assert_eq!(found, Some(if configured == right { PROBES.len() } else { 0 }));
            assert!(!check.others.is_empty(), "wrong forms are tried too");
        }
    }
}

#[tokio::test]
async fn without_any_template_the_right_one_is_found() {
    let server = MockServer::speaking(Dialect::vllm(knowing(Some(Marks::DEEPSEEK))));
    let check = checked(&server, Kind::Vllm, "auto").await;
    assert!(matches!(check.fault, Some(Error::NoTemplate { .. })), "{:?}", check.fault);
    assert_eq!(check.verdict, better("deepseek-coder"));
}

#[tokio::test]
async fn a_suffix_that_is_ignored_in_silence_is_found_out() {
    let knows = knowing(Some(Marks::CODELLAMA)).continuing(continued);
    let dialect = Dialect::open_ai(knows, KEY).with_suffix(SuffixPolicy::Ignored);
    let server = MockServer::speaking(dialect.clone());
    let check = checked(&server, Kind::OpenAi, "server").await;
    assert!(check.chosen.as_ref().is_some_and(Tried::ignores_suffix), "{:?}", check.chosen);
    assert_eq!(check.verdict, better("codellama"));

    let taken = MockServer::speaking(dialect.with_suffix(SuffixPolicy::Taken));
    assert_eq!(checked(&taken, Kind::OpenAi, "server").await.verdict, Some(Verdict::Right));
    // A template for a server that supports infill.
    let check = checked(&taken, Kind::OpenAi, "codestral").await;
    assert_eq!(check.verdict, better("codellama"), "templates come before the server's own");
}

#[tokio::test]
async fn the_server_s_own_prompt_is_recommended_where_no_template_is_right() {
    let model = knowing(None).continuing(continued);
    let server = MockServer::speaking(Dialect::open_ai(model, KEY));
    let check = checked(&server, Kind::OpenAi, "codestral").await;
    assert_eq!(check.verdict, Some(Verdict::Better(Form::Server)));
}

#[tokio::test]
async fn a_model_for_chats_is_found_out() {
    let server = MockServer::speaking(
        Dialect::open_ai(knowing(None).continuing(talk), KEY).with_suffix(SuffixPolicy::Ignored),
    );
    for fim in ["qwen2.5-coder", "codestral", "server"] {
        let check = checked(&server, Kind::OpenAi, fim).await;
        assert_eq!(check.verdict, Some(Verdict::Better(Form::Chat)), "asked as {fim}");
        assert_eq!(check.chosen.map(|tried| tried.with(Symptom::Fence)), Some(PROBES.len()));
    }
    let check = checked(&server, Kind::OpenAiChat, "auto").await;
    assert_eq!(check.verdict, Some(Verdict::Right), "{:?}", check.chosen);
    // This server has no chat.
    let server = MockServer::speaking(Dialect::vllm(knowing(None).continuing(talk)));
    assert_eq!(checked(&server, Kind::Vllm, "codestral").await.verdict, Some(Verdict::Chats));
}

#[tokio::test]
async fn a_model_that_only_continues_is_found_out() {
    let server = MockServer::speaking(Dialect::vllm(Model::new("coder", None).continuing(continued)));
    for (configured, _) in FAMILIES {
        let check = checked(&server, Kind::Vllm, configured).await;
        assert_eq!(check.verdict, Some(Verdict::NoHoles), "asked as {configured}");
    }
    let server = MockServer::speaking(
        Dialect::open_ai(Model::new("coder", None).continuing(continued), KEY)
            .with_suffix(SuffixPolicy::Ignored),
    );
    assert_eq!(checked(&server, Kind::OpenAi, "server").await.verdict, Some(Verdict::NoHoles));
}

#[tokio::test]
async fn of_a_model_that_knows_nothing_nothing_is_said() {
    for kind in [Kind::Vllm, Kind::LlamaCpp] {
        let model = Model::new("coder", Some(Marks::QWEN));
        let dialect = if kind == Kind::Vllm { Dialect::vllm(model) } else { Dialect::llama_cpp(model) };
        let server = MockServer::speaking(dialect);
        let check = checked(&server, kind, "qwen2.5-coder").await;
        assert_eq!((check.verdict, check.fault.is_none()), (Some(Verdict::Unclear), true));
        assert_eq!(check.chosen.map(|tried| tried.found()), Some(0));
    }
}

#[tokio::test]
async fn times_speed_and_the_way_of_the_answer_are_measured() {
    let pause = Duration::from_millis(3);
    let text = "one two three four five six seven eight nine ten eleven twelve";
    let model = knowing(Some(Marks::QWEN)).answering(move |_| Some(text.to_owned()));
    let server = MockServer::speaking(Dialect::llama_cpp(model).taking(Duration::ZERO, pause));
    let check = checked(&server, Kind::LlamaCpp, "qwen2.5-coder").await;
    assert_eq!(check.introduction.metadata.context_window, Some(2048));
    assert!(check.times.is_some_and(|times| times.first >= pause && times.total >= times.first));
    assert_eq!(check.streaming, Some(Streaming::Pieces(text.len().div_ceil(4))));
    assert!(check.speed.is_some_and(|speed| speed.is_counted && speed.tokens_per_second > 0.0));
    assert!(matches!(check.cancelling, Some(Cancelling::NextInTime(_))), "{:?}", check.cancelling);
    assert_eq!(server.log().left, 1, "the connection of the cancelled question has ended");
}

#[tokio::test]
async fn an_answer_that_comes_as_a_whole_is_no_stream() {
    let server =
        MockServer::speaking(Dialect::tabby(knowing(None).answering(|_| Some("1, ".repeat(20))), KEY));
    let check = checked(&server, Kind::Tabby, "auto").await;
    assert_eq!((check.streaming, check.verdict), (Some(Streaming::Whole), Some(Verdict::Right)));
}

#[tokio::test]
async fn a_server_that_is_not_there_is_asked_once() {
    let gone = MockServer::replying([]).url();
    let engine = engine(settings(Kind::LlamaCpp, &gone));
    let check = check(&engine, &|| {}).await;
    let is_refused = matches!(&check.fault, Some(Error::Server { fault: Fault::Refused { .. }, .. }));
    assert!(is_refused && check.verdict.is_none(), "{check:?}");

    let refusal = Reply::json(401, &serde_json::json!({"error": {"message": "no"}}));
    let server = MockServer::replying([refusal]);
    let check = checked(&server, Kind::OpenAi, "codestral").await;
    let is_unauthorized =
        matches!(&check.fault, Some(Error::Server { fault: Fault::Unauthorized { .. }, .. }));
    assert!(is_unauthorized && check.verdict.is_none(), "{check:?}");
}

#[tokio::test]
async fn engines_without_a_model_of_ours_are_asked_and_not_judged() {
    let builtin = BuiltinEngine::new("builtin", builtin::Settings::for_replay());
    let check = check(&builtin as &dyn Engine, &|| {}).await;
    assert!(check.times.is_some() && check.chosen.is_some() && check.fault.is_none());
    assert_eq!((check.verdict, check.cancelling), (None, None));
}
