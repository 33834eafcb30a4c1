//! A slow answer in flight: whether the editor's next messages are delayed, and how fast a cancellation frees the engine.

use std::thread;
use std::time::{Duration, Instant};

use anyhow::{Result, ensure};
use serde_json::json;

use super::editor::Editor;
use super::typed_file::Typist;
use super::{LspBench, time};
use crate::measure::figures::{FigureRow, SortedTimes, TimingTarget};

/// Delay of the slow engine.
const SLOW: Duration = Duration::from_secs(2);

/// Time between the slow request and the first of the others.
const HEAD_START: Duration = Duration::from_millis(100);

/// Requests per round, few enough to finish before the slow engine does.
const REQUESTS: usize = 100;
const ROUNDS: usize = 5;

/// Maximum additional delay of an answer compared to an idle server, in milliseconds.
const MARGIN_MS: f64 = 2.0;

const CANCELS: usize = 100;

/// An answer goes on for a moment without a request, because the next one may share it.
const FREED: &[TimingTarget] = &[TimingTarget { percentile: 99, ms: 60.0 }];

/// The server, and typing in both documents.
struct TwoDocuments {
    editor: Editor,
    slow: Typist,
    fast: Typist,
    /// The requests to the slow engine that are not answered.
    asked: Vec<i64>,
}

/// Types a character and sends a request; returns the time until its answer.
type AskFn = fn(&mut TwoDocuments) -> Duration;

pub(super) fn measure(bench: &LspBench<'_>) -> Result<Vec<FigureRow>> {
    let mut desk = TwoDocuments::new(bench);
    let mut rows = Vec::new();
    let ways: [(&str, AskFn); 2] = [
        ("didChange and inlineCompletion of another document", TwoDocuments::type_in_fast),
        ("didChange and codeLens of the same document", TwoDocuments::type_in_slow),
    ];
    for (what, ask) in ways {
        let (idle, busy) = desk.idle_and_in_flight(ask)?;
        rows.push(FigureRow::times(format!("{what}, server idle"), &idle, &[]));
        rows.push(FigureRow::times(format!("{what}, 2 s answer in flight"), &busy, &idle.plus(MARGIN_MS)));
    }
    let what = format!("cancel to `busy` 0, scripted engine, {CANCELS} cancels");
    rows.push(FigureRow::times(what, &desk.cancels()?, FREED));
    Ok(rows)
}

impl TwoDocuments {
    fn new(bench: &LspBench<'_>) -> TwoDocuments {
        let editor = Editor::scripted(&bench.ghostbench, SLOW);
        let [slow, fast] = ["slow.py", "fast.py"].map(|path| bench.source.typist(editor.uri(path)));
        editor.open(&slow.buffer);
        editor.open(&fast.buffer);
        TwoDocuments { editor, slow, fast, asked: Vec::new() }
    }

    fn type_in_fast(&mut self) -> Duration {
        let (change, completion) = (self.fast.key(), self.fast.completion());
        time(|| {
            self.editor.change(change);
            self.editor.complete(completion)
        })
        .0
    }

    /// While the slow answer is in flight, the editor asks for it again, as after every key: without a request the engine would be stopped.
    fn type_in_slow(&mut self) -> Duration {
        let (change, document) = (self.slow.key(), json!({"textDocument": self.slow.buffer.id()}));
        let again = self.slow.completion();
        time(|| {
            self.editor.change(change);
            if !self.asked.is_empty() {
                self.asked.push(self.editor.ask(again));
            }
            self.editor.client.call("textDocument/codeLens", document)
        })
        .0
    }

    /// Alternates between an idle server and a slow answer in flight, so that other load on the machine affects both.
    fn idle_and_in_flight(&mut self, ask: AskFn) -> Result<(SortedTimes, SortedTimes)> {
        let (mut idle, mut busy) = (Vec::new(), Vec::new());
        for _ in 0..ROUNDS {
            idle.extend((0..REQUESTS).map(|_| ask(self)));
            self.asked.push(self.editor.ask(self.slow.completion()));
            thread::sleep(HEAD_START);
            busy.extend((0..REQUESTS).map(|_| ask(self)));
            let is_busy = self.editor.busy()? == 1;
            // The last request is cancelled, which no other follows.
            if let Some(&last) = self.asked.last() {
                self.editor.client.cancel(last);
            }
            let answers: Vec<_> = self.asked.drain(..).map(|id| self.editor.client.wait(id)).collect();
            ensure!(is_busy, "the slow answer came too early to be in the way");
            ensure!(answers.last().is_some_and(Result::is_err), "a cancelled request was answered");
            // The engine goes on for a moment, and the next round would wait for the same answer.
            while self.editor.busy()? > 0 {}
        }
        Ok((SortedTimes::new(idle), SortedTimes::new(busy)))
    }

    fn cancels(&self) -> Result<SortedTimes> {
        let mut times = Vec::new();
        for _ in 0..CANCELS {
            let id = self.editor.ask(self.slow.completion());
            while self.editor.busy()? == 0 {}
            let start = Instant::now();
            self.editor.client.cancel(id);
            while self.editor.busy()? > 0 {}
            times.push(start.elapsed());
            ensure!(self.editor.client.wait(id).is_err(), "a cancelled request was answered");
        }
        Ok(SortedTimes::new(times))
    }
}
