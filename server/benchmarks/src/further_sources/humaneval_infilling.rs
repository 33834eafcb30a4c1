//! HumanEval-infilling: functions with a missing middle.

use cases::{BlockCut, Case, CompletionTask, Task};
use serde::Deserialize;
use syntax::Language;

use super::invented_path;
use crate::imported_case::{CaseParts, imported_case};
use crate::row_reader::BenchmarkItem;

/// A problem of HumanEval-infilling.
#[derive(Clone, Debug, Deserialize, PartialEq)]
pub struct HumanEvalItem {
    /// Id of the problem, with slashes.
    pub task_id: String,
    /// The function before the hole.
    pub prompt: String,
    /// The function after the hole.
    pub suffix: String,
    /// The truth.
    pub canonical_solution: String,
}

impl BenchmarkItem for HumanEvalItem {
    const HAS_UNIQUE_ID: bool = true;

    fn id(&self) -> &str {
        &self.task_id
    }

    fn check(&self) -> Result<(), String> {
        Ok(())
    }
}

impl HumanEvalItem {
    /// Returns the case; `None` if the prompt is too long.
    pub fn case(&self) -> Option<Case> {
        let is_span = self.task_id.starts_with("RandomSpan");
        let cut = if is_span { BlockCut::MidStatement } else { BlockCut::BlockStart };
        imported_case(CaseParts {
            benchmark: "humaneval-infilling",
            id: &self.task_id,
            repository: None,
            task: Task::Complete(CompletionTask::FullBlock(cut)),
            language: Language::Python,
            block_kind: None,
            path: &invented_path("humaneval-infilling", &self.task_id, Language::Python),
            prefix: &self.prompt,
            suffix: &self.suffix,
            truth: &self.canonical_solution,
            context: Vec::new(),
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::further_sources::read_rows;

    #[test]
    fn ids_with_slashes_give_paths_inside_of_the_folder() {
        let rows = read_rows::<HumanEvalItem>(
            r#"{"task_id":"../../RandomSpan/0/1","prompt":"def f():","suffix":"\n","canonical_solution":" x"}"#,
        );
        let case = rows[0].as_ref().expect("a row").case().expect("a case");
        assert_eq!(case.path, "humaneval-infilling/______RandomSpan_0_1.py");
    }
}
