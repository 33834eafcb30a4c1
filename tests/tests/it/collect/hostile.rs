//! Hostile requests: each is refused within its limits, and others are served meanwhile.

use std::io::Write;

use flate2::Compression;
use flate2::write::GzEncoder;
use tests::collect::CollectMachine;
use tests::front_door::{connect, read_reply};

use super::{Developer, stored_rows};

fn gzip(bytes: &[u8]) -> Vec<u8> {
    let mut encoder = GzEncoder::new(Vec::new(), Compression::fast());
    encoder.write_all(bytes).expect("memory");
    encoder.finish().expect("memory")
}

#[test]
fn hostile_bodies_are_refused_and_nothing_is_stored() {
    let machine = CollectMachine::start("");
    let ann = Developer::new(&machine, "a1", 2);
    let bundle = ann.bundle().print();
    let packed = gzip(bundle.as_bytes());
    let send = |headers: &[(&str, &str)], body: &[u8]| {
        machine.request("POST", "/v1/bundles", &ann.token, headers, body).status
    };
    const GZIP: (&str, &str) = ("content-encoding", "gzip");
    assert_eq!(send(&[GZIP], &packed[..packed.len() / 2]), 400, "truncated");
    assert_eq!(send(&[GZIP], &gzip(&vec![b' '; 200 << 20])), 413, "a bomb");
    assert_eq!(send(&[GZIP], b"nonsense"), 400);
    assert_eq!(send(&[("content-encoding", "br")], b"nonsense"), 415);
    assert_eq!(send(&[], b"{}\n{}\n"), 400);
    assert_eq!(send(&[], b""), 400);
    assert_eq!(send(&[], &[0xff, 0xfe, b'\n']), 400, "no UTF-8");
    assert_eq!(send(&[], &bundle.as_bytes()[..bundle.len() - 30]), 400, "cut off");
    assert_eq!(send(&[], format!("{}\n", "[".repeat(100_000)).as_bytes()), 400, "deep");
    assert_eq!(send(&[("ghostbench-repository", "../../etc")], bundle.as_bytes()), 400);
    assert_eq!(send(&[], &vec![b' '; 17 << 20]), 413);
    for (field, value) in [("id", "short"), ("opened_at", "yesterday"), ("opened_at", "9999-01-01T00:00:00Z")]
    {
        let mut rows: Vec<serde_json::Value> = bundle.lines().map(crate::trial::json).collect();
        rows[1][field] = value.into();
        let text: String = rows.iter().map(|row| format!("{row}\n")).collect();
        assert_eq!(send(&[], text.as_bytes()), 400, "{field} {value}");
    }
    let mut outside = ann.bundle();
    outside.rows[0].truths[0].provenance =
        vec![cases::ProvenanceSpan { range: 5..5_000, provenance: cases::Provenance::Typed, arm: None }];
    outside.rows[0].secrets = u32::MAX;
    assert_eq!(send(&[], outside.print().as_bytes()), 400);
    assert!(stored_rows(&machine, &machine.token("eve", "analyst")).is_empty());
    assert_eq!(send(&[GZIP], &packed), 200, "the server is well");
}

#[test]
fn a_row_of_another_developer_cannot_be_replaced() {
    let machine = CollectMachine::start("");
    let (ann, bob) = (Developer::joined(&machine, "a1", 2), Developer::new(&machine, "b2", 2));
    ann.send(&machine);
    let stolen = machine.request("POST", "/v1/bundles", &bob.token, &[], ann.bundle().print().as_bytes());
    assert!(stolen.status == 409 && String::from_utf8_lossy(&stolen.body).contains("another developer"));
}

#[test]
fn slow_clients_and_announced_gigabytes_hold_nothing_up() {
    let machine = CollectMachine::start("");
    let ann = Developer::joined(&machine, "a1", 2);
    let slow = machine.token("slow", "developer");
    let head = |token: &str, length: u64| {
        format!(
            "POST /v1/bundles HTTP/1.1\r\nhost: {}\r\nauthorization: Bearer {token}\r\ncontent-length: {length}\r\n\r\n",
            machine.address
        )
    };
    // More than all slots of the server, and no body.
    let mut streams: Vec<_> = (0..40)
        .map(|_| {
            let mut stream = connect(&machine.address);
            stream.write_all(head(&slow, 1 << 30).as_bytes()).expect("it is open");
            stream
        })
        .collect();
    let refused = streams.pop().expect("there are some");
    let reply = read_reply(refused);
    assert!(reply.status == 429 && reply.head.contains("retry-after"), "{reply:?}");
    assert_eq!(ann.send(&machine)["sent"]["new"], 2, "others are served");

    let mut endless = connect(&machine.address);
    endless.write_all(head(&ann.token, 1 << 30).as_bytes()).expect("it is open");
    let block = vec![b' '; 1 << 20];
    let sent = (0..1024).take_while(|_| endless.write_all(&block).is_ok()).count();
    assert!(sent < 256, "a gigabyte is not read: {sent} MB");
}
