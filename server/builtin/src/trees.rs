//! Boosted trees: sums of small decisions over features, as `cargo xtask fit` writes them.
//!
//! All nodes of a level ask the same question, so that a tree is a table: the answers are the bits of the index of a leaf.

use std::borrow::Cow;

/// Questions of a tree.
pub const DEPTH: usize = 4;

/// A table of what is added for which answers.
#[derive(Clone, Debug, PartialEq)]
pub struct Tree {
    /// Which feature is asked about, and what it has to exceed. The first answer is the highest bit.
    pub splits: [(u8, f32); DEPTH],
    /// What is added.
    pub leaves: [f32; 1 << DEPTH],
}

/// A sum of trees.
#[derive(Clone, Debug, PartialEq)]
pub struct Trees {
    base: f32,
    trees: Cow<'static, [Tree]>,
}

impl Trees {
    /// The sum of `base` and `trees`.
    pub const fn fixed(base: f32, trees: &'static [Tree]) -> Trees {
        Trees { base, trees: Cow::Borrowed(trees) }
    }

    /// The same of trees that were just fitted.
    pub fn fitted(base: f32, trees: Vec<Tree>) -> Trees {
        Trees { base, trees: Cow::Owned(trees) }
    }

    /// What is added where no tree says anything.
    pub fn base(&self) -> f32 {
        self.base
    }

    /// The trees.
    pub fn trees(&self) -> &[Tree] {
        &self.trees
    }

    /// All numbers that the sum depends on.
    pub(crate) fn numbers(&self) -> impl Iterator<Item = f32> {
        let of_tree = |tree: &Tree| {
            let splits =
                tree.splits.into_iter().flat_map(|(feature, threshold)| [f32::from(feature), threshold]);
            splits.chain(tree.leaves).collect::<Vec<_>>()
        };
        std::iter::once(self.base).chain(self.trees.iter().flat_map(of_tree))
    }

    /// The sum for a row of features; one that is not there counts as zero.
    pub fn score(&self, features: &[f32]) -> f64 {
        self.trees.iter().fold(f64::from(self.base), |sum, tree| sum + f64::from(tree.leaf(features)))
    }

    /// The probability whose logit is the sum.
    pub fn probability(&self, features: &[f32]) -> f64 {
        probability(self.score(features))
    }
}

/// The probability that has this logit.
pub(crate) fn probability(logit: f64) -> f64 {
    1.0 / (1.0 + (-logit).exp())
}

impl Tree {
    /// What the tree adds for a row of features.
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
    fn answers_are_the_bits_of_a_leaf() {
        let leaves = std::array::from_fn(|leaf| leaf as f32);
        let tree = Tree { splits: [(0, 0.5), (1, 2.0), (0, 3.0), (9, 0.0)], leaves };
        let leaf = |features: [f32; 2]| tree.leaf(&features);
        assert_eq!(
            [leaf([0.5, 2.0]), leaf([0.6, 0.0]), leaf([0.0, 2.1]), leaf([4.0, 5.0])],
            [0.0, 8.0, 4.0, 14.0]
        );
        let trees = Trees::fitted(-4.0, vec![tree.clone(), tree]);
        assert_eq!(trees.score(&[0.0, 2.1]), 4.0);
        assert_eq!(Trees::fixed(0.0, &[]).probability(&[]), 0.5);
    }
}
