//! What was recorded in a folder, and what engines made of it; read on when its files changed.

use std::collections::{HashMap, HashSet};
use std::path::PathBuf;
use std::sync::{Arc, Mutex, OnceLock};

use cases::{Case, FileText, Prediction, Score};
use index::Cancel;
use replay::{Added, DataFolder, Error, RecordedCase, RecordedSuite, RunsStamp, WholeRun};
use workspace::Snapshot;

use crate::folders::Reading;
use crate::locks::lock;

/// The cases recorded in a folder, and what engines made of them.
pub(crate) struct Recorded {
    data: DataFolder,
    root: PathBuf,
    suite: OnceLock<RecordedSuite>,
    /// Held while reading, so that those who wait find it done.
    read: Mutex<Read>,
    renames: Mutex<Renames>,
}

/// What was read last.
#[derive(Default)]
struct Read {
    answered: Option<(AnswersStamp, Arc<Answered>)>,
    moved: Option<Moved>,
    /// Problems that were told; each is told once.
    told: HashSet<String>,
}

/// What tells whether the runs are as they were, and the suite the same with more cases at most.
type AnswersStamp = (RunsStamp, u64);
/// What tells whether the folder's files are as they were, the suite the same with more cases at most, and no file was renamed.
type MovesStamp = (u64, u64, u64);
/// The paths that cases were recorded at, by the paths at which their files are now.
type Moves = HashMap<String, Vec<String>>;

/// Where files are by now.
struct Moved {
    stamp: MovesStamp,
    /// How many recorded paths were looked at.
    paths: usize,
    moves: Arc<Moves>,
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
struct Answered {
    whole: Option<WholeRun>,
    /// Of each engine to each case.
    answers: HashMap<String, Vec<(Prediction, Score)>>,
}

/// The suite and its newest answers.
pub(crate) struct Known {
    /// The suite.
    pub(crate) suite: RecordedSuite,
    answered: Arc<Answered>,
    moves: Arc<Moves>,
}

impl Recorded {
    /// What is recorded in the workspace at `root`. Nothing is looked at before it is asked for.
    pub(crate) fn new(data: DataFolder, root: PathBuf) -> Recorded {
        Recorded { data, root, suite: OnceLock::new(), read: Mutex::default(), renames: Mutex::default() }
    }

    /// The suite on disk. Waits for the disk the first time.
    pub(crate) fn suite(&self) -> &RecordedSuite {
        self.suite.get_or_init(|| self.data.recorded(&self.root))
    }

    /// Adds a case. Waits for the disk.
    pub(crate) fn add(&self, case: Case) -> Result<Added, Error> {
        self.suite().add(case)
    }

    /// What is recorded now, and what could not be read of it for the first time. Waits for the disk if something changed. Problems may
    /// quote code: they are for the user, not for the log. Incomplete if it is cancelled.
    pub(crate) fn known(&self, reading: &Reading, cancel: &Cancel) -> Result<(Known, Vec<String>), Error> {
        let suite = self.suite().clone();
        let mut read = lock(&self.read);
        let (answered, mut problems) = self.answered(&mut read, &suite, cancel)?;
        let moves = self.moves(&mut read, &suite, reading)?;
        problems.extend(suite.problems()?);
        problems.retain(|problem| read.told.insert(problem.clone()));
        Ok((Known { suite, answered, moves }, problems))
    }

    fn answered(
        &self,
        read: &mut Read,
        suite: &RecordedSuite,
        cancel: &Cancel,
    ) -> Result<(Arc<Answered>, Vec<String>), Error> {
        let stamp = (self.data.runs_stamp(suite.name()), suite.beginnings()?);
        if let Some((_, answered)) = read.answered.as_ref().filter(|(read, _)| *read == stamp) {
            return Ok((Arc::clone(answered), Vec::new()));
        }
        let ids: Vec<String> = suite.cases()?.iter().map(|case| case.id.clone()).collect();
        let load = |id: &str| suite.load(&*suite.case(id).ok()??).ok();
        let latest = replay::latest(&self.data, suite.name(), &ids, load, || !cancel.is_cancelled());
        if cancel.is_cancelled() {
            return Ok((Arc::default(), Vec::new()));
        }
        let problems: Vec<String> = latest.problems.iter().map(Error::to_string).collect();
        tracing::info!(suite = suite.name(), cases = ids.len(), problems = problems.len(), "recorded");
        let mut answers: HashMap<String, Vec<_>> = HashMap::new();
        for (prediction, score) in latest.answers {
            answers.entry(prediction.case.clone()).or_default().push((prediction, score));
        }
        let answered = Arc::new(Answered { whole: latest.whole, answers });
        read.answered = Some((stamp, Arc::clone(&answered)));
        Ok((answered, problems))
    }

    /// Where files are now that are not at their recorded paths any more: where the editor renamed them to, or the one file of the
    /// folder that holds recorded lines of theirs as they were. Where several files do, nothing tells which one it is, and the cases stay
    /// where they were. Paths at which cases were recorded since the last time are looked at alone.
    fn moves(&self, read: &mut Read, suite: &RecordedSuite, reading: &Reading) -> Result<Arc<Moves>, Error> {
        let renames = lock(&self.renames);
        let stamp = (reading.version, suite.beginnings()?, renames.count);
        let known = read.moved.take().filter(|moved| moved.stamp == stamp);
        let mut moved = known.unwrap_or_else(|| Moved { stamp, paths: 0, moves: Arc::default() });
        let new = suite.paths_from(moved.paths)?;
        moved.paths += new.len();
        for path in new {
            if let Some(now) = self.moved(&path, &renames, suite, reading)? {
                Arc::make_mut(&mut moved.moves).entry(now).or_default().push(path);
            }
        }
        let moves = Arc::clone(&moved.moves);
        read.moved = Some(moved);
        Ok(moves)
    }

    fn moved(
        &self,
        path: &str,
        renames: &Renames,
        suite: &RecordedSuite,
        reading: &Reading,
    ) -> Result<Option<String>, Error> {
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
        cases.iter().any(|case| case.language == file.language.name() && case.landmark.is_whole_in(&text))
    });
    let only = holding.next()?;
    holding.next().is_none().then(|| only.path.to_string())
}

impl Known {
    /// The case with this identity.
    pub(crate) fn case(&self, id: &str) -> Result<Option<Arc<RecordedCase>>, Error> {
        self.suite.case(id)
    }

    /// The cases of the file that is at `path` now.
    pub(crate) fn of_file(&self, path: &str) -> Result<Vec<Arc<RecordedCase>>, Error> {
        let mut cases = self.suite.of_file(path)?;
        for former in self.moves.get(path).into_iter().flatten() {
            cases.extend(self.suite.of_file(former)?);
        }
        Ok(cases)
    }

    /// The path at which the file of a case is now.
    pub(crate) fn path<'a>(&'a self, case: &'a RecordedCase) -> &'a str {
        let now = self.moves.iter().find(|(_, former)| former.contains(&case.path));
        now.map_or(&case.path, |(now, _)| now)
    }

    /// The last replay of all cases.
    pub(crate) fn whole(&self) -> Option<&WholeRun> {
        self.answered.whole.as_ref()
    }

    /// The newest answer of each engine to a case.
    pub(crate) fn answers(&self, id: &str) -> &[(Prediction, Score)] {
        self.answered.answers.get(id).map(Vec::as_slice).unwrap_or_default()
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
