//! Cassettes: files of recorded requests and answers, for replay without the engines.
//!
//! ```text
//! request --canonical form--> hash --held?--yes--> the recorded answer, with its times
//!                                     |
//!                                     no--offline--> CassetteMiss
//!                                     |
//!                                     +--else--> query the engine; append its answer once it is complete
//! ```
//!
//! Responsible for the file (`program_file`), for matching requests and recordings, and for counters. The canonical form is created
//! where the request is built: for servers in `http`, from the actual HTTP request, so that another template or option is
//! another request; for programs in `recorded`, from the engine's request.
//!
//! Must never contain a key: the form is hashed, and its readable part is redacted like messages, and then by `masks`, which
//! removes the secrets of the code. Must never contain a failure that a retry may not repeat: broken connections, busy servers,
//! rejected keys. Must never delay or fail an answer: write errors are reported at the end of a run.

mod cassette_file;
mod import_answers;
mod masks;
mod recorded_engine;

use std::collections::HashMap;
use std::fmt;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use blake3::Hash;
use serde_json::{Value, json};
use thiserror::Error;

pub use cassette_file::CassetteError;
pub(crate) use cassette_file::{EngineReply, RecordedReply, ReplyPiece, ServerReply};
pub use import_answers::{AnswersError, AnswersFile, ImportSummary};
pub(crate) use masks::Document;
pub(crate) use recorded_engine::milliseconds;
pub use recorded_engine::recorded;

use cassette_file::{CassetteContents, CassetteRow, CassetteWriter};

/// Recorded answers, by the hashes of the requests' canonical forms.
///
/// If a request is repeated in one run, its answers are replayed in recorded order, so that repetitions vary as they did; after
/// the last one, the last one is repeated, and counted as such.
pub struct Cassette {
    /// `None` for an empty cassette.
    path: Option<PathBuf>,
    replies: HashMap<Hash, RecordedReplies>,
    quirks: HashMap<String, Vec<String>>,
    /// `None` if offline.
    recorder: Option<Mutex<CassetteWriter>>,
    torn_line: Option<usize>,
    counts: CassetteCounters,
}

/// The answers to one request.
#[derive(Default)]
struct RecordedReplies {
    replies: Vec<Arc<RecordedReply>>,
    /// Number of replayed answers.
    given: AtomicUsize,
}

#[derive(Default)]
struct CassetteCounters {
    replayed: AtomicUsize,
    repeated: AtomicUsize,
    recorded: AtomicUsize,
    missed: AtomicUsize,
}

/// Counters of a cassette.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct CassetteStats {
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
pub enum CassetteMiss {
    /// There is no cassette.
    #[error("`--offline` makes no requests; name a file with recorded answers with `--cassette`")]
    NoCassette,
    /// This request is not recorded.
    #[error(
        "{} holds no answer to this request, and `--offline` makes no requests; run once without `--offline` to record it",
        cassette.display()
    )]
    NotRecorded {
        /// The file.
        cassette: PathBuf,
    },
    /// The recording ends before the end of the answer.
    #[error(
        "{} has only the beginning of this answer; record it again into another file",
        cassette.display()
    )]
    Truncated {
        /// The file.
        cassette: PathBuf,
    },
}

/// A request in canonical form.
pub(crate) struct CanonicalRequest {
    hash: Hash,
    /// The redacted request.
    shown: Value,
    /// The document of the request.
    document: Option<Document>,
}

impl Cassette {
    /// Replays recorded answers, and records others. Creates the file if it is missing.
    pub fn recording(path: &Path) -> Result<Cassette, CassetteError> {
        let (contents, recorder) = CassetteWriter::open(path)?;
        Ok(Cassette::with_contents(Some(path), contents, Some(recorder)))
    }

    /// Replays recorded answers; every other request is a [`CassetteMiss`]. Without a file, every request is.
    pub fn offline(path: Option<&Path>) -> Result<Cassette, CassetteError> {
        let contents = path.map(cassette_file::read).transpose()?.unwrap_or_default();
        Ok(Cassette::with_contents(path, contents, None))
    }

    /// Whether no engine may be contacted.
    pub fn is_offline(&self) -> bool {
        self.recorder.is_none()
    }

    fn with_contents(
        path: Option<&Path>,
        contents: CassetteContents,
        recorder: Option<CassetteWriter>,
    ) -> Cassette {
        let mut held: HashMap<Hash, RecordedReplies> = HashMap::new();
        let mut lessons: HashMap<String, Vec<String>> = HashMap::new();
        for row in contents.rows {
            match row {
                CassetteRow::Reply { hash, reply, .. } => {
                    held.entry(hash).or_default().replies.push(Arc::new(reply))
                }
                CassetteRow::Quirk { engine, quirk } => lessons.entry(engine).or_default().push(quirk),
            }
        }
        Cassette {
            path: path.map(Path::to_owned),
            replies: held,
            quirks: lessons,
            recorder: recorder.map(Mutex::new),
            torn_line: contents.torn_line,
            counts: CassetteCounters::default(),
        }
    }

    /// Number of the incomplete last line, from 1, that a killed writer left and that was skipped.
    pub fn torn_line(&self) -> Option<usize> {
        self.torn_line
    }

    /// Returns the counters.
    pub fn stats(&self) -> CassetteStats {
        let CassetteCounters { replayed, repeated, recorded, missed } = &self.counts;
        let count = |count: &AtomicUsize| count.load(Ordering::Relaxed);
        CassetteStats {
            replayed: count(replayed),
            repeated: count(repeated),
            recorded: count(recorded),
            missed: count(missed),
            failure: self.recorder().and_then(|recorder| recorder.failure().map(ToString::to_string)),
        }
    }

    /// Returns the next answer to a request; `None` if the engine has to be queried.
    fn find(&self, request: &CanonicalRequest) -> Result<Option<Arc<RecordedReply>>, CassetteMiss> {
        let Some(held) = self.replies.get(&request.hash) else {
            return match (&self.recorder, &self.path) {
                (Some(_), _) => Ok(None),
                (None, Some(path)) => Err(CassetteMiss::NotRecorded { cassette: path.clone() }),
                (None, None) => Err(CassetteMiss::NoCassette),
            };
        };
        let turn = held.given.fetch_add(1, Ordering::Relaxed);
        self.counts.replayed.fetch_add(1, Ordering::Relaxed);
        if turn >= held.replies.len() {
            self.counts.repeated.fetch_add(1, Ordering::Relaxed);
        }
        Ok(held.replies.get(turn).or(held.replies.last()).cloned())
    }

    fn append(&self, row: &CassetteRow) {
        if let Some(mut recorder) = self.recorder()
            && recorder.append(row)
            && matches!(row, CassetteRow::Reply { .. })
        {
            self.counts.recorded.fetch_add(1, Ordering::Relaxed);
        }
    }

    fn recorder(&self) -> Option<std::sync::MutexGuard<'_, CassetteWriter>> {
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
pub(crate) struct EngineCassette {
    cassette: Arc<Cassette>,
    engine: String,
}

impl EngineCassette {
    pub(crate) fn new(cassette: Arc<Cassette>, engine: &str) -> EngineCassette {
        EngineCassette { cassette, engine: engine.to_owned() }
    }

    /// Returns the engine's name.
    pub(crate) fn engine(&self) -> &str {
        &self.engine
    }

    /// Returns the next answer to a request; `None` if the engine has to be queried.
    pub(crate) fn find(
        &self,
        request: &CanonicalRequest,
    ) -> Result<Option<Arc<RecordedReply>>, CassetteMiss> {
        self.cassette.find(request)
    }

    /// Records an answer.
    pub(crate) fn record(&self, request: CanonicalRequest, reply: RecordedReply) {
        self.cassette.append(&CassetteRow::of(&self.engine, request, reply));
    }

    /// Returns the recorded quirks of the engine. They apply to all requests, in any order.
    pub(crate) fn quirks(&self) -> &[String] {
        self.cassette.quirks.get(&self.engine).map(Vec::as_slice).unwrap_or_default()
    }

    /// Records a quirk.
    pub(crate) fn record_quirk(&self, quirk: &str) {
        self.cassette.append(&CassetteRow::Quirk { engine: self.engine.clone(), quirk: quirk.to_owned() });
    }

    /// Counts a request without an answer.
    pub(crate) fn count_miss(&self) {
        self.cassette.counts.missed.fetch_add(1, Ordering::Relaxed);
    }

    /// Returns the error for a recording that ends before the listener has enough.
    pub(crate) fn ends_early_miss(&self) -> CassetteMiss {
        CassetteMiss::Truncated { cassette: self.cassette.path.clone().unwrap_or_default() }
    }
}

/// Rounds a time for storage to a hundredth of a millisecond.
pub(crate) fn rounded_ms(time: Duration) -> f64 {
    (time.as_secs_f64() * 1e5).round() / 1e2
}

impl CanonicalRequest {
    /// Creates the form of a request to the engine of this name; `shown` is its redacted form.
    pub(crate) fn new(engine: &str, request: &Value, shown: Value) -> CanonicalRequest {
        // Keys of objects are sorted, and numbers and strings have one notation.
        let form = json!({"engine": engine, "request": request}).to_string();
        CanonicalRequest { hash: blake3::hash(form.as_bytes()), shown, document: None }
    }

    /// Returns the same request for this document: secrets that the cursor splits are masked in its row.
    pub(crate) fn about(self, document: Option<Document>) -> CanonicalRequest {
        CanonicalRequest { document, ..self }
    }
}

impl CassetteRow {
    fn of(engine: &str, request: CanonicalRequest, reply: RecordedReply) -> CassetteRow {
        let CanonicalRequest { hash, shown, document } = request;
        let (request, reply) = masks::mask(shown, document.as_ref(), reply);
        CassetteRow::Reply { hash, engine: engine.to_owned(), request, reply }
    }
}

#[cfg(test)]
mod tests;
