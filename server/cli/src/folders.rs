//! Where the platform keeps what programs write on their own account.

use std::path::PathBuf;

use cache::Cache;
use etcetera::BaseStrategy;
use replay::DataFolder;

use crate::exit::UsageError;

const FOLDER_NAME: &str = "ghostbench";

/// What helps who has no home, where a command has that option.
pub(crate) const USE_OUT: &str = "choose a place with --out";

/// Ghostbench's own folder, where everything goes that the user did not ask for elsewhere. `remedy` helps who has no home.
pub(crate) fn data_folder(remedy: &str) -> Result<DataFolder, UsageError> {
    let strategy = etcetera::choose_base_strategy()
        .map_err(|_| UsageError(format!("there is no home folder to keep runs in; {remedy}")))?;
    Ok(DataFolder::new(strategy.data_dir().join(FOLDER_NAME)))
}

/// Where that folder is.
pub(crate) fn data_path() -> Option<PathBuf> {
    Some(etcetera::choose_base_strategy().ok()?.data_dir().join(FOLDER_NAME))
}

/// The list of the files that are trusted.
pub(crate) fn trust_list() -> Option<PathBuf> {
    Some(data_path()?.join("trust.json"))
}

/// The user's own file of settings.
pub(crate) fn user_settings() -> Option<PathBuf> {
    Some(etcetera::choose_base_strategy().ok()?.config_dir().join(FOLDER_NAME).join("config.toml"))
}

/// The log of the language server: where logs belong on this platform, else in the data folder.
pub(crate) fn server_log() -> Option<PathBuf> {
    Some(logs()?.join("lsp.log"))
}

/// The logs of programs that are started for engines, beside it.
pub(crate) fn engine_logs() -> Option<PathBuf> {
    Some(logs()?.join("engines"))
}

fn logs() -> Option<PathBuf> {
    let strategy = etcetera::choose_base_strategy().ok()?;
    let folder = strategy.state_dir().unwrap_or_else(|| strategy.data_dir());
    Some(folder.join(FOLDER_NAME))
}

/// What is derived from workspaces, where the platform keeps such; `None` for who has no home.
pub(crate) fn cache() -> Option<Cache> {
    Some(Cache::new(&cache_path()?, Cache::DEFAULT_LIMIT))
}

/// Where that is.
pub(crate) fn cache_path() -> Option<PathBuf> {
    Some(etcetera::choose_base_strategy().ok()?.cache_dir().join(FOLDER_NAME))
}
