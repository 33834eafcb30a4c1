//! `ghostbench/didChangeStatus`: every `busy: true` gets its `busy: false`, however the work ends.

use tokio::runtime::Handle;
use tower_lsp_server::Client;

use crate::ext::{DidChangeStatus, DidChangeStatusParams};

/// Work that the client shows as under way. Dropped, as when it is cancelled or panics, it is reported as stopped.
pub(crate) struct BusyStatus {
    client: Client,
    what: String,
    has_ended: bool,
}

impl BusyStatus {
    /// Reports that work has begun; `what` says which, as in "reading shop".
    pub(crate) async fn begin(client: &Client, what: String) -> BusyStatus {
        // Made first: whoever stops waiting may do so once the message is on its way.
        let status = BusyStatus { client: client.clone(), what, has_ended: false };
        report(client, true, "normal", status.what.clone()).await;
        status
    }

    /// Reports how it ended.
    pub(crate) async fn end(mut self, kind: &str, message: String) {
        let client = self.client.clone();
        self.has_ended = true;
        report(&client, false, kind, message).await;
    }
}

impl Drop for BusyStatus {
    fn drop(&mut self) {
        if self.has_ended {
            return;
        }
        let (client, message) = (self.client.clone(), format!("{} was stopped", self.what));
        // Without a runtime there is no client to report to any more.
        if let Ok(runtime) = Handle::try_current() {
            runtime.spawn(async move { report(&client, false, "normal", message).await });
        }
    }
}

/// Reports what the client is to show.
pub(crate) async fn report(client: &Client, busy: bool, kind: &str, message: String) {
    let params = DidChangeStatusParams { busy, kind: kind.to_owned(), message };
    client.send_notification::<DidChangeStatus>(params).await;
}
