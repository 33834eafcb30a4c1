//! The ordering layer: processes every message synchronously, in order of arrival, before any future is polled.
//!
//! Notifications change the [`OrderedState`] here and are not passed on, except those of the protocol's life cycle. Requests are passed
//! to the LSP service with the [`RequestContext`] of their arrival, so that each answer belongs to the text at that time. Nothing here
//! parses, waits or computes.

use std::panic::{self, AssertUnwindSafe};
use std::sync::Arc;
use std::task::{Context, Poll};
use std::time::Instant;

use cases::Trigger;
use futures_util::FutureExt;
use futures_util::future::{self, BoxFuture};
use serde::Deserialize;
use serde_json::Value;
use serve::EditorRequest;
use session::{OpenDocument, RequestSnapshot, SyncOutcome};
use tower::Service;
use tower_lsp_server::gen_lsp_types::{MessageType, ProgressToken, Uri};
use tower_lsp_server::jsonrpc::{Request, Response};
use tower_lsp_server::{ExitedError, LspService};
use trial::EventKind;

use crate::front_door::FrontDoorQuestion;
use crate::progress::ProgressTask;
use crate::request_context::{PendingContexts, RequestContext};
use crate::requests::inline_completion;
use crate::server::Server;
use crate::text_sync::TextSync;
use crate::transport::LostChange;
use crate::{ext, from_proto, notifications};

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
    /// The recording period in which the recorder knows the open documents.
    recorded_period: Option<u64>,
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
        if let Some(state) = self.state() {
            state.record_request(arrival, request);
        }
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

    /// Answers a question of the front door, in order with the editor's messages.
    pub(crate) fn answer_front_door(&mut self, question: FrontDoorQuestion) {
        let Some(state) = self.state() else { return };
        // The front door may not wait any more.
        match question {
            FrontDoorQuestion::Documents(answer) => {
                let _ = answer.send(Arc::clone(state.text_sync.documents()));
            }
            FrontDoorQuestion::Request(request, answer) => {
                let _ = answer.send(state.record_front_door_request(&request));
            }
        }
    }

    /// Cancels all running tasks.
    pub(crate) async fn stop(&self) {
        self.service.inner().trial.finish_describing().await;
        self.service.inner().stopping.cancel();
        self.service.inner().trial.finish();
    }

    /// The state; created once the position encoding is negotiated.
    fn state(&mut self) -> Option<&mut OrderedState> {
        if self.state.is_none() && !self.was_shut_down {
            let server = self.service.inner();
            let encoding = server.handshake()?.encoding;
            let (server, text_sync) = (server.clone(), TextSync::new(encoding));
            self.state = Some(OrderedState {
                server,
                text_sync,
                arrival: 0,
                time: Instant::now(),
                recorded_period: None,
            });
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

    /// Passes an event to the recorder of the trial, if one runs. `event` is called after the event has changed the documents.
    pub(crate) fn record(&mut self, event: impl FnOnce(&OrderedState) -> Option<EventKind>) {
        let Some(period) = self.server.trial.period() else { return };
        let has_lost = self.server.trial.take_lost();
        if self.recorded_period != Some(period) || has_lost {
            self.server.trial.restart();
            self.recorded_period = Some(period);
            // The documents include the event.
            for document in self.text_sync.documents().all() {
                self.record_opening(document);
            }
        } else if let Some(event) = event(self) {
            self.server.trial.record(event);
        }
    }

    /// Tells the recorder of the trial, if one runs, how a document is recorded.
    pub(crate) fn describe(&self, document: &str) {
        if let Some(document) =
            self.text_sync.documents().get(document).filter(|_| self.server.trial.is_running())
        {
            self.server.trial.describe_soon(&self.server.session, document);
        }
    }

    /// Opens a document for the recorder, unless its text is not known.
    fn record_opening(&self, document: &Arc<OpenDocument>) {
        if let Some(event) = opened(document) {
            self.server.trial.record(event);
            self.server.trial.describe_soon(&self.server.session, document);
        }
    }

    /// The text of a document is lost. The recorder begins again with the next event.
    pub(crate) fn record_loss(&mut self, uri: &Uri) {
        self.record(|_| Some(EventKind::Desynchronized { document: from_proto::document_key(uri) }));
        self.recorded_period = None;
    }

    /// Passes a request at a cursor to the recorder, between the edits before and after it.
    fn record_request(&mut self, arrival: u64, request: &Request) {
        if !self.server.trial.is_running() {
            return;
        }
        let Some((trigger, params)) = marked_cursor(request) else { return };
        self.record(|_| None);
        let Some((document, offset)) = self.text_sync.cursor(params) else { return };
        self.server.trial.request(arrival, document, offset, trigger);
    }

    /// Passes a request at the front door to the recorder. Returns false if its document has changed since.
    fn record_front_door_request(&mut self, request: &EditorRequest) -> bool {
        let EditorRequest { number, document, offset } = request;
        let current = self.text_sync.documents().get(&document.key);
        let is_current = current.is_some_and(|current| current.revision == document.revision);
        if !is_current || !self.server.trial.is_running() {
            return false;
        }
        self.record(|_| None);
        self.server.trial.request(*number, document, *offset, Trigger::Automatic);
        true
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
        self.record_loss(&uri);
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

/// Returns the parameters of a request that opens an opportunity, with its trigger.
fn marked_cursor(request: &Request) -> Option<(Trigger, &Value)> {
    let params = notifications::params(request);
    if request.method() == inline_completion::METHOD {
        let is_invoked = params.pointer("/context/triggerKind") == Some(&Value::from(1));
        return Some((if is_invoked { Trigger::Manual } else { Trigger::Automatic }, params));
    }
    let command = params.get("command").filter(|_| request.method() == "workspace/executeCommand")?;
    let trigger = match command.as_str()? {
        ext::SHOULD_HAVE_SUGGESTED_COMMAND => Trigger::ShouldHaveSuggested,
        ext::NOT_WANTED_COMMAND => Trigger::NotWanted,
        _ => return None,
    };
    Some((trigger, params.pointer("/arguments/0")?))
}

/// Returns the event that opens a document for the recorder; `None` if its text is not known.
pub(crate) fn opened(document: &OpenDocument) -> Option<EventKind> {
    let OpenDocument { key, language, rope, session, .. } = document;
    let opened = EventKind::Opened {
        document: key.clone(),
        language: *language,
        text: rope.clone(),
        syntax: session.syntax.clone(),
    };
    document.is_synchronized().then_some(opened)
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
