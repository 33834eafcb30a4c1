//! `cargo xtask fit`: weights from repositories that no figure is reported of.

use anyhow::Result;
use clap::ValueEnum;

use crate::process;

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

/// Fits the given weights, or all, and writes them into their crates. An unoptimised build hands over to an optimised one.
pub(crate) fn run(fitted: &[Fitted]) -> Result<()> {
    let fitted = if fitted.is_empty() { Fitted::value_variants() } else { fitted };
    if cfg!(debug_assertions) {
        let names: Vec<_> = fitted.iter().filter_map(|one| one.to_possible_value()).collect();
        let names: Vec<&str> = names.iter().map(|name| name.get_name()).collect();
        return process::again_optimised(&[&["fit"], &names[..]].concat());
    }
    for one in fitted {
        match one {
            Fitted::Retrieval => retrieval::run()?,
            Fitted::Engine => engine::run()?,
        }
    }
    Ok(())
}
