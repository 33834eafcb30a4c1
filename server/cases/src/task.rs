//! The task of a case: a tagged payload, so that every value is a task that exists.
//!
//! Rows spell a task as three words: `task`, `scenario` and `variant`. This module is the only one that knows which of them belong
//! together.

use std::borrow::Cow;
use std::fmt;

use serde::{Deserialize, Deserializer, Serialize, Serializer, de};

use crate::string_enum::string_enum;

string_enum! {
    /// Kind of a task, without its parameters.
    TaskKind {
        /// Complete the code at a cursor.
        Complete = "complete",
        /// Find a described function in a long context, and repeat it.
        FindFunction = "find_function",
        /// Write a function with this signature and documentation.
        WriteFunction = "write_function",
    }
}

string_enum! {
    /// Scenario: the situation of the cursor.
    Scenario {
        /// A whole block, a body after its header, or the rest of a statement; the surrounding code is complete.
        FullBlock = "full_block",
        /// Inside a block body, after complete statements.
        InnerBlock = "inner_block",
        /// As `full_block`, but everything after the cursor is missing.
        IncompleteSuffix = "incomplete_suffix",
        /// As `full_block`, with similar functions of the repository as context.
        Rag = "rag",
        /// CrossCodeEval: the next name is defined in another file.
        CrossFile = "cross_file",
        /// RepoQA: a described function is somewhere in a long context.
        FindFunction = "find_function",
        /// YABLoCo: a function has a signature and a documentation, but no body.
        WriteFunction = "write_function",
    }
}

string_enum! {
    /// Position of the cursor in `full_block`.
    BlockCut {
        /// The whole block is missing.
        BlockStart = "block_start",
        /// The header is typed, the body is missing.
        HeaderEnd = "header_end",
        /// The beginning of a statement is typed.
        MidStatement = "mid_statement",
    }
}

string_enum! {
    /// Missing part of the body in `inner_block`.
    BodyCut {
        /// The rest of the body is missing.
        RestOfBlock = "rest_of_block",
        /// The body is complete, so the truth is empty.
        Empty = "empty",
    }
}

string_enum! {
    /// Missing text after the cursor in `incomplete_suffix`.
    MissingTail {
        /// Up to the end of the function.
        FunctionTail = "function_tail",
        /// Up to the end of the file.
        FileTail = "file_tail",
    }
}

string_enum! {
    /// Context of a request in `cross_file`.
    CrossFileContext {
        /// No context from other files.
        InFile = "in_file",
        /// Context retrieved for the text around the cursor.
        Retrieval = "retrieval",
        /// Context retrieved by the same strategy for a query that includes the truth.
        Oracle = "oracle",
    }
}

string_enum! {
    /// Widest place of the code that the function of `write_function` calls.
    CallScope {
        /// No calls.
        None = "none",
        /// The standard library.
        Stdlib = "stdlib",
        /// Its own file.
        File = "file",
        /// Its own package: the folder of its file.
        Package = "package",
        /// Elsewhere in the project.
        Project = "project",
    }
}

/// Task of a case. Values are ordered as their words in the documentation.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Task {
    /// Complete the code at a cursor.
    Complete(CompletionTask),
    /// Find a described function in a long context; see [`crate::FindFunction`].
    FindFunction,
    /// Write a function; see [`crate::WriteFunction`]. The scope of its calls is `None` if the source does not contain it.
    WriteFunction(Option<CallScope>),
}

/// A completion at a cursor, by scenario.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum CompletionTask {
    /// See [`Scenario::FullBlock`].
    FullBlock(BlockCut),
    /// See [`Scenario::InnerBlock`].
    InnerBlock(BodyCut),
    /// See [`Scenario::IncompleteSuffix`].
    IncompleteSuffix(MissingTail),
    /// See [`Scenario::Rag`].
    Rag,
    /// See [`Scenario::CrossFile`].
    CrossFile(CrossFileContext),
}

impl Task {
    /// An [`BodyCut::Empty`] case: the right answer is empty.
    pub const EMPTY: Task = Task::Complete(CompletionTask::InnerBlock(BodyCut::Empty));
    /// A [`CrossFileContext::InFile`] case: the engine sees only the case's own file.
    pub const IN_FILE: Task = Task::Complete(CompletionTask::CrossFile(CrossFileContext::InFile));

    /// Returns its kind.
    pub fn kind(self) -> TaskKind {
        match self {
            Task::Complete(_) => TaskKind::Complete,
            Task::FindFunction => TaskKind::FindFunction,
            Task::WriteFunction(_) => TaskKind::WriteFunction,
        }
    }

    /// Returns the scenario.
    pub fn scenario(self) -> Scenario {
        match self {
            Task::Complete(CompletionTask::FullBlock(_)) => Scenario::FullBlock,
            Task::Complete(CompletionTask::InnerBlock(_)) => Scenario::InnerBlock,
            Task::Complete(CompletionTask::IncompleteSuffix(_)) => Scenario::IncompleteSuffix,
            Task::Complete(CompletionTask::Rag) => Scenario::Rag,
            Task::Complete(CompletionTask::CrossFile(_)) => Scenario::CrossFile,
            Task::FindFunction => Scenario::FindFunction,
            Task::WriteFunction(_) => Scenario::WriteFunction,
        }
    }

    /// Returns the word for the variant within the scenario, if the scenario has variants.
    pub fn variant(self) -> Option<&'static str> {
        match self {
            Task::Complete(CompletionTask::FullBlock(cut)) => Some(cut.name()),
            Task::Complete(CompletionTask::InnerBlock(cut)) => Some(cut.name()),
            Task::Complete(CompletionTask::IncompleteSuffix(tail)) => Some(tail.name()),
            Task::Complete(CompletionTask::Rag) | Task::FindFunction => None,
            Task::Complete(CompletionTask::CrossFile(context)) => Some(context.name()),
            Task::WriteFunction(scope) => scope.map(CallScope::name),
        }
    }

    /// Returns the context of a `cross_file` case; `None` in other scenarios.
    pub fn cross_file_context(self) -> Option<CrossFileContext> {
        match self {
            Task::Complete(CompletionTask::CrossFile(context)) => Some(context),
            Task::Complete(_) | Task::FindFunction | Task::WriteFunction(_) => None,
        }
    }

    /// Whether the task is a completion at a cursor.
    pub fn has_cursor(self) -> bool {
        self.kind() == TaskKind::Complete
    }

    /// Returns the task that a row spells with these words.
    ///
    /// # Errors
    ///
    /// The variant is missing, unknown, or belongs to another scenario.
    pub(crate) fn from_words(
        kind: TaskKind,
        scenario: Scenario,
        variant: Option<&str>,
    ) -> Result<Task, String> {
        let task = match scenario {
            Scenario::FullBlock => CompletionTask::FullBlock(required(scenario, variant, BlockCut::ALL)?),
            Scenario::InnerBlock => CompletionTask::InnerBlock(required(scenario, variant, BodyCut::ALL)?),
            Scenario::IncompleteSuffix => {
                CompletionTask::IncompleteSuffix(required(scenario, variant, MissingTail::ALL)?)
            }
            Scenario::CrossFile => {
                CompletionTask::CrossFile(required(scenario, variant, CrossFileContext::ALL)?)
            }
            Scenario::Rag => {
                without_variant(scenario, variant)?;
                CompletionTask::Rag
            }
            Scenario::FindFunction => {
                without_variant(scenario, variant)?;
                return Task::FindFunction.of_kind(kind);
            }
            Scenario::WriteFunction => {
                let scope = variant.map(|_| required(scenario, variant, CallScope::ALL)).transpose()?;
                return Task::WriteFunction(scope).of_kind(kind);
            }
        };
        Task::Complete(task).of_kind(kind)
    }

    /// Returns the task if it is of this kind.
    fn of_kind(self, kind: TaskKind) -> Result<Task, String> {
        if self.kind() == kind {
            return Ok(self);
        }
        Err(format!("scenario `{}` belongs to the task `{}`, not to `{kind}`", self.scenario(), self.kind()))
    }
}

/// Checks that a row of a scenario without variants has none.
fn without_variant(scenario: Scenario, variant: Option<&str>) -> Result<(), String> {
    match variant {
        None => Ok(()),
        Some(variant) => Err(format!("scenario `{scenario}` has no variants; remove `{variant}`")),
    }
}

/// Returns the scenario's variant with this word.
fn required<V: Copy + fmt::Display>(
    scenario: Scenario,
    variant: Option<&str>,
    known: &[V],
) -> Result<V, String> {
    let found = known.iter().copied().find(|value| Some(value.to_string().as_str()) == variant);
    found.ok_or_else(|| {
        let known: Vec<String> = known.iter().map(|value| format!("`{value}`")).collect();
        let problem = match variant {
            Some(variant) => format!("has no variant `{variant}`"),
            None => "needs a variant".to_owned(),
        };
        format!("scenario `{scenario}` {problem}; its variants are {}", known.join(", "))
    })
}

/// A task as a value of its own: an object of the three words.
#[derive(Serialize, Deserialize)]
struct TaskRow<'a> {
    task: TaskKind,
    scenario: Scenario,
    #[serde(borrow, default, skip_serializing_if = "Option::is_none")]
    variant: Option<Cow<'a, str>>,
}

impl Serialize for Task {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let variant = self.variant().map(Cow::Borrowed);
        TaskRow { task: self.kind(), scenario: self.scenario(), variant }.serialize(serializer)
    }
}

impl<'de> Deserialize<'de> for Task {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Task, D::Error> {
        let row = TaskRow::deserialize(deserializer)?;
        Task::from_words(row.task, row.scenario, row.variant.as_deref()).map_err(de::Error::custom)
    }
}
