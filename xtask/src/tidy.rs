//! `cargo xtask tidy`: checks what the compiler does not.
//!
//! A check is a function from the repository's files to findings; each family has a module of its own. A finding names
//! file, line and remedy. Nothing is changed on disk.

use std::process::ExitCode;

use anyhow::{Result, bail};

mod commands;
mod crates;
mod dependencies;
mod documents;
mod files;
mod finding;
mod licences;
mod metadata;
mod npm;
mod rust;
mod text;

use files::File;
use finding::Finding;
use metadata::Package;

/// Prints all findings; exit code 1 when there is one.
pub(crate) fn run() -> Result<ExitCode> {
    Ok(if print_findings()? == 0 { ExitCode::SUCCESS } else { ExitCode::from(1) })
}

/// As [`run`], for a caller that goes on.
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
    findings.extend(check_packages(&files, &packages));
    findings.extend(commands::check());
    for finding in &findings {
        println!("{finding}");
    }
    let count = findings.iter().filter(|finding| !finding.is_warning).count();
    println!("tidy: {} files, {} packages, {count} findings", files.len(), packages.len());
    Ok(count)
}

/// The checks that look at one file at a time.
fn check_files(files: &[File]) -> Vec<Finding> {
    let mut findings = Vec::new();
    for file in files {
        findings.extend(text::check(file));
        if file.path.ends_with(".rs") {
            findings.extend(rust::check(file));
        }
    }
    findings
}

/// The checks that look at the packages and at the documents about them.
fn check_packages(files: &[File], packages: &[Package]) -> Vec<Finding> {
    let mut findings = crates::check(files, packages);
    findings.extend(dependencies::check(files, packages));
    findings.extend(npm::check(files));
    findings.extend(documents::check(files));
    findings.extend(licences::check(packages));
    findings
}
