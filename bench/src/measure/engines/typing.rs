//! How often an engine is asked while somebody types, and what they see: the real server, one request a key, no pause.

use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex};
use std::thread;
use std::time::{Duration, Instant};

use anyhow::{Context, Result};
use mock::{MockServer, Received, Reply, Step};
use serde_json::{Value, json};
use tests::Project;
use tests::lsp::{Buffer, Encoding};

use crate::measure::lsp::editor::Editor;

/// From one key to the next.
const RHYTHM: Duration = Duration::from_millis(120);
/// The engine's time for an answer.
const LATENCY: Duration = Duration::from_millis(200);

/// What is typed.
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

/// Documents that answers would have made.
type Meant = Arc<Mutex<Vec<String>>>;

/// Measures and returns a row of the table.
pub(super) fn measure() -> Result<String> {
    let ghostbench = crate::measure::ghostbench()?;
    let meant = Meant::default();
    let (server, calls) = server(&meant);
    let project = Project::new("");
    let settings = project.beside("engines.toml");
    let engine = format!("[[engine]]\nname = \"mock\"\nkind = \"llama-cpp\"\nurl = \"{}\"\n", server.url());
    std::fs::write(&settings, format!("{engine}fim = \"server\"\ncontext_window = 8192\n"))?;
    let setup = Editor::setup().folder(&project.root());
    let path = settings.to_str().context("temporary folders have plain names")?;
    let editor = Editor::start(project, &ghostbench, &["--config", path], setup);
    let Typed { keys, shown, valid } = type_program(&editor, &meant)?;
    let calls = calls.load(Ordering::SeqCst);
    let share = |part: usize, whole: usize| 100.0 * part as f64 / whole.max(1) as f64;
    Ok(format!(
        "{:.2} calls a key ({calls} calls, {keys} keys), ghost text after {:.0} % of the keys, {:.1} % of it valid",
        calls as f64 / keys as f64,
        share(shown, keys),
        share(valid, shown),
    ))
}

/// A server that is right in half of the calls, and what it was asked.
fn server(meant: &Meant) -> (MockServer, Arc<AtomicUsize>) {
    let (meant, calls) = (Arc::clone(meant), Arc::new(AtomicUsize::new(0)));
    let count = Arc::clone(&calls);
    let server = MockServer::scripted(move |received| {
        let call = count.fetch_add(1, Ordering::SeqCst);
        let (prefix, suffix, answer) = answer(received, call);
        lock(&meant).push([&*prefix, &answer, &suffix].concat());
        let piece = json!({"content": answer, "stop": true});
        Reply::events([&*piece.to_string()]).after(Step::Pause(LATENCY))
    });
    (server, calls)
}

/// The text around the cursor and what is said there: the rest of the line, or the next one where the line has ended; noise in every
/// other call on average, in no order.
fn answer(received: &Received, call: usize) -> (String, String, String) {
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

/// What was counted.
#[derive(Default)]
struct Typed {
    keys: usize,
    /// Keys after which a text stood on the screen before the next one.
    shown: usize,
    /// Of those, texts that make a document that the engine meant.
    valid: usize,
}

/// Types as in VS Code, which cancels the request under way at each key.
fn type_program(editor: &Editor, meant: &Meant) -> Result<Typed> {
    let mut buffer = Buffer::new(editor.uri("typed.py"), "python", Encoding::Utf16, "");
    editor.open(&buffer);
    let mut typed = Typed::default();
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
        // One that was cancelled may have been answered just before, too late to be seen.
        let Ok(answer) = editor.client.wait(asked) else { continue };
        let Some(item) = answer["items"].get(0) else { continue };
        typed.shown += 1;
        typed.valid += usize::from(is_valid(&buffer, item, meant));
    }
    Ok(typed)
}

/// Whether accepting the item makes a document that an answer would have made.
fn is_valid(buffer: &Buffer, item: &Value, meant: &Meant) -> bool {
    let accepted = [buffer.text(), &buffer.ghost_text(buffer.text().len(), item)].concat();
    lock(meant).iter().any(|meant| meant.trim_end() == accepted)
}

/// The keys that a text is typed with, in an editor that indents by itself.
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

fn lock(meant: &Meant) -> std::sync::MutexGuard<'_, Vec<String>> {
    meant.lock().unwrap_or_else(std::sync::PoisonError::into_inner)
}
