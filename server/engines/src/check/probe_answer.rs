//! A check's request and its measured answer.

use std::ops::ControlFlow;
use std::sync::Arc;
use std::time::{Duration, Instant};

use builtin::{Corpus, MaskedCorpus};
use prompt::estimate;
use prompt::template_check::ProbeHole;
use syntax::Language;
use tokio_util::sync::CancellationToken;

use super::{GenerationSpeed, StreamingMode};
use crate::{Answer, AnswerListener, Engine, EngineError, PromptInput, Request};

/// Maximum answer length in bytes: more than any probe's answer, with marks and a few words of chat.
const MAX_PROBE_BYTES: usize = 1 << 10;

/// A hole with a long answer for every model.
pub(super) const LONG_PROBE: ProbeHole = ProbeHole {
    path: "numbers.py",
    language: Language::Python,
    prefix: "NUMBERS = [\n    1,\n    2,\n    3,\n    4,\n    5,\n    6,\n    7,\n    8,\n    9,\n    10,\n    11,\n    12,",
    truth: "",
    suffix: "\n    499,\n    500,\n]\n",
    needs_suffix: false,
};

/// Builds the request for a hole. It is an explicit invocation, so that no answer is withheld.
pub(super) fn probe_request(probe: &ProbeHole, engine: &dyn Engine) -> Request {
    let path: Arc<str> = probe.path.into();
    let corpus = engine.reads_workspace().then(|| {
        let corpus = Arc::new(Corpus::build(&[]));
        MaskedCorpus::new(corpus, Arc::clone(&path), probe.language, Vec::new())
    });
    let input = PromptInput {
        path,
        language: probe.language,
        text: [probe.prefix, probe.suffix].concat().into(),
        cursor: probe.prefix.len(),
        context: Arc::default(),
    };
    Request { corpus, invoked: true, ..Request::new(input) }
}

/// An answer.
#[derive(Debug)]
pub(super) struct ProbeAnswer {
    raw: String,
    /// The text to insert.
    pub(super) text: String,
    pieces: usize,
    start: Instant,
    /// Time to the first piece.
    pub(super) first: Option<Duration>,
    last: Option<Duration>,
    /// Time to the end.
    pub(super) total: Duration,
    enough: usize,
    answer: Option<Answer>,
}

/// Sends the request and waits at most `limit`.
pub(super) async fn ask_probe(
    engine: &dyn Engine,
    question: Request,
    limit: Duration,
) -> Result<ProbeAnswer, EngineError> {
    let question = Request { deadline: Some(tokio::time::Instant::now() + limit), ..question };
    let (mut heard, cancel) = (ProbeAnswer::new(), CancellationToken::new());
    let answer = tokio::time::timeout(limit, engine.complete(question, &mut heard, &cancel)).await;
    let late = || {
        let message = format!("it did not answer within {} s", limit.as_secs());
        Err(EngineError::Failed { engine: engine.description().name.clone(), message })
    };
    heard.answer = Some(answer.unwrap_or_else(|_| late())?);
    heard.total = heard.start.elapsed();
    Ok(heard)
}

impl ProbeAnswer {
    fn new() -> ProbeAnswer {
        ProbeAnswer {
            raw: String::new(),
            text: String::new(),
            pieces: 0,
            start: Instant::now(),
            first: None,
            last: None,
            total: Duration::ZERO,
            enough: MAX_PROBE_BYTES,
            answer: None,
        }
    }

    /// Returns the model's raw text, or the inserted text if the engine doesn't report it.
    pub(super) fn raw(&self) -> &str {
        if self.raw.is_empty() { &self.text } else { &self.raw }
    }

    /// How the answer was streamed; `None` if it was too short to measure.
    pub(super) fn streaming(&self) -> Option<StreamingMode> {
        let (first, last) = (self.first?, self.last?);
        Some(match self.pieces {
            1 if self.raw().chars().count() <= MAX_PIECE_CHARACTERS => return None,
            1 => StreamingMode::Whole,
            pieces if pieces >= MIN_PIECES && first >= LONG_WAIT && last - first < first / 20 => {
                StreamingMode::HeldBack(pieces)
            }
            pieces => StreamingMode::Pieces(pieces),
        })
    }

    /// How fast the answer was generated; `None` if it was too short to measure.
    pub(super) fn speed(&self) -> Option<GenerationSpeed> {
        let answer = self.answer.as_ref()?;
        let counted = answer.usage.map(|usage| usage.output);
        let tokens = counted.unwrap_or_else(|| estimate(self.raw()) as u64);
        if tokens < MIN_TOKENS {
            return None;
        }
        let own = answer.timings.and_then(|timings| timings.generation);
        let spread = self.last? - self.first?;
        // The first piece arrives before the measurement starts.
        let (tokens, duration) = match own {
            Some(own) => (tokens, own),
            None if self.pieces >= MIN_PIECES => (tokens - 1, spread),
            None => (tokens, self.total),
        };
        let seconds = duration.as_secs_f64();
        (seconds > 0.0).then(|| GenerationSpeed {
            tokens_per_second: tokens as f64 / seconds,
            is_counted: counted.is_some(),
        })
    }

    fn record_piece(&mut self) {
        let now = self.start.elapsed();
        self.pieces += 1;
        self.first.get_or_insert(now);
        self.last = Some(now);
    }
}

/// Characters that one piece of a stream may contain.
const MAX_PIECE_CHARACTERS: usize = 16;
/// Fewer pieces may arrive together by chance.
const MIN_PIECES: usize = 8;
/// After a shorter wait, pieces may arrive together.
const LONG_WAIT: Duration = Duration::from_millis(200);
/// Fewer tokens would measure the network.
const MIN_TOKENS: u64 = 8;

impl AnswerListener for ProbeAnswer {
    fn raw_text(&mut self, piece: &str) -> ControlFlow<()> {
        self.record_piece();
        self.raw.push_str(piece);
        if self.raw.len() > self.enough { ControlFlow::Break(()) } else { ControlFlow::Continue(()) }
    }

    fn text(&mut self, piece: &str) -> ControlFlow<()> {
        if self.raw.is_empty() {
            self.record_piece();
        }
        self.text.push_str(piece);
        ControlFlow::Continue(())
    }
}
