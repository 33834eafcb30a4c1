//! Decodes a byte stream into events: server-sent events or lines of JSON.
//!
//! More lenient than the standards, because servers differ: the last event needs no blank line, any line ending is accepted,
//! and a byte order mark is skipped. Invalid UTF-8 is an error, because replacement characters would end up in the user's code.

use super::line_splitter::LineSplitter;

/// Framing of events.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Framing {
    /// `text/event-stream`, as defined by the HTML standard.
    ServerSent,
    /// `application/x-ndjson`: one line of JSON each.
    JsonLines,
}

/// One event.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct StreamEvent {
    /// Its type, if given.
    pub(crate) name: Option<String>,
    /// Its data, nearly always JSON.
    pub(crate) data: String,
}

/// Error while decoding a stream.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum StreamError {
    /// An event exceeds [`EVENT_LIMIT`].
    TooLong,
    /// Invalid UTF-8.
    NotUtf8,
}

/// Maximum event size in bytes: llama.cpp's last event repeats the prompt, Ollama's repeats it as token numbers.
pub(crate) const EVENT_LIMIT: usize = 4 << 20;

/// Assembles events from chunks.
pub(crate) struct EventDecoder {
    framing: Framing,
    lines: LineSplitter,
    name: Option<String>,
    data: Option<String>,
}

impl EventDecoder {
    pub(crate) fn new(framing: Framing) -> EventDecoder {
        EventDecoder { framing, lines: LineSplitter::new(), name: None, data: None }
    }

    /// Adds the next chunk; call [`next`](EventDecoder::next) until it returns `None`.
    pub(crate) fn push(&mut self, chunk: &[u8]) {
        self.lines.push(chunk);
    }

    /// Returns the next complete event.
    pub(crate) fn next(&mut self) -> Result<Option<StreamEvent>, StreamError> {
        while let Some(line) = self.lines.next() {
            let line = str::from_utf8(line).map_err(|_| StreamError::NotUtf8)?;
            let event = match self.framing {
                Framing::JsonLines => json_line(line),
                Framing::ServerSent if line.is_empty() => event(&mut self.name, &mut self.data),
                Framing::ServerSent => {
                    field(line, &mut self.name, &mut self.data);
                    None
                }
            };
            self.check_length(0)?;
            if event.is_some() {
                return Ok(event);
            }
        }
        self.check_length(self.lines.pending_bytes())?;
        Ok(None)
    }

    /// Returns the unterminated event at the end of the stream; it may be incomplete.
    pub(crate) fn remainder(&mut self) -> Result<Option<StreamEvent>, StreamError> {
        let line = str::from_utf8(self.lines.remainder()).map_err(|_| StreamError::NotUtf8)?;
        match self.framing {
            Framing::JsonLines => Ok(json_line(line)),
            Framing::ServerSent => {
                field(line, &mut self.name, &mut self.data);
                Ok(event(&mut self.name, &mut self.data))
            }
        }
    }

    fn check_length(&self, waiting: usize) -> Result<(), StreamError> {
        let length = self.data.as_ref().map_or(0, String::len) + waiting;
        if length > EVENT_LIMIT { Err(StreamError::TooLong) } else { Ok(()) }
    }
}

fn json_line(line: &str) -> Option<StreamEvent> {
    let data = line.trim();
    (!data.is_empty()).then(|| StreamEvent { name: None, data: data.to_owned() })
}

/// A blank line ends an event; an event without data is ignored.
fn event(name: &mut Option<String>, data: &mut Option<String>) -> Option<StreamEvent> {
    let name = name.take();
    data.take().map(|data| StreamEvent { name, data })
}

/// `name: value`; a line that begins with a colon is a comment, and unknown fields are ignored.
fn field(line: &str, name: &mut Option<String>, data: &mut Option<String>) {
    let (field, value) = line.split_once(':').unwrap_or((line, ""));
    let value = value.strip_prefix(' ').unwrap_or(value);
    match field {
        "event" => *name = Some(value.to_owned()),
        "data" => match data {
            None => *data = Some(value.to_owned()),
            Some(data) => {
                data.push('\n');
                data.push_str(value);
            }
        },
        _ => {}
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    /// All events of `stream`, cut into chunks of these sizes; an unfinished one at the end is marked by `~`.
    fn decoded(framing: Framing, stream: &[u8], sizes: &[usize]) -> Result<Vec<String>, StreamError> {
        let (mut decoder, mut events, mut rest) = (EventDecoder::new(framing), Vec::new(), stream);
        let shown = |event: StreamEvent| match event.name {
            None => event.data,
            Some(name) => format!("{name}={}", event.data),
        };
        for size in sizes.iter().copied().chain([usize::MAX]) {
            let (chunk, behind) = rest.split_at(size.min(rest.len()));
            rest = behind;
            decoder.push(chunk);
            while let Some(event) = decoder.next()? {
                events.push(shown(event));
            }
        }
        events.extend(decoder.remainder()?.map(|event| format!("~{}", shown(event))));
        Ok(events)
    }

    fn server_sent(stream: &str) -> Vec<String> {
        decoded(Framing::ServerSent, stream.as_bytes(), &[]).expect("the test's stream is readable")
    }

    #[test]
    fn server_sent_events_are_decoded() {
        assert_eq!(server_sent("data: {\"a\":1}\n\ndata: [DONE]\n\n"), ["{\"a\":1}", "[DONE]"]);
        assert_eq!(server_sent("data:{}\r\n\r\ndata:  {}\r\n\r\n"), ["{}", " {}"]);
        assert_eq!(server_sent("event: ping\ndata: {}\n\nevent: x\n\ndata: {}\n\n"), ["ping={}", "{}"]);
        assert_eq!(server_sent(": a comment\n\nid: 1\nretry: 5\ndata: a\ndata: b\ndata\n\n"), ["a\nb\n"]);
        assert_eq!(server_sent("\u{feff}data: {}\n\n"), ["{}"]);
        assert_eq!(server_sent("data: {}\n\ndata: [DONE]"), ["{}", "~[DONE]"]);
        assert_eq!(server_sent("data: {\"a\":"), ["~{\"a\":"]);
        assert_eq!(server_sent(""), [""; 0]);
    }

    #[test]
    fn json_lines_are_decoded() {
        let lines = "\u{feff}{\"a\":1}\r\n\n {} \n{\"b\"";
        assert_eq!(
            decoded(Framing::JsonLines, lines.as_bytes(), &[]).unwrap(),
            ["{\"a\":1}", "{}", "~{\"b\""]
        );
    }

    #[test]
    fn incomplete_character_is_an_error() {
        for framing in [Framing::ServerSent, Framing::JsonLines] {
            assert_eq!(decoded(framing, b"data: \xc3", &[]), Err(StreamError::NotUtf8));
            assert_eq!(decoded(framing, b"data: \xc3\n\n", &[]), Err(StreamError::NotUtf8));
        }
    }

    #[test]
    fn event_over_the_size_limit_is_an_error() {
        let line = vec![b'x'; EVENT_LIMIT + 1];
        assert_eq!(decoded(Framing::JsonLines, &line, &[]), Err(StreamError::TooLong));
        let lines = "data: xxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxx\n".repeat(EVENT_LIMIT / 50 + 1);
        assert_eq!(decoded(Framing::ServerSent, lines.as_bytes(), &[]), Err(StreamError::TooLong));
    }

    proptest! {
        #[test]
        fn chunk_boundaries_do_not_change_events(
            lines in prop::collection::vec("(data: |data:|event: |: )?[{}é1]{0,3}(\n|\r|\r\n)", 0..12),
            sizes in prop::collection::vec(0_usize..5, 0..40),
        ) {
            let stream = lines.concat();
            for framing in [Framing::ServerSent, Framing::JsonLines] {
                prop_assert_eq!(
                    decoded(framing, stream.as_bytes(), &sizes),
                    decoded(framing, stream.as_bytes(), &[])
                );
            }
        }
    }
}
