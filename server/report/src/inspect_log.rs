//! Renders the answers of one engine as a log of inspect_ai, for its viewer and its data frames.
//!
//! An `.eval` file is a zip archive of JSON: `_journal/start.json` (the task), `samples/ID_epoch_N.json` (one per answer),
//! `summaries.json` (the same in short) and `header.json` (the task with its results). A log has one task and one model, so a run
//! becomes a log for each of its engines and kinds of cases. A sample shows a part of its file around the cursor; the suite has the
//! rest.

use std::collections::{HashMap, HashSet};
use std::io::{Cursor, Write};

use cases::{Case, Exposure, Finish, OriginKind, Prediction, Score};
use scoring::run_summary::{EngineLine, ReportSection, ScoreIndex};
use scoring::{RunRows, RunSummary};
use serde_json::{Map, Value, json};
use zip::ZipWriter;
use zip::write::SimpleFileOptions;

/// Version of the log format.
const VERSION: u32 = 2;
/// Bytes of the file that a sample shows before and after the cursor: some pages of code.
const SHOWN_BYTES: [usize; 2] = [6_000, 2_000];
/// Bytes of the text before the cursor in the list of samples.
const SUMMARY_BYTES: usize = 160;
/// The cursor in a sample's input.
const CURSOR: &str = "█";

/// A log and the description of its contents.
#[derive(Clone, Debug)]
pub struct InspectLog {
    /// Name of the engine.
    pub engine: String,
    /// Origin of the cases.
    pub origin: OriginKind,
    /// Exposure of the cases.
    pub exposure: Exposure,
    /// Number of samples: answers.
    pub samples: usize,
    /// The `.eval` file.
    pub bytes: Vec<u8>,
}

/// Returns the logs of a run, by section and engine; `created` is the time of the run (RFC 3339). Calls `on_log` after each.
pub fn inspect_logs(
    rows: &RunRows<'_>,
    summary: &RunSummary,
    created: &str,
    mut on_log: impl FnMut(InspectLog) -> std::io::Result<()>,
) -> std::io::Result<()> {
    let index = ScoreIndex::new(rows);
    let cases: HashMap<&str, &Case> = rows.cases.iter().map(|case| (&*case.id, case)).collect();
    for section in &summary.sections {
        for line in &section.overall.lines {
            let Some(engine) = summary.engines.get(line.engine) else { continue };
            let is_here =
                |case: &&Case| (case.origin.kind, case.origin.exposure) == (section.origin, section.exposure);
            let answers = rows.predictions.iter().filter(|answer| answer.engine.name == engine.name);
            let samples: Vec<Sample<'_>> = answers
                .filter_map(|answer| {
                    let case = cases.get(&*answer.case).copied().filter(is_here)?;
                    Some(Sample { case, answer, score: index.get(answer) })
                })
                .collect();
            let log =
                Log { rows, section, line, engine: &engine.name, model: &engine.model, created, samples };
            on_log(InspectLog {
                engine: engine.name.clone(),
                origin: section.origin,
                exposure: section.exposure,
                samples: log.samples.len(),
                bytes: log.archive()?,
            })?;
        }
    }
    Ok(())
}

/// One answer.
struct Sample<'a> {
    case: &'a Case,
    answer: &'a Prediction,
    score: Option<&'a Score>,
}

/// Everything in one file.
struct Log<'a> {
    rows: &'a RunRows<'a>,
    section: &'a ReportSection,
    line: &'a EngineLine,
    engine: &'a str,
    model: &'a str,
    created: &'a str,
    samples: Vec<Sample<'a>>,
}

impl Log<'_> {
    fn archive(&self) -> std::io::Result<Vec<u8>> {
        // Entries have a fixed time, so that equal runs give equal bytes.
        let options = SimpleFileOptions::default().compression_method(zip::CompressionMethod::Deflated);
        let mut archive = ZipWriter::new(Cursor::new(Vec::new()));
        let mut add = |name: &str, value: &Value| {
            archive.start_file(name, options)?;
            archive.write_all(value.to_string().as_bytes())
        };
        let start = json!({ "version": VERSION, "eval": self.eval(), "plan": plan() });
        add("_journal/start.json", &start)?;
        let mut summaries = Vec::new();
        for sample in &self.samples {
            add(&sample.file_name(), &self.sample(sample))?;
            summaries.push(self.sample_summary(sample));
        }
        add("summaries.json", &Value::Array(summaries))?;
        add("header.json", &self.header())?;
        Ok(archive.finish()?.into_inner())
    }

    fn header(&self) -> Value {
        let samples = self.samples.len();
        json!({
            "version": VERSION,
            "status": "success",
            "eval": self.eval(),
            "plan": plan(),
            "results": { "total_samples": samples, "completed_samples": samples, "scores": self.scores() },
            "stats": { "started_at": self.created, "completed_at": self.created, "model_usage": {} },
        })
    }

    /// Returns the description of the task. Ids are made of the run's content, so that equal runs have equal ids.
    fn eval(&self) -> Value {
        let run = self.rows.run;
        let id = |parts: &[&str]| blake3::hash(parts.join("\0").as_bytes()).to_hex()[..22].to_owned();
        let (origin, exposure) = (self.section.origin.name(), self.section.exposure.name());
        let answered: HashSet<&str> = self.samples.iter().map(|sample| &*sample.case.id).collect();
        let ids: Vec<&str> =
            self.rows.cases.iter().map(|case| &*case.id).filter(|id| answered.contains(id)).collect();
        json!({
            "eval_id": id(&[&run.suite, self.engine, origin, exposure, self.created]),
            "run_id": id(&[&run.suite, self.created]),
            "task_id": id(&[&run.suite, origin, exposure]),
            "created": self.created,
            "task": format!("{} ({origin})", run.name),
            "task_version": 0,
            "task_attribs": {},
            "task_args": {},
            "dataset": { "name": run.suite, "samples": ids.len(), "sample_ids": ids, "shuffled": false },
            "model": self.engine,
            "model_args": {},
            "config": { "epochs": run.repeat },
            "packages": { "ghostbench": run.tool },
            "metadata": { "origin": origin, "exposure": exposure, "model": self.model },
        })
    }

    /// Returns the results: those of the report, over the cases in totals.
    fn scores(&self) -> Vec<Value> {
        let score = |(metric, cell): (&cases::Metric, &scoring::MetricCell)| {
            let mut metrics = Map::new();
            let mut add = |name: &str, value: f64| {
                metrics.insert(name.to_owned(), json!({ "name": name, "value": value, "params": {} }));
            };
            add("mean", cell.value?);
            if let Some(interval) = cell.interval {
                add("low_95", interval.low);
                add("high_95", interval.high);
            }
            Some(json!({
                "name": metric.name(),
                "scorer": metric.name(),
                "scored_samples": cell.cases,
                "params": {},
                "metrics": metrics,
            }))
        };
        self.line.metrics.iter().filter_map(score).collect()
    }

    fn sample(&self, sample: &Sample<'_>) -> Value {
        let Sample { case, answer, .. } = sample;
        let prefix = end_of(&case.prefix, SHOWN_BYTES[0]);
        let suffix = start_of(&case.suffix, SHOWN_BYTES[1]);
        let input = [prefix, CURSOR, suffix].concat();
        let message = json!({ "role": "assistant", "content": answer.text, "model": self.engine, "source": "generate" });
        let mut output = json!({
            "model": self.engine,
            "choices": [{ "message": message, "stop_reason": stop_reason(answer.finish) }],
            "completion": answer.text,
            "time": answer.ms.total / 1e3,
        });
        if let Some(usage) = usage(answer) {
            output["usage"] = usage;
        }
        if answer.has_failed() {
            output["error"] = json!(answer.reason.as_deref().unwrap_or(answer.status.name()));
        }
        json!({
            "id": case.id,
            "epoch": answer.repetition + 1,
            "input": input,
            "target": case.truth,
            "messages": [{ "role": "user", "content": input, "source": "input" }, message],
            "output": output,
            "scores": sample.scores(true),
            "metadata": sample.metadata(),
            "store": {},
            "events": [],
            "model_usage": self.model_usage(answer),
            "total_time": answer.ms.total / 1e3,
            "attachments": {},
        })
    }

    /// Returns the row of a sample in the list of samples.
    fn sample_summary(&self, sample: &Sample<'_>) -> Value {
        let Sample { case, answer, .. } = sample;
        let input = [end_of(&case.prefix, SUMMARY_BYTES), CURSOR].concat();
        json!({
            "id": case.id,
            "epoch": answer.repetition + 1,
            "input": input,
            "target": start_of(&case.truth, SUMMARY_BYTES),
            "metadata": { "scenario": case.scenario().name(), "language": case.language, "path": case.path },
            "scores": sample.scores(false),
            "model_usage": self.model_usage(answer),
            "total_time": answer.ms.total / 1e3,
            "completed": true,
            "message_count": 2,
        })
    }

    fn model_usage(&self, answer: &Prediction) -> Value {
        usage(answer).map_or_else(|| json!({}), |usage| json!({ self.engine: usage }))
    }
}

impl Sample<'_> {
    fn file_name(&self) -> String {
        // Ids are hexadecimal digits in suites of Ghostbench, but a suite is a file that anybody can write.
        let id: String = self.case.id.chars().filter(char::is_ascii_alphanumeric).collect();
        format!("samples/{id}_epoch_{}.json", self.answer.repetition + 1)
    }

    /// Returns the metrics of the answer; the first one has the answer itself if `has_answer`.
    fn scores(&self, has_answer: bool) -> Value {
        let mut scores = Map::new();
        for (metric, value) in self.score.iter().flat_map(|score| &score.metrics) {
            let Some(value) = value.share() else { continue };
            let mut score = json!({ "value": value, "history": [] });
            if has_answer && scores.is_empty() {
                score["answer"] = json!(self.answer.text);
            }
            scores.insert(metric.name().to_owned(), score);
        }
        Value::Object(scores)
    }

    fn metadata(&self) -> Value {
        let Sample { case, answer, .. } = self;
        let context: Vec<&str> = case.context.iter().map(|item| &*item.path).collect();
        json!({
            "scenario": case.scenario().name(),
            "variant": case.task.variant(),
            "language": case.language,
            "block_kind": case.block_kind.map(|kind| kind.name()),
            "path": case.path,
            "line": case.line + 1,
            "hole": case.hole,
            "tags": case.tags,
            "context": context,
            "status": answer.status.name(),
            "reason": answer.reason,
            "late": answer.late,
            "ms": { "gather": answer.ms.gather, "first": answer.ms.first, "total": answer.ms.total },
            "cost": answer.cost.map(|cost| cost.amount),
        })
    }
}

/// Returns the plan of the task: one step.
fn plan() -> Value {
    json!({ "name": "plan", "steps": [{ "solver": "complete", "params": {} }], "config": {} })
}

fn usage(answer: &Prediction) -> Option<Value> {
    let tokens = answer.tokens?;
    let mut usage = json!({
        "input_tokens": tokens.input,
        "output_tokens": tokens.output,
        "total_tokens": tokens.input.saturating_add(tokens.output),
    });
    if let Some(cached) = tokens.cached {
        usage["input_tokens_cache_read"] = json!(cached);
    }
    Some(usage)
}

fn stop_reason(finish: Finish) -> &'static str {
    match finish {
        Finish::Stop | Finish::Complete => "stop",
        Finish::Length => "max_tokens",
        Finish::None => "unknown",
    }
}

/// Returns about the last `bytes` bytes of a text.
fn end_of(text: &str, bytes: usize) -> &str {
    &text[text.ceil_char_boundary(text.len().saturating_sub(bytes))..]
}

/// Returns about the first `bytes` bytes of a text.
fn start_of(text: &str, bytes: usize) -> &str {
    &text[..text.floor_char_boundary(bytes)]
}
