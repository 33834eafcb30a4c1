//! Bodies of requests and responses.

use std::convert::Infallible;
use std::io;
use std::time::Duration;

use bytes::Bytes;
use http_body_util::combinators::UnsyncBoxBody;
use http_body_util::{BodyExt, Full, LengthLimitError, Limited};
use hyper::body::Incoming;
use hyper::header::{CONTENT_TYPE, HeaderValue};
use hyper::{Response, StatusCode};
use serde_json::{Value, json};

/// The body of a response.
pub type ResponseBody = UnsyncBoxBody<Bytes, io::Error>;

/// A body that is known as a whole.
pub fn whole(bytes: impl Into<Bytes>) -> ResponseBody {
    Full::new(bytes.into()).map_err(|never: Infallible| match never {}).boxed_unsync()
}

/// A response with this body.
pub fn response(
    status: StatusCode,
    content_type: &'static str,
    body: impl Into<Bytes>,
) -> Response<ResponseBody> {
    let mut response = Response::new(whole(body));
    *response.status_mut() = status;
    response.headers_mut().insert(CONTENT_TYPE, HeaderValue::from_static(content_type));
    response
}

/// A response with JSON.
pub fn json_response(status: StatusCode, value: &Value) -> Response<ResponseBody> {
    response(status, "application/json", value.to_string())
}

/// A refusal in the form that OpenAI's clients show. Other clients show the status.
pub fn refusal(status: StatusCode, message: &str) -> Response<ResponseBody> {
    let error = json!({"message": message, "type": "ghostbench", "code": status.as_u16()});
    json_response(status, &json!({"error": error}))
}

/// Limits of the body of a request.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct BodyLimits {
    /// Most bytes.
    pub bytes: usize,
    /// Most time until its last byte.
    pub time: Duration,
}

/// Reads a body that is neither too long nor too slow.
///
/// # Errors
/// The response that refuses the request.
pub async fn read_body(body: Incoming, limits: BodyLimits) -> Result<Bytes, Response<ResponseBody>> {
    let reading = tokio::time::timeout(limits.time, Limited::new(body, limits.bytes).collect());
    match reading.await {
        Ok(Ok(body)) => Ok(body.to_bytes()),
        Ok(Err(error)) if error.is::<LengthLimitError>() => Err(refusal(
            StatusCode::PAYLOAD_TOO_LARGE,
            &format!("the body is longer than {} MB", limits.bytes >> 20),
        )),
        Ok(Err(_)) => Err(refusal(StatusCode::BAD_REQUEST, "the body is incomplete")),
        Err(_) => Err(refusal(
            StatusCode::REQUEST_TIMEOUT,
            &format!("the body took longer than {} s", limits.time.as_secs()),
        )),
    }
}
