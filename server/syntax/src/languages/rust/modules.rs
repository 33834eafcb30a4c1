//! Files that a Rust path may refer to.

use crate::language::Manifest;
use crate::module_resolution::{ModuleLocation, ModuleTarget, Package, Projects, folder, join_folder};

/// Folders of a package whose files, or whose folders with a `main.rs`, are separate crates.
const CRATE_FOLDERS: &[&str] = &["src/bin", "tests", "benches", "examples"];
/// Names of files that are the root of their folder's crate or module.
const FOLDER_FILES: &[&str] = &["lib.rs", "main.rs", "mod.rs"];
/// Longer paths are truncated: each additional name adds two more candidates.
const MAX_SEGMENTS: usize = 12;

/// The crate of a file, and the file's module in it.
#[derive(Debug)]
struct ModulePath<'a> {
    /// The folder of the crate's root file.
    root: &'a str,
    /// Names of the modules from the crate's root to the file.
    path: Vec<&'a str>,
}

pub(super) fn targets(from: &str, module: &str, projects: &Projects) -> Vec<ModuleTarget> {
    let segments: Vec<&str> = module.split('.').take(MAX_SEGMENTS).collect();
    let Some((&first, rest)) = segments.split_first() else { return Vec::new() };
    let here = module_of(from, projects);
    match first {
        "crate" => in_crate(here.root, &[], rest),
        "self" => relative_path_targets(from, &here, 0, rest),
        "super" => {
            let more = rest.iter().take_while(|&&segment| segment == "super").count();
            relative_path_targets(from, &here, 1 + more, &rest[more..])
        }
        "std" | "core" | "alloc" => Vec::new(),
        _ => named_path_targets(from, &here, &segments, projects),
    }
}

/// Returns locations of a path that begins with a module of the file itself, the name of a crate of the workspace or, up to the
/// 2018 edition, a module of the crate.
fn named_path_targets(
    from: &str,
    here: &ModulePath<'_>,
    segments: &[&str],
    projects: &Projects,
) -> Vec<ModuleTarget> {
    let mut found = Vec::new();
    for package in projects.crates.iter().filter(|package| package.name.replace('-', "_") == segments[0]) {
        found.extend(in_crate(&join_folder(&package.folder, "src"), &[], &segments[1..]));
    }
    found.extend(relative_path_targets(from, here, 0, segments));
    if !here.path.is_empty() {
        found
            .extend(in_crate(here.root, &[], segments).into_iter().filter(|target| target.inside.is_empty()));
    }
    found
}

/// Returns locations of a path from the module `ups` levels above the file.
fn relative_path_targets(from: &str, here: &ModulePath<'_>, ups: usize, rest: &[&str]) -> Vec<ModuleTarget> {
    if ups == 0 && rest.is_empty() {
        return vec![ModuleLocation::File(from.into()).into()];
    }
    match here.path.len().checked_sub(ups) {
        Some(kept) => {
            let mut found = in_crate(here.root, &here.path[..kept], rest);
            // An item without a file of its own is in this one, which may not be the file that the module's path suggests.
            if ups == 0 {
                found.retain(|target| target.inside.len() < rest.len());
                found.push(ModuleTarget { place: ModuleLocation::File(from.into()), inside: boxed(rest) });
            }
            found
        }
        None => Vec::new(),
    }
}

/// Returns locations of the path `rest` from the module `base` of a crate, the file of its innermost module first.
fn in_crate(root: &str, base: &[&str], rest: &[&str]) -> Vec<ModuleTarget> {
    let mut found = Vec::new();
    for count in (0..=rest.len()).rev() {
        let (modules, inside) = rest.split_at(count);
        let path = [base, modules].concat();
        let files = if path.is_empty() {
            [join_folder(root, "lib.rs"), join_folder(root, "main.rs")]
        } else {
            let path = join_folder(root, &path.join("/"));
            [format!("{path}.rs"), format!("{path}/mod.rs")]
        };
        found.extend(
            files
                .map(|file| ModuleTarget { place: ModuleLocation::File(file.into()), inside: boxed(inside) }),
        );
    }
    found
}

fn boxed(names: &[&str]) -> Vec<Box<str>> {
    names.iter().map(|&name| name.into()).collect()
}

fn module_of<'a>(from: &'a str, projects: &Projects) -> ModulePath<'a> {
    let root = crate_root(from, projects);
    let path = from[root.len()..].trim_start_matches('/');
    let path = match path.rsplit_once('/') {
        Some((folder, file)) if FOLDER_FILES.contains(&file) => folder,
        None if FOLDER_FILES.contains(&path) => "",
        _ => path.trim_end_matches(".rs"),
    };
    // A crate of one file has its modules next to that file.
    let is_root_file = is_crate_folder(root) && folder(from) == root;
    let path = if is_root_file { "" } else { path };
    ModulePath { root, path: path.split('/').filter(|name| !name.is_empty()).collect() }
}

/// Returns the folder of the root file of a file's crate.
fn crate_root<'a>(from: &'a str, projects: &Projects) -> &'a str {
    let package = package_folder(from, projects);
    let inside = from[package.len()..].trim_start_matches('/');
    let start = from.len() - inside.len();
    let folder_of_crates = CRATE_FOLDERS.iter().find(|name| is_below(inside, name));
    let end = match folder_of_crates {
        Some(name) => crate_below(inside, name),
        None if is_below(inside, "src") => "src".len(),
        None => inside.rfind('/').unwrap_or(0),
    };
    from[..start + end].trim_end_matches('/')
}

/// Returns the length of the prefix of `inside` that is its crate's folder in the folder `name`: `tests/it/main.rs` and
/// `tests/it.rs` have their modules next to them, `tests/common/mod.rs` is a module of other crates.
fn crate_below(inside: &str, name: &str) -> usize {
    match inside[name.len() + 1..].split_once('/') {
        Some((_, "mod.rs")) | None => name.len(),
        Some((first, _)) => name.len() + 1 + first.len(),
    }
}

/// Returns the folder of a file's package, from manifests or guessed from its `src`.
fn package_folder<'a>(from: &'a str, projects: &Projects) -> &'a str {
    let folders = projects.crates.iter().map(|package| package.folder.as_ref());
    let around = folders.filter(|folder| folder.is_empty() || is_below(from, folder));
    match around.max_by_key(|folder| folder.len()) {
        Some(folder) => &from[..folder.len()],
        None => from.rfind("/src/").map_or("", |end| &from[..end]),
    }
}

fn is_below(path: &str, folder: &str) -> bool {
    path.strip_prefix(folder).is_some_and(|rest| rest.starts_with('/'))
}

fn is_crate_folder(root: &str) -> bool {
    CRATE_FOLDERS.iter().any(|name| root == *name || root.ends_with(&format!("/{name}")))
}

/// Returns the names under which other crates can import the package of a `Cargo.toml`.
pub(crate) fn cargo_packages(manifest: &Manifest) -> Vec<Package> {
    let mut section = "";
    let mut names = Vec::new();
    for line in manifest.text.lines().map(str::trim) {
        if line.starts_with('[') {
            section = line;
        }
        let is_naming = matches!(section, "[package]" | "[lib]");
        let value = line.strip_prefix("name").and_then(|rest| rest.trim_start().strip_prefix('='));
        if let Some(value) = value.filter(|_| is_naming) {
            names.extend(value.trim().split(['"', '\'']).nth(1));
        }
    }
    let folder = folder(&manifest.path);
    names.into_iter().map(|name| Package { folder: folder.into(), name: name.into() }).collect()
}
