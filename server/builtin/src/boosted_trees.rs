//! Boosted trees, as written by `cargo xtask fit`: sums of small decision trees over features.
//!
//! All nodes of a level have the same split, so that a tree is a table: the decisions are the bits of a leaf's index.

use std::borrow::Cow;

/// Number of splits of a tree.
pub const DEPTH: usize = 4;

/// A decision tree as a table of leaves.
#[derive(Clone, Debug, PartialEq)]
pub struct DecisionTree {
    /// Feature index and threshold of each split. A feature above the threshold sets the bit; the first split is the highest bit.
    pub splits: [(u8, f32); DEPTH],
    /// Value of each leaf.
    pub leaves: [f32; 1 << DEPTH],
}

/// A base value and a sum of trees.
#[derive(Clone, Debug, PartialEq)]
pub struct BoostedTrees {
    base: f32,
    trees: Cow<'static, [DecisionTree]>,
}

impl BoostedTrees {
    /// Creates a model from constant trees.
    pub const fn from_static(base: f32, trees: &'static [DecisionTree]) -> BoostedTrees {
        BoostedTrees { base, trees: Cow::Borrowed(trees) }
    }

    /// Creates a model from newly fitted trees.
    pub fn from_fitted(base: f32, trees: Vec<DecisionTree>) -> BoostedTrees {
        BoostedTrees { base, trees: Cow::Owned(trees) }
    }

    /// Returns the value that is added to those of the trees.
    pub fn base(&self) -> f32 {
        self.base
    }

    /// Returns the trees.
    pub fn trees(&self) -> &[DecisionTree] {
        &self.trees
    }

    /// Returns all numbers that determine the sum.
    pub(crate) fn numbers(&self) -> impl Iterator<Item = f32> {
        std::iter::once(self.base).chain(self.trees.iter().flat_map(|tree| {
            let splits =
                tree.splits.into_iter().flat_map(|(feature, threshold)| [f32::from(feature), threshold]);
            splits.chain(tree.leaves).collect::<Vec<_>>()
        }))
    }

    /// Returns the sum for a row of features; missing ones count as zero.
    pub fn score(&self, features: &[f32]) -> f64 {
        self.trees.iter().fold(f64::from(self.base), |sum, tree| sum + f64::from(tree.leaf(features)))
    }

    /// Returns the probability whose logit is the sum.
    pub fn probability(&self, features: &[f32]) -> f64 {
        probability(self.score(features))
    }
}

/// Returns the probability with this logit.
pub(crate) fn probability(logit: f64) -> f64 {
    1.0 / (1.0 + (-logit).exp())
}

impl DecisionTree {
    /// Returns the leaf value for a row of features.
    pub fn leaf(&self, features: &[f32]) -> f32 {
        let exceeds = |&(feature, threshold): &(u8, f32)| {
            features.get(usize::from(feature)).copied().unwrap_or_default() > threshold
        };
        let leaf = self.splits.iter().fold(0, |leaf, split| leaf << 1 | usize::from(exceeds(split)));
        self.leaves[leaf]
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn split_results_are_the_bits_of_the_leaf_index() {
        let leaves = std::array::from_fn(|leaf| leaf as f32);
        let tree = DecisionTree { splits: [(0, 0.5), (1, 2.0), (0, 3.0), (9, 0.0)], leaves };
        let leaf = |features: [f32; 2]| tree.leaf(&features);
        assert_eq!(
            [leaf([0.5, 2.0]), leaf([0.6, 0.0]), leaf([0.0, 2.1]), leaf([4.0, 5.0])],
            [0.0, 8.0, 4.0, 14.0]
        );
        let trees = BoostedTrees::from_fitted(-4.0, vec![tree.clone(), tree]);
        assert_eq!(trees.score(&[0.0, 2.1]), 4.0);
        assert_eq!(BoostedTrees::from_static(0.0, &[]).probability(&[]), 0.5);
    }
}
