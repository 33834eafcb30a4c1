//! Where the tokens of a completion stand already, so that people can trust or distrust it with reason.
//!
//! Each token was predicted by itself, and equally good places are many; what is told of it is the place at which the copy that it
//! belongs to goes on, wherever there is one. Streams keep neither lines nor comments: a place is the number of a token in its text, and
//! [`SourceTokens`] finds it there again. Nothing here decides what is written, and nothing is computed for who does not ask.

use std::ops::Range;
use std::sync::Arc;

use rustc_hash::FxHashMap;
use syntax::{Language, Token, TokenKind};

use crate::candidates::{Place, tail};
use crate::cursor::Typed;
use crate::quotes::{Quote, in_quotes};
use crate::settings::{Completion, CompletionToken};
use crate::view::{Nearness, View};
use crate::vocabulary::TokenId;

/// A text that tokens are taken from.
#[derive(Clone, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Source {
    /// The open file before the cursor.
    Before,
    /// The open file after the cursor, without so many bytes that belong to the token at it.
    After {
        /// The bytes.
        skipped: usize,
    },
    /// A hint, by its index in what was given.
    Hint(usize),
    /// Something typed lately in another file, by its index in what was given.
    Passage(usize),
    /// Another file of the workspace, by its path; of several with the same text the first one.
    File(Arc<str>),
}

/// Where a token stands.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Origin {
    /// In which text.
    pub source: Source,
    /// Which of its tokens it is, as [`SourceTokens`] counts them.
    pub number: usize,
    /// How it is written there, which is another name where it was renamed; empty for a newline.
    pub text: String,
    /// How many tokens before it are the same as those before the place that it was written to.
    pub same: usize,
    /// How many are alike: names, strings and numbers may be others.
    pub alike: usize,
}

/// Where each of a completion's tokens stands.
pub(crate) fn origins(view: &View, completion: &Completion) -> Vec<Origin> {
    let mut files = Files { view, paths: FxHashMap::default() };
    let tokens = &completion.tokens;
    let mut context = view.cursor.context.clone();
    if let Typed::Word { token, .. } = view.cursor.typed
        && !completion.ends_typed
    {
        context.push(token);
    }
    let mut origins = Vec::with_capacity(tokens.len());
    for (token, place) in tokens.iter().zip(copied_places(view, tokens)) {
        origins.push(origin(&mut files, place, &context));
        context.push(token.token);
    }
    origins
}

fn origin(files: &mut Files, place: Place, context: &[TokenId]) -> Origin {
    let view = files.view;
    let (source, number) = files.source(place);
    let history = tail(view.history(place), context.len());
    let agree = |are_alike: &dyn Fn(TokenId, TokenId) -> bool| {
        let pairs = history.iter().rev().zip(context.iter().rev());
        pairs.take_while(|&(&there, &here)| are_alike(there, here)).count()
    };
    Origin {
        source,
        number,
        text: view.text(view.next(place)).to_owned(),
        same: agree(&|there, here| there == here),
        alike: agree(&|there, here| view.words.abstracted(there) == view.words.abstracted(here)),
    }
}

/// The place of each token: the one after the last token's wherever the same stands there, else the one that it was predicted from.
fn copied_places(view: &View, tokens: &[CompletionToken]) -> Vec<Place> {
    let mut places: Vec<Place> = Vec::with_capacity(tokens.len());
    let mut names: FxHashMap<TokenId, TokenId> = FxHashMap::default();
    for &CompletionToken { token, place, .. } in tokens {
        let is_copy = |&next: &Place| {
            next == place
                || held(view, next).is_some_and(|held| held == token || names.get(&held) == Some(&token))
        };
        let going_on = places.last().copied().map(next).filter(is_copy);
        if going_on.is_none() {
            names.clear();
        }
        let place = going_on.unwrap_or(place);
        names.insert(view.next(place), token);
        places.push(place);
    }
    places
}

fn next(place: Place) -> Place {
    match place {
        Place::Corpus(position) => Place::Corpus(position + 1),
        Place::Overlay(position) => Place::Overlay(position + 1),
    }
}

/// The token at a place that may be looked at.
fn held(view: &View, place: Place) -> Option<TokenId> {
    let (stream, position) = view.stream(place);
    let token = stream.tokens.get(position).copied()?;
    let is_masked = match place {
        Place::Corpus(position) => {
            let (layer, position) = view.layer(position);
            layer.nearness(position) == Nearness::Masked
        }
        Place::Overlay(position) => view.overlay.nearness(position) == Nearness::Masked,
    };
    (!is_masked).then_some(token)
}

/// The files of a view, each looked for once.
struct Files<'v, 'c> {
    view: &'v View<'c>,
    /// By the position that they start at.
    paths: FxHashMap<u32, Arc<str>>,
}

impl Files<'_, '_> {
    /// The text that holds a place, and the token's number in it.
    fn source(&mut self, place: Place) -> (Source, usize) {
        match place {
            Place::Corpus(position) => {
                let (layer, inside) = self.view.layer(position);
                let start = layer.start_of_text(inside);
                let path = self.paths.entry(layer.first + start);
                let path = path.or_insert_with(|| layer.path(inside).cloned().unwrap_or_default());
                (Source::File(Arc::clone(path)), (inside - start) as usize)
            }
            Place::Overlay(position) => {
                let position = position as usize;
                let pieces = &self.view.pieces;
                let piece = pieces.partition_point(|(start, _)| *start <= position).saturating_sub(1);
                let (start, source) = &pieces[piece];
                (source.clone(), position - start)
            }
        }
    }
}

/// The tokens of a text, as the engine counts them.
#[derive(Clone, Debug)]
pub struct SourceTokens<'t> {
    text: &'t str,
    tokens: Vec<Token>,
}

impl<'t> SourceTokens<'t> {
    /// Reads the text of a source. For [`Source::Before`] and [`Source::After`] that is the open file's on that side of the cursor.
    pub fn read(source: &Source, language: Language, text: &'t str) -> SourceTokens<'t> {
        let skipped = if let Source::After { skipped } = *source { skipped } else { 0 };
        let mut tokens = syntax::lex(language, text.get(skipped..).unwrap_or_default());
        if !matches!(source, Source::After { .. }) {
            // Before the first token of a file a stream holds no newline.
            let blank = tokens.iter().take_while(|token| token.kind == TokenKind::Newline).count();
            tokens.drain(..blank);
        }
        for token in &mut tokens {
            token.range = token.range.start + skipped..token.range.end + skipped;
        }
        SourceTokens { text, tokens }
    }

    /// Where the token stands in the text, in bytes; `None` if the text is another one by now.
    pub fn find(&self, origin: &Origin) -> Option<Range<usize>> {
        let Token { kind, range } = self.tokens.get(origin.number)?;
        let is_same = match kind {
            TokenKind::Newline => origin.text.is_empty(),
            // The engine knows a literal in one kind of quotes, whatever it is written in.
            TokenKind::String => {
                let written = self.text.get(range.clone()).unwrap_or_default();
                in_quotes(written, Quote::Double) == in_quotes(&origin.text, Quote::Double)
            }
            _ => self.text.get(range.clone()) == Some(&*origin.text),
        };
        is_same.then(|| range.clone())
    }
}

#[cfg(test)]
mod tests;
