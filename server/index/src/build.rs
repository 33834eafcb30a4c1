//! Builds the index: one parse a file, in parallel, then one merge in the order of the files.

use std::ops::Range;
use std::sync::Arc;

use rayon::prelude::*;
use rustc_hash::FxHashMap;
use syntax::SourceFile;

use crate::Searcher;
use crate::words;

/// The functions of a workspace with their words. Immutable and cheap to clone; it keeps the texts it was given by reference and
/// no syntax trees.
#[derive(Clone, Debug)]
pub struct Index(Arc<Inner>);

#[derive(Debug)]
pub(crate) struct Inner {
    pub(crate) files: Vec<SourceFile>,
    /// In the order of their files and places.
    pub(crate) functions: Vec<IndexedFunction>,
    /// Number of each word.
    vocabulary: FxHashMap<Box<str>, u32>,
    /// For each word the functions that have it, in order.
    postings: Vec<Vec<Posting>>,
}

/// A function with a body.
#[derive(Clone, Debug)]
pub(crate) struct IndexedFunction {
    /// Position of its file.
    pub(crate) file: u32,
    /// Bytes of the file.
    pub(crate) range: Range<u32>,
    /// Words in it, repeats counted.
    pub(crate) words: u32,
}

/// A function that has a word.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Posting {
    /// Position of the function.
    pub(crate) function: u32,
    /// How often it has the word.
    pub(crate) count: u32,
}

/// Files between two merges: enough to keep all threads busy, few enough that their words, not yet merged, take little memory.
const BATCH_FILES: usize = 256;

/// What one file adds to the index.
type Bags = Vec<(Range<u32>, FxHashMap<String, u32>)>;

impl Index {
    /// Indexes `files`, on the threads of the current rayon pool. The result depends on the files and their order only.
    pub fn build(files: &[SourceFile]) -> Index {
        let mut inner = Inner {
            files: files.to_vec(),
            functions: Vec::new(),
            vocabulary: FxHashMap::default(),
            postings: Vec::new(),
        };
        for (number, batch) in files.chunks(BATCH_FILES).enumerate() {
            let bags: Vec<Bags> = batch.par_iter().map(read_functions).collect();
            for (file, bags) in (number * BATCH_FILES..).zip(bags) {
                for (range, bag) in bags {
                    inner.add(file as u32, range, bag);
                }
            }
        }
        inner.postings.iter_mut().for_each(Vec::shrink_to_fit);
        Index(Arc::new(inner))
    }

    /// Functions in the index.
    pub fn functions(&self) -> usize {
        self.0.functions.len()
    }

    /// Looks at the index as if the files whose paths are `hidden` were not in it.
    pub fn searcher(&self, hidden: &dyn Fn(&str) -> bool) -> Searcher {
        let visible = self.0.files.iter().map(|file| !hidden(&file.path)).collect();
        Searcher::new(self.0.clone(), visible)
    }
}

impl Inner {
    fn add(&mut self, file: u32, range: Range<u32>, bag: FxHashMap<String, u32>) {
        let function = self.functions.len() as u32;
        self.functions.push(IndexedFunction { file, range, words: bag.values().sum() });
        for (word, count) in bag {
            let next = self.vocabulary.len() as u32;
            let number = *self.vocabulary.entry(word.into_boxed_str()).or_insert(next);
            if number == next {
                self.postings.push(Vec::new());
            }
            self.postings[number as usize].push(Posting { function, count });
        }
    }

    /// The functions that have `word`, in order.
    pub(crate) fn postings(&self, word: &str) -> &[Posting] {
        self.vocabulary.get(word).map_or(&[], |&number| &self.postings[number as usize])
    }

    pub(crate) fn file_of(&self, function: &IndexedFunction) -> &SourceFile {
        &self.files[function.file as usize]
    }

    pub(crate) fn text_of(&self, function: &IndexedFunction) -> &str {
        &self.file_of(function).text[function.range.start as usize..function.range.end as usize]
    }
}

/// The words of every function with a body. Texts beyond 4 GiB have none; no source file comes near.
fn read_functions(file: &SourceFile) -> Bags {
    if u32::try_from(file.text.len()).is_err() {
        return Bags::new();
    }
    let functions = syntax::parse(file.language, &file.text).functions(&file.text);
    functions
        .into_iter()
        .filter(|function| function.body.is_some())
        .map(|function| {
            let range = function.range.start as u32..function.range.end as u32;
            (range, words::count(file.language, &file.text[function.range]))
        })
        .collect()
}
