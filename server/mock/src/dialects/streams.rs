//! Generations in the formats of OpenAI and compatible servers.

use serde_json::{Value, json};

use super::Dialect;
use crate::mock_model::{Generation, GenerationEnd};
use crate::{Reply, ReplyStep};

/// Differences between the formats.
#[derive(Clone, Copy)]
pub(super) struct ResponseShape {
    /// Whether choices hold messages.
    pub(super) is_chat: bool,
    /// Whether streams begin with a chunk without content, as chats of llama.cpp and OpenAI do.
    pub(super) begins_with_role: bool,
    /// Whether token counts are sent in a separate event and only on request.
    pub(super) counts_when_asked: bool,
    /// Additional fields of the last event.
    pub(super) more: fn(&Generation) -> Value,
}

fn finish(ending: GenerationEnd) -> &'static str {
    if ending == GenerationEnd::TokenLimit { "length" } else { "stop" }
}

/// Returns the whole reply to a request with this body.
pub(super) fn reply(dialect: &Dialect, shape: ResponseShape, body: &Value, generation: &Generation) -> Reply {
    if !super::is_set(body, "stream") {
        return Reply::json(200, &whole(dialect, shape, generation));
    }
    let with_counts = body.pointer("/stream_options/include_usage").and_then(Value::as_bool) == Some(true);
    let mut reply = Reply::stream("text/event-stream; charset=utf-8");
    if shape.begins_with_role {
        reply = send(reply, &event(dialect, shape, json!({"role": "assistant", "content": null}), None));
    }
    for piece in &generation.pieces {
        if !dialect.piece_delay.is_zero() {
            reply = reply.with_step(ReplyStep::Pause(dialect.piece_delay));
        }
        reply = send(reply, &event(dialect, shape, text_delta(shape, piece), None));
    }
    let mut last = event(dialect, shape, text_delta(shape, ""), Some(finish(generation.ending)));
    let mut more = (shape.more)(generation);
    if shape.counts_when_asked {
        reply = send(reply, &last);
        if with_counts {
            let counts = json!({"id": "cmpl-1", "model": dialect.model.name, "choices": [], "usage": usage(generation)});
            reply = send(reply, &counts);
        }
    } else {
        last["usage"] = usage(generation);
        if let (Some(last), Some(more)) = (last.as_object_mut(), more.as_object_mut()) {
            last.append(more);
        }
        reply = send(reply, &last);
    }
    reply.chunk(b"data: [DONE]\n\n").end()
}

fn send(reply: Reply, event: &Value) -> Reply {
    reply.chunk(format!("data: {event}\n\n").as_bytes())
}

/// Encodes a piece of text in the format.
fn text_delta(shape: ResponseShape, piece: &str) -> Value {
    if shape.is_chat && piece.is_empty() {
        json!({})
    } else if shape.is_chat {
        json!({"content": piece})
    } else {
        json!(piece)
    }
}

fn event(dialect: &Dialect, shape: ResponseShape, response: Value, finish: Option<&str>) -> Value {
    let mut choice = json!({"index": 0, "finish_reason": finish});
    choice[if shape.is_chat { "delta" } else { "text" }] = response;
    let object = if shape.is_chat { "chat.completion.chunk" } else { "text_completion" };
    json!({"id": "cmpl-1", "object": object, "created": 1, "model": dialect.model.name, "choices": [choice]})
}

fn whole(dialect: &Dialect, shape: ResponseShape, generation: &Generation) -> Value {
    let mut choice = json!({"index": 0, "finish_reason": finish(generation.ending)});
    let text = generation.text();
    if shape.is_chat {
        choice["message"] = json!({"role": "assistant", "content": text});
    } else {
        choice["text"] = json!(text);
    }
    let mut whole = json!({
        "id": "cmpl-1",
        "model": dialect.model.name,
        "choices": [choice],
        "usage": usage(generation),
    });
    if let (Some(whole), Some(more)) = (whole.as_object_mut(), (shape.more)(generation).as_object_mut()) {
        whole.append(more);
    }
    whole
}

fn usage(generation: &Generation) -> Value {
    let (input, output) = (generation.input, generation.pieces.len());
    json!({
        "prompt_tokens": input,
        "completion_tokens": output,
        "total_tokens": input + output,
        "prompt_tokens_details": {"cached_tokens": 1},
    })
}

/// No additional fields.
pub(super) fn no_more(_generation: &Generation) -> Value {
    json!({})
}
