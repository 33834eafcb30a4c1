//! The way of a request through the real server, from the client's bytes to the engine: HTTP requests and cancelled ones.

use std::thread;
use std::time::{Duration, Instant};

use anyhow::{Context, Result, ensure};
use completion::WorkspaceIndex;
use mock::{MockServer, Reply, ReplyStep};
use serde_json::{Value, json};
use syntax::{Language, SourceFile};
use tests::Project;
use tests::lsp::{Buffer, Encoding};

use super::{answering_server, milliseconds, python_file};
use crate::measure::lsp::editor::Editor;
use crate::measure::lsp::typed_file::{self, TypedFile};
use crate::measure::repositories::Repo;

/// Lengths of the files.
const LINES: [usize; 2] = [600, 3_000];
/// Quantiles of the times.
const POINTS: [f64; 2] = [0.5, 0.99];
/// Number of measured requests.
const REQUESTS: usize = 500;
/// Number of warm-up requests.
const WARM_UP: usize = 50;
/// Number of cancelled requests.
const CANCELLED: usize = 100;
/// Path of the file that is typed into.
const TYPED: &str = "typed.py";
/// Pauses after an answer, before the next request: none, as in a measurement beside other servers, and one in which the threads fall
/// asleep, as between two keys.
const PAUSES: [Duration; 2] = [Duration::ZERO, Duration::from_millis(5)];

/// The results as Markdown.
pub(super) struct OverStdio {
    /// The table of requests.
    pub(super) requests: String,
    /// Rows of the table of measures.
    pub(super) cancelling: String,
}

/// Measures requests and cancelled ones.
pub(super) fn measure(repos: &[Repo], workspace: &WorkspaceIndex) -> Result<OverStdio> {
    Ok(OverStdio { requests: request_table(repos, workspace)?, cancelling: cancel_rows()? })
}

fn request_table(repos: &[Repo], workspace: &WorkspaceIndex) -> Result<String> {
    let mut documents: Vec<TypedDocument> = LINES.into_iter().map(TypedDocument::of_functions).collect();
    for lines in LINES {
        documents.push(TypedDocument::of_real_code(repos, lines)?);
    }
    let [_, pause] = PAUSES;
    let mut table = format!(
        "| over stdio to the first byte of the HTTP request at the server, p50 / p99 of {REQUESTS} | next request at once | after {} ms |\n|---|---|---|\n",
        pause.as_millis()
    );
    for (workspace, what) in [(None, ""), (Some(workspace), ", with code that `hybrid` chooses")] {
        for document in &documents {
            let [at_once, paused] = PAUSES.map(|pause| request_times(document, workspace, pause));
            let (at_once, paused) = (at_once?, paused?);
            for (cause, times) in [
                ("typed character and request", [at_once.typed, paused.typed]),
                ("request at another line", [at_once.moved, paused.moved]),
            ] {
                let [at_once, paused] = times.map(|times| milliseconds(times, &POINTS));
                table += &format!("| {cause}{what}, {} | {at_once} | {paused} |\n", document.name);
            }
        }
    }
    for document in &documents {
        let (name, times) = (&document.name, milliseconds(parse_times(document), &POINTS));
        table += &format!(
            "| for comparison: the whole document after a typed character, one incremental parse, {name} | {times} | |\n"
        );
    }
    Ok(table)
}

fn cancel_rows() -> Result<String> {
    let mut rows = String::new();
    for (engine, price) in [("without a price", ""), ("with a price", "price_in = 1.0\nprice_out = 1.0\n")] {
        let times = milliseconds(cancel_times(price)?, &[0.5, 0.99, 1.0]);
        rows += &format!(
            "| cancel over stdio, no request after it, to connection closed, engine {engine}, p50 / p99 / max of {CANCELLED} | {times} |\n"
        );
    }
    Ok(rows)
}

/// A document with the cursor on a line without code.
struct TypedDocument {
    name: String,
    /// Ends of the paths of the files that it consists of. The workspace is without them: an open file has no saved copies.
    sources: &'static [&'static str],
    text: String,
    cursor: usize,
}

impl TypedDocument {
    /// A file of this number of lines, functions of two lines each.
    fn of_functions(lines: usize) -> TypedDocument {
        let mut text = python_file(lines / 2);
        let cursor = text[..text.len() / 2].rfind('\n').map_or(0, |end| end + 1);
        text.insert(cursor, '\n');
        TypedDocument { name: format!("{lines} lines of short functions"), sources: &[], text, cursor }
    }

    /// A file of this number of lines of real code.
    fn of_real_code(repos: &[Repo], lines: usize) -> Result<TypedDocument> {
        let TypedFile { mut text, cursor } = TypedFile::of_lines(repos, lines)?;
        let statement = &text[cursor..];
        let indentation = statement[..statement.len() - statement.trim_start().len()].to_owned();
        text.insert_str(cursor, &format!("{indentation}\n"));
        let cursor = cursor + indentation.len();
        let name = format!("{lines} lines of real code");
        Ok(TypedDocument { name, sources: &typed_file::FILES, text, cursor })
    }
}

/// Starts an editor with an engine at this server. Its folder has the document as a saved file, and the files of a workspace.
fn editor(
    server: &MockServer,
    document: &TypedDocument,
    workspace: Option<&WorkspaceIndex>,
    more: &str,
) -> Result<Editor> {
    let ghostbench = crate::measure::ghostbench()?;
    let project = Project::new("");
    let files = workspace.iter().flat_map(|workspace| workspace.files().iter());
    let is_source = |file: &&SourceFile| document.sources.iter().any(|source| file.path.ends_with(source));
    for file in files.filter(|file| !is_source(file)) {
        project.write(&file.path, &*file.text);
    }
    project.write(TYPED, &document.text);
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

/// Types a word on a line of its own, a request after each character (inside a word, there would be none). Then goes through the lines of
/// the file, a request at the end of each.
fn request_times(
    document: &TypedDocument,
    workspace: Option<&WorkspaceIndex>,
    pause: Duration,
) -> Result<RequestTimes> {
    let server = answering_server();
    let editor = editor(&server, document, workspace, "")?;
    let mut buffer = Buffer::new(editor.uri(TYPED), "python", Encoding::Utf16, &document.text);
    editor.open(&buffer);
    let (mut typed, mut moved) = (Vec::new(), Vec::new());
    for number in 0..WARM_UP + REQUESTS {
        let cursor = document.cursor + number;
        let change = buffer.edit(cursor..cursor, "y");
        let request = request(&buffer, cursor + 1);
        let sent = Instant::now();
        editor.change(change);
        let time = time_to_server(&editor, &server, request, sent);
        typed.push(time.with_context(|| format!("a request at byte {cursor} did not reach the server"))?);
        thread::sleep(pause);
    }
    for (end, _) in buffer.text().match_indices('\n') {
        // Places without a request, as in comments, do not count.
        moved.extend(time_to_server(&editor, &server, request(&buffer, end), Instant::now()));
        thread::sleep(pause);
        if moved.len() == WARM_UP + REQUESTS {
            break;
        }
    }
    ensure!(moved.len() == WARM_UP + REQUESTS, "only {} requests at other lines", moved.len());
    typed.drain(..WARM_UP);
    moved.drain(..WARM_UP);
    Ok(RequestTimes { typed, moved })
}

/// Sends a request. Returns the time from `sent` until the server reads its first byte; `None` if it is not asked.
fn time_to_server(editor: &Editor, server: &MockServer, request: Value, sent: Instant) -> Option<Duration> {
    editor.complete(request);
    let asked = server.log().received.last().map(|request| request.began).filter(|&began| began >= sent);
    asked.map(|at| at.saturating_duration_since(sent))
}

/// Types the same word, and parses after each character.
fn parse_times(document: &TypedDocument) -> Vec<Duration> {
    let mut text = document.text.clone();
    let mut tree = syntax::parse(Language::Python, &text);
    let mut times = Vec::new();
    for number in 0..WARM_UP + REQUESTS {
        let mut changed = text.clone();
        changed.insert(document.cursor + number, 'y');
        let begun = Instant::now();
        tree = tree.update(&text, &changed);
        times.push(begun.elapsed());
        text = changed;
    }
    times.drain(..WARM_UP);
    times
}

/// Cancels requests that the engine never answers.
fn cancel_times(price: &str) -> Result<Vec<Duration>> {
    let server = MockServer::scripted(|_| Reply::stream("text/event-stream").with_step(ReplyStep::Hang));
    let document = TypedDocument::of_functions(600);
    let editor = editor(&server, &document, None, price)?;
    let buffer = Buffer::new(editor.uri(TYPED), "python", Encoding::Utf16, &document.text);
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

fn request(buffer: &Buffer, cursor: usize) -> Value {
    let position = buffer.position(cursor);
    json!({"textDocument": buffer.id(), "position": position, "context": {"triggerKind": 2}})
}
