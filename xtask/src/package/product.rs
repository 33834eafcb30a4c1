//! What packages say about the product: read from the manifest of the binary's crate, so that it is written once.

use anyhow::{Context, Result};
use serde_json::Value;
use xtask::process;

/// The product.
#[derive(Debug)]
pub(super) struct Product {
    /// Version, as Cargo writes it.
    pub version: String,
    /// One sentence without a full stop.
    pub description: String,
    /// Address of the repository, without a slash at its end.
    pub repository: String,
    /// SPDX expression.
    pub licence: String,
}

impl Product {
    /// Reads it from the manifest.
    pub(super) fn read() -> Result<Product> {
        let arguments = ["metadata", "--format-version", "1", "--no-deps", "--locked"];
        let metadata: Value = serde_json::from_str(&process::output(process::cargo().args(arguments))?)?;
        let mut packages = metadata["packages"].as_array().into_iter().flatten();
        let package = packages.find(|package| package["name"] == "cli");
        let package = package.context("the workspace has no crate `cli`")?;
        let text = |key: &str| -> Result<String> {
            let value = package[key].as_str().with_context(|| format!("the crate `cli` has no {key}"))?;
            Ok(value.to_owned())
        };
        Ok(Product {
            version: text("version")?,
            description: text("description")?,
            repository: text("repository")?,
            licence: text("license")?,
        })
    }

    /// Address of the files of this version's release.
    pub(super) fn downloads(&self) -> String {
        format!("{}/releases/download/v{}", self.repository, self.version)
    }

    /// The version in the notation of Python's packages, which has no hyphens.
    pub(super) fn python_version(&self) -> String {
        self.version.replace("-rc.", "rc")
    }

    /// The version in Debian's notation, in which a tilde sorts before the end.
    pub(super) fn debian_version(&self) -> String {
        format!("{}-1", self.version.replace('-', "~"))
    }
}

#[cfg(test)]
pub(super) mod tests {
    use super::*;

    /// A product for tests of formats.
    pub(in crate::package) fn product(version: &str) -> Product {
        Product {
            version: version.to_owned(),
            description: "Measures engines".to_owned(),
            repository: "https://example.org/ghostbench".to_owned(),
            licence: "MIT OR Apache-2.0".to_owned(),
        }
    }

    #[test]
    fn release_candidate_sorts_before_its_release_in_every_notation() {
        let candidate = product("0.1.0-rc.2");
        assert_eq!(candidate.python_version(), "0.1.0rc2");
        assert_eq!(candidate.debian_version(), "0.1.0~rc.2-1");
        assert_eq!(product("0.1.0").python_version(), "0.1.0");
    }
}
