//! Which confinement this machine has.

use std::path::PathBuf;

/// Confinement that the user requires.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Default)]
pub enum ConfinementChoice {
    /// The confinement of the system; refuse to run without it.
    #[default]
    Required,
    /// None: the command runs in a copy of the workspace, with all rights of the user.
    None,
}

/// How commands are confined.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Confinement {
    /// By bubblewrap at this path, on Linux.
    Bubblewrap(PathBuf),
    /// By the sandbox of macOS.
    Seatbelt,
    /// Not at all.
    None,
}

impl Confinement {
    /// Returns the confinement of this system.
    ///
    /// # Errors
    ///
    /// A message with the remedy, if there is none.
    pub fn of_system() -> Result<Confinement, String> {
        if cfg!(target_os = "macos") {
            return Ok(Confinement::Seatbelt);
        }
        if !cfg!(target_os = "linux") {
            return Err("this system has no sandbox that Ghostbench knows; use Linux or macOS, \
                        or allow running without one"
                .to_owned());
        }
        let paths = std::env::var_os("PATH").unwrap_or_default();
        let found =
            std::env::split_paths(&paths).map(|folder| folder.join("bwrap")).find(|path| path.is_file());
        found.map(Confinement::Bubblewrap).ok_or_else(|| {
            "bubblewrap is not installed; install the package `bubblewrap`, or allow running without a sandbox".to_owned()
        })
    }

    /// Returns its name.
    pub fn name(&self) -> &'static str {
        match self {
            Confinement::Bubblewrap(_) => "bubblewrap",
            Confinement::Seatbelt => "seatbelt",
            Confinement::None => "none",
        }
    }
}
