//! Live trials for other tools: events of Tabby in, OpenTelemetry out.

use std::fs;
use std::io::{BufRead, BufReader, Read, Write};
use std::net::{TcpListener, TcpStream};
use std::sync::mpsc;
use std::thread;
use std::time::Duration;

use serde_json::Value;
use tests::Project;

use crate::trial::bundle;

fn json(text: &str) -> Value {
    serde_json::from_str(text).expect("JSON alone")
}

#[test]
fn events_of_tabby_are_read_and_sent_to_a_collector_without_code() {
    let project = Project::generated(2);
    let completion = r#"{"ts":1767323045678,"event":{"completion":{"completion_id":"c1","language":"python","prompt":"","segments":{"prefix":"secret_name = ","suffix":"\n","filepath":"shop/module_0.py"},"choices":[{"index":0,"text":"total()"}]}}}"#;
    let select = r#"{"ts":1767323046678,"event":{"select":{"completion_id":"c1","choice_index":0}}}"#;
    fs::write(project.sibling_path("events.json"), format!("{completion}\n{select}\n")).expect("written");
    let outcome = project.run("trial import ../events.json --format tabby --json").expect_code(0);
    assert_eq!(json(&outcome.stdout)["imported"], 1);
    project.run("trial review --full").expect_code(0);
    let collector = Collector::start();
    project.run(&format!("trial export --otlp {} --yes", collector.url)).expect_code(0);
    let [(traces, spans), (logs, records)] = [collector.next_request(), collector.next_request()];
    assert_eq!((traces.as_str(), logs.as_str()), ("/v1/traces", "/v1/logs"));
    let span = &json(&spans)["resourceSpans"][0]["scopeSpans"][0]["spans"][0];
    assert_eq!(
        (&span["name"], &span["startTimeUnixNano"]),
        (&"text_completion tabby".into(), &"1767323045678000000".into())
    );
    assert_eq!(
        json(&records)["resourceLogs"][0]["scopeLogs"][0]["logRecords"],
        serde_json::json!([]),
        "no truth, no metric"
    );
    assert!(!spans.contains("secret_name") && !spans.contains("total()"), "{spans}");
    drop(collector);
    project.run("trial export --otlp http://127.0.0.1:9 --yes").expect_code(3);
    project.run("trial export --otlp localhost --yes").expect_code(2);
}

#[test]
fn metrics_of_answers_with_a_truth_are_sent_as_log_records() {
    let project = Project::generated(2);
    bundle(&project, "in.jsonl", "d1", 2);
    project.run("trial import ../in.jsonl").expect_code(0);
    project.run("trial review --full").expect_code(0);
    let collector = Collector::start();
    project.run(&format!("trial export --otlp {} --yes", collector.url)).expect_code(0);
    let [(_, spans), (_, records)] = [collector.next_request(), collector.next_request()];
    assert!(!spans.contains("zebra_price") && !records.contains("zebra_price"), "no code is sent");
    let spans = &json(&spans)["resourceSpans"][0]["scopeSpans"][0]["spans"];
    let records = &json(&records)["resourceLogs"][0]["scopeLogs"][0]["logRecords"];
    let value = |record: &Value, key: &str| {
        let attributes = record["attributes"].as_array().expect("a list");
        attributes
            .iter()
            .find(|attribute| attribute["key"] == key)
            .map(|attribute| attribute["value"].clone())
    };
    let exact: Vec<&Value> = records
        .as_array()
        .expect("a list")
        .iter()
        .filter(|record| {
            value(record, "gen_ai.evaluation.name").is_some_and(|name| name["stringValue"] == "exact_match")
        })
        .collect();
    let [first, _] = &exact[..] else { panic!("one record for each answer: {records:#}") };
    assert_eq!(first["eventName"], "gen_ai.evaluation.result");
    let score = value(first, "gen_ai.evaluation.score.value").expect("a score");
    assert_eq!(score["doubleValue"], 1.0, "the answer is the truth");
    assert_eq!((&first["traceId"], &first["spanId"]), (&spans[0]["traceId"], &spans[0]["spanId"]));
}

/// An HTTP server that answers every request with `{}`.
struct Collector {
    url: String,
    /// Paths and bodies.
    requests: mpsc::Receiver<(String, String)>,
}

impl Collector {
    fn start() -> Collector {
        let listener = TcpListener::bind("127.0.0.1:0").expect("a port");
        let url = format!("http://{}", listener.local_addr().expect("an address"));
        let (sender, requests) = mpsc::channel();
        thread::spawn(move || {
            for stream in listener.incoming() {
                let Some(request) = stream.ok().and_then(|stream| answered_request(&stream)) else {
                    continue;
                };
                if sender.send(request).is_err() {
                    return;
                }
            }
        });
        Collector { url, requests }
    }

    fn next_request(&self) -> (String, String) {
        self.requests.recv_timeout(Duration::from_secs(30)).expect("a request")
    }
}

/// Reads a request and answers it; returns its path and body.
fn answered_request(mut stream: &TcpStream) -> Option<(String, String)> {
    let mut reader = BufReader::new(stream);
    let mut first = String::new();
    reader.read_line(&mut first).ok()?;
    let mut length = 0;
    loop {
        let mut line = String::new();
        reader.read_line(&mut line).ok()?;
        match line.trim().to_ascii_lowercase().split_once(':') {
            Some(("content-length", value)) => length = value.trim().parse().ok()?,
            Some(_) => {}
            None => break,
        }
    }
    let mut body = vec![0; length];
    reader.read_exact(&mut body).ok()?;
    stream.write_all(b"HTTP/1.1 200 OK\r\nContent-Length: 2\r\nConnection: close\r\n\r\n{}").ok()?;
    Some((first.split(' ').nth(1)?.to_owned(), String::from_utf8(body).ok()?))
}
