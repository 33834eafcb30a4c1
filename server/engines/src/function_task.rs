//! Tasks without a cursor: to find a described function, or to write one.

use std::sync::Arc;

/// A task without a cursor, in the forms besides the code to continue.
#[derive(Clone, Debug)]
pub struct FunctionTask {
    /// The whole prompt, for a chat.
    pub prompt: Arc<str>,
    /// The code that has the wanted function, and its description; `None` if the function is to be written.
    pub search: Option<FunctionSearch>,
}

/// A function to find.
#[derive(Clone, Debug)]
pub struct FunctionSearch {
    /// Code of many files.
    pub code: Arc<str>,
    /// What the function does.
    pub description: Arc<str>,
}

/// How an engine takes a task without a cursor.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum TaskForm {
    /// It answers the prompt in a chat.
    Chat,
    /// It continues the code of the request's input.
    FillIn,
    /// It searches the code by the description.
    Retrieval,
}
