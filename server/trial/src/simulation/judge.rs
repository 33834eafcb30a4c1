//! Compares recorded truths with what the commits added.

use std::collections::BTreeMap;

use cases::{Opportunity, Provenance, Truth};
use serde::Serialize;

use super::session::{EditorSession, Expected};

/// Maximum number of wrong truths that are kept as examples.
const MAX_EXAMPLES: usize = 20;

/// Results of a simulation.
#[derive(Clone, Debug, Default, Serialize)]
pub struct SimulationResults {
    /// All languages together.
    pub all: LanguageResults,
    /// By name of the language.
    pub languages: BTreeMap<String, LanguageResults>,
    /// Some truths that differ from the commit.
    pub wrong: Vec<WrongTruth>,
}

/// Counts of opportunities.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize)]
pub struct LanguageResults {
    /// Opportunities.
    pub opportunities: usize,
    /// Those with a truth.
    pub with_truth: usize,
    /// Truths that are exactly what the commit has there.
    pub right: usize,
    /// Truths that are something else.
    pub wrong: usize,
    /// Truths of which pasted text or an accepted suggestion counts as typed.
    pub wrong_provenance: usize,
    /// Opportunities without a truth, by reason.
    pub lost: BTreeMap<&'static str, usize>,
    /// Truths by their last stage.
    pub stages: BTreeMap<&'static str, usize>,
}

impl SimulationResults {
    /// Adds the results of another simulation.
    pub fn add(&mut self, other: SimulationResults) {
        self.all.add_all(&other.all);
        for (name, counts) in &other.languages {
            self.languages.entry(name.clone()).or_default().add_all(counts);
        }
        self.wrong.extend(other.wrong);
        self.wrong.truncate(MAX_EXAMPLES);
    }
}

/// A truth that differs from the commit.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct WrongTruth {
    /// Commit and path.
    pub path: String,
    /// The end of the text before the cursor.
    pub before: String,
    /// The recorded text.
    pub recorded: String,
    /// All text of the region.
    pub region: String,
    /// The text that the commit adds after the cursor.
    pub expected: String,
    /// The last stage.
    pub stage: &'static str,
}

/// Judges all rows of a session.
pub(crate) fn judge(session: &EditorSession) -> SimulationResults {
    let mut results = SimulationResults::default();
    for row in session.rows.values() {
        let Some(expected) = session.expected(row) else { continue };
        let verdict = Verdict::of(row, expected);
        for counts in [&mut results.all, results.languages.entry(row.cursor.language.clone()).or_default()] {
            counts.add(row, verdict);
        }
        if verdict == Verdict::Wrong && results.wrong.len() < MAX_EXAMPLES {
            results.wrong.extend(row.truth().map(|truth| example(row, truth, expected)));
        }
    }
    results
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum Verdict {
    Right,
    Wrong,
    WrongProvenance,
    NoTruth,
}

impl Verdict {
    fn of(row: &Opportunity, expected: &Expected) -> Verdict {
        let Some(truth) = row.truth() else { return Verdict::NoTruth };
        match expected {
            Expected::Mistake if truth.text.is_empty() => Verdict::Right,
            Expected::Mistake => Verdict::Wrong,
            Expected::Text(text) if !is_beginning(truth, text) => Verdict::Wrong,
            Expected::Text(_) if counts_programs_as_typed(row, truth) => Verdict::WrongProvenance,
            Expected::Text(_) => Verdict::Right,
        }
    }
}

/// Whether the truth is the beginning of the added text, and ends where code ends: at the end of a line, before a comment, or before
/// nothing but brackets and separators. It is empty only if nothing was added on the line.
fn is_beginning(truth: &Truth, added: &str) -> bool {
    let Some(rest) = added.strip_prefix(&*truth.text) else { return false };
    let line = rest.split('\n').next().unwrap_or_default().trim();
    let is_comment = ["#", "//", "/*"].iter().any(|mark| line.starts_with(mark));
    let ends = is_comment || line.chars().all(|character| ")]}>;,:{".contains(character));
    ends && truth.deleted_before.is_empty()
}

/// Whether text of an accepted suggestion is attributed to the developer.
fn counts_programs_as_typed(row: &Opportunity, truth: &Truth) -> bool {
    let accepted = row.outcome.accepted_chars > 0 && row.outcome.typed_chars == 0;
    accepted
        && !truth.text.is_empty()
        && truth.provenance.iter().all(|span| span.provenance == Provenance::Typed)
}

impl LanguageResults {
    fn add_all(&mut self, other: &LanguageResults) {
        self.opportunities += other.opportunities;
        self.with_truth += other.with_truth;
        self.right += other.right;
        self.wrong += other.wrong;
        self.wrong_provenance += other.wrong_provenance;
        for (reason, count) in &other.lost {
            *self.lost.entry(reason).or_default() += count;
        }
        for (stage, count) in &other.stages {
            *self.stages.entry(stage).or_default() += count;
        }
    }

    fn add(&mut self, row: &Opportunity, verdict: Verdict) {
        self.opportunities += 1;
        if let Some(truth) = row.truth() {
            self.with_truth += 1;
            *self.stages.entry(truth.stage.name()).or_default() += 1;
        }
        match verdict {
            Verdict::Right => self.right += 1,
            Verdict::Wrong => self.wrong += 1,
            Verdict::WrongProvenance => self.wrong_provenance += 1,
            Verdict::NoTruth => {
                let reason = row.lost.map_or("no_reason", |reason| reason.name());
                *self.lost.entry(reason).or_default() += 1;
            }
        }
    }
}

fn example(row: &Opportunity, truth: &Truth, expected: &Expected) -> WrongTruth {
    let prefix = &row.cursor.prefix;
    let start = prefix.char_indices().rev().nth(40).map_or(0, |(start, _)| start);
    WrongTruth {
        path: row.cursor.path.clone(),
        before: prefix[start..].to_owned(),
        recorded: truth.text.clone(),
        region: truth.region.clone(),
        expected: match expected {
            Expected::Text(text) => text.clone(),
            Expected::Mistake => String::new(),
        },
        stage: truth.stage.name(),
    }
}
