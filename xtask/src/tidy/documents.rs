//! Checks that the files and folders named in documents exist, and that documents for newcomers stay short.

use super::{Finding, TextFile};

/// Top-level folders of the repository; a code span that begins with one of them is a path.
const FOLDERS: &[&str] = &["server/", "editors/", "vscode-extension/", "tests/", "xtask/", "docs/"];

/// Lines of the README: a newcomer reads it to the end.
const README_LINES: usize = 149;
/// Heading of the table of starting points in `ARCHITECTURE.md`.
const STARTING_POINTS: &str = "### Where is ...?";
/// Rows of this table, because paths name their content.
const MAX_STARTING_POINTS: usize = 20;

/// Finds the paths in Markdown files that don't exist, and documents that are too long.
pub(crate) fn check(files: &[TextFile]) -> Vec<Finding> {
    let mut findings = Vec::new();
    for file in files.iter().filter(|file| file.path.ends_with(".md")) {
        findings.extend(length_finding(file));
        for (number, line) in file.lines() {
            for path in paths(line).filter(|path| !exists(files, path)) {
                let message = format!("there is no `{path}`: name the place where it is now");
                findings.push(Finding::new(&file.path, message).at(number));
            }
        }
    }
    findings
}

fn length_finding(file: &TextFile) -> Option<Finding> {
    match file.path.as_str() {
        "README.md" => {
            let lines = file.lines().count();
            let message = format!("{lines} lines, more than {README_LINES}: move details to docs/");
            (lines > README_LINES).then(|| Finding::new(&file.path, message))
        }
        "ARCHITECTURE.md" => {
            let (before, table) = file.text.split_once(STARTING_POINTS)?;
            let table = table.split("\n#").next()?;
            // The first two lines are the titles.
            let rows = table.lines().filter(|line| line.starts_with('|')).count().saturating_sub(2);
            let message = format!(
                "{rows} starting points, more than {MAX_STARTING_POINTS}: paths have to name their content"
            );
            (rows > MAX_STARTING_POINTS)
                .then(|| Finding::new(&file.path, message).at(file.line_of(before.len())))
        }
        _ => None,
    }
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
    fn long_documents_for_newcomers_are_reported() {
        let table = |rows: usize| {
            format!(
                "# A\n\n{STARTING_POINTS}\n\n| topic | start at |\n|---|---|\n{}",
                "| a | b |\n".repeat(rows)
            )
        };
        let file = |path: &str, text: String| TextFile { path: path.to_owned(), text };
        let files =
            [file("README.md", "\n".repeat(149)), file("ARCHITECTURE.md", table(20) + "\n## B\n| c |\n")];
        assert_eq!(check(&files), []);
        let files = [file("README.md", "\n".repeat(150)), file("ARCHITECTURE.md", table(21))];
        expect![[r#"
            README.md: 150 lines, more than 149: move details to docs/
            ARCHITECTURE.md:3: 21 starting points, more than 20: paths have to name their content
        "#]]
        .assert_eq(&lines(&check(&files)));
    }

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
