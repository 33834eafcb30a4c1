//! Bodies of responses.

use std::convert::Infallible;
use std::io;

use bytes::Bytes;
use http_body_util::combinators::UnsyncBoxBody;
use http_body_util::{BodyExt, Full};
use hyper::header::{CONTENT_TYPE, HeaderValue};
use hyper::{Response, StatusCode};
use serde_json::{Value, json};

/// The body of a response.
pub(crate) type ResponseBody = UnsyncBoxBody<Bytes, io::Error>;

/// A body that is known as a whole.
pub(crate) fn whole(bytes: impl Into<Bytes>) -> ResponseBody {
    Full::new(bytes.into()).map_err(|never: Infallible| match never {}).boxed_unsync()
}

/// A response with this body.
pub(crate) fn response(
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
pub(crate) fn json_response(status: StatusCode, value: &Value) -> Response<ResponseBody> {
    response(status, "application/json", value.to_string())
}

/// A refusal in the form that OpenAI's clients show. Plugins of other APIs show the status.
pub(crate) fn refusal(status: StatusCode, message: &str) -> Response<ResponseBody> {
    let error = json!({"message": message, "type": "ghostbench", "code": status.as_u16()});
    json_response(status, &json!({"error": error}))
}
