//! What is refused: web pages, other machines, bodies without end; and what stops the command with a remedy.

use std::io::{Read, Write};
use std::net::TcpListener;

use tests::front_door::{connect, exchange};
use tests::{FrontDoor, Project};

use super::project;
use crate::settings::user_file;

fn status(door: &FrontDoor, headers: &[(&str, &str)]) -> u16 {
    exchange(&door.address, "GET", "/v1/models", headers, b"").status
}

#[test]
fn web_pages_and_other_names_of_this_machine_are_refused() {
    let project = project();
    let door = FrontDoor::open(&project, &[]);
    assert_eq!(status(&door, &[]), 200);
    assert_eq!(status(&door, &[("host", "localhost:1")]), 200);
    for headers in [
        [("host", "evil.example"), ("x", "")],
        [("host", "localhost"), ("origin", "https://evil.example")],
        [("host", "localhost"), ("origin", "null")],
        [("host", "localhost"), ("sec-fetch-site", "cross-site")],
    ] {
        let reply = exchange(&door.address, "POST", "/v1/completions", &headers, b"{}");
        assert_eq!(reply.status, 403, "{headers:?}");
        assert!(!reply.head.contains("access-control"), "{}", reply.head);
    }
}

#[test]
fn long_bodies_odd_methods_and_broken_heads_are_refused_and_the_door_stays_open() {
    let project = project();
    let door = FrontDoor::open(&project, &[]);
    let long = exchange(&door.address, "POST", "/infill", &[], &vec![b' '; (16 << 20) + 1]);
    assert_eq!(long.status, 413);
    assert_eq!(exchange(&door.address, "PUT", "/infill", &[], b"{}").status, 405);
    assert_eq!(exchange(&door.address, "OPTIONS", "/infill", &[], b"").status, 403);
    assert_eq!(door.post("/infill", b"not JSON").status, 400);
    for bytes in [&b"\x16\x03\x01\x02\x00"[..], b"GET / HTTP/9.9\r\n\r\n", &[b'a'; 200_000]] {
        let mut stream = connect(&door.address);
        // The server may close the connection while it is written.
        let _ = stream.write_all(bytes);
        let _ = stream.shutdown(std::net::Shutdown::Write);
        let mut answer = Vec::new();
        let _ = stream.read_to_end(&mut answer);
        assert!(!answer.starts_with(b"HTTP/1.1 200"), "{:?}", String::from_utf8_lossy(&answer));
    }
    // Slow heads hold their own connection only.
    let slow: Vec<_> = (0..32)
        .map(|_| {
            let mut stream = connect(&door.address);
            stream.write_all(b"POST /infill HTTP/1.1\r\nhost: local").expect("it is open");
            stream
        })
        .collect();
    assert_eq!(door.get("/health").status, 200);
    drop(slow);
}

#[test]
fn a_taken_port_is_reported_with_the_remedy() {
    let project = project();
    let taken = TcpListener::bind("127.0.0.1:0").expect("there are free ports");
    let address = taken.local_addr().expect("it is bound").to_string();
    let ended = project.run(&format!("serve --listen {address}")).expect_code(3);
    ended.expect_message(&[&*address, "another program listens", "serve.listen"]);
}

#[test]
fn other_machines_need_a_token() {
    let project = project();
    project.run("serve --listen 0.0.0.0:0").expect_code(2).expect_message(&["serve.token_env", "token"]);
    project.run("serve --listen nonsense").expect_code(2).expect_message(&["serve.listen", "nonsense"]);
    project.run("serve no-such-folder").expect_code(2).expect_message(&["no-such-folder"]);
    let door = with_token(&project);
    let local = door.address.replace("0.0.0.0", "127.0.0.1");
    let status = |headers: &[(&str, &str)]| exchange(&local, "GET", "/v1/models", headers, b"").status;
    assert_eq!(status(&[]), 401);
    assert_eq!(status(&[("authorization", "Bearer wrong")]), 401);
    assert_eq!(status(&[("authorization", "Bearer the-token"), ("host", "box.example")]), 200);
    assert_eq!(status(&[("authorization", "Bearer the-token"), ("origin", "https://evil.example")]), 403);
}

fn with_token(project: &Project) -> FrontDoor {
    user_file(project, "[serve]\nlisten = \"0.0.0.0:0\"\ntoken_env = \"DOOR_TOKEN\"\n");
    let mut command = project.ghostbench("serve --json");
    command.env("DOOR_TOKEN", "the-token");
    FrontDoor::start(command)
}

#[cfg(unix)]
#[test]
fn ctrl_c_closes_the_door() {
    let project = project();
    let (code, messages) = FrontDoor::open(&project, &[]).interrupt();
    assert_eq!(code, Some(130), "{messages}");
}
