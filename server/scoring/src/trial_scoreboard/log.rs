//! The numbers of all opportunities: what a row says about each arm, without its texts.

use std::collections::HashMap;

use cases::{
    ArmAnswer, ArmRole, BlockKind, DecisionKind, Exposure, LossReason, Metric, Opportunity, OutcomeKind,
    PrivacyLevel, Provenance, Status, Survival, TrialMode, Trigger, Truth,
};
use syntax::Language;

use super::exposure::{holdout_probability, is_blank, weight};
use super::names::Names;
use super::{TrialMetric, TrialSettings};
use crate::counts::Counts;
use crate::run_summary::ScenarioGroup;
use crate::score::{AnswerAgreement, CaseScorer, RightFiles, ScoringInput};

/// Most arms of a log; answers of further ones are not counted. A trial has two to four.
const MOST_ARMS: usize = 32;
/// Characters of a time in RFC 3339, with milliseconds.
const MOST_TIME_CHARS: usize = 24;
/// Most answers of an opportunity that are read.
const MOST_ANSWERS: usize = 64;

/// Facts about the developer's text.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum TruthState {
    /// Not written yet.
    Pending,
    /// There will be none.
    Lost(LossReason),
    /// The developer wrote code.
    Code,
    /// The developer wrote nothing: nothing was needed.
    Empty,
    /// A program wrote parts of it.
    OtherAuthor,
    /// It cannot be compared: the row has no texts, or its language is unknown.
    Unreadable,
}

/// The numbers of one answer.
#[derive(Clone, Debug)]
pub(super) struct AnswerRecord {
    pub(super) arm: u32,
    pub(super) role: ArmRole,
    pub(super) status: Status,
    pub(super) is_blank: bool,
    /// Agreement with the truth; `None` without a comparable one.
    pub(super) agreement: Option<AnswerAgreement>,
    /// Whether it was ready before the next key.
    pub(super) in_time: bool,
    /// Milliseconds until it was ready; infinite after a timeout, `None` if no request shows it.
    pub(super) latency: Option<f64>,
    pub(super) confidence: Option<f64>,
    pub(super) cost: Option<f64>,
    pub(super) fingerprint: u32,
}

impl AnswerRecord {
    pub(super) fn has_failed(&self) -> bool {
        matches!(self.status, Status::Timeout | Status::Error)
    }
}

/// How a truth came about.
#[derive(Clone, Copy, Debug)]
pub(super) struct Quality {
    pub(super) share_typed: f64,
    pub(super) has_reversals: bool,
    pub(super) has_changed: bool,
}

/// The numbers of one opportunity.
#[derive(Clone, Debug)]
pub(super) struct Record {
    id: Box<str>,
    pub(super) opened_at: Box<str>,
    pub(super) developer: u32,
    pub(super) session: u32,
    pub(super) file: u32,
    pub(super) language: u32,
    pub(super) group: Option<ScenarioGroup>,
    pub(super) block_kind: Option<BlockKind>,
    pub(super) mode: TrialMode,
    pub(super) trigger: Trigger,
    pub(super) exposure: Exposure,
    pub(super) holdout: Option<f64>,
    /// Weight among the unexposed opportunities.
    pub(super) weight: f64,
    /// Random decisions: kind, value, probability.
    pub(super) decisions: Vec<(DecisionKind, u32, f64)>,
    pub(super) truth: TruthState,
    pub(super) quality: Option<Quality>,
    pub(super) outcome: OutcomeKind,
    pub(super) was_shown: bool,
    /// Whether two arms offered different texts.
    pub(super) offers_choice: bool,
    /// The arm whose answer was accepted, if the row names it.
    pub(super) accepted_arm: Option<u32>,
    pub(super) is_partly_accepted: bool,
    pub(super) accepted_chars: u32,
    pub(super) survival: Vec<Survival>,
    pub(super) answers: Vec<AnswerRecord>,
}

impl Record {
    /// Returns the answer that was offered to the developer, or would have been without a holdout.
    pub(super) fn offered(&self) -> Option<&AnswerRecord> {
        self.answers.iter().find(|answer| answer.role != ArmRole::Shadow)
    }

    pub(super) fn answer(&self, arm: u32) -> Option<&AnswerRecord> {
        self.answers.iter().find(|answer| answer.arm == arm)
    }

    /// Whether the developer took the arm's answer.
    pub(super) fn is_accepted(&self, arm: u32) -> bool {
        let is_taken = matches!(self.outcome, OutcomeKind::Accepted | OutcomeKind::TypedThrough);
        is_taken && self.accepted_arm.is_none_or(|accepted| accepted == arm)
    }

    /// Whether it counts among truths: the developer did not point at the place.
    pub(super) fn is_representative(&self) -> bool {
        matches!(self.trigger, Trigger::Automatic | Trigger::Manual)
    }
}

/// The numbers of a growing trial. A row that is added again, with the same id, replaces the earlier one.
#[derive(Clone, Debug, Default)]
pub struct TrialLog {
    records: Vec<Record>,
    by_id: HashMap<Box<str>, usize>,
    arms: Names,
    files: Names,
    developers: Names,
    sessions: Names,
    languages: Names,
    fingerprints: Names,
    values: Names,
    /// Arms whose answers to the same questions changed, with the day.
    pub(super) drifts: Vec<(String, String)>,
}

impl TrialLog {
    /// Creates an empty log.
    pub fn new() -> TrialLog {
        TrialLog::default()
    }

    /// Returns the number of opportunities.
    pub fn len(&self) -> usize {
        self.records.len()
    }

    /// Whether there are no opportunities.
    pub fn is_empty(&self) -> bool {
        self.records.is_empty()
    }

    /// Adds an opportunity; its texts are compared and dropped.
    pub fn add(&mut self, row: &Opportunity) {
        let record = self.record(row);
        self.put(record);
    }

    fn put(&mut self, record: Record) {
        match self.by_id.get(&record.id) {
            Some(&known) => self.records[known] = record,
            None => {
                self.by_id.insert(record.id.clone(), self.records.len());
                self.records.push(record);
            }
        }
    }

    /// Adds the opportunities of another log, as if each were added to this one; logs of many arms may leave out others of them.
    pub fn append(&mut self, other: TrialLog) {
        let numbers = LogNumbers {
            arms: self.arms.numbers_of(&other.arms),
            files: self.files.numbers_of(&other.files),
            developers: self.developers.numbers_of(&other.developers),
            sessions: self.sessions.numbers_of(&other.sessions),
            languages: self.languages.numbers_of(&other.languages),
            fingerprints: self.fingerprints.numbers_of(&other.fingerprints),
            values: self.values.numbers_of(&other.values),
        };
        for mut record in other.records {
            numbers.renumber(&mut record);
            self.put(record);
        }
        self.drifts.extend(other.drifts);
    }

    /// Notes that an arm's answers to the same canary questions changed on a day, as in 2026-01-31.
    pub fn add_drift(&mut self, arm: String, day: String) {
        self.drifts.push((arm, day));
    }

    pub(super) fn arm_name(&self, arm: u32) -> &str {
        self.arms.name(arm)
    }

    pub(super) fn language_name(&self, language: u32) -> &str {
        self.languages.name(language)
    }

    pub(super) fn session_name(&self, session: u32) -> &str {
        self.sessions.name(session)
    }

    pub(super) fn value_name(&self, value: u32) -> &str {
        self.values.name(value)
    }

    pub(super) fn files(&self) -> usize {
        self.files.len()
    }

    pub(super) fn developers(&self) -> usize {
        self.developers.len()
    }

    fn record(&mut self, row: &Opportunity) -> Record {
        let holdout = holdout_probability(row);
        let truth = row.truth();
        let language =
            Language::from_name(&row.cursor.language).filter(|_| row.privacy != PrivacyLevel::Metrics);
        let state = truth_state(row, truth, language.is_some());
        let scorer_files = RightFiles::default();
        let scorer = language
            .zip(truth)
            .filter(|_| matches!(state, TruthState::Code | TruthState::Empty))
            .map(|(language, truth)| {
                let question = ScoringInput { language, prefix: "", suffix: "", truth: &truth.text };
                CaseScorer::new(question, &scorer_files)
            });
        let answers = row
            .answers
            .iter()
            .take(MOST_ANSWERS)
            .filter_map(|answer| self.answer(row, answer, scorer.as_ref()))
            .collect();
        let decisions = row.decisions.iter().take(DecisionKind::ALL.len());
        Record {
            id: row.id.as_str().into(),
            opened_at: beginning(&row.opened_at, MOST_TIME_CHARS).into(),
            developer: self.developers.number(&row.developer),
            session: self.sessions.number(&format!("{}\n{}", row.developer, row.session)),
            file: self.files.number(&format!("{}\n{}", row.developer, row.cursor.path)),
            language: self.languages.number(&row.cursor.language),
            group: row.task.map(ScenarioGroup::of_task),
            block_kind: row.block_kind,
            mode: row.mode,
            trigger: row.trigger,
            exposure: row.exposure,
            holdout,
            weight: weight(row, holdout),
            decisions: decisions.map(|it| (it.kind, self.values.number(&it.value), it.probability)).collect(),
            truth: state,
            quality: truth.map(quality),
            outcome: row.outcome.kind,
            was_shown: row.outcome.shown_at.is_some(),
            offers_choice: offers_choice(row),
            accepted_arm: row.outcome.arm.as_deref().map(|arm| self.arms.number(arm)),
            is_partly_accepted: !row.outcome.parts.contains(&cases::AcceptedPart::Full),
            accepted_chars: row.outcome.accepted_chars,
            survival: row.outcome.survival.iter().take(cases::SurvivalAge::ALL.len()).copied().collect(),
            answers,
        }
    }

    fn answer(
        &mut self,
        row: &Opportunity,
        answer: &ArmAnswer,
        scorer: Option<&CaseScorer<'_>>,
    ) -> Option<AnswerRecord> {
        let arm = self.arms.number(&answer.arm);
        if !is_counted(arm) {
            return None;
        }
        let has_text = answer.status == Status::Ok;
        let ready = answer.asked + answer.ms.total;
        let latency = match answer.status {
            Status::Timeout => Some(f64::INFINITY),
            Status::Ok | Status::Silent if !answer.cached => {
                Some(answer.ms.total).filter(|total| total.is_finite())
            }
            _ => None,
        };
        Some(AnswerRecord {
            arm,
            role: answer.role,
            status: answer.status,
            is_blank: is_blank(answer, row),
            agreement: match row.privacy {
                PrivacyLevel::Metrics => stored_agreement(answer),
                _ => scorer.map(|scorer| scorer.agreement(if has_text { &answer.text } else { "" })),
            },
            in_time: has_text && row.rhythm.until_next_key.is_none_or(|next| ready < next),
            latency,
            confidence: answer.confidence.filter(|it| it.is_finite()),
            cost: answer.cost.map(|cost| cost.amount).filter(|it| it.is_finite()),
            fingerprint: self.fingerprints.number(&answer.engine.fingerprint),
        })
    }
}

/// The numbers of a log's names in another log, by their numbers in the former.
struct LogNumbers {
    arms: Vec<u32>,
    files: Vec<u32>,
    developers: Vec<u32>,
    sessions: Vec<u32>,
    languages: Vec<u32>,
    fingerprints: Vec<u32>,
    values: Vec<u32>,
}

impl LogNumbers {
    fn renumber(&self, record: &mut Record) {
        let set = |number: &mut u32, numbers: &[u32]| *number = numbers[*number as usize];
        set(&mut record.developer, &self.developers);
        set(&mut record.session, &self.sessions);
        set(&mut record.file, &self.files);
        set(&mut record.language, &self.languages);
        record.accepted_arm.iter_mut().for_each(|arm| set(arm, &self.arms));
        record.decisions.iter_mut().for_each(|(_, value, _)| set(value, &self.values));
        for answer in &mut record.answers {
            set(&mut answer.arm, &self.arms);
            set(&mut answer.fingerprint, &self.fingerprints);
        }
        record.answers.retain(|answer| is_counted(answer.arm));
    }
}

/// Whether the answers of an arm are counted.
fn is_counted(arm: u32) -> bool {
    (arm as usize) < MOST_ARMS
}

/// Returns the first characters of a text.
fn beginning(text: &str, characters: usize) -> &str {
    text.char_indices().nth(characters).map_or(text, |(end, _)| &text[..end])
}

/// Returns the agreement of an answer in a row without texts.
fn stored_agreement(answer: &ArmAnswer) -> Option<AnswerAgreement> {
    let counts = |metric: Metric| answer.metrics.get(&metric).copied().map(Counts::from);
    Some(AnswerAgreement {
        is_exact: counts(Metric::ExactMatch)?.num > 0.0,
        similarity: counts(Metric::EditSimilarity)?.ratio()?,
        identifiers: counts(Metric::IdentifierF1).unwrap_or_default(),
    })
}

/// Returns the state of a truth without text. Restraint applies to empty truths only.
fn stored_state(row: &Opportunity) -> TruthState {
    let has = |metric: Metric| row.answers.iter().any(|answer| answer.metrics.contains_key(&metric));
    match (has(Metric::Restraint), has(Metric::ExactMatch)) {
        (true, _) => TruthState::Empty,
        (false, true) => TruthState::Code,
        (false, false) => TruthState::Unreadable,
    }
}

fn truth_state(row: &Opportunity, truth: Option<&Truth>, is_readable: bool) -> TruthState {
    let Some(truth) = truth else { return row.lost.map_or(TruthState::Pending, TruthState::Lost) };
    let by_program = [Provenance::External, Provenance::OtherProvider];
    match truth {
        _ if truth.provenance.iter().any(|span| by_program.contains(&span.provenance)) => {
            TruthState::OtherAuthor
        }
        _ if row.privacy == PrivacyLevel::Metrics => stored_state(row),
        _ if !is_readable => TruthState::Unreadable,
        _ if truth.text.trim().is_empty() => TruthState::Empty,
        _ => TruthState::Code,
    }
}

/// Whether two arms offered different texts.
fn offers_choice(row: &Opportunity) -> bool {
    let offered = row.answers.iter().filter(|answer| answer.role == ArmRole::Shown && !is_blank(answer, row));
    let mut texts: Vec<&str> = offered.map(|answer| answer.text.as_str()).collect();
    texts.dedup();
    // Rows without texts do not tell whether they differ.
    texts.len() == 2
}

fn quality(truth: &Truth) -> Quality {
    Quality {
        share_typed: truth.share_typed(),
        has_reversals: truth.reversals > 0,
        has_changed: truth.distance.is_some_and(|distance| distance > 0),
    }
}

/// A log in the order of time, seen with a question.
pub(super) struct LogView<'a> {
    pub(super) log: &'a TrialLog,
    pub(super) settings: TrialSettings,
    /// In the order of time.
    pub(super) records: Vec<&'a Record>,
    /// The arms with answers, the one that is offered most often first.
    pub(super) arms: Vec<u32>,
    /// Whether headlines count opportunities with a random holdout only.
    needs_holdout: bool,
    /// Number of opportunities whose suggestion was seen, although no holdout could have hidden it: without them, the headline is not
    /// about all opportunities.
    pub(super) uncovered: usize,
    /// By record: the number of its cluster in the order of time, so that the order of rows does not matter.
    clusters: Vec<usize>,
    /// By arm and record: the value of the metric of the settings.
    values: HashMap<u32, Vec<Option<Counts>>>,
}

impl<'a> LogView<'a> {
    pub(super) fn new(log: &'a TrialLog, settings: &TrialSettings) -> LogView<'a> {
        let mut records: Vec<&Record> = log.records.iter().collect();
        records
            .sort_by(|left, right| left.opened_at.cmp(&right.opened_at).then_with(|| left.id.cmp(&right.id)));
        let needs_holdout = records.iter().any(|record| record.holdout.is_some());
        let mut numbers = HashMap::new();
        let mut number = |record: &Record| {
            let next = numbers.len();
            *numbers.entry(cluster_name(log, record)).or_insert(next)
        };
        let clusters = records.iter().map(|record| number(record)).collect();
        let arms = arms(log, &records);
        let value_of =
            |record: &Record, arm: u32| value(record, record.answer(arm)?, settings.metric, *settings);
        let values = |&arm: &u32| (arm, records.iter().map(|record| value_of(record, arm)).collect());
        let is_uncovered = |record: &&&Record| {
            !needs_holdout && record.is_representative() && record.exposure != Exposure::None
        };
        LogView {
            log,
            settings: *settings,
            values: arms.iter().map(values).collect(),
            arms,
            uncovered: records.iter().filter(is_uncovered).count(),
            records,
            needs_holdout,
            clusters,
        }
    }

    /// Returns the start of the first and the last opportunity.
    pub(super) fn period(&self) -> Option<(String, String)> {
        Some((self.records.first()?.opened_at.to_string(), self.records.last()?.opened_at.to_string()))
    }

    /// Returns the number of a record's cluster, by the record's place: the file, or the developer if there are several.
    pub(super) fn cluster(&self, place: usize) -> usize {
        self.clusters[place]
    }

    /// Returns the weight of an opportunity among the headline's; `None` if it is not one of them.
    pub(super) fn headline_weight(&self, record: &Record) -> Option<f64> {
        let counts = record.is_representative() && (record.holdout.is_some() || !self.needs_holdout);
        (counts && record.exposure == Exposure::None).then_some(record.weight)
    }

    /// Returns the weight of an opportunity for a metric.
    pub(super) fn weight(&self, record: &Record, metric: TrialMetric) -> Option<f64> {
        if metric.is_of_truths() { self.headline_weight(record) } else { Some(1.0) }
    }

    /// Returns the value of an answer; `None` if the metric does not apply.
    pub(super) fn value(
        &self,
        record: &Record,
        answer: &AnswerRecord,
        metric: TrialMetric,
    ) -> Option<Counts> {
        value(record, answer, metric, self.settings)
    }

    /// Returns the values of an arm in the metric of the settings, by record.
    pub(super) fn values(&self, arm: u32) -> &[Option<Counts>] {
        self.values.get(&arm).map_or(&[], Vec::as_slice)
    }
}

fn cluster_name(log: &TrialLog, record: &Record) -> u32 {
    if log.developers() > 1 { record.developer } else { record.file }
}

/// Returns the arms by the number of opportunities in which they were offered.
fn arms(log: &TrialLog, records: &[&Record]) -> Vec<u32> {
    let mut counts = vec![(0_usize, 0_usize); log.arms.len()];
    for answer in records.iter().flat_map(|record| &record.answers) {
        let (offered, answered) = &mut counts[answer.arm as usize];
        *offered += usize::from(answer.role != ArmRole::Shadow);
        *answered += 1;
    }
    let mut arms: Vec<u32> =
        (0..).zip(&counts).filter(|(_, (_, answered))| *answered > 0).map(|(arm, _)| arm).collect();
    arms.sort_by_key(|&arm| std::cmp::Reverse(counts[arm as usize]));
    arms
}

fn value(
    record: &Record,
    answer: &AnswerRecord,
    metric: TrialMetric,
    settings: TrialSettings,
) -> Option<Counts> {
    let one = |num: f64| Some(Counts { num, den: 1.0 });
    let flag = |set: bool| one(f64::from(u8::from(set)));
    let is_of_code = record.truth == TruthState::Code;
    // A request that typing cancelled shows no answer, which says nothing about its quality.
    let is_known = answer.status != Status::Cancelled;
    let agreement = answer.agreement.as_ref();
    match metric {
        TrialMetric::ExactMatch if is_of_code && is_known => flag(agreement?.is_exact),
        TrialMetric::EditSimilarity if is_of_code && is_known => one(agreement?.similarity),
        TrialMetric::IdentifierF1 if is_of_code && is_known => {
            Some(agreement?.identifiers).filter(|counts| counts.den > 0.0)
        }
        TrialMetric::InTime if is_of_code => flag(answer.in_time && !answer.is_blank),
        TrialMetric::ExactInTime if is_of_code => flag(answer.in_time && agreement?.is_exact),
        TrialMetric::Restraint if record.truth == TruthState::Empty && is_known => {
            flag(answer.is_blank && !answer.has_failed())
        }
        TrialMetric::TruthValue => one(value_by_truth(record, answer, settings)?),
        TrialMetric::ObservedValue if answer.role == ArmRole::Shown => {
            one(observed_value(record, answer, settings)?)
        }
        TrialMetric::RetainedCharacters if answer.role == ArmRole::Shown => {
            one(retained(record, answer.arm)?)
        }
        TrialMetric::Preferred if record.mode == TrialMode::Duel && answer.role == ArmRole::Shown => {
            (record.outcome != OutcomeKind::Shown).then(|| flag(record.is_accepted(answer.arm)))?
        }
        _ => None,
    }
}

/// Returns the value of an answer if right ones are accepted and others rejected.
pub(super) fn value_by_truth(record: &Record, answer: &AnswerRecord, settings: TrialSettings) -> Option<f64> {
    if !matches!(record.truth, TruthState::Code | TruthState::Empty) {
        return None;
    }
    let weights = settings.weights;
    let is_silent = answer.is_blank || answer.status != Status::Ok;
    Some(match answer.agreement.as_ref() {
        _ if is_silent => weights.silent,
        Some(agreement) if agreement.is_exact && record.truth == TruthState::Code => weights.accepted,
        _ => weights.rejected,
    })
}

/// Returns the value of what the developer did; `None` while it is undecided.
pub(super) fn observed_value(record: &Record, answer: &AnswerRecord, settings: TrialSettings) -> Option<f64> {
    let weights = settings.weights;
    match record.outcome {
        OutcomeKind::Shown => None,
        OutcomeKind::NotShown | OutcomeKind::Cancelled | OutcomeKind::Replaced => Some(weights.silent),
        OutcomeKind::Accepted | OutcomeKind::TypedThrough if record.is_accepted(answer.arm) => {
            Some(weights.accepted)
        }
        _ => Some(weights.rejected),
    }
}

/// Returns the accepted characters that the oldest measurement found; `None` before the first one.
fn retained(record: &Record, arm: u32) -> Option<f64> {
    if record.outcome == OutcomeKind::Shown {
        return None;
    }
    if record.accepted_chars == 0 || !record.is_accepted(arm) {
        return Some(0.0);
    }
    record
        .survival
        .iter()
        .max_by_key(|survival| survival.age)
        .map(|survival| f64::from(survival.retained_chars))
}
