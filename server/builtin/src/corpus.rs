//! The workspace's tokens, sorted once.

use std::collections::BTreeMap;
use std::sync::Arc;

use rustc_hash::FxHashMap;
use syntax::{Family, SourceFile};

use crate::layout::Layout;
use crate::stream::{Piece, Stream, class_of};
use crate::suffix_array::SuffixArray;
use crate::view::{OpenFile, View};
use crate::vocabulary::Vocabulary;

/// Larger files are tables or generated code and would drown the rest, in bytes (feasibility study, section 10).
const MAX_FILE_BYTES: usize = 1_500_000;
/// Suffix arrays are built over `i32`.
const MAX_TOKENS: usize = i32::MAX as usize - 1;

/// The tokens of a workspace's files by language family, with suffix arrays over them.
///
/// Nothing can be asked of a corpus but [`Corpus::view`]: its files hold the very text that a completion must not see, and
/// only a view knows which file that is.
#[derive(Debug)]
pub struct Corpus {
    shards: Vec<Shard>,
}

/// What a corpus holds.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Stats {
    /// Distinct files.
    pub files: usize,
    /// Tokens, separators included.
    pub tokens: usize,
    /// Resident bytes of tokens and arrays, without the vocabulary.
    pub bytes: usize,
}

/// One family's files.
#[derive(Debug, Default)]
pub(crate) struct Shard {
    pub(crate) vocabulary: Vocabulary,
    pub(crate) stream: Stream,
    pub(crate) exact: SuffixArray,
    pub(crate) abstracted: SuffixArray,
    /// Where each file starts in the stream; ascending.
    pub(crate) starts: Vec<u32>,
    /// The directory of each file as a number.
    pub(crate) directories: Vec<u32>,
    directory_numbers: FxHashMap<Box<str>, u32>,
    /// The file of each path; several paths share one where their texts are the same.
    paths: FxHashMap<Arc<str>, u32>,
    /// The most common layout.
    pub(crate) layout: Option<Layout>,
}

impl Corpus {
    /// Lexes and sorts `files`. Files with the same text are held once; too large ones are left out.
    pub fn build(files: &[SourceFile]) -> Corpus {
        let shard = |family| Shard::build(files.iter().filter(|file| file.language.family() == family));
        Corpus { shards: Family::ALL.into_iter().map(shard).collect() }
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
        self.shards.iter().fold(Stats::default(), |stats, shard| Stats {
            files: stats.files + shard.starts.len(),
            tokens: stats.tokens + shard.stream.len(),
            bytes: stats.bytes + shard.bytes(),
        })
    }
}

impl Shard {
    fn build<'f>(files: impl Iterator<Item = &'f SourceFile>) -> Shard {
        let mut shard = Shard::default();
        let mut texts: FxHashMap<&str, u32> = FxHashMap::default();
        let mut layouts: BTreeMap<Layout, usize> = BTreeMap::new();
        for file in files.filter(|file| file.text.len() <= MAX_FILE_BYTES) {
            if shard.stream.len() + file.text.len() > MAX_TOKENS {
                break;
            }
            let number = *texts.entry(&file.text).or_insert_with(|| shard.push(file, &mut layouts));
            shard.paths.insert(file.path.clone(), number);
        }
        shard.layout = layouts.into_iter().max_by_key(|&(_, count)| count).map(|(layout, _)| layout);
        shard.sort();
        shard
    }

    fn push(&mut self, file: &SourceFile, layouts: &mut BTreeMap<Layout, usize>) -> u32 {
        let number = u32::try_from(self.starts.len()).expect("no more files than tokens");
        let directory = self.directory_number(&file.path);
        self.directories.push(directory);
        self.starts.push(u32::try_from(self.stream.len()).expect("limited by MAX_TOKENS"));
        let layout = Layout::detect(&file.text);
        if let Some(layout) = layout {
            *layouts.entry(layout).or_default() += 1;
        }
        let language = file.language;
        let layout = layout.unwrap_or(Layout::DEFAULT);
        let piece = Piece { language, text: &file.text, layout, column: None };
        let vocabulary = &mut self.vocabulary;
        self.stream.extend(&piece, &syntax::lex(language, &file.text), |text, kind| {
            vocabulary.intern(text, || class_of(language, kind, text))
        });
        self.stream.end();
        number
    }

    fn directory_number(&mut self, path: &str) -> u32 {
        let next = u32::try_from(self.directory_numbers.len()).expect("no more directories than files");
        *self.directory_numbers.entry(directory(path).into()).or_insert(next)
    }

    fn sort(&mut self) {
        let Shard { vocabulary, stream, .. } = self;
        stream.tokens.shrink_to_fit();
        stream.blanks.shrink_to_fit();
        self.exact = SuffixArray::build(stream.tokens.iter().copied());
        self.abstracted = SuffixArray::build(stream.tokens.iter().map(|&token| vocabulary.abstracted(token)));
    }

    fn bytes(&self) -> usize {
        const BYTES_PER_TOKEN: usize = 3 * size_of::<u32>() + size_of::<u8>();
        self.stream.len() * BYTES_PER_TOKEN
    }

    pub(crate) fn file_number(&self, path: &str) -> Option<usize> {
        self.paths.get(path).map(|&number| number as usize)
    }

    /// The directory that `path` lies in, if it has indexed files.
    pub(crate) fn directory_of(&self, path: &str) -> Option<u32> {
        self.directory_numbers.get(directory(path)).copied()
    }

    /// The file that holds a position.
    pub(crate) fn file_at(&self, position: u32) -> usize {
        self.starts.partition_point(|&start| start <= position).saturating_sub(1)
    }
}

fn directory(path: &str) -> &str {
    path.rsplit_once('/').map_or("", |(directory, _)| directory)
}
