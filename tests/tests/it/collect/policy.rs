//! The rules of a server: licences, levels, consents; secrets are masked again.

use std::fs;

use cases::{Bundle, BundleConsent};
use tests::collect::CollectMachine;

use super::{Developer, is_in_files, stored_rows};

#[test]
fn licences_and_levels_that_are_not_accepted_are_refused_with_a_remedy() {
    let machine = CollectMachine::start("licences = \"MIT, Apache-2.0\"\nlevel = \"structure\"");
    let ann = Developer::joined(&machine, "a1", 2);
    let refused = ann.run(&machine, "collect send").expect_code(2);
    refused.expect_message(&["422", "licence none", "Apache-2.0, MIT", "collect.licences"]);
    ann.project.write("LICENSE", "GNU GENERAL PUBLIC LICENSE\n");
    ann.run(&machine, "collect send").expect_code(2).expect_message(&["licence GPL"]);
    ann.project.write("LICENSE", "MIT License\n");
    ann.run(&machine, "collect send").expect_code(2).expect_message(&["level full", "--level structure"]);
    ann.run(&machine, "collect join --consent agreed --level structure --yes").expect_code(0);
    assert_eq!(ann.send(&machine)["sent"]["new"], 2);
    let rows = stored_rows(&machine, &machine.token("eve", "analyst"));
    assert!(
        rows.iter().all(|(_, row)| !row.cursor.prefix.contains("total_") && !row.cursor.prefix.is_empty())
    );
    let log = machine.get("/v1/audit", &machine.token("root", "admin")).json().to_string();
    assert!(log.contains("refuse") && log.contains("licence GPL"), "{log}");
}

#[test]
fn a_bundle_needs_a_consent_that_covers_it() {
    let machine = CollectMachine::start("");
    let ann = Developer::new(&machine, "a1", 3);
    let rows = ann.bundle().rows;
    let consent = |opportunities, statement: &str| BundleConsent {
        given_at: "2026-11-23T08:00:00Z".to_owned(),
        opportunities,
        statement: statement.to_owned(),
    };
    let send = |consents| {
        let bundle = Bundle::new(rows.clone(), Vec::new(), consents);
        let reply = machine.request("POST", "/v1/bundles", &ann.token, &[], bundle.print().as_bytes());
        (reply.status, String::from_utf8_lossy(&reply.body).into_owned())
    };
    let (status, message) = send(Vec::new());
    assert!(status == 422 && message.contains("no consent"), "{message}");
    assert_eq!(send(vec![consent(3, " ")]).0, 422);
    let (status, message) = send(vec![consent(2, "yes")]);
    assert!(status == 422 && message.contains("cover 2 opportunities"), "{message}");
    assert_eq!(send(vec![consent(1, "yes"), consent(2, "yes")]).0, 200);
}

#[test]
fn secrets_that_a_client_left_in_are_not_stored() {
    const SECRET: &str = "ghp_0123456789abcdefghijklmnopqrstuvwxyz";
    let machine = CollectMachine::start("");
    let ann = Developer::new(&machine, "a1", 2);
    let mut rows = ann.bundle().rows;
    rows[0].cursor.prefix = format!("token = \"{SECRET}\"\n");
    rows[1].answers[0].text = format!("return \"{SECRET}\"\n");
    let bundle = Bundle::new(rows, Vec::new(), ann.bundle().datasheet.consents);
    let receipt = machine.request("POST", "/v1/bundles", &ann.token, &[], bundle.print().as_bytes()).json();
    assert_eq!((&receipt["new"], receipt["secrets"].as_u64() >= Some(2)), (&2.into(), true), "{receipt}");
    let stored = stored_rows(&machine, &machine.token("eve", "analyst"));
    assert_eq!(stored.len(), 2);
    assert!(stored.iter().all(|(_, row)| !cases::to_line(row).contains(SECRET)), "{stored:?}");
    assert!(stored.iter().any(|(_, row)| row.cursor.prefix.contains("xxxxxxxx")));
    assert!(!is_in_files(&machine.project.sibling_path("server"), SECRET));
}

#[test]
fn old_opportunities_are_deleted_and_not_taken_again() {
    let mut machine = CollectMachine::start("");
    let analyst = machine.token("eve", "analyst");
    let ann = Developer::joined(&machine, "a1", 3);
    let old = {
        let mut bundle = ann.bundle();
        bundle.rows[0].opened_at = "2010-01-01T08:00:00.000Z".to_owned();
        bundle
    };
    let sent = machine.request("POST", "/v1/bundles", &ann.token, &[], old.print().as_bytes());
    assert_eq!(sent.json()["new"], 3);
    machine.kill();
    let settings = machine.project.sibling_path("server.toml");
    fs::write(settings, "[collect]\nretention_days = 3650\n").expect("written");
    machine.restart();
    tests::wait_until("the old one is deleted", || stored_rows(&machine, &analyst).len() == 2);
    let again = Bundle::new(old.rows[..1].to_vec(), Vec::new(), old.datasheet.consents);
    let receipt = machine.request("POST", "/v1/bundles", &ann.token, &[], again.print().as_bytes()).json();
    assert_eq!((&receipt["new"], &receipt["expired"]), (&0.into(), &1.into()), "{receipt}");
}
