//! A burst of changes, as multiple cursors and macros send it, and the request that follows it.

use std::time::Duration;

use anyhow::Result;

use super::editor::Editor;
use super::{LspBench, time};
use crate::measure::figures::{FigureRow, SortedTimes, TimingTarget};

const CHANGES: usize = 2000;
const BURSTS: usize = 10;

const PROMISED: &[TimingTarget] = &[TimingTarget { percentile: 99, ms: 350.0 }];

pub(super) fn measure(bench: &LspBench<'_>) -> Result<Vec<FigureRow>> {
    let editor = Editor::scripted(&bench.ghostbench, Duration::ZERO);
    let mut times = Vec::new();
    for _ in 0..BURSTS {
        let mut typist = bench.source.typist(editor.uri("fast.py"));
        editor.open(&typist.buffer);
        let changes: Vec<_> = (0..CHANGES).map(|_| typist.key()).collect();
        let completion = typist.completion();
        let (took, _) = time(|| {
            changes.into_iter().for_each(|change| editor.change(change));
            editor.complete(completion)
        });
        times.push(took);
        editor.close(&typist.buffer);
    }
    let what = "2,000 changes in one burst and the request after them, scripted engine, 10 bursts";
    Ok(vec![FigureRow::times(what, &SortedTimes::new(times), PROMISED)])
}
