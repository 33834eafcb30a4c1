//! Case summaries for the editor: the current location of a case, and its results.

use std::collections::HashMap;
use std::ops;
use std::sync::Arc;

use cases::{FileText, Metric, Prediction, Score, TruthLocator};
use index::CancelFlag;
use replay::RecordedCase;
use scoring::Counts;
use session::{CaseLocation, CaseMatch, Folder, OpenDocument, RecordedCases, RecordedSnapshot};
use text::PositionEncoding;
use tower_lsp_server::gen_lsp_types::{MessageType, Range, Uri};
use tower_lsp_server::jsonrpc::Result;

use crate::ext::{CaseSummary, EngineResult};
use crate::request_context::RequestContext;
use crate::run_blocking::{run_blocking, run_cancellable};
use crate::server::Server;
use crate::to_proto;

/// Reads the recorded cases of a folder on a blocking thread.
pub(crate) async fn recorded_cases(server: &Server, folder: &Arc<Folder>) -> Result<Arc<RecordedSnapshot>> {
    suite_cases(server, folder, &folder.recorded_cases).await
}

/// Reads the recorded cases of a folder, or one of its open suites, on a blocking thread.
pub(crate) async fn suite_cases(
    server: &Server,
    folder: &Arc<Folder>,
    suite: &Arc<RecordedCases>,
) -> Result<Arc<RecordedSnapshot>> {
    let (folder, suite) = (Arc::clone(folder), Arc::clone(suite));
    let (known, problems) = run_cancellable(move |cancel| suite.snapshot(&folder.state(), cancel)).await?;
    for problem in problems {
        server.client.log_message(MessageType::Warning, problem).await;
    }
    Ok(Arc::new(known))
}

/// Builds the summaries of the cases of one folder.
pub(crate) struct CaseSummaries {
    folder: Arc<Folder>,
    /// The recorded cases.
    pub(crate) recorded: Arc<RecordedSnapshot>,
    /// Locations of the cases in the open documents, by their ids.
    locations: CaseLocations,
}

/// By the id of the case: its range, and whether its truth was edited.
type CaseLocations = HashMap<String, (Range, bool)>;

impl CaseSummaries {
    /// Locates the recorded cases of a folder, or those of one of its open suites, in the open documents.
    pub(crate) async fn of_suite(
        server: &Server,
        folder: &Arc<Folder>,
        suite: &Arc<RecordedCases>,
        context: &RequestContext,
    ) -> Result<CaseSummaries> {
        let known = suite_cases(server, folder, suite).await?;
        let mut open: Vec<(Arc<str>, Arc<OpenDocument>)> = Vec::new();
        for document in context.snapshot.documents.all().filter(|document| document.is_synchronized()) {
            if let Some(home) = folder.locate(document).await {
                open.push((home.path, Arc::clone(document)));
            }
        }
        // Of several windows on one file the one opened or edited last counts.
        open.sort_by_key(|(_, document)| document.revision);
        let (folder, encoding) = (Arc::clone(folder), context.encoding);
        run_cancellable(move |cancel| {
            let mut all = HashMap::new();
            for (path, document) in &open {
                all.extend(locate_cases(document, &known.of_file(path)?, encoding, cancel));
            }
            Ok::<_, replay::ReplayError>(CaseSummaries { folder, recorded: known, locations: all })
        })
        .await
    }

    /// Locates one case of a folder in its document. The time does not depend on the number of cases.
    pub(crate) async fn of_case(
        server: &Server,
        folder: &Arc<Folder>,
        context: &RequestContext,
        document: &Arc<OpenDocument>,
        case: &Arc<RecordedCase>,
    ) -> Result<CaseSummaries> {
        let known = recorded_cases(server, folder).await?;
        let (folder, document, case) = (Arc::clone(folder), Arc::clone(document), Arc::clone(case));
        let encoding = context.encoding;
        let looking = run_blocking(move || {
            Ok::<_, replay::ReplayError>(locate_cases(&document, &[case], encoding, &CancelFlag::default()))
        });
        Ok(CaseSummaries { folder, recorded: known, locations: looking.await? })
    }

    /// Returns the summary of a case, without its texts.
    pub(crate) fn summary(&self, case: &RecordedCase) -> CaseSummary {
        let path = self.recorded.path(case);
        let place = self.locations.get(&case.id);
        CaseSummary {
            id: case.id.clone(),
            scenario: case.task.scenario().name().to_owned(),
            variant: case.task.variant().map(str::to_owned),
            block_kind: case.block_kind.map(|kind| kind.name().to_owned()),
            language: case.language.clone(),
            uri: uri(&self.folder, path),
            path: path.to_owned(),
            line: case.line,
            range: place.map(|(range, _)| *range),
            edited: place.is_some_and(|(_, is_edited)| *is_edited),
            results: self.recorded.answers(&case.id).iter().map(engine_result).collect(),
        }
    }

    /// Returns the summary of a case with the engines' answers.
    pub(crate) fn summary_with_answers(&self, case: &RecordedCase) -> CaseSummary {
        let mut summary = self.summary(case);
        for (result, (prediction, _)) in summary.results.iter_mut().zip(self.recorded.answers(&case.id)) {
            result.text = Some(prediction.text.clone());
        }
        summary
    }
}

fn uri(folder: &Folder, path: &str) -> Uri {
    to_proto::uri(&folder.root.join(path)).unwrap_or_else(|| Uri(path.to_owned()))
}

/// Locates the cases of a document's file. No lock is held while searching.
fn locate_cases(
    document: &OpenDocument,
    cases: &[Arc<RecordedCase>],
    encoding: PositionEncoding,
    cancel: &CancelFlag,
) -> CaseLocations {
    let tracked = document.session.tracked_ranges();
    let (text, revision) = (tracked.text().clone(), tracked.log().revision());
    let unchecked = cases.iter().filter(|case| !tracked.is_checked(&case.id));
    let wanted: Vec<_> = unchecked.map(|case| (case, tracked.case_range(&case.id))).collect();
    drop(tracked);
    if !wanted.is_empty() {
        let text = text.text();
        let file = FileText::new(&text);
        let wanted = wanted.into_iter().take_while(|_| !cancel.is_cancelled());
        let found: Vec<_> = wanted.map(|(case, known)| (case, locate(&case.locator, &file, known))).collect();
        let mut tracked = document.session.tracked_ranges();
        found.into_iter().for_each(|(case, found)| tracked.record_match(&case.id, found, revision));
    }
    let tracked = document.session.tracked_ranges();
    let located = cases.iter().filter_map(|case| {
        let CaseLocation { range, is_edited } = tracked.case_location(&case.id, encoding)?;
        Some((case.id.clone(), (to_proto::range(range), is_edited)))
    });
    located.collect()
}

/// Locates a truth and checks whether it was edited. A tracked range is kept, unless the unedited text is found at an overlapping
/// range: a large replacement moves tracked ranges only approximately.
fn locate(
    landmark: &TruthLocator,
    file: &FileText<'_>,
    known: Option<ops::Range<usize>>,
) -> Option<CaseMatch> {
    let found =
        |range: ops::Range<usize>| CaseMatch { is_edited: landmark.is_edited(file, range.clone()), range };
    let Some(known) = known else { return landmark.locate_in(file).map(found) };
    let known = found(known);
    if !known.is_edited {
        return Some(known);
    }
    Some(
        landmark
            .locate_in(file)
            .map(found)
            .filter(|found| {
                found.range.start <= known.range.end
                    && known.range.start <= found.range.end
                    && !found.is_edited
            })
            .unwrap_or(known),
    )
}

/// Result of an engine for a case, without the answer.
fn engine_result((prediction, score): &(Prediction, Score)) -> EngineResult {
    let value = |metric: Metric| {
        score.metrics.get(&metric).and_then(|&value| Counts::from(value).ratio()).unwrap_or_default()
    };
    EngineResult {
        engine: prediction.engine.name.clone(),
        fingerprint: prediction.engine.fingerprint.clone(),
        status: prediction.status.name().to_owned(),
        reason: prediction.reason.clone(),
        exact: value(Metric::TokenExact) == 1.0,
        edit_similarity: value(Metric::EditSimilarity) * 100.0,
        ms: prediction.ms.total,
        passed: score
            .metrics
            .get(&Metric::TestsPassed)
            .and_then(|value| value.share())
            .map(|share| share > 0.0),
        text: None,
    }
}
