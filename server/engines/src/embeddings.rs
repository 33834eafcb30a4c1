//! Embeddings from any server with OpenAI's `/v1/embeddings`: llama.cpp, Ollama, vLLM, TEI, OpenAI and others.

use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Duration;

use reqwest::Url;
use serde::{Deserialize, Serialize};
use thiserror::Error;
use tokio::runtime::Handle;
use tokio::time::Instant;

use crate::http::{
    HttpClient, HttpLimits, HttpRequest, HttpServerConfig, KeyHeader, RequestHeaders, ServerError,
};

/// Maximum response size in bytes: ten times thirty vectors of ten thousand numbers.
const MAX_RESPONSE_BYTES: usize = 64 << 20;

/// Minimum length in bytes to which a rejected text is shortened: every model reads more.
const MIN_TEXT_BYTES: usize = 256;

/// Path appended to the base address.
const PATH: &str = "/v1/embeddings";

/// Expected content of a response.
const EXPECTED: &str = "embeddings";

/// A server that embeds texts.
#[derive(Clone, Debug)]
pub struct EmbeddingServer {
    /// Its address, with or without `/v1/embeddings`. It may contain keys, so it is not shown.
    pub server: HttpServerConfig,
    /// Model name, for servers with several.
    pub model: Option<String>,
    /// Timeout of one request, up to the last byte of the response.
    pub timeout: Duration,
}

impl EmbeddingServer {
    /// Enough for about thirty texts, even with a large model on a slow processor.
    pub const DEFAULT_TIMEOUT: Duration = Duration::from_secs(120);
}

/// Error of a request for embeddings.
#[derive(Debug, Error)]
pub enum EmbeddingServerError {
    /// The server failed.
    #[error(transparent)]
    Server(#[from] ServerError),
    /// The number of vectors differs from the number of texts, or a text has none.
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

/// Client of an embedding server, for threads that may block.
pub struct HttpEmbedder {
    client: HttpClient,
    url: Url,
    model: Option<String>,
    timeout: Duration,
    /// Maximum length of a text in bytes, as detected so far.
    readable: AtomicUsize,
    handle: Handle,
}

#[derive(Serialize)]
struct EmbeddingRequest<'a> {
    #[serde(skip_serializing_if = "Option::is_none")]
    model: Option<&'a str>,
    input: &'a [&'a str],
}

#[derive(Deserialize)]
struct EmbeddingResponse {
    data: Vec<Embedding>,
}

#[derive(Deserialize)]
struct Embedding {
    /// Index of its text; servers that omit it keep the order.
    index: Option<usize>,
    embedding: Vec<f32>,
}

impl HttpEmbedder {
    /// Creates the client without connecting. The runtime of `handle` drives the connections and must have its own threads.
    pub fn new(server: &EmbeddingServer, handle: Handle) -> Result<HttpEmbedder, ServerError> {
        let EmbeddingServer { server, model, timeout } = server.clone();
        // The whole response comes at once, after all the work.
        let limits =
            HttpLimits { first_byte: timeout, idle: timeout, answer: MAX_RESPONSE_BYTES, ..server.limits };
        let manners = RequestHeaders { key: KeyHeader::Bearer, headers: &[] };
        let client = HttpClient::new(&HttpServerConfig { limits, ..server }, manners)?;
        let url = client.endpoint(PATH);
        let readable = AtomicUsize::new(usize::MAX);
        Ok(HttpEmbedder { client, url, model, timeout, readable, handle })
    }

    /// Returns the model's name; without one the server's address, because the server then has only one model.
    pub fn model(&self) -> &str {
        self.model.as_deref().unwrap_or(self.client.server())
    }

    /// Returns one vector for each of `texts`, in their order, with one request. A text that is too long for the server is
    /// truncated: servers' limits differ, few report them, and one long text must not make all others fail.
    ///
    /// # Panics
    ///
    /// In asynchronous code, which must not block.
    pub fn embed(&self, texts: &[String]) -> Result<Vec<Vec<f32>>, EmbeddingServerError> {
        self.handle.block_on(self.ask_with_truncation(texts))
    }

    /// Retries with ever shorter texts if their length may be the reason for the rejection.
    async fn ask_with_truncation(&self, texts: &[String]) -> Result<Vec<Vec<f32>>, EmbeddingServerError> {
        let mut readable = self.readable.load(Ordering::Relaxed);
        loop {
            let texts: Vec<&str> =
                texts.iter().map(|text| &text[..text.floor_char_boundary(readable)]).collect();
            let longest = texts.iter().map(|text| text.len()).max().unwrap_or_default();
            match self.ask(&texts).await {
                Err(EmbeddingServerError::Server(fault))
                    if may_mean_too_long(&fault) && longest > MIN_TEXT_BYTES =>
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

    async fn ask(&self, texts: &[&str]) -> Result<Vec<Vec<f32>>, EmbeddingServerError> {
        let question = EmbeddingRequest { model: self.model.as_deref(), input: texts };
        let body = serde_json::to_vec(&question).expect("texts become JSON");
        let until = Instant::now() + self.timeout;
        let call = HttpRequest {
            url: self.url.clone(),
            body: Some(body),
            recorded_form: None,
            document: None,
            deadline: Some(until),
        };
        let answer = async { self.client.ask(&call).await?.body(MAX_RESPONSE_BYTES).await };
        let answer = tokio::time::timeout_at(until, answer).await;
        let answer = answer.unwrap_or_else(|_| Err(self.client.unfinished_answer(self.timeout)))?;
        let answer: EmbeddingResponse = serde_json::from_slice(&answer)
            .map_err(|error| self.client.malformed_answer(EXPECTED, &error.to_string()))?;
        let got = answer.data.len();
        vectors_in_order(answer, texts.len()).ok_or_else(|| {
            let server = self.client.server().to_owned();
            EmbeddingServerError::Number { server, asked: texts.len(), got }
        })
    }
}

/// Whether servers reject long texts with this error: llama.cpp with status 500, TEI with 413, most others with 400 or 422.
fn may_mean_too_long(fault: &ServerError) -> bool {
    match fault {
        ServerError::QuestionTooLong { .. } => true,
        ServerError::Status { status, .. } => matches!(status, 400 | 413 | 422 | 500),
        _ => false,
    }
}

/// Returns the vectors in the order of their texts; `None` if there is not exactly one for each.
fn vectors_in_order(answer: EmbeddingResponse, texts: usize) -> Option<Vec<Vec<f32>>> {
    let mut vectors = vec![None; texts];
    for (position, Embedding { index, embedding }) in answer.data.into_iter().enumerate() {
        let place = vectors.get_mut(index.unwrap_or(position))?;
        if place.replace(embedding).is_some() {
            return None;
        }
    }
    vectors.into_iter().collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn vectors_are_ordered_by_index() {
        let answer = |json: &str| serde_json::from_str::<EmbeddingResponse>(json).unwrap();
        let swapped = r#"{"data": [{"index": 1, "embedding": [1]}, {"index": 0, "embedding": [0]}]}"#;
        assert_eq!(vectors_in_order(answer(swapped), 2), Some(vec![vec![0.0], vec![1.0]]));
        let untold = r#"{"data": [{"embedding": [0]}, {"embedding": [1]}]}"#;
        assert_eq!(vectors_in_order(answer(untold), 2), Some(vec![vec![0.0], vec![1.0]]));
        let twice = r#"{"data": [{"index": 0, "embedding": [0]}, {"index": 0, "embedding": [1]}]}"#;
        assert_eq!(vectors_in_order(answer(twice), 2), None);
        let beyond = r#"{"data": [{"index": 7, "embedding": [0]}]}"#;
        assert_eq!(vectors_in_order(answer(beyond), 1), None);
    }
}
