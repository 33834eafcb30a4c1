//! The workspace's tokens, sorted once, with what has changed since on top.
//!
//! ```text
//! build ─► one layer                    with(changed, removed) ─► the same, the changed files in a layer of their own
//! from_image ─► one layer, in place     settled ─► few layers      renewed ─► one layer
//! ```
//!
//! A corpus never changes; one with changes shares what has not. Whatever led to it, it holds the same files and each text once, and a
//! completion is the same: nothing that it sees depends on numbers of words, the order of layers or what is masked.

use std::collections::BTreeMap;
use std::sync::Arc;

use rustc_hash::FxHashSet;
use syntax::{Family, SourceFile};

use crate::layer::{Assembly, Entry, Hash, Layer, hash_of, merge};
use crate::layout::Layout;
use crate::stream::{Piece, Stream, class_of};
use crate::view::{OpenFile, View};
use crate::vocabulary::{Renumbering, Vocabulary};

/// Larger files are tables or generated code and would drown the rest, in bytes (feasibility study, section 10).
const MAX_FILE_BYTES: usize = 1_500_000;
/// Source code has more bytes to a token than this, so that a workspace of less can be taken as it is.
const MIN_TOKEN_BYTES: usize = 3;
/// Directories of code that comes from elsewhere or that nobody has written: left out first.
const FOREIGN: [&str; 8] =
    ["vendor", "third_party", "thirdparty", "3rdparty", "external", "generated", "gen", "node_modules"];
/// A layer of changes has at least so many times the tokens of the next one, so that there are few and each file is moved rarely.
const GROWTH: usize = 4;
/// A corpus is worn when this share of its tokens has changed: one in so many (feasibility study, section 7).
const WORN: usize = 20;

/// The tokens of a workspace's files by language family, with suffix arrays over them. Cheap to clone.
///
/// Nothing can be asked of a corpus but [`Corpus::view`]: its files hold the very text that a completion must not see, and
/// only a view knows which file that is.
#[derive(Clone, Debug)]
pub struct Corpus {
    pub(crate) shards: Vec<Shard>,
    /// How many tokens it may hold.
    pub(crate) max_tokens: usize,
}

/// What a corpus holds.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Stats {
    /// Distinct files.
    pub files: usize,
    /// Tokens, separators included.
    pub tokens: usize,
    /// Bytes of tokens and arrays, without the words.
    pub bytes: usize,
    /// Distinct words and literals, those that nobody uses any more included.
    pub words: usize,
    /// Files that were left out.
    pub left_out: usize,
}

/// One family's files.
#[derive(Clone, Debug, Default)]
pub(crate) struct Shard {
    /// Of all layers.
    pub(crate) words: Arc<Vocabulary>,
    /// The largest first; those behind hold what has changed since.
    pub(crate) layers: Vec<Layer>,
}

impl Corpus {
    /// A corpus of so many tokens takes 260 MB, and 600 MB while it is sorted, as much as a language server may take on the machine of
    /// somebody who works on two million lines.
    pub const MAX_TOKENS: usize = 20_000_000;

    /// Lexes and sorts `files`, up to [`Corpus::MAX_TOKENS`]. Files with the same text are held once; too large ones are left out.
    pub fn build(files: &[SourceFile]) -> Corpus {
        Corpus::build_up_to(Corpus::MAX_TOKENS, files)
    }

    /// The same with another limit. Where not all files have room, code from elsewhere and large files are left out first.
    pub fn build_up_to(max_tokens: usize, files: &[SourceFile]) -> Corpus {
        let max_tokens = max_tokens.min(i32::MAX as usize - 1);
        let mut room = max_tokens;
        let mut parts: Vec<(Assembly, Vocabulary)> = Family::ALL.map(|_| Default::default()).into();
        for file in by_claim(max_tokens, files) {
            let (assembly, words) = &mut parts[file.language.family() as usize];
            let before = assembly.len();
            let is_taken = add(assembly, words, file, hash_of(file), room);
            // What is left is larger: lexing it to find that out would take longer than all the rest.
            room = if is_taken { room - (assembly.len() - before) } else { 0 };
        }
        let shards = parts.into_iter().map(|(assembly, words)| Shard::new(assembly, words)).collect();
        Corpus { shards, max_tokens }
    }

    /// The corpus after some files were added or changed, and others removed, whether there is room for them or not: for the few that
    /// are open in an editor.
    #[must_use]
    pub fn with(&self, changed: &[SourceFile], removed: &[Arc<str>]) -> Corpus {
        let gone: Vec<&str> =
            changed.iter().map(|file| &*file.path).chain(removed.iter().map(|path| &**path)).collect();
        let shards = Family::ALL.into_iter().zip(&self.shards).map(|(family, shard)| {
            shard.with(changed.iter().filter(|file| file.language.family() == family), &gone)
        });
        Corpus { shards: shards.collect(), ..*self }
    }

    /// The corpus of `files` after some of them were added or changed, and others removed: what it has room for, as if built from them.
    #[must_use]
    pub fn followed(&self, changed: &[SourceFile], removed: &[Arc<str>], files: &[SourceFile]) -> Corpus {
        let bytes: usize = changed.iter().map(|file| file.text.len()).sum();
        if bytes / MIN_TOKEN_BYTES > self.max_tokens {
            return Corpus::build_up_to(self.max_tokens, files);
        }
        let all = self.with(changed, removed).settled();
        if all.is_whole() { all } else { all.limited(files) }
    }

    /// Whether it holds all files, and has room for them.
    fn is_whole(&self) -> bool {
        let Stats { tokens, left_out, .. } = self.stats();
        left_out == 0 && tokens <= self.max_tokens
    }

    /// The corpus with those of its `files` that it has room for, as [`Corpus::build_up_to`] chooses them. Only what was left out before
    /// is lexed, up to the first file without room.
    fn limited(&self, files: &[SourceFile]) -> Corpus {
        let mut room = Some(self.max_tokens);
        let mut counted: FxHashSet<Hash> = FxHashSet::default();
        let (mut taken, mut left_out) = (Vec::new(), Vec::new());
        for file in by_claim(self.max_tokens, files) {
            let (is_held, tokens, hash) = self.claim(file, room.is_some());
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
        let mut limited = self.with(&taken, &[]);
        for (shard, family) in limited.shards.iter_mut().zip(Family::ALL) {
            shard.leave_out(left_out.iter().filter(|(_, of, _)| *of == family));
        }
        limited.settled()
    }

    /// Whether a file's tokens are held, how many it has, and the hash of its text. One that is not held is lexed if it `may_be_lexed`.
    fn claim(&self, file: &SourceFile, may_be_lexed: bool) -> (bool, Option<usize>, Hash) {
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

    /// The corpus after it was brought to hold these files and no others. Only what differs is lexed.
    #[must_use]
    pub fn brought_to(&self, files: &[SourceFile]) -> Corpus {
        let differs = |file: &&SourceFile| {
            let known = self.shards[file.language.family() as usize].entry(&file.path);
            known.is_none_or(|known| known.hash != hash_of(file))
        };
        let changed: Vec<SourceFile> = files.iter().filter(differs).cloned().collect();
        let wanted: FxHashSet<&str> = files.iter().map(|file| &*file.path).collect();
        let known = self.shards.iter().flat_map(|shard| &shard.layers).flat_map(Layer::entries);
        let removed: Vec<Arc<str>> =
            known.map(|entry| &entry.path).filter(|path| !wanted.contains(&***path)).cloned().collect();
        self.followed(&changed, &removed, files)
    }

    /// The same with few layers: small ones are sorted together, which takes time.
    #[must_use]
    pub fn settled(self) -> Corpus {
        Corpus { shards: self.shards.into_iter().map(Shard::settled).collect(), ..self }
    }

    /// Whether so much has changed that it pays to put it together anew.
    pub fn is_worn(&self) -> bool {
        let base = |shard: &Shard| shard.layers.first().map_or(0, |layer| layer.sorted().tokens.len());
        self.changed_tokens() * WORN > self.shards.iter().map(base).sum()
    }

    /// Tokens that were taken out of the first layer of each family, or lie in others.
    pub fn changed_tokens(&self) -> usize {
        self.shards.iter().map(Shard::changed_tokens).sum()
    }

    /// The corpus of the same files, which are `files`, put together anew. Nothing is lexed, unless they are so many that some were or have
    /// to be left out.
    #[must_use]
    pub fn renewed(&self, files: &[SourceFile]) -> Corpus {
        if !self.is_whole() {
            return Corpus::build_up_to(self.max_tokens, files);
        }
        Corpus { shards: self.shards.iter().map(Shard::merged).collect(), ..*self }
    }

    /// What can be seen of the corpus from inside `open`: everything but that file and the hidden ones, plus the text around
    /// the cursor.
    pub fn view(&self, open: &OpenFile) -> View<'_> {
        self.view_while(open, &mut || true).expect("nothing stops it")
    }

    /// The same, for a caller who may lose interest: `None` once `keep_going` says `false`.
    pub(crate) fn view_while(
        &self,
        open: &OpenFile,
        keep_going: &mut dyn FnMut() -> bool,
    ) -> Option<View<'_>> {
        View::new(&self.shards[open.language.family() as usize], open, keep_going)
    }

    /// Sizes.
    pub fn stats(&self) -> Stats {
        /// The token, two arrays and how it was written; beside them the minima over the arrays.
        const BYTES_PER_TOKEN: usize = 3 * size_of::<u32>() + size_of::<u8>();
        let words = self.shards.iter().map(|shard| shard.words.len() as usize).sum();
        let mut stats = Stats { words, ..Stats::default() };
        for layer in self.shards.iter().flat_map(|shard| &shard.layers) {
            let (tokens, files) = layer.live();
            stats.files += files;
            stats.tokens += tokens;
            stats.bytes += layer.sorted().tokens.len() * BYTES_PER_TOKEN;
            stats.left_out += layer.entries().filter(|entry| entry.text.is_none()).count();
        }
        stats
    }
}

/// Without files.
impl Default for Corpus {
    fn default() -> Corpus {
        Corpus::build(&[])
    }
}

/// Adds a file if it has no more than `room` tokens; says whether it has room.
fn add(assembly: &mut Assembly, words: &mut Vocabulary, file: &SourceFile, hash: Hash, room: usize) -> bool {
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

/// Appends a file that was lexed into `lexed`, and tells its layout.
fn append(
    stream: &mut Stream,
    words: &mut Vocabulary,
    file: &SourceFile,
    lexed: &[syntax::Token],
) -> Option<Layout> {
    let language = file.language;
    let detected = Layout::detect(&file.text);
    let layout = detected.unwrap_or(Layout::DEFAULT);
    let piece = Piece { language, text: &file.text, layout, column: None };
    stream.extend(&piece, lexed, |text, kind| words.intern(text, class_of(language, kind, text)));
    stream.end();
    detected
}

/// The files in the order in which they get room. Where all are sure to have it, any order will do.
fn by_claim(max_tokens: usize, files: &[SourceFile]) -> Vec<&SourceFile> {
    let mut files: Vec<&SourceFile> = files.iter().collect();
    let bytes: usize = files.iter().map(|file| file.text.len()).sum();
    if bytes / MIN_TOKEN_BYTES > max_tokens {
        files.sort_by_cached_key(|file| (is_foreign(&file.path), file.text.len(), Arc::clone(&file.path)));
    }
    files
}

fn is_foreign(path: &str) -> bool {
    path.split('/').any(|part| FOREIGN.contains(&part))
}

impl Shard {
    fn new(assembly: Assembly, words: Vocabulary) -> Shard {
        let layers = vec![Layer::new(assembly.sort(&words))];
        Shard { words: Arc::new(words), layers }
    }

    fn with<'f>(&self, changed: impl Iterator<Item = &'f SourceFile>, gone: &[&str]) -> Shard {
        let mut shard = self.clone();
        gone.iter().for_each(|path| shard.remove(path));
        let changed: Vec<(&SourceFile, Hash)> = changed.map(|file| (file, hash_of(file))).collect();
        if changed.is_empty() {
            return shard;
        }
        let (mut assembly, mut words) = (Assembly::default(), Vocabulary::growing(&self.words));
        for (file, hash) in &changed {
            add(&mut assembly, &mut words, file, *hash, usize::MAX);
        }
        let hashes = changed.iter().map(|(_, hash)| *hash).collect();
        for Entry { path, hash, .. } in shard.files_with(&hashes) {
            shard.remove(&path);
            assembly.add(path, hash, |_| None);
        }
        shard.layers.push(Layer::new(assembly.sort(&words)));
        Shard { words: Arc::new(words), ..shard }
    }

    /// Takes out the tokens of files, which are still known.
    fn leave_out<'f>(&mut self, files: impl Iterator<Item = &'f (Arc<str>, Family, Hash)>) {
        let mut assembly = Assembly::default();
        for (path, _, hash) in files {
            self.remove(path);
            assembly.add(Arc::clone(path), *hash, |_| None);
        }
        self.layers.push(Layer::new(assembly.sort(&self.words)));
    }

    /// The hash of the text at a path, and how many tokens it has, if these are held.
    fn text(&self, path: &str) -> Option<(Hash, usize)> {
        self.layers.iter().find_map(|layer| {
            let entry = layer.entry(path)?;
            Some((entry.hash, layer.tokens_in(entry.text?)))
        })
    }

    fn remove(&mut self, path: &str) {
        self.layers.iter_mut().for_each(|layer| layer.remove(path));
    }

    /// The files with one of these texts, which are to be held once whoever has them.
    fn files_with(&self, hashes: &FxHashSet<Hash>) -> Vec<Entry> {
        let entries = self.layers.iter().flat_map(Layer::entries);
        entries.filter(|entry| hashes.contains(&entry.hash)).cloned().collect()
    }

    /// Sorts layers of changes together until each is a good deal larger than the next one.
    fn settled(mut self) -> Shard {
        let base = self.layers.len().min(1);
        let changes = self.layers.split_off(base);
        self.layers.extend(changes.into_iter().filter(|layer| layer.entries().next().is_some()));
        while let [_, .., older, newer] = self.layers.as_slice()
            && older.live().0 < GROWTH * newer.live().0.max(1)
        {
            let both = self.layers.split_off(self.layers.len() - 2);
            self.layers.push(Layer::new(merge(&both, |token| token).sort(&self.words)));
        }
        self
    }

    /// One layer of everything, in which words that nobody uses any more have no numbers.
    fn merged(&self) -> Shard {
        let mut numbering = Renumbering::of(&self.words);
        let assembly = merge(&self.layers, |token| numbering.number(token));
        Shard::new(assembly, numbering.new)
    }

    fn changed_tokens(&self) -> usize {
        let Some((base, changes)) = self.layers.split_first() else { return 0 };
        let changes: usize = changes.iter().map(|layer| layer.sorted().tokens.len()).sum();
        base.sorted().tokens.len() - base.live().0 + changes
    }

    /// The file at `path`.
    fn entry(&self, path: &str) -> Option<&Entry> {
        self.layers.iter().find_map(|layer| layer.entry(path))
    }

    /// Hashes of the texts that the files at these paths have.
    pub(crate) fn hashes<'p>(&self, paths: impl Iterator<Item = &'p str>) -> Vec<Hash> {
        paths.filter_map(|path| self.entry(path)).map(|entry| entry.hash).collect()
    }

    /// The layout that most texts have.
    pub(crate) fn layout(&self) -> Option<Layout> {
        let mut counts: BTreeMap<Layout, usize> = BTreeMap::new();
        for layout in self.layers.iter().flat_map(Layer::layouts) {
            *counts.entry(layout).or_default() += 1;
        }
        counts.into_iter().max_by_key(|&(_, count)| count).map(|(layout, _)| layout)
    }
}

#[cfg(test)]
mod tests;
