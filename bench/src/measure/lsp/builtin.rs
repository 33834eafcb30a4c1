//! The built-in engine behind the server, in the pinned repositories: time to answer and time to stop.

use std::thread;
use std::time::{Duration, Instant};

use anyhow::{Context, Result, ensure};
use serde_json::Value;
use syntax::SourceFile;
use tests::lsp::{Buffer, Encoding, uri};
use workspace::ReadLimits;

use super::editor::Editor;
use super::typed_file::completion;
use super::{LspBench, threads, time};
use crate::measure::figures::{FigureRow, SortedTimes, TimingTarget};
use crate::measure::repositories::Repo;

/// Requests in all repositories together; each gets the same number, rounded up.
const REQUESTS: usize = 500;

/// Number of slowest positions that are requested again and cancelled.
const CANCELLED: usize = 100;

/// Requests that were answered before the cancellation are excluded; at least this many must remain.
const MIN_CANCELS: usize = 10;

const FREED: &[TimingTarget] = &[TimingTarget { percentile: 99, ms: 5.0 }];

/// Poll interval of the server's threads, so that polling doesn't use up the measured processor.
const POLL: Duration = Duration::from_micros(50);

/// A cursor in a document without the rest of its line.
struct BenchCursor {
    buffer: Buffer,
    cursor: usize,
}

pub(super) fn measure(bench: &LspBench<'_>) -> Result<Vec<FigureRow>> {
    let mut setup = Editor::setup();
    let mut places = Vec::new();
    for repo in bench.repos {
        setup = setup.folder(&repo.root.canonicalize()?);
        places.extend(places_of(repo, REQUESTS.div_ceil(bench.repos.len()))?);
    }
    let editor = Editor::builtin(&bench.ghostbench, setup);
    editor.wait_for_folders()?;
    let mut asked: Vec<(Duration, &BenchCursor)> = Vec::new();
    let mut shown = 0;
    for place in &places {
        let (took, is_shown) = answer(&editor, place);
        shown += usize::from(is_shown);
        asked.push((took, place));
    }
    asked.sort_by_key(|&(took, _)| took);
    let cancels = cancels(&editor, &asked[asked.len().saturating_sub(CANCELLED)..])?;
    let answers = SortedTimes::new(asked.iter().map(|&(took, _)| took).collect());
    let (all, cancelled) = (answers.len(), cancels.len());
    Ok(vec![
        FigureRow::times(
            format!("inlineCompletion, built-in engine, at ends of words: {all} requests, {shown} with text"),
            &answers,
            &[],
        ),
        FigureRow::times(
            format!("cancel to no thread running, built-in engine, {cancelled} of the slowest of those"),
            &cancels,
            FREED,
        ),
    ])
}

/// Positions spread over the files of the measured language, and over each file's words.
fn places_of(repo: &Repo, count: usize) -> Result<Vec<BenchCursor>> {
    let name = repo.pinned.name;
    let snapshot = workspace::load(&repo.root, &ReadLimits::standard(), &|_| {})
        .with_context(|| format!("cannot read {name}"))?;
    let measured =
        |file: &&SourceFile| file.language == repo.pinned.language && !word_ends(&file.text).is_empty();
    let files: Vec<&SourceFile> = snapshot.files().iter().filter(measured).collect();
    ensure!(!files.is_empty(), "{name} has no file in its language");
    let root = repo.root.canonicalize()?;
    let place = |number: usize| {
        let file = files[number * files.len() / count];
        let ends = word_ends(&file.text);
        let cursor = ends[number * ends.len() / count];
        let line_end =
            file.text[cursor..].find(['\r', '\n']).map_or(file.text.len(), |length| cursor + length);
        let text = [&file.text[..cursor], &file.text[line_end..]].concat();
        let uri = uri(&root.join(&*file.path));
        BenchCursor { buffer: Buffer::new(uri, file.language.name(), Encoding::Utf16, &text), cursor }
    };
    Ok((0..count).map(place).collect())
}

/// Ends of words with at least two letters.
fn word_ends(text: &str) -> Vec<usize> {
    let is_word = |byte: &u8| byte.is_ascii_alphanumeric() || *byte == b'_';
    let ends = text.as_bytes().windows(3).enumerate();
    ends.filter(
        |(_, bytes)| matches!(bytes, [a, b, c] if is_word(a) && is_word(b) && !is_word(c) && c.is_ascii()),
    )
    .map(|(start, _)| start + 2)
    .collect()
}

/// Returns the time of an answer, and whether it contains text.
fn answer(editor: &Editor, place: &BenchCursor) -> (Duration, bool) {
    let params = completion(&place.buffer, place.cursor);
    editor.open(&place.buffer);
    let (took, answer) = time(|| editor.complete(params));
    editor.close(&place.buffer);
    (took, answer["items"].as_array().is_some_and(|items| !items.is_empty()))
}

/// `busy` counts requests, and this engine's thread may outlive its request. So the measurement ends when no thread of the
/// server runs any more.
fn cancels(editor: &Editor, slowest: &[(Duration, &BenchCursor)]) -> Result<SortedTimes> {
    let mut times = Vec::new();
    for (number, &(took, place)) in slowest.iter().enumerate() {
        let params = completion(&place.buffer, place.cursor);
        editor.open(&place.buffer);
        let id = editor.ask(params);
        // Later, too many would be answered.
        let share_done = 0.5 * number as f64 / slowest.len() as f64;
        thread::sleep(took.mul_f64(share_done));
        times.extend(cancel(editor, id)?);
        editor.close(&place.buffer);
    }
    ensure!(
        times.len() >= MIN_CANCELS,
        "only {} requests were still on their way when they were cancelled",
        times.len()
    );
    Ok(SortedTimes::new(times))
}

/// Returns the time that the server continues after a cancellation; `None` if the request was answered before.
fn cancel(editor: &Editor, id: i64) -> Result<Option<Duration>> {
    let server = editor.client.process_id();
    let start = Instant::now();
    editor.client.cancel(id);
    while threads::any_runs(server)? {
        thread::sleep(POLL);
    }
    let took = start.elapsed();
    let answer: Result<Value, Value> = editor.client.wait(id);
    Ok(answer.is_err().then_some(took))
}
