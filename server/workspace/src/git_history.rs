//! The commits of a git repository, and the files in them.
//!
//! Reads with git's plumbing commands, which run no hooks, no filters and no programs for diffs, and have fixed output. Everything
//! below the given folder is visible, at paths relative to it. Sizes are bounded: a file beyond [`ReadLimits::FILE_BYTES`] is
//! skipped, and of a commit at most [`MAX_CHANGED_FILES`] files are listed.
//!
//! Never checks anything out, never fetches, and never writes.

use std::io::{self, BufRead, BufReader, Read, Write};
use std::path::{Path, PathBuf};
use std::process::{Child, ChildStdin, ChildStdout, Stdio};
use std::sync::Arc;
use std::time::Duration;

use syntax::{Manifest, SourceFile};
use thiserror::Error;

use crate::git::git_command;
use crate::read_files::judge_bytes;
use crate::walk::{FileKind, file_kind};
use crate::{ReadLimits, SkipReason};

/// Maximum number of commits of a range: ten times the largest histories of single projects.
const MAX_COMMITS: usize = 10_000_000;

/// Maximum number of listed files of a commit. Commits with more import, rename or reformat code.
pub const MAX_CHANGED_FILES: usize = 200;

/// Maximum length of a line or path in git's output, in bytes.
const MAX_FIELD_BYTES: u64 = 1 << 16;

/// A commit.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Commit {
    /// Full hash.
    pub id: String,
    /// Hash of the first parent; `None` for the first commit of a history.
    pub parent: Option<String>,
    /// Whether it has several parents.
    pub is_merge: bool,
    /// Seconds since 1970 at which it was written or committed, whichever was first.
    pub time: i64,
    /// E-mail address of the author.
    pub author: String,
}

/// A changed file of a commit.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct BlobChange {
    /// Path after the commit, or before it if the file was removed.
    pub path: String,
    /// Path before the commit, if it was another one.
    pub old_path: Option<String>,
    /// Object with the text before; `None` if there was no regular file.
    pub before: Option<String>,
    /// Object with the text after; `None` if there is no regular file.
    pub after: Option<String>,
}

/// The changed files of a commit in the order of their paths.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct CommitChanges {
    /// At most [`MAX_CHANGED_FILES`]. Files whose path is not UTF-8 or leaves the root are missing.
    pub files: Vec<BlobChange>,
    /// Whether there are more.
    pub is_truncated: bool,
}

/// The text of a file in a commit.
#[derive(Clone, Debug)]
pub enum BlobText {
    /// Source code.
    Source(SourceFile),
    /// A manifest.
    Manifest(Manifest),
}

/// Reason why a history cannot be read.
#[derive(Debug, Error)]
pub enum GitHistoryError {
    /// The git command cannot be started.
    #[error("cannot start git; install it to read a history")]
    Start {
        /// The system's error.
        source: io::Error,
    },
    /// The folder does not belong to a repository.
    #[error("{} is not in a git repository that git can read: {reason}", path.display())]
    NoRepository {
        /// The folder.
        path: PathBuf,
        /// Git's message.
        reason: String,
    },
    /// The range is not one of the repository's.
    #[error(
        "`{range}` is not a range of commits: {reason}; use one such as HEAD, v1.0..HEAD or HEAD~100..HEAD, after the folder"
    )]
    Range {
        /// The requested range.
        range: String,
        /// Git's message.
        reason: String,
    },
    /// Git ended early or printed something unexpected.
    #[error("git {command} failed: {reason}")]
    Failed {
        /// The git command.
        command: &'static str,
        /// Its message, or the problem of its output.
        reason: String,
    },
}

/// Reads the history of a repository.
#[derive(Debug)]
pub struct GitHistory {
    root: PathBuf,
    is_shallow: bool,
    objects: ObjectReader,
}

impl GitHistory {
    /// Opens the repository around the folder `root`.
    pub fn open(root: &Path) -> Result<GitHistory, GitHistoryError> {
        let shallow = run(root, "rev-parse", &["--is-shallow-repository"]).map_err(|error| match error {
            GitHistoryError::Failed { reason, .. } => {
                GitHistoryError::NoRepository { path: root.to_owned(), reason }
            }
            other => other,
        })?;
        let objects = ObjectReader::start(root)?;
        Ok(GitHistory { root: root.to_owned(), is_shallow: shallow.trim() == "true", objects })
    }

    /// Whether the clone lacks the parents of some commits; these seem to have none.
    pub fn is_shallow(&self) -> bool {
        self.is_shallow
    }

    /// Returns the commits of a range as `git rev-list` understands it, newest first.
    pub fn commits(&self, range: &str) -> Result<Vec<Commit>, GitHistoryError> {
        let not_a_range = |reason: String| GitHistoryError::Range { range: range.to_owned(), reason };
        if range.starts_with('-') {
            return Err(not_a_range("it begins with `-`".to_owned()));
        }
        let count = format!("--max-count={MAX_COMMITS}");
        let args = [&*count, "--format=%H%x00%P%x00%at%x00%ct%x00%ae", range, "--"];
        let listed = run(&self.root, "rev-list", &args).map_err(|error| match error {
            GitHistoryError::Failed { reason, .. } => not_a_range(reason),
            other => other,
        })?;
        // Each commit has a line of its own before the requested one.
        Ok(listed.lines().filter_map(commit).collect())
    }

    /// Returns the changes of commits from their first parents, in the order of the commits.
    pub fn changes(&self, commits: &[&Commit]) -> Result<Vec<CommitChanges>, GitHistoryError> {
        const COMMAND: &str = "diff-tree";
        let mut child = git_command(&self.root)
            .arg(COMMAND)
            .args(["--stdin", "-r", "--raw", "-z", "--root", "--relative", "--no-abbrev"])
            .args(["-M", "-l400", "--no-ext-diff", "--no-textconv", "--ignore-submodules=all"])
            .stdin(Stdio::piped())
            .spawn()
            .map_err(|source| GitHistoryError::Start { source })?;
        let ids: String = commits.iter().map(|commit| format!("{}\n", commit.id)).collect();
        let written = child.stdin.take().map(|mut stdin| stdin.write_all(ids.as_bytes()));
        let mut fields = Fields(BufReader::new(child.stdout.take().ok_or_else(|| no_pipe(COMMAND))?));
        let found = fields.changes(commits);
        let succeeded = child.wait().is_ok_and(|status| status.success());
        match found {
            Ok(changes) if succeeded && written.is_some_and(|written| written.is_ok()) => Ok(changes),
            Err(error) => Err(failed(COMMAND, &error)),
            Ok(_) => Err(failed(COMMAND, &"it ended early")),
        }
    }

    /// Returns the paths of all regular files of a commit with their objects, in the order of their paths.
    pub fn files(&self, commit: &str) -> Result<Vec<(String, String)>, GitHistoryError> {
        let listed = run(&self.root, "ls-tree", &["-r", "-z", commit])?;
        let file = |entry: &str| {
            let (meta, path) = entry.split_once('\t')?;
            let mut meta = meta.split(' ');
            let is_regular = meta.next().is_some_and(is_regular);
            let id = meta.nth(1).filter(|_| is_regular && is_plain(path))?;
            Some((path.to_owned(), id.to_owned()))
        };
        let mut files: Vec<(String, String)> = listed.split('\0').filter_map(file).collect();
        files.sort_unstable();
        Ok(files)
    }

    /// Returns the time since 1970 at which a commit was made; amending and rebasing make another one.
    pub fn committed_at(&self, commit: &str) -> Result<Duration, GitHistoryError> {
        const COMMAND: &str = "rev-list";
        let listed = run(&self.root, COMMAND, &["--max-count=1", "--format=%ct", commit, "--"])?;
        // Each commit has a line of its own before the requested one.
        let seconds = listed.lines().nth(1).and_then(|line| line.parse().ok());
        seconds.map(Duration::from_secs).ok_or_else(|| failed(COMMAND, &"it reports no time"))
    }

    /// Returns the text of the file at `path`, relative to the root, in a commit; `None` if it is not in it, or a workspace would skip it.
    pub fn read_at(&mut self, commit: &str, path: &str) -> Result<Option<Arc<str>>, GitHistoryError> {
        // The protocol separates requests by lines.
        if !is_plain(path) || path.contains('\n') || !commit.bytes().all(|byte| byte.is_ascii_hexdigit()) {
            return Ok(None);
        }
        let text = self.read(path, &format!("{commit}:./{path}"))?;
        Ok(text.ok().map(|text| match text {
            BlobText::Source(file) => file.text.to_arc(),
            BlobText::Manifest(manifest) => manifest.text,
        }))
    }

    /// Returns the text of an object as the file at `path`; the inner error is the reason why a workspace would skip it.
    pub fn read(&mut self, path: &str, id: &str) -> Result<Result<BlobText, SkipReason>, GitHistoryError> {
        let kind = match file_kind(path) {
            Ok(kind) => kind,
            Err(reason) => return Ok(Err(reason)),
        };
        let bytes = match self.objects.read(id).map_err(|error| failed("cat-file", &error))? {
            Ok(bytes) => bytes,
            Err(reason) => return Ok(Err(reason)),
        };
        let text = judge_bytes(bytes, kind, &ReadLimits::standard());
        Ok(text.map(|hashed| match kind {
            FileKind::Source(language) => {
                BlobText::Source(SourceFile { path: Arc::from(path), language, text: hashed.text })
            }
            FileKind::Manifest => {
                BlobText::Manifest(Manifest { path: Arc::from(path), text: hashed.text.to_arc() })
            }
        }))
    }
}

/// Parses a line of the requested format.
fn commit(line: &str) -> Option<Commit> {
    let mut fields = line.split('\0');
    let (id, parents) = (fields.next()?, fields.next()?);
    let mut time = || fields.next().and_then(|seconds| seconds.parse::<i64>().ok());
    let (written, committed) = (time()?, time()?);
    let mut parents = parents.split_whitespace();
    let parent = parents.next().map(str::to_owned);
    Some(Commit {
        id: id.to_owned(),
        parent,
        is_merge: parents.next().is_some(),
        time: written.min(committed),
        author: fields.next()?.to_owned(),
    })
}

/// Whether a mode is that of a file, not of a link, a submodule or a folder.
fn is_regular(mode: &str) -> bool {
    mode.starts_with("100")
}

/// Whether a path stays below its root. Git checks the paths that it creates, but not those of damaged trees. A name that is not
/// UTF-8 has been replaced.
fn is_plain(path: &str) -> bool {
    !path.contains(char::REPLACEMENT_CHARACTER)
        && path.split('/').all(|part| !matches!(part, "" | "." | ".."))
}

/// The output of `diff-tree -z`: fields that end with a NUL.
struct Fields<R>(BufReader<R>);

impl<R: Read> Fields<R> {
    /// Reads the changes of all commits. A commit without changes is not in the output.
    fn changes(&mut self, commits: &[&Commit]) -> io::Result<Vec<CommitChanges>> {
        let mut all = vec![CommitChanges::default(); commits.len()];
        let mut current = None;
        while let Some(field) = self.next()? {
            let Some(meta) = field.strip_prefix(b":") else {
                current = commits.iter().position(|commit| commit.id.as_bytes() == field);
                continue;
            };
            let meta = String::from_utf8_lossy(meta).into_owned();
            let words: Vec<&str> = meta.split(' ').collect();
            let &[old_mode, mode, before, after, status] = &*words else {
                return Err(io::Error::other("unexpected output"));
            };
            let first = self.path()?;
            let second = if status.starts_with(['R', 'C']) { Some(self.path()?) } else { None };
            let Some(changes) = current.and_then(|place: usize| all.get_mut(place)) else { continue };
            let (old_path, path) = match second {
                Some(second) => (first, second),
                None => (None, first),
            };
            let Some(path) = path else { continue };
            if changes.files.len() == MAX_CHANGED_FILES {
                changes.is_truncated = true;
                continue;
            }
            changes.files.push(BlobChange {
                path,
                old_path,
                before: is_regular(old_mode).then(|| before.to_owned()),
                after: is_regular(mode).then(|| after.to_owned()),
            });
        }
        all.iter_mut().for_each(|changes| changes.files.sort_by(|one, other| one.path.cmp(&other.path)));
        Ok(all)
    }

    /// Returns the next path; `None` if it is not UTF-8.
    fn path(&mut self) -> io::Result<Option<String>> {
        let field = self.next()?.ok_or_else(|| io::Error::other("a path is missing"))?;
        Ok(String::from_utf8(field).ok().filter(|path| is_plain(path)))
    }

    fn next(&mut self) -> io::Result<Option<Vec<u8>>> {
        let mut field = Vec::new();
        self.0.by_ref().take(MAX_FIELD_BYTES).read_until(0, &mut field)?;
        match field.pop() {
            None => Ok(None),
            Some(0) => Ok(Some(field)),
            Some(_) => Err(io::Error::other("a field is too long")),
        }
    }
}

/// A running `git cat-file --batch`: objects by their ids.
#[derive(Debug)]
struct ObjectReader {
    child: Child,
    requests: ChildStdin,
    objects: BufReader<ChildStdout>,
}

impl ObjectReader {
    fn start(root: &Path) -> Result<ObjectReader, GitHistoryError> {
        const COMMAND: &str = "cat-file";
        let mut child = git_command(root)
            .args([COMMAND, "--batch"])
            .stdin(Stdio::piped())
            .spawn()
            .map_err(|source| GitHistoryError::Start { source })?;
        let (requests, objects) = (child.stdin.take(), child.stdout.take());
        let (Some(requests), Some(objects)) = (requests, objects) else { return Err(no_pipe(COMMAND)) };
        Ok(ObjectReader { child, requests, objects: BufReader::new(objects) })
    }

    /// Returns the bytes of an object; the inner error is the reason to skip it.
    fn read(&mut self, id: &str) -> io::Result<Result<Vec<u8>, SkipReason>> {
        writeln!(self.requests, "{id}")?;
        self.requests.flush()?;
        let mut header = String::new();
        self.objects.by_ref().take(MAX_FIELD_BYTES).read_line(&mut header)?;
        let mut words = header.split_whitespace().skip(1);
        let (Some(_kind), Some(size)) = (words.next(), words.next()) else {
            // A shallow or partial clone lacks objects.
            return match header.is_empty() {
                true => Err(io::ErrorKind::UnexpectedEof.into()),
                false => Ok(Err(SkipReason::Unreadable)),
            };
        };
        let size: u64 = size.parse().map_err(io::Error::other)?;
        if size > ReadLimits::FILE_BYTES {
            io::copy(&mut self.objects.by_ref().take(size + 1), &mut io::sink())?;
            return Ok(Err(SkipReason::Oversized));
        }
        let mut bytes = Vec::new();
        self.objects.by_ref().take(size + 1).read_to_end(&mut bytes)?;
        match bytes.pop() {
            Some(b'\n') if bytes.len() as u64 == size => Ok(Ok(bytes)),
            _ => Err(io::ErrorKind::UnexpectedEof.into()),
        }
    }
}

impl Drop for ObjectReader {
    fn drop(&mut self) {
        // It may just have exited.
        drop(self.child.kill());
        drop(self.child.wait());
    }
}

/// Runs git and returns its output. Bytes that are not UTF-8, possible in names and paths, are replaced.
fn run(root: &Path, command: &'static str, args: &[&str]) -> Result<String, GitHistoryError> {
    let output = git_command(root)
        .arg(command)
        .args(args)
        .stderr(Stdio::piped())
        .output()
        .map_err(|source| GitHistoryError::Start { source })?;
    if !output.status.success() {
        return Err(failed(command, &first_line(&output.stderr)));
    }
    Ok(String::from_utf8_lossy(&output.stdout).into_owned())
}

/// Returns the first line of git's message without its prefix; further lines are hints for interactive use.
fn first_line(stderr: &[u8]) -> String {
    let text = String::from_utf8_lossy(stderr);
    let line = text.lines().find(|line| !line.trim().is_empty()).unwrap_or("no message");
    line.trim_start_matches("fatal: ").trim_start_matches("error: ").to_owned()
}

fn failed(command: &'static str, reason: &dyn std::fmt::Display) -> GitHistoryError {
    GitHistoryError::Failed { command, reason: reason.to_string() }
}

fn no_pipe(command: &'static str) -> GitHistoryError {
    failed(command, &"it has no pipe")
}

#[cfg(test)]
mod tests;
