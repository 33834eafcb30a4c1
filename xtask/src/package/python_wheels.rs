//! The wheels of our Python packages: for replays on a cluster, and for copies of a team's traces. Python alone, the same for all platforms.

use std::fs;
use std::path::{Path, PathBuf};

use anyhow::{Context, Result};
use xtask::process;

use super::Source;
use super::archive::write_zip;
use super::contents::PackageFile;
use super::product::Product;
use super::wheel::record;

/// A Python package.
struct PythonPackage {
    /// Name on the package index, and of its folder.
    name: &'static str,
    /// Name of its module.
    module: &'static str,
    /// What it is for.
    summary: &'static str,
    /// Requirements, as in its `pyproject.toml`, which a test compares.
    dependencies: &'static [&'static str],
    /// Its program and the function that it runs.
    script: Option<(&'static str, &'static str)>,
}

/// Oldest version of Python, as in each `pyproject.toml`.
const OLDEST_PYTHON: &str = ">=3.10";

const PACKAGES: [PythonPackage; 2] = [
    PythonPackage {
        name: "ghostbench-ray",
        module: "ghostbench_ray",
        summary: "Makes the requests of `ghostbench replay --ray` on the nodes of a Ray cluster",
        dependencies: &["pyarrow>=15", "ray>=2.60"],
        script: None,
    },
    PythonPackage {
        name: "ghostbench-collect",
        module: "ghostbench_collect",
        summary: "Writes the traces of a `ghostbench collect` server as Parquet files, on this machine or in S3",
        dependencies: &["pyarrow>=15"],
        script: Some(("ghostbench-collect", "ghostbench_collect.__main__:main")),
    },
];

/// Writes the wheels and returns their paths.
pub(super) fn write(source: &Source, out: &Path) -> Result<Vec<PathBuf>> {
    PACKAGES.iter().map(|package| write_wheel(package, source, out)).collect()
}

fn write_wheel(package: &PythonPackage, source: &Source, out: &Path) -> Result<PathBuf> {
    let (module, version) = (package.module, source.product.python_version());
    let path = out.join(format!("{module}-{version}-py3-none-any.whl"));
    let mut files = modules(package)?;
    let information = format!("{module}-{version}.dist-info");
    // Nothing is linked to it, so it has our licences only.
    let is_ours = |file: &&PackageFile| file.path.starts_with("LICENSE-");
    let licences: Vec<&PackageFile> = source.contents.licences.iter().filter(is_ours).collect();
    files.extend(licences.iter().map(|file| file.below(&format!("{information}/licenses"))));
    let names: Vec<&str> = licences.iter().map(|file| file.path.as_str()).collect();
    files.push(PackageFile::data(
        format!("{information}/METADATA"),
        metadata(package, &source.product, &names),
    ));
    let wheel = "Wheel-Version: 1.0\nGenerator: ghostbench-xtask\nRoot-Is-Purelib: true\nTag: py3-none-any\n";
    files.push(PackageFile::data(format!("{information}/WHEEL"), wheel.to_owned()));
    if let Some((program, function)) = package.script {
        let scripts = format!("[console_scripts]\n{program} = {function}\n");
        files.push(PackageFile::data(format!("{information}/entry_points.txt"), scripts));
    }
    let record = record(&files, &format!("{information}/RECORD"));
    files.push(record);
    write_zip(&path, &files)?;
    Ok(path)
}

/// Returns the package's files, in the order of their names.
fn modules(package: &PythonPackage) -> Result<Vec<PackageFile>> {
    let PythonPackage { name, module, .. } = package;
    let folder = process::repository_root().join("python").join(name).join("src").join(module);
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
        Ok(PackageFile::data(format!("{module}/{name}"), fs::read(path)?))
    };
    paths.iter().map(file).collect()
}

fn metadata(package: &PythonPackage, product: &Product, licences: &[&str]) -> String {
    let (Product { repository, licence, .. }, PythonPackage { name, summary, .. }) = (product, package);
    let version = product.python_version();
    let licences: String = licences.iter().map(|file| format!("License-File: {file}\n")).collect();
    let dependencies: String =
        package.dependencies.iter().map(|name| format!("Requires-Dist: {name}\n")).collect();
    format!(
        "Metadata-Version: 2.4\nName: {name}\nVersion: {version}\nSummary: {summary}\n\
         License-Expression: {licence}\n{licences}Project-URL: Homepage, {repository}\nRequires-Python: {OLDEST_PYTHON}\n{dependencies}\
         Description-Content-Type: text/markdown\n\n{summary}. See <{repository}>.\n"
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn wheels_need_what_the_project_files_name() {
        for package in &PACKAGES {
            let path = process::repository_root().join("python").join(package.name).join("pyproject.toml");
            let project = fs::read_to_string(path).expect("it is there");
            let dependencies: Vec<String> =
                package.dependencies.iter().map(|name| format!("\"{name}\"")).collect();
            assert!(project.contains(&format!("dependencies = [{}]", dependencies.join(", "))));
            assert!(project.contains(&format!("requires-python = \"{OLDEST_PYTHON}\"")));
            assert!(project.contains(&format!("description = \"{}\"", package.summary)));
            if let Some((program, function)) = package.script {
                assert!(project.contains(&format!("{program} = \"{function}\"")));
            }
            let modules: Vec<String> =
                modules(package).expect("they are there").into_iter().map(|file| file.path).collect();
            let main = format!("{}/__main__.py", package.module);
            assert!(modules.contains(&main) && modules.iter().all(|path| !path.ends_with("pyc")));
        }
    }
}
