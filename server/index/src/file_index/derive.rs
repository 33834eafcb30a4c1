//! Derives a [`FileIndex`] from a text and its declarations.

use std::ops::Range;

use rustc_hash::{FxBuildHasher, FxHashMap};
use stored::PodArray;
use syntax::{Declarations, Language, Outline, SourceFile};

use super::{BLOCK_LINES, CodeLine, FileIndex, line_at};
use crate::ContentHash;
use crate::bags::{Bags, BagsBuilder};
use crate::code_words;
use crate::terms::Term;

/// Maximum nesting depth of functions; real code nests less.
const MAX_FUNCTIONS_AROUND: usize = 16;

pub(super) fn derive(file: SourceFile, declarations: &Declarations<'_>) -> FileIndex {
    let hash = ContentHash::of(&file);
    if !fits_in_32_bits(&file.text) {
        return empty_index(file, hash);
    }
    let lines = code_lines(&file.text);
    let blocks = block_terms(file.language, &file.text, &lines);
    let functions = functions(declarations, &file.text);
    let function_words = function_words(file.language, &file.text, &functions);
    let outline = declarations.outline(&file.text).into();
    FileIndex {
        file,
        hash,
        lines,
        blocks,
        functions,
        function_words,
        outline,
        is_too_complex: declarations.is_too_complex(),
    }
}

/// Offsets have 32 bits. No source file is that large; a larger one is indexed as if it were empty.
pub(super) fn fits_in_32_bits(text: &str) -> bool {
    u32::try_from(text.len()).is_ok()
}

fn empty_index(file: SourceFile, hash: ContentHash) -> FileIndex {
    FileIndex {
        file,
        hash,
        lines: PodArray::default(),
        blocks: Bags::default(),
        functions: Box::default(),
        function_words: Bags::default(),
        outline: Outline::default().into(),
        is_too_complex: false,
    }
}

/// A byte order mark is not part of the first line.
const BYTE_ORDER_MARK: char = '\u{feff}';

/// Returns the non-blank lines of `text`.
pub(super) fn code_lines(text: &str) -> PodArray<CodeLine> {
    let mut end = 0;
    let line = |(number, line): (u32, &str)| {
        let start = end;
        end += line.len() as u32;
        let content = line.trim_end_matches(['\n', '\r']);
        let end = start + content.len() as u32;
        let content = content.strip_prefix(BYTE_ORDER_MARK).unwrap_or(content);
        let start = end - content.len() as u32;
        (!content.trim_start().is_empty()).then_some(CodeLine { number, start })
    };
    (0..).zip(text.split_inclusive('\n')).filter_map(line).collect()
}

/// Returns one bag per block of lines.
fn block_terms(language: Language, text: &str, lines: &[CodeLine]) -> Bags {
    let mut filler = BagFiller::for_text(text.len());
    for block in lines.chunks(BLOCK_LINES) {
        for name in syntax::names(block_text(text, block)) {
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

/// Returns the text from the first to the last of some lines, including blank ones in between.
fn block_text<'t>(text: &'t str, lines: &[CodeLine]) -> &'t str {
    match lines {
        [first, .., last] => {
            &text[first.start as usize..last.start as usize + line_at(text, last.start).len()]
        }
        [line] => line_at(text, line.start),
        [] => "",
    }
}

/// Returns the functions with a body. In endlessly nested code the innermost are omitted: the cost of each is proportional to
/// its content.
fn functions(declarations: &Declarations<'_>, text: &str) -> Box<[Range<u32>]> {
    let mut around: Vec<usize> = Vec::new();
    let mut functions = declarations.functions_with_body(text);
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

/// Returns one bag per function.
fn function_words(language: Language, text: &str, functions: &[Range<u32>]) -> Bags {
    // Functions may be nested.
    let bytes = functions.iter().map(ExactSizeIterator::len).sum::<usize>().min(text.len());
    let mut filler = BagFiller::for_text(bytes);
    for function in functions {
        let code = &text[function.start as usize..function.end as usize];
        for identifier in code_words::identifiers(language, code) {
            filler.add(identifier, |lower, found| {
                code_words::each_word(identifier, lower, |word| found(Term::word(word)));
            });
        }
        filler.bags.end_bag();
    }
    filler.bags.finish()
}

/// Bytes of code for each distinct identifier. Three quarters of the Linux kernel's files have at most 37.
const BYTES_PER_IDENTIFIER: usize = 37;

/// Adds the terms of identifiers to bags; splits each identifier only once.
struct BagFiller<'a> {
    bags: BagsBuilder,
    /// By identifier: range of its terms in `numbers`.
    known: FxHashMap<&'a str, Range<usize>>,
    numbers: Vec<u32>,
    /// Buffer for identifiers in lower case.
    lower: String,
}

impl<'a> BagFiller<'a> {
    /// Creates a filler for so many bytes of code.
    fn for_text(bytes: usize) -> BagFiller<'a> {
        let identifiers = bytes / BYTES_PER_IDENTIFIER;
        BagFiller {
            bags: BagsBuilder::for_text(bytes),
            known: FxHashMap::with_capacity_and_hasher(identifiers, FxBuildHasher),
            numbers: Vec::with_capacity(2 * identifiers),
            lower: String::new(),
        }
    }

    /// Adds the terms of `identifier` to the bag: `take_apart` returns them, and uses a buffer.
    fn add(&mut self, identifier: &'a str, take_apart: impl FnOnce(&mut String, &mut dyn FnMut(Term))) {
        let BagFiller { bags, known, numbers, lower } = self;
        let range = known.entry(identifier).or_insert_with(|| {
            let start = numbers.len();
            take_apart(lower, &mut |term| numbers.push(bags.number(term)));
            start..numbers.len()
        });
        numbers[range.clone()].iter().for_each(|&number| bags.add(number));
    }
}
