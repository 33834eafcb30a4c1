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

mod cancellation;
mod probe_answer;
mod prompt_forms;

use std::time::Duration;

use prompt::template_check::{
    FormResult, PROBES, PromptForm, TemplateVerdict, compare_forms, examine_answer,
};
use tokio::time::Instant;

use crate::{Engine, EngineError, EngineInfo, HttpEngine, HttpSettings, PromptMode, Sampling};

pub use cancellation::CancellationResult;
use probe_answer::{LONG_PROBE, ProbeAnswer, ask_probe, probe_request};
use prompt_forms::FormCandidate;

/// Result of an engine check.
#[derive(Debug, Default)]
pub struct EngineCheck {
    /// The engine's metadata.
    pub info: EngineInfo,
    /// Why the engine gave no answer.
    pub fault: Option<EngineError>,
    /// Latency of a warm, short answer.
    pub times: Option<CheckTimes>,
    /// Tokens per second, if measurable.
    pub speed: Option<GenerationSpeed>,
    /// How a long answer is streamed.
    pub streaming: Option<StreamingMode>,
    /// Effect of cancelling a request.
    pub cancellation: Option<CancellationResult>,
    /// Probe results with the chosen form, if a form could be chosen.
    pub chosen_form: Option<FormResult>,
    /// Probe results with the other forms that were tried.
    pub other_forms: Vec<FormResult>,
    /// Verdict on the chosen form; `None` for engines without a prompt format.
    pub verdict: Option<TemplateVerdict>,
}

/// Medians over the probes, without the first one, which may load the model.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct CheckTimes {
    /// Time to the first text.
    pub first: Duration,
    /// Time to the end.
    pub total: Duration,
}

/// Generation speed.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct GenerationSpeed {
    /// Tokens per second.
    pub tokens_per_second: f64,
    /// Whether the engine counted the tokens; otherwise they are estimated.
    pub is_counted: bool,
}

/// How an answer is delivered.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum StreamingMode {
    /// In this many pieces during generation.
    Pieces(usize),
    /// In this many pieces, all at the end: a proxy buffers the stream.
    HeldBack(usize),
    /// In one piece.
    Whole,
}

/// Timeout of the first request, which may load a model.
const FIRST_TIMEOUT: Duration = Duration::from_secs(120);
/// Timeout of a probe: an engine that needs longer for a few words is unusable while typing.
const TIMEOUT: Duration = Duration::from_secs(30);
/// Time limit for testing other forms. Forms that weren't tested by then are not judged.
const OTHER_FORMS_TIMEOUT: Duration = Duration::from_secs(90);
/// Tokens of the long answer for the speed measurement: enough for a mean, and three seconds on a slow machine.
const LONG_ANSWER_TOKENS: u32 = 64;

/// Runs all checks on an engine; calls `tell` after each request.
pub async fn check(engine: &dyn Engine, tell: &(dyn Fn() + Send + Sync)) -> EngineCheck {
    let introduction = match engine.probe().await {
        Ok(introduction) => introduction,
        Err(fault) => return EngineCheck { fault: Some(fault), ..EngineCheck::default() },
    };
    let mut check = EngineCheck { info: introduction, ..EngineCheck::default() };
    let form = check.info.prompt_mode.as_ref().map(form_of);
    match ask_probes(engine, form.as_ref(), 0..PROBES.len(), tell).await {
        Ok((tried, heard)) => {
            check.chosen_form = Some(tried);
            check.times = times(&heard);
            check.measure(engine, tell).await;
        }
        // The right template can still be determined.
        Err(fault @ EngineError::NoTemplate { .. }) => {
            check.info.prompt_mode = None;
            check.fault = Some(fault);
        }
        Err(fault) => return EngineCheck { fault: Some(fault), ..check },
    }
    if let Some(server) = check.info.server.clone() {
        check.check_forms(&server, form.as_ref(), tell).await;
    }
    check
}

impl EngineCheck {
    /// Measures speed, streaming and cancellation, as far as the engine answers.
    async fn measure(&mut self, engine: &dyn Engine, tell: &(dyn Fn() + Send + Sync)) {
        let limited =
            self.info.server.as_ref().and_then(|server| with_max_tokens(server, LONG_ANSWER_TOKENS));
        let writing: &dyn Engine = limited.as_ref().map_or(engine, |limited| limited);
        let Ok(long) = ask_probe(writing, probe_request(&LONG_PROBE, engine), TIMEOUT).await else { return };
        tell();
        (self.speed, self.streaming) = (long.speed(), long.streaming());
        let Some(times) = self.times.filter(|_| self.info.server.is_some()) else { return };
        self.cancellation = Some(cancellation::check_cancellation(engine, &long, times).await);
        tell();
    }

    /// Tests other forms: all that the server accepts if the chosen one is doubtful, else two for contrast.
    async fn check_forms(
        &mut self,
        server: &HttpSettings,
        form: Option<&PromptForm>,
        tell: &(dyn Fn() + Send + Sync),
    ) {
        let end = Instant::now() + OTHER_FORMS_TIMEOUT;
        let is_sure = self.chosen_form.as_ref().is_some_and(FormResult::is_sure);
        let alternatives = prompt_forms::other_forms(server, &self.info.metadata, form);
        for alternative in alternatives.iter().take(if is_sure { MAX_CONTRASTS } else { usize::MAX }) {
            let asking = try_form(alternative, is_sure, tell);
            // A server that rejects a form does not support it.
            let Ok(Some(tried)) = tokio::time::timeout_at(end, asking).await else { continue };
            let is_right = tried.score() >= 1.0 && tried.is_sure();
            self.other_forms.push(tried);
            if is_right {
                break;
            }
        }
        self.verdict = Some(compare_forms(self.chosen_form.as_ref(), &self.other_forms));
    }
}

/// Number of forms tested for contrast if the chosen form is right: the prefix alone, and a template of another family.
const MAX_CONTRASTS: usize = 2;

/// Number of failed probes after which a form is abandoned.
const EARLY_STOP_PROBES: usize = 3;

/// Probes the model with another form; returns `None` if the server rejects it.
async fn try_form(
    alternative: &FormCandidate,
    is_contrast: bool,
    tell: &(dyn Fn() + Send + Sync),
) -> Option<FormResult> {
    let engine = HttpEngine::new(alternative.settings.clone()).ok()?;
    let form = &alternative.form;
    let (mut tried, _) = ask_probes(&engine, Some(form), 0..EARLY_STOP_PROBES, tell).await.ok()?;
    if !is_contrast && (tried.filled_holes() > 0 || *form == PromptForm::Prefix) {
        let (rest, _) = ask_probes(&engine, Some(form), EARLY_STOP_PROBES..PROBES.len(), tell).await.ok()?;
        tried.answers.extend(rest.answers);
    }
    Some(tried)
}

/// Runs these probes. Without a form, the engine's text is used as is.
async fn ask_probes(
    engine: &dyn Engine,
    form: Option<&PromptForm>,
    probes: std::ops::Range<usize>,
    tell: &(dyn Fn() + Send + Sync),
) -> Result<(FormResult, Vec<ProbeAnswer>), EngineError> {
    let mut tried = FormResult { form: form.cloned().unwrap_or(PromptForm::Server), answers: Vec::new() };
    let mut all = Vec::new();
    for place in probes {
        let limit = if all.is_empty() { FIRST_TIMEOUT } else { TIMEOUT };
        let heard = ask_probe(engine, probe_request(&PROBES[place], engine), limit).await?;
        tell();
        // In a chat, marks around the answer are part of it.
        let answer = if form == Some(&PromptForm::Chat) { &heard.text } else { heard.raw() };
        tried.answers.push((place, examine_answer(&PROBES[place], answer)));
        all.push(heard);
    }
    Ok((tried, all))
}

fn form_of(way: &PromptMode) -> PromptForm {
    match way {
        PromptMode::Rendered(choice) => PromptForm::Template(choice.template.clone()),
        PromptMode::Infill => PromptForm::Server,
        PromptMode::Chat => PromptForm::Chat,
    }
}

/// Returns an engine for the same server with this limit of tokens.
fn with_max_tokens(server: &HttpSettings, max_tokens: u32) -> Option<HttpEngine> {
    let sampling = Sampling { max_tokens, ..server.sampling.clone() };
    HttpEngine::new(HttpSettings { sampling, ..server.clone() }).ok()
}

/// Considers only probes with text if there are any: empty answers are faster.
fn times(heard: &[ProbeAnswer]) -> Option<CheckTimes> {
    let warm = &heard[1.min(heard.len())..];
    let all = || warm.iter().map(|heard| heard.total);
    let response = || warm.iter().filter_map(|heard| Some((heard.first?, heard.total)));
    let total = median(response().map(|(_, total)| total)).or_else(|| median(all()))?;
    Some(CheckTimes { first: median(response().map(|(first, _)| first)).unwrap_or(total), total })
}

fn median(durations: impl Iterator<Item = Duration>) -> Option<Duration> {
    let mut sorted: Vec<Duration> = durations.collect();
    sorted.sort_unstable();
    sorted.get(sorted.len() / 2).copied()
}
