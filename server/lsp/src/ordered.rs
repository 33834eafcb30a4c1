//! The ordering layer: sees every message synchronously, in the order of arrival, before any future is polled.
//!
//! Notifications change the [`State`] here and go no further, but for those of the protocol's own life cycle. Requests go on to the
//! LSP service with the [`Moment`] of their arrival, so that whatever runs when, each answer belongs to the text before it. Nothing
//! here parses, waits or computes.

use std::panic::{self, AssertUnwindSafe};
use std::sync::Arc;
use std::task::{Context, Poll};
use std::time::Instant;

use futures_util::FutureExt;
use futures_util::future::{self, BoxFuture};
use serde::Deserialize;
use serde_json::Value;
use tower::Service;
use tower_lsp_server::gen_lsp_types::{MessageType, ProgressToken, Uri};
use tower_lsp_server::jsonrpc::{Request, Response};
use tower_lsp_server::{ExitedError, LspService};

use crate::documents::{Documents, SyncState};
use crate::moment::Moment;
use crate::notifications;
use crate::progress::Work;
use crate::server::Server;
use crate::transport::Lost;

/// The LSP service with the order kept around it.
pub(crate) struct Ordered {
    service: LspService<Server>,
    state: Option<State>,
    arrivals: u64,
    was_shut_down: bool,
}

/// What notifications change; there is one from the answer to `initialize` to `shutdown`.
pub(crate) struct State {
    /// What the requests share.
    pub(crate) server: Server,
    /// The open documents.
    pub(crate) documents: Arc<Documents>,
    /// Number of the message that is being taken in.
    pub(crate) arrival: u64,
}

impl Ordered {
    pub(crate) fn new(service: LspService<Server>) -> Ordered {
        Ordered { service, state: None, arrivals: 0, was_shut_down: false }
    }

    /// Whether the client said `shutdown`.
    pub(crate) fn was_shut_down(&self) -> bool {
        self.was_shut_down
    }

    /// The work that a request gives a progress token for. The client may stop it right after sending the request.
    fn work(&self, request: &Request) -> Option<Work> {
        let token = ProgressToken::deserialize(request.params()?.get("workDoneToken")?).ok()?;
        Some(self.service.inner().works.begin(token))
    }

    /// Takes note that a message was lost that may have changed documents.
    pub(crate) fn lose(&mut self, lost: Lost) {
        if let Some(state) = self.state() {
            state.lose(lost);
        }
    }

    /// Ends all that is under way.
    pub(crate) fn stop(&self) {
        self.service.inner().stopping.cancel();
    }

    /// The state, once the client and we have agreed on how to count characters.
    fn state(&mut self) -> Option<&mut State> {
        if self.state.is_none() && !self.was_shut_down {
            let server = self.service.inner();
            let encoding = server.agreed()?.encoding;
            let documents = Arc::new(Documents::new(encoding));
            self.state = Some(State { server: server.clone(), documents, arrival: 0 });
        }
        self.state.as_mut()
    }

    fn notify(&mut self, notification: Request) -> BoxFuture<'static, Result<Option<Response>, ExitedError>> {
        let arrival = self.arrivals;
        let notified = self.state().is_some_and(|state| {
            state.arrival = arrival;
            state.notify(&notification)
        });
        if notified { future::ok(None).boxed() } else { self.service.call(notification) }
    }
}

impl State {
    /// Lets a notification change the state; false if it is none that is known here. A defect leaves the server going: the
    /// document that it struck is not trusted any more.
    fn notify(&mut self, notification: &Request) -> bool {
        let notified = panic::catch_unwind(AssertUnwindSafe(|| notifications::notify(self, notification)));
        notified.unwrap_or_else(|_| {
            tracing::error!(method = notification.method(), "the notification panicked");
            self.lose_named(notification.method(), notifications::params(notification));
            true
        })
    }

    /// Takes note that a message was lost that may have changed these documents.
    fn lose(&mut self, lost: Lost) {
        match lost {
            Lost::Nothing => {}
            Lost::Document(uri) => self.lose_document(uri),
            Lost::AnyDocument => {
                let open: Vec<Uri> = self.documents.all().map(|document| document.uri.clone()).collect();
                let documents = Arc::make_mut(&mut self.documents);
                let lost = open.iter().filter(|uri| documents.lose(uri) == SyncState::Lost).count();
                if lost > 0 {
                    self.ask_to_reopen(&format!(
                        "a message that may change any of the {lost} open documents was lost"
                    ));
                }
            }
        }
    }

    /// Takes note that the text of the document that `params` name is not known any more: they cannot be read, or what they ask for
    /// panicked.
    pub(crate) fn lose_named(&mut self, method: &str, params: &Value) {
        match params.pointer("/textDocument/uri").and_then(Value::as_str) {
            Some(uri) => self.lose_document(uri.to_owned()),
            None => self.server.warn(format!("invalid parameters of {method}: they name no text document")),
        }
    }

    fn lose_document(&mut self, uri: String) {
        let uri = Uri(uri);
        if Arc::make_mut(&mut self.documents).lose(&uri) == SyncState::Lost {
            self.ask_to_reopen(&format!("a message about {} could not be read", uri.0));
        }
    }

    /// Asks the user, where they see it, for what no message to an editor can ask.
    pub(crate) fn ask_to_reopen(&self, reason: &str) {
        let remedy = "nothing is suggested or recorded there until it is closed and opened again";
        self.server.show(MessageType::Warning, format!("{reason}; {remedy}"));
    }
}

impl Service<Request> for Ordered {
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
        let documents = self.state().map(|state| Arc::clone(&state.documents));
        let moment = Moment {
            documents: documents.unwrap_or_default(),
            arrival: self.arrivals,
            time: Instant::now(),
            work: self.work(&message).map(Arc::new),
        };
        if message.method() == "shutdown" {
            self.was_shut_down |= self.state.take().is_some();
        }
        moment.scope(self.service.call(message)).boxed()
    }
}
