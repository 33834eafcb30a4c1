//! Ghostbench's files and folders on each platform.

use std::path::PathBuf;

use cache::Cache;
use etcetera::BaseStrategy;
use replay::DataFolder;

use crate::exit::UsageError;

const FOLDER_NAME: &str = "ghostbench";

/// Remedy for a missing home folder, for commands with that option.
pub(crate) const USE_OUT: &str = "choose a place with --out";

/// Returns Ghostbench's data folder, the default place of all output. `remedy` goes into the error for a missing home folder.
pub(crate) fn data_folder(remedy: &str) -> Result<DataFolder, UsageError> {
    let strategy = etcetera::choose_base_strategy()
        .map_err(|_| UsageError(format!("there is no home folder to keep runs in; {remedy}")))?;
    Ok(DataFolder::new(strategy.data_dir().join(FOLDER_NAME)))
}

/// Returns the path of the data folder.
pub(crate) fn data_path() -> Option<PathBuf> {
    Some(etcetera::choose_base_strategy().ok()?.data_dir().join(FOLDER_NAME))
}

/// Returns the path of the list of trusted files.
pub(crate) fn trust_list() -> Option<PathBuf> {
    Some(data_path()?.join("trust.json"))
}

/// Returns the path of the user's settings file.
pub(crate) fn user_settings() -> Option<PathBuf> {
    Some(etcetera::choose_base_strategy().ok()?.config_dir().join(FOLDER_NAME).join("config.toml"))
}

/// Returns the path of the language server's log: the platform's place for logs, or the data folder.
pub(crate) fn server_log() -> Option<PathBuf> {
    Some(logs()?.join("lsp.log"))
}

/// Returns the path of the log of `ghostbench collect serve`.
pub(crate) fn collect_log() -> Option<PathBuf> {
    Some(logs()?.join("collect.log"))
}

/// Returns the folder for the logs of programs started for engines, next to the server's log.
pub(crate) fn engine_logs() -> Option<PathBuf> {
    Some(logs()?.join("engines"))
}

fn logs() -> Option<PathBuf> {
    let strategy = etcetera::choose_base_strategy().ok()?;
    let folder = strategy.state_dir().unwrap_or_else(|| strategy.data_dir());
    Some(folder.join(FOLDER_NAME))
}

/// Returns the cache in the platform's place for caches; `None` without a home folder.
pub(crate) fn cache() -> Option<Cache> {
    Some(Cache::new(&cache_path()?, Cache::DEFAULT_LIMIT))
}

/// Returns the path of the cache.
pub(crate) fn cache_path() -> Option<PathBuf> {
    Some(etcetera::choose_base_strategy().ok()?.cache_dir().join(FOLDER_NAME))
}
