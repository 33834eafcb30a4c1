//! Opens the database of a server of traces.

use collect::store::{CollectStore, CollectStoreError, StorePlace};
use config::Secret;

use crate::args::CollectStoreArgs;
use crate::exit::UsageError;
use crate::folders;

/// Folder of the database in Ghostbench's data folder.
const FOLDER: &str = "collected";

/// Opens the database that the arguments name.
pub(crate) fn open(args: &CollectStoreArgs) -> anyhow::Result<CollectStore> {
    CollectStore::open(place(args)?).map_err(store_error)
}

fn place(args: &CollectStoreArgs) -> anyhow::Result<StorePlace> {
    if let Some(variable) = &args.postgres {
        let address = std::env::var(variable).map_err(|_| {
            UsageError(format!(
                "the environment variable {variable} is not set; it holds the address of the database"
            ))
        })?;
        return Ok(StorePlace::Postgres(Secret::new(&address)));
    }
    let folder = match &args.folder {
        Some(folder) => folder.clone(),
        None => folders::data_path()
            .ok_or_else(|| UsageError("there is no home folder; choose a place with --folder".to_owned()))?
            .join(FOLDER),
    };
    Ok(StorePlace::Folder(folder))
}

/// Returns the error of the command: a name that is taken or unknown is a wrong command line.
pub(crate) fn store_error(error: CollectStoreError) -> anyhow::Error {
    match error {
        CollectStoreError::AccountExists(_)
        | CollectStoreError::NoAccount(_)
        | CollectStoreError::CredentialTaken
        | CollectStoreError::NoPostgres => UsageError(error.to_string()).into(),
        error => error.into(),
    }
}
