//! Logs of inspect_ai.

use std::io::{Cursor, Read};

use cases::Metric;
use report::{InspectLog, inspect_logs};
use serde_json::Value;
use zip::ZipArchive;

use crate::fixture::{Fixture, fixture};

const CREATED: &str = "2026-01-02T03:04:05Z";

fn logs(fixture: &Fixture) -> Vec<InspectLog> {
    let mut logs = Vec::new();
    let summary = fixture.report().summary();
    inspect_logs(&fixture.report(), &summary, CREATED, |log| {
        logs.push(log);
        Ok(())
    })
    .expect("a part of the log");
    logs
}

fn names(log: &InspectLog) -> Vec<String> {
    let archive = ZipArchive::new(Cursor::new(&*log.bytes)).expect("an archive");
    archive.file_names().map(|name| name.expect("a name of text").into_owned()).collect()
}

fn entry(log: &InspectLog, name: &str) -> Value {
    let mut archive = ZipArchive::new(Cursor::new(&*log.bytes)).expect("an archive");
    let mut text = String::new();
    archive
        .by_name(name)
        .unwrap_or_else(|error| panic!("{name}: {error}"))
        .read_to_string(&mut text)
        .expect("a part of the log");
    serde_json::from_str(&text).expect("JSON")
}

#[test]
fn each_engine_has_a_log_per_section_with_a_sample_per_answer() {
    let fixture = fixture(30);
    let (logs, summary) = (logs(&fixture), fixture.report().summary());
    let lines: usize = summary.sections.iter().map(|section| section.overall.lines.len()).sum();
    assert_eq!(logs.len(), lines);
    let samples: usize = logs.iter().map(|log| log.samples).sum();
    assert_eq!(samples, fixture.predictions.len(), "no answer is lost");
    for log in &logs {
        let names = names(log);
        let start = entry(log, "_journal/start.json");
        let header = entry(log, "header.json");
        assert_eq!((&start["version"], &start["eval"]), (&Value::from(2), &header["eval"]));
        assert_eq!(
            (&header["status"], &header["eval"]["model"]),
            (&"success".into(), &log.engine.as_str().into())
        );
        assert_eq!(header["results"]["total_samples"], log.samples);
        let summaries = entry(log, "summaries.json");
        let summaries = summaries.as_array().unwrap();
        assert_eq!(summaries.len(), log.samples);
        assert_eq!(names.iter().filter(|name| name.starts_with("samples/")).count(), log.samples);
        for row in summaries {
            let name = format!("samples/{}_epoch_{}.json", row["id"].as_str().unwrap(), row["epoch"]);
            let sample = entry(log, &name);
            assert_eq!((&sample["id"], &sample["epoch"]), (&row["id"], &row["epoch"]));
            let case = fixture.cases.iter().find(|case| sample["id"] == *case.id).unwrap();
            assert_eq!(sample["target"], *case.truth);
            assert_eq!(sample["output"]["completion"], sample["messages"][1]["content"]);
            let (before, after) = sample["input"].as_str().unwrap().split_once('█').unwrap();
            assert!(case.prefix.ends_with(before) && case.suffix.starts_with(after));
        }
    }
}

#[test]
fn results_are_those_of_the_report() {
    let fixture = fixture(30);
    let summary = fixture.report().summary();
    let cell = summary.sections[0].overall.lines[0].metrics[&Metric::ExactMatch];
    let header = entry(&logs(&fixture)[0], "header.json");
    let scores = header["results"]["scores"].as_array().unwrap();
    let exact = scores.iter().find(|score| score["name"] == "exact_match").unwrap();
    assert_eq!(exact["metrics"]["mean"]["value"].as_f64(), cell.value);
    assert_eq!(exact["metrics"]["low_95"]["value"].as_f64(), cell.interval.map(|interval| interval.low));
    assert_eq!(exact["scored_samples"], cell.cases);
}

#[test]
fn equal_runs_have_equal_logs() {
    let [one, other] = [logs(&fixture(10)), logs(&fixture(10))];
    assert!(one.iter().zip(&other).all(|(one, other)| one.bytes == other.bytes));
}

#[test]
fn ids_and_texts_of_a_hostile_run_stay_data() {
    let mut fixture = fixture(10);
    let id = "../../evil\u{0}é\"";
    let old = std::mem::replace(&mut fixture.cases[0].id, id.to_owned());
    fixture.predictions.iter_mut().filter(|row| row.case == old).for_each(|row| row.case = id.to_owned());
    fixture.cases[0].prefix = "é".repeat(10_000);
    let names: Vec<String> = logs(&fixture).iter().flat_map(names).collect();
    assert!(names.iter().all(|name| !name.contains("..") && name.is_ascii()), "{names:?}");
}
