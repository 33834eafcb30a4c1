//! Engines that speak another API than the plugin: their answers are written in the plugin's API.

use serde_json::{Value, json};
use tests::front_door::HttpReply;
use tests::{FrontDoor, Project};

use super::{SUGGESTION, around, infill, project};

/// A front door with the scripted engine, which answers in one file.
fn door(project: &Project) -> FrontDoor {
    let rules = json!([{"path": "shop.py", "text": SUGGESTION}]).to_string();
    FrontDoor::open(project, &["--scripted", &rules])
}

fn post(door: &FrontDoor, path: &str, body: &Value) -> HttpReply {
    let reply = door.post(path, body.to_string().as_bytes());
    assert_eq!(reply.status, 200, "{reply:?}");
    reply
}

/// The JSON values of a stream.
fn events(reply: &HttpReply) -> Vec<Value> {
    let text = String::from_utf8(reply.body.clone()).expect("it is text");
    let lines = text.lines().map(|line| line.strip_prefix("data: ").unwrap_or(line));
    lines
        .filter(|line| !line.is_empty() && *line != "[DONE]")
        .map(|line| line.parse().expect("JSON"))
        .collect()
}

#[test]
fn every_api_gets_the_answer_in_its_form() {
    let project = project();
    let door = door(&project);
    let (prefix, suffix) = around();
    let fill = json!({"model": "m", "prompt": prefix, "suffix": suffix});
    let llama = post(&door, "/infill", &infill(prefix, suffix)).json();
    assert_eq!((&llama["content"], &llama["stop"]), (&json!(SUGGESTION), &json!(true)));
    let mut chosen = infill(prefix, suffix);
    chosen["response_fields"] = json!(["content", "timings/predicted_n", "missing"]);
    assert_eq!(
        post(&door, "/infill", &chosen).json(),
        json!({"content": SUGGESTION, "timings/predicted_n": 0})
    );

    for path in ["/v1/completions", "/beta/completions"] {
        let answer = post(&door, path, &fill).json();
        assert_eq!(answer["choices"][0]["text"], SUGGESTION, "{path}");
        assert_eq!((&answer["object"], &answer["model"]), (&json!("text_completion"), &json!("m")));
    }
    let mistral = post(&door, "/v1/fim/completions", &fill).json();
    assert_eq!(mistral["choices"][0]["message"]["content"], SUGGESTION);
    let chat = format!("<contextBeforeCursor>\n{prefix}<cursorPosition>\n<contextAfterCursor>\n{suffix}");
    let chat = json!({"model": "m", "messages": [{"role": "user", "content": chat}]});
    assert_eq!(
        post(&door, "/v1/chat/completions", &chat).json()["choices"][0]["message"]["content"],
        SUGGESTION
    );
    let tokens = format!("<|fim_prefix|>{prefix}<|fim_suffix|>{suffix}<|fim_middle|>");
    assert_eq!(post(&door, "/completion", &json!({"prompt": tokens})).json()["content"], SUGGESTION);
    let tabby = json!({"language": "python", "segments": {"prefix": prefix, "suffix": suffix, "filepath": "shop.py"}});
    let tabby = post(&door, "/v1/completions", &tabby).json();
    assert_eq!(tabby["choices"], json!([{"index": 0, "text": SUGGESTION}]));
    assert!(tabby["id"].as_str().is_some_and(|id| id.starts_with("cmpl-")), "{tabby}");
    let mut ollama = fill.clone();
    ollama["stream"] = json!(false);
    let ollama = post(&door, "/api/generate", &ollama).json();
    assert_eq!((&ollama["response"], &ollama["done"]), (&json!(SUGGESTION), &json!(true)));
}

#[test]
fn streams_end_as_their_api_says() {
    let project = project();
    let door = door(&project);
    let (prefix, suffix) = around();
    let fill = json!({"model": "m", "prompt": prefix, "suffix": suffix, "stream": true});
    let completions = post(&door, "/v1/completions", &fill);
    assert!(completions.body.ends_with(b"data: [DONE]\n\n"));
    let parts = events(&completions);
    assert_eq!(
        (&parts[0]["choices"][0]["text"], &parts[1]["choices"][0]["finish_reason"]),
        (&json!(SUGGESTION), &json!("stop"))
    );
    // Ollama streams by default.
    let ollama =
        events(&post(&door, "/api/generate", &json!({"model": "m", "prompt": prefix, "suffix": suffix})));
    assert_eq!((&ollama[0]["response"], &ollama[0]["done"]), (&json!(SUGGESTION), &json!(false)));
    assert_eq!((&ollama[1]["response"], &ollama[1]["done"]), (&json!(""), &json!(true)));
    let mut streamed = infill(prefix, suffix);
    streamed["stream"] = json!(true);
    let llama = events(&post(&door, "/infill", &streamed));
    assert_eq!(
        (&llama[0]["content"], &llama[1]["content"], &llama[1]["stop"]),
        (&json!(SUGGESTION), &json!(""), &json!(true))
    );
}

#[test]
fn places_that_are_not_found_get_no_text() {
    let project = project();
    let door = door(&project);
    let elsewhere = infill("class Elsewhere:\n    def method(self):\n        return ", "self\n");
    assert_eq!(post(&door, "/infill", &elsewhere).json()["content"], "");
    let talk = json!({"messages": [{"role": "user", "content": "How are you?"}]});
    assert_eq!(post(&door, "/v1/chat/completions", &talk).json()["choices"][0]["message"]["content"], "");
}

#[test]
fn probes_are_answered_for_any_engine() {
    let project = project();
    let door = door(&project);
    for path in ["/health", "/props", "/v1/models", "/api/tags", "/api/version", "/v1/health", "/"] {
        assert_eq!(door.get(path).status, 200, "{path}");
    }
    assert_eq!(door.get("/v1/models").json()["data"][0]["id"], "scripted");
    assert_eq!(door.get("/props").json()["total_slots"], 1);
    assert_eq!(post(&door, "/v1/events", &json!({"type": "view"})).body, b"");
}

#[test]
fn a_failing_engine_is_reported_to_the_plugin() {
    let project = project();
    let rules = json!([{"fail": "the model is gone"}]).to_string();
    let door = FrontDoor::open(&project, &["--scripted", &rules]);
    let (prefix, suffix) = around();
    let reply = door.post("/infill", infill(prefix, suffix).to_string().as_bytes());
    assert_eq!(reply.status, 502);
    assert!(reply.json()["error"]["message"].as_str().is_some_and(|message| !message.is_empty()));
}
