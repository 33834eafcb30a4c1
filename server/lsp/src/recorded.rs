//! What was recorded in a folder, read again only when its files changed.

use std::collections::{HashMap, HashSet};
use std::path::PathBuf;
use std::sync::{Arc, Mutex, OnceLock};

use cases::{Case, Prediction, Score};
use replay::{Added, DataFolder, Error, FileStamp, RecordedSuite, RunsStamp, WholeRun};

use crate::locks::lock;

/// The cases recorded in a folder, and what engines made of them.
pub(crate) struct Recorded {
    data: DataFolder,
    root: PathBuf,
    suite: OnceLock<RecordedSuite>,
    /// Held while reading, so that those who wait find it done.
    read: Mutex<Read>,
}

/// What was read last.
#[derive(Default)]
struct Read {
    known: Option<(Stamp, Arc<Known>)>,
    /// Problems that were told; each is told once.
    told: HashSet<String>,
}

/// What tells whether the suite and its runs are as they were.
type Stamp = (FileStamp, RunsStamp);

/// The suite and its newest answers.
pub(crate) struct Known {
    /// In the order of recording.
    pub(crate) cases: Vec<Case>,
    /// The last replay of all of them.
    pub(crate) whole: Option<WholeRun>,
    /// The newest answer of each engine to each case.
    answers: HashMap<String, Vec<(Prediction, Score)>>,
}

impl Recorded {
    /// What is recorded in the workspace at `root`. Nothing is looked at before it is asked for.
    pub(crate) fn new(data: DataFolder, root: PathBuf) -> Recorded {
        Recorded { data, root, suite: OnceLock::new(), read: Mutex::default() }
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
    /// quote code: they are for the user, not for the log.
    pub(crate) fn known(&self) -> Result<(Arc<Known>, Vec<String>), Error> {
        let mut read = lock(&self.read);
        let stamp = self.stamp();
        if let Some((_, known)) = read.known.as_ref().filter(|(read, _)| *read == stamp) {
            return Ok((Arc::clone(known), Vec::new()));
        }
        let replay::Recorded { cases, problems } = self.suite().read()?;
        let latest = replay::latest(&self.data, self.suite().name(), &cases);
        let problems = problems.iter().chain(&latest.problems).map(Error::to_string);
        let problems: Vec<String> = problems.filter(|problem| read.told.insert(problem.clone())).collect();
        tracing::info!(
            suite = self.suite().name(),
            cases = cases.len(),
            problems = problems.len(),
            "recorded"
        );
        let mut answers: HashMap<String, Vec<_>> = HashMap::new();
        for (prediction, score) in latest.answers {
            answers.entry(prediction.case.clone()).or_default().push((prediction, score));
        }
        let known = Arc::new(Known { cases, whole: latest.whole, answers });
        read.known = Some((stamp, Arc::clone(&known)));
        Ok((known, problems))
    }

    fn stamp(&self) -> Stamp {
        let suite = self.suite();
        (suite.stamp(), self.data.runs_stamp(suite.name()))
    }
}

impl Known {
    /// The case with this identity.
    pub(crate) fn case(&self, id: &str) -> Option<&Case> {
        self.cases.iter().find(|case| case.id == id)
    }

    /// The cases of the file at `path`.
    pub(crate) fn of_file<'a>(&'a self, path: &'a str) -> impl Iterator<Item = &'a Case> {
        self.cases.iter().filter(move |case| case.path == path)
    }

    /// The newest answer of each engine to a case.
    pub(crate) fn answers(&self, id: &str) -> &[(Prediction, Score)] {
        self.answers.get(id).map(Vec::as_slice).unwrap_or_default()
    }
}
