//! Prompts with the fill-in-the-middle tokens of a model family: finds the text before and after the cursor in them.
//!
//! The opposite of `prompt`, by the same layouts, for prompts that other programs rendered. The last tokens count, since code of other files
//! may come before them.

use std::sync::LazyLock;

use prompt::ModelFamily;

use crate::routes::FillRequest;

/// The texts around the parts of a family's prompt.
#[derive(Clone, Copy, PartialEq, Eq)]
struct FimTokens {
    prefix: &'static str,
    suffix: &'static str,
    /// Where the answer begins; empty if it begins at the end of the prompt.
    middle: &'static str,
}

/// The tokens of all families, each once.
static FAMILIES: LazyLock<Vec<FimTokens>> = LazyLock::new(|| {
    let mut tokens: Vec<FimTokens> = Vec::new();
    for family in prompt::FAMILIES.iter().filter_map(FimTokens::of) {
        if !tokens.contains(&family) {
            tokens.push(family);
        }
    }
    tokens
});

/// Tokens before the path of the file, which ends at the end of its line.
const PATH_TOKENS: [&str; 4] = ["<|file_sep|>", "<|file_separator|>", "<file_sep>", "<filename>"];

/// Splits a prompt; `None` without the tokens of a family.
pub(crate) fn split(prompt: &str) -> Option<FillRequest> {
    FAMILIES.iter().find_map(|family| family.split(prompt))
}

impl FimTokens {
    /// Returns the tokens in the layout of a family; `None` if it has none, as chat models have.
    fn of(family: &ModelFamily) -> Option<FimTokens> {
        let layout = family.file_layout;
        let (prefix, suffix) = (layout.find("{prefix}")?, layout.find("{suffix}")?);
        let before = |part: usize| {
            let start = layout[..part].rfind(['}', '\n']).map_or(0, |end| end + 1);
            &layout[start..part]
        };
        let end = prefix.max(suffix) + "{prefix}".len();
        let tokens = FimTokens { prefix: before(prefix), suffix: before(suffix), middle: &layout[end..] };
        let is_token = |text: &str| text.trim_start().starts_with(['<', '[']);
        (is_token(tokens.prefix) && is_token(tokens.suffix)).then_some(tokens)
    }

    fn split(&self, prompt: &str) -> Option<FillRequest> {
        let (before, after) = (prompt.rfind(self.prefix)?, prompt.rfind(self.suffix)?);
        let is_apart = before + self.prefix.len() <= after || after + self.suffix.len() <= before;
        if !is_apart {
            return None;
        }
        let middle = if self.middle.is_empty() { prompt.len() } else { prompt.rfind(self.middle)? };
        let part = |start: usize, token: &str| {
            let start = start + token.len();
            let ends = [before, after, middle].into_iter().filter(|end| *end >= start);
            prompt.get(start..ends.min()?)
        };
        let (prefix, suffix) = (part(before, self.prefix)?, part(after, self.suffix)?);
        let (path, prefix) = path_and_prefix(&prompt[..before], prefix);
        Some(FillRequest { prefix: prefix.to_owned(), suffix: suffix.to_owned(), path })
    }
}

/// Returns the path of the file, which stands before the text or in its first line, and the text without it.
fn path_and_prefix<'a>(before: &str, prefix: &'a str) -> (Option<String>, &'a str) {
    let Some(token) = PATH_TOKENS.into_iter().find(|token| before.contains(token)) else {
        return (None, prefix);
    };
    let last = before.rsplit(token).next().unwrap_or_default();
    let named = last.split('\n').next().filter(|line| is_path(line) && last.trim_end() == line.trim_end());
    if let Some(path) = named {
        return (Some(path.trim().to_owned()), prefix);
    }
    match prefix.split_once('\n') {
        // StarCoder2 names the file behind the token.
        Some((line, rest)) if last.is_empty() && is_path(line) => (Some(line.trim().to_owned()), rest),
        _ => (None, prefix),
    }
}

fn is_path(line: &str) -> bool {
    let line = line.trim();
    !line.is_empty() && line.contains('.') && !line.contains([' ', '(', '=', ';', '"'])
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(prompt: &str, prefix: &str, suffix: &str, path: Option<&str>) {
        let expected = FillRequest {
            prefix: prefix.to_owned(),
            suffix: suffix.to_owned(),
            path: path.map(str::to_owned),
        };
        assert_eq!(split(prompt), Some(expected), "{prompt}");
    }

    #[test]
    fn prompts_of_all_families_are_split() {
        check("<|fim_prefix|>a\n<|fim_suffix|>\nb<|fim_middle|>", "a\n", "\nb", None);
        check("<fim_prefix>a<fim_suffix>b<fim_middle>", "a", "b", None);
        check("<PRE> a  <SUF>b <MID>", "a ", "b", None);
        check("<｜fim▁begin｜>a<｜fim▁hole｜>b<｜fim▁end｜>", "a", "b", None);
        check("<PRE> <SUF>b <MID> a", "a", "b", None);
        check("<s>[SUFFIX]b[PREFIX]a", "a", "b", None);
        check("<[fim-suffix]>b<[fim-prefix]>a<[fim-middle]>", "a", "b", None);
    }

    #[test]
    fn the_last_tokens_count_and_the_file_is_named() {
        let others = "<|repo_name|>r\n<|file_sep|>o.py\n<|fim_prefix|>no<|fim_suffix|>no<|fim_middle|>\n";
        let prompt =
            format!("{others}<|file_sep|>src/a.py\n<|fim_prefix|>x = <|fim_suffix|>\n<|fim_middle|>");
        check(&prompt, "x = ", "\n", Some("src/a.py"));
        let prompt =
            "<repo_name>r<file_sep>o.py\ncode<file_sep><fim_prefix>src/a.py\nx = <fim_suffix>\n<fim_middle>";
        check(prompt, "x = ", "\n", Some("src/a.py"));
    }

    #[test]
    fn a_prompt_without_all_tokens_is_no_hole() {
        for prompt in ["", "x = 1", "<|fim_prefix|>a", "<|fim_prefix|>a<|fim_suffix|>b", "[PREFIX]"] {
            assert_eq!(split(prompt), None, "{prompt}");
        }
    }
}
