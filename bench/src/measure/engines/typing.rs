//! Number of engine requests while typing, and the visible suggestions: the real server, one request per key, no pause.

use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex};
use std::thread;
use std::time::{Duration, Instant};

use anyhow::{Context, Result};
use mock::{MockServer, ReceivedRequest, Reply, ReplyStep};
use serde_json::{Value, json};
use tests::Project;
use tests::lsp::{Buffer, Encoding};

use crate::measure::lsp::editor::Editor;

/// Time between two keys.
const RHYTHM: Duration = Duration::from_millis(120);
/// The engine's latency.
const LATENCY: Duration = Duration::from_millis(200);

/// The typed text.
const PROGRAM: &str = "\
def total(orders, limit):
    price = 0
    for order in orders:
        if order.price < limit:
            price += order.price * order.count
        else:
            print(\"too dear\", order.name)
    return price


def shipping(orders, country):
    weight = sum(order.weight for order in orders)
    if country in FREE_COUNTRIES:
        return 0
    return weight * RATES[country]
";

/// Documents that accepted answers would have produced.
type IntendedDocuments = Arc<Mutex<Vec<String>>>;

/// Measures and returns a row of the table.
pub(super) fn measure() -> Result<String> {
    let ghostbench = crate::measure::ghostbench()?;
    let meant = IntendedDocuments::default();
    let (server, calls) = server(&meant);
    let project = Project::new("");
    let settings = project.sibling_path("engines.toml");
    let engine = format!("[[engine]]\nname = \"mock\"\nkind = \"llama-cpp\"\nurl = \"{}\"\n", server.url());
    std::fs::write(&settings, format!("{engine}fim = \"server\"\ncontext_window = 8192\n"))?;
    let setup = Editor::setup().folder(&project.root());
    let path = settings.to_str().context("temporary folders have plain names")?;
    let editor = Editor::start(project, &ghostbench, &["--config", path], setup);
    let TypingCounts { keys, shown, valid } = type_program(&editor, &meant)?;
    let calls = calls.load(Ordering::SeqCst);
    let share = |part: usize, whole: usize| 100.0 * part as f64 / whole.max(1) as f64;
    Ok(format!(
        "{:.2} calls a key ({calls} calls, {keys} keys), ghost text after {:.0} % of the keys, {:.1} % of it valid",
        calls as f64 / keys as f64,
        share(shown, keys),
        share(valid, shown),
    ))
}

/// A server that is right in half of the calls, with a counter of its requests.
fn server(meant: &IntendedDocuments) -> (MockServer, Arc<AtomicUsize>) {
    let (meant, calls) = (Arc::clone(meant), Arc::new(AtomicUsize::new(0)));
    let count = Arc::clone(&calls);
    let server = MockServer::scripted(move |received| {
        let call = count.fetch_add(1, Ordering::SeqCst);
        let (prefix, suffix, answer) = answer(received, call);
        lock(&meant).push([&*prefix, &answer, &suffix].concat());
        let piece = json!({"content": answer, "stop": true});
        Reply::events([&*piece.to_string()]).preceded_by(ReplyStep::Pause(LATENCY))
    });
    (server, calls)
}

/// Returns the text around the cursor and the answer: the rest of the line, or the next line at a line end; in half of the
/// calls on average, in random order, noise.
fn answer(received: &ReceivedRequest, call: usize) -> (String, String, String) {
    let body = received.json();
    let text = |field: &str| body[field].as_str().unwrap_or_default().to_owned();
    let (prefix, suffix) = (text("input_prefix"), text("input_suffix"));
    let is_right = (call as u64 + 1).wrapping_mul(0x9e37_79b9_7f4a_7c15) >> 63 == 0;
    let rest = PROGRAM.strip_prefix(&*prefix).unwrap_or_default();
    let code = rest.trim_start_matches('\n');
    let line = code.split('\n').next().unwrap_or_default();
    let right = &rest[..rest.len() - code.len() + line.len()];
    let answer = if is_right { right.to_owned() } else { format!("~noise_{call} = 0") };
    (prefix, suffix, answer)
}

/// Counters.
#[derive(Default)]
struct TypingCounts {
    keys: usize,
    /// Keys after which a suggestion was visible before the next key.
    shown: usize,
    /// Of those, suggestions that produce a document that the engine meant.
    valid: usize,
}

/// Types as VS Code does, which cancels the pending request at each key.
fn type_program(editor: &Editor, meant: &IntendedDocuments) -> Result<TypingCounts> {
    let mut buffer = Buffer::new(editor.uri("typed.py"), "python", Encoding::Utf16, "");
    editor.open(&buffer);
    let mut typed = TypingCounts::default();
    let mut next = Instant::now();
    for key in keys(PROGRAM) {
        editor.change(buffer.append(key));
        let position = buffer.end();
        let params =
            json!({"textDocument": buffer.id(), "position": position, "context": {"triggerKind": 2}});
        let asked = editor.ask(params);
        next += RHYTHM;
        thread::sleep(next.saturating_duration_since(Instant::now()));
        typed.keys += 1;
        if !editor.client.is_answered(asked) {
            editor.client.cancel(asked);
        }
        // A cancelled request may have been answered just before, too late to be visible.
        let Ok(answer) = editor.client.wait(asked) else { continue };
        let Some(item) = answer["items"].get(0) else { continue };
        typed.shown += 1;
        typed.valid += usize::from(is_valid(&buffer, item, meant));
    }
    Ok(typed)
}

/// Whether accepting the item produces a document that an answer would have produced.
fn is_valid(buffer: &Buffer, item: &Value, meant: &IntendedDocuments) -> bool {
    let accepted = [buffer.text(), &buffer.ghost_text(buffer.text().len(), item)].concat();
    lock(meant).iter().any(|meant| meant.trim_end() == accepted)
}

/// The keys that type a text in an editor with automatic indentation.
fn keys(mut text: &str) -> Vec<&str> {
    let mut keys = Vec::new();
    while let Some(first) = text.chars().next() {
        let blanks = if first == '\n' { text.len() - text[1..].trim_start_matches(' ').len() - 1 } else { 0 };
        let (key, rest) = text.split_at(first.len_utf8() + blanks);
        keys.push(key);
        text = rest;
    }
    keys
}

fn lock(meant: &IntendedDocuments) -> std::sync::MutexGuard<'_, Vec<String>> {
    meant.lock().unwrap_or_else(std::sync::PoisonError::into_inner)
}
