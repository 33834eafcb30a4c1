//! `cargo xtask package`: makes what users install on one platform, from one built binary: an archive, a Python wheel, npm packages,
//! an extension of VS Code with the server in it, and a Debian package.
//!
//! A package is a list of files; each format is a module that writes such a list. The same binary gives the same bytes, except for
//! the extension, which VS Code's own tool packs. Nothing is published here: `.github/workflows/release.yml` does that.

use std::fs;
use std::path::{Path, PathBuf};

use anyhow::{Context, Result, bail, ensure};
use clap::ValueEnum;
use xtask::process;

mod archive;
mod contents;
mod deb;
mod installers;
mod npm;
mod platform;
mod product;
mod python_wheels;
mod sbom;
mod third_party;
mod vsix;
mod wheel;

pub(crate) use installers::InstallersArgs;

use contents::Contents;
use platform::Platform;
use product::Product;

/// Arguments of the task.
#[derive(clap::Args)]
pub(crate) struct PackageArgs {
    /// A built `ghostbench` of this platform [default: an optimised build]
    #[arg(long)]
    binary: Option<PathBuf>,
    /// Platform of the binary, as a target of rustc [default: this machine]
    #[arg(long, value_name = "TRIPLE")]
    target: Option<String>,
    /// Formats to make [default: all that this machine can make]
    #[arg(long, value_enum, value_delimiter = ',')]
    only: Vec<Format>,
    /// Folder of the packages
    #[arg(long, default_value = "target/packages", value_name = "FOLDER")]
    out: PathBuf,
}

/// A format of packages.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
enum Format {
    /// An archive with manual pages, completions of shells and licences, and a list of the linked packages
    Archive,
    /// A package for pip, pipx and uv, and the Python packages for replays on a cluster and for copies of traces
    Wheel,
    /// A package with the binary, and one that starts it, for npm
    Npm,
    /// An extension of VS Code with the server in it
    Vsix,
    /// A Debian package
    Deb,
}

/// What every format is made from.
struct Source {
    product: Product,
    platform: &'static Platform,
    contents: Contents,
    /// Names, versions and licences of all linked packages, as CycloneDX.
    sbom: Vec<u8>,
}

/// Makes the packages and prints their paths and sizes.
pub(crate) fn run(args: &PackageArgs) -> Result<()> {
    let triple = args.target.clone().map_or_else(host, Ok)?;
    let platform = Platform::of(&triple)?;
    let binary = match &args.binary {
        Some(binary) => binary.clone(),
        None => build(args.target.as_deref())?,
    };
    let source = source(platform, &binary)?;
    fs::create_dir_all(&args.out)?;
    for format in formats(&args.only, platform)? {
        for path in make(format, &source, &args.out).with_context(|| format!("{format:?} failed"))? {
            println!("{:>10}  {}", megabytes(&path)?, path.display());
        }
    }
    Ok(())
}

/// Makes the files that refer to the archives of all platforms.
pub(crate) fn run_installers(args: &InstallersArgs) -> Result<()> {
    for path in installers::write(&Product::read()?, args)? {
        println!("{}", path.display());
    }
    Ok(())
}

fn source(platform: &'static Platform, binary: &Path) -> Result<Source> {
    let product = Product::read()?;
    let packages = third_party::linked_packages(platform.triple)?;
    let sbom = sbom::document(&product, &packages);
    let contents = Contents::read(binary, platform, &packages)?;
    Ok(Source { product, platform, contents, sbom })
}

fn make(format: Format, source: &Source, out: &Path) -> Result<Vec<PathBuf>> {
    match format {
        Format::Archive => archive::write_packages(source, out),
        Format::Wheel => Ok([vec![wheel::write(source, out)?], python_wheels::write(source, out)?].concat()),
        Format::Npm => npm::write(source, out),
        Format::Vsix => vsix::write(source, out).map(|path| vec![path]),
        Format::Deb => deb::write(source, out).map(|path| vec![path]),
    }
}

/// Returns the wanted formats; a Debian package is made by default only where its tool and its platform are.
fn formats(only: &[Format], platform: &Platform) -> Result<Vec<Format>> {
    let can_make_deb = platform.debian.is_some() && process::is_installed(deb::TOOL);
    if only.contains(&Format::Deb) && !can_make_deb {
        bail!("a Debian package needs Debian's own Linux and the program {}; leave out `deb`", deb::TOOL);
    }
    let all = Format::value_variants().iter().copied();
    let is_wanted = |format: &Format| match only {
        [] => *format != Format::Deb || can_make_deb,
        _ => only.contains(format),
    };
    Ok(all.filter(is_wanted).collect())
}

/// Returns the platform that the compiler runs on.
fn host() -> Result<String> {
    let version = process::output(std::process::Command::new("rustc").arg("-vV"))?;
    let host = version.lines().find_map(|line| line.strip_prefix("host: "));
    Ok(host.context("rustc -vV names no host")?.to_owned())
}

/// Builds the binary for users and returns its path.
fn build(target: Option<&str>) -> Result<PathBuf> {
    let mut cargo = process::cargo();
    cargo.args(["build", "--release", "--locked", "--package", "cli", "--features", "postgres"]);
    let mut folder = PathBuf::from("target");
    // Also where the user's settings name another one.
    cargo.arg("--target-dir").arg(&folder);
    if let Some(target) = target {
        cargo.args(["--target", target]);
        folder.push(target);
    }
    process::run(&mut cargo)?;
    let suffix = if target.unwrap_or(std::env::consts::OS).contains("windows") { ".exe" } else { "" };
    let binary = folder.join("release").join(format!("ghostbench{suffix}"));
    ensure!(binary.is_file(), "cargo built no {}", binary.display());
    Ok(binary)
}

fn megabytes(path: &Path) -> Result<String> {
    Ok(format!("{:.1} MB", fs::metadata(path)?.len() as f64 / 1e6))
}
