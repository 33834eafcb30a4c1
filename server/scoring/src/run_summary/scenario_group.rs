//! The rows of the tables by scenario.

use std::fmt;

use cases::{BodyCut, CallScope, Case, CompletionTask, CrossFileContext, Scenario, Task};
use serde::{Serialize, Serializer};

/// Whether the language's rules lead to the definition of the name that a `cross_file` case asks for.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum NameResolution {
    /// They do.
    Resolved,
    /// The definition was found by its name alone.
    Unresolved,
}

impl NameResolution {
    /// Returns the resolution of the case's name.
    pub fn of(case: &Case) -> NameResolution {
        if case.is_resolved() { NameResolution::Resolved } else { NameResolution::Unresolved }
    }
}

/// A group of cases with its own row: a scenario, or a part of one to which other metrics apply. In the order of tables.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum ScenarioGroup {
    /// Scenario `full_block`.
    FullBlock,
    /// Scenario `inner_block` with something to write.
    InnerBlock,
    /// Scenario `inner_block` with an empty truth.
    Empty,
    /// The same after a `return` or a similar jump: no other code can follow there.
    EmptyAfterJump,
    /// Scenario `incomplete_suffix`.
    IncompleteSuffix,
    /// Scenario `rag`.
    Rag,
    /// Scenario `cross_file`: each context apart, and in each the names that are not resolved.
    CrossFile(NameResolution, CrossFileContext),
    /// Scenario `find_function`.
    FindFunction,
    /// Scenario `write_function`, by the scope of the function's calls.
    WriteFunction(Option<CallScope>),
}

impl ScenarioGroup {
    /// Returns the group of a case.
    pub fn of(case: &Case) -> ScenarioGroup {
        match ScenarioGroup::of_task(case.task) {
            ScenarioGroup::Empty if case.follows_jump() => ScenarioGroup::EmptyAfterJump,
            ScenarioGroup::CrossFile(_, context) => {
                ScenarioGroup::CrossFile(NameResolution::of(case), context)
            }
            group => group,
        }
    }

    /// Returns the group of a task, as if no rule resolved the name of `cross_file`, and no jump preceded an empty truth.
    pub(crate) fn of_task(task: Task) -> ScenarioGroup {
        let task = match task {
            Task::Complete(task) => task,
            Task::FindFunction => return ScenarioGroup::FindFunction,
            Task::WriteFunction(scope) => return ScenarioGroup::WriteFunction(scope),
        };
        match task {
            CompletionTask::FullBlock(_) => ScenarioGroup::FullBlock,
            CompletionTask::InnerBlock(BodyCut::RestOfBlock) => ScenarioGroup::InnerBlock,
            CompletionTask::InnerBlock(BodyCut::Empty) => ScenarioGroup::Empty,
            CompletionTask::IncompleteSuffix(_) => ScenarioGroup::IncompleteSuffix,
            CompletionTask::Rag => ScenarioGroup::Rag,
            CompletionTask::CrossFile(context) => {
                ScenarioGroup::CrossFile(NameResolution::Unresolved, context)
            }
        }
    }

    /// Returns its scenario.
    pub fn scenario(self) -> Scenario {
        match self {
            ScenarioGroup::FullBlock => Scenario::FullBlock,
            ScenarioGroup::InnerBlock | ScenarioGroup::Empty | ScenarioGroup::EmptyAfterJump => {
                Scenario::InnerBlock
            }
            ScenarioGroup::IncompleteSuffix => Scenario::IncompleteSuffix,
            ScenarioGroup::Rag => Scenario::Rag,
            ScenarioGroup::CrossFile(..) => Scenario::CrossFile,
            ScenarioGroup::FindFunction => Scenario::FindFunction,
            ScenarioGroup::WriteFunction(_) => Scenario::WriteFunction,
        }
    }

    /// Whether the truth of its cases is empty.
    pub fn is_empty(self) -> bool {
        matches!(self, ScenarioGroup::Empty | ScenarioGroup::EmptyAfterJump)
    }
}

impl fmt::Display for ScenarioGroup {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let scenario = self.scenario();
        match self {
            ScenarioGroup::Empty => write!(f, "{scenario}/{}", BodyCut::Empty),
            ScenarioGroup::EmptyAfterJump => write!(f, "{scenario}/{}/after_jump", BodyCut::Empty),
            ScenarioGroup::CrossFile(NameResolution::Resolved, context) => write!(f, "{scenario}/{context}"),
            ScenarioGroup::CrossFile(NameResolution::Unresolved, context) => {
                write!(f, "{scenario}/{context}/unresolved")
            }
            ScenarioGroup::WriteFunction(Some(scope)) => write!(f, "{scenario}/{scope}"),
            _ => f.write_str(scenario.name()),
        }
    }
}

impl Serialize for ScenarioGroup {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_str(self)
    }
}
