//! Helix and Emacs of newer Debian suites in `target/components`, for tests of editors without inline completion.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use anyhow::{Context, Result, ensure};

use super::{debian, relocate};
use crate::process;

/// Variables with the programs.
pub(super) const HELIX_VARIABLE: &str = "GHOSTBENCH_HX";
pub(super) const EMACS_VARIABLE: &str = "GHOSTBENCH_EMACS";

/// The first suite whose Helix passes arguments to commands of a server.
const HELIX_SUITE: &str = "forky";
const HELIX_FOLDER: &str = "target/components/helix";

/// A suite whose Emacs contains Eglot (29 and newer).
const EMACS_SUITE: &str = "trixie";
const EMACS_FOLDER: &str = "target/components/emacs";

/// Name of the script that starts Emacs from its folder.
const EMACS_STARTER: &str = "emacs";

/// Returns Helix; installs it if it is missing.
pub(super) fn install_helix() -> Result<PathBuf> {
    let folder = std::path::absolute(HELIX_FOLDER)?;
    // The file in `usr/bin` is a link: Helix finds its runtime beside the program itself.
    let program = folder.join("usr/lib/hx/hx");
    if !runs(&program) {
        unpack(HELIX_SUITE, "hx", &folder, &program)?;
    }
    ensure!(runs(&program), "Helix of Debian's {HELIX_SUITE} does not run here");
    Ok(program)
}

/// Returns a script that starts Emacs; installs both if they are missing.
pub(super) fn install_emacs() -> Result<PathBuf> {
    let folder = std::path::absolute(EMACS_FOLDER)?;
    let starter = folder.join(EMACS_STARTER);
    if !runs(&starter) {
        let program = folder.join("usr/bin/emacs-nox");
        unpack(EMACS_SUITE, "emacs-nox", &folder, &program)?;
        fs::write(&starter, emacs_starter(&folder, &program)?)?;
        process::run(Command::new("chmod").arg("+x").arg(&starter))?;
    }
    ensure!(runs(&starter), "Emacs of Debian's {EMACS_SUITE} does not run here");
    Ok(starter)
}

fn unpack(suite: &str, package: &str, folder: &Path, program: &Path) -> Result<()> {
    if folder.exists() {
        fs::remove_dir_all(folder)?;
    }
    fs::create_dir_all(folder)?;
    debian::unpack(suite, package, folder)?;
    relocate::use_libraries_beside(program, folder, &[])
}

/// Returns a script that tells Emacs where its files are, which it would look for in the system's folders.
fn emacs_starter(folder: &Path, program: &Path) -> Result<String> {
    let data = entry(&folder.join("usr/share/emacs"), |name| name.starts_with(|c: char| c.is_ascii_digit()))?;
    let libraries = entry(&entry(&folder.join("usr/libexec/emacs"), |_| true)?, |_| true)?;
    let dump = entry(&libraries, |name| name.ends_with(".pdmp"))?;
    let (data, libraries, dump) = (data.display(), libraries.display(), dump.display());
    Ok(format!(
        "#!/bin/sh\n\
         export EMACSDATA='{data}/etc' EMACSDOC='{data}/etc' EMACSPATH='{libraries}'\n\
         EMACSLOADPATH=$(find '{data}/lisp' -type d | tr '\\n' ':')\n\
         export EMACSLOADPATH\n\
         exec '{program}' --dump-file='{dump}' \"$@\"\n",
        program = program.display(),
    ))
}

/// Returns an entry of a folder by its name, which contains a version or an architecture.
fn entry(folder: &Path, is_wanted: impl Fn(&str) -> bool) -> Result<PathBuf> {
    let entries = fs::read_dir(folder).with_context(|| format!("{} is missing", folder.display()))?;
    let found = entries.flatten().find(|entry| is_wanted(&entry.file_name().to_string_lossy()));
    found.map(|entry| entry.path()).with_context(|| format!("{} lacks a file of Emacs", folder.display()))
}

fn runs(program: &Path) -> bool {
    Command::new(program).arg("--version").output().is_ok_and(|output| output.status.success())
}
