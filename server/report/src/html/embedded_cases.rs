//! The cases inside the page: an index of all of them, and their texts in blocks that the script unpacks when a case is opened.
//!
//! Both are compressed JSON in base64; `data.js` reads them. So a page with thousands of cases opens as fast as a small one, and
//! unpacks only what its reader looks at. This module decides which case is in which block; the rows are in [`case_index`] and
//! [`case_block`]. Nothing here is markup: base64 cannot end its element.

mod case_block;
mod case_index;

use std::collections::{HashMap, HashSet};
use std::io::BufWriter;

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use cases::{Case, Judgement, Prediction, Score};
use flate2::Compression;
use flate2::write::GzEncoder;
use rayon::prelude::*;
use scoring::compared_runs::SectionKey;
use scoring::run_summary::ScoreIndex;
use scoring::{ComparedRuns, RunRows, Verdict};
use serde::Serialize;

use super::engine_views::EngineView;

/// Level of gzip: higher ones take several times as long for a few percent.
const COMPRESSION: Compression = Compression::new(6);
/// Bytes given to gzip at a time: the encoder clears its output buffer at every write, and JSON is written in pieces of a few bytes.
const BUFFER_BYTES: usize = 64 * 1024;
/// Cases of a block. A block is unpacked as a whole; a larger one compresses better.
const BLOCK_CASES: usize = 64;

/// All cases of the runs, each part for a `script` element of its own.
#[derive(Serialize)]
pub(super) struct EmbeddedCases {
    index: String,
    blocks: Vec<String>,
}

/// A case with its answers, in the order of engines and repetitions.
struct AnsweredCase<'a> {
    case: &'a Case,
    /// Position in the order of the blocks.
    place: usize,
    answers: Vec<Answer<'a>>,
}

/// An answer with its metrics.
#[derive(Clone, Copy)]
struct Answer<'a> {
    /// Index of the engine among those of all runs.
    engine: usize,
    prediction: &'a Prediction,
    score: Option<&'a Score>,
    judgement: Option<&'a Judgement>,
}

/// Packs the cases of the runs with their answers, and the values that the verdicts compare. `runs` are the same rows.
pub(super) fn pack<'a>(
    rows: &[RunRows<'a>],
    runs: &ComparedRuns<'a>,
    verdicts: &[(SectionKey, &Verdict)],
    engines: &[EngineView],
) -> EmbeddedCases {
    let cases = answered_cases(rows, runs);
    let mut in_blocks: Vec<&AnsweredCase<'_>> = cases.iter().collect();
    in_blocks.sort_unstable_by_key(|case| case.place);
    let values = case_index::verdict_values(runs, verdicts);
    let index = || packed(&case_index::index(engines, &cases, &values));
    let blocks =
        || in_blocks.par_chunks(BLOCK_CASES).map(|cases| packed(&case_block::block(cases))).collect();
    let (index, blocks) = rayon::join(index, blocks);
    EmbeddedCases { index, blocks }
}

/// Returns each case of the runs once.
fn answered_cases<'a>(rows: &[RunRows<'a>], runs: &ComparedRuns<'a>) -> Vec<AnsweredCase<'a>> {
    let mut answers: HashMap<&str, Vec<Answer<'a>>> = HashMap::new();
    for (run, rows) in rows.iter().enumerate() {
        let contestants = runs.contestants().iter().enumerate().filter(|(_, engine)| engine.run == run);
        let numbers: HashMap<&str, usize> =
            contestants.map(|(number, engine)| (engine.engine.name.as_str(), number)).collect();
        let scores = ScoreIndex::new(rows);
        let judgements: HashMap<_, _> = rows.judgements.iter().map(|row| (row.key(), row)).collect();
        for prediction in rows.predictions {
            if let Some(&engine) = numbers.get(prediction.engine.name.as_str()) {
                let key = (&*prediction.case, &*prediction.engine.name, prediction.repetition);
                let judgement = judgements.get(&key).copied();
                let answer = Answer { engine, prediction, score: scores.get(prediction), judgement };
                answers.entry(&prediction.case).or_default().push(answer);
            }
        }
    }
    let mut known = HashSet::new();
    let cases = rows.iter().flat_map(|rows| rows.cases).filter(|case| known.insert(case.id.as_str()));
    let cases: Vec<&Case> = cases.collect();
    let places = places(&cases);
    cases
        .into_iter()
        .zip(places)
        .map(|(case, place)| {
            let mut answers = answers.remove(case.id.as_str()).unwrap_or_default();
            answers.sort_by_key(|answer| (answer.engine, answer.prediction.repetition));
            AnsweredCase { case, place, answers }
        })
        .collect()
}

/// Returns the position of each case in the order of the blocks. Cases of one file are neighbours: they share text, which then
/// compresses well.
fn places(cases: &[&Case]) -> Vec<usize> {
    let mut order: Vec<usize> = (0..cases.len()).collect();
    order.sort_by_key(|&number| (&cases[number].path, cases[number].line));
    let mut places = vec![0; cases.len()];
    for (place, number) in order.into_iter().enumerate() {
        places[number] = place;
    }
    places
}

fn packed(value: &impl Serialize) -> String {
    let gzip = GzEncoder::new(Vec::new(), COMPRESSION);
    let mut buffered = BufWriter::with_capacity(BUFFER_BYTES, gzip);
    serde_json::to_writer(&mut buffered, value).expect("rows have string keys, and memory takes every byte");
    let gzip = buffered.into_inner().expect("memory takes every byte");
    STANDARD.encode(gzip.finish().expect("memory takes every byte"))
}
