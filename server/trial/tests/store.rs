//! The store: what is put is read back, whatever happens to processes, files and disks.

use std::env;
use std::fs;
use std::io::{BufRead, BufReader};
use std::ops::ControlFlow;
use std::path::Path;
use std::process::{Command, Stdio};
use std::time::Duration;

use cases::{
    ArmAnswer, ArmRole, Case, ContextItem, EngineIdentity, Finish, Metric, Opportunity, OpportunityCursor,
    PredictionTimings, PrivacyLevel, Status, Task, TrialMode, Trigger, Truth, TruthStage,
};
use rusqlite::Connection;
use trial::store::{
    ForgetScope, PlaceKey, STORE_FILE, StoreFilter, StoredOpportunity, forget, mark_reviewed,
};
use trial::{Store, StoreError, StoreHealth, StoreReader, StoreSettings};

/// Names the folder of the store that a child process writes.
const CHILD_FOLDER: &str = "GHOSTBENCH_TEST_STORE";

fn key() -> PlaceKey {
    PlaceKey::new(b"a secret")
}

fn settings() -> StoreSettings {
    StoreSettings { patience: Duration::from_millis(200), ..StoreSettings::new(PrivacyLevel::Full, key()) }
}

fn document(changed_line: usize) -> String {
    let line = |number: usize| {
        let name = if number == changed_line { "edited" } else { "value" };
        format!("    {name}_{number} = compute(value_{number}, {number})\n")
    };
    (0..300).map(line).collect()
}

fn opportunity(number: usize) -> Opportunity {
    let answer = |arm: &str, text: &str| ArmAnswer {
        raw: text.to_owned(),
        text: text.to_owned(),
        finish: Finish::Stop,
        asked: 1.0,
        ms: PredictionTimings { gather: 1.0, first: Some(80.5), total: 120.25 },
        confidence: Some(0.5),
        ..ArmAnswer::empty(
            arm.to_owned(),
            EngineIdentity {
                name: arm.to_owned(),
                kind: "openai".to_owned(),
                model: "coder-7b".to_owned(),
                fingerprint: "0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef".to_owned(),
            },
            ArmRole::Shadow,
            Status::Ok,
        )
    };
    let truth = |stage: TruthStage| Truth {
        stage,
        at: 10_000.0,
        text: "compute(1)".to_owned(),
        region: "compute(1)".to_owned(),
        deleted: String::new(),
        deleted_before: String::new(),
        provenance: Vec::new(),
        reversals: 0,
        distance: None,
    };
    Opportunity {
        trial: Some("week-1".to_owned()),
        mode: TrialMode::Shadow,
        developer: "d1".to_owned(),
        session: "s1".to_owned(),
        opened_at: humantime::format_rfc3339_millis(
            std::time::SystemTime::now() - Duration::from_secs(86_400) + Duration::from_secs(number as u64),
        )
        .to_string(),
        commit: Some("58deb0d764f690423aae07065a440675546eb2a4".to_owned()),
        tree_hash: "9d2f".to_owned(),
        context: vec![ContextItem {
            path: "src/other.py".to_owned(),
            start_line: 0,
            end_line: 2,
            text: "def other():\n    pass\n".to_owned(),
            strategy: "hybrid".to_owned(),
            score: 7.5,
        }],
        answers: ["shown", "shadow-1", "shadow-2", "shadow-3"].map(|arm| answer(arm, "compute(2)")).to_vec(),
        truths: TruthStage::ALL.iter().map(|&stage| truth(stage)).collect(),
        ..Opportunity::new(
            format!("{number:032x}"),
            Trigger::Automatic,
            OpportunityCursor {
                language: "python".to_owned(),
                path: format!("src/file_{}.py", number % 3),
                offset: 4,
                line: 0,
                character: 4,
                prefix: document(number % 300),
                suffix: document(299 - number % 300),
            },
        )
    }
}

fn read(folder: &Path) -> Vec<Opportunity> {
    let reader = StoreReader::open(&folder.join(STORE_FILE)).expect("the store opens");
    let rows = reader.read_all(&StoreFilter::default()).expect("all rows are readable");
    rows.into_iter().map(|row| row.opportunity).collect()
}

fn filled(folder: &Path, numbers: std::ops::Range<usize>) -> Vec<Opportunity> {
    let rows: Vec<Opportunity> = numbers.map(opportunity).collect();
    let store = Store::open(folder, &settings()).expect("the store opens");
    for row in &rows {
        store.put(row.clone());
    }
    assert!(store.flush());
    assert_eq!((store.health(), store.counts().dropped), (StoreHealth::Recording, 0));
    rows
}

#[test]
fn rows_read_back_as_put_and_later_ones_replace_earlier_ones() {
    let folder = tempfile::tempdir().expect("a folder");
    let mut rows = filled(folder.path(), 0..20);
    assert_eq!(read(folder.path()), rows);
    rows[3].truths.clear();
    rows[3].cursor.suffix.push_str("end\n");
    let store = Store::open(folder.path(), &settings()).expect("the store opens again");
    store.put(rows[3].clone());
    drop(store);
    assert_eq!(read(folder.path()), rows);
}

#[test]
fn filters_select_and_days_count() {
    let folder = tempfile::tempdir().expect("a folder");
    filled(folder.path(), 0..9);
    let reader = StoreReader::open(&folder.path().join(STORE_FILE)).expect("it opens");
    let count = |filter: StoreFilter| reader.count(&filter).expect("countable");
    let all = StoreFilter::default;
    assert_eq!(count(StoreFilter { place: Some(key().hash("src/file_1.py")), ..all() }), 3);
    assert_eq!(count(StoreFilter { place: Some(key().hash("src")), ..all() }), 9);
    assert_eq!(count(StoreFilter { place: Some(key().hash("sr")), ..all() }), 0);
    assert_eq!(count(StoreFilter { language: Some("rust".to_owned()), ..all() }), 0);
    assert_eq!(count(StoreFilter { trial: Some("week-1".to_owned()), ..all() }), 9);
    assert_eq!(count(StoreFilter { id: Some(opportunity(4).id), ..all() }), 1);
    assert_eq!(count(StoreFilter { reviewed: Some(true), ..all() }), 0);
    let days = reader.days(&all()).expect("days");
    assert_eq!(days.iter().map(|day| day.opportunities).sum::<u64>(), 9);
    assert_eq!(days.iter().map(|day| day.truths).sum::<u64>(), 9);
    assert_eq!(days.iter().map(|day| day.shown).sum::<u64>(), 0);
    let mut short: Vec<StoredOpportunity> = Vec::new();
    let stopped = reader.map_short(
        &all(),
        |rows| rows,
        |rows| {
            short.extend(rows);
            ControlFlow::<()>::Continue(())
        },
    );
    assert_eq!(stopped.expect("rows"), None);
    assert!(short.iter().all(|row| row.opportunity.cursor.prefix.is_empty()));
    assert_eq!(short[0].opportunity.answers, opportunity(0).answers);
    let ids = |rows: &[StoredOpportunity]| -> Vec<String> {
        rows.iter().map(|row| row.opportunity.id.clone()).collect()
    };
    let whole = reader.read_all(&all()).expect("rows");
    assert_eq!(ids(&short), ids(&whole));
    let latest = reader.latest(&all(), 2, |row| row.id != opportunity(8).id).expect("rows");
    assert_eq!(latest, whole[6..8]);
    assert_eq!(reader.latest(&all(), 0, |_| true).expect("rows"), []);
}

#[test]
fn a_row_takes_less_than_three_kilobytes_beyond_its_text() {
    let folder = tempfile::tempdir().expect("a folder");
    let mut rows = Vec::new();
    for quarter in 0..4 {
        rows.extend(filled(folder.path(), quarter * 200..quarter * 200 + 200));
    }
    let database = Connection::open(folder.path().join(STORE_FILE)).expect("it opens");
    let number = |query: &str| database.query_row(query, [], |row| row.get::<_, i64>(0)).expect("a number");
    let file = number("PRAGMA page_count") * number("PRAGMA page_size");
    let bodies = number("SELECT SUM(length(body)) FROM texts");
    let text: usize = rows.iter().map(|row| row.cursor.prefix.len() + row.cursor.suffix.len()).sum();
    let beyond = (file - bodies) / 800;
    println!("{beyond} bytes a row beyond its text; text {} -> {} bytes a row", text / 800, bodies / 800);
    assert!(beyond < 3_000, "{beyond} bytes");
    assert!(bodies < text as i64 / 10, "{bodies} of {text} bytes");
}

#[test]
fn an_unreviewed_change_needs_a_new_review() {
    let folder = tempfile::tempdir().expect("a folder");
    let rows = filled(folder.path(), 0..3);
    let path = folder.path().join(STORE_FILE);
    let mut changed = rows[1].clone();
    changed.truths.clear();
    assert_eq!(mark_reviewed(&path, &[rows[0].clone(), changed.clone()]).expect("it is written"), 1);
    let reviewed = || -> Vec<bool> {
        let reader = StoreReader::open(&path).expect("it opens");
        let rows = reader.read_all(&StoreFilter::default()).expect("rows");
        rows.iter().map(|row: &StoredOpportunity| row.is_reviewed).collect()
    };
    assert_eq!(reviewed(), [true, false, false]);
    let put = |row: &Opportunity| Store::open(folder.path(), &settings()).expect("it opens").put(row.clone());
    put(&rows[0]);
    assert_eq!(reviewed(), [true, false, false], "the same row again");
    put(&Opportunity { requests: 2, ..rows[0].clone() });
    assert_eq!(reviewed(), [false, false, false]);
}

/// Returns the bytes of all files of a folder.
fn bytes(folder: &Path) -> Vec<u8> {
    let files = fs::read_dir(folder).expect("a folder").map(|entry| entry.expect("an entry").path());
    files.flat_map(|path| fs::read(path).unwrap_or_default()).collect()
}

fn contains(folder: &Path, text: &str) -> bool {
    bytes(folder).windows(text.len()).any(|window| window == text.as_bytes())
}

#[test]
fn forgotten_text_is_in_no_byte_of_any_file() {
    let folder = tempfile::tempdir().expect("a folder");
    let marked = |number: usize, mark: &str| {
        let mut row = opportunity(number);
        // Random-looking texts are stored without compression, and can be found in the raw file.
        row.cursor.prefix = format!("{mark}-p-q7\n");
        row.truths[0].text = format!("{mark}-truth");
        row.answers[0].text = format!("{mark}-answer");
        row
    };
    let marks = ["zebra-one", "zebra-two", "zebra-three", "zebra-four"];
    // An open server: its log is not written back, and it goes on writing.
    let store = Store::open(folder.path(), &settings()).expect("the store opens");
    for (number, mark) in marks.iter().enumerate() {
        store.put(marked(number, mark));
        store.put(Opportunity { requests: 7, ..marked(number, mark) });
    }
    assert!(store.flush());
    assert!(marks.iter().all(|mark| contains(folder.path(), &format!("{mark}-p-q7"))));
    let path = folder.path().join(STORE_FILE);
    let forgotten = |scope: ForgetScope| forget(&path, &scope, &key()).expect("it is forgotten").rows;
    assert_eq!(forgotten(ForgetScope::Id(opportunity(0).id)), 1);
    assert_eq!(forgotten(ForgetScope::Path("src/file_1.py".to_owned())), 1);
    for mark in &marks[..2] {
        assert!(!contains(folder.path(), mark), "{mark}");
    }
    assert!(contains(folder.path(), "zebra-three-truth") && contains(folder.path(), "zebra-four-truth"));
    // The recorder still has the rows in memory.
    store.put(marked(0, marks[0]));
    store.put(marked(1, marks[1]));
    assert!(store.flush());
    assert_eq!(read(folder.path()).len(), 2);
    let opened = humantime::parse_rfc3339(&read(folder.path())[0].opened_at).expect("a time");
    let opened = opened.duration_since(std::time::UNIX_EPOCH).expect("after 1970").as_millis() as i64;
    assert_eq!(forgotten(ForgetScope::Time { from: opened, to: opened }), 1);
    assert!(!contains(folder.path(), marks[2]) && contains(folder.path(), "zebra-four-truth"));
    assert_eq!(forgotten(ForgetScope::All), 1);
    assert!(!contains(folder.path(), "zebra"), "nothing is left");
    assert_eq!(store.health(), StoreHealth::Recording);
}

#[test]
fn rows_from_before_a_clock_was_set_back_are_forgotten() {
    let folder = tempfile::tempdir().expect("a folder");
    let in_the_future =
        |number| Opportunity { opened_at: "2999-01-01T00:00:00Z".to_owned(), ..opportunity(number) };
    let path = folder.path().join(STORE_FILE);
    let scopes =
        [ForgetScope::All, ForgetScope::Path("src".to_owned()), ForgetScope::Time { from: 0, to: i64::MAX }];
    for (number, scope) in scopes.into_iter().enumerate() {
        let store = Store::open(folder.path(), &settings()).expect("the store opens");
        store.put(in_the_future(number));
        assert!(store.flush());
        assert_eq!(forget(&path, &scope, &key()).expect("it is forgotten").rows, 1, "{scope:?}");
        // The recorder still has it in memory; the next one is opened afterwards.
        store.put(in_the_future(number));
        store.put(in_the_future(number + 10));
        assert!(store.flush());
        let left: Vec<String> = read(folder.path()).into_iter().map(|row| row.id).collect();
        assert_eq!(left, [opportunity(number + 10).id], "{scope:?}");
        assert_eq!(
            forget(&path, &ForgetScope::Id(left[0].clone()), &key()).expect("it is forgotten").rows,
            1
        );
    }
}

#[test]
fn a_newer_store_and_a_foreign_file_are_refused_and_unchanged() {
    let folder = tempfile::tempdir().expect("a folder");
    let path = folder.path().join(STORE_FILE);
    filled(folder.path(), 0..1);
    Connection::open(&path).expect("opens").pragma_update(None, "user_version", 99).expect("a newer version");
    let error = Store::open(folder.path(), &settings()).expect_err("refused").to_string();
    assert!(error.contains("version 99") && error.contains("install the newer version"), "{error}");
    assert!(matches!(StoreReader::open(&path), Err(StoreError::Newer { .. })));
    let other = tempfile::tempdir().expect("a folder");
    let foreign = other.path().join(STORE_FILE);
    Connection::open(&foreign).expect("opens").execute_batch("CREATE TABLE mine (a)").expect("a table");
    let before = fs::read(&foreign).expect("bytes");
    assert!(matches!(Store::open(other.path(), &settings()), Err(StoreError::Foreign { .. })));
    assert_eq!(fs::read(&foreign).expect("bytes"), before);
}

#[test]
fn damaged_files_are_set_aside_and_never_overwritten() {
    let folder = tempfile::tempdir().expect("a folder");
    let path = folder.path().join(STORE_FILE);
    for number in 1..=2 {
        let garbage = format!("no database {number}").repeat(1_000);
        fs::write(&path, &garbage).expect("written");
        let rows = filled(folder.path(), 0..2);
        assert_eq!(read(folder.path()), rows);
        let aside = folder.path().join(format!("store-corrupt-{number}.db"));
        assert_eq!(fs::read_to_string(aside).expect("kept"), garbage);
    }
}

#[test]
fn a_file_that_is_damaged_while_open_is_replaced() {
    let folder = tempfile::tempdir().expect("a folder");
    let path = folder.path().join(STORE_FILE);
    let store = Store::open(folder.path(), &settings()).expect("the store opens");
    (0..50).for_each(|number| store.put(opportunity(number)));
    assert!(store.flush());
    Connection::open(&path)
        .expect("opens")
        .query_row("PRAGMA wal_checkpoint(TRUNCATE)", [], |_| Ok(()))
        .expect("done");
    let length = fs::metadata(&path).expect("there").len() as usize;
    let mut bytes = fs::read(&path).expect("bytes");
    bytes[4_096..length].fill(0xa5);
    fs::write(&path, &bytes).expect("damaged");
    let rows: Vec<_> = (60..65).map(opportunity).collect();
    rows.iter().for_each(|row| store.put(row.clone()));
    assert!(store.flush());
    assert_eq!((store.health(), read(folder.path())), (StoreHealth::Recording, rows));
    assert!(folder.path().join("store-corrupt-1.db").exists());
}

#[test]
fn a_locked_store_turns_recording_off_with_one_message() {
    let folder = tempfile::tempdir().expect("a folder");
    let store = Store::open(folder.path(), &settings()).expect("the store opens");
    let other = Connection::open(folder.path().join(STORE_FILE)).expect("opens");
    other.execute_batch("BEGIN IMMEDIATE").expect("locked");
    store.put(opportunity(1));
    store.put(opportunity(2));
    assert!(store.flush());
    let StoreHealth::Off { message } = store.health() else { panic!("it is off") };
    assert!(message.contains("is locked by another process"), "{message}");
    assert_eq!((store.take_message(), store.take_message()), (Some(message), None));
    assert_eq!(store.counts().dropped, 2);
    other.execute_batch("COMMIT").expect("unlocked");
    assert!(read(folder.path()).is_empty());
}

#[test]
fn a_short_lock_delays_the_writer_only() {
    let folder = tempfile::tempdir().expect("a folder");
    let patient = StoreSettings { patience: Duration::from_secs(60), ..settings() };
    let store = Store::open(folder.path(), &patient).expect("the store opens");
    let other = Connection::open(folder.path().join(STORE_FILE)).expect("opens");
    other.execute_batch("BEGIN IMMEDIATE").expect("locked");
    // The queue takes 256 rows beside the one that waits for the lock; the others are dropped, and no call waits.
    (0..400).for_each(|number| store.put(opportunity(number)));
    let dropped = store.counts().dropped;
    assert!((143..=144).contains(&dropped), "{dropped}");
    other.execute_batch("COMMIT").expect("unlocked");
    assert!(store.flush());
    assert_eq!((store.health(), store.counts().written + dropped), (StoreHealth::Recording, 400));
}

#[test]
fn a_folder_that_cannot_be_written_is_an_error_with_its_remedy() {
    let folder = tempfile::tempdir().expect("a folder");
    let file = folder.path().join("file");
    fs::write(&file, "").expect("written");
    let error = Store::open(&file.join("store"), &settings()).expect_err("no folder").to_string();
    assert!(error.contains("check its permissions"), "{error}");
    assert!(matches!(StoreReader::open(&folder.path().join(STORE_FILE)), Err(StoreError::Missing { .. })));
}

#[test]
fn old_rows_and_those_beyond_the_size_are_deleted_oldest_first() {
    let folder = tempfile::tempdir().expect("a folder");
    let rows: Vec<Opportunity> = (0..300)
        .map(|number| {
            let mut row = opportunity(number);
            let noise = |at: usize| blake3::hash(format!("{number} {at}").as_bytes()).to_hex().to_string();
            row.cursor.prefix = (0..100).map(noise).collect();
            row
        })
        .collect();
    let store = Store::open(folder.path(), &settings()).expect("the store opens");
    for row in &rows {
        store.put(row.clone());
        assert!(store.flush());
    }
    drop(store);
    let limit = 1 << 20;
    let small = StoreSettings { max_bytes: limit, ..settings() };
    let path = folder.path().join(STORE_FILE);
    drop(Store::open(folder.path(), &small).expect("it opens"));
    drop(Connection::open(&path).expect("opens").query_row(
        "PRAGMA wal_checkpoint(TRUNCATE)",
        [],
        |_| Ok(()),
    ));
    let left = read(folder.path());
    assert!(left.len() > 20 && left == rows[300 - left.len()..], "{} rows", left.len());
    let size = fs::metadata(&path).expect("there").len();
    assert!(size <= limit, "{size} bytes");
    let none = StoreSettings { keep: Duration::from_secs(60), ..settings() };
    drop(Store::open(folder.path(), &none).expect("it opens"));
    assert!(read(folder.path()).is_empty());
}

#[test]
fn secrets_are_masked_before_anything_is_written() {
    let folder = tempfile::tempdir().expect("a folder");
    let mut row = opportunity(1);
    let token = ["ghp_", "9f8Qk2LmZx7Rt5Vb3Nc1", "Hy6Wd4Sg0PjAeTu"].concat();
    let (half, rest) = token.split_at(20);
    row.cursor.prefix = format!("token = \"{half}");
    row.cursor.suffix = "\"\n".to_owned();
    row.truths.truncate(1);
    row.truths[0].text = rest.to_owned();
    row.context[0].text = format!("# {token}\n");
    let store = Store::open(folder.path(), &settings()).expect("the store opens");
    store.put(row);
    assert!(store.flush());
    let stored = read(folder.path()).remove(0);
    assert_eq!(stored.truths[0].text, "x".repeat(rest.len()));
    assert_eq!(stored.cursor.prefix, format!("token = \"{}", "x".repeat(half.len())));
    assert_eq!(stored.context[0].text, format!("# {}\n", "x".repeat(token.len())));
    assert!(stored.secrets > 0 && !contains(folder.path(), half) && !contains(folder.path(), rest));
}

fn stored_at(level: PrivacyLevel, row: Opportunity) -> Opportunity {
    let folder = tempfile::tempdir().expect("a folder");
    let store = Store::open(folder.path(), &StoreSettings { level, ..settings() }).expect("the store opens");
    store.put(row);
    assert!(store.flush());
    for secret in ["compute", "value_", "src", "other.py"] {
        assert!(!contains(folder.path(), secret), "{secret}");
    }
    assert_eq!(
        StoreReader::open(&folder.path().join(STORE_FILE))
            .expect("it opens")
            .count(&StoreFilter { place: Some(key().hash("src")), ..StoreFilter::default() })
            .expect("countable"),
        1,
        "it is found by its folder"
    );
    read(folder.path()).remove(0)
}

#[test]
fn structure_keeps_relations_and_metrics_but_no_name() {
    let mut row = opportunity(1);
    row.task = Some(Task::EMPTY);
    row.answers[0].text = "compute(1)".to_owned();
    let stored = stored_at(PrivacyLevel::Structure, row.clone());
    assert_eq!(stored.privacy, PrivacyLevel::Structure);
    let (before, after) = (row.to_case().expect("a case"), stored.to_case().expect("a case"));
    assert_eq!(before.prefix.len(), after.prefix.len());
    assert_ne!(before.prefix, after.prefix);
    for (answer, masked) in row.answers.iter().zip(&stored.answers) {
        let metrics = |case: &Case, answer: &str| {
            let mut metrics = scoring::score(&scoring::ScoringInput::from(case), answer);
            // The distance of two names depends on their letters.
            metrics.retain(|metric, _| {
                !matches!(
                    metric,
                    Metric::EditSimilarity | Metric::EditSimilarityDifflib | Metric::CorrectPrefix
                )
            });
            metrics
        };
        assert_eq!(metrics(&before, &answer.text), metrics(&after, &masked.text));
        assert_eq!(answer.text == before.truth, masked.text == after.truth);
    }
}

#[test]
fn metrics_keeps_numbers_only() {
    let mut row = opportunity(1);
    row.task = Some(Task::EMPTY);
    let case = row.to_case().expect("a case");
    let stored = stored_at(PrivacyLevel::Metrics, row.clone());
    let expected = scoring::score(&scoring::ScoringInput::from(&case), &row.answers[1].text);
    assert!(!expected.is_empty());
    for (metric, value) in expected {
        assert_eq!(stored.answers[1].metrics.get(&metric), Some(&value), "{metric:?}");
    }
    assert!(stored.to_case().is_none() && stored.context.is_empty() && stored.truths[0].text.is_empty());
    assert_eq!(stored.truths.len(), row.truths.len());
}

/// Several processes write one store; each row of each process is there.
#[test]
fn several_processes_write_one_store() {
    let folder = tempfile::tempdir().expect("a folder");
    let children: Vec<_> =
        (0..3).map(|child| writer(folder.path(), &[child * 1_000, child * 1_000 + 40])).collect();
    for mut child in children {
        assert!(child.wait().expect("it ends").success());
    }
    assert_eq!(read(folder.path()).len(), 120);
}

#[test]
fn a_killed_process_loses_at_most_the_row_in_flight() {
    let folder = tempfile::tempdir().expect("a folder");
    for round in 0..5 {
        let mut child = writer(folder.path(), &[round * 10_000, round * 10_000 + 9_999]);
        let lines = BufReader::new(child.stdout.take().expect("a pipe")).lines();
        // Lines are the rows that the writer reported as written.
        let acknowledged: Vec<String> =
            lines.map(|line| line.expect("a line")).filter(|line| line.len() == 32).take(7 + round).collect();
        child.kill().expect("killed");
        child.wait().expect("gone");
        let stored = read(folder.path());
        for id in &acknowledged {
            assert!(stored.iter().any(|row| row.id == *id), "round {round}: {id} is lost");
        }
        let database = Connection::open(folder.path().join(STORE_FILE)).expect("opens");
        let check: String =
            database.query_row("PRAGMA integrity_check", [], |row| row.get(0)).expect("checked");
        assert_eq!(check, "ok");
    }
}

/// A disk that is full: the process may write no file beyond some size.
#[cfg(unix)]
#[test]
fn a_full_disk_turns_recording_off_and_keeps_the_store() {
    let folder = tempfile::tempdir().expect("a folder");
    filled(folder.path(), 0..3);
    let program = env::current_exe().expect("this test");
    let script = "trap '' XFSZ; ulimit -f 300; exec \"$0\" --exact child --nocapture --include-ignored";
    let output = Command::new("sh")
        .args(["-c", script, &program.display().to_string()])
        .env(CHILD_FOLDER, format!("{}:100,600", folder.path().display()))
        .output()
        .expect("a shell");
    let text = String::from_utf8_lossy(&output.stdout);
    assert!(text.contains("recording of opportunities is off"), "{text}");
    assert!(read(folder.path()).len() > 3, "rows until then are kept");
}

fn writer(folder: &Path, numbers: &[usize; 2]) -> std::process::Child {
    let value = format!("{}:{},{}", folder.display(), numbers[0], numbers[1]);
    Command::new(env::current_exe().expect("this test"))
        .args(["--exact", "child", "--nocapture", "--include-ignored"])
        .env(CHILD_FOLDER, value)
        .stdout(Stdio::piped())
        .spawn()
        .expect("a child")
}

/// The child process of other tests: writes rows and prints the id of each when it is written.
#[test]
fn child() {
    let Ok(value) = env::var(CHILD_FOLDER) else { return };
    let (folder, numbers) = value.rsplit_once(':').expect("folder and numbers");
    let (from, to) = numbers.split_once(',').expect("two numbers");
    let patient = StoreSettings { patience: Duration::from_secs(60), ..settings() };
    let store = Store::open(Path::new(folder), &patient).expect("the store opens");
    println!();
    for number in from.parse().expect("a number")..to.parse().expect("a number") {
        store.put(opportunity(number));
        assert!(store.flush());
        if let Some(message) = store.take_message() {
            println!("{message}");
            return;
        }
        println!("{}", opportunity(number).id);
    }
}
