//! Time to save and open a million lines: 10,000 files, 36 MB of text and 60 MB of derived data.
#![expect(clippy::unwrap_used, reason = "a benchmark without its folder has nothing to measure")]

use std::path::Path;
use std::sync::Arc;

use cache::{Cache, Entry};
use divan::Bencher;
use divan::counter::BytesCount;

const FILES: usize = 10_000;
const TEXT_BYTES: usize = 3_600;
const PAYLOAD_BYTES: usize = 6_000;
const FORMAT: &str = "bench 1";

fn main() {
    divan::main();
}

/// Texts that all differ.
struct Files {
    paths: Vec<String>,
    text: String,
    payload: Vec<u8>,
}

impl Files {
    fn new() -> Files {
        let numbers = (0_u32..).flat_map(|number| number.wrapping_mul(2_654_435_761).to_le_bytes());
        let payload: Vec<u8> = numbers.take(PAYLOAD_BYTES + FILES).collect();
        let text = payload.iter().map(|byte| char::from(b' ' + byte % 90)).collect();
        let paths =
            (0..FILES).map(|number| format!("crates/module{}/file{number}.rs", number % 100)).collect();
        Files { paths, text, payload }
    }

    fn entries(&self) -> impl Iterator<Item = Entry<'_>> {
        self.paths.iter().enumerate().map(|(number, path)| Entry {
            path,
            stamp: &[7; 32],
            hash: [9; 32],
            text: &self.text[number..][..TEXT_BYTES],
            payload: (&self.payload[number..][..PAYLOAD_BYTES]).into(),
        })
    }
}

fn saved() -> (tempfile::TempDir, Cache, Files) {
    // The temporary folder may be in memory; the benchmark measures a disk.
    let folder = tempfile::tempdir_in(env!("CARGO_TARGET_TMPDIR")).unwrap();
    let (cache, files) = (Cache::new(folder.path(), Cache::DEFAULT_LIMIT), Files::new());
    cache.save(Path::new("/project"), FORMAT, files.entries()).unwrap();
    (folder, cache, files)
}

fn bytes() -> BytesCount {
    BytesCount::new(FILES * (TEXT_BYTES + PAYLOAD_BYTES))
}

#[divan::bench(sample_count = 10)]
fn save(bencher: Bencher<'_, '_>) {
    let (_folder, cache, files) = saved();
    bencher
        .counter(bytes())
        .bench_local(|| cache.save(Path::new("/project"), FORMAT, files.entries()).unwrap());
}

#[divan::bench(sample_count = 20)]
fn open(bencher: Bencher<'_, '_>) {
    let (_folder, cache, _) = saved();
    bencher.counter(bytes()).bench_local(|| {
        let opened = cache.open(Path::new("/project"), FORMAT).unwrap();
        opened.map(|run| run.unwrap().entries().unwrap().len()).sum::<usize>()
    });
}

/// Opens the cache and turns every text into a shareable one, as a workspace needs it.
#[divan::bench(sample_count = 20)]
fn open_and_share_texts(bencher: Bencher<'_, '_>) {
    let (_folder, cache, _) = saved();
    bencher.counter(bytes()).bench_local(|| {
        let mut texts: Vec<Arc<str>> = Vec::new();
        for run in cache.open(Path::new("/project"), FORMAT).unwrap() {
            texts.extend(run.unwrap().entries().unwrap().iter().map(|entry| Arc::from(entry.text)));
        }
        texts
    });
}

#[divan::bench]
fn list(bencher: Bencher<'_, '_>) {
    let (_folder, cache, _) = saved();
    bencher.bench_local(|| cache.list().unwrap());
}
