//! Third-party programs that some tests need.

use std::env;
use std::path::PathBuf;

/// Returns the path of a program: from an environment variable such as `GHOSTBENCH_NVIM`, or an installed one. If it is
/// missing, the test fails under CI; elsewhere it prints a message and is skipped.
pub fn component(program: &str) -> Option<PathBuf> {
    let variable = format!("GHOSTBENCH_{}", program.to_uppercase().replace('-', "_"));
    let chosen = env::var_os(variable).map(PathBuf::from);
    let paths = env::var_os("PATH").unwrap_or_default();
    let installed = env::split_paths(&paths).map(|folder| folder.join(program));
    let found = chosen.into_iter().chain(installed).find(|path| path.is_file());
    if found.is_none() {
        missing(&format!("{program} is not installed; `cargo xtask test` installs it on Debian"));
    }
    found
}

/// Prints that a test is skipped; under CI it fails instead.
///
/// # Panics
///
/// If the environment variable `CI` is set.
#[expect(clippy::print_stderr, reason = "a skipped test says so")]
pub(crate) fn missing(what: &str) {
    assert!(env::var_os("CI").is_none(), "{what}; under CI no test may be skipped");
    eprintln!("SKIPPED: {what}");
}
