//! Rows of the completion benchmarks from cases: the original row of an imported case, and a row of the same shape for any other.

use cases::{Case, CompletionTask, CrossFileContext, Task};
use serde::Serialize;

use crate::codev_bench::{CodevFile, block_row};
use crate::crosscodeeval::case_row;
use crate::json_text::JsonText;
use crate::ordered_map::OrderedMap;
use crate::row_template::row_of;

/// A row with the file that it belongs to.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ExportedRow {
    /// The file's name: a mode of Codev-Bench, or the beginning of CrossCodeEval's file names.
    pub file: &'static str,
    /// The row.
    pub row: OrderedMap<JsonText>,
}

/// Returns the row for Codev-Bench; `None` for scenarios that it does not have.
pub fn export_codev_row(case: &Case) -> Option<ExportedRow> {
    let file = CodevFile::of_case(case)?;
    let imported = row_of_benchmark(case, "codev-bench");
    let row = imported.or_else(|| as_map(&block_row(case)?))?;
    Some(ExportedRow { file: file.mode(), row })
}

/// Returns the row for CrossCodeEval; `None` for other scenarios. `number` is the case's place in the suite, for an id.
pub fn export_cceval_row(case: &Case, number: usize) -> Option<ExportedRow> {
    let Task::Complete(CompletionTask::CrossFile(context)) = case.task else { return None };
    let file = match context {
        CrossFileContext::InFile => "line_completion",
        CrossFileContext::Retrieval => "line_completion_rg1",
        CrossFileContext::Oracle => "line_completion_oracle",
    };
    let imported = row_of_benchmark(case, "crosscodeeval");
    let row = imported.or_else(|| as_map(&case_row(case, number)?))?;
    Some(ExportedRow { file, row })
}

impl ExportedRow {
    /// Returns the row with an engine's answer, as a row of a result file of Codev-Bench.
    /// `None` if the time is no number.
    pub fn with_response(mut self, raw: &str, response: &str, seconds: f64) -> Option<OrderedMap<JsonText>> {
        const ANSWER: [&str; 4] = ["response_original_text", "response", "latency", "is_all_passed"];
        self.row.0.retain(|(name, _)| !ANSWER.contains(&name.as_str()));
        let fields = [JsonText::of(&raw)?, JsonText::of(&response)?, JsonText::of(&seconds)?];
        self.row.0.extend(ANSWER.map(str::to_owned).into_iter().zip(fields));
        Some(self.row)
    }

    /// Returns the row of `prediction.jsonl` of CrossCodeEval; `None` if the row has no id.
    pub fn prediction(&self, response: &str) -> Option<OrderedMap<JsonText>> {
        let (_, metadata) = self.row.0.iter().rfind(|(name, _)| name == "metadata")?;
        let metadata: OrderedMap<JsonText> = metadata.parse()?;
        let (name, id) = metadata.0.into_iter().rfind(|(name, _)| name == "task_id")?;
        Some(OrderedMap(vec![(name, id), ("pred".to_owned(), JsonText::of(&response)?)]))
    }
}

fn row_of_benchmark(case: &Case, name: &str) -> Option<OrderedMap<JsonText>> {
    (case.origin.benchmark.as_deref() == Some(name)).then(|| row_of(case)).flatten()
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
        let exported = export_cceval_row(&case, 3).expect("a row");
        assert_eq!(exported.file, "line_completion_oracle");
        assert_eq!(serde_json::to_string(&exported.row).expect("JSON"), LINE);
        let prediction = exported.prediction("b.g()").expect("an id");
        assert_eq!(serde_json::to_string(&prediction).expect("JSON"), r#"{"task_id":"p/1","pred":"b.g()"}"#);
        assert_eq!(export_codev_row(&case), None);
    }

    #[test]
    fn other_cases_get_rows_of_the_same_shape() {
        let exported = export_cceval_row(&case(), 3).expect("a row");
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
        let row = ExportedRow { file: "x", row }.with_response("raw", "new", 0.5).expect("a number");
        assert_eq!(
            serde_json::to_string(&row).expect("JSON"),
            r#"{"a":1,"response_original_text":"raw","response":"new","latency":0.5}"#
        );
    }
}
