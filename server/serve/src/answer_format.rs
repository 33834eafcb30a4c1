//! An answer of our own in the form of each API: as one object, or as a stream with the whole text in its first part.

use std::time::{SystemTime, UNIX_EPOCH};

use cases::TokenCounts;
use http_server::{ResponseBody, json_response, response};
use hyper::{Response, StatusCode};
use serde_json::{Map, Value, json};

use crate::dialect::Dialect;
use crate::routes::AnswerOptions;

/// An answer.
#[derive(Clone, Debug)]
pub(crate) struct OwnAnswer {
    /// Number of the request.
    pub(crate) number: u64,
    /// Name of the model, as the plugin knows it.
    pub(crate) model: String,
    /// The text.
    pub(crate) text: String,
    /// Token counts, if the engine reports them.
    pub(crate) tokens: Option<TokenCounts>,
}

impl OwnAnswer {
    /// Returns the id of the completion in the answer.
    pub(crate) fn id(&self, dialect: Dialect) -> String {
        match dialect {
            Dialect::Chat | Dialect::MistralFim => format!("chatcmpl-{:x}", self.number),
            Dialect::Tabby => format!("cmpl-ghostbench-{:x}", self.number),
            _ => format!("cmpl-{:x}", self.number),
        }
    }

    fn tokens(&self) -> (u64, u64) {
        self.tokens.as_ref().map_or((0, 0), |tokens| (tokens.input, tokens.output))
    }

    fn usage(&self) -> Value {
        let (input, output) = self.tokens();
        json!({"prompt_tokens": input, "completion_tokens": output, "total_tokens": input + output})
    }
}

/// Writes an answer.
pub(crate) fn render(
    dialect: Dialect,
    options: &AnswerOptions,
    answer: &OwnAnswer,
) -> Response<ResponseBody> {
    let ok = |value: Value| json_response(StatusCode::OK, &value);
    match (dialect, options.is_stream) {
        (Dialect::LlamaInfill | Dialect::LlamaCompletion, true) => events(&llama_stream(answer), false),
        (Dialect::LlamaInfill | Dialect::LlamaCompletion, false) => {
            ok(chosen_fields(llama(answer), &options.fields))
        }
        (Dialect::Tabby, _) => {
            let choices = json!([{"index": 0, "text": answer.text}]);
            ok(json!({"id": answer.id(dialect), "choices": choices}))
        }
        (Dialect::OllamaGenerate, true) => lines(&ollama_stream(answer)),
        (Dialect::OllamaGenerate, false) => ok(ollama(answer, &answer.text, true)),
        (_, true) => events(&open_ai_stream(dialect, answer), true),
        (_, false) => ok(open_ai(dialect, answer)),
    }
}

fn llama(answer: &OwnAnswer) -> Value {
    let (input, output) = answer.tokens();
    json!({
        "index": 0, "content": answer.text, "id_slot": 0, "stop": true, "model": answer.model,
        "tokens_predicted": output, "tokens_evaluated": input, "tokens_cached": 0, "truncated": false,
        "stop_type": "eos", "stopping_word": "", "has_new_line": answer.text.contains('\n'),
        "generation_settings": {}, "prompt": "",
        "timings": {
            "prompt_n": input, "prompt_ms": 0.0, "prompt_per_token_ms": 0.0, "prompt_per_second": 0.0,
            "predicted_n": output, "predicted_ms": 0.0, "predicted_per_token_ms": 0.0,
            "predicted_per_second": 0.0
        }
    })
}

/// Keeps the fields that the plugin asks for; `a/b` is a field of an object, which llama.cpp calls by that name.
fn chosen_fields(whole: Value, fields: &[String]) -> Value {
    if fields.is_empty() {
        return whole;
    }
    let found = fields.iter().filter_map(|field| {
        let value = whole.pointer(&format!("/{field}"))?;
        Some((field.clone(), value.clone()))
    });
    Value::Object(found.collect::<Map<_, _>>())
}

fn llama_stream(answer: &OwnAnswer) -> Vec<Value> {
    let first = json!({"index": 0, "content": answer.text, "tokens": [], "stop": false, "id_slot": 0});
    let mut last = llama(answer);
    last["content"] = "".into();
    vec![first, last]
}

fn ollama(answer: &OwnAnswer, text: &str, is_done: bool) -> Value {
    let (input, output) = answer.tokens();
    let created = humantime::format_rfc3339_millis(SystemTime::now()).to_string();
    let mut value = json!({"model": answer.model, "created_at": created, "response": text, "done": is_done});
    if is_done {
        let numbers = json!({
            "done_reason": "stop", "context": [], "total_duration": 0, "load_duration": 0,
            "prompt_eval_count": input, "prompt_eval_duration": 0, "eval_count": output, "eval_duration": 0
        });
        if let (Value::Object(value), Value::Object(numbers)) = (&mut value, numbers) {
            value.extend(numbers);
        }
    }
    value
}

fn ollama_stream(answer: &OwnAnswer) -> Vec<Value> {
    vec![ollama(answer, &answer.text, false), ollama(answer, "", true)]
}

/// Whether the text is in a message.
fn is_chat(dialect: Dialect) -> bool {
    matches!(dialect, Dialect::Chat | Dialect::MistralFim)
}

fn open_ai(dialect: Dialect, answer: &OwnAnswer) -> Value {
    let (object, choice) = match is_chat(dialect) {
        true => {
            let message = json!({"role": "assistant", "content": answer.text});
            ("chat.completion", json!({"index": 0, "message": message, "finish_reason": "stop"}))
        }
        false => (
            "text_completion",
            json!({"index": 0, "text": answer.text, "logprobs": null, "finish_reason": "stop"}),
        ),
    };
    let mut value = open_ai_frame(dialect, answer, object, choice);
    value["usage"] = answer.usage();
    value
}

fn open_ai_stream(dialect: Dialect, answer: &OwnAnswer) -> Vec<Value> {
    let part = |text: &str, finish: Option<&str>| match is_chat(dialect) {
        true => {
            let delta = match finish {
                None => json!({"role": "assistant", "content": text}),
                Some(_) => json!({}),
            };
            let choice = json!({"index": 0, "delta": delta, "finish_reason": finish});
            open_ai_frame(dialect, answer, "chat.completion.chunk", choice)
        }
        false => {
            let choice = json!({"index": 0, "text": text, "logprobs": null, "finish_reason": finish});
            open_ai_frame(dialect, answer, "text_completion", choice)
        }
    };
    vec![part(&answer.text, None), part("", Some("stop"))]
}

fn open_ai_frame(dialect: Dialect, answer: &OwnAnswer, object: &str, choice: Value) -> Value {
    json!({
        "id": answer.id(dialect), "object": object, "created": seconds_now(), "model": answer.model,
        "choices": [choice]
    })
}

fn events(values: &[Value], has_end: bool) -> Response<ResponseBody> {
    let mut body: String = values.iter().map(|value| format!("data: {value}\n\n")).collect();
    if has_end {
        body.push_str("data: [DONE]\n\n");
    }
    response(StatusCode::OK, "text/event-stream", body)
}

fn lines(values: &[Value]) -> Response<ResponseBody> {
    let body: String = values.iter().map(|value| format!("{value}\n")).collect();
    response(StatusCode::OK, "application/x-ndjson", body)
}

fn seconds_now() -> u64 {
    SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default().as_secs()
}
