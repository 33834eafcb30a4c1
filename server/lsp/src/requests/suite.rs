//! `ghostbench/suite` and `ghostbench/suiteCase`: opens a suite in the editor, lists its cases, and returns one of them.

use std::path::{Path, PathBuf};
use std::sync::Arc;

use cases::Case;
use replay::RecordedCase;
use session::{Folder, RecordedCases};
use text::{Document, PositionEncoding};
use tower_lsp_server::gen_lsp_types::{Range, Uri};
use tower_lsp_server::jsonrpc::{Error, Result};

use crate::case_summaries::CaseSummaries;
use crate::ext::{SuiteCaseParams, SuiteCaseResult, SuiteParams, SuiteResult};
use crate::request_context::RequestContext;
use crate::run_blocking::{request_failed, run_blocking};
use crate::server::Server;
use crate::suite_document::{self, CaseText, SuiteDocument};
use crate::{case_title, from_proto, to_proto};

/// Maximum number of cases in one answer; the editor requests the next ones.
const MAX_CASES: usize = 1_000;

pub(crate) async fn suite(
    server: Server,
    context: RequestContext,
    params: SuiteParams,
) -> Result<SuiteResult> {
    let folder = server.folder_of(&context, params.text_document.as_ref()).await?;
    let file = suite_file(&params.suite)?;
    let opened = {
        let (folder, file) = (Arc::clone(&folder), file.clone());
        run_blocking(move || folder.opened_suites.open(&file)).await?
    };
    let summaries = CaseSummaries::of_suite(&server, &folder, &opened, &context).await?;
    let (cases, problems) = {
        let known = Arc::clone(&summaries.recorded);
        run_blocking(move || Ok::<_, replay::ReplayError>((known.suite.cases()?, known.suite.problems()?)))
            .await?
    };
    if cases.is_empty() {
        return Err(request_failed(no_case(&file, &problems)));
    }
    let from = params.from.unwrap_or_default() as usize;
    if from == 0 {
        server.refresh_lenses();
    }
    let page = cases.iter().skip(from).take(MAX_CASES);
    Ok(SuiteResult {
        suite: params.suite,
        total: number(cases.len()),
        problems: number(problems.len()),
        cases: page.map(|case| summaries.summary(case)).collect(),
    })
}

fn no_case(file: &Path, problems: &[String]) -> String {
    match problems.first() {
        Some(problem) => problem.clone(),
        None => format!("{} contains no case; create a suite with `ghostbench import`", file.display()),
    }
}

pub(crate) async fn suite_case(
    server: Server,
    context: RequestContext,
    params: SuiteCaseParams,
) -> Result<SuiteCaseResult> {
    let (folder, opened) = opened_suite(&server, &params.suite)?;
    let summaries = CaseSummaries::of_suite(&server, &folder, &opened, &context).await?;
    let known = Arc::clone(&summaries.recorded);
    let (total, found) = run_blocking(move || {
        let cases = known.suite.cases()?;
        let chosen = cases.get(params.number as usize);
        let loaded = chosen.map(|case| known.suite.load(case).map(|loaded| (Arc::clone(case), loaded)));
        Ok::<_, replay::ReplayError>((cases.len(), loaded.transpose()?))
    })
    .await?;
    let Some((recorded, case)) = found else {
        let last = total.saturating_sub(1);
        return Err(Error::invalid_params(format!(
            "the suite has no case {}; the last one is {last}",
            params.number
        )));
    };
    let CaseText { text, hole } = suite_document::case_text(&case);
    let summary = summaries.summary_with_answers(&recorded);
    Ok(SuiteCaseResult {
        number: params.number,
        total: number(total),
        uri: suite_document::uri(&case, SuiteDocument::Code),
        hole: range(&text, hole, context.encoding),
        text,
        answers_uri: suite_document::uri(&case, SuiteDocument::Answers),
        answers: suite_document::answers_text(&case, &summary, &case_title::scenario(&summary)),
        case: summary,
    })
}

/// Returns the file of a suite.
pub(crate) fn suite_file(uri: &Uri) -> Result<PathBuf> {
    from_proto::path(uri).ok_or_else(|| {
        Error::invalid_params(format!(
            "{} is not the URI of a file; send `file:` and an absolute path",
            uri.0
        ))
    })
}

/// Returns the open suite of a file, with its folder.
pub(crate) fn opened_suite(server: &Server, uri: &Uri) -> Result<(Arc<Folder>, Arc<RecordedCases>)> {
    let file = suite_file(uri)?;
    let found = server.folders.all().into_iter().find_map(|folder| {
        let opened = folder.opened_suites.get(&file)?;
        Some((folder, opened))
    });
    found.ok_or_else(|| {
        request_failed(format!("the suite {} is not open; open it with ghostbench/suite", uri.0))
    })
}

/// Finds a case in the recorded cases and the open suites of all folders.
pub(crate) async fn find_case(
    server: &Server,
    context: &RequestContext,
    id: &str,
) -> Result<Option<(CaseSummaries, Arc<RecordedCase>, Case)>> {
    for folder in server.folders.all() {
        for suite in folder.suites() {
            let summaries = CaseSummaries::of_suite(server, &folder, &suite, context).await?;
            let (known, id) = (Arc::clone(&summaries.recorded), id.to_owned());
            let found = run_blocking(move || {
                let Some(found) = known.case(&id)? else { return Ok(None) };
                known.suite.load(&found).map(|case| Some((found, case)))
            });
            if let Some((found, case)) = found.await? {
                return Ok(Some((summaries, found, case)));
            }
        }
    }
    Ok(None)
}

fn range(text: &str, bytes: std::ops::Range<usize>, encoding: PositionEncoding) -> Range {
    let document = Document::new(text);
    let position = |offset| document.position(offset, encoding).expect("the hole is in the text");
    to_proto::range(position(bytes.start)..position(bytes.end))
}

fn number(count: usize) -> u32 {
    u32::try_from(count).unwrap_or(u32::MAX)
}
