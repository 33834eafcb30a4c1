//! Derives a [`FileIndex`] from a text and its tree.

use std::ops::Range;

use rustc_hash::FxHashMap;
use syntax::{Language, Outline, SourceFile, Tree};

use super::{BLOCK_LINES, CodeLine, FileIndex, Lazy};
use crate::ContentHash;
use crate::bags::{Bags, BagsBuilder};
use crate::terms::{Term, names};
use crate::words;

/// Functions around one that is kept: real code nests less.
const MAX_FUNCTIONS_AROUND: usize = 16;

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
        is_too_complex: tree.is_too_complex(),
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
        is_too_complex: false,
        chunks: Lazy::default(),
        spanning: Lazy::default(),
    }
}

/// What a file may begin with is no part of its first line.
const BYTE_ORDER_MARK: char = '\u{feff}';

/// The lines of `text` that are not blank.
pub(super) fn code_lines(text: &str) -> Box<[CodeLine]> {
    let mut end = 0;
    let line = |(number, line): (u32, &str)| {
        let start = end;
        end += line.len() as u32;
        let content = line.trim_end_matches(['\n', '\r']);
        let end = start + content.len() as u32;
        let content = content.strip_prefix(BYTE_ORDER_MARK).unwrap_or(content);
        let range = end - content.len() as u32..end;
        (!content.trim_start().is_empty()).then_some(CodeLine { number, range })
    };
    (0..).zip(text.split_inclusive('\n')).filter_map(line).collect()
}

/// A bag for every block of lines.
fn block_terms(language: Language, text: &str, lines: &[CodeLine]) -> Bags {
    let mut filler = Filler::default();
    for block in lines.chunks(BLOCK_LINES) {
        for name in names(block_text(text, block)) {
            filler.add(name, |lower, found| {
                if !syntax::is_reserved(language, name) {
                    found(Term::identifier(name));
                    Term::each_part(name, lower, found);
                }
            });
        }
        filler.bags.end_bag();
    }
    filler.bags.finish()
}

/// From the first to the last of some lines, blank ones in between included.
fn block_text<'t>(text: &'t str, lines: &[CodeLine]) -> &'t str {
    match lines {
        [first, ..] => &text[first.range.start as usize..lines[lines.len() - 1].range.end as usize],
        [] => "",
    }
}

/// Functions with a body. In endlessly nested code the innermost are left out: each costs as much as all that stands in it.
fn functions(tree: &Tree, text: &str) -> Box<[Range<u32>]> {
    let mut around: Vec<usize> = Vec::new();
    let mut functions = tree.functions_with_body(text);
    functions.retain(|function| {
        while around.pop_if(|end| *end <= function.start).is_some() {}
        let is_kept = around.len() < MAX_FUNCTIONS_AROUND;
        if is_kept {
            around.push(function.end);
        }
        is_kept
    });
    functions.into_iter().map(|range| range.start as u32..range.end as u32).collect()
}

/// A bag for every function.
fn function_words(language: Language, text: &str, functions: &[Range<u32>]) -> Bags {
    let mut filler = Filler::default();
    for function in functions {
        let code = &text[function.start as usize..function.end as usize];
        for identifier in words::identifiers(language, code) {
            filler.add(identifier, |lower, found| {
                words::each(identifier, lower, |word| found(Term::word(word)));
            });
        }
        filler.bags.end_bag();
    }
    filler.bags.finish()
}

/// Fills bags with the terms of identifiers; each identifier is taken apart once.
#[derive(Default)]
struct Filler<'a> {
    bags: BagsBuilder,
    /// By identifier: which of `numbers` are those of its terms.
    known: FxHashMap<&'a str, Range<usize>>,
    numbers: Vec<u32>,
    /// For identifiers in lower case.
    lower: String,
}

impl<'a> Filler<'a> {
    /// Puts the terms of `identifier` into the bag: `take_apart` says which they are, and has a text to write into.
    fn add(&mut self, identifier: &'a str, take_apart: impl FnOnce(&mut String, &mut dyn FnMut(Term))) {
        let Filler { bags, known, numbers, lower } = self;
        let range = known.entry(identifier).or_insert_with(|| {
            let start = numbers.len();
            take_apart(lower, &mut |term| numbers.push(bags.number(term)));
            start..numbers.len()
        });
        numbers[range.clone()].iter().for_each(|&number| bags.add(number));
    }
}
