//! The sources of the configuration: files and environment.
//!
//! This module decides their locations; `session` reads the files, and `config` interprets them.

use std::path::Path;

use anyhow::Context;
use config::{Config, ConfigLayer, Environment, LayerKind, Severity};
use session::{SettingsFiles, read_settings_file};

use crate::exit::UsageError;
use crate::folders;
use crate::output::print_message;

/// The sources of every folder's configuration.
pub(crate) struct SettingsSources {
    /// The settings files.
    pub(crate) files: SettingsFiles,
    /// The environment variables.
    pub(crate) variables: Environment,
}

impl SettingsSources {
    /// Returns the sources of this process, with the file named on the command line, if any.
    pub(crate) fn new(named: Option<&Path>) -> SettingsSources {
        // Resolve links, like the path of the workspace's file, which may be the same file.
        let whole =
            |path: &Path| path.canonicalize().or_else(|_| std::path::absolute(path)).unwrap_or(path.into());
        SettingsSources {
            files: SettingsFiles {
                user: folders::user_settings(),
                named: named.map(whole),
                trusted: folders::trust_list(),
            },
            variables: variables(),
        }
    }

    /// Returns the layers for the folder at `root`.
    pub(crate) fn layers(&self, root: &Path) -> Vec<ConfigLayer> {
        self.files.read(Some(root)).layers(&[], &self.variables)
    }

    /// Returns the configuration of the folder at `root`, and prints its problems. A broken file named on the command line is an error.
    pub(crate) fn config(&self, root: &Path) -> anyhow::Result<Config> {
        let layers = self.layers(root);
        refuse_broken(&layers, LayerKind::CommandLine)?;
        let config = Config::new(&layers, &self.variables);
        for problem in &config.problems {
            let word = match problem.severity {
                Severity::Error => "error in the settings",
                Severity::Warning => "warning",
                Severity::Untrusted => "note",
            };
            print_message(&format!("{word}: {problem}"));
        }
        Ok(config)
    }
}

/// Returns an error with all problems of a layer if it is present and broken.
pub(crate) fn refuse_broken(layers: &[ConfigLayer], kind: LayerKind) -> Result<(), UsageError> {
    match layers.iter().find(|layer| layer.kind() == kind && layer.is_broken()) {
        Some(broken) => {
            let problems: Vec<String> = broken.problems().iter().map(ToString::to_string).collect();
            Err(UsageError(problems.join("\n")))
        }
        None => Ok(()),
    }
}

/// Returns the environment. Variables that are not Unicode are skipped: none of ours are, and they cannot hold a key.
pub(crate) fn variables() -> Environment {
    let all = std::env::vars_os();
    Environment::new(
        all.filter_map(|(name, value)| Some((name.into_string().ok()?, value.into_string().ok()?))),
    )
}

/// Reads a file that must exist.
pub(crate) fn read_named(path: &Path) -> anyhow::Result<Vec<u8>> {
    read_settings_file(path).with_context(|| format!("cannot read {}", path.display()))
}
