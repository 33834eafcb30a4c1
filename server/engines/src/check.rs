//! Checks an engine: availability, speed, streaming, cancellation, and whether its prompt format suits the model.
//!
//! ```text
//! introduce --> probes in the chosen form --> times
//!                       |                     a long answer --> speed, streaming; another, cancelled --> freed?
//!                       +--> the same probes in other forms --judge--> verdict
//! ```
//!
//! Everything is measured with requests through the same [`Engine`] that completes; no property is assumed from the format.
//! `prompt::proof` interprets the answers. Requests run one at a time, so that times are the engine's own. This module prints
//! nothing and knows no settings. Dropping the future frees the engine.

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

/// Result of an engine check.
#[derive(Debug, Default)]
pub struct Check {
    /// The engine's metadata.
    pub introduction: Introduction,
    /// Why the engine gave no answer.
    pub fault: Option<Error>,
    /// Latency of a warm, short answer.
    pub times: Option<Times>,
    /// Tokens per second, if measurable.
    pub speed: Option<Speed>,
    /// How a long answer is streamed.
    pub streaming: Option<Streaming>,
    /// Effect of cancelling a request.
    pub cancelling: Option<Cancelling>,
    /// Probe results with the chosen form, if a form could be chosen.
    pub chosen: Option<Tried>,
    /// Probe results with the other forms that were tried.
    pub others: Vec<Tried>,
    /// Verdict on the chosen form; `None` for engines without a prompt format.
    pub verdict: Option<Verdict>,
}

/// Medians over the probes, without the first one, which may load the model.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Times {
    /// Time to the first text.
    pub first: Duration,
    /// Time to the end.
    pub total: Duration,
}

/// Generation speed.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Speed {
    /// Tokens per second.
    pub tokens_per_second: f64,
    /// Whether the engine counted the tokens; otherwise they are estimated.
    pub is_counted: bool,
}

/// How an answer is delivered.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Streaming {
    /// In this many pieces during generation.
    Pieces(usize),
    /// In this many pieces, all at the end: a proxy buffers the stream.
    HeldBack(usize),
    /// In one piece.
    Whole,
}

/// Timeout of the first request, which may load a model.
const FIRST_LIMIT: Duration = Duration::from_secs(120);
/// Timeout of a probe: an engine that needs longer for a few words is unusable while typing.
const LIMIT: Duration = Duration::from_secs(30);
/// Time limit for testing other forms. Forms that weren't tested by then are not judged.
const OTHERS_LIMIT: Duration = Duration::from_secs(90);
/// Tokens of the long answer for the speed measurement: enough for a mean, and three seconds on a slow machine.
const LONG_TOKENS: u32 = 64;

/// Runs all checks on an engine; calls `tell` after each request.
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
        // The right template can still be determined.
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
    /// Measures speed, streaming and cancellation, as far as the engine answers.
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

    /// Tests other forms: all that the server accepts if the chosen one is doubtful, else two for contrast.
    async fn prove(&mut self, server: &HttpSettings, form: Option<&Form>, tell: &(dyn Fn() + Send + Sync)) {
        let end = Instant::now() + OTHERS_LIMIT;
        let is_sure = self.chosen.as_ref().is_some_and(Tried::is_sure);
        let alternatives = forms::alternatives(server, &self.introduction.metadata, form);
        for alternative in alternatives.iter().take(if is_sure { CONTRASTS } else { usize::MAX }) {
            let asking = try_form(alternative, is_sure, tell);
            // A server that rejects a form does not support it.
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

/// Number of forms tested for contrast if the chosen form is right: the prefix alone, and a template of another family.
const CONTRASTS: usize = 2;

/// Number of failed probes after which a form is abandoned.
const ENOUGH_PROBES: usize = 3;

/// Probes the model with another form; returns `None` if the server rejects it.
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

/// Runs these probes. Without a form, the engine's text is used as is.
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
        // In a chat, marks around the answer are part of it.
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

/// Returns an engine for the same server with this limit of tokens.
fn limited(server: &HttpSettings, max_tokens: u32) -> Option<HttpEngine> {
    let sampling = Sampling { max_tokens, ..server.sampling.clone() };
    HttpEngine::new(HttpSettings { sampling, ..server.clone() }).ok()
}

/// Considers only probes with text if there are any: empty answers are faster.
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
