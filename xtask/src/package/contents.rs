//! The files that all formats share: the binary, its manual pages and completions, which the binary itself prints, and licences.

use std::ffi::OsStr;
use std::fs;
use std::path::Path;
use std::process::Command;

use anyhow::{Context, Result, ensure};
use xtask::process;

use super::platform::Platform;
use super::third_party::{self, LinkedPackage};

/// Name of the file with the licences of linked packages.
pub(super) const THIRD_PARTY: &str = "THIRD-PARTY.txt";

/// Folder of Neovim's plugin in the repository.
const NEOVIM: &str = "editors/neovim/";

/// Shells, with the file names of their completions.
const SHELLS: [(&str, &str); 4] = [
    ("bash", "ghostbench.bash"),
    ("zsh", "_ghostbench"),
    ("fish", "ghostbench.fish"),
    ("powershell", "_ghostbench.ps1"),
];

/// A file of a package.
#[derive(Clone, Debug)]
pub(super) struct PackageFile {
    /// Path in the package, with `/` between its parts.
    pub path: String,
    /// Its content.
    pub bytes: Vec<u8>,
    /// Whether it can be run.
    pub is_program: bool,
}

/// The shared files.
pub(super) struct Contents {
    /// The program.
    pub program: PackageFile,
    /// Manual pages, uncompressed.
    pub manual: Vec<PackageFile>,
    /// Completions of shells.
    pub completions: Vec<PackageFile>,
    /// Our licences, and those of linked packages.
    pub licences: Vec<PackageFile>,
    /// The plugin of Neovim.
    pub neovim: Vec<PackageFile>,
    /// The list of changes.
    pub changelog: PackageFile,
}

impl PackageFile {
    /// A file that is not a program.
    pub(super) fn data(path: impl Into<String>, bytes: impl Into<Vec<u8>>) -> PackageFile {
        PackageFile { path: path.into(), bytes: bytes.into(), is_program: false }
    }

    /// The same file in another place.
    pub(super) fn at(&self, path: impl Into<String>) -> PackageFile {
        PackageFile { path: path.into(), ..self.clone() }
    }

    /// The same file in a folder.
    pub(super) fn below(&self, folder: &str) -> PackageFile {
        self.at(format!("{folder}/{}", self.path))
    }
}

impl Contents {
    /// Reads the binary without its debug information, and runs it for its manual and completions.
    pub(super) fn read(binary: &Path, platform: &Platform, packages: &[LinkedPackage]) -> Result<Contents> {
        let bytes = stripped(binary, platform)?;
        let third_party = PackageFile::data(THIRD_PARTY, third_party::notices(packages));
        Ok(Contents {
            program: PackageFile { path: platform.program().to_owned(), bytes, is_program: true },
            manual: manual(binary)?,
            completions: SHELLS.map(|shell| completions(binary, shell)).into_iter().collect::<Result<_>>()?,
            licences: vec![document("LICENSE-APACHE")?, document("LICENSE-MIT")?, third_party],
            neovim: neovim_plugin()?,
            changelog: document("CHANGELOG.md")?,
        })
    }
}

/// Reads the files of Neovim's plugin that git knows, with paths in its folder.
fn neovim_plugin() -> Result<Vec<PackageFile>> {
    let listed = process::output(Command::new("git").args(["ls-files", "-z", "--", NEOVIM]))?;
    let files = listed.split_terminator('\0').map(|path| {
        let file = document(path)?;
        let name = file.path.strip_prefix(NEOVIM).context("git listed a file of another folder")?;
        Ok(file.at(name))
    });
    let files = files.collect::<Result<Vec<_>>>()?;
    ensure!(!files.is_empty(), "git lists no file in {NEOVIM}");
    Ok(files)
}

/// Reads a document of the repository.
fn document(path: &str) -> Result<PackageFile> {
    Ok(PackageFile::data(path, fs::read(path).with_context(|| format!("failed to read {path}"))?))
}

/// Returns the binary without symbols. Optimised builds have none; elsewhere the program `strip` of the platform removes them.
fn stripped(binary: &Path, platform: &Platform) -> Result<Vec<u8>> {
    let read = |path: &Path| fs::read(path).with_context(|| format!("failed to read {}", path.display()));
    if platform.is_windows() || !process::is_installed("strip") {
        return read(binary);
    }
    let folder = tempfile::tempdir()?;
    let copy = folder.path().join("ghostbench");
    fs::copy(binary, &copy).with_context(|| format!("failed to read {}", binary.display()))?;
    process::run(Command::new("strip").arg(&copy))?;
    read(&copy)
}

fn manual(binary: &Path) -> Result<Vec<PackageFile>> {
    let folder = tempfile::tempdir()?;
    run(binary, &["manual".as_ref(), folder.path().as_os_str()])?;
    let mut pages = Vec::new();
    for entry in fs::read_dir(folder.path())? {
        let entry = entry?;
        let name = entry.file_name().into_string().ok().context("a manual page has an ASCII name")?;
        pages.push(PackageFile::data(name, fs::read(entry.path())?));
    }
    pages.sort_by(|a, b| a.path.cmp(&b.path));
    ensure!(pages.iter().any(|page| page.path == "ghostbench.1"), "the binary wrote no manual page");
    Ok(pages)
}

fn completions(binary: &Path, (shell, name): (&str, &str)) -> Result<PackageFile> {
    Ok(PackageFile::data(name, run(binary, &["completions".as_ref(), shell.as_ref()])?))
}

fn run(binary: &Path, arguments: &[&OsStr]) -> Result<String> {
    let binary = binary.canonicalize().with_context(|| format!("failed to read {}", binary.display()))?;
    process::output(Command::new(binary).args(arguments))
}

/// Writes files below a folder.
pub(super) fn write_files(folder: &Path, files: &[PackageFile]) -> Result<()> {
    for file in files {
        let path = folder.join(&file.path);
        fs::create_dir_all(path.parent().context("a file is in a folder")?)?;
        fs::write(&path, &file.bytes)?;
        #[cfg(unix)]
        if file.is_program {
            use std::os::unix::fs::PermissionsExt;
            fs::set_permissions(&path, fs::Permissions::from_mode(0o755))?;
        }
    }
    Ok(())
}
