//! Cuts a hole into a case: its prefix, its suffix and its context.

use std::ops::Range;
use std::sync::OnceLock;
use std::sync::atomic::{AtomicUsize, Ordering};

use cases::{
    AFTER_JUMP, BlockCut, BlockKind, BodyCut, Case, CompletionTask, ContextItem, FOLLOWS_TAG, MissingTail,
    Origin, Scenario, SchemaVersion, Tags, Task,
};
use index::{CopyIndex, FunctionQuery, RemovedCode, Searcher};
use syntax::{Projects, SourceFile, Tree};
use text::{Document, Position, PositionEncoding};

use crate::MiningInput;
use crate::cross_file::without_whitespace;
use crate::parsed_file::{CutShape, Hole};
use crate::unanswerable::UnanswerableReason;

/// Number of similar functions in a `rag` case, as in Codev-Bench.
const RAG_FUNCTIONS: usize = 3;

/// Candidates for similar functions: more than needed, because some contain the removed text.
const RAG_CANDIDATES: usize = 8 * RAG_FUNCTIONS;

/// Input for cutting cases.
pub(crate) struct MiningRepository<'a> {
    pub(crate) files: &'a [SourceFile],
    pub(crate) searcher: Searcher,
    pub(crate) projects: &'a Projects,
    pub(crate) origin: &'a Origin,
    copies: &'a OnceLock<CopyIndex>,
    parses: AtomicUsize,
}

/// Part of the file after the hole that remains.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum SuffixExtent {
    Whole,
    WithoutFunction,
    Nothing,
}

/// A case before its position and id are computed.
pub(crate) struct CaseDraft<'a> {
    pub(crate) task: CompletionTask,
    pub(crate) block_kind: Option<BlockKind>,
    pub(crate) range: Range<usize>,
    pub(crate) prefix: String,
    pub(crate) suffix: &'a str,
    pub(crate) context: Vec<ContextItem>,
    pub(crate) tags: Tags,
}

impl CaseDraft<'_> {
    pub(crate) fn into_case(self, source: &SourceFile, origin: &Origin) -> Case {
        let prefix = Document::new(&self.prefix);
        let Position { line, character } = prefix
            .position(prefix.len(), PositionEncoding::Utf16)
            .expect("a text has a position at its end, and files have fewer than 2^32 lines");
        let mut case = Case {
            schema: SchemaVersion::CURRENT,
            id: String::new(),
            hole: format!("{}:{}-{}", source.path, self.range.start, self.range.end),
            task: Task::Complete(self.task),
            language: source.language.name().to_owned(),
            block_kind: self.block_kind,
            path: source.path.to_string(),
            byte_range: self.range.clone(),
            line,
            character,
            prefix: self.prefix,
            suffix: self.suffix.to_owned(),
            truth: source.text[self.range].to_owned(),
            context: self.context,
            function: None,
            tests: None,
            origin: origin.clone(),
            tags: self.tags,
        };
        case.id = case.compute_id();
        case
    }
}

impl<'a> MiningRepository<'a> {
    pub(crate) fn new(sources: &MiningInput<'a>, origin: &'a Origin) -> MiningRepository<'a> {
        MiningRepository {
            files: sources.files,
            searcher: sources.index.searcher(&|_| false),
            projects: sources.projects,
            origin,
            copies: sources.copies,
            parses: AtomicUsize::new(0),
        }
    }

    /// Parses a file.
    pub(crate) fn parse(&self, source: &SourceFile) -> Tree {
        self.parses.fetch_add(1, Ordering::Relaxed);
        syntax::parse(source.language, &source.text)
    }

    /// Returns the number of files that were parsed.
    pub(crate) fn parses(&self) -> usize {
        self.parses.load(Ordering::Relaxed)
    }

    fn copies(&self) -> &CopyIndex {
        self.copies.get_or_init(|| CopyIndex::new(self.files))
    }

    /// Finds the copies among the files, using all cores. Call it before work on several threads needs them: if one of these threads
    /// did it, it could take up other such work while it waits, and then wait for itself.
    pub(crate) fn prepare_copies(&self) {
        self.copies();
    }

    /// Returns a searcher for the context of a hole at `range` of a file: without files that contain a copy of its text.
    pub(crate) fn searcher_without(&self, source: &SourceFile, range: &Range<usize>) -> Searcher {
        let code = RemovedCode {
            path: &source.path,
            language: source.language,
            prefix: &source.text[..range.start],
            removed: &source.text[range.clone()],
            suffix: &source.text[range.end..],
        };
        let copies = self.copies().files_with_copy(&code);
        self.searcher.hide(&copies.iter().map(|path| &**path).collect::<Vec<_>>())
    }

    /// Returns the case of `scenario` for `hole`; `None` if the scenario is not applicable.
    pub(crate) fn cut(
        &self,
        file: usize,
        hole: &Hole,
        scenario: Scenario,
        tail: SuffixExtent,
    ) -> Option<Case> {
        let source = self.files.get(file)?;
        let text = &*source.text;
        let suffix = suffix(text, hole, tail)?;
        if tail_obstacle(source, hole, tail).is_some() {
            return None;
        }
        let prefix = prefix(text, hole);
        let context = match scenario {
            Scenario::Rag => Some(self.similar_functions(source, hole)?),
            _ => None,
        };
        let task = completion_task(scenario, hole.shape, tail)?;
        let question = CaseDraft {
            task,
            block_kind: Some(hole.kind),
            range: hole.range.clone(),
            prefix,
            suffix,
            context: context.unwrap_or_default(),
            tags: tags(task, hole),
        };
        Some(question.into_case(source, self.origin))
    }

    /// Returns the rule because of which no case can be cut with any of these tails.
    pub(crate) fn obstacle(
        &self,
        file: usize,
        hole: &Hole,
        tails: &[SuffixExtent],
    ) -> Option<UnanswerableReason> {
        let source = self.files.get(file)?;
        tails.iter().find_map(|&tail| tail_obstacle(source, hole, tail))
    }

    /// Returns the functions most similar to the enclosing one without its removed text; `None` if there is no enclosing
    /// function or nothing similar. None of them contains the removed text, however short it is.
    fn similar_functions(&self, source: &SourceFile, hole: &Hole) -> Option<Vec<ContextItem>> {
        let function = hole.function.clone()?;
        let original = &source.text[function.clone()];
        let removed = hole.range.start - function.start..hole.range.end - function.start;
        let query = FunctionQuery {
            path: &source.path,
            language: source.language,
            text: &[&original[..removed.start], &original[removed.end..]].concat(),
            original,
        };
        let truth = without_whitespace(&source.text[hole.range.clone()]);
        let searcher = self.searcher_without(source, &hole.range);
        let found = searcher.functions(&query, RAG_CANDIDATES).into_iter();
        let items: Vec<ContextItem> = found
            .filter(|hit| truth.is_empty() || !without_whitespace(&hit.text).contains(&truth))
            .take(RAG_FUNCTIONS)
            .map(context_item)
            .collect();
        (!items.is_empty()).then_some(items)
    }
}

/// Returns a retrieved piece of code as an item of a case.
pub fn context_item(hit: index::Hit) -> ContextItem {
    ContextItem {
        path: hit.path.to_string(),
        start_line: hit.start_line,
        end_line: hit.end_line,
        text: hit.text,
        strategy: hit.strategy.to_owned(),
        score: hit.score,
    }
}

/// Returns the text before the cursor. After a complete body the cursor is on a new line, indented like the last statement of
/// the body, where the next one would begin. The line before it may be indented deeper, e.g. as the rest of a long call.
fn prefix(text: &str, hole: &Hole) -> String {
    let before = &text[..hole.range.start];
    if hole.shape != CutShape::Empty {
        return before.to_owned();
    }
    let line_end = if text[hole.range.start..].starts_with("\r\n") { "\r\n" } else { "\n" };
    format!("{before}{line_end}{}", last_line(&text[..hole.last_statement]))
}

/// Returns the reason to reject the hole with this tail.
pub(crate) fn tail_obstacle(
    source: &SourceFile,
    hole: &Hole,
    tail: SuffixExtent,
) -> Option<UnanswerableReason> {
    if !end_is_determined(source, hole, tail) {
        return Some(UnanswerableReason::UnclearEnd);
    }
    (tail != SuffixExtent::Whole && !hole.has_beginning).then_some(UnanswerableReason::NoBeginning)
}

/// Whether the expected extent of the completion is clear. On a new line, it is one statement with its blocks if the rest of
/// the file is missing, and the rest of the block if its end is present; a hole must not look like the other of the two.
fn end_is_determined(source: &SourceFile, hole: &Hole, tail: SuffixExtent) -> bool {
    // A `catch` may follow a closing brace on its line.
    let is_behind = !last_line(&source.text[..hole.range.start]).trim().is_empty();
    let is_block = hole.shape == CutShape::BlockStart && !is_behind;
    let Some(body) = hole.in_body.filter(|body| is_block && !body.is_last) else { return true };
    match tail {
        SuffixExtent::Whole => true,
        SuffixExtent::Nothing => !body.is_first,
        SuffixExtent::WithoutFunction => {
            !body.is_first && !body.is_function && source.language.has_brace_blocks()
        }
    }
}

/// Returns the text after the hole; `None` for an incomplete tail that would remove nothing.
fn suffix<'a>(text: &'a str, hole: &Hole, tail: SuffixExtent) -> Option<&'a str> {
    let missing: Range<usize> = match tail {
        SuffixExtent::Whole => return text.get(hole.range.end..),
        SuffixExtent::WithoutFunction => hole.range.end..hole.function_end?,
        SuffixExtent::Nothing => hole.range.end..text.len(),
    };
    let is_incomplete = !text.get(missing.clone())?.trim().is_empty();
    if is_incomplete { text.get(missing.end..) } else { None }
}

/// Returns the task of a hole; `None` if the scenario has no such cut.
fn completion_task(scenario: Scenario, shape: CutShape, tail: SuffixExtent) -> Option<CompletionTask> {
    let complete = shape_task(shape);
    match (scenario, tail) {
        (Scenario::Rag, _) => Some(CompletionTask::Rag),
        (_, SuffixExtent::WithoutFunction) => {
            Some(CompletionTask::IncompleteSuffix(MissingTail::FunctionTail))
        }
        (_, SuffixExtent::Nothing) => Some(CompletionTask::IncompleteSuffix(MissingTail::FileTail)),
        (_, SuffixExtent::Whole) => (Task::Complete(complete).scenario() == scenario).then_some(complete),
    }
}

/// Returns the task of a hole whose surrounding code is complete.
pub(crate) fn shape_task(shape: CutShape) -> CompletionTask {
    match shape {
        CutShape::BlockStart => CompletionTask::FullBlock(BlockCut::BlockStart),
        CutShape::HeaderEnd => CompletionTask::FullBlock(BlockCut::HeaderEnd),
        CutShape::MidStatement => CompletionTask::FullBlock(BlockCut::MidStatement),
        CutShape::RestOfBlock => CompletionTask::InnerBlock(BodyCut::RestOfBlock),
        CutShape::Empty => CompletionTask::InnerBlock(BodyCut::Empty),
    }
}

/// Returns the tags of a case: the cut, if the variant describes the tail instead; and for a complete body, whether
/// its last statement makes further code unreachable.
pub(crate) fn tags(task: CompletionTask, hole: &Hole) -> Tags {
    match (task, hole.shape) {
        (CompletionTask::Rag | CompletionTask::IncompleteSuffix(_), shape) => {
            let cut = Task::Complete(shape_task(shape)).variant().unwrap_or_default();
            [("cut".to_owned(), cut.to_owned())].into()
        }
        (_, CutShape::Empty) if hole.follows_jump => [(FOLLOWS_TAG.to_owned(), AFTER_JUMP.to_owned())].into(),
        _ => Tags::new(),
    }
}

fn last_line(text: &str) -> &str {
    text.rsplit('\n').next().unwrap_or(text)
}
