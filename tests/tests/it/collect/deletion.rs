//! Deletion: deleted rows are gone from the server's files, and do not come back.

use tests::collect::CollectMachine;

use super::{Developer, is_in_files, stored_rows};
use crate::trial::json;

#[test]
fn what_a_developer_forgets_is_gone_and_does_not_come_back() {
    let machine = CollectMachine::start("");
    let analyst = machine.token("eve", "analyst");
    let (ann, bob) = (Developer::joined(&machine, "a1", 3), Developer::joined(&machine, "b2", 2));
    ann.send(&machine);
    bob.send(&machine);
    let id = ann.bundle().rows[0].id.clone();
    let files = machine.project.sibling_path("server");
    assert!(is_in_files(&files, &id), "the test would see it");
    ann.run(&machine, "collect forget").expect_code(2).expect_message(&["will be deleted", "--yes"]);
    let deleted = json(&ann.run(&machine, "collect forget --yes --json").expect_code(0).stdout);
    assert_eq!(deleted["opportunities"], 3);
    assert!(!is_in_files(&files, &id), "neither in the database nor in its log");
    assert_eq!(stored_rows(&machine, &analyst).len(), 2, "those of the other developer");

    let bundle = ann.bundle().print();
    let again = machine.request("POST", "/v1/bundles", &ann.token, &[], bundle.as_bytes()).json();
    assert_eq!((&again["new"], &again["forgotten"]), (&0.into(), &3.into()), "{again}");
    let admin = Developer { token: machine.token("root", "admin"), ..ann };
    admin.run(&machine, "collect forget --account b2 --yes").expect_code(0);
    admin.run(&machine, "collect forget --account cid --yes").expect_code(2).expect_message(&["no account"]);
    assert!(stored_rows(&machine, &analyst).is_empty());
}

#[test]
fn a_developer_leaves_one_repository_and_keeps_another() {
    let machine = CollectMachine::start("");
    let analyst = machine.token("eve", "analyst");
    let shop = Developer::joined(&machine, "a1", 3);
    shop.send(&machine);
    let site = Developer { token: shop.token.clone(), ..Developer::joined(&machine, "b2", 2) };
    site.run(&machine, "collect send").expect_code(0);
    let before = stored_rows(&machine, &analyst)[0].0.clone();
    shop.run(&machine, "collect leave --forget").expect_code(0);
    let rest = stored_rows(&machine, &analyst);
    assert_eq!(rest.len(), 2);
    assert!(rest.iter().all(|(developer, _)| *developer != before), "copies find the rest under a new name");
    shop.run(&machine, "collect send").expect_code(2).expect_message(&["not shared"]);
    shop.run(&machine, "collect leave").expect_code(2).expect_message(&["not shared"]);
    assert_eq!(site.send(&machine)["known"], 2);
}

#[test]
fn what_is_forgotten_on_the_developers_machine_is_never_sent() {
    let machine = CollectMachine::start("");
    let ann = Developer::joined(&machine, "a1", 3);
    let id = ann.bundle().rows[1].id.clone();
    ann.project.run(&format!("trial forget --id {id} --yes")).expect_code(0);
    assert_eq!(ann.send(&machine)["sent"]["new"], 2);
    let rows = stored_rows(&machine, &machine.token("eve", "analyst"));
    assert!(rows.iter().all(|(_, row)| row.id != id));
}
