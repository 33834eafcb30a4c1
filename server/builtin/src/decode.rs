//! Writing: token by token, always the likeliest one that may stand there.

use crate::candidates::Place;
use crate::cursor::{Mode, Typed};
use crate::predict::{self, Guess, Model, Sharpness};
use crate::render;
use crate::settings::{Completion, CompletionToken, Method, Settings, StopReason};
use crate::shape::{Shape, Verdict};
use crate::view::View;
use crate::vocabulary::{TokenId, is_newline};
use crate::{gate, nearest};

/// Most tokens of a statement (feasibility study, section 8.6).
const MAX_STATEMENT: usize = 60;
/// Most tokens of a block (feasibility study, section 8.6).
const MAX_BLOCK: usize = 220;

/// Tokens in order, and why there are no more.
pub(crate) struct Written {
    pub(crate) guesses: Vec<Guess>,
    /// Whether the first token is the one at the cursor, which is typed in part.
    pub(crate) ends_typed: bool,
    pub(crate) stop: StopReason,
}

impl Written {
    fn nothing(stop: StopReason) -> Written {
        Written { guesses: Vec::new(), ends_typed: false, stop }
    }
}

/// Completes at the view's cursor.
pub(crate) fn complete(view: &View, settings: &Settings, keep_going: &mut dyn FnMut() -> bool) -> Completion {
    let continuation = gate::continuation(view, settings);
    let is_unneeded = settings.min_continuation.is_some_and(|least| continuation < least);
    let mut written = match settings.method {
        _ if view.cursor.mode == Mode::Nothing || is_unneeded => Written::nothing(StopReason::NothingNeeded),
        Method::Empty => Written::nothing(StopReason::NothingFound),
        Method::NearestLine => nearest::copy(view),
        Method::LongestMatch => write(view, Model::LongestMatch, keep_going),
        Method::Hybrid => write(view, Model::Hybrid(Sharpness::Sharp), keep_going),
    };
    gate::cut_back(view, settings, &mut written);
    completion(view, written, continuation)
}

/// What was written, as text.
pub(crate) fn completion(view: &View, written: Written, continuation: f64) -> Completion {
    let (text, ends) = render::text(view, &written);
    let Written { guesses, ends_typed, stop } = written;
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
        min_probability: guesses.iter().map(|guess| guess.probability).fold(1.0, f64::min),
        continuation,
        stop,
    }
}

/// Writes with a model that predicts one token at a time.
fn write(view: &View, model: Model, keep_going: &mut dyn FnMut() -> bool) -> Written {
    let mut context = view.cursor.context.clone();
    let first = first_token(view, model, &mut context);
    if first.is_none() && matches!(view.cursor.typed, Typed::String { .. }) {
        return Written::nothing(StopReason::NothingFound);
    }
    let mode = mode(view, model, &context);
    let mut writer = Writer::new(view, mode);
    if let Some(first) = first {
        context.push(first.token);
        writer.write(first);
        writer.ends_typed = true;
    }
    go_on(view, model, &mut writer, context, keep_going);
    writer.finish()
}

/// Writes what follows `context`, to its end.
pub(crate) fn go_on(
    view: &View,
    model: Model,
    writer: &mut Writer,
    mut context: Vec<TokenId>,
    keep_going: &mut dyn FnMut() -> bool,
) {
    while writer.stop.is_none() {
        if !keep_going() {
            writer.stop = Some(StopReason::Cancelled);
        } else if let Some(token) = writer.step(&predict::guesses(view, model, &context)) {
            context.push(token);
        }
    }
}

/// A body that does not start on a line of its own is the rest of a statement after all.
pub(crate) fn mode(view: &View, model: Model, context: &[TokenId]) -> Mode {
    let mode = view.cursor.mode;
    let starts_line = |best: &Guess| is_newline(best.token);
    let is_body =
        mode == Mode::Body && predict::guesses(view, model, context).first().is_some_and(starts_line);
    if mode == Mode::Body && !is_body { Mode::Statement } else { mode }
}

/// The whole token that is typed in part. `None`, with `context` grown by it, where the typed word is taken to be complete.
fn first_token(view: &View, model: Model, context: &mut Vec<TokenId>) -> Option<Guess> {
    let typed = &view.cursor.typed;
    let complete = match *typed {
        Typed::None => return None,
        Typed::Word { token, .. } => Some(token),
        Typed::String { .. } => None,
    };
    let guesses = predict::guesses(view, model, context);
    let fits = |guess: &&Guess| typed.missing(view.text(guess.token)).is_some();
    let all: f64 = guesses.iter().filter(fits).map(|guess| guess.probability).sum();
    let best = guesses.iter().find(fits).map(|best| Guess { probability: best.probability / all, ..*best });
    let is_known = complete.is_some_and(|token| view.near_words.contains(token));
    let best = best.or_else(|| if is_known { None } else { commonest(view) });
    let longer = best.filter(|best| Some(best.token) != complete);
    if longer.is_none() {
        context.extend(complete);
    }
    longer
}

/// The token near the cursor that goes on with what is typed and is used most: what is left when no likely token fits.
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

/// What is written so far.
pub(crate) struct Writer<'v, 'c> {
    view: &'v View<'c>,
    guesses: Vec<Guess>,
    shape: Shape<'v, 'c>,
    limit: usize,
    /// Whether the first token is the one at the cursor, which is typed in part.
    pub(crate) ends_typed: bool,
    pub(crate) stop: Option<StopReason>,
}

impl<'v, 'c> Writer<'v, 'c> {
    pub(crate) fn new(view: &'v View<'c>, mode: Mode) -> Writer<'v, 'c> {
        let limit = if mode == Mode::Statement { MAX_STATEMENT } else { MAX_BLOCK };
        let shape = Shape::new(view, mode);
        Writer { view, guesses: Vec::new(), shape, limit, ends_typed: false, stop: None }
    }

    /// Nothing more can be written behind a literal that is closed after the cursor.
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

    /// Writes the best guess that may stand here and gives its token, or stops.
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
        let Writer { mut guesses, ends_typed, stop, .. } = self;
        while guesses.pop_if(|last| is_newline(last.token)).is_some() {}
        Written { guesses, ends_typed, stop: stop.unwrap_or(StopReason::NothingFound) }
    }
}
