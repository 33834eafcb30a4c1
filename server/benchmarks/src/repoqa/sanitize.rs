//! Extraction of the function from an answer.

use syntax::Language;
use text::python;

use crate::ScoringRules;
use crate::fences::fenced_blocks;

/// The code of an answer.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct SanitizedAnswer {
    /// The code by the rules asked for.
    pub(crate) code: String,
    /// Whether the other rules read other code.
    pub(crate) is_read_differently: bool,
}

/// Returns the code of an answer: the first function in its code blocks, else its first block, else the stripped answer.
///
/// [`ScoringRules::Faithful`] recognizes fewer fences than Markdown: three backticks at the start of a line with at most one word after
/// them, closed by a line that begins with three backticks. The closing line of any other fence can open a block.
pub fn sanitize(language: Language, answer: &str, rules: ScoringRules) -> String {
    let answer = python::strip(answer);
    code_of(language, answer, &blocks(answer, rules)).to_owned()
}

/// Like [`sanitize`], and says whether the other rules read other code.
pub(crate) fn sanitized_answer(language: Language, answer: &str, rules: ScoringRules) -> SanitizedAnswer {
    let answer = python::strip(answer);
    let (found, others) = (blocks(answer, rules), blocks(answer, rules.other()));
    let code = code_of(language, answer, &found);
    // Equal blocks need not be parsed again.
    let is_read_differently = found != others && code_of(language, answer, &others) != code;
    SanitizedAnswer { code: code.to_owned(), is_read_differently }
}

fn blocks(answer: &str, rules: ScoringRules) -> Vec<&str> {
    match rules {
        ScoringRules::Paper => fenced_blocks(answer),
        ScoringRules::Faithful => original_blocks(answer),
    }
}

fn code_of<'a>(language: Language, answer: &'a str, blocks: &[&'a str]) -> &'a str {
    let function = blocks.iter().find_map(|block| first_function(language, block));
    function.or_else(|| blocks.first().copied()).unwrap_or(answer)
}

fn first_function(language: Language, block: &str) -> Option<&str> {
    let tree = syntax::parse(language, block);
    let function = tree.declared_functions().next()?;
    Some(&block[function.range])
}

const FENCE: &str = "```";

/// Returns the blocks that the original's pattern finds.
fn original_blocks(answer: &str) -> Vec<&str> {
    let mut blocks = Vec::new();
    let mut from = 0;
    while let Some(open) = find_fence(answer, from) {
        from = open + FENCE.len();
        let Some(content) = content_start(answer, from) else { continue };
        // Without a closing fence for this block, there is none for a later one.
        let Some(close) = find_fence(answer, content) else { break };
        blocks.push(&answer[content..close]);
        from = close + FENCE.len();
    }
    blocks
}

/// Returns the next fence at the start of a line.
fn find_fence(text: &str, from: usize) -> Option<usize> {
    let found = text[from..].match_indices(FENCE).map(|(at, _)| from + at);
    found.into_iter().find(|&at| at == 0 || text.as_bytes()[at - 1] == b'\n')
}

/// Returns the start of the block's content if `from`, after the backticks, is followed by a word at most and white space up to a
/// line feed. All line feeds of that white space belong to the fence.
fn content_start(text: &str, from: usize) -> Option<usize> {
    let info = text[from..].trim_start_matches(python::is_word);
    let blank = info.len() - info.trim_start_matches(python::is_space).len();
    let last = info[..blank].rfind('\n')?;
    Some(text.len() - info.len() + last + 1)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check(answer: &str, paper: &str, faithful: &str) {
        assert_eq!(sanitize(Language::Python, answer, ScoringRules::Paper), paper, "paper");
        assert_eq!(sanitize(Language::Python, answer, ScoringRules::Faithful), faithful, "faithful");
        for (rules, code) in [(ScoringRules::Paper, paper), (ScoringRules::Faithful, faithful)] {
            let expected = SanitizedAnswer { code: code.to_owned(), is_read_differently: paper != faithful };
            assert_eq!(sanitized_answer(Language::Python, answer, rules), expected, "{answer}");
        }
    }

    #[test]
    fn first_function_of_the_blocks_is_the_answer() {
        let answer = "Sure:\n```python\nx = 1\n```\nor\n```\n@a\ndef f(): pass\ndef g(): pass\n```\n";
        check(answer, "def f(): pass", "def f(): pass");
        check("```\n\n x \n```", "\n x \n", " x \n");
        check(" def f(): pass ", "def f(): pass", "def f(): pass");
    }

    #[test]
    fn fences_that_the_original_overlooks() {
        check("```c++\nx\n```\ny", "x\n", "```c++\nx\n```\ny");
        check("```c++\nx\n```\ny\n```", "x\n", "y\n");
        check("```\ndef f(): pass", "def f(): pass", "```\ndef f(): pass");
    }
}
