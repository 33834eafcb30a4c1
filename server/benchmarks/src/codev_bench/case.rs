//! Cases from prompt rows.

use cases::{BlockCut, BlockKind, BodyCut, Case, CompletionTask, MissingTail, Task};
use syntax::Language;

use super::rows::{CodevFile, CodevItem};
use crate::imported_case::{CaseParts, imported_case};

impl CodevFile {
    /// Returns the task of the file's rows.
    pub fn task(self) -> Task {
        Task::Complete(match self {
            CodevFile::FullBlock => CompletionTask::FullBlock(BlockCut::BlockStart),
            CodevFile::InnerBlock => CompletionTask::InnerBlock(BodyCut::RestOfBlock),
            CodevFile::InnerBlockEmpty => CompletionTask::InnerBlock(BodyCut::Empty),
            CodevFile::FunctionSuffixEmpty => CompletionTask::IncompleteSuffix(MissingTail::FunctionTail),
            CodevFile::FileSuffixEmpty => CompletionTask::IncompleteSuffix(MissingTail::FileTail),
            CodevFile::Rag => CompletionTask::Rag,
        })
    }
}

impl CodevItem {
    /// Returns the case of a row of `file`; `None` if its block has no valid place. The similar functions of [`CodevFile::Rag`] are
    /// only in the row's prompt, so the case has no context.
    pub fn case(&self, file: CodevFile) -> Option<Case> {
        imported_case(CaseParts {
            benchmark: "codev-bench",
            id: &self.block_key,
            repository: None,
            task: file.task(),
            language: Language::Python,
            block_kind: block_kind(&self.block_type),
            path: self.block()?.path,
            prefix: &self.prefix,
            suffix: &self.suffix,
            truth: &self.middle,
            context: Vec::new(),
        })
    }
}

fn block_kind(block_type: &str) -> Option<BlockKind> {
    Some(match block_type {
        "METHOD" => BlockKind::Function,
        "IF" => BlockKind::If,
        "FOR" => BlockKind::For,
        "WHILE" => BlockKind::While,
        "TRY" => BlockKind::Try,
        "CATCH" => BlockKind::Catch,
        "STATEMENT" => BlockKind::Statement,
        _ => return None,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn case_has_the_rows_texts_and_its_place() {
        let line = r#"{"func_name":"a.py#L1-L3","block_key":"a.py#L2-L3","block_type":"IF","prompt":"","prefix":"é\n  ","suffix":"\n","middle":"if x:\n    y"}"#;
        let item: CodevItem = cases::parse_line(line, 1).expect("an item");
        let case = item.case(CodevFile::FileSuffixEmpty).expect("a case");
        assert_eq!((case.line, case.character, case.byte_range.clone()), (1, 2, 5..16));
        assert_eq!((case.path.as_str(), case.block_kind), ("a.py", Some(BlockKind::If)));
        assert_eq!(case.task.variant(), Some("file_tail"));
        assert_eq!(case.id, case.compute_id());
    }
}
