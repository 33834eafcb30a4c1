//! Made-up trials: arms with known accuracies answer questions in files that suit them differently.

use cases::{
    ArmAnswer, ArmRole, BlockKind, Decision, DecisionKind, EngineIdentity, Exposure, Finish, Opportunity,
    OpportunityCursor, OutcomeKind, PredictionTimings, Status, Task, TrialMode, Trigger, Truth, TruthStage,
    TypingRhythm,
};
use scoring::trial_scoreboard::TrialClaim;
use scoring::{TrialLog, TrialScoreboard, TrialSettings};
use text::SplitMix64;

/// Opportunities between two looks at a scoreboard.
pub(crate) const PEEK: usize = 50;

/// An arm with known properties.
#[derive(Clone, Copy, Debug)]
pub(crate) struct SimulatedArm {
    pub(crate) name: &'static str,
    /// Share of right answers.
    pub(crate) accuracy: f64,
    /// Share of questions that it does not answer: those with the highest difficulty.
    pub(crate) silence: f64,
}

impl SimulatedArm {
    pub(crate) fn new(name: &'static str, accuracy: f64) -> SimulatedArm {
        SimulatedArm { name, accuracy, silence: 0.0 }
    }
}

/// The surroundings of a trial.
#[derive(Clone, Copy, Debug)]
pub(crate) struct SimulatedTrial {
    pub(crate) files: usize,
    /// Half of the range by which the accuracy of an arm varies between files, for each arm on its own.
    pub(crate) file_effect: f64,
    /// Probability of a holdout.
    pub(crate) holdout: f64,
    pub(crate) opportunities: usize,
}

impl SimulatedTrial {
    /// Returns the trial's rows in order: the first arm is offered, the others are in shadow.
    pub(crate) fn rows<'a>(
        &'a self,
        arms: &'a [SimulatedArm],
        seed: u64,
    ) -> impl Iterator<Item = Opportunity> + use<'a> {
        let mut random = SplitMix64::new(seed);
        let effects: Vec<Vec<f64>> = (0..self.files)
            .map(|_| arms.iter().map(|_| (2.0 * uniform(&mut random) - 1.0) * self.file_effect).collect())
            .collect();
        (0..self.opportunities).map(move |number| {
            let file = random.below(self.files);
            self.row(arms, &effects[file], number, file, &mut random)
        })
    }

    fn row(
        &self,
        arms: &[SimulatedArm],
        effects: &[f64],
        number: usize,
        file: usize,
        random: &mut SplitMix64,
    ) -> Opportunity {
        let truth = format!("call_{}(first, second)", random.below(50));
        let difficulty = uniform(random);
        let is_hidden = uniform(random) < self.holdout;
        let role = if is_hidden { ArmRole::Held } else { ArmRole::Shown };
        let answers: Vec<ArmAnswer> = (0..)
            .zip(arms.iter().zip(effects))
            .map(|(index, (arm, effect))| {
                // Hard questions are answered rightly less often; the mean over all is the arm's accuracy.
                let chance = arm.accuracy + effect + 0.3 * (0.5 - difficulty);
                let is_right = uniform(random) < chance;
                let text = if is_right { truth.clone() } else { "other(third)".to_owned() };
                let is_silent = difficulty > 1.0 - arm.silence;
                let role = if index == 0 { role } else { ArmRole::Shadow };
                answer(arm.name, role, if is_silent { String::new() } else { text })
            })
            .collect();
        let is_seen = !is_hidden && !answers[0].text.is_empty();
        // What is seen is often kept.
        let kept = is_seen && uniform(random) < 0.5;
        let written = if kept { answers[0].text.clone() } else { truth };
        let mut row = opportunity(number, file, written);
        row.exposure = if is_seen { Exposure::Shown } else { Exposure::None };
        row.outcome.kind = match (is_seen, kept) {
            (false, _) => OutcomeKind::NotShown,
            (true, true) => OutcomeKind::Accepted,
            (true, false) => OutcomeKind::Ignored,
        };
        row.outcome.shown_at = is_seen.then_some(120.0);
        let (value, probability) =
            if is_hidden { ("hidden", self.holdout) } else { ("shown", 1.0 - self.holdout) };
        let kind = DecisionKind::Holdout;
        row.decisions = vec![Decision { kind, value: value.to_owned(), probability }];
        row.answers = answers;
        row
    }
}

/// Returns a number from 0 up to 1.
pub(crate) fn uniform(random: &mut SplitMix64) -> f64 {
    (random.number() >> 11) as f64 / (1_u64 << 53) as f64
}

/// Returns an answer after 100 ms.
pub(crate) fn answer(arm: &str, role: ArmRole, text: String) -> ArmAnswer {
    let name = || arm.to_owned();
    let engine = EngineIdentity { name: name(), kind: name(), model: name(), fingerprint: name() };
    let status = if text.is_empty() { Status::Silent } else { Status::Ok };
    ArmAnswer {
        raw: text.clone(),
        text,
        finish: Finish::Stop,
        ms: PredictionTimings { gather: 1.0, first: None, total: 100.0 },
        ..ArmAnswer::empty(name(), engine, role, status)
    }
}

/// Returns an opportunity with a truth and without answers.
pub(crate) fn opportunity(number: usize, file: usize, truth: String) -> Opportunity {
    Opportunity {
        trial: Some("trial".to_owned()),
        mode: TrialMode::Shadow,
        developer: "developer".to_owned(),
        session: "session".to_owned(),
        opened_at: format!(
            "2026-01-{:02}T{:02}:{:02}:{:02}.000Z",
            1 + number / 86_400 % 28,
            number / 3600 % 24,
            number / 60 % 60,
            number % 60
        ),
        rhythm: TypingRhythm { until_next_key: Some(300.0), ..TypingRhythm::default() },
        task: Some(Task::Complete(cases::CompletionTask::FullBlock(cases::BlockCut::MidStatement))),
        block_kind: Some(BlockKind::Statement),
        truths: vec![Truth {
            stage: TruthStage::Settled,
            at: 10_000.0,
            region: truth.clone(),
            text: truth,
            deleted: String::new(),
            deleted_before: String::new(),
            provenance: Vec::new(),
            reversals: 0,
            distance: None,
        }],
        ..Opportunity::new(
            format!("{number:032x}"),
            Trigger::Automatic,
            OpportunityCursor {
                language: "rust".to_owned(),
                path: format!("src/file_{file}.rs"),
                offset: 3,
                line: 0,
                character: 3,
                prefix: "fn ".to_owned(),
                suffix: "\n".to_owned(),
            },
        )
    }
}

/// Returns the scoreboard of some rows.
pub(crate) fn scoreboard(rows: impl IntoIterator<Item = Opportunity>) -> TrialScoreboard {
    let mut log = TrialLog::new();
    rows.into_iter().for_each(|row| log.add(&row));
    log.scoreboard(&TrialSettings::default())
}

/// Looks at a growing trial after every [`PEEK`] opportunities. Returns the number of opportunities at the first claimed difference.
pub(crate) fn first_claim(trial: &SimulatedTrial, arms: &[SimulatedArm], seed: u64) -> Option<usize> {
    let mut log = TrialLog::new();
    for (number, row) in (1..).zip(trial.rows(arms, seed)) {
        log.add(&row);
        if number % PEEK == 0 {
            let board = log.scoreboard(&TrialSettings::default());
            let is_claim = |claim: TrialClaim| matches!(claim, TrialClaim::Better | TrialClaim::Worse);
            if board.pairs.iter().any(|pair| is_claim(pair.claim)) {
                return Some(number);
            }
        }
    }
    None
}
