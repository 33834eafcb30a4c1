//! Counting: nested Witten-Bell interpolation over the distinct lengths of match.

use super::{Guess, Tally, ranked};
use crate::candidates::Candidate;
use crate::view::{Nearness, View};
use crate::vocabulary::Class;

/// Weight of the number of distinct tokens against their count (feasibility study, section 8.4; 0.3 made no difference).
const GAMMA: f64 = 1.0;
/// Where nothing was seen.
const FLOOR: f64 = 1e-6;
/// Weight of a name that the open file does not use yet (feasibility study, section 8.4).
pub(super) const NEW_NAME: f64 = 0.3;

/// What speaks for one token.
#[derive(Default)]
struct Support {
    /// Length of match and weight of each place.
    places: Vec<(usize, f64)>,
    longest: usize,
    blanks: Option<u8>,
}

pub(super) fn guesses(view: &View, candidates: &[Candidate]) -> Vec<Guess> {
    let mut tally: Tally<Support> = Tally::default();
    for &Candidate { place, matched } in candidates {
        let (token, blanks) = view.next(place);
        let support = tally.entry(token);
        if support.blanks.is_none() || matched > support.longest {
            (support.blanks, support.longest) = (Some(blanks), matched);
        }
        let is_new = view.class(token) == Class::Identifier && !view.near_words.contains(&token);
        let weight = nearness_weight(view.nearness(place)) * if is_new { NEW_NAME } else { 1.0 };
        support.places.push((matched, weight));
    }
    let probabilities = interpolate(&tally.entries.iter().map(|(_, support)| support).collect::<Vec<_>>());
    let guess = |((token, support), probability): ((u32, Support), f64)| Guess {
        token,
        probability,
        blanks: support.blanks.unwrap_or_default(),
        match_len: support.longest as f64,
    };
    ranked(tally.entries.into_iter().zip(probabilities).map(guess).collect())
}

/// Feasibility study, section 8.4: file ×8, directory ×3.
fn nearness_weight(nearness: Nearness) -> f64 {
    match nearness {
        Nearness::Masked => 0.0,
        Nearness::Workspace => 1.0,
        Nearness::Directory => 3.0,
        Nearness::Overlay => 8.0,
    }
}

/// From the shortest match to the longest, each length takes its share of what the shorter ones left.
fn interpolate(supports: &[&Support]) -> Vec<f64> {
    let mut lengths: Vec<usize> =
        supports.iter().flat_map(|support| &support.places).map(|&(matched, _)| matched).collect();
    lengths.sort_unstable();
    lengths.dedup();
    let mut probabilities = vec![FLOOR; supports.len()];
    for length in lengths {
        let count = |support: &&Support| -> f64 {
            support.places.iter().filter(|&&(matched, _)| matched >= length).map(|&(_, weight)| weight).sum()
        };
        let counts: Vec<f64> = supports.iter().map(count).collect();
        let total: f64 = counts.iter().sum();
        let distinct = counts.iter().filter(|&&count| count > 0.0).count() as f64;
        let trust = total / (total + GAMMA * distinct);
        for (probability, count) in probabilities.iter_mut().zip(counts) {
            *probability = trust * count / total + (1.0 - trust) * *probability;
        }
    }
    probabilities
}
