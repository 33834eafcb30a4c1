//! Cases as the editor is told of them: their place now, and what engines made of them.

use std::collections::HashMap;
use std::ops::Range;
use std::sync::Arc;

use cases::{Case, Metric, Prediction, Score};
use tower_lsp_server::gen_lsp_types::{MessageType, Uri};
use tower_lsp_server::jsonrpc::{Error, ErrorCode, Result};

use crate::documents::{Documents, OpenDocument};
use crate::ext::{CaseSummary, EngineResult};
use crate::folders::Folder;
use crate::recorded::Known;
use crate::server::Server;
use crate::session::lock;
use crate::to_proto;

/// A folder with what is recorded in it, read where waiting is no harm.
pub(crate) async fn known(server: &Server, folder: &Arc<Folder>) -> Result<Arc<Known>> {
    let reading = Arc::clone(folder);
    let known = beside(move || reading.recorded.known()).await?;
    for problem in folder.recorded.take_problems() {
        server.client.log_message(MessageType::Warning, problem).await;
    }
    Ok(known)
}

/// Does what takes long beside the threads that answer requests. Its errors go to the client as they are.
pub(crate) async fn beside<T: Send + 'static, E: std::fmt::Display + Send + 'static>(
    work: impl FnOnce() -> std::result::Result<T, E> + Send + 'static,
) -> Result<T> {
    match tokio::task::spawn_blocking(work).await {
        Ok(done) => done.map_err(|error| failed(error.to_string())),
        Err(_) => Err(Error::internal_error()),
    }
}

/// The protocol's `RequestFailed`: the request is right, and still there is no result.
const REQUEST_FAILED: ErrorCode = ErrorCode::ServerError(-32803);

/// What to answer where something cannot be had, and why.
pub(crate) fn failed(message: String) -> Error {
    Error { code: REQUEST_FAILED, message: message.into(), data: None }
}

/// Tells of cases of one folder.
pub(crate) struct Summaries<'a> {
    folder: &'a Folder,
    known: &'a Known,
    documents: &'a Documents,
    /// Places in the open documents, as far as they were asked for.
    places: HashMap<String, Option<Placed>>,
}

/// A document with the places of its cases, by their ids.
struct Placed {
    document: Arc<OpenDocument>,
    ranges: HashMap<String, Range<usize>>,
}

impl<'a> Summaries<'a> {
    pub(crate) fn new(folder: &'a Folder, known: &'a Known, documents: &'a Documents) -> Summaries<'a> {
        Summaries { folder, known, documents, places: HashMap::new() }
    }

    /// A case without its texts.
    pub(crate) fn of(&mut self, case: &Case) -> CaseSummary {
        let range = self.place(case);
        CaseSummary {
            id: case.id.clone(),
            scenario: case.scenario.name().to_owned(),
            variant: case.variant.map(|variant| variant.name().to_owned()),
            block_kind: case.block_kind.map(|kind| kind.name().to_owned()),
            language: case.language.clone(),
            uri: self.uri(&case.path),
            path: case.path.clone(),
            line: case.line,
            range,
            results: self
                .known
                .answers(&case.id)
                .iter()
                .map(|(prediction, score)| result(prediction, score))
                .collect(),
        }
    }

    /// A case with the engines' answers.
    pub(crate) fn with_answers(&mut self, case: &Case) -> CaseSummary {
        let mut summary = self.of(case);
        for (result, (prediction, _)) in summary.results.iter_mut().zip(self.known.answers(&case.id)) {
            result.text = Some(prediction.text.clone());
        }
        summary
    }

    fn uri(&self, path: &str) -> Uri {
        let outside = || Uri(path.to_owned());
        to_proto::uri(&self.folder.root.join(path)).unwrap_or_else(outside)
    }

    fn place(&mut self, case: &Case) -> Option<tower_lsp_server::gen_lsp_types::Range> {
        let uri = self.uri(&case.path);
        let (known, documents) = (self.known, self.documents);
        let placed = self.places.entry(case.path.clone()).or_insert_with(|| {
            let document = documents.get(&uri)?;
            let ranges = ranges(&document, known.of_file(&case.path));
            Some(Placed { document, ranges })
        });
        let placed = placed.as_ref()?;
        placed.document.range(placed.ranges.get(&case.id)?.clone())
    }
}

/// Where the cases of a document stand in it now, by their ids.
fn ranges<'a>(
    document: &OpenDocument,
    cases: impl IntoIterator<Item = &'a Case>,
) -> HashMap<String, Range<usize>> {
    let mut places = lock(&document.session.places);
    places.add(cases);
    places.cases().map(|(id, range)| (id.to_owned(), range)).collect()
}

/// What an engine made of a case, without the answer.
fn result(prediction: &Prediction, score: &Score) -> EngineResult {
    let value = |name: &str| match score.metrics.get(name) {
        Some(Metric::Value(value)) => *value,
        Some(Metric::Ratio { num, den }) if *den > 0.0 => num / den,
        _ => 0.0,
    };
    EngineResult {
        engine: prediction.engine.name.clone(),
        fingerprint: prediction.engine.fingerprint.clone(),
        status: prediction.status.name().to_owned(),
        reason: prediction.reason.clone(),
        exact: value("token_exact") == 1.0,
        edit_similarity: value("edit_similarity") * 100.0,
        ms: prediction.ms.total,
        text: None,
    }
}
