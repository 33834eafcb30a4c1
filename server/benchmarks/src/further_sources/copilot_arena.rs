//! Copilot Arena's votes: a table of two completions of one place, of which the developer accepted one.
//!
//! The accepted completion is taken as the truth. It was written by a model and had been shown, so a case keeps the name of the model
//! and counts as accepted: its numbers favour that model and its like.

use std::io::Read;

use cases::{Case, Exposure};
use serde::Serialize;
use syntax::Language;

use super::insertion::task_before;
use super::{UnusableItem, invented_path, read_source_file};
use crate::imported_case::{CaseParts, imported_case};
use crate::row_reader::BrokenRow;

/// The columns that are read.
const COLUMNS: [&str; 7] =
    ["prefix", "suffix", "model_a", "model_b", "acceptedIndex", "completion_a", "completion_b"];

/// A vote.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct CopilotArenaRow {
    /// 1-based line of its beginning.
    #[serde(skip)]
    pub line: usize,
    /// The file before the cursor.
    pub prefix: String,
    /// The file after the cursor.
    pub suffix: String,
    /// The model whose completion was accepted.
    pub model: String,
    /// The accepted completion.
    pub completion: String,
    /// The other model.
    pub rejected_model: String,
    /// The other completion.
    pub rejected_completion: String,
}

/// Reads the rows of a table; those that are not valid are reported.
///
/// # Errors
///
/// The file cannot be read, or has no such columns.
pub fn copilot_arena_rows(file: impl Read) -> Result<Vec<Result<CopilotArenaRow, BrokenRow>>, BrokenRow> {
    let at_start = |reason| BrokenRow { line: 1, reason };
    let text = read_source_file(file).map_err(at_start)?;
    let mut reader = csv::ReaderBuilder::new().flexible(true).from_reader(text.as_bytes());
    let header = reader.headers().map_err(|error| at_start(error.to_string()))?.clone();
    let mut columns = [0; COLUMNS.len()];
    for (column, name) in columns.iter_mut().zip(COLUMNS) {
        *column = header
            .iter()
            .position(|found| found == name)
            .ok_or_else(|| at_start(format!("the table has no column `{name}`")))?;
    }
    let mut lines = LineCounter { text: &text, byte: 0, line: 1 };
    let mut rows = Vec::new();
    for record in reader.records() {
        let position = match &record {
            Ok(record) => record.position(),
            Err(error) => error.position(),
        };
        let line = lines.line_of(position.map_or(0, |position| position.byte() as usize));
        rows.push(read_row(&record, &columns, line));
    }
    Ok(rows)
}

/// Counts lines up to increasing places. The reader's own count is one less behind CRLF.
struct LineCounter<'t> {
    text: &'t str,
    byte: usize,
    line: usize,
}

impl LineCounter<'_> {
    /// Returns the 1-based line of the first record at or behind a byte.
    fn line_of(&mut self, byte: usize) -> usize {
        let rest = self.text.get(byte..).unwrap_or_default();
        let start = byte + (rest.len() - rest.trim_start_matches(['\r', '\n']).len());
        let passed = self.text.get(self.byte..start).unwrap_or_default();
        self.line += passed.matches('\n').count();
        self.byte = self.byte.max(start);
        self.line
    }
}

fn read_row(
    record: &csv::Result<csv::StringRecord>,
    columns: &[usize; COLUMNS.len()],
    line: usize,
) -> Result<CopilotArenaRow, BrokenRow> {
    let record = record.as_ref().map_err(|error| BrokenRow { line, reason: error.to_string() })?;
    let mut values = [""; COLUMNS.len()];
    for (value, (column, name)) in values.iter_mut().zip(columns.iter().zip(COLUMNS)) {
        let reason = || format!("there is no value for `{name}`");
        *value = record.get(*column).ok_or_else(|| BrokenRow { line, reason: reason() })?;
    }
    let [prefix, suffix, model_a, model_b, accepted, completion_a, completion_b] = values.map(str::to_owned);
    let (a, b) = ((model_a, completion_a), (model_b, completion_b));
    let ((model, completion), (rejected_model, rejected_completion)) = match accepted.parse::<f64>() {
        Ok(0.0) => (a, b),
        Ok(1.0) => (b, a),
        _ => {
            let reason = format!("the acceptedIndex {accepted:?} is neither 0 nor 1");
            return Err(BrokenRow { line, reason });
        }
    };
    Ok(CopilotArenaRow { line, prefix, suffix, model, completion, rejected_model, rejected_completion })
}

impl CopilotArenaRow {
    /// Returns the case. The table does not name languages.
    ///
    /// # Errors
    ///
    /// The accepted completion is empty, or the prefix is too long.
    pub fn case(&self, language: Option<Language>) -> Result<Case, UnusableItem> {
        let broken = |reason: &str| UnusableItem::Broken(self.line, reason.to_owned());
        let language = language
            .ok_or_else(|| broken("the table does not name the language; name it with --language"))?;
        if self.completion.trim().is_empty() {
            return Err(UnusableItem::LeftOut("the accepted completion is empty"));
        }
        let id = format!("line-{}", self.line);
        let case = imported_case(CaseParts {
            benchmark: "copilot-arena",
            id: &id,
            repository: None,
            task: task_before(&self.suffix),
            language,
            block_kind: None,
            path: &invented_path("copilot-arena", &id, language),
            prefix: &self.prefix,
            suffix: &self.suffix,
            truth: &self.completion,
            context: Vec::new(),
        });
        let mut case = case.ok_or_else(|| broken("the prefix is too long"))?;
        case.origin.exposure = Exposure::Accepted;
        case.origin.exposed_arm = Some(self.model.clone());
        Ok(case)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const TABLE: &str = "\u{feff}prefix,suffix,model_a,model_b,acceptedIndex,completion_a,completion_b,more\r\n\
        \"x = (\n\",\")\ny\",gpt,claude,1.0,1,2,z\r\n\
        x,,gpt,claude,2.0,1,2,z\n\
        x,,gpt\n\
        x,,gpt,claude,0,\" \",2,z\n\
        x = ,\"\n\",gpt,claude,0.0,1,2,z\n";

    #[test]
    fn the_accepted_completion_is_the_truth() {
        let rows = copilot_arena_rows(TABLE.as_bytes()).expect("a table");
        let broken: Vec<String> =
            rows.iter().filter_map(|row| row.as_ref().err().map(ToString::to_string)).collect();
        assert_eq!(
            broken,
            [
                "line 5: the acceptedIndex \"2.0\" is neither 0 nor 1",
                "line 6: there is no value for `model_b`",
            ]
        );
        let rows: Vec<_> = rows.into_iter().flatten().collect();
        let case = rows[0].case(Some(Language::Python)).expect("a case");
        assert_eq!(
            (case.prefix.as_str(), case.truth.as_str(), case.suffix.as_str()),
            ("x = (\n", "2", ")\ny")
        );
        assert_eq!(case.origin.exposed_arm.as_deref(), Some("claude"));
        assert_eq!((case.origin.exposure, case.task.variant()), (Exposure::Accepted, Some("mid_statement")));
        assert!(matches!(rows[1].case(Some(Language::Python)), Err(UnusableItem::LeftOut(_))));
        let last = rows[2].case(Some(Language::Python)).expect("a case");
        assert_eq!((last.truth.as_str(), last.task.variant()), ("1", Some("file_tail")));
        assert!(matches!(rows[2].case(None), Err(UnusableItem::Broken(8, _))));
    }

    #[test]
    fn other_tables_are_refused() {
        let refused = copilot_arena_rows(&b"prefix,suffix\na,b\n"[..]).expect_err("no votes");
        assert_eq!(refused.to_string(), "line 1: the table has no column `model_a`");
        assert!(copilot_arena_rows(&b"\xff\xfe"[..]).is_err());
    }
}
