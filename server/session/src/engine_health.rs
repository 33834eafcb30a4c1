//! Health of the engines that write ghost text: their latency, and the faults reported to the user.
//!
//! A persistent fault would be reported at every key. Each cause of an engine is reported once, and again only after the engine
//! has answered or the settings have changed. Engines are identified by name.

use std::collections::{BTreeSet, HashMap};
use std::sync::Mutex;
use std::time::{Duration, Instant};

use crate::locks::lock;
use completion::{Outcome, OutcomeStatus, ResponseTime};

/// Health of all engines that were used for ghost text.
#[derive(Default)]
pub struct EngineHealth(Mutex<HashMap<String, EngineRecord>>);

/// Health of one engine.
#[derive(Default)]
struct EngineRecord {
    latency: ResponseTime,
    /// Fault since its last answer.
    fault: Option<String>,
    /// Causes reported since its last answer.
    reported_causes: BTreeSet<&'static str>,
}

impl EngineHealth {
    /// Returns the expected latency of an engine, if known.
    pub fn latency(&self, engine: &str) -> Option<Duration> {
        lock(&self.0).get(engine).and_then(|condition| condition.latency.estimate())
    }

    /// Returns the engine's fault since its last answer.
    pub fn fault(&self, engine: &str) -> Option<String> {
        lock(&self.0).get(engine).and_then(|condition| condition.fault.clone())
    }

    /// Clears the faults of all engines, after a change of the settings.
    pub(crate) fn clear_faults(&self) {
        for condition in lock(&self.0).values_mut() {
            condition.fault = None;
            condition.reported_causes.clear();
        }
    }

    /// Registers a request to an engine.
    pub fn begin_request<'a>(&'a self, engine: &'a str) -> TrackedRequest<'a> {
        TrackedRequest { health: self, engine, start: Instant::now(), is_finished: false }
    }

    fn update<T>(&self, engine: &str, change: impl FnOnce(&mut EngineRecord) -> T) -> T {
        change(lock(&self.0).entry(engine.to_owned()).or_default())
    }

    /// Records a fault. Returns true if its cause was not reported before.
    fn record_fault(&self, engine: &str, cause: &'static str, message: &str) -> bool {
        self.update(engine, |condition| {
            condition.fault = Some(message.to_owned());
            condition.reported_causes.insert(cause)
        })
    }
}

/// A request that an engine is processing; dropping it counts as giving it up.
pub struct TrackedRequest<'a> {
    health: &'a EngineHealth,
    engine: &'a str,
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
                    condition.fault = None;
                    condition.reported_causes.clear();
                });
                return None;
            }
            _ => return None,
        };
        self.health.record_fault(self.engine, cause, &message).then_some(EngineFault { cause, message })
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

    fn reported_cause(health: &EngineHealth, engine: &str, outcome: &Outcome) -> Option<&'static str> {
        health.begin_request(engine).finish(outcome).map(|fault| fault.cause)
    }

    #[test]
    fn fault_is_reported_once_per_engine_until_cleared() {
        let health = EngineHealth::default();
        let timeout = outcome(OutcomeStatus::Timeout, None);
        assert_eq!(reported_cause(&health, "e", &failed("one")), Some("failed"));
        assert_eq!(reported_cause(&health, "e", &failed("other words")), None);
        assert_eq!(reported_cause(&health, "e", &timeout), Some("timeout"));
        assert_eq!(reported_cause(&health, "f", &timeout), Some("timeout"));
        assert_eq!(reported_cause(&health, "e", &failed("one")), None, "it has not answered in between");
        assert!(health.fault("e").is_some_and(|fault| fault.contains("one")));
        assert_eq!(reported_cause(&health, "e", &outcome(OutcomeStatus::Ok, Some(FinishReason::Stop))), None);
        assert_eq!(health.fault("e"), None);
        assert_eq!(reported_cause(&health, "e", &failed("one")), Some("failed"));
        assert_eq!(reported_cause(&health, "f", &timeout), None, "it is another one");
        health.clear_faults();
        assert_eq!(health.fault("f"), None);
        assert_eq!(reported_cause(&health, "f", &timeout), Some("timeout"));
    }

    #[test]
    fn latency_is_measured_from_answers_and_dropped_requests() {
        let health = EngineHealth::default();
        for untold in
            [outcome(OutcomeStatus::Timeout, None), failed("one"), outcome(OutcomeStatus::Cancelled, None)]
        {
            health.begin_request("e").finish(&untold);
        }
        assert_eq!(health.latency("e"), None);
        health
            .begin_request("e")
            .finish(&outcome(OutcomeStatus::Silent("nothing"), Some(FinishReason::Stop)));
        assert_eq!(health.latency("e"), Some(Duration::from_millis(200)));
        drop(health.begin_request("f"));
        assert!(health.latency("f").is_some());
    }
}
