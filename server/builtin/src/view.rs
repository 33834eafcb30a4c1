//! What a completion may see: the corpus without the open file, and the open file without the hole.

use syntax::{Family, Language, Token, TokenKind};

use crate::corpus::Shard;
use crate::cursor::Cursor;
use crate::decode;
use crate::layout::{Layout, is_crlf};
use crate::overlay::Overlay;
use crate::settings::Settings;
use crate::stream::{Piece, Stream, class_of};
use crate::vocabulary::{Class, TokenId, TokenSet, Words};
use crate::{Completion, candidates::Place};

/// The file that is being written, as far as a completion may know it.
#[derive(Clone, Copy, Debug)]
pub struct OpenFile<'a> {
    /// Path relative to the workspace root; the corpus' copy of it is not looked at.
    pub path: &'a str,
    /// Language of the file.
    pub language: Language,
    /// The text before the cursor.
    pub before: &'a str,
    /// The text after the cursor, or after the hole.
    pub after: &'a str,
    /// Code that is as near as the open file itself: unsaved buffers, retrieved chunks. The best comes last.
    pub hints: &'a [Hint<'a>],
    /// More paths whose copies in the corpus are not looked at.
    pub hidden: &'a [&'a str],
}

/// A piece of code from elsewhere.
#[derive(Clone, Copy, Debug)]
pub struct Hint<'a> {
    /// Where it comes from; a hint in a language of another family is ignored.
    pub path: &'a str,
    /// The code.
    pub text: &'a str,
}

/// How near a file of the corpus is to the open one.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Nearness {
    /// Not to be looked at.
    Masked,
    Workspace,
    Directory,
    /// The open file and the hints.
    Overlay,
}

/// One open file's view of a corpus; the only thing that completes.
#[derive(Debug)]
pub struct View<'c> {
    pub(crate) shard: &'c Shard,
    pub(crate) words: Words<'c>,
    pub(crate) family: Family,
    pub(crate) layout: Layout,
    pub(crate) overlay: Overlay,
    /// What the open file and the hints are written in.
    pub(crate) near_words: TokenSet,
    pub(crate) cursor: Cursor,
    /// By file of the shard.
    nearness: Vec<Nearness>,
}

impl<'c> View<'c> {
    /// `keep_going` is asked between the steps, each of which reads a part of the open file once; `None` if it was `false`.
    pub(crate) fn new(
        shard: &'c Shard,
        open: &OpenFile,
        keep_going: &mut dyn FnMut() -> bool,
    ) -> Option<View<'c>> {
        let words = Words::over(&shard.vocabulary);
        let mut builder = Builder { words, stream: Stream::default(), open, keep_going };
        let layout = layout(shard, open);
        let cursor = Cursor::find(&mut builder, layout)?;
        builder.hints()?;
        let Builder { words, stream, .. } = builder;
        Some(View {
            nearness: nearness(shard, open),
            near_words: TokenSet::of(&stream.tokens),
            overlay: Overlay::build(stream, &words),
            family: open.language.family(),
            shard,
            words,
            layout,
            cursor,
        })
    }

    /// Completes at the cursor. `keep_going` is asked once per token; a `false` ends the completion with what there is.
    pub fn complete(&self, settings: &Settings, keep_going: &mut dyn FnMut() -> bool) -> Completion {
        decode::complete(self, settings, keep_going)
    }

    pub(crate) fn stream(&self, place: Place) -> (&Stream, usize) {
        match place {
            Place::Corpus(position) => (&self.shard.stream, position as usize),
            Place::Overlay(position) => (&self.overlay.stream, position as usize),
        }
    }

    /// The token at a place.
    pub(crate) fn next(&self, place: Place) -> TokenId {
        let (stream, position) = self.stream(place);
        stream.tokens[position]
    }

    /// The blanks before it, or its line ends.
    pub(crate) fn blanks(&self, place: Place) -> u8 {
        let (stream, position) = self.stream(place);
        stream.blanks[position]
    }

    /// The tokens before a place.
    pub(crate) fn history(&self, place: Place) -> &[TokenId] {
        let (stream, position) = self.stream(place);
        &stream.tokens[..position]
    }

    pub(crate) fn nearness(&self, place: Place) -> Nearness {
        match place {
            Place::Overlay(_) => Nearness::Overlay,
            Place::Corpus(position) => {
                self.nearness.get(self.shard.file_at(position)).copied().unwrap_or(Nearness::Masked)
            }
        }
    }

    pub(crate) fn class(&self, token: TokenId) -> Class {
        self.words.class(token)
    }

    pub(crate) fn text(&self, token: TokenId) -> &str {
        self.words.text(token)
    }
}

/// Collects what is near the cursor.
pub(crate) struct Builder<'c, 'a> {
    words: Words<'c>,
    pub(crate) stream: Stream,
    pub(crate) open: &'a OpenFile<'a>,
    keep_going: &'a mut dyn FnMut() -> bool,
}

impl Builder<'_, '_> {
    /// `None` if the caller has had enough.
    pub(crate) fn go_on(&mut self) -> Option<()> {
        (self.keep_going)().then_some(())
    }

    /// Appends a piece that was lexed into `tokens`.
    pub(crate) fn add(&mut self, piece: &Piece, tokens: &[Token]) {
        let words = &mut self.words;
        self.stream.extend(piece, tokens, |text, kind| intern(words, piece.language, text, kind));
    }

    pub(crate) fn intern(&mut self, text: &str, kind: TokenKind) -> TokenId {
        intern(&mut self.words, self.open.language, text, kind)
    }

    fn hints(&mut self) -> Option<()> {
        let family = self.open.language.family();
        for hint in self.open.hints {
            let language = Language::from_path(hint.path).unwrap_or(self.open.language);
            if language.family() == family {
                let layout = Layout::detect(hint.text).unwrap_or(Layout::DEFAULT);
                let piece = Piece { language, text: hint.text, layout, column: None };
                self.add(&piece, &syntax::lex(language, hint.text));
                self.stream.end();
            }
            self.go_on()?;
        }
        Some(())
    }
}

fn intern(words: &mut Words, language: Language, text: &str, kind: TokenKind) -> TokenId {
    words.intern(text, || class_of(language, kind, text))
}

/// The open file's own layout, else that of its neighbours.
fn layout(shard: &Shard, open: &OpenFile) -> Layout {
    let own = Layout::detect(open.before).or_else(|| Layout::detect(open.after));
    let layout = own.or(shard.layout).unwrap_or(Layout::DEFAULT);
    let has_lines = open.before.contains('\n') || open.after.contains('\n');
    let crlf = if has_lines { is_crlf(open.before) || is_crlf(open.after) } else { layout.crlf };
    Layout { crlf, ..layout }
}

fn nearness(shard: &Shard, open: &OpenFile) -> Vec<Nearness> {
    let here = shard.directory_of(open.path);
    let near = |&directory| if Some(directory) == here { Nearness::Directory } else { Nearness::Workspace };
    let mut nearness: Vec<Nearness> = shard.directories.iter().map(near).collect();
    for path in open.hidden.iter().chain([&open.path]) {
        if let Some(file) = shard.file_number(path) {
            nearness[file] = Nearness::Masked;
        }
    }
    nearness
}
