//! The way of a request through the real server, from the client's bytes to the engine: HTTP requests and cancelled ones.

use std::thread;
use std::time::{Duration, Instant};

use anyhow::{Context, Result};
use completion::WorkspaceIndex;
use mock::{MockServer, Reply, ReplyStep};
use serde_json::json;
use syntax::Language;
use tests::Project;
use tests::lsp::{Buffer, Encoding};

use super::{answering_server, milliseconds, python_file};
use crate::measure::lsp::editor::Editor;

/// Lengths of the file.
const LINES: [usize; 2] = [600, 3_000];
/// Quantiles of the times.
const POINTS: [f64; 2] = [0.5, 0.99];
/// Number of measured requests.
const REQUESTS: usize = 500;
/// Number of warm-up requests.
const WARM_UP: usize = 50;
/// Number of cancelled requests.
const CANCELLED: usize = 100;
/// Pause after a request, so that its connection is idle again.
const PAUSE: Duration = Duration::from_millis(5);

/// Measures and returns the rows of the table.
pub(super) fn measure(workspace: &WorkspaceIndex) -> Result<String> {
    let mut rows = String::new();
    for (workspace, what) in [(None, ""), (Some(workspace), ", with code that `hybrid` chooses")] {
        for lines in LINES {
            let times = request_times(lines, workspace)?;
            for (cause, times) in
                [("typed character and request", times.typed), ("request at another line", times.moved)]
            {
                let times = milliseconds(times, &POINTS);
                rows += &format!(
                    "| {cause} over stdio to the HTTP request at the server{what}, {lines} lines, p50 / p99 of {REQUESTS} | {times} |\n"
                );
            }
        }
    }
    for lines in LINES {
        let times = milliseconds(parse_times(lines), &POINTS);
        rows += &format!(
            "| part of a typed character's: one incremental parse, {lines} lines, p50 / p99 of {REQUESTS} | {times} |\n"
        );
    }
    for (engine, price) in [("without a price", ""), ("with a price", "price_in = 1.0\nprice_out = 1.0\n")] {
        let times = milliseconds(cancel_times(price)?, &[0.5, 0.99, 1.0]);
        rows += &format!(
            "| cancel over stdio, no request after it, to connection closed, engine {engine}, p50 / p99 / max of {CANCELLED} | {times} |\n"
        );
    }
    Ok(rows)
}

/// Starts an editor with an engine at this server, in an empty folder or in one with the files of a workspace.
fn editor(server: &MockServer, workspace: Option<&WorkspaceIndex>, more: &str) -> Result<Editor> {
    let ghostbench = crate::measure::ghostbench()?;
    let project = Project::new("");
    for file in workspace.iter().flat_map(|workspace| workspace.files().iter()) {
        project.write(&file.path, &*file.text);
    }
    let strategy = if workspace.is_some() { "hybrid" } else { "none" };
    let settings = project.sibling_path("engines.toml");
    let engine = format!("[[engine]]\nname = \"mock\"\nkind = \"llama-cpp\"\nurl = \"{}\"\n", server.url());
    let prompt = "fim = \"qwen2.5-coder\"\ncontext_window = 8192\n";
    std::fs::write(&settings, format!("[context]\nstrategy = \"{strategy}\"\n{engine}{prompt}{more}"))?;
    let setup = Editor::setup().folder(&project.root());
    let path = settings.to_str().context("temporary folders have plain names")?.to_owned();
    let editor = Editor::start(project, &ghostbench, &["--config", &path], setup);
    editor.wait_for_folders()?;
    Ok(editor)
}

/// Times from the client's bytes to the HTTP request.
struct RequestTimes {
    /// Requests after a typed character.
    typed: Vec<Duration>,
    /// Requests at other lines of the same text.
    moved: Vec<Duration>,
}

/// Types a word on a line of its own in the middle of a file, a request after each character (inside a word, there would be none). Then
/// goes through the lines of the file, a request at the end of each.
fn request_times(lines: usize, workspace: Option<&WorkspaceIndex>) -> Result<RequestTimes> {
    let server = answering_server();
    let editor = editor(&server, workspace, "")?;
    let (text, start) = file_with_empty_line(lines);
    let mut buffer = Buffer::new(editor.uri("typed.py"), "python", Encoding::Utf16, &text);
    editor.open(&buffer);
    let (mut typed, mut moved) = (Vec::new(), Vec::new());
    for number in 0..WARM_UP + REQUESTS {
        let cursor = start + number;
        let change = buffer.edit(cursor..cursor, "y");
        let sent = Instant::now();
        editor.change(change);
        typed.push(time_to_server(&editor, &server, &buffer, cursor + 1, sent)?);
    }
    let text = buffer.text();
    for (end, _) in text.match_indices('\n').take(WARM_UP + REQUESTS) {
        moved.push(time_to_server(&editor, &server, &buffer, end, Instant::now())?);
    }
    typed.drain(..WARM_UP);
    moved.drain(..WARM_UP);
    Ok(RequestTimes { typed, moved })
}

/// Requests a completion. Returns the time from `sent` until the server is asked.
fn time_to_server(
    editor: &Editor,
    server: &MockServer,
    buffer: &Buffer,
    cursor: usize,
    sent: Instant,
) -> Result<Duration> {
    editor.complete(request(buffer, cursor));
    let log = server.log();
    let asked = log.received.last().filter(|request| request.at >= sent);
    let at = asked.with_context(|| format!("a request at byte {cursor} did not reach the server"))?.at;
    thread::sleep(PAUSE);
    Ok(at.saturating_duration_since(sent))
}

/// Types the same word, and parses after each character.
fn parse_times(lines: usize) -> Vec<Duration> {
    let (mut text, start) = file_with_empty_line(lines);
    let mut tree = syntax::parse(Language::Python, &text);
    let mut times = Vec::new();
    for number in 0..WARM_UP + REQUESTS {
        let mut changed = text.clone();
        changed.insert(start + number, 'y');
        let begun = Instant::now();
        tree = tree.update(&text, &changed);
        times.push(begun.elapsed());
        text = changed;
    }
    times.drain(..WARM_UP);
    times
}

/// A file of this number of lines, and an offset of an empty line in its middle.
fn file_with_empty_line(lines: usize) -> (String, usize) {
    let mut text = python_file(lines / 2);
    let start = text[..text.len() / 2].rfind('\n').map_or(0, |end| end + 1);
    text.insert(start, '\n');
    (text, start)
}

/// Cancels requests that the engine never answers.
fn cancel_times(price: &str) -> Result<Vec<Duration>> {
    let server = MockServer::scripted(|_| Reply::stream("text/event-stream").with_step(ReplyStep::Hang));
    let editor = editor(&server, None, price)?;
    let buffer = Buffer::new(editor.uri("typed.py"), "python", Encoding::Utf16, &python_file(300));
    editor.open(&buffer);
    let mut times = Vec::new();
    for count in 1..=CANCELLED {
        let asked = editor.ask(request(&buffer, 0));
        tests::wait_until("the server is asked", || server.log().requests == count);
        let start = Instant::now();
        editor.client.cancel(asked);
        tests::wait_until("the connection is closed", || server.log().disconnected == count);
        let left = server.log().disconnected_at.context("one was closed")?;
        times.push(left.saturating_duration_since(start));
        // The answer is an error or nothing.
        let _ = editor.client.wait(asked);
    }
    Ok(times)
}

fn request(buffer: &Buffer, cursor: usize) -> serde_json::Value {
    let position = buffer.position(cursor);
    json!({"textDocument": buffer.id(), "position": position, "context": {"triggerKind": 2}})
}
