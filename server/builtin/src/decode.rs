//! Greedy decoding: appends the most likely permitted token until the completion ends.

use crate::Method;
use crate::candidates::TokenPosition;
use crate::corpus_view::CorpusView;
use crate::cursor::{GenerationMode, PartialToken};
use crate::models::Models;
use crate::predict::{PredictionMethod, Predictor, TokenGuess};
use crate::proposals::{Proposal, best_first, proposals};
use crate::settings::{BuiltinSettings, Completion, CompletionToken, StopReason};
use crate::stop_rules::{StopRules, TokenDecision};
use crate::vocabulary::{TokenId, is_newline};
use crate::{block_continuation, confidence, nearest_copy, render};

/// Maximum number of tokens of a statement (feasibility study, section 8.6).
const MAX_STATEMENT: usize = 60;
/// Maximum number of tokens of a block (feasibility study, section 8.6).
const MAX_BLOCK: usize = 220;

/// Generated tokens and the reason for their end.
pub(crate) struct DecodedTokens {
    pub(crate) guesses: Vec<TokenGuess>,
    /// The word at the cursor, if it is treated as complete.
    pub(crate) lead: Option<TokenId>,
    /// Whether the first token completes the partial one at the cursor.
    pub(crate) completes_partial: bool,
    pub(crate) stop: StopReason,
}

impl DecodedTokens {
    fn empty(stop: StopReason) -> DecodedTokens {
        DecodedTokens { guesses: Vec::new(), lead: None, completes_partial: false, stop }
    }

    /// Returns whether both have the same tokens.
    pub(crate) fn has_same_tokens(&self, other: &DecodedTokens) -> bool {
        let tokens = |written: &DecodedTokens| -> Vec<TokenId> {
            written.guesses.iter().map(|guess| guess.token).collect()
        };
        self.lead == other.lead
            && self.completes_partial == other.completes_partial
            && tokens(self) == tokens(other)
    }

    /// Returns the tokens between the cursor's context and one of the tokens.
    pub(crate) fn tokens_before(&self, place: usize) -> Vec<TokenId> {
        self.lead.into_iter().chain(self.guesses[..place].iter().map(|guess| guess.token)).collect()
    }
}

/// Completes at the view's cursor.
pub(crate) fn complete(
    view: &CorpusView,
    settings: &BuiltinSettings,
    keep_going: &mut dyn FnMut() -> bool,
) -> Completion {
    let models = Models::shipped();
    let is_engine = settings.method == Method::Hybrid;
    let continuation = if is_engine { block_continuation::continuation(view, models) } else { 1.0 };
    let is_unneeded = settings.min_continuation.is_some_and(|least| continuation < least);
    if view.cursor.mode == GenerationMode::Nothing || is_unneeded {
        return render_completion(view, DecodedTokens::empty(StopReason::NothingNeeded), 1.0, continuation);
    }
    let predictor = &mut Predictor::new(view, models);
    let (mut written, trust) = match settings.method {
        Method::Empty => (DecodedTokens::empty(StopReason::NothingFound), 1.0),
        Method::NearestLine => single_method(nearest_copy::copy(view)),
        Method::LongestMatch => {
            single_method(decode(view, predictor, PredictionMethod::LongestMatch, keep_going))
        }
        Method::Mixed => single_method(decode(view, predictor, PredictionMethod::Mixed, keep_going)),
        Method::Hybrid => best_proposal(proposals(view, predictor, continuation, keep_going), models),
    };
    let trust = confidence::drop_uncertain(view, predictor, settings, &mut written, trust);
    render_completion(view, written, trust, continuation)
}

/// Returns the output of a single method. Its trust is the probability of its least certain token.
fn single_method(written: DecodedTokens) -> (DecodedTokens, f64) {
    let trust = confidence::min_probability(&written.guesses);
    (written, trust)
}

/// Returns the best proposal and the probability that it is exactly right.
fn best_proposal(proposals: Vec<Proposal>, models: &Models) -> (DecodedTokens, f64) {
    let best = best_first(proposals, models).into_iter().next();
    let trusted =
        best.map(|Proposal { written, features }| (written, models.trusting.probability(&features)));
    trusted.unwrap_or_else(|| (DecodedTokens::empty(StopReason::NothingFound), 1.0))
}

/// Renders generated tokens as a completion.
pub(crate) fn render_completion(
    view: &CorpusView,
    written: DecodedTokens,
    trust: f64,
    continuation: f64,
) -> Completion {
    let (text, ends) = render::render(view, &written);
    let DecodedTokens { guesses, completes_partial: ends_typed, stop, .. } = written;
    let starts = std::iter::once(0).chain(ends.iter().copied());
    let token = |(guess, (start, &end)): (&TokenGuess, (usize, &usize))| CompletionToken {
        text: view.text(guess.token).to_owned(),
        range: start..end,
        probability: guess.probability,
        match_len: guess.match_len,
        token: guess.token,
        position: guess.position,
    };
    Completion {
        text,
        tokens: guesses.iter().zip(starts.zip(&ends)).map(token).collect(),
        completes_partial: ends_typed,
        trust,
        continuation,
        stop,
    }
}

/// Decodes with a model that predicts one token at a time.
pub(crate) fn decode(
    view: &CorpusView,
    predictor: &mut Predictor,
    model: PredictionMethod,
    keep_going: &mut dyn FnMut() -> bool,
) -> DecodedTokens {
    match complete_partial_token(view, predictor, model) {
        Some(opening) => decode_from(view, predictor, model, opening, keep_going),
        None => DecodedTokens::empty(StopReason::NothingFound),
    }
}

/// The beginning of a completion.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct FirstTokens {
    /// The word at the cursor, if it is treated as complete.
    pub(crate) lead: Option<TokenId>,
    /// The complete form of the token at the cursor, if it is treated as partial.
    pub(crate) partial: Option<TokenGuess>,
    /// The next token, if it is given.
    pub(crate) next: Option<TokenGuess>,
}

/// Decodes the continuation of an opening.
pub(crate) fn decode_from(
    view: &CorpusView,
    predictor: &mut Predictor,
    model: PredictionMethod,
    opening: FirstTokens,
    keep_going: &mut dyn FnMut() -> bool,
) -> DecodedTokens {
    let mut written: Vec<TokenId> = opening.lead.into_iter().collect();
    let mut writer = TokenDecoder::new(view, mode(view, predictor, model, &written));
    writer.lead = opening.lead;
    if let Some(guess) = opening.partial {
        written.push(guess.token);
        writer.push(guess);
        writer.completes_partial = true;
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
fn mode(
    view: &CorpusView,
    predictor: &mut Predictor,
    model: PredictionMethod,
    written: &[TokenId],
) -> GenerationMode {
    let mode = view.cursor.mode;
    let is_body = mode == GenerationMode::Body
        && predictor.guesses(model, written).first().is_some_and(|best| is_newline(best.token));
    if mode == GenerationMode::Body && !is_body { GenerationMode::Statement } else { mode }
}

/// Returns the most likely completion of the partial token; `None` if there is none.
fn complete_partial_token(
    view: &CorpusView,
    predictor: &mut Predictor,
    model: PredictionMethod,
) -> Option<FirstTokens> {
    let typed = &view.cursor.partial_token;
    let complete = match *typed {
        PartialToken::None => return Some(FirstTokens::default()),
        PartialToken::Word { token, .. } => Some(token).filter(|&word| view.is_known_word(word)),
        PartialToken::String { .. } => None,
    };
    let guesses = predictor.guesses(model, &[]);
    let fits = |guess: &&TokenGuess| typed.missing(view.text(guess.token)).is_some();
    let all: f64 = guesses.iter().filter(fits).map(|guess| guess.probability).sum();
    let best =
        guesses.iter().find(fits).map(|best| TokenGuess { probability: best.probability / all, ..*best });
    let is_known = complete.is_some_and(|token| view.near_words.contains(token));
    let best = best.or_else(|| if is_known { None } else { most_frequent_match(view) });
    match best.filter(|best| Some(best.token) != complete) {
        Some(longer) => Some(FirstTokens { partial: Some(longer), ..FirstTokens::default() }),
        None => complete.map(|token| FirstTokens { lead: Some(token), ..FirstTokens::default() }),
    }
}

/// Length in bytes from which the beginning of a name tells which one it is, if only one near the cursor begins so.
const MIN_TELLING_BYTES: usize = 3;
/// Probability that it is this name.
const ONLY_MATCH: f64 = 0.9;

/// Returns the most frequent token near the cursor that completes the partial one: the fallback if no likely token fits.
fn most_frequent_match(view: &CorpusView) -> Option<TokenGuess> {
    let tokens = &view.overlay.stream.tokens;
    let missing = |token: TokenId| view.cursor.partial_token.missing(view.text(token));
    let mut fitting: Vec<TokenId> = tokens
        .iter()
        .copied()
        .filter(|token| missing(*token).is_some_and(|missing| !missing.is_empty()))
        .collect();
    fitting.sort_unstable();
    let runs = fitting.chunk_by(|a, b| a == b);
    let best = runs.max_by_key(|run| run.len())?;
    let is_only = best.len() == fitting.len() && view.cursor.partial_token.text().len() >= MIN_TELLING_BYTES;
    let probability = if is_only { ONLY_MATCH } else { best.len() as f64 / (fitting.len() + 1) as f64 };
    let last = tokens.iter().rposition(|token| *token == best[0])?;
    Some(TokenGuess {
        token: best[0],
        probability,
        position: TokenPosition::Overlay(u32::try_from(last).ok()?),
        match_len: 0.0,
    })
}

/// State of the decoder.
pub(crate) struct TokenDecoder<'v, 'c> {
    view: &'v CorpusView<'c>,
    guesses: Vec<TokenGuess>,
    shape: StopRules<'v, 'c>,
    limit: usize,
    /// The word at the cursor, if it is treated as complete.
    pub(crate) lead: Option<TokenId>,
    /// Whether the first token completes the partial one at the cursor.
    pub(crate) completes_partial: bool,
    pub(crate) stop: Option<StopReason>,
}

impl<'v, 'c> TokenDecoder<'v, 'c> {
    pub(crate) fn new(view: &'v CorpusView<'c>, mode: GenerationMode) -> TokenDecoder<'v, 'c> {
        let limit = if mode == GenerationMode::Statement { MAX_STATEMENT } else { MAX_BLOCK };
        let shape = StopRules::new(view, mode);
        TokenDecoder {
            view,
            guesses: Vec::new(),
            shape,
            limit,
            lead: None,
            completes_partial: false,
            stop: None,
        }
    }

    /// Appends a token. Nothing can follow a literal that is closed after the cursor.
    pub(crate) fn push(&mut self, guess: TokenGuess) {
        self.shape.push(guess.token);
        self.guesses.push(guess);
        if !self.view.cursor.partial_token.rest().is_empty() {
            self.stop = Some(StopReason::SuffixReached);
        }
    }

    fn take_back(&mut self, tokens: usize, stop: StopReason) {
        self.guesses.truncate(self.guesses.len() - tokens);
        self.stop = Some(stop);
    }

    /// Appends the best permitted guess and returns its token, or stops.
    pub(crate) fn step(&mut self, guesses: &[TokenGuess]) -> Option<TokenId> {
        let verdicts = guesses.iter().map(|guess| (guess, self.shape.judge(guess.token)));
        let Some((&guess, verdict)) =
            verdicts.into_iter().find(|(_, verdict)| *verdict != TokenDecision::Reject)
        else {
            self.stop = Some(StopReason::NothingFound);
            return None;
        };
        let ends_line = is_newline(guess.token) || matches!(verdict, TokenDecision::Stop(_));
        if let Some(tokens) = self.shape.duplicated_tokens().filter(|_| ends_line) {
            self.take_back(tokens, StopReason::SuffixReached);
            return None;
        }
        match verdict {
            TokenDecision::Stop(reason) => {
                self.stop = Some(reason);
                return None;
            }
            TokenDecision::WriteAndStop(reason) => self.stop = Some(reason),
            TokenDecision::Write | TokenDecision::Reject => {}
        }
        self.push(guess);
        if let Some(tokens) = self.shape.repeated_tokens() {
            self.take_back(tokens, StopReason::Repetition);
        } else if self.guesses.len() >= self.limit {
            self.stop.get_or_insert(StopReason::TokenLimit);
        }
        Some(guess.token)
    }

    pub(crate) fn finish(self) -> DecodedTokens {
        let TokenDecoder { mut guesses, lead, completes_partial: ends_typed, stop, .. } = self;
        while guesses.pop_if(|last| is_newline(last.token)).is_some() {}
        DecodedTokens {
            guesses,
            lead,
            completes_partial: ends_typed,
            stop: stop.unwrap_or(StopReason::NothingFound),
        }
    }
}
