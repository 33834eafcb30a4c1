//! Real sources, as many lines of them as are asked for, and questions as an editor asks them.

use std::fs;
use std::path::{Path, PathBuf};

use index::{Term, identifiers};
use rustc_hash::FxHashMap;
use syntax::{Language, SourceFile};

/// Folders with sources; this repository's own code if it is not set.
const SOURCES: &str = "GHOSTBENCH_SOURCES";
/// Larger files are generated.
const MAX_BYTES: usize = 1 << 20;
/// Longer lines are data.
const MAX_LINE_BYTES: usize = 5_000;

/// All sources, in the order of their paths.
pub(crate) fn read() -> Vec<SourceFile> {
    let roots: Vec<PathBuf> = std::env::var_os(SOURCES).map_or_else(
        || vec![Path::new(env!("CARGO_MANIFEST_DIR")).join("..")],
        |roots| std::env::split_paths(&roots).collect(),
    );
    let mut files = Vec::new();
    roots.iter().for_each(|root| collect(root, &mut files));
    files
}

fn collect(folder: &Path, files: &mut Vec<SourceFile>) {
    let mut entries: Vec<PathBuf> =
        fs::read_dir(folder).into_iter().flatten().flatten().map(|entry| entry.path()).collect();
    entries.sort();
    for path in entries {
        if path.is_dir() && !path.is_symlink() {
            collect(&path, files);
        } else if let Some(file) = read_source(&path) {
            files.push(file);
        }
    }
}

fn read_source(path: &Path) -> Option<SourceFile> {
    let name = path.to_str()?;
    let language = Language::from_path(name)?;
    let text = fs::read_to_string(path).ok().filter(|text| text.len() <= MAX_BYTES)?;
    let is_written = text.lines().all(|line| line.len() <= MAX_LINE_BYTES);
    is_written.then(|| SourceFile { path: name.into(), language, text: text.into() })
}

/// The first files that have so many lines together; `None` if there are not enough.
pub(crate) fn first_lines(files: &[SourceFile], lines: usize) -> Option<&[SourceFile]> {
    let mut total = 0;
    let count = files.iter().position(|file| {
        total += file.text.lines().count();
        total >= lines
    })?;
    Some(&files[..=count])
}

/// Lines and bytes.
pub(crate) fn size(files: &[SourceFile]) -> (usize, usize) {
    let lines = files.iter().map(|file| file.text.lines().count()).sum();
    (lines, files.iter().map(|file| file.text.len()).sum())
}

/// A question at a cursor.
pub(crate) struct LexicalQuery {
    /// The file of the cursor, in which nothing is searched.
    pub(crate) path: String,
    pub(crate) terms: Vec<(Term, f32)>,
}

/// Lines before and after the cursor that are asked with.
const BEFORE: usize = 40;
const AFTER: usize = 25;
/// A line weighs e times less than one this many lines nearer to the cursor.
const DECAY_LINES: f32 = 6.0;
const AFTER_WEIGHT: f32 = 0.5;
const PART_WEIGHT: f32 = 0.35;

/// Questions, each in the middle of a file, in files spread over all.
pub(crate) fn lexical_queries(files: &[SourceFile], count: usize) -> Vec<LexicalQuery> {
    let long: Vec<&SourceFile> = files.iter().filter(|file| file.text.lines().count() > 2 * BEFORE).collect();
    let step = (long.len() / count).max(1);
    long.iter().step_by(step).take(count).map(|file| lexical_query(file)).collect()
}

fn lexical_query(file: &SourceFile) -> LexicalQuery {
    let lines: Vec<&str> = file.text.lines().collect();
    let (before, after) = lines.split_at(lines.len() / 2);
    let mut weights = FxHashMap::<Term, f32>::default();
    let mut add = |line: &str, weight: f32| {
        for name in identifiers(file.language, line) {
            *weights.entry(Term::identifier(name)).or_default() += weight;
            for part in Term::parts(name) {
                *weights.entry(part).or_default() += PART_WEIGHT * weight;
            }
        }
    };
    for (line, distance) in before.iter().rev().take(BEFORE).zip(0_u8..) {
        add(line, (-f32::from(distance) / DECAY_LINES).exp());
    }
    for (line, distance) in after.iter().take(AFTER).zip(0_u8..) {
        add(line, AFTER_WEIGHT * (-f32::from(distance) / DECAY_LINES).exp());
    }
    let mut terms: Vec<(Term, f32)> = weights.into_iter().collect();
    terms.sort_unstable_by_key(|(term, _)| *term);
    LexicalQuery { path: file.path.to_string(), terms }
}
