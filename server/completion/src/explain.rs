//! Where the text of an outcome comes from, in places that people can open.
//!
//! An engine tells it token by token, of its answer as it came. Here that becomes spans of the text as it is shown: what cleaning cut is
//! left out, neighbours that are copied from one place are one span, and places get the lines of the texts that they stand in. Read after
//! the outcome is there, so that nobody waits for it; it changes nothing.

use std::ops::Range;
use std::sync::Arc;

use builtin::{SourceTokens, TokenOrigin, TokenSource};
use engines::ExplainedToken;
use syntax::Language;
use text::Position;

use crate::clean::map_range;
use crate::trace::{FilterChange, RetrievedContext};
use crate::workspace_index::DocumentSnapshot;

/// Why an outcome's text is what it is.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Explanation {
    /// Parts of the text and where they stand already, in order; they hold no two places at once, and not all of the text.
    pub spans: Vec<CopiedSpan>,
    /// Why the engine's answer ends where it does, or is empty.
    pub ending: &'static str,
    /// What else decided, by name.
    pub figures: Vec<(&'static str, f64)>,
}

/// A part of the text that is copied from one place.
#[derive(Clone, Debug, PartialEq)]
pub struct CopiedSpan {
    /// The part, in bytes of the text; begins and ends with code.
    pub range: Range<usize>,
    /// What it is copied from.
    pub from: CopySource,
    /// The file, relative to the workspace root.
    pub path: Arc<str>,
    /// Where it begins there, in UTF-16; `None` if that is not known, or the file is another one by now.
    pub start: Option<Position>,
    /// How many tokens before it are the same as those before the place that it is copied to.
    pub same: usize,
    /// How many are alike: names, strings and numbers may be others.
    pub alike: usize,
    /// The lowest probability of its tokens.
    pub probability: f64,
    /// Names that are others there, with those they became here.
    pub renamed: Vec<(String, String)>,
}

/// What a span is copied from.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum CopySource {
    /// The document itself, before the cursor.
    Before,
    /// The document itself, after the cursor.
    After,
    /// A piece of code that went with the question.
    Context,
    /// Another file.
    File,
}

/// Explains `text`, which is what `cuts` left of the answer to the question at `offset`.
pub(crate) fn explain(
    said: engines::TokenExplanation,
    snapshot: &DocumentSnapshot,
    offset: usize,
    context: &[RetrievedContext],
    cuts: &[FilterChange],
    text: &str,
) -> Explanation {
    let engines::TokenExplanation { tokens, ending, figures } = said;
    let mut places = SourceLocator { snapshot, offset, context, last: None };
    // What was kept back has no parts.
    let copies = if text.is_empty() { Vec::new() } else { copies(&tokens, cuts, text) };
    let spans = copies.into_iter().filter_map(|copy| span(copy, text, &mut places)).collect();
    Explanation { spans, ending, figures }
}

/// Tokens that stand one after the other in one text.
struct CopiedTokens<'t> {
    /// With what is left of each in the text that is shown.
    tokens: Vec<(&'t ExplainedToken, Range<usize>)>,
}

fn copies<'t>(tokens: &'t [ExplainedToken], cuts: &[FilterChange], text: &str) -> Vec<CopiedTokens<'t>> {
    let goes_on = |last: &ExplainedToken, next: &ExplainedToken| {
        last.origin.source == next.origin.source && last.origin.number + 1 == next.origin.number
    };
    let copy = |tokens: &'t [ExplainedToken]| {
        let left = |token: &'t ExplainedToken| (token, map_range(token.range.clone(), cuts, text));
        CopiedTokens {
            tokens: tokens
                .iter()
                .map(left)
                .filter(|(_, left)| !text[left.clone()].trim().is_empty())
                .collect(),
        }
    };
    tokens.chunk_by(goes_on).map(copy).collect()
}

/// `None` where no code is left of a copy.
fn span(copy: CopiedTokens<'_>, text: &str, places: &mut SourceLocator<'_>) -> Option<CopiedSpan> {
    let ((first, start), (_, end)) = (copy.tokens.first()?, copy.tokens.last()?);
    let part = &text[start.clone()];
    let blanks = part.len() - part.trim_start().len();
    let (from, path, place) = places.locate(&first.origin);
    Some(CopiedSpan {
        range: start.start + blanks..end.end,
        from,
        path,
        start: place,
        same: first.origin.same,
        alike: first.origin.alike,
        probability: copy.tokens.iter().map(|(token, _)| token.probability).fold(1.0, f64::min),
        renamed: renamed(&copy),
    })
}

/// Each renaming once, in order.
fn renamed(copy: &CopiedTokens<'_>) -> Vec<(String, String)> {
    let mut renamed = Vec::new();
    for (token, _) in &copy.tokens {
        let pair = (token.origin.text.clone(), token.text.clone());
        if pair.0 != pair.1 && !renamed.contains(&pair) {
            renamed.push(pair);
        }
    }
    renamed
}

/// Finds places in the texts that an engine has read.
struct SourceLocator<'a> {
    snapshot: &'a DocumentSnapshot,
    offset: usize,
    context: &'a [RetrievedContext],
    /// What was read last: copies from one text often come one after the other.
    last: Option<(TokenSource, OriginText<'a>)>,
}

/// A text that an engine has read.
struct OriginText<'a> {
    from: CopySource,
    path: Arc<str>,
    /// Its tokens; `None` where there is no text any more.
    tokens: Option<SourceTokens<'a>>,
    /// The text up to there, and the line that it begins in, if that is known.
    text: &'a str,
    first: Option<Position>,
}

impl<'a> SourceLocator<'a> {
    /// Where a token stands, if it still stands there.
    fn locate(&mut self, origin: &TokenOrigin) -> (CopySource, Arc<str>, Option<Position>) {
        let read = match self.last.take() {
            Some((source, read)) if source == origin.source => read,
            _ => self.read(&origin.source),
        };
        let start = read.start(origin);
        let found = (read.from, Arc::clone(&read.path), start);
        self.last = Some((origin.source.clone(), read));
        found
    }

    fn read(&self, source: &TokenSource) -> OriginText<'a> {
        let document = self.snapshot.document();
        let (before, after) = self.snapshot.text().split_at(self.offset);
        let own = |from, text, first| (from, Arc::clone(&document.path), Some(text), Some(first));
        let (from, path, text, first) = match source {
            TokenSource::Before => own(CopySource::Before, before, Position { line: 0, character: 0 }),
            TokenSource::After { .. } => own(CopySource::After, after, end(before)),
            TokenSource::Hint(hint) => {
                let item = self.context.get(*hint);
                let line = item.and_then(|item| item.first_line);
                let first = line.map(|line| Position { line, character: 0 });
                let path = item.map(|item| item.path.as_str().into()).unwrap_or_default();
                (CopySource::Context, path, item.map(|item| &*item.text), first)
            }
            // Where it begins in its file, nobody tells.
            TokenSource::Passage(passage) => {
                let passage = self.snapshot.recent_typing().elsewhere.get(*passage);
                let path = passage.map(|passage| Arc::clone(&passage.path)).unwrap_or_default();
                (CopySource::File, path, passage.map(|passage| &*passage.text), None)
            }
            TokenSource::File(path) => {
                let text = self.snapshot.text_of_other_file(path);
                (CopySource::File, Arc::clone(path), text, Some(Position { line: 0, character: 0 }))
            }
        };
        let language = Language::from_path(&path).unwrap_or(document.language);
        let tokens = text.map(|text| SourceTokens::read(source, language, text));
        OriginText { from, path, tokens, text: text.unwrap_or_default(), first }
    }
}

impl OriginText<'_> {
    fn start(&self, origin: &TokenOrigin) -> Option<Position> {
        let range = self.tokens.as_ref()?.find(origin)?;
        let (first, inside) = (self.first?, end(&self.text[..range.start]));
        let is_first_line = inside.line == 0;
        let character = if is_first_line { first.character + inside.character } else { inside.character };
        Some(Position { line: first.line + inside.line, character })
    }
}

/// The position behind a text that begins a file.
fn end(text: &str) -> Position {
    let line = text.rsplit('\n').next().unwrap_or_default();
    let number = |count: usize| u32::try_from(count).unwrap_or(u32::MAX);
    Position { line: number(text.matches('\n').count()), character: number(line.encode_utf16().count()) }
}
