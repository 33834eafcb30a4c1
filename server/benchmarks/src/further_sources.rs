//! Rows of further benchmarks whose items are completions: SAFIM, HumanEval-infilling, RepoEval and RepoBench.
//!
//! Only their public rows are read; their programs' metrics are not reproduced.

use cases::{BlockCut, Case, CompletionTask, ContextItem, CrossFileContext, MissingTail, Task};
use serde::Deserialize;
use syntax::Language;

use crate::imported_case::{CaseParts, imported_case};
use crate::row_reader::{BenchmarkItem, check_path};

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

/// Returns a path for a row without a file: a folder and the id's plain characters.
fn invented_path(folder: &str, id: &str, language: Language) -> String {
    let plain = |c: char| if c.is_ascii_alphanumeric() || c == '-' { c } else { '_' };
    let name: String = id.chars().take(80).map(plain).collect();
    let ending = language.endings().first().copied().unwrap_or("txt");
    format!("{folder}/{name}.{}", ending.trim_start_matches('.'))
}

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
    use crate::RowReader;

    fn read<T: BenchmarkItem>(text: &str) -> Vec<Result<T, String>> {
        let rows = RowReader::<_, T>::new(text.as_bytes());
        rows.map(|row| row.map(|row| row.item).map_err(|broken| broken.reason)).collect()
    }

    #[test]
    fn safim_has_its_hole_at_the_mark() {
        let rows = read::<SafimItem>(
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

    #[test]
    fn ids_with_slashes_give_paths_inside_of_the_folder() {
        let rows = read::<HumanEvalItem>(
            r#"{"task_id":"../../RandomSpan/0/1","prompt":"def f():","suffix":"\n","canonical_solution":" x"}"#,
        );
        let case = rows[0].as_ref().expect("a row").case().expect("a case");
        assert_eq!(case.path, "humaneval-infilling/______RandomSpan_0_1.py");
    }

    #[test]
    fn repositories_have_files_and_context() {
        let rows = read::<RepoEvalItem>(
            "{\"prompt\":\"a = \",\"metadata\":{\"task_id\":\"r/0\",\"ground_truth\":\"1\",\"fpath_tuple\":[\"r\",\"src\",\"a.py\"]}}\n\
             {\"prompt\":\"\",\"metadata\":{\"task_id\":\"r/1\",\"ground_truth\":\"1\",\"fpath_tuple\":[\"r\",\"..\",\"a.py\"]}}\n\
             {\"prompt\":\"\",\"metadata\":{\"task_id\":\"r/2\",\"ground_truth\":\"1\",\"fpath_tuple\":[]}}",
        );
        let case = rows[0].as_ref().expect("a row").case().expect("a case");
        assert_eq!((case.path.as_str(), case.origin.repository.as_deref()), ("src/a.py", Some("r")));
        assert!(rows[1].is_err() && rows[2].is_err());
        let rows = read::<RepoBenchItem>(
            r#"{"repo_name":"o/r","file_path":"a.java","context":[{"identifier":"B","path":"b.java","snippet":"class B {}"}],"import_statement":"import b;","cropped_code":"class A {","next_line":"  B b;"}"#,
        );
        let case = rows[0].as_ref().expect("a row").case().expect("a case");
        assert_eq!((case.prefix.as_str(), case.context.len()), ("import b;\nclass A {\n", 1));
    }
}
