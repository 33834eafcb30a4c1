//! The stored form of a case: its task is three words.

use std::borrow::Cow;
use std::ops::Range;

use serde::{Deserialize, Deserializer, Serialize, Serializer, de};

use super::{BlockKind, Case, ContextItem, Origin, Tags};
use crate::SchemaVersion;
use crate::case_tests::CaseTests;
use crate::function_question::{FindFunction, FunctionQuestion, WriteFunction};
use crate::task::{Scenario, Task, TaskKind};

/// A row of a suite; texts are borrowed when it is written.
#[derive(Serialize, Deserialize)]
struct CaseRow<'a> {
    schema: SchemaVersion,
    id: Cow<'a, str>,
    hole: Cow<'a, str>,
    task: TaskKind,
    scenario: Scenario,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    variant: Option<Cow<'a, str>>,
    language: Cow<'a, str>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    block_kind: Option<BlockKind>,
    path: Cow<'a, str>,
    byte_range: Range<usize>,
    line: u32,
    character: u32,
    prefix: Cow<'a, str>,
    suffix: Cow<'a, str>,
    truth: Cow<'a, str>,
    #[serde(default, skip_serializing_if = "is_empty_list")]
    context: Cow<'a, [ContextItem]>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    find: Option<Cow<'a, FindFunction>>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    write: Option<Cow<'a, WriteFunction>>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    tests: Option<Cow<'a, CaseTests>>,
    origin: Cow<'a, Origin>,
    #[serde(default, skip_serializing_if = "are_no_tags")]
    tags: Cow<'a, Tags>,
}

fn is_empty_list(context: &[ContextItem]) -> bool {
    context.is_empty()
}

fn are_no_tags(tags: &Tags) -> bool {
    tags.is_empty()
}

impl Serialize for Case {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let row = CaseRow {
            schema: self.schema,
            id: Cow::Borrowed(&self.id),
            hole: Cow::Borrowed(&self.hole),
            task: self.task.kind(),
            scenario: self.task.scenario(),
            variant: self.task.variant().map(Cow::Borrowed),
            language: Cow::Borrowed(&self.language),
            block_kind: self.block_kind,
            path: Cow::Borrowed(&self.path),
            byte_range: self.byte_range.clone(),
            line: self.line,
            character: self.character,
            prefix: Cow::Borrowed(&self.prefix),
            suffix: Cow::Borrowed(&self.suffix),
            truth: Cow::Borrowed(&self.truth),
            context: Cow::Borrowed(&self.context),
            find: self.find_function().map(Cow::Borrowed),
            write: self.write_function().map(Cow::Borrowed),
            tests: self.tests.as_deref().map(Cow::Borrowed),
            origin: Cow::Borrowed(&self.origin),
            tags: Cow::Borrowed(&self.tags),
        };
        row.serialize(serializer)
    }
}

impl<'de> Deserialize<'de> for Case {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Case, D::Error> {
        let row = CaseRow::deserialize(deserializer)?;
        let task =
            Task::from_words(row.task, row.scenario, row.variant.as_deref()).map_err(de::Error::custom)?;
        let function = question(row.task, row.find, row.write).map_err(de::Error::custom)?;
        Ok(Case {
            schema: row.schema,
            id: row.id.into_owned(),
            hole: row.hole.into_owned(),
            task,
            language: row.language.into_owned(),
            block_kind: row.block_kind,
            path: row.path.into_owned(),
            byte_range: row.byte_range,
            line: row.line,
            character: row.character,
            prefix: row.prefix.into_owned(),
            suffix: row.suffix.into_owned(),
            truth: row.truth.into_owned(),
            context: row.context.into_owned(),
            function: function.map(Box::new),
            tests: row.tests.map(|tests| Box::new(tests.into_owned())),
            origin: row.origin.into_owned(),
            tags: row.tags.into_owned(),
        })
    }
}

/// Returns the question of a row; a task without a cursor has exactly the one of its kind.
fn question(
    task: TaskKind,
    find: Option<Cow<'_, FindFunction>>,
    write: Option<Cow<'_, WriteFunction>>,
) -> Result<Option<FunctionQuestion>, String> {
    match (task, find, write) {
        (TaskKind::Complete, None, None) => Ok(None),
        (TaskKind::FindFunction, Some(find), None) => {
            let find = find.into_owned();
            if find.candidates.iter().any(|candidate| candidate.name == find.name) {
                return Ok(Some(FunctionQuestion::Find(find)));
            }
            Err(format!("the function `{}` is not among the `candidates`", find.name))
        }
        (TaskKind::WriteFunction, None, Some(write)) => Ok(Some(FunctionQuestion::Write(write.into_owned()))),
        (TaskKind::Complete, ..) => Err(format!("task `{task}` has neither `find` nor `write`")),
        (TaskKind::FindFunction, ..) => Err(format!("task `{task}` needs `find`, and no `write`")),
        (TaskKind::WriteFunction, ..) => Err(format!("task `{task}` needs `write`, and no `find`")),
    }
}
