//! Renders code from other files: between the tokens of the template, or as comments below its path.

use text::Snippet;

use crate::language_names::prompt_name;
use crate::prompt_input::PromptInput;
use crate::special_tokens::escape_special_tokens;
use crate::template::{LayoutPiece, Placeholder, Template, one_line, pieces};
use crate::truncate::{TokenCounter, line_end};

/// Renders the context of one input.
pub(crate) struct ContextWriter<'a> {
    template: &'a Template,
    input: &'a PromptInput,
    tokens: &'a [&'a str],
}

/// Rendered context.
#[derive(Default)]
pub(crate) struct RenderedContext {
    /// The concatenated snippets.
    pub(crate) text: String,
    /// Kept bytes of each snippet of the input; 0 if it was left out.
    pub(crate) kept: Vec<usize>,
    /// Tokens, counted snippet by snippet.
    pub(crate) tokens: usize,
}

impl<'a> ContextWriter<'a> {
    pub(crate) fn new(
        template: &'a Template,
        input: &'a PromptInput,
        tokens: &'a [&'a str],
    ) -> ContextWriter<'a> {
        ContextWriter { template, input, tokens }
    }

    /// Returns the layout of a prompt with context.
    pub(crate) fn layout(&self) -> &'a str {
        self.template.files().unwrap_or(self.template.file())
    }

    /// Returns the text behind the last snippet. If comments run into the prefix, this is the path of the open file, which ends
    /// them.
    pub(crate) fn tail(&self) -> String {
        let mut slots = pieces(self.layout())
            .skip_while(|piece| *piece != LayoutPiece::Slot(Placeholder::Context))
            .skip(1);
        let is_apart = slots.next().is_some_and(|next| next != LayoutPiece::Slot(Placeholder::Prefix));
        if self.template.item().is_some() || is_apart || self.input.path.is_empty() {
            return String::new();
        }
        format!("{} {}\n", self.input.language.line_comment(), self.path(&self.input.path))
    }

    /// Renders the first snippets within the quota: complete ones, then the first lines of the next one.
    pub(crate) fn fill(&self, quota: usize, count: TokenCounter<'_>) -> RenderedContext {
        let mut context =
            RenderedContext { kept: vec![0; self.input.context.len()], ..RenderedContext::default() };
        for (snippet, kept) in self.input.context.iter().zip(&mut context.kept) {
            if snippet.text.trim().is_empty() {
                continue;
            }
            let rest = quota - context.tokens;
            let whole = self.write(snippet, &snippet.text);
            let tokens = count(&whole);
            if tokens <= rest {
                *kept = snippet.text.len();
                context.text.push_str(&whole);
                context.tokens += tokens;
                continue;
            }
            if let Some((bytes, part, tokens)) = self.cut(snippet, rest, count) {
                *kept = bytes;
                context.text.push_str(&part);
                context.tokens += tokens;
            }
            break;
        }
        context
    }

    /// Returns kept bytes, text and tokens of the first lines of a snippet within the quota; `None` if not even one line fits.
    fn cut(
        &self,
        snippet: &Snippet,
        quota: usize,
        count: TokenCounter<'_>,
    ) -> Option<(usize, String, usize)> {
        let ends = line_ends(&snippet.text);
        let mut best = None;
        let (mut fits, mut too_many) = (0, ends.len());
        while fits + 1 < too_many {
            let lines = fits.midpoint(too_many);
            let kept = ends[lines - 1];
            let part = self.write(snippet, &snippet.text[..kept]);
            let tokens = count(&part);
            if tokens <= quota {
                (fits, best) = (lines, Some((kept, part, tokens)));
            } else {
                too_many = lines;
            }
        }
        best
    }

    /// Renders one snippet with the given part of its text.
    fn write(&self, snippet: &Snippet, text: &str) -> String {
        let text = escape_special_tokens(text.trim_end_matches(['\r', '\n']), self.tokens);
        let path = self.path(&snippet.path);
        let Some(item) = self.template.item() else {
            return comment(self.input.language.line_comment(), &path, &text);
        };
        let filled = pieces(item).map(|piece| match piece {
            LayoutPiece::Literal(literal) => literal,
            LayoutPiece::Slot(Placeholder::Text) => &text,
            LayoutPiece::Slot(Placeholder::Path) => &path,
            LayoutPiece::Slot(Placeholder::Language) => prompt_name(self.input.language),
            LayoutPiece::Slot(_) => "",
        });
        filled.collect()
    }

    fn path(&self, path: &str) -> String {
        escape_special_tokens(&one_line(path), self.tokens).into_owned()
    }
}

/// Renders a snippet as comment lines below its path, as Tabby and granite-completebench do.
fn comment(sign: &str, path: &str, text: &str) -> String {
    let mut comment = format!("{sign} Path: {path}\n");
    for line in text.split('\n') {
        comment.extend([sign, " ", line, "\n"]);
    }
    comment
}

/// Returns the end of each line, behind its line end.
fn line_ends(text: &str) -> Vec<usize> {
    let mut ends = Vec::new();
    let mut at = 0;
    while at < text.len() {
        at = line_end(text, at);
        ends.push(at);
    }
    ends
}
