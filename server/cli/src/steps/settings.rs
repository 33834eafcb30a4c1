//! The files and the environment that the configuration is made of.
//!
//! Where they are is decided here, and nowhere else are they read; what they mean is `config`'s.

use std::fs::{self, File};
use std::io::{self, ErrorKind, Read};
use std::path::{Path, PathBuf};

use anyhow::Context;
use config::{Config, FileRead, Files, Layer, LayerKind, Severity, Variables};

use crate::exit::Usage;
use crate::folders;
use crate::output::say;

/// Longest file that is read, in bytes: people write these by hand, and whatever somebody else put into a workspace is taken in at once.
const MAX_BYTES: u64 = 64 << 10;

/// What the configuration of any folder is made of.
pub(crate) struct Sources {
    /// Where the user's own file is, or would be; `None` for who has no home.
    pub(crate) user: Option<PathBuf>,
    /// The file that the command line names.
    pub(crate) named: Option<PathBuf>,
    /// The list of trusted files, as the user's own file.
    trusted: Option<PathBuf>,
    /// The environment.
    pub(crate) variables: Variables,
}

impl Sources {
    /// Those of this process, with the file that the command line names, if any.
    pub(crate) fn new(named: Option<&Path>) -> Sources {
        // Without links, as the workspace's file is, which it may be.
        let whole =
            |path: &Path| path.canonicalize().or_else(|_| std::path::absolute(path)).unwrap_or(path.into());
        Sources {
            user: folders::user_settings(),
            named: named.map(whole),
            trusted: folders::trust_list(),
            variables: variables(),
        }
    }

    /// What the files hold now for the folder at `root`, if for any.
    pub(crate) fn read(&self, root: Option<&Path>) -> Files {
        let missing = |path: &Path| FileRead {
            path: path.to_owned(),
            content: Err("there is no such file".to_owned()),
        };
        Files {
            user: self.user.as_deref().and_then(read_if_there),
            workspace: root.and_then(workspace_file).as_deref().and_then(read_if_there),
            // It was named, so it has to be there.
            command_line: self
                .named
                .as_deref()
                .map(|path| read_if_there(path).unwrap_or_else(|| missing(path))),
            trusted: self.trusted.as_deref().and_then(read_if_there),
        }
    }

    /// The layers that hold in the folder at `root`.
    pub(crate) fn layers(&self, root: &Path) -> Vec<Layer> {
        self.read(Some(root)).layers(&[], &self.variables)
    }

    /// What holds in the folder at `root`, with everything that is wrong told. A broken file that the command line names is an error:
    /// who names it wants what it says.
    pub(crate) fn config(&self, root: &Path) -> anyhow::Result<Config> {
        let layers = self.layers(root);
        refuse_broken(&layers, LayerKind::CommandLine)?;
        let config = Config::new(&layers, &self.variables);
        for problem in &config.problems {
            let word = match problem.severity {
                Severity::Error => "error in the settings",
                Severity::Warning => "warning",
                Severity::Untrusted => "note",
            };
            say(&format!("{word}: {problem}"));
        }
        Ok(config)
    }
}

/// An error with all problems of a broken layer, if this one is there and is broken.
pub(crate) fn refuse_broken(layers: &[Layer], kind: LayerKind) -> Result<(), Usage> {
    match layers.iter().find(|layer| layer.kind() == kind && layer.is_broken()) {
        Some(broken) => {
            let problems: Vec<String> = broken.problems().iter().map(ToString::to_string).collect();
            Err(Usage(problems.join("\n")))
        }
        None => Ok(()),
    }
}

/// The environment. A variable that is no text is none that we know, and holds no key.
pub(crate) fn variables() -> Variables {
    let all = std::env::vars_os();
    Variables::new(
        all.filter_map(|(name, value)| Some((name.into_string().ok()?, value.into_string().ok()?))),
    )
}

/// The file of the workspace at `folder`: the nearest one from there up to the root of the repository. Its path has no links in it.
pub(crate) fn workspace_file(folder: &Path) -> Option<PathBuf> {
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

fn read_if_there(path: &Path) -> Option<FileRead> {
    let content = match read(path) {
        Err(error) if error.kind() == ErrorKind::NotFound => return None,
        content => content.map_err(|error| error.to_string()),
    };
    Some(FileRead { path: path.to_owned(), content })
}

/// The content of a file of settings.
pub(crate) fn read(path: &Path) -> io::Result<Vec<u8>> {
    // Opening something else, such as a pipe, may wait for ever.
    if !fs::metadata(path)?.is_file() {
        return Err(io::Error::other("it is no file"));
    }
    let mut content = Vec::new();
    File::open(path)?.take(MAX_BYTES + 1).read_to_end(&mut content)?;
    if content.len() as u64 > MAX_BYTES {
        return Err(io::Error::other(format!("it is longer than {} KiB; shorten it", MAX_BYTES >> 10)));
    }
    Ok(content)
}

/// The content of a file that has to be there.
pub(crate) fn read_named(path: &Path) -> anyhow::Result<Vec<u8>> {
    read(path).with_context(|| format!("cannot read {}", path.display()))
}
