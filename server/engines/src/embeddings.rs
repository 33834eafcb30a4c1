//! Embeddings from any server that speaks OpenAI's `/v1/embeddings`: llama.cpp, Ollama, vLLM, TEI, OpenAI and others.

use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Duration;

use reqwest::Url;
use serde::{Deserialize, Serialize};
use thiserror::Error;
use tokio::runtime::Handle;
use tokio::time::Instant;

use crate::http::{Call, Client, Fault, KeyHeader, Limits, Manners, Server};

/// Thirty vectors of ten thousand numbers are a tenth of this, bytes.
const ANSWER_LIMIT: usize = 64 << 20;

/// A text that is refused is not shortened further, bytes: no model reads less.
const SHORTEST: usize = 256;

/// What servers add to their base address.
const PATH: &str = "/v1/embeddings";

/// What an answer is expected to be.
const EXPECTED: &str = "embeddings";

/// A server that embeds texts.
#[derive(Clone, Debug)]
pub struct EmbeddingServer {
    /// Its address, with or without `/v1/embeddings`. It may hold keys, so it is not shown.
    pub server: Server,
    /// The model that it shall use, for servers that have several.
    pub model: Option<String>,
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
    /// It gave no answer.
    #[error(transparent)]
    Server(#[from] Fault),
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
    model: Option<String>,
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
    pub fn new(server: &EmbeddingServer, handle: Handle) -> Result<HttpEmbedder, Fault> {
        let EmbeddingServer { server, model, timeout } = server.clone();
        // The whole answer comes at once, after all the work.
        let limits = Limits { first_byte: timeout, idle: timeout, answer: ANSWER_LIMIT, ..server.limits };
        let manners = Manners { key: KeyHeader::Bearer, headers: &[] };
        let client = Client::new(&Server { limits, ..server }, manners)?;
        let url = client.endpoint(PATH)?;
        let readable = AtomicUsize::new(usize::MAX);
        Ok(HttpEmbedder { client, url, model, timeout, readable, handle })
    }

    /// The model by name; where none was named, the server, which then has only one.
    pub fn model(&self) -> &str {
        self.model.as_deref().unwrap_or(self.client.server())
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
                Err(EmbeddingError::Server(fault)) if may_mean_too_long(&fault) && longest > SHORTEST => {
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
        let body = serde_json::to_vec(&question).expect("texts become JSON");
        let until = Instant::now() + self.timeout;
        let call =
            Call { url: self.url.clone(), body: Some(body), shown: None, document: None, until: Some(until) };
        let answer = async { self.client.ask(&call).await?.body(ANSWER_LIMIT).await };
        let answer = tokio::time::timeout_at(until, answer).await;
        let answer = answer.unwrap_or_else(|_| Err(self.client.unfinished(self.timeout)))?;
        let answer: Answer = serde_json::from_slice(&answer)
            .map_err(|error| self.client.malformed(EXPECTED, &error.to_string()))?;
        let got = answer.data.len();
        in_order(answer, texts.len()).ok_or_else(|| {
            let server = self.client.server().to_owned();
            EmbeddingError::Number { server, asked: texts.len(), got }
        })
    }
}

/// Whether servers refuse long texts like this: llama.cpp by status 500, TEI by 413, most others by 400 or 422.
fn may_mean_too_long(fault: &Fault) -> bool {
    match fault {
        Fault::QuestionTooLong { .. } => true,
        Fault::Status { status, .. } => matches!(status, 400 | 413 | 422 | 500),
        _ => false,
    }
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

#[cfg(test)]
mod tests {
    use super::*;

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
