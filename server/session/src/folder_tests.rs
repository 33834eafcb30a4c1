//! Unit tests that judge the answers of replays in a folder.
//!
//! Cases that a developer recorded name no tests. They are found by running the folder's tests, once for each version of its code.
//! The saved files are judged: a case whose file has other code now has no verdict. Without a test runner or a sandbox there are no
//! verdicts, and nothing else changes.

use std::collections::HashMap;
use std::path::Path;
use std::sync::{Arc, Mutex};
use std::time::Duration;

use cases::{Case, CaseId, CaseTests};
use config::Tests;
use replay::{
    FoundTests, JudgingJob, JudgingRules, LocalJudge, ReplayError, RepositoryTests, RunContents,
    SandboxJudge, TestJudge, saved_case,
};
use sandbox::{ConfinementChoice, SandboxError, TestRunner};
use tokio_util::sync::CancellationToken;

use crate::events::Progress;
use crate::locks::lock;
use crate::test_judging::{configured_runner, judge_jobs, open_judge, open_sandbox};

/// Time for all tests of a folder: a developer waits for the verdict. Suites that take longer judge cases with tests of their own only.
const LONGEST_SUITE: Duration = Duration::from_secs(120);

/// The tests of a folder that were found so far.
#[derive(Default)]
pub struct FolderTests(Mutex<Option<Arc<KnownTests>>>);

/// The tests of one version of the code.
struct KnownTests {
    tree_hash: String,
    /// `None` if there is no runner, or no test passes.
    repository: Option<RepositoryTests>,
    /// `None` for cases that no test judges.
    of_cases: Mutex<HashMap<CaseId, Option<CaseTests>>>,
}

/// A replay to judge.
pub struct JudgedReplay<'a> {
    /// The folder.
    pub root: &'a Path,
    /// Hash of its files.
    pub tree_hash: &'a str,
    /// Settings.
    pub settings: &'a Tests,
    /// Folder of the run.
    pub run: &'a Path,
    /// Its cases and answers.
    pub contents: RunContents,
    /// Current paths of the cases' files, in the order of the cases.
    pub paths: Vec<String>,
    /// Once it is cancelled, running tests are killed.
    pub stop: &'a CancellationToken,
}

impl FolderTests {
    /// Judges the answers to cases that have tests, and returns the number of judged answers; none once it is stopped. Blocks while tests
    /// run.
    ///
    /// # Errors
    ///
    /// The sandbox does not work, or verdicts cannot be written.
    pub fn judge(
        &self,
        replayed: JudgedReplay<'_>,
        on_progress: impl Fn(Progress) + Sync,
    ) -> Result<usize, ReplayError> {
        let stop = replayed.stop;
        match self.judge_until_stopped(replayed, on_progress) {
            Err(_) if stop.is_cancelled() => Ok(0),
            judged => judged,
        }
    }

    fn judge_until_stopped(
        &self,
        replayed: JudgedReplay<'_>,
        on_progress: impl Fn(Progress) + Sync,
    ) -> Result<usize, ReplayError> {
        let JudgedReplay { root, tree_hash, settings, run, contents, paths, stop } = replayed;
        let has_runner = configured_runner(settings).is_some() || !TestRunner::detect(root).is_empty();
        if !has_runner && contents.cases.iter().all(|case| case.tests.is_none()) {
            return Ok(0);
        }
        let judge = open_judge(root, settings, ConfinementChoice::Required, stop).map_err(failed)?;
        let own;
        let sandbox = match &judge {
            TestJudge::Sandbox(judge) => &**judge,
            // The program judges, but which tests do so is found in the sandbox.
            TestJudge::Program(_) => {
                own = open_sandbox(root, settings, ConfinementChoice::Required, stop).map_err(failed)?;
                &own
            }
        };
        let total = contents.cases.len();
        let mut cases = Vec::new();
        for (done, (case, path)) in contents.cases.iter().zip(&paths).enumerate() {
            on_progress(Progress { done, total });
            // A file that is gone has no tests, either.
            if let Ok(Some(case)) = saved_case(root, path, case) {
                cases.extend(self.with_tests((root, tree_hash), settings, sandbox, case, stop)?);
            }
        }
        let contents = RunContents { cases: cases.into(), ..contents };
        let runner = &LocalJudge { judge: &judge, jobs: judge_jobs(None, settings) };
        let (contents, workspace, rules) = (&contents, judge.workspace(), &JudgingRules::Ours);
        let job = JudgingJob { folder: run, contents, workspace, runner, tree_hash, rules, stop };
        let judged = replay::judge_answers(&job, |done, total| on_progress(Progress { done, total }))?;
        Ok(judged.judged)
    }

    /// Returns a case with its own tests, or those that are found for it; `None` if no test judges it.
    fn with_tests(
        &self,
        code: (&Path, &str),
        settings: &Tests,
        judge: &SandboxJudge,
        case: Case,
        stop: &CancellationToken,
    ) -> Result<Option<Case>, ReplayError> {
        if case.tests.is_some() {
            return Ok(Some(case));
        }
        let known = self.known(code, settings, judge, stop)?;
        let Some(repository) = &known.repository else { return Ok(None) };
        let earlier = lock(&known.of_cases).get(&case.id).cloned();
        let tests = match earlier {
            Some(tests) => tests,
            None => {
                let found = match repository.find(judge, &case)? {
                    FoundTests::Judges(tests) => Some(tests),
                    FoundTests::None(reason) => {
                        tracing::info!(case = case.id, reason, "no tests");
                        None
                    }
                };
                lock(&known.of_cases).insert(case.id.clone(), found.clone());
                found
            }
        };
        Ok(tests.map(|tests| Case { tests: Some(Box::new(tests)), ..case }))
    }

    /// Returns the tests of this version of the code, which run if they are not known. Replays that need them at the same time wait for
    /// each other.
    ///
    /// # Errors
    ///
    /// It was stopped: nothing is known then.
    fn known(
        &self,
        (root, tree_hash): (&Path, &str),
        settings: &Tests,
        judge: &SandboxJudge,
        stop: &CancellationToken,
    ) -> Result<Arc<KnownTests>, ReplayError> {
        let mut known = lock(&self.0);
        if let Some(known) = known.as_ref().filter(|known| known.tree_hash == tree_hash) {
            return Ok(Arc::clone(known));
        }
        let runner = configured_runner(settings).or_else(|| TestRunner::detect(root).into_iter().next());
        let repository = runner.and_then(|runner| {
            let limit = LONGEST_SUITE.min(settings.timeout);
            let tests = RepositoryTests::run(judge, runner, 1, Some(limit), |_| ());
            // Output of tests may quote code.
            tests.inspect_err(|_| tracing::warn!("no test of this folder can judge cases")).ok()
        });
        if stop.is_cancelled() {
            return Err(failed(SandboxError::Stopped));
        }
        let new =
            Arc::new(KnownTests { tree_hash: tree_hash.to_owned(), repository, of_cases: Mutex::default() });
        *known = Some(Arc::clone(&new));
        Ok(new)
    }
}

fn failed(error: SandboxError) -> ReplayError {
    ReplayError::Sandbox { reason: error.to_string() }
}
