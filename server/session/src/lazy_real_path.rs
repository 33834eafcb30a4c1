//! Lazily resolved paths without links, of documents and folders.

use std::path::Path;
use std::sync::{Arc, Mutex};

use workspace::{RealPath, real_path};

use crate::locks::lock;

/// A path without links; resolved on the first use after the path exists, then cached.
#[derive(Default)]
pub(crate) struct LazyRealPath(Mutex<Option<Arc<Path>>>);

impl LazyRealPath {
    /// Returns the target of `path`, which must be the same at each call; `None` if it cannot be resolved.
    pub(crate) async fn get(&self, path: &Path) -> Option<Arc<Path>> {
        if let Some(known) = self.known() {
            return Some(known);
        }
        let path = path.to_owned();
        match completion::run_blocking(move |_| real_path(&path)).await.ok()?? {
            RealPath::Existing(path) => {
                let path: Arc<Path> = path.into();
                *lock(&self.0) = Some(Arc::clone(&path));
                Some(path)
            }
            RealPath::Expected(path) => Some(path.into()),
        }
    }

    /// Returns the cached path.
    pub(crate) fn known(&self) -> Option<Arc<Path>> {
        lock(&self.0).clone()
    }

    /// Clears the cached path.
    pub(crate) fn forget(&self) {
        *lock(&self.0) = None;
    }
}
