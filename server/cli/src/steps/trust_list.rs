//! The list of trusted files, in Ghostbench's data folder.

use std::fs::{self, OpenOptions};
use std::io::ErrorKind;
use std::path::{Path, PathBuf};

use anyhow::Context;
use config::TrustStore;

use crate::exit::UsageError;
use crate::folders;

/// Reads the list.
pub(crate) fn load_trust_list() -> anyhow::Result<TrustStore> {
    load(&list_path()?)
}

/// Changes the list. Concurrent changes are serialized by a lock, and readers see the list either before or after a change.
pub(crate) fn update_trust_list<T>(change: impl FnOnce(&mut TrustStore) -> T) -> anyhow::Result<T> {
    let path = list_path()?;
    let folder = path.parent().context("the list of trusted files has no folder")?;
    private_files::own_folder(folder).with_context(|| format!("cannot make {}", folder.display()))?;
    let failed = || format!("cannot write {}", path.display());
    let mut options = OpenOptions::new();
    options.create(true).truncate(false).write(true);
    let lock = private_files::open(&options, &path.with_extension("lock")).with_context(failed)?;
    // Some file systems do not support locks; concurrent writers there are not protected.
    let _ = lock.lock();
    let mut store = load(&path)?;
    let done = change(&mut store);
    private_files::write_atomically(&path, store.print().as_bytes()).with_context(failed)?;
    Ok(done)
}

fn list_path() -> Result<PathBuf, UsageError> {
    folders::trust_list().ok_or_else(|| {
        UsageError("there is no home folder to keep the list of trusted files in; set the environment variable for it".to_owned())
    })
}

fn load(path: &Path) -> anyhow::Result<TrustStore> {
    let text = match fs::read_to_string(path) {
        Err(error) if error.kind() == ErrorKind::NotFound => return Ok(TrustStore::default()),
        text => text.with_context(|| format!("cannot read {}", path.display()))?,
    };
    TrustStore::parse(&text).with_context(|| format!("{}", path.display()))
}
