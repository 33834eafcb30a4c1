//! The configuration files of one folder and the layers made from them.

use std::path::PathBuf;

use serde_json::Value as Json;

use crate::layer::{Layer, editor_trusts};
use crate::place::{LayerKind, Place};
use crate::problem::Problem;
use crate::trust::{Trust, TrustStore};
use crate::variables::Variables;

/// Files read for one folder. Equal values have equal layers.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Files {
    /// The user's file.
    pub user: Option<FileRead>,
    /// The workspace's file. Its path must be free of links, because the trust list and the file's folder both depend on it.
    pub workspace: Option<FileRead>,
    /// The file given on the command line, even if it could not be read.
    pub command_line: Option<FileRead>,
    /// The list of trusted files.
    pub trusted: Option<FileRead>,
}

/// An existing file.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct FileRead {
    /// Its path.
    pub path: PathBuf,
    /// Its content, or the reason why it could not be read.
    pub content: Result<Vec<u8>, String>,
}

impl Files {
    /// Returns the layers of these files, of the editor's settings (later ones override earlier ones) and of the environment.
    pub fn layers(&self, editor: &[Json], variables: &Variables) -> Vec<Layer> {
        let mut layers = vec![Layer::environment(variables)];
        layers.extend(editor.iter().map(|settings| Layer::editor(settings, variables)));
        let trusted = |kind, file: &FileRead| file.layer(kind, Trust::Trusted, variables);
        layers.extend(self.user.iter().map(|file| trusted(LayerKind::User, file)));
        layers.extend(self.command_line.iter().map(|file| trusted(LayerKind::CommandLine, file)));
        // Reading the same file twice would report every problem twice.
        let named = self.command_line.as_ref().map(|file| &file.path);
        let workspace = self.workspace.as_ref().filter(|file| Some(&file.path) != named);
        layers.extend(workspace.map(|file| self.of_workspace(file, editor, variables)));
        layers
    }

    fn of_workspace(&self, file: &FileRead, editor: &[Json], variables: &Variables) -> Layer {
        if editor.iter().rev().find_map(editor_trusts) == Some(true) {
            return file.layer(LayerKind::Workspace, Trust::Trusted, variables);
        }
        let (list, problem) = match self.trusted.as_ref().map(FileRead::list) {
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

impl FileRead {
    fn layer(&self, kind: LayerKind, trust: Trust, variables: &Variables) -> Layer {
        match &self.content {
            Ok(content) => Layer::file(kind, &self.path, content, trust, variables),
            Err(reason) => Layer::unreadable(kind, &self.path, reason),
        }
    }

    /// Parses the file as a trust list. A list that cannot be read trusts no files.
    fn list(&self) -> Result<TrustStore, Problem> {
        let list = match &self.content {
            Ok(content) => {
                TrustStore::parse(&String::from_utf8_lossy(content)).map_err(|error| error.to_string())
            }
            Err(reason) => Err(format!("cannot be read: {reason}")),
        };
        list.map_err(|message| Problem::warning(Place::whole(&self.path.as_path().into()), message))
    }
}
