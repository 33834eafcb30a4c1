//! Opportunities for tools that read OpenTelemetry: a span for each request of an arm, and a log record for each metric of its answer.
//!
//! Names are those of the semantic conventions for generative AI 1.38 (in development there): spans of operation `text_completion`, log
//! records of event `gen_ai.evaluation.result`, each in the span of its answer. The form is OTLP's JSON encoding, one request a value.
//! It contains numbers, names and times, never code.

use std::time::Duration;

use serde_json::{Value, json};

use super::{ArmAnswer, Opportunity, timestamp};
use crate::metric::{MetricValue, Metrics};

/// Kind `CLIENT` of a span.
const CLIENT_SPAN: u8 = 3;
/// Status code of a failed span.
const ERROR_STATUS: u8 = 2;
/// Name of the event of a metric.
const EVALUATION: &str = "gen_ai.evaluation.result";

/// An opportunity with the metrics of each of its answers; answers without a truth have none.
#[derive(Clone, Copy, Debug)]
pub struct EvaluatedOpportunity<'a> {
    /// The opportunity.
    pub row: &'a Opportunity,
    /// By answer.
    pub metrics: &'a [Metrics],
}

/// Returns an `ExportTraceServiceRequest` with a span for each answer. Rows without a valid time are left out.
pub fn otlp_spans(rows: &[EvaluatedOpportunity<'_>]) -> Value {
    let spans: Vec<Value> =
        rows.iter().flat_map(|it| times(it.row).map(|(answer, time)| span(it.row, answer, time))).collect();
    json!({ "resourceSpans": [{ "resource": resource(), "scopeSpans": [{ "scope": scope(), "spans": spans }] }] })
}

/// Returns an `ExportLogsServiceRequest` with a record for each metric of each answer.
pub fn otlp_evaluations(rows: &[EvaluatedOpportunity<'_>]) -> Value {
    let records: Vec<Value> = rows
        .iter()
        .flat_map(|it| {
            times(it.row).zip(it.metrics).map(|((answer, time), metrics)| (it.row, answer, time, metrics))
        })
        .flat_map(|(row, answer, time, metrics)| evaluations(row, answer, time, metrics))
        .collect();
    json!({ "resourceLogs": [{ "resource": resource(), "scopeLogs": [{ "scope": scope(), "logRecords": records }] }] })
}

/// Returns the answers with the time at which each was asked, since 1970; none if the row has no valid time.
fn times(row: &Opportunity) -> impl Iterator<Item = (&ArmAnswer, Duration)> {
    let opened = timestamp::since_1970(&row.opened_at);
    row.answers.iter().filter_map(move |answer| Some((answer, opened? + milliseconds(answer.asked))))
}

fn span(row: &Opportunity, answer: &ArmAnswer, asked: Duration) -> Value {
    let mut attributes = vec![
        attribute("gen_ai.operation.name", "text_completion"),
        attribute("gen_ai.provider.name", &answer.engine.kind),
        attribute("gen_ai.request.model", &answer.engine.model),
        attribute("gen_ai.response.id", &response_id(row, answer)),
        json!({ "key": "gen_ai.response.finish_reasons",
            "value": { "arrayValue": { "values": [{ "stringValue": answer.finish.name() }] } } }),
        attribute("ghostbench.arm", &answer.arm),
        attribute("ghostbench.role", answer.role.name()),
        attribute("ghostbench.language", &row.cursor.language),
        attribute("ghostbench.outcome", row.outcome.kind.name()),
        attribute("ghostbench.exposure", row.exposure.name()),
    ];
    attributes.extend(row.trial.as_deref().map(|trial| attribute("ghostbench.trial", trial)));
    for (key, count) in [
        ("gen_ai.usage.input_tokens", answer.tokens.map(|tokens| tokens.input)),
        ("gen_ai.usage.output_tokens", answer.tokens.map(|tokens| tokens.output)),
    ] {
        // 64-bit integers are texts in this encoding.
        attributes
            .extend(count.map(|count| json!({ "key": key, "value": { "intValue": count.to_string() } })));
    }
    let status = if answer.has_failed() { json!({ "code": ERROR_STATUS }) } else { json!({}) };
    if answer.has_failed() {
        attributes.push(attribute("error.type", answer.status.name()));
    }
    json!({
        "traceId": row.id,
        "spanId": span_id(row, answer),
        "name": format!("text_completion {}", answer.engine.model).trim_end(),
        "kind": CLIENT_SPAN,
        "startTimeUnixNano": nanoseconds(asked),
        "endTimeUnixNano": nanoseconds(asked + milliseconds(answer.ms.total)),
        "attributes": attributes,
        "status": status,
    })
}

/// Returns a record for each metric that measured something, at the time of the truth.
fn evaluations(row: &Opportunity, answer: &ArmAnswer, asked: Duration, metrics: &Metrics) -> Vec<Value> {
    let judged = row.truth().map_or(Duration::ZERO, |truth| milliseconds(truth.at - answer.asked));
    let record = |(name, value): (&str, f64)| {
        json!({
            "timeUnixNano": nanoseconds(asked + judged),
            "eventName": EVALUATION,
            "traceId": row.id,
            "spanId": span_id(row, answer),
            "attributes": [
                attribute("gen_ai.evaluation.name", name),
                json!({ "key": "gen_ai.evaluation.score.value", "value": { "doubleValue": value } }),
                attribute("gen_ai.response.id", &response_id(row, answer)),
            ],
        })
    };
    let values = metrics.iter().filter_map(|(metric, value)| Some((metric.name(), ratio(*value)?)));
    values.map(record).collect()
}

fn ratio(value: MetricValue) -> Option<f64> {
    let number = match value {
        MetricValue::Value(value) => value,
        MetricValue::Ratio { num, den } => num / den,
    };
    number.is_finite().then_some(number)
}

fn resource() -> Value {
    json!({ "attributes": [attribute("service.name", "ghostbench")] })
}

fn scope() -> Value {
    json!({ "name": "ghostbench.trial" })
}

fn attribute(key: &str, value: &str) -> Value {
    json!({ "key": key, "value": { "stringValue": value } })
}

fn response_id(row: &Opportunity, answer: &ArmAnswer) -> String {
    format!("{}-{}", row.id, answer.arm)
}

/// Returns 16 hexadecimal digits, the same in every export.
fn span_id(row: &Opportunity, answer: &ArmAnswer) -> String {
    blake3::hash(response_id(row, answer).as_bytes()).to_hex()[..16].to_owned()
}

/// Returns a duration; a negative or immeasurable one is zero.
fn milliseconds(ms: f64) -> Duration {
    Duration::try_from_secs_f64(ms / 1e3).unwrap_or_default()
}

fn nanoseconds(time: Duration) -> String {
    time.as_nanos().to_string()
}

#[cfg(test)]
mod tests {
    use super::super::{ArmRole, OpportunityCursor, Trigger};
    use super::*;
    use crate::metric::Metric;
    use crate::prediction::{EngineIdentity, Status, TokenCounts};

    fn row() -> Opportunity {
        let name = || "qwen".to_owned();
        let engine =
            EngineIdentity { name: name(), kind: "ollama".to_owned(), model: name(), fingerprint: name() };
        let mut answer = ArmAnswer::empty(name(), engine, ArmRole::Shown, Status::Timeout);
        answer.asked = 100.0;
        answer.ms.total = 50.5;
        answer.tokens = Some(TokenCounts { input: 7, output: 2, cached: None });
        Opportunity {
            opened_at: "2026-01-02T03:04:05.000Z".to_owned(),
            answers: vec![answer],
            ..Opportunity::new(
                "0".repeat(32),
                Trigger::Automatic,
                OpportunityCursor::at_start("python", "a.py"),
            )
        }
    }

    fn values(attributes: &Value) -> Vec<(&str, String)> {
        let list = attributes.as_array().expect("a list").iter();
        let value = |it: &Value| it["value"].as_object().and_then(|it| it.values().next().cloned());
        list.map(|it| (it["key"].as_str().expect("a name"), value(it).expect("a value").to_string()))
            .collect()
    }

    #[test]
    fn a_failed_request_is_a_span_with_times_in_nanoseconds() {
        let spans = otlp_spans(&[EvaluatedOpportunity { row: &row(), metrics: &[] }]);
        let span = &spans["resourceSpans"][0]["scopeSpans"][0]["spans"][0];
        assert_eq!(span["startTimeUnixNano"], "1767323045100000000");
        assert_eq!(span["endTimeUnixNano"], "1767323045150500000");
        assert_eq!((&span["kind"], &span["status"]["code"]), (&3.into(), &2.into()));
        let id = span["spanId"].as_str().expect("an id");
        assert!(id.len() == 16 && span["traceId"] == "0".repeat(32), "{span}");
        let attributes = values(&span["attributes"]);
        for (key, value) in [
            ("gen_ai.operation.name", "\"text_completion\""),
            ("gen_ai.provider.name", "\"ollama\""),
            ("gen_ai.usage.input_tokens", "\"7\""),
            ("error.type", "\"timeout\""),
        ] {
            assert!(attributes.contains(&(key, value.to_owned())), "{key}: {attributes:?}");
        }
    }

    #[test]
    fn measured_metrics_are_records_in_the_span_of_their_answer() {
        let nothing = MetricValue::Ratio { num: 0.0, den: 0.0 };
        let metrics =
            [Metrics::from([(Metric::ExactMatch, MetricValue::Value(1.0)), (Metric::IdentifierF1, nothing)])];
        let row = row();
        let rows = [EvaluatedOpportunity { row: &row, metrics: &metrics }];
        let (logs, spans) = (otlp_evaluations(&rows), otlp_spans(&rows));
        let records = logs["resourceLogs"][0]["scopeLogs"][0]["logRecords"].as_array().expect("a list");
        assert_eq!(records.len(), 1);
        assert_eq!(records[0]["eventName"], EVALUATION);
        assert_eq!(records[0]["spanId"], spans["resourceSpans"][0]["scopeSpans"][0]["spans"][0]["spanId"]);
        let attributes = values(&records[0]["attributes"]);
        assert_eq!(attributes[0], ("gen_ai.evaluation.name", "\"exact_match\"".to_owned()));
        assert_eq!(attributes[1], ("gen_ai.evaluation.score.value", "1.0".to_owned()));
    }

    #[test]
    fn rows_with_hostile_times_are_left_out_or_bounded() {
        let mut hostile = row();
        hostile.answers[0].ms.total = f64::NAN;
        hostile.answers[0].asked = -1e300;
        let span = |row: &Opportunity| {
            otlp_spans(&[EvaluatedOpportunity { row, metrics: &[] }])["resourceSpans"][0]["scopeSpans"][0]["spans"].clone()
        };
        assert_eq!(span(&hostile)[0]["endTimeUnixNano"], "1767323045000000000");
        hostile.opened_at = "yesterday".to_owned();
        assert_eq!(span(&hostile), json!([]));
    }
}
