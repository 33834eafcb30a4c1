//! Finds leaked copies of a case's removed text if the workspace differs from the one that the case was cut from.
//!
//! A snapshot hides the file at the case's path. That suffices in the original tree; in a parent folder, in a
//! part of the tree, or after a rename, the same text is at another path. Such files are hidden from the case. Copies within
//! the case's own tree are not hidden here: developers really have them in their workspaces, and they are
//! reported in two modes ([`crate::TruthCopies`]). Both are found by [`index::CopyIndex`].

use std::sync::Arc;

use cases::Case;
use completion::WorkspaceIndex;
use index::RemovedCode;

use crate::truth_copies::removed_code;

/// Returns the paths of files that may be versions of the case's file, other than the file at the case's own path.
pub(crate) fn leaked_copies(case: &Case, world: &WorkspaceIndex) -> Vec<Arc<str>> {
    if world.file(&case.path).is_some_and(|file| is_cut_from(case, &file.text)) {
        return Vec::new();
    }
    let ends_alike = |path: &str| ends_in(path, &case.path) || ends_in(&case.path, path);
    // The path may now belong to another file that contains the text.
    let code = removed_code(case).map(|code| RemovedCode { path: "", ..code });
    let copies = world.copies(code.as_slice()).concat();
    let paths = world.files().iter().map(|file| &file.path);
    paths.filter(|path| ends_alike(path) || copies.contains(path)).cloned().collect()
}

/// Whether the case fits into the file, as it is or with secrets masked.
fn is_cut_from(case: &Case, text: &str) -> bool {
    fits_prefix_and_suffix(case, text) || fits_prefix_and_suffix(case, &secrets::redact(text))
}

/// Whether prefix and suffix match the text. After a complete body the prefix ends with a new line, which is blank.
fn fits_prefix_and_suffix(case: &Case, text: &str) -> bool {
    let before = text.get(..case.byte_range.start);
    let fresh_line = before.and_then(|before| case.prefix.strip_prefix(before));
    fresh_line.is_some_and(|blanks| blanks.trim().is_empty())
        && text.get(case.byte_range.clone()) == Some(&*case.truth)
}

fn ends_in(path: &str, end: &str) -> bool {
    path.strip_suffix(end).is_some_and(|folder| folder.is_empty() || folder.ends_with('/'))
}

#[cfg(test)]
mod tests {
    use cases::{CompletionTask, MissingTail, Origin, OriginKind, SchemaVersion, Tags, Task};
    use syntax::{Language, SourceFile};

    use super::*;

    const HEAD: &str = "import store\n\n\ndef fetch(path):\n    ";
    const TRUTH: &str = "return canary(path)";
    const TAIL: &str = "\n\n\ndef other():\n    return 1\n";

    fn case(prefix: &str, truth: &str) -> Case {
        Case {
            schema: SchemaVersion::CURRENT,
            id: String::new(),
            hole: String::new(),
            task: Task::Complete(CompletionTask::IncompleteSuffix(MissingTail::FileTail)),
            language: "python".to_owned(),
            block_kind: None,
            path: "src/fetch.py".to_owned(),
            byte_range: prefix.len()..prefix.len() + truth.len(),
            line: 0,
            character: 0,
            prefix: prefix.to_owned(),
            suffix: String::new(),
            truth: truth.to_owned(),
            context: Vec::new(),
            function: None,
            tests: None,
            origin: Origin::new(OriginKind::Mined, "t"),
            tags: Tags::new(),
        }
    }

    /// Returns the paths of `files` that are hidden from `case`.
    fn hidden(case: &Case, files: &[(&str, &str)]) -> Vec<String> {
        let files: Vec<SourceFile> = files
            .iter()
            .map(|&(path, text)| SourceFile {
                path: path.into(),
                language: Language::Python,
                text: text.into(),
            })
            .collect();
        leaked_copies(case, &WorkspaceIndex::new(files.into())).iter().map(|path| path.to_string()).collect()
    }

    #[test]
    fn no_other_file_is_hidden_in_the_tree_of_the_case() {
        let text = [HEAD, TRUTH, TAIL].concat();
        let files = [("lib/src/fetch.py", "x = 1\n"), ("src/copy.py", &*text), ("src/fetch.py", &*text)];
        assert_eq!(hidden(&case(HEAD, TRUTH), &files), [""; 0]);
        let fresh_line = Case { prefix: [HEAD, TRUTH, "\n    "].concat(), ..case(HEAD, "") };
        let after = HEAD.len() + TRUTH.len();
        assert_eq!(hidden(&Case { byte_range: after..after, ..fresh_line }, &files), [""; 0]);
    }

    #[test]
    fn file_of_the_case_is_hidden_in_parent_and_child_workspaces() {
        let edited = "x = 1\n";
        let files = [("fetch.py", edited), ("prefetch.py", edited), ("repo/src/fetch.py", edited)];
        assert_eq!(hidden(&case(HEAD, TRUTH), &files), ["fetch.py", "repo/src/fetch.py"]);
    }

    #[test]
    fn renamed_file_is_found_by_its_text() {
        let text = [HEAD, TRUTH, TAIL].concat();
        let other = [TAIL, HEAD].concat();
        let files = [("new.py", &*text), ("other.py", &*other)];
        assert_eq!(hidden(&case(HEAD, TRUTH), &files), ["new.py"]);
        // The case's path now belongs to another file.
        let files = [("new.py", &*text), ("src/fetch.py", &*other)];
        assert_eq!(hidden(&case(HEAD, TRUTH), &files), ["new.py", "src/fetch.py"]);
    }

    #[test]
    fn hole_far_into_a_file_is_found_by_the_text_before_it() {
        let before = ["größe = 1\n".repeat(40), HEAD.to_owned()].concat();
        let text = ["# a line that was added\n", &before, TRUTH, TAIL].concat();
        assert_eq!(hidden(&case(&before, TRUTH), &[("new.py", &text)]), ["new.py"]);
        assert_eq!(hidden(&case(&before, TRUTH), &[("new.py", &before)]), [""; 0]);
    }

    #[test]
    fn long_truth_is_found_in_another_file() {
        let truth = "canary = load(path)\n    canary.check()\n    return canary";
        let moved = ["def moved(path):\n    ", truth, "\n"].concat();
        assert_eq!(hidden(&case(HEAD, truth), &[("moved.py", &moved)]), ["moved.py"]);
    }

    #[test]
    fn case_with_masked_secrets_matches_its_own_tree() {
        let secret = "token = \"ghp_0123456789abcdefghijABCDEFGHIJ456789\"\n";
        let text = [secret, HEAD, TRUTH, TAIL].concat();
        let mut case = case(&[secret, HEAD].concat(), TRUTH);
        assert_eq!(cases::redact_case(&mut case), 1);
        assert_eq!(hidden(&case, &[("lib/src/fetch.py", "x = 1\n"), ("src/fetch.py", &text)]), [""; 0]);
    }

    #[test]
    fn invalid_case_ranges_do_not_panic() {
        for (start, end) in [(7, 3), (0, usize::MAX), (usize::MAX, usize::MAX), (4, 5)] {
            let case = Case { byte_range: start..end, ..case("größe", "ö") };
            assert_eq!(hidden(&case, &[("src/fetch.py", "größeö")]), ["src/fetch.py"]);
        }
    }
}
