//! Engines behind HTTP: overhead of a request besides the server's own time, time to free a server, resources left by many
//! requests, and the number of requests while typing. The server is the `mock` crate's, in this process and on this machine.

mod over_stdio;
mod typing;

use std::sync::Arc;
use std::time::{Duration, Instant};

use anyhow::{Context, Result, ensure};
use completion::{
    CompletionSettings, DocumentSnapshot, DocumentText, OutcomeStatus, WorkspaceIndex, complete,
};
use engines::{EngineKind, FimSetting, HttpEngine, HttpServerConfig, HttpSettings, Proxy, Sampling};
use futures_util::StreamExt;
use futures_util::stream;
use mock::{Dialect, MockModel, MockServer, Reply, ReplyStep, TemplateMarks};
use syntax::Language;
use tokio_util::sync::CancellationToken;

use self::over_stdio::OverStdio;
use super::repositories::Repo;

/// Number of sequential requests in the overhead measurement.
const QUESTIONS: usize = 2_000;
/// Number of warm-up requests.
const WARM_UP_QUESTIONS: usize = 200;
/// Number of cancelled answers.
const CANCELLED: usize = 200;
/// Total number of requests, and concurrent ones.
const MANY_QUESTIONS: usize = 10_000;
const AT_ONCE: usize = 8;

/// Lines of the workspace for retrieval, and number of cursors in it. Some cursors are inside words and cause no request.
const WORKSPACE_LINES: usize = 100_000;
const CURSORS: usize = 2_000;

/// Measures and returns the Markdown of its section.
pub(crate) fn measure(repos: &[Repo]) -> Result<String> {
    let indexed = super::indexing::indexed(repos, WORKSPACE_LINES)?;
    let runtime = tokio::runtime::Builder::new_multi_thread().worker_threads(2).enable_all().build()?;
    let (rendered, infill) = runtime.block_on(request_latency())?;
    let chosen = runtime.block_on(context_latency(&indexed))?;
    let freeing = runtime.block_on(cancellation_latency())?;
    let many = runtime.block_on(many_requests())?;
    let OverStdio { requests, cancelling } = over_stdio::measure(repos, &indexed)?;
    let typing = typing::measure()?;
    Ok(format!(
        "A completion in a file of {LINES} lines, without code from other files, by a server on this machine.\n\n\
         | measure | value |\n|---|---|\n\
         | request received to HTTP request at the server, prompt rendered, p50 / p99 of {QUESTIONS} | {rendered} |\n\
         | the same, `/infill` | {infill} |\n\
         | the same, rendered, with code that `hybrid` chooses from {WORKSPACE_LINES} lines | {chosen} |\n\
         {cancelling}\
         | cancel to connection closed, at the server, p50 / p99 / max of {CANCELLED} | {freeing} |\n\
         | {MANY_QUESTIONS} requests, {AT_ONCE} at once, to a server that answers at once | {many} |\n\
         | a key every 120 ms, a request per key, a server that takes 200 ms and is right in half of the calls | {typing} |\n\n\
         {requests}",
    ))
}

const LINES: usize = 600;

/// A file of this number of functions.
fn python_file(functions: usize) -> String {
    let function =
        |number: usize| format!("def function_{number}(argument):\n    return argument + {number}\n");
    (0..functions).map(function).collect()
}

/// A cursor in the middle of a file, as in real use.
fn snapshot() -> (DocumentSnapshot, usize) {
    let text = python_file(LINES);
    let offset = text.len() / 2;
    let offset = text[..offset].rfind('\n').map_or(0, |at| at + 1);
    let document =
        DocumentText { path: "src/module.py".into(), language: Language::Python, text: text.into() };
    (WorkspaceIndex::empty().snapshot(document), offset)
}

fn engine(server: &MockServer, fim: FimSetting) -> Result<HttpEngine> {
    let settings = HttpSettings {
        name: "measured".to_owned(),
        kind: EngineKind::LlamaCpp,
        server: HttpServerConfig { proxy: Proxy::Direct, ..HttpServerConfig::at(&server.url()) },
        model: None,
        fim,
        sampling: Sampling::greedy(64),
        extra: serde_json::Map::new(),
        context_window: Some(8192),
        timeout: None,
    };
    HttpEngine::new(settings).context("the engine's settings are right")
}

fn milliseconds(mut times: Vec<Duration>, points: &[f64]) -> String {
    times.sort();
    let at = |point: &f64| times[((times.len() - 1) as f64 * point).round() as usize].as_secs_f64() * 1e3;
    let shown: Vec<String> = points.iter().map(|point| format!("{:.2}", at(point))).collect();
    format!("{} ms", shown.join(" / "))
}

/// Time from the request to its first byte at the server, with our own prompt and with the server's.
async fn request_latency() -> Result<(String, String)> {
    let mut shown = Vec::new();
    for fim in [rendered_fim(), FimSetting::Server] {
        let server = answering_server();
        let engine = engine(&server, fim)?;
        let (snapshot, offset) = snapshot();
        let settings = CompletionSettings::for_replay();
        let mut times = Vec::new();
        for _ in 0..WARM_UP_QUESTIONS + QUESTIONS {
            times.extend(ask(&snapshot, offset, &engine, &settings, &server).await);
        }
        times.drain(..WARM_UP_QUESTIONS);
        ensure!(times.len() == QUESTIONS, "{} of {QUESTIONS} questions came to the server", times.len());
        shown.push(milliseconds(times, &[0.5, 0.99]));
    }
    let [rendered, infill] = &shown[..] else { unreachable!("there are two ways") };
    Ok((rendered.clone(), infill.clone()))
}

/// The same at cursors spread over a workspace.
async fn context_latency(world: &WorkspaceIndex) -> Result<String> {
    let server = answering_server();
    let engine = engine(&server, rendered_fim())?;
    let mut times = Vec::new();
    for (number, file) in world.files().iter().cycle().take(CURSORS).enumerate() {
        // In the middle of a line, at another position of the file each time.
        let near = file.text.floor_char_boundary(file.text.len() * (number % 23) / 23);
        let line = file.text[near..].find('\n').map_or(near, |end| near + end + 1);
        let length = file.text[line..].find('\n').unwrap_or(file.text.len() - line);
        let offset = file.text.floor_char_boundary(line + length / 2);
        let document =
            DocumentText { path: Arc::clone(&file.path), language: file.language, text: file.text.to_arc() };
        let settings = CompletionSettings::for_editor();
        times.extend(ask(&world.snapshot(document), offset, &engine, &settings, &server).await);
    }
    // The first requests open connections and start threads.
    times.drain(..times.len().min(20));
    ensure!(times.len() > CURSORS / 4, "only {} questions came to the server", times.len());
    Ok(format!("{} ({} cursors)", milliseconds(times.clone(), &[0.5, 0.99]), times.len()))
}

fn rendered_fim() -> FimSetting {
    FimSetting::Template("qwen2.5-coder".to_owned())
}

/// A server that always answers at once.
fn answering_server() -> MockServer {
    let model = MockModel::new("measured", Some(TemplateMarks::QWEN)).with_answers(|_| Some("x".to_owned()));
    MockServer::with_dialect(Dialect::llama_cpp(model))
}

/// Time from a request to its first byte at the server; `None` if it never arrived.
async fn ask(
    snapshot: &DocumentSnapshot,
    offset: usize,
    engine: &HttpEngine,
    settings: &CompletionSettings,
    server: &MockServer,
) -> Option<Duration> {
    let start = Instant::now();
    let outcome = complete(snapshot, offset, engine, settings, &CancellationToken::new()).await;
    let is_answered = matches!(outcome.status, OutcomeStatus::Ok | OutcomeStatus::Silent(_));
    let log = server.log();
    let received = log.received.last().filter(|received| is_answered && received.began >= start)?;
    Some(received.began.saturating_duration_since(start))
}

/// Time from cancelling until the server notices the closed connection.
async fn cancellation_latency() -> Result<String> {
    let begun = Reply::stream("text/event-stream")
        .chunk(b"data: {\"content\": \"x\"}\n\n")
        .with_step(ReplyStep::Hang);
    let server = MockServer::scripted(move |_| begun.clone());
    let engine = engine(&server, FimSetting::Server)?;
    let (snapshot, offset) = snapshot();
    let settings = CompletionSettings::for_replay();
    let mut times = Vec::new();
    for count in 1..=CANCELLED {
        let cancel = CancellationToken::new();
        let cancelling = async {
            server.wait_until("the request", |log| log.requests == count).await;
            let start = Instant::now();
            cancel.cancel();
            start
        };
        let (_, start) = tokio::join!(complete(&snapshot, offset, &engine, &settings, &cancel), cancelling);
        let log = server.wait_until("the client to leave", |log| log.disconnected == count).await;
        times.push(log.disconnected_at.context("one has left")?.saturating_duration_since(start));
    }
    Ok(milliseconds(times, &[0.5, 0.99, 1.0]))
}

/// Resources left after very many requests.
async fn many_requests() -> Result<String> {
    let reply = Reply::events([r#"{"content": "x", "stop": true}"#]);
    let server = MockServer::scripted(move |_| reply.clone());
    let engine = engine(&server, FimSetting::Server)?;
    let metrics = tokio::runtime::Handle::current().metrics();
    let ask = |count: usize| {
        let engine = &engine;
        stream::iter(0..count)
            .map(move |_| async move {
                let (snapshot, offset) = snapshot();
                complete(
                    &snapshot,
                    offset,
                    engine,
                    &CompletionSettings::for_replay(),
                    &CancellationToken::new(),
                )
                .await
            })
            .buffer_unordered(AT_ONCE)
            .for_each(|_| async {})
    };
    // After this many requests the server's log is full and grows no more.
    ask(MANY_QUESTIONS / 5).await;
    let (tasks, memory, start) = (metrics.num_alive_tasks(), resident()?, Instant::now());
    ask(MANY_QUESTIONS).await;
    let (elapsed, grown) = (start.elapsed(), resident()?.saturating_sub(memory));
    let log = server.log();
    ensure!(log.requests >= MANY_QUESTIONS, "the server was asked {} times", log.requests);
    let left = metrics.num_alive_tasks().saturating_sub(tasks);
    Ok(format!(
        "{:.0} a second; memory +{:.1} MB, tasks +{left}, {} connections in all and {} open",
        MANY_QUESTIONS as f64 / elapsed.as_secs_f64(),
        grown as f64 / 1e6,
        log.accepted,
        log.open(),
    ))
}

/// Resident memory of this process in bytes.
fn resident() -> Result<u64> {
    let status = std::fs::read_to_string("/proc/self/status").context("this part is for Linux")?;
    let line = status.lines().find_map(|line| line.strip_prefix("VmRSS:")).context("the kernel tells")?;
    let kilobytes: u64 = line.trim().trim_end_matches(" kB").parse()?;
    Ok(kilobytes << 10)
}
