//! Notices cases that another process adds to the recorded suite of a folder, such as `ghostbench trial export --record`, so that editors show
//! them.

use std::collections::HashMap;
use std::path::PathBuf;

use replay::FileStamp;

use crate::server::Server;

/// The states of the recorded suites, by the root of their folder.
#[derive(Debug, Default)]
pub(super) struct AddedCases {
    seen: HashMap<PathBuf, FileStamp>,
}

impl AddedCases {
    /// Looks at the suites of all folders. If one was changed elsewhere, the client requests its lenses again.
    pub(super) fn poll(&mut self, server: &Server) {
        let mut is_changed = false;
        let mut seen = HashMap::new();
        for folder in server.folders.all() {
            let suite = folder.recorded_cases.suite();
            let stamp = suite.stamp();
            let before = self.seen.get(&folder.root);
            is_changed |= before.is_some_and(|before| *before != stamp) && !suite.has_read(stamp);
            seen.insert(folder.root.clone(), stamp);
        }
        self.seen = seen;
        if is_changed {
            server.refresh_lenses();
        }
    }
}
