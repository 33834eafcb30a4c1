//! Ranking: orders candidates for the next token by a model fitted on other repositories.
//!
//! The probabilities of the other methods are features. Further features cover information that these methods ignore: how recently
//! a name was used, the lines after the cursor, and the agreement between methods.

use rustc_hash::{FxBuildHasher, FxHashMap, FxHashSet};

use super::TokenGuess;
use super::evidence::Evidence;
use crate::candidates::TokenPosition;
use crate::corpus_view::{CorpusView, Nearness};
use crate::vocabulary::{END, TokenClass, TokenId, is_newline};

/// Maximum number of ranked tokens; the right one is hardly ever further down.
pub(crate) const MAX_RANKED: usize = 12;
/// Scores of alignments are capped here.
const MAX_SCORE: f64 = 80.0;
/// Cap at a smaller scale.
const SMALL_SCORE: f64 = 8.0;
/// Lengths of matches are capped here, in tokens.
const MAX_MATCHED: usize = 40;
/// Minimum score of an alignment before the text after its position is compared with that after the cursor.
const MIN_FUTURE_SCORE: f64 = 2.0;
/// Number of tokens of the next line that are searched for after a position, and the length of the search.
const AHEAD: usize = 10;
const AHEAD_WINDOW: usize = 48;
/// Positions of a file belong to one region if they are in the same range of so many tokens.
const REGION: u32 = 1024;
/// Number of positions of a token whose continuation is compared, plus later ones with a better score.
const MAX_FUTURES: u32 = 8;
/// Recency of recent typing, regardless of its position: as if it were a few tokens back.
const TYPED_NEARNESS: f32 = 0.4;
/// Added to probabilities before taking the logarithm.
const LOG_FLOOR: f64 = 1e-4;

/// Features of a candidate token, in the order of [`RankedToken::features`].
pub(crate) const FEATURES: [&str; 44] = [
    // Probabilities of the methods, as logarithms; the last one is the mean of voting and counting.
    "voted",
    "soft",
    "counted",
    "longest",
    "mixed",
    // Agreement of the best position, capped and in detail, with renaming and without.
    "score",
    "score_small",
    "matched",
    "matched_small",
    // Positions near the cursor after one, two and three equal tokens; positions elsewhere, in this folder, regions: logarithms.
    "near_1",
    "near_2",
    "near_3",
    "far_1",
    "far_3",
    "folder",
    "regions",
    // Properties of the token.
    "is_new",
    "is_renamed",
    "identifier",
    "string",
    "number",
    "newline",
    "closer",
    "opener",
    // Previous uses of the token.
    "recency",
    "is_before",
    "count_near",
    "is_after",
    "in_line",
    "is_last",
    "is_second_last",
    // Rank by single criteria.
    "top_longest",
    "rank_counted",
    "best_is_near",
    "last_place",
    // Agreement of the text after its positions with that after the cursor.
    "future",
    "future_mean",
    "in_next_line",
    "is_first_after",
    // Position in the completion.
    "written",
    "line_length",
    "open_in_line",
    // Distance to the best candidate.
    "score_gap",
    "mixed_gap",
];
pub(crate) const COUNT: usize = FEATURES.len();

/// Positions of tokens near the cursor.
#[derive(Debug)]
pub(crate) struct NearbyTokens {
    uses: FxHashMap<TokenId, TokenUse>,
    /// Position of the cursor.
    cut: u32,
    /// The first token after the cursor other than a line end.
    first_after: Option<TokenId>,
    /// Beginning of the next line.
    ahead: Vec<TokenId>,
}

#[derive(Clone, Copy, Debug, Default)]
struct TokenUse {
    count: u32,
    /// End of the last occurrence before the cursor; zero if there is none.
    end: u32,
    is_after: bool,
}

impl NearbyTokens {
    pub(crate) fn of(view: &CorpusView) -> NearbyTokens {
        let tokens = &view.overlay.stream.tokens;
        let (cut, cursor) = (view.cursor.cut, position(view.cursor.cut));
        let mut uses: FxHashMap<TokenId, TokenUse> =
            FxHashMap::with_capacity_and_hasher(tokens.len() / 4, FxBuildHasher);
        for (position, &token) in (0..).zip(tokens) {
            if view.overlay.nearness(position) == Nearness::Masked {
                continue;
            }
            let one = uses.entry(token).or_default();
            one.count += 1;
            if position < cursor {
                one.end = position + 1;
            } else {
                one.is_after = true;
            }
        }
        let first_after = tokens[cut + 1..].iter().find(|&&token| !is_newline(token)).copied();
        let ahead = view.cursor.next_line.iter().take(AHEAD).copied().collect();
        NearbyTokens { uses, cut: cursor, first_after, ahead }
    }
}

fn position(index: usize) -> u32 {
    u32::try_from(index).unwrap_or(u32::MAX)
}

/// Guesses of the other methods.
pub(super) struct MethodGuesses<'g> {
    pub(super) mixed: &'g [TokenGuess],
    pub(super) voted: &'g [TokenGuess],
    pub(super) soft: &'g [TokenGuess],
    pub(super) counted: &'g [TokenGuess],
    pub(super) longest: &'g [TokenGuess],
}

/// A candidate for the next token with its features.
#[derive(Debug)]
pub(crate) struct RankedToken {
    pub(crate) guess: TokenGuess,
    pub(crate) features: [f32; COUNT],
    /// Whether it was recently typed after the same token. Not a feature, because repositories contain no data about it.
    pub(crate) was_typed: bool,
}

/// Evidence for a token.
#[derive(Default)]
struct TokenSupport {
    score: f64,
    matched: usize,
    is_renamed: bool,
    best_is_near: bool,
    /// Whether it was recently typed after the same token.
    was_typed: bool,
    /// Number of positions near the cursor after one, two, three equal tokens.
    near: [u32; 3],
    /// Number of positions elsewhere after one and three equal tokens.
    far: [u32; 2],
    folder: u32,
    /// Regions: the start of the text and the number of the range in it.
    regions: FxHashSet<(u32, u32)>,
    /// The last position before the cursor.
    last_place: u32,
    future: f32,
    future_sum: f32,
    futures: u32,
}

impl TokenSupport {
    fn add(&mut self, view: &CorpusView, near: &NearbyTokens, one: &Evidence, matched: usize) {
        let best = self.score;
        if one.score > best {
            self.score = one.score;
            self.is_renamed = one.token != one.original;
            self.best_is_near = matches!(one.candidate.position, TokenPosition::Overlay(_));
        }
        self.matched = self.matched.max(matched);
        self.was_typed |= matched > 0 && one.candidate.nearness == Nearness::Session;
        match one.candidate.position {
            TokenPosition::Overlay(position) => {
                self.near.iter_mut().take(matched).for_each(|count| *count += 1);
                if matched > 0 && position < near.cut {
                    self.last_place = self.last_place.max(position);
                }
            }
            TokenPosition::Corpus(position) => {
                self.far[0] += u32::from(matched > 0);
                self.far[1] += u32::from(matched > 2);
                self.folder += u32::from(one.candidate.nearness == Nearness::Directory);
                let (layer, inside) = view.layer(position);
                let start = layer.start_of_text(inside);
                self.regions.insert((layer.first + start, (inside - start) / REGION));
            }
        }
        let is_telling = self.futures < MAX_FUTURES || one.score > best;
        if one.score >= MIN_FUTURE_SCORE && is_telling && !near.ahead.is_empty() {
            let future = future(view, one.candidate.position, &near.ahead);
            self.future = self.future.max(future);
            self.future_sum += future;
            self.futures += 1;
        }
    }
}

/// Returns the share of the tokens `ahead`, which follow the cursor, that also follow the position.
fn future(view: &CorpusView, place: TokenPosition, ahead: &[TokenId]) -> f32 {
    let (stream, position) = view.stream(place);
    let window = stream.tokens[position..].iter().take(AHEAD_WINDOW).take_while(|&&token| token != END);
    let window = &stream.tokens[position..position + window.count()];
    ahead.iter().filter(|token| window.contains(token)).count() as f32 / ahead.len() as f32
}

/// Returns the most likely tokens by the mean of voting and counting, each with its features. The first `exact` pieces of evidence
/// belong to positions after the same tokens.
pub(super) fn rank_candidates(
    view: &CorpusView,
    near: &NearbyTokens,
    written: &[TokenId],
    opinions: &MethodGuesses<'_>,
    evidence: &[Evidence],
    exact: usize,
) -> Vec<RankedToken> {
    let ranked = &opinions.mixed[..opinions.mixed.len().min(MAX_RANKED)];
    let mut support: FxHashMap<TokenId, TokenSupport> =
        ranked.iter().map(|guess| (guess.token, TokenSupport::default())).collect();
    for (index, one) in evidence.iter().enumerate() {
        if let Some(support) = support.get_mut(&one.token) {
            support.add(view, near, one, if index < exact { one.candidate.match_len } else { 0 });
        }
    }
    let here = RankingContext::new(view, near, written, ranked, &support);
    ranked.iter().map(|guess| here.choice(guess, &support[&guess.token], opinions)).collect()
}

/// Context of the next token.
struct RankingContext<'a, 'c> {
    view: &'a CorpusView<'c>,
    near: &'a NearbyTokens,
    written: &'a [TokenId],
    position: u32,
    /// Tokens of the line so far, the last one first.
    line: Vec<TokenId>,
    open_in_line: i32,
    best_score: f64,
    best_mixed: f64,
}

impl<'a, 'c> RankingContext<'a, 'c> {
    fn new(
        view: &'a CorpusView<'c>,
        near: &'a NearbyTokens,
        written: &'a [TokenId],
        ranked: &[TokenGuess],
        support: &FxHashMap<TokenId, TokenSupport>,
    ) -> RankingContext<'a, 'c> {
        let before = written.iter().rev().chain(view.cursor.context.iter().rev());
        let line: Vec<TokenId> = before.copied().take_while(|&token| !is_newline(token)).collect();
        let open_in_line = line.iter().fold(0, |open, &token| open + bracket(view.text(token)));
        RankingContext {
            view,
            near,
            written,
            position: near.cut + position(written.len()),
            line,
            open_in_line,
            best_score: support.values().map(|support| support.score.min(MAX_SCORE)).fold(0.0, f64::max),
            best_mixed: ranked.first().map_or(0.0, |guess| guess.probability),
        }
    }

    fn choice(
        &self,
        guess: &TokenGuess,
        support: &TokenSupport,
        opinions: &MethodGuesses<'_>,
    ) -> RankedToken {
        let RankingContext { view, near, written, .. } = *self;
        let token = guess.token;
        let found = |guesses: &[TokenGuess]| guesses.iter().position(|guess| guess.token == token);
        let log =
            |guesses: &[TokenGuess]| log_of(found(guesses).map_or(0.0, |rank| guesses[rank].probability));
        let class = view.class(token);
        let bracket = bracket(view.text(token));
        let used = near.uses.get(&token).copied().unwrap_or_default();
        let in_written = written.iter().rposition(|&one| one == token);
        let end = in_written.map_or(used.end, |at| near.cut + position(at) + 1);
        let last = |back: usize| {
            flag(written.iter().rev().chain(view.cursor.context.iter().rev()).nth(back) == Some(&token))
        };
        let score = support.score.min(MAX_SCORE);
        let features = [
            log(opinions.voted),
            log(opinions.soft),
            log(opinions.counted),
            log(opinions.longest),
            log(opinions.mixed),
            score as f32,
            score.min(SMALL_SCORE) as f32,
            support.matched.min(MAX_MATCHED) as f32,
            support.matched.min(4) as f32,
            log_count(support.near[0]),
            log_count(support.near[1]),
            log_count(support.near[2]),
            log_count(support.far[0]),
            log_count(support.far[1]),
            log_count(support.folder),
            log_count(position(support.regions.len())),
            flag(view.is_new_name(token)),
            flag(support.is_renamed),
            flag(class == TokenClass::Identifier),
            flag(class == TokenClass::String),
            flag(class == TokenClass::Number),
            flag(class == TokenClass::Newline),
            flag(bracket < 0),
            flag(bracket > 0),
            if support.was_typed { TYPED_NEARNESS } else { self.nearness(end) },
            flag(end > 0),
            log_count(used.count),
            flag(used.is_after),
            flag(self.line.contains(&token)),
            last(0),
            last(1),
            flag(found(opinions.longest) == Some(0)),
            found(opinions.counted).map_or(0.0, |rank| 1.0 / (rank as f32 + 1.0)),
            flag(support.best_is_near),
            if support.was_typed { TYPED_NEARNESS } else { self.nearness(support.last_place) },
            support.future,
            support.future_sum / support.futures.max(1) as f32,
            flag(near.ahead.contains(&token)),
            flag(near.first_after == Some(token)),
            written.len().min(20) as f32,
            self.line.len().min(30) as f32,
            self.open_in_line as f32,
            (self.best_score - score) as f32,
            (log(opinions.mixed) - log_of(self.best_mixed)),
        ];
        RankedToken { guess: *guess, features, was_typed: support.was_typed }
    }

    /// Returns the nearness of an earlier token: 1 directly before the next token, 0 if there is none.
    fn nearness(&self, end: u32) -> f32 {
        let distance = self.position.saturating_sub(end);
        if end > 0 { 1.0 / (1.0 + (distance as f32).ln_1p()) } else { 0.0 }
    }
}

fn log_of(probability: f64) -> f32 {
    (probability + LOG_FLOOR).ln() as f32
}

fn log_count(count: u32) -> f32 {
    (count as f32).ln_1p()
}

fn flag(is: bool) -> f32 {
    f32::from(u8::from(is))
}

/// Returns 1 for an opening bracket, -1 for a closing one.
fn bracket(text: &str) -> i32 {
    match text {
        "(" | "[" | "{" => 1,
        ")" | "]" | "}" => -1,
        _ => 0,
    }
}
