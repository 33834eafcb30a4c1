//! Opportunities for OpenTelemetry: metrics of their answers, and sending both to a collector.

use anyhow::Context;
use cases::{EvaluatedOpportunity, Metrics, Opportunity, otlp_evaluations, otlp_spans};
use config::Secret;
use engines::{HttpServerConfig, TelemetryCollector};
use serde_json::Value;

use crate::exit::UsageError;
use crate::steps::run_replay::runtime;

/// Variable with the headers of requests to a collector, as OpenTelemetry defines it.
const HEADERS_VARIABLE: &str = "OTEL_EXPORTER_OTLP_HEADERS";

/// Opportunities of one request: collectors refuse more than 4 MB by default.
const ROWS_PER_REQUEST: usize = 200;

/// Opportunities with the metrics of their answers.
pub(crate) struct EvaluatedRows<'a> {
    rows: &'a [Opportunity],
    metrics: Vec<Vec<Metrics>>,
}

impl<'a> EvaluatedRows<'a> {
    pub(crate) fn new(rows: &'a [Opportunity]) -> EvaluatedRows<'a> {
        EvaluatedRows { rows, metrics: rows.iter().map(trial::privacy::answer_metrics).collect() }
    }

    /// Returns one OTLP request with a span for each answer.
    pub(crate) fn spans(&self) -> Value {
        otlp_spans(&self.evaluated())
    }

    /// Returns one OTLP request with a log record for each metric of each answer.
    pub(crate) fn evaluations(&self) -> Value {
        otlp_evaluations(&self.evaluated())
    }

    /// Sends spans and metrics to a collector.
    pub(crate) fn send(&self, url: &str) -> anyhow::Result<()> {
        let headers = collector_headers(&std::env::var(HEADERS_VARIABLE).unwrap_or_default())?;
        let collector = TelemetryCollector::new(&HttpServerConfig { headers, ..HttpServerConfig::at(url) })
            .map_err(|error| {
            UsageError(format!("{error}; name a collector such as http://localhost:4318"))
        })?;
        let sending = async {
            for rows in self.evaluated().chunks(ROWS_PER_REQUEST) {
                collector.send("/v1/traces", otlp_spans(rows).to_string().into_bytes()).await?;
                collector.send("/v1/logs", otlp_evaluations(rows).to_string().into_bytes()).await?;
            }
            Ok::<(), engines::ServerError>(())
        };
        runtime()?.block_on(sending).context("the collector of OpenTelemetry did not take all opportunities")
    }

    fn evaluated(&self) -> Vec<EvaluatedOpportunity<'_>> {
        let rows = self.rows.iter().zip(&self.metrics);
        rows.map(|(row, metrics)| EvaluatedOpportunity { row, metrics }).collect()
    }
}

/// Parses `NAME=VALUE,NAME=VALUE`; values are percent-encoded.
fn collector_headers(text: &str) -> Result<Vec<(String, Secret)>, UsageError> {
    let parts = text.split(',').map(str::trim).filter(|part| !part.is_empty());
    let header = |part: &str| {
        let (name, value) = part.split_once('=').ok_or_else(|| {
            UsageError(format!("{HEADERS_VARIABLE} is not of the form NAME=VALUE,NAME=VALUE"))
        })?;
        let value = percent_encoding::percent_decode_str(value.trim()).decode_utf8_lossy();
        Ok((name.trim().to_owned(), Secret::new(&value)))
    };
    parts.map(header).collect()
}
