//! Limit of a corpus: which files have room if not all of them do.
//!
//! The order depends on the files and the limit only, so a corpus holds the same files after any history.

use std::fmt;
use std::sync::Arc;

use syntax::SourceFile;

use crate::corpus::Corpus;

/// Lower bound of the bytes per token in source code. A workspace with fewer bytes than the limit allows certainly fits.
pub(crate) const MIN_TOKEN_BYTES: usize = 3;
/// Directories of vendored or generated code, which is excluded first.
const VENDORED_DIRECTORIES: [&str; 8] =
    ["vendor", "third_party", "thirdparty", "3rdparty", "external", "generated", "gen", "node_modules"];

/// Limit of a corpus.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct CorpusLimit {
    /// Maximum number of tokens.
    pub tokens: usize,
    /// Directories in which the user works, relative to the workspace; without any, its root. Code near them is held first.
    pub near: Vec<Arc<str>>,
}

/// The default number of tokens, with the code nearest to the root first.
impl Default for CorpusLimit {
    fn default() -> CorpusLimit {
        CorpusLimit { tokens: Corpus::MAX_TOKENS, near: Vec::new() }
    }
}

impl CorpusLimit {
    /// Returns the files in the order in which they get room: vendored code last, then the nearest directories and the smallest
    /// files first. If all certainly fit, the order does not matter.
    pub(crate) fn in_admission_order<'f>(&self, files: &'f [SourceFile]) -> Vec<&'f SourceFile> {
        let mut files: Vec<&SourceFile> = files.iter().collect();
        let bytes: usize = files.iter().map(|file| file.text.len()).sum();
        if bytes / MIN_TOKEN_BYTES > self.tokens {
            files.sort_by_cached_key(|file| {
                let is_vendored = file.path.split('/').any(|part| VENDORED_DIRECTORIES.contains(&part));
                (is_vendored, self.distance(&file.path), file.text.len(), Arc::clone(&file.path))
            });
        }
        files
    }

    /// Returns the number of steps between the directory of a file and the nearest one in which the user works.
    fn distance(&self, path: &str) -> usize {
        let directory = path.rsplit_once('/').map_or("", |(directory, _)| directory);
        let nearest = self.near.iter().map(|near| steps_between(near, directory)).min();
        nearest.unwrap_or_else(|| steps_between("", directory))
    }
}

/// Returns the number of steps up and down from one directory to another.
fn steps_between(one: &str, other: &str) -> usize {
    let [one, other] = [one, other].map(|directory| directory.split('/').filter(|part| !part.is_empty()));
    let common = one.clone().zip(other.clone()).take_while(|(one, other)| one == other).count();
    one.count() + other.count() - 2 * common
}

/// Share of a workspace's tokens that a corpus holds.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct TokenCoverage {
    /// Number of tokens that it holds.
    pub held: usize,
    /// Number of tokens of all files: an estimate by their bytes if some are excluded, which are not lexed.
    pub total: usize,
    /// Number of files without room.
    pub excluded_files: usize,
}

impl TokenCoverage {
    /// Returns the share of the tokens that is held, from 0 to 1.
    pub fn share(&self) -> f64 {
        self.held as f64 / self.total.max(1) as f64
    }
}

impl fmt::Display for TokenCoverage {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let millions = |tokens: usize| tokens as f64 / 1e6;
        let (held, total, percent) = (millions(self.held), millions(self.total), 100.0 * self.share());
        write!(f, "{held:.1} of about {total:.1} million tokens ({percent:.0} %)")
    }
}

#[cfg(test)]
mod tests {
    use syntax::Language;

    use super::*;

    #[test]
    fn steps_lead_over_the_common_directory() {
        for (one, other, steps) in [
            ("", "", 0),
            ("", "a/b", 2),
            ("a/b", "a/b", 0),
            ("a/b", "a/c/d", 3),
            ("ab", "a", 2),
            ("a", "", 1),
        ] {
            assert_eq!(steps_between(one, other), steps, "{one} {other}");
            assert_eq!(steps_between(other, one), steps, "{other} {one}");
        }
    }

    /// Returns the paths in the order in which they get room in too small a corpus.
    fn order(near: &[&str]) -> String {
        let paths = ["x.c", "net/a.c", "net/ipv4/b.c", "fs/c.c", "fs/vendor/d.c", "fs/ext4/e.c"];
        let files = paths.map(|path| SourceFile {
            path: path.into(),
            language: Language::C,
            // Longer paths have shorter texts.
            text: "x;\n".repeat(40 - path.len()).into(),
        });
        let limit = CorpusLimit { tokens: 1, near: near.iter().map(|&near| near.into()).collect() };
        limit.in_admission_order(&files).iter().map(|file| &*file.path).collect::<Vec<_>>().join(" ")
    }

    #[test]
    fn nearest_code_is_first_and_vendored_code_last() {
        assert_eq!(order(&[]), "x.c net/a.c fs/c.c net/ipv4/b.c fs/ext4/e.c fs/vendor/d.c");
        assert_eq!(order(&["net/ipv4"]), "net/ipv4/b.c net/a.c x.c fs/c.c fs/ext4/e.c fs/vendor/d.c");
        assert_eq!(order(&["fs/ext4", "net"]), "fs/ext4/e.c net/a.c net/ipv4/b.c fs/c.c x.c fs/vendor/d.c");
    }

    #[test]
    fn coverage_names_tokens_and_their_share() {
        let coverage = TokenCoverage { held: 20_000_000, total: 31_400_000, excluded_files: 7 };
        assert_eq!(coverage.to_string(), "20.0 of about 31.4 million tokens (64 %)");
        assert_eq!(TokenCoverage::default().share(), 0.0);
    }
}
