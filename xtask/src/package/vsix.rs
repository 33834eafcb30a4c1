//! The extension of VS Code with the server in it, for one platform: it works without anything else being installed.
//!
//! The extension is packed in a separate folder, so that a build of `vscode-extension` for another purpose is not disturbed.

use std::collections::BTreeSet;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use anyhow::{Context, Result, ensure};
use serde_json::{Map, Value};
use xtask::{extension, process};

use super::Source;
use super::contents::{PackageFile, THIRD_PARTY, write_files};
use super::third_party::{self, LinkedPackage};

/// Files of the extension that are packed as they are.
const EXTENSION_FILES: [&str; 3] = ["README.md", "dist/extension.js", ".vscodeignore"];

/// Folder of the pages for the first use.
const WALKTHROUGH: &str = "walkthrough";

/// List of the sources in the bundle, as esbuild writes it.
const BUNDLED_SOURCES: &str = "dist/bundled.json";

/// Folder in which the extension looks for the server first.
const SERVER_FOLDER: &str = "server";

/// Writes the extension and returns its path.
pub(super) fn write(source: &Source, out: &Path) -> Result<PathBuf> {
    extension::bundle()?;
    let extension = Path::new(extension::FOLDER);
    let staging = tempfile::tempdir()?;
    let mut files = extension_files(extension)?;
    files.push(PackageFile::data("package.json", manifest(extension, source)?));
    files.extend(licences(source, extension)?);
    files.push(source.contents.program.below(SERVER_FOLDER));
    write_files(staging.path(), &files)?;
    let target = source.platform.vscode;
    let path = std::path::absolute(out)?.join(format!("ghostbench-{target}-{}.vsix", source.product.version));
    pack(extension, staging.path(), target, &path)?;
    Ok(path)
}

fn extension_files(extension: &Path) -> Result<Vec<PackageFile>> {
    let read = |path: &str| {
        let bytes = fs::read(extension.join(path));
        Ok(PackageFile::data(path, bytes.with_context(|| format!("failed to read the extension's {path}"))?))
    };
    let mut files: Vec<PackageFile> = EXTENSION_FILES.map(read).into_iter().collect::<Result<_>>()?;
    for entry in fs::read_dir(extension.join(WALKTHROUGH))? {
        files.push(read(&format!("{WALKTHROUGH}/{}", entry?.file_name().display()))?);
    }
    files.sort_by(|a, b| a.path.cmp(&b.path));
    Ok(files)
}

/// The manifest without scripts and packages for development, which VS Code's packager would run and look for.
fn manifest(extension: &Path, source: &Source) -> Result<String> {
    let text = fs::read_to_string(extension.join("package.json"))?;
    let mut manifest: Map<String, Value> = serde_json::from_str(&text)?;
    ensure!(
        manifest.get("version").and_then(Value::as_str) == Some(source.product.version.as_str()),
        "the extension has another version; set all with `cargo xtask release`"
    );
    for development in ["scripts", "devDependencies", "private"] {
        manifest.remove(development);
    }
    manifest.insert("repository".to_owned(), source.product.repository.as_str().into());
    Ok(format!("{:#}\n", Value::from(manifest)))
}

/// Our licences, those of the server's packages, and those of the packages in the bundle.
fn licences(source: &Source, extension: &Path) -> Result<Vec<PackageFile>> {
    let mut files = source.contents.licences.clone();
    let server = files.iter_mut().find(|file| file.path == THIRD_PARTY);
    let server = server.context("the licences of the server's packages are missing")?;
    server.path = format!("{SERVER_FOLDER}/{THIRD_PARTY}");
    let client = third_party::notices(&bundled_packages(extension)?);
    files.push(PackageFile::data(THIRD_PARTY, client));
    Ok(files)
}

/// The packages of npm with a source in the bundle.
fn bundled_packages(extension: &Path) -> Result<Vec<LinkedPackage>> {
    let bundle: Value = serde_json::from_str(&fs::read_to_string(extension.join(BUNDLED_SOURCES))?)?;
    let sources = bundle["inputs"].as_object().context("esbuild listed no sources")?;
    let folders: BTreeSet<String> = sources.keys().filter_map(|source| package_folder(source)).collect();
    ensure!(!folders.is_empty(), "esbuild listed no packages");
    folders.iter().map(|folder| npm_package(&extension.join(folder))).collect()
}

/// Returns the folder of the package that a source belongs to; a name with a scope has two parts.
fn package_folder(source: &str) -> Option<String> {
    let start = source.rfind("node_modules/")? + "node_modules/".len();
    let (modules, rest) = source.split_at(start);
    let parts = if rest.starts_with('@') { 2 } else { 1 };
    let name = rest.split('/').take(parts).collect::<Vec<_>>().join("/");
    Some(format!("{modules}{name}"))
}

fn npm_package(folder: &Path) -> Result<LinkedPackage> {
    let manifest: Value = serde_json::from_str(&fs::read_to_string(folder.join("package.json"))?)?;
    let text = |key: &str| manifest[key].as_str().unwrap_or_default().to_owned();
    let author = manifest["author"]["name"].as_str().or(manifest["author"].as_str());
    Ok(LinkedPackage {
        name: text("name"),
        version: text("version"),
        licence: text("license"),
        authors: author.into_iter().map(str::to_owned).collect(),
        texts: third_party::licence_texts(folder)?,
    })
}

/// Packs a folder with VS Code's own tool.
fn pack(extension: &Path, folder: &Path, target: &str, path: &Path) -> Result<()> {
    let tool = extension.canonicalize()?.join("node_modules/@vscode/vsce/vsce");
    let mut vsce = Command::new("node");
    vsce.arg(tool).current_dir(folder).args(["package", "--target", target, "--no-dependencies"]);
    // The links of the README lead to the repository.
    vsce.args(["--no-rewrite-relative-links", "--skip-license", "--out"]).arg(path);
    process::run(&mut vsce)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn package_of_a_source_is_found_in_nested_folders() {
        let folder = |source| package_folder(source);
        assert_eq!(folder("src/extension.ts"), None);
        assert_eq!(folder("node_modules/semver/index.js").as_deref(), Some("node_modules/semver"));
        assert_eq!(folder("node_modules/@a/b/lib/c.js").as_deref(), Some("node_modules/@a/b"));
        let nested = folder("node_modules/a/node_modules/b/c.js");
        assert_eq!(nested.as_deref(), Some("node_modules/a/node_modules/b"));
    }
}
