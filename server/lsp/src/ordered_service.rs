//! The ordering layer: processes every message synchronously, in order of arrival, before any future is polled.
//!
//! Notifications change the [`OrderedState`] here and are not passed on, except those of the protocol's life cycle. Requests are passed
//! to the LSP service with the [`RequestContext`] of their arrival, so that each answer belongs to the text at that time. Nothing here
//! parses, waits or computes.

use std::panic::{self, AssertUnwindSafe};
use std::sync::Arc;
use std::task::{Context, Poll};
use std::time::Instant;

use futures_util::FutureExt;
use futures_util::future::{self, BoxFuture};
use serde::Deserialize;
use serde_json::Value;
use session::{RequestSnapshot, SyncOutcome};
use tower::Service;
use tower_lsp_server::gen_lsp_types::{MessageType, ProgressToken, Uri};
use tower_lsp_server::jsonrpc::{Request, Response};
use tower_lsp_server::{ExitedError, LspService};

use crate::notifications;
use crate::progress::ProgressTask;
use crate::request_context::{PendingContexts, RequestContext};
use crate::server::Server;
use crate::text_sync::TextSync;
use crate::transport::LostChange;

/// The LSP service behind the ordering layer.
pub(crate) struct OrderedService {
    service: LspService<Server>,
    state: Option<OrderedState>,
    pending: PendingContexts,
    arrivals: u64,
    was_shut_down: bool,
}

/// State changed by notifications; exists from the answer to `initialize` to `shutdown`.
pub(crate) struct OrderedState {
    /// State shared by the requests.
    pub(crate) server: Server,
    /// The open documents.
    pub(crate) text_sync: TextSync,
    /// Number of the current message.
    pub(crate) arrival: u64,
    /// Time of its arrival.
    pub(crate) time: Instant,
}

impl OrderedService {
    pub(crate) fn new(service: LspService<Server>, pending: PendingContexts) -> OrderedService {
        OrderedService { service, state: None, pending, arrivals: 0, was_shut_down: false }
    }

    /// Whether the client sent `shutdown`.
    pub(crate) fn was_shut_down(&self) -> bool {
        self.was_shut_down
    }

    /// The task of a request with a progress token. The client may stop it right after sending the request.
    fn progress_task(&self, request: &Request) -> Option<ProgressTask> {
        let token = ProgressToken::deserialize(request.params()?.get("workDoneToken")?).ok()?;
        Some(self.service.inner().progress_tasks.begin(token))
    }

    /// The context of a request that arrives now; `None` before `initialize` is answered and after `shutdown`, when the service
    /// refuses all requests but those two.
    fn context(&mut self, request: &Request) -> Option<RequestContext> {
        let arrival = self.arrivals;
        let documents = Arc::clone(self.state()?.text_sync.documents());
        Some(RequestContext {
            snapshot: RequestSnapshot { documents, arrival, time: Instant::now() },
            encoding: self.service.inner().handshake()?.encoding,
            progress_task: self.progress_task(request).map(Arc::new),
        })
    }

    /// Handles a lost message that may have changed documents.
    pub(crate) fn handle_lost(&mut self, lost: LostChange) {
        if let Some(state) = self.state() {
            state.handle_lost(lost);
        }
    }

    /// Cancels all running tasks.
    pub(crate) fn stop(&self) {
        self.service.inner().stopping.cancel();
    }

    /// The state; created once the position encoding is negotiated.
    fn state(&mut self) -> Option<&mut OrderedState> {
        if self.state.is_none() && !self.was_shut_down {
            let server = self.service.inner();
            let encoding = server.handshake()?.encoding;
            let (server, text_sync) = (server.clone(), TextSync::new(encoding));
            self.state = Some(OrderedState { server, text_sync, arrival: 0, time: Instant::now() });
        }
        self.state.as_mut()
    }

    fn notify(&mut self, notification: Request) -> BoxFuture<'static, Result<Option<Response>, ExitedError>> {
        let arrival = self.arrivals;
        let notified = self.state().is_some_and(|state| {
            (state.arrival, state.time) = (arrival, Instant::now());
            state.notify(&notification)
        });
        if notified { future::ok(None).boxed() } else { self.service.call(notification) }
    }
}

impl OrderedState {
    /// Applies a notification to the state. Returns false if its method is not handled here. After a panic the server keeps
    /// running, and the affected document is marked as out of sync.
    fn notify(&mut self, notification: &Request) -> bool {
        let notified = panic::catch_unwind(AssertUnwindSafe(|| notifications::dispatch(self, notification)));
        notified.unwrap_or_else(|_| {
            tracing::error!(method = notification.method(), "the notification panicked");
            self.mark_named_desynchronized(notification.method(), notifications::params(notification));
            true
        })
    }

    /// Handles a lost message that may have changed these documents.
    fn handle_lost(&mut self, lost: LostChange) {
        match lost {
            LostChange::Nothing => {}
            LostChange::Document(uri) => self.mark_desynchronized(uri),
            LostChange::AnyDocument => {
                let lost = self.text_sync.mark_all_desynchronized();
                if lost > 0 {
                    self.ask_to_reopen(&format!(
                        "lost a message that may change any of the {lost} open documents"
                    ));
                }
            }
        }
    }

    /// Marks the document named in `params` as out of sync, after invalid parameters or a panic.
    pub(crate) fn mark_named_desynchronized(&mut self, method: &str, params: &Value) {
        match params.pointer("/textDocument/uri").and_then(Value::as_str) {
            Some(uri) => self.mark_desynchronized(uri.to_owned()),
            None => self.server.warn(format!("invalid parameters of {method}: no text document")),
        }
    }

    fn mark_desynchronized(&mut self, uri: String) {
        let uri = Uri(uri);
        if self.text_sync.mark_desynchronized(&uri) == SyncOutcome::Lost {
            self.ask_to_reopen(&format!("a message about {} could not be read", uri.0));
        }
    }

    /// Asks the user to reopen a document: the protocol has no message for that.
    pub(crate) fn ask_to_reopen(&self, reason: &str) {
        let remedy = "no suggestions or cases there until it is closed and opened again";
        self.server.show_and_log(MessageType::Warning, format!("{reason}; {remedy}"));
    }
}

impl Service<Request> for OrderedService {
    type Response = Option<Response>;
    type Error = ExitedError;
    type Future = BoxFuture<'static, Result<Option<Response>, ExitedError>>;

    fn poll_ready(&mut self, context: &mut Context<'_>) -> Poll<Result<(), ExitedError>> {
        self.service.poll_ready(context)
    }

    fn call(&mut self, message: Request) -> Self::Future {
        self.arrivals += 1;
        if message.id().is_none() {
            return self.notify(message);
        }
        let Some(context) = self.context(&message) else { return self.service.call(message) };
        if message.method() == "shutdown" {
            self.was_shut_down |= self.state.take().is_some();
            return self.service.call(message);
        }
        let (pending, numbered) = self.pending.register(context, message);
        let answer = self.service.call(numbered);
        async move {
            let _pending = pending;
            answer.await
        }
        .boxed()
    }
}
