//! The cases as JSON inside the page.
//!
//! Files are cut to the lines around the cursor, and long texts at a limit, so that the page of a large run stays small enough to
//! open. The JSON cannot end the element around it, and contains invisible characters only as escapes.

use std::borrow::Cow;
use std::collections::HashMap;
use std::fmt::Write as _;

use cases::{
    Case, ContextItem, EngineIdentity, Metrics, Origin, Prediction, PredictionTimings, Rename, Score, Span,
    SpanSource, Status, Tags, TokenCounts,
};
use scoring::RunRows;
use scoring::run_summary::{ScenarioGroup, ScoreIndex, answer_class};
use serde::Serialize;

use crate::format;

/// Lines kept before and after the cursor, and of a context item.
const LINES_KEPT: usize = 40;
/// Bytes kept of any text, for files without line ends and endless answers.
const BYTES_KEPT: usize = 16 * 1024;

#[derive(Serialize)]
struct PageData<'a> {
    lines_kept: usize,
    engines: Vec<EngineData>,
    cases: Vec<CaseData<'a>>,
}

#[derive(Serialize)]
struct EngineData {
    name: String,
}

#[derive(Serialize)]
struct CaseData<'a> {
    id: &'a str,
    hole: &'a str,
    path: &'a str,
    line: u32,
    character: u32,
    scenario: String,
    variant: Option<&'static str>,
    block_kind: Option<&'static str>,
    language: &'a str,
    before: Excerpt,
    truth: String,
    after: Excerpt,
    context: Vec<ContextData<'a>>,
    answers: Vec<AnswerData<'a>>,
    origin: &'a Origin,
    tags: &'a Tags,
}

/// Part of a longer text.
#[derive(Serialize)]
struct Excerpt {
    text: String,
    /// Number of lines of the whole before those in `text`.
    first_line: usize,
    /// Number of lines that were cut off, on the side away from the cursor.
    hidden_lines: usize,
}

#[derive(Serialize)]
struct ContextData<'a> {
    path: &'a str,
    start_line: u32,
    end_line: u32,
    strategy: &'a str,
    score: f64,
    text: String,
    hidden_lines: usize,
}

#[derive(Serialize)]
struct AnswerData<'a> {
    engine: usize,
    repetition: u32,
    /// The status, with `ok` split by whether the answer is right.
    outcome: &'static str,
    status: Status,
    reason: Option<&'a str>,
    text: String,
    /// The engine's own text, if it differs.
    raw: Option<String>,
    /// Sources of copied parts of the text.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    spans: Vec<SpanData<'a>>,
    finish: &'static str,
    tokens: Option<TokenCounts>,
    ms: PredictionTimings,
    metrics: Cow<'a, Metrics>,
}

#[derive(Serialize)]
struct SpanData<'a> {
    /// In UTF-16 units of the kept text, as the script counts.
    range: [usize; 2],
    from: SpanSource,
    path: &'a str,
    line: Option<u32>,
    character: Option<u32>,
    same: usize,
    alike: usize,
    probability: f64,
    renamed: &'a [Rename],
}

/// Returns all cases with their answers as JSON that may be put inside a `script` element.
pub(super) fn json<'a>(report: &RunRows<'a>, engines: &[EngineIdentity]) -> String {
    let scores = ScoreIndex::new(report);
    let mut answers: HashMap<&str, Vec<AnswerData<'a>>> = HashMap::new();
    for prediction in report.predictions {
        let engine = engines.iter().position(|engine| engine.name == prediction.engine.name);
        let answer = engine.map(|engine| answer(prediction, scores.get(prediction), engine));
        answers.entry(&prediction.case).or_default().extend(answer);
    }
    let case_data = |case: &'a Case| case_data(case, answers.remove(case.id.as_str()).unwrap_or_default());
    let data = PageData {
        lines_kept: LINES_KEPT,
        engines: engines
            .iter()
            .map(|engine| EngineData { name: format::escape_invisible(&engine.name) })
            .collect(),
        cases: report.cases.iter().map(case_data).collect(),
    };
    escape_for_script(&serde_json::to_string(&data).expect("rows have string keys"))
}

fn case_data<'a>(case: &'a Case, mut answers: Vec<AnswerData<'a>>) -> CaseData<'a> {
    answers.sort_by_key(|answer| (answer.engine, answer.repetition));
    CaseData {
        id: &case.id,
        hole: &case.hole,
        path: &case.path,
        line: case.line,
        character: case.character,
        scenario: ScenarioGroup::of(case).to_string(),
        variant: case.task.variant(),
        block_kind: case.block_kind.map(cases::BlockKind::name),
        language: &case.language,
        before: last_lines(&case.prefix),
        truth: clipped(&case.truth),
        after: first_lines(&case.suffix),
        context: case.context.iter().map(context_data).collect(),
        answers,
        origin: &case.origin,
        tags: &case.tags,
    }
}

fn context_data(item: &ContextItem) -> ContextData<'_> {
    let Excerpt { text, hidden_lines, .. } = first_lines(&item.text);
    ContextData {
        path: &item.path,
        start_line: item.start_line,
        end_line: item.end_line,
        strategy: &item.strategy,
        score: item.score,
        text,
        hidden_lines,
    }
}

fn answer<'a>(prediction: &'a Prediction, score: Option<&'a Score>, engine: usize) -> AnswerData<'a> {
    AnswerData {
        engine,
        repetition: prediction.repetition,
        outcome: answer_class(prediction, score).name(),
        status: prediction.status,
        reason: prediction.reason.as_deref(),
        text: clipped(&prediction.text),
        spans: spans(prediction),
        raw: (prediction.raw != prediction.text).then(|| clipped(&prediction.raw)),
        finish: prediction.finish.name(),
        tokens: prediction.tokens,
        ms: prediction.ms,
        metrics: score.map_or_else(|| Cow::Owned(Metrics::new()), |score| Cow::Borrowed(&score.metrics)),
    }
}

/// Returns the spans within the kept text.
fn spans(prediction: &Prediction) -> Vec<SpanData<'_>> {
    let kept = &prediction.text[..prediction.text.floor_char_boundary(BYTES_KEPT)];
    prediction.spans.iter().filter_map(|span| span_data(span, kept)).collect()
}

fn span_data<'a>(span: &'a Span, kept: &str) -> Option<SpanData<'a>> {
    let units = |offset: usize| kept.get(..offset).map(|text| text.encode_utf16().count());
    Some(SpanData {
        range: [units(span.range.start)?, units(span.range.end)?],
        from: span.from,
        path: &span.path,
        line: span.line,
        character: span.character,
        same: span.same,
        alike: span.alike,
        probability: span.probability,
        renamed: &span.renamed,
    })
}

/// Returns the end of the text before the cursor.
fn last_lines(text: &str) -> Excerpt {
    let first_kept = text.rmatch_indices('\n').nth(LINES_KEPT).map_or(0, |(end, _)| end + 1);
    let start = text.ceil_char_boundary(first_kept.max(text.len().saturating_sub(BYTES_KEPT)));
    let (hidden, kept) = text.split_at(start);
    let hidden_lines = hidden.matches('\n').count();
    Excerpt { text: kept.to_owned(), first_line: hidden_lines, hidden_lines }
}

/// Returns the beginning of the text after the cursor, or of any other text.
fn first_lines(text: &str) -> Excerpt {
    let last_kept = text.match_indices('\n').nth(LINES_KEPT).map_or(text.len(), |(end, _)| end);
    let (kept, hidden) = text.split_at(text.floor_char_boundary(last_kept.min(BYTES_KEPT)));
    Excerpt { text: kept.to_owned(), first_line: 0, hidden_lines: hidden.matches('\n').count() }
}

fn clipped(text: &str) -> String {
    let end = text.floor_char_boundary(BYTES_KEPT);
    match text.len() - end {
        0 => text.to_owned(),
        rest => format!("{}\n[{rest} more bytes are not in this report]", &text[..end]),
    }
}

/// Escapes `<` and invisible characters: neither `</script>` nor `<!--` can occur then. These characters occur only inside
/// strings, where an escape has the same meaning.
fn escape_for_script(json: &str) -> String {
    let mut safe = String::with_capacity(json.len());
    for character in json.chars() {
        if character == '<' || format::is_invisible(character) {
            for unit in character.encode_utf16(&mut [0; 2]) {
                // Writing to a string cannot fail.
                let _ = write!(safe, "\\u{unit:04x}");
            }
        } else {
            safe.push(character);
        }
    }
    safe
}
