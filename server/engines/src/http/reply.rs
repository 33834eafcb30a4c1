//! Responses, from a server or a cassette, and their recording.

use std::collections::BTreeMap;
use std::sync::Arc;
use std::time::Duration;

use reqwest::Response;
use tokio::sync::SemaphorePermit;
use tokio::time::Instant;

use super::client::Client;
use super::fault::{Fault, Stage};
use super::key::Secrets;
use crate::cassette::{Canonical, Piece, Recorded, Said, ServerReply, Tape, milliseconds, ms};
use crate::{Finish, Usage};

/// Recorded headers: those that decide how the body is parsed.
const HEADERS: [&str; 2] = ["content-type", "server"];

/// A response whose headers have arrived. Dropping it closes the connection.
pub(crate) struct Reply<'a> {
    client: &'a Client,
    source: Source,
    /// Number of bytes so far.
    read: usize,
    attempt: u32,
    _permit: Option<SemaphorePermit<'a>>,
    recording: Option<Recording<'a>>,
}

/// Source of a response.
pub(super) enum Source {
    Live(Response),
    Recorded {
        reply: Arc<Recorded>,
        /// Number of replayed pieces.
        given: usize,
    },
}

impl<'a> Reply<'a> {
    pub(super) fn new(
        client: &'a Client,
        source: Source,
        attempt: u32,
        permit: Option<SemaphorePermit<'a>>,
        recording: Option<Recording<'a>>,
    ) -> Reply<'a> {
        Reply { client, source, read: 0, attempt, _permit: permit, recording }
    }

    /// Returns the client of the request.
    pub(crate) fn client(&self) -> &Client {
        self.client
    }

    /// Returns the number of failed attempts before this response.
    pub(crate) fn refusals(&self) -> u32 {
        self.attempt
    }

    /// Returns a header, if it is text.
    pub(crate) fn header(&self, name: &str) -> Option<&str> {
        match &self.source {
            Source::Live(response) => response.headers().get(name)?.to_str().ok(),
            Source::Recorded { reply, .. } => match &**reply {
                Recorded::Server(reply) => reply.headers.get(name).map(String::as_str),
                Recorded::Said(_) => None,
            },
        }
    }

    /// Returns the content type without parameters, in lower case.
    pub(crate) fn content_type(&self) -> Option<String> {
        let value = self.header("content-type")?;
        Some(value.split(';').next().unwrap_or_default().trim().to_ascii_lowercase())
    }

    /// Returns the next bytes; `None` at the end.
    pub(crate) async fn chunk(&mut self) -> Result<Option<Vec<u8>>, Fault> {
        let chunk = match &mut self.source {
            Source::Live(response) => next_bytes(self.client, response).await?,
            Source::Recorded { reply, given } => next_recorded(self.client, reply, given)?,
        };
        let (server, limits, _) = self.client.parts();
        self.read += chunk.as_ref().map_or(0, Vec::len);
        if self.read > limits.answer {
            return Err(Fault::TooLong { server: server.to_owned(), limit: limits.answer });
        }
        if let Some(recording) = &mut self.recording {
            recording.hear(chunk.as_deref());
        }
        Ok(chunk)
    }

    /// Returns the whole body, which may have at most `limit` bytes.
    pub(crate) async fn body(&mut self, limit: usize) -> Result<Vec<u8>, Fault> {
        let mut body = Vec::new();
        while let Some(chunk) = self.chunk().await? {
            if body.len() + chunk.len() > limit {
                return Err(Fault::TooLong { server: self.client.server().to_owned(), limit });
            }
            body.extend_from_slice(&chunk);
        }
        Ok(body)
    }

    /// Recorded time of the last piece, for a replayed response; the inner value is `None` if unknown.
    pub(crate) fn recorded(&self) -> Option<Option<Duration>> {
        let Source::Recorded { reply, given } = &self.source else { return None };
        let Recorded::Server(reply) = &**reply else { return None };
        let last = given.checked_sub(1).and_then(|last| reply.pieces.get(last));
        Some(last.and_then(|piece| piece.ms).and_then(milliseconds))
    }

    /// Returns the recorded text, if the recording has no HTTP response.
    pub(crate) fn said(&self) -> Option<Said> {
        match &self.source {
            Source::Recorded { reply, .. } => match &**reply {
                Recorded::Said(said) => Some(said.clone()),
                Recorded::Server(_) => None,
            },
            Source::Live(_) => None,
        }
    }

    /// Records the response after it was parsed successfully. `is_over` means that the answer is complete, whether or not more
    /// bytes follow.
    pub(crate) fn keep(self, is_over: bool) {
        let headers =
            HEADERS.into_iter().filter_map(|name| Some((name.to_owned(), self.header(name)?.to_owned())));
        let headers: BTreeMap<String, String> = headers.collect();
        if let (Some(recording), Source::Live(response)) = (self.recording, self.source) {
            let (_, _, secrets) = self.client.parts();
            recording.keep(response.status().as_u16(), headers, is_over, secrets);
        }
    }
}

impl Reply<'_> {
    /// Records the model's text instead of the HTTP response. Its secrets are masked when it is written.
    pub(crate) fn keep_text(self, text: &str, finish: Finish, usage: Option<Usage>) {
        if let (Some(recording), Source::Live(_)) = (self.recording, self.source) {
            let (_, _, secrets) = self.client.parts();
            let ms = Some(ms(recording.start.elapsed()));
            let pieces = vec![Piece { ms, text: secrets.removed_from(text) }];
            let said = Said { pieces, finish, tokens: usage.map(Into::into) };
            recording.tape.record(recording.request, Recorded::Said(said));
        }
    }
}

async fn next_bytes(client: &Client, response: &mut Response) -> Result<Option<Vec<u8>>, Fault> {
    let (_, limits, _) = client.parts();
    let chunk = tokio::time::timeout(limits.idle, response.chunk()).await;
    let chunk = chunk.map_err(|_| client.silent(Stage::NextByte, limits.idle))?;
    let chunk = chunk.map_err(|error| client.failed(&error))?;
    Ok(chunk.map(Vec::from))
}

fn next_recorded(client: &Client, reply: &Recorded, given: &mut usize) -> Result<Option<Vec<u8>>, Fault> {
    let Recorded::Server(reply) = reply else { return Ok(None) };
    let piece = reply.pieces.get(*given);
    *given += usize::from(piece.is_some());
    match (piece, client.tape()) {
        (None, Some(tape)) if reply.stopped => Err(tape.ends_early().into()),
        (piece, _) => Ok(piece.map(|piece| piece.text.clone().into_bytes())),
    }
}

/// A response that is being recorded. It is written on request only, not when dropped.
pub(super) struct Recording<'a> {
    tape: &'a Tape,
    request: Canonical,
    start: Instant,
    chunks: Vec<(Duration, Vec<u8>)>,
    has_ended: bool,
}

impl<'a> Recording<'a> {
    pub(super) fn new(tape: &'a Tape, request: Canonical) -> Recording<'a> {
        Recording { tape, request, start: Instant::now(), chunks: Vec::new(), has_ended: false }
    }

    fn hear(&mut self, chunk: Option<&[u8]>) {
        match chunk {
            Some(chunk) => self.chunks.push((self.start.elapsed(), chunk.to_owned())),
            None => self.has_ended = true,
        }
    }

    /// Records an error response with its whole body.
    pub(super) fn keep_refusal(mut self, status: u16, body: Vec<u8>, secrets: &Secrets) {
        self.chunks = vec![(self.start.elapsed(), body)];
        self.keep(status, BTreeMap::new(), true, secrets);
    }

    fn keep(self, status: u16, headers: BTreeMap<String, String>, is_over: bool, secrets: &Secrets) {
        let stopped = !(self.has_ended || is_over);
        // A body that is not text is not an answer.
        let Some(pieces) = pieces(&self.chunks, secrets) else { return };
        self.tape.record(self.request, Recorded::Server(ServerReply { status, headers, pieces, stopped }));
    }
}

/// Converts the chunks to text: a split character goes to the chunk of its last byte. `None` if they are not UTF-8.
///
/// A response that quotes a key or another secret is redacted, and becomes one piece, because chunk boundaries may split the
/// secret.
fn pieces(chunks: &[(Duration, Vec<u8>)], secrets: &Secrets) -> Option<Vec<Piece>> {
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
            pieces.push(Piece { ms: Some(ms(*at)), text });
        }
    }
    let text: String = pieces.iter().map(|piece| piece.text.as_str()).collect();
    let shown = ::secrets::redact(&secrets.removed_from(&text)).into_owned();
    let last = pieces.last().and_then(|piece| piece.ms);
    Some(if shown == text { pieces } else { vec![Piece { ms: last, text: shown }] })
}

#[cfg(test)]
mod tests {
    use config::Secret;

    use super::*;

    fn texts(chunks: &[&[u8]]) -> Option<Vec<String>> {
        let key = Secret::new("sk-0123456789");
        let secrets = Secrets::new(Some(&key), std::iter::empty(), std::iter::empty());
        let chunks: Vec<_> = chunks.iter().map(|chunk| (Duration::ZERO, chunk.to_vec())).collect();
        Some(pieces(&chunks, &secrets)?.into_iter().map(|piece| piece.text).collect())
    }

    #[test]
    fn characters_are_not_parted() {
        assert_eq!(texts(&[b"a\xc3", b"\xa9", b"", b"b"]).unwrap(), ["a", "é", "b"]);
        assert_eq!(texts(&[b"a\xc3"]).unwrap(), ["a"], "half of one at the end was not heard either");
        assert_eq!(texts(&[b"a\xc3", b"b"]), None);
    }

    #[test]
    fn a_key_that_is_quoted_is_taken_out_even_if_it_was_parted() {
        assert_eq!(texts(&[b"wrong: sk-01234", b"56789!"]).unwrap(), ["wrong: (the key)!"]);
    }
}
