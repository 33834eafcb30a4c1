//! Rows of the completion benchmarks from cases: the original row of an imported case, and a row of the same shape for any other.

use cases::{Case, CompletionTask, CrossFileContext, Task};
use serde::Serialize;

use crate::codev_bench::{CodevFile, block_row};
use crate::crosscodeeval::case_row;
use crate::json_text::JsonText;
use crate::ordered_map::OrderedMap;
use crate::row_template::{repeated_rows, row_of};

/// A row with the file that it belongs to.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ExportedRow {
    /// The file's name: a mode of Codev-Bench, or the beginning of CrossCodeEval's file names.
    pub file: &'static str,
    /// The row.
    pub row: OrderedMap<JsonText>,
    /// Place of a row with the texts of another one in the imported file; see [`in_imported_order`].
    pub place: Option<usize>,
}

/// Fields of an answer in a result file of Codev-Bench.
const ANSWER: [&str; 4] = ["response_original_text", "response", "latency", "is_all_passed"];

/// Returns the rows for Codev-Bench: those that the case was imported from, or one of the same shape; none for scenarios that it does
/// not have.
pub fn export_codev_rows(case: &Case) -> Vec<ExportedRow> {
    let Some(file) = CodevFile::of_case(case) else { return Vec::new() };
    exported(case, "codev-bench", file.mode(), || as_map(&block_row(case)?))
}

/// Returns the rows for CrossCodeEval, as [`export_codev_rows`]. `number` is the case's place in the suite, for an id.
pub fn export_cceval_rows(case: &Case, number: usize) -> Vec<ExportedRow> {
    let Task::Complete(CompletionTask::CrossFile(context)) = case.task else { return Vec::new() };
    let file = match context {
        CrossFileContext::InFile => "line_completion",
        CrossFileContext::Retrieval => "line_completion_rg1",
        CrossFileContext::Oracle => "line_completion_oracle",
    };
    exported(case, "crosscodeeval", file, || as_map(&case_row(case, number)?))
}

/// Returns the rows that a case was imported from, if it is from this benchmark; `file` is the name of their file.
pub fn imported_rows(case: &Case, benchmark: &str, file: &'static str) -> Vec<ExportedRow> {
    if case.origin.benchmark.as_deref() != Some(benchmark) {
        return Vec::new();
    }
    let first = row_of(case).map(|row| ExportedRow { file, row, place: None });
    let repeated = repeated_rows(case).into_iter();
    let repeated = repeated.map(|(place, row)| ExportedRow { file, row, place: Some(place) });
    first.into_iter().chain(repeated).collect()
}

/// Puts the rows of a file, which are in the order of their cases, in the order of the imported file.
pub fn in_imported_order<T>(rows: Vec<(T, Option<usize>)>) -> Vec<T> {
    let (moved, kept): (Vec<_>, Vec<_>) = rows.into_iter().partition(|(_, place)| place.is_some());
    let mut moved: Vec<(usize, T)> =
        moved.into_iter().filter_map(|(row, place)| Some((place?, row))).collect();
    moved.sort_by_key(|(place, _)| *place);
    let mut ordered = Vec::with_capacity(kept.len() + moved.len());
    let mut moved = moved.into_iter().peekable();
    let mut kept = kept.into_iter();
    loop {
        let place = ordered.len();
        let next = moved.next_if(|(at, _)| *at <= place).map(|(_, row)| row);
        match next.or_else(|| kept.next().map(|(row, _)| row)) {
            Some(row) => ordered.push(row),
            None => break,
        }
    }
    ordered.extend(moved.map(|(_, row)| row));
    ordered
}

fn exported(
    case: &Case,
    benchmark: &str,
    file: &'static str,
    made: impl FnOnce() -> Option<OrderedMap<JsonText>>,
) -> Vec<ExportedRow> {
    let rows = imported_rows(case, benchmark, file);
    match rows.is_empty() {
        true => made().map(|row| ExportedRow { file, row, place: None }).into_iter().collect(),
        false => rows,
    }
}

impl ExportedRow {
    /// Returns the row without an answer.
    #[must_use]
    pub fn unanswered(mut self) -> ExportedRow {
        self.row.0.retain(|(name, _)| !ANSWER.contains(&name.as_str()));
        self
    }

    /// Returns the row with an engine's answer, as a row of a result file of Codev-Bench; without one, the response is null, which
    /// counts as failed. `None` if the time is no number.
    pub fn with_response(self, answer: Option<(&str, &str, f64)>) -> Option<OrderedMap<JsonText>> {
        let mut row = self.unanswered().row;
        let (raw, response, seconds) =
            answer.map_or((None, None, 0.0), |(raw, response, seconds)| (Some(raw), Some(response), seconds));
        let fields = [JsonText::of(&raw)?, JsonText::of(&response)?, JsonText::of(&seconds)?];
        row.0.extend(ANSWER.map(str::to_owned).into_iter().zip(fields));
        Some(row)
    }

    /// Returns an answer as `task_id` and `completion`; `None` if the row has no id.
    pub fn completion(&self, response: &str) -> Option<OrderedMap<JsonText>> {
        let metadata = || self.field("metadata")?.parse::<OrderedMap<JsonText>>();
        let id = self.field("task_id").cloned().or_else(|| field(&metadata()?, "task_id").cloned())?;
        Some(OrderedMap(vec![
            ("task_id".to_owned(), id),
            ("completion".to_owned(), JsonText::of(&response)?),
        ]))
    }

    fn field(&self, name: &str) -> Option<&JsonText> {
        field(&self.row, name)
    }

    /// Returns the row of `prediction.jsonl` of CrossCodeEval; `None` if the row has no id.
    pub fn prediction(&self, response: &str) -> Option<OrderedMap<JsonText>> {
        let metadata: OrderedMap<JsonText> = self.field("metadata")?.parse()?;
        let (name, id) = metadata.0.into_iter().rfind(|(name, _)| name == "task_id")?;
        Some(OrderedMap(vec![(name, id), ("pred".to_owned(), JsonText::of(&response)?)]))
    }
}

fn field<'m>(map: &'m OrderedMap<JsonText>, name: &str) -> Option<&'m JsonText> {
    map.0.iter().rfind(|(known, _)| known == name).map(|(_, value)| value)
}

fn as_map(row: &impl Serialize) -> Option<OrderedMap<JsonText>> {
    cases::parse_document(&serde_json::to_string(row).ok()?).ok()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::crosscodeeval::CcevalItem;
    use crate::{ROW_TAG, row_tag};
    use syntax::Language;

    const LINE: &str = r#"{"prompt":"import b\nx = ","groundtruth":"b.f()","right_context":"\n","metadata":{"task_id":"p/1","file":"a.py","more":[1.0]},"z":null,"crossfile_context":{"text":"t","list":[]}}"#;

    fn case() -> Case {
        let item: CcevalItem = cases::parse_line(LINE, 1).expect("an item");
        item.case(Language::Python, CrossFileContext::Oracle).expect("a case")
    }

    #[test]
    fn imported_rows_are_exported_as_they_were() {
        let mut case = case();
        case.tags.insert(ROW_TAG.to_owned(), row_tag(LINE, &case).expect("an object"));
        let exported = export_cceval_rows(&case, 3).pop().expect("a row");
        assert_eq!(exported.file, "line_completion_oracle");
        assert_eq!(serde_json::to_string(&exported.row).expect("JSON"), LINE);
        let prediction = exported.prediction("b.g()").expect("an id");
        assert_eq!(serde_json::to_string(&prediction).expect("JSON"), r#"{"task_id":"p/1","pred":"b.g()"}"#);
        assert_eq!(export_codev_rows(&case), []);
    }

    #[test]
    fn other_cases_get_rows_of_the_same_shape() {
        let exported = export_cceval_rows(&case(), 3).pop().expect("a row");
        let text = serde_json::to_string(&exported.row).expect("JSON");
        let item: CcevalItem = cases::parse_line(&text, 1).expect("a row that can be imported");
        assert_eq!(
            (item.metadata.task_id.as_str(), item.groundtruth.as_str()),
            ("project_cc_python/3", "b.f()")
        );
    }

    #[test]
    fn answers_replace_those_of_the_row() {
        let row = cases::parse_document(r#"{"a":1,"response":"old"}"#).expect("an object");
        let row = ExportedRow { file: "x", row, place: None };
        let text = |answer| serde_json::to_string(&row.clone().with_response(answer)).expect("JSON");
        assert_eq!(
            text(Some(("raw", "new", 0.5))),
            r#"{"a":1,"response_original_text":"raw","response":"new","latency":0.5}"#
        );
        assert_eq!(text(None), r#"{"a":1,"response_original_text":null,"response":null,"latency":0.0}"#);
    }

    #[test]
    fn repeated_rows_return_to_their_places() {
        let rows =
            vec![("a", None), ("a again", Some(2)), ("a once more", Some(9)), ("b", None), ("c", None)];
        assert_eq!(in_imported_order(rows), ["a", "b", "a again", "c", "a once more"]);
    }
}
