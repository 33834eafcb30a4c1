//! The context of a request: the snapshot of its arrival, and what the protocol adds to it.

use std::ops::Range;
use std::sync::Arc;

use dashmap::DashMap;
use serde::Deserialize;
use serde_json::{Map, Value};
use session::{OpenDocument, RequestSnapshot};
use text::PositionEncoding;
use tower_lsp_server::gen_lsp_types::{self as lsp, Position, Uri};
use tower_lsp_server::jsonrpc::{Error, Request, Result};

use crate::progress::ProgressTask;
use crate::{from_proto, to_proto};

/// Context of one request; cheap to clone.
#[derive(Clone)]
pub(crate) struct RequestContext {
    /// The state at its arrival.
    pub(crate) snapshot: RequestSnapshot,
    /// How the client counts characters.
    pub(crate) encoding: PositionEncoding,
    /// Task that reports under the request's progress token, if there is one.
    pub(crate) progress_task: Option<Arc<ProgressTask>>,
}

impl RequestContext {
    /// Returns the open document at `uri`.
    pub(crate) fn document(&self, uri: &Uri) -> Result<Arc<OpenDocument>> {
        let document = self.snapshot.documents.get(&from_proto::document_key(uri)).cloned();
        document.ok_or_else(|| Error::invalid_params(format!("{} is not open; send didOpen first", uri.0)))
    }

    /// Returns the byte offset of a position.
    pub(crate) fn offset(&self, document: &OpenDocument, position: Position) -> Result<usize> {
        ensure_synchronized(document)?;
        let offset = document.rope.offset(from_proto::position(position), self.encoding);
        offset.ok_or_else(|| {
            let Position { line, character } = position;
            let lines = document.rope.line_count();
            Error::invalid_params(format!(
                "invalid position {line}:{character} in a document of {lines} lines"
            ))
        })
    }

    /// Returns the client's range for these bytes; `None` if they do not fit the text.
    pub(crate) fn range(&self, document: &OpenDocument, bytes: Range<usize>) -> Option<lsp::Range> {
        let position = |offset| document.rope.position(offset, self.encoding);
        Some(to_proto::range(position(bytes.start)?..position(bytes.end)?))
    }
}

/// Fails for a document that is out of sync.
pub(crate) fn ensure_synchronized(document: &OpenDocument) -> Result<()> {
    let message = "the document is out of sync after a lost change; close and open it again";
    if document.is_synchronized() { Ok(()) } else { Err(Error::invalid_params(message)) }
}

/// The contexts of the requests that the LSP service has not answered, by the number of their arrival.
///
/// The service passes nothing but its parameters to a request, so they carry that number ([`NumberedParams`]).
#[derive(Clone, Default)]
pub(crate) struct PendingContexts(Arc<DashMap<u64, RequestContext>>);

/// Parameters of a request with the number of its arrival.
#[derive(Deserialize)]
pub(crate) struct NumberedParams<P> {
    pub(crate) arrival: u64,
    pub(crate) params: P,
}

/// Removes the context of a request when its answer is dropped, in whatever way it ended.
pub(crate) struct ContextGuard {
    contexts: PendingContexts,
    arrival: u64,
}

impl PendingContexts {
    /// Stores the context of a request and adds its number to the parameters. A request without parameters stays as it is: the
    /// service refuses it.
    pub(crate) fn register(&self, context: RequestContext, request: Request) -> (ContextGuard, Request) {
        let arrival = context.snapshot.arrival;
        self.0.insert(arrival, context);
        let guard = ContextGuard { contexts: self.clone(), arrival };
        let (method, id, params) = request.into_parts();
        let mut numbered = Request::build(method);
        if let Some(params) = params {
            let fields = [("arrival".to_owned(), arrival.into()), ("params".to_owned(), params)];
            numbered = numbered.params(Value::Object(Map::from_iter(fields)));
        }
        if let Some(id) = id {
            numbered = numbered.id(id);
        }
        (guard, numbered.finish())
    }

    /// Returns the context of the request with this number.
    pub(crate) fn get(&self, arrival: u64) -> Result<RequestContext> {
        self.0.get(&arrival).map(|found| found.clone()).ok_or_else(Error::internal_error)
    }
}

impl Drop for ContextGuard {
    fn drop(&mut self) {
        self.contexts.0.remove(&self.arrival);
    }
}

#[cfg(test)]
mod tests {
    use std::future;
    use std::time::Instant;

    use futures_util::FutureExt;
    use serde_json::json;
    use tower::Service;
    use tower_lsp_server::gen_lsp_types::{InitializeParams, InitializeResult};
    use tower_lsp_server::jsonrpc::{Id, Response};
    use tower_lsp_server::{LanguageServer, LspService};

    use super::*;

    struct Mock;

    impl LanguageServer for Mock {
        async fn initialize(&self, _: InitializeParams) -> Result<InitializeResult> {
            Ok(InitializeResult::default())
        }

        async fn shutdown(&self) -> Result<()> {
            Ok(())
        }
    }

    /// A client of a service with the methods `arrival`, `panic` and `hang`.
    struct Client {
        service: LspService<Mock>,
        pending: PendingContexts,
        arrivals: u64,
    }

    impl Client {
        async fn new() -> Client {
            let pending = PendingContexts::default();
            let contexts = pending.clone();
            let arrival = move |_: &Mock, NumberedParams::<Option<u64>> { arrival, params }| {
                let context = contexts.get(arrival);
                async move { Ok((params, context?.snapshot.arrival)) }
            };
            let hang = |_: &Mock, _: NumberedParams<Value>| future::pending::<Result<()>>();
            let panic =
                |_: &Mock, _: NumberedParams<Value>| async { panic!("as the test wants") as Result<()> };
            let builder = LspService::build_with_lifecycle_methods(|_| Mock);
            let builder = builder.custom_method("arrival", arrival).custom_method("hang", hang);
            let (mut service, _) = builder.custom_method("panic", panic).finish();
            let initialize = Request::build("initialize").params(json!({ "capabilities": {} })).id(0);
            service.call(initialize.finish()).await.expect("the server runs");
            Client { service, pending, arrivals: 0 }
        }

        /// Sends a request; the future is its answer.
        fn send(
            &mut self,
            method: &'static str,
            id: i64,
            params: Option<Value>,
        ) -> impl Future<Output = Option<Response>> + use<> {
            self.arrivals += 1;
            let snapshot =
                RequestSnapshot { documents: Arc::default(), arrival: self.arrivals, time: Instant::now() };
            let context = RequestContext { snapshot, encoding: PositionEncoding::Utf8, progress_task: None };
            let request = Request::build(method).id(id);
            let request = match params {
                Some(params) => request.params(params),
                None => request,
            };
            let (guard, request) = self.pending.register(context, request.finish());
            let answer = self.service.call(request);
            async move {
                let _guard = guard;
                answer.await.expect("the server runs")
            }
        }

        fn pending(&self) -> usize {
            self.pending.0.len()
        }
    }

    fn ok(id: i64, value: Value) -> Option<Response> {
        Some(Response::from_ok(Id::Number(id), value))
    }

    fn error(id: i64, error: Error) -> Option<Response> {
        Some(Response::from_error(Id::Number(id), error))
    }

    #[tokio::test]
    async fn every_request_gets_the_context_of_its_own_arrival() {
        let mut client = Client::new().await;
        let first = client.send("arrival", 1, Some(json!(10)));
        let second = client.send("arrival", 2, Some(json!(null)));
        assert_eq!(client.pending(), 2);
        assert_eq!(second.await, ok(2, json!([null, 2])));
        assert_eq!(first.await, ok(1, json!([10, 1])));
        assert_eq!(client.pending(), 0);
    }

    #[tokio::test]
    async fn refused_requests_are_answered_as_by_the_service_alone_and_leave_no_context() {
        let mut client = Client::new().await;
        let hanging = client.send("hang", 1, Some(json!({})));
        let twice = client.send("arrival", 1, Some(json!(1)));
        assert_eq!(twice.await, error(1, Error::invalid_request()));
        let without = client.send("arrival", 2, None);
        assert_eq!(without.await, error(2, Error::invalid_params("Missing params field")));
        let wrong = client.send("arrival", 3, Some(json!("x")));
        let message = "invalid type: string \"x\", expected u64";
        assert_eq!(wrong.await, error(3, Error::invalid_params(message)));
        let unknown = client.send("unknown", 4, Some(json!({}))).await.expect("it is answered");
        assert_eq!(unknown.error().map(|error| error.code.code()), Some(-32601));
        assert_eq!(client.pending(), 1);
        drop(hanging);
        assert_eq!(client.pending(), 0);
    }

    #[tokio::test]
    async fn a_cancelled_or_panicked_request_leaves_no_context() {
        let mut client = Client::new().await;
        let hanging = client.send("hang", 7, Some(json!({})));
        let cancel = Request::build("$/cancelRequest").params(json!({ "id": 7 })).finish();
        client.service.call(cancel).await.expect("the server runs");
        assert_eq!(hanging.await, error(7, Error::request_cancelled()));
        let panicked = std::panic::AssertUnwindSafe(client.send("panic", 8, Some(json!({}))));
        assert!(panicked.catch_unwind().await.is_err());
        assert_eq!(client.pending(), 0);
    }
}
