//! The question of a case without a cursor, and the parts of its right answer that the case's texts do not hold.

use serde::{Deserialize, Serialize};

use crate::string_enum::string_enum;

string_enum! {
    /// Comments in the context of `find_function`.
    ContextComments {
        /// They are kept.
        Kept = "kept",
        /// They are removed, and numbered lines at both ends keep the function in its place.
        Padded = "padded",
        /// They are removed.
        Removed = "removed",
    }
}

/// The question of a case without a cursor.
#[derive(Clone, Debug, PartialEq)]
pub enum FunctionQuestion {
    /// Of [`crate::Task::FindFunction`].
    Find(FindFunction),
    /// Of [`crate::Task::WriteFunction`].
    Write(WriteFunction),
}

impl FunctionQuestion {
    /// Returns its texts that may be code; names are no secrets.
    pub(crate) fn texts_mut(&mut self) -> Vec<&mut String> {
        match self {
            FunctionQuestion::Find(FindFunction { description, candidates, .. }) => {
                let codes = candidates.iter_mut().map(|candidate| &mut candidate.code);
                std::iter::once(description).chain(codes).collect()
            }
            FunctionQuestion::Write(WriteFunction { signature, documentation, header, .. }) => {
                vec![signature, documentation, header]
            }
        }
    }
}

/// Find a described function. The context is the case's prefix, truth and suffix: the truth is the function in its place.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct FindFunction {
    /// What the function does, without its name.
    pub description: String,
    /// Its name, one of the candidates.
    pub name: String,
    /// The functions that an answer is compared with: those of the same repository that are asked for. Never empty.
    pub candidates: Vec<CandidateFunction>,
    /// Wanted place of the function's middle in the context, from 0 to 1.
    pub depth: f64,
    /// Wanted size of the context in tokens.
    pub size: usize,
    /// Tokens of the context before the function.
    pub tokens_before: usize,
    /// Tokens of the function.
    pub tokens_of_function: usize,
    /// Tokens of the context after the function.
    pub tokens_after: usize,
    /// How tokens were counted, such as `estimate`.
    pub tokenizer: String,
    /// Comments of the context.
    pub comments: ContextComments,
}

impl FindFunction {
    /// Returns the tokens of the context.
    pub fn tokens(&self) -> usize {
        self.tokens_before + self.tokens_of_function + self.tokens_after
    }
}

/// A function that an answer is compared with.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct CandidateFunction {
    /// Name, unique among the candidates.
    pub name: String,
    /// The whole lines that it occupies.
    pub code: String,
}

/// Write a function. The case's prefix ends with the beginning of the function, and its truth is the rest.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct WriteFunction {
    /// Name of the function.
    pub name: String,
    /// The signature without the body, as engines with a chat receive it.
    pub signature: String,
    /// What the function does.
    pub documentation: String,
    /// The beginning of the function's code, up to the begin of its body; the end of the case's prefix.
    pub header: String,
}
