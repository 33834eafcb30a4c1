//! Bounds the work of a resolver: no query runs recursively inside itself, queries nest to a limited depth, and the number of
//! steps is limited.
//!
//! Every function of the resolver that can reach itself through names of the workspace must use [`BoundedQueries::answer`]. No other
//! code of the resolver may guard against cycles, so that these limits can't be bypassed.

use std::cell::{Cell, RefCell};
use std::hash::Hash;
use std::rc::Rc;

use rustc_hash::FxHashMap;

/// Maximum steps per query; a usual one takes some thousands.
const MAX_STEPS: u32 = 60_000;
/// Maximum steps for all queries about one file: those of thirty of the most expensive queries. The names of the largest real
/// files take a tenth of this, because the results are cached.
const MAX_STEPS_IN_ALL: u32 = 30 * MAX_STEPS;
/// Maximum nesting of queries. Real code nests fewer than twenty; at this depth a resolver needs less than a third of the
/// smallest possible stack (512 KB), even without optimization.
const MAX_DEPTH: u32 = 40;

/// Cached results by query.
pub(super) struct Memo<K, V: ?Sized>(RefCell<FxHashMap<K, Rc<V>>>);

impl<K, V: ?Sized> Default for Memo<K, V> {
    fn default() -> Memo<K, V> {
        Memo(RefCell::default())
    }
}

/// The queries of a resolver.
pub(super) struct BoundedQueries {
    /// Steps left for this query.
    steps: Cell<u32>,
    /// Steps left for all queries, without those of the current one.
    reserve: Cell<u32>,
    depth: Cell<u32>,
    /// Number of answers cut short by a limit.
    cuts: Cell<u32>,
}

impl Default for BoundedQueries {
    fn default() -> BoundedQueries {
        let reserve = MAX_STEPS_IN_ALL - MAX_STEPS;
        BoundedQueries {
            steps: Cell::new(MAX_STEPS),
            reserve: Cell::new(reserve),
            depth: Cell::default(),
            cuts: Cell::default(),
        }
    }
}

impl BoundedQueries {
    /// Begins another query for the same files: resets the steps, and keeps the cached results.
    pub(super) fn refill(&self) {
        let reserve = self.reserve.get() + self.steps.get();
        self.steps.set(reserve.min(MAX_STEPS));
        self.reserve.set(reserve - self.steps.get());
    }

    #[cfg(test)]
    pub(super) fn leave_steps(&self, steps: u32) {
        self.steps.set(steps);
    }

    /// Takes a step; returns false if there are none left.
    pub(super) fn step(&self) -> bool {
        let left = self.steps.get().checked_sub(1);
        self.steps.set(left.unwrap_or(0));
        if left.is_none() {
            self.note_cut();
        }
        left.is_some()
    }

    fn note_cut(&self) {
        self.cuts.set(self.cuts.get().wrapping_add(1));
    }

    /// Returns the answer to the query `key`: from the cache, or computed by `find`. Inside itself, and beyond the limits, the
    /// answer is `unfinished`.
    ///
    /// An answer cut short by a limit is not cached: a query with steps left, or with a smaller depth, must find the rest. An
    /// answer cut short by a cycle is cached, because computing it again for every query of the cycle takes time exponential in
    /// the cycle's size.
    pub(super) fn answer<K: Clone + Eq + Hash, V: ?Sized>(
        &self,
        memo: &Memo<K, V>,
        key: K,
        unfinished: impl FnOnce() -> Rc<V>,
        find: impl FnOnce() -> Rc<V>,
    ) -> Rc<V> {
        if let Some(known) = memo.0.borrow().get(&key) {
            return Rc::clone(known);
        }
        let unfinished = unfinished();
        let depth = self.depth.get() + 1;
        if depth > MAX_DEPTH {
            self.note_cut();
            return unfinished;
        }
        if !self.step() {
            return unfinished;
        }
        // Found by the same query inside this one.
        memo.0.borrow_mut().insert(key.clone(), unfinished);
        let cuts = self.cuts.get();
        self.depth.set(depth);
        let found = find();
        self.depth.set(depth - 1);
        if self.cuts.get() == cuts {
            memo.0.borrow_mut().insert(key, Rc::clone(&found));
        } else {
            memo.0.borrow_mut().remove(&key);
        }
        found
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A graph whose nodes query their successors; the answer counts the reached nodes.
    struct TestGraph {
        queries: BoundedQueries,
        memo: Memo<u32, u32>,
        leads_to: fn(u32) -> Vec<u32>,
    }

    impl TestGraph {
        fn new(leads_to: fn(u32) -> Vec<u32>) -> TestGraph {
            TestGraph { queries: BoundedQueries::default(), memo: Memo::default(), leads_to }
        }

        fn reached(&self, node: u32) -> u32 {
            *self.queries.answer(&self.memo, node, Rc::default, || {
                Rc::new(
                    (self.leads_to)(node).into_iter().map(|next| self.reached(next)).max().unwrap_or(0) + 1,
                )
            })
        }

        fn is_known(&self, node: u32) -> bool {
            self.memo.0.borrow().contains_key(&node)
        }
    }

    #[test]
    fn cyclic_query_terminates() {
        let graph = TestGraph::new(|node| vec![(node + 1) % 3]);
        assert_eq!(graph.reached(0), 3);
        assert!((0..3).all(|node| graph.is_known(node)));
    }

    #[test]
    fn dense_graph_is_answered_without_walking_all_paths() {
        let graph = TestGraph::new(|_| (0..20).collect());
        graph.reached(0);
        assert!((0..20).all(|node| graph.is_known(node)));
    }

    #[test]
    fn chain_stops_at_max_depth_and_is_not_memoized() {
        let graph = TestGraph::new(|node| vec![node + 1]);
        assert_eq!(graph.reached(0), MAX_DEPTH);
        assert!((0..MAX_DEPTH).all(|node| !graph.is_known(node)));
    }

    #[test]
    fn steps_are_limited_per_query_and_in_total() {
        let graph =
            TestGraph::new(|node| (0..9).map(|next| node.wrapping_mul(9).wrapping_add(next + 1)).collect());
        let mut questions = 0;
        while graph.queries.step() {
            graph.reached(questions);
            assert!(!graph.queries.step());
            graph.queries.refill();
            questions += 1;
        }
        assert_eq!(questions, MAX_STEPS_IN_ALL / MAX_STEPS);
    }
}
