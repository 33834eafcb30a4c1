//! Derives a [`FileIndex`] from a text and its tree.

use std::ops::Range;

use rustc_hash::FxHashMap;
use syntax::{Language, Outline, SourceFile, Tree};

use super::{BLOCK_LINES, CodeLine, FileIndex, Lazy};
use crate::ContentHash;
use crate::bags::{Bags, BagsBuilder};
use crate::terms::{Term, names};
use crate::words;

pub(super) fn derive(file: SourceFile, tree: &Tree) -> FileIndex {
    let hash = ContentHash::of(&file);
    if !has_place_in_32_bits(&file.text) {
        return nothing(file, hash);
    }
    let lines = code_lines(&file.text);
    let blocks = block_terms(file.language, &file.text, &lines);
    let functions = functions(tree, &file.text);
    let function_words = function_words(file.language, &file.text, &functions);
    let outline = tree.outline(&file.text);
    FileIndex {
        file,
        hash,
        lines,
        blocks,
        functions,
        function_words,
        outline,
        chunks: Lazy::default(),
        spanning: Lazy::default(),
    }
}

/// Offsets are kept in 32 bits. No source file comes near; one that does is indexed as if it were empty.
pub(super) fn has_place_in_32_bits(text: &str) -> bool {
    u32::try_from(text.len()).is_ok()
}

fn nothing(file: SourceFile, hash: ContentHash) -> FileIndex {
    FileIndex {
        file,
        hash,
        lines: Box::default(),
        blocks: Bags::default(),
        functions: Box::default(),
        function_words: Bags::default(),
        outline: Outline::default(),
        chunks: Lazy::default(),
        spanning: Lazy::default(),
    }
}

/// The lines of `text` that are not blank.
pub(super) fn code_lines(text: &str) -> Box<[CodeLine]> {
    let mut end = 0;
    let line = |(number, line): (u32, &str)| {
        let start = end;
        end += line.len() as u32;
        let content = line.trim_end_matches(['\n', '\r']);
        let range = start..start + content.len() as u32;
        (!content.trim_start().is_empty()).then_some(CodeLine { number, range })
    };
    (0..).zip(text.split_inclusive('\n')).filter_map(line).collect()
}

/// A bag for every block of lines.
fn block_terms(language: Language, text: &str, lines: &[CodeLine]) -> Bags {
    let mut terms = IdentifierTerms { language, known: FxHashMap::default(), bags: BagsBuilder::default() };
    for block in lines.chunks(BLOCK_LINES) {
        for line in block {
            names(&text[line.range.start as usize..line.range.end as usize]).for_each(|name| terms.add(name));
        }
        terms.bags.end_bag();
    }
    terms.bags.finish()
}

/// Terms of identifiers; each identifier is taken apart once.
struct IdentifierTerms<'a> {
    language: Language,
    /// The numbers of its terms in `bags`; none for a keyword.
    known: FxHashMap<&'a str, Box<[u32]>>,
    bags: BagsBuilder,
}

impl<'a> IdentifierTerms<'a> {
    fn add(&mut self, name: &'a str) {
        let IdentifierTerms { language, known, bags } = self;
        let numbers = known.entry(name).or_insert_with(|| {
            if syntax::is_reserved(*language, name) {
                return Box::default();
            }
            let terms = std::iter::once(Term::identifier(name)).chain(Term::parts(name));
            terms.map(|term| bags.number(term)).collect()
        });
        numbers.iter().for_each(|&number| bags.add(number));
    }
}

/// Functions with a body.
fn functions(tree: &Tree, text: &str) -> Box<[Range<u32>]> {
    let with_body = tree.functions(text).into_iter().filter(|function| function.body.is_some());
    with_body.map(|function| function.range.start as u32..function.range.end as u32).collect()
}

/// A bag for every function.
fn function_words(language: Language, text: &str, functions: &[Range<u32>]) -> Bags {
    let mut bags = BagsBuilder::default();
    let mut known = FxHashMap::<&str, Box<[u32]>>::default();
    for function in functions {
        for identifier in words::identifiers(language, &text[function.start as usize..function.end as usize])
        {
            let numbers = known.entry(identifier).or_insert_with(|| {
                words::of(identifier).iter().map(|word| bags.number(Term::word(word))).collect()
            });
            numbers.iter().for_each(|&number| bags.add(number));
        }
        bags.end_bag();
    }
    bags.finish()
}
