//! How fast source becomes an index, in bytes a second, and how long a search takes. The corpus is this repository's own Rust code.
#![expect(clippy::unwrap_used, reason = "a benchmark without its corpus has nothing to measure")]

use std::fs;
use std::path::Path;

use divan::Bencher;
use divan::counter::BytesCount;
use index::{FunctionQuery, Index};
use syntax::{Language, SourceFile};

fn main() {
    divan::main();
}

fn corpus() -> Vec<SourceFile> {
    let mut files = Vec::new();
    collect(&Path::new(env!("CARGO_MANIFEST_DIR")).join(".."), &mut files);
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

#[divan::bench]
fn build(bencher: Bencher<'_, '_>) {
    let files = corpus();
    let bytes: usize = files.iter().map(|file| file.text.len()).sum();
    bencher.counter(BytesCount::new(bytes)).bench(|| Index::build(&files));
}

#[divan::bench]
fn search(bencher: Bencher<'_, '_>) {
    let searcher = Index::build(&corpus()).searcher(&|_| false);
    let text = "fn read_functions(file: &SourceFile) -> Bags {\n    let functions = syntax::parse(file.language, &file.text)";
    let query = FunctionQuery { path: "new.rs", language: Language::Rust, text, original: text };
    bencher.bench(|| searcher.functions(&query, 3));
}
