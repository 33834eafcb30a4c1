//! The suite of the cases that a developer recorded in a workspace.
//!
//! A recorded case cannot be recreated, so existing lines are never changed or truncated: cases are appended,
//! one whole line each. Invalid lines are reported and kept, and the other cases remain usable. If a killed process left an
//! incomplete last line, the next addition first ends that line, which is reported from then on.
//!
//! The cost of adding a case does not depend on the length of the suite: parsed cases are kept in memory as [`RecordedCase`]s
//! without the file's texts, and only appended lines are read. A file that was replaced, truncated or edited is read again
//! completely.
//!
//! A suite that the user opens, such as an imported one, is read in the same way and never written. Its rows come from others, so
//! that their size and number are bounded, and a case whose path leads out of the workspace is a problem of its line.

use std::collections::HashMap;
use std::fs::{self, File};
use std::io::{self, BufRead, BufReader, ErrorKind, Read, Seek, SeekFrom};
use std::ops::Range;
use std::path::{Path, PathBuf};
use std::str;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::thread;
use std::time::{Duration, Instant};

use cases::{BlockKind, Case, CaseId, ParseError, Task, TruthLocator, parse_line, to_line};

use crate::ReplayError;
use crate::file_io::{self, AppendFile, FileStamp};
use crate::suite::check_case;

const LOCK: &str = "lock";

/// Timeout for the lock. Adding a case takes milliseconds, so a process that holds the lock for longer hangs.
const LOCK_TIMEOUT: Duration = Duration::from_secs(2);
/// Interval between two attempts to lock.
const LOCK_POLL_INTERVAL: Duration = Duration::from_millis(5);
/// Limit of a line in bytes: larger than the rows of all public benchmarks.
const MAX_LINE_BYTES: u64 = 64 << 20;
/// Limit of cases; further ones are reported as a problem. Their locators take some 100 MB.
const MAX_CASES: usize = 50_000;
/// Limit of problems that are kept.
const MAX_PROBLEMS: usize = 100;
/// Bytes compared before the end of the part already read, to detect edits: more than the common end of two cases.
const TAIL_BYTES: usize = 4 << 10;

/// The suite of the cases recorded in one workspace; several servers may use it concurrently. Clones share their memory.
#[derive(Clone, Debug)]
pub struct RecordedSuite {
    file: PathBuf,
    name: String,
    read: Arc<Mutex<SuiteCache>>,
}

/// The part of a recorded case that is kept in memory: a locator of its truth instead of its texts, independent of the file's
/// size.
#[derive(Clone, Debug)]
pub struct RecordedCase {
    /// Its identity.
    pub id: CaseId,
    /// Its task.
    pub task: Task,
    /// Kind of the cut block.
    pub block_kind: Option<BlockKind>,
    /// The language's name.
    pub language: String,
    /// Its file, relative to the workspace.
    pub path: String,
    /// Line of its cursor, 0-based.
    pub line: u32,
    /// Locates its truth.
    pub locator: TruthLocator,
    /// Byte range of its line in the suite.
    row: Range<u64>,
}

/// Result of adding a case.
#[derive(Clone, Debug, PartialEq)]
pub struct AddedCase {
    /// The stored case: without secrets, and with the id of its masked texts.
    pub case: Case,
    /// False if the suite already contained it.
    pub is_new: bool,
}

/// Cached content of the file.
#[derive(Debug, Default)]
struct SuiteCache {
    stamp: FileStamp,
    /// Number of times that it was read from the start.
    generation: u64,
    /// Last bytes of the file before `end`.
    tail: Vec<u8>,
    /// End of the complete lines that were read, in bytes.
    end: u64,
    lines: usize,
    cases: Vec<Arc<RecordedCase>>,
    ids: HashMap<CaseId, usize>,
    paths: HashMap<String, Vec<usize>>,
    /// Paths in the order of their first cases.
    in_order: Vec<String>,
    problems: Vec<String>,
}

impl RecordedSuite {
    pub(crate) fn new(file: PathBuf, name: String) -> RecordedSuite {
        RecordedSuite { file, name, read: Arc::default() }
    }

    /// Returns the name of its runs.
    pub fn name(&self) -> &str {
        &self.name
    }

    /// Returns the path of the file.
    pub fn path(&self) -> PathBuf {
        self.file.clone()
    }

    /// Returns the state of the file.
    pub fn stamp(&self) -> FileStamp {
        FileStamp::of(&self.file)
    }

    /// Returns whether this state of the file was read, also after a case was added here.
    pub fn has_read(&self, stamp: FileStamp) -> bool {
        self.state().stamp == stamp
    }

    fn folder(&self) -> &Path {
        self.file.parent().unwrap_or(&self.file)
    }

    /// Returns the valid cases in the order of recording; none if the file is missing. Of cases with the same id, the
    /// first one counts.
    pub fn cases(&self) -> Result<Vec<Arc<RecordedCase>>, ReplayError> {
        Ok(self.current()?.cases.clone())
    }

    /// Returns the cases of the file at `path`.
    pub fn of_file(&self, path: &str) -> Result<Vec<Arc<RecordedCase>>, ReplayError> {
        let read = self.current()?;
        let numbers = read.paths.get(path).into_iter().flatten();
        Ok(numbers.filter_map(|&number| read.cases.get(number).cloned()).collect())
    }

    /// Returns the files with cases, in the order of their first cases, without the first `count` ones.
    pub fn paths_from(&self, count: usize) -> Result<Vec<String>, ReplayError> {
        Ok(self.current()?.in_order.get(count..).unwrap_or_default().to_vec())
    }

    /// Returns the case with this id.
    pub fn case(&self, id: &str) -> Result<Option<Arc<RecordedCase>>, ReplayError> {
        let read = self.current()?;
        Ok(read.ids.get(id).and_then(|&number| read.cases.get(number).cloned()))
    }

    /// Returns the problem and remedy of each line without a valid case. They may quote code.
    pub fn problems(&self) -> Result<Vec<String>, ReplayError> {
        Ok(self.current()?.problems.clone())
    }

    /// Returns a number that changes whenever the cases read before are no longer a prefix of the suite.
    pub fn generation(&self) -> Result<u64, ReplayError> {
        Ok(self.current()?.generation)
    }

    /// Returns the number of cases.
    pub fn count(&self) -> Result<usize, ReplayError> {
        Ok(self.current()?.cases.len())
    }

    /// Reads a case with all its texts.
    pub fn load(&self, case: &RecordedCase) -> Result<Case, ReplayError> {
        let path = self.path();
        if let Some(loaded) = load_row(&path, case) {
            return Ok(loaded);
        }
        // The file was replaced.
        let mut read = self.state();
        read.reset();
        read.catch_up(&path)?;
        let found = read.ids.get(&case.id).and_then(|&number| read.cases.get(number));
        found.and_then(|case| load_row(&path, case)).ok_or_else(|| ReplayError::Read {
            path: path.clone(),
            reason: io::Error::from(ErrorKind::NotFound),
        })
    }

    /// Masks the secrets of a case and adds it, unless the suite already contains it.
    pub fn add(&self, case: Case) -> Result<AddedCase, ReplayError> {
        let added = self.add_all(vec![case])?;
        Ok(added.into_iter().next().expect("there is one result per case"))
    }

    /// Masks the secrets of cases and adds those that the suite does not contain, in this order. Returns one result per case. After an error,
    /// the cases before it may be in the suite.
    pub fn add_all(&self, cases: Vec<Case>) -> Result<Vec<AddedCase>, ReplayError> {
        let path = self.path();
        let failed = |path: &Path, reason| ReplayError::Record { path: path.to_owned(), reason };
        // Also the two folders above it that belong to Ghostbench: that of all recorded suites, and the data folder.
        let made = self.folder().ancestors().take(3).try_for_each(private_files::own_folder);
        made.map_err(|reason| failed(self.folder(), reason))?;
        let mut read = self.state();
        let _lock = self.lock()?;
        private_files::restrict(&path).map_err(|reason| failed(&path, reason))?;
        read.catch_up(&path)?;
        let mut all_added = Vec::with_capacity(cases.len());
        for mut case in cases {
            cases::redact_case(&mut case);
            case.id = case.compute_id();
            let is_new = read.append_new(&path, &case)?;
            all_added.push(AddedCase { case, is_new });
        }
        if all_added.iter().any(|added| added.is_new) {
            // Unlike an answer, a recorded case cannot be requested again.
            sync(&path).map_err(|reason| failed(&path, reason))?;
        }
        Ok(all_added)
    }

    fn lock(&self) -> Result<File, ReplayError> {
        let path = self.folder().join(LOCK);
        let deadline = Instant::now() + LOCK_TIMEOUT;
        loop {
            match file_io::lock(&path) {
                Ok(Some(lock)) => return Ok(lock),
                Ok(None) if Instant::now() < deadline => thread::sleep(LOCK_POLL_INTERVAL),
                Ok(None) => return Err(ReplayError::Locked { path: self.folder().to_owned() }),
                Err(reason) => return Err(ReplayError::Record { path, reason }),
            }
        }
    }

    /// Returns the current content of the file.
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
    /// Appends a case that the file does not contain, and reads it. Returns whether it was appended. The suite's lock must be held.
    fn append_new(&mut self, path: &Path, case: &Case) -> Result<bool, ReplayError> {
        if self.contains(path, &case.id)? {
            return Ok(false);
        }
        let is_read = fs::metadata(path).map_or(true, |metadata| metadata.len() == self.end);
        let is_torn = !is_read || (self.end > 0 && self.tail.last() != Some(&b'\n'));
        let lines = [if is_torn { "\n" } else { "" }, &to_line(case)].concat();
        let appended = AppendFile::open(path).and_then(|mut file| file.append(&lines));
        appended.map_err(|reason| ReplayError::Record { path: path.to_owned(), reason })?;
        self.catch_up(path)?;
        Ok(true)
    }

    /// Reads new lines of the file.
    fn catch_up(&mut self, path: &Path) -> Result<(), ReplayError> {
        let stamp = FileStamp::of(path);
        if stamp == self.stamp {
            return Ok(());
        }
        self.read_appended(path, stamp).map_err(|reason| ReplayError::Read { path: path.to_owned(), reason })
    }

    /// Clears the cache.
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
        loop {
            line.clear();
            let length = reader.by_ref().take(MAX_LINE_BYTES).read_until(b'\n', &mut line)? as u64;
            if length == 0 {
                break;
            }
            let is_whole = line.ends_with(b"\n");
            if length == MAX_LINE_BYTES && !is_whole {
                let rest = reader.skip_until(b'\n')?;
                self.skip_line(path, length + rest as u64);
                continue;
            }
            // Another process may be writing this line; it is complete if it parses.
            if !self.take_line(path, &line, is_whole) {
                break;
            }
        }
        self.stamp = stamp;
        Ok(())
    }

    /// Whether the file only grew since it was read. One that changed without growing was edited.
    fn is_continued(&self, file: &mut File) -> io::Result<bool> {
        if self.end == 0 || file.metadata()?.len() <= self.end {
            return Ok(false);
        }
        let mut tail = vec![0; self.tail.len()];
        file.seek(SeekFrom::Start(self.end - self.tail.len() as u64))?;
        file.read_exact(&mut tail)?;
        Ok(tail == self.tail)
    }

    /// Processes a line; returns false if it is still incomplete.
    fn take_line(&mut self, path: &Path, line: &[u8], is_whole: bool) -> bool {
        let number = self.lines + 1;
        match parse_row(path, line, number, &self.ids) {
            Err(_) if !is_whole => return false,
            Err(problem) => self.add_problem(&problem),
            Ok(None) => {}
            Ok(Some(_)) if self.cases.len() == MAX_CASES => {
                let message = format!("the suite has more than {MAX_CASES} cases");
                self.add_problem(&row_problem(path, number, message));
            }
            Ok(Some(case)) => self.push(&case, self.end..self.end + line.len() as u64),
        }
        self.end += line.len() as u64;
        // The next write ends a last row without a line end, so it is not counted yet.
        self.lines += usize::from(is_whole);
        let kept = line.len().saturating_sub(TAIL_BYTES);
        self.tail.extend(&line[kept..]);
        self.tail.drain(..self.tail.len().saturating_sub(TAIL_BYTES));
        true
    }

    /// Passes over a line that is too long.
    fn skip_line(&mut self, path: &Path, length: u64) {
        self.lines += 1;
        let message = format!("longer than {MAX_LINE_BYTES} bytes");
        self.add_problem(&row_problem(path, self.lines, message));
        self.end += length;
        self.tail.clear();
    }

    fn add_problem(&mut self, problem: &ReplayError) {
        if self.problems.len() < MAX_PROBLEMS {
            self.problems.push(problem.to_string());
        }
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
            task: case.task,
            block_kind: case.block_kind,
            language: case.language.clone(),
            path: case.path.clone(),
            line: case.line,
            locator: case.truth_locator(),
            row,
        }));
    }

    /// Whether the file contains a case; reads its line, because edits may leave no trace in the stamp.
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

/// Reads the case at its line; `None` if the line now contains something else.
fn load_row(path: &Path, case: &RecordedCase) -> Option<Case> {
    let mut file = File::open(path).ok()?;
    file.seek(SeekFrom::Start(case.row.start)).ok()?;
    let mut line = String::new();
    file.take(case.row.end - case.row.start).read_to_string(&mut line).ok()?;
    parse_line::<Case>(&line, 1).ok().filter(|loaded| loaded.id == case.id)
}

fn sync(path: &Path) -> io::Result<()> {
    AppendFile::open(path)?.sync()
}

fn row_problem(path: &Path, line: usize, message: String) -> ReplayError {
    ReplayError::Row { path: path.to_owned(), problem: ParseError { line, column: 1, message } }
}

/// Whether a path leads out of the folder that it is relative to, on any system.
fn leads_out(path: &str) -> bool {
    let is_absolute = path.starts_with(['/', '\\']) || path.as_bytes().get(1) == Some(&b':');
    is_absolute || path.split(['/', '\\']).any(|part| part == "..") || path.contains('\0')
}

/// Parses the case on line `number` (1-based); `None` if the line is blank.
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
    let case: Case = parse_line(text, number).map_err(in_line)?;
    if leads_out(&case.path) {
        return Err(row_problem(
            path,
            number,
            format!("the path {:?} leads out of the workspace", case.path),
        ));
    }
    check_case(path, number, &case)?;
    if ids.contains_key(&case.id) {
        return Err(ReplayError::DuplicateCase { path: path.to_owned(), id: case.id });
    }
    Ok(Some(case))
}
