//! Reads a streamed answer: bytes to events, events to text, text to the insertion, piece by piece.

use std::ops::ControlFlow;
use std::time::Duration;

use serde_json::Value;

use crate::cassette::{EngineReply, ReplyPiece, milliseconds};
use crate::http::{EVENT_LIMIT, EventDecoder, Framing, HttpResponse, ServerError, StreamError, StreamEvent};
use crate::wire_formats::{AnswerState, WireFormat};
use crate::{Answer, AnswerListener, FinishReason, Request};

/// Timeout for the end of the body after the last event: it arrives at once or is not worth waiting for. After it, the
/// connection can be reused.
const END_TIMEOUT: Duration = Duration::from_millis(5);

/// Expected content.
const EXPECTED: &str = "an answer in its format";

/// Maximum text of an answer in bytes: a model with more reasoning doesn't produce code in time.
const MAX_TEXT_BYTES: usize = 1 << 20;

/// Reads an answer to its end, or until the listener has enough. Then it is recorded if there is a cassette.
pub(super) async fn read_answer(
    reply: HttpResponse<'_>,
    format: &WireFormat,
    insertion: &prompt::AnswerParser,
    request: &Request,
    sink: &mut dyn AnswerListener,
) -> Result<Answer, ServerError> {
    if let Some(response) = reply.engine_reply() {
        return Ok(replay_text(&response, insertion, sink));
    }
    let form = body_kind(&reply, format)?;
    let refusals = reply.refusals();
    let mut listening = AnswerStream {
        reply,
        format,
        reading: AnswerState::default(),
        writer: InsertionWriter::new(insertion, sink),
    };
    let enough = match form {
        BodyKind::Whole => listening.read_whole().await?,
        BodyKind::Events(framing) => listening.read_events(framing).await?,
    };
    let AnswerStream { reply, reading, writer: telling, .. } = listening;
    if reply.is_recording() {
        // A secret may be spread over the events of a body: such an answer is recorded as text, which can be masked.
        let (before, after) = (request.input.prefix(), request.input.suffix());
        match ::secrets::redact_between(before, &telling.raw, after).secrets.is_empty() {
            true => reply.record(reading.is_finished),
            false => reply.record_text(&telling.raw, finish_reason(enough, reading.finish), reading.usage),
        }
    }
    if let Some(prompt) = &reading.prompt {
        telling.sink.prompt(prompt);
    }
    let (enough, theirs) = match enough {
        Some(finish) => (Some(finish), reading.finish),
        None => {
            let enough = telling.finish().is_break().then_some(FinishReason::Complete);
            // The stream is at its end, also without a reason.
            (enough, reading.finish.or(Some(FinishReason::Stop)))
        }
    };
    Ok(Answer {
        usage: reading.usage,
        timings: reading.timings,
        refusals,
        silence: reading.silence,
        ..Answer::with_finish(finish_reason(enough, theirs))
    })
}

/// Returns why an answer ended. A server's own end counts before ours if it came with the last text that was read, because nothing
/// follows then.
fn finish_reason(ours: Option<FinishReason>, theirs: Option<FinishReason>) -> FinishReason {
    match (ours, theirs) {
        (Some(FinishReason::Complete), Some(FinishReason::Stop)) | (None, None) => FinishReason::Stop,
        (Some(finish), _) | (None, Some(finish)) => finish,
    }
}

/// Replays a recorded text without a server's framing.
fn replay_text(
    response: &EngineReply,
    insertion: &prompt::AnswerParser,
    sink: &mut dyn AnswerListener,
) -> Answer {
    let mut telling = InsertionWriter::new(insertion, sink);
    let mut enough = None;
    let mut pieces = response.pieces.iter();
    for ReplyPiece { ms, text } in &mut pieces {
        telling.sink.replayed(ms.and_then(milliseconds));
        enough = telling.push(text);
        if enough.is_some() {
            break;
        }
    }
    let is_whole = pieces.len() == 0;
    let enough = enough.or_else(|| telling.finish().is_break().then_some(FinishReason::Complete));
    let finish = finish_reason(enough, is_whole.then_some(response.finish));
    Answer { usage: response.tokens.map(Into::into), ..Answer::with_finish(finish) }
}

/// Kind of the body.
enum BodyKind {
    Whole,
    Events(Framing),
}

/// Determined by the content type; servers that do not stream, and proxies that buffer, answer with one JSON value.
fn body_kind(reply: &HttpResponse<'_>, format: &WireFormat) -> Result<BodyKind, ServerError> {
    let framing = format.framing;
    match reply.content_type().as_deref() {
        Some("text/event-stream") => Ok(BodyKind::Events(Framing::ServerSent)),
        Some("application/x-ndjson" | "application/ndjson" | "application/jsonl") => {
            Ok(BodyKind::Events(Framing::JsonLines))
        }
        Some("application/json") if framing == Framing::JsonLines => Ok(BodyKind::Events(framing)),
        Some("application/json") => Ok(BodyKind::Whole),
        found => Err(ServerError::ContentType {
            server: reply.client().server().to_owned(),
            expected: match framing {
                Framing::ServerSent => "text/event-stream",
                Framing::JsonLines => "application/x-ndjson",
            },
            found: found.map_or_else(|| "no type".to_owned(), |found| reply.client().quoted(found)),
        }),
    }
}

struct AnswerStream<'a> {
    reply: HttpResponse<'a>,
    format: &'a WireFormat,
    reading: AnswerState,
    writer: InsertionWriter<'a>,
}

impl AnswerStream<'_> {
    /// Reads an answer that is not a stream. `Some`: the listener has enough.
    async fn read_whole(&mut self) -> Result<Option<FinishReason>, ServerError> {
        let body = self.reply.body(usize::MAX).await?;
        self.report_replay_time();
        let data = String::from_utf8(body).map_err(|_| self.malformed("it is not UTF-8"))?;
        self.handle_event(&StreamEvent { name: None, data })
    }

    /// Reads events until the last. `Some`: the listener has enough.
    async fn read_events(&mut self, framing: Framing) -> Result<Option<FinishReason>, ServerError> {
        let mut decoder = EventDecoder::new(framing);
        while let Some(chunk) = self.reply.chunk().await? {
            self.report_replay_time();
            decoder.push(&chunk);
            while let Some(event) = decoder.next().map_err(|why| self.unreadable(why))? {
                if let Some(finish) = self.handle_event(&event)? {
                    return Ok(Some(finish));
                }
                if self.reading.is_finished {
                    // The rest is the end of the body, or irrelevant.
                    let _ = tokio::time::timeout(END_TIMEOUT, self.reply.chunk()).await;
                    return Ok(None);
                }
            }
        }
        self.read_last(&mut decoder)
    }

    /// Reads the rest of a stream without an end marker.
    fn read_last(&mut self, decoder: &mut EventDecoder) -> Result<Option<FinishReason>, ServerError> {
        let cut_short = ServerError::Truncated { server: self.reply.client().server().to_owned() };
        let enough = match decoder.remainder() {
            Ok(None) => None,
            Ok(Some(event)) if !is_complete(&event) => return Err(cut_short),
            Ok(Some(event)) => self.handle_event(&event)?,
            Err(StreamError::NotUtf8) => return Err(cut_short),
            Err(why) => return Err(self.unreadable(why)),
        };
        let has_end = self.reading.is_finished || self.reading.finish.is_some();
        if enough.is_some() || has_end { Ok(enough) } else { Err(cut_short) }
    }

    fn report_replay_time(&mut self) {
        if let Some(after) = self.reply.replay_time() {
            self.writer.sink.replayed(after);
        }
    }

    fn handle_event(&mut self, event: &StreamEvent) -> Result<Option<FinishReason>, ServerError> {
        if is_done(event) {
            self.reading.is_finished = true;
            return Ok(None);
        }
        let response: Value =
            serde_json::from_str(&event.data).map_err(|error| self.malformed(&error.to_string()))?;
        if let Some(error) = response.get("error").filter(|error| !error.is_null()) {
            return Err(self.reply.client().error_in_answer(error));
        }
        (self.format.read)(event, &response, &mut self.reading).map_err(|wrong| self.malformed(wrong))?;
        Ok(self.writer.push(&std::mem::take(&mut self.reading.text)))
    }

    fn malformed(&self, reason: &str) -> ServerError {
        self.reply.client().malformed_answer(EXPECTED, reason)
    }

    fn unreadable(&self, why: StreamError) -> ServerError {
        match why {
            StreamError::NotUtf8 => self.malformed("it is not UTF-8"),
            StreamError::TooLong => {
                ServerError::TooLong { server: self.reply.client().server().to_owned(), limit: EVENT_LIMIT }
            }
        }
    }
}

/// OpenAI's end marker, which is not JSON.
fn is_done(event: &StreamEvent) -> bool {
    event.data.trim() == "[DONE]"
}

/// Whether an unterminated event is complete.
fn is_complete(event: &StreamEvent) -> bool {
    is_done(event) || serde_json::from_str::<serde::de::IgnoredAny>(&event.data).is_ok()
}

/// Streams the insertion to the listener as soon as its text is final.
struct InsertionWriter<'a> {
    insertion: &'a prompt::AnswerParser,
    sink: &'a mut dyn AnswerListener,
    /// The model's raw text.
    raw: String,
    /// Number of parsed bytes.
    parsed: usize,
    /// Number of emitted bytes of the insertion.
    emitted: usize,
}

impl<'a> InsertionWriter<'a> {
    fn new(insertion: &'a prompt::AnswerParser, sink: &'a mut dyn AnswerListener) -> InsertionWriter<'a> {
        InsertionWriter { insertion, sink, raw: String::new(), parsed: 0, emitted: 0 }
    }

    /// Adds the model's next text. `Some`: no more is needed.
    fn push(&mut self, piece: &str) -> Option<FinishReason> {
        self.raw.push_str(piece);
        if !piece.is_empty() && self.sink.raw_text(piece).is_break() {
            return Some(FinishReason::Complete);
        }
        if self.raw.len() > MAX_TEXT_BYTES {
            return Some(FinishReason::Length);
        }
        // Parsing takes time proportional to the text; parsing less often as it grows keeps the total small.
        let grown = self.raw.len() - self.parsed;
        if grown == 0 || grown < self.raw.len() / 256 {
            return None;
        }
        self.parsed = self.raw.len();
        let insertion = self.insertion.parse_partial(&self.raw);
        if insertion.is_complete {
            let finish = if self.emit(&insertion.text).is_break() {
                FinishReason::Complete
            } else {
                FinishReason::Stop
            };
            return Some(finish);
        }
        // Trailing blanks may turn out not to be part of the insertion.
        self.emit(insertion.text.trim_end()).is_break().then_some(FinishReason::Complete)
    }

    /// Emits the rest at the end of the answer.
    fn finish(mut self) -> ControlFlow<()> {
        let insertion = self.insertion.parse_whole(&self.raw);
        self.emit(&insertion)
    }

    fn emit(&mut self, insertion: &str) -> ControlFlow<()> {
        match insertion.get(self.emitted..) {
            None | Some("") => ControlFlow::Continue(()),
            Some(piece) => {
                self.emitted = insertion.len();
                self.sink.text(piece)
            }
        }
    }
}
