//! The lines that each test executes, for runners that do not report them: the tests run one after the other in one sandbox, each with the
//! coverage of its language's own tools.
//!
//! ```text
//! script of the language --> a file for each test: `SF:path`, then ranges of lines
//! ```
//!
//! Whatever is missing (a tool, a report, time) means that the lines are not known, never that no test executes them.

use std::collections::BTreeMap;
use std::fmt::Write as _;
use std::fs;
use std::io::Read as _;
use std::path::{Component, Path, PathBuf};

use cases::TestRunnerKind;

use super::returns::FOLDER;
use super::{CoveredLines, TestRunner, command, javascript};
use crate::outcome::{CommandOutcome, Report};
use crate::sandbox::{Sandbox, SandboxError};
use crate::spec::{ChangedFile, ReportFiles, SandboxCommand};

/// Ending of the files with lines.
const ENDING: &str = ".lines";

/// Tests that run one by one; with more of them, it would take longer than it saves.
const MAX_TESTS: usize = 1_000;

/// Lines of one range; longer ones are no statements.
const MAX_RANGE: u32 = 5_000;

/// Bytes of a `go.mod`.
const MAX_MANIFEST_BYTES: u64 = 1 << 20;

const GO: &str = include_str!("cover/go.sh");
const CTEST: &str = include_str!("cover/ctest.sh");
const CARGO: &str = include_str!("cover/cargo.sh");
const NODE: &str = include_str!("cover/node.sh");
const MAVEN: &str = include_str!("cover/maven.sh");

/// Programs that turn reports into lines.
const LINES_OF_JAVASCRIPT: &str = include_str!("cover/lines.cjs");
const LINES_OF_JAVA: &str = include_str!("cover/CoveredLines.java");

/// A compiler that measures.
const RUSTC: &str = "#!/bin/sh\nexec \"$@\" -C instrument-coverage\n";

/// Returns the lines that each of these tests executes; `None` if the tools of the language cannot say it. The numbers are the tests' places.
pub(super) fn cover(
    runner: &TestRunner,
    sandbox: &Sandbox,
    tests: &[String],
) -> Result<Option<CoveredLines>, SandboxError> {
    let Some((script, fields)) = script(runner).filter(|_| tests.len() <= MAX_TESTS) else { return Ok(None) };
    let workspace = sandbox.workspace();
    let folder = workspace.join(FOLDER);
    let text = |name: &str| folder.join(name).to_string_lossy().into_owned();
    let mut words =
        vec!["sh".to_owned(), text("cover.sh"), folder.to_string_lossy().into_owned(), text("tests.txt")];
    match runner.kind {
        TestRunnerKind::Cargo => words.push(text("rustc.sh")),
        TestRunnerKind::Node | TestRunnerKind::Jest | TestRunnerKind::Vitest => {
            words.extend([runner.kind.name().to_owned(), text("lines.cjs")]);
        }
        TestRunnerKind::Maven => words.push(text("CoveredLines.java")),
        _ => {}
    }
    let mut rows = String::new();
    for (number, test) in tests.iter().enumerate() {
        let row = fields(test).filter(|row| !row.contains(['\n', '\r']));
        let Some(row) = row else { return Ok(None) };
        let _ = writeln!(rows, "{number}\t{row}");
    }
    let file =
        |name: &str, text: &str| ChangedFile { path: Path::new(FOLDER).join(name), text: text.to_owned() };
    let files = [
        file("cover.sh", script),
        file("tests.txt", &rows),
        file("rustc.sh", RUSTC),
        file("lines.cjs", LINES_OF_JAVASCRIPT),
        file("CoveredLines.java", LINES_OF_JAVA),
    ];
    let command = SandboxCommand {
        words,
        folder: runner.folder.clone(),
        reports: vec![ReportFiles::Folder(FOLDER.into(), ENDING.to_owned())],
        ..SandboxCommand::default()
    };
    let outcome = sandbox.run(&files, &command)?;
    Ok(read(&outcome, tests.len(), &Paths::new(runner, workspace)))
}

/// A script, and the fields of a test's row in its list: `None` for an id of another form.
type Script = (&'static str, fn(&str) -> Option<String>);

fn script(runner: &TestRunner) -> Option<Script> {
    if !runner.command.is_empty() {
        return None;
    }
    Some(match runner.kind {
        TestRunnerKind::Go => {
            (GO, |id| id.rsplit_once('.').map(|(package, name)| format!("{package}\t{name}")))
        }
        TestRunnerKind::Ctest => (CTEST, |id| Some(command::ctest_pattern([id.rsplit_once("::")?.1]))),
        TestRunnerKind::Cargo => {
            (CARGO, |id| id.split_once("::").map(|(file, name)| format!("{file}\t{name}")))
        }
        // Only the end of the name: newer versions match it with those of the tests around it.
        TestRunnerKind::Node => (NODE, |id| {
            let (file, name) = id.split_once("::")?;
            Some(format!("{}$\t{file}", javascript::escaped(name)))
        }),
        TestRunnerKind::Jest | TestRunnerKind::Vitest => (NODE, |id| {
            let (file, _) = id.split_once("::").filter(|(file, _)| !file.is_empty())?;
            Some(format!("-\t{file}"))
        }),
        TestRunnerKind::Maven => {
            (MAVEN, |id| id.split_once("::").map(|(class, _)| class.to_owned()).filter(|it| !it.is_empty()))
        }
        _ => return None,
    })
}

/// Returns the lines of a finished script; `None` if one test has no report.
fn read(outcome: &CommandOutcome, tests: usize, paths: &Paths<'_>) -> Option<CoveredLines> {
    if !outcome.is_success() || outcome.reports.len() < tests {
        return None;
    }
    let mut covered = CoveredLines::new();
    for report in &outcome.reports {
        let number = number(report).filter(|number| (*number as usize) < tests)?;
        let mut lines: Option<&mut BTreeMap<u32, Vec<u32>>> = None;
        for row in report.text.lines() {
            if let Some(path) = row.strip_prefix("SF:") {
                lines = paths.in_workspace(path).map(|path| covered.entry(path).or_default());
            } else if let (Some(lines), Some((first, last))) = (&mut lines, range(row)) {
                for line in first..=last.min(first.saturating_add(MAX_RANGE)) {
                    let tests = lines.entry(line).or_default();
                    if tests.last() != Some(&number) {
                        tests.push(number);
                    }
                }
            }
        }
    }
    (!covered.is_empty()).then_some(covered)
}

/// Returns the number in a report's name.
fn number(report: &Report) -> Option<u32> {
    report.path.file_name()?.to_str()?.strip_suffix(ENDING)?.parse().ok()
}

fn range(row: &str) -> Option<(u32, u32)> {
    let (first, last) = row.split_once('-')?;
    Some((first.parse().ok()?, last.parse().ok()?))
}

/// Paths of reports.
struct Paths<'a> {
    workspace: &'a Path,
    folder: &'a Path,
    /// Name of the Go module in `folder`, which its reports have in place of the folder.
    module: Option<String>,
}

impl Paths<'_> {
    fn new<'a>(runner: &'a TestRunner, workspace: &'a Path) -> Paths<'a> {
        let module = (runner.kind == TestRunnerKind::Go).then(|| module(&workspace.join(&runner.folder)));
        Paths { workspace, folder: &runner.folder, module: module.flatten() }
    }

    /// Returns a path relative to the workspace; `None` outside of it.
    fn in_workspace(&self, path: &str) -> Option<String> {
        let in_module =
            self.module.as_deref().and_then(|module| path.strip_prefix(module)?.strip_prefix('/'));
        let path = Path::new(in_module.unwrap_or(path));
        let mut found = PathBuf::new();
        let relative = match path.strip_prefix(self.workspace) {
            Ok(relative) => relative,
            Err(_) if path.is_absolute() => return None,
            Err(_) => {
                found.push(self.folder);
                path
            }
        };
        for component in relative.components() {
            match component {
                Component::Normal(name) => found.push(name),
                Component::CurDir => {}
                Component::ParentDir if found.pop() => {}
                _ => return None,
            }
        }
        Some(found.to_str()?.replace('\\', "/"))
    }
}

/// Returns the name of the Go module in a folder.
fn module(folder: &Path) -> Option<String> {
    let mut text = String::new();
    fs::File::open(folder.join("go.mod")).ok()?.take(MAX_MANIFEST_BYTES).read_to_string(&mut text).ok()?;
    let name = text.lines().find_map(|line| line.trim().strip_prefix("module "))?;
    Some(name.trim().trim_matches('"').to_owned())
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use super::*;
    use crate::outcome::Exit;

    fn outcome(reports: &[(&str, &str)]) -> CommandOutcome {
        let report = |&(path, text): &(&str, &str)| Report { path: path.into(), text: text.to_owned() };
        CommandOutcome {
            exit: Exit::Code(0),
            output: String::new(),
            reports: reports.iter().map(report).collect(),
            wall: Duration::ZERO,
            peak_memory_bytes: 0,
        }
    }

    fn paths(module: Option<&str>) -> Paths<'static> {
        Paths { workspace: Path::new("/w"), folder: Path::new("build"), module: module.map(str::to_owned) }
    }

    #[test]
    fn lines_have_the_tests_that_execute_them() {
        let reports = [
            ("x/0.lines", "SF:/w/src/a.c\n3-4\n4-4\nSF:/usr/include/b.h\n1-1\n"),
            ("x/1.lines", "SF:../src/a.c\n4-4\nno range\n"),
        ];
        let covered = read(&outcome(&reports), 2, &paths(None)).expect("lines");
        let lines = BTreeMap::from([(3, vec![0]), (4, vec![0, 1])]);
        assert_eq!(covered, CoveredLines::from([("src/a.c".to_owned(), lines)]));
    }

    #[test]
    fn missing_reports_mean_that_nothing_is_known() {
        let one = [("x/0.lines", "SF:/w/a.c\n1-1\n")];
        assert_eq!(read(&outcome(&one), 2, &paths(None)), None);
        assert_eq!(read(&outcome(&[("x/0.lines", "")]), 1, &paths(None)), None);
        assert_eq!(read(&outcome(&[("x/7.lines", "SF:/w/a.c\n1-1\n")]), 1, &paths(None)), None);
        let failed = CommandOutcome { exit: Exit::Code(1), ..outcome(&one) };
        assert_eq!(read(&failed, 1, &paths(None)), None);
        let endless = [("x/0.lines", "SF:/w/a.c\n1-4294967295\n")];
        let covered = read(&outcome(&endless), 1, &paths(None)).expect("lines");
        assert!(covered["a.c"].len() <= MAX_RANGE as usize + 1);
    }

    #[test]
    fn paths_are_those_of_the_workspace() {
        let go = paths(Some("example.com/shop"));
        assert_eq!(go.in_workspace("example.com/shop/a/b.go").as_deref(), Some("build/a/b.go"));
        assert_eq!(go.in_workspace("/w/a.c").as_deref(), Some("a.c"));
        assert_eq!(go.in_workspace("../../../etc/passwd"), None);
        assert_eq!(go.in_workspace("/etc/passwd"), None);
    }

    #[test]
    fn ids_of_other_forms_have_no_row() {
        let row = |kind, id: &str| script(&TestRunner::of_kind(kind, Path::new(""))).expect("a script").1(id);
        assert_eq!(row(TestRunnerKind::Go, "m/p.TestA").as_deref(), Some("m/p\tTestA"));
        assert_eq!(
            row(TestRunnerKind::Cargo, "src/lib.rs::tests::a").as_deref(),
            Some("src/lib.rs\ttests::a")
        );
        assert_eq!(row(TestRunnerKind::Jest, "a.test.js::sum (1)").as_deref(), Some("-\ta.test.js"));
        assert_eq!(row(TestRunnerKind::Vitest, "::sum"), None);
        assert_eq!(row(TestRunnerKind::Node, "test::sum").as_deref(), Some("sum$\ttest"));
        assert_eq!(
            row(TestRunnerKind::Maven, "shop.PricesTest::adds[1]").as_deref(),
            Some("shop.PricesTest")
        );
        assert_eq!(row(TestRunnerKind::Maven, "::adds"), None);
        assert!(script(&TestRunner::of_kind(TestRunnerKind::Make, Path::new(""))).is_none());
    }
}
