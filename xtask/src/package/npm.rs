//! Packages for npm: one with the binary for each platform, and `ghostbench`, which starts the one that npm installed.
//!
//! npm skips the optional packages of other platforms, so nothing is downloaded or run while it installs.

use std::path::{Path, PathBuf};

use anyhow::Result;
use serde_json::{Map, Value, json};

use super::Source;
use super::archive::write_tar_gz;
use super::contents::PackageFile;
use super::platform::PLATFORMS;
use super::product::Product;

/// The program that starts the binary of the platform.
const LAUNCHER: &str = include_str!("../../../packaging/npm/launcher.js");

/// The oldest Node that the launcher runs on.
const OLDEST_NODE: &str = ">=18";

/// Folder of all files in a package.
const TOP: &str = "package";

/// Writes both packages and returns their paths.
pub(super) fn write(source: &Source, out: &Path) -> Result<Vec<PathBuf>> {
    let packages = [
        (source.platform.npm_package(), binary_package(source)),
        ("ghostbench".to_owned(), launcher_package(source)),
    ];
    let mut paths = Vec::new();
    for (name, files) in packages {
        // As `npm pack` names them.
        let name = name.trim_start_matches('@').replace('/', "-");
        let path = out.join(format!("{name}-{}.tgz", source.product.version));
        let files: Vec<_> = files.iter().map(|file| file.below(TOP)).collect();
        write_tar_gz(&path, &files)?;
        paths.push(path);
    }
    Ok(paths)
}

fn binary_package(source: &Source) -> Vec<PackageFile> {
    let (system, processor, library) = source.platform.npm;
    let mut manifest = manifest(&source.platform.npm_package(), &source.product);
    manifest.insert("os".to_owned(), json!([system]));
    manifest.insert("cpu".to_owned(), json!([processor]));
    if let Some(library) = library {
        manifest.insert("libc".to_owned(), json!([library]));
    }
    // Yarn would otherwise keep the program in an archive.
    manifest.insert("preferUnplugged".to_owned(), json!(true));
    let (repository, triple) = (&source.product.repository, source.platform.triple);
    let readme = format!("The program of [ghostbench]({repository}) for {triple}.\n");
    let mut files = shared_files(source, manifest, readme);
    files.push(source.contents.program.below("bin"));
    files
}

fn launcher_package(source: &Source) -> Vec<PackageFile> {
    let Product { version, description, repository, .. } = &source.product;
    let binaries: Map<String, Value> =
        PLATFORMS.iter().map(|platform| (platform.npm_package(), json!(version))).collect();
    let mut manifest = manifest("ghostbench", &source.product);
    manifest.insert("bin".to_owned(), json!({ "ghostbench": "bin/ghostbench.js" }));
    manifest.insert("engines".to_owned(), json!({ "node": OLDEST_NODE }));
    manifest.insert("optionalDependencies".to_owned(), binaries.into());
    let readme = format!(
        "# Ghostbench\n\n{description}.\n\n```console\n$ npx ghostbench try .\n```\n\nSee <{repository}>.\n"
    );
    let mut files = shared_files(source, manifest, readme);
    files.push(PackageFile { is_program: true, ..PackageFile::data("bin/ghostbench.js", LAUNCHER) });
    files
}

fn shared_files(source: &Source, manifest: Map<String, Value>, readme: String) -> Vec<PackageFile> {
    let manifest = format!("{:#}\n", Value::from(manifest));
    let mut files = vec![PackageFile::data("package.json", manifest), PackageFile::data("README.md", readme)];
    files.extend(source.contents.licences.iter().cloned());
    files
}

fn manifest(name: &str, product: &Product) -> Map<String, Value> {
    let Product { version, description, repository, licence } = product;
    let entries = [
        ("name", json!(name)),
        ("version", json!(version)),
        ("description", json!(description)),
        ("license", json!(licence)),
        ("repository", json!({ "type": "git", "url": format!("git+{repository}.git") })),
    ];
    entries.map(|(key, value)| (key.to_owned(), value)).into_iter().collect()
}
