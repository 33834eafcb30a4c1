//! Time for the parts of a completion: building the view of a large open file, and decoding. The corpus is this repository's own
//! Rust code.
#![expect(clippy::unwrap_used, reason = "a benchmark without its corpus has nothing to measure")]

use std::fs;
use std::path::Path;

use builtin::{BuiltinSettings, Corpus, OpenFile};
use divan::Bencher;
use divan::counter::BytesCount;
use syntax::{Language, SourceFile};

/// Size of the open file in bytes. Larger files are rarely written by hand.
const OPEN_FILE_BYTES: usize = 300_000;

fn main() {
    divan::main();
}

fn files() -> Vec<SourceFile> {
    let mut files = Vec::new();
    collect(&Path::new(env!("CARGO_MANIFEST_DIR")).join(".."), &mut files);
    files.sort_by(|a, b| a.path.cmp(&b.path));
    files
}

fn collect(folder: &Path, files: &mut Vec<SourceFile>) {
    for entry in fs::read_dir(folder).unwrap() {
        let path = entry.unwrap().path();
        if path.is_dir() {
            collect(&path, files);
        } else if path.extension().is_some_and(|ending| ending == "rs") {
            let text = fs::read_to_string(&path).unwrap();
            let path = path.to_string_lossy();
            files.push(SourceFile { path: path.into(), language: Language::Rust, text: text.into() });
        }
    }
}

/// Joins many files into one. Returns the offset of a function body's beginning in its middle, too.
fn large_file(files: &[SourceFile]) -> (String, usize) {
    let mut text = String::new();
    for file in files {
        if text.len() < OPEN_FILE_BYTES {
            text.push_str(&file.text);
        }
    }
    let middle = text.len() / 2;
    let start = middle + text[middle..].find(") {\n").unwrap() + ") {\n".len();
    let indentation = text[start..].find(|c: char| c != ' ').unwrap();
    (text, start + indentation)
}

fn measure(bencher: Bencher<'_, '_>, measured: impl Fn(&Corpus, &OpenFile<'_>) + Sync) {
    let files = files();
    let corpus = Corpus::build(&files);
    let (text, cursor) = large_file(&files);
    let (before, after) = text.split_at(cursor);
    let open = OpenFile::new("open.rs", Language::Rust, before, after);
    bencher.counter(BytesCount::new(text.len())).bench(|| measured(&corpus, &open));
}

#[divan::bench]
fn lex(bencher: Bencher<'_, '_>) {
    let (text, _) = large_file(&files());
    bencher.counter(BytesCount::new(text.len())).bench(|| syntax::lex(Language::Rust, &text));
}

#[divan::bench]
fn view_of_a_large_file(bencher: Bencher<'_, '_>) {
    measure(bencher, |corpus, open| drop(divan::black_box(corpus.view(open))));
}

#[divan::bench]
fn block_in_a_large_file(bencher: Bencher<'_, '_>) {
    measure(bencher, |corpus, open| {
        divan::black_box(corpus.view(open).complete(&BuiltinSettings::for_replay(), &mut || true));
    });
}
