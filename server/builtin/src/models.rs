//! What was fitted on other repositories.

use crate::predict::ranking;
use crate::trees::Trees;
use crate::{proposals, stop, weights};

/// What is known of a token that may come next, in the order of [`crate::Choice::features`].
pub const TOKEN_FEATURES: &[&str] = &ranking::FEATURES;
/// What is known of a proposal, in the order of [`crate::Proposed::features`].
pub const PROPOSAL_FEATURES: &[&str] = &proposals::FEATURES;
/// What is known of a blank line, in the order of [`crate::View::stop_features`].
pub const STOP_FEATURES: &[&str] = &stop::FEATURES;

/// Digits that tell versions of the weights apart.
const NAME_LENGTH: usize = 8;

/// The fitted models. Any are sound: they order what was found in the workspace, and write nothing themselves.
#[derive(Clone, Debug)]
pub struct Models {
    /// Whether a token is the next one.
    pub ranking: Trees,
    /// How good a proposal is: the mean of its similarity with the truth and of whether it is exactly right.
    pub choosing: Trees,
    /// Whether a proposal is exactly right.
    pub trusting: Trees,
    /// Whether a block goes on.
    pub stopping: Trees,
}

/// Those that `cargo xtask fit` wrote into this crate.
pub(crate) static SHIPPED: Models = Models {
    ranking: weights::ranking::TREES,
    choosing: weights::choosing::TREES,
    trusting: weights::trusting::TREES,
    stopping: weights::stopping::TREES,
};

impl Models {
    /// Those that `cargo xtask fit` wrote into this crate.
    pub fn shipped() -> &'static Models {
        &SHIPPED
    }

    /// A name that changes with the weights: what is measured with some is not what is measured with others.
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
