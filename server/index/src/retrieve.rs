//! Common interface of the strategies: a query at a cursor, a budget, and the resulting hits.

use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use config::Strategy;
use syntax::{Language, Projects};

use crate::hybrid::{self, ContextParts};
use crate::near_duplicate_files::OpenFileLines;
use crate::{Embedder, FunctionQuery, Hit, HitKind, Searcher, SimilarFunctions, VectorStore, cceval, hit};

/// A query at a cursor. The saved text of its own file is not searched.
#[derive(Clone, Copy, Debug)]
pub struct RetrievalQuery<'a> {
    /// The open file, relative to the workspace root.
    pub path: &'a str,
    /// Its language.
    pub language: Language,
    /// Its text before the cursor.
    pub prefix: &'a str,
    /// Its text after the cursor; in a case, the text after the hole.
    pub suffix: &'a str,
    /// Recently edited or visited locations, latest first.
    pub recent: &'a [RecentLocation],
}

/// An edited or visited location.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct RecentLocation {
    /// File, relative to the workspace root.
    pub path: String,
    /// Line, 0-based.
    pub line: u32,
}

/// Size limit of the context, in tokens of four bytes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct TokenBudget {
    /// Tokens.
    pub tokens: usize,
}

/// Average bytes of code per token, as in the public figures and the feasibility study. An estimate; the engine's own tokenizer
/// may differ.
const BYTES_PER_TOKEN: usize = 4;

impl TokenBudget {
    /// Returns the number of tokens for this number of bytes.
    pub fn tokens_of(bytes: usize) -> usize {
        bytes.div_ceil(BYTES_PER_TOKEN)
    }

    /// Returns the budget in bytes.
    pub fn bytes(self) -> usize {
        self.tokens * BYTES_PER_TOKEN
    }
}

/// Bytes added to each line of a comment: its sign, a blank and a line end.
pub(crate) const LINE_BYTES: usize = 3;
/// Bytes added to a path above its lines: the same and a colon.
pub(crate) const PATH_BYTES: usize = 4;

/// Number of functions: Codev-Bench's three.
const FUNCTIONS_SENT: usize = 3;
/// Lines before and after a visited location: together about half a screen. Not fitted.
const VISIT_LINES: u32 = 8;
/// Outside of functions, this many lines before the cursor are the query: about the length of a function. Not fitted.
const TOP_LEVEL_QUERY_LINES: usize = 20;

/// Retrievals of this process.
static RETRIEVALS: AtomicU64 = AtomicU64::new(0);

/// Returns the number of retrievals of this process so far: for tests and measurements, which count work instead of taking its time.
pub fn retrieval_count() -> u64 {
    RETRIEVALS.load(Ordering::Relaxed)
}

impl Searcher {
    /// Returns a strategy's hits for a query, most useful first, within the budget.
    ///
    /// The saved text of the query's file is not searched, whether it is hidden or not.
    pub fn retrieve(
        &self,
        strategy: Strategy,
        projects: &Projects,
        query: &RetrievalQuery<'_>,
        budget: TokenBudget,
    ) -> Vec<Hit> {
        RETRIEVALS.fetch_add(1, Ordering::Relaxed);
        let others = self.hide(&[query.path]);
        match strategy {
            _ if self.is_cancelled() => Vec::new(),
            Strategy::None => Vec::new(),
            Strategy::Bm25Chunks => take_within_budget(others.chunks(query), budget),
            Strategy::Functions => take_within_budget(others.similar_functions(query), budget),
            Strategy::Symbols => {
                hybrid::retrieve_hybrid(&others, projects, query, budget, ContextParts::Skeletons)
            }
            Strategy::Recent => take_within_budget(others.recent_locations(query), budget),
            Strategy::Hybrid => hybrid::retrieve_hybrid(&others, projects, query, budget, ContextParts::All),
        }
    }

    fn chunks(&self, query: &RetrievalQuery<'_>) -> Vec<Hit> {
        let RetrievalQuery { path, language, prefix, .. } = *query;
        let query = cceval::ChunkQuery {
            prefix,
            setting: cceval::RetrievalSetting::Rg1,
            ranking: cceval::ChunkRanking::Bm25,
        };
        let candidates = self.chunk_candidates(path, language);
        if self.is_cancelled() { Vec::new() } else { candidates.hits(&query) }
    }

    /// Returns functions similar to the one around the cursor.
    fn similar_functions(&self, query: &RetrievalQuery<'_>) -> Vec<Hit> {
        let text: Arc<str> = [query.prefix, query.suffix].concat().into();
        self.functions(&self.enclosing_function_query(query, &text), FUNCTIONS_SENT)
    }

    /// Returns the hits of [`Strategy::Functions`] with the similarity of embeddings. New vectors are added to `store`. May
    /// take as long as `embedder` takes for all functions of the workspace.
    pub fn retrieve_functions(
        &self,
        query: &RetrievalQuery<'_>,
        budget: TokenBudget,
        store: &mut VectorStore,
        embedder: &dyn Embedder,
    ) -> SimilarFunctions {
        let text: Arc<str> = [query.prefix, query.suffix].concat().into();
        let similar = self.functions_by_embedding(
            &self.enclosing_function_query(query, &text),
            FUNCTIONS_SENT,
            store,
            embedder,
        );
        SimilarFunctions { hits: take_within_budget(similar.hits, budget), ..similar }
    }

    /// Returns the function around the cursor, or the lines before it if there is none; `text` is that of the query's file.
    fn enclosing_function_query<'a>(
        &self,
        query: &RetrievalQuery<'a>,
        text: &'a Arc<str>,
    ) -> FunctionQuery<'a> {
        let RetrievalQuery { path, language, prefix, .. } = *query;
        let functions = self.tree(language, text).functions(text);
        let ranges = functions
            .into_iter()
            .map(|function| function.range)
            .filter(|range| range.start < prefix.len() && prefix.len() <= range.end);
        let range = ranges.min_by_key(ExactSizeIterator::len);
        let text = &text[range.unwrap_or_else(|| lines_before(prefix, TOP_LEVEL_QUERY_LINES)..prefix.len())];
        FunctionQuery { path, language, text, original: text }
    }

    /// Returns the surroundings of recently edited or visited locations.
    fn recent_locations(&self, query: &RetrievalQuery<'_>) -> Vec<Hit> {
        let own = OpenFileLines::new(query);
        let mut hits: Vec<Hit> = Vec::new();
        for (age, visit) in query.recent.iter().enumerate() {
            if self.is_cancelled() {
                break;
            }
            let Some(file) = self.file(&visit.path).filter(|file| !own.are_copied_by(*file)) else {
                continue;
            };
            let is_shown =
                |hit: &Hit| *hit.path == *visit.path && (hit.start_line..hit.end_line).contains(&visit.line);
            if hits.iter().any(is_shown) {
                continue;
            }
            let near = visit.line.saturating_sub(VISIT_LINES)..visit.line + VISIT_LINES + 1;
            let lines: Vec<_> = file.lines().iter().filter(|line| near.contains(&line.number)).collect();
            let (Some(first), Some(last)) = (lines.first(), lines.last()) else { continue };
            let text: Vec<&str> = lines.iter().map(|line| file.line_text(line)).collect();
            let text = text.join("\n");
            hits.push(Hit {
                bytes: hit::budget_bytes(&visit.path, &text),
                path: file.file().path.clone(),
                start_line: first.number,
                end_line: last.number + 1,
                lines: lines.iter().map(|line| line.number).collect(),
                text,
                score: 1.0 / (age + 1) as f64,
                strategy: Strategy::Recent.name(),
                kind: HitKind::RecentLocation,
                reason: "was edited or looked at lately".to_owned(),
            });
        }
        hits
    }
}

/// Returns the first hits that fit, as CrossCodeEval does: it stops at the first one that does not fit.
fn take_within_budget(hits: Vec<Hit>, budget: TokenBudget) -> Vec<Hit> {
    let mut left = budget.bytes();
    hits.into_iter().take_while(|hit| left.checked_sub(hit.bytes).map(|rest| left = rest).is_some()).collect()
}

/// Returns the start of the last `count` lines of `text`.
fn lines_before(text: &str, count: usize) -> usize {
    text.rmatch_indices('\n').nth(count).map_or(0, |(at, _)| at + 1)
}
