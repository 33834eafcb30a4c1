//! Checking an engine: whether anybody is there, how fast it is, whether it streams and can be stopped, and whether its model is asked
//! the way it wants.
//!
//! ```text
//! introduce --> probes in the chosen form --> times
//!                       |                     a long answer --> speed, streaming; another, cancelled --> freed?
//!                       +--> the same probes in other forms --judge--> verdict
//! ```
//!
//! Everything is measured by asking, through the same [`Engine`] that completes: nothing is believed because a format promises it. What
//! answers mean is told in `prompt::proof`. One question is under way at a time, so that times are those of the engine. It neither prints
//! nor knows settings; dropping the future frees the engine.

mod cancelling;
mod forms;
mod heard;

use std::time::Duration;

use prompt::proof::{Form, PROBES, Tried, Verdict, judge, look};
use tokio::time::Instant;

use crate::{Engine, Error, HttpEngine, HttpSettings, Introduction, Sampling, Way};

pub use cancelling::Cancelling;
use forms::Alternative;
use heard::{Heard, LONG, ask, question};

/// What was found out about an engine.
#[derive(Debug, Default)]
pub struct Check {
    /// What it says of itself.
    pub introduction: Introduction,
    /// Why it gave no answer.
    pub fault: Option<Error>,
    /// How long a warm answer of a few words takes.
    pub times: Option<Times>,
    /// Tokens that it writes in a second, where that can be told.
    pub speed: Option<Speed>,
    /// How a long answer comes.
    pub streaming: Option<Streaming>,
    /// What becomes of a cancelled question.
    pub cancelling: Option<Cancelling>,
    /// How it fills the holes in the chosen form, if one could be chosen.
    pub chosen: Option<Tried>,
    /// The same in other forms, as far as they were tried.
    pub others: Vec<Tried>,
    /// What that says of the form; nothing for engines that ask no model of ours.
    pub verdict: Option<Verdict>,
}

/// Medians over the probes, the first one aside, which may load the model.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Times {
    /// Until the first text.
    pub first: Duration,
    /// Until the end.
    pub total: Duration,
}

/// How fast an engine writes.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Speed {
    /// Tokens in a second.
    pub tokens_per_second: f64,
    /// Whether the engine counted them; else they are estimated.
    pub is_counted: bool,
}

/// How an answer comes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Streaming {
    /// In so many pieces, while it is written.
    Pieces(usize),
    /// In so many pieces, which all came at its end: something in between keeps them.
    HeldBack(usize),
    /// As a whole.
    Whole,
}

/// A model that is loaded for the first question may take so long.
const FIRST_LIMIT: Duration = Duration::from_secs(120);
/// Whoever takes longer for a few words is of no use while somebody types.
const LIMIT: Duration = Duration::from_secs(30);
/// Nobody waits longer for an opinion on templates; what was not tried by then is not judged.
const OTHERS_LIMIT: Duration = Duration::from_secs(90);
/// Tokens of the long answer, which measures speed: enough for a mean, and three seconds for a slow machine.
const LONG_TOKENS: u32 = 64;

/// Asks an engine whatever there is to ask; `tell` is called for each question that is done.
pub async fn check(engine: &dyn Engine, tell: &(dyn Fn() + Send + Sync)) -> Check {
    let introduction = match engine.introduce().await {
        Ok(introduction) => introduction,
        Err(fault) => return Check { fault: Some(fault), ..Check::default() },
    };
    let mut check = Check { introduction, ..Check::default() };
    let form = check.introduction.way.as_ref().map(form_of);
    match ask_probes(engine, form.as_ref(), 0..PROBES.len(), tell).await {
        Ok((tried, heard)) => {
            check.chosen = Some(tried);
            check.times = times(&heard);
            check.measure(engine, tell).await;
        }
        // Which template would be right can be found out nevertheless.
        Err(fault @ Error::NoTemplate { .. }) => {
            check.introduction.way = None;
            check.fault = Some(fault);
        }
        Err(fault) => return Check { fault: Some(fault), ..check },
    }
    if let Some(server) = check.introduction.server.clone() {
        check.prove(&server, form.as_ref(), tell).await;
    }
    check
}

impl Check {
    /// Speed, streaming and cancelling, as far as the engine answers.
    async fn measure(&mut self, engine: &dyn Engine, tell: &(dyn Fn() + Send + Sync)) {
        let limited = self.introduction.server.as_ref().and_then(|server| limited(server, LONG_TOKENS));
        let writing: &dyn Engine = limited.as_ref().map_or(engine, |limited| limited);
        let Ok(long) = ask(writing, question(&LONG, engine), LIMIT).await else { return };
        tell();
        (self.speed, self.streaming) = (long.speed(), long.streaming());
        let Some(times) = self.times.filter(|_| self.introduction.server.is_some()) else { return };
        self.cancelling = Some(cancelling::try_it(engine, &long, times).await);
        tell();
    }

    /// Asks in other forms: all that the server takes, where the chosen one leaves doubts; else two for contrast.
    async fn prove(&mut self, server: &HttpSettings, form: Option<&Form>, tell: &(dyn Fn() + Send + Sync)) {
        let end = Instant::now() + OTHERS_LIMIT;
        let is_sure = self.chosen.as_ref().is_some_and(Tried::is_sure);
        let alternatives = forms::alternatives(server, &self.introduction.metadata, form);
        for alternative in alternatives.iter().take(if is_sure { CONTRASTS } else { usize::MAX }) {
            let asking = try_form(alternative, is_sure, tell);
            // A server that refuses a form does not offer it.
            let Ok(Some(tried)) = tokio::time::timeout_at(end, asking).await else { continue };
            let is_right = tried.score() >= 1.0 && tried.is_sure();
            self.others.push(tried);
            if is_right {
                break;
            }
        }
        self.verdict = Some(judge(self.chosen.as_ref(), &self.others));
    }
}

/// Forms that are tried beside one that is right: the prefix alone, and a template of another family.
const CONTRASTS: usize = 2;

/// Probes after which a form in which nothing was found is given up.
const ENOUGH_PROBES: usize = 3;

/// What a model answers in another form; `None` where the server refuses it.
async fn try_form(
    alternative: &Alternative,
    is_contrast: bool,
    tell: &(dyn Fn() + Send + Sync),
) -> Option<Tried> {
    let engine = HttpEngine::new(alternative.settings.clone()).ok()?;
    let form = &alternative.form;
    let (mut tried, _) = ask_probes(&engine, Some(form), 0..ENOUGH_PROBES, tell).await.ok()?;
    if !is_contrast && (tried.found() > 0 || *form == Form::Prefix) {
        let (rest, _) = ask_probes(&engine, Some(form), ENOUGH_PROBES..PROBES.len(), tell).await.ok()?;
        tried.shown.extend(rest.shown);
    }
    Some(tried)
}

/// Asks these probes. Without a form, the engine's text is taken as it comes.
async fn ask_probes(
    engine: &dyn Engine,
    form: Option<&Form>,
    probes: std::ops::Range<usize>,
    tell: &(dyn Fn() + Send + Sync),
) -> Result<(Tried, Vec<Heard>), Error> {
    let mut tried = Tried { form: form.cloned().unwrap_or(Form::Server), shown: Vec::new() };
    let mut all = Vec::new();
    for place in probes {
        let limit = if all.is_empty() { FIRST_LIMIT } else { LIMIT };
        let heard = ask(engine, question(&PROBES[place], engine), limit).await?;
        tell();
        // In a conversation, marks around the answer belong to it.
        let answer = if form == Some(&Form::Chat) { &heard.text } else { heard.raw() };
        tried.shown.push((place, look(&PROBES[place], answer)));
        all.push(heard);
    }
    Ok((tried, all))
}

fn form_of(way: &Way) -> Form {
    match way {
        Way::Rendered(choice) => Form::Template(choice.template.clone()),
        Way::Hole => Form::Server,
        Way::Chat => Form::Chat,
    }
}

/// The same server with answers of so many tokens.
fn limited(server: &HttpSettings, max_tokens: u32) -> Option<HttpEngine> {
    let sampling = Sampling { max_tokens, ..server.sampling.clone() };
    HttpEngine::new(HttpSettings { sampling, ..server.clone() }).ok()
}

/// Of those that said anything, if there are any: silence is quicker.
fn times(heard: &[Heard]) -> Option<Times> {
    let warm = &heard[1.min(heard.len())..];
    let all = || warm.iter().map(|heard| heard.total);
    let said = || warm.iter().filter_map(|heard| Some((heard.first?, heard.total)));
    let total = median(said().map(|(_, total)| total)).or_else(|| median(all()))?;
    Some(Times { first: median(said().map(|(first, _)| first)).unwrap_or(total), total })
}

fn median(durations: impl Iterator<Item = Duration>) -> Option<Duration> {
    let mut sorted: Vec<Duration> = durations.collect();
    sorted.sort_unstable();
    sorted.get(sorted.len() / 2).copied()
}
