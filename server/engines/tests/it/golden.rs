//! Agreement with a real llama-server, answer by answer.
//!
//! `GHOSTBENCH_GOLDEN` names the folder with the recorded requests and answers; if unset, these tests print so and check
//! nothing.

#![expect(clippy::print_stderr, reason = "says how many rows were read, or why none")]

use std::path::PathBuf;

use config::Secret;
use engines::{
    EmbeddingServer, EmbeddingServerError, EngineKind, FinishReason, HttpEmbedder, HttpServerConfig,
    HttpSettings, ServerError, Usage,
};
use mock::{Dialect, MockModel, MockServer, Reply, TemplateMarks};
use serde_json::Value;

use crate::harness::{ask, engine, fault, settings};

/// All files of the folder by name, `None` when no folder is named.
fn samples() -> Option<Vec<(String, Value)>> {
    let Some(folder) = std::env::var_os("GHOSTBENCH_GOLDEN") else {
        eprintln!("llama_server_samples: skipped, GHOSTBENCH_GOLDEN is not set");
        return None;
    };
    let folder = PathBuf::from(folder).join("llama_server_samples");
    let files = std::fs::read_dir(&folder).unwrap_or_else(|error| panic!("{}: {error}", folder.display()));
    let paths = files.map(|file| file.expect("the folder is readable").path());
    let mut samples: Vec<(String, Value)> = paths
        .filter(|path| path.extension().is_some_and(|ending| ending == "json"))
        .map(|path| {
            let text = std::fs::read_to_string(&path).expect("the file is readable");
            let name = path.file_stem().expect("a file has a name").to_string_lossy().into_owned();
            (name, serde_json::from_str(&text).expect("a sample is JSON"))
        })
        .collect();
    samples.sort_by(|(one, _), (other, _)| one.cmp(other));
    assert!(!samples.is_empty(), "{} has no samples", folder.display());
    eprintln!("llama_server_samples: {} rows", samples.len());
    Some(samples)
}

/// The recorded reply, as it came.
fn replay(sample: &Value) -> MockServer {
    let response = &sample["response"];
    let status = response["status"].as_u64().and_then(|status| status.try_into().ok()).expect("a status");
    let headers = response["headers"].as_object().expect("headers");
    let own = ["content-length", "transfer-encoding", "connection", "keep-alive"];
    let headers: Vec<(&str, &str)> = headers
        .iter()
        .filter(|(name, _)| !own.contains(&name.to_lowercase().as_str()))
        .map(|(name, value)| (name.as_str(), value.as_str().expect("a header is text")))
        .collect();
    let body = match response.get("text").and_then(Value::as_str) {
        Some(text) => text.to_owned(),
        None => response["json"].to_string(),
    };
    MockServer::with_replies([Reply::with_headers(status, &headers, body.as_bytes())])
}

/// The events of a recorded stream, or the whole answer.
fn events(sample: &Value) -> Vec<Value> {
    let response = &sample["response"];
    match response.get("text").and_then(Value::as_str) {
        None => vec![response["json"].clone()],
        Some(text) => text
            .lines()
            .filter_map(|line| line.strip_prefix("data: "))
            .filter(|data| *data != "[DONE]")
            .map(|data| serde_json::from_str(data).expect("an event is JSON"))
            .collect(),
    }
}

/// The finish reason in the last of `places` that exists.
fn finish(events: &[Value], places: &[&str]) -> FinishReason {
    let last =
        events.iter().flat_map(|event| places.iter().filter_map(|place| event.pointer(place)?.as_str()));
    match last.last() {
        Some("length" | "limit") => FinishReason::Length,
        _ => FinishReason::Stop,
    }
}

/// Concatenates the text at a place of the first answer in all events.
fn texts(events: &[Value], places: &[&str]) -> String {
    let texts =
        events.iter().filter_map(|event| places.iter().find_map(|place| event.pointer(place)?.as_str()));
    texts.collect()
}

async fn check_answer(name: &str, kind: EngineKind, sample: &Value) {
    let server = replay(sample);
    let settings = HttpSettings {
        fim: engines::FimSetting::Template("{prefix}{suffix}".to_owned()),
        ..settings(kind, &server.url())
    };
    let (answer, heard) = ask(&engine(settings)).await;
    let answer = answer.unwrap_or_else(|error| panic!("{name}: {error}"));
    let events = events(sample);
    let (text, ends): (&[&str], &[&str]) = match kind {
        EngineKind::LlamaCpp => (&["/content"], &["/stop_type"]),
        EngineKind::OpenAi => (&["/choices/0/text"], &["/choices/0/finish_reason"]),
        _ => (&["/choices/0/delta/content", "/choices/0/message/content"], &["/choices/0/finish_reason"]),
    };
    assert_eq!(heard.text, texts(&events, text), "{name}");
    let is_lifted = events[0].get("timings/predicted_n").is_some();
    assert_eq!(answer.finish, if is_lifted { FinishReason::Stop } else { finish(&events, ends) }, "{name}");
    let last = events.last().expect("there is an event");
    let count = |place: &str| last.pointer(place).and_then(Value::as_u64);
    if let (Some(read), Some(cached), Some(written)) =
        (count("/timings/prompt_n"), count("/timings/cache_n"), count("/timings/predicted_n"))
    {
        let usage = Usage { input: read + cached, output: written, cached: Some(cached) };
        assert_eq!(answer.usage, Some(usage), "{name}");
        let timings = answer.timings.unwrap_or_else(|| panic!("{name}: there are timings"));
        let milliseconds =
            |duration: Option<std::time::Duration>| duration.map(|duration| duration.as_secs_f64() * 1e3);
        let near = |found: Option<f64>, place: &str| {
            let expected = last.pointer(place).and_then(Value::as_f64).expect("a time");
            assert!((found.expect("a time is kept") - expected).abs() < 1e-5, "{name} {place}");
        };
        near(milliseconds(timings.prompt), "/timings/prompt_ms");
        near(milliseconds(timings.generation), "/timings/predicted_ms");
    }
    if let Some(prompt) = last.get("prompt").and_then(Value::as_str) {
        assert_eq!(
            heard.prompts.last().map(String::as_str),
            Some(prompt),
            "{name}: the server's own prompt is reported"
        );
    }
}

async fn check_refusal(name: &str, sample: &Value) {
    let server = replay(sample);
    let (answer, _) = ask(&engine(settings(EngineKind::LlamaCpp, &server.url()))).await;
    let fault = fault(answer);
    let cause = match name {
        "err_401" => "unauthorized",
        "err_404" => "no_path",
        "err_ctx_too_long" => "question_too_long",
        _ => "status",
    };
    assert_eq!(fault.cause(), cause, "{name}: {fault}");
    let message = sample.pointer("/response/json/error/message").and_then(Value::as_str).expect("a message");
    assert!(fault.to_string().contains(message), "{name}: {fault}");
}

async fn check_embeddings(name: &str, sample: &Value) {
    let server = replay(sample);
    let texts: Vec<String> = sample["request"]["body"]["input"]
        .as_array()
        .expect("texts")
        .iter()
        .map(|text| text.as_str().expect("a text").to_owned())
        .collect();
    let asked = EmbeddingServer {
        server: HttpServerConfig { key: Some(Secret::new("k")), ..HttpServerConfig::at(&server.url()) },
        model: None,
        timeout: EmbeddingServer::DEFAULT_TIMEOUT,
    };
    let embedder = HttpEmbedder::new(&asked, tokio::runtime::Handle::current()).expect("the address is one");
    let vectors = tokio::task::spawn_blocking(move || embedder.embed(&texts)).await.expect("no panic");
    match sample.pointer("/response/json/data") {
        Some(data) => {
            let data = data.as_array().expect("vectors");
            let vectors = vectors.unwrap_or_else(|error| panic!("{name}: {error}"));
            assert_eq!(vectors.len(), data.len(), "{name}");
            for (vector, expected) in vectors.iter().zip(data) {
                let expected: Vec<f32> =
                    serde_json::from_value(expected["embedding"].clone()).expect("numbers");
                assert_eq!(*vector, expected, "{name}");
            }
        }
        None => {
            let error = vectors.expect_err("there are no vectors");
            assert!(
                matches!(
                    error,
                    EmbeddingServerError::Server(
                        ServerError::Status { status: 501, .. } | ServerError::Unauthorized { .. }
                    )
                ),
                "{name}: {error}"
            );
        }
    }
}

async fn check_metadata(name: &str, sample: &Value) {
    let server = replay(sample);
    let kind = if name == "props" { EngineKind::LlamaCpp } else { EngineKind::OpenAi };
    let settings = HttpSettings { model: None, ..settings(kind, &server.url()) };
    let metadata = engine(settings).metadata().await.unwrap_or_else(|error| panic!("{name}: {error}"));
    assert_eq!(metadata.models, ["tiny"], "{name}");
    assert_eq!(metadata.context_window, Some(2048), "{name}");
    assert!(metadata.names.contains(&"tiny".to_owned()), "{name}");
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn golden_llama_server_responses_are_parsed() {
    for (name, sample) in samples().unwrap_or_default() {
        match name.as_str() {
            "embeddings_server_infill" => check_answer(&name, EngineKind::LlamaCpp, &sample).await,
            "v1_embeddings" | "v1_embeddings_ok" | "err_401"
                if sample["request"]["path"] == "/v1/embeddings" =>
            {
                check_embeddings(&name, &sample).await;
                // A server without embeddings answers 501, which has another meaning for infill.
                if name == "err_401" {
                    check_refusal(&name, &sample).await;
                }
            }
            name if name.starts_with("err_") => check_refusal(name, &sample).await,
            name if name.starts_with("infill") || name.starts_with("completion") => {
                check_answer(name, EngineKind::LlamaCpp, &sample).await;
            }
            name if name.starts_with("v1_completions") => {
                check_answer(name, EngineKind::OpenAi, &sample).await
            }
            name if name.starts_with("v1_chat") => check_answer(name, EngineKind::OpenAiChat, &sample).await,
            "props" | "models" => check_metadata(&name, &sample).await,
            // An engine never requests this; it only has to exist to compare the mock with.
            "apply_template"
            | "cancel_cases"
            | "cancel_long"
            | "cancel_stream_false"
            | "cancel_stream_true"
            | "detokenize"
            | "health"
            | "metrics"
            | "slots"
            | "tokenize" => {}
            other => panic!("unknown endpoint {other}"),
        }
    }
}

/// The mock accepts and rejects the same requests as the real server.
#[tokio::test]
async fn golden_mock_has_the_status_codes_of_llama_server() {
    let model = MockModel::new("tiny", Some(TemplateMarks::QWEN));
    let plain = MockServer::with_dialect(Dialect::llama_cpp(model.clone()));
    let keyed = MockServer::with_dialect(Dialect::llama_cpp(model).with_key("k"));
    for (name, sample) in samples().unwrap_or_default() {
        let Some(request) = sample.get("request") else { continue };
        let path = request["path"].as_str().expect("a path");
        let known = [
            "/infill",
            "/completion",
            "/v1/completions",
            "/v1/chat/completions",
            "/health",
            "/props",
            "/v1/models",
            "/nope",
        ];
        if !known.contains(&path) || name == "err_ctx_too_long" {
            continue;
        }
        let url = format!("{}{path}", if name.starts_with("embeddings") { keyed.url() } else { plain.url() });
        // Another test may have installed the same provider.
        drop(rustls::crypto::ring::default_provider().install_default());
        let client = reqwest::Client::builder().no_proxy().build().expect("a client");
        let mut asked = match request["method"].as_str() {
            Some("GET") => client.get(url),
            _ => client.post(url).body(request["body"].to_string()),
        };
        for (header, value) in request["headers"].as_object().expect("headers") {
            asked = asked.header(header, value.as_str().expect("a header is text"));
        }
        let reply = asked.send().await.expect("the mock answers");
        assert_eq!(
            u64::from(reply.status().as_u16()),
            sample["response"]["status"].as_u64().unwrap(),
            "{name}"
        );
    }
    let passed_over = plain.log().ignored_fields;
    assert!(passed_over.iter().all(|field| field == "suffix"), "{passed_over:?}");
}
