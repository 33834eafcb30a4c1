//! Parsed files with the right answer in place. Cases that were cut from one file have the same right file, so they share one parse.

use std::collections::VecDeque;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, OnceLock, PoisonError};

use syntax::{Language, Tree};

use super::ScoringInput;

/// Maximum number of files kept. Suites list the cases of a file together, but once per scenario.
const MAX_FILES: usize = 8;
/// Maximum size of all texts kept, in bytes, except for the last one. A tree takes several times as much memory.
const MAX_BYTES: usize = 4 << 20;

/// The last files that answers were scored in. Scorers on several threads may share it.
#[derive(Debug, Default)]
pub struct RightFiles {
    /// The last used one first.
    files: Mutex<VecDeque<Arc<RightFile>>>,
    parses: AtomicUsize,
}

impl RightFiles {
    /// Returns the number of files that were parsed from scratch: at most one per case, however many answers it has.
    pub fn parses(&self) -> usize {
        self.parses.load(Ordering::Relaxed)
    }

    /// Returns the file of a case. It is parsed at its first use, at which other threads that need it wait.
    pub(super) fn file(&self, question: &ScoringInput<'_>) -> Arc<RightFile> {
        let text = with_answer(question, question.truth);
        let mut files = self.files.lock().unwrap_or_else(PoisonError::into_inner);
        let known = files.iter().position(|file| file.language == question.language && file.text == text);
        let known = known.and_then(|place| files.remove(place));
        let file = known.unwrap_or_else(|| {
            Arc::new(RightFile { language: question.language, text, tree: OnceLock::new() })
        });
        files.push_front(Arc::clone(&file));
        let bytes =
            |files: &VecDeque<Arc<RightFile>>| files.iter().map(|file| file.text.len()).sum::<usize>();
        while files.len() > MAX_FILES || (files.len() > 1 && bytes(&files) > MAX_BYTES) {
            files.pop_back();
        }
        file
    }

    /// Whether the case's `file` parses without error with `answer` in place of the right one. `None` if the right file has errors,
    /// which are then not the answer's.
    pub(super) fn parses_with(
        &self,
        file: &RightFile,
        question: &ScoringInput<'_>,
        answer: &str,
    ) -> Option<bool> {
        let tree = file
            .tree
            .get_or_init(|| {
                self.parses.fetch_add(1, Ordering::Relaxed);
                let tree = syntax::parse(file.language, &file.text);
                (!tree.has_error()).then_some(tree)
            })
            .as_ref()?;
        let parses = || !tree.has_error_after(&file.text, &with_answer(question, answer));
        Some(answer == question.truth || parses())
    }
}

/// A file with the right answer in place.
#[derive(Debug)]
pub(super) struct RightFile {
    language: Language,
    text: String,
    /// Set at its first use; `None` if the file has errors.
    tree: OnceLock<Option<Tree>>,
}

fn with_answer(question: &ScoringInput<'_>, answer: &str) -> String {
    [question.prefix, answer, question.suffix].concat()
}

#[cfg(test)]
mod tests {
    use super::*;

    const PREFIX: &str = "package p\n\nvar x = ";

    fn question(truth: &str) -> ScoringInput<'_> {
        ScoringInput { language: Language::Go, prefix: PREFIX, suffix: "\n", truth }
    }

    fn parses(files: &RightFiles, truth: &str, answer: &str) -> Option<bool> {
        let question = question(truth);
        files.parses_with(&files.file(&question), &question, answer)
    }

    #[test]
    fn cases_of_one_file_share_a_parse_and_keep_their_own_answers() {
        let files = RightFiles::default();
        let whole = question("f(1, 2)");
        let part = ScoringInput { prefix: "package p\n\nvar x = f(", suffix: ")\n", truth: "1, 2", ..whole };
        for (question, answer, expected) in
            [(whole, "g(", false), (part, "g(", false), (part, "3", true), (whole, "3", true)]
        {
            let file = files.file(&question);
            assert_eq!(files.parses_with(&file, &question, answer), Some(expected), "{answer:?}");
        }
        assert_eq!(files.parses(), 1);
        assert_eq!(parses(&files, "f(3)", "g("), Some(false));
        let other = ScoringInput { language: Language::Python, ..whole };
        assert_eq!(files.parses_with(&files.file(&other), &other, "1"), None, "it is not Python");
        assert_eq!(files.parses(), 3);
    }

    #[test]
    fn few_files_are_kept_by_number_and_size() {
        let files = RightFiles::default();
        let truths: Vec<String> = (0..=MAX_FILES).map(|number| format!("f({number})")).collect();
        for truth in &truths {
            assert_eq!(parses(&files, truth, "1"), Some(true));
        }
        assert_eq!(parses(&files, &truths[1], "2"), Some(true));
        assert_eq!(files.parses(), truths.len(), "the second one is still there");
        assert_eq!(parses(&files, &truths[0], "2"), Some(true));
        assert_eq!(files.parses(), truths.len() + 1, "the first one is not");
        let large = format!("\"{}\"", "a".repeat(MAX_BYTES));
        files.file(&question(&large));
        assert_eq!(files.files.lock().unwrap().len(), 1);
    }
}
