//! The case: one benchmark item, immutable once written.

use std::collections::BTreeMap;
use std::fmt;
use std::ops::Range;
use std::str::FromStr;

use serde::{Deserialize, Serialize};

use crate::SchemaVersion;

/// The identity of a case: a hash of what an engine is asked and what the right answer is, in hexadecimal.
pub type CaseId = String;

/// Free-form remarks about a case, by name.
pub type Tags = BTreeMap<String, String>;

/// Declares an enum whose variants are written as fixed words, with `name()`, `Display` and `FromStr` in the same words.
macro_rules! words {
    ($(#[$doc:meta])* $name:ident { $($(#[$variant_doc:meta])* $variant:ident = $word:literal),+ $(,)? }) => {
        $(#[$doc])*
        #[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
        pub enum $name {
            $($(#[$variant_doc])* #[serde(rename = $word)] $variant,)+
        }

        impl $name {
            /// Every value, in the order of the documentation.
            pub const ALL: &[$name] = &[$($name::$variant),+];

            /// The word that stands for this value in files and on the command line.
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
    /// What is asked of the engine.
    Task {
        /// Complete at a cursor.
        Complete = "complete",
        /// Find the described function (RepoQA).
        FindFunction = "find_function",
        /// Write a function body from its signature (YABLoCo).
        WriteFunction = "write_function",
    }
}

words! {
    /// The situation the cursor is in.
    Scenario {
        /// A whole block, a body after its header, or the rest of a statement, in unbroken surroundings.
        FullBlock = "full_block",
        /// Inside a block body after complete statements.
        InnerBlock = "inner_block",
        /// As `full_block`, with everything after the cursor missing.
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
    /// How a scenario's case was cut.
    Variant {
        /// `full_block` and its kin: the whole block is missing.
        BlockStart = "block_start",
        /// `full_block` and its kin: the header is typed, the body is missing.
        HeaderEnd = "header_end",
        /// `full_block` and its kin: a statement is begun.
        MidStatement = "mid_statement",
        /// `inner_block`: the rest of the body is missing.
        RestOfBlock = "rest_of_block",
        /// `inner_block`: the body is complete, the right answer is nothing.
        Empty = "empty",
        /// `incomplete_suffix`: nothing after the cursor up to the end of the function.
        FunctionTail = "function_tail",
        /// `incomplete_suffix`: nothing after the cursor up to the end of the file.
        FileTail = "file_tail",
        /// `cross_file`: nothing but the file itself.
        InFile = "in_file",
        /// `cross_file`: with what a retrieval strategy finds for the text around the cursor.
        Retrieval = "retrieval",
        /// `cross_file`: with what the same strategy finds when it may look at the truth.
        Oracle = "oracle",
    }
}

words! {
    /// Codev-Bench's seven block kinds, and the import, which it counts as a statement.
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
        /// An import of names from elsewhere.
        Import = "import",
    }
}

words! {
    /// Where a case comes from; no table mixes these.
    OriginKind {
        /// Recorded at a real cursor.
        Live = "live",
        /// Cut out of a repository.
        Mined = "mined",
        /// Read from a public benchmark's file.
        Imported = "imported",
    }
}

words! {
    /// Whether a suggestion was seen before the truth was written; a truth written after one favours its engine.
    Exposure {
        /// Nothing was shown.
        None = "none",
        /// A suggestion was shown.
        Shown = "shown",
        /// A suggestion was accepted.
        Accepted = "accepted",
    }
}

words! {
    /// The moment at which a live truth was frozen; a later stage beats an earlier one.
    Stage {
        /// The cursor left the block.
        LeaveBlock = "leave_block",
        /// Nothing was typed for a while.
        Idle = "idle",
        /// The file was saved.
        Save = "save",
        /// The file was closed.
        Close = "close",
        /// The change was committed.
        Commit = "commit",
    }
}

/// A piece of code from elsewhere that goes with the question.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct ContextItem {
    /// File it comes from, relative to the workspace root.
    pub path: String,
    /// First line, 0-based.
    pub start_line: u32,
    /// Line after the last one.
    pub end_line: u32,
    /// The code.
    pub text: String,
    /// Name of the retrieval strategy that chose it.
    pub strategy: String,
    /// The strategy's score; higher is nearer.
    pub score: f64,
}

/// Where a case comes from.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Origin {
    /// Live, mined or imported.
    pub kind: OriginKind,
    /// Name of the public benchmark.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub benchmark: Option<String>,
    /// The item's own id there.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub benchmark_id: Option<String>,
    /// Name of the repository.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub repository: Option<String>,
    /// Commit the workspace was at.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub commit: Option<String>,
    /// Whether the working tree differed from that commit.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub dirty: Option<bool>,
    /// Hash of the indexed files: which code the case was cut from.
    pub tree_hash: String,
    /// When a live case was recorded, RFC 3339.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub recorded_at: Option<String>,
    /// When a live case's truth was frozen.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub stage: Option<Stage>,
    /// Whether a suggestion was seen.
    pub exposure: Exposure,
    /// The arm whose suggestion was seen.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub exposed_arm: Option<String>,
    /// The probability with which the situation was left without a suggestion, for weighting.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub probability: Option<f64>,
}

impl Origin {
    /// A case of `kind` from the code with `tree_hash`, with nothing else known.
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

/// Unit tests that decide whether a completion works.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct UnitTests {
    /// Command with `{ids}` in it.
    pub command: String,
    /// The tests to run.
    pub ids: Vec<String>,
    /// Limit for the whole command, seconds.
    pub timeout_s: u32,
}

/// One benchmark item.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Case {
    /// Format version.
    pub schema: SchemaVersion,
    /// See [`Case::compute_id`].
    pub id: CaseId,
    /// Cases cut from one hole share this and are paired in comparisons.
    pub hole: String,
    /// What is asked.
    pub task: Task,
    /// The situation.
    pub scenario: Scenario,
    /// How it was cut.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub variant: Option<Variant>,
    /// Name of the language, as `syntax` calls it.
    pub language: String,
    /// Kind of the block that was cut.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub block_kind: Option<BlockKind>,
    /// File, relative to the workspace root.
    pub path: String,
    /// Where the truth stood: half-open, UTF-8 bytes of the original file.
    pub byte_range: Range<usize>,
    /// Line of the cursor, 0-based.
    pub line: u32,
    /// Character of the cursor in its line, in UTF-16 units.
    pub character: u32,
    /// The file before the cursor.
    pub prefix: String,
    /// The file after the hole, as far as the scenario leaves it.
    pub suffix: String,
    /// The right answer.
    pub truth: String,
    /// Code from elsewhere that every engine is given.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub context: Vec<ContextItem>,
    /// Provenance; never part of the identity.
    pub origin: Origin,
    /// Unit tests.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub tests: Option<UnitTests>,
    /// Remarks; never part of the identity.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub tags: Tags,
}

impl Case {
    /// The case's identity: blake3 over schema major version, task, scenario, variant, language, path, prefix, suffix, truth and
    /// context, each preceded by its length in bytes. Origin, tags and times take no part, so the same question always has the
    /// same id.
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

/// The identity of a suite: the ids of its cases, in order.
pub fn suite_hash(cases: &[Case]) -> String {
    suite_hash_of_ids(cases.iter().map(|case| &*case.id))
}

/// The [`suite_hash`] of cases with these ids.
pub fn suite_hash_of_ids<'a>(ids: impl IntoIterator<Item = &'a str>) -> String {
    let mut hasher = FieldHasher::default();
    for id in ids {
        hasher.field(id);
    }
    hasher.finish()
}

/// Hashes fields so that no two different lists of fields give the same bytes.
#[derive(Default)]
struct FieldHasher(blake3::Hasher);

impl FieldHasher {
    fn field(&mut self, text: &str) {
        self.0.update(&(text.len() as u64).to_le_bytes());
        self.0.update(text.as_bytes());
    }

    /// 128 bits are plenty for identity and keep rows readable.
    fn finish(self) -> String {
        self.0.finalize().to_hex()[..32].to_owned()
    }
}
