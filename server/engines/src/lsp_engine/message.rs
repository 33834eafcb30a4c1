//! JSON-RPC messages: responses, requests and notifications.

use serde_json::{Value, json};

/// JSON-RPC's error code for an unknown method.
pub(super) const METHOD_NOT_FOUND: i64 = -32601;

/// A received message.
#[derive(Debug, PartialEq)]
pub(super) enum Message {
    /// Response to our request with this number.
    Response { id: i64, result: Result<Value, ResponseError> },
    /// A request to us.
    Request { id: Value, method: String, params: Value },
    /// A notification.
    Notification { method: String, params: Value },
    /// A response without a matching request, as servers send if they couldn't parse one.
    Unknown,
}

/// Error response of a server.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct ResponseError {
    pub(super) code: i64,
    /// One line.
    pub(super) message: String,
}

/// Parses a body.
pub(super) fn read(body: &[u8]) -> Result<Message, String> {
    let mut message: Value =
        serde_json::from_slice(body).map_err(|error| format!("it sends invalid JSON: {error}"))?;
    let mut take = |name: &str| message.get_mut(name).map(Value::take);
    let (id, method, params) = (take("id"), take("method"), take("params").unwrap_or_default());
    Ok(match (id, method) {
        (None | Some(Value::Null), Some(Value::String(method))) => Message::Notification { method, params },
        (Some(id), Some(Value::String(method))) => Message::Request { id, method, params },
        (Some(id), None) => match (id.as_i64(), take("error")) {
            (None, _) => Message::Unknown,
            (Some(id), Some(error)) if !error.is_null() => {
                Message::Response { id, result: Err(response_error(&error)) }
            }
            (Some(id), _) => Message::Response { id, result: Ok(take("result").unwrap_or_default()) },
        },
        _ => return Err("it sends JSON that is not a message".to_owned()),
    })
}

fn response_error(error: &Value) -> ResponseError {
    let code = error.get("code").and_then(Value::as_i64).unwrap_or_default();
    let message = error.get("message").and_then(Value::as_str).unwrap_or("it does not say why");
    ResponseError { code, message: message.to_owned() }
}

/// Serializes a request.
pub(super) fn request(id: i64, method: &str, params: &Value) -> Vec<u8> {
    body(json!({"jsonrpc": "2.0", "id": id, "method": method}), params)
}

/// Serializes a notification.
pub(super) fn notification(method: &str, params: &Value) -> Vec<u8> {
    body(json!({"jsonrpc": "2.0", "method": method}), params)
}

/// Omits `params` for methods without parameters: some servers reject `null`.
fn body(mut message: Value, params: &Value) -> Vec<u8> {
    if !params.is_null() {
        message["params"] = params.clone();
    }
    message.to_string().into_bytes()
}

/// Serializes our response to a server's request.
pub(super) fn response(id: &Value, result: Result<Value, ResponseError>) -> Vec<u8> {
    let message = match result {
        Ok(result) => json!({"jsonrpc": "2.0", "id": id, "result": result}),
        Err(ResponseError { code, message }) => {
            json!({"jsonrpc": "2.0", "id": id, "error": {"code": code, "message": message}})
        }
    };
    message.to_string().into_bytes()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn responses_requests_and_notifications_are_distinguished() {
        let answer = |id, result| Message::Response { id, result };
        let refused = |code, message: &str| Err(ResponseError { code, message: message.to_owned() });
        for (text, expected) in [
            (r#"{"id": 1, "result": {"a": 2}}"#, answer(1, Ok(json!({"a": 2})))),
            (r#"{"id": 1, "result": null, "error": null}"#, answer(1, Ok(Value::Null))),
            (r#"{"id": 1}"#, answer(1, Ok(Value::Null))),
            (
                r#"{"id": 2, "error": {"code": -32601, "message": "no\nmore"}}"#,
                answer(2, refused(-32601, "no\nmore")),
            ),
            (r#"{"id": 2, "error": "odd"}"#, answer(2, refused(0, "it does not say why"))),
            (r#"{"id": "abc", "result": 1}"#, Message::Unknown),
            (r#"{"id": null, "error": {"code": -32700, "message": "?"}}"#, Message::Unknown),
            (
                r#"{"id": "q", "method": "m", "params": [1]}"#,
                Message::Request { id: json!("q"), method: "m".to_owned(), params: json!([1]) },
            ),
            (r#"{"method": "m"}"#, Message::Notification { method: "m".to_owned(), params: Value::Null }),
        ] {
            assert_eq!(read(text.as_bytes()).unwrap(), expected, "{text}");
        }
    }

    #[test]
    fn invalid_messages_are_refused() {
        for text in ["", "[", "[1]", "3", "{}", r#"{"method": 3}"#, "\u{feff}{}", &"[".repeat(100_000)] {
            assert!(read(text.as_bytes()).is_err(), "{} bytes", text.len());
        }
        assert!(read(b"{\"id\": 1, \"result\": \"\xff\"}").is_err());
    }

    #[test]
    fn null_params_are_omitted() {
        assert_eq!(request(1, "shutdown", &Value::Null), br#"{"id":1,"jsonrpc":"2.0","method":"shutdown"}"#);
        assert_eq!(notification("n", &json!({})), br#"{"jsonrpc":"2.0","method":"n","params":{}}"#);
    }
}
