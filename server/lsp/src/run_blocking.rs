//! Runs blocking work for requests, and creates error responses.

use std::fmt::Display;

use index::CancelFlag;
use session::{Folder, FolderState};
use tower_lsp_server::jsonrpc::{Error, ErrorCode, Result};

/// The protocol's `RequestFailed`: the request is valid but failed.
const REQUEST_FAILED: ErrorCode = ErrorCode::ServerError(-32803);

/// Runs long work, or work that waits for a disk, on a blocking thread. Returns its errors to the client. Work that has not
/// started when its request is cancelled is skipped.
pub(crate) async fn run_blocking<T: Send + 'static, E: Display + Send + 'static>(
    work: impl FnOnce() -> std::result::Result<T, E> + Send + 'static,
) -> Result<T> {
    run_cancellable(move |_| work()).await
}

/// Same for work whose time depends on the number of cases or runs: the work must check the flag, which is set when its request
/// is cancelled. The result is then ignored.
pub(crate) async fn run_cancellable<T: Send + 'static, E: Display + Send + 'static>(
    work: impl FnOnce(&CancelFlag) -> std::result::Result<T, E> + Send + 'static,
) -> Result<T> {
    match completion::run_blocking(work).await {
        Ok(done) => done.map_err(request_failed),
        Err(_) => Err(request_failed("the task panicked; the location is in the log of the server")),
    }
}

/// The error response of a request that failed for `reason`.
pub(crate) fn request_failed(reason: impl Display) -> Error {
    Error { code: REQUEST_FAILED, message: reason.to_string().into(), data: None }
}

/// The error response without an open folder.
pub(crate) fn no_folder_error() -> Error {
    request_failed(
        "no folder is open; open the project's folder (some editors need a `.git` or `ghostbench.toml` in it)",
    )
}

/// Waits until a folder was indexed for the first time, and returns its state; the error response if it is closed before.
pub(crate) async fn indexed_state(folder: &Folder) -> Result<FolderState> {
    let state = folder.wait_until_indexed().await;
    state.ok_or_else(|| {
        request_failed(format!("{} was closed before it was read; open it and try again", folder.name))
    })
}

/// The error response for an unknown case.
pub(crate) fn no_case_error(id: &str) -> Error {
    Error::invalid_params(format!("unknown case {id}; ghostbench/cases lists the cases of these folders"))
}
