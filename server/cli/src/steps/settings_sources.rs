//! The files and the environment that the configuration is made of.
//!
//! Where they are is decided here; `lsp` reads the files, and `config` gives them meaning.

use std::path::Path;

use anyhow::Context;
use config::{Config, ConfigLayer, Environment, LayerKind, Severity};
use lsp::{SettingsFiles, read_settings_file};

use crate::exit::UsageError;
use crate::folders;
use crate::output::print_message;

/// What the configuration of any folder is made of.
pub(crate) struct SettingsSources {
    /// The files.
    pub(crate) files: SettingsFiles,
    /// The environment.
    pub(crate) variables: Environment,
}

impl SettingsSources {
    /// Those of this process, with the file that the command line names, if any.
    pub(crate) fn new(named: Option<&Path>) -> SettingsSources {
        // Without links, as the workspace's file is, which it may be.
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

    /// The layers that hold in the folder at `root`.
    pub(crate) fn layers(&self, root: &Path) -> Vec<ConfigLayer> {
        self.files.read(Some(root)).layers(&[], &self.variables)
    }

    /// What holds in the folder at `root`, with everything that is wrong told. A broken file that the command line names is an error:
    /// who names it wants what it says.
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

/// An error with all problems of a broken layer, if this one is there and is broken.
pub(crate) fn refuse_broken(layers: &[ConfigLayer], kind: LayerKind) -> Result<(), UsageError> {
    match layers.iter().find(|layer| layer.kind() == kind && layer.is_broken()) {
        Some(broken) => {
            let problems: Vec<String> = broken.problems().iter().map(ToString::to_string).collect();
            Err(UsageError(problems.join("\n")))
        }
        None => Ok(()),
    }
}

/// The environment. A variable that is no text is none that we know, and holds no key.
pub(crate) fn variables() -> Environment {
    let all = std::env::vars_os();
    Environment::new(
        all.filter_map(|(name, value)| Some((name.into_string().ok()?, value.into_string().ok()?))),
    )
}

/// The content of a file that has to be there.
pub(crate) fn read_named(path: &Path) -> anyhow::Result<Vec<u8>> {
    read_settings_file(path).with_context(|| format!("cannot read {}", path.display()))
}
