//! The wheel of `ghostbench-ray`, the Python package for replays on a cluster: Python alone, the same for all platforms.

use std::fs;
use std::path::{Path, PathBuf};

use anyhow::{Context, Result};
use xtask::process;

use super::Source;
use super::archive::write_zip;
use super::contents::PackageFile;
use super::product::Product;
use super::wheel::record;

/// Folder of the package, relative to the repository.
const FOLDER: &str = "python/ghostbench-ray";

/// Name of its module.
const MODULE: &str = "ghostbench_ray";

/// Requirements, as in its `pyproject.toml`, which a test compares.
const OLDEST_PYTHON: &str = ">=3.10";
const DEPENDENCIES: [&str; 2] = ["pyarrow>=15", "ray>=2.60"];

/// Writes the wheel and returns its path.
pub(super) fn write(source: &Source, out: &Path) -> Result<PathBuf> {
    let version = source.product.python_version();
    let path = out.join(format!("{MODULE}-{version}-py3-none-any.whl"));
    let mut files = modules()?;
    let information = format!("{MODULE}-{version}.dist-info");
    // Nothing is linked to it, so it has our licences only.
    let is_ours = |file: &&PackageFile| file.path.starts_with("LICENSE-");
    let licences: Vec<&PackageFile> = source.contents.licences.iter().filter(is_ours).collect();
    files.extend(licences.iter().map(|file| file.below(&format!("{information}/licenses"))));
    let names: Vec<&str> = licences.iter().map(|file| file.path.as_str()).collect();
    files.push(PackageFile::data(format!("{information}/METADATA"), metadata(&source.product, &names)));
    let wheel = "Wheel-Version: 1.0\nGenerator: ghostbench-xtask\nRoot-Is-Purelib: true\nTag: py3-none-any\n";
    files.push(PackageFile::data(format!("{information}/WHEEL"), wheel.to_owned()));
    let record = record(&files, &format!("{information}/RECORD"));
    files.push(record);
    write_zip(&path, &files)?;
    Ok(path)
}

/// Returns the package's files, in the order of their names.
fn modules() -> Result<Vec<PackageFile>> {
    let folder = process::repository_root().join(FOLDER).join("src").join(MODULE);
    let mut paths = Vec::new();
    for entry in fs::read_dir(&folder).with_context(|| format!("cannot read {}", folder.display()))? {
        let path = entry?.path();
        if path.is_file() {
            paths.push(path);
        }
    }
    paths.sort();
    let file = |path: &PathBuf| {
        let name = path.file_name().unwrap_or_default().to_string_lossy();
        Ok(PackageFile::data(format!("{MODULE}/{name}"), fs::read(path)?))
    };
    paths.iter().map(file).collect()
}

fn metadata(product: &Product, licences: &[&str]) -> String {
    let Product { repository, licence, .. } = product;
    let version = product.python_version();
    let licences: String = licences.iter().map(|file| format!("License-File: {file}\n")).collect();
    let dependencies: String = DEPENDENCIES.iter().map(|name| format!("Requires-Dist: {name}\n")).collect();
    format!(
        "Metadata-Version: 2.4\nName: ghostbench-ray\nVersion: {version}\n\
         Summary: Makes the requests of `ghostbench replay --ray` on the nodes of a Ray cluster\n\
         License-Expression: {licence}\n{licences}Project-URL: Homepage, {repository}\nRequires-Python: {OLDEST_PYTHON}\n{dependencies}\
         Description-Content-Type: text/markdown\n\nThe program `ghostbench` starts it; it has no other use. See <{repository}>.\n"
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn wheel_needs_what_the_project_file_names() {
        let path = process::repository_root().join(FOLDER).join("pyproject.toml");
        let project = fs::read_to_string(path).expect("it is there");
        let dependencies = DEPENDENCIES.map(|name| format!("\"{name}\"")).join(", ");
        assert!(project.contains(&format!("dependencies = [{dependencies}]")));
        assert!(project.contains(&format!("requires-python = \"{OLDEST_PYTHON}\"")));
        let modules: Vec<String> =
            modules().expect("they are there").into_iter().map(|file| file.path).collect();
        assert!(
            modules.contains(&format!("{MODULE}/driver.py"))
                && modules.iter().all(|path| !path.ends_with("pyc"))
        );
    }
}
