//! Cases from the rows of completion benchmarks.
//!
//! An imported case has the row's own texts. The tree that it was cut from is unknown, so its hash is empty.

use cases::{BlockKind, Case, ContextItem, Origin, OriginKind, SchemaVersion, Tags, Task};
use syntax::Language;
use text::{Document, PositionEncoding};

/// The parts of a row that a case is made of.
pub(crate) struct CaseParts<'a> {
    /// Name of the benchmark.
    pub(crate) benchmark: &'a str,
    /// Id in the benchmark.
    pub(crate) id: &'a str,
    /// Name of the repository, if known.
    pub(crate) repository: Option<&'a str>,
    /// Task with its scenario.
    pub(crate) task: Task,
    /// Language of the file.
    pub(crate) language: Language,
    /// Kind of the missing block.
    pub(crate) block_kind: Option<BlockKind>,
    /// File in the repository.
    pub(crate) path: &'a str,
    /// The file before the cursor.
    pub(crate) prefix: &'a str,
    /// The file after the hole.
    pub(crate) suffix: &'a str,
    /// Expected completion.
    pub(crate) truth: &'a str,
    /// Code from other files.
    pub(crate) context: Vec<ContextItem>,
}

/// Returns the case; `None` if its prefix is too long for a position.
pub(crate) fn imported_case(parts: CaseParts<'_>) -> Option<Case> {
    let cursor = Document::new(parts.prefix).position(parts.prefix.len(), PositionEncoding::Utf16)?;
    let byte_range = parts.prefix.len()..parts.prefix.len() + parts.truth.len();
    let origin = Origin {
        benchmark: Some(parts.benchmark.to_owned()),
        benchmark_id: Some(parts.id.to_owned()),
        repository: parts.repository.map(str::to_owned),
        ..Origin::new(OriginKind::Imported, "")
    };
    let mut case = Case {
        schema: SchemaVersion::CURRENT,
        id: String::new(),
        hole: format!("{}:{}-{}", parts.path, byte_range.start, byte_range.end),
        task: parts.task,
        language: parts.language.name().to_owned(),
        block_kind: parts.block_kind,
        path: parts.path.to_owned(),
        byte_range,
        line: cursor.line,
        character: cursor.character,
        prefix: parts.prefix.to_owned(),
        suffix: parts.suffix.to_owned(),
        truth: parts.truth.to_owned(),
        context: parts.context,
        function: None,
        tests: None,
        origin,
        tags: Tags::new(),
    };
    case.id = case.compute_id();
    Some(case)
}
