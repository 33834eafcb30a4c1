//! A cassette out of a file of prompts and answers, so that a model can be replayed that was asked by another program.
//!
//! The file is JSON Lines. A row has `prompt`, the text as the model read it, and the answer under one of [`ANSWER`]; how the answer
//! ended may stand under one of [`FINISH`], and which model gave it in `model`. Everything else in a row is passed over.

use std::path::Path;

use serde_json::{Map, Value};
use thiserror::Error;

use super::file::{self, Row};
use super::{CassetteError, Piece, Recorded, Said};
use crate::{Finish, HttpEngine};

/// What the answer may be called.
pub(super) const ANSWER: [&str; 3] = ["answer", "output", "completion"];

/// What the reason for its end may be called.
pub(super) const FINISH: [&str; 3] = ["finish", "finish_reason", "stop_reason"];

/// How reasons begin that mean a limit on tokens.
const LIMITS: [&str; 4] = ["length", "limit", "max_tokens", "model_length"];

/// The rows of a file of prompts and answers.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Prompts(Vec<Prompt>);

#[derive(Clone, Debug, PartialEq, Eq)]
struct Prompt {
    prompt: String,
    answer: String,
    finish: Finish,
    model: Option<String>,
}

/// Why a file of prompts and answers makes no cassette.
#[derive(Debug, Error)]
pub enum AnswersError {
    /// A line of it is no row.
    #[error("line {line}: {reason}")]
    Line {
        /// The line, from 1.
        line: usize,
        /// What is wrong with it.
        reason: String,
    },
    /// There is nothing in it.
    #[error("there are no rows")]
    Empty,
    /// It holds answers of other models only.
    #[error("none of the rows is of the model `{model}` of engine `{engine}`; there are {found}")]
    OtherModels {
        /// The engine.
        engine: String,
        /// Its model.
        model: String,
        /// The models of the rows.
        found: String,
    },
    /// The engine is asked in another way.
    #[error(
        "engine `{engine}` sends no prompts that are known beforehand; set `fim` to the template that they are written in"
    )]
    NoPrompts {
        /// The engine.
        engine: String,
    },
    /// The cassette cannot be written.
    #[error(transparent)]
    Cassette(#[from] CassetteError),
}

/// What became of the rows for one engine.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Made {
    /// The engine's name.
    pub engine: String,
    /// Rows that are answers of it now.
    pub taken: usize,
    /// Rows that name another model than the engine's.
    pub others: usize,
}

impl Prompts {
    /// Reads such a file.
    pub fn parse(text: &str) -> Result<Prompts, AnswersError> {
        let lines = text.lines().enumerate().filter(|(_, line)| !line.trim().is_empty());
        let row =
            |(index, line)| prompt(line).map_err(|reason| AnswersError::Line { line: index + 1, reason });
        let rows: Vec<Prompt> = lines.map(row).collect::<Result<_, _>>()?;
        if rows.is_empty() { Err(AnswersError::Empty) } else { Ok(Prompts(rows)) }
    }

    /// Writes a new cassette in which these engines answer as the rows say: each to the rows of its model, and to those that name none.
    pub fn write_cassette(&self, engines: &[HttpEngine], path: &Path) -> Result<Vec<Made>, AnswersError> {
        let (mut rows, mut all_made) = (Vec::new(), Vec::new());
        for engine in engines {
            let (name, model) = (engine.name(), engine.model());
            let is_of = |prompt: &&Prompt| match (&prompt.model, model) {
                (Some(of), Some(model)) => of == model,
                _ => true,
            };
            let taken: Vec<&Prompt> = self.0.iter().filter(is_of).collect();
            if taken.is_empty() {
                return Err(self.other_models(name, model.unwrap_or_default()));
            }
            for prompt in &taken {
                let Some(request) = engine.canonical(&prompt.prompt) else {
                    return Err(AnswersError::NoPrompts { engine: name.to_owned() });
                };
                rows.push(Row::of(name, request, Recorded::Said(prompt.said())));
            }
            let others = self.0.len() - taken.len();
            all_made.push(Made { engine: name.to_owned(), taken: taken.len(), others });
        }
        file::write_new(path, &rows)?;
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

impl Prompt {
    /// The answer line by line, as it would have come: nobody reads on in a line behind the one that was enough.
    fn said(&self) -> Said {
        let piece = |line: &str| Piece { ms: None, text: line.to_owned() };
        let pieces = self.answer.split_inclusive('\n').map(piece).collect();
        Said { pieces, finish: self.finish, tokens: None }
    }
}

fn prompt(line: &str) -> Result<Prompt, String> {
    let row: Map<String, Value> = serde_json::from_str(line).map_err(|error| error.to_string())?;
    let text = |names: &[&str]| names.iter().find_map(|name| row.get(*name)?.as_str()).map(str::to_owned);
    let reason = text(&FINISH).unwrap_or_default();
    let is_limit = LIMITS.iter().any(|limit| reason.starts_with(limit));
    Ok(Prompt {
        prompt: text(&["prompt"]).ok_or("there is no text `prompt`")?,
        answer: text(&ANSWER).ok_or_else(|| format!("there is no text `{}`", ANSWER.join("`, `")))?,
        finish: if is_limit { Finish::Length } else { Finish::Stop },
        model: text(&["model"]),
    })
}
