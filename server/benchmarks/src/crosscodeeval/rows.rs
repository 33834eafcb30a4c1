//! Rows of `line_completion*.jsonl` and `prediction.jsonl`.

use serde::Deserialize;

use crate::row_reader::{BenchmarkItem, check_path};

/// A row of `line_completion.jsonl`, or of the files with context retrieved for the prompt (RG-1) or with the truth (oracle).
#[derive(Clone, Debug, Deserialize, PartialEq)]
pub struct CcevalItem {
    /// The file before the cursor.
    pub prompt: String,
    /// The truth.
    pub groundtruth: String,
    /// The file after the truth.
    #[serde(default)]
    pub right_context: String,
    /// Id and origin.
    pub metadata: CcevalMetadata,
    /// Code from other files; absent in the plain file.
    #[serde(default)]
    pub crossfile_context: Option<CcevalContext>,
}

/// Id and origin of an item.
#[derive(Clone, Debug, Deserialize, PartialEq)]
pub struct CcevalMetadata {
    /// Id of the item, with slashes.
    pub task_id: String,
    /// Name of the repository.
    #[serde(default)]
    pub repository: String,
    /// File in the repository.
    #[serde(default)]
    pub file: Option<String>,
}

/// Code from other files.
#[derive(Clone, Debug, Deserialize, PartialEq)]
pub struct CcevalContext {
    /// All chunks as comments.
    #[serde(default)]
    pub text: String,
    /// The chunks, best first.
    #[serde(default)]
    pub list: Vec<CcevalChunk>,
}

/// A retrieved chunk.
#[derive(Clone, Debug, Deserialize, PartialEq)]
pub struct CcevalChunk {
    /// Its text.
    pub retrieved_chunk: String,
    /// Its file.
    #[serde(default)]
    pub filename: String,
    /// Its score by the retriever.
    #[serde(default)]
    pub score: f64,
}

impl BenchmarkItem for CcevalItem {
    const HAS_UNIQUE_ID: bool = true;

    fn id(&self) -> &str {
        &self.metadata.task_id
    }

    fn check(&self) -> Result<(), String> {
        if self.metadata.task_id.is_empty() {
            return Err("the task_id is empty".to_owned());
        }
        let chunks = self.crossfile_context.iter().flat_map(|context| &context.list);
        let named = chunks.map(|chunk| chunk.filename.as_str()).filter(|name| !name.is_empty());
        self.metadata.file.as_deref().into_iter().chain(named).try_for_each(check_path)
    }
}

/// A row of `prediction.jsonl`.
#[derive(Clone, Debug, Deserialize, PartialEq)]
pub struct CcevalPrediction {
    /// Id of the item.
    pub task_id: String,
    /// The prediction, before truncation.
    pub pred: String,
}

impl BenchmarkItem for CcevalPrediction {
    const HAS_UNIQUE_ID: bool = true;

    fn id(&self) -> &str {
        &self.task_id
    }

    fn check(&self) -> Result<(), String> {
        Ok(())
    }
}
