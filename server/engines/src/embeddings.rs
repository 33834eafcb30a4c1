//! Embeddings from any server that speaks OpenAI's `/v1/embeddings`: llama.cpp, Ollama, vLLM, TEI, OpenAI and others.
//!
//! Texts go to the configured server and nowhere else: redirects are not followed. The key is shown by no message.

use std::fmt;
use std::net::IpAddr;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Duration;

use reqwest::header::{AUTHORIZATION, HeaderMap, HeaderValue};
use reqwest::redirect::Policy;
use reqwest::{Client, Response, StatusCode, Url};
use serde::{Deserialize, Serialize};
use thiserror::Error;
use tokio::runtime::Handle;

mod message;

/// A server that is there accepts a connection at once, also across an ocean.
const CONNECT_LIMIT: Duration = Duration::from_secs(5);

/// Servers close connections that are idle for longer than this; llama.cpp's does so after 5 s.
const IDLE_LIMIT: Duration = Duration::from_secs(2);

/// Thirty vectors of ten thousand numbers are a tenth of this, bytes.
const ANSWER_LIMIT: usize = 64 << 20;

/// What a server says about an error is shorter, bytes.
const ERROR_LIMIT: usize = 64 << 10;

/// A text that is refused is not shortened further, bytes: no model reads less.
const SHORTEST: usize = 256;

/// What servers add to their base address.
const PATH: &str = "/v1/embeddings";

/// What is sent to prove who asks. Never shown.
#[derive(Clone)]
pub struct Key(String);

impl Key {
    /// A key as the server's owner wrote it down; blanks around it are not part of it.
    pub fn new(key: &str) -> Key {
        Key(key.trim().to_owned())
    }
}

impl fmt::Debug for Key {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Key(..)")
    }
}

/// A server that embeds texts. Addresses may hold keys too, so it is not shown either.
#[derive(Clone)]
pub struct EmbeddingServer {
    /// Its address, with or without `/v1/embeddings`.
    pub url: String,
    /// The model that it shall use, for servers that have several.
    pub model: Option<String>,
    /// Its key, for servers that want one.
    pub key: Option<Key>,
    /// Time for one request, from its start to the last byte of the answer.
    pub timeout: Duration,
}

impl EmbeddingServer {
    /// Some thirty texts, also for a large model on a slow processor.
    pub const STANDARD_TIMEOUT: Duration = Duration::from_secs(120);
}

/// Why a server gave no embeddings.
#[derive(Debug, Error)]
pub enum EmbeddingError {
    /// The address is none.
    #[error("`{url}` is no address of a server ({reason}); write it like http://127.0.0.1:8080")]
    Url {
        /// What was given, without user name and password.
        url: String,
        /// What is wrong with it.
        reason: String,
    },
    /// The key is none.
    #[error("the key has characters that cannot be sent")]
    Key,
    /// The system gives no means for encrypted connections.
    #[error("no connections can be made: {0}")]
    Client(String),
    /// No connection, or it broke.
    #[error("{server} cannot be reached: {reason}")]
    Unreachable {
        /// Host and port.
        server: String,
        /// The innermost cause.
        reason: String,
    },
    /// The server is silent.
    #[error("{server} did not answer within {timeout:?}")]
    Silent {
        /// Host and port.
        server: String,
        /// How long it was waited.
        timeout: Duration,
    },
    /// The server refused.
    #[error("{server} answered {status}: {message}")]
    Status {
        /// Host and port.
        server: String,
        /// HTTP status.
        status: u16,
        /// What the server said, shortened.
        message: String,
    },
    /// The answer is something else, or far too long.
    #[error("{server} answered with something else than embeddings: {reason}")]
    Foreign {
        /// Host and port.
        server: String,
        /// What is wrong with it.
        reason: String,
    },
    /// There are not as many vectors as texts, or not one for each.
    #[error("{server} gave {got} vectors for {asked} texts, or not one for each")]
    Number {
        /// Host and port.
        server: String,
        /// Texts sent.
        asked: usize,
        /// Vectors received.
        got: usize,
    },
}

/// Asks a server for embeddings. For threads that may wait: each request blocks until it is answered.
pub struct HttpEmbedder {
    client: Client,
    url: Url,
    /// Host and port, for people.
    server: String,
    model: Option<String>,
    /// To be taken out of what servers say.
    key: Option<Key>,
    timeout: Duration,
    /// As much of a text as the server has been found to read, bytes.
    readable: AtomicUsize,
    handle: Handle,
}

#[derive(Serialize)]
struct Question<'a> {
    #[serde(skip_serializing_if = "Option::is_none")]
    model: Option<&'a str>,
    input: &'a [&'a str],
}

#[derive(Deserialize)]
struct Answer {
    data: Vec<Embedding>,
}

#[derive(Deserialize)]
struct Embedding {
    /// Which text it belongs to; servers that do not tell keep the order.
    index: Option<usize>,
    embedding: Vec<f32>,
}

impl HttpEmbedder {
    /// Nothing is sent yet. Connections are driven by the runtime of `handle`, which must have threads of its own.
    pub fn new(server: &EmbeddingServer, handle: Handle) -> Result<HttpEmbedder, EmbeddingError> {
        let EmbeddingServer { url, model, key, timeout } = server.clone();
        let url = endpoint(&url)?;
        let client = client(&url, key.as_ref())?;
        let parts = [url.host_str().map(str::to_owned), url.port().map(|port| port.to_string())];
        let server = parts.into_iter().flatten().collect::<Vec<_>>().join(":");
        let readable = AtomicUsize::new(usize::MAX);
        Ok(HttpEmbedder { client, url, server, model, key, timeout, readable, handle })
    }

    /// The model by name; where none was named, the server, which then has only one.
    pub fn model(&self) -> &str {
        self.model.as_deref().unwrap_or(&self.server)
    }

    /// One vector for each of `texts`, in their order, by one request. A text that is too long for the server stands for itself by its
    /// beginning: how much servers read differs, few tell, and one long text must not be the end of all others.
    ///
    /// # Panics
    ///
    /// Within asynchronous code, which must not wait.
    pub fn embed(&self, texts: &[String]) -> Result<Vec<Vec<f32>>, EmbeddingError> {
        self.handle.block_on(self.ask_for_beginnings(texts))
    }

    /// Asks with ever shorter texts until they are short enough, if that is why they are refused.
    async fn ask_for_beginnings(&self, texts: &[String]) -> Result<Vec<Vec<f32>>, EmbeddingError> {
        let mut readable = self.readable.load(Ordering::Relaxed);
        loop {
            let texts: Vec<&str> =
                texts.iter().map(|text| &text[..text.floor_char_boundary(readable)]).collect();
            let longest = texts.iter().map(|text| text.len()).max().unwrap_or_default();
            match self.ask(&texts).await {
                Err(EmbeddingError::Status { status, .. })
                    if may_mean_too_long(status) && longest > SHORTEST =>
                {
                    readable = longest / 2;
                }
                Err(error) => return Err(error),
                Ok(vectors) => {
                    self.readable.store(readable, Ordering::Relaxed);
                    return Ok(vectors);
                }
            }
        }
    }

    async fn ask(&self, texts: &[&str]) -> Result<Vec<Vec<f32>>, EmbeddingError> {
        let question = Question { model: self.model.as_deref(), input: texts };
        let sent = self.client.post(self.url.clone()).timeout(self.timeout).json(&question).send();
        let response = sent.await.map_err(|error| self.failed(error))?;
        let status = response.status();
        if !status.is_success() {
            return Err(self.refused(status, response).await);
        }
        let Some(answer) = self.read(response, ANSWER_LIMIT).await? else {
            return Err(self.foreign(format!("more than {} MB", ANSWER_LIMIT >> 20)));
        };
        let answer: Answer = serde_json::from_slice(&answer)
            .map_err(|error| self.foreign(message::shortened(&error.to_string())))?;
        let got = answer.data.len();
        in_order(answer, texts.len()).ok_or_else(|| {
            let server = self.server.clone();
            EmbeddingError::Number { server, asked: texts.len(), got }
        })
    }

    /// The body; `None` if it is longer than `limit` bytes.
    async fn read(&self, mut response: Response, limit: usize) -> Result<Option<Vec<u8>>, EmbeddingError> {
        let mut body = Vec::new();
        while let Some(chunk) = response.chunk().await.map_err(|error| self.failed(error))? {
            if body.len() + chunk.len() > limit {
                return Ok(None);
            }
            body.extend_from_slice(&chunk);
        }
        Ok(Some(body))
    }

    async fn refused(&self, status: StatusCode, response: Response) -> EmbeddingError {
        // A refusal that cannot be read is one nevertheless.
        let body = self.read(response, ERROR_LIMIT).await.ok().flatten().unwrap_or_default();
        let said = message::in_body(&body);
        let said = said.or_else(|| status.canonical_reason().map(str::to_owned)).unwrap_or_default();
        let message = match &self.key {
            Some(Key(key)) if !key.is_empty() => said.replace(key, "(the key)"),
            _ => said,
        };
        EmbeddingError::Status { server: self.server.clone(), status: status.as_u16(), message }
    }

    fn foreign(&self, reason: String) -> EmbeddingError {
        EmbeddingError::Foreign { server: self.server.clone(), reason }
    }

    fn failed(&self, error: reqwest::Error) -> EmbeddingError {
        let server = self.server.clone();
        if error.is_timeout() {
            let timeout = if error.is_connect() { CONNECT_LIMIT.min(self.timeout) } else { self.timeout };
            return EmbeddingError::Silent { server, timeout };
        }
        // The address may hold a password.
        EmbeddingError::Unreachable { server, reason: message::innermost(&error.without_url()) }
    }
}

/// Whether servers refuse long texts with this status: llama.cpp 500, TEI 413, most others 400 or 422.
fn may_mean_too_long(status: u16) -> bool {
    matches!(status, 400 | 413 | 422 | 500)
}

/// The vectors in the order of their texts; `None` if there is not one for each.
fn in_order(answer: Answer, texts: usize) -> Option<Vec<Vec<f32>>> {
    let mut vectors = vec![None; texts];
    for (position, Embedding { index, embedding }) in answer.data.into_iter().enumerate() {
        let place = vectors.get_mut(index.unwrap_or(position))?;
        if place.replace(embedding).is_some() {
            return None;
        }
    }
    vectors.into_iter().collect()
}

/// Where to ask: the address as it is if it names the embeddings themselves, else with what is missing.
fn endpoint(given: &str) -> Result<Url, EmbeddingError> {
    let mut url = Url::parse(given.trim())
        .map_err(|error| EmbeddingError::Url { url: without_secrets(given), reason: error.to_string() })?;
    if !matches!(url.scheme(), "http" | "https") {
        let reason = "it begins with neither http:// nor https://".to_owned();
        return Err(EmbeddingError::Url { url: without_secrets(given), reason });
    }
    let path = url.path().trim_end_matches('/');
    if !path.ends_with("/embeddings") {
        let path = format!("{}{PATH}", path.strip_suffix("/v1").unwrap_or(path));
        url.set_path(&path);
    }
    Ok(url)
}

/// What was given for an address, without what stands before its `@` or after its `?`.
fn without_secrets(given: &str) -> String {
    let (rest, _) = given.split_once('?').unwrap_or((given, ""));
    rest.rsplit_once('@').map_or(rest, |(_, rest)| rest).to_owned()
}

fn client(url: &Url, key: Option<&Key>) -> Result<Client, EmbeddingError> {
    // Whoever came first has installed the same.
    drop(rustls::crypto::ring::default_provider().install_default());
    let mut builder = Client::builder()
        .connect_timeout(CONNECT_LIMIT)
        .pool_idle_timeout(IDLE_LIMIT)
        .redirect(Policy::none());
    if is_loopback(url) {
        builder = builder.no_proxy();
    }
    if let Some(Key(key)) = key {
        let header = HeaderValue::try_from(format!("Bearer {key}"));
        let mut header = header.map_err(|_| EmbeddingError::Key)?;
        header.set_sensitive(true);
        builder = builder.default_headers(HeaderMap::from_iter([(AUTHORIZATION, header)]));
    }
    builder.build().map_err(|error| EmbeddingError::Client(message::innermost(&error)))
}

/// Whether the server is on this machine, which no proxy can reach.
fn is_loopback(url: &Url) -> bool {
    let host = url.host_str().unwrap_or_default();
    let address = host.trim_start_matches('[').trim_end_matches(']').parse::<IpAddr>();
    host == "localhost" || address.is_ok_and(|address| address.is_loopback())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn addresses_may_stop_where_their_owners_stop() {
        for (given, expected) in [
            ("http://127.0.0.1:8080", "http://127.0.0.1:8080/v1/embeddings"),
            (" http://127.0.0.1:8080/ ", "http://127.0.0.1:8080/v1/embeddings"),
            ("https://api.example/v1", "https://api.example/v1/embeddings"),
            ("https://api.example/v1/embeddings/", "https://api.example/v1/embeddings/"),
            ("https://api.example/proxy/v1/", "https://api.example/proxy/v1/embeddings"),
            (
                "https://api.example/openai/embeddings?api-version=2",
                "https://api.example/openai/embeddings?api-version=2",
            ),
        ] {
            assert_eq!(endpoint(given).unwrap().as_str(), expected);
        }
    }

    #[test]
    fn what_is_no_address_is_told_without_its_password() {
        for given in
            ["127.0.0.1:8080", "file:///etc/passwd", "", "user:secret@host", "ftp://user:secret@host/"]
        {
            let error = endpoint(given).unwrap_err().to_string();
            assert!(error.contains("no address") && !error.contains("secret"), "{error}");
        }
    }

    #[test]
    fn servers_on_this_machine_are_known() {
        for (url, expected) in [
            ("http://127.0.0.1:1/", true),
            ("http://127.9.9.9/", true),
            ("http://[::1]:1/", true),
            ("http://localhost/", true),
            ("http://localhost.example/", false),
            ("http://10.0.0.1/", false),
        ] {
            assert_eq!(is_loopback(&Url::parse(url).unwrap()), expected, "{url}");
        }
    }

    #[test]
    fn a_key_is_not_shown() {
        assert_eq!(format!("{:?}", Key::new(" secret\n")), "Key(..)");
    }

    #[test]
    fn vectors_are_put_in_order() {
        let answer = |json: &str| serde_json::from_str::<Answer>(json).unwrap();
        let swapped = r#"{"data": [{"index": 1, "embedding": [1]}, {"index": 0, "embedding": [0]}]}"#;
        assert_eq!(in_order(answer(swapped), 2), Some(vec![vec![0.0], vec![1.0]]));
        let untold = r#"{"data": [{"embedding": [0]}, {"embedding": [1]}]}"#;
        assert_eq!(in_order(answer(untold), 2), Some(vec![vec![0.0], vec![1.0]]));
        let twice = r#"{"data": [{"index": 0, "embedding": [0]}, {"index": 0, "embedding": [1]}]}"#;
        assert_eq!(in_order(answer(twice), 2), None);
        let beyond = r#"{"data": [{"index": 7, "embedding": [0]}]}"#;
        assert_eq!(in_order(answer(beyond), 1), None);
    }
}
