//! The same tests on both databases. Those on PostgreSQL need the feature `postgres`, and its programs.

use super::*;
use crate::account::{Account, AccountRole, CredentialHash};
use crate::store::writing::AnswerColumns;

const DAY: i64 = 24 * 60 * 60 * 1000;

/// Runs a test on a new database of SQLite, and on one of PostgreSQL if it is installed.
fn on_both(test: impl Fn(&CollectStore)) {
    let folder = tempfile::tempdir().expect("a folder");
    test(&CollectStore::open(StorePlace::Folder(folder.path().join("server"))).expect("a database"));
    #[cfg(all(feature = "postgres", unix))]
    if let Some(server) = test_fixture::PostgresServer::start() {
        let place = StorePlace::Postgres(Secret::new(&server.address()));
        test(&CollectStore::open(place.clone()).expect("a database"));
        // A second process finds the tables.
        assert!(!CollectStore::open(place).expect("a database").accounts().expect("read").is_empty());
    }
}

fn developer(store: &CollectStore, name: &str) -> Account {
    store.add_account(name, AccountRole::Developer, &CredentialHash::of_token(name)).expect("added")
}

fn row(id: u32, opened_at: i64) -> PreparedRow {
    let id = format!("{id:032x}");
    let opportunity = cases::Opportunity {
        id: id.clone(),
        opened_at: "2026-01-02T03:04:05.678Z".to_owned(),
        ..cases::Opportunity::new(
            id.clone(),
            cases::Trigger::Manual,
            cases::OpportunityCursor::at_start("python", "a.py"),
        )
    };
    let line = cases::to_line(&opportunity);
    PreparedRow {
        id,
        opened_at,
        trial: Some("spring".to_owned()),
        mode: "single",
        language: "python".to_owned(),
        privacy: "full",
        exposure: "none",
        outcome: "accepted",
        scenario: Some("full_block"),
        accepted_chars: 7,
        secrets: 0,
        answers: vec![AnswerColumns {
            arm: "a".to_owned(),
            model: "m".to_owned(),
            role: "shown",
            status: "ok",
            total_ms: 12.5,
            first_ms: None,
            exact_match: Some(1.0),
            edit_similarity: Some(0.5),
            cost: None,
        }],
        hash: "1".to_owned(),
        body: crate::packed::pack(line.as_bytes()),
    }
}

fn upload(account: &str, digest: &str, rows: Vec<PreparedRow>) -> Upload {
    Upload {
        account: account.to_owned(),
        digest: digest.to_owned(),
        repository: "shop".to_owned(),
        licences: "[\"MIT\"]".to_owned(),
        exported_at: 10,
        oldest: 0,
        datasheet: "{}".to_owned(),
        secrets: 0,
        rows,
    }
}

fn counts(receipt: &Receipt) -> [u64; 5] {
    [receipt.new, receipt.updated, receipt.known, receipt.forgotten, receipt.expired]
}

#[test]
fn a_repeated_upload_and_a_repeated_row_are_stored_once() {
    on_both(|store| {
        developer(store, "ann");
        let first = upload("ann", "d1", vec![row(1, DAY), row(2, DAY)]);
        assert_eq!(counts(&store.put(&first).expect("stored")), [2, 0, 0, 0, 0]);
        let repeated = store.put(&first).expect("stored");
        assert!(repeated.repeated && counts(&repeated) == [2, 0, 0, 0, 0], "{repeated:?}");
        let changed = PreparedRow { hash: "2".to_owned(), ..row(2, DAY) };
        let second = upload("ann", "d2", vec![row(1, DAY), changed.clone(), row(3, DAY)]);
        assert_eq!(counts(&store.put(&second).expect("stored")), [1, 1, 1, 0, 0]);
        let older = Upload { exported_at: 5, ..upload("ann", "d3", vec![row(2, DAY)]) };
        assert_eq!(counts(&store.put(&older).expect("stored")), [0, 0, 1, 0, 0], "an older state never wins");
        assert_eq!(store.summary().expect("read").opportunities, 3);
        assert_eq!(store.account_summary("ann").expect("read").repositories, 1);
    });
}

#[test]
fn a_row_of_another_developer_is_refused_with_its_whole_upload() {
    on_both(|store| {
        developer(store, "ann");
        developer(store, "bob");
        store.put(&upload("ann", "d1", vec![row(1, DAY)])).expect("stored");
        let refused = store.put(&upload("bob", "d2", vec![row(2, DAY), row(1, DAY)]));
        assert!(matches!(refused, Err(CollectStoreError::ForeignRow(_))));
        assert_eq!(store.summary().expect("read").opportunities, 1);
        assert_eq!(store.receipt("bob", "d2").expect("read"), None);
        store.put(&upload("bob", "d3", vec![row(2, DAY)])).expect("the connection is still good");
    });
}

#[test]
fn pages_follow_each_other_and_show_changed_rows_again() {
    on_both(|store| {
        let ann = developer(store, "ann");
        store.put(&upload("ann", "d1", (0..5).map(|id| row(id, DAY)).collect())).expect("stored");
        let first = store.export(0, 3).expect("read");
        let second = store.export(first.next, 3).expect("read");
        assert_eq!((first.rows.len(), first.is_last, second.rows.len(), second.is_last), (3, false, 2, true));
        assert_eq!(first.rows[0]["developer"], ann.developer.as_str());
        assert_eq!(first.rows[0]["opportunity"]["developer"], ann.developer.as_str());
        assert_eq!(first.rows[0]["licences"][0], "MIT");
        assert!(store.export(second.next, 3).expect("read").rows.is_empty());
        let changed = PreparedRow { hash: "2".to_owned(), ..row(0, DAY) };
        store.put(&upload("ann", "d2", vec![changed])).expect("stored");
        assert_eq!(store.export(second.next, 3).expect("read").rows.len(), 1);
        let mut visited = 0;
        let filter = RowFilter { trial: Some("spring".to_owned()), from: Some(DAY) };
        store.visit(&filter, |_| visited += 1).expect("read");
        let other = RowFilter { trial: Some("autumn".to_owned()), from: None };
        store.visit(&other, |_| visited += 100).expect("read");
        assert_eq!(visited, 5);
    });
}

#[test]
fn what_is_forgotten_stays_forgotten_and_the_rest_gets_another_name() {
    on_both(|store| {
        let ann = developer(store, "ann");
        developer(store, "bob");
        store.put(&upload("ann", "d1", vec![row(1, DAY), row(2, DAY)])).expect("stored");
        let other = Upload { repository: "site".to_owned(), ..upload("ann", "d2", vec![row(3, DAY)]) };
        store.put(&other).expect("stored");
        store.put(&upload("bob", "d3", vec![row(4, DAY)])).expect("stored");
        store.note_copy("eve", "files", 4, 0).expect("noted");
        let end = store.export(0, 100).expect("read").next;

        let deleted = store.forget("ann", "ann", Some("shop")).expect("deleted");
        assert_eq!((deleted.opportunities, deleted.pending_copies), (2, vec!["files".to_owned()]));
        let moved = store.export(end, 100).expect("read");
        assert_eq!(moved.rows.len(), 1, "a copy finds the rest under its new name");
        let name = moved.rows[0]["developer"].as_str().expect("a name").to_owned();
        assert!(name != ann.developer && !store.developers().expect("read").contains(&ann.developer));
        let again = store.put(&upload("ann", "d1", vec![row(1, DAY), row(2, DAY)])).expect("stored");
        assert_eq!(counts(&again), [0, 0, 0, 2, 0]);
        let later = upload("ann", "d4", vec![row(5, now() + DAY)]);
        assert_eq!(counts(&store.put(&later).expect("stored")), [1, 0, 0, 0, 0]);

        store.note_copy("eve", "files", 9, store.deletions().expect("read")).expect("noted");
        assert_eq!(store.copies().expect("read")[0].pending, 0);
        assert_eq!(store.forget("admin", "ann", None).expect("deleted").opportunities, 2);
        assert_eq!(store.summary().expect("read").opportunities, 1, "bob's");
        assert_eq!(store.summary().expect("read").engines[0].answers, 1);
        assert!(matches!(store.forget("admin", "cid", None), Err(CollectStoreError::NoAccount(_))));
        let actions: Vec<String> =
            store.audit_log(3).expect("read").into_iter().map(|entry| entry.action).collect();
        assert_eq!(actions, ["forget", "copy", "upload"]);
    });
}

#[test]
fn old_rows_are_deleted_and_not_taken_again() {
    on_both(|store| {
        developer(store, "ann");
        store.put(&upload("ann", "d1", vec![row(1, DAY), row(2, 3 * DAY)])).expect("stored");
        let records = [TelemetryRecord {
            id: "t".to_owned(),
            at: DAY,
            kind: "span",
            name: "chat".to_owned(),
            body: "{}".to_owned(),
        }];
        assert_eq!(store.put_telemetry("ann", &records, 0).expect("stored"), 1);
        assert_eq!(store.put_telemetry("ann", &records, 0).expect("stored"), 0, "known");
        assert_eq!(store.expire(2 * DAY).expect("deleted"), 2);
        assert_eq!(store.expire(2 * DAY).expect("deleted"), 0);
        let late = Upload { oldest: 2 * DAY, ..upload("ann", "d2", vec![row(1, DAY)]) };
        assert_eq!(counts(&store.put(&late).expect("stored")), [0, 0, 0, 0, 1]);
        assert_eq!(store.put_telemetry("ann", &records, 2 * DAY).expect("stored"), 0);
        let summary = store.summary().expect("read");
        assert_eq!((summary.opportunities, summary.telemetry), (1, 0));
    });
}

#[test]
fn credentials_open_one_account_until_they_are_revoked() {
    on_both(|store| {
        let ann = developer(store, "ann");
        let token = CredentialHash::of_token("ann");
        assert_eq!(store.account_of(&token).expect("read"), Some(ann.clone()));
        assert_eq!(store.account_of(&CredentialHash::of_certificate(b"ann")).expect("read"), None);
        let twice = store.add_account("ann", AccountRole::Developer, &CredentialHash::of_token("x"));
        assert!(matches!(twice, Err(CollectStoreError::AccountExists(_))));
        let taken = store.add_account("bob", AccountRole::Admin, &token);
        assert!(matches!(taken, Err(CollectStoreError::CredentialTaken)));
        assert_eq!(store.account("bob").expect("read"), None, "nothing is left of a failed transaction");
        assert!(!store.revoke("ann").expect("revoked").is_active);
        assert_eq!(store.account_of(&token).expect("read"), None);
        let again = store.add_account("ann", AccountRole::Developer, &CredentialHash::of_token("new"));
        assert_eq!(again.expect("added").developer, ann.developer, "rows stay its own");
        assert!(matches!(store.revoke("bob"), Err(CollectStoreError::NoAccount(_))));
    });
}

#[test]
fn numbers_of_concurrent_uploads_are_distinct_and_nothing_is_lost() {
    on_both(|store| {
        let names = ["a", "b", "c", "d"];
        names.iter().for_each(|name| _ = developer(store, name));
        std::thread::scope(|scope| {
            for (name, base) in names.iter().zip([0, 1000, 2000, 3000]) {
                scope.spawn(move || {
                    for part in 0..5 {
                        let rows = (0..4).map(|id| row(base + part * 10 + id, DAY)).collect();
                        store.put(&upload(name, &format!("d{part}"), rows)).expect("stored");
                    }
                });
            }
        });
        assert_eq!(store.export(0, 500).expect("read").rows.len(), 80);
        assert_eq!(store.developers().expect("read").len(), 4);
        let audit = store.audit_log(100).expect("read");
        assert!(audit.windows(2).all(|pair| pair[0].number == pair[1].number + 1), "no entry is missing");
    });
}
