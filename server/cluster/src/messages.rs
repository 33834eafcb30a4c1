//! Messages between this program, the Python package and the workers: JSON Lines, one message a line.
//!
//! Both ends of each pipe have the same version, which is checked first, so these messages have no versions of their own.

use std::collections::BTreeMap;
use std::io;
use std::path::PathBuf;

use cases::{Case, Run, parse_line};
use replay::JudgingRules;
use serde::{Deserialize, Serialize};
use tokio::io::{AsyncBufRead, AsyncBufReadExt, AsyncReadExt};

/// Maximum length of a message in bytes: the workspace is one message, and may have half a gigabyte of text.
pub(crate) const MAX_MESSAGE_BYTES: u64 = 1 << 30;

/// Versions that the Python package reports.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct DriverVersions {
    /// Version of the package.
    pub ghostbench_ray: String,
    /// Version of Python.
    pub python: String,
    /// Version of Ray; `None` if it is not installed.
    pub ray: Option<String>,
    /// Version of pyarrow; `None` if it is not installed.
    pub pyarrow: Option<String>,
}

/// Everything that the package needs to start workers. It may contain keys, so it cannot be printed.
#[derive(Clone, Serialize)]
pub struct ClusterJob {
    /// Address of the cluster: `HOST:PORT` or `ray://HOST:PORT`.
    pub address: String,
    /// This program. Nodes without the same file at the same path get a copy.
    pub binary: PathBuf,
    /// File of recorded answers, sent like the program.
    pub cassette: Option<PathBuf>,
    /// The code that engines may read, or that tests judge; `None` if engines see only the cases.
    pub workspace: Option<CarriedWorkspace>,
    /// Environment variables of the workers. They may be keys.
    pub environment: BTreeMap<String, String>,
    /// Limits of engines over all nodes.
    pub rates: Vec<EngineRate>,
    /// First message to each worker.
    pub worker: WorkerJob,
    /// Time without any usable node after which the run ends, seconds.
    pub patience_s: u64,
}

/// The files of a workspace.
#[derive(Clone, Debug, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum CarriedWorkspace {
    /// Texts that have been read.
    Texts(Vec<WorkspaceText>),
    /// Files and links of any kind, which the package reads.
    Files {
        /// The workspace.
        root: PathBuf,
        /// Paths relative to it, with `/` between their parts.
        paths: Vec<String>,
    },
}

/// A text of the workspace.
#[derive(Clone, Debug, Serialize)]
pub struct WorkspaceText {
    /// Path relative to the workspace, with `/` between its parts.
    pub path: String,
    /// Its text.
    pub text: String,
}

/// Limits of the requests to one engine over all nodes.
#[derive(Clone, Debug, Default, PartialEq, Serialize)]
pub struct EngineRate {
    /// The engine's name.
    pub engine: String,
    /// Requests per minute.
    pub per_minute: Option<f64>,
    /// Concurrent requests.
    pub concurrent: Option<u32>,
}

/// Everything that a worker needs besides its arguments. It may contain keys, so it cannot be printed.
#[derive(Clone, Serialize, Deserialize)]
pub struct WorkerJob {
    /// Version of this program.
    pub version: String,
    /// Settings files.
    pub settings: Vec<CarriedFile>,
    /// The task.
    pub task: WorkerTask,
}

/// The task of a worker.
#[derive(Clone, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum WorkerTask {
    /// Makes requests.
    Requests(RequestTask),
    /// Judges answers.
    Judgements(JudgingTask),
}

/// Requests of a worker.
#[derive(Clone, Serialize, Deserialize)]
pub struct RequestTask {
    /// Concurrent requests of a worker [default: one per core].
    pub jobs: Option<usize>,
    /// Description of the run: its engines, and the identity of the workspace.
    pub run: Box<Run>,
    /// Whether no requests may leave the worker.
    pub offline: bool,
    /// Engines whose requests need a lease.
    pub paced: Vec<String>,
}

/// Judgements of a worker.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct JudgingTask {
    /// Sandboxes of a worker at a time [default: as on one machine].
    pub jobs: Option<usize>,
    /// The rules.
    pub rules: JudgingRules,
    /// Whether tests may run without a sandbox.
    pub no_sandbox: bool,
    /// Path of the workspace on the user's machine, which stored output shows.
    pub workspace: PathBuf,
    /// Hash of the workspace's files.
    pub tree_hash: String,
    /// Row of a case whose tests must pass with the truth before the worker judges.
    pub checked_case: String,
}

/// A settings file, at its path on the user's machine.
#[derive(Clone, Serialize, Deserialize)]
pub struct CarriedFile {
    /// Its place among the settings.
    pub layer: SettingsLayer,
    /// Its path.
    pub path: PathBuf,
    /// Its text.
    pub text: String,
}

/// The place of a settings file.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum SettingsLayer {
    /// The user's settings.
    User,
    /// The workspace's settings.
    Workspace,
    /// The file named on the command line.
    CommandLine,
    /// The list of trusted files.
    TrustList,
}

/// Attempts that a worker makes.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub(crate) struct Batch {
    pub(crate) id: u64,
    pub(crate) cases: Vec<CarriedCase>,
    pub(crate) attempts: Vec<CarriedAttempt>,
}

impl Batch {
    /// Parses the cases; `None` if one is invalid.
    pub(crate) fn parse_cases(&self) -> Option<Vec<Case>> {
        self.cases.iter().map(|carried| parse_line(&carried.row, 1).ok()).collect()
    }
}

/// A case of a batch.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub(crate) struct CarriedCase {
    /// Its row in the suite.
    pub(crate) row: String,
    /// Files that contain copies of its truth.
    pub(crate) copies: Vec<String>,
}

/// An attempt of a batch.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub(crate) struct CarriedAttempt {
    /// Index of the case in the batch.
    pub(crate) case: usize,
    pub(crate) engine: String,
    pub(crate) repetition: u32,
    /// Row of the answer to judge; `None` for a request.
    pub(crate) answer: Option<String>,
}

/// An answer or a judgement of a worker.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub(crate) struct CarriedRow {
    pub(crate) batch: u64,
    pub(crate) case: String,
    pub(crate) engine: String,
    pub(crate) repetition: u32,
    /// The prediction or the judgement, as in the run's file.
    pub(crate) row: String,
}

impl CarriedRow {
    pub(crate) fn new(batch: u64, (case, engine, repetition): (&str, &str, u32), row: String) -> CarriedRow {
        CarriedRow { batch, case: case.to_owned(), engine: engine.to_owned(), repetition, row }
    }
}

/// To the Python package.
#[derive(Serialize)]
#[serde(tag = "type", rename_all = "snake_case")]
pub(crate) enum ToDriver<'a> {
    Start(&'a ClusterJob),
    Batch(Batch),
    Stop,
}

/// From the Python package.
#[derive(Debug, Deserialize)]
#[serde(tag = "type", rename_all = "snake_case")]
pub(crate) enum FromDriver {
    /// The first message.
    Hello(DriverVersions),
    /// Number of workers that can take batches; repeated as a sign of life.
    Workers {
        ready: usize,
    },
    Rows {
        rows: Vec<CarriedRow>,
    },
    /// All rows of these batches were delivered.
    Done {
        batches: Vec<u64>,
    },
    /// The rest of these batches has to be sent again. `crashed` if the worker ended while its node lives.
    Lost {
        batches: Vec<u64>,
        crashed: bool,
    },
    /// For the user.
    Note {
        text: String,
    },
    /// The run cannot go on.
    Fatal {
        text: String,
    },
}

/// To a worker.
#[derive(Deserialize)]
#[serde(tag = "type", rename_all = "snake_case")]
pub(crate) enum ToWorker {
    Job(Box<WorkerJob>),
    Batch(Batch),
    /// The request with this lease may start.
    Granted {
        id: u64,
    },
    /// Asks for a sign of life.
    Ping,
}

/// From a worker.
#[derive(Debug, PartialEq, Serialize)]
#[serde(tag = "type", rename_all = "snake_case")]
pub(crate) enum FromWorker {
    Ready,
    Pong,
    Refused {
        reason: String,
    },
    Row(CarriedRow),
    Done {
        batch: u64,
    },
    /// Asks for a lease for one request.
    Lease {
        id: u64,
        engine: String,
    },
    /// Returns a lease, granted or not.
    Release {
        id: u64,
    },
}

/// Formats a message as a line.
pub(crate) fn to_line(message: &impl Serialize) -> String {
    cases::to_line(message)
}

/// Reads the next line; `None` at the end. Not safe to cancel.
pub(crate) async fn next_line(reader: &mut (impl AsyncBufRead + Unpin)) -> io::Result<Option<Vec<u8>>> {
    let mut line = Vec::new();
    let read = reader.take(MAX_MESSAGE_BYTES).read_until(b'\n', &mut line).await?;
    match line.last() {
        None => Ok(None),
        Some(b'\n') => Ok(Some(line)),
        Some(_) if (read as u64) < MAX_MESSAGE_BYTES => Ok(None),
        Some(_) => Err(io::Error::other("a message is too long")),
    }
}
