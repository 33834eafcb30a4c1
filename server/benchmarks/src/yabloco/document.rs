//! The JSON documents of YABLoCo and of its release in MERA, told apart by their content.

use std::io::{self, Read};

use serde::Deserialize;

use super::generation_sheet::YablocoResult;
use super::mera_rows::MeraRow;
use super::table::{TableError, YablocoFunctions, read_text};
use crate::json_text::JsonText;
use crate::row_reader::BrokenRow;

/// A document.
#[derive(Clone, Debug, PartialEq)]
pub enum YablocoDocument {
    /// The functions' code, by key.
    Functions(YablocoFunctions),
    /// The result of one answer's tests, or its code.
    Result(YablocoResult),
    /// MERA's rows, and those that cannot be used, in their places.
    Mera(Vec<Result<MeraRow, BrokenRow>>),
    /// Lists of answers, in the order of MERA's rows.
    MeraAnswers(Vec<Vec<String>>),
}

#[derive(Deserialize)]
#[serde(untagged)]
enum Document {
    Tested { built: bool, passed: bool },
    Generated { generated_code: String },
    Functions(YablocoFunctions),
}

impl YablocoDocument {
    /// Reads a document of plain text. MERA's rows may also be JSON Lines.
    ///
    /// # Errors
    ///
    /// The file cannot be read, is too long, or is none of these documents.
    pub fn read(file: impl Read) -> Result<YablocoDocument, TableError> {
        let text = read_text(file)?;
        if text.trim_start().starts_with('[') {
            return list(&text);
        }
        if let Some(rows) = lines(&text) {
            return Ok(YablocoDocument::Mera(rows));
        }
        // An error names its position only if the form of the document is not to be guessed.
        let document: Document = match serde_json::from_str(&text) {
            Ok(document) => document,
            Err(error) if error.is_data() => return Err(other_form()),
            Err(_) => {
                cases::parse_document::<serde_json::Value>(&text)?;
                return Err(TableError::Read(io::Error::other("too deep")));
            }
        };
        Ok(match document {
            Document::Tested { built, passed } => {
                let result = YablocoResult { built: Some(built), passed: Some(passed), generated_code: None };
                YablocoDocument::Result(result)
            }
            Document::Generated { generated_code } => YablocoDocument::Result(YablocoResult {
                generated_code: Some(generated_code),
                ..YablocoResult::default()
            }),
            Document::Functions(functions) => YablocoDocument::Functions(functions),
        })
    }
}

fn other_form() -> TableError {
    TableError::Read(io::Error::other("neither functions, nor rows of MERA, nor a result"))
}

/// Reads a list of MERA's rows, or of lists of answers.
fn list(text: &str) -> Result<YablocoDocument, TableError> {
    let values: Vec<JsonText> = cases::parse_document(text)?;
    let lists: Option<Vec<Vec<String>>> = values.iter().map(JsonText::parse).collect();
    match lists.filter(|lists| !lists.is_empty()) {
        Some(answers) => Ok(YablocoDocument::MeraAnswers(answers)),
        None => {
            let row = |(index, value)| MeraRow::parse(index + 1, value);
            Ok(YablocoDocument::Mera(values.into_iter().enumerate().map(row).collect()))
        }
    }
}

/// Returns MERA's rows of JSON Lines; `None` if the first line is no such row.
fn lines(text: &str) -> Option<Vec<Result<MeraRow, BrokenRow>>> {
    let row = |(index, text): (usize, &str)| {
        let line = index + 1;
        match JsonText::new(text.to_owned()) {
            Some(row) => MeraRow::parse(line, row),
            None => Err(BrokenRow { line, reason: "not JSON".to_owned() }),
        }
    };
    let mut rows = text.lines().enumerate().filter(|(_, line)| !line.trim().is_empty()).map(row);
    let first = rows.next()?.ok()?;
    Some(std::iter::once(Ok(first)).chain(rows).collect())
}

/// Returns the function's key and the number of the answer in the name of a result file: `KEY-N.json` or `KEY-N-res.json`.
pub fn result_place(name: &str) -> Option<(&str, usize)> {
    let name = name.strip_suffix(".gz").unwrap_or(name).strip_suffix(".json")?;
    let (key, number) = name.strip_suffix("-res").unwrap_or(name).rsplit_once('-')?;
    Some((key, number.parse().ok()?))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn read(text: &str) -> YablocoDocument {
        YablocoDocument::read(text.as_bytes()).expect("a document")
    }

    #[test]
    fn documents_are_told_apart() {
        let mera = r#"[{"id":"A","repo":"redis","signature":"int f()","doc":"d","context":[],"code":"c"}]"#;
        for (text, count) in [(mera.to_owned(), 1), (mera.trim_matches(['[', ']']).to_owned() + "\n{\n\n", 2)]
        {
            let YablocoDocument::Mera(rows) = read(&text) else { panic!("not MERA's rows: {text}") };
            assert_eq!(rows[0].as_ref().expect("a row").function.code, "c");
            assert_eq!((rows.len(), rows.iter().filter(|row| row.is_err()).count()), (count, count - 1));
        }
        assert!(
            matches!(read(r#"[["a"],["b"]]"#), YablocoDocument::MeraAnswers(answers) if answers.len() == 2)
        );
        let result = read(r#"{"built":true,"passed":false,"error":""}"#);
        assert!(matches!(result, YablocoDocument::Result(result) if result.passed == Some(false)));
        let generated = read(r#"{"generated_code":"x","fn":"A"}"#);
        assert!(matches!(generated, YablocoDocument::Result(result) if result.generated_code.is_some()));
        assert!(matches!(read(r#"{"A":{"code":"c","calls":[]}}"#), YablocoDocument::Functions(_)));
    }

    #[test]
    fn other_documents_are_errors() {
        let error = |text: &str| YablocoDocument::read(text.as_bytes()).expect_err("an error").to_string();
        assert_eq!(error("{\"a\":"), "line 1, column 5: EOF while parsing a value");
        assert!(error("1").contains("neither functions"));
        assert!(matches!(read("[1]"), YablocoDocument::Mera(rows) if rows[0].is_err()));
        assert!(!error(&"[".repeat(5_000_000)).is_empty());
    }

    #[test]
    fn names_of_results_have_a_key_and_a_number() {
        assert_eq!(result_place("A1-3-res.json"), Some(("A1", 3)));
        assert_eq!(result_place("A1-3.json.gz"), Some(("A1", 3)));
        assert_eq!(result_place("metadata.json"), None);
    }
}
