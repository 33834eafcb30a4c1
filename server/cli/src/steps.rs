//! The steps that commands are made of: find out what is set, read and index a workspace, mine, ask, show.

pub(crate) mod answered;
pub(crate) mod ask;
pub(crate) mod cassette;
pub(crate) mod embeddings;
pub(crate) mod engines;
pub(crate) mod index;
pub(crate) mod judge;
pub(crate) mod mine;
pub(crate) mod place;
pub(crate) mod settings;
pub(crate) mod show;
pub(crate) mod trust;

use std::num::NonZeroUsize;

use anyhow::Context;
use replay::cores;

/// Bounds the threads of everything that computes. Call it once, before any step.
pub(crate) fn use_threads(jobs: Option<NonZeroUsize>) -> anyhow::Result<()> {
    // More threads than cores only wait for each other.
    let threads = jobs.map_or_else(cores, |jobs| jobs.get().min(cores()));
    rayon::ThreadPoolBuilder::new().num_threads(threads).build_global().context("cannot start threads")
}
