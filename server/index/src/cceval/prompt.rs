//! Prompts as the original's programs build them from a prefix and the retrieved chunks.
//!
//! Lengths are tokens of the model, which only the caller can count: a [`TokenizeFn`] returns the ends of a text's tokens. The
//! texts on both sides of the joint are tokenized separately, as in the original.

use syntax::Language;

use super::ChunkHit;
use super::context_text::head;

/// The ends of the tokens of a text in bytes, ascending; the last one is the text's length.
pub type TokenizeFn<'a> = dyn Fn(&str) -> Vec<usize> + 'a;

/// A prompt and its length.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct CcevalPrompt {
    /// The whole text.
    pub text: String,
    /// Its length in tokens.
    pub tokens: usize,
}

/// Limits for a model that runs in the original's own program, in tokens.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct LocalPromptSettings {
    /// Prompt and answer together.
    pub max_tokens: usize,
    /// The answer.
    pub answer_tokens: usize,
    /// The chunks before the prompt.
    pub context_tokens: usize,
    /// Only chunks with a higher score are used.
    pub min_score: f64,
}

impl LocalPromptSettings {
    /// The original's defaults.
    pub const PAPER: LocalPromptSettings = LocalPromptSettings {
        max_tokens: 2048,
        answer_tokens: 50,
        context_tokens: 512,
        min_score: f64::NEG_INFINITY,
    };

    fn prompt_tokens(&self) -> usize {
        self.max_tokens.saturating_sub(self.answer_tokens)
    }
}

/// Returns the prompt without chunks: the end of `prefix`.
pub fn local_prompt(prefix: &str, settings: &LocalPromptSettings, tokenize: &TokenizeFn<'_>) -> CcevalPrompt {
    let (text, tokens) = last_tokens(prefix, settings.prompt_tokens(), tokenize);
    CcevalPrompt { text: text.to_owned(), tokens }
}

/// Returns the prompt with chunks. They are added in order until one does not fit; the prefix fills the rest.
pub fn local_prompt_with_chunks(
    language: Language,
    hits: &[ChunkHit],
    prefix: &str,
    settings: &LocalPromptSettings,
    tokenize: &TokenizeFn<'_>,
) -> CcevalPrompt {
    let context = local_context(language.line_comment(), hits, settings, tokenize);
    let (context, context_tokens) = first_tokens(&context, settings.context_tokens, tokenize);
    let room = settings.prompt_tokens().saturating_sub(context_tokens);
    let (prefix, prefix_tokens) = last_tokens(prefix, room, tokenize);
    CcevalPrompt { text: format!("{context}{prefix}"), tokens: context_tokens + prefix_tokens }
}

fn local_context(
    sign: &str,
    hits: &[ChunkHit],
    settings: &LocalPromptSettings,
    tokenize: &TokenizeFn<'_>,
) -> String {
    let head = head(sign);
    let mut used = tokenize(&head).len();
    let mut context = String::new();
    for hit in hits.iter().filter(|hit| hit.score > settings.min_score) {
        let block = block(sign, hit);
        used += tokenize(&block).len();
        if used > settings.context_tokens {
            break;
        }
        context.push_str(&block);
    }
    if context.is_empty() { context } else { head + &context }
}

/// Formats a chunk under a line with its file's name. The wording differs from [`super::context_text()`].
fn block(sign: &str, hit: &ChunkHit) -> String {
    let lines = hit.text().split('\n').filter(|line| !line.is_empty());
    let lines: Vec<String> = lines.map(|line| format!("{sign} {line}")).collect();
    format!("{sign} the below code fragment is found in {}\n{}\n\n", hit.reported_path, lines.join("\n"))
}

/// Limits for a model behind a server, in tokens.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ServerPromptSettings {
    /// The chunks before the prompt.
    pub context_tokens: usize,
    /// The prompt without them.
    pub prompt_tokens: usize,
}

/// Returns the start of `context`, a line feed, and the end of `prefix`. Without a context the line feed remains.
pub fn served_prompt(
    context: &str,
    prefix: &str,
    settings: &ServerPromptSettings,
    tokenize: &TokenizeFn<'_>,
) -> String {
    let (context, _) = first_tokens(context, settings.context_tokens, tokenize);
    let (prefix, _) = last_tokens(prefix, settings.prompt_tokens, tokenize);
    format!("{context}\n{prefix}")
}

/// Returns the first `limit` tokens of `text`, and their number.
fn first_tokens<'a>(text: &'a str, limit: usize, tokenize: &TokenizeFn<'_>) -> (&'a str, usize) {
    let ends = tokenize(text);
    let tokens = ends.len().min(limit);
    let end = tokens.checked_sub(1).map_or(0, |last| ends[last]);
    (&text[..end], tokens)
}

/// Returns the last `limit` tokens of `text`, and their number.
fn last_tokens<'a>(text: &'a str, limit: usize, tokenize: &TokenizeFn<'_>) -> (&'a str, usize) {
    let ends = tokenize(text);
    let tokens = ends.len().min(limit);
    let start = (ends.len() - tokens).checked_sub(1).map_or(0, |before| ends[before]);
    (&text[start..], tokens)
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use expect_test::expect;

    use super::*;
    use crate::cceval::{FileChunks, context_text};

    /// Every character is a token.
    fn characters(text: &str) -> Vec<usize> {
        text.char_indices().map(|(at, character)| at + character.len_utf8()).collect()
    }

    fn hits() -> Vec<ChunkHit> {
        [("a.py", "one\n\n  two", 3.0), ("b.py", &"long ".repeat(60), 2.0), ("c.py", "x", 2.0)]
            .map(|(path, text, score)| {
                let file = Arc::new(FileChunks::new(path.into(), text));
                ChunkHit { reported_path: file.path().clone(), score, file, chunk: 0 }
            })
            .into()
    }

    const SETTINGS: LocalPromptSettings =
        LocalPromptSettings { max_tokens: 210, answer_tokens: 10, context_tokens: 190, min_score: 1.0 };

    #[test]
    fn chunks_are_added_until_the_token_limit_before_the_prefix() {
        let prompt = local_prompt_with_chunks(
            Language::Python,
            &hits(),
            "0123456789 é",
            &LocalPromptSettings { ..SETTINGS },
            &characters,
        );
        expect![[r#"
            # Here are some relevant code fragments from other files of the repo:

            # the below code fragment is found in a.py
            # one
            #   two

            0123456789 é"#]]
        .assert_eq(&prompt.text);
        assert_eq!(prompt.tokens, prompt.text.chars().count());
    }

    #[test]
    fn chunks_need_the_minimum_score_and_the_header_needs_chunks() {
        let settings = LocalPromptSettings { min_score: 3.0, ..SETTINGS };
        let prompt = local_prompt_with_chunks(Language::Python, &hits(), "prefix", &settings, &characters);
        assert_eq!(prompt, CcevalPrompt { text: "prefix".into(), tokens: 6 });
        let settings = LocalPromptSettings { min_score: 2.5, context_tokens: 9999, ..SETTINGS };
        let prompt = local_prompt_with_chunks(Language::Python, &hits(), "prefix", &settings, &characters);
        assert!(prompt.text.contains("a.py") && !prompt.text.contains("c.py"));
    }

    #[test]
    fn prompt_without_chunks_is_truncated_at_its_start() {
        let settings = LocalPromptSettings { max_tokens: 13, ..SETTINGS };
        let prompt = local_prompt("añb", &settings, &characters);
        assert_eq!(prompt, CcevalPrompt { text: "añb".into(), tokens: 3 });
        let settings = LocalPromptSettings { max_tokens: 12, ..SETTINGS };
        assert_eq!(local_prompt("añb", &settings, &characters).text, "ñb");
        let settings = LocalPromptSettings { max_tokens: 9, ..SETTINGS };
        assert_eq!(
            local_prompt("añb", &settings, &characters),
            CcevalPrompt { text: String::new(), tokens: 0 }
        );
    }

    #[test]
    fn server_prompt_keeps_context_start_and_prefix_end() {
        let context = context_text(Language::Python, &hits());
        let settings = ServerPromptSettings { context_tokens: 6, prompt_tokens: 3 };
        assert_eq!(served_prompt(&context, "prefix", &settings, &characters), "# Here\nfix");
        assert_eq!(
            served_prompt(
                "",
                "prefix",
                &ServerPromptSettings { context_tokens: 0, prompt_tokens: 16_234 },
                &characters
            ),
            "\nprefix"
        );
    }
}
