//! RepoEval, the benchmark of RepoCoder: lines and calls without the rest of their file.

use cases::{Case, CompletionTask, MissingTail, Task};
use serde::Deserialize;
use syntax::Language;

use crate::imported_case::{CaseParts, imported_case};
use crate::row_reader::{BenchmarkItem, check_path};

/// A task of RepoEval.
#[derive(Clone, Debug, Deserialize, PartialEq)]
pub struct RepoEvalItem {
    /// The file before the cursor.
    pub prompt: String,
    /// Id, truth and place.
    pub metadata: RepoEvalMetadata,
}

/// Id, truth and place of a task of RepoEval.
#[derive(Clone, Debug, Deserialize, PartialEq)]
pub struct RepoEvalMetadata {
    /// Id: repository and number.
    pub task_id: String,
    /// The truth.
    pub ground_truth: String,
    /// Parts of the file's path, the repository first.
    pub fpath_tuple: Vec<String>,
}

impl BenchmarkItem for RepoEvalItem {
    const HAS_UNIQUE_ID: bool = true;

    fn id(&self) -> &str {
        &self.metadata.task_id
    }

    fn check(&self) -> Result<(), String> {
        let path = self.path();
        check_path(&path)?;
        match Language::from_path(&path) {
            Some(_) => Ok(()),
            None => Err(format!("the file {path:?} is in no supported language")),
        }
    }
}

impl RepoEvalItem {
    fn path(&self) -> String {
        self.metadata.fpath_tuple.get(1..).unwrap_or_default().join("/")
    }

    /// Returns the case; `None` if the row names no file.
    pub fn case(&self) -> Option<Case> {
        let path = self.path();
        imported_case(CaseParts {
            benchmark: "repoeval",
            id: &self.metadata.task_id,
            repository: self.metadata.fpath_tuple.first().map(String::as_str),
            task: Task::Complete(CompletionTask::IncompleteSuffix(MissingTail::FileTail)),
            language: Language::from_path(&path)?,
            block_kind: None,
            path: &path,
            prefix: &self.prompt,
            suffix: "",
            truth: &self.metadata.ground_truth,
            context: Vec::new(),
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::further_sources::read_rows;

    #[test]
    fn paths_come_from_the_parts() {
        let rows = read_rows::<RepoEvalItem>(
            "{\"prompt\":\"a = \",\"metadata\":{\"task_id\":\"r/0\",\"ground_truth\":\"1\",\"fpath_tuple\":[\"r\",\"src\",\"a.py\"]}}\n\
             {\"prompt\":\"\",\"metadata\":{\"task_id\":\"r/1\",\"ground_truth\":\"1\",\"fpath_tuple\":[\"r\",\"..\",\"a.py\"]}}\n\
             {\"prompt\":\"\",\"metadata\":{\"task_id\":\"r/2\",\"ground_truth\":\"1\",\"fpath_tuple\":[]}}",
        );
        let case = rows[0].as_ref().expect("a row").case().expect("a case");
        assert_eq!((case.path.as_str(), case.origin.repository.as_deref()), ("src/a.py", Some("r")));
        assert!(rows[1].is_err() && rows[2].is_err());
    }
}
