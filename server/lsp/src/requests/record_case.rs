//! `ghostbench/recordCase`: records the block at the cursor as a case.

use std::sync::Arc;
use std::time::SystemTime;

use cases::{Case, Origin, OriginKind};
use config::Privacy;
use session::{DocumentLocation, FolderState, OpenDocument, document_admission};
use syntax::SourceFile;
use tower_lsp_server::jsonrpc::Result;

use crate::case_summaries::CaseSummaries;
use crate::ext::{RecordCaseParams, RecordCaseResult};
use crate::request_context::RequestContext;
use crate::run_blocking::{indexed_state, no_folder_error, request_failed, run_blocking};
use crate::server::Server;

pub(crate) async fn record_case(
    server: Server,
    context: RequestContext,
    params: RecordCaseParams,
) -> Result<RecordCaseResult> {
    let document = context.document(&params.text_document.uri)?;
    let cursor = context.offset(&document, params.position)?;
    let home = server.folders.locate(&document).await;
    let folder = home.folder.clone().ok_or_else(no_folder_error)?;
    if !home.is_inside {
        return Err(request_failed("the document is not in an open folder; save it in one, then record it"));
    }
    if let Some(reason) = document_admission::refusal(&document, &home).await {
        return Err(request_failed(format!("{} cannot be recorded: {reason}", home.path)));
    }
    let settings = server.settings_in(Some(&folder)).await?;
    let privacy = settings.config.record.privacy;
    if privacy != Privacy::Full {
        let level = privacy.name();
        let message = format!("recording needs the setting record.privacy = \"full\"; it is \"{level}\"");
        return Err(request_failed(message));
    }
    let state = indexed_state(&folder).await?;
    let added = {
        let (document, folder) = (Arc::clone(&document), Arc::clone(&folder));
        let refusal = document_admission::refusal_now(&document, &home);
        run_blocking(move || {
            let case = case_at_cursor(&document, &home, &state, cursor)?;
            // It may have become ignored while the folder was read.
            if let Some(reason) = refusal() {
                return Err(format!("{} cannot be recorded: {reason}", home.path));
            }
            let added = folder.recorded_cases.add(case).map_err(|error| error.to_string())?;
            let recorded =
                folder.recorded_cases.suite().case(&added.case.id).map_err(|error| error.to_string())?;
            recorded
                .map(|case| (case, added.is_new))
                .ok_or_else(|| "the suite was replaced while recording; record again".to_owned())
        })
        .await?
    };
    let (recorded, is_new) = added;
    let summaries = CaseSummaries::of_case(&server, &folder, &context, &document, &recorded).await?;
    server.refresh_lenses();
    Ok(RecordCaseResult {
        case: summaries.summary(&recorded),
        added: is_new,
        suite: folder.recorded_cases.suite().path(),
    })
}

fn case_at_cursor(
    document: &OpenDocument,
    home: &DocumentLocation,
    state: &FolderState,
    cursor: usize,
) -> std::result::Result<Case, String> {
    let language = state.index.file(&home.path).map(|file| file.language).or(document.language);
    let language = language.expect("documents in unsupported languages are refused");
    let text = document.text();
    let tree = document.session.syntax.tree(language, &text);
    let file = SourceFile { path: Arc::clone(&home.path), language, text: text.into() };
    let mut case =
        mining::case_at_cursor(&file, &tree, cursor, &origin(state)).map_err(|reason| reason.to_string())?;
    let tracked = document.session.tracked_ranges();
    let (exposure, engine) = tracked.exposure(case.byte_range.clone(), document.revision);
    case.origin.exposure = exposure;
    case.origin.exposed_arm = engine.map(str::to_owned);
    Ok(case)
}

/// Origin of a case that is recorded now.
fn origin(state: &FolderState) -> Origin {
    let origin = state
        .code_version
        .as_ref()
        .map_or_else(|| Origin::new(OriginKind::Live, ""), |code| code.origin(OriginKind::Live));
    Origin { recorded_at: Some(humantime::format_rfc3339_seconds(SystemTime::now()).to_string()), ..origin }
}
