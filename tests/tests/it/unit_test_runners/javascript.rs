//! Node.js, Jest and Vitest judge blocks of JavaScript and TypeScript.

use std::process::Command;

use cases::TestRunnerKind;
use tests::component;

use super::{TestedProject, check_lines};

const JAVASCRIPT_SOURCES: &str = r"
//- /prices.js
function total(first, second, limit) {
  let result = 0;
  if (first <= limit) {
    result += first;
  }
  if (second <= limit) {
    result += second;
  }
  return result;
}

function cheapest(prices) {
  let lowest = prices[0];
  for (const price of prices) {
    if (price < lowest) {
      lowest = price;
    }
  }
  return lowest;
}

function doubled(price) {
  if (price > 3) {
    return price + price;
  }
  return 2 * price;
}

module.exports = { total, cheapest, doubled };
";

const NODE: &str = r#"
//- /package.json
{"name": "shop", "version": "1.0.0", "scripts": {"test": "npm run unit", "unit": "node --test"}}
//- /prices.test.js
const test = require("node:test");
const assert = require("node:assert");
const { total, cheapest } = require("./prices.js");

test("Total (up to a limit)", () => {
  assert.equal(total(1, 20, 10), 1);
  assert.equal(total(1, 2, 10), 3);
  assert.equal(total(1, 2, 0), 0);
});

test("Cheapest", () => {
  assert.equal(cheapest([3, 1, 2]), 1);
});
"#;

#[test]
fn coverage_of_v8_says_which_test_executes_a_block() {
    let Some(project) = TestedProject::new(&format!("{NODE}{JAVASCRIPT_SOURCES}"), &["node"]) else { return };
    check_lines(
        &project,
        "codev-bench . --size 4 --language javascript",
        TestRunnerKind::Node,
        "throw new Error();",
    );
}

const JEST: &str = r#"
//- /package.json
{"name": "shop", "version": "1.0.0", "scripts": {"test": "jest"}, "jest": {"coverageThreshold": {"global": {"lines": 100}}}}
//- /.gitignore
node_modules
//- /total.test.js
const { total } = require("./prices.js");

test("Total (up to a limit)", () => {
  expect(total(1, 20, 10)).toBe(1);
  expect(total(1, 2, 10)).toBe(3);
  expect(total(1, 2, 0)).toBe(0);
});
//- /cheapest.test.js
const { cheapest } = require("./prices.js");

describe("Prices", () => {
  test("cheapest", () => {
    expect(cheapest([3, 1, 2])).toBe(1);
  });
});
"#;

/// Returns a project with the packages of Jest and Vitest.
fn javascript_project(fixture: &str) -> Option<TestedProject> {
    let jest = component("javascript-runners")?;
    let project = TestedProject::new(fixture, &["node"])?;
    let packages = jest.ancestors().nth(2).expect("node_modules/.bin/jest");
    let linked =
        Command::new("cp").arg("-al").arg(packages).arg(project.0.root().join("node_modules")).output();
    let linked = linked.expect("cp is there");
    assert!(linked.status.success(), "{}", String::from_utf8_lossy(&linked.stderr));
    Some(project)
}

#[test]
fn coverage_of_jest_says_which_file_of_tests_executes_a_block() {
    let Some(project) = javascript_project(&format!("{JEST}{JAVASCRIPT_SOURCES}")) else { return };
    let arguments = "codev-bench . --size 4 --language javascript";
    check_lines(&project, arguments, TestRunnerKind::Jest, "throw new Error();");
}

#[test]
fn coverage_of_vitest_says_which_file_of_tests_executes_a_block() {
    let typed = format!("{JEST}{JAVASCRIPT_SOURCES}")
        .replace(
            "\"jest\"}, \"jest\": {\"coverageThreshold\": {\"global\": {\"lines\": 100}}}",
            "\"vitest run\"}, \"type\": \"module\"",
        )
        .replace(".js\n", ".ts\n")
        .replace("(first, second, limit)", "(first: number, second: number, limit: number): number")
        .replace("(prices) {", "(prices: number[]): number {")
        .replace("(price) {", "(price: number): number {")
        .replace("module.exports =", "export")
        .replace(
            "const { total } = require(\"./prices.js\")",
            "import { expect, test } from \"vitest\";\nimport { total } from \"./prices\"",
        )
        .replace(
            "const { cheapest } = require(\"./prices.js\")",
            "import { describe, expect, test } from \"vitest\";\nimport { cheapest } from \"./prices\"",
        );
    let Some(project) = javascript_project(&typed) else { return };
    let arguments = "codev-bench . --size 4 --language typescript";
    check_lines(&project, arguments, TestRunnerKind::Vitest, "throw new Error();");
}
