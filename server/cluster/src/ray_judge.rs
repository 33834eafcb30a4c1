//! Judges the answers of a run on a cluster.

use std::collections::HashMap;
use std::ops::ControlFlow;

use cases::{Case, Judgement, parse_line, to_line};
use replay::{Attempt, JudgingRules, Patch, PatchRunner, ReplayError, StopSignal};
use tokio::runtime::Runtime;
use tokio_util::sync::CancellationToken;

use crate::ClusterError;
use crate::dispatch::{ClusterWork, RayCluster, check_key};
use crate::messages::{CarriedAttempt, CarriedRow, WorkerTask};
use crate::pending_attempts::Permission;

/// Largest batch of judgements: all of it is judged again if its node is lost, and Ctrl-C waits for it.
const LARGEST_BATCH: usize = 64;

/// Sandboxes of a worker at a time for the size of its batches, if the user did not choose.
const USUAL_JOBS: usize = 4;

/// Judges the answers of a run on the nodes of a Ray cluster.
pub struct RayJudge {
    /// The cluster, with the task of judging.
    pub cluster: RayCluster,
    /// Where the connection to the cluster runs.
    pub runtime: Runtime,
}

impl PatchRunner for RayJudge {
    fn run(
        &self,
        patches: &[Patch<'_>],
        // The workers have them from their task.
        _: &JudgingRules,
        stop: &CancellationToken,
        record: &mut dyn FnMut(usize, Judgement) -> ControlFlow<()>,
    ) -> Result<(), ReplayError> {
        let places = patches.iter().enumerate().map(|(place, patch)| (patch.answer.key(), place));
        let mut work = Judgements { patches, places: places.collect(), record, given_up: Vec::new() };
        let attempts = (0..patches.len()).map(attempt).collect();
        let jobs = match &self.cluster.job.worker.task {
            WorkerTask::Judgements(task) => task.jobs,
            WorkerTask::Requests(_) => None,
        };
        let full_batch = jobs.unwrap_or(USUAL_JOBS).clamp(1, LARGEST_BATCH);
        let stop = StopSignal::after_pending(stop.clone());
        let ended = self.runtime.block_on(self.cluster.carry_out(&mut work, attempts, full_batch, &stop));
        let ended = ended.and_then(|()| work.check_given_up());
        ended.map_err(|reason| ReplayError::Judgements { reason: reason.into() })
    }
}

/// Returns the attempt of a patch.
fn attempt(place: usize) -> Attempt {
    Attempt { case: place, engine: 0, repetition: 0 }
}

/// The judgements of a run.
struct Judgements<'a> {
    patches: &'a [Patch<'a>],
    /// Places of the patches by the keys of the answers that are sent for them.
    places: HashMap<(&'a str, &'a str, u32), usize>,
    record: &'a mut dyn FnMut(usize, Judgement) -> ControlFlow<()>,
    /// Places of patches that crashed too many workers.
    given_up: Vec<usize>,
}

impl Judgements<'_> {
    fn check_given_up(&self) -> Result<(), ClusterError> {
        let Some(&first) = self.given_up.first() else { return Ok(()) };
        let (case, engine, _) = self.patches[first].answer.key();
        Err(ClusterError::NotJudged {
            patches: self.given_up.len(),
            case: case.to_owned(),
            engine: engine.to_owned(),
        })
    }
}

impl ClusterWork for Judgements<'_> {
    type Kept = ();

    fn permit(&mut self, _: Attempt) -> Permission<()> {
        Permission::Granted(())
    }

    fn case(&self, attempt: Attempt) -> (&Case, &[String]) {
        (self.patches[attempt.case].case, &[])
    }

    fn carried(&self, attempt: Attempt, case: usize) -> CarriedAttempt {
        let answer = self.patches[attempt.case].answer;
        let (engine, repetition) = (answer.engine.name.clone(), answer.repetition);
        CarriedAttempt { case, engine, repetition, answer: Some(to_line(answer)) }
    }

    fn attempt_of(&self, row: &CarriedRow) -> Option<Attempt> {
        self.places.get(&(&*row.case, &*row.engine, row.repetition)).copied().map(attempt)
    }

    fn record(
        &mut self,
        attempt: Attempt,
        row: &CarriedRow,
        (): (),
    ) -> Result<ControlFlow<()>, ClusterError> {
        let judgement: Judgement = parse_line(&row.row, 1)?;
        check_key(row, judgement.key())?;
        Ok((self.record)(attempt.case, judgement))
    }

    fn lose(&mut self, (): ()) {}

    fn give_up(&mut self, attempt: Attempt) {
        self.given_up.push(attempt.case);
    }
}
