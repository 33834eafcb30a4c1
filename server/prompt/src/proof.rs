//! Checks whether a model gets its prompts in the right form: defines holes with almost forced answers, rates one answer to a
//! hole, and compares the answers to the same holes in different forms.
//!
//! ```text
//! PROBES --prompt in a form--> raw answer --look--> Shown --\
//! the same in other forms                                    +--judge--> Verdict
//! ```
//!
//! A model that gets the template of another family does not fail: it answers badly. There are two signs: it solves no hole that
//! only the suffix decides, and the same model solves it in another form. Both are required before anything is called a mistake;
//! for a weak model the result is [`Verdict::Unclear`].
//!
//! The raw answers are rated, before anything is removed from them.

mod probes;
mod symptoms;

use crate::families::{FAMILIES, SHARED_TOKENS};
use crate::template::Template;

pub use probes::{PROBES, Probe};
pub use symptoms::Symptom;

/// Form of a prompt.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Form {
    /// With a prompt in a template.
    Template(Template),
    /// Prefix and suffix separately; the server renders the prompt.
    Server,
    /// A chat.
    Chat,
    /// Only the prefix: any text model can do this, so it is the baseline.
    Prefix,
}

/// Rating of an answer to a probe.
#[derive(Clone, Debug, PartialEq)]
pub struct Shown {
    /// 1 for the exact text, 0.5 if the answer continues behind it, else 0.
    pub share: f64,
    /// Symptoms found in the answer.
    pub symptoms: Vec<Symptom>,
}

/// The answers in one form.
#[derive(Clone, Debug, PartialEq)]
pub struct Tried {
    /// The form.
    pub form: Form,
    /// Ratings with the index of the probe in [`PROBES`].
    pub shown: Vec<(usize, Shown)>,
}

/// Result of comparing the answers.
#[derive(Clone, Debug, PartialEq)]
pub enum Verdict {
    /// The form is right.
    Right,
    /// The model does clearly better in another form.
    Better(Form),
    /// The model writes for people in every form.
    Chats,
    /// The model only continues texts; it does not support fill-in-the-middle.
    NoHoles,
    /// The answers allow no conclusion.
    Unclear,
}

/// Average share above which a form is certainly right: five of six holes, or all but their ends.
const SURE: f64 = 0.8;
/// Average share that is sufficient if no other form does better.
const ENOUGH: f64 = 0.5;
/// Minimum share of another form before it is recommended.
const WORTH_NAMING: f64 = 0.6;
/// Minimum lead over the chosen form: two of six holes, since one may be solved by chance.
const MARGIN: f64 = 0.33;

/// Rates an answer to `probe`. Text behind a special token is ignored, because it is cut off in use.
pub fn look(probe: &Probe, raw: &str) -> Shown {
    let answer = before_token(raw);
    let share = match behind_truth(answer, probe.truth) {
        None => 0.0,
        Some(rest) if rest.trim().is_empty() => 1.0,
        Some(_) => 0.5,
    };
    let mut symptoms = symptoms::of(probe, raw);
    if share == 0.5 {
        symptoms.push(Symptom::GoesOn);
    }
    Shown { share, symptoms }
}

fn before_token(raw: &str) -> &str {
    &raw[..special_token(raw).unwrap_or(raw.len())]
}

/// Returns the offset of the first special token of any family.
pub(crate) fn special_token(raw: &str) -> Option<usize> {
    // `<s>` and similar ones also occur in HTML and shell scripts.
    let is_telling = |token: &&&str| token.len() > 4;
    let tokens = FAMILIES.iter().flat_map(|family| family.tokens).chain(SHARED_TOKENS);
    tokens.filter(is_telling).filter_map(|token| raw.find(token)).min()
}

/// Returns the text behind the truth in an answer that begins with it. Blanks are ignored, and no name may continue behind its end.
fn behind_truth<'a>(answer: &'a str, truth: &str) -> Option<&'a str> {
    let mut rest = answer;
    for wanted in truth.chars().filter(|c| !c.is_whitespace()) {
        rest = rest.trim_start().strip_prefix(wanted)?;
    }
    let is_name = |c: char| c.is_alphanumeric() || c == '_';
    let goes_on = truth.ends_with(is_name) && rest.starts_with(is_name);
    (!goes_on).then_some(rest)
}

impl Tried {
    /// Returns the average share of the holes.
    pub fn score(&self) -> f64 {
        let sum: f64 = self.shown.iter().map(|(_, shown)| shown.share).sum();
        sum / self.shown.len().max(1) as f64
    }

    /// Returns the number of solved holes, regardless of their ends.
    pub fn found(&self) -> usize {
        self.count(|_| true)
    }

    /// Returns whether the form is right beyond doubt, so that other forms need not be tried.
    pub fn is_sure(&self) -> bool {
        self.score() >= SURE && self.uses_suffix()
    }

    /// Returns whether the model solves holes that require the suffix.
    fn uses_suffix(&self) -> bool {
        self.count(|probe| probe.needs_suffix) * 3 >= self.asked(|probe| probe.needs_suffix) * 2
            && self.count(|probe| probe.needs_suffix) > 0
    }

    /// Returns whether the model apparently does not see the suffix: it solves only holes for which the prefix leads to the right
    /// beginning.
    pub fn ignores_suffix(&self) -> bool {
        let (found, asked) =
            (self.count(|probe| !probe.needs_suffix), self.asked(|probe| !probe.needs_suffix));
        self.count(|probe| probe.needs_suffix) == 0 && found > 0 && found * 3 >= asked * 2
    }

    /// Returns the number of answers with this symptom.
    pub fn with(&self, symptom: Symptom) -> usize {
        self.shown.iter().filter(|(_, shown)| shown.symptoms.contains(&symptom)).count()
    }

    fn count(&self, counts: impl Fn(&Probe) -> bool) -> usize {
        let is_found = |(probe, shown): &&(usize, Shown)| counts(&PROBES[*probe]) && shown.share > 0.0;
        self.shown.iter().filter(is_found).count()
    }

    fn asked(&self, counts: impl Fn(&Probe) -> bool) -> usize {
        self.shown.iter().filter(|(probe, _)| counts(&PROBES[*probe])).count()
    }

    /// Returns whether at least half of the answers are for people.
    fn talks(&self) -> bool {
        let talks = |(_, shown): &&(usize, Shown)| shown.symptoms.iter().any(|symptom| symptom.is_talk());
        let talking = self.shown.iter().filter(talks).count();
        talking >= 2 && talking * 2 >= self.shown.len()
    }
}

/// Compares the answers in the chosen form, if any, with those in `others`, the most likely form first.
pub fn judge(chosen: Option<&Tried>, others: &[Tried]) -> Verdict {
    if chosen.is_some_and(Tried::is_sure) {
        return Verdict::Right;
    }
    if let Some(better) = clearly_better(chosen, others) {
        return Verdict::Better(better.form.clone());
    }
    if chosen.is_some_and(|chosen| chosen.score() >= ENOUGH && chosen.uses_suffix()) {
        return Verdict::Right;
    }
    let all = || chosen.into_iter().chain(others);
    let completions = || all().filter(|tried| tried.form != Form::Chat);
    let (talking, asked) = (completions().filter(|tried| tried.talks()).count(), completions().count());
    if talking > 0 && talking * 2 >= asked {
        return Verdict::Chats;
    }
    let continues = all().any(|tried| tried.form == Form::Prefix && tried.ignores_suffix());
    let fills = all().any(|tried| tried.count(|probe| probe.needs_suffix) > 0);
    if continues && !fills { Verdict::NoHoles } else { Verdict::Unclear }
}

/// Returns the best of the others, if it is better beyond chance.
fn clearly_better<'a>(chosen: Option<&Tried>, others: &'a [Tried]) -> Option<&'a Tried> {
    let candidates = others.iter().filter(|tried| tried.form != Form::Prefix && tried.uses_suffix());
    // The first of equals wins.
    let best = candidates.reduce(|best, tried| if tried.score() > best.score() { tried } else { best })?;
    let least = chosen.map_or(0.0, |chosen| chosen.score() + MARGIN).max(WORTH_NAMING);
    (best.score() >= least).then_some(best)
}

/// Returns one template of each layout except that of `chosen`, with the layout of `likely` first.
pub fn layouts(likely: Option<&Template>, chosen: Option<&Template>) -> Vec<Template> {
    let families = FAMILIES.iter().map(Template::Family);
    let mut seen: Vec<String> = chosen.map(|chosen| chosen.file().to_owned()).into_iter().collect();
    let mut is_new = |template: &Template| {
        let layout = template.file().to_owned();
        let is_new = !seen.contains(&layout);
        seen.push(layout);
        is_new
    };
    likely.cloned().into_iter().chain(families).filter(|template| is_new(template)).collect()
}

#[cfg(test)]
mod tests;
