//! What was recorded in a folder, read again only when its files changed.

use std::collections::HashMap;
use std::fs;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex};
use std::time::SystemTime;

use cases::{Case, Prediction, Score};
use replay::{Added, DataFolder, Error, RecordedSuite, WholeRun};

use crate::session::lock;

/// The cases recorded in a folder, and what engines made of them.
pub(crate) struct Recorded {
    data: DataFolder,
    suite: RecordedSuite,
    /// Replays that this server made.
    replays: AtomicU64,
    known: Mutex<Option<(Stamp, Arc<Known>)>>,
    /// What could not be read and has not been told. It may quote code, so it is for the user and not for the log.
    problems: Mutex<Vec<String>>,
}

/// What tells whether the files are as they were.
#[derive(PartialEq, Eq)]
struct Stamp {
    suite: Option<(u64, SystemTime)>,
    replays: u64,
}

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
    pub(crate) fn new(data: DataFolder, suite: RecordedSuite) -> Recorded {
        Recorded {
            data,
            suite,
            replays: AtomicU64::new(0),
            known: Mutex::default(),
            problems: Mutex::default(),
        }
    }

    /// The suite on disk.
    pub(crate) fn suite(&self) -> &RecordedSuite {
        &self.suite
    }

    /// Adds a case. Waits for the disk.
    pub(crate) fn add(&self, case: Case) -> Result<Added, Error> {
        self.suite.add(case)
    }

    /// Takes note that a replay was made.
    pub(crate) fn was_replayed(&self) {
        self.replays.fetch_add(1, Ordering::SeqCst);
    }

    /// What is recorded now. Waits for the disk if it changed.
    pub(crate) fn known(&self) -> Result<Arc<Known>, Error> {
        let stamp = self.stamp();
        if let Some((read, known)) = &*lock(&self.known)
            && *read == stamp
        {
            return Ok(Arc::clone(known));
        }
        let replay::Recorded { cases, problems } = self.suite.read()?;
        let latest = replay::latest(&self.data, self.suite.name(), &cases);
        let problems: Vec<String> = problems.iter().chain(&latest.problems).map(Error::to_string).collect();
        tracing::info!(
            suite = self.suite.name(),
            cases = cases.len(),
            left_out = problems.len(),
            "recorded cases"
        );
        *lock(&self.problems) = problems;
        let mut answers: HashMap<String, Vec<_>> = HashMap::new();
        for (prediction, score) in latest.answers {
            answers.entry(prediction.case.clone()).or_default().push((prediction, score));
        }
        let known = Arc::new(Known { cases, whole: latest.whole, answers });
        *lock(&self.known) = Some((stamp, Arc::clone(&known)));
        Ok(known)
    }

    /// What could not be read when the suite was last read, once.
    pub(crate) fn take_problems(&self) -> Vec<String> {
        std::mem::take(&mut lock(&self.problems))
    }

    fn stamp(&self) -> Stamp {
        let metadata = fs::metadata(self.suite.path()).ok();
        let suite = metadata.and_then(|metadata| Some((metadata.len(), metadata.modified().ok()?)));
        Stamp { suite, replays: self.replays.load(Ordering::SeqCst) }
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
