//! `cargo xtask fit`: weights from repositories that no figure is reported of.

use anyhow::Result;
use clap::ValueEnum;

mod engine;
mod retrieval;

/// What has weights.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum Fitted {
    /// The retrieval strategy `hybrid`
    Retrieval,
    /// The built-in engine
    Engine,
}

/// Fits the given weights, or all, and writes them into their crates.
pub(crate) fn run(fitted: &[Fitted]) -> Result<()> {
    let fitted = if fitted.is_empty() { Fitted::value_variants() } else { fitted };
    for one in fitted {
        match one {
            Fitted::Retrieval => retrieval::run()?,
            Fitted::Engine => engine::run()?,
        }
    }
    Ok(())
}
