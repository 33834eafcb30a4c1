//! Checks that the files and folders named in documents exist.

use super::{Finding, TextFile};

/// Top-level folders of the repository; a code span that begins with one of them is a path.
const FOLDERS: &[&str] = &["server/", "editors/", "vscode-extension/", "tests/", "xtask/", "docs/"];

/// Finds the paths in Markdown files that don't exist.
pub(crate) fn check(files: &[TextFile]) -> Vec<Finding> {
    let mut findings = Vec::new();
    for file in files.iter().filter(|file| file.path.ends_with(".md")) {
        for (number, line) in file.lines() {
            for path in paths(line).filter(|path| !exists(files, path)) {
                let message = format!("there is no `{path}`: name the place where it is now");
                findings.push(Finding::new(&file.path, message).at(number));
            }
        }
    }
    findings
}

/// Returns the code spans of a line that are paths of the repository.
fn paths(line: &str) -> impl Iterator<Item = &str> {
    let spans = line.split('`').skip(1).step_by(2);
    spans.filter(|span| FOLDERS.iter().any(|folder| span.starts_with(folder)) && !span.contains([' ', '*']))
}

/// Whether this path is a file or a non-empty folder.
fn exists(files: &[TextFile], path: &str) -> bool {
    let path = path.trim_end_matches('/');
    files
        .iter()
        .any(|file| file.path.strip_prefix(path).is_some_and(|rest| rest.is_empty() || rest.starts_with('/')))
}

#[cfg(test)]
mod tests {
    use expect_test::expect;

    use super::*;
    use crate::tidy::finding::lines;

    #[test]
    fn missing_paths_are_reported() {
        let file = |path: &str, text: &str| TextFile { path: path.to_owned(), text: text.to_owned() };
        let text = "See `server/text/src/lib.rs`, `server/text` and `tests/`.\nNot `server/tex` or `docs/a.md`; `ghostbench` is no path.\n";
        let files = [file("A.md", text), file("server/text/src/lib.rs", ""), file("tests/src/lib.rs", "")];
        expect![[r#"
            A.md:2: there is no `server/tex`: name the place where it is now
            A.md:2: there is no `docs/a.md`: name the place where it is now
        "#]]
        .assert_eq(&lines(&check(&files)));
    }
}
