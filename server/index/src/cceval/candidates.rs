//! The candidate chunks for one cursor's file, and their ranking.

use std::collections::BinaryHeap;
use std::iter;
use std::sync::Arc;

use super::chunks::FileChunks;
use super::inverted_index::InvertedIndex;
use super::{BM25_CHUNKS, ChunkHit, ChunkQuery, ChunkRanking, RetrievalSetting};
use crate::{Hit, HitKind, hit};

/// Maximum number of ranked chunks; those of the nearest files come first.
const MAX_CHUNKS: usize = 1000;

/// Number of retrieved chunks.
const TOP: usize = 5;

/// Maximum words in a hit's reason.
const REASON_WORDS: usize = 3;

/// The candidate chunks for one file, with the statistics shared by all queries from it. Independent of that file's text.
pub struct ChunkCandidates {
    files: Vec<Arc<FileChunks>>,
    chunks: Vec<ChunkRef>,
    words: InvertedIndex,
    /// Chunks in ascending order of their ids.
    by_id: Vec<u32>,
    /// Chunks in ascending order of their texts.
    by_text: Vec<u32>,
}

/// Position of a chunk.
#[derive(Clone, Copy, Debug)]
struct ChunkRef {
    /// Index of its file.
    file: u32,
    /// Index in its file.
    chunk: u32,
}

/// An entry of the original's ranking.
#[derive(Clone, Debug, PartialEq)]
pub struct RankedChunk<'a> {
    /// The score of this entry.
    pub score: f64,
    /// Id of a chunk with this score: path, `|` and the chunk's number in its file.
    pub id: String,
    /// Text of a chunk with this score; among equal scores, not always the chunk with that id.
    pub text: &'a str,
}

/// A retrieved chunk.
struct SelectedChunk {
    /// The position that the original reports.
    named: ChunkRef,
    /// The position of its text.
    shown: ChunkRef,
    /// The chunk that matches the query: the shown one, or the one before it.
    matched: u32,
    score: f64,
}

impl ChunkCandidates {
    /// Takes the chunks of `files`, which are sorted by distance, up to the limit.
    pub fn new(files: impl IntoIterator<Item = Arc<FileChunks>>) -> ChunkCandidates {
        let mut taken = Vec::new();
        let mut chunks = Vec::new();
        for file in files {
            if chunks.len() == MAX_CHUNKS {
                break;
            }
            let room = MAX_CHUNKS - chunks.len();
            chunks.extend(
                (0..file.len() as u32).take(room).map(|chunk| ChunkRef { file: taken.len() as u32, chunk }),
            );
            taken.push(file);
        }
        ChunkCandidates::prepare(taken, chunks)
    }

    fn prepare(files: Vec<Arc<FileChunks>>, chunks: Vec<ChunkRef>) -> ChunkCandidates {
        let per_file = chunks.chunk_by(|one, other| one.file == other.file);
        let words =
            InvertedIndex::new(per_file.map(|places| (&*files[places[0].file as usize], places.len())));
        let mut by_id: Vec<u32> = (0..chunks.len() as u32).collect();
        let mut by_text = by_id.clone();
        by_id.sort_by_cached_key(|&chunk| id(&files, chunks[chunk as usize]));
        by_text.sort_by_key(|&chunk| text(&files, chunks[chunk as usize]));
        ChunkCandidates { files, chunks, words, by_id, by_text }
    }

    /// Returns the number of candidates.
    pub fn len(&self) -> usize {
        self.chunks.len()
    }

    /// Whether there are no candidates.
    pub fn is_empty(&self) -> bool {
        self.chunks.is_empty()
    }

    /// Returns the first `limit` entries of the ranking.
    pub fn ranking(&self, query: &ChunkQuery<'_>, limit: usize) -> Vec<RankedChunk<'_>> {
        let scores = self.scores(&query.text(), query.ranking);
        let ids = ordered(&scores, &self.by_id);
        let texts = ordered(&scores, &self.by_text);
        ids.zip(texts)
            .take(limit)
            .map(|(by_id, by_text)| RankedChunk {
                score: scores[by_id as usize],
                id: id(&self.files, self.chunks[by_id as usize]),
                text: text(&self.files, self.chunks[by_text as usize]),
            })
            .collect()
    }

    /// Returns the original's result, best first.
    pub fn retrieve(&self, query: &ChunkQuery<'_>) -> Vec<ChunkHit> {
        let selected = self.select(&query.text(), query);
        let hit = |selected: SelectedChunk| ChunkHit {
            reported_path: self.file(selected.named).path().clone(),
            file: self.file(selected.shown).clone(),
            chunk: selected.shown.chunk,
            score: selected.score,
        };
        selected.into_iter().map(hit).collect()
    }

    /// Returns the same result for comparisons of strategies: each hit has its true position and a reason.
    pub fn hits(&self, query: &ChunkQuery<'_>) -> Vec<Hit> {
        let text = query.text();
        let selected = self.select(&text, query);
        selected.into_iter().map(|selected| self.hit(&text, &selected)).collect()
    }

    fn select(&self, text: &str, query: &ChunkQuery<'_>) -> Vec<SelectedChunk> {
        let scores = self.scores(text, query.ranking);
        match query.setting {
            RetrievalSetting::Rg1 => self.select_next(&scores),
            RetrievalSetting::Oracle { .. } => self.select_first(&scores),
        }
    }

    /// Selects the chunks after the best ones, or these themselves at the end of a file. Equal texts are taken once.
    fn select_next(&self, scores: &[f64]) -> Vec<SelectedChunk> {
        let mut selected: Vec<SelectedChunk> = Vec::with_capacity(TOP);
        for matched in ordered(scores, &self.by_id) {
            let place = self.next(self.chunks[matched as usize]);
            if selected.len() == TOP {
                break;
            }
            if !selected.iter().any(|taken| text(&self.files, taken.shown) == text(&self.files, place)) {
                selected.push(SelectedChunk {
                    named: place,
                    shown: place,
                    matched,
                    score: scores[matched as usize],
                });
            }
        }
        selected
    }

    /// Combines the best ids and the best texts, which are sorted separately.
    fn select_first(&self, scores: &[f64]) -> Vec<SelectedChunk> {
        let ids = ordered(scores, &self.by_id);
        let texts = ordered(scores, &self.by_text);
        let selected = |(by_id, matched): (u32, u32)| SelectedChunk {
            named: self.chunks[by_id as usize],
            shown: self.chunks[matched as usize],
            matched,
            score: scores[by_id as usize],
        };
        ids.zip(texts).take(TOP).map(selected).collect()
    }

    fn scores(&self, query: &str, ranking: ChunkRanking) -> Vec<f64> {
        match ranking {
            ChunkRanking::Bm25 => self.words.bm25(query),
            ChunkRanking::Jaccard => self.words.jaccard(query),
        }
    }

    /// Returns the chunk after `place`, even if it is not a candidate.
    fn next(&self, place: ChunkRef) -> ChunkRef {
        let has_next = (place.chunk as usize + 1) < self.file(place).len();
        ChunkRef { chunk: place.chunk + u32::from(has_next), ..place }
    }

    fn file(&self, place: ChunkRef) -> &Arc<FileChunks> {
        &self.files[place.file as usize]
    }

    fn hit(&self, query: &str, selected: &SelectedChunk) -> Hit {
        let file = self.file(selected.shown);
        let chunk = selected.shown.chunk as usize;
        let lines = file.lines(chunk);
        Hit {
            bytes: hit::budget_bytes(file.path(), file.text(chunk)),
            lines: Vec::new(),
            path: file.path().clone(),
            start_line: lines.start,
            end_line: lines.end,
            text: file.text(chunk).to_owned(),
            score: selected.score,
            strategy: BM25_CHUNKS,
            kind: HitKind::Chunk,
            reason: self.reason(query, selected),
        }
    }

    /// Names the words with the highest weights.
    fn reason(&self, query: &str, selected: &SelectedChunk) -> String {
        let mut words = self.words.shared(query, selected.matched);
        words.truncate(REASON_WORDS);
        let words = if words.is_empty() { "nothing".to_owned() } else { words.join(", ") };
        let is_itself = self.chunks[selected.matched as usize].chunk == selected.shown.chunk;
        if is_itself { format!("shares {words}") } else { format!("follows lines that share {words}") }
    }
}

/// Returns the original's id of a chunk.
fn id(files: &[Arc<FileChunks>], place: ChunkRef) -> String {
    format!("{}|{}", files[place.file as usize].path(), place.chunk)
}

fn text(files: &[Arc<FileChunks>], place: ChunkRef) -> &str {
    files[place.file as usize].text(place.chunk as usize)
}

/// Returns the chunks by descending score; equal scores in descending order of their position in `order`. A heap, because only
/// a few are taken.
fn ordered(scores: &[f64], order: &[u32]) -> impl Iterator<Item = u32> {
    let mut heap: BinaryHeap<(i64, usize, u32)> = order
        .iter()
        .enumerate()
        .map(|(position, &chunk)| (sortable(scores[chunk as usize]), position, chunk))
        .collect();
    iter::from_fn(move || heap.pop().map(|(_, _, chunk)| chunk))
}

/// Maps a score to an integer with the same order. The bits of negative numbers have the reverse order.
fn sortable(score: f64) -> i64 {
    let bits = score.to_bits() as i64;
    if bits < 0 { bits ^ i64::MAX } else { bits }
}
