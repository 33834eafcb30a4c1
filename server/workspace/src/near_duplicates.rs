//! Files that are largely the same text: copies, forks and old versions.
//!
//! A case's truth may stand word for word in a copy of its file, so results are reported with such files kept and hidden.

use std::collections::BTreeMap;
use std::hash::{DefaultHasher, Hash, Hasher};
use std::sync::Arc;

use syntax::{Language, SourceFile};

/// From this share of common lines on, one file counts as a copy of the other.
const NEAR_DUPLICATE_SHARE: f64 = 0.4;

/// Fewer common lines are imports and boilerplate, unless they are all that a file has.
const MIN_COMMON_LINES: usize = 5;

/// Shorter lines (`}`, `else:`, `return x`) stand in every file.
const MIN_LINE_CHARACTERS: usize = 10;

/// A file that is largely the same as another.
#[derive(Clone, Debug, PartialEq)]
pub struct NearDuplicate {
    /// Path of the copy.
    pub path: Arc<str>,
    /// Common lines over the lines of the shorter of both files, 0 to 1.
    pub share: f64,
}

/// Answers, for the files it was built from, which others are largely the same.
///
/// Lines are compared without their indentation, as sets; comments, blank and trivial lines do not count.
#[derive(Clone, Debug)]
pub struct NearDuplicates {
    /// In the order of their paths.
    files: Vec<Lines>,
    /// Every line of every file as (hash, position of the file), sorted.
    places: Vec<(u64, u32)>,
}

#[derive(Clone, Debug)]
struct Lines {
    path: Arc<str>,
    /// Sorted and distinct.
    hashes: Box<[u64]>,
}

impl NearDuplicates {
    /// Takes the files of a snapshot, in the order of their paths.
    pub fn new(files: &[SourceFile]) -> NearDuplicates {
        let files: Vec<Lines> = files.iter().map(Lines::new).collect();
        let mut places: Vec<(u64, u32)> = (0_u32..)
            .zip(&files)
            .flat_map(|(position, file)| file.hashes.iter().map(move |&hash| (hash, position)))
            .collect();
        places.sort_unstable();
        NearDuplicates { files, places }
    }

    /// The near duplicates of the file at `path`, in the order of their paths. Common lines are measured against the shorter file,
    /// so a copied part shows from both sides.
    pub fn of(&self, path: &str) -> Vec<NearDuplicate> {
        let Ok(position) = self.files.binary_search_by(|file| (*file.path).cmp(path)) else {
            return Vec::new();
        };
        let own = &self.files[position].hashes;
        let mut common = BTreeMap::<usize, usize>::new();
        for &hash in own {
            for other in self.files_with(hash) {
                *common.entry(other).or_default() += 1;
            }
        }
        common.remove(&position);
        common
            .into_iter()
            .filter_map(|(other, common)| near_duplicate(own, &self.files[other], common))
            .collect()
    }

    fn files_with(&self, hash: u64) -> impl Iterator<Item = usize> {
        let start = self.places.partition_point(|&(other, _)| other < hash);
        self.places[start..]
            .iter()
            .take_while(move |&&(other, _)| other == hash)
            .map(|&(_, file)| file as usize)
    }
}

fn near_duplicate(own: &[u64], other: &Lines, common: usize) -> Option<NearDuplicate> {
    let shorter = own.len().min(other.hashes.len());
    let share = common as f64 / shorter as f64;
    let is_copy = share >= NEAR_DUPLICATE_SHARE && common >= MIN_COMMON_LINES.min(own.len());
    is_copy.then(|| NearDuplicate { path: other.path.clone(), share })
}

impl Lines {
    fn new(file: &SourceFile) -> Lines {
        let mut hashes: Vec<u64> =
            file.text.lines().map(str::trim).filter(|line| counts(line, file.language)).map(hash).collect();
        hashes.sort_unstable();
        hashes.dedup();
        Lines { path: file.path.clone(), hashes: hashes.into() }
    }
}

/// Whether a trimmed line says enough to be recognised. Comments do not: a licence stands in every file.
fn counts(line: &str, language: Language) -> bool {
    !language.is_comment_line(line) && line.chars().nth(MIN_LINE_CHARACTERS - 1).is_some()
}

/// Equal on every run: this hasher starts from fixed keys.
fn hash(line: &str) -> u64 {
    let mut hasher = DefaultHasher::new();
    line.hash(&mut hasher);
    hasher.finish()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn file(path: &str, text: &str) -> SourceFile {
        SourceFile { path: path.into(), language: Language::Python, text: text.into() }
    }

    /// Lines `first_number = 0` and so on, after a licence and with lines that say nothing.
    fn lines(numbers: std::ops::Range<usize>) -> String {
        let body: String =
            numbers.map(|number| format!("    number_{number} = {number}\n    else:\n")).collect();
        format!("{}{body}", "# Copyright of the licence holders, all rights reserved\n".repeat(3))
    }

    #[track_caller]
    fn check(files: &[SourceFile], of: &str, expected: &[(&str, f64)]) {
        let found = NearDuplicates::new(files).of(of);
        let found: Vec<(&str, f64)> = found.iter().map(|copy| (&*copy.path, copy.share)).collect();
        assert_eq!(found, expected);
    }

    #[test]
    fn files_sharing_forty_percent_of_their_lines_are_near_duplicates() {
        let files = [file("a.py", &lines(0..20)), file("b.py", &lines(12..32)), file("c.py", &lines(13..33))];
        check(&files, "a.py", &[("b.py", 0.4)]);
        check(&files, "b.py", &[("a.py", 0.4), ("c.py", 0.95)]);
    }

    #[test]
    fn a_part_copied_whole_shows_from_both_sides() {
        let files = [file("a.py", &lines(0..100)), file("b.py", &lines(90..100))];
        check(&files, "a.py", &[("b.py", 1.0)]);
        check(&files, "b.py", &[("a.py", 1.0)]);
    }

    #[test]
    fn a_few_common_lines_and_licences_make_no_copy() {
        let files = [file("a.py", &lines(0..30)), file("b.py", &lines(0..4)), file("c.py", &lines(50..60))];
        check(&files, "a.py", &[]);
        check(&files, "c.py", &[]);
        check(&files, "b.py", &[("a.py", 1.0)]);
    }

    #[test]
    fn empty_and_unknown_files_have_none() {
        let files = [file("a.py", ""), file("b.py", "")];
        check(&files, "a.py", &[]);
        check(&files, "z.py", &[]);
    }
}
