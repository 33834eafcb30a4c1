//! The case: one benchmark item, immutable once written.

mod row;

use std::collections::BTreeMap;
use std::ops::Range;

use serde::{Deserialize, Serialize};

use crate::SchemaVersion;
use crate::case_tests::CaseTests;
use crate::function_question::{FindFunction, FunctionQuestion, WriteFunction};
use crate::string_enum::string_enum;
use crate::task::{Scenario, Task};

/// Id of a case: the hash of its input and truth, in hexadecimal.
pub type CaseId = String;

/// Free-form remarks about a case, by name.
pub type Tags = BTreeMap<String, String>;

string_enum! {
    /// Codev-Bench's seven block kinds, and imports, which it counts as statements.
    BlockKind {
        /// A function or method.
        Function = "function",
        /// `if`, `switch` or `match`.
        If = "if",
        /// `for` or `foreach`.
        For = "for",
        /// `while` or `loop`.
        While = "while",
        /// `try` or `finally`.
        Try = "try",
        /// `catch` or `except`.
        Catch = "catch",
        /// A simple statement.
        Statement = "statement",
        /// An import of names from other modules.
        Import = "import",
    }
}

string_enum! {
    /// Source of a case; tables never mix these.
    OriginKind {
        /// Recorded at a real cursor.
        Live = "live",
        /// Cut from a repository.
        Mined = "mined",
        /// Read from a file of a public benchmark.
        Imported = "imported",
        /// Written in a commit of a repository.
        History = "history",
    }
}

string_enum! {
    /// Whether the developer saw a suggestion before writing the truth; such a truth favours the engine of that suggestion.
    Exposure {
        /// No suggestion was shown.
        None = "none",
        /// A suggestion was shown.
        Shown = "shown",
        /// A suggestion was accepted.
        Accepted = "accepted",
    }
}

/// A piece of code from another place that is part of the input.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct ContextItem {
    /// File, relative to the workspace root.
    pub path: String,
    /// First line, 0-based.
    pub start_line: u32,
    /// Line after the last one, 0-based.
    pub end_line: u32,
    /// The code.
    pub text: String,
    /// Name of the retrieval strategy that selected it.
    pub strategy: String,
    /// Score by that strategy; higher is more relevant.
    pub score: f64,
}

/// Origin of a case.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Origin {
    /// Live, mined or imported.
    pub kind: OriginKind,
    /// Name of the public benchmark.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub benchmark: Option<String>,
    /// Id of the item in that benchmark.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub benchmark_id: Option<String>,
    /// Name of the repository.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub repository: Option<String>,
    /// Commit of the workspace.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub commit: Option<String>,
    /// Whether the working tree differed from that commit.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub dirty: Option<bool>,
    /// Hash of the indexed files; identifies the code that the case was cut from.
    pub tree_hash: String,
    /// When a live case was recorded (RFC 3339).
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub recorded_at: Option<String>,
    /// Whether a suggestion was seen before the truth was written.
    pub exposure: Exposure,
    /// Trial arm of the suggestion that was seen.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub exposed_arm: Option<String>,
    /// Probability of showing no suggestion in this situation; used for weighting.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub probability: Option<f64>,
}

impl Origin {
    /// Creates an origin with this kind and tree hash; all other fields are empty.
    pub fn new(kind: OriginKind, tree_hash: &str) -> Origin {
        Origin {
            kind,
            benchmark: None,
            benchmark_id: None,
            repository: None,
            commit: None,
            dirty: None,
            tree_hash: tree_hash.to_owned(),
            recorded_at: None,
            exposure: Exposure::None,
            exposed_arm: None,
            probability: None,
        }
    }
}

/// One benchmark item.
#[derive(Clone, Debug, PartialEq)]
pub struct Case {
    /// Format version.
    pub schema: SchemaVersion,
    /// Identity; see [`Case::compute_id`].
    pub id: CaseId,
    /// Shared by cases cut from the same hole; comparisons pair them.
    pub hole: String,
    /// Task, with its scenario and how the case was cut.
    pub task: Task,
    /// Name of the language in `syntax`.
    pub language: String,
    /// Kind of the cut block.
    pub block_kind: Option<BlockKind>,
    /// File, relative to the workspace root.
    pub path: String,
    /// Range of the truth: half-open, in UTF-8 bytes of the original file.
    pub byte_range: Range<usize>,
    /// Line of the cursor, 0-based.
    pub line: u32,
    /// Column of the cursor, in UTF-16 units.
    pub character: u32,
    /// The file before the cursor.
    pub prefix: String,
    /// The file after the hole, shortened as the scenario requires.
    pub suffix: String,
    /// Expected completion.
    pub truth: String,
    /// Code from other places that every engine receives.
    pub context: Vec<ContextItem>,
    /// The question of a task without a cursor, of the kind of the task; `None` for completions.
    pub function: Option<Box<FunctionQuestion>>,
    /// Tests that judge answers; not part of the identity.
    pub tests: Option<Box<CaseTests>>,
    /// Provenance; not part of the identity.
    pub origin: Origin,
    /// Remarks; not part of the identity.
    pub tags: Tags,
}

impl Case {
    /// Returns the scenario of the task.
    pub fn scenario(&self) -> Scenario {
        self.task.scenario()
    }

    /// Whether the case was cut from a commit. Any workspace is then from another time and may contain the truth and its uses, so
    /// engines read only the context that the case carries.
    pub fn is_from_history(&self) -> bool {
        self.origin.kind == OriginKind::History
    }

    /// Whether engines may read the workspace for the case. A task without a cursor brings all code that it is about.
    pub fn allows_workspace(&self) -> bool {
        self.task.has_cursor() && self.task != Task::IN_FILE && !self.is_from_history()
    }

    /// Returns the question of a `find_function` case.
    pub fn find_function(&self) -> Option<&FindFunction> {
        match self.function.as_deref() {
            Some(FunctionQuestion::Find(question)) => Some(question),
            _ => None,
        }
    }

    /// Returns the question of a `write_function` case.
    pub fn write_function(&self) -> Option<&WriteFunction> {
        match self.function.as_deref() {
            Some(FunctionQuestion::Write(question)) => Some(question),
            _ => None,
        }
    }

    /// Computes the identity: blake3 over schema major version, task, scenario, variant, language, path, prefix, suffix, truth
    /// and context, and for a task without a cursor over its question, each preceded by its length in bytes. Origin, tags and times are not
    /// included, so the same input and truth always have the same id.
    pub fn compute_id(&self) -> CaseId {
        let mut hasher = FieldHasher::default();
        hasher.field(&self.schema.major.to_string());
        hasher.field(self.task.kind().name());
        hasher.field(self.scenario().name());
        hasher.field(self.task.variant().unwrap_or_default());
        for part in [&self.language, &self.path, &self.prefix, &self.suffix, &self.truth] {
            hasher.field(part);
        }
        for item in &self.context {
            for part in [&item.path, &item.text, &item.strategy] {
                hasher.field(part);
            }
            hasher.field(&format!("{}..{} {:?}", item.start_line, item.end_line, item.score));
        }
        match self.function.as_deref() {
            None => {}
            Some(FunctionQuestion::Find(question)) => hasher.find_function(question),
            Some(FunctionQuestion::Write(question)) => {
                let WriteFunction { name, signature, documentation, header } = question;
                [name, signature, documentation, header].into_iter().for_each(|part| hasher.field(part));
            }
        }
        hasher.finish()
    }
}

/// Returns the identity of a suite: the hash of the ids of its cases, in order.
pub fn suite_hash(cases: &[Case]) -> String {
    suite_hash_of_ids(cases.iter().map(|case| &*case.id))
}

/// Returns the [`suite_hash`] of cases with these ids.
pub fn suite_hash_of_ids<'a>(ids: impl IntoIterator<Item = &'a str>) -> String {
    let mut hasher = FieldHasher::default();
    for id in ids {
        hasher.field(id);
    }
    hasher.finish()
}

/// Hashes a list of fields; different lists never give the same input bytes.
#[derive(Default)]
struct FieldHasher(blake3::Hasher);

impl FieldHasher {
    fn field(&mut self, text: &str) {
        self.0.update(&(text.len() as u64).to_le_bytes());
        self.0.update(text.as_bytes());
    }

    /// Hashes what is asked and what an answer is compared with; sizes only describe the context.
    fn find_function(&mut self, question: &FindFunction) {
        self.field(&question.description);
        self.field(&question.name);
        for candidate in &question.candidates {
            self.field(&candidate.name);
            self.field(&candidate.code);
        }
    }

    /// Returns the first 128 bits: enough for an identity, and short enough to read in rows.
    fn finish(self) -> String {
        self.0.finalize().to_hex()[..32].to_owned()
    }
}
