//! Cost of a request around its engine and with the built-in one, and how soon cancellation frees the engine: in the middle of 3,000
//! lines, in a workspace of this repository's own Rust code.
#![expect(clippy::unwrap_used, reason = "a benchmark without its corpus has nothing to measure")]

use std::fs;
use std::path::Path;
use std::sync::Arc;
use std::thread;
use std::time::Duration;

use completion::{CompletionSettings, DocumentSnapshot, DocumentText, WorkspaceIndex, complete};
use divan::Bencher;
use engines::{BuiltinEngine, Engine, Script, ScriptedEngine};
use syntax::{Language, SourceFile};
use tokio::runtime::Runtime;
use tokio_util::sync::CancellationToken;

const OPEN_FILE_LINES: usize = 3_000;

fn main() {
    divan::main();
}

fn files() -> Arc<[SourceFile]> {
    let mut files = Vec::new();
    collect(&Path::new(env!("CARGO_MANIFEST_DIR")).join(".."), &mut files);
    files.sort_by(|a, b| a.path.cmp(&b.path));
    files.into()
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

/// Returns many files as one document, in the workspace of all.
fn open_file() -> (WorkspaceIndex, DocumentText) {
    let files = files();
    let lines = files.iter().flat_map(|file| file.text.split_inclusive('\n'));
    let text: Arc<str> = lines.take(OPEN_FILE_LINES).collect::<String>().into();
    (WorkspaceIndex::new(files), DocumentText { path: "open.rs".into(), language: Language::Rust, text })
}

/// Returns a position in the middle of the open file where a function body begins.
fn place() -> (DocumentSnapshot, usize) {
    let (world, document) = open_file();
    let middle = document.text.len() / 2;
    let start = middle + document.text[middle..].find(") {\n").unwrap() + ") {\n".len();
    let cursor = start + document.text[start..].find(|c: char| c != ' ').unwrap();
    (world.snapshot(document), cursor)
}

fn builtin() -> BuiltinEngine {
    BuiltinEngine::new("builtin", builtin::BuiltinSettings::for_editor())
}

fn measure(bencher: Bencher<'_, '_>, engine: &dyn Engine) {
    let ((snapshot, cursor), runtime) = (place(), Runtime::new().unwrap());
    let (settings, cancel) = (CompletionSettings::for_editor(), CancellationToken::new());
    bencher.bench_local(|| runtime.block_on(complete(&snapshot, cursor, engine, &settings, &cancel)));
}

#[divan::bench]
fn request_without_its_engine(bencher: Bencher<'_, '_>) {
    let pieces = vec!["x".to_owned()];
    measure(bencher, &ScriptedEngine::new("scripted", Script { pieces, ..Script::default() }));
}

#[divan::bench]
fn request_to_the_builtin_engine(bencher: Bencher<'_, '_>) {
    measure(bencher, &builtin());
}

/// Time from dropping a request, at any moment of its work, until the engine has dropped its text.
#[divan::bench(sample_count = 400, sample_size = 1)]
fn freeing_the_builtin_engine(bencher: Bencher<'_, '_>) {
    let (world, document) = open_file();
    let (text, runtime) = (Arc::clone(&document.text), Runtime::new().unwrap());
    let (_, cursor) = place();
    let mut moments = (0..2_000).step_by(5).cycle().map(Duration::from_micros);
    let start = || {
        let snapshot = world.snapshot(document.clone());
        let request = runtime.spawn(async move {
            complete(
                &snapshot,
                cursor,
                &builtin(),
                &CompletionSettings::for_editor(),
                &CancellationToken::new(),
            )
            .await
        });
        thread::sleep(moments.next().unwrap());
        request
    };
    bencher.with_inputs(start).bench_local_values(|request| {
        request.abort();
        while Arc::strong_count(&text) > 2 {
            thread::yield_now();
        }
    });
}
