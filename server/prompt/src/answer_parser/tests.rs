//! Extraction of insertions, and agreement of partial answers with complete ones.

use expect_test::{Expect, expect};
use proptest::prelude::*;

use super::*;
use crate::model_families::FAMILIES;
use crate::special_tokens::escape_special_tokens;

fn reading(template: &str, prefix: &str, suffix: &str) -> AnswerParser {
    let template = if template == "hole" { Template::chat() } else { Template::parse(template).unwrap() };
    AnswerParser::new(&template, prefix, suffix, false)
}

/// Checks the insertion of a family's answer for a hole in the middle of a line.
#[track_caller]
fn check(template: &str, raw: &str, expect: Expect) {
    let reading = reading(template, "let a =", ";\n");
    expect.assert_eq(&format!("{:?}", reading.parse_whole(raw)));
    assert_grows(&reading, raw);
}

/// Checks the insertion of a chat answer, with `|` for the hole.
#[track_caller]
fn check_chat(around: &str, raw: &str, expect: Expect) {
    let (prefix, suffix) = around.split_once('|').unwrap();
    let reading = reading("hole", prefix, suffix);
    expect.assert_eq(&format!("{:?}", reading.parse_whole(raw)));
    assert_grows(&reading, raw);
}

/// Asserts that earlier insertions are prefixes of later ones, except for blanks at the end, and that complete ones do not change.
#[track_caller]
fn assert_grows(reading: &AnswerParser, raw: &str) {
    let ends: Vec<_> = raw.char_indices().map(|(at, _)| at).chain([raw.len()]).collect();
    let mut before = Insertion { text: String::new(), is_complete: false };
    for end in ends {
        let now = reading.parse_partial(&raw[..end]);
        assert!(now.text.starts_with(before.text.trim_end()), "{before:?} then {now:?} of {:?}", &raw[..end]);
        assert!(!before.is_complete || before == now, "{before:?} then {now:?} of {:?}", &raw[..end]);
        before = now;
    }
    let whole = reading.parse_whole(raw);
    assert!(whole.starts_with(before.text.trim_end()), "{before:?} then whole {whole:?} of {raw:?}");
    assert!(!before.is_complete || before.text == whole, "{before:?} then whole {whole:?} of {raw:?}");
}

#[test]
fn plain_answers_are_unchanged() {
    check("qwen2.5-coder", " compute(1)", expect![[r#"" compute(1)""#]]);
    check("codestral", "  indented\n\tand more\n", expect![[r#""  indented\n\tand more\n""#]]);
    check("codellama", "x < y && [PREFIX]", expect![[r#""x < y && [PREFIX]""#]]);
    check("qwen2.5-coder", "", expect![[r#""""#]]);
}

#[test]
fn answer_ends_before_a_special_token() {
    check("qwen2.5-coder", "a + b<|file_sep|>other.py\nx", expect![[r#""a + b""#]]);
    check("qwen2.5-coder", "a + b<|endoftext|>", expect![[r#""a + b""#]]);
    check("codellama", "a + b <EOT>", expect![[r#""a + b""#]]);
    check("codestral", "a + b\n+++++ other.py\nx", expect![[r#""a + b""#]]);
    check("codestral", "a + b[SUFFIX]", expect![[r#""a + b""#]]);
    check("deepseek-coder", "a + b<｜end▁of▁sentence｜>", expect![[r#""a + b""#]]);
    check("granite-3", "}\n}\n<|im_start|>assistant<|im_sep|>To create a concise", expect![[r#""}\n}\n""#]]);
    check("qwen2.5-coder", "<|endoftext|>", expect![[r#""""#]]);
    check("seed-coder", "a<[end▁of▁sentence]>", expect![[r#""a""#]]);
}

#[test]
fn tokens_of_other_families_are_code() {
    check("codegemma", "\"<fim_prefix>\"", expect![[r#""\"<fim_prefix>\"""#]]);
    check("starcoder", "a <file", expect![[r#""a <file""#]]);
}

#[test]
fn repeated_prompt_is_removed() {
    check("qwen2.5-coder", "<|fim_middle|>a + b", expect![[r#""a + b""#]]);
    check(
        "codegemma",
        "<|fim_prefix|>let a =<|fim_suffix|>;\n<|fim_middle|>a + b<|file_separator|>",
        expect![[r#""a + b""#]],
    );
    check("codellama", "<PRE> let a = <SUF>;\n <MID>a + b <EOT>", expect![[r#""a + b""#]]);
}

#[test]
fn known_artifacts_of_model_families_are_removed() {
    check("starcoder2", "a + b\nt", expect![[r#""a + b""#]]);
    check("starcoder2", "a + b\nt.", expect![[r#""a + b""#]]);
    check("starcoder2", "a\nthis.b", expect![[r#""a\nthis.b""#]]);
    check("stable-code", "a + b</code>", expect![[r#""a + b""#]]);
    check("stable-code", "<code>a</code>;", expect![[r#""<code>a</code>;""#]]);
}

#[test]
fn reasoning_is_removed() {
    check("qwen2.5-coder", "<think>\nWhat is a?\n</think>\n\n b + c", expect![[r#"" b + c""#]]);
    check("qwen2.5-coder", "<think>What is a", expect![[r#""""#]]);
    check("qwen2.5-coder", "<thin>x</thin>", expect![[r#""<thin>x</thin>""#]]);
    check_chat("a = |;", "[THINK]the sum[/THINK]<FILL>b + c</FILL>", expect![[r#""b + c""#]]);
    check_chat("a = |;", "It is the sum.\n</think>\n<FILL>b + c</FILL>", expect![[r#""b + c""#]]);
    check_chat("a = |;", "<think>Is it <FILL>x</FILL>?</think><FILL>b + c</FILL>", expect![[r#""b + c""#]]);
}

#[test]
fn code_fences_around_completions_are_removed() {
    check("qwen2.5-coder", "```python\na + b\n```\nThis adds.", expect![[r#""a + b""#]]);
    check("qwen2.5-coder", "\n```\na + b\nc\n", expect![[r#""a + b\nc\n""#]]);
    check("granite-3", "name, results}\n```", expect![[r#""name, results}""#]]);
    check("granite-3", "\n    return anim\n```\n\nThis code", expect![[r#""\n    return anim""#]]);
    check("qwen2.5-coder", "`${a} ```b``` `", expect![[r#""`${a} ```b``` `""#]]);
    check("qwen2.5-coder", "```a + b```", expect![[r#""a + b""#]]);
}

#[test]
fn code_fences_in_a_documentation_comment_are_kept() {
    let reading = reading("qwen2.5-coder", "\"\"\"Adds.\n\n```python\n>>> add(1, 2)\n", "\"\"\"\n");
    assert_eq!(reading.parse_whole("3\n```\n"), "3\n```\n");
    assert_grows(&reading, "3\n```\n");
}

#[test]
fn chat_answer_is_read_between_its_marks() {
    check_chat("a = |;", "<FILL>b + c</FILL>", expect![[r#""b + c""#]]);
    check_chat("a = |;", "Here it is:\n<FILL>b + c</FILL>\nIt adds.", expect![[r#""b + c""#]]);
    check_chat("a = |;", "<FILL>b + c", expect![[r#""b + c""#]]);
    check_chat("a = |;", "<FILL></FILL>", expect![[r#""""#]]);
    check_chat("a = |;", "b + c</FILL>", expect![[r#""b + c""#]]);
    check_chat("a = |;", "<FILL><HOLE/>b + c</FILL>", expect![[r#""b + c""#]]);
    check_chat("a = |;", "<FILL>b + c<HOLE/>;</FILL>", expect![[r#""b + c""#]]);
}

#[test]
fn line_breaks_next_to_chat_marks_are_kept_only_if_needed() {
    // The text before the hole cannot end a line: the line breaks belong to the marks.
    check_chat("a = |;\n", "<FILL>\nb + c\n</FILL>", expect![[r#""b + c""#]]);
    // The hole begins a line, and so does the text.
    check_chat("f():\n    |\n", "<FILL>\nreturn 1\n</FILL>", expect![[r#""return 1""#]]);
    // A line can end here, and the text begins a new one.
    check_chat("def f():|\n", "<FILL>\n    return 1</FILL>", expect![[r#""\n    return 1""#]]);
    check_chat("def f():|\n", "<FILL>\n    return 1\n</FILL>", expect![[r#""\n    return 1""#]]);
    // Complete lines before a continued one.
    check_chat("f()\n|g()\n", "<FILL>h()\n</FILL>", expect![[r#""h()\n""#]]);
}

#[test]
fn chat_answer_is_read_from_code_fences() {
    check_chat("a = |;", "```python\nb + c\n```", expect![[r#""b + c""#]]);
    check_chat(
        "a = |;",
        "Sure! The hole is:\n\n```js\nb +\n  c\n```\n\nIt adds `b`.",
        expect![[r#""b +\n  c""#]],
    );
    check_chat("a = |;", "<FILL>\n```python\nb + c\n```\n</FILL>", expect![[r#""b + c""#]]);
    check_chat("a = |;", "```\n<HOLE/>\n```", expect![[r#""""#]]);
    check_chat("a = |;", "```\nb + c", expect![[r#""b + c""#]]);
}

#[test]
fn chat_answer_of_plain_code_is_accepted() {
    check_chat("a = |;", "b + c", expect![[r#""b + c""#]]);
    check_chat("a = |;", "`b + c`", expect![[r#""b + c""#]]);
    check_chat("a = |;", "`b` + `c`", expect![[r#""`b` + `c`""#]]);
}

#[test]
fn escaped_tokens_are_restored() {
    let template = Template::parse("starcoder").unwrap();
    let tokens = template.tokens();
    let prefix = "tokens = ['<fim_prefix>', ";
    let reading = AnswerParser::new(&template, &escape_special_tokens(prefix, &tokens), "]", true);
    let raw = escape_special_tokens("'<fim_suffix>', '<fim_middle>'", &tokens);
    assert_eq!(reading.parse_whole(&raw), "'<fim_suffix>', '<fim_middle>'");
    assert_eq!(reading.parse_whole(&raw[..raw.len() - 3]), "'<fim_suffix>', '<fim_middl");
    assert_grows(&reading, &raw);
}

#[test]
fn answer_is_complete_at_its_end_mark() {
    let qwen = reading("qwen2.5-coder", "", "");
    assert!(!qwen.parse_partial("a + b<|file_se").is_complete);
    assert_eq!(qwen.parse_partial("a + b<|file_se").text, "a + b");
    assert!(qwen.parse_partial("a + b<|file_sep|>").is_complete);
    assert!(reading("hole", "a = ", "").parse_partial("<FILL>b</FILL>").is_complete);
    assert!(reading("hole", "a = ", "").parse_partial("```\nb\n```\n").is_complete);
    assert!(!reading("hole", "a = ", "").parse_partial("talk").is_complete);
}

/// Answers composed of relevant pieces.
fn answer() -> impl Strategy<Value = String> {
    let piece = prop_oneof![
        Just("<FILL>".to_owned()),
        Just("</FILL>".to_owned()),
        Just("<HOLE/>".to_owned()),
        Just("<think>".to_owned()),
        Just("</think>".to_owned()),
        Just("```".to_owned()),
        Just("```rust\n".to_owned()),
        Just("\n".to_owned()),
        Just("<|fim_prefix|>".to_owned()),
        Just("<|fim_middle|>".to_owned()),
        Just("<fim_middle>".to_owned()),
        Just("<\u{200B}|fim_suffix|>".to_owned()),
        Just("<|endoftext|>".to_owned()),
        Just(" <EOT>".to_owned()),
        Just("\nt".to_owned()),
        Just("</code>".to_owned()),
        "[a-z (){};`<>|é]{0,6}",
    ];
    prop::collection::vec(piece, 0..8).prop_map(|pieces| pieces.concat())
}

proptest! {
    #[test]
    fn any_answer_grows_and_has_no_end_tokens(raw in answer(), family in 0..FAMILIES.len(), prefix in "[a-z=(\n `]{0,9}", restores: bool) {
        let reading = AnswerParser::new(&Template::Family(&FAMILIES[family]), &prefix, "x\n", restores);
        assert_grows(&reading, &raw);
        let whole = reading.parse_whole(&raw);
        if !restores {
            for token in FAMILIES[family].ends() {
                prop_assert!(!whole.contains(token), "{token} in {whole:?}");
            }
        }
    }

    #[test]
    fn any_chat_answer_grows_and_has_no_marks(raw in answer(), prefix in "[a-z=(\n `]{0,9}", suffix in "[a-z\n ]{0,4}") {
        let reading = AnswerParser::new(&Template::chat(), &prefix, &suffix, false);
        // A closing mark of thoughts takes back everything before it, marks included.
        if !raw.contains("</think>") {
            assert_grows(&reading, &raw);
        }
        let whole = reading.parse_whole(&raw);
        prop_assert!(!whole.contains(HOLE_MARK) && !whole.contains(ANSWER_CLOSE), "{whole:?}");
    }
}
