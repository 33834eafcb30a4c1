//! Health of the engines that write ghost text: their latency, and the faults reported to the user.
//!
//! A persistent fault would be reported at every key. Each cause of an engine is reported once, and again only after the engine
//! has answered or under other settings. Engines are identified by name. Faults are kept with the settings of their request rather
//! than cleared when settings change, since several folders follow their settings independently and requests overlap with changes.

use std::collections::{BTreeSet, HashMap, VecDeque};
use std::sync::Mutex;
use std::time::{Duration, Instant};

use crate::locks::lock;
use completion::{Outcome, OutcomeStatus, ResponseTime};
use config::Config;

/// Number of settings under which the faults of one engine are remembered: more than there are folders, usually.
const MAX_FAULTS: usize = 8;

/// Health of all engines that were used for ghost text.
#[derive(Default)]
pub struct EngineHealth(Mutex<HashMap<String, EngineRecord>>);

/// Health of one engine.
#[derive(Default)]
struct EngineRecord {
    latency: ResponseTime,
    /// Faults since its last answer, one for each of the latest settings.
    faults: VecDeque<Fault>,
}

/// The faults of an engine under some settings.
struct Fault {
    config: Config,
    /// The latest one.
    message: String,
    /// All causes, which are reported.
    causes: BTreeSet<&'static str>,
}

impl EngineRecord {
    /// Records a fault. Returns true if its cause was not reported before.
    fn record_fault(&mut self, config: &Config, cause: &'static str, message: &str) -> bool {
        if let Some(fault) = self.faults.iter_mut().find(|fault| fault.config == *config) {
            message.clone_into(&mut fault.message);
            return fault.causes.insert(cause);
        }
        if self.faults.len() == MAX_FAULTS {
            self.faults.pop_front();
        }
        let (config, message) = (config.clone(), message.to_owned());
        self.faults.push_back(Fault { config, message, causes: BTreeSet::from([cause]) });
        true
    }
}

impl EngineHealth {
    /// Returns the expected latency of an engine, if known.
    pub fn latency(&self, engine: &str) -> Option<Duration> {
        lock(&self.0).get(engine).and_then(|condition| condition.latency.estimate())
    }

    /// Returns the engine's fault under these settings since its last answer.
    pub fn fault(&self, engine: &str, config: &Config) -> Option<String> {
        let records = lock(&self.0);
        let fault = records.get(engine)?.faults.iter().find(|fault| fault.config == *config)?;
        Some(fault.message.clone())
    }

    /// Registers a request to an engine under these settings.
    pub fn begin_request<'a>(&'a self, engine: &'a str, config: &'a Config) -> TrackedRequest<'a> {
        TrackedRequest { health: self, engine, config, start: Instant::now(), is_finished: false }
    }

    fn update<T>(&self, engine: &str, change: impl FnOnce(&mut EngineRecord) -> T) -> T {
        change(lock(&self.0).entry(engine.to_owned()).or_default())
    }
}

/// A request that an engine is processing; dropping it counts as giving it up.
pub struct TrackedRequest<'a> {
    health: &'a EngineHealth,
    engine: &'a str,
    config: &'a Config,
    start: Instant,
    is_finished: bool,
}

/// A fault to report to the user.
#[derive(Debug, PartialEq, Eq)]
pub struct EngineFault {
    /// Identifies the cause.
    pub cause: &'static str,
    /// The cause with its remedy. May quote the engine's server, and so may contain code.
    pub message: String,
}

impl TrackedRequest<'_> {
    /// Records the outcome. Returns a fault if it was not reported before.
    pub fn finish(mut self, outcome: &Outcome) -> Option<EngineFault> {
        self.is_finished = true;
        let took = outcome.trace.timings.total;
        let (cause, message) = match &outcome.status {
            OutcomeStatus::Failed(error) => (error.cause(), error.to_string()),
            OutcomeStatus::Timeout => {
                let seconds = took.as_secs_f64();
                let engine = self.engine;
                (
                    "timeout",
                    format!(
                        "engine `{engine}` gave no answer within {seconds:.1} s; check it, or increase `deadline_ms`"
                    ),
                )
            }
            // The engine has answered.
            _ if outcome.trace.finish.is_some() => {
                self.health.update(self.engine, |condition| {
                    condition.latency.record_answer(took);
                    condition.faults.clear();
                });
                return None;
            }
            _ => return None,
        };
        let is_new =
            self.health.update(self.engine, |record| record.record_fault(self.config, cause, &message));
        is_new.then_some(EngineFault { cause, message })
    }
}

impl Drop for TrackedRequest<'_> {
    fn drop(&mut self) {
        if !self.is_finished {
            let after = self.start.elapsed();
            self.health.update(self.engine, |condition| condition.latency.record_timeout(after));
        }
    }
}

#[cfg(test)]
mod tests {
    use completion::{Timings, Trace};
    use config::Environment;
    use engines::{EngineError, FinishReason};

    use super::*;

    fn outcome(status: OutcomeStatus, finish: Option<FinishReason>) -> Outcome {
        let timings = Timings { total: Duration::from_millis(200), ..Timings::default() };
        Outcome {
            status,
            text: String::new(),
            alternatives: Vec::new(),
            trace: Trace { finish, timings, ..Trace::default() },
        }
    }

    fn failed(message: &str) -> Outcome {
        let error = EngineError::Failed { engine: "e".to_owned(), message: message.to_owned() };
        outcome(OutcomeStatus::Failed(error), None)
    }

    /// The default settings with this engine for ghost text.
    fn settings(engine: &str) -> Config {
        let mut config = Config::new(&[], &Environment::default());
        config.completion.engine = Some(engine.to_owned());
        config
    }

    fn reported_cause(health: &EngineHealth, engine: &str, outcome: &Outcome) -> Option<&'static str> {
        health.begin_request(engine, &settings("e")).finish(outcome).map(|fault| fault.cause)
    }

    #[test]
    fn fault_is_reported_once_per_engine_until_it_answers() {
        let health = EngineHealth::default();
        let timeout = outcome(OutcomeStatus::Timeout, None);
        assert_eq!(reported_cause(&health, "e", &failed("one")), Some("failed"));
        assert_eq!(reported_cause(&health, "e", &failed("other words")), None);
        assert_eq!(reported_cause(&health, "e", &timeout), Some("timeout"));
        assert_eq!(reported_cause(&health, "f", &timeout), Some("timeout"));
        assert_eq!(reported_cause(&health, "e", &failed("one")), None, "it has not answered in between");
        assert!(health.fault("e", &settings("e")).is_some_and(|fault| fault.contains("one")));
        assert_eq!(reported_cause(&health, "e", &outcome(OutcomeStatus::Ok, Some(FinishReason::Stop))), None);
        assert_eq!(health.fault("e", &settings("e")), None);
        assert_eq!(reported_cause(&health, "e", &failed("one")), Some("failed"));
        assert_eq!(reported_cause(&health, "f", &timeout), None, "it is another one");
    }

    #[test]
    fn fault_is_reported_again_under_other_settings_only() {
        let health = EngineHealth::default();
        let report = |config: &Config| health.begin_request("e", config).finish(&failed("one")).is_some();
        assert!(report(&settings("e")));
        assert_eq!(health.fault("e", &settings("other")), None);
        assert!(report(&settings("other")));
        assert!(!report(&settings("e")), "folders with different settings take turns");
        assert!(!report(&settings("other")));
        for number in 0..MAX_FAULTS {
            assert!(report(&settings(&number.to_string())));
        }
        assert!(report(&settings("e")), "the oldest settings are forgotten");
    }

    #[test]
    fn latency_is_measured_from_answers_and_dropped_requests() {
        let health = EngineHealth::default();
        for untold in
            [outcome(OutcomeStatus::Timeout, None), failed("one"), outcome(OutcomeStatus::Cancelled, None)]
        {
            health.begin_request("e", &settings("e")).finish(&untold);
        }
        assert_eq!(health.latency("e"), None);
        health
            .begin_request("e", &settings("e"))
            .finish(&outcome(OutcomeStatus::Silent("nothing"), Some(FinishReason::Stop)));
        assert_eq!(health.latency("e"), Some(Duration::from_millis(200)));
        drop(health.begin_request("f", &settings("e")));
        assert!(health.latency("f").is_some());
    }
}
