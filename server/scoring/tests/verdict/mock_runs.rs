//! Runs of made-up engines whose true quality, latency, cost and faults are known.
//!
//! An answer is right if a normal number is below the engine's threshold. The number is the sum of four: of the file and of the case,
//! the same for all engines; of the engine in the file, which makes the *differences* of cases of one file correlated; and of the
//! answer alone.

use std::collections::BTreeMap;

use cases::{
    BlockCut, Case, CompletionTask, Cost, EngineConfig, EngineIdentity, Machine, Metric, MetricValue, Origin,
    OriginKind, Prediction, PredictionTimings, Run, SchemaVersion, Score, Status, Tags, Task,
};
use scoring::RunRows;
use text::SplitMix64;

/// An engine with known properties.
#[derive(Clone, Debug)]
pub(crate) struct MockEngine {
    /// Its name.
    pub(crate) name: &'static str,
    /// Share of right answers among those that do not fail.
    pub(crate) accuracy: f64,
    /// Typical latency, milliseconds.
    pub(crate) latency: f64,
    /// Cost of an answer.
    pub(crate) cost: Option<f64>,
    /// Share of requests that fail.
    pub(crate) faults: f64,
}

impl MockEngine {
    /// Returns an engine that never fails, costs nothing and is fast.
    pub(crate) fn new(name: &'static str, accuracy: f64) -> MockEngine {
        MockEngine { name, accuracy, latency: 100.0, cost: None, faults: 0.0 }
    }
}

/// The cases of a made-up run.
#[derive(Clone, Copy, Debug)]
pub(crate) struct MockSuite {
    /// Number of files.
    pub(crate) files: usize,
    /// Mean number of cases in a file.
    pub(crate) cases_per_file: f64,
    /// Whether all files have the mean number; otherwise it is 1 and an exponential number.
    pub(crate) is_even: bool,
    /// Share of the variance that all engines have in common in a file.
    pub(crate) file: f64,
    /// Share that an engine has for itself in a file: the correlation of differences within files.
    pub(crate) engine_in_file: f64,
    /// Share that all engines have in common in a case.
    pub(crate) case: f64,
}

/// Owned rows of a made-up run.
pub(crate) struct MockRun {
    pub(crate) run: Run,
    pub(crate) cases: Vec<Case>,
    pub(crate) predictions: Vec<Prediction>,
    pub(crate) scores: Vec<Score>,
}

impl MockRun {
    pub(crate) fn rows(&self) -> RunRows<'_> {
        RunRows {
            run: &self.run,
            cases: &self.cases,
            predictions: &self.predictions,
            scores: &self.scores,
            judgements: &[],
            notes: &[],
        }
    }
}

/// Returns a run of the engines over the cases; the seed decides all numbers.
pub(crate) fn mock_run(engines: &[MockEngine], suite: &MockSuite, seed: u64) -> MockRun {
    let mut rng = NormalNumbers(SplitMix64::new(seed));
    let mut run =
        MockRun { run: run_of(engines), cases: Vec::new(), predictions: Vec::new(), scores: Vec::new() };
    let thresholds: Vec<f64> = engines.iter().map(|engine| threshold(engine.accuracy)).collect();
    for file in 0..suite.files {
        let spread = -rng.uniform().ln() * (suite.cases_per_file - 1.0);
        let cases = if suite.is_even { suite.cases_per_file } else { (1.0 + spread).round() } as usize;
        let of_file = rng.normal() * suite.file.sqrt();
        let of_engines: Vec<f64> =
            engines.iter().map(|_| rng.normal() * suite.engine_in_file.sqrt()).collect();
        for _ in 0..cases {
            let case = mock_case(run.cases.len(), file);
            let of_case = of_file + rng.normal() * suite.case.sqrt();
            let rest = (1.0 - suite.file - suite.engine_in_file - suite.case).sqrt();
            for (number, engine) in engines.iter().enumerate() {
                let ease = thresholds[number] - of_case - of_engines[number] - rest * rng.normal();
                let (prediction, score) =
                    answer(engine, &run.run.engines[number].engine, &case, ease, &mut rng);
                run.predictions.push(prediction);
                run.scores.push(score);
            }
            run.cases.push(case);
        }
    }
    run
}

/// Returns an answer; it is right if `ease` is positive.
fn answer(
    engine: &MockEngine,
    identity: &EngineIdentity,
    case: &Case,
    ease: f64,
    rng: &mut NormalNumbers,
) -> (Prediction, Score) {
    let has_failed = rng.uniform() < engine.faults;
    let total = engine.latency * (0.3 * rng.normal()).exp();
    let status = if has_failed { Status::Timeout } else { Status::Ok };
    let prediction = Prediction {
        ms: PredictionTimings { gather: 1.0, first: None, total },
        cost: engine.cost.filter(|_| !has_failed).map(|amount| Cost { amount, is_estimated: false }),
        ..Prediction::empty(case.id.clone(), identity.clone(), status)
    };
    let exact = !has_failed && ease > 0.0;
    let similarity = if has_failed { 0.0 } else { 1.0 / (1.0 + (-2.0 * ease).exp()) };
    let identifiers = 1.0 + (6.0 * rng.uniform()).floor();
    let metrics = [
        (Metric::ExactMatch, MetricValue::Value(f64::from(u8::from(exact)))),
        (Metric::EditSimilarity, MetricValue::Value(similarity)),
        (
            Metric::IdentifierRecall,
            MetricValue::Ratio { num: (similarity * identifiers).round(), den: identifiers },
        ),
    ];
    let score = Score {
        schema: SchemaVersion::CURRENT,
        case: case.id.clone(),
        engine: identity.name.clone(),
        fingerprint: identity.fingerprint.clone(),
        repetition: 0,
        scorer: None,
        metrics: metrics.into(),
    };
    (prediction, score)
}

/// Returns a case of a file; its number is its id.
pub(crate) fn mock_case(number: usize, file: usize) -> Case {
    Case {
        schema: SchemaVersion::CURRENT,
        id: format!("{number:08}"),
        hole: format!("{number:08}"),
        task: Task::Complete(CompletionTask::FullBlock(BlockCut::BlockStart)),
        block_kind: None,
        language: "go".into(),
        path: format!("{file}.go"),
        byte_range: 0..1,
        line: 0,
        character: 0,
        prefix: String::new(),
        suffix: String::new(),
        truth: "x".into(),
        context: Vec::new(),
        function: None,
        tests: None,
        origin: Origin::new(OriginKind::Mined, "tree"),
        tags: Tags::new(),
    }
}

/// Returns the description of a run of the engines.
pub(crate) fn run_of(engines: &[MockEngine]) -> Run {
    let config = |engine: &MockEngine| EngineConfig {
        engine: EngineIdentity {
            name: engine.name.into(),
            kind: "mock".into(),
            model: "mock".into(),
            fingerprint: engine.name.into(),
        },
        price: None,
        cutoff: None,
        settings: BTreeMap::new(),
    };
    Run {
        schema: SchemaVersion::CURRENT,
        tool: "0.0.0".into(),
        name: "mock".into(),
        suite: "mock".into(),
        seed: 1,
        repeat: 1,
        engines: engines.iter().map(config).collect(),
        workspace: None,
        copies: Vec::new(),
        machine: Machine { os: "mock".into(), cpu: "mock".into(), cores: 1 },
    }
}

/// Normal numbers from a seed.
struct NormalNumbers(SplitMix64);

impl NormalNumbers {
    /// Returns a number between 0 and 1, both excluded.
    fn uniform(&mut self) -> f64 {
        ((self.0.number() >> 11) as f64 + 0.5) / (1_u64 << 53) as f64
    }

    /// Returns a normal number (Box and Muller 1958).
    fn normal(&mut self) -> f64 {
        (-2.0 * self.uniform().ln()).sqrt() * (std::f64::consts::TAU * self.uniform()).cos()
    }
}

/// Returns the value below which a normal number is with this probability, by halving; precise to 1e-7 (Abramowitz and Stegun 1964,
/// 26.2.17).
fn threshold(probability: f64) -> f64 {
    let below = |z: f64| {
        let t = 1.0 / (1.0 + 0.231_641_9 * z.abs());
        let terms = [0.319_381_530, -0.356_563_782, 1.781_477_937, -1.821_255_978, 1.330_274_429];
        let density = (-z * z / 2.0).exp() / std::f64::consts::TAU.sqrt();
        let above = density * t * terms.into_iter().rev().fold(0.0, |sum, term| sum * t + term);
        if z < 0.0 { above } else { 1.0 - above }
    };
    let (mut low, mut high) = (-8.0, 8.0);
    for _ in 0..60 {
        let middle = f64::midpoint(low, high);
        if below(middle) < probability { low = middle } else { high = middle }
    }
    f64::midpoint(low, high)
}
