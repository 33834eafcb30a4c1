//! `make check` and `make test`, also of autotools.
//!
//! Automake writes the result of each test to a `.trs` file. Other Makefiles report nothing, but their recipes run the tests: a shell in
//! the place of make's own notes how each of their commands ended. Commands that start a program of the workspace are tests, named by
//! their text; so is the loop over all tests of Automake's serial harness, named by its list. The exit code of make must agree.

use std::collections::BTreeMap;
use std::fs;
use std::io::Read as _;
use std::path::{Path, PathBuf};
use std::time::Duration;

use super::returns::{self, FOLDER};
use super::{TestResults, TestRunner, TestState};
use crate::outcome::{CommandOutcome, Exit, Report};
use crate::spec::{ChangedFile, ReportFiles, SandboxCommand};

/// Names of Makefiles, in make's order.
const MAKEFILES: [&str; 3] = ["GNUmakefile", "makefile", "Makefile"];

/// Bytes of a Makefile that are read to find its targets.
const MAX_MAKEFILE_BYTES: u64 = 4 << 20;

/// Bytes of the id of a test.
const MAX_ID_BYTES: usize = 500;

/// Interpreters whose first argument is the program.
const INTERPRETERS: [&str; 9] =
    ["sh", "bash", "perl", "python", "python3", "ruby", "valgrind", "env", "time"];

/// Name of our shell in [`FOLDER`], one of [`INTERPRETERS`]: recipes with `$(SHELL)` name it.
const SHELL: &str = "sh";

/// Whether a workspace has a Makefile with tests, or makes one by autotools.
pub(super) fn detect(workspace: &Path) -> bool {
    let has = |name: &str| workspace.join(name).is_file();
    makefile(workspace).is_some_and(|text| target(&text).is_some())
        || has("Makefile.am") && (has("configure") || has("configure.ac"))
}

/// Returns the text of the workspace's Makefile.
fn makefile(workspace: &Path) -> Option<String> {
    let path = MAKEFILES.iter().map(|name| workspace.join(name)).find(|path| path.is_file())?;
    let mut bytes = Vec::new();
    fs::File::open(path).ok()?.take(MAX_MAKEFILE_BYTES).read_to_end(&mut bytes).ok()?;
    Some(String::from_utf8_lossy(&bytes).into_owned())
}

/// Returns the target that runs the tests.
fn target(makefile: &str) -> Option<&'static str> {
    let has = |name: &str| {
        makefile.lines().any(|line| {
            let Some((targets, rest)) = line.split_once(':') else { return false };
            !line.starts_with(['\t', '#', '.'])
                && !rest.starts_with('=')
                && targets.split_whitespace().any(|it| it == name)
        })
    };
    ["check", "test"].into_iter().find(|name| has(name))
}

pub(super) fn command(
    runner: &TestRunner,
    workspace: &Path,
    nonce: &str,
) -> (SandboxCommand, Vec<ChangedFile>) {
    let text = makefile(&workspace.join(&runner.folder)).unwrap_or_default();
    let target = target(&text).unwrap_or("check");
    let shell = PathBuf::from(FOLDER).join(SHELL);
    let log = PathBuf::from(FOLDER).join(format!("{nonce}.log"));
    let load = returns::load(&runner.folder, nonce);
    // Recipes for the one shell may mean something else to the other; which one is known after `configure` only.
    let makefiles = MAKEFILES.join(" ");
    let script = format!(
        "if [ ! -f GNUmakefile ] && [ ! -f makefile ] && [ ! -f Makefile ]; then \
         {{ [ -x configure ] || autoreconf -fi; }} && ./configure; fi >&2 && {load} && \
         if grep -qs '^[[:space:]]*SHELL.*bash' {makefiles}; then export GHOSTBENCH_SHELL=bash; fi && \
         shell=\"$GHOSTBENCH_WORKSPACE/$0\" && chmod +x \"$shell\" && exec make -k SHELL=\"$shell\" \"$1\""
    );
    let usual = ["sh", "-c", &script, &shell.to_string_lossy(), target].map(str::to_owned);
    let words = if runner.command.is_empty() { usual.to_vec() } else { runner.command.clone() };
    let command = SandboxCommand {
        words,
        folder: runner.folder.clone(),
        reports: vec![
            ReportFiles::File(log),
            returns::report(nonce),
            ReportFiles::Tree(runner.folder.clone(), ".trs".to_owned()),
        ],
        ..SandboxCommand::default()
    };
    let shell = ChangedFile { path: shell, text: shell_script(nonce) };
    (command, vec![shell, returns::source()])
}

/// Returns a shell that notes the exit code and the command of each call in a file beside it. The command is the last argument, after `-c`.
fn shell_script(nonce: &str) -> String {
    format!(
        "#!/bin/sh\n\
         \"${{GHOSTBENCH_SHELL:-sh}}\" \"$@\"\n\
         code=$?\n\
         for command; do :; done\n\
         printf '%s\\t%s\\n' \"$code\" \"$(printf %s \"$command\" | tr '\\n\\t' '  ')\" >> \"${{0%/*}}/{nonce}.log\"\n\
         exit $code\n"
    )
}

pub(super) fn read(outcome: &CommandOutcome, nonce: &str) -> TestResults {
    let mut results = TestResults::default();
    let of_automake = |report: &&Report| report.path.extension().is_some_and(|it| it == "trs");
    for report in outcome.reports.iter().filter(of_automake) {
        if let Some(state) = automake_state(&report.text) {
            let id = report.path.with_extension("").to_string_lossy().replace('\\', "/");
            results.add(id, state, None);
        }
    }
    let has_failed = matches!(outcome.exit, Exit::Code(code) if code != 0);
    if !results.tests.is_empty() {
        return results;
    }
    let mut is_built = true;
    let log = format!("{nonce}.log");
    let logs = outcome.reports.iter().filter(|report| report.path.ends_with(&log));
    for (id, state) in logs.flat_map(|log| commands(&log.text)) {
        match state {
            Some(state) => results.add(id, state, None),
            None => is_built = false,
        }
    }
    results.has_build_error = has_failed && (!is_built || results.tests.is_empty());
    let share = u32::try_from(results.tests.len()).unwrap_or(u32::MAX).max(1);
    results
        .tests
        .values_mut()
        .for_each(|test| test.time = Some(Duration::from_secs_f64(outcome.wall.as_secs_f64()) / share));
    results
}

/// Returns the result in one of Automake's files.
fn automake_state(text: &str) -> Option<TestState> {
    let result = text.lines().find_map(|line| line.strip_prefix(":global-test-result:"))?;
    Some(match result.trim() {
        "PASS" | "XFAIL" => TestState::Passed,
        "SKIP" => TestState::Skipped,
        _ => TestState::Failed,
    })
}

/// Returns the tests in the log of our shell with their results, and an entry without result for another command that failed.
fn commands(log: &str) -> BTreeMap<String, Option<TestState>> {
    let mut found: BTreeMap<String, Option<TestState>> = BTreeMap::new();
    for (code, command) in log.lines().filter_map(|line| line.split_once('\t')) {
        let has_passed = code == "0";
        let of_harness = tests_of_serial_harness(command);
        if of_harness.is_some() || starts_test(command) {
            let state = if has_passed { TestState::Passed } else { TestState::Failed };
            let name = of_harness.unwrap_or(command);
            let id = name[..name.floor_char_boundary(MAX_ID_BYTES)].trim().to_owned();
            let known = found.entry(id).or_insert(Some(state));
            if state == TestState::Failed {
                *known = Some(state);
            }
        } else if !has_passed {
            found.insert(String::new(), None);
        }
    }
    found
}

/// Returns the list of tests if a command is the loop over them in Automake's serial harness, which reports nothing but its exit code.
fn tests_of_serial_harness(command: &str) -> Option<&str> {
    let (_, rest) = command.split_once("list='")?;
    let (tests, rest) = rest.split_once('\'')?;
    (!tests.trim().is_empty() && rest.contains("for tst in $list")).then_some(tests)
}

/// Whether a command of a recipe starts a program by its path: `./test_prices`, `cd tests && sh run.sh ./a`, `LIB=. tests/b`.
fn starts_test(command: &str) -> bool {
    command.split(['&', '|', ';', '(', ')', '{', '}']).any(|part| {
        let mut words =
            part.split_whitespace().skip_while(|word| word.contains('=') || *word == "then" || *word == "do");
        let Some(first) = words.next() else { return false };
        let program = if INTERPRETERS.contains(&first.rsplit('/').next().unwrap_or(first)) {
            words.find(|word| !word.starts_with('-') && !word.contains('='))
        } else {
            Some(first)
        };
        program.is_some_and(is_program_of_workspace)
    })
}

/// Whether a word is a path of a program that is no tool of the build.
fn is_program_of_workspace(word: &str) -> bool {
    const BUILD_TOOLS: [&str; 6] =
        ["libtool", "configure", "config.status", "missing", "install-sh", "depcomp"];
    let name = word.rsplit('/').next().unwrap_or(word);
    let is_system = ["/bin/", "/usr/", "/sbin/", "/opt/"].iter().any(|folder| word.starts_with(folder));
    let is_script = [".sh", ".py", ".pl", ".rb"].iter().any(|ending| word.ends_with(ending));
    (word.contains('/') && !is_system || is_script) && !BUILD_TOOLS.contains(&name)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn outcome(exit: i32, reports: &[(&str, &str)]) -> CommandOutcome {
        let reports =
            reports.iter().map(|(path, text)| Report { path: path.into(), text: (*text).to_owned() });
        CommandOutcome {
            exit: Exit::Code(exit),
            output: String::new(),
            reports: reports.collect(),
            wall: Duration::from_secs(2),
            peak_memory_bytes: 0,
        }
    }

    fn states(results: &TestResults) -> Vec<(&str, TestState)> {
        results.tests.iter().map(|(id, test)| (&**id, test.state)).collect()
    }

    #[test]
    fn target_is_one_that_runs_tests() {
        for (makefile, expected) in [
            ("all: a\ntest check-all: a\n\t./a\n", Some("test")),
            ("test: a\ncheck: test\n", Some("check")),
            ("test := a\nall:\n\ttest: x\n# check:\n", None),
            ("latest: a\n", None),
        ] {
            assert_eq!(target(makefile), expected, "{makefile}");
        }
    }

    #[test]
    fn programs_of_the_workspace_are_tests_and_tools_are_not() {
        for test in [
            "./test_prices",
            "cd tests && ./run -v",
            "LD_LIBRARY_PATH=. tests/a",
            "sh tests/run.sh",
            "python3 -B run.py",
            "valgrind -q ./a",
            "for t in a b; do ./$t; done",
            &format!("/shop/{FOLDER}/{SHELL} ./run-tests"),
        ] {
            assert!(starts_test(test), "{test}");
        }
        for tool in [
            "cc -c src/a.c -o a.o",
            "/usr/bin/gcc -o tests/a a.o",
            "echo ./a",
            "mkdir -p out/tests",
            "/bin/sh ./libtool --mode=link cc",
            &format!("/shop/{FOLDER}/{SHELL} ./libtool --mode=link cc"),
            "rm -f ./a",
            "make -C tests all",
            "",
            "test -d out/x",
        ] {
            assert!(!starts_test(tool), "{tool}");
        }
    }

    #[test]
    fn commands_of_recipes_are_results() {
        let log = "0\tcc -o test_a a.c\n0\t./test_a\n1\t./test_b\n0\t./test_b\n";
        let results = read(&outcome(2, &[("n.log", log)]), "n");
        assert_eq!(states(&results), [("./test_a", TestState::Passed), ("./test_b", TestState::Failed)]);
        assert!(!results.has_build_error);
        let broken = read(&outcome(2, &[("n.log", "1\tcc -o test_a a.c\n")]), "n");
        assert!(broken.has_build_error && broken.tests.is_empty());
    }

    #[test]
    fn serial_harness_of_automake_is_one_test() {
        let recipe = |tests: &str| {
            format!(
                "failed=0; list=' {tests} '; if test -n \"$list\"; then for tst in $list; do if ${{dir}}$tst; then :; fi; done; fi"
            )
        };
        let log = format!("0\tcc -o a a.c\n1\t{}\n0\t{}\n", recipe("a b"), recipe(""));
        let results = read(&outcome(2, &[("n.log", &log)]), "n");
        assert_eq!(states(&results), [("a b", TestState::Failed)]);
        assert!(!results.has_build_error);
    }

    #[test]
    fn results_of_automake_count_alone() {
        let trs =
            |result: &str| format!(":test-result: PASS a\n:global-test-result: {result}\n:recheck: no\n");
        let (pass, fail) = (trs("PASS"), trs("FAIL"));
        let reports =
            [("t/a.trs", pass.as_str()), ("t/b.trs", &fail), ("t/c.trs", "?"), ("n.log", "0\t./x\n")];
        let results = read(&outcome(2, &reports), "n");
        assert_eq!(states(&results), [("t/a", TestState::Passed), ("t/b", TestState::Failed)]);
    }
}
