//! Where something was set.

use std::fmt;
use std::path::Path;
use std::sync::Arc;

/// The layers of the configuration; each one beats those before it, key by key.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum LayerKind {
    /// What holds where nobody said anything.
    Default,
    /// The file in the platform's configuration folder.
    User,
    /// `ghostbench.toml` in the workspace.
    Workspace,
    /// The settings of the editor.
    Editor,
    /// Environment variables.
    Environment,
    /// The file that the command line names.
    CommandLine,
}

impl LayerKind {
    /// The layer in words.
    pub fn name(self) -> &'static str {
        match self {
            LayerKind::Default => "default",
            LayerKind::User => "user file",
            LayerKind::Workspace => "workspace file",
            LayerKind::Editor => "editor",
            LayerKind::Environment => "environment",
            LayerKind::CommandLine => "--config",
        }
    }
}

/// A place that somebody can go to and change something.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Place {
    /// Nowhere: the default.
    Default,
    /// In a file, lines and columns counted from 1, columns in characters.
    File {
        /// The file.
        path: Arc<Path>,
        /// Its line; 0 for the file as a whole.
        line: usize,
        /// The column.
        column: usize,
    },
    /// In the editor's settings, as a path with dots.
    Setting(String),
    /// In an environment variable.
    Variable(String),
    /// In an option of the command line.
    Option(&'static str),
}

/// A layer with the place in it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Origin {
    /// The layer.
    pub layer: LayerKind,
    /// The place.
    pub place: Place,
}

impl Place {
    /// A file as a whole.
    pub(crate) fn whole(path: &Arc<Path>) -> Place {
        Place::File { path: Arc::clone(path), line: 0, column: 0 }
    }

    /// The same without what an edit elsewhere in the file changes.
    pub(crate) fn without_position(&self) -> Place {
        match self {
            Place::File { path, .. } => Place::whole(path),
            other => other.clone(),
        }
    }

    /// What orders the places of one layer.
    pub(crate) fn position(&self) -> (usize, usize) {
        match self {
            Place::File { line, column, .. } => (*line, *column),
            _ => (0, 0),
        }
    }
}

impl fmt::Display for Place {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Place::Default => f.write_str("default"),
            Place::File { path, line: 0, .. } => write!(f, "{}", path.display()),
            Place::File { path, line, column } => write!(f, "{}:{line}:{column}", path.display()),
            Place::Setting(setting) => write!(f, "setting {setting}"),
            Place::Variable(name) => write!(f, "variable {name}"),
            Place::Option(name) => f.write_str(name),
        }
    }
}

impl fmt::Display for Origin {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match (self.layer, &self.place) {
            (LayerKind::Default, _) => f.write_str("default"),
            (layer @ (LayerKind::User | LayerKind::Workspace | LayerKind::CommandLine), place) => {
                write!(f, "{} {place}", layer.name())
            }
            (LayerKind::Editor | LayerKind::Environment, place) => write!(f, "{place}"),
        }
    }
}
