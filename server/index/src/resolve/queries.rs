//! Bounds the work of a resolver: no query runs inside itself, queries nest to a limited depth, and a question has a limited number of
//! steps.
//!
//! Every function of the resolver that can reach itself through names of the workspace goes through [`Queries::answer`]. Nothing else
//! in the resolver may guard against cycles, so that there is no way around these limits.

use std::cell::{Cell, RefCell};
use std::hash::Hash;
use std::rc::Rc;

use rustc_hash::FxHashMap;

/// Steps of a question; a usual one takes some thousands.
const MAX_STEPS: u32 = 60_000;
/// Steps of all questions about one file together: what thirty of the most expensive questions take. The names of the largest real
/// files take a tenth, since what was found for one is known for the others.
const MAX_STEPS_IN_ALL: u32 = 30 * MAX_STEPS;
/// Queries inside of queries. Real code nests fewer than twenty; at this depth a resolver needs less than a third of the smallest
/// stack that anything runs on (512 KB), also without optimization.
const MAX_DEPTH: u32 = 40;

/// What was found, by what was asked.
pub(super) struct Memo<K, V: ?Sized>(RefCell<FxHashMap<K, Rc<V>>>);

impl<K, V: ?Sized> Default for Memo<K, V> {
    fn default() -> Memo<K, V> {
        Memo(RefCell::default())
    }
}

/// The queries of a resolver.
pub(super) struct Queries {
    /// Steps left for the question.
    steps: Cell<u32>,
    /// Steps left for all questions, those of the current one not included.
    reserve: Cell<u32>,
    depth: Cell<u32>,
    /// How many answers a limit has cut short.
    cuts: Cell<u32>,
}

impl Default for Queries {
    fn default() -> Queries {
        let reserve = MAX_STEPS_IN_ALL - MAX_STEPS;
        Queries {
            steps: Cell::new(MAX_STEPS),
            reserve: Cell::new(reserve),
            depth: Cell::default(),
            cuts: Cell::default(),
        }
    }
}

impl Queries {
    /// Begins another question about the same files: it has all its steps, and what was found is known.
    pub(super) fn refill(&self) {
        let reserve = self.reserve.get() + self.steps.get();
        self.steps.set(reserve.min(MAX_STEPS));
        self.reserve.set(reserve - self.steps.get());
    }

    #[cfg(test)]
    pub(super) fn leave_steps(&self, steps: u32) {
        self.steps.set(steps);
    }

    /// Takes a step; false when there are none left.
    pub(super) fn step(&self) -> bool {
        let left = self.steps.get().checked_sub(1);
        self.steps.set(left.unwrap_or(0));
        if left.is_none() {
            self.cut();
        }
        left.is_some()
    }

    fn cut(&self) {
        self.cuts.set(self.cuts.get().wrapping_add(1));
    }

    /// The answer to the query `key`: a known one, or what `find` finds. Inside of itself, and beyond the limits, the answer is
    /// `unfinished`.
    ///
    /// An answer that a limit cut short is not remembered: a question with steps left, or one that begins further in, is to find what
    /// this one could not. An answer that a cycle cut short is remembered, since finding it anew for every query of the cycle takes
    /// time that grows exponentially with the cycle's size.
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
            self.cut();
            return unfinished;
        }
        if !self.step() {
            return unfinished;
        }
        // Found by the same query inside of this one.
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

    /// A graph whose nodes ask for the nodes they lead to; the answer counts the nodes that were reached.
    struct Graph {
        queries: Queries,
        memo: Memo<u32, u32>,
        leads_to: fn(u32) -> Vec<u32>,
    }

    impl Graph {
        fn new(leads_to: fn(u32) -> Vec<u32>) -> Graph {
            Graph { queries: Queries::default(), memo: Memo::default(), leads_to }
        }

        fn reached(&self, node: u32) -> u32 {
            let find = || {
                Rc::new(
                    (self.leads_to)(node).into_iter().map(|next| self.reached(next)).max().unwrap_or(0) + 1,
                )
            };
            *self.queries.answer(&self.memo, node, Rc::default, find)
        }

        fn is_known(&self, node: u32) -> bool {
            self.memo.0.borrow().contains_key(&node)
        }
    }

    #[test]
    fn a_cycle_ends() {
        let graph = Graph::new(|node| vec![(node + 1) % 3]);
        assert_eq!(graph.reached(0), 3);
        assert!((0..3).all(|node| graph.is_known(node)));
    }

    #[test]
    fn all_paths_of_a_dense_graph_are_not_walked() {
        let graph = Graph::new(|_| (0..20).collect());
        graph.reached(0);
        assert!((0..20).all(|node| graph.is_known(node)));
    }

    #[test]
    fn a_chain_ends_at_the_greatest_depth_and_nothing_of_it_is_remembered() {
        let graph = Graph::new(|node| vec![node + 1]);
        assert_eq!(graph.reached(0), MAX_DEPTH);
        assert!((0..MAX_DEPTH).all(|node| !graph.is_known(node)));
    }

    #[test]
    fn the_steps_of_a_question_and_of_all_questions_end() {
        let graph =
            Graph::new(|node| (0..9).map(|next| node.wrapping_mul(9).wrapping_add(next + 1)).collect());
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
