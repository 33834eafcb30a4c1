//! Messages: place, problem and remedy, all at once.

use expect_test::{Expect, expect};

use crate::fixture::{check, config};

/// Compares the problems of a user's file.
#[track_caller]
fn check_file(text: &str, expected: Expect) {
    let problems = config(&format!("//- user\n{text}")).problems;
    let shown = problems.iter().map(|problem| {
        let shown = problem.to_string();
        let (_, rest) = shown.split_once("config.toml").expect("the problem is in the file");
        format!("{:?}{rest}\n", problem.severity)
    });
    expected.assert_eq(&shown.collect::<String>());
}

#[test]
fn unknown_keys_are_reported_with_suggestions() {
    check_file(
        r#"
contxt.strategy = "none"
strategy = "none"
url = "http://h"
trusted = true
[completion]
deadlineMs = 5
strategy = "none"
colour = 1
[experiment]
mode = "duel"
[[engine]]
name = "a"
kind = "openai"
url = "http://h"
modle = "m"
api_key = "sk-do-not-show"
privacy = "full"
xyz = 1
"a\nb" = 2
"#,
        expect![[r#"
            Warning:2:1: unknown section `contxt`; did you mean `context`?
            Warning:3:1: `strategy` belongs in [context]; move it there
            Warning:4:1: `url` belongs in [collect]; move it there
            Warning:5:1: only an editor, `ghostbench trust` and --config can trust a file; remove `trusted`
            Warning:7:1: unknown key `deadlineMs`; did you mean `deadline_ms`?
            Warning:8:1: `strategy` belongs in [context]; move it there
            Warning:9:1: unknown key `colour`; known are `enabled`, `engine`, `deadline_ms`, `debounce_ms`, `min_confidence`
            Warning:10:2: unknown section `experiment`; known are `completion`, `context`, `record`, `index`, `trial`, `tests`, `serve`, `collect`, `engine`
            Warning:16:1: unknown key `modle`; did you mean `model`?
            Warning:17:1: keys are not allowed here; put the key into an environment variable and name it in `api_key_env`
            Warning:18:1: `privacy` belongs in [record]; move it there
            Warning:19:1: unknown key `xyz`; known are `name`, `kind`, `url`, `model`, `fim`, `api_key_env`, `headers`, `extra_body`, `proxy`, `tls_roots`, `gguf`, `command`, `env`, `folder`, `request`, `initialization_options`, `settings`, `method`, `temperature`, `max_tokens`, `context_window`, `connect_timeout_ms`, `first_byte_timeout_ms`, `idle_timeout_ms`, `start_timeout_ms`, `concurrency`, `price_in`, `price_out`, `cutoff`
            Warning:20:1: unknown key `a\nb`; known are `name`, `kind`, `url`, `model`, `fim`, `api_key_env`, `headers`, `extra_body`, `proxy`, `tls_roots`, `gguf`, `command`, `env`, `folder`, `request`, `initialization_options`, `settings`, `method`, `temperature`, `max_tokens`, `context_window`, `connect_timeout_ms`, `first_byte_timeout_ms`, `idle_timeout_ms`, `start_timeout_ms`, `concurrency`, `price_in`, `price_out`, `cutoff`
        "#]],
    );
}

#[test]
fn invalid_values_are_reported_with_the_expected_type() {
    check_file(
        r#"
[completion]
enabled = "yes"
engine = ""
deadline_ms = 0
min_confidence = 1.5
[context]
strategy = "hybird"
budget_tokens = 1e3
[record]
privacy = "everything about me"
[[engine]]
name = " a"
[[engine]]
name = "b"
kind = "opnai"
url = "localhost:8080"
model = 3
api_key_env = "sk-do-not-show"
headers = ["x"]
extra_body = {when = 1979-05-27}
tls_roots = ""
command = "run --fast"
temperature = nan
max_tokens = 99999999999999999999
idle_timeout_ms = 1.5
concurrency = -1
price_in = "free"
"#,
        expect![[r#"
            Error:3:11: `enabled` must be true or false, not text
            Error:4:10: `engine` must be a name of one line and at most 100 bytes, without blanks around it, not empty text
            Error:5:15: `deadline_ms` must be a whole number of milliseconds from 1 to 600000, not 0
            Error:6:18: `min_confidence` must be a number from 0 to 1, not 1.5
            Error:8:12: `strategy` cannot be `hybird`; did you mean `hybrid`?
            Warning:11:11: `privacy` must be one of `full`, `structure`, `metrics`, `off`; until it is corrected, `off` applies, and nothing is recorded
            Error:13:8: `name` must be a name of one line and at most 100 bytes, without blanks around it
            Error:16:8: `kind` cannot be `opnai`; did you mean `openai`?
            Error:17:7: `url` must be an address like "http://127.0.0.1:8080"
            Error:18:9: `model` must be text, not a whole number
            Error:19:15: `api_key_env` must be the name of an environment variable, in capital letters; if that is the key itself, remove it here and put it into the environment
            Error:20:11: `headers` must be a table of texts, in which $NAME stands for an environment variable, not a list
            Error:21:14: `extra_body` cannot hold a date
            Error:22:13: `tls_roots` must be a path, not empty text
            Error:23:11: `command` must be a list of a program and its arguments, like ["program", "argument"], not text
            Error:24:15: `temperature` must be a number from 0 to 2, not NaN
            Error:25:14: `max_tokens` must be a whole number of tokens from 1 to 10000000, not a number too large
            Error:26:19: `idle_timeout_ms` must be a whole number of milliseconds from 1 to 600000, not 1.5
            Error:27:15: `concurrency` must be a whole number of requests from 1 to 1024, not -1
            Error:28:12: `price_in` must be a number from 0 to 1000000, not text
        "#]],
    );
}

#[test]
fn wrong_table_shapes_are_reported_with_the_syntax() {
    check_file(
        "completion = 3\n[engine]\nname = \"a\"\n[[context]]\n",
        expect![[r#"
        Error:1:1: `completion` must be a table, not a whole number: write [completion]
        Error:2:2: `engine` must be a list, not a table: begin each engine with [[engine]]
        Error:4:3: `context` must be a table, not a list: write [context]
    "#]],
    );
    check_file(
        "engine = [3, {kind = \"builtin\"}, {name = \"a\"}]\n",
        expect![[r#"
        Error:1:11: an engine must be a table with a `name` and a `kind`, not a whole number
        Error:1:14: this engine has no `name`; give it one
        Error:1:34: engine `a` has no `kind`; give it one
    "#]],
    );
}

#[test]
fn all_toml_errors_are_reported_with_other_problems() {
    check_file(
        "[completion\nenabled = \n[context]\nstratgy = \"none\"\nstrategy = none\nbudget_tokens = 1\nbudget_tokens = 2\n[record]\nprivacy = \"full\n",
        expect![[r#"
            Error:1:12: invalid TOML: unclosed table, expected `]`
            Warning:4:1: unknown key `stratgy`; did you mean `strategy`?
            Error:5:12: invalid TOML: text must be in quotes
            Error:7:1: invalid TOML: duplicate key
            Error:9:16: invalid TOML: invalid basic string, expected `"`
        "#]],
    );
    check_file(
        "\u{feff}colour = 1\r\nénabled = true\r\n",
        expect![[r#"
            Warning:1:1: unknown section `colour`; known are `completion`, `context`, `record`, `index`, `trial`, `tests`, `serve`, `collect`, `engine`
            Error:2:1: invalid TOML: invalid unquoted key, expected letters, numbers, `-`, `_`
        "#]],
    );
    check_file(
        "\"ü\" = 1 \u{1} oops\n",
        expect![[r#"
        Error:1:7: invalid TOML: string values must be quoted, expected literal string
    "#]],
    );
}

#[test]
fn invalid_utf8_is_reported_with_its_position() {
    let path = std::path::Path::new("/c.toml");
    let variables = config::Environment::default();
    let content = b"[context]\nstrategy = \"\xff\"\n";
    let layer =
        config::ConfigLayer::file(config::LayerKind::User, path, content, config::Trust::Trusted, &variables);
    expect!["/c.toml:2:13: invalid UTF-8; save the file in UTF-8"]
        .assert_eq(&layer.problems()[0].to_string());
    let layer = config::ConfigLayer::unreadable(config::LayerKind::User, path, "permission denied");
    expect!["/c.toml: cannot be read: permission denied"].assert_eq(&layer.problems()[0].to_string());
}

#[test]
fn invalid_headers_and_urls_are_reported_without_values() {
    check_file(
        r#"
[[engine]]
name = "a"
kind = "openai"
url = "ftp://user:do-not-show@h"
proxy = "user:do-not-show@proxy"
headers = {"X Y" = "do-not-show"}
[[engine]]
name = "b"
kind = "openai"
url = "http://h"
headers = {A = "do-not-show $ 5"}
proxy = "http://$"
[[engine]]
name = "c"
kind = "openai"
url = "http://h"
headers = {A = "do\nnot\nshow"}
"#,
        expect![[r#"
            Error:5:7: `url` must be an address like "http://127.0.0.1:8080"
            Error:6:9: `proxy` must be an address like "http://proxy:3128", in which $NAME stands for an environment variable, or "none"
            Error:7:11: `headers` has a header whose name has characters that no header has
            Error:12:11: `headers` has a dollar sign that names no variable: write $NAME for a variable and $$ for a dollar sign
            Error:13:9: `proxy` has a dollar sign that names no variable: write $NAME for a variable and $$ for a dollar sign
            Error:18:11: `headers` has a value for `A` that is more than one line
        "#]],
    );
}

#[test]
fn unknown_ghostbench_variables_are_reported() {
    check(
        "//- environment\nGHOSTBENCH_CONTEXT_STRATGY=none\nGHOSTBENCH_CONTEXT_COLOUR=1\nGHOSTBENCH_BIN=/x\nGHOSTBENCH_CONTEXT_STRATEGY=\nGHOSTBENCH_CONTEXT_BUDGET_TOKENS=many\nPATH=/bin\n",
        expect![[r#"
            Error variable GHOSTBENCH_CONTEXT_BUDGET_TOKENS: `budget_tokens` in [context] must be a whole number of tokens from 0 to 1000000, not text
            Warning variable GHOSTBENCH_CONTEXT_COLOUR: unknown variable GHOSTBENCH_CONTEXT_COLOUR; [context] has no such key
            Warning variable GHOSTBENCH_CONTEXT_STRATGY: unknown variable GHOSTBENCH_CONTEXT_STRATGY; did you mean GHOSTBENCH_CONTEXT_STRATEGY?
        "#]],
    );
}

#[test]
fn editor_settings_problems_are_reported_by_path() {
    check(
        r#"
//- editor
{"completion": {"colour": 1, "enabled": "no"}, "deadlineMs": 5, "trusted": "yes", "engine": [{"name": "a", "kind": "openai", "uri": "x"}],
 "contxt": {}}
"#,
        expect![[r#"
            [a] openai: it needs `url`
            Warning setting ghostbench.completion.colour: unknown key `colour`; known are `enabled`, `engine`, `deadline_ms`, `debounce_ms`, `min_confidence`
            Error setting ghostbench.completion.enabled: `enabled` must be true or false, not text
            Warning setting ghostbench.contxt: unknown section `contxt`; did you mean `context`?
            Warning setting ghostbench.deadlineMs: `deadline_ms` belongs in [completion]; move it there
            Warning setting ghostbench.engine[0].uri: unknown key `uri`; did you mean `url`?
            Warning setting ghostbench.trusted: only an editor, `ghostbench trust` and --config can trust a file; remove `trusted`
            Error setting ghostbench.engine[0]: engine `a` of kind `openai` needs `url`
        "#]],
    );
}

#[test]
fn deeply_nested_toml_is_reported_as_invalid() {
    const DEEP: usize = 30_000;
    for text in [
        format!("a = {}{}", "[".repeat(DEEP), "]".repeat(DEEP)),
        format!("a = {}{}", "{b = ".repeat(DEEP), "}".repeat(DEEP)),
        format!("{}a = 1", "a.".repeat(DEEP)),
        format!("[{}a]", "a.".repeat(DEEP)),
        format!("[[engine]]\nname = \"a\"\nkind = \"builtin\"\nextra_body.{}b = 1", "a.".repeat(DEEP)),
    ] {
        let problems = config(&format!("//- user\n{text}")).problems;
        assert!(problems.iter().any(|problem| problem.to_string().contains("invalid TOML")), "{problems:?}");
    }
}
