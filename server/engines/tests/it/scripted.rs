//! The scripted engine follows the first rule that fits.

use std::ops::ControlFlow;
use std::panic::AssertUnwindSafe;
use std::time::Duration;

use engines::{
    Answer, Engine, EngineError, FinishReason, PromptInput, Request, ScriptedEngine, ScriptedReply,
};
use futures_util::FutureExt;
use syntax::Language;
use text::Snippet;
use tokio::time::Instant;
use tokio_util::sync::CancellationToken;

fn engine(rules: &str) -> ScriptedEngine {
    let rules: Vec<ScriptedReply> = serde_json::from_str(rules).expect("the test's rules are rules");
    ScriptedEngine::with_rules("scripted", rules)
}

fn request(path: &str) -> Request {
    request_with(path, &[])
}

fn request_with(path: &str, context: &[Snippet]) -> Request {
    Request::new(PromptInput {
        path: path.into(),
        language: Language::Python,
        text: "é = \r\n".into(),
        cursor: "é = ".len(),
        context: context.into(),
    })
}

async fn ask(engine: &ScriptedEngine, path: &str) -> (Result<Answer, EngineError>, String) {
    complete_request(engine, request(path)).await
}

async fn complete_request(
    engine: &ScriptedEngine,
    request: Request,
) -> (Result<Answer, EngineError>, String) {
    let mut response = String::new();
    let mut sink = |piece: &str| {
        response.push_str(piece);
        ControlFlow::Continue(())
    };
    let answer = engine.complete(request, &mut sink, &CancellationToken::new()).await;
    (answer, response)
}

#[tokio::test]
async fn first_rule_with_a_matching_path_suffix_wins() {
    let engine = engine(
        r#"[{ "path": "b/a.py", "text": "long" }, { "path": "a.py", "text": "short" }, { "path": "" , "text": "any" }]"#,
    );
    assert_eq!(ask(&engine, "b/a.py").await.1, "long");
    assert_eq!(ask(&engine, "a.py").await.1, "short");
    assert_eq!(ask(&engine, "main.rs").await.1, "any");
}

#[tokio::test]
async fn no_matching_rule_gives_an_empty_answer() {
    let (answer, response) = ask(&engine(r#"[{ "path": "a.py", "text": "x" }]"#), "b.py").await;
    assert_eq!((answer.unwrap().finish, &*response), (FinishReason::Stop, ""));
}

#[tokio::test]
async fn context_words_with_a_prefix_are_listed() {
    let engine = engine(r#"[{ "words": "new_" }]"#);
    let context = ["# new_b(a_new_c, new_a1)", "# new_b"].map(|text| Snippet::new("b.py", text));
    assert!(engine.reads_context());
    assert_eq!(complete_request(&engine, request_with("a.py", &context)).await.1, "words=new_a1 new_b");
    assert_eq!(ask(&engine, "a.py").await.1, "");
}

#[tokio::test]
async fn echo_reports_length_and_hash_of_the_document() {
    let (_, response) = ask(&engine(r#"[{ "echo": true }]"#), "a.py").await;
    let hash = blake3::hash("é = \r\n".as_bytes()).to_hex();
    assert_eq!(response, format!("len=7 blake3={hash}"));
}

#[tokio::test(start_paused = true)]
async fn delay_precedes_answer_failure_and_panic() {
    let engine = engine(
        r#"[{ "path": "speaks", "delay_ms": 3000, "text": "x" },
            { "path": "fails", "delay_ms": 3000, "text": "x", "fail": "no" },
            { "path": "panics", "delay_ms": 3000, "panic": true }]"#,
    );
    for path in ["speaks", "fails", "panics"] {
        let start = Instant::now();
        let ended = AssertUnwindSafe(ask(&engine, path)).catch_unwind().await;
        assert_eq!(start.elapsed(), Duration::from_secs(3), "{path}");
        assert_eq!(engine.busy(), 0, "{path}");
        match path {
            "speaks" => assert_eq!(ended.unwrap().1, "x"),
            "fails" => {
                let (answer, response) = ended.unwrap();
                assert_eq!(answer.unwrap_err().to_string(), "engine `scripted` failed: no");
                assert_eq!(response, "x");
            }
            _ => assert!(ended.is_err()),
        }
    }
}

#[test]
fn unknown_fields_are_refused() {
    let error = serde_json::from_str::<Vec<ScriptedReply>>(r#"[{ "txt": "x" }]"#).unwrap_err();
    assert!(error.to_string().starts_with("unknown field `txt`"), "{error}");
}

#[test]
fn description_changes_with_the_rules() {
    let settings = |rules: &str| engine(rules).description().settings.clone();
    assert_ne!(settings(r#"[{ "text": "x" }]"#), settings(r#"[{ "text": "y" }]"#));
    assert_ne!(settings(r#"[{ "text": "x" }]"#), settings(r#"[{ "text": "x", "delay_ms": 1 }]"#));
}
