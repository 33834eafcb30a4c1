//! The view of a completion: the corpus without the open file, and the open file without the hole.

use std::ops::Range;
use std::sync::Arc;

use syntax::{Language, LanguageFamily, LexedText, SyntaxCache, Token, TokenKind};
use text::Snippet;

use crate::alternatives;
use crate::code_style::{CodeStyle, is_crlf};
use crate::corpus::Shard;
use crate::cursor::Cursor;
use crate::decode;
use crate::layer::LayerView;
use crate::overlay::Overlay;
use crate::quotes;
use crate::settings::BuiltinSettings;
use crate::token_origin::{self, TokenOrigin, TokenSource};
use crate::token_stream::{self, CodePiece, TokenSlice, TokenStream, class_of};
use crate::vocabulary::{TokenClass, TokenId, TokenSet, Vocabulary};
use crate::{Completion, candidates::TokenPosition};

/// The open file, as far as a completion may see it.
#[derive(Clone, Copy, Debug)]
pub struct OpenFile<'a> {
    /// Path relative to the workspace root; the corpus' copy of this file is ignored.
    pub path: &'a str,
    /// Language of the file.
    pub language: Language,
    /// The text before the cursor.
    pub before: &'a str,
    /// The text after the cursor, or after the hole.
    pub after: &'a str,
    /// Code that counts as near as the open file: unsaved buffers, retrieved chunks. The nearest comes first; one in a language of
    /// another family is ignored.
    pub hints: &'a [Snippet],
    /// Paths of further files whose copies in the corpus are ignored.
    pub hidden: &'a [&'a str],
    /// Recent typing, if known.
    pub recent_typing: Option<&'a RecentTyping>,
    /// Tokens of the open file from earlier requests, if they are kept. They change nothing but the time.
    pub syntax: Option<&'a SyntaxCache>,
}

impl<'a> OpenFile<'a> {
    /// Creates an open file of which nothing else is known.
    pub fn new(path: &'a str, language: Language, before: &'a str, after: &'a str) -> OpenFile<'a> {
        OpenFile { path, language, before, after, hints: &[], hidden: &[], recent_typing: None, syntax: None }
    }

    /// Returns `text`, a part of the file, with its tokens.
    pub(crate) fn lexed(&self, text: &str) -> Arc<LexedText> {
        match self.syntax {
            Some(syntax) => syntax.lexed(self.language, text),
            None => Arc::new(LexedText::new(self.language, text)),
        }
    }
}

/// Text that was recently typed or accepted. The caller provides it, because this crate has no clock. Without it, completions do
/// not depend on typing.
#[derive(Clone, Debug, Default)]
pub struct RecentTyping {
    /// In the open file: byte ranges of the concatenated text before and after the cursor.
    pub here: Vec<Range<usize>>,
    /// In other files, the latest last.
    pub elsewhere: Vec<TypedPassage>,
    /// Number of suggestions on the cursor's line that other text was typed over.
    pub typed_over: usize,
}

/// Recent typing in another file.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct TypedPassage {
    /// Path of the file; a passage in a language of another family is ignored.
    pub path: Arc<str>,
    /// The code with some preceding lines.
    pub text: String,
    /// The typed part, in bytes.
    pub typed: Range<usize>,
}

/// Nearness of a text of the corpus to the open file; for several files with this text, that of the nearest one.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Nearness {
    /// Must not be used.
    Masked,
    Workspace,
    Directory,
    /// The open file and the hints.
    Overlay,
    /// Recently typed text in these or other files.
    Session,
}

/// An open file's view of a corpus. Completions are possible only through a view.
#[derive(Debug)]
pub struct CorpusView<'c> {
    /// The layers of the corpus.
    pub(crate) layers: Vec<LayerView<'c>>,
    pub(crate) words: Vocabulary,
    pub(crate) language: Language,
    pub(crate) family: LanguageFamily,
    pub(crate) layout: CodeStyle,
    pub(crate) quotes: quotes::QuoteStyle,
    pub(crate) overlay: Overlay,
    /// Tokens that occur in the overlay.
    pub(crate) near_words: TokenSet,
    pub(crate) cursor: Cursor,
    /// Number of suggestions on the cursor's line that other text was typed over.
    pub(crate) typed_over: usize,
    /// Start of each text of the overlay in its stream, ascending.
    pub(crate) pieces: Vec<(usize, TokenSource)>,
}

impl<'c> CorpusView<'c> {
    /// Builds the view. Calls `keep_going` between steps, each of which reads part of the open file once; returns `None` if it is
    /// `false`.
    pub(crate) fn new(
        shard: &'c Shard,
        open: &OpenFile,
        keep_going: &mut dyn FnMut() -> bool,
    ) -> Option<CorpusView<'c>> {
        let words = Vocabulary::on_top_of(Arc::clone(&shard.words));
        let (stream, pieces, nearness) = (TokenStream::default(), Vec::new(), Vec::new());
        let mut builder = ViewBuilder { words, stream, pieces, nearness, open, keep_going };
        let layout = layout(shard, open);
        let cursor = Cursor::find(&mut builder, layout)?;
        let family = open.language.family();
        let quotes = quotes::QuoteStyle::of(family, &builder.stream, &builder.words);
        let quotes = quotes.or_partial(cursor.partial_token.quote());
        builder.add_hints()?;
        builder.add_passages()?;
        let ViewBuilder { words, stream, pieces, nearness, .. } = builder;
        let positions = stream.tokens.iter().zip(&nearness);
        let seen = positions.filter(|&(_, &nearness)| nearness != Nearness::Masked);
        let near_words = TokenSet::of(seen.map(|(&token, _)| token));
        Some(CorpusView {
            layers: layers(shard, open),
            pieces,
            near_words,
            overlay: Overlay::build(stream, nearness, &words),
            language: open.language,
            family,
            words,
            layout,
            quotes,
            cursor,
            typed_over: open.recent_typing.map_or(0, |typing| typing.typed_over),
        })
    }

    /// Completes at the cursor. Calls `keep_going` once per token; `false` ends the completion with the tokens so far.
    pub fn complete(&self, settings: &BuiltinSettings, keep_going: &mut dyn FnMut() -> bool) -> Completion {
        decode::complete(self, settings, keep_going)
    }

    /// Returns a few different alternatives to `first`, a completion of this view; the best first.
    pub fn alternatives(
        &self,
        settings: &BuiltinSettings,
        first: &Completion,
        keep_going: &mut dyn FnMut() -> bool,
    ) -> Vec<Completion> {
        alternatives::alternatives(self, settings, first, keep_going)
    }

    /// Returns the origins of a completion's tokens in existing code.
    pub fn origins(&self, completion: &Completion) -> Vec<TokenOrigin> {
        token_origin::origins(self, completion)
    }

    /// Returns the stream of a position and the offset in it.
    pub(crate) fn stream(&self, place: TokenPosition) -> (TokenSlice<'_>, usize) {
        match place {
            TokenPosition::Corpus(position) => {
                let (layer, position) = self.layer(position);
                (layer.tokens, position as usize)
            }
            TokenPosition::Overlay(position) => (self.overlay.stream.as_tokens(), position as usize),
        }
    }

    /// Returns the layer of a position of the corpus and the offset in it.
    pub(crate) fn layer(&self, position: u32) -> (&LayerView<'c>, u32) {
        let layer = self.layers.partition_point(|layer| layer.first <= position).saturating_sub(1);
        let layer = &self.layers[layer];
        (layer, position - layer.first)
    }

    /// Returns the token at a position.
    pub(crate) fn token_at(&self, place: TokenPosition) -> TokenId {
        let (stream, position) = self.stream(place);
        stream.tokens[position]
    }

    /// Returns the blanks or line ends before the token.
    pub(crate) fn blanks(&self, place: TokenPosition) -> u8 {
        token_stream::blanks(self.side_byte(place))
    }

    /// Returns the token's side byte.
    pub(crate) fn side_byte(&self, place: TokenPosition) -> u8 {
        let (stream, position) = self.stream(place);
        stream.blanks[position]
    }

    /// Returns the tokens before a position.
    pub(crate) fn history(&self, place: TokenPosition) -> &[TokenId] {
        let (stream, position) = self.stream(place);
        &stream.tokens[..position]
    }

    pub(crate) fn class(&self, token: TokenId) -> TokenClass {
        self.words.class(token)
    }

    /// Returns whether a word occurs in the open file, besides at the cursor, or in any file that the view may use. One that does not is
    /// probably being typed.
    pub(crate) fn is_known_word(&self, token: TokenId) -> bool {
        self.near_words.contains(token) || self.layers.iter().any(|layer| layer.contains(token))
    }

    /// Returns whether a token is a name that occurs neither in the open file nor in the hints.
    pub(crate) fn is_new_name(&self, token: TokenId) -> bool {
        self.class(token) == TokenClass::Identifier && !self.near_words.contains(token)
    }

    pub(crate) fn text(&self, token: TokenId) -> &str {
        self.words.text(token)
    }
}

/// Collects the overlay.
pub(crate) struct ViewBuilder<'a> {
    words: Vocabulary,
    pub(crate) stream: TokenStream,
    /// Start of each piece in the stream.
    pieces: Vec<(usize, TokenSource)>,
    /// Nearness of the stream's positions.
    nearness: Vec<Nearness>,
    pub(crate) open: &'a OpenFile<'a>,
    keep_going: &'a mut dyn FnMut() -> bool,
}

impl ViewBuilder<'_> {
    /// Returns `None` if the caller cancels.
    pub(crate) fn check_cancelled(&mut self) -> Option<()> {
        (self.keep_going)().then_some(())
    }

    /// Appends a piece of the open file with its lexed `tokens`; the piece begins `start` bytes into the file.
    pub(crate) fn add_open_file(
        &mut self,
        source: TokenSource,
        piece: &CodePiece,
        tokens: &[Token],
        start: usize,
    ) {
        let positions = self.add(source, Nearness::Overlay, piece, tokens);
        for typed in self.open.recent_typing.map_or(&[][..], |typing| &typing.here) {
            let typed = typed.start.saturating_sub(start)..typed.end.saturating_sub(start);
            self.add_typed(tokens, &positions, typed);
        }
    }

    /// Appends a piece of `source` with its lexed `tokens`. Returns their positions.
    fn add(
        &mut self,
        source: TokenSource,
        nearness: Nearness,
        piece: &CodePiece,
        tokens: &[Token],
    ) -> Range<usize> {
        let (words, start) = (&mut self.words, self.stream.len());
        self.pieces.push((start, source));
        self.stream.extend(piece, tokens, |text, kind| intern(words, piece.language, text, kind));
        self.nearness.resize(self.stream.len(), nearness);
        start..self.stream.len()
    }

    /// Marks the bytes `typed` of the piece at `positions` as recently typed.
    fn add_typed(&mut self, tokens: &[Token], positions: &Range<usize>, typed: Range<usize>) {
        // Line ends at the beginning of a piece have no position.
        let tokens = &tokens[tokens.len() - positions.len()..];
        let first = tokens.partition_point(|token| token.range.end <= typed.start);
        let end = tokens.partition_point(|token| token.range.start < typed.end);
        if let Some(nearness) = self.nearness.get_mut(positions.start + first..positions.start + end) {
            nearness.fill(Nearness::Session);
        }
    }

    /// Appends a separator between unrelated pieces.
    pub(crate) fn end(&mut self) {
        self.stream.end();
        self.nearness.push(Nearness::Masked);
    }

    pub(crate) fn intern(&mut self, text: &str, kind: TokenKind) -> TokenId {
        intern(&mut self.words, self.open.language, text, kind)
    }

    fn add_hints(&mut self) -> Option<()> {
        let family = self.open.language.family();
        // The last tokens of the stream count as the nearest.
        for (index, hint) in self.open.hints.iter().enumerate().rev() {
            let language = Language::from_path(&hint.path).unwrap_or(self.open.language);
            if language.family() == family {
                let layout = CodeStyle::detect(&hint.text).unwrap_or(CodeStyle::DEFAULT);
                let piece = CodePiece { language, text: &hint.text, layout, column: None };
                self.add(
                    TokenSource::Hint(index),
                    Nearness::Overlay,
                    &piece,
                    &syntax::lex(language, &hint.text),
                );
                self.end();
            }
            self.check_cancelled()?;
        }
        Some(())
    }

    /// Adds recent typing in other files. Its preceding lines only provide context: the corpus contains them too.
    fn add_passages(&mut self) -> Option<()> {
        let open = self.open;
        let is_hidden = |path: &str| path == open.path || open.hidden.contains(&path);
        let passages = open.recent_typing.map_or(&[][..], |typing| &typing.elsewhere);
        for (index, TypedPassage { path, text, typed }) in passages.iter().enumerate() {
            let language = Language::from_path(path).unwrap_or(open.language);
            if language.family() == open.language.family() && !is_hidden(path) {
                let layout = CodeStyle::detect(text).unwrap_or(CodeStyle::DEFAULT);
                let lexed = syntax::lex(language, text);
                let piece = CodePiece { language, text, layout, column: None };
                let positions = self.add(TokenSource::Passage(index), Nearness::Masked, &piece, &lexed);
                self.add_typed(&lexed, &positions, typed.clone());
                self.end();
                self.check_cancelled()?;
            }
        }
        Some(())
    }
}

pub(crate) fn intern(words: &mut Vocabulary, language: Language, text: &str, kind: TokenKind) -> TokenId {
    words.intern(text, class_of(language, kind, text))
}

/// Returns the open file's own style, or that of the corpus.
fn layout(shard: &Shard, open: &OpenFile) -> CodeStyle {
    // The first line after the cursor belongs to the cursor's line.
    let own = CodeStyle::of_lines(open.before.lines().chain(open.after.lines().skip(1)));
    let layout = own.or_else(|| shard.layout()).unwrap_or(CodeStyle::DEFAULT);
    let has_lines = open.before.contains('\n') || open.after.contains('\n');
    let crlf = if has_lines { is_crlf(open.before) || is_crlf(open.after) } else { layout.crlf };
    CodeStyle { crlf, ..layout }
}

/// Returns the layers without the saved copy of the open file and hidden texts, even if other files share these texts.
fn layers<'c>(shard: &'c Shard, open: &OpenFile) -> Vec<LayerView<'c>> {
    let hidden = shard.hashes(open.hidden.iter().copied().chain([open.path]));
    let mut first = 0;
    let seen = shard.layers.iter().map(|layer| {
        let seen = layer.view_from(first, open.path, &hidden);
        first += u32::try_from(seen.tokens.tokens.len()).expect("corpora are limited to less");
        seen
    });
    seen.collect()
}
