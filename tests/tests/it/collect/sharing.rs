//! From a recorded trial to the scoreboard over all developers.

use std::collections::HashSet;
use std::fs;

use base64::Engine;
use base64::prelude::BASE64_STANDARD;
use tests::collect::{CollectMachine, as_account};
use tests::front_door::exchange;
use tests::{Project, RunningProcess};

use super::{Developer, stored_rows};
use crate::trial::{bundle, json};

#[test]
fn reviewed_opportunities_of_joined_repositories_are_sent_once() {
    let machine = CollectMachine::start("");
    let analyst = machine.token("eve", "analyst");
    let ann = Developer::new(&machine, "a1", 4);
    ann.run(&machine, "collect send").expect_code(2).expect_message(&["not shared", "collect join"]);
    ann.run(&machine, "collect join --consent agreed")
        .expect_code(2)
        .expect_message(&["Do you agree", "--yes"]);
    ann.run(&machine, "collect join --consent agreed --yes").expect_code(0);
    ann.run(&machine, "collect send")
        .expect_code(2)
        .expect_message(&["nothing is reviewed", "trial review --full"]);
    ann.project.run("trial review --full --until 2026-11-03").expect_code(0);
    let first = ann.send(&machine);
    assert_eq!((&first["sent"]["new"], &first["left_out"]), (&2.into(), &2.into()), "{first}");
    ann.project.run("trial review --full").expect_code(0);
    let second = ann.send(&machine);
    assert_eq!((&second["sent"]["new"], &second["known"]), (&2.into(), &2.into()), "{second}");
    let third = ann.send(&machine);
    assert_eq!((&third["sent"]["new"], &third["known"]), (&0.into(), &4.into()), "{third}");

    let rows = stored_rows(&machine, &analyst);
    let developers: HashSet<&String> = rows.iter().map(|(developer, _)| developer).collect();
    assert_eq!((rows.len(), developers.len()), (4, 1));
    for (mut row, sent) in rows.into_iter().map(|(_, row)| row).zip(ann.bundle().rows) {
        assert_ne!(row.developer, sent.developer, "the account has a pseudonym of its own");
        row.developer.clone_from(&sent.developer);
        assert_eq!(row, sent);
    }
    // A changed opportunity is reviewed and sent again, and replaces its former state.
    let mut changed = ann.bundle();
    changed.rows[0].requests = 7;
    fs::write(ann.project.sibling_path("in.jsonl"), changed.print()).expect("written");
    ann.project.run("trial import ../in.jsonl").expect_code(0);
    let unseen = ann.send(&machine);
    assert_eq!((&unseen["sent"]["updated"], &unseen["left_out"]), (&0.into(), &1.into()), "{unseen}");
    ann.project.run("trial review --full").expect_code(0);
    assert_eq!(ann.send(&machine)["sent"]["updated"], 1);
    let rows = stored_rows(&machine, &analyst);
    assert_eq!((rows.len(), rows.iter().filter(|(_, row)| row.requests == 7).count()), (4, 1));
}

#[test]
fn the_scoreboard_counts_developers_and_pages_need_the_role() {
    let machine = CollectMachine::start("");
    let (analyst, admin) = (machine.token("eve", "analyst"), machine.token("root", "admin"));
    for name in ["a1", "b2"] {
        Developer::joined(&machine, name, 3).send(&machine);
    }
    let desk = Project::new("");
    let as_analyst =
        |arguments: &str| RunningProcess::start(as_account(&desk, &machine, &analyst, arguments)).wait();
    let board = json(&as_analyst("collect scoreboard --trial week --json").expect_code(0).stdout);
    assert_eq!((&board["developers"], &board["opportunities"]), (&2.into(), &6.into()), "{board:#}");
    let table = as_analyst("collect scoreboard --html ../board.html").expect_code(0).stdout;
    assert!(table.contains("builtin"), "{table}");
    let page = fs::read_to_string(desk.sibling_path("board.html")).expect("a page");
    assert!(page.contains("default-src 'none'") && !page.contains("zebra_price"), "no code");
    let other = json(&as_analyst("collect scoreboard --trial other --json").expect_code(0).stdout);
    assert_eq!(other["opportunities"], 0);
    as_analyst("collect audit").expect_code(2).expect_message(&["role analyst may not"]);

    let browser = format!("Basic {}", BASE64_STANDARD.encode(format!("eve:{analyst}")));
    let page = exchange(&machine.address, "GET", "/", &[("authorization", &browser)], b"");
    let text = String::from_utf8_lossy(&page.body).into_owned();
    assert!(page.status == 200 && text.contains("2026-11-01") && text.contains("builtin"), "{text}");
    assert!(!text.contains("zebra_price") && !text.contains(">b2<"), "neither code nor names of accounts");
    let asked = exchange(&machine.address, "GET", "/", &[], b"");
    assert!(asked.status == 401 && asked.head.contains("www-authenticate: basic"), "{asked:?}");
    let foreign = [("authorization", &*browser), ("origin", "https://evil.example")];
    assert_eq!(exchange(&machine.address, "GET", "/", &foreign, b"").status, 403);

    let log = RunningProcess::start(as_account(&desk, &machine, &admin, "collect audit --json")).wait();
    let log = json(&log.expect_code(0).stdout);
    let actions: Vec<&str> = log["entries"]
        .as_array()
        .expect("a list")
        .iter()
        .filter_map(|entry| entry["action"].as_str())
        .collect();
    assert_eq!(actions.iter().filter(|action| **action == "upload").count(), 2);
    assert_eq!(actions.iter().filter(|action| **action == "scoreboard").count(), 4);
    assert_eq!(actions.iter().filter(|action| **action == "token add").count(), 4);
}

#[test]
fn wrong_tokens_and_roles_are_refused() {
    let machine = CollectMachine::start("");
    let ann = Developer::joined(&machine, "a1", 2);
    let stranger = Developer { token: "gbc_wrong".to_owned(), ..Developer::joined(&machine, "b2", 2) };
    stranger
        .run(&machine, "collect send")
        .expect_code(2)
        .expect_message(&["401", "token is missing or wrong"]);
    let analyst = Developer { token: machine.token("eve", "analyst"), ..stranger };
    analyst.run(&machine, "collect send").expect_code(2).expect_message(&["403", "role analyst may not"]);
    for path in ["/v1/rows", "/v1/scoreboard", "/v1/developers", "/v1/audit", "/"] {
        assert_eq!(machine.get(path, &ann.token).status, 403, "{path}");
        assert_eq!(machine.get(path, "").status, 401, "{path}");
    }
    let other = machine.request("POST", "/v1/forget", &ann.token, &[], br#"{"account":"b2"}"#);
    assert_eq!(other.status, 403);
    assert_eq!(machine.get("/v1/nothing", &ann.token).status, 404);
    assert_eq!(machine.get("/v1/bundles", &ann.token).status, 405);
    ann.send(&machine);
    machine.run_token("revoke a1").expect_code(0);
    assert_eq!(machine.get("/v1/status", &ann.token).status, 401);
    let listed = machine.run_token("list").expect_code(0).stdout;
    assert!(listed.contains("a1: developer, revoked") && listed.contains("eve: analyst\n"), "{listed}");
    machine.run_token("add eve").expect_code(2).expect_message(&["already"]);
    machine.run_token("revoke nothing").expect_code(2).expect_message(&["no account"]);
    machine.run_token("add a/b").expect_code(2).expect_message(&["no name of an account"]);
}

#[test]
fn opentelemetry_is_received_without_code_and_each_span_once() {
    let machine = CollectMachine::start("");
    let ann = Developer::joined(&machine, "a1", 2);
    for _ in 0..2 {
        let mut command = ann.project.ghostbench(&format!("trial export --otlp {} --yes", machine.url()));
        command.env("OTEL_EXPORTER_OTLP_HEADERS", format!("authorization=Bearer%20{}", ann.token));
        RunningProcess::start(command).wait().expect_code(0);
    }
    let status = machine.get("/v1/status", &ann.token).json();
    let records = status["own"]["telemetry"].as_u64().expect("a number");
    assert!(records > 4, "two spans, and a record for each metric: {status}");
    let protobuf = machine.request("POST", "/v1/traces", &ann.token, &[], &[10, 2, 8, 1]);
    assert!(protobuf.status == 400 && String::from_utf8_lossy(&protobuf.body).contains("http/json"));
}

#[test]
fn two_machines_of_a_developer_are_one_cluster() {
    let machine = CollectMachine::start("");
    let analyst = machine.token("eve", "analyst");
    let desk = Developer::joined(&machine, "a1", 2);
    desk.send(&machine);
    let project = Project::generated(2);
    bundle(&project, "in.jsonl", "c3", 3);
    project.run("trial import ../in.jsonl").expect_code(0);
    project.run("trial review --full").expect_code(0);
    let laptop = Developer { project, token: desk.token.clone() };
    laptop.run(&machine, "collect join --consent agreed --yes").expect_code(0);
    laptop.send(&machine);
    let developers: HashSet<String> =
        stored_rows(&machine, &analyst).into_iter().map(|(developer, _)| developer).collect();
    assert_eq!(developers.len(), 1);
    let status = json(&laptop.run(&machine, "collect status --json").expect_code(0).stdout);
    assert_eq!((&status["own"]["opportunities"], &status["own"]["repositories"]), (&5.into(), &2.into()));
}
