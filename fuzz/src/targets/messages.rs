//! Messages of an editor, to a whole server in this process.
//!
//! ```text
//! input ─► frames ─► server (an empty home folder, a workspace of two files, the built-in engine) ─► MessageAccount
//!                        ▲                                                                             │
//!                        └──────────────── answers to the server's own requests ◄─────────────────────┘
//! ```
//!
//! An input that begins with a brace has a body in each line, and the target adds the headers; any other is the stream itself. In bodies,
//! `file:///w` is the workspace. Nothing outside of the temporary folder is read: messages that name other files, or processes, are left
//! out.

use std::io::{self, Write};
use std::panic;
use std::path::Path;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Once, OnceLock};
use std::time::Duration;

use engines::lsp_frames::{FrameReader, encode_frame};
use lsp::{ClockKind, ExitReason, ServerSetup, serve_streams};
use replay::DataFolder;
use serde_json::{Value, json};
use session::{BackgroundPool, EngineSource, SessionSetup, SettingsFiles};
use tempfile::TempDir;
use tokio::io::{AsyncWriteExt, DuplexStream, duplex};
use tokio::sync::mpsc::{self, UnboundedReceiver, UnboundedSender};
use tokio::time::{sleep, timeout};
use url::Url;

use self::account::MessageAccount;

mod account;

/// The workspace in bodies.
const WORKSPACE: &str = "file:///w";
/// Its files.
const FILES: [(&str, &str); 2] = [
    (
        "a.py",
        "import b\n\n\ndef total(prices):\n    result = 0\n    for price in prices:\n        result += price\n    return result\n",
    ),
    ("b.py", "def rate(country):\n    if country == \"de\":\n        return 0.19\n    return 0.0\n"),
];
/// Capacity of the server's input: everything that an input and the answers to the server can be.
const INPUT_BYTES: usize = 16 << 20;
/// Time limit of all answers, in steps of `STEP`: 8 s on an idle machine. libFuzzer's is longer.
const PATIENCE_STEPS: u32 = 800;
/// A part of the time limit.
const STEP: Duration = Duration::from_millis(10);
/// Time for answers that should not come.
const REST: Duration = Duration::from_millis(1);

/// Panics so far: the server catches those of a message.
static PANICS: AtomicUsize = AtomicUsize::new(0);

/// The bytes are messages.
pub(crate) fn run(input: &[u8]) {
    count_panics();
    let home = tempfile::tempdir().expect("there is room for temporary files");
    let root = home.path().join("w");
    std::fs::create_dir(&root).expect("the folder is ours");
    for (name, text) in FILES {
        std::fs::write(root.join(name), text).expect("the folder is ours");
    }
    let uri = Url::from_file_path(&root).expect("the temporary folder is absolute").to_string();
    let mut account = MessageAccount::default();
    let stream = if input.starts_with(b"{") {
        let bodies = input.split(|&byte| byte == b'\n').filter(|body| !body.is_empty());
        let bodies = bodies.map(|body| replace(body, WORKSPACE.as_bytes(), uri.as_bytes()));
        let allowed: Vec<Vec<u8>> = bodies.filter(|body| is_harmless(body, &root)).collect();
        allowed.iter().for_each(|body| account.expect(body));
        allowed.iter().flat_map(|body| encode_frame(body)).collect()
    } else {
        account.expect_anything();
        // As long as before, and no file.
        replace(input, b"file:", b"mock:")
    };
    let before = PANICS.load(Ordering::SeqCst);
    let runtime =
        tokio::runtime::Builder::new_current_thread().enable_all().build().expect("there are threads");
    let end = runtime.block_on(converse(&home, stream, &mut account));
    runtime.shutdown_background();
    assert_eq!(PANICS.load(Ordering::SeqCst), before, "the server panicked");
    account.check(&end);
}

/// Sends the stream, answers the server's requests, and waits for all expected answers and the server's end.
async fn converse(home: &TempDir, stream: Vec<u8>, account: &mut MessageAccount) -> ExitReason {
    static POOL: OnceLock<BackgroundPool> = OnceLock::new();
    let pool = POOL.get_or_init(|| BackgroundPool::start().expect("there are threads")).clone();
    let (mut input, server_input) = duplex(INPUT_BYTES);
    let (output, mut received) = mpsc::unbounded_channel();
    let server = tokio::spawn(serve_streams(setup(home.path()), pool, server_input, OutputChannel(output)));
    input.write_all(&stream).await.expect("the input has room");
    let mut frames = FrameReader::default();
    let all_answers = async {
        while !account.is_complete() && !server.is_finished() {
            receive(&mut received, &mut frames, account, &mut input).await;
        }
    };
    assert!(within_patience(all_answers).await.is_some(), "unanswered: {account:?}");
    // An answer too many comes now, if at all.
    let _ = timeout(REST, receive(&mut received, &mut frames, account, &mut input)).await;
    drop(input);
    let end = within_patience(server).await.expect("a server without input ends");
    let end = end.expect("the main loop does not panic").expect("the server works");
    while let Ok(bytes) = received.try_recv() {
        frames.push(&bytes);
        take_messages(&mut frames, account);
    }
    end
}

/// Returns what a future returns, or `None` after the time limit. Steps end only when this process runs, so the limit is longer where other
/// programs use the processor, or if the process was stopped meanwhile.
async fn within_patience<T>(future: impl Future<Output = T>) -> Option<T> {
    let patience = async {
        for _ in 0..PATIENCE_STEPS {
            sleep(STEP).await;
        }
    };
    tokio::select! {
        biased;
        output = future => Some(output),
        () = patience => None,
    }
}

/// Reads what the server has sent, and answers its requests.
async fn receive(
    received: &mut UnboundedReceiver<Vec<u8>>,
    frames: &mut FrameReader,
    account: &mut MessageAccount,
    input: &mut DuplexStream,
) {
    let Some(bytes) = received.recv().await else {
        // The server is about to end.
        return sleep(REST).await;
    };
    frames.push(&bytes);
    for reply in take_messages(frames, account) {
        // A server that ends reads no more.
        let _ = input.write_all(&encode_frame(reply.to_string().as_bytes())).await;
    }
}

/// Notes the messages that are complete. Returns replies to requests.
fn take_messages(frames: &mut FrameReader, account: &mut MessageAccount) -> Vec<Value> {
    let mut replies = Vec::new();
    while let Some(body) = frames.next_body().expect("the server sends frames") {
        let message: Value = serde_json::from_slice(&body).expect("the server sends JSON");
        replies.extend(account.receive(&message));
    }
    replies
}

/// A server whose files are all in `home`, and that knows no engine but the built-in one.
fn setup(home: &Path) -> ServerSetup {
    let engines = EngineSource { names: vec!["builtin".to_owned()], ..EngineSource::default() };
    ServerSetup {
        session: SessionSetup {
            files: SettingsFiles::default(),
            variables: config::Environment::default(),
            engines,
            data: DataFolder::new(home.join("data")),
            cache: None,
        },
        log: None,
        clock: ClockKind::System,
    }
}

/// The server's output.
struct OutputChannel(UnboundedSender<Vec<u8>>);

impl Write for OutputChannel {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        // Nobody may read any more.
        let _ = self.0.send(bytes.to_vec());
        Ok(bytes.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

/// Whether a body names no process, and no file outside of the workspace. Bodies that are no JSON may name none at all.
fn is_harmless(body: &[u8], root: &Path) -> bool {
    match serde_json::from_slice::<Value>(body) {
        Ok(message) => {
            message.pointer("/params/processId").is_none_or(Value::is_null) && names_only(&message, root)
        }
        Err(_) => !body.to_ascii_lowercase().windows(5).any(|bytes| bytes == b"file:"),
    }
}

fn names_only(value: &Value, root: &Path) -> bool {
    match value {
        Value::String(text) => {
            let path =
                Url::parse(text).ok().filter(|url| url.scheme() == "file").map(|url| url.to_file_path());
            path.is_none_or(|path| path.is_ok_and(|path| path.starts_with(root)))
        }
        Value::Array(values) => values.iter().all(|value| names_only(value, root)),
        Value::Object(fields) => fields.values().all(|value| names_only(value, root)),
        _ => true,
    }
}

fn replace(text: &[u8], old: &[u8], new: &[u8]) -> Vec<u8> {
    let mut replaced = Vec::new();
    let mut rest = text;
    while let Some(at) = rest.windows(old.len()).position(|bytes| bytes == old) {
        replaced.extend_from_slice(&rest[..at]);
        replaced.extend_from_slice(new);
        rest = &rest[at + old.len()..];
    }
    replaced.extend_from_slice(rest);
    replaced
}

/// Counts the panics of all threads. Under libFuzzer they end the process anyway.
fn count_panics() {
    static HOOK: Once = Once::new();
    HOOK.call_once(|| {
        let usual = panic::take_hook();
        panic::set_hook(Box::new(move |info| {
            PANICS.fetch_add(1, Ordering::SeqCst);
            usual(info);
        }));
    });
}

/// Replies to a request of the server.
fn reply(method: &str, id: &Value) -> Value {
    let result = if method == "workspace/configuration" { json!([null]) } else { Value::Null };
    json!({"jsonrpc": "2.0", "id": id, "result": result})
}
