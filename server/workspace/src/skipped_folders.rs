//! Recognizes folders without code of the workspace's own: installed dependencies, build output, other checkouts and runs.

use std::fs;
use std::io::{self, Read};
use std::path::Path;

use crate::SkipReason;
use crate::open_regular::open_regular;

/// Folders filled by package managers. Go, PHP and Ruby use `vendor` for copies of third-party code.
const DEPENDENCY_FOLDERS: [&str; 4] = ["node_modules", "bower_components", "site-packages", "vendor"];

/// Folders written by builds. Projects use the same names for scripts; see [`looks_built`].
const BUILD_FOLDERS: [&str; 6] = ["build", "dist", "out", "target", "bin", "obj"];

/// Entries that only build tools write directly into their output folder.
const BUILD_ENTRIES: [&str; 7] = [
    "CMakeCache.txt",
    "build.ninja",
    "project.assets.json",
    "classes",
    "libs",
    "maven-status",
    "tsconfig.tsbuildinfo",
];

/// Extensions of compiled, bundled or packed files.
const BUILD_ENDINGS: [&str; 14] = [
    ".o", ".obj", ".a", ".so", ".dll", ".exe", ".class", ".jar", ".pyc", ".whl", ".tar.gz", ".d.ts",
    ".js.map", ".min.js",
];

/// Next to one of these, a folder called [`PACKAGE_OUTPUT`] contains the built package.
const PACKAGE_FILES: [&str; 3] = ["package.json", "pyproject.toml", "setup.py"];

/// Output folder of package builds.
const PACKAGE_OUTPUT: &str = "dist";

/// File that describes a Ghostbench run.
pub(crate) const RUN_FILE: &str = "run.json";

/// Number of bytes read from a `run.json`: its own keys are at its beginning, before the engines.
const RUN_HEAD_BYTES: u64 = 64 * 1024;

/// Lists the names of a folder's entries that are UTF-8.
pub(crate) fn list_entries(folder: &Path) -> io::Result<Vec<String>> {
    let mut names = Vec::new();
    for entry in fs::read_dir(folder)? {
        names.extend(entry?.file_name().into_string());
    }
    Ok(names)
}

/// Returns the reason to skip the folder called `name` with these `entries`, or `None` to walk it.
pub(crate) fn skip_reason(folder: &Path, name: &str, entries: &[String]) -> Option<SkipReason> {
    let has = |entry: &str| entries.iter().any(|other| other == entry);
    if name.starts_with('.') {
        Some(SkipReason::Hidden)
    } else if is_dependency_name(name) || has("pyvenv.cfg") {
        Some(SkipReason::Dependencies)
    } else if has("CACHEDIR.TAG") || (BUILD_FOLDERS.contains(&name) && looks_built(folder, name, entries)) {
        Some(SkipReason::BuildOutput)
    } else if has(".git") && is_plain_file(&folder.join(".git")) {
        Some(SkipReason::NestedCheckout)
    } else if has(RUN_FILE) && holds_run(folder) {
        Some(SkipReason::Run)
    } else {
        None
    }
}

/// Returns the name of the folder whose verdict depends on whether the file called `name` is next to it.
pub(crate) fn folder_judged_by_sibling(name: &str) -> Option<&'static str> {
    PACKAGE_FILES.contains(&name).then_some(PACKAGE_OUTPUT)
}

/// Whether package managers fill folders of this name.
pub(crate) fn is_dependency_name(name: &str) -> bool {
    DEPENDENCY_FOLDERS.contains(&name)
}

/// Whether the folder called `name`, skipped for `reason`, may be walked after its entries change.
pub(crate) fn is_judged_by_entries(name: &str, reason: SkipReason) -> bool {
    match reason {
        SkipReason::BuildOutput | SkipReason::NestedCheckout | SkipReason::Run => true,
        SkipReason::Dependencies => !is_dependency_name(name),
        _ => false,
    }
}

/// Whether the entries of a folder, or its siblings, prove that a build wrote it.
fn looks_built(folder: &Path, name: &str, entries: &[String]) -> bool {
    let is_package_output = name == PACKAGE_OUTPUT
        && folder
            .parent()
            .is_some_and(|parent| PACKAGE_FILES.iter().any(|file| is_plain_file(&parent.join(file))));
    is_package_output
        || entries.iter().any(|entry| {
            BUILD_ENTRIES.contains(&entry.as_str())
                || BUILD_ENDINGS.iter().any(|ending| entry.ends_with(ending))
        })
}

/// Whether a file exists; a symbolic link does not count, since its target may change without a change here.
fn is_plain_file(path: &Path) -> bool {
    fs::symlink_metadata(path).is_ok_and(|metadata| metadata.is_file())
}

/// Whether the `run.json` of a folder is Ghostbench's, judged by its keys; other tools use the name too.
fn holds_run(folder: &Path) -> bool {
    let Ok(file) = open_regular(folder, "run.json") else { return false };
    let mut head = Vec::new();
    let read = file.take(RUN_HEAD_BYTES).read_to_end(&mut head);
    let text = String::from_utf8_lossy(&head);
    read.is_ok() && text.contains("\"schema\"") && text.contains("\"suite\"")
}
