//! Reads settings files, with a size limit. Parsing is done by `config`.

use std::fs::{self, File};
use std::io::{self, ErrorKind, Read};
use std::path::{Path, PathBuf};

use config::{ConfigFile, ConfigFiles};

/// Maximum length of a file, in bytes: settings are written by hand, and a workspace's file is read before it is trusted.
const MAX_BYTES: u64 = 64 << 10;

/// Maximum length of the list of trusted files, in bytes: some fifty thousand files. Ghostbench writes it, a line for each file.
const MAX_TRUST_LIST_BYTES: u64 = 8 << 20;

/// The settings files that apply to all folders.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct SettingsFiles {
    /// The user's file, which need not exist; `None` without a home folder.
    pub user: Option<PathBuf>,
    /// The file named on the command line, which must exist.
    pub named: Option<PathBuf>,
    /// The trust list, which need not exist.
    pub trusted: Option<PathBuf>,
}

impl SettingsFiles {
    /// Reads these files and the one of the workspace at `root`. Waits for the disk.
    pub fn read(&self, root: Option<&Path>) -> ConfigFiles {
        ConfigFiles {
            user: self.user.as_deref().and_then(|path| read_if_there(path, MAX_BYTES)),
            workspace: root
                .and_then(workspace_file)
                .as_deref()
                .and_then(|path| read_if_there(path, MAX_BYTES)),
            command_line: self.named.as_deref().map(|path| {
                read_if_there(path, MAX_BYTES).unwrap_or_else(|| ConfigFile {
                    path: path.to_owned(),
                    content: Err("there is no such file".to_owned()),
                })
            }),
            trusted: self.trusted.as_deref().and_then(|path| read_if_there(path, MAX_TRUST_LIST_BYTES)),
        }
    }
}

/// Returns the settings file of the workspace at `folder`: the nearest one between that folder and the root of its repository.
/// The path contains no links.
pub fn workspace_file(folder: &Path) -> Option<PathBuf> {
    let folder = folder.canonicalize().ok()?;
    let is_root = |folder: &Path| folder.join(".git").exists();
    let is_in_repository = folder.ancestors().any(is_root);
    for folder in folder.ancestors() {
        if let Ok(file) = folder.join(config::FILE_NAME).canonicalize() {
            return Some(file);
        }
        if !is_in_repository || is_root(folder) {
            return None;
        }
    }
    None
}

fn read_if_there(path: &Path, limit: u64) -> Option<ConfigFile> {
    let content = match read_limited(path, limit) {
        Err(error) if error.kind() == ErrorKind::NotFound => return None,
        content => content.map_err(|error| error.to_string()),
    };
    Some(ConfigFile { path: path.to_owned(), content })
}

/// Reads a settings file. Fails if the path is not a regular file, or if the file is longer than 64 KiB.
pub fn read_settings_file(path: &Path) -> io::Result<Vec<u8>> {
    read_limited(path, MAX_BYTES)
}

fn read_limited(path: &Path, limit: u64) -> io::Result<Vec<u8>> {
    // Opening something else, such as a pipe, may block for ever.
    if !fs::metadata(path)?.is_file() {
        return Err(io::Error::other("it is not a regular file"));
    }
    let mut content = Vec::new();
    File::open(path)?.take(limit + 1).read_to_end(&mut content)?;
    if content.len() as u64 > limit {
        return Err(io::Error::other(format!("it is longer than {} KiB; shorten it", limit >> 10)));
    }
    Ok(content)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_long_list_of_trusted_files_is_read() {
        let folder = tempfile::tempdir().expect("a folder");
        let path = folder.path().join("trusted.json");
        fs::write(&path, " ".repeat(1 << 20)).expect("it can be written");
        let files = SettingsFiles { user: Some(path.clone()), named: None, trusted: Some(path) }.read(None);
        assert!(files.trusted.is_some_and(|file| file.content.is_ok()));
        assert!(files.user.is_some_and(|file| file.content.is_err()), "settings are shorter");
    }
}
