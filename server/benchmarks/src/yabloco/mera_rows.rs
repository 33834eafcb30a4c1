//! The rows of YABLoCo's release in MERA, in either of their shapes: flat, or as on the data set's card, with `inputs` and `meta`.

use serde::Deserialize;
use serde_json::Value;

use super::generation_sheet::{MeraFunction, YablocoFunction};
use crate::json_text::JsonText;
use crate::row_reader::{BrokenRow, check_path};

/// A row with the text that it was read from.
#[derive(Clone, Debug, PartialEq)]
pub struct MeraRow {
    /// 1-based line, or number in the list.
    pub line: usize,
    /// The row as written, with all fields.
    pub text: String,
    /// The used fields.
    pub function: MeraFunction,
    /// Name of the function; empty if the row has none.
    pub name: String,
    /// File in the repository, if the row names one.
    pub file: Option<String>,
    /// Code that the function depends on at most, in the original's words; none if unknown.
    pub category: Option<&'static str>,
}

/// The shape of the card.
#[derive(Deserialize)]
struct CardRow {
    inputs: CardInputs,
    #[serde(default)]
    outputs: Option<String>,
    meta: CardMeta,
}

#[derive(Deserialize)]
struct CardInputs {
    signature: String,
    docstring: String,
    #[serde(default)]
    context: CardContext,
}

/// Functions that it calls, in one text or a list.
#[derive(Deserialize)]
#[serde(untagged)]
enum CardContext {
    Text(String),
    List(Vec<String>),
}

impl Default for CardContext {
    fn default() -> CardContext {
        CardContext::List(Vec::new())
    }
}

#[derive(Deserialize)]
struct CardMeta {
    id: Value,
    #[serde(default)]
    original_id: Option<String>,
    #[serde(default)]
    repository: String,
    #[serde(default)]
    fname: String,
    #[serde(default)]
    file: Option<String>,
    #[serde(default)]
    stdlib: Option<f64>,
    #[serde(default)]
    same_file: Option<f64>,
    #[serde(default)]
    same_package: Option<f64>,
    #[serde(default)]
    project: Option<f64>,
}

impl CardMeta {
    /// Returns the widest place of the called code; `None` if nothing is counted.
    fn category(&self) -> Option<&'static str> {
        let counts = [
            (self.project, "project"),
            (self.same_package, "same_package"),
            (self.same_file, "same_file"),
            (self.stdlib, "stdlib"),
        ];
        if counts.iter().all(|(count, _)| count.is_none()) {
            return None;
        }
        let widest = counts.iter().find(|(count, _)| count.is_some_and(|count| count > 0.0));
        Some(widest.map_or("none", |(_, name)| *name))
    }
}

impl MeraRow {
    /// Parses a row.
    ///
    /// # Errors
    ///
    /// It has neither shape, or its file is out of the repository.
    pub(super) fn parse(line: usize, row: JsonText) -> Result<MeraRow, BrokenRow> {
        let text = row.into_text();
        let broken = |reason: String| BrokenRow { line, reason };
        let error = |error: cases::ParseError| BrokenRow {
            line,
            reason: format!("column {}: {}", error.column, error.message),
        };
        let fields: Value = cases::parse_document(&text).map_err(error)?;
        if fields.get("inputs").is_none() {
            let function: MeraFunction = cases::parse_document(&text).map_err(error)?;
            return Ok(MeraRow { line, text, function, name: String::new(), file: None, category: None });
        }
        let CardRow { inputs, outputs, meta } = cases::parse_document(&text).map_err(error)?;
        meta.file.as_deref().map_or(Ok(()), check_path).map_err(broken)?;
        let category = meta.category();
        let number = || meta.id.as_str().map_or_else(|| meta.id.to_string(), str::to_owned);
        let function = MeraFunction {
            id: meta.original_id.unwrap_or_else(number),
            repo: meta.repository,
            signature: inputs.signature,
            doc: inputs.docstring,
            context: match inputs.context {
                CardContext::Text(text) if text.trim().is_empty() => Vec::new(),
                CardContext::Text(text) => vec![text],
                CardContext::List(list) => list,
            },
            code: outputs.unwrap_or_default(),
        };
        Ok(MeraRow { line, text, function, name: meta.fname, file: meta.file, category })
    }

    /// Returns the fields that the scores need.
    pub fn scored(&self) -> YablocoFunction {
        let MeraFunction { id, repo, code, .. } = &self.function;
        YablocoFunction {
            key: id.clone(),
            repository: repo.clone(),
            category: self.category,
            code: code.clone(),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn parse(text: &str) -> Result<MeraRow, String> {
        let row = JsonText::new(text.to_owned()).expect("JSON");
        MeraRow::parse(7, row).map_err(|broken| broken.to_string())
    }

    #[test]
    fn rows_of_the_card_have_their_place() {
        let text = r#"{"instruction":"Write","inputs":{"language":"C","signature":"int f()","docstring":"Two.","context":"int g();"},"outputs":"int f() { return 2; }","meta":{"id":3,"original_id":"A1","repository":"redis","fname":"f","file":"redis/src/a.c","stdlib":1,"same_file":2,"project":0,"pos":5}}"#;
        let row = parse(text).expect("a row");
        assert_eq!((row.function.id.as_str(), row.file.as_deref()), ("A1", Some("redis/src/a.c")));
        assert_eq!((row.category, row.name.as_str(), row.text.as_str()), (Some("same_file"), "f", text));
        assert_eq!(row.function.context, ["int g();"]);
        let private =
            text.replace(r#""int f() { return 2; }""#, "null").replace(r#""original_id":"A1","#, "");
        let row = parse(&private).expect("a row");
        assert_eq!((row.function.id.as_str(), row.function.code.as_str()), ("3", ""));
    }

    #[test]
    fn broken_rows_are_named() {
        assert!(parse("1").expect_err("broken").starts_with("line 7: column 1: invalid type"));
        let missing = r#"{"id":"A","repo":"r","signature":"s","doc":"d"}"#;
        assert!(parse(missing).expect_err("broken").contains("missing field `context`"));
        let outside = r#"{"inputs":{"signature":"s","docstring":"d"},"meta":{"id":1,"file":"../a.c"}}"#;
        assert!(parse(outside).expect_err("broken").contains("not a path inside"));
    }
}
