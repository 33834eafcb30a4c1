//! Opens the database of a server of traces.

use std::time::{Duration, Instant};

use anyhow::Context;
use collect::store::{CollectStore, CollectStoreError, StorePlace};
use config::Secret;

use crate::args::CollectStoreArgs;
use crate::exit::UsageError;
use crate::folders;
use crate::output::print_message;

/// Folder of the database in Ghostbench's data folder.
const FOLDER: &str = "collected";

/// First and longest pause between two attempts: a database that is just starting is found soon, and one that is away is not flooded.
const FIRST_PAUSE: Duration = Duration::from_millis(250);
const LONGEST_PAUSE: Duration = Duration::from_secs(5);

/// Opens the database that the arguments name.
pub(crate) fn open(args: &CollectStoreArgs) -> anyhow::Result<CollectStore> {
    CollectStore::open(place(args)?).map_err(store_error)
}

/// As [`open()`], for a server that may start before its database: retries for `limit` while the database cannot be reached, and says so.
pub(crate) async fn open_when_reachable(
    args: &CollectStoreArgs,
    limit: Duration,
) -> anyhow::Result<CollectStore> {
    let place = place(args)?;
    let (start, mut pause, mut last_reason) = (Instant::now(), FIRST_PAUSE, None);
    loop {
        let place = place.clone();
        let opening = tokio::task::spawn_blocking(move || CollectStore::open(place));
        let error = match opening.await.context("opening the database panicked")? {
            Ok(store) => return Ok(store),
            Err(error) => error,
        };
        let CollectStoreError::Unreachable { address, reason } = &error else {
            return Err(store_error(error));
        };
        let left = limit.saturating_sub(start.elapsed());
        if left.is_zero() {
            return Err(store_error(error));
        }
        if last_reason.as_ref() != Some(reason) {
            let seconds = left.as_secs_f64().ceil();
            print_message(&format!(
                "waiting for the database at {address}: {reason}; trying again for {seconds} s; press Ctrl-C to stop"
            ));
            last_reason = Some(reason.clone());
        }
        tokio::time::sleep(pause.min(left)).await;
        pause = (pause * 2).min(LONGEST_PAUSE);
    }
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
