//! `ghostbench/didChangeStatus`: every `busy: true` is followed by `busy: false`, however the work ends.

use tokio::runtime::Handle;
use tower_lsp_server::Client;

use crate::ext::{DidChangeStatus, DidChangeStatusParams};

/// A busy status shown by the client. Reported as stopped when dropped, e.g. after cancellation or a panic.
pub(crate) struct BusyStatus {
    client: Client,
    task: String,
    has_ended: bool,
}

impl BusyStatus {
    /// Reports that work has started; `what` describes it, as in "reading shop".
    pub(crate) async fn begin(client: &Client, what: String) -> BusyStatus {
        // Created before sending: the caller may be cancelled while the message is sent.
        let status = BusyStatus { client: client.clone(), task: what, has_ended: false };
        report(client, true, "normal", status.task.clone()).await;
        status
    }

    /// Reports the end of the work.
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
        let (client, message) = (self.client.clone(), format!("{} was stopped", self.task));
        // Without a runtime the client is gone.
        if let Ok(runtime) = Handle::try_current() {
            runtime.spawn(async move { report(&client, false, "normal", message).await });
        }
    }
}

/// Sends a status to the client.
pub(crate) async fn report(client: &Client, busy: bool, kind: &str, message: String) {
    let params = DidChangeStatusParams { busy, kind: kind.to_owned(), message };
    client.send_notification::<DidChangeStatus>(params).await;
}

#[cfg(test)]
mod tests {
    use futures_util::StreamExt;
    use tower::{Service, ServiceExt};
    use tower_lsp_server::gen_lsp_types::{InitializeParams, InitializeResult};
    use tower_lsp_server::jsonrpc::{Request, Result};
    use tower_lsp_server::{ClientSocket, LanguageServer, LspService};

    use super::*;

    struct Introduced(Client);

    impl LanguageServer for Introduced {
        async fn initialize(&self, _: InitializeParams) -> Result<InitializeResult> {
            Ok(InitializeResult::default())
        }

        async fn shutdown(&self) -> Result<()> {
            Ok(())
        }
    }

    /// An initialized server, its connection to the client, and the messages sent there.
    async fn initialized_service() -> (LspService<Introduced>, ClientSocket) {
        let (mut service, socket) = LspService::new(Introduced);
        let params = serde_json::json!({ "capabilities": {} });
        let initialize = Request::build("initialize").params(params).id(1).finish();
        service.ready().await.unwrap().call(initialize).await.unwrap();
        (service, socket)
    }

    #[tokio::test]
    async fn busy_status_ends_after_completion_panic_or_abort() {
        let (service, mut sent) = initialized_service().await;
        let client = service.inner().0.clone();
        let mut next = async || sent.next().await.unwrap().params().unwrap().clone();
        type Work = fn(BusyStatus) -> futures_util::future::BoxFuture<'static, ()>;
        let works: [(Work, &str); 3] = [
            (|status| Box::pin(status.end("normal", "read".to_owned())), "read"),
            (|status| Box::pin(async move { panic!("{} panics", status.task) }), "reading was stopped"),
            (
                |status| {
                    Box::pin(async move {
                        let _status = status;
                        std::future::pending().await
                    })
                },
                "reading was stopped",
            ),
        ];
        for (work, message) in works {
            let client = client.clone();
            let task = tokio::spawn(async move {
                work(BusyStatus::begin(&client, "reading".to_owned()).await).await;
            });
            assert_eq!(next().await["busy"], true);
            task.abort();
            let ended = next().await;
            assert_eq!((&ended["busy"], &ended["message"]), (&false.into(), &message.into()));
        }
    }
}
