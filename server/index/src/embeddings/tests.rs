//! Searches with an embedder that counts groups of words, so that similarities are predictable.

use std::cell::{Cell, RefCell};

use expect_test::{Expect, expect};
use syntax::{Language, SourceFile};

use super::{BATCH, Embedder, EmbedderError, SimilarFunctions, TEXT_BYTES, VectorStore};
use crate::{DecodeError, FunctionQuery, Index, RetrievalQuery, Searcher, Strategy, TokenBudget};

/// Words with the same meaning share a dimension.
const MEANINGS: [&[&str]; 4] = [&["read", "load", "open"], &["write", "save"], &["area", "width"], &["def"]];

const REPOSITORY: &str = "\
//- /a/loader.py
def load_user(path):
    return open(path)
//- /b/copy.py
def load_user(path):
    return open(path)
//- /b/groups.py
def read_group(name):
    return load(name)

def save_group(name):
    write(name)
//- /c/maths.py
def area(width, height):
    return width * height
";

const QUERY: FunctionQuery<'static> = FunctionQuery {
    path: "a/loader.py",
    language: Language::Python,
    text: "def load_user(path):\n    return",
    original: "def load_user(path):\n    return open(path)\n",
};

/// Counts words, records its requests, and fails on demand.
#[derive(Default)]
struct CountingEmbedder {
    requests: RefCell<Vec<Vec<String>>>,
    /// Number of successful requests before a failure.
    fails_after: Cell<Option<usize>>,
    /// Recorded progress.
    progress: RefCell<Vec<(usize, usize)>>,
    /// Modifies the vectors of a batch before they are returned.
    spoil: Option<fn(&mut Vec<Vec<f32>>)>,
}

impl Embedder for CountingEmbedder {
    fn model(&self) -> &str {
        "counter"
    }

    fn embed(&self, texts: &[String]) -> Result<Vec<Vec<f32>>, EmbedderError> {
        if self.fails_after.get() == Some(self.requests.borrow().len()) {
            return Err("the model is gone".into());
        }
        self.requests.borrow_mut().push(texts.to_vec());
        let mut vectors: Vec<Vec<f32>> = texts.iter().map(|text| meaning(text)).collect();
        if let Some(spoil) = self.spoil {
            spoil(&mut vectors);
        }
        Ok(vectors)
    }

    fn progress(&self, done: usize, total: usize) {
        self.progress.borrow_mut().push((done, total));
    }
}

impl CountingEmbedder {
    /// Number of texts in each request since the last call.
    fn take_requests(&self) -> Vec<usize> {
        self.requests.take().iter().map(Vec::len).collect()
    }
}

fn meaning(text: &str) -> Vec<f32> {
    MEANINGS
        .iter()
        .map(|words| words.iter().map(|word| text.matches(word).count()).sum::<usize>() as f32)
        .collect()
}

fn searcher(fixture: &str) -> Searcher {
    let files: Vec<SourceFile> = test_fixture::files(fixture)
        .into_iter()
        .map(|(path, text)| SourceFile {
            path: path.into(),
            language: Language::from_path(path).unwrap(),
            text: text.into(),
        })
        .collect();
    Index::build(&files).searcher(&|_| false)
}

fn store() -> VectorStore {
    VectorStore::new(VectorStore::STANDARD_LIMIT)
}

fn describe(found: &SimilarFunctions) -> String {
    let fallback = found.fallback.iter().map(|error| format!("lexical: {error}\n"));
    found
        .hits
        .iter()
        .map(|hit| {
            format!("{}:{}..{} {} {}\n", hit.path, hit.start_line, hit.end_line, hit.strategy, hit.reason)
        })
        .chain(fallback)
        .collect()
}

#[track_caller]
fn check(embedder: &CountingEmbedder, expected: Expect) {
    let found = searcher(REPOSITORY).functions_by_embedding(&QUERY, 3, &mut store(), embedder);
    expected.assert_eq(&describe(&found));
}

#[test]
fn similar_meaning_ranks_first_without_copies() {
    check(
        &CountingEmbedder::default(),
        expect![[r#"
            b/groups.py:0..2 functions similarity 0.95 by counter
            b/groups.py:3..5 functions similarity 0.32 by counter
            c/maths.py:0..2 functions similarity 0.22 by counter
        "#]],
    );
}

#[test]
fn failing_embedder_falls_back_to_lexical_hits_with_reason() {
    check(
        &CountingEmbedder { fails_after: Cell::new(Some(0)), ..CountingEmbedder::default() },
        expect![[r#"
            b/groups.py:0..2 functions shares load, return, def
            c/maths.py:0..2 functions shares return, def
            b/groups.py:3..5 functions shares def
            lexical: the model is gone
        "#]],
    );
}

#[track_caller]
fn check_fallback(spoil: fn(&mut Vec<Vec<f32>>), expected: &str) {
    let embedder = CountingEmbedder { spoil: Some(spoil), ..CountingEmbedder::default() };
    let found = searcher(REPOSITORY).functions_by_embedding(&QUERY, 3, &mut store(), &embedder);
    assert_eq!(found.fallback.unwrap().to_string(), expected);
    assert_eq!(found.hits, searcher(REPOSITORY).functions(&QUERY, 3));
}

#[test]
fn invalid_vectors_fall_back_to_lexical_hits() {
    check_fallback(|vectors| drop(vectors.pop()), "the embedder returned 0 vectors for 1 texts");
    check_fallback(
        |vectors| vectors[0] = Vec::new(),
        "the embedder returned a vector that is empty, zero or not finite",
    );
    check_fallback(
        |vectors| vectors[0][0] = f32::NAN,
        "the embedder returned a vector that is empty, zero or not finite",
    );
    check_fallback(
        |vectors| {
            if let [_, .., last] = &mut vectors[..] {
                last.push(1.0);
            }
        },
        "the embedder returned a vector of 5 dimensions, expected 4",
    );
}

#[test]
fn only_new_texts_are_embedded() {
    let (searcher, embedder, mut store) = (searcher(REPOSITORY), CountingEmbedder::default(), store());
    let first = searcher.functions_by_embedding(&QUERY, 3, &mut store, &embedder);
    assert_eq!((embedder.take_requests(), first.embedded), (vec![1, 4], 5));
    let second = searcher.functions_by_embedding(&QUERY, 3, &mut store, &embedder);
    assert_eq!((embedder.take_requests(), second.embedded), (vec![1], 1));
    assert_eq!(first.hits, second.hits);

    let edited = REPOSITORY.replace("write(name)", "write(name, 'utf-8')");
    self::searcher(&edited).functions_by_embedding(&QUERY, 3, &mut store, &embedder);
    assert_eq!(embedder.take_requests(), [1, 1]);
}

#[test]
fn decoded_store_reuses_its_vectors() -> Result<(), DecodeError> {
    let (searcher, embedder, mut store) = (searcher(REPOSITORY), CountingEmbedder::default(), store());
    let first = searcher.functions_by_embedding(&QUERY, 3, &mut store, &embedder);
    let mut kept = VectorStore::decode(&store.encode(), VectorStore::STANDARD_LIMIT)?;
    let second = searcher.functions_by_embedding(&QUERY, 3, &mut kept, &embedder);
    assert_eq!((first.hits, second.embedded), (second.hits, 1));
    Ok(())
}

#[test]
fn batches_embedded_before_a_failure_are_kept() {
    let fixture: String = (0..2 * BATCH)
        .map(|number| format!("//- /{number}.py\ndef load_{number}(path):\n    return read{number}(path)\n"))
        .collect();
    let (searcher, mut store) = (searcher(&fixture), store());
    let embedder = CountingEmbedder { fails_after: Cell::new(Some(2)), ..CountingEmbedder::default() };
    let broken = searcher.functions_by_embedding(&QUERY, 3, &mut store, &embedder);
    assert!(broken.fallback.is_some());
    assert_eq!((embedder.take_requests(), store.len()), (vec![1, BATCH], BATCH));
    embedder.fails_after.set(None);
    let whole = searcher.functions_by_embedding(&QUERY, 3, &mut store, &embedder);
    assert!(whole.fallback.is_none());
    assert_eq!(embedder.take_requests(), [1, BATCH]);
    assert_eq!(embedder.progress.take(), [(BATCH, 2 * BATCH), (BATCH, BATCH)]);
}

#[test]
fn long_functions_are_embedded_in_small_batches() {
    let body = "    load(path)\n".repeat(TEXT_BYTES / 10);
    let fixture: String =
        (0..9).map(|number| format!("//- /{number}.py\ndef load_{number}(path):\n{body}")).collect();
    let embedder = CountingEmbedder::default();
    searcher(&fixture).functions_by_embedding(&QUERY, 3, &mut store(), &embedder);
    assert_eq!(embedder.take_requests(), [1, 4, 4, 1]);
}

#[test]
fn full_store_compares_lexically_nearest_functions() {
    let room_for_one = 4 * size_of::<f32>() + 100;
    let (embedder, mut store) = (CountingEmbedder::default(), VectorStore::new(room_for_one));
    let text = "def area(width):\n    return width";
    let query = FunctionQuery { text, original: text, ..QUERY };
    let found = searcher(REPOSITORY).functions_by_embedding(&query, 3, &mut store, &embedder);
    assert_eq!((&*found.hits[0].path, found.hits.len(), store.len()), ("c/maths.py", 1, 1));
    searcher(REPOSITORY).functions_by_embedding(&QUERY, 3, &mut store, &embedder);
    assert_eq!(store.len(), 1, "the other one took its place");
}

#[test]
fn long_functions_are_truncated_before_embedding() {
    // The limit falls inside a character.
    let long = format!("def load(path):\n    return 'x{}'\n", "é".repeat(TEXT_BYTES));
    let fixture = format!("//- /a.py\n{long}");
    let embedder = CountingEmbedder::default();
    searcher(&fixture).functions_by_embedding(&QUERY, 3, &mut store(), &embedder);
    let requests = embedder.requests.take();
    let embedded = &requests[1][0];
    assert!(long.starts_with(embedded.as_str()));
    assert_eq!(embedded.len(), TEXT_BYTES - 1);
}

#[test]
fn embedder_is_not_called_without_query_or_functions() {
    let (embedder, mut store) = (CountingEmbedder::default(), store());
    let nothing = FunctionQuery { text: " \n", original: "", ..QUERY };
    assert_eq!(searcher(REPOSITORY).functions_by_embedding(&nothing, 3, &mut store, &embedder).hits, []);
    assert_eq!(searcher("").functions_by_embedding(&QUERY, 3, &mut store, &embedder).hits, []);
    assert_eq!(embedder.take_requests(), [0_usize; 0]);
}

#[test]
fn retrieval_at_cursor_uses_the_lexical_query() {
    let (prefix, suffix) = QUERY.original.split_at(QUERY.text.len());
    let query = RetrievalQuery { path: QUERY.path, language: QUERY.language, prefix, suffix, recent: &[] };
    let (searcher, budget) = (searcher(REPOSITORY), TokenBudget { tokens: 100 });
    let found = |embedder: &CountingEmbedder, budget| {
        searcher.retrieve_functions(&query, budget, &mut store(), embedder)
    };

    let embedder = CountingEmbedder::default();
    assert_eq!(found(&embedder, budget).hits.len(), 3);
    assert_eq!(found(&embedder, TokenBudget { tokens: 5 }).hits, []);
    assert_eq!(embedder.requests.borrow()[0], [QUERY.original.trim_end()]);

    let broken = CountingEmbedder { fails_after: Cell::new(Some(0)), ..CountingEmbedder::default() };
    let projects = syntax::Projects::default();
    let lexical = searcher.retrieve(Strategy::Functions, &projects, &query, budget);
    assert_eq!(found(&broken, budget).hits, lexical);
}
