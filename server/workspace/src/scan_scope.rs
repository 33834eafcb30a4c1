//! Where a scan looks for changes.

use std::path::PathBuf;

/// Maximum number of paths in a scope; above it a full scan costs as much.
const MAX_PATHS: usize = 10_000;

/// The part of a workspace to scan for changes.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum ScanScope {
    /// These paths, with [`WorkspaceTracker::refresh`](crate::WorkspaceTracker::refresh).
    Paths(Vec<PathBuf>),
    /// The paths that no watcher reports, with [`WorkspaceTracker::poll`](crate::WorkspaceTracker::poll).
    Unwatched,
    /// All files, with [`WorkspaceTracker::refresh_all`](crate::WorkspaceTracker::refresh_all).
    Everything,
}

impl Default for ScanScope {
    /// No path.
    fn default() -> ScanScope {
        ScanScope::Paths(Vec::new())
    }
}

impl ScanScope {
    /// Extends the scope by another one. More than 10,000 paths become a full scan.
    pub fn extend(&mut self, other: ScanScope) {
        match (&mut *self, other) {
            (ScanScope::Paths(paths), ScanScope::Paths(more)) if paths.len() + more.len() <= MAX_PATHS => {
                paths.extend(more);
            }
            (ScanScope::Paths(paths), other @ ScanScope::Unwatched) if paths.is_empty() => *self = other,
            (ScanScope::Unwatched, ScanScope::Unwatched) => {}
            _ => *self = ScanScope::Everything,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn paths(path: &str, count: usize) -> ScanScope {
        ScanScope::Paths(vec![path.into(); count])
    }

    #[test]
    fn many_paths_become_a_full_scan() {
        let mut scope = ScanScope::default();
        scope.extend(paths("a", MAX_PATHS - 1));
        scope.extend(paths("a", 1));
        assert_eq!(scope, paths("a", MAX_PATHS));
        scope.extend(paths("b", 1));
        assert_eq!(scope, ScanScope::Everything);
        scope.extend(paths("c", 1));
        assert_eq!(scope, ScanScope::Everything);
        let mut scope = ScanScope::default();
        scope.extend(paths("a", MAX_PATHS + 1));
        assert_eq!(scope, ScanScope::Everything);
    }

    #[test]
    fn a_scope_covers_each_part() {
        let mut scope = ScanScope::default();
        scope.extend(ScanScope::Unwatched);
        assert_eq!(scope, ScanScope::Unwatched);
        scope.extend(ScanScope::Unwatched);
        assert_eq!(scope, ScanScope::Unwatched);
        scope.extend(paths("a", 1));
        assert_eq!(scope, ScanScope::Everything);
    }
}
