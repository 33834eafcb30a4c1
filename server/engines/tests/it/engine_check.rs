//! Results of checks on servers with known models.

use std::time::Duration;

use engines::check::{CancellationResult, EngineCheck, StreamingMode, check};
use engines::{BuiltinEngine, Engine, EngineError, EngineKind, FimSetting, HttpSettings, ServerError};
use mock::{Dialect, MockModel, MockServer, Reply, SuffixPolicy, TemplateMarks};
use prompt::template_check::{FormResult, PROBES, PromptForm, Symptom, TemplateVerdict};

use crate::harness::{KEY, engine, settings};

/// Model families and the marks that their models know.
const FAMILIES: [(&str, TemplateMarks); 7] = [
    ("qwen2.5-coder", TemplateMarks::QWEN),
    ("starcoder2", TemplateMarks::STARCODER),
    ("deepseek-coder", TemplateMarks::DEEPSEEK),
    ("codellama", TemplateMarks::CODELLAMA),
    ("codestral", TemplateMarks::CODESTRAL),
    ("falcon-h1-tiny-coder", TemplateMarks::FALCON),
    ("seed-coder", TemplateMarks::SEED_CODER),
];

/// A model that knows all probes.
fn model_that_knows_all_probes(marks: Option<TemplateMarks>) -> MockModel {
    let model = MockModel::new("coder", marks);
    PROBES.iter().fold(model, |model, probe| model.with_answer(probe.prefix, probe.truth, probe.suffix))
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

async fn checked(server: &MockServer, kind: EngineKind, fim: &str) -> EngineCheck {
    let fim = FimSetting::parse((fim != "auto").then_some(fim));
    let engine = engine(HttpSettings { fim, ..settings(kind, &server.url()) });
    check(&engine, &|| {}).await
}

fn better(template: &str) -> Option<TemplateVerdict> {
    Some(TemplateVerdict::Better(PromptForm::Template(
        prompt::Template::parse(template).expect("the test's name"),
    )))
}

#[tokio::test]
async fn right_template_is_confirmed_and_wrong_one_detected() {
    for (right, marks) in FAMILIES {
        let server = MockServer::with_dialect(Dialect::vllm(model_that_knows_all_probes(Some(marks))));
        for (configured, _) in FAMILIES {
            let check = checked(&server, EngineKind::Vllm, configured).await;
            let expected = if configured == right { Some(TemplateVerdict::Right) } else { better(right) };
            assert_eq!(check.verdict, expected, "{right} asked as {configured}");
            let found = check.chosen_form.map(|tried| tried.filled_holes());
            assert_eq!(found, Some(if configured == right { PROBES.len() } else { 0 }));
            assert!(!check.other_forms.is_empty(), "wrong forms are tried too");
        }
    }
}

#[tokio::test]
async fn right_template_is_found_without_a_configured_one() {
    let server =
        MockServer::with_dialect(Dialect::vllm(model_that_knows_all_probes(Some(TemplateMarks::DEEPSEEK))));
    let check = checked(&server, EngineKind::Vllm, "auto").await;
    assert!(matches!(check.fault, Some(EngineError::NoTemplate { .. })), "{:?}", check.fault);
    assert_eq!(check.verdict, better("deepseek-coder"));
}

#[tokio::test]
async fn silently_ignored_suffix_is_detected() {
    let knows = model_that_knows_all_probes(Some(TemplateMarks::CODELLAMA)).with_continuations(continued);
    let dialect = Dialect::open_ai(knows, KEY).with_suffix(SuffixPolicy::Ignored);
    let server = MockServer::with_dialect(dialect.clone());
    let check = checked(&server, EngineKind::OpenAi, "server").await;
    assert!(check.chosen_form.as_ref().is_some_and(FormResult::ignores_suffix), "{:?}", check.chosen_form);
    assert_eq!(check.verdict, better("codellama"));

    let taken = MockServer::with_dialect(dialect.with_suffix(SuffixPolicy::Taken));
    assert_eq!(checked(&taken, EngineKind::OpenAi, "server").await.verdict, Some(TemplateVerdict::Right));
    // A template for a server that supports infill.
    let check = checked(&taken, EngineKind::OpenAi, "codestral").await;
    assert_eq!(check.verdict, better("codellama"), "templates come before the server's own");
}

#[tokio::test]
async fn server_prompt_is_recommended_if_no_template_is_right() {
    let model = model_that_knows_all_probes(None).with_continuations(continued);
    let server = MockServer::with_dialect(Dialect::open_ai(model, KEY));
    let check = checked(&server, EngineKind::OpenAi, "codestral").await;
    assert_eq!(check.verdict, Some(TemplateVerdict::Better(PromptForm::Server)));
}

#[tokio::test]
async fn chat_model_is_detected() {
    let server = MockServer::with_dialect(
        Dialect::open_ai(model_that_knows_all_probes(None).with_continuations(talk), KEY)
            .with_suffix(SuffixPolicy::Ignored),
    );
    for fim in ["qwen2.5-coder", "codestral", "server"] {
        let check = checked(&server, EngineKind::OpenAi, fim).await;
        assert_eq!(check.verdict, Some(TemplateVerdict::Better(PromptForm::Chat)), "asked as {fim}");
        assert_eq!(check.chosen_form.map(|tried| tried.count_with(Symptom::Fence)), Some(PROBES.len()));
    }
    let check = checked(&server, EngineKind::OpenAiChat, "auto").await;
    assert_eq!(check.verdict, Some(TemplateVerdict::Right), "{:?}", check.chosen_form);
    // This server has no chat.
    let server =
        MockServer::with_dialect(Dialect::vllm(model_that_knows_all_probes(None).with_continuations(talk)));
    assert_eq!(checked(&server, EngineKind::Vllm, "codestral").await.verdict, Some(TemplateVerdict::Chats));
}

#[tokio::test]
async fn model_without_infill_is_detected() {
    let server =
        MockServer::with_dialect(Dialect::vllm(MockModel::new("coder", None).with_continuations(continued)));
    for (configured, _) in FAMILIES {
        let check = checked(&server, EngineKind::Vllm, configured).await;
        assert_eq!(check.verdict, Some(TemplateVerdict::NoHoles), "asked as {configured}");
    }
    let server = MockServer::with_dialect(
        Dialect::open_ai(MockModel::new("coder", None).with_continuations(continued), KEY)
            .with_suffix(SuffixPolicy::Ignored),
    );
    assert_eq!(checked(&server, EngineKind::OpenAi, "server").await.verdict, Some(TemplateVerdict::NoHoles));
}

#[tokio::test]
async fn model_that_answers_noise_gets_an_unclear_verdict() {
    for kind in [EngineKind::Vllm, EngineKind::LlamaCpp] {
        let model = MockModel::new("coder", Some(TemplateMarks::QWEN));
        let dialect = if kind == EngineKind::Vllm { Dialect::vllm(model) } else { Dialect::llama_cpp(model) };
        let server = MockServer::with_dialect(dialect);
        let check = checked(&server, kind, "qwen2.5-coder").await;
        assert_eq!((check.verdict, check.fault.is_none()), (Some(TemplateVerdict::Unclear), true));
        assert_eq!(check.chosen_form.map(|tried| tried.filled_holes()), Some(0));
    }
}

#[tokio::test]
async fn times_speed_streaming_and_cancellation_are_measured() {
    let pause = Duration::from_millis(3);
    let text = "one two three four five six seven eight nine ten eleven twelve";
    let model =
        model_that_knows_all_probes(Some(TemplateMarks::QWEN)).with_answers(move |_| Some(text.to_owned()));
    let server = MockServer::with_dialect(Dialect::llama_cpp(model).with_delays(Duration::ZERO, pause));
    let check = checked(&server, EngineKind::LlamaCpp, "qwen2.5-coder").await;
    assert_eq!(check.info.metadata.context_window, Some(2048));
    assert!(check.times.is_some_and(|times| times.first >= pause && times.total >= times.first));
    assert_eq!(check.streaming, Some(StreamingMode::Pieces(text.len().div_ceil(4))));
    assert!(check.speed.is_some_and(|speed| speed.is_counted && speed.tokens_per_second > 0.0));
    assert!(
        matches!(check.cancellation, Some(CancellationResult::NextInTime(_))),
        "{:?}",
        check.cancellation
    );
    assert_eq!(server.log().disconnected, 1, "the connection of the cancelled question has ended");
}

#[tokio::test]
async fn whole_answer_is_not_reported_as_streaming() {
    let server = MockServer::with_dialect(Dialect::tabby(
        model_that_knows_all_probes(None).with_answers(|_| Some("1, ".repeat(20))),
        KEY,
    ));
    let check = checked(&server, EngineKind::Tabby, "auto").await;
    assert_eq!((check.streaming, check.verdict), (Some(StreamingMode::Whole), Some(TemplateVerdict::Right)));
}

#[tokio::test]
async fn unreachable_or_unauthorized_server_gets_no_verdict() {
    let gone = MockServer::with_replies([]).url();
    let engine = engine(settings(EngineKind::LlamaCpp, &gone));
    let check = check(&engine, &|| {}).await;
    let is_refused =
        matches!(&check.fault, Some(EngineError::Server { fault: ServerError::Refused { .. }, .. }));
    assert!(is_refused && check.verdict.is_none(), "{check:?}");

    let refusal = Reply::json(401, &serde_json::json!({"error": {"message": "no"}}));
    let server = MockServer::with_replies([refusal]);
    let check = checked(&server, EngineKind::OpenAi, "codestral").await;
    let is_unauthorized =
        matches!(&check.fault, Some(EngineError::Server { fault: ServerError::Unauthorized { .. }, .. }));
    assert!(is_unauthorized && check.verdict.is_none(), "{check:?}");
}

#[tokio::test]
async fn built_in_engine_is_measured_without_a_verdict() {
    let builtin = BuiltinEngine::new("builtin", builtin::BuiltinSettings::for_replay());
    let check = check(&builtin as &dyn Engine, &|| {}).await;
    assert!(check.times.is_some() && check.chosen_form.is_some() && check.fault.is_none());
    assert_eq!((check.verdict, check.cancellation), (None, None));
}
