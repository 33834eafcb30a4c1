//! Quality and speed of the built-in engine on the pinned repositories.

use anyhow::Result;

use super::repositories::Repo;

/// Measures the engine and returns the Markdown of its section.
pub(crate) fn run(_repos: &[Repo]) -> Result<String> {
    anyhow::bail!("the built-in engine has no benchmark yet")
}
