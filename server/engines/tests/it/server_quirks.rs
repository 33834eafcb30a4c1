//! Engines detect their server's metadata and quirks, and do so once.

use engines::{
    EngineError, EngineKind, FimSetting, HttpEngine, HttpSettings, PromptMode, Sampling, ServerError,
};
use mock::{Dialect, MockModel, MockServer, Reply, SuffixPolicy, TemplateMarks};
use serde_json::json;

use crate::harness::{FIXTURE, KEY, TRUTH, ask, ask_for, engine, fault, request, settings};

fn model(name: &str, marks: Option<TemplateMarks>) -> MockModel {
    let (before, after) = test_fixture::split_at_cursor(FIXTURE);
    MockModel::new(name, marks).with_answer(before, TRUTH, after)
}

/// An engine without a configured template.
fn engine_without_template(kind: EngineKind, model: Option<&str>, server: &MockServer) -> HttpEngine {
    engine(HttpSettings {
        fim: FimSetting::Auto,
        model: model.map(str::to_owned),
        context_window: None,
        ..settings(kind, &server.url())
    })
}

/// Requested paths, in order.
fn paths(server: &MockServer) -> Vec<String> {
    server.log().received.iter().map(|received| received.path.clone()).collect()
}

/// Sends two requests; both answers are correct.
async fn ask_twice(engine: &HttpEngine) {
    for _ in 0..2 {
        let (answer, heard) = ask(engine).await;
        answer.expect("the server answers");
        assert_eq!(heard.text, TRUTH);
    }
}

#[tokio::test]
async fn template_is_chosen_by_the_server_model_name() {
    let server = MockServer::with_dialect(Dialect::tgi(model(
        "bigcode/starcoder2-3b",
        Some(TemplateMarks::STARCODER),
    )));
    let engine = engine_without_template(EngineKind::Tgi, None, &server);
    ask_twice(&engine).await;
    assert_eq!(paths(&server), ["/info", "/tokenize", "/generate_stream", "/generate_stream"]);
    let PromptMode::Rendered(choice) = engine.prompt_mode().await.unwrap() else {
        panic!("TGI takes rendered prompts alone")
    };
    assert_eq!((choice.template.name(), &*choice.by.to_string()), ("starcoder2", "metadata"));
}

/// Size of the context sent to llama.cpp's server if its tokenizer returns this number of tokens; in bytes of the prompt.
async fn prompt_bytes(tokens_of: fn(&str) -> usize) -> usize {
    let server = MockServer::scripted(move |received| match received.path.as_str() {
        "/props" => Reply::json(200, &json!({"default_generation_settings": {"n_ctx": 1024}})),
        "/tokenize" => {
            let count =
                tokens_of(received.json()["content"].as_str().expect("there is a text to be counted"));
            Reply::json(200, &json!({"tokens": vec![1; count]}))
        }
        _ => Reply::events([r#"{"content": "x", "stop": true}"#]),
    });
    let code = "value = compute(first, second)\n".repeat(2_000);
    let (answer, heard) =
        ask_for(&engine_without_template(EngineKind::LlamaCpp, None, &server), request(&format!("{code}$0")))
            .await;
    answer.expect("the server answers");
    heard.prompts[0].len()
}

#[tokio::test]
async fn prompt_size_is_calibrated_by_the_server_tokenizer() {
    let usual = prompt_bytes(|text| text.len() / 4).await;
    let dear = prompt_bytes(|text| text.len() / 2).await;
    assert!((0.4..0.6).contains(&(dear as f64 / usual as f64)), "{dear} {usual}");
    let untold = prompt_bytes(|_| 0).await;
    assert!((0.8..1.2).contains(&(untold as f64 / usual as f64)), "{untold} {usual}");
}

#[tokio::test]
async fn ollama_metadata_avoids_a_refused_suffix() {
    let model = model("Qwen2.5-Coder-7B", Some(TemplateMarks::QWEN));
    let server = MockServer::with_dialect(Dialect::ollama(model).with_suffix(SuffixPolicy::Refused));
    let mut engine_settings = settings(EngineKind::Ollama, &server.url());
    engine_settings.fim = FimSetting::Auto;
    engine_settings.model = Some("Qwen2.5-Coder-7B".to_owned());
    let engine = engine(engine_settings);
    ask_twice(&engine).await;
    assert_eq!(paths(&server), ["/api/show", "/api/generate", "/api/generate"], "Ollama tells beforehand");
}

#[tokio::test]
async fn unsupported_infill_falls_back_to_a_rendered_prompt() {
    let server = MockServer::with_dialect(Dialect::llama_cpp(model("codestral", None)));
    let engine = engine_without_template(EngineKind::LlamaCpp, None, &server);
    let (answer, _) = ask(&engine).await;
    assert_eq!(answer.unwrap().refusals, 1);
    let (answer, _) = ask(&engine).await;
    assert_eq!(answer.unwrap().refusals, 0);
    assert_eq!(paths(&server), ["/props", "/tokenize", "/infill", "/completion", "/completion"]);
}

#[tokio::test]
async fn openai_engine_at_llama_cpp_needs_a_template() {
    let server = MockServer::with_dialect(Dialect::llama_cpp(model("coder", Some(TemplateMarks::QWEN))));
    let (answer, _) = ask(&engine_without_template(EngineKind::OpenAi, Some("coder"), &server)).await;
    let message = answer.unwrap_err().to_string();
    assert_eq!(
        message,
        "engine `tested`: no template is known for `coder`, and the server makes no prompt itself; name one in `fim`"
    );
    let named =
        MockServer::with_dialect(Dialect::llama_cpp(model("qwen2.5-coder", Some(TemplateMarks::QWEN))));
    let engine = engine_without_template(EngineKind::OpenAi, Some("qwen2.5-coder"), &named);
    ask_twice(&engine).await;
    assert_eq!(paths(&named), ["/v1/models", "/v1/completions", "/v1/completions"]);
}

#[tokio::test]
async fn refused_suffix_without_template_is_an_error() {
    for policy in [SuffixPolicy::Refused, SuffixPolicy::Taken] {
        let dialect = Dialect::open_ai(model("gpt-3.5-turbo-instruct", None), KEY).with_suffix(policy);
        let server = MockServer::with_dialect(dialect);
        let (answer, heard) =
            ask(&engine_without_template(EngineKind::OpenAi, Some("gpt-3.5-turbo-instruct"), &server)).await;
        match policy {
            SuffixPolicy::Taken => assert_eq!(heard.text, TRUTH),
            _ => assert!(matches!(answer, Err(EngineError::NoTemplate { .. })), "{answer:?}"),
        }
    }
}

#[tokio::test]
async fn reasoning_model_request_is_adapted_to_its_refusals() {
    let server = MockServer::with_dialect(Dialect::open_ai(model("gpt-5", None), KEY).with_reasoning());
    let engine = engine_without_template(EngineKind::OpenAiChat, Some("gpt-5"), &server);
    let (answer, heard) = ask(&engine).await;
    assert_eq!((answer.unwrap().refusals, &*heard.text), (2, TRUTH));
    assert_eq!(heard.prompts.len(), 3, "every form is reported");
    let (answer, _) = ask(&engine).await;
    assert_eq!(answer.unwrap().refusals, 0);
    let log = server.log();
    let body = log.received.last().unwrap().json();
    assert_eq!((&body["max_completion_tokens"], body.get("temperature")), (&serde_json::json!(64), None));
}

#[tokio::test]
async fn configured_temperature_is_never_omitted() {
    let server = MockServer::with_dialect(Dialect::open_ai(model("gpt-5", None), KEY).with_reasoning());
    let sampling = Sampling { temperature: Some(0.7), ..Sampling::greedy(64) };
    let settings = HttpSettings {
        sampling,
        model: Some("gpt-5".to_owned()),
        ..settings(EngineKind::OpenAiChat, &server.url())
    };
    let (answer, _) = ask(&engine(settings)).await;
    let fault = fault(answer);
    assert!(
        matches!(&fault, ServerError::Status { status: 400, message, .. } if message.contains("temperature")),
        "{fault}"
    );
}

#[tokio::test]
async fn server_without_metadata_is_still_used() {
    let server = MockServer::scripted(|received| match &*received.path {
        "/props" => Reply::json(404, &json!({"error": {"message": "no props"}})),
        _ => Reply::events([r#"{"content": "x", "stop": true}"#]),
    });
    let engine = engine_without_template(EngineKind::LlamaCpp, None, &server);
    for _ in 0..2 {
        let (answer, heard) = ask(&engine).await;
        answer.unwrap();
        assert_eq!(heard.text, "x");
    }
    assert_eq!(paths(&server), ["/props", "/infill", "/infill"]);
}

#[test]
fn unknown_template_is_reported_at_construction() {
    let settings = HttpSettings {
        fim: FimSetting::Template("qwen-9".to_owned()),
        ..settings(EngineKind::Vllm, "http://127.0.0.1:1")
    };
    let error = HttpEngine::new(settings).err().expect("there is no such template").to_string();
    assert!(error.starts_with("unknown template `qwen-9`; known are "), "{error}");
}
