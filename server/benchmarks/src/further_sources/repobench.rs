//! RepoBench v1.1: next lines, with code of other files.

use cases::{Case, CompletionTask, ContextItem, CrossFileContext, Task};
use serde::Deserialize;
use syntax::Language;

use crate::imported_case::{CaseParts, imported_case};
use crate::row_reader::{BenchmarkItem, check_path};

/// A row of RepoBench v1.1.
#[derive(Clone, Debug, Deserialize, PartialEq)]
pub struct RepoBenchItem {
    /// Repository.
    pub repo_name: String,
    /// File.
    pub file_path: String,
    /// Code of other files.
    #[serde(default)]
    pub context: Vec<RepoBenchSnippet>,
    /// The file's imports.
    pub import_statement: String,
    /// The file's code before the cursor, without its imports.
    pub cropped_code: String,
    /// The truth.
    pub next_line: String,
}

/// Code of another file.
#[derive(Clone, Debug, Deserialize, PartialEq)]
pub struct RepoBenchSnippet {
    /// Its file.
    pub path: String,
    /// Its text.
    pub snippet: String,
}

impl BenchmarkItem for RepoBenchItem {
    // Rows have no ids, and a file can have several.
    const HAS_UNIQUE_ID: bool = false;

    fn id(&self) -> &str {
        &self.file_path
    }

    fn check(&self) -> Result<(), String> {
        check_path(&self.file_path)?;
        self.context.iter().try_for_each(|snippet| check_path(&snippet.path))?;
        match Language::from_path(&self.file_path) {
            Some(_) => Ok(()),
            None => Err(format!("the file {:?} is in no supported language", self.file_path)),
        }
    }
}

impl RepoBenchItem {
    /// Returns the case; `None` if the file is in no supported language.
    pub fn case(&self) -> Option<Case> {
        let item = |snippet: &RepoBenchSnippet| ContextItem {
            path: snippet.path.clone(),
            start_line: 0,
            end_line: u32::try_from(snippet.snippet.split('\n').count()).unwrap_or(u32::MAX),
            text: snippet.snippet.clone(),
            strategy: "repobench".to_owned(),
            score: 0.0,
        };
        imported_case(CaseParts {
            benchmark: "repobench",
            id: &format!("{}/{}", self.repo_name, self.file_path),
            repository: Some(&self.repo_name),
            task: Task::Complete(CompletionTask::CrossFile(CrossFileContext::Retrieval)),
            language: Language::from_path(&self.file_path)?,
            block_kind: None,
            path: &self.file_path,
            prefix: &format!("{}\n{}\n", self.import_statement, self.cropped_code),
            suffix: "",
            truth: &self.next_line,
            context: self.context.iter().map(item).collect(),
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::further_sources::read_rows;

    #[test]
    fn rows_have_their_imports_and_context() {
        let rows = read_rows::<RepoBenchItem>(
            r#"{"repo_name":"o/r","file_path":"a.java","context":[{"identifier":"B","path":"b.java","snippet":"class B {}"}],"import_statement":"import b;","cropped_code":"class A {","next_line":"  B b;"}"#,
        );
        let case = rows[0].as_ref().expect("a row").case().expect("a case");
        assert_eq!((case.prefix.as_str(), case.context.len()), ("import b;\nclass A {\n", 1));
    }
}
