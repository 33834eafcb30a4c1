//! SAFIM: programs with a hole.

use cases::{BlockCut, Case, CompletionTask, Task};
use serde::Deserialize;
use syntax::Language;

use super::invented_path;
use crate::imported_case::{CaseParts, imported_case};
use crate::row_reader::BenchmarkItem;

/// Mark of the hole in SAFIM's `eval_prompt`.
const SAFIM_HOLE: &str = "{{completion}}";

/// A problem of SAFIM.
#[derive(Clone, Debug, Deserialize, PartialEq)]
pub struct SafimItem {
    /// Id of the problem.
    pub task_id: String,
    /// Language: `python`, `java`, `cpp` or `csharp`.
    pub lang: String,
    /// The program with a mark for the hole.
    pub eval_prompt: String,
    /// The truth.
    pub ground_truth: String,
}

impl BenchmarkItem for SafimItem {
    const HAS_UNIQUE_ID: bool = true;

    fn id(&self) -> &str {
        &self.task_id
    }

    fn check(&self) -> Result<(), String> {
        if self.eval_prompt.matches(SAFIM_HOLE).count() != 1 {
            return Err(format!("the eval_prompt does not have one {SAFIM_HOLE}"));
        }
        match Language::from_name(&self.lang) {
            Some(_) => Ok(()),
            None => Err(format!("the language {:?} is not supported", self.lang)),
        }
    }
}

impl SafimItem {
    /// Returns the case; `None` if the row has no valid hole.
    pub fn case(&self) -> Option<Case> {
        let (prefix, suffix) = self.eval_prompt.split_once(SAFIM_HOLE)?;
        let language = Language::from_name(&self.lang)?;
        // Its blocks begin after a typed header; its other splits continue a line.
        let is_block = self.task_id.starts_with("block");
        let cut = if is_block { BlockCut::HeaderEnd } else { BlockCut::MidStatement };
        imported_case(CaseParts {
            benchmark: "safim",
            id: &self.task_id,
            repository: None,
            task: Task::Complete(CompletionTask::FullBlock(cut)),
            language,
            block_kind: None,
            path: &invented_path("safim", &self.task_id, language),
            prefix,
            suffix,
            truth: &self.ground_truth,
            context: Vec::new(),
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::further_sources::read_rows;

    #[test]
    fn safim_has_its_hole_at_the_mark() {
        let rows = read_rows::<SafimItem>(
            "{\"task_id\":\"block_completion_1\",\"lang\":\"java\",\"eval_prompt\":\"a {{{completion}}} b\",\"ground_truth\":\"x\"}\n\
             {\"task_id\":\"b\",\"lang\":\"java\",\"eval_prompt\":\"a\",\"ground_truth\":\"x\"}\n\
             {\"task_id\":\"c\",\"lang\":\"cobol\",\"eval_prompt\":\"{{completion}}\",\"ground_truth\":\"x\"}",
        );
        let case = rows[0].as_ref().expect("a row").case().expect("a case");
        assert_eq!((case.prefix.as_str(), case.suffix.as_str(), case.truth.as_str()), ("a {", "} b", "x"));
        assert_eq!(
            (case.path.as_str(), case.task.variant()),
            ("safim/block_completion_1.java", Some("header_end"))
        );
        assert!(rows[1].is_err() && rows[2].is_err());
    }
}
