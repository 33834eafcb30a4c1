//! `ghostbench/answers`: the truth of a case and the latest answer of each engine, with the lines around them.

use tower_lsp_server::jsonrpc::Result;

use crate::case_title;
use crate::ext::{AnswersParams, AnswersResult};
use crate::request_context::RequestContext;
use crate::requests::suite::find_case;
use crate::run_blocking::no_case_error;
use crate::server::Server;
use crate::suite_document;

/// Lines on each side of the answers: enough to recognize the place.
const LINES: usize = 20;

pub(crate) async fn answers(
    server: Server,
    context: RequestContext,
    params: AnswersParams,
) -> Result<AnswersResult> {
    let found = find_case(&server, &context, &params.case).await?;
    let (summaries, recorded, case) = found.ok_or_else(|| no_case_error(&params.case))?;
    let mut summary = summaries.summary_with_answers(&recorded);
    let answers = std::mem::take(&mut summary.results);
    Ok(AnswersResult {
        title: case_title::scenario(&summary),
        case: summary,
        before: last_lines(suite_document::end_of(&case.prefix)).to_owned(),
        truth: suite_document::start_of(&case.truth).to_owned(),
        after: first_lines(suite_document::start_of(&case.suffix)).to_owned(),
        answers,
    })
}

/// Returns the last lines of a text, the unfinished one included.
fn last_lines(text: &str) -> &str {
    let start = text.rmatch_indices('\n').nth(LINES).map_or(0, |(end, _)| end + 1);
    &text[start..]
}

/// Returns the rest of the line and the first lines after it.
fn first_lines(text: &str) -> &str {
    let end = text.match_indices('\n').nth(LINES).map_or(text.len(), |(end, _)| end + 1);
    &text[..end]
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lines_around_the_truth_are_bounded() {
        let text = |lines: std::ops::Range<usize>| lines.map(|line| format!("{line}\n")).collect::<String>();
        assert_eq!(last_lines("a\nb"), "a\nb");
        assert_eq!(last_lines(&(text(0..50) + "x")), text(30..50) + "x");
        assert_eq!(first_lines(""), "");
        assert_eq!(first_lines(&("x\n".to_owned() + &text(0..50))), "x\n".to_owned() + &text(0..20));
    }
}
