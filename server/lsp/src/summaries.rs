//! Cases as the editor is told of them: their place now, and what engines made of them.

use std::collections::HashMap;
use std::ops::Range;
use std::sync::Arc;

use cases::{FileText, Landmark, Metric, Prediction, Score};
use index::Cancel;
use replay::RecordedCase;
use scoring::metric::{EDIT_SIMILARITY, TOKEN_EXACT};
use tower_lsp_server::gen_lsp_types::{MessageType, Uri};
use tower_lsp_server::jsonrpc::Result;

use crate::beside::{beside, beside_while_wanted};
use crate::documents::{Documents, OpenDocument};
use crate::ext::{CaseSummary, EngineResult};
use crate::folders::Folder;
use crate::locks::lock;
use crate::places::{Found, Place};
use crate::recorded::Known;
use crate::server::Server;
use crate::to_proto;

/// What is recorded in a folder, read where waiting is no harm.
pub(crate) async fn known(server: &Server, folder: &Arc<Folder>) -> Result<Arc<Known>> {
    let asked = Arc::clone(folder);
    let (known, problems) =
        beside_while_wanted(move |cancel| asked.recorded.known(&asked.reading(), cancel)).await?;
    for problem in problems {
        server.client.log_message(MessageType::Warning, problem).await;
    }
    Ok(Arc::new(known))
}

/// Tells of the cases of one folder.
pub(crate) struct Summaries {
    folder: Arc<Folder>,
    /// What is recorded in it.
    pub(crate) known: Arc<Known>,
    /// Where the cases stand in the open documents, by their ids.
    places: HashMap<String, Place>,
}

impl Summaries {
    /// Looks for the cases of a folder in the documents that are open.
    pub(crate) async fn of_folder(
        server: &Server,
        folder: &Arc<Folder>,
        documents: &Arc<Documents>,
    ) -> Result<Summaries> {
        let known = known(server, folder).await?;
        let mut open: Vec<(Arc<str>, Arc<OpenDocument>)> = Vec::new();
        for document in documents.all().filter(|document| document.is_known()) {
            if let Some(home) = folder.home_of(&document).await {
                open.push((home.path, document));
            }
        }
        // Of several windows on one file the one that was opened or edited last counts.
        open.sort_by_key(|(_, document)| document.revision);
        let folder = Arc::clone(folder);
        beside_while_wanted(move |cancel| {
            let mut all = HashMap::new();
            for (path, document) in &open {
                all.extend(places(document, &known.of_file(path)?, cancel));
            }
            Ok::<_, replay::Error>(Summaries { folder, known, places: all })
        })
        .await
    }

    /// Looks for one case of a folder in the document it was recorded in. Takes as long however many there are.
    pub(crate) async fn of_case(
        server: &Server,
        folder: &Arc<Folder>,
        document: &Arc<OpenDocument>,
        case: &Arc<RecordedCase>,
    ) -> Result<Summaries> {
        let known = known(server, folder).await?;
        let (folder, document, case) = (Arc::clone(folder), Arc::clone(document), Arc::clone(case));
        let looking = beside(move || Ok::<_, replay::Error>(places(&document, &[case], &Cancel::default())));
        Ok(Summaries { folder, known, places: looking.await? })
    }

    /// A case without its texts.
    pub(crate) fn of(&self, case: &RecordedCase) -> CaseSummary {
        let path = self.known.path(case);
        let place = self.places.get(&case.id);
        CaseSummary {
            id: case.id.clone(),
            scenario: case.scenario.name().to_owned(),
            variant: case.variant.map(|variant| variant.name().to_owned()),
            block_kind: case.block_kind.map(|kind| kind.name().to_owned()),
            language: case.language.clone(),
            uri: uri(&self.folder, path),
            path: path.to_owned(),
            line: case.line,
            range: place.map(|place| place.range),
            edited: place.is_some_and(|place| place.is_edited),
            results: self.known.answers(&case.id).iter().map(result).collect(),
        }
    }

    /// A case with the engines' answers.
    pub(crate) fn with_answers(&self, case: &RecordedCase) -> CaseSummary {
        let mut summary = self.of(case);
        for (result, (prediction, _)) in summary.results.iter_mut().zip(self.known.answers(&case.id)) {
            result.text = Some(prediction.text.clone());
        }
        summary
    }
}

fn uri(folder: &Folder, path: &str) -> Uri {
    to_proto::uri(&folder.root.join(path)).unwrap_or_else(|| Uri(path.to_owned()))
}

/// Where the cases of a document's file stand in it. Searching holds no lock.
fn places(document: &OpenDocument, cases: &[Arc<RecordedCase>], cancel: &Cancel) -> HashMap<String, Place> {
    let places = || lock(&document.session.places);
    let (then, wanted) = places().wanted(cases);
    if !wanted.is_empty() {
        let text = then.text();
        let file = FileText::new(&text);
        let wanted = wanted.into_iter().take_while(|_| !cancel.is_cancelled());
        let found: Vec<_> = wanted.map(|(case, known)| (case, look(&case.landmark, &file, known))).collect();
        let mut places = places();
        found.into_iter().for_each(|(case, found)| places.found(&case.id, found, &then));
    }
    let places = places();
    let standing =
        |case: &Arc<RecordedCase>| Some((case.id.clone(), places.place(&case.id, document.encoding)?));
    cases.iter().filter_map(standing).collect()
}

/// Where a landmark is, and whether it was edited. One that followed edits stays where it is, unless its text is found unedited at an
/// overlapping place: an edit that replaced much moves places roughly.
fn look(landmark: &Landmark, file: &FileText<'_>, known: Option<Range<usize>>) -> Option<Found> {
    let found = |range: Range<usize>| Found { is_edited: landmark.is_edited(file, range.clone()), range };
    let Some(known) = known else { return landmark.place_in(file).map(found) };
    let known = found(known);
    if !known.is_edited {
        return Some(known);
    }
    let overlaps = |found: &Found| {
        found.range.start <= known.range.end && known.range.start <= found.range.end && !found.is_edited
    };
    Some(landmark.place_in(file).map(found).filter(overlaps).unwrap_or(known))
}

/// What an engine made of a case, without the answer.
fn result((prediction, score): &(Prediction, Score)) -> EngineResult {
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
        exact: value(TOKEN_EXACT) == 1.0,
        edit_similarity: value(EDIT_SIMILARITY) * 100.0,
        ms: prediction.ms.total,
        text: None,
    }
}
