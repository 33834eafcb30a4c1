//! The settings in the manifest of the VS Code extension are those of the server.

use xtask::extension_settings::{MANIFEST, SCHEMA, with_settings};

use super::{Finding, TextFile};

/// Finds a manifest whose settings are not those of the schema.
pub(crate) fn check(files: &[TextFile]) -> Option<Finding> {
    let (manifest, schema) = (TextFile::find(files, MANIFEST)?, TextFile::find(files, SCHEMA)?);
    match with_settings(&manifest.text, &schema.text) {
        Ok(expected) if expected == manifest.text => None,
        Ok(_) => {
            Some(Finding::new(MANIFEST, "the settings are not those of the server; run `cargo xtask docs`"))
        }
        Err(error) => Some(Finding::new(MANIFEST, format!("{error:#}"))),
    }
}
