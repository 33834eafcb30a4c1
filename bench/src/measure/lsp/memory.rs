//! Whether the server's memory grows: ten thousand requests, each after a typed character.

use std::fs;

use anyhow::{Context, Result};
use tests::lsp::uri;

use super::LspBench;
use super::editor::Editor;
use super::typed_file::{REPOSITORY, Typist};
use crate::measure::document;
use crate::measure::figures::FigureRow;

/// Number of requests after which the caches have their full size.
const WARM_UP: usize = 1000;
const REQUESTS: usize = 10_000;

/// Maximum growth in bytes.
const MAX_GROWTH: f64 = 10e6;

pub(super) fn measure(bench: &LspBench<'_>) -> Result<Vec<FigureRow>> {
    let root = bench.repo(REPOSITORY)?.root.canonicalize()?;
    let editor = Editor::builtin(&bench.ghostbench, Editor::setup().folder(&root));
    editor.wait_for_folders()?;
    let mut typist = bench.source.typist(uri(&root.join("rich/typed.py")));
    editor.open(&typist.buffer);
    request(&editor, &mut typist, WARM_UP);
    let before = resident(&editor)?;
    request(&editor, &mut typist, REQUESTS);
    let growth = resident(&editor)? - before;
    Ok(vec![FigureRow::value(
        "growth over 10,000 requests with a typed character before each, built-in engine, after 1,000 of them",
        format!("{:+.1} MB, from {:.1} MB", growth / 1e6, before / 1e6),
        "10 MB",
        growth <= MAX_GROWTH,
    )])
}

fn request(editor: &Editor, typist: &mut Typist, count: usize) {
    for _ in 0..count {
        editor.change(typist.key());
        editor.complete(typist.completion());
    }
}

/// Returns the server's resident set in bytes.
pub(in crate::measure) fn resident(editor: &Editor) -> Result<f64> {
    size(editor, "VmRSS")
}

/// Returns the largest resident set of the server in bytes, since the last [`reset_peak`].
pub(in crate::measure) fn peak(editor: &Editor) -> Result<f64> {
    size(editor, "VmHWM")
}

/// Makes the current resident set the largest one.
pub(in crate::measure) fn reset_peak(editor: &Editor) -> Result<()> {
    /// What the kernel calls this in its list of numbers.
    const PEAK_RESIDENT_SET: &str = "5";
    let file = format!("/proc/{}/clear_refs", editor.client.process_id());
    fs::write(file, PEAK_RESIDENT_SET).context("the kernel does not reset the server's peak of memory")
}

/// Returns a size of the server in bytes, by the kernel's name of it.
fn size(editor: &Editor, name: &str) -> Result<f64> {
    let file = format!("/proc/{}/status", editor.client.process_id());
    let value = document::field(&file, name).context("the kernel does not tell the server's memory")?;
    let kilobytes = value.strip_suffix(" kB").and_then(|kilobytes| kilobytes.parse::<f64>().ok());
    Ok(kilobytes.with_context(|| format!("no size: `{value}`"))? * 1024.0)
}
