//! The server is away, or killed while developers send: nothing is lost, nothing is stored twice.

use std::collections::HashSet;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread;

use tests::Project;
use tests::collect::CollectMachine;

use super::{Developer, stored_rows};
use crate::trial::{bundle, json};

#[test]
fn opportunities_stay_while_the_server_is_away_and_are_sent_later() {
    let mut machine = CollectMachine::start("");
    let ann = Developer::joined(&machine, "a1", 3);
    machine.kill();
    let away = ann.run(&machine, "collect send --wait 1").expect_code(3);
    away.expect_message(&[
        "3 opportunities are kept",
        "the next `ghostbench collect send`",
        &machine.address,
    ]);
    machine.restart();
    assert_eq!(ann.send(&machine)["sent"]["new"], 3);
}

#[test]
fn a_client_waits_for_a_server_that_comes_back() {
    let mut machine = CollectMachine::start("");
    let ann = Developer::joined(&machine, "a1", 3);
    machine.kill();
    let sending = ann.start(&machine, "collect send --wait 60 --json");
    machine.restart();
    let sent = json(&sending.wait().expect_code(0).stdout);
    assert_eq!(sent["sent"]["new"], 3);
}

#[test]
fn a_server_that_is_killed_while_developers_send_loses_nothing() {
    const ROWS: usize = 12;
    const KILLS: usize = 3;
    let mut machine = CollectMachine::start("");
    let analyst = machine.token("eve", "analyst");
    let names = ["a1", "b2", "c3", "d4"];
    let projects = names.map(|name| {
        let project = Project::new("");
        bundle(&project, "in.jsonl", name, 28);
        (project, machine.token(name, "developer"))
    });
    let developers = projects.map(|(project, token)| Developer { project, token });
    let address = machine.address.clone();
    let is_over = AtomicBool::new(false);
    // Each developer repeats every upload until it is acknowledged, as the client does.
    let acknowledged: Vec<HashSet<String>> = thread::scope(|scope| {
        let senders: Vec<_> = developers
            .iter()
            .map(|developer| {
                let (address, is_over) = (&address, &is_over);
                scope.spawn(move || {
                    let cases::Bundle { rows, datasheet } = developer.bundle();
                    let mut acknowledged = HashSet::new();
                    for number in 0.. {
                        if is_over.load(Ordering::SeqCst) {
                            return acknowledged;
                        }
                        let row = cases::Opportunity {
                            id: format!("{:0>8}{number:024x}", &rows[0].id[26..28]),
                            ..rows[number % rows.len()].clone()
                        };
                        let one =
                            cases::Bundle::new(vec![row.clone()], Vec::new(), datasheet.consents.clone());
                        while !is_acknowledged(address, &developer.token, &one.print()) {}
                        acknowledged.insert(row.id);
                    }
                    acknowledged
                })
            })
            .collect();
        for kill in 0..KILLS {
            tests::wait_until("rows arrive", || stored_rows(&machine, &analyst).len() > kill * ROWS);
            machine.kill();
            machine.restart();
        }
        tests::wait_until("rows arrive", || stored_rows(&machine, &analyst).len() > KILLS * ROWS);
        is_over.store(true, Ordering::SeqCst);
        senders.into_iter().map(|sender| sender.join().expect("no panics")).collect()
    });
    let rows = stored_rows(&machine, &analyst);
    let ids: HashSet<String> = rows.iter().map(|(_, row)| row.id.clone()).collect();
    assert_eq!(ids.len(), rows.len(), "each row once");
    let expected: HashSet<String> = acknowledged.into_iter().flatten().collect();
    assert!(expected.len() > KILLS * ROWS / 2);
    assert_eq!(ids, expected, "every row is acknowledged in the end, and every acknowledged row is stored");
}

/// Sends a bundle once, and returns whether the server acknowledged it.
fn is_acknowledged(address: &str, token: &str, bundle: &str) -> bool {
    use std::io::{Read, Write};
    let exchange = || -> std::io::Result<String> {
        let mut stream = std::net::TcpStream::connect(address)?;
        let head = format!(
            "POST /v1/bundles HTTP/1.1\r\nhost: {address}\r\nauthorization: Bearer {token}\r\nconnection: close\r\ncontent-length: {}\r\n\r\n",
            bundle.len()
        );
        stream.write_all(&[head.as_bytes(), bundle.as_bytes()].concat())?;
        let mut reply = String::new();
        stream.read_to_string(&mut reply)?;
        Ok(reply)
    };
    exchange().is_ok_and(|reply| reply.starts_with("HTTP/1.1 200") && reply.contains("digest"))
}
