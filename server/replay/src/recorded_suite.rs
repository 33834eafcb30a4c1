//! The suite of the cases that a developer recorded in a workspace, one after the other.
//!
//! A recorded case cannot be had again, so nothing that stands in the file is ever changed or cut off: cases are added at the end,
//! one whole line each, and a line that cannot be read is reported and left where it is, while the others are used. Half a line
//! that a killed process left at the end is ended before the next case is added, and reported from then on.

//!
//! Adding a case costs the same however long the suite is: what was read once is kept as a [`RecordedCase`] each, without the file's
//! texts, and only what was appended since is read. A file that was replaced, cut off or edited is read again as a whole.

use std::collections::{HashMap, HashSet};
use std::fs::{self, File};
use std::io::{self, BufRead, BufReader, ErrorKind, Read, Seek, SeekFrom};
use std::ops::Range;
use std::path::{Path, PathBuf};
use std::str;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::thread;
use std::time::{Duration, Instant};

use cases::{BlockKind, Case, CaseId, ParseError, Scenario, TruthLocator, Variant, parse_line, to_line};

use crate::ReplayError;
use crate::file_io::{self, AppendFile, FileStamp};
use crate::suite::check_case;

const CASES: &str = "cases.jsonl";
const LOCK: &str = "lock";

/// Adding a case takes milliseconds; who holds the lock for longer hangs.
const LOCK_TIMEOUT: Duration = Duration::from_secs(2);
/// Time between two tries to get the lock.
const LOCK_POLL_INTERVAL: Duration = Duration::from_millis(5);
/// A file goes on from where it was read if so many bytes before that are as they were: longer than what two cases share at their ends.
const TAIL_BYTES: usize = 4 << 10;

/// The suite of the cases recorded in one workspace; several servers may use it at once. Clones share what was read.
#[derive(Clone, Debug)]
pub struct RecordedSuite {
    folder: PathBuf,
    name: String,
    read: Arc<Mutex<SuiteCache>>,
}

/// What is kept in memory of a recorded case: not its texts but what they were cut from, however large that file is.
#[derive(Clone, Debug)]
pub struct RecordedCase {
    /// Its identity.
    pub id: CaseId,
    /// The situation of its cursor.
    pub scenario: Scenario,
    /// How it was cut.
    pub variant: Option<Variant>,
    /// The block it was cut from.
    pub block_kind: Option<BlockKind>,
    /// The language's name.
    pub language: String,
    /// Its file, relative to the workspace.
    pub path: String,
    /// Line of its cursor, 0-based.
    pub line: u32,
    /// What tells its place.
    pub locator: TruthLocator,
    /// Its line in the suite, in bytes.
    row: Range<u64>,
}

/// A case as it stands in the suite after it was added.
#[derive(Clone, Debug, PartialEq)]
pub struct AddedCase {
    /// The case without its secrets, under the id that it has without them.
    pub case: Case,
    /// False if the suite held it already.
    pub is_new: bool,
}

/// What was read of the file by now.
#[derive(Debug, Default)]
struct SuiteCache {
    stamp: FileStamp,
    /// How often it was read from its beginning.
    generation: u64,
    /// What the file ended with, up to `end`.
    tail: Vec<u8>,
    /// Where its whole lines end, in bytes.
    end: u64,
    lines: usize,
    cases: Vec<Arc<RecordedCase>>,
    ids: HashMap<CaseId, usize>,
    paths: HashMap<String, Vec<usize>>,
    /// The paths in the order of their first cases.
    in_order: Vec<String>,
    problems: Vec<String>,
}

impl RecordedSuite {
    pub(crate) fn new(folder: PathBuf, name: String) -> RecordedSuite {
        RecordedSuite { folder, name, read: Arc::default() }
    }

    /// What its runs are called.
    pub fn name(&self) -> &str {
        &self.name
    }

    /// The file.
    pub fn path(&self) -> PathBuf {
        self.folder.join(CASES)
    }

    /// The cases that can be asked, in the order in which they were recorded; none where there is no file. Of cases with one id the
    /// first one counts.
    pub fn cases(&self) -> Result<Vec<Arc<RecordedCase>>, ReplayError> {
        Ok(self.current()?.cases.clone())
    }

    /// The cases of the file at `path`.
    pub fn of_file(&self, path: &str) -> Result<Vec<Arc<RecordedCase>>, ReplayError> {
        let read = self.current()?;
        let numbers = read.paths.get(path).into_iter().flatten();
        Ok(numbers.filter_map(|&number| read.cases.get(number).cloned()).collect())
    }

    /// The files that cases were recorded in, in the order of their first cases, without the first `count` ones.
    pub fn paths_from(&self, count: usize) -> Result<Vec<String>, ReplayError> {
        Ok(self.current()?.in_order.get(count..).unwrap_or_default().to_vec())
    }

    /// The case with this identity.
    pub fn case(&self, id: &str) -> Result<Option<Arc<RecordedCase>>, ReplayError> {
        let read = self.current()?;
        Ok(read.ids.get(id).and_then(|&number| read.cases.get(number).cloned()))
    }

    /// Lines that hold no case that can be asked, each with its remedy. They may quote code.
    pub fn problems(&self) -> Result<Vec<String>, ReplayError> {
        Ok(self.current()?.problems.clone())
    }

    /// Another number whenever what was read before is not the beginning of the suite any more.
    pub fn generation(&self) -> Result<u64, ReplayError> {
        Ok(self.current()?.generation)
    }

    /// How many cases there are.
    pub fn count(&self) -> Result<usize, ReplayError> {
        Ok(self.current()?.cases.len())
    }

    /// A case with all its texts.
    pub fn load(&self, case: &RecordedCase) -> Result<Case, ReplayError> {
        let path = self.path();
        if let Some(loaded) = load_row(&path, case) {
            return Ok(loaded);
        }
        // The file was replaced since.
        let mut read = self.state();
        read.reset();
        read.catch_up(&path)?;
        let found = read.ids.get(&case.id).and_then(|&number| read.cases.get(number));
        let gone = || ReplayError::Read { path: path.clone(), reason: io::Error::from(ErrorKind::NotFound) };
        found.and_then(|case| load_row(&path, case)).ok_or_else(gone)
    }

    /// Adds a case without its secrets, unless the suite holds it.
    pub fn add(&self, mut case: Case) -> Result<AddedCase, ReplayError> {
        cases::redact_case(&mut case);
        case.id = case.compute_id();
        let path = self.path();
        let failed = |path: &Path, reason| ReplayError::Record { path: path.to_owned(), reason };
        // With those above it that are Ghostbench's: the one of all such suites, and the data folder.
        let made = self.folder.ancestors().take(3).try_for_each(private_files::own_folder);
        made.map_err(|reason| failed(&self.folder, reason))?;
        let mut read = self.state();
        let _lock = self.lock()?;
        private_files::restrict(&path).map_err(|reason| failed(&path, reason))?;
        read.catch_up(&path)?;
        if read.contains(&path, &case.id)? {
            return Ok(AddedCase { case, is_new: false });
        }
        let is_read = fs::metadata(&path).map_or(true, |metadata| metadata.len() == read.end);
        let is_torn = !is_read || read.tail.last().is_some_and(|&last| last != b'\n');
        let lines = [if is_torn { "\n" } else { "" }, &to_line(&case)].concat();
        append(&path, &lines).map_err(|reason| failed(&path, reason))?;
        read.catch_up(&path)?;
        Ok(AddedCase { case, is_new: true })
    }

    fn lock(&self) -> Result<File, ReplayError> {
        let path = self.folder.join(LOCK);
        let deadline = Instant::now() + LOCK_TIMEOUT;
        loop {
            match file_io::lock(&path) {
                Ok(Some(lock)) => return Ok(lock),
                Ok(None) if Instant::now() < deadline => thread::sleep(LOCK_POLL_INTERVAL),
                Ok(None) => return Err(ReplayError::Locked { path: self.folder.clone() }),
                Err(reason) => return Err(ReplayError::Record { path, reason }),
            }
        }
    }

    /// What is in the file now.
    fn current(&self) -> Result<MutexGuard<'_, SuiteCache>, ReplayError> {
        let mut read = self.state();
        read.catch_up(&self.path())?;
        Ok(read)
    }

    fn state(&self) -> MutexGuard<'_, SuiteCache> {
        self.read.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl SuiteCache {
    /// Reads what is new in the file.
    fn catch_up(&mut self, path: &Path) -> Result<(), ReplayError> {
        let stamp = FileStamp::of(path);
        if stamp == self.stamp {
            return Ok(());
        }
        self.read_appended(path, stamp).map_err(|reason| ReplayError::Read { path: path.to_owned(), reason })
    }

    /// Forgets what was read.
    fn reset(&mut self) {
        *self = SuiteCache { generation: self.generation + 1, ..SuiteCache::default() };
    }

    fn read_appended(&mut self, path: &Path, stamp: FileStamp) -> io::Result<()> {
        let mut file = match File::open(path) {
            Err(reason) if reason.kind() == ErrorKind::NotFound => {
                self.reset();
                self.stamp = stamp;
                return Ok(());
            }
            opened => opened?,
        };
        if !self.is_continued(&mut file)? {
            self.reset();
        }
        file.seek(SeekFrom::Start(self.end))?;
        let mut reader = BufReader::new(file);
        let mut line = Vec::new();
        while reader.read_until(b'\n', &mut line)? > 0 {
            let is_whole = line.ends_with(b"\n");
            // Another process may be writing it right now; it is a row if it can be read.
            if !self.take_line(path, &line, is_whole) {
                break;
            }
            line.clear();
        }
        self.stamp = stamp;
        Ok(())
    }

    /// Whether the file goes on from where it was read. One that was changed and did not grow was edited.
    fn is_continued(&self, file: &mut File) -> io::Result<bool> {
        if self.end == 0 || file.metadata()?.len() <= self.end {
            return Ok(false);
        }
        let mut tail = vec![0; self.tail.len()];
        file.seek(SeekFrom::Start(self.end - self.tail.len() as u64))?;
        file.read_exact(&mut tail)?;
        Ok(tail == self.tail)
    }

    /// Takes in a line; false if it is none yet.
    fn take_line(&mut self, path: &Path, line: &[u8], is_whole: bool) -> bool {
        let number = self.lines + 1;
        match parse_row(path, line, number, &self.ids) {
            Err(_) if !is_whole => return false,
            Err(problem) => self.problems.push(problem.to_string()),
            Ok(None) => {}
            Ok(Some(case)) => self.push(&case, self.end..self.end + line.len() as u64),
        }
        self.end += line.len() as u64;
        // What comes next ends a last row without a line end; it adds no line.
        self.lines += usize::from(is_whole);
        let kept = line.len().saturating_sub(TAIL_BYTES);
        self.tail.extend(&line[kept..]);
        self.tail.drain(..self.tail.len().saturating_sub(TAIL_BYTES));
        true
    }

    fn push(&mut self, case: &Case, row: Range<u64>) {
        let number = self.cases.len();
        self.ids.insert(case.id.clone(), number);
        let of_file = self.paths.entry(case.path.clone()).or_insert_with(|| {
            self.in_order.push(case.path.clone());
            Vec::new()
        });
        of_file.push(number);
        self.cases.push(Arc::new(RecordedCase {
            id: case.id.clone(),
            scenario: case.scenario,
            variant: case.variant,
            block_kind: case.block_kind,
            language: case.language.clone(),
            path: case.path.clone(),
            line: case.line,
            locator: case.truth_locator(),
            row,
        }));
    }

    /// Whether the file holds a case, as a look at its line proves: it may have been edited without a trace.
    fn contains(&mut self, path: &Path, id: &str) -> Result<bool, ReplayError> {
        let is_there = |read: &SuiteCache| {
            let case = read.ids.get(id).and_then(|&number| read.cases.get(number))?;
            Some(load_row(path, case).is_some())
        };
        if is_there(self) == Some(false) {
            self.reset();
            self.catch_up(path)?;
        }
        Ok(is_there(self) == Some(true))
    }
}

/// The case at its line; `None` if another one is there by now.
fn load_row(path: &Path, case: &RecordedCase) -> Option<Case> {
    let mut file = File::open(path).ok()?;
    file.seek(SeekFrom::Start(case.row.start)).ok()?;
    let mut line = String::new();
    file.take(case.row.end - case.row.start).read_to_string(&mut line).ok()?;
    parse_line::<Case>(&line, 1).ok().filter(|loaded| loaded.id == case.id)
}

fn append(path: &Path, lines: &str) -> io::Result<()> {
    let mut file = AppendFile::open(path)?;
    file.append(lines)?;
    // Unlike an answer, it cannot be asked for again.
    file.sync()
}

/// The case in line `number` (1-based); `None` where the line is blank.
fn parse_row(
    path: &Path,
    line: &[u8],
    number: usize,
    ids: &HashMap<CaseId, usize>,
) -> Result<Option<Case>, ReplayError> {
    let in_line = |problem| ReplayError::Row { path: path.to_owned(), problem };
    let text = str::from_utf8(line).map_err(|error| {
        let column = error.valid_up_to() + 1;
        in_line(ParseError { line: number, column, message: "not valid UTF-8".to_owned() })
    })?;
    if text.trim().is_empty() {
        return Ok(None);
    }
    let case = parse_line(text, number).map_err(in_line)?;
    check_case(path, number, &case, &mut HashSet::new())?;
    if ids.contains_key(&case.id) {
        return Err(ReplayError::DuplicateCase { path: path.to_owned(), id: case.id });
    }
    Ok(Some(case))
}
