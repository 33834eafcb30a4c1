//! Path lookup by suffix, for imports without a known root folder.

use std::cmp::Ordering;

use rustc_hash::FxHashMap;

/// Number of paths with the same last segment that are faster to walk than to search.
const FEW: usize = if cfg!(test) { 1 } else { 32 };

/// Index of paths by suffix. Memory per path: twice four bytes, and the path itself.
#[derive(Clone, Debug, Default)]
pub(crate) struct PathSuffixIndex {
    paths: Box<[Box<str>]>,
    /// Positions of the paths, sorted by the reversed paths, so that those with the same suffix are adjacent.
    backwards: Box<[u32]>,
    /// Positions of the paths by their last segment, nearest to the root first.
    by_name: FxHashMap<Box<str>, Vec<u32>>,
}

impl PathSuffixIndex {
    /// Builds the index of `paths`, which are identified by their positions.
    pub(crate) fn new(paths: Vec<Box<str>>) -> PathSuffixIndex {
        let positions = 0..paths.len() as u32;
        let path = |position: u32| &*paths[position as usize];
        let mut backwards: Box<[u32]> = positions.clone().collect();
        backwards.sort_unstable_by(|&one, &other| path(one).bytes().rev().cmp(path(other).bytes().rev()));
        let mut nearest: Vec<u32> = positions.collect();
        nearest.sort_by_cached_key(|&position| (depth(path(position)), path(position)));
        let mut by_name = FxHashMap::<Box<str>, Vec<u32>>::default();
        for position in nearest {
            let name = split_path(path(position)).1;
            match by_name.get_mut(name) {
                Some(list) => list.push(position),
                None => drop(by_name.insert(name.into(), vec![position])),
            }
        }
        PathSuffixIndex { paths: paths.into(), backwards, by_name }
    }

    /// Returns the path nearest to the root that is `ending`, or ends with a slash and it, and for which `is_there` holds.
    pub(crate) fn nearest(&self, ending: &str, is_there: impl Fn(u32) -> bool) -> Option<u32> {
        let with_name = self.by_name.get(split_path(ending).1)?;
        if with_name.len() <= FEW || !ending.contains('/') {
            let mut found = with_name.iter().copied();
            return found.find(|&position| has_ending(self.path(position), ending) && is_there(position));
        }
        let below = format!("/{ending}");
        let order = |&position: &u32| compare_end(self.path(position), &below);
        let start = self.backwards.partition_point(|position| order(position) == Ordering::Less);
        let deeper = self.backwards[start..].iter().take_while(|position| order(position) == Ordering::Equal);
        // The path that equals the suffix comes directly before the longer ones.
        let whole = start.checked_sub(1).map(|at| &self.backwards[at]);
        let whole = whole.filter(|&&position| self.path(position) == ending);
        let all = whole.into_iter().chain(deeper).copied().filter(|&position| is_there(position));
        all.min_by_key(|&position| (depth(self.path(position)), self.path(position)))
    }

    /// Returns the path at a position.
    pub(crate) fn path(&self, position: u32) -> &str {
        &self.paths[position as usize]
    }
}

/// Compares the reversed `path` with all paths that end with `ending`.
fn compare_end(path: &str, ending: &str) -> Ordering {
    let end = path.bytes().rev().take(ending.len());
    end.cmp(ending.bytes().rev())
}

/// Returns the number of folders above a path.
pub(crate) fn depth(path: &str) -> usize {
    path.matches('/').count()
}

/// Splits a path into folder and name.
pub(crate) fn split_path(path: &str) -> (&str, &str) {
    path.rsplit_once('/').unwrap_or(("", path))
}

/// Whether `path` is `ending`, or ends with a slash and it.
pub(crate) fn has_ending(path: &str, ending: &str) -> bool {
    path.strip_suffix(ending).is_some_and(|before| before.is_empty() || before.ends_with('/'))
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn suffixes_begin_after_a_slash() {
        assert!(has_ending("src/a/b.py", "a/b.py") && has_ending("a/b.py", "a/b.py"));
        assert!(!has_ending("src/aa/b.py", "a/b.py"));
    }

    proptest! {
        #[test]
        fn nearest_equals_a_linear_search(
            paths in proptest::collection::btree_set("[ab]{1,2}(/[ab]{1,2}){0,3}", 0..12),
            ending in "[ab]{1,2}(/[ab]{1,2}){0,2}",
            hidden in 0_u32..12,
        ) {
            let paths: Vec<Box<str>> = paths.into_iter().map(Box::from).collect();
            let endings = PathSuffixIndex::new(paths.clone());
            let found = endings.nearest(&ending, |position| position != hidden).map(|at| endings.path(at));
            let all = (0..).zip(&paths).filter(|(at, path)| *at != hidden && has_ending(path, &ending));
            let expected = all.map(|(_, path)| &**path).min_by_key(|path| (depth(path), *path));
            prop_assert_eq!(found, expected);
        }
    }
}
