//! Cassettes: what engines were asked and what came back, in one file, so that it can be had again without them.
//!
//! ```text
//! request --canonical form--> hash --held?--yes--> the answer as it came, with the times it came at
//!                                     |
//!                                     no--offline--> Miss
//!                                     |
//!                                     +--else--> the engine is asked; its answer is appended once it turned out to be one
//! ```
//!
//! Responsible for the file (`file`), for which recording answers which request, and for counting. The canonical form is made where
//! a request is: for servers in `http`, of what is really sent, so that another template or another option is another request; for
//! programs in `taped`, of the question itself.
//!
//! Never holds a key: the form is hashed, and what is kept of it for people goes through the same filter as messages, and then through
//! `masks`, which removes the secrets of the code. Never holds a failure that the next attempt may not meet: broken connections, busy servers, refused keys. Never stands in the way: what cannot be
//! written is told at the end of a run, and answers are given nevertheless.

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

/// Answers to requests, by the hashes of their canonical forms.
///
/// A request that is asked several times in one run gets the answers that were recorded to it in their order, so that repetitions stay
/// as different as they were; once these are used up, the last one is given again, and counted.
pub struct Cassette {
    /// `None` for one that holds nothing.
    path: Option<PathBuf>,
    held: HashMap<Hash, Held>,
    lessons: HashMap<String, Vec<String>>,
    /// `None` while offline.
    recorder: Option<Mutex<Recorder>>,
    torn_line: Option<usize>,
    counts: Counts,
}

/// The answers to one request.
#[derive(Default)]
struct Held {
    replies: Vec<Arc<Recorded>>,
    /// How many of them were given.
    given: AtomicUsize,
}

#[derive(Default)]
struct Counts {
    replayed: AtomicUsize,
    repeated: AtomicUsize,
    recorded: AtomicUsize,
    missed: AtomicUsize,
}

/// What a cassette did so far.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Tally {
    /// Answers that it gave.
    pub replayed: usize,
    /// How many of these had been given before in this run, because fewer are held than were asked for.
    pub repeated: usize,
    /// Answers that it took.
    pub recorded: usize,
    /// Questions that it had no answer to, and that nobody else was asked.
    pub missed: usize,
    /// Why it could not take any more.
    pub failure: Option<String>,
}

/// Why a request has no recorded answer, where nothing else may be asked.
#[derive(Clone, Debug, Error, PartialEq, Eq)]
pub enum Miss {
    /// Nothing is recorded at all.
    #[error("`--offline` keeps it from being asked; name a file that holds its answers with `--cassette`")]
    NoCassette,
    /// This request is not.
    #[error(
        "{} holds no answer to this request, and `--offline` keeps it from being asked; run once without `--offline` to record it",
        cassette.display()
    )]
    NotHeld {
        /// The file.
        cassette: PathBuf,
    },
    /// Its answer was not needed to its end.
    #[error(
        "{} holds the beginning of this answer only, as much as was needed when it was recorded; record it again into another file",
        cassette.display()
    )]
    EndsEarly {
        /// The file.
        cassette: PathBuf,
    },
}

/// A request in the form by which it is known.
pub(crate) struct Canonical {
    hash: Hash,
    /// As much of it as people may see.
    shown: Value,
    /// The document that it is about.
    document: Option<Document>,
}

impl Cassette {
    /// Replays what the file holds, and adds what it does not. A file that is not there is made.
    pub fn recording(path: &Path) -> Result<Cassette, CassetteError> {
        let (contents, recorder) = Recorder::open(path)?;
        Ok(Cassette::holding(Some(path), contents, Some(recorder)))
    }

    /// Replays what the file holds; all else is a [`Miss`]. Without a file, everything is.
    pub fn offline(path: Option<&Path>) -> Result<Cassette, CassetteError> {
        let contents = path.map(file::read).transpose()?.unwrap_or_default();
        Ok(Cassette::holding(path, contents, None))
    }

    /// Whether it is all that may be asked.
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

    /// The line, from 1, that a killed writer left unfinished at the end of the file, and that was passed over.
    pub fn torn_line(&self) -> Option<usize> {
        self.torn_line
    }

    /// What it did so far.
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

    /// The next answer to a request; `None` if it is to be asked.
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

/// A cassette in the hands of one engine. The engine's name is a part of each request: two servers that run different models can be
/// asked the very same thing, and neither may answer for the other.
#[derive(Clone, Debug)]
pub(crate) struct Tape {
    cassette: Arc<Cassette>,
    engine: String,
}

impl Tape {
    pub(crate) fn new(cassette: Arc<Cassette>, engine: &str) -> Tape {
        Tape { cassette, engine: engine.to_owned() }
    }

    /// The engine's name.
    pub(crate) fn engine(&self) -> &str {
        &self.engine
    }

    /// The next answer to a request; `None` if it is to be asked.
    pub(crate) fn find(&self, request: &Canonical) -> Result<Option<Arc<Recorded>>, Miss> {
        self.cassette.find(request)
    }

    /// Keeps an answer.
    pub(crate) fn record(&self, request: Canonical, reply: Recorded) {
        self.cassette.append(&Row::of(&self.engine, request, reply));
    }

    /// What was learnt about the engine while it was recorded. It holds for all requests, in whichever order they come now.
    pub(crate) fn lessons(&self) -> &[String] {
        self.cassette.lessons.get(&self.engine).map(Vec::as_slice).unwrap_or_default()
    }

    /// Keeps what was learnt.
    pub(crate) fn record_lesson(&self, lesson: &str) {
        self.cassette.append(&Row::Lesson { engine: self.engine.clone(), lesson: lesson.to_owned() });
    }

    /// Counts a question that stays without an answer.
    pub(crate) fn count_miss(&self) {
        self.cassette.counts.missed.fetch_add(1, Ordering::Relaxed);
    }

    /// What is wrong with a recording that ends before somebody has enough.
    pub(crate) fn ends_early(&self) -> Miss {
        Miss::EndsEarly { cassette: self.cassette.path.clone().unwrap_or_default() }
    }
}

/// A time as it is kept: to a hundredth of a millisecond.
pub(crate) fn ms(time: Duration) -> f64 {
    (time.as_secs_f64() * 1e5).round() / 1e2
}

impl Canonical {
    /// The form of a request to the engine of this name; `shown` is what people may see of it.
    pub(crate) fn new(engine: &str, request: &Value, shown: Value) -> Canonical {
        // Keys of objects are sorted, and numbers and texts are written in one way, whoever wrote the request.
        let form = json!({"engine": engine, "request": request}).to_string();
        Canonical { hash: blake3::hash(form.as_bytes()), shown, document: None }
    }

    /// The same request, which is about this document: secrets that the cursor parts are masked in its row.
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
