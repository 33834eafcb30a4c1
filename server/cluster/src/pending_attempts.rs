//! The attempts of a run on a cluster: those that wait, and those in flight, by batch. Pure, apart from what `R` does when it is dropped.
//!
//! An attempt is open from the moment it is sent until its first row. Rows of attempts that are not open are duplicates. The open attempts
//! of a lost batch wait again, in front of the others.

use std::collections::{HashMap, VecDeque};

use replay::Attempt;

/// Maximum number of workers that may crash over one attempt. A batch that crashes its worker is sent again in halves, so that after six
/// crashes an attempt of the largest batch is alone; the rest is for workers that crash for another reason.
const MAX_CRASHES: u32 = 10;

/// Whether an attempt may be sent.
pub(crate) enum Permission<R> {
    /// With a value to keep until its end.
    Granted(R),
    /// Not before an attempt in flight has ended, or never.
    NotNow,
}

/// Attempts in flight that were sent together.
struct SentBatch {
    attempts: Vec<Attempt>,
    crashes: u32,
}

/// Attempts of a lost batch.
struct LostAttempts {
    attempts: VecDeque<Attempt>,
    crashes: u32,
}

/// The attempts of a run that have no row yet.
pub(crate) struct PendingAttempts<R> {
    waiting: VecDeque<Attempt>,
    lost: VecDeque<LostAttempts>,
    sent: HashMap<u64, SentBatch>,
    open: HashMap<Attempt, R>,
    next_batch: u64,
}

/// The open attempts of a batch that was lost.
pub(crate) struct Loss<R> {
    /// The values kept for them.
    pub(crate) kept: Vec<R>,
    /// Those that are not sent again, because too many workers crashed over them.
    pub(crate) given_up: Vec<Attempt>,
}

impl<R> PendingAttempts<R> {
    pub(crate) fn new(attempts: Vec<Attempt>) -> PendingAttempts<R> {
        PendingAttempts {
            waiting: attempts.into(),
            lost: VecDeque::new(),
            sent: HashMap::new(),
            open: HashMap::new(),
            next_batch: 1,
        }
    }

    /// Number of batches in flight.
    pub(crate) fn batches(&self) -> usize {
        self.sent.len()
    }

    /// Number of attempts that wait.
    pub(crate) fn waiting(&self) -> usize {
        self.waiting.len() + self.lost.iter().map(|lost| lost.attempts.len()).sum::<usize>()
    }

    /// Takes up to `size` waiting attempts as long as they are permitted. `None` if the first one is not, or none waits.
    pub(crate) fn next_batch(
        &mut self,
        size: usize,
        mut permit: impl FnMut(Attempt) -> Permission<R>,
    ) -> Option<(u64, Vec<Attempt>)> {
        let (queue, crashes) = match self.lost.front_mut() {
            Some(lost) => (&mut lost.attempts, lost.crashes),
            None => (&mut self.waiting, 0),
        };
        let mut attempts = Vec::new();
        while let Some(&attempt) = queue.front().filter(|_| attempts.len() < size) {
            let Permission::Granted(kept) = permit(attempt) else { break };
            queue.pop_front();
            self.open.insert(attempt, kept);
            attempts.push(attempt);
        }
        if self.lost.front().is_some_and(|lost| lost.attempts.is_empty()) {
            self.lost.pop_front();
        }
        if attempts.is_empty() {
            return None;
        }
        let id = self.next_batch;
        self.next_batch += 1;
        self.sent.insert(id, SentBatch { attempts: attempts.clone(), crashes });
        Some((id, attempts))
    }

    /// Ends an attempt by its first row, and returns the value kept for it; `None` for a duplicate.
    pub(crate) fn answered(&mut self, attempt: Attempt) -> Option<R> {
        self.open.remove(&attempt)
    }

    /// Ends a batch that was completely delivered. Attempts without a row, which a worker should not leave, count as lost by a crash.
    pub(crate) fn done(&mut self, batch: u64) -> Loss<R> {
        self.lost(batch, true)
    }

    /// Ends a batch whose worker is gone.
    pub(crate) fn lost(&mut self, batch: u64, crashed: bool) -> Loss<R> {
        let Some(sent) = self.sent.remove(&batch) else {
            return Loss { kept: Vec::new(), given_up: Vec::new() };
        };
        let mut kept = Vec::new();
        let mut attempts = sent.attempts;
        attempts.retain(|attempt| self.open.remove(attempt).map(|one| kept.push(one)).is_some());
        let crashes = sent.crashes + u32::from(crashed);
        if crashes >= MAX_CRASHES {
            return Loss { kept, given_up: attempts };
        }
        let part = if crashed { attempts.len().div_ceil(2) } else { attempts.len() };
        for part in attempts.chunks(part.max(1)) {
            self.lost.push_back(LostAttempts { attempts: part.to_vec().into(), crashes });
        }
        Loss { kept, given_up: Vec::new() }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn attempt(case: usize) -> Attempt {
        Attempt { case, engine: 0, repetition: 0 }
    }

    fn pending(count: usize) -> PendingAttempts<usize> {
        PendingAttempts::new((0..count).map(attempt).collect())
    }

    fn granted(attempt: Attempt) -> Permission<usize> {
        Permission::Granted(attempt.case)
    }

    #[test]
    fn each_attempt_is_answered_once_whatever_is_lost_and_delivered_again() {
        let mut pending = pending(5);
        let (first, attempts) = pending.next_batch(3, granted).expect("five wait");
        assert_eq!(attempts, [0, 1, 2].map(attempt));
        assert_eq!(pending.answered(attempt(1)), Some(1));
        assert_eq!(pending.answered(attempt(1)), None, "a second delivery");
        assert_eq!(pending.answered(attempt(4)), None, "it was not sent");
        assert_eq!(pending.lost(first, false).kept, [0, 2]);
        assert_eq!(pending.answered(attempt(0)), None, "its batch was lost");
        assert!(pending.lost(first, false).kept.is_empty(), "a batch is lost once");
        let (second, attempts) = pending.next_batch(3, granted).expect("four wait");
        assert_eq!(
            attempts,
            [0, 2].map(attempt),
            "lost attempts come first, with the crashes of their batch"
        );
        assert_eq!([0, 2].map(|case| pending.answered(attempt(case))), [Some(0), Some(2)]);
        assert!(pending.done(second).kept.is_empty());
        assert_eq!(pending.next_batch(9, granted).expect("two wait").1, [3, 4].map(attempt));
        assert_eq!((pending.waiting(), pending.batches()), (0, 1));
    }

    #[test]
    fn attempts_that_are_not_permitted_wait() {
        let mut pending = pending(3);
        let below_two = |attempt: Attempt| match attempt.case {
            0 | 1 => granted(attempt),
            _ => Permission::NotNow,
        };
        assert_eq!(pending.next_batch(3, below_two).expect("two are permitted").1, [0, 1].map(attempt));
        assert!(pending.next_batch(3, below_two).is_none());
        assert_eq!(pending.waiting(), 1);
    }

    #[test]
    fn the_attempt_that_crashes_workers_is_found_and_given_up() {
        let (mut pending, poison) = (pending(64), attempt(37));
        let (mut crashes, mut answered, mut given_up) = (0, 0, Vec::new());
        while let Some((batch, attempts)) = pending.next_batch(64, granted) {
            let crashed = attempts.contains(&poison);
            if !crashed {
                answered += attempts.iter().filter_map(|attempt| pending.answered(*attempt)).count();
            }
            crashes += u32::from(crashed);
            given_up.extend(pending.lost(batch, crashed).given_up);
        }
        assert_eq!((given_up, answered, crashes), (vec![poison], 63, MAX_CRASHES));
    }

    #[test]
    fn lost_nodes_give_no_attempt_up() {
        let mut pending = pending(4);
        for _ in 0..50 {
            let (batch, attempts) = pending.next_batch(4, granted).expect("all wait");
            assert_eq!(attempts.len(), 4);
            assert!(pending.lost(batch, false).given_up.is_empty());
        }
    }
}
