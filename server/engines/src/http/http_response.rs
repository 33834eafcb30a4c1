//! Responses, from a server or a cassette, and their recording.

use std::collections::BTreeMap;
use std::sync::Arc;
use std::time::Duration;

use reqwest::Response;
use tokio::sync::SemaphorePermit;
use tokio::time::Instant;

use super::client::HttpClient;
use super::error::{ServerError, TimeoutStage};
use super::redactor::Redactor;
use crate::cassette::{
    CanonicalRequest, EngineCassette, EngineReply, RecordedReply, ReplyPiece, ServerReply, milliseconds,
    rounded_ms,
};
use crate::{FinishReason, Usage};

/// Recorded headers: those that decide how the body is parsed.
const RECORDED_HEADERS: [&str; 2] = ["content-type", "server"];

/// A response whose headers have arrived. Dropping it closes the connection.
pub(crate) struct HttpResponse<'a> {
    client: &'a HttpClient,
    source: ResponseSource,
    /// Number of bytes so far.
    read: usize,
    attempt: u32,
    _permit: Option<SemaphorePermit<'a>>,
    recording: Option<ResponseRecorder<'a>>,
}

/// Source of a response.
pub(super) enum ResponseSource {
    Live(Response),
    Recorded {
        reply: Arc<RecordedReply>,
        /// Number of replayed pieces.
        given: usize,
    },
}

impl<'a> HttpResponse<'a> {
    pub(super) fn new(
        client: &'a HttpClient,
        source: ResponseSource,
        attempt: u32,
        permit: Option<SemaphorePermit<'a>>,
        recording: Option<ResponseRecorder<'a>>,
    ) -> HttpResponse<'a> {
        HttpResponse { client, source, read: 0, attempt, _permit: permit, recording }
    }

    /// Returns the client of the request.
    pub(crate) fn client(&self) -> &HttpClient {
        self.client
    }

    /// Returns the number of failed attempts before this response.
    pub(crate) fn refusals(&self) -> u32 {
        self.attempt
    }

    /// Returns a header, if it is text.
    pub(crate) fn header(&self, name: &str) -> Option<&str> {
        match &self.source {
            ResponseSource::Live(response) => response.headers().get(name)?.to_str().ok(),
            ResponseSource::Recorded { reply, .. } => match &**reply {
                RecordedReply::Server(reply) => reply.headers.get(name).map(String::as_str),
                RecordedReply::Engine(_) => None,
            },
        }
    }

    /// Returns the content type without parameters, in lower case.
    pub(crate) fn content_type(&self) -> Option<String> {
        let value = self.header("content-type")?;
        Some(value.split(';').next().unwrap_or_default().trim().to_ascii_lowercase())
    }

    /// Returns the next bytes; `None` at the end.
    pub(crate) async fn chunk(&mut self) -> Result<Option<Vec<u8>>, ServerError> {
        let chunk = match &mut self.source {
            ResponseSource::Live(response) => next_bytes(self.client, response).await?,
            ResponseSource::Recorded { reply, given } => next_recorded(self.client, reply, given)?,
        };
        let (server, limits, _) = self.client.parts();
        self.read += chunk.as_ref().map_or(0, Vec::len);
        if self.read > limits.answer {
            return Err(ServerError::TooLong { server: server.to_owned(), limit: limits.answer });
        }
        if let Some(recording) = &mut self.recording {
            recording.push(chunk.as_deref());
        }
        Ok(chunk)
    }

    /// Returns the whole body, which may have at most `limit` bytes.
    pub(crate) async fn body(&mut self, limit: usize) -> Result<Vec<u8>, ServerError> {
        let mut body = Vec::new();
        while let Some(chunk) = self.chunk().await? {
            if body.len() + chunk.len() > limit {
                return Err(ServerError::TooLong { server: self.client.server().to_owned(), limit });
            }
            body.extend_from_slice(&chunk);
        }
        Ok(body)
    }

    /// Recorded time of the last piece, for a replayed response; the inner value is `None` if unknown.
    pub(crate) fn replay_time(&self) -> Option<Option<Duration>> {
        let ResponseSource::Recorded { reply, given } = &self.source else { return None };
        let RecordedReply::Server(reply) = &**reply else { return None };
        let last = given.checked_sub(1).and_then(|last| reply.pieces.get(last));
        Some(last.and_then(|piece| piece.ms).and_then(milliseconds))
    }

    /// Returns the recorded text, if the recording has no HTTP response.
    pub(crate) fn engine_reply(&self) -> Option<EngineReply> {
        match &self.source {
            ResponseSource::Recorded { reply, .. } => match &**reply {
                RecordedReply::Engine(recorded) => Some(recorded.clone()),
                RecordedReply::Server(_) => None,
            },
            ResponseSource::Live(_) => None,
        }
    }

    /// Returns whether the response is being recorded.
    pub(crate) fn is_recording(&self) -> bool {
        self.recording.is_some()
    }

    /// Records the response after it was parsed successfully. `is_over` means that the answer is complete, whether or not more
    /// bytes follow.
    pub(crate) fn record(self, is_over: bool) {
        let headers = RECORDED_HEADERS
            .into_iter()
            .filter_map(|name| Some((name.to_owned(), self.header(name)?.to_owned())));
        let headers: BTreeMap<String, String> = headers.collect();
        if let (Some(recording), ResponseSource::Live(response)) = (self.recording, self.source) {
            let (_, _, secrets) = self.client.parts();
            recording.record(response.status().as_u16(), headers, is_over, secrets);
        }
    }
}

impl HttpResponse<'_> {
    /// Records the model's text instead of the HTTP response. Its secrets are masked when it is written.
    pub(crate) fn record_text(self, text: &str, finish: FinishReason, usage: Option<Usage>) {
        if let (Some(recording), ResponseSource::Live(_)) = (self.recording, self.source) {
            let (_, _, secrets) = self.client.parts();
            let ms = Some(rounded_ms(recording.start.elapsed()));
            let pieces = vec![ReplyPiece { ms, text: secrets.redact(text) }];
            let recorded = EngineReply { pieces, edits: Vec::new(), finish, tokens: usage.map(Into::into) };
            recording.cassette.record(recording.request, RecordedReply::Engine(recorded));
        }
    }
}

async fn next_bytes(client: &HttpClient, response: &mut Response) -> Result<Option<Vec<u8>>, ServerError> {
    let (_, limits, _) = client.parts();
    let chunk = tokio::time::timeout(limits.idle, response.chunk()).await;
    let chunk = chunk.map_err(|_| client.timeout_error(TimeoutStage::NextByte, limits.idle))?;
    let chunk = chunk.map_err(|error| client.connection_error(&error))?;
    Ok(chunk.map(Vec::from))
}

fn next_recorded(
    client: &HttpClient,
    reply: &RecordedReply,
    given: &mut usize,
) -> Result<Option<Vec<u8>>, ServerError> {
    let RecordedReply::Server(reply) = reply else { return Ok(None) };
    let piece = reply.pieces.get(*given);
    *given += usize::from(piece.is_some());
    match (piece, client.cassette()) {
        (None, Some(tape)) if reply.stopped => Err(tape.ends_early_miss().into()),
        (piece, _) => Ok(piece.map(|piece| piece.text.clone().into_bytes())),
    }
}

/// A response that is being recorded. It is written on request only, not when dropped.
pub(super) struct ResponseRecorder<'a> {
    cassette: &'a EngineCassette,
    request: CanonicalRequest,
    start: Instant,
    chunks: Vec<(Duration, Vec<u8>)>,
    has_ended: bool,
}

impl<'a> ResponseRecorder<'a> {
    pub(super) fn new(tape: &'a EngineCassette, request: CanonicalRequest) -> ResponseRecorder<'a> {
        ResponseRecorder {
            cassette: tape,
            request,
            start: Instant::now(),
            chunks: Vec::new(),
            has_ended: false,
        }
    }

    fn push(&mut self, chunk: Option<&[u8]>) {
        match chunk {
            Some(chunk) => self.chunks.push((self.start.elapsed(), chunk.to_owned())),
            None => self.has_ended = true,
        }
    }

    /// Records an error response with its whole body.
    pub(super) fn record_refusal(mut self, status: u16, body: Vec<u8>, secrets: &Redactor) {
        self.chunks = vec![(self.start.elapsed(), body)];
        self.record(status, BTreeMap::new(), true, secrets);
    }

    fn record(self, status: u16, headers: BTreeMap<String, String>, is_over: bool, secrets: &Redactor) {
        let stopped = !(self.has_ended || is_over);
        // A body that is not text is not an answer.
        let Some(pieces) = pieces(&self.chunks, secrets) else { return };
        self.cassette
            .record(self.request, RecordedReply::Server(ServerReply { status, headers, pieces, stopped }));
    }
}

/// Converts the chunks to text: a split character goes to the chunk of its last byte. `None` if they are not UTF-8.
///
/// A response that quotes a key or another secret is redacted, and becomes one piece, because chunk boundaries may split the
/// secret.
fn pieces(chunks: &[(Duration, Vec<u8>)], secrets: &Redactor) -> Option<Vec<ReplyPiece>> {
    let (mut pieces, mut waiting) = (Vec::new(), Vec::new());
    for (at, chunk) in chunks {
        waiting.extend_from_slice(chunk);
        let whole = match str::from_utf8(&waiting) {
            Ok(text) => text.len(),
            Err(error) if error.error_len().is_none() => error.valid_up_to(),
            Err(_) => return None,
        };
        let rest = waiting.split_off(whole);
        let text = String::from_utf8(std::mem::replace(&mut waiting, rest)).ok()?;
        if !text.is_empty() {
            pieces.push(ReplyPiece { ms: Some(rounded_ms(*at)), text });
        }
    }
    let text: String = pieces.iter().map(|piece| piece.text.as_str()).collect();
    let shown = ::secrets::redact(&secrets.redact(&text)).into_owned();
    let last = pieces.last().and_then(|piece| piece.ms);
    Some(if shown == text { pieces } else { vec![ReplyPiece { ms: last, text: shown }] })
}

#[cfg(test)]
mod tests {
    use config::Secret;

    use super::*;

    fn texts(chunks: &[&[u8]]) -> Option<Vec<String>> {
        let key = Secret::new("sk-0123456789");
        let secrets = Redactor::new(Some(&key), std::iter::empty(), std::iter::empty());
        let chunks: Vec<_> = chunks.iter().map(|chunk| (Duration::ZERO, chunk.to_vec())).collect();
        Some(pieces(&chunks, &secrets)?.into_iter().map(|piece| piece.text).collect())
    }

    #[test]
    fn characters_are_not_split_between_pieces() {
        assert_eq!(texts(&[b"a\xc3", b"\xa9", b"", b"b"]).unwrap(), ["a", "é", "b"]);
        assert_eq!(texts(&[b"a\xc3"]).unwrap(), ["a"], "half of one at the end was not heard either");
        assert_eq!(texts(&[b"a\xc3", b"b"]), None);
    }

    #[test]
    fn quoted_key_is_redacted_even_across_chunks() {
        assert_eq!(texts(&[b"wrong: sk-01234", b"56789!"]).unwrap(), ["wrong: (the key)!"]);
    }
}
