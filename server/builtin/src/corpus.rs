//! The corpus: the workspace's tokens, sorted once, with changes in layers on top.
//!
//! ```text
//! build ─► one layer                    with(changed, removed) ─► the same, the changed files in their own layer
//! from_image ─► one layer, in place     settled ─► few layers      renewed ─► one layer
//! ```
//!
//! A corpus is immutable; a changed one shares all unchanged data. Independent of its history it holds the same files, each text
//! once, and gives the same completions: nothing visible depends on token numbers, the order of layers or masked files.

use std::collections::BTreeMap;
use std::sync::Arc;

use rayon::prelude::*;
use rustc_hash::FxHashSet;
use syntax::{LanguageFamily, SourceFile};

use crate::code_style::CodeStyle;
use crate::corpus_limit::{CorpusLimit, MIN_TOKEN_BYTES, TokenCoverage};
use crate::corpus_view::{CorpusView, OpenFile};
use crate::layer::{Hash, Layer, LayerBuilder, LayerFile, SortThreads, hash_of, merge};
use crate::token_stream::{CodePiece, TokenStream, class_of};
use crate::vocabulary::{Renumbering, Vocabulary};

/// Maximum size of a file in bytes. Larger ones are tables or generated code and would dominate (feasibility study, section 10).
const MAX_FILE_BYTES: usize = 1_500_000;
/// Bytes of text that are lexed together, on all threads, while the tokens of the previous ones are numbered. Tests have several
/// batches.
const BATCH_BYTES: usize = if cfg!(test) { 64 } else { 1 << 20 };
/// Each layer of changes has at least so many times the tokens of the next one, so that there are few layers and a file rarely
/// moves.
const LAYER_GROWTH: usize = 4;
/// The corpus needs a rebuild when one in so many of its tokens has changed (feasibility study, section 7).
const REBUILD_SHARE: usize = 20;
/// Changes of so few tokens are cheaper than a build, however small the limit is.
const MIN_REBUILD_TOKENS: usize = 1 << 16;

/// The tokens of a workspace's files by language family, with suffix arrays over them. Cheap to clone.
///
/// Access is only through [`Corpus::view`]: the corpus contains the very text that a completion must not see, and only a view knows
/// which file that is.
#[derive(Clone, Debug)]
pub struct Corpus {
    pub(crate) shards: Vec<Shard>,
    pub(crate) limit: Arc<CorpusLimit>,
}

/// Sizes of a corpus.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct CorpusStats {
    /// Number of distinct files.
    pub files: usize,
    /// Number of tokens, including separators.
    pub tokens: usize,
    /// Bytes of tokens and arrays, without the vocabulary.
    pub bytes: usize,
    /// Number of distinct words and literals, including unused ones.
    pub words: usize,
    /// Number of files without room.
    pub excluded_files: usize,
}

/// The files of one language family.
#[derive(Clone, Debug, Default)]
pub(crate) struct Shard {
    /// Vocabulary of all layers.
    pub(crate) words: Arc<Vocabulary>,
    /// Layers, the largest first; the others hold changes.
    pub(crate) layers: Vec<Layer>,
}

impl Corpus {
    /// Default limit. A corpus of so many tokens takes 260 MB, and 600 MB while it is sorted, which is acceptable for a language
    /// server on a machine used for two million lines.
    pub const MAX_TOKENS: usize = 20_000_000;

    /// Lexes and sorts `files`, up to the default limit, on the current rayon pool. Files with equal text are stored once; files
    /// that are too large are excluded.
    pub fn build(files: &[SourceFile]) -> Corpus {
        Corpus::build_within(CorpusLimit::default(), files)
    }

    /// The same with another limit. If not all files have room, vendored code and distant files are excluded first.
    pub fn build_within(limit: CorpusLimit, files: &[SourceFile]) -> Corpus {
        Corpus::of_limit(&Arc::new(limit), files)
    }

    fn of_limit(limit: &Arc<CorpusLimit>, files: &[SourceFile]) -> Corpus {
        let mut room = limit.tokens.min(i32::MAX as usize - 1);
        let mut parts: Vec<(LayerBuilder, Vocabulary)> =
            LanguageFamily::ALL.map(|_| Default::default()).into();
        let mut add_all = |lexed: Vec<LexedFile<'_>>| {
            for file in lexed {
                let (assembly, words) = &mut parts[file.file.language.family() as usize];
                let before = assembly.len();
                let is_taken = add(assembly, words, file, room);
                // The remaining files come later in the order. Lexing them to find a small one would take longer than everything
                // else.
                room = if is_taken { room - (assembly.len() - before) } else { 0 };
            }
            room > 0
        };
        let mut lexed = Vec::new();
        let mut has_room = true;
        for batch in batches(&limit.in_admission_order(files)) {
            let previous = std::mem::take(&mut lexed);
            let read = |&file: &_| if has_room { lex(file) } else { LexedFile::excluded(file) };
            (lexed, has_room) = rayon::join(|| batch.par_iter().map(read).collect(), || add_all(previous));
        }
        add_all(lexed);
        let shards = parts
            .into_par_iter()
            .map(|(assembly, words)| Shard::new(assembly, words, SortThreads::RayonPool));
        Corpus { shards: shards.collect(), limit: Arc::clone(limit) }
    }

    /// Returns the maximum number of tokens.
    pub fn max_tokens(&self) -> usize {
        self.limit.tokens
    }

    /// Returns the corpus with another limit, which applies from the next update on.
    #[must_use]
    pub fn with_limit(self, limit: CorpusLimit) -> Corpus {
        Corpus { limit: Arc::new(limit), ..self }
    }

    /// Returns the corpus after some files were added, changed or removed, regardless of the limit. Intended for the few files
    /// that are open in an editor.
    #[must_use]
    pub fn with_changes(&self, changed: &[SourceFile], removed: &[Arc<str>]) -> Corpus {
        let gone: Vec<&str> =
            changed.iter().map(|file| &*file.path).chain(removed.iter().map(|path| &**path)).collect();
        let shards = LanguageFamily::ALL.into_iter().zip(&self.shards).map(|(family, shard)| {
            shard.with_changes(changed.iter().filter(|file| file.language.family() == family), &gone)
        });
        Corpus { shards: shards.collect(), limit: Arc::clone(&self.limit) }
    }

    /// Returns the corpus of `files` after changes: the files that fit, as if it were built from `files`.
    #[must_use]
    pub fn updated_for(&self, changed: &[SourceFile], removed: &[Arc<str>], files: &[SourceFile]) -> Corpus {
        let bytes: usize = changed.iter().map(|file| file.text.len()).sum();
        if bytes / MIN_TOKEN_BYTES > self.limit.tokens {
            return Corpus::of_limit(&self.limit, files);
        }
        let all = self.with_changes(changed, removed).compacted();
        if all.is_complete() { all } else { all.limited(files) }
    }

    /// Returns whether it holds all files and has room for them.
    fn is_complete(&self) -> bool {
        let CorpusStats { tokens, excluded_files: left_out, .. } = self.stats();
        left_out == 0 && tokens <= self.limit.tokens
    }

    /// Returns the corpus with those of `files` that fit, as [`Corpus::build_within`] chooses them. Lexes only files that were
    /// excluded before, up to the first one without room; if these are many, builds it.
    fn limited(&self, files: &[SourceFile]) -> Corpus {
        let mut room = Some(self.limit.tokens);
        let mut counted: FxHashSet<Hash> = FxHashSet::default();
        let (mut taken, mut left_out) = (Vec::new(), Vec::new());
        let mut new_tokens = 0;
        for file in self.limit.in_admission_order(files) {
            let (is_held, tokens, hash) = self.admission_of(file, room.is_some());
            let rest = tokens.zip(room).and_then(|(tokens, room)| room.checked_sub(tokens));
            if counted.contains(&hash) {
                taken.extend((!is_held).then(|| file.clone()));
            } else if let Some(rest) = rest {
                counted.insert(hash);
                taken.extend((!is_held).then(|| file.clone()));
                new_tokens += tokens.filter(|_| !is_held).unwrap_or(0);
                room = Some(rest);
            } else {
                left_out.extend(is_held.then(|| (Arc::clone(&file.path), file.language.family(), hash)));
                room = room.filter(|_| file.text.len() > MAX_FILE_BYTES);
            }
            if new_tokens > MIN_REBUILD_TOKENS.max(self.limit.tokens / REBUILD_SHARE) {
                return Corpus::of_limit(&self.limit, files);
            }
        }
        let mut limited = self.with_changes(&taken, &[]);
        for (shard, family) in limited.shards.iter_mut().zip(LanguageFamily::ALL) {
            shard.exclude(left_out.iter().filter(|(_, of, _)| *of == family));
        }
        limited.compacted()
    }

    /// Returns whether a file's tokens are stored, their number, and the hash of its text. A missing file is lexed if it
    /// `may_be_lexed`.
    fn admission_of(&self, file: &SourceFile, may_be_lexed: bool) -> (bool, Option<usize>, Hash) {
        let known = self.shards[file.language.family() as usize].text(&file.path);
        if let Some((hash, tokens)) = known {
            return (true, Some(tokens), hash);
        }
        let (mut assembly, mut words) = Default::default();
        let lexed = if may_be_lexed { lex(file) } else { LexedFile::excluded(file) };
        let hash = lexed.hash;
        let has_room = lexed.content.is_some();
        add(&mut assembly, &mut words, lexed, usize::MAX);
        (false, has_room.then(|| assembly.len()), hash)
    }

    /// Returns the corpus synchronized to exactly these files. Lexes only differences.
    #[must_use]
    pub fn synced_to(&self, files: &[SourceFile]) -> Corpus {
        let changed: Vec<SourceFile> = files
            .iter()
            .filter(|file| {
                let known = self.shards[file.language.family() as usize].entry(&file.path);
                known.is_none_or(|known| known.hash != hash_of(file))
            })
            .cloned()
            .collect();
        let wanted: FxHashSet<&str> = files.iter().map(|file| &*file.path).collect();
        let known = self.shards.iter().flat_map(|shard| &shard.layers).flat_map(Layer::entries);
        let removed: Vec<Arc<str>> =
            known.map(|entry| &entry.path).filter(|path| !wanted.contains(&***path)).cloned().collect();
        self.updated_for(&changed, &removed, files)
    }

    /// Returns the same corpus with few layers: sorts small ones together, which takes time.
    #[must_use]
    pub fn compacted(self) -> Corpus {
        Corpus { shards: self.shards.into_iter().map(Shard::compacted).collect(), ..self }
    }

    /// Returns whether so much has changed that a rebuild is worthwhile.
    pub fn needs_rebuild(&self) -> bool {
        self.changed_tokens() * REBUILD_SHARE
            > self
                .shards
                .iter()
                .map(|shard| shard.layers.first().map_or(0, |layer| layer.sorted().tokens.len()))
                .sum()
    }

    /// Returns the number of tokens removed from the first layer of each family or stored in other layers.
    pub fn changed_tokens(&self) -> usize {
        self.shards.iter().map(Shard::changed_tokens).sum()
    }

    /// Rebuilds the corpus from the same files, which are `files`, on the current rayon pool. Lexes nothing, unless some files
    /// were or have to be excluded for lack of room.
    #[must_use]
    pub fn rebuilt(&self, files: &[SourceFile]) -> Corpus {
        if !self.is_complete() {
            return Corpus::of_limit(&self.limit, files);
        }
        let shards = self.shards.par_iter().map(Shard::merged).collect();
        Corpus { shards, limit: Arc::clone(&self.limit) }
    }

    /// Returns the view from inside `open`: the corpus without that file and the hidden ones, plus the text around the cursor.
    pub fn view(&self, open: &OpenFile) -> CorpusView<'_> {
        self.view_while(open, &mut || true).expect("nothing stops it")
    }

    /// The same, but cancellable: returns `None` once `keep_going` returns `false`.
    pub(crate) fn view_while(
        &self,
        open: &OpenFile,
        keep_going: &mut dyn FnMut() -> bool,
    ) -> Option<CorpusView<'_>> {
        CorpusView::new(&self.shards[open.language.family() as usize], open, keep_going)
    }

    /// Returns whether it excludes a file of one of these directories for lack of room, and its limit is not near them yet.
    pub fn lacks_code_near(&self, directories: &[Arc<str>]) -> bool {
        let new: Vec<&Arc<str>> = directories.iter().filter(|near| !self.limit.near.contains(near)).collect();
        let entries = self.shards.iter().flat_map(|shard| &shard.layers).flat_map(Layer::entries);
        entries.filter(|entry| entry.text.is_none()).any(|entry| {
            let directory = entry.path.rsplit_once('/').map_or("", |(directory, _)| directory);
            new.iter().any(|near| ***near == *directory)
        })
    }

    /// Returns the share of the tokens of `files`, its files, that it holds. Lexes nothing: excluded files count by their bytes.
    pub fn coverage(&self, files: &[SourceFile]) -> TokenCoverage {
        let CorpusStats { tokens: held, excluded_files, .. } = self.stats();
        if excluded_files == 0 {
            return TokenCoverage { held, total: held, excluded_files };
        }
        let bytes: usize = files.iter().map(|file| file.text.len()).sum();
        let held_bytes: usize = files
            .iter()
            .filter(|file| {
                let known = self.shards[file.language.family() as usize].entry(&file.path);
                known.is_some_and(|known| known.text.is_some())
            })
            .map(|file| file.text.len())
            .sum();
        let total = held as f64 * bytes as f64 / held_bytes.max(1) as f64;
        TokenCoverage { held, total: total as usize, excluded_files }
    }

    /// Returns the sizes.
    pub fn stats(&self) -> CorpusStats {
        /// Token, two arrays and side byte; plus the minima over the arrays.
        const BYTES_PER_TOKEN: usize = 3 * size_of::<u32>() + size_of::<u8>();
        let words = self.shards.iter().map(|shard| shard.words.len() as usize).sum();
        let mut stats = CorpusStats { words, ..CorpusStats::default() };
        for layer in self.shards.iter().flat_map(|shard| &shard.layers) {
            let (tokens, files) = layer.live_counts();
            stats.files += files;
            stats.tokens += tokens;
            stats.bytes += layer.sorted().tokens.len() * BYTES_PER_TOKEN;
            stats.excluded_files += layer.entries().filter(|entry| entry.text.is_none()).count();
        }
        stats
    }
}

/// A corpus without files. Requests create it, so it needs no thread pool.
impl Default for Corpus {
    fn default() -> Corpus {
        let empty = || Shard::new(LayerBuilder::default(), Vocabulary::default(), SortThreads::Caller);
        Corpus { shards: LanguageFamily::ALL.map(|_| empty()).into(), limit: Arc::default() }
    }
}

/// Divides files into batches of about [`BATCH_BYTES`] of text.
fn batches<'b, 'f>(files: &'b [&'f SourceFile]) -> impl Iterator<Item = &'b [&'f SourceFile]> {
    let mut bytes = 0;
    files.chunk_by(move |file, _| {
        bytes += file.text.len();
        let is_full = bytes >= BATCH_BYTES;
        if is_full {
            bytes = 0;
        }
        !is_full
    })
}

/// A file that is to be added.
struct LexedFile<'f> {
    file: &'f SourceFile,
    hash: Hash,
    /// Tokens and code style; `None` if it is excluded.
    content: Option<(Vec<syntax::Token>, Option<CodeStyle>)>,
}

impl<'f> LexedFile<'f> {
    fn excluded(file: &'f SourceFile) -> LexedFile<'f> {
        LexedFile { file, hash: hash_of(file), content: None }
    }
}

/// Lexes a file unless it is too large.
fn lex(file: &SourceFile) -> LexedFile<'_> {
    let has_size = file.text.len() <= MAX_FILE_BYTES;
    let content = || (syntax::lex(file.language, &file.text), CodeStyle::detect(&file.text));
    LexedFile { content: has_size.then(content), ..LexedFile::excluded(file) }
}

/// Adds a file if it has at most `room` tokens. Returns whether it does.
fn add(assembly: &mut LayerBuilder, words: &mut Vocabulary, lexed: LexedFile<'_>, room: usize) -> bool {
    let LexedFile { file, hash, content } = lexed;
    let mut has_room = true;
    assembly.add(Arc::clone(&file.path), hash, |stream| {
        let (tokens, style) = content.filter(|_| room > 0)?;
        let before = stream.len();
        append(stream, words, file, &tokens, style.unwrap_or(CodeStyle::DEFAULT));
        has_room = stream.len() - before <= room;
        if !has_room {
            stream.truncate(before);
        }
        has_room.then_some(style)
    });
    has_room
}

/// Appends a file with the tokens `lexed`.
fn append(
    stream: &mut TokenStream,
    words: &mut Vocabulary,
    file: &SourceFile,
    lexed: &[syntax::Token],
    layout: CodeStyle,
) {
    let language = file.language;
    let piece = CodePiece { language, text: &file.text, layout, column: None };
    stream.extend(&piece, lexed, |text, kind| words.intern(text, class_of(language, kind, text)));
    stream.end();
}

impl Shard {
    fn new(assembly: LayerBuilder, words: Vocabulary, threads: SortThreads) -> Shard {
        let layers = vec![Layer::new(assembly.sort(&words, threads))];
        Shard { words: Arc::new(words), layers }
    }

    fn with_changes<'f>(&self, changed: impl Iterator<Item = &'f SourceFile>, gone: &[&str]) -> Shard {
        let mut shard = self.clone();
        gone.iter().for_each(|path| shard.remove(path));
        let mut changed = changed.peekable();
        if changed.peek().is_none() {
            return shard;
        }
        let (mut assembly, mut words) = (LayerBuilder::default(), Vocabulary::extensible(&self.words));
        let mut hashes = FxHashSet::default();
        for file in changed.map(lex) {
            hashes.insert(file.hash);
            add(&mut assembly, &mut words, file, usize::MAX);
        }
        for LayerFile { path, hash, .. } in shard.files_with(&hashes) {
            shard.remove(&path);
            assembly.add(path, hash, |_| None);
        }
        shard.layers.push(Layer::new(assembly.sort(&words, SortThreads::Caller)));
        Shard { words: Arc::new(words), ..shard }
    }

    /// Removes the tokens of files, which stay known.
    fn exclude<'f>(&mut self, files: impl Iterator<Item = &'f (Arc<str>, LanguageFamily, Hash)>) {
        let mut assembly = LayerBuilder::default();
        for (path, _, hash) in files {
            self.remove(path);
            assembly.add(Arc::clone(path), *hash, |_| None);
        }
        self.layers.push(Layer::new(assembly.sort(&self.words, SortThreads::Caller)));
    }

    /// Returns hash and number of tokens of the text at a path, if its tokens are stored.
    fn text(&self, path: &str) -> Option<(Hash, usize)> {
        self.layers.iter().find_map(|layer| {
            let entry = layer.entry(path)?;
            Some((entry.hash, layer.tokens_in(entry.text?)))
        })
    }

    fn remove(&mut self, path: &str) {
        self.layers.iter_mut().for_each(|layer| layer.remove(path));
    }

    /// Returns the files with one of these texts, which are stored once for all of them.
    fn files_with(&self, hashes: &FxHashSet<Hash>) -> Vec<LayerFile> {
        let entries = self.layers.iter().flat_map(Layer::entries);
        entries.filter(|entry| hashes.contains(&entry.hash)).cloned().collect()
    }

    /// Sorts layers of changes together until each is considerably larger than the next one.
    fn compacted(mut self) -> Shard {
        let base = self.layers.len().min(1);
        let changes = self.layers.split_off(base);
        self.layers.extend(changes.into_iter().filter(|layer| layer.entries().next().is_some()));
        while let [_, .., older, newer] = self.layers.as_slice()
            && older.live_counts().0 < LAYER_GROWTH * newer.live_counts().0.max(1)
        {
            let both = self.layers.split_off(self.layers.len() - 2);
            let merged = merge(&both, |token| token).sort(&self.words, SortThreads::Caller);
            self.layers.push(Layer::new(merged));
        }
        self
    }

    /// Merges all layers into one and drops unused words.
    fn merged(&self) -> Shard {
        let mut numbering = Renumbering::of(&self.words);
        let assembly = merge(&self.layers, |token| numbering.number(token));
        Shard::new(assembly, numbering.new, SortThreads::RayonPool)
    }

    fn changed_tokens(&self) -> usize {
        let Some((base, changes)) = self.layers.split_first() else { return 0 };
        let changes: usize = changes.iter().map(|layer| layer.sorted().tokens.len()).sum();
        base.sorted().tokens.len() - base.live_counts().0 + changes
    }

    /// Returns the file at `path`.
    fn entry(&self, path: &str) -> Option<&LayerFile> {
        self.layers.iter().find_map(|layer| layer.entry(path))
    }

    /// Returns the hashes of the texts of these files.
    pub(crate) fn hashes<'p>(&self, paths: impl Iterator<Item = &'p str>) -> Vec<Hash> {
        paths.filter_map(|path| self.entry(path)).map(|entry| entry.hash).collect()
    }

    /// Returns the most frequent code style.
    pub(crate) fn layout(&self) -> Option<CodeStyle> {
        let mut counts: BTreeMap<CodeStyle, usize> = BTreeMap::new();
        for layout in self.layers.iter().flat_map(Layer::layouts) {
            *counts.entry(layout).or_default() += 1;
        }
        counts.into_iter().max_by_key(|&(_, count)| count).map(|(layout, _)| layout)
    }
}

#[cfg(test)]
mod tests;
