//! Finds the origins of a completion's tokens in existing code, so that users can judge a completion.
//!
//! Each token is predicted separately, and many positions are equally good. If possible, its origin is the position at which the
//! copy that contains the previous token continues. Streams contain neither lines nor comments: an origin is the number of a token
//! in its text, and [`SourceTokens`] finds it there. Origins do not affect completions and are computed only on request.

use std::ops::Range;
use std::sync::Arc;

use rustc_hash::FxHashMap;
use syntax::{Language, Token, TokenKind};

use crate::candidates::{TokenPosition, context_tail};
use crate::corpus_view::{CorpusView, Nearness};
use crate::cursor::PartialToken;
use crate::quotes::{Quote, requote};
use crate::settings::{Completion, CompletionToken};
use crate::vocabulary::TokenId;

/// A text that tokens are copied from.
#[derive(Clone, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum TokenSource {
    /// The open file before the cursor.
    Before,
    /// The open file after the cursor, without the bytes that belong to the partial token.
    After {
        /// Number of these bytes.
        skipped: usize,
    },
    /// A hint, by its index in the input.
    Hint(usize),
    /// Recent typing in another file, by its index in the input.
    Passage(usize),
    /// Another file of the workspace, by its path; the first one of several with the same text.
    File(Arc<str>),
}

/// Origin of a token.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct TokenOrigin {
    /// Text that contains it.
    pub source: TokenSource,
    /// Number of the token, as counted by [`SourceTokens`].
    pub number: usize,
    /// Its text there, which differs if it was renamed; empty for a newline.
    pub text: String,
    /// Number of preceding tokens that are the same at both positions.
    pub same: usize,
    /// Number of preceding tokens that match up to names, strings and numbers.
    pub alike: usize,
}

/// Returns the origin of each token of a completion.
pub(crate) fn origins(view: &CorpusView, completion: &Completion) -> Vec<TokenOrigin> {
    let mut files = FilePaths { view, paths: FxHashMap::default() };
    let tokens = &completion.tokens;
    let mut context = view.cursor.context.clone();
    if let PartialToken::Word { token, .. } = view.cursor.partial_token
        && !completion.completes_partial
    {
        context.push(token);
    }
    let mut origins = Vec::with_capacity(tokens.len());
    for (token, place) in tokens.iter().zip(copied_positions(view, tokens)) {
        origins.push(origin_of(&mut files, place, &context));
        context.push(token.token);
    }
    origins
}

fn origin_of(files: &mut FilePaths, place: TokenPosition, context: &[TokenId]) -> TokenOrigin {
    let view = files.view;
    let (source, number) = files.source(place);
    let history = context_tail(view.history(place), context.len());
    let agree = |are_alike: &dyn Fn(TokenId, TokenId) -> bool| {
        let pairs = history.iter().rev().zip(context.iter().rev());
        pairs.take_while(|&(&there, &here)| are_alike(there, here)).count()
    };
    TokenOrigin {
        source,
        number,
        text: view.text(view.token_at(place)).to_owned(),
        same: agree(&|there, here| there == here),
        alike: agree(&|there, here| view.words.abstracted(there) == view.words.abstracted(here)),
    }
}

/// Returns the position of each token: the one after the previous token's if it has the same token, else the one it was predicted
/// from.
fn copied_positions(view: &CorpusView, tokens: &[CompletionToken]) -> Vec<TokenPosition> {
    let mut places: Vec<TokenPosition> = Vec::with_capacity(tokens.len());
    let mut names: FxHashMap<TokenId, TokenId> = FxHashMap::default();
    for &CompletionToken { token, position: place, .. } in tokens {
        let going_on = places.last().copied().map(next_position).filter(|&next| {
            next == place
                || visible_token(view, next)
                    .is_some_and(|held| held == token || names.get(&held) == Some(&token))
        });
        if going_on.is_none() {
            names.clear();
        }
        let place = going_on.unwrap_or(place);
        names.insert(view.token_at(place), token);
        places.push(place);
    }
    places
}

fn next_position(place: TokenPosition) -> TokenPosition {
    match place {
        TokenPosition::Corpus(position) => TokenPosition::Corpus(position + 1),
        TokenPosition::Overlay(position) => TokenPosition::Overlay(position + 1),
    }
}

/// Returns the token at a position, unless it is masked.
fn visible_token(view: &CorpusView, place: TokenPosition) -> Option<TokenId> {
    let (stream, position) = view.stream(place);
    let token = stream.tokens.get(position).copied()?;
    let is_masked = match place {
        TokenPosition::Corpus(position) => {
            let (layer, position) = view.layer(position);
            layer.nearness(position) == Nearness::Masked
        }
        TokenPosition::Overlay(position) => view.overlay.nearness(position) == Nearness::Masked,
    };
    (!is_masked).then_some(token)
}

/// Paths of a view's files, each searched for once.
struct FilePaths<'v, 'c> {
    view: &'v CorpusView<'c>,
    /// Paths by the start position of the text.
    paths: FxHashMap<u32, Arc<str>>,
}

impl FilePaths<'_, '_> {
    /// Returns the text at a position, and the number of the token in it.
    fn source(&mut self, place: TokenPosition) -> (TokenSource, usize) {
        match place {
            TokenPosition::Corpus(position) => {
                let (layer, inside) = self.view.layer(position);
                let start = layer.start_of_text(inside);
                let path = self.paths.entry(layer.first + start);
                let path = path.or_insert_with(|| layer.path(inside).cloned().unwrap_or_default());
                (TokenSource::File(Arc::clone(path)), (inside - start) as usize)
            }
            TokenPosition::Overlay(position) => {
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
    /// Lexes the text of a source. For [`TokenSource::Before`] and [`TokenSource::After`] this is the open file's text on that side of the
    /// cursor.
    pub fn read(source: &TokenSource, language: Language, text: &'t str) -> SourceTokens<'t> {
        let skipped = if let TokenSource::After { skipped } = *source { skipped } else { 0 };
        let mut tokens = syntax::lex(language, text.get(skipped..).unwrap_or_default());
        if !matches!(source, TokenSource::After { .. }) {
            // A stream has no newline before the first token of a file.
            let blank = tokens.iter().take_while(|token| token.kind == TokenKind::Newline).count();
            tokens.drain(..blank);
        }
        for token in &mut tokens {
            token.range = token.range.start + skipped..token.range.end + skipped;
        }
        SourceTokens { text, tokens }
    }

    /// Returns the byte range of the token in the text; `None` if the text has changed.
    pub fn find(&self, origin: &TokenOrigin) -> Option<Range<usize>> {
        let Token { kind, range } = self.tokens.get(origin.number)?;
        let is_same = match kind {
            TokenKind::Newline => origin.text.is_empty(),
            // The engine stores a literal with one kind of quotes for both.
            TokenKind::String => {
                let written = self.text.get(range.clone()).unwrap_or_default();
                requote(written, Quote::Double) == requote(&origin.text, Quote::Double)
            }
            _ => self.text.get(range.clone()) == Some(&*origin.text),
        };
        is_same.then(|| range.clone())
    }
}

#[cfg(test)]
mod tests;
