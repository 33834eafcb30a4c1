//! `cargo xtask installers`: writes the files that refer to a release's archives by address and checksum: scripts that install from
//! a shell, a Homebrew formula, entries for mason.nvim and nvim-lspconfig, and the checksums.
//!
//! The texts are the templates in `packaging/`.

use std::fs;
use std::path::{Path, PathBuf};

use anyhow::{Context, Result, ensure};
use minijinja::syntax::SyntaxConfig;
use minijinja::value::Serde;
use minijinja::{Environment, UndefinedBehavior};
use serde_json::{Value, json};
use sha2::{Digest, Sha256};

use super::platform::{PLATFORMS, Platform};
use super::product::Product;

/// Arguments of the task.
#[derive(clap::Args)]
pub(crate) struct InstallersArgs {
    /// Folder with the archives of all platforms; the files are written beside them
    #[arg(default_value = "target/packages")]
    folder: PathBuf,
    /// Accept that archives of some platforms are missing, to try the installers of this one
    #[arg(long)]
    incomplete: bool,
}

/// Templates with the paths of their files.
const TEMPLATES: [(&str, &str); 5] = [
    ("ghostbench-installer.sh", include_str!("../../../packaging/installer.sh")),
    ("ghostbench-installer.ps1", include_str!("../../../packaging/installer.ps1")),
    ("homebrew/ghostbench.rb", include_str!("../../../packaging/homebrew.rb")),
    ("mason/ghostbench/package.yaml", include_str!("../../../packaging/mason.yaml")),
    ("nvim-lspconfig/ghostbench.lua", include_str!("../../../packaging/nvim-lspconfig.lua")),
];

/// File with the checksums of all archives.
const CHECKSUMS: &str = "sha256.sum";

/// An archive of the release.
struct Archive {
    platform: &'static Platform,
    sha256: String,
}

/// Writes the files and returns their paths.
pub(super) fn write(product: &Product, args: &InstallersArgs) -> Result<Vec<PathBuf>> {
    let archives = archives(&args.folder, args.incomplete)?;
    let mut paths = write_checksums(&args.folder, &archives)?;
    for (path, template) in TEMPLATES {
        let path = args.folder.join(path);
        fs::create_dir_all(path.parent().context("a file is in a folder")?)?;
        let text = render(template, product, &archives);
        fs::write(&path, text.with_context(|| format!("the template of {} failed", path.display()))?)?;
        paths.push(path);
    }
    Ok(paths)
}

/// Reads the archives of all platforms.
fn archives(folder: &Path, incomplete: bool) -> Result<Vec<Archive>> {
    let mut found = Vec::new();
    let mut missing = Vec::new();
    for platform in &PLATFORMS {
        let name = platform.archive_name();
        match fs::read(folder.join(&name)) {
            Ok(bytes) => found.push(Archive { platform, sha256: hex(&Sha256::digest(bytes)) }),
            Err(_) => missing.push(name),
        }
    }
    let list = missing.join(", ");
    ensure!(incomplete || missing.is_empty(), "{} holds no {list}", folder.display());
    ensure!(!found.is_empty(), "{} holds no archive", folder.display());
    Ok(found)
}

/// Writes the checksum of each archive beside it, and all of them into one file, for `sha256sum --check`.
fn write_checksums(folder: &Path, archives: &[Archive]) -> Result<Vec<PathBuf>> {
    let mut paths = Vec::new();
    let mut all = String::new();
    for archive in archives {
        let name = archive.platform.archive_name();
        let line = format!("{} *{name}\n", archive.sha256);
        let path = folder.join(format!("{name}.sha256"));
        fs::write(&path, &line)?;
        paths.push(path);
        all += &line;
    }
    let path = folder.join(CHECKSUMS);
    fs::write(&path, all)?;
    paths.push(path);
    Ok(paths)
}

/// Fills a template in. An unknown name in it is an error.
fn render(template: &str, product: &Product, archives: &[Archive]) -> Result<String> {
    let mut environment = Environment::new();
    environment.set_undefined_behavior(UndefinedBehavior::Strict);
    // A line with nothing but a statement leaves no line behind.
    let syntax =
        SyntaxConfig::builder().trim_blocks(true).lstrip_blocks(true).keep_trailing_newline(true).build()?;
    environment.set_syntax(syntax);
    let values = json!({
        "version": product.version,
        "description": product.description,
        "repository": product.repository,
        "downloads": product.downloads(),
        "archives": archives.iter().map(archive_values).collect::<Vec<_>>(),
    });
    Ok(environment.render_str(template, Serde(values))?)
}

fn archive_values(archive: &Archive) -> Value {
    let Archive { platform, sha256 } = archive;
    let folder = if platform.is_windows() { String::new() } else { format!("{}/", platform.archive_stem()) };
    json!({
        "triple": platform.triple,
        "file": platform.archive_name(),
        "program": format!("{folder}{}", platform.program()),
        "mason": platform.mason,
        "sha256": sha256,
    })
}

fn hex(bytes: &[u8]) -> String {
    bytes.iter().map(|byte| format!("{byte:02x}")).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::package::product::tests::product;

    fn all_archives() -> Vec<Archive> {
        PLATFORMS
            .iter()
            .map(|platform| Archive { platform, sha256: format!("sum-of-{}", platform.triple) })
            .collect()
    }

    #[test]
    fn every_template_has_address_and_checksum_of_the_archives_it_names() {
        let archives = all_archives();
        for (path, template) in TEMPLATES.iter().take(3) {
            let text = render(template, &product("1.2.3"), &archives).expect(path);
            let named: Vec<_> =
                archives.iter().filter(|archive| text.contains(archive.platform.triple)).collect();
            assert!(!named.is_empty(), "{path} names no archive:\n{text}");
            for archive in named {
                assert!(
                    text.contains(&archive.sha256),
                    "{path} has no checksum of {}",
                    archive.platform.triple
                );
            }
            assert!(text.contains("https://example.org/ghostbench/releases/download/v1.2.3"), "{text}");
        }
    }

    #[test]
    fn missing_archive_is_an_error_unless_allowed() {
        let folder = tempfile::tempdir().expect("a folder");
        assert!(archives(folder.path(), true).is_err(), "nothing is there");
        fs::write(folder.path().join("ghostbench-x86_64-apple-darwin.tar.gz"), "x").expect("it is written");
        let error = archives(folder.path(), false).err().expect("six are missing").to_string();
        assert!(error.contains("ghostbench-x86_64-pc-windows-msvc.zip"), "{error}");
        assert_eq!(archives(folder.path(), true).map(|found| found.len()).ok(), Some(1));
    }
}
