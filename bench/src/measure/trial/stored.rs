//! The store: time of a row, bytes of a row, and the scoreboard of many rows.

use std::fs;
use std::path::Path;
use std::time::{Duration, SystemTime};

use anyhow::{Context, Result, ensure};
use cases::{
    ArmAnswer, ArmRole, EngineIdentity, Finish, Opportunity, OpportunityCursor, PredictionTimings,
    PrivacyLevel, Provenance, ProvenanceSpan, Status, Task, TrialMode, Trigger, Truth, TruthStage,
};
use replay::DataFolder;
use tests::Project;
use text::SplitMix64;
use trial::store::PlaceKey;
use trial::{Store, StoreSettings};

use super::TrialBench;
use crate::measure::figures::{FigureRow, SortedTimes, TimingTarget};
use crate::measure::lsp::time;

/// Rows whose writing is measured, one by one.
const TIMED_ROWS: usize = 2_000;
/// Rows of the scoreboard.
const ROWS: usize = 100_000;
/// Rows that are passed on before the writer is awaited; its queue is longer.
const BATCH: usize = 200;
/// Lines of a document.
const LINES: usize = 300;
/// Arms of a trial.
const ARMS: [&str; 4] = ["shown", "shadow-1", "shadow-2", "shadow-3"];
/// Maximum of a row in bytes, beyond the text of its document.
const MAX_ROW_BYTES: f64 = 3_000.0;
/// Maximum time of the scoreboard.
const SCOREBOARD: &[TimingTarget] = &[TimingTarget { percentile: 50, ms: 2_000.0 }];
/// Starts of the scoreboard.
const SCOREBOARDS: usize = 5;

pub(super) fn measure(bench: &TrialBench) -> Result<Vec<FigureRow>> {
    let project = Project::new("");
    let folder = DataFolder::new(project.home().join(".local/share/ghostbench")).trial(&project.root());
    let key = PlaceKey::new(b"measured");
    let settings = StoreSettings { max_bytes: u64::MAX >> 1, ..StoreSettings::new(PrivacyLevel::Full, key) };
    let store = Store::open(&folder, &settings).context("the store cannot be opened")?;
    let mut random = SplitMix64::new(1);
    let mut times = Vec::new();
    for number in 0..TIMED_ROWS {
        let row = opportunity(number, &mut random);
        let (took, is_written) = time(|| {
            store.put(row);
            store.flush()
        });
        ensure!(is_written, "a row was not written");
        times.push(took);
    }
    for number in TIMED_ROWS..ROWS {
        store.put(opportunity(number, &mut random));
        ensure!(number % BATCH != 0 || store.flush(), "rows were not written");
    }
    ensure!(store.flush() && store.counts().dropped == 0, "rows were dropped");
    drop(store);
    let mut rows = vec![FigureRow::times(
        format!("a row of 300 lines and four answers into the store, {TIMED_ROWS} rows"),
        &SortedTimes::new(times),
        &[],
    )];
    rows.push(bytes(&folder)?);
    rows.push(scoreboard(bench, &project)?);
    Ok(rows)
}

/// The file divided by its rows; the documents are versions of one, whose text is stored once.
fn bytes(folder: &Path) -> Result<FigureRow> {
    let files = fs::read_dir(folder)?;
    let mut bytes = 0;
    for file in files {
        bytes += file?.metadata()?.len();
    }
    let row = bytes as f64 / ROWS as f64;
    Ok(FigureRow::value(
        "bytes of a row of successive keys in a document of 300 lines, with four answers and three truths",
        format!("{row:.0}"),
        "3000",
        row <= MAX_ROW_BYTES,
    ))
}

fn scoreboard(bench: &TrialBench, project: &Project) -> Result<FigureRow> {
    let mut times = Vec::new();
    for _ in 0..SCOREBOARDS {
        let mut command = project.command(&bench.ghostbench, "trial scoreboard --trial measured --json");
        let (took, output) = time(|| command.output());
        let output = output?;
        ensure!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
        let board: serde_json::Value = serde_json::from_slice(&output.stdout)?;
        ensure!(board["opportunities"] == ROWS, "the scoreboard has {} rows", board["opportunities"]);
        times.push(took);
    }
    let what = format!("`ghostbench trial scoreboard --json` of {ROWS} opportunities, {SCOREBOARDS} times");
    Ok(FigureRow::times(what, &SortedTimes::new(times), SCOREBOARD))
}

/// The document at a key: one line is being typed.
fn document(number: usize) -> (String, String) {
    let line = |at: usize| format!("    value_{at} = compute(value_{at}, {at})\n");
    let typed = number / 20 % LINES;
    let prefix: String = (0..typed).map(line).collect();
    let suffix = (typed + 1..LINES).map(line).collect();
    (prefix + &line(typed)[..4 + number % 20], suffix)
}

fn opportunity(number: usize, random: &mut SplitMix64) -> Opportunity {
    let opened = SystemTime::now() - Duration::from_secs(86_400) + Duration::from_millis(number as u64);
    let (prefix, suffix) = document(number);
    let truth = format!("compute(value_{}, rate)", number / 20 % LINES);
    let answers = ARMS.map(|arm| {
        let text = if random.below(3) == 0 { truth.clone() } else { format!("other_{}()", random.below(50)) };
        answer(arm, text, random)
    });
    Opportunity {
        trial: Some("measured".to_owned()),
        mode: TrialMode::Shadow,
        developer: "0123456789abcdef".to_owned(),
        session: "0123456789abcdef".to_owned(),
        opened_at: humantime::format_rfc3339_millis(opened).to_string(),
        commit: Some("58deb0d764f690423aae07065a440675546eb2a4".to_owned()),
        tree_hash: "9d2f0b6d1f7a4c55".to_owned(),
        answers: answers.to_vec(),
        truths: [TruthStage::Settled, TruthStage::Idle, TruthStage::Save]
            .map(|stage| found(stage, &truth))
            .to_vec(),
        task: Some(Task::EMPTY),
        ..Opportunity::new(
            format!("{number:032x}"),
            Trigger::Automatic,
            OpportunityCursor {
                language: "python".to_owned(),
                path: format!("src/file_{}.py", number / 6_000),
                offset: prefix.len(),
                line: u32::try_from(number / 20 % LINES).unwrap_or_default(),
                character: 4,
                prefix,
                suffix,
            },
        )
    }
}

fn answer(arm: &str, text: String, random: &mut SplitMix64) -> ArmAnswer {
    ArmAnswer {
        raw: text.clone(),
        text,
        finish: Finish::Stop,
        asked: 1.0,
        ms: PredictionTimings { gather: 1.0, first: Some(80.5), total: 100.0 + random.below(400) as f64 },
        confidence: Some(0.5),
        ..ArmAnswer::empty(
            arm.to_owned(),
            EngineIdentity {
                name: arm.to_owned(),
                kind: "openai".to_owned(),
                model: "coder-7b".to_owned(),
                fingerprint: "0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef".to_owned(),
            },
            if arm == ARMS[0] { ArmRole::Shown } else { ArmRole::Shadow },
            Status::Ok,
        )
    }
}

fn found(stage: TruthStage, text: &str) -> Truth {
    Truth {
        stage,
        at: 10_000.0,
        text: text.to_owned(),
        region: text.to_owned(),
        deleted: String::new(),
        deleted_before: String::new(),
        provenance: vec![ProvenanceSpan { range: 0..text.len(), provenance: Provenance::Typed, arm: None }],
        reversals: 0,
        distance: None,
    }
}
