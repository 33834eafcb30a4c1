//! The suite of the cases that a developer recorded in a workspace, one after the other.
//!
//! A recorded case cannot be had again, so nothing that stands in the file is ever changed or cut off: cases are added at the end,
//! one whole line each, and a line that cannot be read is reported and left where it is, while the others are used. Half a line
//! that a killed process left at the end is ended before the next case is added, and reported from then on.

use std::collections::HashSet;
use std::fs::File;
use std::io;
use std::path::{Path, PathBuf};
use std::str;
use std::thread;
use std::time::{Duration, Instant};

use cases::{Case, ParseError, parse_line, to_line};

use crate::Error;
use crate::files::{self, FileStamp, RowFile, read_bytes};
use crate::suite::check;

const CASES: &str = "cases.jsonl";
const LOCK: &str = "lock";

/// Adding a case takes milliseconds; who holds the lock for longer hangs.
const PATIENCE: Duration = Duration::from_secs(2);
/// Time between two tries to get the lock.
const POLL: Duration = Duration::from_millis(5);

/// The suite of the cases recorded in one workspace; several servers may use it at once.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct RecordedSuite {
    folder: PathBuf,
    name: String,
}

/// What a recorded suite holds.
#[derive(Debug, Default)]
pub struct Recorded {
    /// The cases that can be asked, in the order in which they were recorded.
    pub cases: Vec<Case>,
    /// Lines that hold no such case, each with its remedy.
    pub problems: Vec<Error>,
}

/// A case as it stands in the suite after it was added.
#[derive(Clone, Debug, PartialEq)]
pub struct Added {
    /// The case without its secrets, under the id that it has without them.
    pub case: Case,
    /// False if the suite held it already.
    pub is_new: bool,
}

impl RecordedSuite {
    pub(crate) fn new(folder: PathBuf, name: String) -> RecordedSuite {
        RecordedSuite { folder, name }
    }

    /// What its runs are called.
    pub fn name(&self) -> &str {
        &self.name
    }

    /// The file.
    pub fn path(&self) -> PathBuf {
        self.folder.join(CASES)
    }

    /// What tells whether the file is as it was. Take it before reading.
    pub fn stamp(&self) -> FileStamp {
        FileStamp::of(&self.path())
    }

    /// Reads the cases; there are none where there is no file. Of cases with one id the first one counts.
    pub fn read(&self) -> Result<Recorded, Error> {
        let path = self.path();
        Ok(parse(&path, &read_bytes(&path)?))
    }

    /// Adds a case without its secrets, unless the suite holds it.
    pub fn add(&self, mut case: Case) -> Result<Added, Error> {
        cases::redact_case(&mut case);
        case.id = case.compute_id();
        let path = self.path();
        let failed = |path: &Path, reason| Error::Record { path: path.to_owned(), reason };
        // With those above it that are Ghostbench's: the one of all such suites, and the data folder.
        let made = self.folder.ancestors().take(3).try_for_each(private_files::own_folder);
        made.map_err(|reason| failed(&self.folder, reason))?;
        let _lock = self.lock()?;
        private_files::restrict(&path).map_err(|reason| failed(&path, reason))?;
        let bytes = read_bytes(&path)?;
        if parse(&path, &bytes).cases.iter().any(|recorded| recorded.id == case.id) {
            return Ok(Added { case, is_new: false });
        }
        let is_torn = bytes.last().is_some_and(|&last| last != b'\n');
        let lines = [if is_torn { "\n" } else { "" }, &to_line(&case)].concat();
        append(&path, &lines).map_err(|reason| failed(&path, reason))?;
        Ok(Added { case, is_new: true })
    }

    fn lock(&self) -> Result<File, Error> {
        let path = self.folder.join(LOCK);
        let deadline = Instant::now() + PATIENCE;
        loop {
            match files::lock(&path) {
                Ok(Some(lock)) => return Ok(lock),
                Ok(None) if Instant::now() < deadline => thread::sleep(POLL),
                Ok(None) => return Err(Error::Busy { path: self.folder.clone() }),
                Err(reason) => return Err(Error::Record { path, reason }),
            }
        }
    }
}

fn append(path: &Path, lines: &str) -> io::Result<()> {
    let mut file = RowFile::open(path)?;
    file.append(lines)?;
    // Unlike an answer, it cannot be asked for again.
    file.sync()
}

fn parse(path: &Path, bytes: &[u8]) -> Recorded {
    let mut recorded = Recorded::default();
    let mut ids = HashSet::new();
    for (index, line) in bytes.split_inclusive(|&byte| byte == b'\n').enumerate() {
        match row(path, line, index + 1, &mut ids) {
            Ok(case) => recorded.cases.extend(case),
            // Another process may be writing it right now.
            Err(_) if !line.ends_with(b"\n") => {}
            Err(problem) => recorded.problems.push(problem),
        }
    }
    recorded
}

/// The case in line `number` (1-based); `None` where the line is blank.
fn row(path: &Path, line: &[u8], number: usize, ids: &mut HashSet<String>) -> Result<Option<Case>, Error> {
    let in_line = |problem| Error::Row { path: path.to_owned(), problem };
    let text = str::from_utf8(line).map_err(|error| {
        let column = error.valid_up_to() + 1;
        in_line(ParseError { line: number, column, message: "not valid UTF-8".to_owned() })
    })?;
    if text.trim().is_empty() {
        return Ok(None);
    }
    let case = parse_line(text, number).map_err(in_line)?;
    check(path, &case, ids)?;
    Ok(Some(case))
}
