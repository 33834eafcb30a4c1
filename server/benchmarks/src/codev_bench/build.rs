//! The benchmark's rows from mined cases of a repository.

use std::collections::HashMap;
use std::ops::Range;

use cases::{BlockKind, BodyCut, Case, CompletionTask, ContextItem, MissingTail, Task};
use serde::Serialize;
use syntax::{Language, SourceFile};

use super::rows::CodevFile;

/// A row, with the original's fields in their order.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct CodevRow {
    /// The enclosing function, or the block outside of functions: `path#La-Lb`.
    pub func_name: String,
    /// Ids of functions in the original's list of tests; empty.
    pub item_dids: Vec<String>,
    /// Unit tests that judge the block, in the notation of their runner.
    pub unit_test_ids: Vec<String>,
    /// The block: `path#La-Lb`.
    pub block_key: String,
    /// Kind of the block, such as `IF`.
    pub block_type: &'static str,
    /// The text for the engine.
    pub prompt: String,
    /// The file before the cursor.
    pub prefix: String,
    /// The file after the hole, shortened as the scenario requires.
    pub suffix: String,
    /// The truth.
    pub middle: String,
    /// The whole file before the cursor.
    pub test_prefix: String,
    /// The whole file after the hole.
    pub test_suffix: String,
    /// The truth.
    pub test_middle: String,
}

impl CodevFile {
    /// Returns the file for a case's scenario; `None` for scenarios that the benchmark does not have.
    pub fn of_case(case: &Case) -> Option<CodevFile> {
        let Task::Complete(task) = case.task else { return None };
        Some(match task {
            CompletionTask::FullBlock(_) => CodevFile::FullBlock,
            CompletionTask::InnerBlock(BodyCut::RestOfBlock) => CodevFile::InnerBlock,
            CompletionTask::InnerBlock(BodyCut::Empty) => CodevFile::InnerBlockEmpty,
            CompletionTask::IncompleteSuffix(MissingTail::FunctionTail) => CodevFile::FunctionSuffixEmpty,
            CompletionTask::IncompleteSuffix(MissingTail::FileTail) => CodevFile::FileSuffixEmpty,
            CompletionTask::Rag => CodevFile::Rag,
            CompletionTask::CrossFile(_) => return None,
        })
    }
}

/// Makes rows from the cases of files.
#[derive(Debug)]
pub struct CodevBuilder<'a> {
    files: HashMap<&'a str, &'a SourceFile>,
    functions: HashMap<&'a str, Vec<Range<usize>>>,
}

impl<'a> CodevBuilder<'a> {
    /// Creates a builder for the cases of these files.
    pub fn new(files: &'a [SourceFile]) -> CodevBuilder<'a> {
        CodevBuilder {
            files: files.iter().map(|file| (&*file.path, file)).collect(),
            functions: HashMap::new(),
        }
    }

    /// Returns the row of a case with its file of the benchmark; `None` for other scenarios and unknown files.
    pub fn row(&mut self, case: &Case) -> Option<(CodevFile, CodevRow)> {
        let file = CodevFile::of_case(case)?;
        let source = *self.files.get(case.path.as_str())?;
        let range = case.byte_range.clone();
        let functions = self.functions.entry(&source.path).or_insert_with(|| {
            let tree = syntax::parse(source.language, &source.text);
            tree.functions(&source.text).into_iter().map(|function| function.range).collect()
        });
        let enclosing =
            functions.iter().rfind(|function| function.start <= range.start && range.end <= function.end);
        let mut row = block_row(case)?;
        if let Some(function) = enclosing {
            let line = |offset: usize| source.text[..offset].matches('\n').count() + 1;
            row.func_name = format!("{}#L{}-L{}", case.path, line(function.start), line(function.end));
        }
        row.test_suffix = source.text.get(range.end..)?.to_owned();
        Some((file, row))
    }
}

/// Returns the row of a case whose file is unknown: its function is the block, and its tests see the shortened file. `None` for a
/// case without a block kind or in an unknown language.
pub(crate) fn block_row(case: &Case) -> Option<CodevRow> {
    let language = Language::from_name(&case.language)?;
    let first_line = case.line as usize + 1;
    let last_line = first_line + case.truth.matches('\n').count();
    let block_key = format!("{}#L{first_line}-L{last_line}", case.path);
    Some(CodevRow {
        func_name: block_key.clone(),
        item_dids: Vec::new(),
        unit_test_ids: case.tests.as_ref().map_or_else(Vec::new, |tests| tests.ids.clone()),
        block_key,
        block_type: block_type(case.block_kind?),
        prompt: prompt(case, language),
        prefix: case.prefix.clone(),
        suffix: case.suffix.clone(),
        middle: case.truth.clone(),
        test_prefix: case.prefix.clone(),
        test_suffix: case.suffix.clone(),
        test_middle: case.truth.clone(),
    })
}

/// Returns the prompt with the original's marks; similar functions are comments in front of the prefix.
fn prompt(case: &Case, language: Language) -> String {
    let context: String = case.context.iter().map(|item| comment(item, language)).collect();
    format!(
        "<filename>{}<fim_prefix>{context}{}<fim_suffix>{}<fim_middle>",
        case.path, case.prefix, case.suffix
    )
}

fn comment(item: &ContextItem, language: Language) -> String {
    let sign = language.line_comment();
    let lines = item.text.lines().map(|line| format!("{sign} {line}\n"));
    format!("{sign} {}\n{}", item.path, lines.collect::<String>())
}

fn block_type(kind: BlockKind) -> &'static str {
    match kind {
        BlockKind::Function => "METHOD",
        BlockKind::If => "IF",
        BlockKind::For => "FOR",
        BlockKind::While => "WHILE",
        BlockKind::Try => "TRY",
        BlockKind::Catch => "CATCH",
        BlockKind::Statement | BlockKind::Import => "STATEMENT",
    }
}

#[cfg(test)]
mod tests {
    use super::super::rows::CodevItem;
    use super::*;

    #[test]
    fn rows_are_cut_like_their_case() {
        let text = "def f():\n    if x:\n        y()\n    return 1\n\n\ndef g():\n    pass\n";
        let files = [SourceFile { path: "a.py".into(), language: Language::Python, text: text.into() }];
        let line = r#"{"func_name":"a.py#L1-L4","block_key":"a.py#L2-L3","block_type":"IF","prompt":"","prefix":"def f():\n    ","suffix":"\n\n\ndef g():\n    pass\n","middle":"if x:\n        y()"}"#;
        let item: CodevItem = cases::parse_line(line, 1).expect("an item");
        let case = item.case(CodevFile::FunctionSuffixEmpty).expect("a case");
        let (file, row) = CodevBuilder::new(&files).row(&case).expect("a row");
        assert_eq!(file, CodevFile::FunctionSuffixEmpty);
        assert_eq!((row.func_name.as_str(), row.block_key.as_str()), ("a.py#L1-L4", "a.py#L2-L3"));
        assert_eq!([row.test_prefix, row.test_middle, row.test_suffix].concat(), text);
        let written: CodevItem = cases::parse_line(
            &serde_json::to_string(&CodevBuilder::new(&files).row(&case).expect("a row").1).expect("JSON"),
            1,
        )
        .expect("a row that can be imported");
        assert_eq!(written.case(file), Some(case));
    }
}
