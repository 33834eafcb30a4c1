//! Notices cases that another process adds to the recorded suite of a folder, such as `ghostbench trial export --record`, so that editors show
//! them.

use std::collections::HashMap;
use std::path::PathBuf;

use replay::FileStamp;

use crate::trial_session::TrialSession;

/// The states of the recorded suites, by the root of their folder.
#[derive(Debug, Default)]
pub(crate) struct AddedCases {
    seen: HashMap<PathBuf, FileStamp>,
}

impl AddedCases {
    /// Looks at the suites of all folders. If one was changed elsewhere, the client requests its lenses again.
    pub(crate) fn poll(&mut self, session: &TrialSession) {
        let mut is_changed = false;
        let mut seen = HashMap::new();
        for folder in session.folders.all() {
            let suite = folder.recorded_cases.suite();
            let stamp = suite.stamp();
            let before = self.seen.get(&folder.root);
            is_changed |= before.is_some_and(|before| *before != stamp) && !suite.has_read(stamp);
            seen.insert(folder.root.clone(), stamp);
        }
        self.seen = seen;
        if is_changed {
            session.report_added_cases();
        }
    }
}
