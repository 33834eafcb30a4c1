//! The configuration files of one folder and the layers made from them.

use std::path::PathBuf;

use serde_json::Value as Json;

use crate::environment::Environment;
use crate::layer::{ConfigLayer, editor_trusts_folder};
use crate::problem::Problem;
use crate::setting_location::{LayerKind, SettingLocation};
use crate::trust::{Trust, TrustStore};

/// Files read for one folder. Equal values have equal layers.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct ConfigFiles {
    /// The user's file.
    pub user: Option<ConfigFile>,
    /// The workspace's file. Its path must be free of links, because the trust list and the file's folder both depend on it.
    pub workspace: Option<ConfigFile>,
    /// The file given on the command line, even if it could not be read.
    pub command_line: Option<ConfigFile>,
    /// The list of trusted files.
    pub trusted: Option<ConfigFile>,
}

/// An existing file.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ConfigFile {
    /// Its path.
    pub path: PathBuf,
    /// Its content, or the reason why it could not be read.
    pub content: Result<Vec<u8>, String>,
}

impl ConfigFiles {
    /// Returns the layers of these files, of the editor's settings (later ones override earlier ones) and of the environment.
    pub fn layers(&self, editor: &[Json], variables: &Environment) -> Vec<ConfigLayer> {
        let mut layers = vec![ConfigLayer::environment(variables)];
        layers.extend(editor.iter().map(|settings| ConfigLayer::editor(settings, variables)));
        let trusted = |kind, file: &ConfigFile| file.layer(kind, Trust::Trusted, variables);
        layers.extend(self.user.iter().map(|file| trusted(LayerKind::User, file)));
        layers.extend(self.command_line.iter().map(|file| trusted(LayerKind::CommandLine, file)));
        // Reading the same file twice would report every problem twice.
        let named = self.command_line.as_ref().map(|file| &file.path);
        let workspace = self.workspace.as_ref().filter(|file| Some(&file.path) != named);
        layers.extend(workspace.map(|file| self.workspace_layer(file, editor, variables)));
        layers
    }

    fn workspace_layer(&self, file: &ConfigFile, editor: &[Json], variables: &Environment) -> ConfigLayer {
        if editor.iter().rev().find_map(editor_trusts_folder) == Some(true) {
            return file.layer(LayerKind::Workspace, Trust::Trusted, variables);
        }
        let (list, problem) = match self.trusted.as_ref().map(ConfigFile::trust_store) {
            Some(Err(problem)) => (TrustStore::default(), Some(problem)),
            Some(Ok(list)) => (list, None),
            None => (TrustStore::default(), None),
        };
        let content = file.content.as_deref().unwrap_or_default();
        let trust = list.trust_in(&file.path, content);
        let mut layer = file.layer(LayerKind::Workspace, trust, variables);
        layer.problems.extend(problem);
        layer
    }
}

impl ConfigFile {
    fn layer(&self, kind: LayerKind, trust: Trust, variables: &Environment) -> ConfigLayer {
        match &self.content {
            Ok(content) => ConfigLayer::file(kind, &self.path, content, trust, variables),
            Err(reason) => ConfigLayer::unreadable(kind, &self.path, reason),
        }
    }

    /// Parses the file as a trust list. A list that cannot be read trusts no files.
    fn trust_store(&self) -> Result<TrustStore, Problem> {
        let list = match &self.content {
            Ok(content) => {
                TrustStore::parse(&String::from_utf8_lossy(content)).map_err(|error| error.to_string())
            }
            Err(reason) => Err(format!("cannot be read: {reason}")),
        };
        list.map_err(|message| {
            Problem::warning(SettingLocation::whole_file(&self.path.as_path().into()), message)
        })
    }
}
