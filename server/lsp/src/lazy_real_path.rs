//! Which file a document is, and where a folder is, whatever links lead there.

use std::path::Path;
use std::sync::{Arc, Mutex};

use workspace::{RealPath, real_path};

use crate::locks::lock;
use crate::run_blocking::run_blocking;

/// A path without links, asked of the disk until there is something at it, and then no more.
#[derive(Default)]
pub(crate) struct LazyRealPath(Mutex<Option<Arc<Path>>>);

impl LazyRealPath {
    /// What `path` leads to, always the same path for one of these; `None` if nobody knows.
    pub(crate) async fn get(&self, path: &Path) -> Option<Arc<Path>> {
        if let Some(known) = self.known() {
            return Some(known);
        }
        let path = path.to_owned();
        match run_blocking(move || Ok::<_, String>(real_path(&path))).await.ok()?? {
            RealPath::Existing(path) => {
                let path: Arc<Path> = path.into();
                *lock(&self.0) = Some(Arc::clone(&path));
                Some(path)
            }
            RealPath::Expected(path) => Some(path.into()),
        }
    }

    /// What is known without asking.
    pub(crate) fn known(&self) -> Option<Arc<Path>> {
        lock(&self.0).clone()
    }

    /// Asks anew the next time.
    pub(crate) fn forget(&self) {
        *lock(&self.0) = None;
    }
}
