//! Cases from prompt rows.

use cases::{BlockCut, BlockKind, BodyCut, Case, CompletionTask, ContextItem, MissingTail, Task};
use syntax::Language;

use super::rows::{CodevFile, CodevItem};
use crate::imported_case::{CaseParts, imported_case};

/// Marks in a prompt before the code before the cursor, and after it.
const PREFIX_MARK: &str = "<fim_prefix>";
const SUFFIX_MARK: &str = "<fim_suffix>";

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
    /// Returns the case of a row of `file`; `None` if its block has no valid place. The similar functions of [`CodevFile::Rag`], which
    /// are only in the row's prompt, are its context. The original has only Python; other languages are known by the path.
    pub fn case(&self, file: CodevFile) -> Option<Case> {
        let path = self.block()?.path;
        let language = Language::from_path(path).unwrap_or(Language::Python);
        let similar = (file == CodevFile::Rag).then(|| self.similar_functions(language)).flatten();
        imported_case(CaseParts {
            benchmark: "codev-bench",
            id: &self.block_key,
            repository: None,
            task: file.task(),
            language,
            block_kind: block_kind(&self.block_type),
            path,
            prefix: &self.prefix,
            suffix: &self.suffix,
            truth: &self.middle,
            context: similar.into_iter().collect(),
        })
    }

    /// Returns the text between the prompt's mark of the prefix and the prefix. If all its lines are comments, it is what they say.
    fn similar_functions(&self, language: Language) -> Option<ContextItem> {
        let (_, code) = self.prompt.split_once(PREFIX_MARK)?;
        let end = code.find(&format!("{}{SUFFIX_MARK}", self.prefix))?;
        let lines: Vec<&str> = code[..end].trim_end().lines().collect();
        let sign = language.line_comment();
        let is_comment = lines.iter().all(|line| line.is_empty() || line.starts_with(sign));
        let uncommented = lines.iter().map(|line| {
            let text = line.strip_prefix(sign).filter(|_| is_comment).unwrap_or(line);
            text.strip_prefix(' ').filter(|_| is_comment).unwrap_or(text)
        });
        let text = uncommented.collect::<Vec<_>>().join("\n");
        (!text.trim().is_empty()).then(|| ContextItem {
            path: String::new(),
            start_line: 0,
            end_line: u32::try_from(lines.len()).unwrap_or(u32::MAX),
            text,
            strategy: "similar-functions".to_owned(),
            score: 0.0,
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
    #[test]
    fn language_is_that_of_the_path() {
        let language = |path: &str| {
            let line = format!(
                r#"{{"func_name":"{path}#L1-L3","block_key":"{path}#L2-L3","block_type":"IF","prompt":"","prefix":"","suffix":"","middle":"x"}}"#
            );
            let item: CodevItem = cases::parse_line(&line, 1).expect("an item");
            item.case(CodevFile::FullBlock).expect("a case").language
        };
        assert_eq!(["a.rs", "b/a.ts", "a"].map(language), ["rust", "typescript", "python"]);
    }

    #[test]
    fn similar_functions_of_the_prompt_are_context() {
        let context = |prompt: &str, file| {
            let line = format!(
                r#"{{"func_name":"a.py#L1-L3","block_key":"a.py#L2-L3","block_type":"IF","prompt":"{prompt}","prefix":"x\n","suffix":"s","middle":"m"}}"#
            );
            let item: CodevItem = cases::parse_line(&line, 1).expect("an item");
            let context = item.case(file).expect("a case").context;
            context.into_iter().map(|item| item.text).collect::<Vec<_>>()
        };
        let commented =
            r"<filename>a.py<fim_prefix># b.py\n# def f():\n#     pass\nx\n<fim_suffix>s<fim_middle>";
        assert_eq!(context(commented, CodevFile::Rag), ["b.py\ndef f():\n    pass"]);
        assert!(context(commented, CodevFile::FullBlock).is_empty());
        let plain = r"<fim_prefix>def f(): pass\n\nx\n<fim_suffix>s<fim_middle>";
        assert_eq!(context(plain, CodevFile::Rag), ["def f(): pass"]);
        for without in [r"<fim_prefix>x\n<fim_suffix>s<fim_middle>", "x", r"<fim_prefix>other<fim_suffix>"] {
            assert!(context(without, CodevFile::Rag).is_empty(), "{without}");
        }
    }
}
