//! The server of a team's traces under the load of a large team, while it is killed: lost rows, the time of
//! an upload, the size of a day on disk.
//!
//! The clients are threads that send bundles at their times and repeat each until it is acknowledged, as `ghostbench collect send` does.

use std::collections::HashSet;
use std::path::Path;
use std::sync::Mutex;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::thread;
use std::time::{Duration, Instant};

use anyhow::{Context, Result, ensure};
use cases::{
    ArmAnswer, ArmRole, BlockCut, Bundle, BundleConsent, CompletionTask, EngineIdentity, Finish, Opportunity,
    OpportunityCursor, PredictionTimings, Status, Task, Trigger, Truth, TruthStage,
};
use collect::account::{AccountRole, CredentialHash};
use collect::store::{CollectStore, StorePlace};
use tests::{FrontDoor, Project};

/// Opportunities of a developer in a day of eight hours, and uploads in an hour.
const OPPORTUNITIES_PER_DAY: usize = 500;
const HOURS_PER_DAY: usize = 8;
const UPLOADS_PER_HOUR: usize = 6;

/// Clients that send at the same time.
const SENDERS: usize = 48;

/// Times that the server is killed.
const KILLS: usize = 3;

/// Pause of a client before it repeats an upload.
const PAUSE: Duration = Duration::from_millis(500);

/// A load: an hour of a team in a shorter time.
struct Load {
    developers: usize,
    /// Time in which the hour passes.
    time: Duration,
}

/// The measured numbers.
struct Measured {
    uploads: usize,
    rows: usize,
    /// Times of acknowledged uploads.
    times: Vec<Duration>,
    /// Attempts that were repeated.
    repeated: usize,
    /// Bytes of the database.
    bytes: u64,
    /// Bytes of the rows as they were sent, unpacked.
    sent_bytes: usize,
}

/// Measures and returns the Markdown of the section.
pub(super) fn measure() -> Result<String> {
    let load = Load { developers: 2_000, time: Duration::from_secs(600) };
    let measured = run(&super::ghostbench()?, &load)?;
    Ok(format!(
        "{} developers with {OPPORTUNITIES_PER_DAY} opportunities a day: an hour of them in {} minutes, over SQLite, with the server killed \
         {KILLS} times. Each row has a file of some 60 lines and two answers. Nothing was lost, and nothing was stored twice.\n\n{}",
        load.developers,
        load.time.as_secs() / 60,
        table(&measured)
    ))
}

fn table(measured: &Measured) -> String {
    let mut times = measured.times.clone();
    times.sort();
    let at = |share: f64| times[((times.len() - 1) as f64 * share).round() as usize].as_secs_f64() * 1e3;
    let per_row = measured.bytes as f64 / measured.rows as f64;
    let day = per_row * (2_000 * OPPORTUNITIES_PER_DAY) as f64 / 1e9;
    format!(
        "| | |\n|---|---|\n| uploads | {} of {:.1} opportunities |\n| opportunities | {} of {:.1} KB |\n| time of an upload, ms, p50 / p99 / most | {:.1} / {:.1} / {:.0} |\n\
         | attempts repeated because of the kills | {} |\n| on disk, KB for each opportunity | {:.2} |\n| on disk, GB a day for 2,000 developers | {:.2} |\n",
        measured.uploads,
        measured.rows as f64 / measured.uploads as f64,
        measured.rows,
        measured.sent_bytes as f64 / measured.rows as f64 / 1e3,
        at(0.5),
        at(0.99),
        at(1.0),
        measured.repeated,
        per_row / 1e3,
        day
    )
}

fn run(program: &Path, load: &Load) -> Result<Measured> {
    let project = Project::generated(40);
    let folder = project.sibling_path("server");
    let tokens: Vec<String> = (0..load.developers).map(|number| format!("token-{number}")).collect();
    let store = CollectStore::open(StorePlace::Folder(folder.clone()))?;
    for (number, token) in tokens.iter().enumerate() {
        store.add_account(&format!("d{number}"), AccountRole::Developer, &CredentialHash::of_token(token))?;
    }
    drop(store);
    let files: Vec<String> = (0..40)
        .map(|number| std::fs::read_to_string(project.root().join(format!("shop/module_{number}.py"))))
        .collect::<Result<_, _>>()?;
    let start = |listen: &str| {
        FrontDoor::start(
            project.command(program, &format!("collect serve --json --folder ../server --listen {listen}")),
        )
    };
    let mut server = start("127.0.0.1:0");
    let address = server.address.clone();
    let uploads = load.developers * UPLOADS_PER_HOUR;
    let rows_of_upload = OPPORTUNITIES_PER_DAY.div_ceil(HOURS_PER_DAY * UPLOADS_PER_HOUR);
    let (next, repeated, sent_bytes) = (AtomicUsize::new(0), AtomicUsize::new(0), AtomicUsize::new(0));
    let times = Mutex::new(Vec::new());
    let began = Instant::now();
    thread::scope(|scope| {
        for _ in 0..SENDERS {
            scope.spawn(|| {
                loop {
                    let upload = next.fetch_add(1, Ordering::SeqCst);
                    if upload >= uploads {
                        return;
                    }
                    let due = load.time.mul_f64(upload as f64 / uploads as f64);
                    thread::sleep(due.saturating_sub(began.elapsed()));
                    let text = bundle(upload, rows_of_upload, &files);
                    sent_bytes.fetch_add(text.len(), Ordering::Relaxed);
                    let token = &tokens[upload % tokens.len()];
                    loop {
                        let sent = Instant::now();
                        if is_stored(&address, token, text.as_bytes()) {
                            times.lock().expect("no panics").push(sent.elapsed());
                            break;
                        }
                        repeated.fetch_add(1, Ordering::Relaxed);
                        thread::sleep(PAUSE);
                    }
                }
            });
        }
        for kill in 1..=KILLS {
            let due = load.time.mul_f64(kill as f64 / (KILLS + 1) as f64);
            thread::sleep(due.saturating_sub(began.elapsed()));
            server.kill();
            server = start(&address);
        }
    });
    drop(server);
    let store = CollectStore::open(StorePlace::Folder(folder))?;
    let mut ids = HashSet::new();
    let mut rows = 0;
    store.visit(&collect::store::RowFilter::default(), |row| {
        rows += 1;
        ids.insert(row.id);
    })?;
    let expected = uploads * rows_of_upload;
    ensure!(rows == expected && ids.len() == expected, "{rows} rows with {} ids of {expected}", ids.len());
    let summary = store.summary()?;
    ensure!(summary.developers == i64::try_from(load.developers)?, "developers are missing");
    Ok(Measured {
        uploads,
        rows,
        times: times.into_inner().ok().context("a sender panicked")?,
        repeated: repeated.into_inner(),
        bytes: summary.bytes,
        sent_bytes: sent_bytes.into_inner(),
    })
}

/// Sends a bundle once. A refusal that no repetition would change ends the measurement.
fn is_stored(address: &str, token: &str, bundle: &[u8]) -> bool {
    use std::io::{Read, Write};
    let exchange = || -> std::io::Result<String> {
        let mut stream = std::net::TcpStream::connect(address)?;
        let head = format!(
            "POST /v1/bundles HTTP/1.1\r\nhost: {address}\r\nauthorization: Bearer {token}\r\nconnection: close\r\ncontent-length: {}\r\n\r\n",
            bundle.len()
        );
        stream.write_all(head.as_bytes())?;
        stream.write_all(bundle)?;
        let mut reply = String::new();
        stream.read_to_string(&mut reply)?;
        Ok(reply)
    };
    let reply = exchange().unwrap_or_default();
    assert!(!reply.starts_with("HTTP/1.1 4") || reply.starts_with("HTTP/1.1 429"), "{reply}");
    reply.starts_with("HTTP/1.1 200") && reply.contains("digest")
}

fn bundle(upload: usize, rows: usize, files: &[String]) -> String {
    let rows: Vec<Opportunity> =
        (0..rows).map(|row| opportunity(upload * rows + row, &files[(upload + row) % files.len()])).collect();
    let consent = BundleConsent {
        given_at: "2026-01-02T08:00:00Z".to_owned(),
        opportunities: rows.len() as u64,
        statement: "measured".to_owned(),
    };
    Bundle::new(rows, vec!["MIT".to_owned()], vec![consent]).print()
}

/// A row in the middle of a file: at another place of it for each number.
fn opportunity(number: usize, file: &str) -> Opportunity {
    let lines: Vec<usize> = file.match_indices('\n').map(|(at, _)| at + 1).collect();
    let at = lines[number % (lines.len() - 1)];
    let truth = file[at..].lines().next().unwrap_or_default().to_owned();
    let answer = |arm: &str, role, text: &str| ArmAnswer {
        raw: text.to_owned(),
        text: text.to_owned(),
        finish: Finish::Stop,
        ms: PredictionTimings { gather: 1.0, first: Some(40.0), total: 120.0 },
        ..ArmAnswer::empty(
            arm.to_owned(),
            EngineIdentity {
                name: arm.to_owned(),
                kind: "openai".to_owned(),
                model: "coder".to_owned(),
                fingerprint: "52e1".to_owned(),
            },
            role,
            Status::Ok,
        )
    };
    Opportunity {
        trial: Some("load".to_owned()),
        developer: "d".to_owned(),
        session: "s".to_owned(),
        opened_at: humantime::format_rfc3339_millis(std::time::SystemTime::now()).to_string(),
        answers: vec![answer("stable", ArmRole::Shown, &truth), answer("candidate", ArmRole::Shadow, "pass")],
        task: Some(Task::Complete(CompletionTask::FullBlock(BlockCut::BlockStart))),
        truths: vec![Truth {
            stage: TruthStage::Save,
            at: 20_000.0,
            text: truth.clone(),
            region: truth.clone(),
            deleted: String::new(),
            deleted_before: String::new(),
            provenance: Vec::new(),
            reversals: 0,
            distance: None,
        }],
        ..Opportunity::new(
            format!("{number:032x}"),
            Trigger::Automatic,
            OpportunityCursor {
                language: "python".to_owned(),
                path: format!("shop/module_{}.py", number % 40),
                offset: at,
                line: 0,
                character: 0,
                prefix: file[..at].to_owned(),
                suffix: file[at + truth.len()..].to_owned(),
            },
        )
    }
}

#[cfg(test)]
mod load_tests {
    use super::*;

    /// A small team. `GHOSTBENCH_LOAD="2000 600"` measures developers and seconds of another one, and prints the table.
    #[test]
    fn a_team_loses_nothing_while_the_server_is_killed() {
        let given = std::env::var("GHOSTBENCH_LOAD").unwrap_or_default();
        let mut numbers = given.split_whitespace().filter_map(|number| number.parse::<u64>().ok());
        let developers = numbers.next().and_then(|number| number.try_into().ok()).unwrap_or(20);
        let time = Duration::from_secs(numbers.next().unwrap_or(4));
        let measured = run(&tests::binary(), &Load { developers, time }).expect("nothing is lost");
        eprintln!("{}", table(&measured));
    }
}
