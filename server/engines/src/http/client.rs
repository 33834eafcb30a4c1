//! HTTP requests and their responses.

use std::hash::{BuildHasher, RandomState};
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;

use reqwest::header::{ACCEPT, AUTHORIZATION, CONTENT_TYPE, HeaderMap, HeaderName, HeaderValue, LOCATION};
use reqwest::redirect::Policy;
use reqwest::{Certificate, Identity, Method, StatusCode, Url};
use serde_json::{Value, json};
use tokio::sync::Semaphore;
use tokio::time::Instant;

use crate::cassette::{CanonicalRequest, Document, EngineCassette, RecordedReply};

use super::circuit_breaker::CircuitBreaker;
use super::error::{ServerError, TimeoutStage};
use super::http_response::{HttpResponse, ResponseRecorder, ResponseSource};
use super::redactor::Redactor;
use super::server_config::{HttpLimits, HttpServerConfig, Proxy};
use super::{address, error_response, retry};

/// Keep-alive time. Servers close connections that are idle for longer than this; llama.cpp's does so after 5 s.
const IDLE_LIMIT: Duration = Duration::from_secs(2);

/// Keep-alive time of encrypted connections. It is longer because the handshake is expensive and such servers keep connections
/// longer: nginx, the shortest of the well-known, for 75 s.
const ENCRYPTED_IDLE_LIMIT: Duration = Duration::from_secs(60);

/// Maximum size of an error body in bytes.
const MAX_ERROR_BYTES: usize = 64 << 10;

/// How a key is sent.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum KeyHeader {
    /// `Authorization: Bearer KEY`.
    Bearer,
    /// The key alone, in a header of this name.
    Named(&'static str),
}

/// Fixed headers of a format.
#[derive(Clone, Copy, Debug)]
pub(crate) struct RequestHeaders {
    /// How the key is sent.
    pub(crate) key: KeyHeader,
    /// Headers of the format.
    pub(crate) headers: &'static [(&'static str, &'static str)],
}

/// One request.
pub(crate) struct HttpRequest {
    /// The address, from [`HttpClient::endpoint`].
    pub(crate) url: Url,
    /// JSON body; `None` for a GET request.
    pub(crate) body: Option<Vec<u8>>,
    /// Redacted body for a cassette; default: the whole body.
    pub(crate) recorded_form: Option<Value>,
    /// The document of the request.
    pub(crate) document: Option<Document>,
    /// Deadline. The caller enforces it; here it only limits retries.
    pub(crate) deadline: Option<Instant>,
}

/// Client of one server.
pub(crate) struct HttpClient {
    http: reqwest::Client,
    /// Address of the server.
    base: Url,
    /// Host and port, for messages.
    server: String,
    secrets: Redactor,
    has_key: bool,
    limits: HttpLimits,
    permits: Option<Semaphore>,
    breaker: CircuitBreaker,
    /// Source of the jitter, and number of draws.
    jitter: RandomState,
    jitter_draws: AtomicU64,
    /// Records and replays answers.
    cassette: Option<EngineCassette>,
}

impl HttpClient {
    /// Creates the client without connecting.
    pub(crate) fn new(server: &HttpServerConfig, manners: RequestHeaders) -> Result<HttpClient, ServerError> {
        let url = address::parse(&server.url)?;
        let headers = headers(server, manners)?;
        let proxy = match &server.proxy {
            Proxy::At(proxy) => Some(address::parse(proxy)?),
            Proxy::System | Proxy::Direct => None,
        };
        let values = server.headers.iter().map(|(_, value)| value);
        let addresses = [Some(&url), proxy.as_ref()].into_iter().flatten();
        Ok(HttpClient {
            http: connections(server, &url, proxy.as_ref(), headers)?,
            server: address::shown(&url),
            secrets: Redactor::new(server.key.as_ref(), values, addresses),
            has_key: server.key.is_some(),
            limits: server.limits,
            permits: server.max_concurrency.map(|count| Semaphore::new(count.max(1))),
            breaker: CircuitBreaker::default(),
            jitter: RandomState::new(),
            jitter_draws: AtomicU64::new(0),
            cassette: None,
            base: url,
        })
    }

    /// Returns the client with a cassette.
    pub(crate) fn with_cassette(self, tape: EngineCassette) -> HttpClient {
        HttpClient { cassette: Some(tape), ..self }
    }

    /// Returns the cassette.
    pub(crate) fn cassette(&self) -> Option<&EngineCassette> {
        self.cassette.as_ref()
    }

    /// Host and port, for messages.
    pub(crate) fn server(&self) -> &str {
        &self.server
    }

    /// Returns the address of a path.
    pub(crate) fn endpoint(&self, path: &str) -> Url {
        address::endpoint(&self.base, path)
    }

    /// Sends the request, with retries as long as the deadline allows, until there is a successful response. A recorded request
    /// is replayed instead.
    pub(crate) async fn ask(&self, call: &HttpRequest) -> Result<HttpResponse<'_>, ServerError> {
        let Some(tape) = &self.cassette else { return self.ask_server(call, None).await };
        let request = self.canonical(tape.engine(), call);
        match tape.find(&request)? {
            Some(recorded) => self.replay(call, &recorded),
            None => self.ask_server(call, Some(ResponseRecorder::new(tape, request))).await,
        }
    }

    /// Returns the canonical form of a request, which is independent of the server's address.
    pub(crate) fn canonical(&self, engine: &str, call: &HttpRequest) -> CanonicalRequest {
        let without_secrets = |text: &str| self.secrets.redact(text);
        let query = call.url.query_pairs().map(|(name, value)| json!([name, without_secrets(&value)]));
        let method = if call.body.is_some() { Method::POST } else { Method::GET };
        let body = call.body.as_deref().and_then(|body| serde_json::from_slice::<Value>(body).ok());
        let mut form = json!({"method": method.as_str(), "path": call.url.path()});
        let query: Vec<Value> = query.collect();
        if !query.is_empty() {
            form["query"] = query.into();
        }
        let mut shown = form.clone();
        if let Some(body) = body {
            shown["body"] =
                self.secrets.redact_json(call.recorded_form.clone().unwrap_or_else(|| body.clone()));
            form["body"] = body;
        }
        CanonicalRequest::new(engine, &form, shown).about(call.document.clone())
    }

    /// Replays the recorded answer.
    fn replay(
        &self,
        call: &HttpRequest,
        recorded: &Arc<RecordedReply>,
    ) -> Result<HttpResponse<'_>, ServerError> {
        match &**recorded {
            RecordedReply::Server(reply) if !is_success(reply.status) => {
                let body: String = reply.pieces.iter().map(|piece| piece.text.as_str()).collect();
                Err(self.refusal(call, reply.status, body.as_bytes(), None, None))
            }
            _ => Ok(HttpResponse::new(
                self,
                ResponseSource::Recorded { reply: Arc::clone(recorded), given: 0 },
                0,
                None,
                None,
            )),
        }
    }

    async fn ask_server<'a>(
        &'a self,
        call: &HttpRequest,
        mut recording: Option<ResponseRecorder<'a>>,
    ) -> Result<HttpResponse<'a>, ServerError> {
        let permit = match &self.permits {
            // The semaphore is never closed.
            Some(permits) => permits.acquire().await.ok(),
            None => None,
        };
        let (mut attempt, mut waited) = (0, Duration::ZERO);
        loop {
            let (attempted, was_sent) = self.attempt_if_free(call, &mut recording).await;
            let fault = match attempted {
                Ok(response) => {
                    return Ok(HttpResponse::new(
                        self,
                        ResponseSource::Live(response),
                        attempt,
                        permit,
                        recording,
                    ));
                }
                Err(fault) => fault,
            };
            let left = call.deadline.map(|until| until.saturating_duration_since(Instant::now()));
            let wait = match was_sent {
                true => retry::retry_delay(&fault, attempt, waited, left, self.jitter()),
                false => retry::retry_delay_after_others(&fault, waited, left, self.jitter()),
            };
            let Some(wait) = wait else { return Err(fault) };
            tokio::time::sleep(wait).await;
            attempt += u32::from(was_sent);
            waited += wait;
        }
    }

    /// Sends the request if the circuit breaker permits it; returns whether it was sent.
    async fn attempt_if_free(
        &self,
        call: &HttpRequest,
        recording: &mut Option<ResponseRecorder<'_>>,
    ) -> (Result<reqwest::Response, ServerError>, bool) {
        let pass = match self.breaker.admit(Instant::now()) {
            Ok(pass) => pass,
            Err(fault) => return (Err(fault), false),
        };
        let attempted = self.attempt(call, recording).await;
        match &attempted {
            Ok(_) => pass.record_success(),
            Err(fault) => pass.record_refusal(fault, Instant::now(), self.jitter()),
        }
        (attempted, true)
    }

    /// Returns a number from 0 to 1 that differs between processes.
    fn jitter(&self) -> f64 {
        let drawn = self.jitter.hash_one(self.jitter_draws.fetch_add(1, Ordering::Relaxed));
        (drawn >> 11) as f64 / (1_u64 << 53) as f64
    }

    async fn attempt(
        &self,
        call: &HttpRequest,
        recording: &mut Option<ResponseRecorder<'_>>,
    ) -> Result<reqwest::Response, ServerError> {
        let limit = self.limits.first_byte_of(call.body.as_ref().map_or(0, |body| body.len()));
        let sent = tokio::time::timeout(limit, send(|| self.request(call))).await;
        let sent = sent.map_err(|_| self.timeout_error(TimeoutStage::FirstByte, limit))?;
        let response = sent.map_err(|error| self.connection_error(&error))?;
        if is_success(response.status().as_u16()) {
            Ok(response)
        } else {
            Err(self.refusal_of_response(call, response, recording).await)
        }
    }

    fn request(&self, call: &HttpRequest) -> reqwest::RequestBuilder {
        match &call.body {
            None => self.http.request(Method::GET, call.url.clone()),
            Some(body) => {
                let request = self.http.request(Method::POST, call.url.clone());
                request.header(CONTENT_TYPE, "application/json").body(body.clone())
            }
        }
    }

    async fn refusal_of_response(
        &self,
        call: &HttpRequest,
        response: reqwest::Response,
        recording: &mut Option<ResponseRecorder<'_>>,
    ) -> ServerError {
        let status = response.status().as_u16();
        let header =
            |name: &str| response.headers().get(name).and_then(|value: &HeaderValue| value.to_str().ok());
        let retry_after = header("retry-after").and_then(|value| retry::retry_after(value, header("date")));
        let to =
            header(LOCATION.as_str()).and_then(|to| call.url.join(to).ok()).map(|to| address::shown(&to));
        let mut reply = HttpResponse::new(self, ResponseSource::Live(response), 0, None, None);
        // An unreadable error body still is an error.
        let body = reply.body(MAX_ERROR_BYTES).await.unwrap_or_default();
        let fault = self.refusal(call, status, &body, retry_after, to);
        if fault.is_request_specific()
            && let Some(recording) = recording.take()
        {
            recording.record_refusal(status, body, &self.secrets);
        }
        fault
    }

    fn refusal(
        &self,
        call: &HttpRequest,
        status: u16,
        body: &[u8],
        retry_after: Option<Duration>,
        to: Option<String>,
    ) -> ServerError {
        let refusal = error_response::ErrorResponse {
            status,
            text: error_response::error_text(
                StatusCode::from_u16(status).unwrap_or_default(),
                body,
                &self.secrets,
            ),
            retry_after,
            location: to,
            path: call.url.path().to_owned(),
        };
        refusal.into_error(&self.server, self.has_key)
    }

    /// Returns a message of the server, redacted and shortened.
    pub(crate) fn quoted(&self, message: &str) -> String {
        self.secrets.quoted(message)
    }

    /// Returns the error for a malformed answer; `reason` quotes no code.
    pub(crate) fn malformed_answer(&self, expected: &'static str, reason: &str) -> ServerError {
        ServerError::Malformed { server: self.server.clone(), expected, reason: self.quoted(reason) }
    }

    /// Returns the error that the server reported in the middle of an answer.
    pub(crate) fn error_in_answer(&self, error: &serde_json::Value) -> ServerError {
        error_response::error_in_answer(error, |message| self.quoted(message), &self.server, self.has_key)
    }

    /// Returns the error for an answer that exceeded its timeout.
    pub(crate) fn unfinished_answer(&self, waited: Duration) -> ServerError {
        self.timeout_error(TimeoutStage::LastByte, waited)
    }

    /// Host and port, limits, and secrets.
    pub(super) fn parts(&self) -> (&str, &HttpLimits, &Redactor) {
        (&self.server, &self.limits, &self.secrets)
    }

    pub(super) fn timeout_error(&self, stage: TimeoutStage, waited: Duration) -> ServerError {
        ServerError::Timeout { server: self.server.clone(), stage, waited }
    }

    pub(super) fn connection_error(&self, error: &reqwest::Error) -> ServerError {
        if error.is_timeout() && error.is_connect() {
            return self.timeout_error(TimeoutStage::Connecting, self.limits.connect);
        }
        let reason = self.quoted(&super::error_message::root_cause(error));
        error_response::unreachable(error, self.server.clone(), reason)
    }
}

fn is_success(status: u16) -> bool {
    (200..300).contains(&status)
}

pub(super) fn connections(
    server: &HttpServerConfig,
    url: &Url,
    proxy: Option<&Url>,
    headers: HeaderMap,
) -> Result<reqwest::Client, ServerError> {
    // Another thread may have installed the same provider.
    drop(rustls::crypto::ring::default_provider().install_default());
    let failed = |error: reqwest::Error| ServerError::Client(super::error_message::root_cause(&error));
    let idle = if url.scheme() == "https" { ENCRYPTED_IDLE_LIMIT } else { IDLE_LIMIT };
    let mut builder = reqwest::Client::builder()
        .connect_timeout(server.limits.connect)
        .pool_idle_timeout(idle)
        .redirect(Policy::none())
        .default_headers(headers);
    if let Some(proxy) = proxy {
        let proxy = reqwest::Proxy::all(proxy.clone()).map_err(failed)?;
        builder = builder.no_proxy().proxy(proxy);
    } else if server.proxy == Proxy::Direct || address::is_loopback(url) {
        builder = builder.no_proxy();
    }
    if let Some(roots) = &server.root_certificates {
        builder = builder.tls_certs_merge(certificates(roots)?);
    }
    if let Some(identity) = &server.identity {
        let unreadable = |error| ServerError::Identity { reason: super::error_message::root_cause(&error) };
        builder = builder.identity(Identity::from_pem(identity).map_err(unreadable)?);
    }
    builder.build().map_err(|error| unusable(server, &error).unwrap_or_else(|| failed(error)))
}

/// Returns the error of certificates that are in PEM form, and cannot be used.
fn unusable(server: &HttpServerConfig, error: &reqwest::Error) -> Option<ServerError> {
    match error_response::tls_error(error)? {
        rustls::Error::InvalidCertificate(reason) if server.root_certificates.is_some() => {
            Some(ServerError::Roots { reason: reason.to_string() })
        }
        rustls::Error::InconsistentKeys(_) => {
            Some(ServerError::Identity { reason: "the key does not belong to the certificate".to_owned() })
        }
        error if server.identity.is_some() => Some(ServerError::Identity { reason: error.to_string() }),
        _ => None,
    }
}

fn certificates(pem: &[u8]) -> Result<Vec<Certificate>, ServerError> {
    let roots = |reason: String| ServerError::Roots { reason };
    let certificates =
        Certificate::from_pem_bundle(pem).map_err(|error| roots(super::error_message::root_cause(&error)))?;
    if certificates.is_empty() { Err(roots("there are none".to_owned())) } else { Ok(certificates) }
}

/// Returns the headers of every request. The server's own override those of its format.
pub(super) fn headers(server: &HttpServerConfig, manners: RequestHeaders) -> Result<HeaderMap, ServerError> {
    let mut headers = HeaderMap::from_iter([(ACCEPT, HeaderValue::from_static("*/*"))]);
    for &(name, value) in manners.headers {
        headers.insert(HeaderName::from_static(name), HeaderValue::from_static(value));
    }
    if let Some(key) = &server.key {
        let (name, value) = match manners.key {
            KeyHeader::Bearer => (AUTHORIZATION, format!("Bearer {}", key.expose())),
            KeyHeader::Named(name) => (HeaderName::from_static(name), key.expose().to_owned()),
        };
        headers.insert(name, secret(&value).ok_or(ServerError::Key)?);
    }
    for (name, value) in &server.headers {
        let wrong = || ServerError::Header { name: name.clone() };
        let parsed = HeaderName::try_from(name.as_str()).map_err(|_| wrong())?;
        headers.insert(parsed, secret(value.expose()).ok_or_else(wrong)?);
    }
    Ok(headers)
}

fn secret(value: &str) -> Option<HeaderValue> {
    let mut value = HeaderValue::try_from(value).ok()?;
    value.set_sensitive(true);
    Some(value)
}

/// Sends a request. A server may close a connection at the very moment it is reused. There was no response then, so that repeating the
/// request over a new connection gives no second answer.
pub(super) async fn send(
    request: impl Fn() -> reqwest::RequestBuilder,
) -> reqwest::Result<reqwest::Response> {
    match request().send().await {
        Err(error) if error.is_request() && !error.is_connect() && !error.is_timeout() => {
            request().send().await
        }
        sent => sent,
    }
}
