//! The origin of settings.

use std::fmt;
use std::path::Path;
use std::sync::Arc;

/// The layers of the configuration, weakest first. Each one overrides those before it, key by key.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum LayerKind {
    /// Defaults.
    Default,
    /// The file in the platform's configuration folder.
    User,
    /// `ghostbench.toml` in the workspace.
    Workspace,
    /// The settings of the editor.
    Editor,
    /// Environment variables.
    Environment,
    /// The file given on the command line.
    CommandLine,
}

impl LayerKind {
    /// Returns the layer's name for display.
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

/// The place of a setting, where the user can change it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum SettingLocation {
    /// No place: the default.
    Default,
    /// A position in a file. Lines and columns are 1-based; columns are in characters.
    File {
        /// The file.
        path: Arc<Path>,
        /// Its line; 0 for the file as a whole.
        line: usize,
        /// The column.
        column: usize,
    },
    /// A dotted path in the editor's settings.
    Setting(String),
    /// An environment variable.
    Variable(String),
    /// A command-line option.
    Option(&'static str),
}

/// A layer and a place in it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SettingOrigin {
    /// The layer.
    pub layer: LayerKind,
    /// The place.
    pub location: SettingLocation,
}

impl SettingLocation {
    /// The file as a whole.
    pub(crate) fn whole_file(path: &Arc<Path>) -> SettingLocation {
        SettingLocation::File { path: Arc::clone(path), line: 0, column: 0 }
    }

    /// Returns the place without its position, which edits elsewhere in the file change.
    pub(crate) fn without_position(&self) -> SettingLocation {
        match self {
            SettingLocation::File { path, .. } => SettingLocation::whole_file(path),
            other => other.clone(),
        }
    }

    /// Sort key of places within one layer.
    pub(crate) fn position(&self) -> (usize, usize) {
        match self {
            SettingLocation::File { line, column, .. } => (*line, *column),
            _ => (0, 0),
        }
    }
}

impl fmt::Display for SettingLocation {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            SettingLocation::Default => f.write_str("default"),
            SettingLocation::File { path, line: 0, .. } => write!(f, "{}", path.display()),
            SettingLocation::File { path, line, column } => write!(f, "{}:{line}:{column}", path.display()),
            SettingLocation::Setting(setting) => write!(f, "setting {setting}"),
            SettingLocation::Variable(name) => write!(f, "variable {name}"),
            SettingLocation::Option(name) => f.write_str(name),
        }
    }
}

impl fmt::Display for SettingOrigin {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match (self.layer, &self.location) {
            (LayerKind::Default, _) => f.write_str("default"),
            (layer @ (LayerKind::User | LayerKind::Workspace | LayerKind::CommandLine), place) => {
                write!(f, "{} {place}", layer.name())
            }
            (LayerKind::Editor | LayerKind::Environment, place) => write!(f, "{place}"),
        }
    }
}
