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
