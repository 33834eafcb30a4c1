//! Recorded cases of a folder, or those of a suite that the user opened, and the latest results of the engines; read incrementally when
//! files change.

use std::collections::{HashMap, HashSet};
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, OnceLock};

use cases::{Case, FileText, Prediction, Score};
use index::CancelFlag;
use replay::{AddedCase, DataFolder, RecordedCase, RecordedSuite, ReplayError, RunsStamp, SuiteRun};
use syntax::SourceFile;

use crate::folder::FolderState;
use crate::locks::lock;

/// The recorded cases of a folder, and the results of the engines.
pub struct RecordedCases {
    data: DataFolder,
    root: PathBuf,
    suite: OnceLock<RecordedSuite>,
    /// Held while reading, so that concurrent requests find the result.
    read: Mutex<CachedResults>,
    renames: Mutex<Renames>,
    follows_files: bool,
}

/// Cached results of reading.
#[derive(Default)]
struct CachedResults {
    latest: Option<(AnswersStamp, Arc<RecordedAnswers>)>,
    moved: Option<MovedFiles>,
    /// Problems that were reported; each is reported once.
    reported: HashSet<String>,
}

/// Unchanged while the runs are the same and the suite has at most gained cases.
type AnswersStamp = (RunsStamp, u64);
/// Unchanged while the folder's files are the same, the suite has at most gained cases, and no file was renamed.
type MovesStamp = (u64, u64, u64);
/// Recorded paths by the current path of their file.
type MovedPaths = HashMap<String, Vec<String>>;

/// Current paths of moved files.
struct MovedFiles {
    stamp: MovesStamp,
    /// Number of recorded paths checked.
    paths: usize,
    moves: Arc<MovedPaths>,
}

/// Files and folders renamed in the editor.
#[derive(Default)]
struct Renames {
    /// Original and current paths.
    list: Vec<(String, String)>,
    /// Number of all renames.
    count: u64,
}

/// Maximum number of renames that are remembered: a long day's work. Older ones are found by the content of the file.
const MOST_RENAMES: usize = 1_000;

/// Latest results.
#[derive(Default)]
struct RecordedAnswers {
    suite_run: Option<SuiteRun>,
    /// By case id: the answer of each engine with its score.
    answers: HashMap<String, Vec<(Prediction, Score)>>,
}

/// The suite with its latest results.
pub struct RecordedSnapshot {
    /// The suite.
    pub suite: RecordedSuite,
    latest: Arc<RecordedAnswers>,
    moved_paths: Arc<MovedPaths>,
}

impl RecordedCases {
    /// Creates the recorded cases of the workspace at `root`. Nothing is read until it is needed.
    pub(crate) fn new(data: DataFolder, root: PathBuf) -> RecordedCases {
        RecordedCases {
            data,
            root,
            suite: OnceLock::new(),
            read: Mutex::default(),
            renames: Mutex::default(),
            follows_files: true,
        }
    }

    /// Creates the cases of a suite that the user opened. They belong to the files at their own paths only: looking for moved files
    /// would compare each file of the workspace with each case.
    pub(crate) fn of_suite_file(data: DataFolder, root: PathBuf, file: &Path) -> RecordedCases {
        let suite = OnceLock::from(data.suite_of_file(file));
        RecordedCases { suite, follows_files: false, ..RecordedCases::new(data, root) }
    }

    /// Returns the suite on disk. Waits for the disk the first time.
    pub fn suite(&self) -> &RecordedSuite {
        self.suite.get_or_init(|| self.data.recorded_suite(&self.root))
    }

    /// Creates a folder for a new run of the suite. Waits for the disk.
    pub fn new_run(&self) -> Result<PathBuf, ReplayError> {
        self.data.new_run(self.suite().name())
    }

    /// Adds a case. Waits for the disk.
    pub fn add(&self, case: Case) -> Result<AddedCase, ReplayError> {
        self.suite().add(case)
    }

    /// Returns the recorded cases with their results, and the problems of reading that were not reported before. Waits for the
    /// disk if something changed. Problems may quote code: show them to the user, never log them. The result is incomplete after
    /// cancellation.
    pub fn snapshot(
        &self,
        reading: &FolderState,
        cancel: &CancelFlag,
    ) -> Result<(RecordedSnapshot, Vec<String>), ReplayError> {
        let suite = self.suite().clone();
        let mut read = lock(&self.read);
        let (answered, mut problems) = self.latest_answers(&mut read, &suite, cancel)?;
        let moves = match self.follows_files {
            true => self.moved_paths(&mut read, &suite, reading)?,
            false => Arc::default(),
        };
        problems.extend(suite.problems()?);
        problems.retain(|problem| read.reported.insert(problem.clone()));
        Ok((RecordedSnapshot { suite, latest: answered, moved_paths: moves }, problems))
    }

    fn latest_answers(
        &self,
        read: &mut CachedResults,
        suite: &RecordedSuite,
        cancel: &CancelFlag,
    ) -> Result<(Arc<RecordedAnswers>, Vec<String>), ReplayError> {
        let stamp = (self.data.runs_stamp(suite.name()), suite.generation()?);
        if let Some((_, answered)) = read.latest.as_ref().filter(|(read, _)| *read == stamp) {
            return Ok((Arc::clone(answered), Vec::new()));
        }
        let ids: Vec<String> = suite.cases()?.iter().map(|case| case.id.clone()).collect();
        let latest = replay::latest_answers(
            &self.data,
            suite.name(),
            &ids,
            |id| suite.load(&*suite.case(id).ok()??).ok(),
            || !cancel.is_cancelled(),
        );
        if cancel.is_cancelled() {
            return Ok((Arc::default(), Vec::new()));
        }
        let problems: Vec<String> = latest.problems.iter().map(ReplayError::to_string).collect();
        tracing::info!(suite = suite.name(), cases = ids.len(), problems = problems.len(), "recorded");
        let mut answers: HashMap<String, Vec<_>> = HashMap::new();
        for (prediction, score) in latest.answers {
            answers.entry(prediction.case.clone()).or_default().push((prediction, score));
        }
        let answered = Arc::new(RecordedAnswers { suite_run: latest.suite_run, answers });
        read.latest = Some((stamp, Arc::clone(&answered)));
        Ok((answered, problems))
    }

    /// Returns the current paths of files that are not at their recorded paths: the path after renames in the editor, otherwise
    /// the only file of the folder that still contains recorded lines unchanged. If several files contain them, the match is
    /// ambiguous and the cases keep their path. Only paths recorded since the last call are checked.
    fn moved_paths(
        &self,
        read: &mut CachedResults,
        suite: &RecordedSuite,
        reading: &FolderState,
    ) -> Result<Arc<MovedPaths>, ReplayError> {
        let renames = lock(&self.renames);
        let stamp = (reading.version, suite.generation()?, renames.count);
        let known = read.moved.take().filter(|moved| moved.stamp == stamp);
        let mut moved = known.unwrap_or_else(|| MovedFiles { stamp, paths: 0, moves: Arc::default() });
        let new = suite.paths_from(moved.paths)?;
        moved.paths += new.len();
        for path in new {
            if let Some(now) = self.moved_file(&path, &renames, suite, reading)? {
                Arc::make_mut(&mut moved.moves).entry(now).or_default().push(path);
            }
        }
        let moves = Arc::clone(&moved.moves);
        read.moved = Some(moved);
        Ok(moves)
    }

    fn moved_file(
        &self,
        path: &str,
        renames: &Renames,
        suite: &RecordedSuite,
        reading: &FolderState,
    ) -> Result<Option<String>, ReplayError> {
        if self.root.join(path).exists() {
            return Ok(None);
        }
        if let Some(now) = renames.now(path) {
            return Ok(Some(now));
        }
        Ok(match reading.index.file(path) {
            Some(_) => None,
            None => moved(reading.index.files(), &suite.of_file(path)?),
        })
    }

    /// Records that the editor has renamed a file or folder; the paths are relative to the workspace.
    pub(crate) fn rename(&self, from: &str, to: &str) {
        lock(&self.renames).add(from, to);
    }
}

impl Renames {
    fn add(&mut self, from: &str, to: &str) {
        self.count += 1;
        for (_, now) in &mut self.list {
            if let Some(renamed) = renamed(now, from, to) {
                *now = renamed;
            }
        }
        if self.list.len() == MOST_RENAMES {
            self.list.remove(0);
        }
        self.list.push((from.to_owned(), to.to_owned()));
    }

    /// The current path of the file that was at `path`, if it was renamed.
    fn now(&self, path: &str) -> Option<String> {
        let now = self.list.iter().rev().find_map(|(from, to)| renamed(path, from, to));
        now.filter(|now| now != path)
    }
}

/// The path of `path` after `from` was renamed, if `path` is `from` or below it.
fn renamed(path: &str, from: &str, to: &str) -> Option<String> {
    let rest = path.strip_prefix(from)?;
    (rest.is_empty() || rest.starts_with('/')).then(|| [to, rest].concat())
}

/// The path of the only file that contains one of the cases with the lines around it.
fn moved(files: &[SourceFile], cases: &[Arc<RecordedCase>]) -> Option<String> {
    let mut holding = files.iter().filter(|file| {
        let text = FileText::new(&file.text);
        cases.iter().any(|case| case.language == file.language.name() && case.locator.is_unchanged_in(&text))
    });
    let only = holding.next()?;
    holding.next().is_none().then(|| only.path.to_string())
}

impl RecordedSnapshot {
    /// Returns the case with this id.
    pub fn case(&self, id: &str) -> Result<Option<Arc<RecordedCase>>, ReplayError> {
        self.suite.case(id)
    }

    /// Returns the cases of the file whose current path is `path`.
    pub fn of_file(&self, path: &str) -> Result<Vec<Arc<RecordedCase>>, ReplayError> {
        let mut cases = self.suite.of_file(path)?;
        for former in self.moved_paths.get(path).into_iter().flatten() {
            cases.extend(self.suite.of_file(former)?);
        }
        Ok(cases)
    }

    /// Returns the current path of the file of a case.
    pub fn path<'a>(&'a self, case: &'a RecordedCase) -> &'a str {
        self.current_path(&case.path)
    }

    /// Returns the current path of a file with cases, by its recorded path.
    pub fn current_path<'a>(&'a self, recorded: &'a str) -> &'a str {
        let now = self.moved_paths.iter().find(|(_, former)| former.iter().any(|path| path == recorded));
        now.map_or(recorded, |(now, _)| now)
    }

    /// Returns the latest replay of all cases.
    pub fn suite_run(&self) -> Option<&SuiteRun> {
        self.latest.suite_run.as_ref()
    }

    /// Returns the latest answer of each engine to a case.
    pub fn answers(&self, id: &str) -> &[(Prediction, Score)] {
        self.latest.answers.get(id).map(Vec::as_slice).unwrap_or_default()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn chained_renames_resolve_to_the_final_path() {
        let mut renames = Renames::default();
        for (from, to) in [("a.py", "b.py"), ("b.py", "shop/c.py"), ("shop", "store"), ("x", "y"), ("y", "x")]
        {
            renames.add(from, to);
        }
        let now = |path: &str| renames.now(path);
        assert_eq!(now("a.py").as_deref(), Some("store/c.py"));
        assert_eq!(now("b.py").as_deref(), Some("store/c.py"));
        assert_eq!(now("shop/d.py").as_deref(), Some("store/d.py"));
        assert_eq!(now("shopping/d.py"), None);
        assert_eq!(now("x/e.py"), None, "it is where it was");
    }
}
