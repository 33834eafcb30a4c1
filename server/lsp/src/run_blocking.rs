//! Work beside the threads that answer requests, and what to answer when it fails.

use std::fmt::Display;

use index::CancelFlag;
use tower_lsp_server::jsonrpc::{Error, ErrorCode, Result};

/// The protocol's `RequestFailed`: the request is right, and still there is no result.
const REQUEST_FAILED: ErrorCode = ErrorCode::ServerError(-32803);

/// Does what takes long, or waits for a disk, where that is no harm. Its errors go to the client as they are. Work that has not begun
/// when its request is cancelled is not done.
pub(crate) async fn run_blocking<T: Send + 'static, E: Display + Send + 'static>(
    work: impl FnOnce() -> std::result::Result<T, E> + Send + 'static,
) -> Result<T> {
    beside_while_wanted(move |_| work()).await
}

/// The same for work that takes as long as there are many cases or runs: it asks the flag on its way, which is set when its request is
/// cancelled, and ends. What it returns then is not used.
pub(crate) async fn beside_while_wanted<T: Send + 'static, E: Display + Send + 'static>(
    work: impl FnOnce(&CancelFlag) -> std::result::Result<T, E> + Send + 'static,
) -> Result<T> {
    let cancel = CancelFlag::default();
    let _cancelled = cancel.on_drop();
    let working = tokio::task::spawn_blocking(move || (!cancel.is_cancelled()).then(|| work(&cancel)));
    match working.await {
        Ok(Some(done)) => done.map_err(request_failed),
        Ok(None) => Err(Error::request_cancelled()),
        Err(_) => Err(request_failed("stopped by a defect of the server; its log says where")),
    }
}

/// What to answer where something cannot be had, and why.
pub(crate) fn request_failed(reason: impl Display) -> Error {
    Error { code: REQUEST_FAILED, message: reason.to_string().into(), data: None }
}

/// What to answer somebody who has no folder open.
pub(crate) fn no_folder_error() -> Error {
    request_failed(
        "no folder is open; open the project's folder (some editors want a `.git` or `ghostbench.toml` in it)",
    )
}

/// What to answer somebody who asks for a case that is not there.
pub(crate) fn no_case_error(id: &str) -> Error {
    Error::invalid_params(format!("no case {id} is recorded in these folders; ghostbench/cases lists them"))
}
