//! `cargo xtask fit`: fits weights on repositories that no reported figure comes from.

use anyhow::Result;
use clap::ValueEnum;

mod engine;
mod retrieval;

/// Components with fitted weights.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum FitTarget {
    /// The retrieval strategy `hybrid`
    Retrieval,
    /// The built-in engine
    Engine,
}

/// Fits the given weights, or all, and writes them into their crates.
pub(crate) fn run(fitted: &[FitTarget]) -> Result<()> {
    let fitted = if fitted.is_empty() { FitTarget::value_variants() } else { fitted };
    for one in fitted {
        match one {
            FitTarget::Retrieval => retrieval::run()?,
            FitTarget::Engine => engine::run()?,
        }
    }
    Ok(())
}
