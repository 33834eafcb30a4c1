//! The typist: writes a passage key by key, accepts what is right, and counts what was shown.

use std::ops::{Add, Range};
use std::sync::Arc;
use std::time::{Duration, Instant};

use builtin::BuiltinSettings;
use completion::{
    AnswerCache, CacheKey, CompletionSettings, CursorSnapshot, DocumentText, WorkspaceIndex, complete,
};
use engines::BuiltinEngine;
use syntax::Language;
use tokio_util::sync::CancellationToken;

use crate::measure::figures::SortedTimes;

/// Text to type, with the text around it. Line ends are LF.
pub(super) struct Passage {
    /// Path of its file in the workspace, whose saved text is hidden.
    pub(super) path: Arc<str>,
    pub(super) language: Language,
    pub(super) before: String,
    pub(super) typed: String,
    /// Ranges of the typed text that are no code and cost no key, in order.
    pub(super) prose: Vec<Range<usize>>,
    pub(super) after: String,
}

/// Minimum length in bytes of an accepted suggestion: accepting costs a key.
const MIN_ACCEPTED: usize = 2;

/// What happened while a passage was typed.
#[derive(Clone, Debug, Default)]
pub(super) struct TypingCounts {
    /// Keys that the passages cost without suggestions.
    characters: usize,
    /// Keys that were needed, those of accepting included.
    keys: usize,
    requests: usize,
    accepted: usize,
    /// Suggestions that appeared and were wrong in any part.
    wrong: usize,
    /// Ghost text that changed or disappeared although the key fitted it.
    flicker: usize,
    /// Times of the requests to the engine.
    times: Vec<Duration>,
}

impl Add for TypingCounts {
    type Output = TypingCounts;

    fn add(mut self, other: TypingCounts) -> TypingCounts {
        self.characters += other.characters;
        self.keys += other.keys;
        self.requests += other.requests;
        self.accepted += other.accepted;
        self.wrong += other.wrong;
        self.flicker += other.flicker;
        self.times.extend(other.times);
        self
    }
}

impl TypingCounts {
    /// Returns the cells of a row of the table.
    pub(super) fn cells(self) -> [String; 6] {
        let times = SortedTimes::new(self.times);
        let of = |count: usize, all: usize| count as f64 / all.max(1) as f64;
        [
            format!("{:.1} %", 100.0 - 100.0 * of(self.keys, self.characters)),
            format!("{:.1}", 100.0 * of(self.accepted, self.keys)),
            format!("{:.2}", 100.0 * of(self.wrong, self.requests)),
            format!("{:.2}", of(self.wrong, self.accepted)),
            format!("{:.2}", 100.0 * of(self.flicker, self.keys)),
            format!("{:.1} / {:.1} ms", times.percentile(50), times.percentile(99)),
        ]
    }
}

/// Types a passage.
pub(super) fn type_passage(workspace: &WorkspaceIndex, passage: &Passage) -> TypingCounts {
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build();
    let runtime = runtime.expect("a runtime without IO starts");
    let mut typist = Typist {
        workspace,
        passage,
        engine: BuiltinEngine::new("builtin", BuiltinSettings::for_editor()),
        cache: AnswerCache::default(),
        written: 0,
        shown: String::new(),
        counts: TypingCounts::default(),
    };
    runtime.block_on(typist.run());
    typist.counts
}

struct Typist<'a> {
    workspace: &'a WorkspaceIndex,
    passage: &'a Passage,
    engine: BuiltinEngine,
    cache: AnswerCache,
    /// Bytes of the passage that are written.
    written: usize,
    /// The visible suggestion.
    shown: String,
    counts: TypingCounts,
}

impl Typist<'_> {
    async fn run(&mut self) {
        while self.written < self.passage.typed.len() {
            if let Some(prose) = self.passage.prose.iter().find(|prose| prose.contains(&self.written)) {
                self.written = prose.end;
                self.shown.clear();
                continue;
            }
            self.ask().await;
            if is_worth_accepting(&self.shown, self.rest()) {
                self.counts.accepted += 1;
                self.counts.keys += 1;
                self.counts.characters += keys_of(&self.shown);
                self.written += self.shown.len();
                self.shown.clear();
            } else {
                self.press_key();
            }
        }
    }

    fn rest(&self) -> &str {
        &self.passage.typed[self.written..]
    }

    /// Writes the next character; a line break with the indentation that follows it.
    fn press_key(&mut self) {
        let rest = self.rest();
        let length = match rest.strip_prefix('\n') {
            Some(line) => 1 + line.len() - line.trim_start_matches([' ', '\t', '\n']).len(),
            None => rest.chars().next().map_or(0, char::len_utf8),
        };
        let key = rest[..length].to_owned();
        self.shown = self.shown.strip_prefix(&key).unwrap_or_default().to_owned();
        self.counts.keys += 1;
        self.counts.characters += 1;
        self.written += length;
    }

    /// Requests a suggestion, and counts how it differs from the rest of the one before.
    async fn ask(&mut self) {
        let left = std::mem::take(&mut self.shown);
        let (before, after) = (&self.passage.before, &self.passage.after);
        let written = &self.passage.typed[..self.written];
        let place = CursorSnapshot {
            text: [before, written, after].concat().into(),
            offset: before.len() + written.len(),
            cache_key: cache_key(),
        };
        self.counts.requests += 1;
        let known = self.cache.remaining_text(&place);
        self.shown = match known {
            Some(known) => known,
            None => self.request(place).await,
        };
        if self.shown != left {
            self.counts.wrong += usize::from(!self.shown.is_empty() && !self.rest().starts_with(&self.shown));
            self.counts.flicker += usize::from(!left.is_empty());
        }
    }

    async fn request(&mut self, place: CursorSnapshot) -> String {
        let snapshot = self.workspace.snapshot(DocumentText {
            path: Arc::clone(&self.passage.path),
            language: self.passage.language,
            text: Arc::clone(&place.text),
        });
        let snapshot = snapshot.with_typed_over(self.cache.typed_over(&place));
        let settings = CompletionSettings::for_editor();
        let start = Instant::now();
        let outcome =
            complete(&snapshot, place.offset, &self.engine, &settings, &CancellationToken::new()).await;
        self.counts.times.push(start.elapsed());
        if !outcome.text.is_empty() {
            self.cache.insert(place, &outcome.text);
        }
        outcome.text
    }
}

/// Returns the number of keys that an accepted text would have cost: indentation costs none.
fn keys_of(text: &str) -> usize {
    let mut lines = text.split('\n');
    let first = lines.next().map_or(0, |line| line.chars().count());
    let others = lines.filter(|line| !line.trim().is_empty());
    first + others.map(|line| 1 + line.trim_start_matches([' ', '\t']).chars().count()).sum::<usize>()
}

fn is_worth_accepting(shown: &str, rest: &str) -> bool {
    shown.len() >= MIN_ACCEPTED && rest.starts_with(shown)
}

/// One engine and one workspace: all answers are of the same kind.
fn cache_key() -> CacheKey {
    CacheKey {
        engine: "builtin".to_owned(),
        fingerprint: String::new(),
        settings: 0,
        workspace: 0,
        documents: 0,
    }
}
