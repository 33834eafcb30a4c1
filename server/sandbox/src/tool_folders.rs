//! Folders of compilers, interpreters and their packages, and the variables that name them.
//!
//! The user's home is not visible in the sandbox; these parts of it are. None of them holds keys: `~/.cargo/credentials.toml`, `~/.npmrc`,
//! `~/.m2/settings.xml` and the like are beside them.

use std::collections::BTreeMap;
use std::env;
use std::path::{Path, PathBuf};

/// Folders below the home that can be read.
const READABLE: [&str; 24] = [
    ".asdf",
    ".cargo/bin",
    ".cargo/git",
    ".conda/envs",
    ".dotnet",
    ".jdks",
    ".local/bin",
    ".local/lib",
    ".local/share/mise",
    ".local/share/pnpm",
    ".local/share/uv",
    ".local/share/virtualenvs",
    ".nix-profile",
    ".nvm/versions",
    ".opam",
    ".pyenv",
    ".rbenv",
    ".rustup",
    ".sdkman/candidates",
    ".virtualenvs",
    ".volta",
    "anaconda3",
    "go/pkg",
    "miniconda3",
];

/// Folders below the home that build tools write while they build.
const CACHES: [&str; 6] = [
    ".cache/go-build",
    ".cargo/registry",
    ".gradle/caches",
    ".gradle/wrapper",
    ".m2/repository",
    ".cache/pypoetry/virtualenvs",
];

/// Folders elsewhere that can be read.
const SYSTEM: [&str; 4] = ["/opt", "/nix/store", "/home/linuxbrew/.linuxbrew", "/usr/share/maven-repo"];

/// Variables that are passed on.
const VARIABLES: [&str; 17] = [
    "CARGO_HOME",
    "CONDA_PREFIX",
    "GOFLAGS",
    "GOPATH",
    "GOROOT",
    "GRADLE_USER_HOME",
    "JAVA_HOME",
    "LANG",
    "LC_ALL",
    "MAVEN_OPTS",
    "NVM_DIR",
    "PATH",
    "PYENV_ROOT",
    "PYENV_VERSION",
    "RUSTUP_HOME",
    "RUSTUP_TOOLCHAIN",
    "VIRTUAL_ENV",
];

/// Values of every command: no tool waits for a network that does not exist, and none writes where it cannot.
const FIXED: [(&str, &str); 7] = [
    ("CARGO_NET_OFFLINE", "true"),
    ("CI", "1"),
    ("GOPROXY", "off"),
    ("NO_COLOR", "1"),
    ("PYTHONDONTWRITEBYTECODE", "1"),
    ("TERM", "dumb"),
    ("npm_config_offline", "true"),
];

/// Requirements of tools.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct ToolFolders {
    /// Folders that can be read.
    pub(crate) readable: Vec<PathBuf>,
    /// Folders of which a copy can be written.
    pub(crate) caches: Vec<PathBuf>,
    /// Environment variables.
    pub(crate) env: BTreeMap<String, String>,
}

impl ToolFolders {
    /// Returns those of this user that exist, and `further` folders that can be read.
    pub(crate) fn of_user(home: &Path, further: &[PathBuf]) -> ToolFolders {
        let variable = |name: &str| env::var(name).ok().filter(|value| !value.is_empty());
        let mut env: BTreeMap<String, String> =
            VARIABLES.iter().filter_map(|&name| Some((name.to_owned(), variable(name)?))).collect();
        env.extend(FIXED.iter().map(|&(name, value)| (name.to_owned(), value.to_owned())));
        env.insert("HOME".to_owned(), home.to_string_lossy().into_owned());
        let below_home = READABLE.iter().map(|name| home.join(name));
        let named = ["RUSTUP_HOME", "GOROOT", "JAVA_HOME", "VIRTUAL_ENV", "CONDA_PREFIX", "PYENV_ROOT"];
        let named = named.iter().filter_map(|name| variable(name)).map(PathBuf::from);
        let programs = variable("PATH").unwrap_or_default();
        let programs: Vec<PathBuf> = env::split_paths(&programs).collect();
        let mut readable: Vec<PathBuf> =
            SYSTEM.iter().map(PathBuf::from).chain(below_home).chain(named).collect();
        readable.extend(programs);
        readable.extend_from_slice(further);
        let mut caches: Vec<PathBuf> = CACHES.iter().map(|name| home.join(name)).collect();
        if let Some(cargo) = variable("CARGO_HOME").map(PathBuf::from) {
            readable.extend([cargo.join("bin"), cargo.join("git")]);
            caches.push(cargo.join("registry"));
        }
        if let Some(go) = variable("GOPATH").map(PathBuf::from) {
            readable.push(go.join("pkg"));
        }
        let readable = existing(readable, home);
        ToolFolders { readable: outermost(readable), caches: existing(caches, home), env }
    }
}

/// Returns the folders that exist, without repetitions, outer ones first. The home itself, or a folder around it, would show everything.
fn existing(mut folders: Vec<PathBuf>, home: &Path) -> Vec<PathBuf> {
    folders.retain(|folder| folder.is_absolute() && !home.starts_with(folder) && folder.is_dir());
    folders.sort();
    folders.dedup();
    folders
}

/// Returns sorted folders without those in other ones: each costs two mounts.
fn outermost(folders: Vec<PathBuf>) -> Vec<PathBuf> {
    let mut outermost: Vec<PathBuf> = Vec::new();
    for folder in folders {
        if !outermost.iter().any(|outer| folder.starts_with(outer)) {
            outermost.push(folder);
        }
    }
    outermost
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn home_and_folders_around_it_are_never_readable() {
        let home = tempfile::tempdir().expect("a folder");
        let inner = home.path().join("tools");
        std::fs::create_dir(&inner).expect("a folder");
        let further = [
            home.path().to_owned(),
            home.path().parent().expect("a parent").to_owned(),
            "/".into(),
            inner.clone(),
        ];
        let folders = ToolFolders::of_user(home.path(), &further);
        assert!(folders.readable.contains(&inner));
        assert!(folders.readable.iter().all(|folder| !home.path().starts_with(folder)), "{folders:?}");
    }

    #[test]
    fn folders_in_readable_ones_are_not_mounted_again() {
        let folders = ["/a", "/a/b", "/a-b", "/c/d", "/c/d/e/f"].map(PathBuf::from).to_vec();
        assert_eq!(outermost(folders), ["/a", "/a-b", "/c/d"].map(PathBuf::from));
    }

    #[test]
    fn keys_of_the_environment_are_not_passed_on() {
        let folders = ToolFolders::of_user(Path::new("/nowhere"), &[]);
        let known: Vec<&str> =
            VARIABLES.iter().copied().chain(FIXED.map(|(name, _)| name)).chain(["HOME"]).collect();
        assert!(folders.env.keys().all(|name| known.contains(&&**name)), "{:?}", folders.env);
    }
}
