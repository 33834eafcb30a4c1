//! Counting: nested Witten-Bell interpolation over the distinct lengths of match.

use super::{Guess, Tally, ranked};
use crate::candidates::{self, Candidate};
use crate::view::{Nearness, View};

/// Weight of the number of distinct tokens against their count (feasibility study, section 8.4; 0.3 made no difference).
const GAMMA: f64 = 1.0;
/// Where nothing was seen.
const FLOOR: f64 = 1e-6;
/// Weights of a name that the open file does not use yet and of everything else: 0.3 to 1 (feasibility study, section 8.4).
const NEW_NAME: u32 = 3;
const KNOWN_NAME: u32 = 10;

/// What is known of one token.
#[derive(Default)]
struct Support {
    longest: usize,
    best: Option<candidates::Place>,
}

/// One place's say.
struct Place {
    matched: usize,
    /// Index of the token in the tally.
    token: usize,
    weight: u32,
}

/// `candidates` are places after the same tokens.
pub(super) fn guesses(view: &View, candidates: &[Candidate]) -> Vec<Guess> {
    let mut tally: Tally<Support> = Tally::default();
    let mut places = Vec::with_capacity(candidates.len());
    for &Candidate { place, nearness, matched } in candidates {
        let token = view.next(place);
        let (index, support) = tally.entry(token);
        if support.best.is_none() || matched > support.longest {
            (support.best, support.longest) = (Some(place), matched);
        }
        let novelty = if view.is_new_name(token) { NEW_NAME } else { KNOWN_NAME };
        places.push(Place { matched, token: index, weight: nearness_weight(nearness) * novelty });
    }
    let probabilities = interpolate(places, tally.entries.len());
    let guess = |((token, support), probability): ((u32, Support), f64)| {
        Some(Guess { token, probability, place: support.best?, match_len: support.longest as f64 })
    };
    ranked(view, tally.entries.into_iter().zip(probabilities).filter_map(guess).collect())
}

/// Feasibility study, section 8.4: file ×8, directory ×3. Of what was typed lately, see the vote.
fn nearness_weight(nearness: Nearness) -> u32 {
    match nearness {
        Nearness::Masked => 0,
        Nearness::Workspace => 1,
        Nearness::Directory => 3,
        Nearness::Overlay => 8,
        Nearness::Session => 16,
    }
}

/// From the shortest match to the longest, each length takes its share of what the shorter ones left. Weights are whole
/// numbers so that taking the shorter matches away again is exact.
fn interpolate(mut places: Vec<Place>, tokens: usize) -> Vec<f64> {
    places.sort_unstable_by_key(|place| place.matched);
    let mut counts = vec![0; tokens];
    for place in &places {
        counts[place.token] += place.weight;
    }
    let mut probabilities = vec![FLOOR; tokens];
    for same_length in places.chunk_by(|a, b| a.matched == b.matched) {
        add_length(&mut probabilities, &counts);
        for place in same_length {
            counts[place.token] -= place.weight;
        }
    }
    probabilities
}

/// Mixes in what the matches of one length and longer ones say.
fn add_length(probabilities: &mut [f64], counts: &[u32]) {
    let total = f64::from(counts.iter().sum::<u32>());
    let distinct = counts.iter().filter(|&&count| count > 0).count() as f64;
    let trust = total / (total + GAMMA * distinct * f64::from(KNOWN_NAME));
    for (probability, &count) in probabilities.iter_mut().zip(counts) {
        *probability = trust * f64::from(count) / total + (1.0 - trust) * *probability;
    }
}
