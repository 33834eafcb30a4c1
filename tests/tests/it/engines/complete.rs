//! `ghostbench engines complete`.

use serde_json::Value;
use tests::Project;

use super::{WRITTEN, llama_cpp};
use crate::settings::user_file;

const FIXTURE: &str = "//- /shop/sum.py
import math


def add(prices):
    total = 0
    for price in prices:
        total += price
    return total


def count(prices):
    é = 1; 
    return len(prices)
//- /notes/ignored.py
x = 1
//- /.gitignore
notes/
//- /.git/HEAD
ref: refs/heads/main
";

#[test]
fn complete_shows_the_suggestion_in_context_with_its_trace() {
    let project = Project::new(FIXTURE);
    let (server, settings) = llama_cpp();
    user_file(&project, &format!("{settings}fim = \"qwen2.5-coder\"\n"));
    // After `é = 1; ` in the middle of the file: columns are characters.
    let shown = project.run("engines complete shop/sum.py:12:12 --prompt").expect_code(0).stdout;
    for words in [
        "mock · llama-cpp · the server's · asked as qwen2.5-coder (configuration)",
        "ok · context of ",
        "first text after ",
        " written",
        &format!("    12      é = 1; {{+{WRITTEN}+}}"),
        "    13      return len(prices)",
        "<|fim_suffix|>",
    ] {
        assert!(shown.contains(words), "no {words} in {shown}");
    }
    let asked = server.log().received.iter().filter(|received| received.path == "/completion").count();
    assert_eq!(asked, 1, "it is asked once");

    let two = project.run("engines complete shop/sum.py:12:12: --engine mock --engine empty --json");
    let two: Value = serde_json::from_str(&two.expect_code(0).stdout).expect("JSON alone");
    assert_eq!((&two["line"], &two["character"]), (&11.into(), &11.into()));
    assert_eq!((&two["engines"][0]["text"], &two["engines"][0]["status"]), (&WRITTEN.into(), &"ok".into()));
    assert_eq!(
        (&two["engines"][1]["name"], &two["engines"][1]["status"]),
        (&"empty".into(), &"silent".into())
    );
    assert!(
        two["engines"][0]["tokens"]["in"].as_u64() > Some(0) && two["engines"][0].get("prompt").is_none()
    );
}

#[test]
fn explain_shows_the_origin_of_copied_parts() {
    let project = Project::new(FIXTURE);
    project.write("shop/new.py", "def add(weights):\n    total = 0\n    for weight in \n");
    let explain = "engines complete shop/new.py:3:19 --engine builtin --explain --invoked";
    let shown = project.run(explain).expect_code(0).stdout;
    for words in [
        "     3      for weight in {+weights:+}\n",
        "  ①  weights:  shop/sum.py:6:18 ",
        "  renamed: prices → weights\n",
        "  it ends there because the statement is complete; probability that it is exactly right ",
    ] {
        assert!(shown.contains(words), "no {words} in {shown}");
    }

    let reported = project.run(&format!("{explain} --json")).expect_code(0).stdout;
    let reported: Value = serde_json::from_str(&reported).expect("JSON alone");
    let explanation = &reported["engines"][0]["explanation"];
    let span = &explanation["spans"][0];
    assert_eq!(
        (&span["path"], &span["line"], &span["character"]),
        (&"shop/sum.py".into(), &5.into(), &17.into())
    );
    assert!(explanation["ending"].is_string() && explanation["figures"].is_object(), "{explanation}");

    let silent =
        project.run("engines complete shop/sum.py:1:1 --engine empty --explain").expect_code(0).stdout;
    assert!(
        silent.contains("nothing is written because nothing in the workspace resembles this place"),
        "{silent}"
    );
}

#[test]
fn explain_reports_engines_without_explanations() {
    let project = Project::new(FIXTURE);
    let (_server, settings) = llama_cpp();
    user_file(&project, &settings);
    let shown = project.run("engines complete shop/sum.py:12:12 --explain").expect_code(0).stdout;
    assert!(shown.contains("mock does not explain its text; the built-in engine does"), "{shown}");
    let reported = project.run("engines complete shop/sum.py:12:12 --explain --json").expect_code(0).stdout;
    let reported: Value = serde_json::from_str(&reported).expect("JSON alone");
    assert_eq!(reported["engines"][0]["explanation"], Value::Null);
}

#[test]
fn invalid_cursor_arguments_are_rejected_with_a_hint() {
    let project = Project::new(FIXTURE);
    project.write("../outside.py", "x = 1\n");
    for (place, words) in [
        ("shop/sum.py", "name the line and the column too"),
        ("shop/sum.py:12", "name the column too"),
        ("shop/sum.py:0:1", "count from 1"),
        ("shop/sum.py:12:13", "line 12 of shop/sum.py has 12 columns"),
        ("shop/sum.py(99,1)", "shop/sum.py has 14 lines"),
        ("shop/none.py:1:1", "does not exist"),
        ("../outside.py:1:1", "is outside of the workspace"),
        ("notes/ignored.py:1:1", "is not an indexed source file"),
        ("shop:1:1", "is a folder"),
        ("sum.jsonl", "name a place as FILE:LINE:COLUMN"),
    ] {
        project.run(&format!("engines complete {place}")).expect_code(2).expect_message(&[words]);
    }
    project
        .run("engines complete shop/sum.py:1:1 --engine none")
        .expect_code(2)
        .expect_message(&["there is no engine"]);
}

#[test]
fn unreachable_engine_is_reported_and_the_code_shown() {
    let project = Project::new(FIXTURE);
    let (server, settings) = llama_cpp();
    user_file(&project, &settings);
    drop(server);
    let outcome = project.run("engines complete shop/sum.py:12:12").expect_code(3);
    for words in ["failed: engine `mock`: nothing listens at", "    12      é = 1;"] {
        assert!(outcome.stdout.contains(words), "no {words} in {}", outcome.stdout);
    }
}
