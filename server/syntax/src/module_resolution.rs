//! The files or namespaces of a workspace that an import may refer to.
//!
//! Returns candidates only, made from the text of the import and the path of its file. The caller checks which of them exist.

use crate::language::{Language, Manifest};
use crate::languages::{cargo_packages, go_module, package_json, tsconfig};
use crate::outline::Definition;

/// A possible location of a module's names.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ModuleTarget {
    /// Where to search.
    pub place: ModuleLocation,
    /// Modules and types to descend through from there, outermost first.
    pub inside: Vec<Box<str>>,
}

/// Where to search for names. Paths are relative to the workspace root, with `/` between their parts.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub enum ModuleLocation {
    /// The file at this path.
    File(Box<str>),
    /// The file whose path is this or ends with `/` and this; if there are several, the one nearest to the root.
    FileEnding(Box<str>),
    /// All files directly in this folder.
    Folder(Box<str>),
    /// All files directly in the folder whose path is this or ends with `/` and this.
    FolderEnding(Box<str>),
    /// Everything declared in this package or namespace; if it names a type in one, the members of the type.
    Namespace(Box<str>),
}

impl From<ModuleLocation> for ModuleTarget {
    fn from(place: ModuleLocation) -> ModuleTarget {
        ModuleTarget { place, inside: Vec::new() }
    }
}

/// Information about module names from a workspace's manifests.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Projects {
    /// The `paths` mappings of `tsconfig.json` and similar files.
    pub(crate) aliases: Vec<PathAlias>,
    /// Packages named in a `package.json`.
    pub(crate) node_packages: Vec<Package>,
    /// Packages and libraries named in a `Cargo.toml`.
    pub(crate) crates: Vec<Package>,
    /// Modules named in a `go.mod`.
    pub(crate) go_modules: Vec<Package>,
}

/// A mapping of module names, as in `paths` of a `tsconfig.json`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct PathAlias {
    /// Folder of the files that the mapping applies to.
    pub(crate) folder: Box<str>,
    /// Text before the `*`, or the whole name if there is none.
    pub(crate) before: Box<str>,
    /// Text after the `*`; `None` if there is none.
    pub(crate) after: Option<Box<str>>,
    /// Targets relative to the workspace root, with a `*` for the matched part.
    pub(crate) paths: Vec<Box<str>>,
}

/// A package by its import name.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Package {
    /// Its folder, empty for the root.
    pub(crate) folder: Box<str>,
    /// Its name.
    pub(crate) name: Box<str>,
}

impl Projects {
    /// Reads manifests; missing or invalid entries are ignored.
    pub fn new(manifests: &[Manifest]) -> Projects {
        let mut projects = Projects::default();
        for manifest in manifests {
            match manifest.path.rsplit('/').next() {
                Some("Cargo.toml") => projects.crates.extend(cargo_packages(manifest)),
                Some("go.mod") => projects.go_modules.extend(go_module(manifest)),
                Some("package.json") => {
                    let (package, aliases) = package_json(manifest);
                    projects.node_packages.extend(package);
                    projects.aliases.extend(aliases);
                }
                Some(name) if name.starts_with("tsconfig.") || name.starts_with("jsconfig.") => {
                    projects.aliases.extend(tsconfig(manifest, manifests));
                }
                _ => {}
            }
        }
        projects
    }
}

impl Language {
    /// Returns possible locations of `module` as written in an import of the file at `from`, best guess first.
    pub fn import_targets(self, from: &str, module: &str, projects: &Projects) -> Vec<ModuleTarget> {
        if module.is_empty() {
            return vec![ModuleLocation::File(from.into()).into()];
        }
        self.spec().rules.targets(from, module, projects)
    }

    /// Returns locations that a file at `from` in `namespace` sees without an import.
    pub fn implicit_targets(self, from: &str, namespace: &str) -> Vec<ModuleTarget> {
        self.spec().rules.implicit(from, namespace)
    }

    /// Whether code in the file at `from` may name `definition` of the file at `to` in this language. Names that are private by
    /// convention only may be named.
    pub fn can_name(self, from: &str, to: &str, definition: &Definition) -> bool {
        self.spec().rules.can_name(from, to, definition)
    }
}

/// Returns the folder of a path; empty for the root.
pub(crate) fn folder(path: &str) -> &str {
    path.rsplit_once('/').map_or("", |(folder, _)| folder)
}

/// Joins `folder` and `path`; an empty `folder` is the root.
pub(crate) fn join_folder(folder: &str, path: &str) -> String {
    if folder.is_empty() { path.to_owned() } else { format!("{folder}/{path}") }
}

/// Joins `folder` and `path` and resolves `.` and `..`; `None` if the result is outside of the root.
pub(crate) fn join(folder: &str, path: &str) -> Option<String> {
    let mut parts: Vec<&str> = folder.split('/').filter(|part| !part.is_empty()).collect();
    for part in path.split('/') {
        match part {
            "" | "." => {}
            ".." => drop(parts.pop()?),
            part => parts.push(part),
        }
    }
    Some(parts.join("/"))
}
