//! Compares with the outputs of the original benchmarks, row by row.

mod codev_bench;
mod crosscodeeval;
mod repoqa;
mod yabloco;

use benchmarks::{BenchmarkItem, RowReader, ScoringRules};
use scoring::similarity::Similarity;
use serde_json::Value;
use sha2::{Digest, Sha256};
use syntax::Language;

/// Rules of all golden rows.
const RULES: ScoringRules = ScoringRules::Faithful;

#[track_caller]
fn text<'a>(row: &'a Value, key: &str) -> &'a str {
    row[key].as_str().unwrap_or_else(|| panic!("{}: no text `{key}`", row["id"]))
}

#[track_caller]
fn number(row: &Value, key: &str) -> f64 {
    row[key].as_f64().unwrap_or_else(|| panic!("{row}: no number `{key}`"))
}

#[track_caller]
fn count(row: &Value, key: &str) -> usize {
    row[key].as_u64().unwrap_or_else(|| panic!("{row}: no count `{key}`")) as usize
}

#[track_caller]
fn list<'a>(row: &'a Value, key: &str) -> &'a [Value] {
    row[key].as_array().unwrap_or_else(|| panic!("{}: no list `{key}`", row["id"]))
}

#[track_caller]
fn texts<'a>(row: &'a Value, key: &str) -> Vec<&'a str> {
    list(row, key).iter().map(|value| value.as_str().expect("a text")).collect()
}

#[track_caller]
fn language(row: &Value) -> Language {
    Language::from_name(text(row, "language")).expect("a supported language")
}

fn sha256(text: &str) -> String {
    Sha256::digest(text).iter().map(|byte| format!("{byte:02x}")).collect()
}

/// Returns the items of rows, each of which must be usable and be kept as written.
#[track_caller]
fn import<T: BenchmarkItem>(rows: &[Value]) -> Vec<T> {
    let text: String = rows.iter().map(|row| format!("{row}\n")).collect();
    let imported: Vec<_> = RowReader::<_, T>::new(text.as_bytes()).collect();
    assert_eq!(imported.len(), rows.len());
    let items = imported.into_iter().zip(rows).map(|(imported, row)| {
        let imported = imported.unwrap_or_else(|broken| panic!("{}: {broken}", row["id"]));
        assert_eq!(imported.text, row.to_string());
        imported.item
    });
    items.collect()
}

/// Both variants of edit similarity with the end of their names in the rows.
const SIMILARITIES: [(Similarity, &str); 2] =
    [(Similarity::Difflib, "difflib"), (Similarity::Indel, "levenshtein")];

/// Whether two values are equal, ignoring whether a number is written as an integer.
fn is_same(ours: &Value, expected: &Value) -> bool {
    match (ours, expected) {
        (Value::Number(ours), Value::Number(expected)) => ours.as_f64() == expected.as_f64(),
        (Value::Array(ours), Value::Array(expected)) => {
            ours.len() == expected.len()
                && ours.iter().zip(expected).all(|(ours, expected)| is_same(ours, expected))
        }
        _ => ours == expected,
    }
}

/// Differences between our values and a row's.
#[derive(Default)]
struct Differences(Vec<String>);

impl Differences {
    fn compare(&mut self, row: &Value, name: &str, ours: impl Into<Value>, expected: &Value) {
        let ours = ours.into();
        let is_same = is_same(&ours, expected);
        if !is_same {
            self.0.push(format!("{}: {name} is {ours}, expected {expected}", row["id"]));
        }
    }

    /// Fails with the first differences and their number.
    #[track_caller]
    fn assert_none(&self) {
        let first = self.0.iter().take(10).cloned().collect::<Vec<_>>().join("\n");
        assert!(self.0.is_empty(), "{} differences, such as\n{first}", self.0.len());
    }
}
