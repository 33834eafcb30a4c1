//! Cuts the text that was written at a cursor to the unit of its scenario.
//!
//! | after the cursor | scenario |
//! |---|---|
//! | nothing was written | `inner_block`, `empty` |
//! | nothing but blanks in the file | `incomplete_suffix`, `file_tail` |
//! | nothing but closers in the function | `incomplete_suffix`, `function_tail` |
//! | the text covers a block, a body or the rest of a statement | `full_block` |
//! | otherwise | `inner_block`, `rest_of_block` |

use std::ops::Range;

use cases::{BlockKind, BodyCut, CompletionTask, MissingTail, Task};
use mining::{UnitAtCursor, UnitFinder};

/// The unit of a written text.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct WrittenUnit {
    /// Its end in the document; it begins where the written text begins.
    pub(crate) end: usize,
    /// The task; `None` if the code cannot be cut, because it has a syntax error or is no code.
    pub(crate) task: Option<Task>,
    /// Kind of the block it belongs to.
    pub(crate) kind: Option<BlockKind>,
}

/// Returns the unit of the text written in `written`; `units` finds those of the file with this text.
pub(crate) fn written_unit(units: &UnitFinder<'_>, text: &str, written: &Range<usize>) -> WrittenUnit {
    let start = written.start;
    let code = text.get(written.clone()).unwrap_or_default();
    if code.trim().is_empty() {
        return WrittenUnit { end: start, task: Some(Task::EMPTY), kind: None };
    }
    let unit = units.unit_at(start).ok();
    let Some(unit) = unit.filter(|unit| unit.range.end > start && unit.range.start == start) else {
        return WrittenUnit { end: trimmed_end(text, written), task: None, kind: None };
    };
    let is_whole = unit.range.end <= written.end || is_closing(&text[written.end..unit.range.end]);
    let end = if unit.range.end <= written.end { unit.range.end } else { trimmed_end(text, written) };
    let task = task(&unit, is_whole, &text[written.end..], text, written.end);
    WrittenUnit { end, task: Some(Task::Complete(task)), kind: Some(unit.kind) }
}

fn task(unit: &UnitAtCursor, is_whole: bool, suffix: &str, text: &str, end: usize) -> CompletionTask {
    let rest_of_function = unit.function_end.and_then(|function_end| text.get(end..function_end.max(end)));
    match rest_of_function {
        _ if suffix.trim().is_empty() => CompletionTask::IncompleteSuffix(MissingTail::FileTail),
        Some(rest) if is_closing(rest) => CompletionTask::IncompleteSuffix(MissingTail::FunctionTail),
        _ if is_whole => unit.task,
        _ => CompletionTask::InnerBlock(BodyCut::RestOfBlock),
    }
}

fn is_closing(rest: &str) -> bool {
    rest.chars().all(|character| character.is_whitespace() || ")]};,".contains(character))
}

/// Returns the end of the written text without the blanks at its end, unless other text follows on the line.
fn trimmed_end(text: &str, written: &Range<usize>) -> usize {
    let follows = text[written.end..].chars().next().is_some_and(|next| !next.is_whitespace());
    if follows { written.end } else { written.start + text[written.clone()].trim_end().len() }
}

#[cfg(test)]
mod tests {
    use syntax::{Language, SourceFile};

    use super::*;

    /// The text between the bars was written. Returns the scenario and the unit.
    fn unit(language: Language, marked: &str) -> (String, String) {
        let parts: Vec<&str> = marked.split('|').collect();
        let [before, written, after] = parts[..] else { panic!("two bars") };
        let text = [before, written, after].concat();
        let range = before.len()..before.len() + written.len();
        let file = SourceFile { path: "a".into(), language, text: text.as_str().into() };
        let tree = syntax::parse(language, &text);
        let unit = written_unit(&UnitFinder::new(&file, &tree), &text, &range);
        let scenario =
            unit.task.map(|task| format!("{}/{}", task.scenario(), task.variant().unwrap_or_default()));
        (scenario.unwrap_or_default(), text[range.start..unit.end].to_owned())
    }

    #[track_caller]
    fn check(language: Language, marked: &str, scenario: &str, text: &str) {
        assert_eq!(unit(language, marked), (scenario.to_owned(), text.to_owned()), "{marked}");
    }

    #[test]
    fn python() {
        let python = |marked, scenario, text| check(Language::Python, marked, scenario, text);
        python(
            "def f(a):\n    x = |a + 1\n    y = 2\n|    return x\n\nb = 1\n",
            "full_block/mid_statement",
            "a + 1",
        );
        python(
            "def f(a):\n    |if a:\n        return 1\n|    return x\n\nb = 1\n",
            "full_block/block_start",
            "if a:\n        return 1",
        );
        python("def f(a):|\n    return 1\n|\nb = 1\n", "incomplete_suffix/function_tail", "\n    return 1");
        python("def f(a):\n    x = 1\n    |return x|\n", "incomplete_suffix/file_tail", "return x");
        python("def f(a):\n    x = 1|\n    |\n    return x\n", "inner_block/empty", "");
        python("def f(a):\n    x = foo(|a, |b + c)\n    return x\n", "inner_block/rest_of_block", "a, ");
        python("def f(a):\n    x = foo(|a|)\n    return x\n", "full_block/mid_statement", "a");
    }

    #[test]
    fn braces() {
        let rust = |marked, scenario, text| check(Language::Rust, marked, scenario, text);
        rust(
            "fn f(a: u8) {\n    let x = |a + 1;\n    let y = 2;|\n    g(x);\n}\n",
            "full_block/mid_statement",
            "a + 1;",
        );
        rust(
            "fn f(a: u8) {\n    let x = |foo(a|);\n}\n\nfn g() {}\n",
            "incomplete_suffix/function_tail",
            "foo(a",
        );
        rust("fn f() {\n    |let = = ;|\n    g();\n}\n", "", "let = = ;");
    }
}
