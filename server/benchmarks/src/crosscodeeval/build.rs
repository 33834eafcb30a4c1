//! The benchmark's rows from mined cases of a repository, with context by the original's retriever.

use std::collections::BTreeMap;

use cases::{Case, ContextItem, Task};
use index::Searcher;
use index::cceval::{ChunkQuery, ChunkRanking, RetrievalSetting, context_text};
use serde::Serialize;
use syntax::Language;

/// A row, with the original's fields in their order.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct CcevalRow {
    /// The file before the cursor.
    pub prompt: String,
    /// The truth.
    pub groundtruth: String,
    /// The file after the truth.
    pub right_context: String,
    /// Id and origin.
    pub metadata: CcevalRowMetadata,
    /// Code from other files; absent in the plain file.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub crossfile_context: Option<CcevalRowContext>,
}

/// Id and origin of a row.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct CcevalRowMetadata {
    /// Id with the language, as `project_cc_python/7`.
    pub task_id: String,
    /// Name of the repository.
    pub repository: String,
    /// File in the repository.
    pub file: String,
    /// First line of the prompt, 0-based.
    pub context_start_lineno: usize,
    /// Line of the cursor, 0-based.
    pub groundtruth_start_lineno: usize,
    /// First line after the truth, 0-based.
    pub right_context_start_lineno: usize,
}

/// Code from other files.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct CcevalRowContext {
    /// All chunks as comments.
    pub text: String,
    /// The chunks, best first.
    pub list: Vec<CcevalRowChunk>,
}

/// A retrieved chunk.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct CcevalRowChunk {
    /// Its text.
    pub retrieved_chunk: String,
    /// Its file as the original reports it.
    pub filename: String,
    /// Its score.
    pub score: f64,
}

/// The rows of a case in the benchmark's three files.
#[derive(Clone, Debug, PartialEq)]
pub struct CcevalRows {
    /// Language of the case.
    pub language: Language,
    /// Row of `line_completion.jsonl`.
    pub plain: CcevalRow,
    /// Row of `line_completion_rg1_bm25.jsonl`.
    pub rg1: CcevalRow,
    /// Row of `line_completion_oracle_bm25.jsonl`.
    pub oracle: CcevalRow,
}

/// Makes rows from cases.
#[derive(Debug)]
pub struct CcevalBuilder<'a> {
    searcher: &'a Searcher,
    repository: &'a str,
    numbers: BTreeMap<Language, usize>,
}

impl<'a> CcevalBuilder<'a> {
    /// Creates a builder for cases of the searcher's files.
    pub fn new(searcher: &'a Searcher, repository: &'a str) -> CcevalBuilder<'a> {
        CcevalBuilder { searcher, repository, numbers: BTreeMap::new() }
    }

    /// Returns the rows of a [`Task::IN_FILE`] case; `None` for the others, which repeat its hole.
    pub fn rows(&mut self, case: &Case) -> Option<CcevalRows> {
        let language = Language::from_name(&case.language)?;
        if case.task != Task::IN_FILE {
            return None;
        }
        let number = self.numbers.entry(language).or_default();
        let plain = row(case, language, self.repository, *number);
        *number += 1;
        let others = self.searcher.hide(&[&case.path]);
        let candidates = others.chunk_candidates(&case.path, language);
        let with_context = |setting| {
            let query = ChunkQuery { prefix: &case.prefix, setting, ranking: ChunkRanking::Bm25 };
            let hits = candidates.retrieve(&query);
            let list = hits.iter().map(|hit| CcevalRowChunk {
                retrieved_chunk: hit.text().to_owned(),
                filename: hit.reported_path.to_string(),
                score: hit.score,
            });
            let context = CcevalRowContext { text: context_text(language, &hits), list: list.collect() };
            CcevalRow { crossfile_context: Some(context), ..plain.clone() }
        };
        let rg1 = with_context(RetrievalSetting::Rg1);
        let oracle = with_context(RetrievalSetting::Oracle { truth: &case.truth });
        Some(CcevalRows { language, plain, rg1, oracle })
    }
}

/// Returns the row of any case, with its own context; `None` if its language is unknown. `number` is the end of its id.
pub(crate) fn case_row(case: &Case, number: usize) -> Option<CcevalRow> {
    let language = Language::from_name(&case.language)?;
    let repository = case.origin.repository.as_deref().unwrap_or_default();
    let mut row = row(case, language, repository, number);
    let chunk = |item: &ContextItem| CcevalRowChunk {
        retrieved_chunk: item.text.clone(),
        filename: item.path.clone(),
        score: item.score,
    };
    if !case.context.is_empty() {
        let list: Vec<CcevalRowChunk> = case.context.iter().map(chunk).collect();
        let sign = language.line_comment();
        let comment = |chunk: &CcevalRowChunk| {
            let lines = chunk.retrieved_chunk.lines().map(|line| format!("{sign} {line}\n"));
            format!("{sign} {}\n{}", chunk.filename, lines.collect::<String>())
        };
        row.crossfile_context = Some(CcevalRowContext { text: list.iter().map(comment).collect(), list });
    }
    Some(row)
}

fn row(case: &Case, language: Language, repository: &str, number: usize) -> CcevalRow {
    let line = case.line as usize;
    CcevalRow {
        prompt: case.prefix.clone(),
        groundtruth: case.truth.clone(),
        right_context: case.suffix.clone(),
        metadata: CcevalRowMetadata {
            task_id: format!("project_cc_{}/{number}", language.name()),
            repository: repository.to_owned(),
            file: case.path.clone(),
            context_start_lineno: 0,
            groundtruth_start_lineno: line,
            right_context_start_lineno: line + case.truth.matches('\n').count(),
        },
        crossfile_context: None,
    }
}
