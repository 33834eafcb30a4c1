//! Reads a streamed answer: bytes to events, events to text, text to the insertion, piece by piece.

use std::ops::ControlFlow;
use std::time::Duration;

use serde_json::Value;

use crate::cassette::{Piece, Said, milliseconds};
use crate::formats::{Format, Reading};
use crate::http::{Decoder, EVENT_LIMIT, Event, Fault, Framing, Reply, Unreadable};
use crate::{Answer, Finish, Request, Sink};

/// Timeout for the end of the body after the last event: it arrives at once or is not worth waiting for. After it, the
/// connection can be reused.
const REST: Duration = Duration::from_millis(5);

/// Expected content.
const EXPECTED: &str = "an answer in its format";

/// Maximum text of an answer in bytes: a model with more reasoning doesn't produce code in time.
const TEXT_LIMIT: usize = 1 << 20;

/// Reads an answer to its end, or until the listener has enough. Then it is recorded if there is a cassette.
pub(super) async fn listen(
    reply: Reply<'_>,
    format: &Format,
    insertion: &prompt::Reading,
    request: &Request,
    sink: Sink<'_>,
) -> Result<Answer, Fault> {
    if let Some(said) = reply.said() {
        return Ok(retell(&said, insertion, sink));
    }
    let form = form(&reply, format)?;
    let refusals = reply.refusals();
    let mut listening =
        Listening { reply, format, reading: Reading::default(), telling: Telling::new(insertion, sink) };
    let enough = match form {
        Form::Whole => listening.whole().await?,
        Form::Events(framing) => listening.events(framing).await?,
    };
    let Listening { reply, reading, telling, .. } = listening;
    // A secret may be spread over the events of a body: such an answer is recorded as text, which can be masked.
    let masked = ::secrets::redact_between(request.prefix(), &telling.raw, request.suffix());
    if masked.secrets.is_empty() {
        reply.keep(reading.is_over);
    } else {
        let finish = enough.or(reading.finish).unwrap_or(Finish::Stop);
        reply.keep_text(&telling.raw, finish, reading.usage);
    }
    if let Some(prompt) = &reading.prompt {
        telling.sink.prompt(prompt);
    }
    let enough = match enough {
        Some(finish) => Some(finish),
        None => telling.rest().is_break().then_some(Finish::Complete),
    };
    let finish = enough.or(reading.finish).unwrap_or(Finish::Stop);
    Ok(Answer {
        finish,
        confidence: None,
        usage: reading.usage,
        timings: reading.timings,
        refusals,
        silence: reading.silence,
        explanation: None,
        alternatives: Vec::new(),
    })
}

/// Replays a recorded text without a server's framing.
fn retell(said: &Said, insertion: &prompt::Reading, sink: Sink<'_>) -> Answer {
    let mut telling = Telling::new(insertion, sink);
    let mut enough = None;
    for Piece { ms, text } in &said.pieces {
        telling.sink.recorded(ms.and_then(milliseconds));
        enough = telling.tell(text);
        if enough.is_some() {
            break;
        }
    }
    let enough = enough.or_else(|| telling.rest().is_break().then_some(Finish::Complete));
    Answer { usage: said.tokens.map(Into::into), ..Answer::ended(enough.unwrap_or(said.finish)) }
}

/// Kind of the body.
enum Form {
    Whole,
    Events(Framing),
}

/// Determined by the content type; servers that do not stream, and proxies that buffer, answer with one JSON value.
fn form(reply: &Reply<'_>, format: &Format) -> Result<Form, Fault> {
    let framing = format.framing;
    match reply.content_type().as_deref() {
        Some("text/event-stream") => Ok(Form::Events(Framing::ServerSent)),
        Some("application/x-ndjson" | "application/ndjson" | "application/jsonl") => {
            Ok(Form::Events(Framing::JsonLines))
        }
        Some("application/json") if framing == Framing::JsonLines => Ok(Form::Events(framing)),
        Some("application/json") => Ok(Form::Whole),
        found => Err(Fault::ContentType {
            server: reply.client().server().to_owned(),
            expected: match framing {
                Framing::ServerSent => "text/event-stream",
                Framing::JsonLines => "application/x-ndjson",
            },
            found: found.map_or_else(|| "no type".to_owned(), |found| reply.client().quoted(found)),
        }),
    }
}

struct Listening<'a> {
    reply: Reply<'a>,
    format: &'a Format,
    reading: Reading,
    telling: Telling<'a>,
}

impl Listening<'_> {
    /// Reads an answer that is not a stream. `Some`: the listener has enough.
    async fn whole(&mut self) -> Result<Option<Finish>, Fault> {
        let body = self.reply.body(usize::MAX).await?;
        self.tell_time();
        let data = String::from_utf8(body).map_err(|_| self.malformed("it is not UTF-8"))?;
        self.hear(&Event { name: None, data })
    }

    /// Reads events until the last. `Some`: the listener has enough.
    async fn events(&mut self, framing: Framing) -> Result<Option<Finish>, Fault> {
        let mut decoder = Decoder::new(framing);
        while let Some(chunk) = self.reply.chunk().await? {
            self.tell_time();
            decoder.push(&chunk);
            while let Some(event) = decoder.next().map_err(|why| self.unreadable(why))? {
                if let Some(finish) = self.hear(&event)? {
                    return Ok(Some(finish));
                }
                if self.reading.is_over {
                    // The rest is the end of the body, or irrelevant.
                    let _ = tokio::time::timeout(REST, self.reply.chunk()).await;
                    return Ok(None);
                }
            }
        }
        self.last(&mut decoder)
    }

    /// Reads the rest of a stream without an end marker.
    fn last(&mut self, decoder: &mut Decoder) -> Result<Option<Finish>, Fault> {
        let cut_short = Fault::CutShort { server: self.reply.client().server().to_owned() };
        let enough = match decoder.rest() {
            Ok(None) => None,
            Ok(Some(event)) if !is_complete(&event) => return Err(cut_short),
            Ok(Some(event)) => self.hear(&event)?,
            Err(Unreadable::NotUtf8) => return Err(cut_short),
            Err(why) => return Err(self.unreadable(why)),
        };
        let has_end = self.reading.is_over || self.reading.finish.is_some();
        if enough.is_some() || has_end { Ok(enough) } else { Err(cut_short) }
    }

    fn tell_time(&mut self) {
        if let Some(after) = self.reply.recorded() {
            self.telling.sink.recorded(after);
        }
    }

    fn hear(&mut self, event: &Event) -> Result<Option<Finish>, Fault> {
        if is_done(event) {
            self.reading.is_over = true;
            return Ok(None);
        }
        let said: Value =
            serde_json::from_str(&event.data).map_err(|error| self.malformed(&error.to_string()))?;
        if let Some(error) = said.get("error").filter(|error| !error.is_null()) {
            return Err(self.reply.client().failed_in_answer(error));
        }
        (self.format.read)(event, &said, &mut self.reading).map_err(|wrong| self.malformed(wrong))?;
        Ok(self.telling.tell(&std::mem::take(&mut self.reading.text)))
    }

    fn malformed(&self, reason: &str) -> Fault {
        self.reply.client().malformed(EXPECTED, reason)
    }

    fn unreadable(&self, why: Unreadable) -> Fault {
        match why {
            Unreadable::NotUtf8 => self.malformed("it is not UTF-8"),
            Unreadable::TooLong => {
                Fault::TooLong { server: self.reply.client().server().to_owned(), limit: EVENT_LIMIT }
            }
        }
    }
}

/// OpenAI's end marker, which is not JSON.
fn is_done(event: &Event) -> bool {
    event.data.trim() == "[DONE]"
}

/// Whether an unterminated event is complete.
fn is_complete(event: &Event) -> bool {
    is_done(event) || serde_json::from_str::<serde::de::IgnoredAny>(&event.data).is_ok()
}

/// Streams the insertion to the listener as soon as its text is final.
struct Telling<'a> {
    insertion: &'a prompt::Reading,
    sink: Sink<'a>,
    /// The model's raw text.
    raw: String,
    /// Number of parsed bytes.
    looked: usize,
    /// Number of emitted bytes of the insertion.
    told: usize,
}

impl<'a> Telling<'a> {
    fn new(insertion: &'a prompt::Reading, sink: Sink<'a>) -> Telling<'a> {
        Telling { insertion, sink, raw: String::new(), looked: 0, told: 0 }
    }

    /// Adds the model's next text. `Some`: no more is needed.
    fn tell(&mut self, piece: &str) -> Option<Finish> {
        self.raw.push_str(piece);
        if !piece.is_empty() && self.sink.said(piece).is_break() {
            return Some(Finish::Complete);
        }
        if self.raw.len() > TEXT_LIMIT {
            return Some(Finish::Length);
        }
        // Parsing takes time proportional to the text; parsing less often as it grows keeps the total small.
        let grown = self.raw.len() - self.looked;
        if grown == 0 || grown < self.raw.len() / 256 {
            return None;
        }
        self.looked = self.raw.len();
        let insertion = self.insertion.so_far(&self.raw);
        if insertion.is_complete {
            let finish = if self.say(&insertion.text).is_break() { Finish::Complete } else { Finish::Stop };
            return Some(finish);
        }
        // Trailing blanks may turn out not to be part of the insertion.
        self.say(insertion.text.trim_end()).is_break().then_some(Finish::Complete)
    }

    /// Emits the rest at the end of the answer.
    fn rest(mut self) -> ControlFlow<()> {
        let insertion = self.insertion.whole(&self.raw);
        self.say(&insertion)
    }

    fn say(&mut self, insertion: &str) -> ControlFlow<()> {
        match insertion.get(self.told..) {
            None | Some("") => ControlFlow::Continue(()),
            Some(piece) => {
                self.told = insertion.len();
                self.sink.text(piece)
            }
        }
    }
}
