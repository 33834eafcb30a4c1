//! A running `ghostbench serve`, and requests to it as plugins send them, byte by byte.

use std::io::{BufRead, BufReader, Read, Write};
use std::net::TcpStream;
use std::process::{Child, Command, Stdio};
use std::thread::JoinHandle;

use serde_json::Value;

use crate::process::{TIME_LIMIT, read_in_background, text_of};
use crate::{Project, wait_until};

/// An open front door. Dropping it kills it.
pub struct FrontDoor {
    /// Host and port.
    pub address: String,
    child: Child,
    stderr: Option<JoinHandle<String>>,
}

/// The response to a request.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct HttpReply {
    /// Its status.
    pub status: u16,
    /// Its head.
    pub head: String,
    /// Its body, without the frames of chunks.
    pub body: Vec<u8>,
    /// Whether it ended as it announced.
    pub is_whole: bool,
}

impl HttpReply {
    /// Returns the body as JSON.
    ///
    /// # Panics
    ///
    /// If it is none.
    #[track_caller]
    pub fn json(&self) -> Value {
        serde_json::from_slice(&self.body).unwrap_or_else(|error| panic!("{error}: {self:?}"))
    }
}

fn spawn(mut command: Command) -> Child {
    command.stdin(Stdio::null()).stdout(Stdio::piped()).stderr(Stdio::piped());
    command.spawn().expect("the binary starts")
}

impl FrontDoor {
    /// Opens the front door of a project at a free port, and waits until its files are read.
    ///
    /// # Panics
    ///
    /// If that fails.
    #[track_caller]
    pub fn open(project: &Project, arguments: &[&str]) -> FrontDoor {
        let mut command: Command = project.ghostbench("serve --json --listen 127.0.0.1:0");
        command.args(arguments);
        let door = FrontDoor::start(command);
        wait_until("the folders are read", || {
            let status = door.status();
            let folders = status["folders"].as_array().expect("a list");
            folders.iter().all(|folder| folder["state"] == "ready")
        });
        door
    }

    /// Starts a command that prints its address as JSON, and reads it.
    ///
    /// # Panics
    ///
    /// If the front door does not open.
    #[track_caller]
    pub fn start(command: Command) -> FrontDoor {
        let mut child = spawn(command);
        let stderr = child.stderr.take().expect("it is piped");
        FrontDoor::opened(child, stderr)
    }

    /// Like [`FrontDoor::start`], but acts once the command has said these words on standard error.
    ///
    /// # Panics
    ///
    /// If it ends without saying them, or the front door does not open.
    #[track_caller]
    pub fn start_and_act(command: Command, words: &str, act: impl FnOnce()) -> FrontDoor {
        let mut child = spawn(command);
        let mut stderr = BufReader::new(child.stderr.take().expect("it is piped"));
        let mut said = String::new();
        while !said.contains(words) {
            let length = stderr.read_line(&mut said).expect("standard error is text");
            assert!(length > 0, "it ended: {said}");
        }
        act();
        FrontDoor::opened(child, stderr)
    }

    #[track_caller]
    fn opened(mut child: Child, stderr: impl Read + Send + 'static) -> FrontDoor {
        let stderr = Some(read_in_background(stderr));
        let mut line = String::new();
        let stdout = child.stdout.take().expect("it is piped");
        BufReader::new(stdout).read_line(&mut line).expect("standard output is text");
        let opened: Result<Value, _> = serde_json::from_str(&line);
        let Ok(opened) = opened else {
            let _ = child.wait();
            panic!("the front door does not open: {}", text_of(stderr));
        };
        let address = opened["address"].as_str().expect("it has an address").to_owned();
        FrontDoor { address, child, stderr }
    }

    /// Returns the state of the front door.
    #[track_caller]
    pub fn status(&self) -> Value {
        self.get("/ghostbench/status").json()
    }

    /// Waits until a trial records.
    #[track_caller]
    pub fn wait_for_trial(&self) {
        wait_until("the trial runs", || self.status()["trial"] != Value::Null);
    }

    /// Returns the address of a path.
    pub fn url(&self, path: &str) -> String {
        format!("http://{}{path}", self.address)
    }

    /// Sends a GET request.
    #[track_caller]
    pub fn get(&self, path: &str) -> HttpReply {
        exchange(&self.address, "GET", path, &[], b"")
    }

    /// Sends a POST request with a body.
    #[track_caller]
    pub fn post(&self, path: &str, body: &[u8]) -> HttpReply {
        exchange(&self.address, "POST", path, &[], body)
    }

    /// Kills it, as `kill -9` does.
    ///
    /// # Panics
    ///
    /// If that fails.
    pub fn kill(&mut self) {
        self.child.kill().expect("a child of ours can be killed");
        self.child.wait().expect("it has ended");
    }

    /// Ends it with Ctrl-C; returns its exit code and its messages.
    ///
    /// # Panics
    ///
    /// If it does not end.
    #[cfg(unix)]
    #[track_caller]
    pub fn interrupt(mut self) -> (Option<i32>, String) {
        let id = self.child.id().to_string();
        let sent = Command::new("kill").args(["-INT", &id]).status().expect("kill can be started");
        assert!(sent.success());
        wait_until("it ends", || self.child.try_wait().is_ok_and(|status| status.is_some()));
        let code = self.child.wait().expect("it has ended").code();
        (code, text_of(self.stderr.take()))
    }
}

impl Drop for FrontDoor {
    fn drop(&mut self) {
        // It may have ended already.
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

/// Connects to a server.
///
/// # Panics
///
/// If it does not listen.
#[track_caller]
pub fn connect(address: &str) -> TcpStream {
    let stream = TcpStream::connect(address).unwrap_or_else(|error| panic!("{address}: {error}"));
    stream.set_read_timeout(Some(TIME_LIMIT)).expect("a socket has timeouts");
    stream
}

/// Writes a request with a body.
///
/// # Panics
///
/// If the server has closed the connection.
#[track_caller]
pub fn send(stream: &mut TcpStream, method: &str, path: &str, headers: &[(&str, &str)], body: &[u8]) {
    let host = stream.peer_addr().expect("it is connected").to_string();
    let mut head =
        format!("{method} {path} HTTP/1.1\r\nconnection: close\r\ncontent-length: {}\r\n", body.len());
    if !headers.iter().any(|(name, _)| *name == "host") {
        head.push_str(&format!("host: {host}\r\n"));
    }
    headers.iter().for_each(|(name, value)| head.push_str(&format!("{name}: {value}\r\n")));
    let bytes = [head.as_bytes(), b"\r\n", body].concat();
    // A server that refuses a long body may answer before it has read it.
    let _ = stream.write_all(&bytes);
}

/// Sends a request and reads the whole response.
///
/// # Panics
///
/// If there is none.
#[track_caller]
pub fn exchange(address: &str, method: &str, path: &str, headers: &[(&str, &str)], body: &[u8]) -> HttpReply {
    let mut stream = connect(address);
    send(&mut stream, method, path, headers, body);
    read_reply(stream)
}

/// Reads a response to its end, or until the connection ends.
///
/// # Panics
///
/// If it has no head.
#[track_caller]
pub fn read_reply(mut stream: impl Read) -> HttpReply {
    let (mut bytes, mut buffer) = (Vec::new(), vec![0; 64 << 10]);
    loop {
        // A reset ends the bytes.
        let read = stream.read(&mut buffer).unwrap_or(0);
        bytes.extend_from_slice(&buffer[..read]);
        match parse_reply(&bytes) {
            Some((reply, is_framed)) if read == 0 || is_framed && reply.is_whole => return reply,
            None if read == 0 => panic!("no response: {:?}", String::from_utf8_lossy(&bytes)),
            _ => {}
        }
    }
}

/// Parses a response as far as it has arrived, and returns whether it says where it ends; `None` before the end of its head.
fn parse_reply(bytes: &[u8]) -> Option<(HttpReply, bool)> {
    let end = bytes.windows(4).position(|window| window == b"\r\n\r\n")?;
    let head = String::from_utf8_lossy(&bytes[..end]).to_lowercase();
    let rest = &bytes[end + 4..];
    let status = head.split(' ').nth(1)?.parse().ok()?;
    let length: Option<usize> =
        head.lines().find_map(|line| line.strip_prefix("content-length: ")?.trim().parse().ok());
    let is_chunked = head.contains("transfer-encoding: chunked");
    let (body, is_whole) = match is_chunked {
        true => without_chunks(rest),
        false => (rest.to_vec(), length.is_none_or(|length| length == rest.len())),
    };
    Some((HttpReply { status, head, body, is_whole }, is_chunked || length.is_some()))
}

/// Returns the body of chunks, and whether the last one is there.
fn without_chunks(mut bytes: &[u8]) -> (Vec<u8>, bool) {
    let mut body = Vec::new();
    loop {
        let Some(end) = bytes.windows(2).position(|window| window == b"\r\n") else { return (body, false) };
        let Ok(length) = usize::from_str_radix(&String::from_utf8_lossy(&bytes[..end]), 16) else {
            return (body, false);
        };
        if length == 0 {
            return (body, true);
        }
        let Some(chunk) = bytes.get(end + 2..end + 2 + length) else { return (body, false) };
        body.extend_from_slice(chunk);
        bytes = bytes.get(end + 4 + length..).unwrap_or_default();
    }
}

/// Reads until some bytes have arrived.
///
/// # Panics
///
/// If the connection ends before.
#[track_caller]
pub fn read_until(stream: &mut TcpStream, wanted: &[u8]) -> Vec<u8> {
    let mut bytes = Vec::new();
    let mut buffer = [0; 4096];
    while !bytes.windows(wanted.len()).any(|window| window == wanted) {
        let read = stream.read(&mut buffer).expect("the connection is open");
        assert!(read > 0, "it ended after {:?}", String::from_utf8_lossy(&bytes));
        bytes.extend_from_slice(&buffer[..read]);
    }
    bytes
}
