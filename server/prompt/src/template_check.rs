//! Checks whether a model gets its prompts in the right form: defines holes with almost forced answers, rates one answer to a
//! hole, and compares the answers to the same holes in different forms.
//!
//! ```text
//! PROBES --prompt in a form--> raw answer --look--> AnswerFindings --\
//! the same in other forms                                    +--judge--> TemplateVerdict
//! ```
//!
//! A model that gets the template of another family does not fail: it answers badly. There are two signs: it solves no hole that
//! only the suffix decides, and the same model solves it in another form. Both are required before anything is called a mistake;
//! for a weak model the result is [`TemplateVerdict::Unclear`].
//!
//! The raw answers are rated, before anything is removed from them.

mod probes;
mod symptoms;

use crate::model_families::{FAMILIES, SHARED_TOKENS};
use crate::template::Template;

pub use probes::{PROBES, ProbeHole};
pub use symptoms::{Symptom, symptoms_of};

/// Form of a prompt.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum PromptForm {
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
pub struct AnswerFindings {
    /// 1 for the exact text, 0.5 if the answer continues behind it, else 0.
    pub share: f64,
    /// Symptoms found in the answer.
    pub symptoms: Vec<Symptom>,
}

/// The answers in one form.
#[derive(Clone, Debug, PartialEq)]
pub struct FormResult {
    /// The form.
    pub form: PromptForm,
    /// Ratings with the index of the probe in [`PROBES`].
    pub answers: Vec<(usize, AnswerFindings)>,
}

/// Result of comparing the answers.
#[derive(Clone, Debug, PartialEq)]
pub enum TemplateVerdict {
    /// The form is right.
    Right,
    /// The model does clearly better in another form.
    Better(PromptForm),
    /// The model writes for people in every form.
    Chats,
    /// The model only continues texts; it does not support fill-in-the-middle.
    NoHoles,
    /// The answers allow no conclusion.
    Unclear,
}

/// Average share above which a form is certainly right: five of six holes, or all but their ends.
const SURE_SHARE: f64 = 0.8;
/// Average share that is sufficient if no other form does better.
const ENOUGH_SHARE: f64 = 0.5;
/// Minimum share of another form before it is recommended.
const WORTH_NAMING: f64 = 0.6;
/// Minimum lead over the chosen form: two of six holes, since one may be solved by chance.
const MARGIN: f64 = 0.33;

/// Rates an answer to `probe`. Text behind a special token is ignored, because it is cut off in use.
pub fn examine_answer(probe: &ProbeHole, raw: &str) -> AnswerFindings {
    let answer = before_token(raw);
    let share = match after_truth(answer, probe.truth) {
        None => 0.0,
        Some(rest) if rest.trim().is_empty() => 1.0,
        Some(_) => 0.5,
    };
    let mut symptoms = symptoms_of(probe.prefix, probe.suffix, raw);
    if share == 0.5 {
        symptoms.push(Symptom::GoesOn);
    }
    AnswerFindings { share, symptoms }
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
fn after_truth<'a>(answer: &'a str, truth: &str) -> Option<&'a str> {
    let mut rest = answer;
    for wanted in truth.chars().filter(|c| !c.is_whitespace()) {
        rest = rest.trim_start().strip_prefix(wanted)?;
    }
    let is_name = |c: char| c.is_alphanumeric() || c == '_';
    let goes_on = truth.ends_with(is_name) && rest.starts_with(is_name);
    (!goes_on).then_some(rest)
}

impl FormResult {
    /// Returns the average share of the holes.
    pub fn score(&self) -> f64 {
        let sum: f64 = self.answers.iter().map(|(_, shown)| shown.share).sum();
        sum / self.answers.len().max(1) as f64
    }

    /// Returns the number of solved holes, regardless of their ends.
    pub fn filled_holes(&self) -> usize {
        self.count(|_| true)
    }

    /// Returns whether the form is right beyond doubt, so that other forms need not be tried.
    pub fn is_sure(&self) -> bool {
        self.score() >= SURE_SHARE && self.uses_suffix()
    }

    /// Returns whether the model solves holes that require the suffix.
    fn uses_suffix(&self) -> bool {
        self.count(|probe| probe.needs_suffix) * 3 >= self.count_probes(|probe| probe.needs_suffix) * 2
            && self.count(|probe| probe.needs_suffix) > 0
    }

    /// Returns whether the model apparently does not see the suffix: it solves only holes for which the prefix leads to the right
    /// beginning.
    pub fn ignores_suffix(&self) -> bool {
        let (found, asked) =
            (self.count(|probe| !probe.needs_suffix), self.count_probes(|probe| !probe.needs_suffix));
        self.count(|probe| probe.needs_suffix) == 0 && found > 0 && found * 3 >= asked * 2
    }

    /// Returns the number of answers with this symptom.
    pub fn count_with(&self, symptom: Symptom) -> usize {
        self.answers.iter().filter(|(_, shown)| shown.symptoms.contains(&symptom)).count()
    }

    fn count(&self, counts: impl Fn(&ProbeHole) -> bool) -> usize {
        let is_found =
            |(probe, shown): &&(usize, AnswerFindings)| counts(&PROBES[*probe]) && shown.share > 0.0;
        self.answers.iter().filter(is_found).count()
    }

    fn count_probes(&self, counts: impl Fn(&ProbeHole) -> bool) -> usize {
        self.answers.iter().filter(|(probe, _)| counts(&PROBES[*probe])).count()
    }

    /// Returns whether at least half of the answers are for people.
    fn is_mostly_prose(&self) -> bool {
        let talks =
            |(_, shown): &&(usize, AnswerFindings)| shown.symptoms.iter().any(|symptom| symptom.is_talk());
        let talking = self.answers.iter().filter(talks).count();
        talking >= 2 && talking * 2 >= self.answers.len()
    }
}

/// Compares the answers in the chosen form, if any, with those in `others`, the most likely form first.
pub fn compare_forms(chosen: Option<&FormResult>, others: &[FormResult]) -> TemplateVerdict {
    if chosen.is_some_and(FormResult::is_sure) {
        return TemplateVerdict::Right;
    }
    if let Some(better) = clearly_better(chosen, others) {
        return TemplateVerdict::Better(better.form.clone());
    }
    if chosen.is_some_and(|chosen| chosen.score() >= ENOUGH_SHARE && chosen.uses_suffix()) {
        return TemplateVerdict::Right;
    }
    let all = || chosen.into_iter().chain(others);
    let completions = || all().filter(|tried| tried.form != PromptForm::Chat);
    let (talking, asked) =
        (completions().filter(|tried| tried.is_mostly_prose()).count(), completions().count());
    if talking > 0 && talking * 2 >= asked {
        return TemplateVerdict::Chats;
    }
    let continues = all().any(|tried| tried.form == PromptForm::Prefix && tried.ignores_suffix());
    let fills = all().any(|tried| tried.count(|probe| probe.needs_suffix) > 0);
    if continues && !fills { TemplateVerdict::NoHoles } else { TemplateVerdict::Unclear }
}

/// Returns the best of the others, if it is better beyond chance.
fn clearly_better<'a>(chosen: Option<&FormResult>, others: &'a [FormResult]) -> Option<&'a FormResult> {
    let candidates = others.iter().filter(|tried| tried.form != PromptForm::Prefix && tried.uses_suffix());
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
