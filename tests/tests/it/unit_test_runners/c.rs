//! CTest, make and autotools judge blocks and functions of C.

use std::fs;
use std::os::unix::fs::PermissionsExt as _;
use std::process::Command;

use cases::{Case, TestRunnerKind, TestVerdict};

use super::{TestedProject, check_lines, verdicts};

/// Two functions with tests of their own in C, and one without.
const C_SOURCES: &str = r#"
//- /src/prices.h
int total(int first, int second, int limit);
int cheapest(const int *prices, int count);
int doubled(int price);
//- /src/prices.c
#include "prices.h"

/* Adds both amounts unless they exceed a limit. */
int total(int first, int second, int limit) {
    int result = 0;
    if (first <= limit) {
        result += first;
    }
    if (second <= limit) {
        result += second;
    }
    return result;
}

/* Returns the lowest price of the given ones. */
int cheapest(const int *prices, int count) {
    const int *lowest = prices;
    while (--count > 0) {
        if (prices[count] < *lowest) {
            lowest = prices + count;
        }
    }
    return *lowest;
}

/* Returns twice the price, which no program checks. */
int doubled(int price) {
    int twice = price + price;
    return twice;
}
//- /tests/check_total.c
#include <stdio.h>
#include "../src/prices.h"

int main(void) {
    if (total(1, 20, 10) != 1 || total(1, 2, 10) != 3 || total(1, 2, 0) != 0) {
        printf("wrong total\n");
        return 1;
    }
    return 0;
}
//- /tests/check_cheapest.c
#include "../src/prices.h"

int main(void) {
    int prices[] = {3, 1, 2};
    return cheapest(prices, 3) == 1 ? 0 : 1;
}
"#;

const MAKEFILE: &str = r"
//- /Makefile
PROGRAMS = check_total check_cheapest

all: prices.o

prices.o: src/prices.c src/prices.h
	$(CC) $(CFLAGS) -c -o $@ src/prices.c

check_%: tests/check_%.c prices.o
	$(CC) $(CFLAGS) -o $@ $< prices.o

test: $(PROGRAMS)
	for program in $(PROGRAMS); do test -x $$program || exit 1; done
	./check_total
	./check_cheapest

.PHONY: all test
";

/// A program that exits with 0 before its checks has not run them.
#[track_caller]
fn check_early_exit(project: &TestedProject) {
    let exiting = project.judge("exiting", "", |_| "void exit(int); exit(0);".to_owned());
    let verdicts = verdicts(&exiting);
    assert!(!verdicts.contains(&TestVerdict::Passed), "{exiting:#?}");
    assert!(verdicts.contains(&TestVerdict::NotRun), "{exiting:#?}");
}

#[test]
fn recipes_of_a_makefile_judge_blocks_of_c() {
    let Some(project) = TestedProject::new(&format!("{C_SOURCES}{MAKEFILE}"), &["gcc", "make"]) else {
        return;
    };
    let (cases, datasheet) = project.build("codev-bench . --size 5 --language c");
    assert_eq!(datasheet["counts"]["tests"]["runner"], "make", "{datasheet:#}");
    assert_eq!(datasheet["counts"]["tests"]["stable"], 2, "{datasheet:#}");
    for case in &cases {
        let ids = &case.tests.as_ref().expect("tests").ids;
        assert!(ids.iter().all(|id| id == "./check_total" || id == "./check_cheapest"), "{ids:?}");
        assert!(!case.prefix.ends_with("doubled(int price) {"), "no test judges {case:?}");
    }
    project.check(&cases, TestRunnerKind::Make, "return 1000;");
    check_early_exit(&project);
}

/// What Automake and Autoconf leave in a package: a script that writes the Makefile, whose `check` writes a result for each program.
const AUTOTOOLS: &str = r#"
//- /Makefile.am
check_PROGRAMS = check_total check_cheapest
TESTS = $(check_PROGRAMS)
//- /configure
#!/bin/sh
test -n "$CC" || CC=cc
cat > Makefile << END
SHELL = /bin/bash

check: check_total check_cheapest
	@[[ -n "\$(MAKE)" ]] || exit 1; rm -f *.trs; code=0; for program in check_total check_cheapest; do \
	  if ./\$\$program > \$\$program.log; then result=PASS; else result=FAIL; code=1; fi; \
	  echo ":global-test-result: \$\$result" > \$\$program.trs; \
	done; exit \$\$code

prices.o: src/prices.c src/prices.h
	$CC -c -o prices.o src/prices.c

check_%: tests/check_%.c prices.o
	$CC -o \$@ \$< prices.o
END
"#;

#[test]
fn results_of_automake_judge_blocks_of_a_package_that_is_not_configured() {
    let fixture = format!("{C_SOURCES}{AUTOTOOLS}");
    let Some(project) = TestedProject::new(&fixture, &["gcc", "make"]) else { return };
    let configure = project.0.root().join("configure");
    fs::set_permissions(configure, fs::Permissions::from_mode(0o755)).expect("the project is ours");
    // Results of an earlier run say nothing about a build that fails.
    for name in ["check_total", "check_cheapest"] {
        project.0.write(&format!("{name}.trs"), ":global-test-result: PASS\n");
    }
    let (cases, datasheet) = project.build("codev-bench . --size 5 --language c");
    assert_eq!(datasheet["counts"]["tests"]["runner"], "make", "{datasheet:#}");
    assert_eq!(datasheet["counts"]["tests"]["stable"], 2, "{datasheet:#}");
    for case in &cases {
        let ids = &case.tests.as_ref().expect("tests").ids;
        assert!(ids.iter().all(|id| id == "check_total" || id == "check_cheapest"), "{ids:?}");
        assert!(!case.prefix.ends_with("doubled(int price) {"), "no test judges {case:?}");
    }
    project.check(&cases, TestRunnerKind::Make, "return 1000;");
    let broken = project.judge("broken", "", |_| "intt x;".to_owned());
    assert!(broken.iter().all(|row| row.verdict == TestVerdict::BuildError), "{broken:#?}");
    check_early_exit(&project);
}

#[test]
fn functions_of_yabloco_are_judged_by_the_tests_of_their_repository() {
    let Some(project) = TestedProject::new(&format!("{C_SOURCES}{MAKEFILE}"), &["gcc", "make"]) else {
        return;
    };
    let (cases, datasheet) = project.build("yabloco .");
    let mut names: Vec<&str> =
        cases.iter().map(|case| case.write_function().expect("a question").name.as_str()).collect();
    names.sort_unstable();
    assert_eq!(names, ["cheapest", "total"], "{datasheet:#}");
    assert_eq!(datasheet["files"]["bench.csv"], 2);
    let code =
        |case: &Case| [case.write_function().expect("a question").header.as_str(), &case.truth].concat();
    let fenced = |case: &Case| format!("Of course:\n```c\n#include <stdlib.h>\n{}```\n", code(case));
    assert_eq!(verdicts(&project.judge("right", "", fenced)), [TestVerdict::Passed; 2]);
    let other = |case: &Case| code(case).replace(" += ", " -= ").replace(" < *lowest", " > *lowest");
    assert_eq!(verdicts(&project.judge("other", "", other)), [TestVerdict::Failed; 2]);
    let broken = |case: &Case| {
        code(case).replace("const int *lowest", "const intt *lowest").replace("int result", "intt result")
    };
    assert_eq!(verdicts(&project.judge("broken", "", broken)), [TestVerdict::BuildError; 2]);
    assert_eq!(
        verdicts(&project.judge("blank", "", |_| "```c\n```".to_owned())),
        [TestVerdict::BuildError; 2]
    );
}

#[test]
fn programs_of_the_originals_read_answers_in_their_own_way() {
    let Some(project) = TestedProject::new(&format!("{C_SOURCES}{MAKEFILE}"), &["gcc", "make"]) else {
        return;
    };
    project.build("yabloco .");
    let code =
        |case: &Case| [case.write_function().expect("a question").header.as_str(), &case.truth].concat();
    // Without a closing fence, the original reads a hyphen.
    let unclosed = |case: &Case| format!("```c\n{}", code(case));
    assert_eq!(verdicts(&project.judge("unclosed", "", unclosed)), [TestVerdict::Passed; 2]);
    let all = project.judge("unclosed", "--faithful", unclosed);
    assert_eq!(verdicts(&all[2..]), [TestVerdict::BuildError; 2], "{all:#?}");
    assert_eq!(
        verdicts(&project.judge("closed", "--faithful", |case| format!("```c\n{}```", code(case)))),
        [TestVerdict::Passed; 2]
    );
}

const CMAKE: &str = "
//- /CMakeLists.txt
cmake_minimum_required(VERSION 3.10)
project(shop C)
enable_testing()
add_library(prices src/prices.c)
foreach(name total cheapest)
  add_executable(check_${name} tests/check_${name}.c)
  target_link_libraries(check_${name} prices)
  add_test(NAME ${name} COMMAND check_${name})
endforeach()
";

#[test]
fn gcov_says_which_test_of_ctest_executes_a_block() {
    let fixture = format!("{C_SOURCES}{CMAKE}");
    let Some(project) = TestedProject::new(&fixture, &["gcc", "cmake", "gcov"]) else { return };
    let configure =
        Command::new("cmake").args(["-S", ".", "-B", "build"]).current_dir(project.0.root()).output();
    assert!(configure.expect("CMake is installed").status.success());
    check_lines(&project, "codev-bench . --size 5 --language c", TestRunnerKind::Ctest, "return 1000;");
    check_early_exit(&project);
}
