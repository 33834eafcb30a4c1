//! Checks whether a program exists, before it is started or after a failed start.

use std::env;
use std::path::{Path, PathBuf};

use super::{Program, ProgramError};

/// Looks up the program as the system does, and its working directory.
pub(super) fn check(program: &Program) -> Result<(), ProgramError> {
    let name = program.name().to_owned();
    if let Some(folder) = program.folder.as_ref().filter(|folder| !folder.is_dir()) {
        return Err(ProgramError::NoFolder { program: name, folder: folder.clone() });
    }
    let files: Vec<PathBuf> = candidates(program).into_iter().filter(|path| path.is_file()).collect();
    match files.iter().any(|path| may_run(path)) {
        true => Ok(()),
        false if files.is_empty() => Err(ProgramError::NotFound { program: name }),
        false => Err(ProgramError::NotExecutable { program: name }),
    }
}

/// Returns the first executable candidate.
pub(super) fn program_file(program: &Program) -> Option<PathBuf> {
    candidates(program).into_iter().find(|path| path.is_file() && may_run(path))
}

/// Returns the files that the name may refer to.
fn candidates(program: &Program) -> Vec<PathBuf> {
    let name = Path::new(program.name());
    let with_suffix = |path: PathBuf| match path.extension() {
        None if !env::consts::EXE_SUFFIX.is_empty() => path.with_extension(env::consts::EXE_EXTENSION),
        _ => path,
    };
    if program.name().contains(std::path::is_separator) {
        return vec![with_suffix(name.to_owned())];
    }
    let own = program.env.get("PATH").map(|path| path.expose().into());
    let folders = own.or_else(|| env::var_os("PATH")).unwrap_or_default();
    env::split_paths(&folders).map(|folder| with_suffix(folder.join(name))).collect()
}

#[cfg(unix)]
use super::unix::may_run;

/// On this system the suffix makes a file executable.
#[cfg(not(unix))]
fn may_run(_: &Path) -> bool {
    true
}
