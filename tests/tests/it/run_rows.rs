//! Reads the files of a run.

use std::collections::BTreeMap;
use std::fs;
use std::io::Read as _;
use std::path::Path;

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use cases::{Case, Prediction, Run, parse_document, parse_lines};
use flate2::read::GzDecoder;

/// The suite of a run.
#[track_caller]
pub(crate) fn cases(run: &Path) -> Vec<Case> {
    parse_lines(&text(&run.join("cases.jsonl"))).expect("the suite is whole").rows
}

/// The plan of a run.
#[track_caller]
pub(crate) fn run(run: &Path) -> Run {
    parse_document(&text(&run.join("run.json"))).expect("run.json is whole")
}

/// Number of answers in a finished run.
#[track_caller]
pub(crate) fn total_answers(folder: &Path) -> usize {
    let run = run(folder);
    cases(folder).len() * run.engines.len() * run.repeat as usize
}

/// The complete rows of a run's answers, in order.
#[track_caller]
pub(crate) fn predictions(run: &Path) -> Vec<Prediction> {
    parse_lines(&text(&run.join("predictions.jsonl"))).expect("the predictions are whole").rows
}

/// Number of answers in a run that may be in progress or not started.
pub(crate) fn answers_so_far(run: &Path) -> usize {
    fs::read_to_string(run.join("predictions.jsonl")).map_or(0, |text| text.matches('\n').count())
}

/// The answers by their unique key. Fails if a key occurs twice.
#[track_caller]
pub(crate) fn answers(run: &Path) -> BTreeMap<(String, String, u32), String> {
    let mut answers = BTreeMap::new();
    for prediction in predictions(run) {
        let (case, engine, repetition) = prediction.key();
        let key = (case.to_owned(), engine.to_owned(), repetition);
        assert!(
            answers.insert(key, prediction.text.clone()).is_none(),
            "{:?} occurs twice",
            prediction.key()
        );
    }
    answers
}

/// A file's text.
#[track_caller]
pub(crate) fn text(path: &Path) -> String {
    fs::read_to_string(path).unwrap_or_else(|error| panic!("failed to read {}: {error}", path.display()))
}

/// A report, followed by the data that its script unpacks.
#[track_caller]
pub(crate) fn unpacked_report(path: &Path) -> String {
    let page = text(path);
    let mut data = String::new();
    for (_, rest) in page.match_indices("<script type=\"text/plain\"").map(|(start, _)| page.split_at(start))
    {
        let (_, packed) = rest.split_once('>').expect("the element has contents");
        let (packed, _) = packed.split_once('<').expect("the element ends");
        let packed = STANDARD.decode(packed).expect("base64");
        GzDecoder::new(packed.as_slice()).read_to_string(&mut data).expect("gzip of text");
    }
    assert!(!data.is_empty(), "the report has data");
    page + "\n" + &data
}
