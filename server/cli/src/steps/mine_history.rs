//! Mines cases from commits.
//!
//! ```text
//! commits of the range --drawn by the seed--> some at a time --changed files--> cases --perfect answer--> cases
//! trees of their parents, oldest first --> index --context--> cases
//! ```
//!
//! Reads git only through `workspace`. Commits are examined in an order that depends on the seed and their hashes, until there are
//! enough cases. The cases do not depend on the number of threads.

use std::collections::{BTreeMap, HashSet};
use std::ops::AddAssign;
use std::path::Path;
use std::sync::Arc;
use std::time::{Duration, UNIX_EPOCH};

use cases::{AGE_TAG, AUTHOR_TAG, COMMIT_TAG, Case, DATE_TAG, Origin, OriginKind, Scenario, Tags};
use engines::HashKey;
use mining::history::{CommitCases, CommitFiles, FileChange, HistoryTree, commit_cases};
use rayon::prelude::*;
use serde_json::{Value, json};
use workspace::{BlobText, Commit, GitHistory, ReadLimits, SkipReason};

use crate::args::MiningArgs;
use crate::exit::UsageError;
use crate::folders;
use crate::output::{count, print_message};
use crate::progress::Progress;
use crate::steps::history_files::{Admissions, ReadFiles, read_files};
use crate::steps::mine::count_holes;
use crate::steps::perfect_answer::PerfectAnswer;

/// The scenarios of commits.
pub(crate) const HISTORY_SCENARIOS: [Scenario; 3] =
    [Scenario::FullBlock, Scenario::InnerBlock, Scenario::IncompleteSuffix];

/// Commits examined at a time. The cases depend on it only through the last batch.
const BATCH: usize = 32;
/// Seconds in a day.
const DAY_S: i64 = 24 * 60 * 60;
/// The last second of the year 9999: later times do not have four digits of a year.
const LAST_TIME_S: i64 = 253_402_300_799;

/// Cases from commits, without secrets.
pub(crate) struct MinedHistory {
    /// The suite.
    pub(crate) cases: Vec<Case>,
    /// Name of the repository or its folder.
    pub(crate) name: String,
    /// Number of hunks that became no case by reason, for `--json`.
    pub(crate) left_out: Value,
    /// The range, and the counts of its commits and files, for `--json`.
    pub(crate) report: Value,
}

/// Mines the commits of `range` that are dated `since` or later.
pub(crate) fn mine_history(
    path: &Path,
    range: &str,
    since: Option<&str>,
    args: &MiningArgs,
) -> anyhow::Result<MinedHistory> {
    check(args)?;
    let mut history = GitHistory::open(path)?;
    let commits = history.commits(range)?;
    if commits.is_empty() {
        return Err(UsageError(format!("`{range}` contains no commits; name a longer range")).into());
    }
    let name = workspace::git_state(path).map_or_else(|| folder_name(path), |git| git.repository);
    let miner = Miner {
        root: path,
        seed: args.seed,
        scenarios: &args.scenarios,
        newest: commits.iter().map(|commit| commit.time).max().unwrap_or_default(),
        author_key: folders::data_folder("").ok().and_then(|folder| folder.hash_key().ok()),
        repository: &name,
        answer: PerfectAnswer::new()?,
    };
    let mut left_out = LeftOut::default();
    let candidates = candidates(&commits, since, history.is_shallow(), args.seed, &mut left_out);
    let (mut found, examined) = miner.find(&mut history, &candidates, args.cases, &mut left_out)?;
    report_left_out(&left_out);
    if found.iter().all(|commit| commit.cases.is_empty()) {
        let remedy = "name a longer range, an earlier --since or other scenarios (--scenario)";
        return Err(UsageError(format!("no commit of `{range}` can become a case; {remedy}")).into());
    }
    miner.add_contexts(&mut history, &mut found)?;
    let mut cases: Vec<Case> = found.into_iter().flat_map(|commit| commit.cases).collect();
    let secrets: usize = cases.par_iter_mut().map(cases::redact_case).sum();
    if secrets + left_out.secrets > 0 {
        print_message(&format!("replaced {} in the cases", count(secrets + left_out.secrets, "secret")));
    }
    cases.sort_by(|one, other| sort_key(one).cmp(&sort_key(other)));
    let report = json!({
        "range": range,
        "since": since,
        "commits": commits.len(),
        "examined": examined,
        "left_out_commits": left_out.commits,
        "left_out_files": left_out.files,
    });
    Ok(MinedHistory { cases, name, left_out: json!(left_out.hunks), report })
}

fn check(args: &MiningArgs) -> Result<(), UsageError> {
    if args.cases == 0 {
        return Err(UsageError("--cases 0 selects no case; use at least 1".to_owned()));
    }
    let other = args.scenarios.iter().find(|scenario| !HISTORY_SCENARIOS.contains(scenario));
    other.map_or(Ok(()), |scenario| {
        let remedy = format!("use {}", HISTORY_SCENARIOS.map(Scenario::name).join(", "));
        Err(UsageError(format!("--from-history has no cases of {scenario}; {remedy}")))
    })
}

fn folder_name(path: &Path) -> String {
    let path = path.canonicalize().unwrap_or_default();
    let name = path.file_name().map(|name| name.to_string_lossy().into_owned()).unwrap_or_default();
    name.strip_suffix(".git").unwrap_or(&name).to_owned()
}

fn sort_key(case: &Case) -> (&str, &str, usize, &str) {
    (&case.hole, &case.path, case.byte_range.start, &case.id)
}

/// Numbers of things that became no case.
#[derive(Default)]
struct LeftOut {
    commits: BTreeMap<&'static str, usize>,
    files: BTreeMap<&'static str, usize>,
    hunks: BTreeMap<&'static str, usize>,
    /// Secrets that were replaced in kept cases.
    secrets: usize,
}

/// Prints the counts, in the order of their reasons.
fn report_left_out(left_out: &LeftOut) {
    let kinds = [("commit", &left_out.commits), ("file", &left_out.files), ("hunk", &left_out.hunks)];
    for (thing, reasons) in kinds {
        let reasons: Vec<String> =
            reasons.iter().map(|(reason, number)| format!("{number} {}", reason.replace('_', " "))).collect();
        if !reasons.is_empty() {
            print_message(&format!("left out {thing}s: {}", reasons.join(", ")));
        }
    }
}

/// Returns the commits that may have cases, in the order in which they are examined.
fn candidates<'a>(
    commits: &'a [Commit],
    since: Option<&str>,
    is_shallow: bool,
    seed: u64,
    left_out: &mut LeftOut,
) -> Vec<&'a Commit> {
    let mut kept = Vec::new();
    for commit in commits {
        let reason = if commit.is_merge {
            "merge"
        } else if since.is_some_and(|since| &*date(commit.time) < since) {
            "before_since"
        } else if is_shallow && commit.parent.is_none() {
            "parent_missing"
        } else {
            kept.push(commit);
            continue;
        };
        left_out.commits.entry(reason).or_default().add_assign(1);
    }
    mining::history::shuffle(&mut kept, seed);
    kept
}

/// Returns the day of a time in UTC.
fn date(time: i64) -> String {
    let seconds = u64::try_from(time.clamp(0, LAST_TIME_S)).unwrap_or_default();
    let time = humantime::format_rfc3339_seconds(UNIX_EPOCH + Duration::from_secs(seconds)).to_string();
    time.split('T').next().unwrap_or_default().to_owned()
}

/// The cases of one commit with the files that they were cut from.
struct FoundCommit<'a> {
    commit: &'a Commit,
    files: Vec<FileChange>,
    cases: Vec<Case>,
}

struct Miner<'a> {
    root: &'a Path,
    seed: u64,
    scenarios: &'a [Scenario],
    /// Time of the newest commit of the range.
    newest: i64,
    /// Key of the authors' hashes; `None` without a data folder.
    author_key: Option<HashKey>,
    repository: &'a str,
    answer: PerfectAnswer,
}

impl Miner<'_> {
    /// Returns up to `wanted` cases of the commits, and the number of examined commits.
    fn find<'a>(
        &self,
        history: &mut GitHistory,
        commits: &[&'a Commit],
        wanted: usize,
        left_out: &mut LeftOut,
    ) -> anyhow::Result<(Vec<FoundCommit<'a>>, usize)> {
        let progress = Progress::new("examined", "commits");
        let mut admitted = Admissions::new(self.root);
        let (mut found, mut seen, mut number, mut examined) = (Vec::new(), HashSet::new(), 0, 0);
        for batch in commits.chunks(BATCH) {
            let mut read = Vec::new();
            for (commit, changes) in batch.iter().zip(history.changes(batch)?) {
                let ReadFiles { files, skipped, is_too_large } = read_files(history, &mut admitted, changes)?;
                if is_too_large {
                    left_out.commits.entry("over_200_files").or_default().add_assign(1);
                }
                skipped.into_iter().for_each(|reason| left_out.skip(reason));
                read.push((*commit, files));
            }
            let cut: Vec<(FoundCommit<'_>, CutCounts)> =
                read.into_par_iter().map(|(commit, files)| self.cut(commit, files)).collect();
            for (mut commit, counts) in cut {
                if number == wanted {
                    break;
                }
                examined += 1;
                left_out.add(counts);
                commit.cases.retain(|case| seen.insert(case.id.clone()));
                commit.cases.truncate(wanted - number);
                number += commit.cases.len();
                found.push(commit);
            }
            found.retain(|commit| !commit.cases.is_empty());
            progress.set(examined as u64, commits.len() as u64);
            if number == wanted {
                break;
            }
        }
        let holes = count_holes(found.iter().flat_map(|commit| &commit.cases));
        let of = format!("{examined} of {}", count(commits.len(), "commit"));
        progress.finish(&format!("{of}: {} from {}", count(number, "case"), count(holes, "hole")));
        Ok((found, examined))
    }

    /// Cuts the cases of a commit whose right answers are shown unchanged.
    fn cut<'a>(&self, commit: &'a Commit, files: Vec<FileChange>) -> (FoundCommit<'a>, CutCounts) {
        let origin = Origin {
            repository: Some(self.repository.to_owned()),
            commit: commit.parent.clone(),
            ..Origin::new(OriginKind::History, commit.parent.as_deref().unwrap_or_default())
        };
        let tags = self.tags(commit);
        let cut = commit_cases(&CommitFiles { id: &commit.id, files: &files, origin, tags }, self.seed);
        let CommitCases { mut cases, left_out, is_formatting, hunks: _ } = cut;
        let mut counts = CutCounts { is_formatting, ..CutCounts::default() };
        for (reason, number) in left_out {
            counts.hunks.entry(reason.name()).or_default().add_assign(number);
        }
        cases.retain_mut(|case| {
            let reason = if !self.scenarios.is_empty() && !self.scenarios.contains(&case.scenario()) {
                "other_scenario"
            } else {
                let secrets = cases::redact_case(case);
                if self.answer.is_shown(case) {
                    counts.secrets += secrets;
                    return true;
                }
                "not_shown_whole"
            };
            counts.hunks.entry(reason).or_default().add_assign(1);
            false
        });
        (FoundCommit { commit, files, cases }, counts)
    }

    fn tags(&self, commit: &Commit) -> Tags {
        let age = (self.newest - commit.time).max(0) / DAY_S;
        let mut tags = Tags::from([
            (COMMIT_TAG.to_owned(), commit.id.clone()),
            (DATE_TAG.to_owned(), date(commit.time)),
            (AGE_TAG.to_owned(), age.to_string()),
        ]);
        let address = commit.author.to_lowercase();
        let author = self.author_key.as_ref().map(|key| key.hash("author", address.as_bytes()));
        tags.extend(author.map(|author| (AUTHOR_TAG.to_owned(), author)));
        tags
    }

    /// Gives the cases their context, in the order of the commits, oldest first: neighbours share most of their files.
    fn add_contexts(&self, history: &mut GitHistory, found: &mut [FoundCommit<'_>]) -> anyhow::Result<()> {
        let progress = Progress::new("retrieved", "contexts");
        found.sort_by(|one, other| {
            (one.commit.time, &one.commit.id).cmp(&(other.commit.time, &other.commit.id))
        });
        let total: usize = found.iter().map(|commit| commit.cases.len()).sum();
        let mut tree = FollowedTree {
            admitted: Admissions::new(self.root),
            objects: BTreeMap::new(),
            tree: HistoryTree::default(),
        };
        let mut done = 0;
        for commit in found {
            tree.move_to(history, commit.commit.parent.as_deref())?;
            let context = tree.tree.commit(&commit.files);
            commit.cases.par_iter_mut().for_each(|case| context.add_to(case));
            done += commit.cases.len();
            progress.set(done as u64, total as u64);
        }
        progress.finish(&count(total, "context"));
        Ok(())
    }
}

/// Counts of one commit.
#[derive(Default)]
struct CutCounts {
    is_formatting: bool,
    hunks: BTreeMap<&'static str, usize>,
    secrets: usize,
}

impl LeftOut {
    fn add(&mut self, counts: CutCounts) {
        if counts.is_formatting {
            self.commits.entry("formatting").or_default().add_assign(1);
        }
        for (reason, number) in counts.hunks {
            self.hunks.entry(reason).or_default().add_assign(number);
        }
        self.secrets += counts.secrets;
    }

    fn skip(&mut self, reason: SkipReason) {
        self.files.entry(reason.name()).or_default().add_assign(1);
    }
}

/// An index that moves from tree to tree and reads only the files that differ.
struct FollowedTree<'a> {
    admitted: Admissions<'a>,
    /// The objects of all files of the tree, by path.
    objects: BTreeMap<String, String>,
    tree: HistoryTree,
}

impl FollowedTree<'_> {
    /// Moves to the tree of a commit; `None` is the empty one.
    fn move_to(&mut self, history: &mut GitHistory, commit: Option<&str>) -> anyhow::Result<()> {
        let listed = commit.map_or_else(|| Ok(Vec::new()), |commit| history.files(commit))?;
        let objects: BTreeMap<String, String> =
            listed.into_iter().filter(|(path, _)| self.admitted.refusal(path).is_none()).collect();
        let (mut changed, mut manifests, mut removed) = (Vec::new(), Vec::new(), Vec::new());
        let mut bytes = 0;
        for (path, id) in &objects {
            if self.objects.get(path) == Some(id) {
                continue;
            }
            match history.read(path, id)? {
                // As in a workspace, files beyond the limit are left out in the order of their paths.
                Ok(BlobText::Source(file)) if bytes + file.text.len() as u64 <= ReadLimits::TOTAL_BYTES => {
                    bytes += file.text.len() as u64;
                    changed.push(file);
                }
                Ok(BlobText::Manifest(manifest)) => manifests.push(manifest),
                Ok(BlobText::Source(_)) | Err(_) => removed.push(Arc::from(&**path)),
            }
        }
        let gone = self.objects.keys().filter(|path| !objects.contains_key(*path));
        removed.extend(gone.map(|path| Arc::from(&**path)));
        self.tree.apply(changed, manifests, &removed);
        self.objects = objects;
        Ok(())
    }
}
