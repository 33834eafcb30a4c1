//! `cargo xtask tidy`: checks what the compiler does not.
//!
//! A check is a function from the repository's files to findings; each family of checks is a module. A finding names file, line
//! and remedy. Files are never changed.

use std::process::ExitCode;

use anyhow::{Result, bail};

mod commands;
mod crates;
mod dependencies;
mod documents;
mod extension_settings;
mod files;
mod finding;
mod licences;
mod metadata;
mod names;
mod npm;
mod prose;
mod rust;
mod text;

use files::TextFile;
use finding::Finding;
use metadata::Package;

/// Prints all findings; returns exit code 1 if there are any.
pub(crate) fn run() -> Result<ExitCode> {
    Ok(if print_findings()? == 0 { ExitCode::SUCCESS } else { ExitCode::from(1) })
}

/// As [`run`], but returns an error, for callers with further steps.
pub(crate) fn check() -> Result<()> {
    match print_findings()? {
        0 => Ok(()),
        count => bail!("{count} findings"),
    }
}

fn print_findings() -> Result<usize> {
    let files = files::read_all()?;
    let packages = metadata::read()?;
    let mut findings = check_files(&files);
    findings.extend(names::check(&files));
    findings.extend(prose::check(&files));
    findings.extend(check_packages(&files, &packages));
    findings.extend(commands::check());
    for finding in &findings {
        println!("{finding}");
    }
    let count = findings.iter().filter(|finding| !finding.is_warning).count();
    println!("tidy: {} files, {} packages, {count} findings", files.len(), packages.len());
    Ok(count)
}

/// Runs the checks of single files.
fn check_files(files: &[TextFile]) -> Vec<Finding> {
    let mut findings = Vec::new();
    for file in files {
        findings.extend(text::check(file));
        if file.path.ends_with(".rs") {
            findings.extend(rust::check(file));
        }
    }
    findings
}

/// Runs the checks of the packages and of the documents about them.
fn check_packages(files: &[TextFile], packages: &[Package]) -> Vec<Finding> {
    let mut findings = crates::check(files, packages);
    findings.extend(dependencies::check(files, packages));
    findings.extend(npm::check(files));
    findings.extend(extension_settings::check(files));
    findings.extend(documents::check(files));
    findings.extend(licences::check(packages));
    findings
}
