//! Renders code from other files: between the tokens of the template, or as comments below its path.

use text::Snippet;

use crate::language_names::prompt_name;
use crate::prompt_input::PromptInput;
use crate::template::{LayoutPiece, Placeholder, Template, one_line, pieces};
use crate::token_estimate::LinePrice;
use crate::truncate::{CodeMeter, line_end};

/// Renders the context of one input. Each whole snippet is rendered and counted once, when it is first needed.
pub(crate) struct ContextWriter<'a> {
    template: &'a Template,
    input: &'a PromptInput,
    meter: CodeMeter<'a>,
    /// The first snippets as a whole, in order.
    whole: Vec<CountedText>,
}

/// A rendered text with the prices of its lines.
#[derive(Clone, Default)]
struct CountedText {
    text: String,
    lines: Vec<(usize, LinePrice)>,
    tokens: usize,
}

/// Rendered context.
#[derive(Default)]
pub(crate) struct RenderedContext {
    /// The concatenated snippets.
    pub(crate) text: String,
    /// Lengths in bytes and prices of its lines.
    pub(crate) lines: Vec<(usize, LinePrice)>,
    /// Kept bytes of each snippet of the input; 0 if it was left out.
    pub(crate) kept: Vec<usize>,
    /// Tokens, counted snippet by snippet.
    pub(crate) tokens: usize,
}

impl RenderedContext {
    fn push(&mut self, snippet: &CountedText) {
        self.text.push_str(&snippet.text);
        self.lines.extend(&snippet.lines);
        self.tokens += snippet.tokens;
    }
}

impl<'a> ContextWriter<'a> {
    pub(crate) fn new(
        template: &'a Template,
        input: &'a PromptInput,
        meter: CodeMeter<'a>,
    ) -> ContextWriter<'a> {
        ContextWriter { template, input, meter, whole: Vec::new() }
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

    /// Renders the first snippets within the quota: complete ones, then the first lines of the next one. `None` as soon as that
    /// takes more than `limit` tokens.
    pub(crate) fn fill(&mut self, quota: usize, limit: usize) -> Option<RenderedContext> {
        let mut context =
            RenderedContext { kept: vec![0; self.input.context.len()], ..RenderedContext::default() };
        for (index, snippet) in self.input.context.iter().enumerate() {
            if index == self.whole.len() {
                let whole = match snippet.text.trim().is_empty() {
                    true => CountedText::default(),
                    false => self.count(self.write(snippet, &snippet.text)),
                };
                self.whole.push(whole);
            }
            let whole = &self.whole[index];
            if whole.text.is_empty() {
                continue;
            }
            let rest = quota - context.tokens;
            if whole.tokens <= rest {
                context.kept[index] = snippet.text.len();
                context.push(whole);
            } else if let Some((bytes, part)) = self.cut(snippet, rest) {
                context.kept[index] = bytes;
                context.push(&part);
            }
            if context.tokens > limit {
                return None;
            }
            if context.kept[index] < snippet.text.len() {
                break;
            }
        }
        Some(context)
    }

    /// Returns kept bytes and text of the first lines of a snippet within the quota; `None` if not even one line fits.
    fn cut(&self, snippet: &Snippet, quota: usize) -> Option<(usize, CountedText)> {
        let ends = line_ends(&snippet.text);
        let mut best = None;
        let (mut fits, mut too_many) = (0, ends.len());
        while fits + 1 < too_many {
            let lines = fits.midpoint(too_many);
            let kept = ends[lines - 1];
            let part = self.count(self.write(snippet, &snippet.text[..kept]));
            if part.tokens <= quota {
                (fits, best) = (lines, Some((kept, part)));
            } else {
                too_many = lines;
            }
        }
        best
    }

    /// Counts a rendered text.
    fn count(&self, text: String) -> CountedText {
        let lines: Vec<_> =
            text.split_inclusive('\n').map(|line| (line.len(), self.meter.price_of_rendered(line))).collect();
        let priced = lines.iter().map(|(bytes, price)| (price, *bytes));
        let tokens = self.meter.estimator.count_lines(priced);
        CountedText { tokens: tokens.unwrap_or_else(|| self.meter.estimator.count(&text)), lines, text }
    }

    /// Renders one snippet with the given part of its text.
    fn write(&self, snippet: &Snippet, text: &str) -> String {
        let text = self.meter.escaper.escape(text.trim_end_matches(['\r', '\n']));
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
        self.meter.escaper.escape(&one_line(path)).into_owned()
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
        at += line_end(&text[at..]);
        ends.push(at);
    }
    ends
}
