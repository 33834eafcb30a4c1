//! A real llama.cpp server with our own tiny model.

use std::fs;
use std::io::{Read, Write};
use std::net::{Ipv4Addr, TcpListener, TcpStream};
use std::process::Command;
use std::time::Duration;

use tempfile::TempDir;

use crate::{RunningProcess, component, wait_until};

mod tiny_model;

/// Timeout of a request; a server that takes longer hangs.
const ANSWER_LIMIT: Duration = Duration::from_secs(10);

/// A local server. Dropping it kills it.
pub struct LlamaServer {
    process: RunningProcess,
    port: u16,
    _folder: TempDir,
}

impl LlamaServer {
    /// Starts a server with additional arguments and waits until it is ready. Prints a message and returns `None` if llama.cpp
    /// is not installed.
    ///
    /// # Panics
    ///
    /// If the server exits, or is not ready in time.
    #[track_caller]
    pub fn start(arguments: &[&str]) -> Option<LlamaServer> {
        let program = component("llama-server")?;
        let folder = TempDir::new().expect("there is room for temporary files");
        let model = folder.path().join("tiny.gguf");
        fs::write(&model, tiny_model::tiny_model()).expect("the temporary folder is ours");
        let port = free_port();
        let mut command = Command::new(program);
        command.args(["--host", "127.0.0.1", "--port", &port.to_string(), "--model"]).arg(model);
        command.args(["--offline", "--no-webui", "--metrics", "--threads", "1", "--pooling", "mean"]);
        command.args(arguments);
        let mut server = LlamaServer { process: RunningProcess::start(command), port, _folder: folder };
        wait_until("llama-server is ready", || {
            assert!(!server.process.has_ended(), "llama-server ended at its start");
            server.get("/health").is_some_and(|answer| answer.contains("\"ok\""))
        });
        Some(server)
    }

    /// Returns a model that it can load, as a GGUF file. Its output is nonsense.
    pub fn tiny_model() -> Vec<u8> {
        tiny_model::tiny_model()
    }

    /// Its address.
    pub fn url(&self) -> String {
        format!("http://127.0.0.1:{}", self.port)
    }

    /// Returns the number of tokens that it has read so far. In this model nearly every byte is a token.
    ///
    /// # Panics
    ///
    /// If the server doesn't report it.
    #[track_caller]
    pub fn tokens_read(&self) -> u64 {
        let metrics = self.get("/metrics").expect("the server runs");
        let count = metrics.lines().find_map(|line| line.strip_prefix("llamacpp:prompt_tokens_total "));
        count.and_then(|count| count.trim().parse().ok()).expect("the server counts tokens")
    }

    /// Kills the server.
    ///
    /// # Panics
    ///
    /// If that fails.
    #[track_caller]
    pub fn kill(&mut self) {
        self.process.kill();
        wait_until("the server has ended", || self.process.has_ended());
    }

    /// Returns its response including the header; `None` if it can't be reached.
    fn get(&self, path: &str) -> Option<String> {
        let mut stream = TcpStream::connect((Ipv4Addr::LOCALHOST, self.port)).ok()?;
        stream.set_read_timeout(Some(ANSWER_LIMIT)).ok()?;
        write!(stream, "GET {path} HTTP/1.0\r\n\r\n").ok()?;
        let mut answer = String::new();
        stream.read_to_string(&mut answer).ok()?;
        Some(answer)
    }
}

/// Returns a free port.
fn free_port() -> u16 {
    let listener = TcpListener::bind((Ipv4Addr::LOCALHOST, 0)).expect("there are free ports");
    listener.local_addr().expect("a bound socket has an address").port()
}
