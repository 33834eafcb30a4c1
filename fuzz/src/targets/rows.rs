//! Rows of suites, runs and trials, and documents of others that are read whole.

use cases::{
    Case, Judgement, Opportunity, Prediction, Run, Score, ZedExample, parse_document, parse_line, to_line,
};
use engines::AnswersFile;
use serde::Serialize;
use serde::de::DeserializeOwned;

use crate::first;

/// The first byte chooses the type.
pub(crate) fn run(input: &[u8]) {
    let (kind, input) = first(input);
    let text = String::from_utf8_lossy(input);
    match kind % 9 {
        0 => stays_the_same::<Case>(&text),
        1 => stays_the_same::<Prediction>(&text),
        2 => stays_the_same::<Score>(&text),
        3 => stays_the_same::<Judgement>(&text),
        4 => stays_the_same::<Opportunity>(&text),
        5 => drop(parse_document::<Run>(&text)),
        6 => drop(cases::Bundle::parse(&text)),
        7 => drop(AnswersFile::parse(&text)),
        _ => drop(ZedExample::parse(&text, "a.md")),
    }
}

/// A row that can be read is the same when it is written and read again.
fn stays_the_same<T: Serialize + DeserializeOwned>(text: &str) {
    let _ = cases::parse_lines::<T>(text);
    let Ok(row) = parse_line::<T>(text, 1) else { return };
    let written = to_line(&row);
    let again = parse_line::<T>(written.trim_end(), 1).expect("what was written can be read");
    assert_eq!(to_line(&again), written);
}
