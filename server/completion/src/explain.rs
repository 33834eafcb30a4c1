//! Explains the text of an outcome by its sources, as locations that a user can open.
//!
//! An engine explains its raw answer token by token. This module turns that into spans of the displayed text: it leaves out text that
//! cleaning removed, merges neighbouring tokens copied from one location, and converts offsets into line numbers. It runs after the
//! outcome is known and never changes it.

use std::ops::Range;
use std::sync::Arc;

use builtin::{SourceTokens, TokenOrigin, TokenSource};
use engines::ExplainedToken;
use syntax::Language;
use text::{Position, Snippet};

use crate::clean::map_range;
use crate::trace::FilterChange;
use crate::workspace_index::DocumentSnapshot;

/// Explanation of an outcome's text.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Explanation {
    /// Copied parts of the text and their sources, in order. They do not overlap and need not cover the text.
    pub spans: Vec<CopiedSpan>,
    /// Why the engine's answer ends at its end, or is empty.
    pub ending: &'static str,
    /// Other figures of the decision, by name.
    pub figures: Vec<(&'static str, f64)>,
}

/// A part of the text that is copied from one location.
#[derive(Clone, Debug, PartialEq)]
pub struct CopiedSpan {
    /// Range in bytes of the text; begins and ends with code.
    pub range: Range<usize>,
    /// Kind of the source.
    pub from: CopySource,
    /// The source file, relative to the workspace root.
    pub path: Arc<str>,
    /// Start of the source in that file, in UTF-16; `None` if unknown, or if the file has changed.
    pub start: Option<Position>,
    /// Number of identical tokens right before the source and right before the copy.
    pub same: usize,
    /// Number of similar tokens there: names, strings and numbers may differ.
    pub alike: usize,
    /// The lowest probability of its tokens.
    pub probability: f64,
    /// Renamed names: the name in the source and the name in the copy.
    pub renamed: Vec<(String, String)>,
}

/// Kind of a span's source.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum CopySource {
    /// The document itself, before the cursor.
    Before,
    /// The document itself, after the cursor.
    After,
    /// A context item of the request.
    Context,
    /// Another file.
    File,
}

/// Explains `text`: the rest of the answer to the request at `offset` after `cuts`.
pub(crate) fn explain(
    explanation: engines::TokenExplanation,
    snapshot: &DocumentSnapshot,
    offset: usize,
    context: &[Snippet],
    cuts: &[FilterChange],
    text: &str,
) -> Explanation {
    let engines::TokenExplanation { tokens, ending, figures } = explanation;
    let mut places = SourceLocator { snapshot, offset, context, last: None };
    // A withheld answer has no text and thus no spans.
    let copies = if text.is_empty() { Vec::new() } else { copies(&tokens, cuts, text) };
    let spans = copies.into_iter().filter_map(|copy| span(copy, text, &mut places)).collect();
    Explanation { spans, ending, figures }
}

/// Consecutive tokens copied from one text without a gap.
struct CopiedTokens<'t> {
    /// The tokens with their ranges in the displayed text.
    tokens: Vec<(&'t ExplainedToken, Range<usize>)>,
}

fn copies<'t>(tokens: &'t [ExplainedToken], cuts: &[FilterChange], text: &str) -> Vec<CopiedTokens<'t>> {
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
    tokens
        .chunk_by(|last, next| {
            last.origin.source == next.origin.source && last.origin.number + 1 == next.origin.number
        })
        .map(copy)
        .collect()
}

/// Converts a copy to a span; `None` if no code is left of it.
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

/// Returns each renaming once, in order.
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

/// Finds locations in the texts that an engine has read.
struct SourceLocator<'a> {
    snapshot: &'a DocumentSnapshot,
    offset: usize,
    context: &'a [Snippet],
    /// The last text read: consecutive copies often have the same source.
    last: Option<(TokenSource, OriginText<'a>)>,
}

/// A text that an engine has read.
struct OriginText<'a> {
    from: CopySource,
    path: Arc<str>,
    /// Its tokens; `None` if the text no longer exists.
    tokens: Option<SourceTokens<'a>>,
    /// The text, and the position of its start in its file, if known.
    text: &'a str,
    first: Option<Position>,
}

impl<'a> SourceLocator<'a> {
    /// Returns the source kind, path and position of a token; no position if the token is no longer there.
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
                let path = item.map(|item| Arc::clone(&item.path)).unwrap_or_default();
                (CopySource::Context, path, item.map(|item| &*item.text), first)
            }
            // A passage has no recorded position in its file.
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

/// Returns the position at the end of `text`, which begins at the start of a file.
fn end(text: &str) -> Position {
    let line = text.rsplit('\n').next().unwrap_or_default();
    let number = |count: usize| u32::try_from(count).unwrap_or(u32::MAX);
    Position { line: number(text.matches('\n').count()), character: number(line.encode_utf16().count()) }
}
