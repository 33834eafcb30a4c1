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
    /// Extends the scope by another one. A file that is written has several events, one after the other, and counts once. More than
    /// 10,000 paths become a full scan.
    pub fn extend(&mut self, other: ScanScope) {
        match (&mut *self, other) {
            (ScanScope::Paths(paths), ScanScope::Paths(more)) => {
                for path in more {
                    if paths.last() != Some(&path) {
                        paths.push(path);
                    }
                }
                if paths.len() > MAX_PATHS {
                    *self = ScanScope::Everything;
                }
            }
            (ScanScope::Paths(paths), other @ ScanScope::Unwatched) if paths.is_empty() => *self = other,
            (ScanScope::Unwatched, ScanScope::Unwatched) => {}
            _ => *self = ScanScope::Everything,
        }
    }
}

#[cfg(test)]
mod tests {
    use std::ops::Range;

    use super::*;

    fn paths(numbers: Range<usize>) -> ScanScope {
        ScanScope::Paths(numbers.map(|number| number.to_string().into()).collect())
    }

    #[test]
    fn many_paths_become_a_full_scan() {
        let mut scope = ScanScope::default();
        scope.extend(paths(1..MAX_PATHS));
        scope.extend(paths(MAX_PATHS..MAX_PATHS + 1));
        assert_eq!(scope, paths(1..MAX_PATHS + 1));
        scope.extend(paths(0..1));
        assert_eq!(scope, ScanScope::Everything);
        scope.extend(paths(1..2));
        assert_eq!(scope, ScanScope::Everything);
        let mut scope = ScanScope::default();
        scope.extend(paths(0..MAX_PATHS + 1));
        assert_eq!(scope, ScanScope::Everything);
    }

    #[test]
    fn events_of_one_path_in_a_row_count_once() {
        let mut scope = ScanScope::default();
        for _ in 0..=MAX_PATHS {
            scope.extend(paths(1..2));
        }
        scope.extend(paths(2..3));
        scope.extend(paths(1..2));
        assert_eq!(scope, ScanScope::Paths(["1", "2", "1"].map(PathBuf::from).into()));
    }

    #[test]
    fn a_scope_covers_each_part() {
        let mut scope = ScanScope::default();
        scope.extend(ScanScope::Unwatched);
        assert_eq!(scope, ScanScope::Unwatched);
        scope.extend(ScanScope::Unwatched);
        assert_eq!(scope, ScanScope::Unwatched);
        scope.extend(paths(1..2));
        assert_eq!(scope, ScanScope::Everything);
    }
}
