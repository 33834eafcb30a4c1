//! Compares lexical search in memory and by tantivy at growing sizes: build time, memory, time of a query and of a change, and
//! the share of the best windows that is found.
//!
//! `GHOSTBENCH_SOURCES=folders cargo bench -p index --bench lexical`
#![expect(clippy::unwrap_used, reason = "a benchmark without its corpus has nothing to measure")]
#![expect(clippy::print_stdout, reason = "what a benchmark is for")]

use std::sync::Arc;

use index::{FileIndex, Index, LexicalIndex, WindowQuery};
use rayon::prelude::*;
use syntax::SourceFile;

use corpus::LexicalQuery;
use measure::{Megabytes, Times, allocated, timed};
use tantivy_index::TantivyIndex;

#[path = "lexical/corpus.rs"]
mod corpus;
#[path = "lexical/measure.rs"]
mod measure;
#[path = "lexical/tantivy_index.rs"]
mod tantivy_index;

/// Lines of code.
const SIZES: [usize; 3] = [10_000, 100_000, 1_000_000];
const QUESTIONS: usize = 400;
/// Number of windows, as in the strategies.
const LIMIT: usize = 40;
const UPDATES: usize = 200;
/// Compared budgets.
const BUDGETS: [u64; 4] = [25_000, 50_000, 100_000, 400_000];

fn main() {
    let all = corpus::read();
    for files in SIZES.into_iter().filter_map(|lines| corpus::first_lines(&all, lines)) {
        let indexes = read(files);
        let questions = corpus::lexical_queries(files, QUESTIONS);
        in_memory(&indexes, &questions);
        tantivy(&indexes, &questions);
    }
}

/// Indexes each file, first from its text and then from its stored form.
fn read(files: &[SourceFile]) -> Vec<Arc<FileIndex>> {
    let (lines, bytes) = corpus::size(files);
    println!("\n{lines} lines in {} files, {}", files.len(), Megabytes(bytes));
    let before = allocated();
    let (indexes, time) =
        timed(|| files.par_iter().map(|file| Arc::new(FileIndex::new(file.clone()))).collect::<Vec<_>>());
    let speed = bytes as f64 / 1e6 / time.as_secs_f64();
    println!("  files: read in {time:.1?}, {speed:.1} MB/s; {}", Megabytes(allocated() - before));
    let stored: Vec<Vec<u8>> = indexes.par_iter().map(|file| file.encode()).collect();
    let decode = |(file, bytes): (&SourceFile, &Vec<u8>)| FileIndex::decode(file.clone(), bytes).unwrap();
    let (_, time) = timed(|| files.par_iter().zip(&stored).map(decode).collect::<Vec<_>>());
    println!("  files: stored in {}, read back in {time:.1?}", Megabytes(stored.iter().map(Vec::len).sum()));
    indexes
}

fn in_memory(files: &[Arc<FileIndex>], questions: &[LexicalQuery]) {
    let before = allocated();
    let (index, time) = timed(|| Index::from_files(files.to_vec()));
    println!("  in memory: built in {time:.1?}; {}", Megabytes(allocated() - before));
    let exact = ask(&index, questions, Some(u64::MAX));
    println!("  in memory: all terms {}", exact.times);
    for budget in BUDGETS {
        let answers = ask(&index, questions, Some(budget));
        println!("  in memory: budget {budget} {}, finds {:.1} %", answers.times, answers.share_of(&exact));
    }
    let answers = ask(&index, questions, None);
    println!("  in memory: question {}, finds {:.1} %", answers.times, answers.share_of(&exact));
    println!(
        "  in memory: hide a file {}",
        Times::new(questions.iter().map(|question| timed(|| index.hide(&[&question.path])).1))
    );
    let mut changing = index.clone();
    println!(
        "  in memory: change a file {}",
        Times::new(sample_files(files).map(|file| timed(|| changing.update(vec![file.clone()], &[])).1))
    );
}

fn tantivy(files: &[Arc<FileIndex>], questions: &[LexicalQuery]) {
    let exact = ask(&Index::from_files(files.to_vec()), questions, Some(u64::MAX));
    let before = allocated();
    let (index, time) = timed(|| TantivyIndex::build(files.to_vec()).unwrap());
    let mut index = index;
    let disk = Megabytes(index.disk_bytes());
    println!(
        "  tantivy: built in {time:.1?}; {}, on disk {disk}",
        Megabytes(allocated().saturating_sub(before))
    );
    let answers = ask(&index, questions, None);
    println!("  tantivy: question {}, finds {:.1} %", answers.times, answers.share_of(&exact));
    println!(
        "  tantivy: change a file {}",
        Times::new(sample_files(files).map(|file| timed(|| index.update(vec![file.clone()], &[])).1))
    );
    println!(
        "  tantivy: save a file {}",
        Times::new(sample_files(files).map(|file| timed(|| index.save(vec![file.clone()]).unwrap()).1))
    );
}

/// Returns a sample of the files.
fn sample_files(files: &[Arc<FileIndex>]) -> impl Iterator<Item = &Arc<FileIndex>> {
    files.iter().step_by((files.len() / UPDATES).max(1))
}

/// Results and their time.
struct SearchResults {
    found: Vec<Vec<(String, u32)>>,
    times: Times,
}

/// Runs each query several times and keeps the shortest time, since the machine has other load.
fn ask(index: &dyn LexicalIndex, questions: &[LexicalQuery], budget: Option<u64>) -> SearchResults {
    const REPEATS: usize = 3;
    let ask = |question: &LexicalQuery| {
        let usual = WindowQuery::new(&question.terms, LIMIT);
        let query = WindowQuery { budget: budget.unwrap_or(usual.budget), ..usual };
        let time = (0..REPEATS).map(|_| timed(|| index.search(&query)).1).min().unwrap();
        let hits = index.search(&query);
        (hits.iter().map(|hit| (hit.file.path().to_owned(), hit.window)).collect(), time)
    };
    let (found, times): (Vec<_>, Vec<_>) = questions.iter().map(ask).unzip();
    SearchResults { found, times: Times::new(times.into_iter()) }
}

impl SearchResults {
    /// Returns the share of the exact results that are among these, percent.
    fn share_of(&self, exact: &SearchResults) -> f64 {
        let wanted: usize = exact.found.iter().map(Vec::len).sum();
        let both = exact.found.iter().zip(&self.found);
        let kept = both.map(|(exact, found)| exact.iter().filter(|hit| found.contains(hit)).count());
        100.0 * kept.sum::<usize>() as f64 / wanted as f64
    }
}
