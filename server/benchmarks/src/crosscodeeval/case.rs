//! Cases from the rows of `line_completion*.jsonl`.

use cases::{Case, CompletionTask, ContextItem, CrossFileContext, Task};
use syntax::Language;

use super::rows::{CcevalChunk, CcevalItem};
use crate::imported_case::{CaseParts, imported_case};

/// Strategy of the retrieved chunks.
const STRATEGY: &str = "crosscodeeval";

impl CcevalItem {
    /// Returns the case of a row of a file with the given context; `None` if the row names no file.
    pub fn case(&self, language: Language, context: CrossFileContext) -> Option<Case> {
        let chunks = self.crossfile_context.iter().flat_map(|context| &context.list);
        let has_context = context != CrossFileContext::InFile;
        imported_case(CaseParts {
            benchmark: STRATEGY,
            id: &self.metadata.task_id,
            repository: Some(&self.metadata.repository).filter(|name| !name.is_empty()).map(String::as_str),
            task: Task::Complete(CompletionTask::CrossFile(context)),
            language,
            block_kind: None,
            path: self.metadata.file.as_deref()?,
            prefix: &self.prompt,
            suffix: &self.right_context,
            truth: &self.groundtruth,
            context: chunks.filter(|_| has_context).map(context_item).collect(),
        })
    }
}

/// Returns a chunk as context. The original does not contain its lines, so they count from 0.
fn context_item(chunk: &CcevalChunk) -> ContextItem {
    ContextItem {
        path: chunk.filename.clone(),
        start_line: 0,
        end_line: u32::try_from(chunk.retrieved_chunk.split('\n').count()).unwrap_or(u32::MAX),
        text: chunk.retrieved_chunk.clone(),
        strategy: STRATEGY.to_owned(),
        score: chunk.score,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn chunks_are_context_unless_the_file_has_none() {
        let line = r#"{"prompt":"x = ","groundtruth":"f()","right_context":"\n","metadata":{"task_id":"p/1","file":"a.py"},"crossfile_context":{"text":"","list":[{"retrieved_chunk":"def f():\n  pass","filename":"b.py","score":1.5}]}}"#;
        let item: CcevalItem = cases::parse_line(line, 1).expect("an item");
        let case = item.case(Language::Python, CrossFileContext::Oracle).expect("a case");
        assert_eq!((case.context[0].path.as_str(), case.context[0].end_line), ("b.py", 2));
        assert_eq!((case.truth.as_str(), case.suffix.as_str(), case.byte_range.clone()), ("f()", "\n", 4..7));
        let plain = item.case(Language::Python, CrossFileContext::InFile).expect("a case");
        assert!(plain.context.is_empty() && plain.id != case.id);
    }
}
