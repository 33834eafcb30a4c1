//! The strategy `bm25-chunks` compared to the original in Python with rank_bm25, on the same repositories and queries, in one
//! run.

use std::fmt;
use std::fs;
use std::path::Path;
use std::process::Command;
use std::sync::Arc;
use std::time::{Duration, Instant};

use anyhow::{Context, Result, ensure};
use index::cceval::{self, ChunkCandidates, ChunkQuery, ChunkRanking, FileChunks, RetrievalSetting};
use serde_json::{Value, json};
use syntax::{Language, SourceFile};
use workspace::ReadLimits;
use xtask::process;

use crate::measure::repositories::Repo;

/// Requirements of the original.
const REQUIREMENTS: &[&str] = &["rank_bm25==0.2.2", "nltk==3.8.1"];

/// Folder of the Python packages, relative to the repository root.
const ENVIRONMENT: &str = "target/rank-bm25-venv";

/// The original algorithm, rewritten for this comparison.
const ORIGINAL: &str = "server/index/benches/rank_bm25_python.py";

/// File with the repositories and queries for it.
const ROWS: &str = "target/rank-bm25-rows.jsonl";

/// Files per repository, and cursors in each.
const FILES: usize = 4;
const CURSORS: usize = 5;

/// Number of rounds per query, of which the best counts. Our implementation takes a hundredth of the time, so other load on the
/// machine affects it more.
const ROUNDS: usize = 20;
const ORIGINAL_ROUNDS: &str = "3";

/// Maximum difference of scores.
const TOLERANCE: f64 = 1e-9;

/// The text above the rows.
const HEAD: &str = "\
`bm25-chunks` against CrossCodeEval's retriever in Python with rank_bm25 0.2.2 and NLTK 3.8.1: milliseconds on one core, means over
cursors spread over each repository. A query is tokenizing the last ten lines, scoring up to 1,000 chunks, ordering them and choosing
five; the best of 20 rounds (3 in Python). Building is the preparation that the original repeats for each query: cutting the candidate
files into chunks, tokenizing these and counting. Ghostbench cuts a file only after it changed, and only counts (\"again\") for a
query from another file. \"Same\": whether both found the same chunks in the same order with the same scores.

| repository | language | chunks | queries | query | in Python | ratio | build | again | in Python | same |
|---|---|---|---|---|---|---|---|---|---|---|";

/// Times of both implementations for some repositories.
pub(crate) struct Bm25Comparison {
    rows: Vec<Bm25Row>,
}

struct Bm25Row {
    name: &'static str,
    language: Language,
    chunks: usize,
    queries: usize,
    ours: MeanTimes,
    original: MeanTimes,
    /// Our build time if all files are split into chunks already, in milliseconds; the original has no such step.
    rebuild_ms: f64,
    is_same: bool,
}

/// Means in milliseconds.
struct MeanTimes {
    build: f64,
    query: f64,
}

/// A repository and its cursors.
struct Bm25Task {
    name: &'static str,
    language: Language,
    files: Vec<SourceFile>,
    places: Vec<QueryFile>,
}

/// A file with cursors.
struct QueryFile {
    /// Candidates, nearest first.
    near: Vec<SourceFile>,
    /// The file up to each cursor.
    prefixes: Vec<String>,
}

/// Results and time of one implementation at one cursor.
struct RetrieverAnswer {
    build: Duration,
    queries: Vec<(Duration, ScoredIds)>,
}

/// Ids and scores of the results.
type ScoredIds = Vec<(String, f64)>;

/// Runs both implementations in every repository with candidates.
pub(crate) fn compare(repos: &[Repo]) -> Result<Bm25Comparison> {
    let tasks: Vec<Bm25Task> = repos.iter().map(Bm25Task::read).collect::<Result<_>>()?;
    let tasks: Vec<Bm25Task> = tasks.into_iter().filter(|task| !task.places.is_empty()).collect();
    let original = run_original(&tasks)?;
    ensure!(original.len() == tasks.len(), "the original answered for other repositories");
    let rows = tasks.iter().zip(&original).map(|(task, original)| task.row(original)).collect();
    Ok(Bm25Comparison { rows })
}

impl Bm25Task {
    fn read(repo: &Repo) -> Result<Bm25Task> {
        let (name, language) = (repo.pinned.name, repo.pinned.language);
        let snapshot = workspace::load(&repo.root, &ReadLimits::standard(), &|_| {})
            .with_context(|| format!("cannot read {name}"))?;
        let files: Vec<SourceFile> =
            snapshot.files().iter().map(|file| in_package(file, repo.pinned.sources)).collect();
        let places = places(&files, language);
        Ok(Bm25Task { name, language, files, places })
    }

    fn row(&self, original: &[RetrieverAnswer]) -> Bm25Row {
        let ours: Vec<RetrieverAnswer> = self.places.iter().map(QueryFile::ask).collect();
        let chunks = self.places.iter().map(|place| place.candidates().len()).sum::<usize>();
        Bm25Row {
            name: self.name,
            language: self.language,
            chunks: chunks / self.places.len(),
            queries: ours.iter().map(|answer| answer.queries.len()).sum(),
            is_same: ours.len() == original.len()
                && ours.iter().zip(original).all(|(ours, original)| ours.is_same(original)),
            ours: MeanTimes::mean(&ours),
            original: MeanTimes::mean(original),
            rebuild_ms: mean_ms(self.places.iter().map(QueryFile::rebuild)),
        }
    }

    fn to_json(&self) -> Value {
        let files: serde_json::Map<String, Value> =
            self.files.iter().map(|file| (file.path.to_string(), json!(&*file.text))).collect();
        json!({ "files": files, "places": self.places.iter().map(QueryFile::to_json).collect::<Vec<_>>() })
    }
}

/// The file under its path in the whole package, because some rules depend on the folder's name.
fn in_package(file: &SourceFile, sources: &str) -> SourceFile {
    let path = if sources == "." { file.path.clone() } else { format!("{sources}/{}", file.path).into() };
    SourceFile { path, ..file.clone() }
}

/// Cursors spread over files that are spread over the repository.
fn places(files: &[SourceFile], language: Language) -> Vec<QueryFile> {
    let asked: Vec<&SourceFile> = files
        .iter()
        .filter(|file| cceval::is_candidate(language, &file.path))
        .filter(|file| file.text.lines().count() > 2 * CURSORS)
        .collect();
    let count = FILES.min(asked.len());
    let place = |number: usize| {
        let file = asked[number * asked.len() / count];
        let others = files.iter().map(|other| (&*other.path, other));
        let near = cceval::nearest(&file.path, language, others).into_iter().cloned().collect();
        QueryFile { near, prefixes: prefixes(&file.text) }
    };
    (0..count).map(place).filter(|place| !place.near.is_empty()).collect()
}

fn prefixes(text: &str) -> Vec<String> {
    let lines: Vec<&str> = text.split_inclusive('\n').collect();
    (1..=CURSORS).map(|number| lines[..number * lines.len() / (CURSORS + 1)].concat()).collect()
}

impl QueryFile {
    fn candidates(&self) -> ChunkCandidates {
        ChunkCandidates::new(self.near.iter().map(cut))
    }

    fn ask(&self) -> RetrieverAnswer {
        let (build, candidates) = timed(|| self.candidates());
        let ask = |prefix: &String| {
            let query = query(prefix);
            let (time, hits) = timed(|| candidates.retrieve(&query));
            (time, hits.iter().map(|hit| (format!("{}|{}", hit.path(), hit.number()), hit.score)).collect())
        };
        RetrieverAnswer { build, queries: self.prefixes.iter().map(ask).collect() }
    }

    fn rebuild(&self) -> Duration {
        let chunks: Vec<Arc<FileChunks>> = self.near.iter().map(cut).collect();
        timed(|| ChunkCandidates::new(chunks.iter().cloned())).0
    }

    fn to_json(&self) -> Value {
        let near: Vec<&str> = self.near.iter().map(|file| &*file.path).collect();
        let queries: Vec<String> = self.prefixes.iter().map(|prefix| query(prefix).text()).collect();
        json!({ "near": near, "queries": queries })
    }
}

fn query(prefix: &str) -> ChunkQuery<'_> {
    ChunkQuery { prefix, setting: RetrievalSetting::Rg1, ranking: ChunkRanking::Bm25 }
}

fn cut(file: &SourceFile) -> Arc<FileChunks> {
    Arc::new(FileChunks::new(file.path.clone(), &file.text))
}

/// Returns the shortest time of several, and the result.
fn timed<T>(work: impl Fn() -> T) -> (Duration, T) {
    let once = || {
        let start = Instant::now();
        let result = work();
        (start.elapsed(), result)
    };
    let first = once();
    (1..ROUNDS).map(|_| once()).fold(first, |best, next| if next.0 < best.0 { next } else { best })
}

fn run_original(tasks: &[Bm25Task]) -> Result<Vec<Vec<RetrieverAnswer>>> {
    let python = Path::new(ENVIRONMENT).join("bin/python");
    if !python.is_file() {
        process::run(Command::new("python3").args(["-m", "venv", ENVIRONMENT]))?;
        process::run(Command::new(&python).args(["-m", "pip", "install", "--quiet"]).args(REQUIREMENTS))?;
    }
    let rows: String = tasks.iter().map(|task| format!("{}\n", task.to_json())).collect();
    fs::write(ROWS, rows).with_context(|| format!("cannot write {ROWS}"))?;
    let output = process::output(Command::new(python).arg(ORIGINAL).arg(ROWS).arg(ORIGINAL_ROUNDS))?;
    output.lines().map(|line| parse(line).context("the original printed something else")).collect()
}

/// Parses the original's answers for one repository.
fn parse(line: &str) -> Option<Vec<RetrieverAnswer>> {
    let places: Value = serde_json::from_str(line).ok()?;
    places.as_array()?.iter().map(parse_answer).collect()
}

fn parse_answer(place: &Value) -> Option<RetrieverAnswer> {
    let seconds = |value: &Value| value["seconds"].as_f64().map(Duration::from_secs_f64);
    let hit = |hit: &Value| Some((hit[0].as_str()?.to_owned(), hit[1].as_f64()?));
    let queries = place["queries"]
        .as_array()?
        .iter()
        .map(|query| {
            let found = query["found"].as_array()?.iter().map(hit).collect::<Option<ScoredIds>>()?;
            Some((seconds(query)?, found))
        })
        .collect::<Option<_>>()?;
    Some(RetrieverAnswer { build: seconds(place)?, queries })
}

impl RetrieverAnswer {
    fn is_same(&self, other: &RetrieverAnswer) -> bool {
        let is_near = |((id, score), (other, expected)): (&(String, f64), &(String, f64))| {
            id == other && (score - expected).abs() <= TOLERANCE
        };
        self.queries.len() == other.queries.len()
            && self.queries.iter().zip(&other.queries).all(|((_, found), (_, expected))| {
                found.len() == expected.len() && found.iter().zip(expected).all(is_near)
            })
    }
}

impl MeanTimes {
    fn mean(answers: &[RetrieverAnswer]) -> MeanTimes {
        let queries = answers.iter().flat_map(|answer| &answer.queries).map(|(time, _)| *time);
        MeanTimes { build: mean_ms(answers.iter().map(|answer| answer.build)), query: mean_ms(queries) }
    }
}

fn mean_ms(times: impl Iterator<Item = Duration>) -> f64 {
    let times: Vec<f64> = times.map(|time| time.as_secs_f64() * 1e3).collect();
    times.iter().sum::<f64>() / times.len() as f64
}

impl fmt::Display for Bm25Comparison {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(HEAD)?;
        self.rows.iter().try_for_each(|row| write!(f, "\n{row}"))
    }
}

impl fmt::Display for Bm25Row {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Bm25Row { name, language, chunks, queries, ours, original, rebuild_ms: again, is_same } = self;
        let (MeanTimes { build, query }, ratio) = (ours, original.query / ours.query);
        let same = if *is_same { "yes" } else { "no" };
        write!(f, "| {name} | {} | {chunks} | {queries} ", language.name())?;
        write!(f, "| {query:.4} | {:.2} | {ratio:.0} ", original.query)?;
        write!(f, "| {build:.2} | {again:.2} | {:.0} | {same} |", original.build)
    }
}
