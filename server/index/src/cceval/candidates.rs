//! The candidates of one cursor's file and the ranking among them.

use std::collections::BinaryHeap;
use std::iter;
use std::sync::Arc;

use super::chunks::FileChunks;
use super::words::Words;
use super::{BM25_CHUNKS, ChunkHit, Query, Ranking, Setting};
use crate::{Hit, HitKind, hit};

/// Chunks that are ranked at most, those of the nearest files first.
const MAX_CHUNKS: usize = 1000;

/// Chunks that are found.
const TOP: usize = 5;

/// Words named in a hit's reason.
const REASON_WORDS: usize = 3;

/// The chunks that may be shown to one file, with the statistics that are the same for all queries from it. Nothing in here
/// depends on the text of that file.
pub struct Candidates {
    files: Vec<Arc<FileChunks>>,
    chunks: Vec<Place>,
    words: Words,
    /// The chunks in ascending order of their ids.
    by_id: Vec<u32>,
    /// The chunks in ascending order of their texts.
    by_text: Vec<u32>,
}

/// Where a chunk stands.
#[derive(Clone, Copy, Debug)]
struct Place {
    /// Position of its file.
    file: u32,
    /// Position in its file.
    chunk: u32,
}

/// A place in the ranking as the original has it.
#[derive(Clone, Debug, PartialEq)]
pub struct Ranked<'a> {
    /// The score at this place.
    pub score: f64,
    /// Id of a chunk with this score: path, `|` and the chunk's number in its file.
    pub id: String,
    /// Text of a chunk with this score; where scores are equal, not always the chunk with that id.
    pub text: &'a str,
}

/// A chunk that is found.
struct Selected {
    /// What the original names as its place.
    named: Place,
    /// Where its text stands.
    shown: Place,
    /// The chunk that resembles the query: the one that is shown, or the one before it.
    matched: u32,
    score: f64,
}

impl Candidates {
    /// Takes the chunks of `files`, which are sorted by distance, up to the limit.
    pub fn new(files: impl IntoIterator<Item = Arc<FileChunks>>) -> Candidates {
        let mut taken = Vec::new();
        let mut chunks = Vec::new();
        for file in files {
            if chunks.len() == MAX_CHUNKS {
                break;
            }
            let room = MAX_CHUNKS - chunks.len();
            let place = |chunk| Place { file: taken.len() as u32, chunk };
            chunks.extend((0..file.len() as u32).take(room).map(place));
            taken.push(file);
        }
        Candidates::prepare(taken, chunks)
    }

    fn prepare(files: Vec<Arc<FileChunks>>, chunks: Vec<Place>) -> Candidates {
        let per_file = chunks.chunk_by(|one, other| one.file == other.file);
        let words = Words::new(per_file.map(|places| (&*files[places[0].file as usize], places.len())));
        let mut by_id: Vec<u32> = (0..chunks.len() as u32).collect();
        let mut by_text = by_id.clone();
        by_id.sort_by_cached_key(|&chunk| id(&files, chunks[chunk as usize]));
        by_text.sort_by_key(|&chunk| text(&files, chunks[chunk as usize]));
        Candidates { files, chunks, words, by_id, by_text }
    }

    /// How many chunks are ranked.
    pub fn len(&self) -> usize {
        self.chunks.len()
    }

    /// Whether there is nothing to find.
    pub fn is_empty(&self) -> bool {
        self.chunks.is_empty()
    }

    /// The first `limit` places of the ranking.
    pub fn ranking(&self, query: &Query<'_>, limit: usize) -> Vec<Ranked<'_>> {
        let scores = self.scores(&query.text(), query.ranking);
        let ids = ordered(&scores, &self.by_id);
        let texts = ordered(&scores, &self.by_text);
        let ranked = |(by_id, by_text): (u32, u32)| Ranked {
            score: scores[by_id as usize],
            id: id(&self.files, self.chunks[by_id as usize]),
            text: text(&self.files, self.chunks[by_text as usize]),
        };
        ids.zip(texts).take(limit).map(ranked).collect()
    }

    /// What the original finds, best first.
    pub fn retrieve(&self, query: &Query<'_>) -> Vec<ChunkHit> {
        let selected = self.select(&query.text(), query);
        let hit = |selected: Selected| ChunkHit {
            named: self.file(selected.named).path().clone(),
            file: self.file(selected.shown).clone(),
            chunk: selected.shown.chunk,
            score: selected.score,
        };
        selected.into_iter().map(hit).collect()
    }

    /// The same for a caller that compares strategies: each hit has its true place and a reason.
    pub fn hits(&self, query: &Query<'_>) -> Vec<Hit> {
        let text = query.text();
        let selected = self.select(&text, query);
        selected.into_iter().map(|selected| self.hit(&text, &selected)).collect()
    }

    fn select(&self, text: &str, query: &Query<'_>) -> Vec<Selected> {
        let scores = self.scores(text, query.ranking);
        match query.setting {
            Setting::Rg1 => self.select_next(&scores),
            Setting::Oracle { .. } => self.select_first(&scores),
        }
    }

    /// The chunks behind the best ones, or these themselves where their file ends. Equal texts are taken once.
    fn select_next(&self, scores: &[f64]) -> Vec<Selected> {
        let mut selected: Vec<Selected> = Vec::with_capacity(TOP);
        for matched in ordered(scores, &self.by_id) {
            let place = self.next(self.chunks[matched as usize]);
            let is_taken = |taken: &Selected| text(&self.files, taken.shown) == text(&self.files, place);
            if selected.len() == TOP {
                break;
            }
            if !selected.iter().any(is_taken) {
                selected.push(Selected {
                    named: place,
                    shown: place,
                    matched,
                    score: scores[matched as usize],
                });
            }
        }
        selected
    }

    /// The best ids with the best texts, which are sorted apart.
    fn select_first(&self, scores: &[f64]) -> Vec<Selected> {
        let ids = ordered(scores, &self.by_id);
        let texts = ordered(scores, &self.by_text);
        let selected = |(by_id, matched): (u32, u32)| Selected {
            named: self.chunks[by_id as usize],
            shown: self.chunks[matched as usize],
            matched,
            score: scores[by_id as usize],
        };
        ids.zip(texts).take(TOP).map(selected).collect()
    }

    fn scores(&self, query: &str, ranking: Ranking) -> Vec<f64> {
        match ranking {
            Ranking::Bm25 => self.words.bm25(query),
            Ranking::Jaccard => self.words.jaccard(query),
        }
    }

    /// The chunk behind `place`, also where it is no candidate any more.
    fn next(&self, place: Place) -> Place {
        let has_next = (place.chunk as usize + 1) < self.file(place).len();
        Place { chunk: place.chunk + u32::from(has_next), ..place }
    }

    fn file(&self, place: Place) -> &Arc<FileChunks> {
        &self.files[place.file as usize]
    }

    fn hit(&self, query: &str, selected: &Selected) -> Hit {
        let file = self.file(selected.shown);
        let chunk = selected.shown.chunk as usize;
        let lines = file.lines(chunk);
        Hit {
            bytes: hit::cost(file.path(), file.text(chunk)),
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

    /// Names the words that count most.
    fn reason(&self, query: &str, selected: &Selected) -> String {
        let mut words = self.words.shared(query, selected.matched);
        words.truncate(REASON_WORDS);
        let words = if words.is_empty() { "nothing".to_owned() } else { words.join(", ") };
        let is_itself = self.chunks[selected.matched as usize].chunk == selected.shown.chunk;
        if is_itself { format!("shares {words}") } else { format!("follows lines that share {words}") }
    }
}

/// The original's name of a chunk.
fn id(files: &[Arc<FileChunks>], place: Place) -> String {
    format!("{}|{}", files[place.file as usize].path(), place.chunk)
}

fn text(files: &[Arc<FileChunks>], place: Place) -> &str {
    files[place.file as usize].text(place.chunk as usize)
}

/// The chunks by descending score, equals in descending order of their position in `order`. A heap, since few are ever taken.
fn ordered(scores: &[f64], order: &[u32]) -> impl Iterator<Item = u32> {
    let entry = |(position, &chunk): (usize, &u32)| (sortable(scores[chunk as usize]), position, chunk);
    let mut heap: BinaryHeap<(i64, usize, u32)> = order.iter().enumerate().map(entry).collect();
    iter::from_fn(move || heap.pop().map(|(_, _, chunk)| chunk))
}

/// An integer that is ordered as the scores are. Negative numbers' bits are ordered the wrong way round.
fn sortable(score: f64) -> i64 {
    let bits = score.to_bits() as i64;
    if bits < 0 { bits ^ i64::MAX } else { bits }
}
