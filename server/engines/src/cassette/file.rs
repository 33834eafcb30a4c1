//! The file of a cassette: JSON Lines, a header first, then a row for each answer. `docs/formats.md` documents it.
//!
//! Rows are appended as whole lines by one process at a time and never rewritten. A killed process tears at most the last line, which
//! the next reader passes over and the next writer cuts off; any other line that is no row is an error, because what it held is missing.
//! Headers may stand between rows, so that files can be joined by writing one behind the other.

use std::collections::BTreeMap;
use std::fs::{self, File, OpenOptions, TryLockError};
use std::io::{self, BufRead, BufReader, Read, Seek, SeekFrom, Write};
use std::path::{Path, PathBuf};

use blake3::Hash;
use serde::{Deserialize, Serialize};
use serde_json::Value;
use thiserror::Error;

use crate::{Finish, Usage};

/// What the header calls the format.
const FORMAT: &str = "ghostbench-cassette";

/// Rows with new fields have a higher minor version, rows that mean something else a higher major one.
const SCHEMA: &str = "1.0";

/// Longest line, bytes: the longest answer that is read, with everything in it escaped as JSON does.
const LINE_LIMIT: usize = 128 << 20;

/// Why a file is not used as a cassette.
#[derive(Debug, Error)]
pub enum CassetteError {
    /// It cannot be read.
    #[error("cannot read the cassette {}: {reason}{}", path.display(), absence(reason))]
    Read {
        /// The file.
        path: PathBuf,
        /// What the system says.
        reason: io::Error,
    },
    /// It cannot be written.
    #[error("cannot write the cassette {}: {reason}", path.display())]
    Write {
        /// The file.
        path: PathBuf,
        /// What the system says.
        reason: io::Error,
    },
    /// Another process records into it.
    #[error("another process records into {}; wait for it, or replay with `--offline`", path.display())]
    Busy {
        /// The file.
        path: PathBuf,
    },
    /// It is something else.
    #[error("{} is no cassette: its first line is no header; name another file", path.display())]
    NotACassette {
        /// The file.
        path: PathBuf,
    },
    /// It is of another time.
    #[error("{} line {line}: cassettes of version {version} are not understood here; {}", path.display(), newer(version))]
    Version {
        /// The file.
        path: PathBuf,
        /// The header's line, from 1.
        line: usize,
        /// What it says.
        version: String,
    },
    /// A line of it is no row.
    #[error("{} line {line}: {reason}; remove the line, and record its answer again", path.display())]
    Line {
        /// The file.
        path: PathBuf,
        /// The line, from 1.
        line: usize,
        /// What is wrong with it.
        reason: String,
    },
}

fn absence(reason: &io::Error) -> &'static str {
    match reason.kind() {
        io::ErrorKind::NotFound => "; record it by running once without `--offline`",
        _ => "",
    }
}

fn newer(version: &str) -> &'static str {
    let major = |version: &str| version.split('.').next().and_then(|major| major.parse::<u32>().ok());
    if major(version) > major(SCHEMA) { "install a newer Ghostbench" } else { "record it again" }
}

#[derive(Serialize, Deserialize)]
struct Header {
    schema: String,
    format: String,
}

/// What stands in a line.
#[derive(Debug)]
pub(crate) enum Row {
    /// An answer.
    Reply {
        /// Of the request's canonical form.
        hash: Hash,
        /// The engine's name.
        engine: String,
        /// What people may see of the request.
        request: Value,
        /// The answer.
        reply: Recorded,
    },
    /// What was learnt about an engine.
    Lesson {
        /// The engine's name.
        engine: String,
        /// The lesson, as the engine calls it.
        lesson: String,
    },
}

/// An answer, as it came.
#[derive(Clone, Debug, PartialEq)]
pub(crate) enum Recorded {
    /// From a server.
    Server(ServerReply),
    /// As text, from a program or out of a file of answers.
    Said(Said),
}

/// What a server sent.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub(crate) struct ServerReply {
    pub(crate) status: u16,
    /// Those that say how the rest is to be read.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub(crate) headers: BTreeMap<String, String>,
    /// The body. No character is parted.
    pub(crate) pieces: Vec<Piece>,
    /// Whether more would have come, but was not needed.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub(crate) stopped: bool,
}

/// What an engine said.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub(crate) struct Said {
    pub(crate) pieces: Vec<Piece>,
    #[serde(with = "finish")]
    pub(crate) finish: Finish,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(crate) tokens: Option<Tokens>,
}

/// A piece of an answer.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub(crate) struct Piece {
    /// When it came: milliseconds after the request; absent where nobody knows.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(crate) ms: Option<f64>,
    pub(crate) text: String,
}

/// Counts of tokens.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct Tokens {
    #[serde(rename = "in")]
    input: u64,
    #[serde(rename = "out")]
    output: u64,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    cached: Option<u64>,
}

impl From<Usage> for Tokens {
    fn from(Usage { input, output, cached }: Usage) -> Tokens {
        Tokens { input, output, cached }
    }
}

impl From<Tokens> for Usage {
    fn from(Tokens { input, output, cached }: Tokens) -> Usage {
        Usage { input, output, cached }
    }
}

/// The words for the ends of an answer.
mod finish {
    use serde::de::Error;
    use serde::{Deserialize, Deserializer, Serializer};

    use crate::Finish;

    const WORDS: [(&str, Finish); 3] =
        [("stop", Finish::Stop), ("length", Finish::Length), ("complete", Finish::Complete)];

    pub(super) fn serialize<S: Serializer>(finish: &Finish, serializer: S) -> Result<S::Ok, S::Error> {
        let word = WORDS.iter().find(|(_, other)| other == finish).map_or("stop", |(word, _)| word);
        serializer.serialize_str(word)
    }

    pub(super) fn deserialize<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Finish, D::Error> {
        let word = String::deserialize(deserializer)?;
        let known = WORDS.iter().find(|(known, _)| *known == word).map(|(_, finish)| *finish);
        known.ok_or_else(|| D::Error::custom(format!("`finish` is stop, length or complete, not `{word}`")))
    }
}

/// A row as it is written.
#[derive(Serialize, Deserialize)]
struct Line {
    engine: String,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    hash: Option<String>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    request: Option<Value>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    server: Option<ServerReply>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    said: Option<Said>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    lesson: Option<String>,
}

impl Row {
    /// The row as a line, its end included.
    pub(crate) fn to_line(&self) -> String {
        let line = match self {
            Row::Lesson { engine, lesson } => Line { lesson: Some(lesson.clone()), ..blank(engine) },
            Row::Reply { hash, engine, request, reply } => {
                let (server, said) = match reply.clone() {
                    Recorded::Server(reply) => (Some(reply), None),
                    Recorded::Said(said) => (None, Some(said)),
                };
                let (hash, request) = (Some(hash.to_hex().to_string()), Some(request.clone()));
                Line { hash, request, server, said, ..blank(engine) }
            }
        };
        line_of(&line)
    }

    fn parse(line: &str) -> Result<Row, String> {
        let line: Line = serde_json::from_str(line).map_err(|error| error.to_string())?;
        let Line { engine, hash, request, server, said, lesson } = line;
        let reply = match (server, said, lesson) {
            (None, None, Some(lesson)) => return Ok(Row::Lesson { engine, lesson }),
            (Some(reply), None, None) => Recorded::Server(reply),
            (None, Some(said), None) => Recorded::Said(said),
            _ => return Err("a row has one of `server`, `said` and `lesson`".to_owned()),
        };
        let hash = hash.ok_or("an answer has a `hash`")?;
        let hash = Hash::from_hex(hash).map_err(|error| format!("`hash` is none: {error}"))?;
        Ok(Row::Reply { hash, engine, request: request.unwrap_or_default(), reply })
    }
}

fn blank(engine: &str) -> Line {
    Line { engine: engine.to_owned(), hash: None, request: None, server: None, said: None, lesson: None }
}

fn line_of(row: &impl Serialize) -> String {
    let mut line = serde_json::to_string(row).expect("rows have string keys and finite numbers");
    line.push('\n');
    line
}

/// The line that every cassette begins with.
pub(crate) fn header() -> String {
    line_of(&Header { schema: SCHEMA.to_owned(), format: FORMAT.to_owned() })
}

/// What a file holds.
#[derive(Debug, Default)]
pub(crate) struct Contents {
    pub(crate) rows: Vec<Row>,
    /// The line, from 1, that was torn.
    pub(crate) torn_line: Option<usize>,
    /// Bytes before it.
    whole: u64,
    /// Whether the last row lacks its line end.
    is_open: bool,
}

/// Reads a cassette.
pub(crate) fn read(path: &Path) -> Result<Contents, CassetteError> {
    let failed = |reason| CassetteError::Read { path: path.to_owned(), reason };
    read_from(File::open(path).map_err(failed)?, path)
}

fn read_from(file: impl Read, path: &Path) -> Result<Contents, CassetteError> {
    let failed = |reason| CassetteError::Read { path: path.to_owned(), reason };
    let (mut reader, mut bytes) = (BufReader::new(file), Vec::new());
    let mut contents = Contents::default();
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
        contents.whole += bytes.len() as u64;
        contents.is_open = !bytes.ends_with(b"\n");
    }
    Ok(contents)
}

fn parse(line: &[u8]) -> Result<Row, String> {
    if line.len() > LINE_LIMIT {
        return Err(format!("it has more than {} MB", LINE_LIMIT >> 20));
    }
    Row::parse(str::from_utf8(line).map_err(|_| "it is no UTF-8")?)
}

/// Some, if the line is a header.
fn check_header(line: &[u8], number: usize, path: &Path) -> Result<Option<()>, CassetteError> {
    // A row is never so short, and need not be read twice.
    const LONGEST: usize = 1024;
    let header: Option<Header> =
        Some(line).filter(|line| line.len() <= LONGEST).and_then(|line| serde_json::from_slice(line).ok());
    let Some(header) = header.filter(|header| header.format == FORMAT) else { return Ok(None) };
    let major = |version: &str| version.split('.').next().map(str::to_owned);
    if major(&header.schema) == major(SCHEMA) {
        return Ok(Some(()));
    }
    Err(CassetteError::Version { path: path.to_owned(), line: number, version: header.schema })
}

/// Writes to the end of a cassette, for as long as that works. Nobody else does meanwhile.
pub(crate) struct Recorder {
    path: PathBuf,
    /// Locked until it is closed.
    file: File,
    failure: Option<CassetteError>,
}

impl Recorder {
    /// Opens a cassette to go on with it, and makes one where there is none. What was torn is cut off.
    pub(crate) fn open(path: &Path) -> Result<(Contents, Recorder), CassetteError> {
        let unwritable = |reason| CassetteError::Write { path: path.to_owned(), reason };
        let mut options = OpenOptions::new();
        options.read(true).write(true).create(true).truncate(false);
        let file = private_files::open(&options, path).map_err(unwritable)?;
        // File systems without locks exist; two writers on one of them are the user's own doing.
        if matches!(file.try_lock(), Err(TryLockError::WouldBlock)) {
            return Err(CassetteError::Busy { path: path.to_owned() });
        }
        let mut recorder = Recorder { path: path.to_owned(), file, failure: None };
        let is_new = recorder.file.metadata().map_err(unwritable)?.len() == 0;
        let contents = if is_new { Contents::default() } else { read_from(&recorder.file, path)? };
        recorder.file.set_len(contents.whole).map_err(unwritable)?;
        let first = if is_new { header() } else { "\n".repeat(usize::from(contents.is_open)) };
        recorder.write(&first).map_err(unwritable)?;
        Ok((contents, recorder))
    }

    /// Adds a row; `false` if that failed, now or before.
    pub(crate) fn append(&mut self, row: &Row) -> bool {
        if self.failure.is_none()
            && let Err(reason) = self.write(&row.to_line())
        {
            self.failure = Some(CassetteError::Write { path: self.path.clone(), reason });
        }
        self.failure.is_none()
    }

    /// Why nothing is written any more.
    pub(crate) fn failure(&self) -> Option<&CassetteError> {
        self.failure.as_ref()
    }

    /// Adds whole lines. When it fails, nothing of them stays.
    fn write(&mut self, lines: &str) -> io::Result<()> {
        let before = self.file.seek(SeekFrom::End(0))?;
        self.file.write_all(lines.as_bytes()).inspect_err(|_| {
            // Best effort: the error that is reported is the one that matters, and readers cope with half a line.
            let _ = self.file.set_len(before);
        })
    }
}

/// Writes a cassette as a whole; an existing file stays as it is, which is an error.
pub(crate) fn write_new(path: &Path, rows: &[Row]) -> Result<(), CassetteError> {
    let failed = |reason| CassetteError::Write { path: path.to_owned(), reason };
    let mut file =
        private_files::open(OpenOptions::new().write(true).create_new(true), path).map_err(failed)?;
    let text: String = std::iter::once(header()).chain(rows.iter().map(Row::to_line)).collect();
    file.write_all(text.as_bytes()).map_err(|reason| {
        // Best effort: half a cassette is worse than none.
        let _ = fs::remove_file(path);
        failed(reason)
    })
}
