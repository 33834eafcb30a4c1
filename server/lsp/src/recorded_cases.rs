//! What was recorded in a folder, and what engines made of it; read on when its files changed.

use std::collections::{HashMap, HashSet};
use std::path::PathBuf;
use std::sync::{Arc, Mutex, OnceLock};

use cases::{Case, FileText, Prediction, Score};
use index::CancelFlag;
use replay::{AddedCase, DataFolder, RecordedCase, RecordedSuite, ReplayError, RunsStamp, SuiteRun};
use workspace::Snapshot;

use crate::locks::lock;
use crate::workspace_folders::FolderState;

/// The cases recorded in a folder, and what engines made of them.
pub(crate) struct RecordedCases {
    data: DataFolder,
    root: PathBuf,
    suite: OnceLock<RecordedSuite>,
    /// Held while reading, so that those who wait find it done.
    read: Mutex<CachedResults>,
    renames: Mutex<Renames>,
}

/// What was read last.
#[derive(Default)]
struct CachedResults {
    latest: Option<(AnswersStamp, Arc<RecordedAnswers>)>,
    moved: Option<Moved>,
    /// Problems that were told; each is told once.
    reported: HashSet<String>,
}

/// What tells whether the runs are as they were, and the suite the same with more cases at most.
type AnswersStamp = (RunsStamp, u64);
/// What tells whether the folder's files are as they were, the suite the same with more cases at most, and no file was renamed.
type MovesStamp = (u64, u64, u64);
/// The paths that cases were recorded at, by the paths at which their files are now.
type MovedPaths = HashMap<String, Vec<String>>;

/// Where files are by now.
struct Moved {
    stamp: MovesStamp,
    /// How many recorded paths were looked at.
    paths: usize,
    moves: Arc<MovedPaths>,
}

/// What the editor has renamed, files and folders.
#[derive(Default)]
struct Renames {
    /// Paths at first and now.
    list: Vec<(String, String)>,
    /// How many there were in all.
    count: u64,
}

/// Renames that are remembered: those of a long day. Later the code itself tells where it is.
const MOST_RENAMES: usize = 1_000;

/// The newest answers.
#[derive(Default)]
struct RecordedAnswers {
    suite_run: Option<SuiteRun>,
    /// Of each engine to each case.
    answers: HashMap<String, Vec<(Prediction, Score)>>,
}

/// The suite and its newest answers.
pub(crate) struct RecordedSnapshot {
    /// The suite.
    pub(crate) suite: RecordedSuite,
    latest: Arc<RecordedAnswers>,
    moved_paths: Arc<MovedPaths>,
}

impl RecordedCases {
    /// What is recorded in the workspace at `root`. Nothing is looked at before it is asked for.
    pub(crate) fn new(data: DataFolder, root: PathBuf) -> RecordedCases {
        RecordedCases {
            data,
            root,
            suite: OnceLock::new(),
            read: Mutex::default(),
            renames: Mutex::default(),
        }
    }

    /// The suite on disk. Waits for the disk the first time.
    pub(crate) fn suite(&self) -> &RecordedSuite {
        self.suite.get_or_init(|| self.data.recorded_suite(&self.root))
    }

    /// Adds a case. Waits for the disk.
    pub(crate) fn add(&self, case: Case) -> Result<AddedCase, ReplayError> {
        self.suite().add(case)
    }

    /// What is recorded now, and what could not be read of it for the first time. Waits for the disk if something changed. Problems may
    /// quote code: they are for the user, not for the log. Incomplete if it is cancelled.
    pub(crate) fn snapshot(
        &self,
        reading: &FolderState,
        cancel: &CancelFlag,
    ) -> Result<(RecordedSnapshot, Vec<String>), ReplayError> {
        let suite = self.suite().clone();
        let mut read = lock(&self.read);
        let (answered, mut problems) = self.latest_answers(&mut read, &suite, cancel)?;
        let moves = self.moved_paths(&mut read, &suite, reading)?;
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
        let load = |id: &str| suite.load(&*suite.case(id).ok()??).ok();
        let latest = replay::latest_answers(&self.data, suite.name(), &ids, load, || !cancel.is_cancelled());
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

    /// Where files are now that are not at their recorded paths any more: where the editor renamed them to, or the one file of the
    /// folder that holds recorded lines of theirs as they were. Where several files do, nothing tells which one it is, and the cases stay
    /// where they were. Paths at which cases were recorded since the last time are looked at alone.
    fn moved_paths(
        &self,
        read: &mut CachedResults,
        suite: &RecordedSuite,
        reading: &FolderState,
    ) -> Result<Arc<MovedPaths>, ReplayError> {
        let renames = lock(&self.renames);
        let stamp = (reading.version, suite.generation()?, renames.count);
        let known = read.moved.take().filter(|moved| moved.stamp == stamp);
        let mut moved = known.unwrap_or_else(|| Moved { stamp, paths: 0, moves: Arc::default() });
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
        let files = reading.contents.files.as_ref().filter(|files| files.get(path).is_none());
        Ok(match files {
            Some(files) => moved(files, &suite.of_file(path)?),
            None => None,
        })
    }

    /// Takes note that the editor has renamed a file or folder; the paths are relative to the workspace.
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

    /// Where the file is now that was at `path`, if it was renamed.
    fn now(&self, path: &str) -> Option<String> {
        let now = self.list.iter().rev().find_map(|(from, to)| renamed(path, from, to));
        now.filter(|now| now != path)
    }
}

/// What `path` is called after the file or folder `from` was renamed, if it is or lies in that.
fn renamed(path: &str, from: &str, to: &str) -> Option<String> {
    let rest = path.strip_prefix(from)?;
    (rest.is_empty() || rest.starts_with('/')).then(|| [to, rest].concat())
}

/// The only file that holds one of the cases with the lines around it.
fn moved(files: &Snapshot, cases: &[Arc<RecordedCase>]) -> Option<String> {
    let mut holding = files.files().iter().filter(|file| {
        let text = FileText::new(&file.text);
        cases.iter().any(|case| case.language == file.language.name() && case.locator.is_unchanged_in(&text))
    });
    let only = holding.next()?;
    holding.next().is_none().then(|| only.path.to_string())
}

impl RecordedSnapshot {
    /// The case with this identity.
    pub(crate) fn case(&self, id: &str) -> Result<Option<Arc<RecordedCase>>, ReplayError> {
        self.suite.case(id)
    }

    /// The cases of the file that is at `path` now.
    pub(crate) fn of_file(&self, path: &str) -> Result<Vec<Arc<RecordedCase>>, ReplayError> {
        let mut cases = self.suite.of_file(path)?;
        for former in self.moved_paths.get(path).into_iter().flatten() {
            cases.extend(self.suite.of_file(former)?);
        }
        Ok(cases)
    }

    /// The path at which the file of a case is now.
    pub(crate) fn path<'a>(&'a self, case: &'a RecordedCase) -> &'a str {
        let now = self.moved_paths.iter().find(|(_, former)| former.contains(&case.path));
        now.map_or(&case.path, |(now, _)| now)
    }

    /// The last replay of all cases.
    pub(crate) fn suite_run(&self) -> Option<&SuiteRun> {
        self.latest.suite_run.as_ref()
    }

    /// The newest answer of each engine to a case.
    pub(crate) fn answers(&self, id: &str) -> &[(Prediction, Score)] {
        self.latest.answers.get(id).map(Vec::as_slice).unwrap_or_default()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn renames_follow_each_other() {
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
