//! Builds a cassette from a file of prompts and answers, to replay a model that another program queried.
//!
//! The file is JSON Lines. Each row has `prompt`, the text as the model read it, and the answer under one of [`ANSWER`].
//! Optional: the finish reason under one of [`FINISH`], and the model's name in `model`. Other fields are ignored.

use std::path::Path;

use serde_json::{Map, Value};
use thiserror::Error;

use super::cassette_file::{self, CassetteRow};
use super::{CassetteError, EngineReply, RecordedReply, ReplyPiece};
use crate::{FinishReason, HttpEngine};

/// Accepted names of the answer field.
pub(super) const ANSWER: [&str; 3] = ["answer", "output", "completion"];

/// Accepted names of the finish reason field.
pub(super) const FINISH: [&str; 3] = ["finish", "finish_reason", "stop_reason"];

/// Prefixes of finish reasons that mean a token limit.
const LIMITS: [&str; 4] = ["length", "limit", "max_tokens", "model_length"];

/// The rows of a file of prompts and answers.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct AnswersFile(Vec<PromptAnswer>);

#[derive(Clone, Debug, PartialEq, Eq)]
struct PromptAnswer {
    prompt: String,
    answer: String,
    finish: FinishReason,
    model: Option<String>,
}

/// Error while importing a file of prompts and answers.
#[derive(Debug, Error)]
pub enum AnswersError {
    /// A line is not a valid row.
    #[error("line {line}: {reason}")]
    Line {
        /// Line number, from 1.
        line: usize,
        /// The error.
        reason: String,
    },
    /// The file has no rows.
    #[error("there are no rows")]
    Empty,
    /// All answers are from other models.
    #[error("none of the rows is of the model `{model}` of engine `{engine}`; there are {found}")]
    OtherModels {
        /// The engine.
        engine: String,
        /// Its model.
        model: String,
        /// The models of the rows.
        found: String,
    },
    /// The engine's prompts depend on the server.
    #[error("the prompts of engine `{engine}` depend on its server; set `fim` to their template")]
    NoPrompts {
        /// The engine.
        engine: String,
    },
    /// The cassette can't be written.
    #[error(transparent)]
    Cassette(#[from] CassetteError),
}

/// Import result for one engine.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ImportSummary {
    /// The engine's name.
    pub engine: String,
    /// Number of rows imported for it.
    pub taken: usize,
    /// Number of rows that name another model.
    pub skipped: usize,
}

impl AnswersFile {
    /// Parses a file of prompts and answers.
    pub fn parse(text: &str) -> Result<AnswersFile, AnswersError> {
        let lines = text.lines().enumerate().filter(|(_, line)| !line.trim().is_empty());
        let row =
            |(index, line)| prompt(line).map_err(|reason| AnswersError::Line { line: index + 1, reason });
        let rows: Vec<PromptAnswer> = lines.map(row).collect::<Result<_, _>>()?;
        if rows.is_empty() { Err(AnswersError::Empty) } else { Ok(AnswersFile(rows)) }
    }

    /// Writes a new cassette for these engines. Each engine gets the rows of its model and the rows without a model.
    pub fn write_cassette(
        &self,
        engines: &[HttpEngine],
        path: &Path,
    ) -> Result<Vec<ImportSummary>, AnswersError> {
        let (mut rows, mut all_made) = (Vec::new(), Vec::new());
        for engine in engines {
            let (name, model) = (engine.name(), engine.model());
            let taken: Vec<&PromptAnswer> = self
                .0
                .iter()
                .filter(|prompt| match (&prompt.model, model) {
                    (Some(of), Some(model)) => of == model,
                    _ => true,
                })
                .collect();
            if taken.is_empty() {
                return Err(self.other_models(name, model.unwrap_or_default()));
            }
            for prompt in &taken {
                let Some(request) = engine.canonical(&prompt.prompt) else {
                    return Err(AnswersError::NoPrompts { engine: name.to_owned() });
                };
                rows.push(CassetteRow::of(name, request, RecordedReply::Engine(prompt.reply())));
            }
            let others = self.0.len() - taken.len();
            all_made.push(ImportSummary { engine: name.to_owned(), taken: taken.len(), skipped: others });
        }
        cassette_file::write_new(path, &rows)?;
        Ok(all_made)
    }

    fn other_models(&self, engine: &str, model: &str) -> AnswersError {
        let mut found: Vec<&str> = self.0.iter().filter_map(|prompt| prompt.model.as_deref()).collect();
        found.sort_unstable();
        found.dedup();
        AnswersError::OtherModels {
            engine: engine.to_owned(),
            model: model.to_owned(),
            found: found.join(", "),
        }
    }
}

impl PromptAnswer {
    /// Splits the answer into lines, as a stream would deliver it: readers stop at the line that completes the answer.
    fn reply(&self) -> EngineReply {
        let pieces = self
            .answer
            .split_inclusive('\n')
            .map(|line| ReplyPiece { ms: None, text: line.to_owned() })
            .collect();
        EngineReply { pieces, edits: Vec::new(), finish: self.finish, tokens: None }
    }
}

fn prompt(line: &str) -> Result<PromptAnswer, String> {
    let row: Map<String, Value> = serde_json::from_str(line).map_err(|error| error.to_string())?;
    let text = |names: &[&str]| names.iter().find_map(|name| row.get(*name)?.as_str()).map(str::to_owned);
    let reason = text(&FINISH).unwrap_or_default();
    let is_limit = LIMITS.iter().any(|limit| reason.starts_with(limit));
    Ok(PromptAnswer {
        prompt: text(&["prompt"]).ok_or("there is no text `prompt`")?,
        answer: text(&ANSWER).ok_or_else(|| format!("there is no text `{}`", ANSWER.join("`, `")))?,
        finish: if is_limit { FinishReason::Length } else { FinishReason::Stop },
        model: text(&["model"]),
    })
}
