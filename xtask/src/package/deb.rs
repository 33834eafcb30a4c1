//! A Debian package, for Debian, Ubuntu and their derivatives.

use std::io::Write;
use std::path::{Path, PathBuf};
use std::process::Command;

use anyhow::{Context, Result};
use flate2::Compression;
use flate2::write::GzEncoder;
use xtask::process;

use super::Source;
use super::contents::{PackageFile, write_files};
use super::platform::glibc_minor;

/// The program that packs.
pub(super) const TOOL: &str = "dpkg-deb";

/// Contact of the package, of which the format wants an address.
const MAINTAINER: &str = "Ghostbench developers <ghostbench@users.noreply.github.com>";

/// Folder of documents.
const DOCUMENTS: &str = "usr/share/doc/ghostbench";

/// Folder of the plugin, where Neovim finds it by itself.
const NEOVIM_PLUGIN: &str = "usr/share/nvim/site/pack/ghostbench/start/ghostbench";

/// Completions of shells, with the places where Debian's shells look for them.
const COMPLETIONS: [(&str, &str); 3] = [
    ("ghostbench.bash", "usr/share/bash-completion/completions/ghostbench"),
    ("_ghostbench", "usr/share/zsh/vendor-completions/_ghostbench"),
    ("ghostbench.fish", "usr/share/fish/vendor_completions.d/ghostbench.fish"),
];

/// Writes the package and returns its path.
pub(super) fn write(source: &Source, out: &Path) -> Result<PathBuf> {
    let architecture = source.platform.debian.context("Debian does not have this platform")?;
    let version = source.product.debian_version();
    let path = out.join(format!("ghostbench_{version}_{architecture}.deb"));
    let files = files(source)?;
    let staging = tempfile::tempdir()?;
    write_files(staging.path(), &files)?;
    write_files(staging.path(), &[PackageFile::data("DEBIAN/control", control(source, &files))])?;
    process::run(
        Command::new(TOOL).args(["--root-owner-group", "-Zxz", "--build"]).arg(staging.path()).arg(&path),
    )?;
    Ok(path)
}

fn files(source: &Source) -> Result<Vec<PackageFile>> {
    let contents = &source.contents;
    let mut files = vec![contents.program.below("usr/bin")];
    for page in &contents.manual {
        files.push(compressed(page, format!("usr/share/man/man1/{}.gz", page.path))?);
    }
    for (name, path) in COMPLETIONS {
        let file = contents.completions.iter().find(|file| file.path == name);
        files.push(file.with_context(|| format!("there is no {name}"))?.at(path));
    }
    files.extend(contents.neovim.iter().map(|file| file.below(NEOVIM_PLUGIN)));
    files.push(compressed(&contents.changelog, format!("{DOCUMENTS}/changelog.gz"))?);
    files.push(PackageFile::data(format!("{DOCUMENTS}/copyright"), copyright(source)));
    Ok(files)
}

/// Compresses a file, without the time at which it was done.
fn compressed(file: &PackageFile, path: String) -> Result<PackageFile> {
    let mut encoder = GzEncoder::new(Vec::new(), Compression::best());
    encoder.write_all(&file.bytes)?;
    Ok(PackageFile::data(path, encoder.finish()?))
}

/// All licences in the one file that Debian has for them.
fn copyright(source: &Source) -> Vec<u8> {
    let mut text =
        format!("Ghostbench, {}. Licence: {}\n", source.product.repository, source.product.licence);
    for file in &source.contents.licences {
        text += &format!("\n{}\n\n{}", file.path, String::from_utf8_lossy(&file.bytes));
    }
    text.into_bytes()
}

fn control(source: &Source, files: &[PackageFile]) -> String {
    let product = &source.product;
    let version = product.debian_version();
    let architecture = source.platform.debian.unwrap_or("all");
    let kibibytes = files.iter().map(|file| file.bytes.len().div_ceil(1024)).sum::<usize>();
    let depends = glibc_minor(&source.contents.program.bytes)
        .map(|minor| format!("Depends: libc6 (>= 2.{minor}), libgcc-s1\nRecommends: bubblewrap, git\n"));
    format!(
        "Package: ghostbench\nVersion: {version}\nArchitecture: {architecture}\nMaintainer: {MAINTAINER}\n\
         Installed-Size: {kibibytes}\n{}Section: devel\nPriority: optional\nHomepage: {}\n\
         Description: {}\n Mines a repository into cases, asks completion engines, scores their answers, and\n \
         serves ghost text in editors.\n",
        depends.unwrap_or_default(),
        product.repository,
        product.description,
    )
}
