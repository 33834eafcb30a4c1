//! Estimates the requests, tokens, money and time of a run before anything is sent.

use std::collections::BTreeMap;

use cases::{NO_COPIES_SUFFIX, Prediction};

use crate::execute::RequestPlan;
use crate::request_size::{RequestSizes, RequestTokens};
use crate::runner::RunInputs;

/// Expected needs of a run. Tokens are estimated from the texts, and context is assumed to fill its budget.
#[derive(Clone, Debug, PartialEq)]
pub struct RunEstimate {
    /// The engines of the run, in their order.
    pub engines: Vec<EngineEstimate>,
    /// Answers that exist already.
    pub answered: usize,
    /// Answers that need no request, because hiding copies does not change it.
    pub reused: usize,
    /// Expected duration, seconds; `None` if the latency of an engine is unknown.
    pub seconds: Option<f64>,
}

/// Expected needs of the requests to one engine.
#[derive(Clone, Debug, PartialEq)]
pub struct EngineEstimate {
    /// The engine's name.
    pub engine: String,
    /// Whether it runs outside of this process.
    pub is_external: bool,
    /// Number of requests.
    pub requests: usize,
    /// Tokens of the prompts.
    pub prompt_tokens: u64,
    /// Tokens of answers as long as the truths.
    pub answer_tokens: u64,
    /// Tokens of the longest possible answers.
    pub longest_answer_tokens: u64,
    /// Cost with answers as long as the truths, in the currency of the prices; `None` without a price.
    pub cost: Option<f64>,
    /// Cost with the longest possible answers.
    pub highest_cost: Option<f64>,
    /// Median time of its earlier answers, milliseconds.
    pub latency: Option<f64>,
}

impl RunEstimate {
    /// Estimates the requests that are missing in `done`. Latencies are those of the answers in `done` and `earlier`.
    pub fn new(
        inputs: &RunInputs,
        plan: &RequestPlan,
        done: &[Prediction],
        earlier: &[Prediction],
    ) -> RunEstimate {
        let attempts = plan.attempts(inputs, done);
        let sizes = RequestSizes::new(inputs);
        let latencies = median_latencies(done.iter().chain(earlier));
        let mut engines: Vec<EngineEstimate> = inputs
            .engines
            .iter()
            .map(|engine| EngineEstimate {
                engine: engine.name().to_owned(),
                is_external: engine.engine.description().kind.is_external(),
                requests: 0,
                prompt_tokens: 0,
                answer_tokens: 0,
                longest_answer_tokens: 0,
                cost: engine.price.map(|_| 0.0),
                highest_cost: engine.price.map(|_| 0.0),
                latency: latencies.get(base_name(engine.name())).copied(),
            })
            .collect();
        for attempt in &attempts.requests {
            let RequestTokens { prompt, answer, longest_answer } = sizes.tokens(*attempt);
            let engine = &mut engines[attempt.engine];
            engine.requests += 1;
            engine.prompt_tokens += prompt;
            engine.answer_tokens += answer;
            engine.longest_answer_tokens += longest_answer;
            if let Some(price) = sizes.price(*attempt) {
                engine.cost = engine.cost.map(|sum| sum + price.cost_of(prompt, answer));
                engine.highest_cost =
                    engine.highest_cost.map(|sum| sum + price.cost_of(prompt, longest_answer));
            }
        }
        // Answers of this process take milliseconds.
        let waits = engines.iter().filter(|engine| engine.is_external && engine.requests > 0);
        let waits = waits.map(|engine| Some(engine.latency? * engine.requests as f64 / 1e3));
        // The sum of no numbers is minus zero.
        let seconds = waits.sum::<Option<f64>>().map(|sum| (sum + 0.0) / inputs.jobs.max(1) as f64);
        RunEstimate { engines, answered: done.len(), reused: attempts.reused.len(), seconds }
    }

    /// Whether anything outside of this process is asked.
    pub fn has_external_requests(&self) -> bool {
        self.engines.iter().any(|engine| engine.is_external && engine.requests > 0)
    }
}

/// Returns the name of the same engine with all files: both have the same latency.
fn base_name(name: &str) -> &str {
    name.strip_suffix(NO_COPIES_SUFFIX).unwrap_or(name)
}

/// Returns the median time of the answers that were measured, by engine with all files.
fn median_latencies<'a>(answers: impl Iterator<Item = &'a Prediction>) -> BTreeMap<&'a str, f64> {
    let mut times: BTreeMap<&str, Vec<f64>> = BTreeMap::new();
    for row in answers.filter(|row| row.recorded.is_none() && !row.reused && !row.is_unasked()) {
        times.entry(base_name(&row.engine.name)).or_default().push(row.ms.total);
    }
    let median = |mut times: Vec<f64>| {
        times.sort_unstable_by(f64::total_cmp);
        times[times.len() / 2]
    };
    times.into_iter().map(|(name, times)| (name, median(times))).collect()
}
