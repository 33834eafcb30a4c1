//! Reads CrossCodeEval's files as its evaluation does. Written from a description of its rules: it shares nothing with the code that
//! writes the files.

use std::collections::HashMap;

use serde_json::Value;

/// Tokens of the prompt and of its part from other files, and tokens to generate: the defaults of the evaluation.
const MAX_TOKENS: usize = 2048;
const MAX_CONTEXT_TOKENS: usize = 512;
const GENERATED_TOKENS: usize = 50;

/// What the evaluation knows of a row.
pub(crate) struct Example {
    pub(crate) id: String,
    pub(crate) truth: String,
    /// The text that a model gets.
    pub(crate) prompt: String,
}

/// Reads the rows of a file in a language whose comments begin with `sign`. Panics where the evaluation would fail, or where a row
/// contradicts the description.
#[track_caller]
pub(crate) fn read_examples(rows: &[Value], sign: &str) -> Vec<Example> {
    let mut lines: HashMap<&str, usize> = HashMap::new();
    let mut examples = Vec::new();
    for (line, row) in rows.iter().enumerate() {
        let id = text(&row["metadata"]["task_id"]);
        assert_eq!(lines.insert(id, line), None, "the id {id} is on two lines");
        text(&row["right_context"]);
        let context = match row.get("crossfile_context") {
            None => String::new(),
            Some(context) => {
                check_text(context, sign);
                context_of(context, sign)
            }
        };
        let kept = MAX_TOKENS - GENERATED_TOKENS - tokens(&context).len();
        let prompt = tokens(text(&row["prompt"]));
        let prompt = prompt[prompt.len().saturating_sub(kept)..].concat();
        examples.push(Example {
            id: id.to_owned(),
            truth: text(&row["groundtruth"]).to_owned(),
            prompt: context + &prompt,
        });
    }
    examples
}

/// Returns the share of exact matches in percent. The evaluation fails unless there is one prediction for each example.
#[track_caller]
pub(crate) fn exact_matches(examples: &[Example], predictions: &[Value]) -> f64 {
    assert_eq!(predictions.len(), examples.len(), "a prediction for each example");
    let of = |example: &&Example| {
        let same = predictions.iter().find(|row| row["task_id"] == example.id.as_str());
        text(&same.unwrap_or_else(|| panic!("no prediction for {}", example.id))["pred"])
    };
    let is_exact = |example: &&Example| code_lines(of(example)) == code_lines(&example.truth);
    100.0 * examples.iter().filter(is_exact).count() as f64 / examples.len() as f64
}

#[track_caller]
fn text(value: &Value) -> &str {
    value.as_str().unwrap_or_else(|| panic!("{value} is no text"))
}

/// Returns the lines that are compared: without comments, blanks at both ends and empty lines.
fn code_lines(code: &str) -> Vec<String> {
    let without = |line: &str, sign: &str| line.split(sign).next().unwrap_or_default().to_owned();
    let lines = code.split('\n').map(|line| without(&without(line, "#"), "//").trim().to_owned());
    lines.filter(|line| !line.is_empty()).collect()
}

/// Checks that the rendered context is that of the list, best first.
#[track_caller]
fn check_text(context: &Value, sign: &str) {
    let list = context["list"].as_array().expect("a list of chunks");
    assert!(list.len() <= 5, "{} chunks", list.len());
    let scores: Vec<f64> = list.iter().map(|chunk| chunk["score"].as_f64().expect("a score")).collect();
    assert!(scores.windows(2).all(|pair| pair[0] >= pair[1]), "{scores:?}");
    let mut expected =
        format!("{sign} Here are some relevant code fragments from other files of the repo:\n\n");
    for chunk in list {
        let name = text(&chunk["filename"]);
        expected += &format!("{sign} the below code fragment can be found in:\n{sign} {name}\n");
        for line in text(&chunk["retrieved_chunk"]).trim_matches('\n').lines() {
            expected += &format!("{sign} {line}\n");
        }
        expected.push('\n');
    }
    assert_eq!(text(&context["text"]), expected);
}

/// Returns the context as the evaluation puts it before the prompt: chunks as long as they fit.
fn context_of(context: &Value, sign: &str) -> String {
    let header = format!("{sign} Here are some relevant code fragments from other files of the repo:\n\n");
    let mut length = tokens(&header).len();
    let mut blocks = String::new();
    for chunk in context["list"].as_array().expect("a list of chunks") {
        let lines = text(&chunk["retrieved_chunk"]).split('\n').filter(|line| !line.is_empty());
        let code: Vec<String> = lines.map(|line| format!("{sign} {line}")).collect();
        let name = text(&chunk["filename"]);
        let block = format!("{sign} the below code fragment is found in {name}\n{}\n\n", code.join("\n"));
        length += tokens(&block).len();
        if length > MAX_CONTEXT_TOKENS {
            break;
        }
        blocks += &block;
    }
    if blocks.is_empty() { blocks } else { header + &blocks }
}

/// Splits a text into pieces that give it again: words, blanks, and single characters. A model's tokens would be others; the rules of
/// assembly are the same.
fn tokens(text: &str) -> Vec<&str> {
    let is_word = |c: char| c.is_ascii_alphanumeric() || c == '_';
    let is_blank = |c: char| c == ' ' || c == '\t';
    let mut rest = text;
    let mut tokens = Vec::new();
    while let Some(first) = rest.chars().next() {
        let run = |of: &dyn Fn(char) -> bool| rest.find(|c| !of(c)).unwrap_or(rest.len());
        let length = match first {
            c if is_word(c) => run(&is_word),
            c if is_blank(c) => run(&is_blank),
            c => c.len_utf8(),
        };
        let (token, after) = rest.split_at(length);
        tokens.push(token);
        rest = after;
    }
    tokens
}
