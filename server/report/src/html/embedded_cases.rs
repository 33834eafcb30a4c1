//! The cases as compressed JSON inside the page.
//!
//! Files are cut to the lines around the cursor, and long texts at a limit, so that the page of a large run stays small enough to
//! open. Texts that several rows share, such as equal answers, are stored once. `data.js` reads the format.

use std::borrow::Cow;
use std::collections::HashMap;
use std::io::BufWriter;

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use cases::{
    Case, ContextItem, EngineIdentity, Metrics, Origin, Prediction, PredictionTimings, Rename, Score, Span,
    SpanSource, Status, Tags, TokenCounts,
};
use flate2::Compression;
use flate2::write::GzEncoder;
use scoring::RunRows;
use scoring::run_summary::{ScenarioGroup, ScoreIndex, answer_class};
use serde::Serialize;

use crate::format;

/// Lines kept before and after the cursor, and of a context item.
const LINES_KEPT: usize = 40;
/// Bytes kept of any text, for files without line ends and endless answers.
const BYTES_KEPT: usize = 16 * 1024;
/// Level of gzip: higher ones take several times as long for a few percent.
const COMPRESSION: Compression = Compression::new(6);
/// Bytes given to gzip at a time.
const BUFFER_BYTES: usize = 64 * 1024;

#[derive(Serialize)]
struct PageData<'a> {
    /// All texts; rows refer to them by index.
    texts: Vec<Cow<'a, str>>,
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
    truth: TextIndex,
    after: Excerpt,
    context: Vec<ContextData<'a>>,
    answers: Vec<AnswerData<'a>>,
    origin: &'a Origin,
    tags: &'a Tags,
}

/// Part of a longer text.
#[derive(Serialize)]
struct Excerpt {
    text: TextIndex,
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
    text: TextIndex,
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
    text: TextIndex,
    /// The engine's own text, if it differs.
    raw: Option<TextIndex>,
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

/// Index of a text in [`PageData::texts`].
type TextIndex = usize;

/// Texts without repeats.
#[derive(Default)]
struct TextTable<'a> {
    indexes: HashMap<Cow<'a, str>, TextIndex>,
    texts: Vec<Cow<'a, str>>,
}

impl<'a> TextTable<'a> {
    fn add(&mut self, text: Cow<'a, str>) -> TextIndex {
        let texts = &mut self.texts;
        *self.indexes.entry(text).or_insert_with_key(|text| {
            texts.push(text.clone());
            texts.len() - 1
        })
    }
}

/// Returns all cases with their answers for a `script` element: JSON, gzip, base64.
pub(super) fn packed(report: &RunRows<'_>, engines: &[EngineIdentity]) -> String {
    let gzip = GzEncoder::new(Vec::new(), COMPRESSION);
    // The encoder clears its output buffer at every write, and JSON is written in pieces of a few bytes.
    let mut buffered = BufWriter::with_capacity(BUFFER_BYTES, gzip);
    serde_json::to_writer(&mut buffered, &page_data(report, engines))
        .expect("rows have string keys, and memory takes every byte");
    let gzip = buffered.into_inner().expect("memory takes every byte");
    STANDARD.encode(gzip.finish().expect("memory takes every byte"))
}

fn page_data<'a>(report: &RunRows<'a>, engines: &[EngineIdentity]) -> PageData<'a> {
    let mut texts = TextTable::default();
    let scores = ScoreIndex::new(report);
    let mut answers: HashMap<&str, Vec<AnswerData<'a>>> = HashMap::new();
    for prediction in report.predictions {
        let engine = engines.iter().position(|engine| engine.name == prediction.engine.name);
        let answer = engine.map(|engine| answer(prediction, scores.get(prediction), engine, &mut texts));
        answers.entry(&prediction.case).or_default().extend(answer);
    }
    let case_data =
        |case: &'a Case| case_data(case, answers.remove(case.id.as_str()).unwrap_or_default(), &mut texts);
    let cases = report.cases.iter().map(case_data).collect();
    PageData {
        texts: texts.texts,
        lines_kept: LINES_KEPT,
        engines: engines
            .iter()
            .map(|engine| EngineData { name: format::escape_invisible(&engine.name) })
            .collect(),
        cases,
    }
}

fn case_data<'a>(
    case: &'a Case,
    mut answers: Vec<AnswerData<'a>>,
    texts: &mut TextTable<'a>,
) -> CaseData<'a> {
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
        before: last_lines(&case.prefix, texts),
        truth: texts.add(clipped(&case.truth)),
        after: first_lines(&case.suffix, texts),
        context: case.context.iter().map(|item| context_data(item, texts)).collect(),
        answers,
        origin: &case.origin,
        tags: &case.tags,
    }
}

fn context_data<'a>(item: &'a ContextItem, texts: &mut TextTable<'a>) -> ContextData<'a> {
    let Excerpt { text, hidden_lines, .. } = first_lines(&item.text, texts);
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

fn answer<'a>(
    prediction: &'a Prediction,
    score: Option<&'a Score>,
    engine: usize,
    texts: &mut TextTable<'a>,
) -> AnswerData<'a> {
    AnswerData {
        engine,
        repetition: prediction.repetition,
        outcome: answer_class(prediction, score).name(),
        status: prediction.status,
        reason: prediction.reason.as_deref(),
        text: texts.add(clipped(&prediction.text)),
        spans: spans(prediction),
        raw: (prediction.raw != prediction.text).then(|| texts.add(clipped(&prediction.raw))),
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
fn last_lines<'a>(text: &'a str, texts: &mut TextTable<'a>) -> Excerpt {
    let first_kept = text.rmatch_indices('\n').nth(LINES_KEPT).map_or(0, |(end, _)| end + 1);
    let start = text.ceil_char_boundary(first_kept.max(text.len().saturating_sub(BYTES_KEPT)));
    let (hidden, kept) = text.split_at(start);
    let hidden_lines = hidden.matches('\n').count();
    Excerpt { text: texts.add(kept.into()), first_line: hidden_lines, hidden_lines }
}

/// Returns the beginning of the text after the cursor, or of any other text.
fn first_lines<'a>(text: &'a str, texts: &mut TextTable<'a>) -> Excerpt {
    let last_kept = text.match_indices('\n').nth(LINES_KEPT).map_or(text.len(), |(end, _)| end);
    let (kept, hidden) = text.split_at(text.floor_char_boundary(last_kept.min(BYTES_KEPT)));
    Excerpt { text: texts.add(kept.into()), first_line: 0, hidden_lines: hidden.matches('\n').count() }
}

fn clipped(text: &str) -> Cow<'_, str> {
    let end = text.floor_char_boundary(BYTES_KEPT);
    match text.len() - end {
        0 => text.into(),
        rest => format!("{}\n[{rest} more bytes are not in this report]", &text[..end]).into(),
    }
}
