//! Cassettes: files of recorded requests and answers, for replay without the engines.
//!
//! ```text
//! request --canonical form--> hash --held?--yes--> the recorded answer, with its times
//!                                     |
//!                                     no--offline--> Miss
//!                                     |
//!                                     +--else--> query the engine; append its answer once it is complete
//! ```
//!
//! Responsible for the file (`file`), for matching requests and recordings, and for counters. The canonical form is created
//! where the request is built: for servers in `http`, from the actual HTTP request, so that another template or option is
//! another request; for programs in `taped`, from the engine's request.
//!
//! Must never contain a key: the form is hashed, and its readable part is redacted like messages, and then by `masks`, which
//! removes the secrets of the code. Must never contain a failure that a retry may not repeat: broken connections, busy servers,
//! rejected keys. Must never delay or fail an answer: write errors are reported at the end of a run.

mod answers;
mod file;
mod masks;
mod taped;

use std::collections::HashMap;
use std::fmt;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use blake3::Hash;
use serde_json::{Value, json};
use thiserror::Error;

pub use answers::{AnswersError, Made, Prompts};
pub use file::CassetteError;
pub(crate) use file::{Piece, Recorded, Said, ServerReply};
pub(crate) use masks::Document;
pub(crate) use taped::milliseconds;
pub use taped::taped;

use file::{Contents, Recorder, Row};

/// Recorded answers, by the hashes of the requests' canonical forms.
///
/// If a request is repeated in one run, its answers are replayed in recorded order, so that repetitions vary as they did; after
/// the last one, the last one is repeated, and counted as such.
pub struct Cassette {
    /// `None` for an empty cassette.
    path: Option<PathBuf>,
    held: HashMap<Hash, Held>,
    lessons: HashMap<String, Vec<String>>,
    /// `None` if offline.
    recorder: Option<Mutex<Recorder>>,
    torn_line: Option<usize>,
    counts: Counts,
}

/// The answers to one request.
#[derive(Default)]
struct Held {
    replies: Vec<Arc<Recorded>>,
    /// Number of replayed answers.
    given: AtomicUsize,
}

#[derive(Default)]
struct Counts {
    replayed: AtomicUsize,
    repeated: AtomicUsize,
    recorded: AtomicUsize,
    missed: AtomicUsize,
}

/// Counters of a cassette.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Tally {
    /// Replayed answers.
    pub replayed: usize,
    /// Number of replayed answers that were repetitions, because the request was repeated more often than recorded.
    pub repeated: usize,
    /// Recorded answers.
    pub recorded: usize,
    /// Requests without an answer while offline.
    pub missed: usize,
    /// The error that stopped recording.
    pub failure: Option<String>,
}

/// Why a request has no recorded answer while offline.
#[derive(Clone, Debug, Error, PartialEq, Eq)]
pub enum Miss {
    /// There is no cassette.
    #[error("`--offline` makes no requests; name a file with recorded answers with `--cassette`")]
    NoCassette,
    /// This request is not recorded.
    #[error(
        "{} holds no answer to this request, and `--offline` makes no requests; run once without `--offline` to record it",
        cassette.display()
    )]
    NotHeld {
        /// The file.
        cassette: PathBuf,
    },
    /// The recording ends before the end of the answer.
    #[error(
        "{} has only the beginning of this answer; record it again into another file",
        cassette.display()
    )]
    EndsEarly {
        /// The file.
        cassette: PathBuf,
    },
}

/// A request in canonical form.
pub(crate) struct Canonical {
    hash: Hash,
    /// The redacted request.
    shown: Value,
    /// The document of the request.
    document: Option<Document>,
}

impl Cassette {
    /// Replays recorded answers, and records others. Creates the file if it is missing.
    pub fn recording(path: &Path) -> Result<Cassette, CassetteError> {
        let (contents, recorder) = Recorder::open(path)?;
        Ok(Cassette::holding(Some(path), contents, Some(recorder)))
    }

    /// Replays recorded answers; every other request is a [`Miss`]. Without a file, every request is.
    pub fn offline(path: Option<&Path>) -> Result<Cassette, CassetteError> {
        let contents = path.map(file::read).transpose()?.unwrap_or_default();
        Ok(Cassette::holding(path, contents, None))
    }

    /// Whether no engine may be contacted.
    pub fn is_offline(&self) -> bool {
        self.recorder.is_none()
    }

    fn holding(path: Option<&Path>, contents: Contents, recorder: Option<Recorder>) -> Cassette {
        let mut held: HashMap<Hash, Held> = HashMap::new();
        let mut lessons: HashMap<String, Vec<String>> = HashMap::new();
        for row in contents.rows {
            match row {
                Row::Reply { hash, reply, .. } => held.entry(hash).or_default().replies.push(Arc::new(reply)),
                Row::Lesson { engine, lesson } => lessons.entry(engine).or_default().push(lesson),
            }
        }
        Cassette {
            path: path.map(Path::to_owned),
            held,
            lessons,
            recorder: recorder.map(Mutex::new),
            torn_line: contents.torn_line,
            counts: Counts::default(),
        }
    }

    /// Number of the incomplete last line, from 1, that a killed writer left and that was skipped.
    pub fn torn_line(&self) -> Option<usize> {
        self.torn_line
    }

    /// Returns the counters.
    pub fn tally(&self) -> Tally {
        let Counts { replayed, repeated, recorded, missed } = &self.counts;
        let count = |count: &AtomicUsize| count.load(Ordering::Relaxed);
        Tally {
            replayed: count(replayed),
            repeated: count(repeated),
            recorded: count(recorded),
            missed: count(missed),
            failure: self.recorder().and_then(|recorder| recorder.failure().map(ToString::to_string)),
        }
    }

    /// Returns the next answer to a request; `None` if the engine has to be queried.
    fn find(&self, request: &Canonical) -> Result<Option<Arc<Recorded>>, Miss> {
        let Some(held) = self.held.get(&request.hash) else {
            return match (&self.recorder, &self.path) {
                (Some(_), _) => Ok(None),
                (None, Some(path)) => Err(Miss::NotHeld { cassette: path.clone() }),
                (None, None) => Err(Miss::NoCassette),
            };
        };
        let turn = held.given.fetch_add(1, Ordering::Relaxed);
        self.counts.replayed.fetch_add(1, Ordering::Relaxed);
        if turn >= held.replies.len() {
            self.counts.repeated.fetch_add(1, Ordering::Relaxed);
        }
        Ok(held.replies.get(turn).or(held.replies.last()).cloned())
    }

    fn append(&self, row: &Row) {
        if let Some(mut recorder) = self.recorder()
            && recorder.append(row)
            && matches!(row, Row::Reply { .. })
        {
            self.counts.recorded.fetch_add(1, Ordering::Relaxed);
        }
    }

    fn recorder(&self) -> Option<std::sync::MutexGuard<'_, Recorder>> {
        self.recorder.as_ref().map(|recorder| recorder.lock().unwrap_or_else(PoisonError::into_inner))
    }
}

impl fmt::Debug for Cassette {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Cassette").field("path", &self.path).finish_non_exhaustive()
    }
}

/// A cassette for one engine. The engine's name is part of each request, because two servers with different models can get
/// identical requests.
#[derive(Clone, Debug)]
pub(crate) struct Tape {
    cassette: Arc<Cassette>,
    engine: String,
}

impl Tape {
    pub(crate) fn new(cassette: Arc<Cassette>, engine: &str) -> Tape {
        Tape { cassette, engine: engine.to_owned() }
    }

    /// Returns the engine's name.
    pub(crate) fn engine(&self) -> &str {
        &self.engine
    }

    /// Returns the next answer to a request; `None` if the engine has to be queried.
    pub(crate) fn find(&self, request: &Canonical) -> Result<Option<Arc<Recorded>>, Miss> {
        self.cassette.find(request)
    }

    /// Records an answer.
    pub(crate) fn record(&self, request: Canonical, reply: Recorded) {
        self.cassette.append(&Row::of(&self.engine, request, reply));
    }

    /// Returns the recorded quirks of the engine. They apply to all requests, in any order.
    pub(crate) fn lessons(&self) -> &[String] {
        self.cassette.lessons.get(&self.engine).map(Vec::as_slice).unwrap_or_default()
    }

    /// Records a quirk.
    pub(crate) fn record_lesson(&self, lesson: &str) {
        self.cassette.append(&Row::Lesson { engine: self.engine.clone(), lesson: lesson.to_owned() });
    }

    /// Counts a request without an answer.
    pub(crate) fn count_miss(&self) {
        self.cassette.counts.missed.fetch_add(1, Ordering::Relaxed);
    }

    /// Returns the error for a recording that ends before the listener has enough.
    pub(crate) fn ends_early(&self) -> Miss {
        Miss::EndsEarly { cassette: self.cassette.path.clone().unwrap_or_default() }
    }
}

/// Rounds a time for storage to a hundredth of a millisecond.
pub(crate) fn ms(time: Duration) -> f64 {
    (time.as_secs_f64() * 1e5).round() / 1e2
}

impl Canonical {
    /// Creates the form of a request to the engine of this name; `shown` is its redacted form.
    pub(crate) fn new(engine: &str, request: &Value, shown: Value) -> Canonical {
        // Keys of objects are sorted, and numbers and strings have one notation.
        let form = json!({"engine": engine, "request": request}).to_string();
        Canonical { hash: blake3::hash(form.as_bytes()), shown, document: None }
    }

    /// Returns the same request for this document: secrets that the cursor splits are masked in its row.
    pub(crate) fn about(self, document: Option<Document>) -> Canonical {
        Canonical { document, ..self }
    }
}

impl Row {
    fn of(engine: &str, request: Canonical, reply: Recorded) -> Row {
        let Canonical { hash, shown, document } = request;
        let (request, reply) = masks::mask(shown, document.as_ref(), reply);
        Row::Reply { hash, engine: engine.to_owned(), request, reply }
    }
}

#[cfg(test)]
mod tests;
