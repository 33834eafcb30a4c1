//! Cases from commits: the code that developers wrote, at the place where they wrote it.
//!
//! ```text
//! files of a commit, before and after --hunks--> added lines --steps--> holes --cut--> cases without context
//! tree before the commit --context--> cases
//! ```
//!
//! A commit is applied file by file in the order of their paths, and within a file hunk by hunk from the top. A hunk is a hole in
//! the file at that moment: the lines that it replaces are gone, and the lines of later hunks are not there yet. The truth begins at
//! its first token, or after the beginning that the first line shares with the line it replaces; comments and blanks before it are
//! given. If the added code is one block, the body of a block, the rest of a body or the rest of a statement, it is the truth.
//! Otherwise it is written in steps: the truth is the code that [`case_at_cursor`](crate::case_at_cursor()) would hide there, then
//! the next of it, while the rest of the hunk is not there yet. The scenario follows from the syntax tree, as for live cases.
//!
//! Never reads files and knows no git: callers pass texts.

use std::collections::{BTreeMap, HashSet};
use std::fmt;
use std::ops::Range;
use std::sync::Arc;

use cases::{Case, CompletionTask, MissingTail, Origin, Tags};
use syntax::{Language, SourceFile, TokenKind, Tree};

use crate::case_at_cursor::live_task;
use crate::cut_case::{CaseDraft, SuffixExtent, tags, tail_obstacle};
use crate::parsed_file::ParsedFile;
use crate::seeded_random::SeededRandom;
use crate::unanswerable::{UnanswerableReason, unanswerable_reason};
use hunks::{Hunk, HunkReason, RemovedLines, hunks};

mod context;
mod hunk_hole;
mod hunks;
#[cfg(test)]
mod tests;

pub use context::{CommitContext, HistoryTree};

/// Maximum number of hunks of a commit that become cases, so that no commit dominates a suite.
pub const MAX_HUNKS: usize = 6;
/// Maximum number of cases of a hunk, for the same reason.
pub const MAX_STEPS: usize = 2;
/// Maximum number of steps that a hunk is divided into: those of a new file with some thousand lines.
const MAX_STEPS_SEEN: usize = 500;
/// A commit with at least this many hunks, of which this share only changes the layout, is a formatting commit.
const FORMATTING_COMMIT: (usize, f64) = (5, 0.8);

/// A file of a commit.
#[derive(Clone, Debug)]
pub struct FileChange {
    /// Path after the commit; before it for a removed file.
    pub path: Arc<str>,
    /// Path before the commit, if it was another one.
    pub old_path: Option<Arc<str>>,
    /// Language of the path.
    pub language: Language,
    /// Text before; `None` for a new file.
    pub before: Option<Arc<str>>,
    /// Text after; `None` for a removed file.
    pub after: Option<Arc<str>>,
}

/// A commit.
#[derive(Clone, Debug)]
pub struct CommitFiles<'a> {
    /// Its hash, which makes the names of holes unique.
    pub id: &'a str,
    /// The changed files, in the order of their paths.
    pub files: &'a [FileChange],
    /// Origin of its cases.
    pub origin: Origin,
    /// Tags of its cases.
    pub tags: Tags,
}

/// Reason why added code became no case.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum HistoryReason {
    /// The hunk only removes lines.
    OnlyRemoves,
    /// The hunk only changes the layout.
    Formatting,
    /// The commit removed the same lines elsewhere.
    Moved,
    /// The hunk adds only comments, blanks and brackets.
    NoCode,
    /// The syntax around the code is broken.
    SyntaxError,
    /// The code begins or ends inside a larger construct, such as a list, so that its end is unclear.
    Partial,
    /// The code is longer than a truth may be.
    TooLong,
    /// The commit has enough cases.
    EnoughOfCommit,
    /// No answer could count as right.
    Unanswerable(UnanswerableReason),
}

impl HistoryReason {
    /// Returns the name of the reason in JSON.
    pub fn name(self) -> &'static str {
        match self {
            HistoryReason::OnlyRemoves => "only_removes",
            HistoryReason::Formatting => "formatting",
            HistoryReason::Moved => "moved",
            HistoryReason::NoCode => "no_code",
            HistoryReason::SyntaxError => "syntax_error",
            HistoryReason::Partial => "partial",
            HistoryReason::TooLong => "too_long",
            HistoryReason::EnoughOfCommit => "enough_of_commit",
            HistoryReason::Unanswerable(reason) => reason.name(),
        }
    }
}

impl fmt::Display for HistoryReason {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            HistoryReason::OnlyRemoves => "it only removes lines",
            HistoryReason::Formatting => "it only changes the layout",
            HistoryReason::Moved => "its lines were moved",
            HistoryReason::NoCode => "it adds no code",
            HistoryReason::SyntaxError => "the syntax around it is broken",
            HistoryReason::Partial => "it is a part of a larger construct",
            HistoryReason::TooLong => "it is too long",
            HistoryReason::EnoughOfCommit => "its commit has enough cases",
            HistoryReason::Unanswerable(reason) => return reason.fmt(f),
        })
    }
}

/// Cases of one commit.
#[derive(Clone, Debug, Default)]
pub struct CommitCases {
    /// The cases, without context, in the order in which their code was written.
    pub cases: Vec<Case>,
    /// Number of examined hunks.
    pub hunks: usize,
    /// Number of hunks, and of steps in them, that became no case, by reason.
    pub left_out: BTreeMap<HistoryReason, usize>,
    /// Whether the commit mostly changes the layout; then it has no cases.
    pub is_formatting: bool,
}

/// Puts commits into the order in which they are examined, which depends on the seed.
pub fn shuffle<T>(commits: &mut [T], seed: u64) {
    SeededRandom::new(seed, "history").shuffle(commits);
}

/// Cuts the cases of a commit. Of commits with many hunks, `seed` draws some.
pub fn commit_cases(commit: &CommitFiles<'_>, seed: u64) -> CommitCases {
    let mut found = CommitCases::default();
    let removed = RemovedLines::of(commit.files);
    let mut usable: Vec<(&FileChange, Hunk)> = Vec::new();
    let mut formatting = 0;
    for file in commit.files {
        let Some(after) = &file.after else { continue };
        for hunk in hunks(file.before.as_deref().unwrap_or_default(), after) {
            found.hunks += 1;
            match hunk.reason(&removed) {
                None => usable.push((file, hunk)),
                Some(reason) => {
                    formatting += usize::from(reason == HunkReason::Formatting);
                    found.leave_out(reason.into());
                }
            }
        }
    }
    let (hunks, share) = FORMATTING_COMMIT;
    if found.hunks >= hunks && formatting as f64 >= share * found.hunks as f64 {
        return CommitCases { is_formatting: true, hunks: found.hunks, ..CommitCases::default() };
    }
    let mut random = SeededRandom::new(seed, commit.id);
    for (file, hunk) in drawn(usable, MAX_HUNKS, &mut random, &mut found) {
        HunkCutter { commit, file, hunk: &hunk }.cut(&mut random, &mut found);
    }
    found
}

/// Draws up to `wanted` items and returns them in their order; the others are left out.
fn drawn<T>(items: Vec<T>, wanted: usize, random: &mut SeededRandom, found: &mut CommitCases) -> Vec<T> {
    let mut places: Vec<usize> = (0..items.len()).collect();
    random.shuffle(&mut places);
    let kept: HashSet<usize> = places.into_iter().take(wanted).collect();
    (kept.len()..items.len()).for_each(|_| found.leave_out(HistoryReason::EnoughOfCommit));
    let numbered = items.into_iter().enumerate().filter(|(place, _)| kept.contains(place));
    numbered.map(|(_, item)| item).collect()
}

impl CommitCases {
    fn leave_out(&mut self, reason: HistoryReason) {
        *self.left_out.entry(reason).or_default() += 1;
    }
}

/// Cuts one hunk into cases.
struct HunkCutter<'a> {
    commit: &'a CommitFiles<'a>,
    file: &'a FileChange,
    hunk: &'a Hunk,
}

impl HunkCutter<'_> {
    fn cut(&self, random: &mut SeededRandom, found: &mut CommitCases) {
        let whole = self.source(&self.hunk.text);
        let tree = syntax::parse(whole.language, &whole.text);
        let parsed = ParsedFile::new(&whole, &tree);
        let Some(code) = hunk_hole::code_range(&parsed, self.hunk) else {
            return found.leave_out(HistoryReason::NoCode);
        };
        match self.case(code.clone()) {
            Ok(case) => return found.cases.push(case),
            // Any other cut of the same code has this reason, too.
            Err(reason @ (HistoryReason::SyntaxError | HistoryReason::NoCode)) => {
                return found.leave_out(reason);
            }
            Err(_) => {}
        }
        let steps = steps(&parsed, &tree, code, found);
        for step in drawn(steps, MAX_STEPS, random, found) {
            match self.case(step) {
                Ok(case) => found.cases.push(case),
                Err(reason) => found.leave_out(reason),
            }
        }
    }

    fn source(&self, text: &str) -> SourceFile {
        SourceFile { path: Arc::clone(&self.file.path), language: self.file.language, text: text.into() }
    }

    /// Returns the case whose truth is `range` of the hunk's text; the rest of the hunk behind it is not written yet.
    fn case(&self, range: Range<usize>) -> Result<Case, HistoryReason> {
        let text = &*self.hunk.text;
        let source = self
            .source(&[&text[..range.end], self.hunk.blanks_at_end(), &text[self.hunk.lines.end..]].concat());
        let tree = syntax::parse(source.language, &source.text);
        let parsed = ParsedFile::new(&source, &tree);
        let has_word = parsed
            .words_in(range.clone())
            .any(|word| word.kind != TokenKind::Newline && is_word(&source.text[word.range.clone()]));
        if !has_word {
            return Err(HistoryReason::NoCode);
        }
        let hole = hunk_hole::hole(&parsed, &tree, range.clone())?;
        let task = live_task(&source.text, &hole);
        let tail = match task {
            CompletionTask::IncompleteSuffix(MissingTail::FileTail) => SuffixExtent::Nothing,
            CompletionTask::IncompleteSuffix(MissingTail::FunctionTail) => SuffixExtent::WithoutFunction,
            _ => SuffixExtent::Whole,
        };
        if let Some(reason) = tail_obstacle(&source, &hole, tail) {
            return Err(HistoryReason::Unanswerable(reason));
        }
        let draft = CaseDraft {
            task,
            block_kind: Some(hole.kind),
            range: range.clone(),
            prefix: source.text[..range.start].to_owned(),
            suffix: &source.text[range.end..],
            context: Vec::new(),
            tags: self.commit.tags.clone().into_iter().chain(tags(task, &hole)).collect(),
        };
        let mut case = draft.into_case(&source, &self.commit.origin);
        case.hole = format!("{}:{}", self.commit.id, case.hole);
        unanswerable_reason(&case).map_or(Ok(case), |reason| Err(HistoryReason::Unanswerable(reason)))
    }
}

/// Divides the code of a hunk into steps, up to one that ends behind the hunk.
fn steps(
    parsed: &ParsedFile<'_>,
    tree: &Tree,
    code: Range<usize>,
    found: &mut CommitCases,
) -> Vec<Range<usize>> {
    let mut steps = Vec::new();
    let mut start = code.start;
    while steps.len() < MAX_STEPS_SEEN {
        match hunk_hole::step_end(parsed, tree, start, code.end) {
            Ok(end) => {
                steps.push(start..end);
                let Some(next) = parsed.words_in(end..code.end).next() else { return steps };
                start = next.range.start;
            }
            Err(reason) => {
                found.leave_out(reason);
                return steps;
            }
        }
    }
    steps
}

fn is_word(token: &str) -> bool {
    token.chars().any(char::is_alphanumeric)
}
