//! Whether a model is asked the way it wants: holes whose right text is nearly forced, what an answer to one shows, and what all answers
//! to the same holes, asked in different forms, say together.
//!
//! ```text
//! PROBES --asked in a form--> raw answer --look--> Shown --\
//! the same in other forms                                   +--judge--> Verdict
//! ```
//!
//! A model that is asked in a template of another family does not fail: it writes something, and looks stupid. What gives it away is
//! that it finds the text of no hole that the suffix alone decides, and that the same model finds it when it is asked otherwise. Both
//! are needed before anything is called a mistake; a weak model gives [`Verdict::Unclear`].
//!
//! Answers are judged as they come, before anybody has taken anything away from them.

mod probes;
mod symptoms;

use crate::families::{FAMILIES, SHARED_TOKENS};
use crate::template::Template;

pub use probes::{PROBES, Probe};
pub use symptoms::Symptom;

/// In which form a model is asked.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Form {
    /// With a prompt in a template.
    Template(Template),
    /// With prefix and suffix apart; the server makes the prompt.
    Server,
    /// In a conversation.
    Chat,
    /// With the prefix alone: what any model of text can do, and the measure of the others.
    Prefix,
}

/// What an answer to a probe shows.
#[derive(Clone, Debug, PartialEq)]
pub struct Shown {
    /// How much of what belongs there: 1 for all of it and nothing else, a half where it goes on behind it, else 0.
    pub share: f64,
    /// What is odd about it.
    pub symptoms: Vec<Symptom>,
}

/// The answers in one form.
#[derive(Clone, Debug, PartialEq)]
pub struct Tried {
    /// The form.
    pub form: Form,
    /// What was shown, by the probe's place in [`PROBES`].
    pub shown: Vec<(usize, Shown)>,
}

/// What the answers say together.
#[derive(Clone, Debug, PartialEq)]
pub enum Verdict {
    /// The model is asked as it wants.
    Right,
    /// It does clearly better in another form.
    Better(Form),
    /// It talks to people, in whatever form it is asked.
    Chats,
    /// It continues texts, and fills no holes.
    NoHoles,
    /// Nothing can be said.
    Unclear,
}

/// So much of what belongs into the holes, on average, shows that a model is asked as it wants: five of six holes, or all but the ends.
const SURE: f64 = 0.8;
/// As much is enough where no other form does better.
const ENOUGH: f64 = 0.5;
/// Another form has to find at least so much before it is recommended.
const WORTH_NAMING: f64 = 0.6;
/// And so much more than the chosen one: two holes of six, since one may be found by chance.
const MARGIN: f64 = 0.33;

/// What an answer to `probe` shows. Text behind a special token is no part of the answer: whoever asks cuts it away.
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

/// Where the first special token of any family stands.
pub(crate) fn special_token(raw: &str) -> Option<usize> {
    // `<s>` and the like are words of HTML and of shells as well.
    let is_telling = |token: &&&str| token.len() > 4;
    let tokens = FAMILIES.iter().flat_map(|family| family.tokens).chain(SHARED_TOKENS);
    tokens.filter(is_telling).filter_map(|token| raw.find(token)).min()
}

/// What follows the truth in an answer that begins with it; blanks do not count, and no name goes on behind its end.
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
    /// How much of what belongs into the holes was found, on average.
    pub fn score(&self) -> f64 {
        let sum: f64 = self.shown.iter().map(|(_, shown)| shown.share).sum();
        sum / self.shown.len().max(1) as f64
    }

    /// How many holes were filled, the ends aside.
    pub fn found(&self) -> usize {
        self.count(|_| true)
    }

    /// Whether it is asked as it wants beyond doubt, so that other forms need not be tried.
    pub fn is_sure(&self) -> bool {
        self.score() >= SURE && self.uses_suffix()
    }

    /// Whether holes were filled that only the suffix tells how to fill.
    fn uses_suffix(&self) -> bool {
        self.count(|probe| probe.needs_suffix) * 3 >= self.asked(|probe| probe.needs_suffix) * 2
            && self.count(|probe| probe.needs_suffix) > 0
    }

    /// Whether the answers are those of a model that never saw the suffix: the prefix alone leads to a right beginning, and nothing else
    /// was found.
    pub fn ignores_suffix(&self) -> bool {
        let (found, asked) =
            (self.count(|probe| !probe.needs_suffix), self.asked(|probe| !probe.needs_suffix));
        self.count(|probe| probe.needs_suffix) == 0 && found > 0 && found * 3 >= asked * 2
    }

    /// In how many answers this was odd.
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

    /// Whether half of the answers or more are for people.
    fn talks(&self) -> bool {
        let talks = |(_, shown): &&(usize, Shown)| shown.symptoms.iter().any(|symptom| symptom.is_talk());
        let talking = self.shown.iter().filter(talks).count();
        talking >= 2 && talking * 2 >= self.shown.len()
    }
}

/// What the answers in the chosen form, if any can be chosen, say beside those in `others`, the likelier ones first.
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

/// The best of the others, if it is better beyond chance.
fn clearly_better<'a>(chosen: Option<&Tried>, others: &'a [Tried]) -> Option<&'a Tried> {
    let candidates = others.iter().filter(|tried| tried.form != Form::Prefix && tried.uses_suffix());
    // Of equals the first.
    let best = candidates.reduce(|best, tried| if tried.score() > best.score() { tried } else { best })?;
    let least = chosen.map_or(0.0, |chosen| chosen.score() + MARGIN).max(WORTH_NAMING);
    (best.score() >= least).then_some(best)
}

/// One template of each layout but that of `chosen`, the layout of `likely` first.
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
