//! How the engines are that write ghost text: how fast they answer, and which of their faults the user knows of.
//!
//! A fault that lasts comes back at every key. The user is told once of each cause of an engine, and again only after the engine has
//! answered in between or the settings have changed. Engines go by their names.

use std::collections::{BTreeSet, HashMap};
use std::sync::Mutex;
use std::time::{Duration, Instant};

use completion::{Outcome, Response, Status};

use crate::locks::lock;

/// All engines that were asked for ghost text.
#[derive(Default)]
pub(crate) struct Health(Mutex<HashMap<String, Condition>>);

/// How one is.
#[derive(Default)]
struct Condition {
    response: Response,
    /// What is wrong with it since it last answered.
    fault: Option<String>,
    /// The causes that the user was told since then.
    told: BTreeSet<&'static str>,
}

impl Health {
    /// How long the engine takes for an answer, as far as that is known.
    pub(crate) fn response(&self, engine: &str) -> Option<Duration> {
        lock(&self.0).get(engine).and_then(|condition| condition.response.usual())
    }

    /// What is wrong with the engine since it last answered.
    pub(crate) fn fault(&self, engine: &str) -> Option<String> {
        lock(&self.0).get(engine).and_then(|condition| condition.fault.clone())
    }

    /// Forgets the faults of all engines: the settings have changed.
    pub(crate) fn forget_faults(&self) {
        for condition in lock(&self.0).values_mut() {
            condition.fault = None;
            condition.told.clear();
        }
    }

    /// An engine is asked.
    pub(crate) fn ask<'a>(&'a self, engine: &'a str) -> Asked<'a> {
        Asked { health: self, engine, start: Instant::now(), is_over: false }
    }

    fn change<T>(&self, engine: &str, change: impl FnOnce(&mut Condition) -> T) -> T {
        change(lock(&self.0).entry(engine.to_owned()).or_default())
    }

    /// Takes note of a fault; true if the user has not been told of its cause.
    fn failed(&self, engine: &str, cause: &'static str, message: &str) -> bool {
        self.change(engine, |condition| {
            condition.fault = Some(message.to_owned());
            condition.told.insert(cause)
        })
    }
}

/// A question that an engine is working on; dropping it unanswered gives it up.
pub(crate) struct Asked<'a> {
    health: &'a Health,
    engine: &'a str,
    start: Instant,
    is_over: bool,
}

/// What the user is to be told of an engine.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct Fault {
    /// A word for the cause.
    pub(crate) cause: &'static str,
    /// The cause with its remedy. It may quote the server, which may quote code.
    pub(crate) message: String,
}

impl Asked<'_> {
    /// Takes note of how it ended; a fault comes back if the user has not been told of it.
    pub(crate) fn ended(mut self, outcome: &Outcome) -> Option<Fault> {
        self.is_over = true;
        let took = outcome.trace.timings.total;
        let (cause, message) = match &outcome.status {
            Status::Failed(error) => (error.cause(), error.to_string()),
            Status::Timeout => {
                let seconds = took.as_secs_f64();
                let engine = self.engine;
                (
                    "timeout",
                    format!(
                        "engine `{engine}` gave no answer within {seconds:.1} s; see to it, or give it more time with `deadline_ms`"
                    ),
                )
            }
            // It was asked, and it answered.
            _ if outcome.trace.finish.is_some() => {
                self.health.change(self.engine, |condition| {
                    condition.response.answered(took);
                    condition.fault = None;
                    condition.told.clear();
                });
                return None;
            }
            _ => return None,
        };
        self.health.failed(self.engine, cause, &message).then_some(Fault { cause, message })
    }
}

impl Drop for Asked<'_> {
    fn drop(&mut self) {
        if !self.is_over {
            let after = self.start.elapsed();
            self.health.change(self.engine, |condition| condition.response.given_up(after));
        }
    }
}

#[cfg(test)]
mod tests {
    use completion::{Timings, Trace};
    use engines::{Error, Finish};

    use super::*;

    fn outcome(status: Status, finish: Option<Finish>) -> Outcome {
        let timings = Timings { total: Duration::from_millis(200), ..Timings::default() };
        Outcome {
            status,
            text: String::new(),
            alternatives: Vec::new(),
            trace: Trace { finish, timings, ..Trace::default() },
        }
    }

    fn failed(message: &str) -> Outcome {
        let error = Error::Failed { engine: "e".to_owned(), message: message.to_owned() };
        outcome(Status::Failed(error), None)
    }

    fn told(health: &Health, engine: &str, outcome: &Outcome) -> Option<&'static str> {
        health.ask(engine).ended(outcome).map(|fault| fault.cause)
    }

    #[test]
    fn a_cause_is_told_once_for_each_engine_until_the_engine_answers_or_the_settings_change() {
        let health = Health::default();
        let timeout = outcome(Status::Timeout, None);
        assert_eq!(told(&health, "e", &failed("one")), Some("failed"));
        assert_eq!(told(&health, "e", &failed("other words")), None);
        assert_eq!(told(&health, "e", &timeout), Some("timeout"));
        assert_eq!(told(&health, "f", &timeout), Some("timeout"));
        assert_eq!(told(&health, "e", &failed("one")), None, "it has not answered in between");
        assert!(health.fault("e").is_some_and(|fault| fault.contains("one")));
        assert_eq!(told(&health, "e", &outcome(Status::Ok, Some(Finish::Stop))), None);
        assert_eq!(health.fault("e"), None);
        assert_eq!(told(&health, "e", &failed("one")), Some("failed"));
        assert_eq!(told(&health, "f", &timeout), None, "it is another one");
        health.forget_faults();
        assert_eq!(health.fault("f"), None);
        assert_eq!(told(&health, "f", &timeout), Some("timeout"));
    }

    #[test]
    fn only_answers_tell_how_fast_an_engine_is_and_what_is_given_up_how_slow_at_least() {
        let health = Health::default();
        for untold in [outcome(Status::Timeout, None), failed("one"), outcome(Status::Cancelled, None)] {
            health.ask("e").ended(&untold);
        }
        assert_eq!(health.response("e"), None);
        health.ask("e").ended(&outcome(Status::Silent("nothing"), Some(Finish::Stop)));
        assert_eq!(health.response("e"), Some(Duration::from_millis(200)));
        drop(health.ask("f"));
        assert!(health.response("f").is_some());
    }
}
