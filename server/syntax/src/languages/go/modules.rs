//! Possible folders of a Go package.

use crate::language::Manifest;
use crate::module_resolution::{ModuleLocation, ModuleTarget, Package, Projects, folder, join};
use crate::outline::Definition;

/// Minimum number of last path elements that identify a package.
const MIN_ELEMENTS: usize = 2;
/// Longer paths are truncated: each additional element adds one more candidate.
const MAX_ELEMENTS: usize = 12;

/// Returns the folder of the path in a module of the workspace; if the modules are unknown, folders that end like the path.
pub(super) fn targets(module: &str, projects: &Projects) -> Vec<ModuleTarget> {
    let known: Vec<ModuleTarget> = projects
        .go_modules
        .iter()
        .filter_map(|package| {
            let rest = module.strip_prefix(&*package.name)?;
            let rest = if rest.is_empty() { rest } else { rest.strip_prefix('/')? };
            Some(ModuleLocation::Folder(join(&package.folder, rest)?.into()).into())
        })
        .collect();
    if known.is_empty() { endings(module, projects.go_modules.is_empty()) } else { known }
}

/// Returns folders that end like `module`, the longest match first.
fn endings(module: &str, is_last_enough: bool) -> Vec<ModuleTarget> {
    let elements: Vec<&str> = module.split('/').take(MAX_ELEMENTS).collect();
    // The standard library's paths have no domain, and their last elements are common words.
    let has_domain = elements.first().is_some_and(|first| first.contains('.'));
    let least = if has_domain && is_last_enough { 1 } else { MIN_ELEMENTS };
    let starts = 0..elements.len().saturating_sub(least - 1).max(1);
    starts.map(|start| ModuleLocation::FolderEnding(elements[start..].join("/").into()).into()).collect()
}

/// Returns the locations visible in every file: the other files of its folder.
pub(super) fn implicit(from: &str) -> Vec<ModuleTarget> {
    vec![ModuleLocation::Folder(folder(from).into()).into()]
}

/// Tests see the other tests of their package, other code sees no tests. Other packages see exported names.
pub(super) fn can_name(from: &str, to: &str, definition: &Definition) -> bool {
    let is_test = |path: &str| path.ends_with("_test.go");
    let is_own = folder(from) == folder(to);
    if is_own { is_test(from) || !is_test(to) } else { !is_test(to) && !definition.is_private }
}

/// Returns the module named in a `go.mod`.
pub(crate) fn go_module(manifest: &Manifest) -> Option<Package> {
    let named = manifest.text.lines().find_map(|line| line.trim().strip_prefix("module "))?;
    let name = named.split("//").next().unwrap_or_default().trim().trim_matches(['"', '`']);
    Some(Package { folder: folder(&manifest.path).into(), name: name.into() })
}
