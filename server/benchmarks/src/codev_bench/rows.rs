//! Rows of the benchmark's six files, and of their predictions.

use scoring::similarity::Similarity;
use serde::Deserialize;

use super::table::{CodevGroup, CodevResult};
use crate::row_reader::{BenchmarkItem, check_path};

/// File of the benchmark: a situation of the cursor.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum CodevFile {
    /// The whole block is missing.
    FullBlock,
    /// The rest of a body is missing.
    InnerBlock,
    /// The body is complete: the right response is empty.
    InnerBlockEmpty,
    /// The function ends at the cursor.
    FunctionSuffixEmpty,
    /// The file ends at the cursor.
    FileSuffixEmpty,
    /// The whole block is missing, and the prompt has similar functions.
    Rag,
}

impl CodevFile {
    /// All files.
    pub const ALL: [CodevFile; 6] = [
        CodevFile::FullBlock,
        CodevFile::InnerBlock,
        CodevFile::InnerBlockEmpty,
        CodevFile::FunctionSuffixEmpty,
        CodevFile::FileSuffixEmpty,
        CodevFile::Rag,
    ];

    /// Returns the file of a `mode`, the name of its folder. The original's README numbers the scenarios in another way than its
    /// file list; the names are right.
    pub fn from_mode(mode: &str) -> Option<CodevFile> {
        Some(match mode {
            "prefix_suffix_full_complete_current_block_no_evidence" => CodevFile::FullBlock,
            "prefix_suffix_full_complete_current_block_with_repo_rag_oracle" => CodevFile::Rag,
            "complete_current_header_inner_block_completion" => CodevFile::InnerBlock,
            "complete_current_header_empty_completion" => CodevFile::InnerBlockEmpty,
            _ if mode.starts_with("prefix_full_suffix_func_empty") => CodevFile::FunctionSuffixEmpty,
            _ if mode.starts_with("prefix_full_suffix_empty") => CodevFile::FileSuffixEmpty,
            _ => return None,
        })
    }

    /// Returns the file whose mode a file or folder name begins with.
    pub fn from_name(name: &str) -> Option<CodevFile> {
        CodevFile::from_mode(name)
            .or_else(|| CodevFile::ALL.into_iter().find(|file| name.starts_with(file.mode())))
    }

    /// Returns the mode, the name of its folder.
    pub fn mode(self) -> &'static str {
        match self {
            CodevFile::FullBlock => "prefix_suffix_full_complete_current_block_no_evidence",
            CodevFile::InnerBlock => "complete_current_header_inner_block_completion",
            CodevFile::InnerBlockEmpty => "complete_current_header_empty_completion",
            CodevFile::FunctionSuffixEmpty => {
                "prefix_full_suffix_func_empty_complete_current_block_no_evidence"
            }
            CodevFile::FileSuffixEmpty => "prefix_full_suffix_empty_complete_current_block_no_evidence",
            CodevFile::Rag => "prefix_suffix_full_complete_current_block_with_repo_rag_oracle",
        }
    }

    /// Returns the number of rows that count in a result file.
    pub fn cap(self) -> usize {
        match self {
            CodevFile::FullBlock | CodevFile::Rag => 400,
            CodevFile::InnerBlock => 300,
            CodevFile::InnerBlockEmpty => 100,
            CodevFile::FunctionSuffixEmpty | CodevFile::FileSuffixEmpty => 200,
        }
    }
}

/// A prompt row, or a prediction row if it has a response.
#[derive(Clone, Debug, Deserialize, PartialEq)]
pub struct CodevItem {
    /// Function with the block: `path#La-Lb`.
    pub func_name: String,
    /// The block: `path#La-Lb`. Several rows can have the same block.
    pub block_key: String,
    /// Kind of the block, such as `IF`.
    pub block_type: String,
    /// The text for the engine, with marks for file name, prefix, suffix and middle.
    pub prompt: String,
    /// The file before the cursor.
    pub prefix: String,
    /// The file after the hole.
    pub suffix: String,
    /// The truth.
    pub middle: String,
    /// Unit tests that cover the block.
    #[serde(default)]
    pub unit_test_ids: Vec<String>,
    /// The engine's response, in predictions.
    #[serde(default)]
    pub response: Option<String>,
    /// Seconds until the response.
    #[serde(default)]
    pub latency: Option<f64>,
    /// Whether tests and judges pass, in results.
    #[serde(default)]
    pub is_all_passed: Option<bool>,
}

impl CodevItem {
    /// Returns the place of the block.
    pub fn block(&self) -> Option<CodevBlock<'_>> {
        CodevBlock::parse(&self.block_key)
    }

    /// Returns the result for the table; `None` without a response or a verdict. A missing latency counts as 0, as in the original.
    pub fn result(&self, similarity: Similarity) -> Option<CodevResult> {
        let group = CodevGroup::from_block_type(&self.block_type)?;
        let (response, is_passed) = (self.response.as_deref()?, self.is_all_passed?);
        let latency = self.latency.unwrap_or(0.0);
        Some(CodevResult::new(group, is_passed, response, &self.middle, latency, similarity))
    }

    /// Returns the file with the response in place of the block.
    pub fn filled_file(&self) -> String {
        [&self.prefix, self.response.as_deref().unwrap_or_default(), &self.suffix].concat()
    }
}

impl BenchmarkItem for CodevItem {
    const HAS_UNIQUE_ID: bool = false;

    fn id(&self) -> &str {
        &self.block_key
    }

    fn check(&self) -> Result<(), String> {
        let block = self
            .block()
            .ok_or_else(|| format!("the block_key {:?} has not the form `path#L1-L2`", self.block_key))?;
        if CodevGroup::from_block_type(&self.block_type).is_none() {
            return Err(format!("the benchmark has no block_type {:?}", self.block_type));
        }
        if self.latency.is_some_and(|latency| !latency.is_finite() || latency < 0.0) {
            return Err("the latency is not a duration".to_owned());
        }
        check_path(block.path)
    }
}

/// Place of a block or function: `path#La-Lb`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct CodevBlock<'a> {
    /// File, with the folder of the original's repositories.
    pub path: &'a str,
    /// First line, 1-based.
    pub first_line: usize,
    /// Last line, 1-based.
    pub last_line: usize,
}

impl CodevBlock<'_> {
    /// Reads `path#La-Lb`; `None` if the key has another form.
    pub fn parse(key: &str) -> Option<CodevBlock<'_>> {
        let (path, lines) = key.rsplit_once("#L")?;
        let (first, last) = lines.split_once("-L")?;
        let (first_line, last_line) = (first.parse().ok()?, last.parse().ok()?);
        (0 < first_line && first_line <= last_line).then_some(CodevBlock { path, first_line, last_line })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn block_keys_have_a_path_and_lines() {
        let block = CodevBlock { path: "a/b#c.py", first_line: 3, last_line: 7 };
        assert_eq!(CodevBlock::parse("a/b#c.py#L3-L7"), Some(block));
        for key in ["a.py", "a.py#L3", "a.py#L0-L1", "a.py#L3-L2", "a.py#Lx-L2", "a.py#L-1-L2"] {
            assert_eq!(CodevBlock::parse(key), None, "{key}");
        }
    }

    #[test]
    fn modes_name_files() {
        let modes = ["prefix_full_suffix_empty_x", "prefix_full_suffix_func_empty_x", "other"];
        let files = [Some(CodevFile::FileSuffixEmpty), Some(CodevFile::FunctionSuffixEmpty), None];
        assert_eq!(modes.map(CodevFile::from_mode), files);
    }
}
