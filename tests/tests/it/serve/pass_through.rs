//! What passes through: the same bytes, as they arrive, also if they break off.

use std::io::Read;

use mock::{Latch, MockServer, Reply, ReplyStep};
use serde_json::json;
use tests::front_door::{connect, exchange, read_reply, read_until, send};
use tests::{FrontDoor, Project, wait_until};

use super::{SHOP, engine, project};
use crate::settings::user_file;

/// Bytes of an answer that no JSON parser would give back: blanks, CRLF, a comment, and no UTF-8.
const STREAM: [&[u8]; 4] = [
    b": hi\r\n\r\ndata:  {\"content\" :\"a\"}\r\n\r\n",
    b"data: {\"x\":\"\xff\xfe\"}\n\n",
    b"\x00",
    b"data: [DONE]\n\n",
];

/// A body as a plugin may write it.
fn body() -> Vec<u8> {
    let mut body =
        b"{ \"prompt\" : \"caf\\u00e9 \xc3\xa9\",\n\t\"suffix\":\"\",\"n\":1.0e2, \"zzz\": null }".to_vec();
    body.extend_from_slice(b"\r\n  ");
    body
}

fn streaming() -> MockServer {
    MockServer::scripted(|request| {
        let reply = Reply::stream("text/event-stream; charset=x");
        let reply = STREAM.iter().fold(reply, |reply, piece| reply.chunk(piece)).end();
        if request.method == "GET" { Reply::with_headers(203, &[("x-model", "m")], b"{ }") } else { reply }
    })
}

/// A front door whose engine is at a server.
fn door(project: &Project, kind: &str, url: &str) -> FrontDoor {
    user_file(project, &engine("remote", kind, url));
    FrontDoor::open(project, &[])
}

#[test]
fn every_api_passes_through_with_its_bytes() {
    for (kind, paths) in [
        ("llama-cpp", &["/infill", "/completion", "/v1/completions", "/v1/chat/completions"][..]),
        ("openai", &["/v1/completions", "/v1/chat/completions"]),
        ("ollama", &["/api/generate", "/v1/completions"]),
        ("mistral-fim", &["/v1/fim/completions"]),
        ("deepseek-fim", &["/beta/completions"]),
    ] {
        let (project, server) = (project(), streaming());
        let door = door(&project, kind, &server.url());
        for path in paths {
            let path = format!("{path}?a=%20b");
            let headers = [
                ("authorization", "Bearer plugin"),
                ("content-type", "application/json; x"),
                ("accept-encoding", "gzip"),
            ];
            let through = exchange(&door.address, "POST", &path, &headers, &body());
            let direct = exchange(&server.address(), "POST", &path, &headers, &body());
            assert_eq!((through.status, &through.body), (200, &direct.body), "{kind} {path}");
            assert!(
                through.is_whole && through.head.contains("content-type: text/event-stream; charset=x"),
                "{}",
                through.head
            );
            let log = server.log();
            let received = &log.received[log.received.len() - 2];
            assert_eq!((&received.path, &received.body), (&path, &body()), "{kind}");
            assert_eq!(received.header("authorization"), Some("Bearer plugin"));
            assert_eq!(received.header("content-type"), Some("application/json; x"));
            assert_eq!(received.header("accept-encoding"), None, "the answer is read");
            assert_eq!(received.header("host"), Some(&*server.address()));
        }
    }
}

#[test]
fn tabby_and_probes_pass_through() {
    let (project, server) = (project(), streaming());
    let tabby = door(&project, "tabby", &server.url());
    let body = json!({"language": "python", "segments": {"prefix": "a", "suffix": "b"}}).to_string();
    assert_eq!(tabby.post("/v1/completions", body.as_bytes()).body, STREAM.concat());
    let event = json!({"type": "view", "completion_id": "cmpl-1", "choice_index": 0}).to_string();
    assert_eq!(tabby.post("/v1/events?select_kind=line", event.as_bytes()).status, 200);
    assert_eq!(server.log().received[1].path, "/v1/events?select_kind=line");
    let probed = tabby.get("/v1/health");
    assert_eq!((probed.status, &*probed.body), (203, &b"{ }"[..]));
    assert!(probed.head.contains("x-model: m"), "{}", probed.head);
    drop(tabby);
    let llama = door(&project, "llama-cpp", &server.url());
    for path in ["/health", "/props", "/v1/models", "/slots"] {
        assert_eq!(llama.get(path).status, 203, "{path}");
    }
    assert_eq!(llama.get("/api/delete").status, 404);
}

#[test]
fn the_first_bytes_arrive_before_the_last_are_sent() {
    let project = project();
    let latch = Latch::default();
    let gate = latch.clone();
    let server = MockServer::scripted(move |_| {
        let first = Reply::stream("text/event-stream").chunk(b"data: first\n\n");
        first.with_step(ReplyStep::Wait(gate.clone())).chunk(b"data: last\n\n").end()
    });
    let door = door(&project, "llama-cpp", &server.url());
    let mut stream = connect(&door.address);
    send(&mut stream, "POST", "/infill", &[], b"{}");
    let begun = read_until(&mut stream, b"data: first\n\n");
    latch.open();
    let reply = read_reply(begun.as_slice().chain(stream));
    assert_eq!((reply.is_whole, &*reply.body), (true, &b"data: first\n\ndata: last\n\n"[..]));
}

#[test]
fn a_broken_answer_breaks_for_the_plugin() {
    let project = project();
    let server = MockServer::scripted(|request| match request.path.as_str() {
        "/infill" => Reply::stream("text/event-stream").chunk(b"data: first\n\n").with_step(ReplyStep::Reset),
        _ => Reply { closes: true, ..Reply::with_headers(200, &[], b"") }
            .with_step(ReplyStep::Bytes(Vec::new())),
    });
    let door = door(&project, "llama-cpp", &server.url());
    let reply = door.post("/infill", b"{}");
    assert_eq!((reply.status, reply.is_whole, &*reply.body), (200, false, &b"data: first\n\n"[..]));
    // The front door still answers.
    assert_eq!(door.post("/completion", b"{}").status, 200);
}

#[test]
fn a_server_that_is_not_there_is_reported_with_its_address() {
    let project = project();
    let door = door(&project, "llama-cpp", "http://127.0.0.1:9");
    let reply = door.post("/infill", b"{}");
    assert_eq!(reply.status, 502);
    let message = reply.json()["error"]["message"].as_str().expect("a message").to_owned();
    assert!(message.contains("127.0.0.1:9"), "{message}");
}

#[test]
fn a_plugin_that_disconnects_ends_the_request_of_the_server() {
    let project = project();
    let server = MockServer::scripted(|request| {
        let begun = Reply::stream("text/event-stream").chunk(b"data: first\n\n");
        if request.path == "/infill" {
            begun.with_step(ReplyStep::Hang)
        } else {
            Reply::default().with_step(ReplyStep::Hang)
        }
    });
    let door = door(&project, "llama-cpp", &server.url());
    let mut stream = connect(&door.address);
    send(&mut stream, "POST", "/infill", &[], SHOP.as_bytes());
    read_until(&mut stream, b"data: first\n\n");
    drop(stream);
    wait_until("the server sees it in the middle of an answer", || server.log().disconnected == 1);
    let mut stream = connect(&door.address);
    send(&mut stream, "POST", "/completion", &[], b"{}");
    wait_until("it is asked", || server.log().requests == 2);
    drop(stream);
    wait_until("the server sees it before an answer", || server.log().disconnected == 2);
}

#[test]
fn the_key_of_the_engine_replaces_that_of_the_plugin() {
    let (project, server) = (project(), streaming());
    let keyed = format!("{}api_key_env = \"REMOTE_KEY\"\n", engine("remote", "openai", &server.url()));
    user_file(&project, &keyed);
    let mut command = project.ghostbench("serve --json --listen 127.0.0.1:0");
    command.env("REMOTE_KEY", "the-key-of-the-engine");
    let door = FrontDoor::start(command);
    exchange(&door.address, "POST", "/v1/completions", &[("authorization", "Bearer plugin")], b"{}");
    assert_eq!(server.log().received[0].header("authorization"), Some("Bearer the-key-of-the-engine"));
}
