//! Limits of a run: money and requests. A request starts only if the run stays within them even at its highest cost.
//!
//! The cost of a request is known after its answer, so its highest cost is reserved before: the whole prompt, and the longest answer. If a
//! limit is near, requests wait until those in flight have returned the rest of their reservations. The prompt's tokens are estimated; an engine
//! that counts more raises its later reservations. Only the first requests of a run can therefore exceed the budget, by the error of the
//! estimate.

use std::collections::HashMap;
use std::pin::pin;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use cases::{Prediction, Status};
use tokio::sync::Notify;

use crate::plan::Attempt;
use crate::request_size::RequestSizes;
use crate::runner::RunInputs;

/// Limits of a whole run, the answers before it was resumed included.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct SpendLimits {
    /// Money, in the currency of the prices. Engines without prices are free.
    pub budget: Option<f64>,
    /// Number of requests to all engines, repeated attempts included.
    pub requests: Option<u64>,
}

/// The limit that ended a run, with the use of it.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum ReachedLimit {
    /// Money.
    Budget {
        /// Money spent.
        spent: f64,
        /// Highest cost of the request that was not made.
        next: f64,
    },
    /// Number of requests.
    Requests(u64),
}

/// The use of the limits of a run.
#[derive(Debug)]
pub(crate) struct SpendGuard {
    limits: SpendLimits,
    sizes: RequestSizes,
    ledger: Mutex<Ledger>,
    /// Notified when a request has ended.
    settled: Notify,
}

#[derive(Debug)]
struct Ledger {
    spent: f64,
    reserved: f64,
    requests: u64,
    in_flight: usize,
    /// By engine: the highest ratio of a cost to its expected maximum, at least 1.
    excess: Vec<f64>,
    reached: Option<ReachedLimit>,
}

/// Whether a request may start.
enum Permission {
    Granted(f64),
    Refused,
    /// Not before a request in flight has ended.
    Later,
}

impl SpendGuard {
    /// Starts with the use of the answers in `done`; `None` without limits.
    pub(crate) fn new(
        limits: SpendLimits,
        inputs: &RunInputs,
        done: &[Prediction],
    ) -> Option<Arc<SpendGuard>> {
        if limits == SpendLimits::default() {
            return None;
        }
        let sizes = RequestSizes::new(inputs);
        let spent = spent(inputs, &sizes, done);
        let ledger = Ledger {
            spent,
            reserved: 0.0,
            requests: done.iter().filter(|row| !row.is_unasked()).map(Prediction::requests).sum(),
            in_flight: 0,
            excess: vec![1.0; inputs.engines.len()],
            reached: None,
        };
        Some(Arc::new(SpendGuard { limits, sizes, ledger: Mutex::new(ledger), settled: Notify::new() }))
    }

    /// Returns the limit that prevented a request, if any did.
    pub(crate) fn reached(&self) -> Option<ReachedLimit> {
        self.ledger().reached
    }

    /// Waits until the request is within the limits; `None` if it exceeds one.
    pub(crate) async fn reserve(self: &Arc<SpendGuard>, attempt: Attempt) -> Option<Reservation> {
        loop {
            let mut settled = pin!(self.settled.notified());
            // From here on, no notification is missed.
            settled.as_mut().enable();
            match self.permission(attempt) {
                Permission::Granted(amount) => {
                    return Some(Reservation(Some(LimitedRequest {
                        guard: Arc::clone(self),
                        attempt,
                        amount,
                    })));
                }
                Permission::Refused => return None,
                Permission::Later => settled.await,
            }
        }
    }

    fn permission(&self, attempt: Attempt) -> Permission {
        let mut ledger = self.ledger();
        let amount = self.sizes.highest_cost(attempt) * ledger.excess[attempt.engine];
        let is_too_many = self.limits.requests.is_some_and(|most| ledger.requests >= most);
        let is_too_much =
            self.limits.budget.is_some_and(|budget| ledger.spent + ledger.reserved + amount > budget);
        if !is_too_many && !is_too_much {
            ledger.requests += 1;
            ledger.in_flight += 1;
            ledger.reserved += amount;
            return Permission::Granted(amount);
        }
        if ledger.in_flight > 0 {
            return Permission::Later;
        }
        let limit = match is_too_many {
            true => ReachedLimit::Requests(ledger.requests),
            false => ReachedLimit::Budget { spent: ledger.spent, next: amount },
        };
        ledger.reached.get_or_insert(limit);
        Permission::Refused
    }

    fn ledger(&self) -> MutexGuard<'_, Ledger> {
        self.ledger.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// The part of the limits that a request in flight may need; returned when it is dropped.
pub struct Reservation(Option<LimitedRequest>);

struct LimitedRequest {
    guard: Arc<SpendGuard>,
    attempt: Attempt,
    amount: f64,
}

impl Reservation {
    /// Reserves nothing, because there are no limits.
    pub(crate) fn unlimited() -> Reservation {
        Reservation(None)
    }

    /// Ends the request with this answer.
    pub fn settle(self, prediction: &Prediction) {
        if let Some(request) = &self.0 {
            request.settle(prediction);
        }
    }

    /// Ends the request without an answer: it may have been made, at its highest cost.
    pub fn give_up(self) {
        if let Some(request) = &self.0 {
            request.guard.ledger().spent += request.amount;
        }
    }
}

impl LimitedRequest {
    fn settle(&self, prediction: &Prediction) {
        let mut ledger = self.guard.ledger();
        ledger.spent += cost(prediction, self.amount);
        ledger.requests -= u64::from(prediction.is_unasked());
        let most = self.guard.sizes.highest_cost(self.attempt);
        if let Some(cost) = prediction.cost.filter(|_| most > 0.0) {
            let excess = &mut ledger.excess[self.attempt.engine];
            *excess = excess.max(cost.amount / most);
        }
    }
}

impl Drop for LimitedRequest {
    fn drop(&mut self) {
        let mut ledger = self.guard.ledger();
        ledger.reserved -= self.amount;
        ledger.in_flight -= 1;
        drop(ledger);
        self.guard.settled.notify_waiters();
    }
}

/// Returns the cost of an answer. A request that was given up may have cost up to `most`.
fn cost(prediction: &Prediction, most: f64) -> f64 {
    let unknown = match prediction.status {
        Status::Timeout | Status::Cancelled => most,
        _ => 0.0,
    };
    prediction.cost.map_or(unknown, |cost| cost.amount.max(0.0))
}

/// Returns the cost of earlier answers. Answers of other engines or to other cases, which a resumed run cannot have, are free.
fn spent(inputs: &RunInputs, sizes: &RequestSizes, done: &[Prediction]) -> f64 {
    let cases: HashMap<&str, usize> =
        inputs.cases.iter().enumerate().map(|(place, case)| (case.id.as_str(), place)).collect();
    let engines: HashMap<&str, usize> =
        inputs.engines.iter().enumerate().map(|(place, engine)| (engine.name(), place)).collect();
    done.iter()
        .filter(|row| !row.reused)
        .filter_map(|row| {
            let (case, engine) = (*cases.get(&*row.case)?, *engines.get(&*row.engine.name)?);
            let attempt = Attempt { case, engine, repetition: row.repetition };
            Some(cost(row, sizes.highest_cost(attempt)))
        })
        .sum()
}
