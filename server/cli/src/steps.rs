//! The steps that commands are made of: read and index a workspace, mine, ask, show.

pub(crate) mod ask;
pub(crate) mod engines;
pub(crate) mod index;
pub(crate) mod mine;
pub(crate) mod show;

use std::num::NonZeroUsize;

use anyhow::Context;

/// Bounds the threads of everything that computes. Call it once, before any step.
pub(crate) fn use_threads(jobs: Option<NonZeroUsize>) -> anyhow::Result<()> {
    let Some(jobs) = jobs else { return Ok(()) };
    rayon::ThreadPoolBuilder::new().num_threads(jobs.get()).build_global().context("cannot start threads")
}
