//! A block of cases with their texts and answers.
//!
//! Files are cut to the lines around the cursor, and long texts at a limit. Texts that several rows share, such as equal answers, are
//! stored once.

use std::borrow::Cow;
use std::collections::{BTreeSet, HashMap};

use cases::{
    ContextItem, Judgement, Metric, MetricValue, Origin, Prediction, Rename, Span, SpanSource, Status, Tags,
    TestVerdict, TokenCounts,
};
use scoring::run_summary::answer_class;
use serde::Serialize;

use super::{Answer, AnsweredCase};

/// Lines kept before and after the cursor, and of a context item.
pub(super) const LINES_KEPT: usize = 40;
/// Names of tests kept of an answer.
const TESTS_KEPT: usize = 5;
/// Bytes kept of any text, for files without line ends and endless answers.
const BYTES_KEPT: usize = 16 * 1024;

#[derive(Serialize)]
pub(super) struct CaseBlock<'a> {
    /// All texts; rows refer to them by index.
    texts: Vec<Cow<'a, str>>,
    /// Names of the columns of [`AnswerData::metrics`].
    metrics: Vec<Metric>,
    cases: Vec<CaseData<'a>>,
}

#[derive(Serialize)]
struct CaseData<'a> {
    character: u32,
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
    #[serde(skip_serializing_if = "Option::is_none")]
    reason: Option<&'a str>,
    text: TextIndex,
    /// The engine's own text, if it differs.
    #[serde(skip_serializing_if = "Option::is_none")]
    raw: Option<TextIndex>,
    /// Sources of copied parts of the text.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    spans: Vec<SpanData<'a>>,
    finish: &'static str,
    #[serde(skip_serializing_if = "Option::is_none")]
    tokens: Option<TokenCounts>,
    #[serde(skip_serializing_if = "Option::is_none")]
    tests: Option<TestsData<'a>>,
    /// Tenths of a millisecond until the context was gathered, the first text and the end.
    times: [Option<u64>; 3],
    /// In the order of [`CaseBlock::metrics`].
    metrics: Vec<Option<MetricValue>>,
}

/// The judgement by unit tests.
#[derive(Serialize)]
struct TestsData<'a> {
    verdict: TestVerdict,
    /// The first tests that did not pass.
    not_passed: Vec<&'a str>,
    /// Number of the others.
    further: usize,
    output: TextIndex,
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

/// Index of a text in [`CaseBlock::texts`].
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

pub(super) fn block<'a>(cases: &[&AnsweredCase<'a>]) -> CaseBlock<'a> {
    let scores = cases.iter().flat_map(|case| &case.answers).filter_map(|answer| answer.score);
    let metrics: BTreeSet<Metric> = scores.flat_map(|score| score.metrics.keys().copied()).collect();
    let metrics: Vec<Metric> = metrics.into_iter().collect();
    let mut texts = TextTable::default();
    let cases = cases.iter().map(|row| case_data(row, &metrics, &mut texts)).collect();
    CaseBlock { texts: texts.texts, metrics, cases }
}

fn case_data<'a>(
    AnsweredCase { case, answers, .. }: &AnsweredCase<'a>,
    metrics: &[Metric],
    texts: &mut TextTable<'a>,
) -> CaseData<'a> {
    let before = last_lines(&case.prefix, texts);
    let truth = texts.add(clipped(&case.truth));
    let after = first_lines(&case.suffix, texts);
    let context = case.context.iter().map(|item| context_data(item, texts)).collect();
    let answers = answers.iter().map(|answer| answer_data(answer, metrics, texts)).collect();
    CaseData {
        character: case.character,
        before,
        truth,
        after,
        context,
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

fn answer_data<'a>(answer: &Answer<'a>, metrics: &[Metric], texts: &mut TextTable<'a>) -> AnswerData<'a> {
    let Answer { engine, prediction, score, judgement } = *answer;
    let ms = prediction.ms;
    let tenths = |milliseconds: f64| (milliseconds * 10.0).round() as u64;
    let value = |metric: &Metric| score.and_then(|score| score.metrics.get(metric).copied());
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
        tests: judgement.map(|judgement| tests_data(judgement, texts)),
        times: [Some(tenths(ms.gather)), ms.first.map(tenths), Some(tenths(ms.total))],
        metrics: metrics.iter().map(value).collect(),
    }
}

fn tests_data<'a>(judgement: &'a Judgement, texts: &mut TextTable<'a>) -> TestsData<'a> {
    TestsData {
        verdict: judgement.verdict,
        not_passed: judgement.not_passed.iter().take(TESTS_KEPT).map(String::as_str).collect(),
        further: judgement.not_passed.len().saturating_sub(TESTS_KEPT),
        output: texts.add(clipped(&judgement.output)),
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
