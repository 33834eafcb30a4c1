//! Greedy decoding: appends the most likely permitted token until the completion ends.

use crate::candidates::Place;
use crate::cursor::{Mode, Typed};
use crate::models::Models;
use crate::predict::{Guess, Model, Predictor};
use crate::proposals::{Proposal, best_first, proposals};
use crate::settings::{Completion, CompletionToken, Method, Settings, StopReason};
use crate::shape::{Shape, Verdict};
use crate::view::View;
use crate::vocabulary::{TokenId, is_newline};
use crate::{gate, nearest, render, stop};

/// Maximum number of tokens of a statement (feasibility study, section 8.6).
const MAX_STATEMENT: usize = 60;
/// Maximum number of tokens of a block (feasibility study, section 8.6).
const MAX_BLOCK: usize = 220;

/// Generated tokens and the reason for their end.
pub(crate) struct Written {
    pub(crate) guesses: Vec<Guess>,
    /// The word at the cursor, if it is treated as complete.
    pub(crate) lead: Option<TokenId>,
    /// Whether the first token completes the partial one at the cursor.
    pub(crate) ends_typed: bool,
    pub(crate) stop: StopReason,
}

impl Written {
    fn nothing(stop: StopReason) -> Written {
        Written { guesses: Vec::new(), lead: None, ends_typed: false, stop }
    }

    /// Returns whether both have the same tokens.
    pub(crate) fn is_same(&self, other: &Written) -> bool {
        let tokens =
            |written: &Written| -> Vec<TokenId> { written.guesses.iter().map(|guess| guess.token).collect() };
        self.lead == other.lead && self.ends_typed == other.ends_typed && tokens(self) == tokens(other)
    }

    /// Returns the tokens between the cursor's context and one of the tokens.
    pub(crate) fn tokens_before(&self, place: usize) -> Vec<TokenId> {
        self.lead.into_iter().chain(self.guesses[..place].iter().map(|guess| guess.token)).collect()
    }
}

/// Completes at the view's cursor.
pub(crate) fn complete(view: &View, settings: &Settings, keep_going: &mut dyn FnMut() -> bool) -> Completion {
    let models = Models::shipped();
    let is_engine = settings.method == Method::Hybrid;
    let continuation = if is_engine { stop::continuation(view, models) } else { 1.0 };
    let is_unneeded = settings.min_continuation.is_some_and(|least| continuation < least);
    if view.cursor.mode == Mode::Nothing || is_unneeded {
        return completion(view, Written::nothing(StopReason::NothingNeeded), 1.0, continuation);
    }
    let predictor = &mut Predictor::new(view, models);
    let (mut written, trust) = match settings.method {
        Method::Empty => (Written::nothing(StopReason::NothingFound), 1.0),
        Method::NearestLine => alone(nearest::copy(view)),
        Method::LongestMatch => alone(write(view, predictor, Model::LongestMatch, keep_going)),
        Method::Mixed => alone(write(view, predictor, Model::Mixed, keep_going)),
        Method::Hybrid => picked(proposals(view, predictor, continuation, keep_going), models),
    };
    let trust = gate::cut_back(view, predictor, settings, &mut written, trust);
    completion(view, written, trust, continuation)
}

/// Returns the output of a single method. Its trust is the probability of its least certain token.
fn alone(written: Written) -> (Written, f64) {
    let trust = gate::least_probability(&written.guesses);
    (written, trust)
}

/// Returns the best proposal and the probability that it is exactly right.
fn picked(proposals: Vec<Proposal>, models: &Models) -> (Written, f64) {
    let best = best_first(proposals, models).into_iter().next();
    let trusted =
        best.map(|Proposal { written, features }| (written, models.trusting.probability(&features)));
    trusted.unwrap_or_else(|| (Written::nothing(StopReason::NothingFound), 1.0))
}

/// Renders generated tokens as a completion.
pub(crate) fn completion(view: &View, written: Written, trust: f64, continuation: f64) -> Completion {
    let (text, ends) = render::text(view, &written);
    let Written { guesses, ends_typed, stop, .. } = written;
    let starts = std::iter::once(0).chain(ends.iter().copied());
    let token = |(guess, (start, &end)): (&Guess, (usize, &usize))| CompletionToken {
        text: view.text(guess.token).to_owned(),
        range: start..end,
        probability: guess.probability,
        match_len: guess.match_len,
        token: guess.token,
        place: guess.place,
    };
    Completion {
        text,
        tokens: guesses.iter().zip(starts.zip(&ends)).map(token).collect(),
        ends_typed,
        trust,
        continuation,
        stop,
    }
}

/// Decodes with a model that predicts one token at a time.
pub(crate) fn write(
    view: &View,
    predictor: &mut Predictor,
    model: Model,
    keep_going: &mut dyn FnMut() -> bool,
) -> Written {
    match opening(view, predictor, model) {
        Some(opening) => write_on(view, predictor, model, opening, keep_going),
        None => Written::nothing(StopReason::NothingFound),
    }
}

/// The beginning of a completion.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Opening {
    /// The word at the cursor, if it is treated as complete.
    pub(crate) lead: Option<TokenId>,
    /// The complete form of the token at the cursor, if it is treated as partial.
    pub(crate) typed: Option<Guess>,
    /// The next token, if it is given.
    pub(crate) next: Option<Guess>,
}

/// Decodes the continuation of an opening.
pub(crate) fn write_on(
    view: &View,
    predictor: &mut Predictor,
    model: Model,
    opening: Opening,
    keep_going: &mut dyn FnMut() -> bool,
) -> Written {
    let mut written: Vec<TokenId> = opening.lead.into_iter().collect();
    let mut writer = Writer::new(view, mode(view, predictor, model, &written));
    writer.lead = opening.lead;
    if let Some(guess) = opening.typed {
        written.push(guess.token);
        writer.write(guess);
        writer.ends_typed = true;
    }
    if let Some(guess) = opening.next {
        written.extend(writer.step(&[guess]));
    }
    while writer.stop.is_none() {
        if !keep_going() {
            writer.stop = Some(StopReason::Cancelled);
        } else if let Some(token) = writer.step(&predictor.guesses(model, &written)) {
            written.push(token);
        }
    }
    writer.finish()
}

/// A body that does not start on its own line is treated as the rest of a statement.
fn mode(view: &View, predictor: &mut Predictor, model: Model, written: &[TokenId]) -> Mode {
    let mode = view.cursor.mode;
    let starts_line = |best: &Guess| is_newline(best.token);
    let is_body = mode == Mode::Body && predictor.guesses(model, written).first().is_some_and(starts_line);
    if mode == Mode::Body && !is_body { Mode::Statement } else { mode }
}

/// Returns the most likely completion of the partial token; `None` if there is none.
fn opening(view: &View, predictor: &mut Predictor, model: Model) -> Option<Opening> {
    let typed = &view.cursor.typed;
    let complete = match *typed {
        Typed::None => return Some(Opening::default()),
        Typed::Word { token, .. } => Some(token),
        Typed::String { .. } => None,
    };
    let guesses = predictor.guesses(model, &[]);
    let fits = |guess: &&Guess| typed.missing(view.text(guess.token)).is_some();
    let all: f64 = guesses.iter().filter(fits).map(|guess| guess.probability).sum();
    let best = guesses.iter().find(fits).map(|best| Guess { probability: best.probability / all, ..*best });
    let is_known = complete.is_some_and(|token| view.near_words.contains(token));
    let best = best.or_else(|| if is_known { None } else { commonest(view) });
    match best.filter(|best| Some(best.token) != complete) {
        Some(longer) => Some(Opening { typed: Some(longer), ..Opening::default() }),
        None => complete.map(|token| Opening { lead: Some(token), ..Opening::default() }),
    }
}

/// Returns the most frequent token near the cursor that completes the partial one: the fallback if no likely token fits.
fn commonest(view: &View) -> Option<Guess> {
    let tokens = &view.overlay.stream.tokens;
    let missing = |token: TokenId| view.cursor.typed.missing(view.text(token));
    let is_longer = |token: &TokenId| missing(*token).is_some_and(|missing| !missing.is_empty());
    let mut fitting: Vec<TokenId> = tokens.iter().copied().filter(is_longer).collect();
    fitting.sort_unstable();
    let runs = fitting.chunk_by(|a, b| a == b);
    let best = runs.max_by_key(|run| run.len())?;
    let probability = best.len() as f64 / (fitting.len() + 1) as f64;
    let last = tokens.iter().rposition(|token| *token == best[0])?;
    Some(Guess {
        token: best[0],
        probability,
        place: Place::Overlay(u32::try_from(last).ok()?),
        match_len: 0.0,
    })
}

/// State of the decoder.
pub(crate) struct Writer<'v, 'c> {
    view: &'v View<'c>,
    guesses: Vec<Guess>,
    shape: Shape<'v, 'c>,
    limit: usize,
    /// The word at the cursor, if it is treated as complete.
    pub(crate) lead: Option<TokenId>,
    /// Whether the first token completes the partial one at the cursor.
    pub(crate) ends_typed: bool,
    pub(crate) stop: Option<StopReason>,
}

impl<'v, 'c> Writer<'v, 'c> {
    pub(crate) fn new(view: &'v View<'c>, mode: Mode) -> Writer<'v, 'c> {
        let limit = if mode == Mode::Statement { MAX_STATEMENT } else { MAX_BLOCK };
        let shape = Shape::new(view, mode);
        Writer { view, guesses: Vec::new(), shape, limit, lead: None, ends_typed: false, stop: None }
    }

    /// Appends a token. Nothing can follow a literal that is closed after the cursor.
    pub(crate) fn write(&mut self, guess: Guess) {
        self.shape.write(guess.token);
        self.guesses.push(guess);
        if !self.view.cursor.typed.rest().is_empty() {
            self.stop = Some(StopReason::SuffixReached);
        }
    }

    fn take_back(&mut self, tokens: usize, stop: StopReason) {
        self.guesses.truncate(self.guesses.len() - tokens);
        self.stop = Some(stop);
    }

    /// Appends the best permitted guess and returns its token, or stops.
    pub(crate) fn step(&mut self, guesses: &[Guess]) -> Option<TokenId> {
        let verdicts = guesses.iter().map(|guess| (guess, self.shape.judge(guess.token)));
        let Some((&guess, verdict)) = verdicts.into_iter().find(|(_, verdict)| *verdict != Verdict::Refuse)
        else {
            self.stop = Some(StopReason::NothingFound);
            return None;
        };
        let ends_line = is_newline(guess.token) || matches!(verdict, Verdict::Stop(_));
        if let Some(tokens) = self.shape.duplicated().filter(|_| ends_line) {
            self.take_back(tokens, StopReason::SuffixReached);
            return None;
        }
        match verdict {
            Verdict::Stop(reason) => {
                self.stop = Some(reason);
                return None;
            }
            Verdict::WriteAndStop(reason) => self.stop = Some(reason),
            Verdict::Write | Verdict::Refuse => {}
        }
        self.write(guess);
        if let Some(tokens) = self.shape.repeated() {
            self.take_back(tokens, StopReason::Repetition);
        } else if self.guesses.len() >= self.limit {
            self.stop.get_or_insert(StopReason::TokenLimit);
        }
        Some(guess.token)
    }

    pub(crate) fn finish(self) -> Written {
        let Writer { mut guesses, lead, ends_typed, stop, .. } = self;
        while guesses.pop_if(|last| is_newline(last.token)).is_some() {}
        Written { guesses, lead, ends_typed, stop: stop.unwrap_or(StopReason::NothingFound) }
    }
}
