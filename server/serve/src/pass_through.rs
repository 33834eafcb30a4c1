//! Requests that pass through to the server of an engine: bytes in, bytes out, as they arrive.
//!
//! Responsible for headers that belong to a connection, and for what the record learns of the answer. A broken answer breaks for the
//! plugin, too. A plugin that disconnects ends the request of the server.

use std::io;
use std::sync::Arc;
use std::time::{Duration, Instant};

use bytes::Bytes;
use engines::{PassThrough, PassedRequest, PassedResponse, ServerError};
use futures_util::stream;
use http_body_util::{BodyExt, StreamBody};
use http_server::{ResponseBody, refusal};
use hyper::body::Frame;
use hyper::header::{
    ACCEPT_ENCODING, CONNECTION, CONTENT_LENGTH, EXPECT, HOST, HeaderMap, HeaderName, TE, TRAILER,
    TRANSFER_ENCODING, UPGRADE,
};
use hyper::{Method, Response, StatusCode};
use tokio::sync::oneshot;

use crate::chosen_engine::ChosenEngine;
use crate::front_door::FrontDoorState;
use crate::seen_answer::{AnswerEnd, MAX_SEEN_BYTES, SeenAnswer};

/// Headers of a connection, which are not passed on.
const CONNECTION_HEADERS: [HeaderName; 9] = [
    CONNECTION,
    HeaderName::from_static("keep-alive"),
    HeaderName::from_static("proxy-connection"),
    HeaderName::from_static("proxy-authorization"),
    HeaderName::from_static("proxy-authenticate"),
    TE,
    TRAILER,
    TRANSFER_ENCODING,
    UPGRADE,
];
/// Headers of requests that are set for the server: its host, the length of the body, and no compression, since the answer is read.
const REQUEST_HEADERS: [HeaderName; 4] = [HOST, CONTENT_LENGTH, EXPECT, ACCEPT_ENCODING];

/// A request that passes through.
pub(crate) struct PassingRequest {
    pub(crate) method: Method,
    /// Path with the query.
    pub(crate) path: String,
    pub(crate) headers: HeaderMap,
    pub(crate) body: Bytes,
}

/// Passes a request on and returns the response.
pub(crate) async fn pass(
    server: &Arc<PassThrough>,
    request: PassingRequest,
    mut observer: Option<AnswerObserver>,
) -> Response<ResponseBody> {
    let PassingRequest { method, path, mut headers, body } = request;
    remove_connection_headers(&mut headers);
    REQUEST_HEADERS.iter().for_each(|name| drop(headers.remove(name)));
    match server.send(PassedRequest { method, path: &path, headers, body }).await {
        Ok(response) => passed_response(response, observer),
        Err(error) => {
            if let Some(observer) = &mut observer {
                observer.finish(AnswerEnd::Broken(error.to_string()));
            }
            let is_timeout = matches!(error, ServerError::Timeout { .. });
            let status = if is_timeout { StatusCode::GATEWAY_TIMEOUT } else { StatusCode::BAD_GATEWAY };
            refusal(status, &error.to_string())
        }
    }
}

fn passed_response(passed: PassedResponse, observer: Option<AnswerObserver>) -> Response<ResponseBody> {
    let (status, mut headers) = (passed.status(), passed.headers().clone());
    let length = headers.get(CONTENT_LENGTH).and_then(|length| length.to_str().ok()?.parse().ok());
    remove_connection_headers(&mut headers);
    let observer = observer.map(|observer| observer.of_response(status, length));
    let chunks = stream::unfold(Some((passed, observer)), next_chunk);
    let mut response = Response::new(StreamBody::new(chunks).boxed_unsync());
    (*response.status_mut(), *response.headers_mut()) = (status, headers);
    response
}

type PassingBody = (PassedResponse, Option<AnswerObserver>);

/// The next bytes of the answer, and what follows them: nothing after its end or a break.
async fn next_chunk(body: Option<PassingBody>) -> Option<(io::Result<Frame<Bytes>>, Option<PassingBody>)> {
    let (mut passed, mut observer) = body?;
    match passed.chunk().await {
        Ok(Some(bytes)) => {
            if let Some(observer) = &mut observer {
                observer.push(&bytes);
            }
            Some((Ok(Frame::data(bytes)), Some((passed, observer))))
        }
        Ok(None) => {
            if let Some(observer) = &mut observer {
                observer.finish(AnswerEnd::Complete);
            }
            None
        }
        Err(error) => {
            if let Some(observer) = &mut observer {
                observer.finish(AnswerEnd::Broken(error.to_string()));
            }
            Some((Err(io::Error::other(error)), None))
        }
    }
}

fn remove_connection_headers(headers: &mut HeaderMap) {
    let named: Vec<HeaderName> = headers
        .get_all(CONNECTION)
        .iter()
        .filter_map(|names| names.to_str().ok())
        .flat_map(|names| names.split(','))
        .filter_map(|name| name.trim().parse().ok())
        .collect();
    named.iter().chain(&CONNECTION_HEADERS).for_each(|name| drop(headers.remove(name)));
}

/// Reads the answer as it passes, and reports it to the record when it ends, in whatever way.
pub(crate) struct AnswerObserver {
    state: Arc<FrontDoorState>,
    chosen: Arc<ChosenEngine>,
    number: u64,
    began: Instant,
    first: Option<Duration>,
    status: u16,
    /// Length of the body, if the server announced it.
    length: Option<usize>,
    received: usize,
    body: Vec<u8>,
    is_finished: bool,
    /// Dropped when the answer has passed.
    _passing: oneshot::Sender<()>,
}

impl AnswerObserver {
    /// Begins with the request.
    pub(crate) fn new(
        state: Arc<FrontDoorState>,
        chosen: Arc<ChosenEngine>,
        number: u64,
        passing: oneshot::Sender<()>,
    ) -> AnswerObserver {
        AnswerObserver {
            state,
            chosen,
            number,
            began: Instant::now(),
            first: None,
            status: 0,
            length: None,
            received: 0,
            body: Vec::new(),
            is_finished: false,
            _passing: passing,
        }
    }

    fn of_response(self, status: StatusCode, length: Option<usize>) -> AnswerObserver {
        let mut observer = self;
        (observer.status, observer.length) = (status.as_u16(), length);
        observer
    }

    fn push(&mut self, bytes: &Bytes) {
        self.first.get_or_insert(self.began.elapsed());
        self.received += bytes.len();
        let room = MAX_SEEN_BYTES - self.body.len();
        self.body.extend_from_slice(&bytes[..bytes.len().min(room)]);
        // The connection does not ask for more than the announced length.
        if self.length == Some(self.received) {
            self.finish(AnswerEnd::Complete);
        }
    }

    fn finish(&mut self, end: AnswerEnd) {
        if std::mem::replace(&mut self.is_finished, true) {
            return;
        }
        let seen = SeenAnswer {
            http_status: self.status,
            body: std::mem::take(&mut self.body),
            end,
            first: self.first,
            total: self.began.elapsed(),
        };
        self.state.link.passed(self.number, &self.chosen, seen);
    }
}

impl Drop for AnswerObserver {
    fn drop(&mut self) {
        self.finish(AnswerEnd::Cancelled);
    }
}
