//! The case: one benchmark item, immutable once written.

use std::collections::BTreeMap;
use std::fmt;
use std::ops::Range;
use std::str::FromStr;

use serde::{Deserialize, Serialize};

use crate::SchemaVersion;

/// Id of a case: the hash of its input and truth, in hexadecimal.
pub type CaseId = String;

/// Free-form remarks about a case, by name.
pub type Tags = BTreeMap<String, String>;

/// Declares an enum whose variants are serialized as fixed words, with `name()`, `Display` and `FromStr` that use these words.
macro_rules! words {
    ($(#[$doc:meta])* $name:ident { $($(#[$variant_doc:meta])* $variant:ident = $word:literal),+ $(,)? }) => {
        $(#[$doc])*
        #[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
        pub enum $name {
            $($(#[$variant_doc])* #[serde(rename = $word)] $variant,)+
        }

        impl $name {
            /// All values, in the order of the documentation.
            pub const ALL: &[$name] = &[$($name::$variant),+];

            /// Returns the word for this value in files and on the command line.
            pub fn name(self) -> &'static str {
                match self { $($name::$variant => $word,)+ }
            }
        }

        impl fmt::Display for $name {
            fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.pad(self.name())
            }
        }

        impl FromStr for $name {
            type Err = String;

            fn from_str(word: &str) -> Result<$name, String> {
                $name::ALL.iter().copied().find(|value| value.name() == word).ok_or_else(|| {
                    let known: Vec<_> = $name::ALL.iter().map(|value| value.name()).collect();
                    format!("unknown word `{word}`; known are {}", known.join(", "))
                })
            }
        }
    };
}
pub(crate) use words;

words! {
    /// Task of a case.
    Task {
        /// Complete the code at a cursor.
        Complete = "complete",
        /// Find the function that matches a description (RepoQA).
        FindFunction = "find_function",
        /// Write a function body for a signature (YABLoCo).
        WriteFunction = "write_function",
    }
}

words! {
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
        /// RepoQA.
        FindFunction = "find_function",
        /// YABLoCo.
        WriteFunction = "write_function",
    }
}

words! {
    /// How the case was cut within its scenario.
    Variant {
        /// `full_block` and similar scenarios: the whole block is missing.
        BlockStart = "block_start",
        /// `full_block` and similar scenarios: the header is typed, the body is missing.
        HeaderEnd = "header_end",
        /// `full_block` and similar scenarios: the beginning of a statement is typed.
        MidStatement = "mid_statement",
        /// `inner_block`: the rest of the body is missing.
        RestOfBlock = "rest_of_block",
        /// `inner_block`: the body is complete, so the truth is empty.
        Empty = "empty",
        /// `incomplete_suffix`: the text from the cursor to the end of the function is missing.
        FunctionTail = "function_tail",
        /// `incomplete_suffix`: the text from the cursor to the end of the file is missing.
        FileTail = "file_tail",
        /// `cross_file`: without context from other files.
        InFile = "in_file",
        /// `cross_file`: with context retrieved for the text around the cursor.
        Retrieval = "retrieval",
        /// `cross_file`: with context retrieved by the same strategy for a query that includes the truth.
        Oracle = "oracle",
    }
}

words! {
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

words! {
    /// Source of a case; tables never mix these.
    OriginKind {
        /// Recorded at a real cursor.
        Live = "live",
        /// Cut from a repository.
        Mined = "mined",
        /// Read from a file of a public benchmark.
        Imported = "imported",
    }
}

words! {
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

words! {
    /// When the truth of a live case was frozen; later stages replace earlier ones.
    Stage {
        /// The cursor left the block.
        LeaveBlock = "leave_block",
        /// Typing paused.
        Idle = "idle",
        /// The file was saved.
        Save = "save",
        /// The file was closed.
        Close = "close",
        /// The change was committed.
        Commit = "commit",
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
    /// When the truth of a live case was frozen.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub stage: Option<Stage>,
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
            stage: None,
            exposure: Exposure::None,
            exposed_arm: None,
            probability: None,
        }
    }
}

/// Unit tests that check a completion.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct UnitTests {
    /// Command that contains `{ids}`.
    pub command: String,
    /// Tests to run.
    pub ids: Vec<String>,
    /// Timeout of the whole command in seconds.
    pub timeout_s: u32,
}

/// One benchmark item.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Case {
    /// Format version.
    pub schema: SchemaVersion,
    /// Identity; see [`Case::compute_id`].
    pub id: CaseId,
    /// Shared by cases cut from the same hole; comparisons pair them.
    pub hole: String,
    /// Task.
    pub task: Task,
    /// Scenario.
    pub scenario: Scenario,
    /// How the case was cut.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub variant: Option<Variant>,
    /// Name of the language in `syntax`.
    pub language: String,
    /// Kind of the cut block.
    #[serde(default, skip_serializing_if = "Option::is_none")]
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
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub context: Vec<ContextItem>,
    /// Provenance; not part of the identity.
    pub origin: Origin,
    /// Unit tests.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub tests: Option<UnitTests>,
    /// Remarks; not part of the identity.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub tags: Tags,
}

impl Case {
    /// Computes the identity: blake3 over schema major version, task, scenario, variant, language, path, prefix, suffix, truth
    /// and context, each preceded by its length in bytes. Origin, tags and times are not included, so the same input and truth
    /// always have the same id.
    pub fn compute_id(&self) -> CaseId {
        let mut hasher = FieldHasher::default();
        hasher.field(&self.schema.major.to_string());
        hasher.field(self.task.name());
        hasher.field(self.scenario.name());
        hasher.field(self.variant.map_or("", Variant::name));
        for part in [&self.language, &self.path, &self.prefix, &self.suffix, &self.truth] {
            hasher.field(part);
        }
        for item in &self.context {
            for part in [&item.path, &item.text, &item.strategy] {
                hasher.field(part);
            }
            hasher.field(&format!("{}..{} {:?}", item.start_line, item.end_line, item.score));
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

    /// Returns the first 128 bits: enough for an identity, and short enough to read in rows.
    fn finish(self) -> String {
        self.0.finalize().to_hex()[..32].to_owned()
    }
}
