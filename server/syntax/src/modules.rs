//! Which files or namespaces of a workspace an import may mean.
//!
//! Only candidates, made from the text of the import and the place of its file; whether one exists is for who knows the files.

use crate::language::{Language, Manifest};
use crate::languages::{cargo_packages, go_module, package_json, tsconfig};
use crate::outline::Definition;

/// A place where the names of a module may be defined.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Target {
    /// Where to look.
    pub place: Place,
    /// The names to go through from there, outermost first: modules and types inside of it.
    pub inside: Vec<Box<str>>,
}

/// Where to look for names. Paths are relative to the workspace root, with `/` between their parts.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub enum Place {
    /// The file at this path.
    File(Box<str>),
    /// The file whose path is this or ends with `/` and this; of several, the one nearest to the root.
    FileEnding(Box<str>),
    /// All files directly in this folder.
    Folder(Box<str>),
    /// All files directly in the folder whose path is this or ends with `/` and this.
    FolderEnding(Box<str>),
    /// Everything that says it is in this package or namespace; where it names a type in one, the members of the type.
    Namespace(Box<str>),
}

impl From<Place> for Target {
    fn from(place: Place) -> Target {
        Target { place, inside: Vec::new() }
    }
}

/// What the manifests of a workspace say about the names of its modules.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Projects {
    /// `tsconfig.json` and its kin: folder, and what its `paths` map.
    pub(crate) aliases: Vec<Alias>,
    /// Packages that a `package.json` names.
    pub(crate) node_packages: Vec<Package>,
    /// Packages and libraries that a `Cargo.toml` names.
    pub(crate) crates: Vec<Package>,
    /// Modules that a `go.mod` names.
    pub(crate) go_modules: Vec<Package>,
}

/// A mapping of module names, as `paths` in a `tsconfig.json` has it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Alias {
    /// The folder for whose files it holds.
    pub(crate) folder: Box<str>,
    /// What stands before the `*`, or the whole name where there is none.
    pub(crate) before: Box<str>,
    /// What stands after the `*`; `None` where there is none.
    pub(crate) after: Option<Box<str>>,
    /// What it stands for, from the workspace root, with a `*` for what matched.
    pub(crate) paths: Vec<Box<str>>,
}

/// A package by the name under which others import it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Package {
    /// Its folder, empty for the root.
    pub(crate) folder: Box<str>,
    /// Its name.
    pub(crate) name: Box<str>,
}

impl Projects {
    /// Reads manifests; what they do not say, or say wrongly, is simply not known.
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
    /// Where `module`, as an import of a file at `from` writes it, may be found, best guess first.
    pub fn targets(self, from: &str, module: &str, projects: &Projects) -> Vec<Target> {
        if module.is_empty() {
            return vec![Place::File(from.into()).into()];
        }
        self.row().rules.targets(from, module, projects)
    }

    /// What a file at `from` sees of `namespace`, its own, without importing it.
    pub fn implicit(self, from: &str, namespace: &str) -> Vec<Target> {
        self.row().rules.implicit(from, namespace)
    }

    /// Whether code in the file at `from` may name `definition`, which the file at `to`, of this language, makes. What is private by
    /// custom alone may be named.
    pub fn can_name(self, from: &str, to: &str, definition: &Definition) -> bool {
        self.row().rules.can_name(from, to, definition)
    }
}

/// The folder of a path; empty for the root.
pub(crate) fn folder(path: &str) -> &str {
    path.rsplit_once('/').map_or("", |(folder, _)| folder)
}

/// `path` below `folder`, which is empty for the root.
pub(crate) fn below(folder: &str, path: &str) -> String {
    if folder.is_empty() { path.to_owned() } else { format!("{folder}/{path}") }
}

/// `path` below `folder`, with `.` and `..` taken out; `None` if it leaves the root.
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
