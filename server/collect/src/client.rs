//! The client of a server: sends bundles until they are stored, and reads for an account.
//!
//! A request is repeated while the server is away or busy, with growing, randomised delays, and no sooner than the server asks for. It may
//! be repeated safely: the server stores each row once. A refusal is not repeated.

use std::hash::{BuildHasher, RandomState};
use std::sync::Arc;
use std::time::{Duration, Instant};

use bytes::Bytes;
use config::Secret;
use engines::{
    HttpLimits, HttpServerConfig, PassThrough, PassedRequest, ServerError, exponential_backoff, retry_after,
};
use hyper::header::{CONTENT_ENCODING, CONTENT_TYPE, DATE, HeaderMap, HeaderName, HeaderValue, RETRY_AFTER};
use hyper::{Method, StatusCode};
use serde_json::Value;
use thiserror::Error;

use crate::packed;
use crate::protocol::{self, REPOSITORY_HEADER};
use crate::store::Receipt;

/// First delay before a request is repeated.
const FIRST_DELAY: Duration = Duration::from_secs(1);
/// Longest delay, unless the server asks for more.
const MAX_DELAY: Duration = Duration::from_secs(60);
/// Longest time of one attempt to store a bundle, which takes a server less than a second.
const BUNDLE_TIME: Duration = Duration::from_secs(60);
/// Longest time of any other attempt: a scoreboard reads all rows, and a deletion may rewrite them.
const ANSWER_TIME: Duration = Duration::from_secs(600);
/// Most bytes of an answer: a page of rows, or a scoreboard.
const MAX_ANSWER_BYTES: usize = 64 << 20;

/// A request that was not answered as wished.
#[derive(Debug, Error)]
pub enum ClientError {
    /// The client cannot be made.
    #[error(transparent)]
    Setup(ServerError),
    /// The server is away or busy.
    #[error("the server did not take the request: {reason}")]
    Away {
        /// The last reason.
        reason: String,
    },
    /// The server refused the request.
    #[error("the server refused the request ({status}): {message}")]
    Refused {
        /// HTTP status.
        status: u16,
        /// The server's message, with its remedy.
        message: String,
    },
    /// The answer is something else.
    #[error("the answer is not one of a Ghostbench server: {0}; check the address")]
    Malformed(String),
}

/// A client with a credential.
pub struct CollectClient {
    server: Arc<PassThrough>,
    /// How long requests are repeated.
    patience: Duration,
    jitter: RandomState,
}

/// How to reach a server.
#[derive(Clone)]
pub struct ServerAddress {
    /// Its address.
    pub url: String,
    /// The token.
    pub token: Option<Secret>,
    /// Trusted certificates in PEM form, in addition to the system's.
    pub root_certificates: Option<Vec<u8>>,
    /// Certificate and private key in PEM form.
    pub identity: Option<Vec<u8>>,
}

/// One attempt that failed.
enum Failed {
    /// Another attempt may succeed, after this time at least.
    ForNow(String, Option<Duration>),
    ForGood(ClientError),
}

impl CollectClient {
    /// Creates a client without connecting. Requests are repeated for as long as `patience`.
    ///
    /// # Errors
    /// The address, the token or a certificate is invalid.
    pub fn new(address: &ServerAddress, patience: Duration) -> Result<CollectClient, ClientError> {
        let server = HttpServerConfig {
            key: address.token.clone(),
            root_certificates: address.root_certificates.clone(),
            identity: address.identity.clone(),
            // Each attempt has its own limit.
            limits: HttpLimits { first_byte: ANSWER_TIME, idle: ANSWER_TIME, ..HttpLimits::DEFAULT },
            ..HttpServerConfig::at(&address.url)
        };
        let server = Arc::new(PassThrough::new(&server).map_err(ClientError::Setup)?);
        Ok(CollectClient { server, patience, jitter: RandomState::new() })
    }

    /// Sends a bundle until it is stored.
    ///
    /// # Errors
    /// The server refused it, or was away for too long.
    pub async fn send_bundle(&self, bundle: &str, repository: &str) -> Result<Receipt, ClientError> {
        let mut headers = HeaderMap::new();
        headers.insert(CONTENT_TYPE, HeaderValue::from_static("application/jsonl"));
        headers.insert(CONTENT_ENCODING, HeaderValue::from_static("gzip"));
        if let Ok(name) = HeaderValue::from_str(repository) {
            headers.insert(HeaderName::from_static(REPOSITORY_HEADER), name);
        }
        let body = Bytes::from(packed::gzip(bundle.as_bytes()));
        let answer = self.request(Method::POST, protocol::BUNDLES, headers, body, BUNDLE_TIME).await?;
        serde_json::from_slice(&answer).map_err(|error| ClientError::Malformed(error.to_string()))
    }

    /// Requests a path with its query.
    ///
    /// # Errors
    /// The server refused it, or was away for too long.
    pub async fn get(&self, path: &str) -> Result<Vec<u8>, ClientError> {
        self.request(Method::GET, path, HeaderMap::new(), Bytes::new(), ANSWER_TIME).await
    }

    /// Sends JSON, and returns the JSON of the answer.
    ///
    /// # Errors
    /// The server refused it, or was away for too long.
    pub async fn post(&self, path: &str, value: &Value) -> Result<Value, ClientError> {
        let headers = HeaderMap::from_iter([(CONTENT_TYPE, HeaderValue::from_static("application/json"))]);
        let answer =
            self.request(Method::POST, path, headers, Bytes::from(value.to_string()), ANSWER_TIME).await?;
        serde_json::from_slice(&answer).map_err(|error| ClientError::Malformed(error.to_string()))
    }

    async fn request(
        &self,
        method: Method,
        path: &str,
        headers: HeaderMap,
        body: Bytes,
        time: Duration,
    ) -> Result<Vec<u8>, ClientError> {
        let start = Instant::now();
        for attempt in 0.. {
            let request =
                PassedRequest { method: method.clone(), path, headers: headers.clone(), body: body.clone() };
            let (reason, asked) = match tokio::time::timeout(time, self.attempt(request)).await {
                Ok(Ok(answer)) => return Ok(answer),
                Ok(Err(Failed::ForGood(error))) => return Err(error),
                Ok(Err(Failed::ForNow(reason, asked))) => (reason, asked),
                Err(_) => (format!("there was no answer within {} s", time.as_secs()), None),
            };
            let delay = delay(attempt, asked, self.share(attempt));
            if start.elapsed() + delay > self.patience {
                return Err(ClientError::Away { reason });
            }
            tokio::time::sleep(delay).await;
        }
        Err(ClientError::Away { reason: "it was repeated too often".to_owned() })
    }

    async fn attempt(&self, request: PassedRequest<'_>) -> Result<Vec<u8>, Failed> {
        let for_now = |error: ServerError| match error {
            ServerError::Tls { .. } => Failed::ForGood(ClientError::Setup(error)),
            error => Failed::ForNow(error.to_string(), None),
        };
        let mut response = self.server.send(request).await.map_err(for_now)?;
        let (status, asked) = (response.status(), asked_delay(response.headers()));
        let mut body = Vec::new();
        while let Some(bytes) = response.chunk().await.map_err(for_now)? {
            body.extend_from_slice(&bytes);
            if body.len() > MAX_ANSWER_BYTES {
                return Err(Failed::ForGood(ClientError::Malformed("it is too long".to_owned())));
            }
        }
        match status {
            status if status.is_success() => Ok(body),
            StatusCode::TOO_MANY_REQUESTS
            | StatusCode::BAD_GATEWAY
            | StatusCode::SERVICE_UNAVAILABLE
            | StatusCode::GATEWAY_TIMEOUT
            | StatusCode::REQUEST_TIMEOUT => Err(Failed::ForNow(message(&body), asked)),
            status => Err(Failed::ForGood(ClientError::Refused {
                status: status.as_u16(),
                message: message(&body),
            })),
        }
    }

    /// Returns a number from 0 to 1 that differs between clients, so that those that were refused together do not come back together.
    fn share(&self, attempt: u32) -> f64 {
        (self.jitter.hash_one(attempt) >> 11) as f64 / (1_u64 << 53) as f64
    }
}

fn delay(attempt: u32, asked: Option<Duration>, share: f64) -> Duration {
    let growing = exponential_backoff(FIRST_DELAY, attempt).min(MAX_DELAY);
    let least = asked.unwrap_or_default();
    growing.max(least) + growing.mul_f64(share / 2.0)
}

/// Returns the time that the server asks for, at most an hour.
fn asked_delay(headers: &HeaderMap) -> Option<Duration> {
    let text = |name: HeaderName| headers.get(name)?.to_str().ok();
    Some(retry_after(text(RETRY_AFTER)?, text(DATE))?.min(Duration::from_secs(60 * 60)))
}

/// Returns the message of a refusal, shortened.
fn message(body: &[u8]) -> String {
    let json: Option<Value> = serde_json::from_slice(body).ok();
    let message = json.as_ref().and_then(|json| json["error"]["message"].as_str());
    let text = message.map_or_else(|| String::from_utf8_lossy(body).into_owned(), str::to_owned);
    text.chars().filter(|c| !c.is_control()).take(1_000).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn delays_grow_and_follow_the_server() {
        let seconds =
            |attempt, asked: Option<u64>| delay(attempt, asked.map(Duration::from_secs), 0.0).as_secs();
        assert_eq!([0, 1, 2, 6, 40].map(|attempt| seconds(attempt, None)), [1, 2, 4, 60, 60]);
        assert_eq!(seconds(0, Some(5)), 5);
        assert_eq!(seconds(4, Some(5)), 16);
        assert!(delay(0, None, 1.0) > delay(0, None, 0.0));
    }
}
