//! The JSON documents of YABLoCo and of its release in MERA, told apart by their content.

use std::io::{self, Read};

use serde::Deserialize;

use super::generation_sheet::{MeraFunction, YablocoResult};
use super::table::{MAX_BYTES, TableError, YablocoFunctions};

/// A document.
#[derive(Clone, Debug, PartialEq)]
pub enum YablocoDocument {
    /// The functions' code, by key.
    Functions(YablocoFunctions),
    /// The result of one answer's tests, or its code.
    Result(YablocoResult),
    /// MERA's functions.
    Mera(Vec<MeraFunction>),
    /// Lists of answers, in the order of MERA's functions.
    MeraAnswers(Vec<Vec<String>>),
}

#[derive(Deserialize)]
#[serde(untagged)]
enum Document {
    Mera(Vec<MeraFunction>),
    MeraAnswers(Vec<Vec<String>>),
    Tested { built: bool, passed: bool },
    Generated { generated_code: String },
    Functions(YablocoFunctions),
}

impl YablocoDocument {
    /// Reads a document of plain text.
    ///
    /// # Errors
    ///
    /// The file cannot be read, is too long, or is none of these documents.
    pub fn read(file: impl Read) -> Result<YablocoDocument, TableError> {
        let mut text = String::new();
        file.take(MAX_BYTES + 1).read_to_string(&mut text)?;
        if text.len() as u64 > MAX_BYTES {
            return Err(TableError::TooLong);
        }
        let text = text.strip_prefix('\u{feff}').unwrap_or(&text);
        // An error names its position only if the form of the document is not to be guessed.
        let document: Document = match serde_json::from_str(text) {
            Ok(document) => document,
            Err(error) if error.is_data() => {
                return Err(TableError::Read(io::Error::other(
                    "neither functions, nor rows of MERA, nor a result",
                )));
            }
            Err(_) => {
                cases::parse_document::<serde_json::Value>(text)?;
                return Err(TableError::Read(io::Error::other("too deep")));
            }
        };
        Ok(match document {
            Document::Mera(functions) => YablocoDocument::Mera(functions),
            Document::MeraAnswers(answers) => YablocoDocument::MeraAnswers(answers),
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
        assert!(matches!(read(mera), YablocoDocument::Mera(functions) if functions[0].code == "c"));
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
        assert!(error("[1]").contains("neither functions"));
        assert!(!error(&"[".repeat(5_000_000)).is_empty());
    }

    #[test]
    fn names_of_results_have_a_key_and_a_number() {
        assert_eq!(result_place("A1-3-res.json"), Some(("A1", 3)));
        assert_eq!(result_place("A1-3.json.gz"), Some(("A1", 3)));
        assert_eq!(result_place("metadata.json"), None);
    }
}
