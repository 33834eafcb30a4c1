//! The models fitted on other repositories.

use crate::boosted_trees::BoostedTrees;
use crate::predict::ranking;
use crate::{block_continuation, proposals, weights};

/// Names of the features of a candidate token, in the order of [`crate::TrainingCandidate::features`].
pub const TOKEN_FEATURES: &[&str] = &ranking::FEATURES;
/// Names of the features of a proposal, in the order of [`crate::TrainingProposal::features`].
pub const PROPOSAL_FEATURES: &[&str] = &proposals::FEATURES;
/// Names of the features of a blank line, in the order of [`crate::CorpusView::stop_features`].
pub const STOP_FEATURES: &[&str] = &block_continuation::FEATURES;

/// Number of digits of a version of the weights.
const NAME_LENGTH: usize = 8;

/// The fitted models. Any weights are safe: the models only order text found in the workspace.
#[derive(Clone, Debug)]
pub struct Models {
    /// Probability that a token is the next one.
    pub ranking: BoostedTrees,
    /// Quality of a proposal: the mean of its similarity to the true text and of whether it is exactly right.
    pub choosing: BoostedTrees,
    /// Probability that a proposal is exactly right.
    pub trusting: BoostedTrees,
    /// Probability that a block continues.
    pub stopping: BoostedTrees,
}

/// The models written into this crate by `cargo xtask fit`.
pub(crate) static SHIPPED: Models = Models {
    ranking: weights::ranking::TREES,
    choosing: weights::choosing::TREES,
    trusting: weights::trusting::TREES,
    stopping: weights::stopping::TREES,
};

impl Models {
    /// Returns the models written into this crate by `cargo xtask fit`.
    pub fn shipped() -> &'static Models {
        &SHIPPED
    }

    /// Returns a name derived from the weights. Results measured with different weights are not comparable.
    pub fn name(&self) -> String {
        let mut hasher = blake3::Hasher::new();
        for trees in [&self.ranking, &self.choosing, &self.trusting, &self.stopping] {
            for number in trees.numbers() {
                hasher.update(&number.to_le_bytes());
            }
        }
        hasher.finalize().to_hex()[..NAME_LENGTH].to_owned()
    }
}
