//! Paths skipped by a walk: counted by reason, with a few examples of each.

use std::collections::BTreeMap;
use std::fmt;

/// Number of paths kept for each reason: enough to see the cause, few enough for a message.
const EXAMPLES_KEPT: usize = 3;

/// Reason why a file or folder is not part of the workspace. A skipped folder counts once, whatever it contains.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum SkipReason {
    /// Matched by a .gitignore or .ghostbenchignore.
    Ignored,
    /// The name begins with a dot.
    Hidden,
    /// The extension belongs to no supported language.
    UnsupportedLanguage,
    /// The name suggests keys or passwords.
    SecretLike,
    /// Contains bytes that never occur in text.
    Binary,
    /// Its text or its name is not UTF-8.
    InvalidUtf8,
    /// Has a generator's signature.
    Generated,
    /// Has lines too long to be typed.
    Minified,
    /// Larger than the limit for a file.
    Oversized,
    /// Beyond the limit for a workspace.
    WorkspaceFull,
    /// Cannot be read.
    Unreadable,
    /// A symbolic link; never followed.
    Symlink,
    /// A pipe, socket or device.
    Special,
    /// Installed third-party code: `node_modules`, `vendor`, virtual environments.
    Dependencies,
    /// Written by a build.
    BuildOutput,
    /// A worktree or submodule inside the workspace: another checkout, often of the same code.
    NestedCheckout,
    /// Contains a Ghostbench run.
    Run,
}

impl SkipReason {
    /// Returns the reason's wording in messages, to follow a count.
    pub fn name(self) -> &'static str {
        match self {
            SkipReason::Ignored => "ignored",
            SkipReason::Hidden => "hidden",
            SkipReason::UnsupportedLanguage => "in no supported language",
            SkipReason::SecretLike => "named like secrets",
            SkipReason::Binary => "binary",
            SkipReason::InvalidUtf8 => "not UTF-8",
            SkipReason::Generated => "generated",
            SkipReason::Minified => "minified",
            SkipReason::Oversized => "too large",
            SkipReason::WorkspaceFull => "beyond the workspace limit",
            SkipReason::Unreadable => "unreadable",
            SkipReason::Symlink => "symbolic links",
            SkipReason::Special => "no regular files",
            SkipReason::Dependencies => "dependencies",
            SkipReason::BuildOutput => "build output",
            SkipReason::NestedCheckout => "nested checkouts",
            SkipReason::Run => "ghostbench runs",
        }
    }
}

/// A skipped file or folder.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct SkippedPath {
    /// Path relative to the workspace root, with `/` between its parts.
    pub path: String,
    /// The reason.
    pub reason: SkipReason,
    /// The system's error, for unreadable ones.
    pub error: Option<String>,
}

impl SkippedPath {
    pub(crate) fn new(path: impl Into<String>, reason: SkipReason) -> SkippedPath {
        SkippedPath { path: path.into(), reason, error: None }
    }

    pub(crate) fn unreadable(path: impl Into<String>, error: &impl fmt::Display) -> SkippedPath {
        SkippedPath { path: path.into(), reason: SkipReason::Unreadable, error: Some(error.to_string()) }
    }
}

/// Everything that was skipped, by reason. Its `Display` is a list such as `3 ignored, 1 binary`.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Skips {
    reasons: BTreeMap<SkipReason, SkipTally>,
}

#[derive(Clone, Debug, Default, PartialEq, Eq)]
struct SkipTally {
    count: usize,
    examples: Vec<SkippedPath>,
}

impl Skips {
    /// Counts skipped paths, which must be in order.
    pub(crate) fn new<'a>(skipped: impl Iterator<Item = (&'a str, SkipReason, Option<&'a str>)>) -> Skips {
        let mut skips = Skips::default();
        for (path, reason, error) in skipped {
            let tally = skips.reasons.entry(reason).or_default();
            tally.count += 1;
            if tally.examples.len() < EXAMPLES_KEPT {
                tally.examples.push(SkippedPath {
                    path: path.to_owned(),
                    reason,
                    error: error.map(str::to_owned),
                });
            }
        }
        skips
    }

    /// Returns the number of files and folders skipped for `reason`.
    pub fn count(&self, reason: SkipReason) -> usize {
        self.reasons.get(&reason).map_or(0, |tally| tally.count)
    }

    /// Returns all reasons that occurred, with their counts and the first few paths in order.
    pub fn iter(&self) -> impl Iterator<Item = (SkipReason, usize, &[SkippedPath])> {
        self.reasons.iter().map(|(&reason, tally)| (reason, tally.count, tally.examples.as_slice()))
    }
}

impl fmt::Display for Skips {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if self.reasons.is_empty() {
            return f.write_str("nothing");
        }
        for (position, (reason, count, _)) in self.iter().enumerate() {
            let comma = if position == 0 { "" } else { ", " };
            write!(f, "{comma}{count} {}", reason.name())?;
        }
        Ok(())
    }
}
