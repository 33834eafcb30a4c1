//! The cassette file: JSON Lines, a header first, then one row per answer. `docs/formats.md` documents it.
//!
//! One process at a time appends whole lines; rows are never rewritten. A killed process leaves at most an incomplete last
//! line, which the next reader skips and the next writer truncates. Any other malformed line is an error, because its row is
//! lost. Headers may occur between rows, so that files can be concatenated.

use std::collections::BTreeMap;
use std::fs::{File, OpenOptions, TryLockError};
use std::io::{self, BufRead, BufReader, Read, Seek, SeekFrom, Write};
use std::path::{Path, PathBuf};

use blake3::Hash;
use serde::{Deserialize, Serialize};
use serde_json::Value;
use text::Edit;
use thiserror::Error;

use crate::{FinishReason, Usage};

/// Format name in the header.
const FORMAT: &str = "ghostbench-cassette";

/// Schema version: new fields raise the minor version, changed meanings raise the major version.
const SCHEMA: &str = "1.1";

/// Maximum line length in bytes: the longest accepted answer with every character escaped in JSON.
const LINE_LIMIT: usize = 128 << 20;

/// Error while reading or writing a cassette.
#[derive(Debug, Error)]
pub enum CassetteError {
    /// The file can't be read.
    #[error("cannot read the cassette {}: {reason}{}", path.display(), missing_file_remedy(reason))]
    Read {
        /// The file.
        path: PathBuf,
        /// The system's error.
        reason: io::Error,
    },
    /// The file can't be written.
    #[error("cannot write the cassette {}: {reason}", path.display())]
    Write {
        /// The file.
        path: PathBuf,
        /// The system's error.
        reason: io::Error,
    },
    /// Another process is recording into the file.
    #[error("another process records into {}; wait for it, or replay with `--offline`", path.display())]
    Busy {
        /// The file.
        path: PathBuf,
    },
    /// The file is not a cassette.
    #[error("{} is not a cassette: its first line is not a header; name another file", path.display())]
    NotACassette {
        /// The file.
        path: PathBuf,
    },
    /// The format version is not supported.
    #[error("{} line {line}: cassettes of version {version} are not supported; {}", path.display(), newer_version_remedy(version))]
    Version {
        /// The file.
        path: PathBuf,
        /// Line number of the header, from 1.
        line: usize,
        /// Version in the header.
        version: String,
    },
    /// A line is not a valid row.
    #[error("{} line {line}: {reason}; remove the line, and record its answer again", path.display())]
    Line {
        /// The file.
        path: PathBuf,
        /// Line number, from 1.
        line: usize,
        /// The error.
        reason: String,
    },
}

fn missing_file_remedy(reason: &io::Error) -> &'static str {
    match reason.kind() {
        io::ErrorKind::NotFound => "; record it by running once without `--offline`",
        _ => "",
    }
}

fn newer_version_remedy(version: &str) -> &'static str {
    let major = |version: &str| version.split('.').next().and_then(|major| major.parse::<u32>().ok());
    if major(version) > major(SCHEMA) { "install a newer Ghostbench" } else { "record it again" }
}

#[derive(Serialize, Deserialize)]
struct CassetteHeader {
    schema: String,
    format: String,
}

/// Content of a line.
#[derive(Debug)]
pub(crate) enum CassetteRow {
    /// An answer.
    Reply {
        /// Hash of the request's canonical form.
        hash: Hash,
        /// The engine's name.
        engine: String,
        /// The request without secrets.
        request: Value,
        /// The answer.
        reply: RecordedReply,
    },
    /// A server quirk that the engine detected.
    Quirk {
        /// The engine's name.
        engine: String,
        /// The quirk's name.
        quirk: String,
    },
}

/// A recorded answer.
#[derive(Clone, Debug, PartialEq)]
pub(crate) enum RecordedReply {
    /// From a server.
    Server(ServerReply),
    /// As text, from a program or an imported file.
    Engine(EngineReply),
}

/// An HTTP server's response.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub(crate) struct ServerReply {
    pub(crate) status: u16,
    /// Headers that decide how the body is parsed.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub(crate) headers: BTreeMap<String, String>,
    /// The body. Pieces never split a character.
    pub(crate) pieces: Vec<ReplyPiece>,
    /// Whether the reader stopped before the end of the response.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub(crate) stopped: bool,
}

/// A text answer.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub(crate) struct EngineReply {
    pub(crate) pieces: Vec<ReplyPiece>,
    /// Edits besides the insertion of the pieces at the cursor.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub(crate) edits: Vec<RecordedEdit>,
    #[serde(with = "finish")]
    pub(crate) finish: FinishReason,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(crate) tokens: Option<TokenUsage>,
}

/// A piece of an answer.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub(crate) struct ReplyPiece {
    /// Milliseconds from the request to this piece; absent if unknown.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(crate) ms: Option<f64>,
    pub(crate) text: String,
}

/// An edit of the request's document.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct RecordedEdit {
    /// Start of the replaced range, in bytes of the document.
    pub(crate) start: usize,
    /// Its end.
    pub(crate) end: usize,
    /// The new text.
    pub(crate) text: String,
}

impl From<Edit> for RecordedEdit {
    fn from(Edit { range, text }: Edit) -> RecordedEdit {
        RecordedEdit { start: range.start, end: range.end, text }
    }
}

impl From<RecordedEdit> for Edit {
    fn from(RecordedEdit { start, end, text }: RecordedEdit) -> Edit {
        Edit { range: start..end, text }
    }
}

/// Token counts.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct TokenUsage {
    #[serde(rename = "in")]
    input: u64,
    #[serde(rename = "out")]
    output: u64,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    cached: Option<u64>,
}

impl From<Usage> for TokenUsage {
    fn from(Usage { input, output, cached }: Usage) -> TokenUsage {
        TokenUsage { input, output, cached }
    }
}

impl From<TokenUsage> for Usage {
    fn from(TokenUsage { input, output, cached }: TokenUsage) -> Usage {
        Usage { input, output, cached }
    }
}

/// Names of the finish reasons.
mod finish {
    use serde::de::Error;
    use serde::{Deserialize, Deserializer, Serializer};

    use crate::FinishReason;

    const WORDS: [(&str, FinishReason); 3] = [
        ("stop", FinishReason::Stop),
        ("length", FinishReason::Length),
        ("complete", FinishReason::Complete),
    ];

    pub(super) fn serialize<S: Serializer>(finish: &FinishReason, serializer: S) -> Result<S::Ok, S::Error> {
        let word = WORDS.iter().find(|(_, other)| other == finish).map_or("stop", |(word, _)| word);
        serializer.serialize_str(word)
    }

    pub(super) fn deserialize<'de, D: Deserializer<'de>>(deserializer: D) -> Result<FinishReason, D::Error> {
        let word = String::deserialize(deserializer)?;
        let known = WORDS.iter().find(|(known, _)| *known == word).map(|(_, finish)| *finish);
        known.ok_or_else(|| D::Error::custom(format!("`finish` is stop, length or complete, not `{word}`")))
    }
}

/// A row as serialized.
#[derive(Serialize, Deserialize)]
struct CassetteLine {
    engine: String,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    hash: Option<String>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    request: Option<Value>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    server: Option<ServerReply>,
    #[serde(rename = "said", default, skip_serializing_if = "Option::is_none")]
    response: Option<EngineReply>,
    #[serde(rename = "lesson", default, skip_serializing_if = "Option::is_none")]
    quirk: Option<String>,
}

impl CassetteRow {
    /// Returns the row as a line, with its line end.
    pub(crate) fn to_line(&self) -> String {
        let line = match self {
            CassetteRow::Quirk { engine, quirk } => {
                CassetteLine { quirk: Some(quirk.clone()), ..blank(engine) }
            }
            CassetteRow::Reply { hash, engine, request, reply } => {
                let (server, response) = match reply.clone() {
                    RecordedReply::Server(reply) => (Some(reply), None),
                    RecordedReply::Engine(response) => (None, Some(response)),
                };
                let (hash, request) = (Some(hash.to_hex().to_string()), Some(request.clone()));
                CassetteLine { hash, request, server, response, ..blank(engine) }
            }
        };
        line_of(&line)
    }

    fn parse(line: &str) -> Result<CassetteRow, String> {
        let line: CassetteLine = serde_json::from_str(line).map_err(|error| error.to_string())?;
        let CassetteLine { engine, hash, request, server, response, quirk } = line;
        let reply = match (server, response, quirk) {
            (None, None, Some(quirk)) => return Ok(CassetteRow::Quirk { engine, quirk }),
            (Some(reply), None, None) => RecordedReply::Server(reply),
            (None, Some(response), None) => RecordedReply::Engine(response),
            _ => return Err("a row has one of `server`, `said` and `lesson`".to_owned()),
        };
        let hash = hash.ok_or("an answer has a `hash`")?;
        let hash = Hash::from_hex(hash).map_err(|error| format!("`hash` is none: {error}"))?;
        Ok(CassetteRow::Reply { hash, engine, request: request.unwrap_or_default(), reply })
    }
}

fn blank(engine: &str) -> CassetteLine {
    CassetteLine {
        engine: engine.to_owned(),
        hash: None,
        request: None,
        server: None,
        response: None,
        quirk: None,
    }
}

fn line_of(row: &impl Serialize) -> String {
    let mut line = serde_json::to_string(row).expect("rows have string keys and finite numbers");
    line.push('\n');
    line
}

/// Returns the header line.
pub(crate) fn header() -> String {
    line_of(&CassetteHeader { schema: SCHEMA.to_owned(), format: FORMAT.to_owned() })
}

/// Content of a cassette file.
#[derive(Debug, Default)]
pub(crate) struct CassetteContents {
    pub(crate) rows: Vec<CassetteRow>,
    /// Number of the incomplete line, from 1.
    pub(crate) torn_line: Option<usize>,
    /// Bytes before the incomplete line.
    complete_bytes: u64,
    /// Whether the last row lacks its line end.
    is_open: bool,
}

/// Reads a cassette.
pub(crate) fn read(path: &Path) -> Result<CassetteContents, CassetteError> {
    read_from(File::open(path).map_err(|reason| CassetteError::Read { path: path.to_owned(), reason })?, path)
}

fn read_from(file: impl Read, path: &Path) -> Result<CassetteContents, CassetteError> {
    let failed = |reason| CassetteError::Read { path: path.to_owned(), reason };
    let (mut reader, mut bytes) = (BufReader::new(file), Vec::new());
    let mut contents = CassetteContents::default();
    for line in 1.. {
        bytes.clear();
        (&mut reader).take(LINE_LIMIT as u64 + 1).read_until(b'\n', &mut bytes).map_err(failed)?;
        if bytes.is_empty() && line > 1 {
            break;
        }
        if line == 1 {
            check_header(&bytes, line, path)?.ok_or(CassetteError::NotACassette { path: path.to_owned() })?;
        } else if !bytes.trim_ascii().is_empty() && check_header(&bytes, line, path)?.is_none() {
            match parse(&bytes) {
                Ok(row) => contents.rows.push(row),
                Err(_) if !bytes.ends_with(b"\n") && bytes.len() <= LINE_LIMIT => {
                    contents.torn_line = Some(line);
                    break;
                }
                Err(reason) => return Err(CassetteError::Line { path: path.to_owned(), line, reason }),
            }
        }
        contents.complete_bytes += bytes.len() as u64;
        contents.is_open = !bytes.ends_with(b"\n");
    }
    Ok(contents)
}

fn parse(line: &[u8]) -> Result<CassetteRow, String> {
    if line.len() > LINE_LIMIT {
        return Err(format!("it has more than {} MB", LINE_LIMIT >> 20));
    }
    CassetteRow::parse(str::from_utf8(line).map_err(|_| "it is not UTF-8")?)
}

/// Parses a header; returns `None` if the line is not a header.
fn check_header(line: &[u8], number: usize, path: &Path) -> Result<Option<()>, CassetteError> {
    // Rows are longer than this, so they aren't parsed twice.
    const LONGEST: usize = 1024;
    let header: Option<CassetteHeader> =
        Some(line).filter(|line| line.len() <= LONGEST).and_then(|line| serde_json::from_slice(line).ok());
    let Some(header) = header.filter(|header| header.format == FORMAT) else { return Ok(None) };
    let major = |version: &str| version.split('.').next().map(str::to_owned);
    if major(&header.schema) == major(SCHEMA) {
        return Ok(Some(()));
    }
    Err(CassetteError::Version { path: path.to_owned(), line: number, version: header.schema })
}

/// Appends to a cassette until the first failure. Holds the file lock.
pub(crate) struct CassetteWriter {
    path: PathBuf,
    /// Locked until closed.
    file: File,
    failure: Option<CassetteError>,
}

impl CassetteWriter {
    /// Opens or creates a cassette for appending. Truncates an incomplete last line.
    pub(crate) fn open(path: &Path) -> Result<(CassetteContents, CassetteWriter), CassetteError> {
        let unwritable = |reason| CassetteError::Write { path: path.to_owned(), reason };
        let mut options = OpenOptions::new();
        options.read(true).write(true).create(true).truncate(false);
        let file = private_files::open(&options, path).map_err(unwritable)?;
        // Some file systems don't support locks; there, two concurrent writers are the user's responsibility.
        if matches!(file.try_lock(), Err(TryLockError::WouldBlock)) {
            return Err(CassetteError::Busy { path: path.to_owned() });
        }
        let mut recorder = CassetteWriter { path: path.to_owned(), file, failure: None };
        let is_new = recorder.file.metadata().map_err(unwritable)?.len() == 0;
        let contents = if is_new { CassetteContents::default() } else { read_from(&recorder.file, path)? };
        recorder.file.set_len(contents.complete_bytes).map_err(unwritable)?;
        let first = if is_new { header() } else { "\n".repeat(usize::from(contents.is_open)) };
        recorder.write(&first).map_err(unwritable)?;
        Ok((contents, recorder))
    }

    /// Appends a row; returns `false` if this or an earlier write failed.
    pub(crate) fn append(&mut self, row: &CassetteRow) -> bool {
        if self.failure.is_none()
            && let Err(reason) = self.write(&row.to_line())
        {
            self.failure = Some(CassetteError::Write { path: self.path.clone(), reason });
        }
        self.failure.is_none()
    }

    /// Returns the error that stopped recording.
    pub(crate) fn failure(&self) -> Option<&CassetteError> {
        self.failure.as_ref()
    }

    /// Appends whole lines. Removes a partial write on failure.
    fn write(&mut self, lines: &str) -> io::Result<()> {
        let before = self.file.seek(SeekFrom::End(0))?;
        self.file.write_all(lines.as_bytes()).inspect_err(|_| {
            // Best effort: the write error is reported, and readers accept an incomplete line.
            let _ = self.file.set_len(before);
        })
    }
}

/// Writes a complete cassette. Fails if the file exists.
pub(crate) fn write_new(path: &Path, rows: &[CassetteRow]) -> Result<(), CassetteError> {
    let text: String = std::iter::once(header()).chain(rows.iter().map(CassetteRow::to_line)).collect();
    private_files::create_atomically(path, text.as_bytes())
        .map_err(|reason| CassetteError::Write { path: path.to_owned(), reason })
}
