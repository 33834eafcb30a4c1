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

use rustc_hash::FxHashSet;
use syntax::{LanguageFamily, SourceFile};

use crate::code_style::CodeStyle;
use crate::corpus_view::{CorpusView, OpenFile};
use crate::layer::{Hash, Layer, LayerBuilder, LayerFile, hash_of, merge};
use crate::token_stream::{CodePiece, TokenStream, class_of};
use crate::vocabulary::{Renumbering, Vocabulary};

/// Maximum size of a file in bytes. Larger ones are tables or generated code and would dominate (feasibility study, section 10).
const MAX_FILE_BYTES: usize = 1_500_000;
/// Lower bound of the bytes per token in source code. A workspace with fewer bytes than the limit allows certainly fits.
const MIN_TOKEN_BYTES: usize = 3;
/// Directories of vendored or generated code, which is excluded first.
const VENDORED_DIRECTORIES: [&str; 8] =
    ["vendor", "third_party", "thirdparty", "3rdparty", "external", "generated", "gen", "node_modules"];
/// Each layer of changes has at least so many times the tokens of the next one, so that there are few layers and a file rarely
/// moves.
const LAYER_GROWTH: usize = 4;
/// The corpus needs a rebuild when one in so many of its tokens has changed (feasibility study, section 7).
const REBUILD_SHARE: usize = 20;

/// The tokens of a workspace's files by language family, with suffix arrays over them. Cheap to clone.
///
/// Access is only through [`Corpus::view`]: the corpus contains the very text that a completion must not see, and only a view knows
/// which file that is.
#[derive(Clone, Debug)]
pub struct Corpus {
    pub(crate) shards: Vec<Shard>,
    /// Maximum number of tokens.
    pub(crate) max_tokens: usize,
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

    /// Lexes and sorts `files`, up to [`Corpus::MAX_TOKENS`]. Files with equal text are stored once; files that are too large are
    /// excluded.
    pub fn build(files: &[SourceFile]) -> Corpus {
        Corpus::build_up_to(Corpus::MAX_TOKENS, files)
    }

    /// The same with another limit. If not all files have room, vendored code and large files are excluded first.
    pub fn build_up_to(max_tokens: usize, files: &[SourceFile]) -> Corpus {
        let max_tokens = max_tokens.min(i32::MAX as usize - 1);
        let mut room = max_tokens;
        let mut parts: Vec<(LayerBuilder, Vocabulary)> =
            LanguageFamily::ALL.map(|_| Default::default()).into();
        for file in in_admission_order(max_tokens, files) {
            let (assembly, words) = &mut parts[file.language.family() as usize];
            let before = assembly.len();
            let is_taken = add(assembly, words, file, hash_of(file), room);
            // The remaining files are larger. Lexing them to find out would take longer than everything else.
            room = if is_taken { room - (assembly.len() - before) } else { 0 };
        }
        let shards = parts.into_iter().map(|(assembly, words)| Shard::new(assembly, words)).collect();
        Corpus { shards, max_tokens }
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
        Corpus { shards: shards.collect(), ..*self }
    }

    /// Returns the corpus of `files` after changes: the files that fit, as if it were built from `files`.
    #[must_use]
    pub fn updated_for(&self, changed: &[SourceFile], removed: &[Arc<str>], files: &[SourceFile]) -> Corpus {
        let bytes: usize = changed.iter().map(|file| file.text.len()).sum();
        if bytes / MIN_TOKEN_BYTES > self.max_tokens {
            return Corpus::build_up_to(self.max_tokens, files);
        }
        let all = self.with_changes(changed, removed).compacted();
        if all.is_complete() { all } else { all.limited(files) }
    }

    /// Returns whether it holds all files and has room for them.
    fn is_complete(&self) -> bool {
        let CorpusStats { tokens, excluded_files: left_out, .. } = self.stats();
        left_out == 0 && tokens <= self.max_tokens
    }

    /// Returns the corpus with those of `files` that fit, as [`Corpus::build_up_to`] chooses them. Lexes only files that were
    /// excluded before, up to the first one without room.
    fn limited(&self, files: &[SourceFile]) -> Corpus {
        let mut room = Some(self.max_tokens);
        let mut counted: FxHashSet<Hash> = FxHashSet::default();
        let (mut taken, mut left_out) = (Vec::new(), Vec::new());
        for file in in_admission_order(self.max_tokens, files) {
            let (is_held, tokens, hash) = self.admission_of(file, room.is_some());
            let rest = tokens.zip(room).and_then(|(tokens, room)| room.checked_sub(tokens));
            if counted.contains(&hash) {
                taken.extend((!is_held).then(|| file.clone()));
            } else if let Some(rest) = rest {
                counted.insert(hash);
                taken.extend((!is_held).then(|| file.clone()));
                room = Some(rest);
            } else {
                left_out.extend(is_held.then(|| (Arc::clone(&file.path), file.language.family(), hash)));
                room = room.filter(|_| file.text.len() > MAX_FILE_BYTES);
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
        let hash = hash_of(file);
        let has_room = may_be_lexed && file.text.len() <= MAX_FILE_BYTES;
        has_room.then(|| add(&mut assembly, &mut words, file, hash, usize::MAX));
        (false, has_room.then(|| assembly.len()), hash)
    }

    /// Returns the corpus synchronized to exactly these files. Lexes only differences.
    #[must_use]
    pub fn synced_to(&self, files: &[SourceFile]) -> Corpus {
        let differs = |file: &&SourceFile| {
            let known = self.shards[file.language.family() as usize].entry(&file.path);
            known.is_none_or(|known| known.hash != hash_of(file))
        };
        let changed: Vec<SourceFile> = files.iter().filter(differs).cloned().collect();
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
        let base = |shard: &Shard| shard.layers.first().map_or(0, |layer| layer.sorted().tokens.len());
        self.changed_tokens() * REBUILD_SHARE > self.shards.iter().map(base).sum()
    }

    /// Returns the number of tokens removed from the first layer of each family or stored in other layers.
    pub fn changed_tokens(&self) -> usize {
        self.shards.iter().map(Shard::changed_tokens).sum()
    }

    /// Rebuilds the corpus from the same files, which are `files`. Lexes nothing, unless some files were or have to be excluded
    /// for lack of room.
    #[must_use]
    pub fn rebuilt(&self, files: &[SourceFile]) -> Corpus {
        if !self.is_complete() {
            return Corpus::build_up_to(self.max_tokens, files);
        }
        Corpus { shards: self.shards.iter().map(Shard::merged).collect(), ..*self }
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

/// A corpus without files.
impl Default for Corpus {
    fn default() -> Corpus {
        Corpus::build(&[])
    }
}

/// Adds a file if it has at most `room` tokens. Returns whether it does.
fn add(
    assembly: &mut LayerBuilder,
    words: &mut Vocabulary,
    file: &SourceFile,
    hash: Hash,
    room: usize,
) -> bool {
    let mut has_room = true;
    assembly.add(Arc::clone(&file.path), hash, |stream| {
        if room == 0 || file.text.len() > MAX_FILE_BYTES {
            return None;
        }
        let before = stream.len();
        let layout = append(stream, words, file, &syntax::lex(file.language, &file.text));
        has_room = stream.len() - before <= room;
        if !has_room {
            stream.truncate(before);
        }
        has_room.then_some(layout)
    });
    has_room
}

/// Appends a file with the tokens `lexed` and returns its code style.
fn append(
    stream: &mut TokenStream,
    words: &mut Vocabulary,
    file: &SourceFile,
    lexed: &[syntax::Token],
) -> Option<CodeStyle> {
    let language = file.language;
    let detected = CodeStyle::detect(&file.text);
    let layout = detected.unwrap_or(CodeStyle::DEFAULT);
    let piece = CodePiece { language, text: &file.text, layout, column: None };
    stream.extend(&piece, lexed, |text, kind| words.intern(text, class_of(language, kind, text)));
    stream.end();
    detected
}

/// Returns the files in the order in which they get room. If all certainly fit, the order does not matter.
fn in_admission_order(max_tokens: usize, files: &[SourceFile]) -> Vec<&SourceFile> {
    let mut files: Vec<&SourceFile> = files.iter().collect();
    let bytes: usize = files.iter().map(|file| file.text.len()).sum();
    if bytes / MIN_TOKEN_BYTES > max_tokens {
        files.sort_by_cached_key(|file| (is_vendored(&file.path), file.text.len(), Arc::clone(&file.path)));
    }
    files
}

fn is_vendored(path: &str) -> bool {
    path.split('/').any(|part| VENDORED_DIRECTORIES.contains(&part))
}

impl Shard {
    fn new(assembly: LayerBuilder, words: Vocabulary) -> Shard {
        let layers = vec![Layer::new(assembly.sort(&words))];
        Shard { words: Arc::new(words), layers }
    }

    fn with_changes<'f>(&self, changed: impl Iterator<Item = &'f SourceFile>, gone: &[&str]) -> Shard {
        let mut shard = self.clone();
        gone.iter().for_each(|path| shard.remove(path));
        let changed: Vec<(&SourceFile, Hash)> = changed.map(|file| (file, hash_of(file))).collect();
        if changed.is_empty() {
            return shard;
        }
        let (mut assembly, mut words) = (LayerBuilder::default(), Vocabulary::extensible(&self.words));
        for (file, hash) in &changed {
            add(&mut assembly, &mut words, file, *hash, usize::MAX);
        }
        let hashes = changed.iter().map(|(_, hash)| *hash).collect();
        for LayerFile { path, hash, .. } in shard.files_with(&hashes) {
            shard.remove(&path);
            assembly.add(path, hash, |_| None);
        }
        shard.layers.push(Layer::new(assembly.sort(&words)));
        Shard { words: Arc::new(words), ..shard }
    }

    /// Removes the tokens of files, which stay known.
    fn exclude<'f>(&mut self, files: impl Iterator<Item = &'f (Arc<str>, LanguageFamily, Hash)>) {
        let mut assembly = LayerBuilder::default();
        for (path, _, hash) in files {
            self.remove(path);
            assembly.add(Arc::clone(path), *hash, |_| None);
        }
        self.layers.push(Layer::new(assembly.sort(&self.words)));
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
            self.layers.push(Layer::new(merge(&both, |token| token).sort(&self.words)));
        }
        self
    }

    /// Merges all layers into one and drops unused words.
    fn merged(&self) -> Shard {
        let mut numbering = Renumbering::of(&self.words);
        let assembly = merge(&self.layers, |token| numbering.number(token));
        Shard::new(assembly, numbering.new)
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
